package typed

import (
	"context"
	"errors"

	"github.com/dynolab/dyno/actor"
)

// ErrType is the failure of a typed actor that was sent, by untyped code or
// through a Ref made with [Of], a message that is not its type.
var ErrType = errors.New("typed: the actor was sent a message that is not its type")

// Actor is [actor.Actor] for messages of type M.
type Actor[M any] interface {
	// Receive handles a message, as [actor.Actor] says.
	Receive(ctx *Context[M], msg M) error
}

// PreStarter is an Actor with something to do before its first message:
// [actor.PreStarter].
type PreStarter[M any] interface {
	PreStart(ctx *Context[M]) error
}

// PostStopper is an Actor with something to do after its last message:
// [actor.PostStopper].
type PostStopper[M any] interface {
	PostStop(ctx *Context[M]) error
}

// PreRestarter is an Actor with something to do before a restart replaces it:
// [actor.PreRestarter].
type PreRestarter[M any] interface {
	PreRestart(ctx *Context[M], cause error) error
}

// PostRestarter is an Actor with something to do after a restart has made it:
// [actor.PostRestarter].
type PostRestarter[M any] interface {
	PostRestart(ctx *Context[M], cause error) error
}

// Behavior is an Actor, or the behaviour of one, that is only a function.
type Behavior[M any] func(ctx *Context[M], msg M) error

// Receive calls f.
func (f Behavior[M]) Receive(ctx *Context[M], msg M) error { return f(ctx, msg) }

// Props says how to make an actor that handles messages of type M.
type Props[M any] struct {
	// New makes the actor's value, as actor.Props.New does. It is required.
	New func() Actor[M]

	// Rank, if not nil, gives each message a priority: it is
	// MailboxConfig.Priority, which must be nil, for messages of type M. Other
	// messages, which the actor cannot handle anyway, have priority 0.
	Rank func(msg M) int

	// Signal, if not nil, is called with what the runtime tells an actor and is
	// no M: [actor.Terminated] and [actor.ReceiveTimeout]. It is called whatever
	// behaviour is in force, and its error is a failure. Without it such a
	// message is a failure with [ErrType].
	Signal func(ctx *Context[M], signal any) error

	// Props has everything else. Its New and its Mailbox.Priority must be nil.
	actor.Props
}

// Untyped returns p for those who take an actor.Props, such as actor.Config. It
// panics if a field is not nil that must be.
func (p Props[M]) Untyped() actor.Props {
	if p.Props.New != nil || p.Mailbox.Priority != nil {
		panic("typed: Props.New and Mailbox.Priority must be nil: use New and Rank, which know the type of the message")
	}
	u := p.Props
	if p.New != nil { // else the core says so
		u.New = func() actor.Actor { return adapt(p.New()) }
	}
	if rank := p.Rank; rank != nil {
		u.Mailbox.Priority = func(msg any) int {
			if b, ok := msg.(*box[M]); ok {
				return rank(b.msg)
			}
			if m, ok := msg.(M); ok {
				return rank(m)
			}
			return 0
		}
	}
	if signal := p.Signal; signal != nil {
		// The innermost of the middleware: behaviours come and go below it.
		u.Middleware = append(u.Middleware[:len(u.Middleware):len(u.Middleware)], func(next actor.ReceiveFunc) actor.ReceiveFunc {
			return func(ctx *actor.Context, msg any) error {
				switch msg.(type) {
				case actor.Terminated, actor.ReceiveTimeout:
					if _, ok := msg.(M); !ok {
						return signal((*Context[M])(ctx), msg)
					}
				}
				return next(ctx, msg)
			}
		})
	}
	return u
}

// adapter is a typed actor as the core sees it.
type adapter[M any] struct {
	actor Actor[M]
	pool  *pool[M]
}

// starter is an adapter of an actor with a PreStart. It is a type of its own
// since an actor without costs nothing to start.
type starter[M any] struct{ adapter[M] }

// adapt makes an actor of a, and nil of nil.
func adapt[M any](a Actor[M]) actor.Actor {
	if a == nil {
		return nil
	}
	x := adapter[M]{actor: a, pool: poolOf[M]()}
	if _, ok := a.(PreStarter[M]); ok {
		return &starter[M]{x}
	}
	return &x
}

// Receive implements actor.Actor.
func (x *adapter[M]) Receive(ctx *actor.Context, msg any) error {
	return receive(ctx, msg, x.actor)
}

// Intake implements actor.Taker.
func (x *adapter[M]) Intake() *actor.Intake {
	if x.pool == nil {
		return nil
	}
	return &x.pool.intake
}

// PreStart implements actor.PreStarter.
func (x *starter[M]) PreStart(ctx *actor.Context) error {
	return x.actor.(PreStarter[M]).PreStart((*Context[M])(ctx))
}

// PostStop implements actor.PostStopper.
func (x *adapter[M]) PostStop(ctx *actor.Context) error {
	if h, ok := x.actor.(PostStopper[M]); ok {
		return h.PostStop((*Context[M])(ctx))
	}
	return nil
}

// PreRestart implements actor.PreRestarter, by what the core does for actors
// without it.
func (x *adapter[M]) PreRestart(ctx *actor.Context, cause error) error {
	if h, ok := x.actor.(PreRestarter[M]); ok {
		return h.PreRestart((*Context[M])(ctx), cause)
	}
	return x.PostStop(ctx)
}

