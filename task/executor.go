package task

import (
	"context"
	"sync/atomic"
)

// Executor runs tasks. All methods may be called by any number of goroutines at
// once.
//
// Users call Flush, Pending and Close. The others are what [Go], [Future] and
// [Handle] are made of, and what an implementation fills: it keeps the state of
// every task in its own way, and decides there who was first. It may only be
// given handles that were started on it.
type Executor interface {
	// Start accepts the task, or returns [ErrClosed]. From then on the executor
	// runs it once, with [Handle.Run], unless it is canceled before that. It never
	// does so on the calling goroutine before Start has returned.
	//
	// from is the task in whose progress it is called, on its goroutine, or nil.
	// It may be one of another executor.
	Start(h, from *Handle) error

	// Status returns the task's state. It never blocks. The task's context asks it,
	// too: an implementation must not look at a context under a lock that Status
	// takes.
	Status(h *Handle) Status

	// Wait blocks until the task is over and then returns nil. If ctx, which is
	// not nil, ends first it returns its error: that ends this wait, and nothing
	// else. A task that is over wins over a context that has ended.
	//
	// from is the task that waits, on whose goroutine Wait is called, or nil. An
	// executor may run tasks meanwhile on that goroutine, the awaited one above
	// all.
	Wait(ctx context.Context, h, from *Handle) error

	// Done returns a channel that is closed when the task is over: always the
	// same one.
	Done(h *Handle) <-chan struct{}

	// Cancel makes a Pending task Canceled and reports whether it did. If the task
	// has not begun it never does.
	Cancel(h *Handle) bool

	// Yield lets others run before the task goes on, which is in progress on the
	// calling goroutine. Tasks that run on goroutines of their own take it as a
	// hint.
	Yield(h *Handle)

	// Flush has an executor that runs tasks only on demand take up to limit steps,
	// a step being a task from where it began, or yielded, to where it yields or
	// returns; 0 or less means [FlushLimit]. It returns the number of steps, which
	// is less than the limit only if no task was ready. Called inside a task, or
	// while another goroutine runs tasks, it runs none and returns 0.
	//
	// An executor whose tasks run by themselves does nothing and returns 0.
	Flush(limit int) int

	// Pending returns the number of tasks whose state is Pending: accepted, and
	// not over. Who has seen a task over finds it counted no more. A task that
	// ends at this moment may be counted no more a little before its state says
	// so, and be counted beside one that starts at this moment.
	Pending() int

	// Close refuses further tasks. It does not cancel and does not wait: those
	// that were accepted run on, and their own attempts to start others fail.
	// When they are over the executor leaves no goroutine behind. Calling it again
	// does nothing.
	Close()
}

// FlushLimit is the default budget of [Executor.Flush], in steps.
const FlushLimit = 1024

// Status is the state of a task.
type Status uint8

// The states of a task, named as in the document they come from. All but Pending
// are final. (A task asks [Canceled] about itself.)
const (
	Pending   Status = iota // it waits to run, runs, or waits in between
	Resolved                // it returned without an error
	Failed                  // it returned an error, panicked, or called runtime.Goexit
	Cancelled               // it was canceled before it was over
)

// String returns the state in lower case.
func (s Status) String() string {
	switch s {
	case Pending:
		return "pending"
	case Resolved:
		return "resolved"
	case Failed:
		return "failed"
	case Cancelled:
		return "canceled"
	}
	return "invalid"
}

// Room is the place in every [Handle] that belongs to the executor that runs it,
// so that a task costs one allocation and not one for each layer. What is in it
// is the executor's affair. It is zero when Start is called.
type Room struct {
	Word  atomic.Uint32 // a state, with what else is decided in one step
	ID    uint32        // a number, modulo 1<<32
	Link  *Handle       // the next one in a queue
	Own   any           // what else the implementation needs: a lock, a channel, a list of those who wait
	Place any           // where the task is in progress, such as a worker
}

var _ Executor = (*refusal)(nil)

// refusal keeps the state of tasks that no executor has accepted: they have
// failed.
type refusal struct{}

var (
	refused = new(refusal)
	over    = func() chan struct{} {
		c := make(chan struct{})
		close(c)
		return c
	}()
)

func (*refusal) Start(_, _ *Handle) error                     { return ErrClosed }
func (*refusal) Status(*Handle) Status                        { return Failed }
func (*refusal) Wait(context.Context, *Handle, *Handle) error { return nil }
func (*refusal) Done(*Handle) <-chan struct{}                 { return over }
func (*refusal) Cancel(*Handle) bool                          { return false }
func (*refusal) Yield(*Handle)                                {}
func (*refusal) Flush(int) int                                { return 0 }
func (*refusal) Pending() int                                 { return 0 }
func (*refusal) Close()                                       {}
