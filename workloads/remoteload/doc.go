// Package remoteload has the workloads of actors in two systems with a wire between
// them, and the same jobs done by hand over what the wire is made of. The systems
// are in one process, so that a figure is what dyno, the network's code in the kernel
// and the wake-ups cost, and no network.
//
// They are workloads as those of package workloads are, with the same fields and
// rules, but not among them: boards have no sockets.
//
// A workload is one file, and one line in [All].
package remoteload

import (
	"slices"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/workloads"
)

// Contract is what the benchmarks are named after: BenchmarkRemote/workload=….
const Contract workloads.Contract = "Remote"

// Link is what the two systems are connected by.
type Link struct {
	// Wire returns the two ends of a new wire.
	Wire func() (dialed, accepted remote.Wire, err error)

	// Ref is the name of the references, such as "ref-tcp", and Doc what they use.
	Ref, Doc string

	// Raw returns the two ends of what the references have for a wire.
	Raw func() (x, y End, err error)

	// Holds says that a sender over Raw is held back by a receiver that is slow, and
	// that the receiver notices the sender's end. References that need it are left
	// out otherwise.
	Holds bool
}

// End is one end of what a reference sends over. Each method is called by one goroutine
// at a time.
type End interface {
	// Send sends b, which it does not keep, with the next Flush at the latest.
	Send(b []byte) error
	Flush() error
	// Receive returns what was sent, valid until the next call.
	Receive() ([]byte, error)
	Close() error
}

// All returns the workloads over a link, in the order in which tables show them.
func All(l Link) []workloads.Workload { return kit{link: l}.all() }

// kit is what the workloads are made with.
type kit struct {
	link       Link
	middleware []actor.Middleware // of both systems, for the tests to do harm with
}

func (k kit) all() []workloads.Workload {
	all := slices.Concat(
		k.pingPong(),
		k.count(),
		k.fanIn(),
		k.ask(),
		k.watchStorm(),
		k.slowReceiver(),
	)
	for i := range all {
		all[i].Contract = Contract
		all[i].TooBig = "it needs sockets"
		all[i].Needs = dyno.Promises{Eager: true}
	}
	return all
}

// ref returns the one reference of a workload.
func (k kit) ref(doc string, prepare func(st workloads.Setting) workloads.Run) []workloads.Ref {
	return []workloads.Ref{{Name: k.link.Ref, Doc: doc + " over " + k.link.Doc, Prepare: prepare}}
}
