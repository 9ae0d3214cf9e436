package workloads

import (
	"context"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
)

// Contract is what a workload is a program over, as benchmark names have it:
// BenchmarkActor/workload=….
type Contract string

// The contracts.
const (
	GroupContract Contract = "Group"
	TaskContract  Contract = "Task"
	ActorContract Contract = "Actor"
)

// Workload is a program over a contract. It is a plain value and may be prepared any
// number of times.
type Workload struct {
	// Contract is set by [All] and [Small].
	Contract Contract

	// Name is the workload's name: lower-case letters and digits.
	Name string

	// Variant is a key=value pair, or several with slashes between them, that tell
	// workloads of one name apart, such as "from=outside"; or empty for the plain one.
	Variant string

	// Doc says in one sentence what the workload stands for.
	Doc string

	// Op says what an operation is, where it is not a task or message: half a sentence.
	Op string

	// Checked says what a run checks, if that is not what is said of the variant before.
	Checked string

	// Needs is what an implementation must promise. Without it the workload
	// does not finish, or is about nothing, so it must be skipped. Of those here only
	// hogs needs anything: tasks wait for each other by Wait, Value and Yield only, and
	// actors not at all.
	Needs dyno.Promises

	// Together says that the workload needs all that an implementation may have.
	Together bool

	// TooBig says why no board is asked for the workload: half a sentence. It is empty
	// for those of [Small].
	TooBig string

	// Work returns how much Do(n) computes, in rounds of the filler function, for n ≥ 1.
	// It is nil where that is next to nothing.
	Work func(n int) int64

	// Messages is how many messages an operation is made of; 0 means 1.
	Messages int

	// Actors is how many actors a run has from its preparation to its end, where
	// they are many or that number is what variants differ in, and 0 elsewhere. What such
	// an actor keeps in memory is worth a figure too.
	Actors int

	// Open says that the workload is an open loop: messages are sent at times
	// that are fixed beforehand, so that its figures are latencies and not the
	// time of an operation. It needs a Meter.
	Open bool

	// Syscalls says that handlers block by the Setting's Block, without which there is no figure.
	Syscalls bool

	// Timings are the names of the times that the run tells its Meter, such as
	// "resume", which become parts of units: resume-p99-ns.
	Timings []string

	// Shares are the names of the shares that the run's Check may tell its Meter, such
	// as "recovered", which become units: recovered-%.
	Shares []string

	// Slicing says how the workload is to be measured a piece at a time.
	Slicing Slicing

	// Prepare makes groups, executors or systems and allocates whatever can be allocated
	// before the clock starts. An error is Do's to return. No goroutine is left when
	// the Run has been closed.
	Prepare func(st Setting) Run

	// On makes a run as Prepare does, by a framework that is not dyno's, which is the run's
	// from now on. Of the Setting the implementation is not used. Nil means that the workload
	// is about something that frameworks do not have in common.
	On func(st Setting, f Framework) Run

	// Refs are hand-written programs that do the same without dyno. The first
	// one is the base of comparisons, the 1.00 line.
	Refs []Ref
}

// Ref is a reference: a program written by hand for one workload, with the same tasks or
// messages and the same checks.
type Ref struct {
	// Name begins with "ref-".
	Name string

	// Doc says in half a sentence how it works.
	Doc string

	// Prepare is [Workload].Prepare; of the Setting the implementation is not used.
	Prepare func(st Setting) Run
}

// Path returns the key=value path of the workload in benchmark names:
// "workload=short/failfast=on".
func (w Workload) Path() string {
	p := "workload=" + w.Name
	if w.Variant != "" {
		p += "/" + w.Variant
	}
	return p
}

// Benchmark returns the name of its benchmark with an implementation or reference, without
// "Benchmark" in front and the number of processors behind.
func (w Workload) Benchmark(impl string) string {
	return string(w.Contract) + "/" + w.Path() + "/impl=" + impl
}

// Sentence says what the workload stands for, what an operation is, and what is checked, if
// that is not what is checked of the variant before.
func (w Workload) Sentence() string {
	op := w.Op
	switch {
	case op != "":
	case w.Item() == "msg":
		op = "a message"
	default:
		op = "a task"
	}
	s := w.Doc + "; an operation is " + op
	if w.Checked != "" {
		s += "; checked: " + w.Checked
	}
	return s
}

