package workloads

import "strconv"

// Count is one actor that sends and one that counts: a mailbox under a load
// that never lets up.
func Count() Actor {
	a := bareCount()
	a.Refs = funnelKind{senders: 1}.refs(0, window)
	return a
}

// bareCount is Count without references.
func bareCount() Actor {
	return Actor{
		Name:    "count",
		Doc:     "one actor sends to another as fast as it can: what a message costs when the mailbox is never empty",
		Prepare: funnelKind{senders: 1}.onActors,
	}
}

// CountFloods is Count by a sender that does not wait to hear of the receiver: a million
// messages in one turn, or as many as the variant says, then a pause until all of
// them have come. The mailbox grows as far as the receiver is slower.
func CountFloods() []Actor {
	var all []Actor
	for _, size := range []int{floodSize, 10_000, 100_000} {
		variant := "limit=none"
		if size != floodSize {
			variant += "/messages=" + strconv.Itoa(size)
		}
		k := funnelKind{senders: 1, flood: size}
		all = append(all, Actor{
			Name:    "count",
			Variant: variant,
			Doc:     "one actor sends 1,000,000 messages to another, or the number given, and does not wait: what a flood costs",
			Slicing: Slicing{Unit: size},
			Prepare: k.onActors,
			Refs:    k.refs(0, window),
		})
	}
	return all
}

// floodSize is how many messages a flood has unless the variant says otherwise.
const floodSize = 1_000_000
