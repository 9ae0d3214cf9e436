package group

import (
	"context"
	"errors"
)

// Outcome is what a group comes to: its context, its first error, and what Wait
// answers. It is for implementations. It is sequential: what guards the rest of a
// group's state guards this as well, but for Context and Cancel, which any
// goroutine may call.
type Outcome struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	failFast bool
	all      bool
	settled  bool
	first    error   // of the first task that completed with an error; never changes
	rest     []error // of the others, if all are wanted
	cause    error   // of the context, fixed when the group settles
}

// NewOutcome returns the outcome of a group whose tasks' context is derived from
// ctx; nil means context.Background.
func NewOutcome(ctx context.Context, cfg Config) Outcome {
	o := Outcome{failFast: cfg.FailFast, all: cfg.AllErrors}
	o.ctx, o.cancel = WithCancelCause(ctx)
	return o
}

// WithCancelCause is context.WithCancelCause, with a function that runs nothing of ctx,
// which may be anybody's type: a group cancels with its lock held. A nil ctx means
// context.Background.
func WithCancelCause(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if ctx == nil {
		ctx = context.Background()
	}
	done := ctx.Done()
	if done == nil {
		return context.WithCancelCause(ctx) // which does not ask again
	}
	return context.WithCancelCause(&parent{Context: ctx, done: done})
}

// parent is a context that remembers what package context asked when another one was
// derived from it, and so does not ask the one that it stands for again when that is
// canceled: its Done, and whether it is one of the package's own.
type parent struct {
	context.Context
	done        <-chan struct{}
	key, answer any // what Value was asked first, before WithCancelCause has returned, and never written again
}

// Done implements [context.Context].
func (p *parent) Done() <-chan struct{} { return p.done }

// Value implements [context.Context].
func (p *parent) Value(key any) any {
	if p.key == nil {
		p.key, p.answer = key, p.Context.Value(key)
	}
	if key == p.key {
		return p.answer
	}
	return p.Context.Value(key)
}

// Ending returns the channel that is closed when ctx ends, which is nil if it cannot, and
// the error that it has ended with. It is for an implementation's Next, which must not
// hold a lock meanwhile: a context is anybody's type. A nil ctx never ends.
func Ending(ctx context.Context) (<-chan struct{}, error) {
	if ctx == nil {
		return nil, nil
	}
	return ctx.Done(), ctx.Err()
}

// Context returns the context that tasks get.
func (o *Outcome) Context() context.Context { return o.ctx }

// Cancel is Group.Cancel: a nil cause means context.Canceled.
func (o *Outcome) Cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	o.cancel(cause)
}

// Complete notes the error of a task that is over, or nil. In a group that fails
// fast the first one cancels the context. Call it before anybody can see the
// result: who has seen it finds the context canceled. No foreign code runs in it.
func (o *Outcome) Complete(err error) {
	switch {
	case err == nil:
		return
	case o.first != nil:
		if o.all {
			o.rest = append(o.rest, err)
		}
		return
	}
	o.first = err
	if o.failFast {
		o.cancel(err)
	}
}

// Settle fixes the answer of Wait and releases the context. The group must be
// closed, with nothing in flight. The first call counts, later ones do nothing.
func (o *Outcome) Settle() {
	if o.settled {
		return
	}
	o.settled = true
	o.cause = context.Cause(o.ctx)
	o.cancel(nil)
}

// Settled reports whether Settle was called: no result is going to come.
func (o *Outcome) Settled() bool { return o.settled }

// Err is what Wait returns if nothing is in flight: the first error, or all, or the cause
// for which the context has ended, or nil.
func (o *Outcome) Err() error {
	switch {
	case o.rest != nil:
		return errors.Join(append([]error{o.first}, o.rest...)...)
	case o.first != nil:
		return o.first
	case o.settled:
		return o.cause
	}
	return context.Cause(o.ctx)
}

// Call runs fn and makes a result of what it does: of a panic a PanicError, if
// the group is to recover it. If fn calls runtime.Goexit it does not return, and
// the result is one with ErrGoexit.
func Call[T any](ctx context.Context, fn TaskFunc[T], panicToError bool) (r Result[T]) {
	if panicToError {
		defer func() {
			if v := recover(); v != nil {
				r = Result[T]{Err: NewPanicError(v)}
			}
		}()
	}
	r.Value, r.Err = fn(ctx)
	return r
}
