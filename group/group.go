// Package group is the contract of a task group: tasks go in, results come
// out in the order in which the tasks complete, and the group knows when all
// of it is over.
//
// The package holds the contract only. Implementations are in the folders
// below impls/; each has a NewGroup with the same signature. docs/semantics-group.md
// has the states of a group, and the rules G1 to G9, which the clauses that package
// conformance checks are named after.
//
// A group is open until Close, and cancelled from the moment its context ends,
// whether by Cancel, by a failed task (fail-fast) or by the context it was made
// with. The two are independent: an open group may be cancelled and a closed
// one may run on. A group is drained once it is closed, none of its tasks is in
// flight and no result is queued; that is final.
package group

import "context"

// TaskFunc is a task: it is called once, on a goroutine of the implementation's
// choice, with the group's context, which ends when the group is cancelled.
type TaskFunc[T any] func(ctx context.Context) (T, error)

// Result is what became of one task.
type Result[T any] struct {
	// Value is what the task returned. It is the zero value if the task
	// panicked or ended its goroutine.
	Value T
	// Err is the error the task returned, a [*PanicError] if it panicked,
	// [ErrGoexit] if it called runtime.Goexit, and nil if it succeeded.
	Err error
}

// Group is a task group. All methods may be called by any number of goroutines
// at once. A group must be made with an implementation's NewGroup.
type Group[T any] interface {
	// Go submits a task. If it returns nil the task is accepted: it runs
	// exactly once and yields exactly one result, also if the group is
	// cancelled before the task starts; the task then sees a context that has
	// ended already.
	//
	// If the group has a concurrency limit, Go blocks while that many accepted
	// tasks are unfinished. A task is accepted when it is given its slot, not
	// when Go is called: if Close comes first, the blocked call returns
	// ErrGroupClosed. Cancelling the group does not release a blocked call;
	// the slot does that the cancelled tasks give up. A task that calls Go on
	// its own full group waits for itself. An implementation that runs tasks
	// only on demand, inside Next and Wait (it does not promise Eager), runs
	// one at a time and never blocks in Go: no task would free the slot.
	//
	// Go returns ErrNilTask if fn is nil (in every state), ErrGroupClosed if
	// the group is closed, and nil otherwise. It never runs the task on the
	// calling goroutine.
	Go(fn TaskFunc[T]) error

	// Close refuses later tasks. It does not cancel and does not wait:
	// accepted tasks run on, and their results can be taken. Calling it again
	// does nothing.
	Close()

	// Next returns the result of the task that completed first among those
	// whose results have not been taken, and blocks until there is one. It
	// returns
	//
	//	(result, true, nil)        a result, which no other caller will see;
	//	(zero, false, nil)         the group is drained: closed, no task in
	//	                           flight, every result taken;
	//	(zero, false, ctx.Err())   ctx ended before there was a result.
	//
	// The caller that got the first failed result of a fail-fast group finds
	// the group's context cancelled already.
	//
	// A queued result wins over a context that has ended, and so does the end
	// of a drained group. ctx bounds only this call: it does not cancel the
	// group, and a caller that gives up takes no result with it. A nil ctx
	// means context.Background. The group's own context ending does not end
	// Next: the cancelled tasks' results are still to come.
	Next(ctx context.Context) (Result[T], bool, error)

	// Wait blocks until no accepted task is unfinished and returns the first
	// error that a task ended with, in order of completion; if there is none,
	// the cause with which the group's context was cancelled (by Cancel or by
	// the end of the context the group was made with, up to the moment the
	// group settled); if it was not, nil.
	//
	// Wait does not close the group and takes no results. It may be called any
	// number of times, before and after Close. On an open group it answers for
	// the tasks accepted so far.
	Wait() error

	// Cancel ends the group's context with the given cause; nil means
	// context.Canceled. The first cause wins: later calls, and calls after the
	// group's context ended for another reason, do nothing. Cancel does not
	// close the group and does not wait. Tasks find the cause with
	// context.Cause.
	Cancel(cause error)
}
