package typed

import (
	"context"
	"time"

	"github.com/dynolab/dyno/actor"
)

// ReplyTo is an [actor.ReplyTo] for replies of type R, to be put into a request.
type ReplyTo[R any] struct {
	to actor.ReplyTo
}

// ReplyToOf returns to for replies of type R, for a request that takes its ReplyTo
// where it arrives, in another process. It is not checked that R is what is waited for:
// any other reply is [ErrType].
func ReplyToOf[R any](to actor.ReplyTo) ReplyTo[R] { return ReplyTo[R]{to} }

// ReplyAddress implements [actor.Requester]: it returns the ReplyTo without its type.
func (r ReplyTo[R]) ReplyAddress() actor.ReplyTo { return r.to }

// Untyped returns the ReplyTo without its type.
func (r ReplyTo[R]) Untyped() actor.ReplyTo { return r.to }

// Tell replies from outside the system, as [actor.ReplyTo.Tell] does; an actor
// uses the function [Reply], which is faster.
func (r ReplyTo[R]) Tell(msg R) error { return r.to.Tell(msg) }

// Fail replies that there will be no answer, as [actor.ReplyTo.Fail] does.
func (r ReplyTo[R]) Fail(err error) error { return r.to.Fail(err) }

// Reply replies in the turn of ctx, as [actor.Context.Reply] does.
func Reply[N, R any](ctx *Context[N], to ReplyTo[R], msg R) error {
	return ctx.Untyped().Reply(to.to, msg)
}

// ReplyTo returns the actor as the receiver of replies: they are messages to it.
func (r Ref[M]) ReplyTo() ReplyTo[M] { return ReplyTo[M]{r.ref.ReplyTo()} }

// Future is an [actor.Future] whose reply is an R.
type Future[R any] struct {
	future actor.Future
}

// Ask sends an actor the request that the given function makes for a ReplyTo, and
// returns the Future of the reply, as [actor.System.Ask] does. Only the time
// that it waits for room in a full mailbox with the policy Block is not bounded
// by timeout.
func Ask[M, R any](s *actor.System, to Ref[M], timeout time.Duration, request func(ReplyTo[R]) M) Future[R] {
	f := s.NewFuture(timeout)
	if err := to.Tell(request(ReplyTo[R]{f.ReplyTo()})); err != nil {
		_ = f.ReplyTo().Fail(err) // if it has timed out already, that stands
	}
	return Future[R]{f}
}

// Untyped returns the Future without its type.
func (f Future[R]) Untyped() actor.Future { return f.future }

// Wait waits until the Future ends and takes the result, as [actor.Future.Wait]
// does. A reply that is no R, which untyped code can send, is [ErrType].
func (f Future[R]) Wait(ctx context.Context) (R, error) {
	msg, err := f.future.Wait(ctx)
	return reply[R](msg, err)
}

// Poll takes the result if it is there, as [actor.Future.Poll] does.
func (f Future[R]) Poll() (r R, done bool, err error) {
	msg, done, err := f.future.Poll()
	if done {
		r, err = reply[R](msg, err)
	}
	return r, done, err
}

// Discard says that the reply is not wanted, as [actor.Future.Discard] does.
func (f Future[R]) Discard() { f.future.Discard() }

func reply[R any](msg any, err error) (r R, _ error) {
	if err != nil {
		return r, err
	}
	r, ok := msg.(R)
	if !ok {
		return r, ErrType
	}
	return r, nil
}
