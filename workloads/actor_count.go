package workloads

import "strconv"

// actorCount is a mailbox under a load that never lets up. With limit=none the sender sends all
// in one turn, and then there is a pause until all of them have come: the mailbox grows as far as
// the receiver is slower.
func actorCount() []Workload {
	plain := bareCount()
	plain.Checked = checkedFunnel
	plain.On = funnelKind{senders: 1}.onFramework
	plain.Refs = funnelKind{senders: 1}.refs(0, window)
	all := []Workload{plain}
	for _, size := range []int{floodSize, 10_000, 100_000} {
		variant := "limit=none"
		if size != floodSize {
			variant += "/messages=" + strconv.Itoa(size)
		}
		k := funnelKind{senders: 1, flood: size}
		all = append(all, Workload{
			Name:    "count",
			Variant: variant,
			Doc:     "one actor sends 1,000,000 messages to another, or the number given, and does not wait: what a flood costs",
			TooBig:  "floods of 10,000 messages and more, all of which wait at once; count is there",
			Slicing: Slicing{Unit: size},
			Prepare: k.onActors,
			On:      k.onFramework,
			Refs:    k.refs(0, window),
		})
	}
	return all
}

// bareCount is the plain one without references.
func bareCount() Workload {
	return Workload{
		Name:    "count",
		Doc:     "one actor sends to another as fast as it can: what a message costs when the mailbox is never empty",
		Prepare: funnelKind{senders: 1}.onActors,
	}
}

// floodSize is how many messages a flood has unless the variant says otherwise.
const floodSize = 1_000_000