// Item is what allocations are counted by: "task", or "msg" where no tasks are run.
func (w Workload) Item() string {
	if w.Contract == GroupContract || w.Contract == TaskContract {
		return "task"
	}
	return "msg"
}

// Items is how many of them n operations are.
func (w Workload) Items(n int) int { return n * max(w.Messages, 1) }

// Lacks says why the workload cannot run on impl, or returns "".
func (w Workload) Lacks(impl dyno.Impl) string {
	switch {
	case impl.NewGroup == nil && (w.Contract == GroupContract || w.Together):
		return impl.Name + " has no task group"
	case impl.NewExecutor == nil && (w.Contract == TaskContract || w.Together):
		return impl.Name + " has no executor of tasks"
	case impl.NewDispatcher == nil && w.Contract == ActorContract:
		return impl.Name + " runs no actors"
	}
	lacks := impl.Promises.Lacks(w.Needs)
	if len(lacks) == 0 {
		return ""
	}
	why := "needs "
	for i, name := range lacks {
		if i > 0 {
			why += ", "
		}
		why += name
	}
	return why + ", which " + impl.Name + " does not promise"
}

// Slicing says how a workload is to be measured that is done a slice at a time,
// in turn with others. Between slices it waits, with all it has prepared.
type Slicing struct {
	// Unit is how many operations are a whole problem, or a round: a slice should
	// be a multiple of it, since a part of a problem is a smaller one, with other
	// costs per operation. 0 means 1: any number will do.
	Unit int

	// Whole says why the workload is not to be sliced at all: half a sentence
	// that goes on from "not in slices: ". "" if it may be.
	Whole string
}

// tooMany is why workloads with tooManyActors are not sliced. With a goroutine each,
// so many take 300 megabytes, and a row of implementations and references has ten
// processes that live at once.
const (
	tooMany       = "so many actors that there is no room for those of several processes at once"
	tooManyActors = 100_000
)

// NewGroup makes a task group; it is the type of [dyno.Impl]'s field.
type NewGroup = func(ctx context.Context, opts ...group.Option) group.Group[int]

// Setting is what a workload is prepared for.
type Setting struct {
	// Impl is the implementation, which the workload does not lack anything of.
	Impl dyno.Impl

	// Ops is how many operations Do will be asked for in all if no figure is wanted,
	// and 0 otherwise. A workload may leave out actors
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

	// Block is a system call that blocks its thread for so long, for the workloads with Syscalls. If it
	// is nil their handlers sleep.
	Block func(d time.Duration)

	// middleware is that of the system, for the tests to do harm with.
	middleware []actor.Middleware
}

// Run is a prepared workload. Its methods must not be called concurrently.
type Run interface {
	// Do performs exactly n operations and returns when all their results have
	// been taken and checked as far as can be done one at a time. It may be
	// called repeatedly, with any n ≥ 1, until it returns an error, which says
	// what was wrong with a result; goroutines may be left behind then.
	Do(n int) error

	// Check says after the last Do whether every result is accounted for:
	// exactly one for each operation, and the right one.
	Check() error

	// Close releases what Prepare and Do keep. No goroutine of the workload is
	// left after a successful Do, with or without Close.
	Close()
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

	// Timing books a time in nanoseconds: one of what [Workload].Timings[i] names.
	Timing(i int, ns int64)

	// Share says that part of whole things were as they should be, such as failures
	// that were "recovered" from: one of the names in [Workload].Shares. Check calls it,
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

// The names of references, the same in all workloads.
const (
	refErrgroup   = "ref-errgroup"
	refGoroutines = "ref-goroutines"
	refWorkers    = "ref-workers"
	refFloor      = "ref-floor"
	refBuffered   = "ref-chan-buffered"
	refUnbuffered = "ref-chan-unbuffered"
	refReused     = "ref-chan-reused"
	refMutexCond  = "ref-mutex-cond"
	refAfterFunc  = "ref-afterfunc"
)

// inRounds performs n operations in rounds of at most size.
func inRounds(n, size int, round func(k int) error) error {
	if n < 1 {
		panic("workloads: Do of fewer than one operation")
	}
	for n > 0 {
		k := min(n, size)
		if err := round(k); err != nil {
			return err
		}
		n -= k
	}
	return nil
}
