package workloads

import (
	"context"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/group"
)

// NewGroup makes a task group; it is the type of [dyno.Impl]'s field.
type NewGroup = func(ctx context.Context, opts ...group.Option) group.Group[int]

// Group is a workload over the task-group contract. It is a plain value and
// may be prepared any number of times.
type Group struct {
	// Name is the workload's name: lower-case letters and digits.
	Name string

	// Variant is a key=value pair, such as "failfast=on", that tells workloads
	// of one name apart, or empty for the plain one.
	Variant string

	// Doc says in one sentence what the workload stands for.
	Doc string

	// Needs is what an implementation must promise. Without it the workload
	// does not finish, so it must be skipped. None here needs anything: even
	// where tasks wait, they do not wait for each other.
	Needs dyno.Promises

	// Work returns how much the tasks of Do(n) compute, in rounds of the filler
	// function, for n ≥ 1. It is nil where tasks do next to nothing.
	Work func(n int) int64

	// Slicing says how the workload is to be measured a piece at a time.
	Slicing Slicing

	// Prepare allocates whatever can be allocated before the clock starts. The
	// Run makes its groups with newGroup.
	Prepare func(newGroup NewGroup) Run

	// Refs are hand-written programs that do the same without dyno. The first
	// one is the base of comparisons, the 1.00 line.
	Refs []Ref
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

// Path returns the key=value path of the workload in benchmark names:
// "workload=short/failfast=on".
func (g Group) Path() string {
	p := "workload=" + g.Name
	if g.Variant != "" {
		p += "/" + g.Variant
	}
	return p
}

// Ref is a reference: a program written by hand for one workload, with the
// same tasks and the same checks.
type Ref struct {
	// Name begins with "ref-".
	Name string

	// Doc says in half a sentence how it works.
	Doc string

	// Prepare is [Group].Prepare without an implementation.
	Prepare func() Run
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

// The names of references, the same in all workloads.
const (
	refErrgroup   = "ref-errgroup"
	refGoroutines = "ref-goroutines"
	refWorkers    = "ref-workers"
	refFloor      = "ref-floor"
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
