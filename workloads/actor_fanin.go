package workloads

import "strconv"

// fanInSenders is how many senders there are unless the variant says otherwise.
const fanInSenders = 8

// FanIn is Count with several senders, which get into each other's way at the
// mailbox of the one that counts.
func FanIn() Actor { return fanIn(fanInSenders, "") }

// FanInCurve is FanIn with as many senders as its variants say.
func FanInCurve() []Actor {
	var curve []Actor
	for _, senders := range []int{1, 2, 4, 16, 32, 64} {
		curve = append(curve, fanIn(senders, "producers="+strconv.Itoa(senders)))
	}
	return curve
}

func fanIn(senders int, variant string) Actor {
	return Actor{
		Name:    "fanin",
		Variant: variant,
		Doc:     "8 actors, or the number given, send to one as fast as they can: whether senders get into each other's way",
		Prepare: func(st Setting) Run { return funnelOnActors(st, senders) },
		Refs:    funnelRefs(senders, 0, window),
	}
}
