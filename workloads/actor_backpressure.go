package workloads

import (
	"github.com/dynolab/dyno/actor"
)

const (
	pressureSenders = 4
	pressureRoom    = 64
	pressureWork    = 64 // rounds of filler work, about a hundred nanoseconds
)

// actorBackpressure is a receiver that is slower than its senders, which are no actors, as
// servers' connections are none, and have to wait for room.
func actorBackpressure() []Workload {
	return []Workload{{
		Name:    "backpressure",
		Doc:     "4 goroutines send to an actor that is slower, with room for 64 messages: what making senders wait costs",
		Checked: checkedFunnel,
		TooBig:  "4 goroutines that wait have a stack each, and 4 tables of 1,021 messages take 48 KiB",
		Prepare: func(st Setting) Run {
			return pressure.fromOutside(st, pressureWork, actor.MailboxConfig{Capacity: pressureRoom, Policy: actor.Block})
		},
		Refs: pressure.refs(pressureWork, pressureRoom),
	}}
}

var pressure = funnelKind{senders: pressureSenders}
