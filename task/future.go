package task

import "context"

// Future is a task with a value of type T. Its methods may be called by any
// number of goroutines at once.
type Future[T any] struct {
	h Handle

	// value is written by the goroutine that runs the task before it makes it
	// Resolved, and read by those who have seen that it is.
	value T
}

// Handle returns the task without its type, for those who keep tasks of many
// types.
func (f *Future[T]) Handle() *Handle { return &f.h }

// Status returns the task's state. It never blocks.
func (f *Future[T]) Status() Status { return f.h.Status() }

// Value waits as [Handle.Wait] does, and returns what the task has returned. If
// it did not succeed, the value is zero and the error an [*Error].
func (f *Future[T]) Value(ctx context.Context) (T, error) {
	if ok, err := f.h.wait(ctx); !ok {
		var zero T
		return zero, err
	}
	return f.value, nil
}

// Cancel is [Handle.Cancel].
func (f *Future[T]) Cancel() bool { return f.h.Cancel() }

// Done is [Handle.Done].
func (f *Future[T]) Done() <-chan struct{} { return f.h.Done() }

// plain is a Future with its function.
type plain[T any] struct {
	Future[T]
	fn func(context.Context) (T, error)
}

func (p *plain[T]) run(ctx context.Context) (err error) {
	fn := p.fn
	p.fn = nil
	p.value, err = fn(ctx)
	return err
}

// call is a Future whose function has an argument.
type call[A, T any] struct {
	Future[T]
	fn  func(context.Context, A) (T, error)
	arg A
}

func (c *call[A, T]) run(ctx context.Context) (err error) {
	fn, arg := c.fn, c.arg
	var zero A
	c.fn, c.arg = nil, zero
	c.value, err = fn(ctx, arg)
	return err
}

// action is a Handle whose task has no value.
type action struct {
	h  Handle
	fn func(context.Context) error
}

func (a *action) run(ctx context.Context) error {
	fn := a.fn
	a.fn = nil
	return fn(ctx)
}

// Start starts a task that has no value. A closed executor refuses it: then it
// has failed, with [ErrClosed].
func Start(ex Executor, fn func(ctx context.Context) error) *Handle {
	if fn == nil {
		panic("task: Start: nil function")
	}
	a := &action{fn: fn}
	a.h.begin(ex, a, nil)
	return &a.h
}

// Go starts a task. A closed executor refuses it: then it has failed, with
// [ErrClosed].
//
// In a task, [Fork] is better: the executor knows more.
func Go[T any](ex Executor, fn func(ctx context.Context) (T, error)) *Future[T] {
	if fn == nil {
		panic("task: Go: nil function")
	}
	p := &plain[T]{fn: fn}
	p.h.begin(ex, p, nil)
	return &p.Future
}

// Call starts the task fn(ctx, arg). It is [Go] without a closure: the argument
// is in the same piece of memory as the Future.
func Call[A, T any](ex Executor, fn func(ctx context.Context, arg A) (T, error), arg A) *Future[T] {
	if fn == nil {
		panic("task: Call: nil function")
	}
	c := &call[A, T]{fn: fn, arg: arg}
	c.h.begin(ex, c, nil)
	return &c.Future
}

// Fork starts a task on the executor of the calling task, whose context ctx is or
// is made of. With another context the Future has failed, with [ErrOutside]. The
// new task is not canceled with the calling one.
func Fork[T any](ctx context.Context, fn func(ctx context.Context) (T, error)) *Future[T] {
	if fn == nil {
		panic("task: Fork: nil function")
	}
	p := &plain[T]{fn: fn}
	p.h.fork(ctx, p)
	return &p.Future
}

// ForkCall starts the task fn(ctx, arg) as [Fork] does. It is to Fork what [Call]
// is to [Go].
func ForkCall[A, T any](ctx context.Context, fn func(ctx context.Context, arg A) (T, error), arg A) *Future[T] {
	if fn == nil {
		panic("task: ForkCall: nil function")
	}
	c := &call[A, T]{fn: fn, arg: arg}
	c.h.fork(ctx, c)
	return &c.Future
}

// fork is begin for a task that another one starts.
func (h *Handle) fork(ctx context.Context, b body) {
	from, _ := owner(ctx)
	if from == nil {
		h.refuse(ErrOutside)
		return
	}
	h.begin(from.ex, b, from)
}
