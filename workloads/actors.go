package workloads

import (
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
)

// Actor is a workload over the actor contract. It is a plain value and may be
// prepared any number of times.
type Actor struct {
	// Name is the workload's name: lower-case letters and digits.
	Name string

	// Variant is a key=value pair, such as "actors=1000000", that tells
	// workloads of one name apart, or empty for the plain one.
	Variant string

	// Doc says in one sentence what the workload stands for.
	Doc string

	// Needs is what an implementation must promise. Without it the workload
	// does not finish, so it must be skipped. None here needs anything.
	Needs dyno.Promises

	// Messages is how many messages an operation is made of; 0 means 1.
	Messages int

	// Actors is how many actors a run has from its preparation to its end, where
	// that number is what variants differ in, and 0 elsewhere. What such an
	// actor keeps in memory is worth a figure too.
	Actors int

	// Open says that the workload is an open loop: messages are sent at times
	// that are fixed beforehand, so that its figures are latencies and not the
	// time of an operation. It needs a Meter.
	Open bool

	// Timings are the names of the times that the run tells its Meter, such as
	// "resume", which become parts of units: resume-p99-ns.
	Timings []string

	// Shares are the names of the shares that the run's Check may tell its Meter, such
	// as "recovered", which become units: recovered-%.
	Shares []string

	// Slicing says how the workload is to be measured a piece at a time.
	Slicing Slicing

	// Together says that the workload needs all that an implementation may have: actors,
	// executors and groups.
	Together bool

	// Prepare makes a system and its actors before the clock starts. An error
	// is Do's to return.
	Prepare func(s Setting) Run

	// Refs are hand-written programs that do the same without dyno. The first
	// one is the base of comparisons, the 1.00 line.
	Refs []ActorRef
}

// Path returns the key=value path of the workload in benchmark names:
// "workload=pairs/actors=1000000".
func (a Actor) Path() string {
	p := "workload=" + a.Name
	if a.Variant != "" {
		p += "/" + a.Variant
	}
	return p
}

// ActorRef is a reference: a program written by hand for one workload, with
// the same messages and the same checks.
type ActorRef struct {
	// Name begins with "ref-".
	Name string

	// Doc says in half a sentence how it works.
	Doc string

	// Prepare is [Actor].Prepare; of the Setting the dispatcher is not used.
	Prepare func(s Setting) Run
}

// Setting is what a workload is prepared for.
type Setting struct {
	// NewDispatcher makes what runs the actors: the field of [dyno.Impl].
	NewDispatcher func() actor.Dispatcher

	// NewExecutor and NewGroup are further fields of [dyno.Impl]. Together needs them.
	NewExecutor NewExecutor
	NewGroup    NewGroup

	// Ops is how many operations Do will be asked for in all if nobody is
	// interested in a figure, and 0 otherwise. A workload may leave out actors
	// that so few operations never reach: one operation among a million actors
	// reaches one or two, and a look at which benchmarks there are should not
	// cost a second each.
	Ops int

	// Meter, if not nil, is told what is worth knowing beside the time of Do.
	Meter Meter

	// Ring is how many messages an open loop makes beforehand, to use them again; 0
	// means 4,096, which take 64 KiB. If more wait at once it allocates others.
	Ring int

	// Until, if not nil, is called by an open loop that has to wait until the Meter's
	// Now is ns; it may return early. It is for machines that have something
	// better to do than to run in a circle. Other goroutines must be able to run
	// meanwhile.
	Until func(ns int64)

	// middleware is that of the system, for the tests to do harm with.
	middleware []actor.Middleware
}

// Meter measures what only a workload knows when to measure. The workload
// calls each method by one goroutine at a time, Latency or Timing and Backlog by
// different ones, and Now by any number.
type Meter interface {
	// Now returns a time that never goes back, in nanoseconds.
	Now() int64

	// Latency books the time in nanoseconds from the moment a message was due
	// to be sent to the moment it was handled.
	Latency(ns int64)

	// Backlog books how many messages had been sent and not been handled when
	// the next one was sent. It is called once for each operation, in time's
	// order.
	Backlog(n int)

	// Timing books a time in nanoseconds: one of what [Actor].Timings[i] names.
	Timing(i int, ns int64)

	// Share says that part of whole things were as they should be, such as failures
	// that were "recovered" from: one of the names in [Actor].Shares. Check calls it,
	// at most once for each.
	Share(name string, part, whole int64)

	// Pause calls f, whose time is no part of the time of Do.
	Pause(f func())

	// Idle says that n actors are there that have nothing to do, and have been
	// made since the run was prepared or the last call of Idle. It must call
	// stop, which stops them and waits for that. Its own time is no part of
	// the time of Do.
	Idle(n int, stop func())
}

// The names of the actor workloads' references, the same in all of them.
const (
	refBuffered   = "ref-chan-buffered"
	refUnbuffered = "ref-chan-unbuffered"
	refReused     = "ref-chan-reused"
	refMutexCond  = "ref-mutex-cond"
)