// PostRestart implements actor.PostRestarter, likewise.
func (x *adapter[M]) PostRestart(ctx *actor.Context, cause error) error {
	if h, ok := x.actor.(PostRestarter[M]); ok {
		return h.PostRestart((*Context[M])(ctx), cause)
	}
	if h, ok := x.actor.(PreStarter[M]); ok {
		return h.PreStart((*Context[M])(ctx))
	}
	return nil
}

// Ref is an [actor.Ref] to an actor that is taken to handle messages of type M.
// Like that it is a plain value, one pointer, comparable with ==. The zero Ref
// is no actor's.
type Ref[M any] struct {
	ref actor.Ref
}

// Of returns r for messages of type M. It is not checked that the actor handles
// them: one of this package that does not fails with [ErrType].
func Of[M any](r actor.Ref) Ref[M] { return Ref[M]{r} }

// Untyped returns the Ref without its type.
func (r Ref[M]) Untyped() actor.Ref { return r.ref }

// IsZero reports whether r is zero.
func (r Ref[M]) IsZero() bool { return r.ref.IsZero() }

// String returns what [actor.Ref.String] does.
func (r Ref[M]) String() string { return r.ref.String() }

// MarshalText returns the text of the actor's address.
func (r Ref[M]) MarshalText() ([]byte, error) { return r.ref.MarshalText() }

// MarshalBinary returns the binary form of the actor's address.
func (r Ref[M]) MarshalBinary() ([]byte, error) { return r.ref.MarshalBinary() }

// Tell sends msg from outside the system, as [actor.Ref.Tell] does; an actor
// uses the function [Tell], which is faster.
func (r Ref[M]) Tell(msg M) error {
	if b := r.boxed(msg); b != nil {
		return b.sent(r.ref.Tell(b))
	}
	return r.ref.Tell(msg)
}

// TellContext is Tell that stops waiting for room when ctx ends, as
// [actor.Ref.TellContext] does.
func (r Ref[M]) TellContext(ctx context.Context, msg M) error {
	if b := r.boxed(msg); b != nil {
		return b.sent(r.ref.TellContext(ctx, b))
	}
	return r.ref.TellContext(ctx, msg)
}

// Returned returns the message that err, the error of a send, gives back; false
// if err is none or gives back a message of another type.
func Returned[M any](err error) (M, bool) {
	var e *actor.SendError
	if errors.As(err, &e) {
		m, ok := e.Msg.(M)
		return m, ok
	}
	var zero M
	return zero, false
}

// Context is an [actor.Context] of an actor that handles messages of type M.
// What it does not have itself Untyped has. What takes another type than M is a
// function of this package, as Go has no methods with types of their own.
type Context[M any] actor.Context

// In returns the context of an untyped actor for the functions of this package.
func In(ctx *actor.Context) *Context[any] { return (*Context[any])(ctx) }

// Untyped returns the context without its type.
func (x *Context[M]) Untyped() *actor.Context { return (*actor.Context)(x) }

// Self returns the actor's own Ref.
func (x *Context[M]) Self() Ref[M] { return Ref[M]{x.Untyped().Self()} }

// System returns the system.
func (x *Context[M]) System() *actor.System { return x.Untyped().System() }

// Stop asks an actor to stop, as [actor.Context.Stop] does.
func (x *Context[M]) Stop(r actor.Ref) { x.Untyped().Stop(r) }

// StopSelf is Stop of the actor itself.
func (x *Context[M]) StopSelf() { x.Untyped().StopSelf() }

// Become makes f handle the messages that follow, as [actor.Context.Become]
// does.
func (x *Context[M]) Become(f Behavior[M]) {
	if f == nil {
		panic("typed: Become(nil)")
	}
	x.Untyped().Become(func(ctx *actor.Context, msg any) error { return receive[M](ctx, msg, f) })
}

// Unbecome undoes the last Become that has not been undone, and reports whether
// there was one.
func (x *Context[M]) Unbecome() bool { return x.Untyped().Unbecome() }

// Tell sends msg in the turn of ctx, as [actor.Context.Tell] does.
func Tell[N, M any](ctx *Context[N], to Ref[M], msg M) error {
	if b := to.boxed(msg); b != nil {
		return b.sent(ctx.Untyped().Tell(to.ref, b))
	}
	return ctx.Untyped().Tell(to.ref, msg)
}

// TellContext is Tell that stops waiting for room when c ends, as
// [actor.Context.TellContext] does.
func TellContext[N, M any](ctx *Context[N], c context.Context, to Ref[M], msg M) error {
	if b := to.boxed(msg); b != nil {
		return b.sent(ctx.Untyped().TellContext(c, to.ref, b))
	}
	return ctx.Untyped().TellContext(c, to.ref, msg)
}

// Forward passes on a message in the turn of ctx, as [actor.Context.Forward]
// does: what cannot be sent goes to the dead letters.
func Forward[N, M any](ctx *Context[N], to Ref[M], msg M) {
	if b := to.boxed(msg); b != nil {
		ctx.Untyped().Forward(to.ref, b) // a dead letter's box is the collector's
		return
	}
	ctx.Untyped().Forward(to.ref, msg)
}

// Spawn makes a child without a name of its own, as [actor.Context.Spawn] does.
func Spawn[N, M any](ctx *Context[N], p Props[M]) (Ref[M], error) {
	r, err := ctx.Untyped().Spawn(p.Untyped())
	return Ref[M]{r}, err
}

// SpawnNamed makes a child with a name, as [actor.Context.SpawnNamed] does.
func SpawnNamed[N, M any](ctx *Context[N], name string, p Props[M]) (Ref[M], error) {
	r, err := ctx.Untyped().SpawnNamed(name, p.Untyped())
	return Ref[M]{r}, err
}
