package workloads

import (
	"strconv"

	"github.com/dynolab/dyno/actor"
)

// actorFanIn is [actorCount] with several senders.
func actorFanIn() []Workload {
	var all []Workload
	for _, senders := range []int{8, 1, 2, 4, 16, 32, 64} {
		variant := ""
		if senders != 8 {
			variant = "producers=" + strconv.Itoa(senders)
		}
		k := funnelKind{senders: senders}
		all = append(all, Workload{
			Name:    "fanin",
			Variant: variant,
			Doc:     "8 actors, or the number given, send to one as fast as they can: whether senders get into each other's way",
			Checked: checkedFunnel,
			TooBig:  "a table of 1,021 messages for each sender, 12 KiB, so for 8 of them 96",
			Prepare: k.onActors,
			On:      k.onFramework,
			Refs:    k.refs(0, window),
		})
	}
	return append(all, fanInFlood("limit=none", "actors", funnelKind.onActors),
		fanInFlood("from=outside", "goroutines that are no actors", func(k funnelKind, st Setting) Run {
			return k.fromOutside(st, 0, actor.MailboxConfig{})
		}))
}

// fanInFlood is actorFanIn by 64 senders that do not wait to hear of the receiver.
func fanInFlood(variant, senders string, prepare func(k funnelKind, st Setting) Run) Workload {
	k := funnelKind{senders: 64, flood: floodSize}
	return Workload{
		Name:    "fanin",
		Variant: "producers=64/" + variant,
		Doc:     "64 " + senders + " send 1,000,000 messages to one actor and do not wait: a flood from many sides",
		TooBig:  "a table of 1,021 messages for each sender, 12 KiB, so for 8 of them 96",
		Slicing: Slicing{Unit: floodSize},
		Prepare: func(st Setting) Run { return prepare(k, st) },
		Refs:    k.refs(0, window),
	}
}
