package task

import (
	"context"
	"sync/atomic"
	"time"
)

// Handle is a task that was started, as callers see it. Its methods may be
// called by any number of goroutines at once, but for those that are for
// implementations of [Executor].
type Handle struct {
	ex   Executor
	body body

	// life is what few tasks need: nil until the context is asked for, or the task is over.
	life atomic.Pointer[life]

	room Room
}

// body is what a task does.
type body interface {
	run(ctx context.Context) error
}

// life is a context that ends when its task is over, and why that has failed.
type life struct {
	ctx context.Context
	end context.CancelFunc

	// failure is written by the goroutine that runs the task before it makes the
	// task Failed, and read by those who have seen that it is: the executor hands
	// it over with the state.
	failure *Error
}

// dead is the life of every task that has not failed, or was canceled, and whose context was not
// asked for before that.
var dead = func() *life {
	ctx, end := context.WithCancel(context.Background())
	end()
	return &life{ctx: ctx, end: end}
}()

// finish ends the task's life, which is over; failure is nil if it has not failed.
func (h *Handle) finish(failure *Error) {
	last := dead
	if failure != nil {
		last = &life{ctx: dead.ctx, end: dead.end, failure: failure}
	}
	if h.life.CompareAndSwap(nil, last) || h.life.CompareAndSwap(dead, last) {
		return
	}
	l := h.life.Load()
	l.failure = failure
	l.end()
}

// begin starts h on ex, or makes it one that was refused.
func (h *Handle) begin(ex Executor, b body, from *Handle) {
	h.ex, h.body = ex, b
	if err := ex.Start(h, from); err != nil {
		h.refuse(err)
	}
}

// refuse makes h a task that has failed.
func (h *Handle) refuse(err error) {
	h.ex, h.body = refused, nil
	h.finish(&Error{Message: "the task was not started", Cause: err})
}

// Status returns the task's state. It never blocks.
func (h *Handle) Status() Status { return h.ex.Status(h) }

// Wait blocks until the task is over and returns nil if it succeeded, else an
// [*Error]: the same one to every caller, at any time.
//
// If ctx ends first Wait returns its error, and nothing becomes of the task. A
// result that is there wins over a context that has ended. A nil ctx means
// context.Background.
//
// A task passes its own context, or one made of it: then the executor knows that
// this task waits, and may run others meanwhile in its place. With another
// context a worker may be blocked, and an executor that runs one task at a time
// will wait for itself.
func (h *Handle) Wait(ctx context.Context) error {
	_, err := h.wait(ctx)
	return err
}

// wait waits, and says whether the task succeeded.
func (h *Handle) wait(ctx context.Context) (ok bool, err error) {
	var from *Handle
	if ctx == nil {
		ctx = context.Background()
	} else {
		from, _ = owner(ctx)
	}
	if err := h.ex.Wait(ctx, h, from); err != nil {
		return false, err
	}
	switch h.ex.Status(h) {
	case Resolved:
		return true, nil
	case Failed:
		return false, h.life.Load().failure
	default:
		return false, canceled
	}
}

// Cancel makes the task Canceled, unless it is over, and reports whether it did.
// If the task has not begun it never does; if it is in progress its context ends.
// Cancel does not wait for it.
func (h *Handle) Cancel() bool {
	if !h.ex.Cancel(h) {
		return false
	}
	// No goroutine makes the context any more, or it has and it is ended here. That life is set
	// tells a loop that it is to look.
	if !h.life.CompareAndSwap(nil, dead) {
		h.life.Load().end()
	}
	return true
}

// Done returns a channel that is closed when the task is over, for select.
func (h *Handle) Done() <-chan struct{} { return h.ex.Done(h) }

// Executor returns the executor of the task.
func (h *Handle) Executor() Executor { return h.ex }

// Room returns the part of the handle that belongs to its executor. It is for
// implementations of [Executor].
func (h *Handle) Room() *Room { return &h.room }

