package dyno

import (
	"context"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
)

// Impl is one implementation as tests, workloads and boards see it: a name,
// its factories, and what it promises beyond the contract.
//
// An Impl is a plain value. A package that implements the contracts exports
// one as a variable, and its users put that variable in a list;
// nothing registers itself.
type Impl struct {
	// Name is the implementation's name in benchmark names and tables: lower
	// case letters, digits and hyphens, such as "workstealing". Names that
	// begin with "ref-" are kept for hand-written references.
	Name string

	// Idea says in half a sentence how it is built, for tables and help.
	Idea string

	// Promises says what holds beyond the contract, or what of it does not.
	Promises Promises

	// NewGroup makes a task group. It follows [group.Group]: a nil context
	// means context.Background, and the group is open when it returns. Nil
	// means that the implementation has no task group.
	NewGroup func(ctx context.Context, opts ...group.Option) group.Group[int]

	// NewDispatcher makes what runs the actors of one system; see
	// [actor.Dispatcher]. Nil means that the implementation runs no actors.
	NewDispatcher func() actor.Dispatcher

	// NewExecutor makes an executor of tasks, which is open when it is returned.
	// Nil means that the implementation has none.
	NewExecutor func() task.Executor

	// NewRuntime makes a runtime that serves groups, actors and tasks alike, such as
	// one pool of workers. Nil means that the three of the implementation know
	// nothing of each other.
	NewRuntime func() Runtime
}

// Runtime is one runtime's factories, which are as those of [Impl], and of which
// there are as many as the implementation has.
type Runtime struct {
	NewGroup      func(ctx context.Context, opts ...group.Option) group.Group[int]
	NewDispatcher func() actor.Dispatcher
	NewExecutor   func() task.Executor
}

// Joined returns the implementation with all that it makes on one runtime, which is
// new. It returns i as it is if that has no NewRuntime.
func (i Impl) Joined() Impl {
	if i.NewRuntime != nil {
		r := i.NewRuntime()
		i.NewGroup, i.NewDispatcher, i.NewExecutor = r.NewGroup, r.NewDispatcher, r.NewExecutor
	}
	return i
}

// Promises is what an implementation promises. The zero value promises
// nothing beyond the contract. Clauses of the conformance suite and workloads
// name the promises they need, and are skipped, with that reason, for an
// implementation that does not make them.
type Promises struct {
	// Overlap: several tasks of a group may be in progress at once, so a task
	// may wait for another one, and likewise several actors, and tasks of an
	// executor. Without it a task that needs another task to run before it can
	// finish never finishes, a handler that blocks stops every actor, and a task
	// of an executor that waits in any other way than by Wait, Value and Yield
	// stops every other task.
	Overlap bool

	// Eager: an accepted task runs although no goroutine is in Next or Wait, and an
	// actor with messages although no goroutine is in RunUntilIdle. A dispatcher
	// without it is an [actor.Synchronous] one, and an executor without it runs
	// tasks in Flush, Wait and Value only.
	Eager bool

	// StartOrder: tasks of one group start in the order in which they were
	// accepted, as long as one goroutine submits them and the group's
	// concurrency is limited to one. An executor that makes this promise and
	// not Overlap starts its tasks in the order in which they were accepted,
	// but for those that others wait for, and has one that yields wait until
	// all that were ready have had their turn.
	StartOrder bool

	// Fair: an actor that is ready has its turn before any other actor has had
	// 128 turns more. Turns count, and not time, since how long a turn takes is
	// the actor's affair; 128 of them leave room for a shortcut from a sender
	// to its receiver, and for looking into some queues only now and then.
	// Without it an actor that is ready has its turn some time: where actors
	// are goroutines, as Go's scheduler decides, by which those that wake one
	// another share time slices of 10 ms. It is about actors only.
	Fair bool

	// Deterministic: the same calls in the same order from one goroutine give
	// the same results in the same order, every time, and have the actors
	// handle the same messages in the same order.
	Deterministic bool

	// ExactPending: Pending of an executor is how many tasks were pending at one
	// moment of the call. Without it, of two tasks that follow one another both
	// may be counted, or none.
	ExactPending bool

	// Parks: every call that waits, and every idle goroutine of the
	// implementation, is durably blocked in the sense of testing/synctest
	// (it waits on a channel or a condition, it does not spin or sit in a
	// system call), and no goroutine is left when the work is done: for
	// actors, when the system is done.
	Parks bool
}

// Lacks returns the names of the promises in need that p does not make, in
// the order in which they are declared; it is empty if p makes them all.
func (p Promises) Lacks(need Promises) []string {
	var lacks []string
	for _, c := range []struct {
		name       string
		need, have bool
	}{
		{"Overlap", need.Overlap, p.Overlap},
		{"Eager", need.Eager, p.Eager},
		{"StartOrder", need.StartOrder, p.StartOrder},
		{"Fair", need.Fair, p.Fair},
		{"Deterministic", need.Deterministic, p.Deterministic},
		{"ExactPending", need.ExactPending, p.ExactPending},
		{"Parks", need.Parks, p.Parks},
	} {
		if c.need && !c.have {
			lacks = append(lacks, c.name)
		}
	}
	return lacks
}