// Run runs the task on the calling goroutine and returns the state that it is to
// have: Resolved or Failed. It is for implementations of [Executor], which call it
// once, and then make the task what Run has returned, unless it was canceled
// meanwhile.
//
// A panic of the task ends in Run. If the task calls runtime.Goexit, Run does not
// return; then the deferred functions of the caller make the task Failed, of which
// the handle knows the reason.
func (h *Handle) Run() (s Status) {
	returned := false
	var failure *Error
	defer func() {
		if !returned {
			if v := recover(); v != nil {
				failure = newPanic(v)
			} else {
				failure = &Error{Message: "the task ended its goroutine", Cause: ErrGoexit}
			}
		}
		if s = Resolved; failure != nil {
			s = Failed
		}
		h.finish(failure)
	}()
	if err := h.body.run((*scope)(h)); err != nil {
		failure = failed(err)
	}
	returned = true
	return s
}

// failed returns the error of a task that has returned err.
func failed(err error) *Error { return &Error{Message: "the task failed", Cause: err} }

// scope is a handle as its task's context.
type scope Handle

var _ context.Context = (*scope)(nil)

// Deadline implements [context.Context].
func (*scope) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done implements [context.Context].
func (s *scope) Done() <-chan struct{} { return (*Handle)(s).alive().Done() }

// Err implements [context.Context].
func (s *scope) Err() error {
	h := (*Handle)(s)
	if l := h.life.Load(); l != nil {
		return l.ctx.Err()
	}
	if h.ex.Status(h) != Pending {
		return context.Canceled
	}
	return nil
}

// Value implements [context.Context].
func (s *scope) Value(key any) any {
	if key == (current{}) {
		return (*Handle)(s)
	}
	// package context asks its own contexts for themselves, and so saves a
	// goroutine for each context that is made of this one.
	if l := (*Handle)(s).life.Load(); l != nil {
		return l.ctx.Value(key)
	}
	return nil
}

// alive returns the context that ends with the task.
func (h *Handle) alive() context.Context {
	if h.life.Load() == nil {
		ctx, end := context.WithCancel(context.Background())
		h.life.CompareAndSwap(nil, &life{ctx: ctx, end: end}) // unless another goroutine was faster
		// Cancel changes the state and then looks for the context.
		if h.ex.Status(h) != Pending {
			h.life.Load().end()
		}
	}
	return h.life.Load().ctx
}

// current is the key of the task in its context.
type current struct{}

// Current returns the task that ctx belongs to, or nil: for those who want to
// cancel themselves.
func Current(ctx context.Context) *Handle {
	_, of := owner(ctx)
	return of
}

// owner returns the task that ctx belongs to, and what is in progress with it: the same,
// or a part of it that [Join] has offered. Both are nil outside a task.
func owner(ctx context.Context) (at, of *Handle) {
	switch c := ctx.(type) {
	case *scope: // as a rule
		return (*Handle)(c), (*Handle)(c)
	case *shared:
		return c.at, c.of
	}
	switch v := ctx.Value(current{}).(type) {
	case *Handle:
		return v, v
	case *shared:
		return v.at, v.of
	}
	return nil, nil
}

// Own reports whether ctx is the very context that the task h was given, and not
// one made of it, which may end while the task goes on. It is for implementations
// of [Executor]: a wait with it ends in no other way than by the end of what is
// waited for, or of the waiting task.
func Own(ctx context.Context, h *Handle) bool {
	if s, ok := ctx.(*shared); ok {
		ctx = s.Context
	}
	s, ok := ctx.(*scope)
	return ok && (*Handle)(s) == h
}

// Detached returns a context that ends when ctx does and has its values, and is
// not the task's: for the goroutines that a task starts itself. See the package's
// documentation.
func Detached(ctx context.Context) context.Context { return detached{ctx} }

type detached struct{ context.Context }

// Value implements [context.Context].
func (d detached) Value(key any) any {
	if key == (current{}) {
		return nil
	}
	return d.Context.Value(key)
}

// Yield lets other tasks run before the calling one goes on. Its executor says
// how much that is worth. ctx is the task's; with another one, Yield returns
// [ErrOutside].
func Yield(ctx context.Context) error {
	h, _ := owner(ctx)
	if h == nil {
		return ErrOutside
	}
	h.ex.Yield(h)
	return nil
}

// Canceled reports whether the calling task has been canceled. ctx is the task's;
// with another one it returns [ErrOutside].
func Canceled(ctx context.Context) (bool, error) {
	h := Current(ctx)
	if h == nil {
		return false, ErrOutside
	}
	return h.ex.Status(h) == Cancelled, nil
}
