package actor

import (
	"context"
	"iter"

	"github.com/dynolab/dyno/internal/invariants"
)

// Context is what an actor sees of the system, and of itself. There is one for
// each actor, the same in every call. It may be used in the actor's turn only:
// inside Receive and the hooks, on the goroutine that called them. Builds with
// -race or -tags dynocheck panic when it is used outside.
type Context Cell

// turn returns the actor's cell and checks that the actor is in its turn.
func (x *Context) turn() *Cell {
	c := (*Cell)(x)
	if invariants.Enabled && c.worker == nil {
		panic("actor: a Context was used outside its actor's turn: copy what you need of it, such as Self, into variables before you start a goroutine")
	}
	return c
}

// Self returns the actor's own Ref.
func (x *Context) Self() Ref { return Ref{x.turn()} }

// Parent returns the Ref of the actor's parent. It is zero for the user
// guardian, whose parent, the root, takes no messages.
func (x *Context) Parent() Ref {
	c := x.turn()
	if c.parent == nil || c.parent.parent == nil {
		return Ref{}
	}
	return Ref{c.parent}
}

// Children returns the children that have not stopped, as far as the actor has
// been told, the newest first.
func (x *Context) Children() iter.Seq[Ref] {
	c := x.turn()
	return func(yield func(Ref) bool) {
		for child := c.children; child != nil; {
			older := child.older
			if !yield(Ref{child}) {
				return
			}
			child = older
		}
	}
}

// Child returns the child of that name, also of a made one such as "anon-12";
// false if there is none that has not stopped.
func (x *Context) Child(name string) (Ref, bool) {
	c := x.turn()
	return c.system.child(c, name)
}

// System returns the system.
func (x *Context) System() *System { return x.turn().system }

// Tell sends msg, as [Ref.Tell] does. It passes on who runs this actor, so that
// the receiver can be run next on the same processor, without anybody being
// woken.
func (x *Context) Tell(to Ref, msg any) error {
	c, t := x.turn(), to.cell
	if t == nil || t.system != c.system {
		return x.TellContext(context.Background(), to, msg)
	}
	if res := t.port.Send(msg, c.worker); res != Sent {
		return c.untold(context.Background(), t, msg, res)
	}
	return nil
}

// TellContext is Tell that stops waiting for room when ctx ends, as
// [Ref.TellContext] does.
func (x *Context) TellContext(ctx context.Context, to Ref, msg any) error {
	c, t := x.turn(), to.cell
	if t == nil {
		return c.system.giveBack(to, msg, ErrZeroRef)
	}
	if res := t.port.Send(msg, c.workerFor(t)); res != Sent {
		return c.untold(ctx, t, msg, res)
	}
	return nil
}

// untold goes on when a Send from this actor's turn was not simply accepted.
func (c *Cell) untold(ctx context.Context, to *Cell, msg any, res SendResult) error {
	if reason := c.insist(ctx, to, msg, res); reason != nil {
		return c.system.giveBack(Ref{to}, msg, reason)
	}
	return nil
}

// Forward passes on a message that this actor is not the one to answer for:
// like Tell, but what cannot be sent goes to the dead letters instead of back.
func (x *Context) Forward(to Ref, msg any) {
	c, t := x.turn(), to.cell
	reason := ErrZeroRef
	if t != nil {
		res := t.port.Send(msg, c.workerFor(t))
		if res == Sent {
			return
		}
		reason = c.insist(context.Background(), t, msg, res)
	}
	if reason != nil {
		c.system.deadLetter(DeadLetter{Msg: msg, To: to, Reason: reason})
	}
}

// Spawn makes a child without a name of its own. It returns a [*PropsError] if
// p cannot be used, and [ErrStopping] if the actor is stopping.
func (x *Context) Spawn(p Props) (Ref, error) { return x.turn().spawn("", &p) }

// SpawnNamed makes a child with a name, which must be unique among the children
// that have not stopped. Beyond the errors of Spawn it returns [ErrBadName] and
// [ErrNameTaken].
func (x *Context) SpawnNamed(name string, p Props) (Ref, error) {
	c := x.turn()
	if !validName(name) {
		return Ref{}, ErrBadName
	}
	return c.spawn(name, &p)
}

// Stop asks an actor to stop: after the message it is handling it handles no
// other; its children stop, then the actor. Messages that wait in its mailbox
// go to the dead letters. Stop does not wait. For an actor that has stopped,
// and for the zero Ref, it does nothing.
func (x *Context) Stop(r Ref) {
	if c := x.turn(); r.cell != nil {
		c.signal(r.cell, sigStop)
	}
}

// StopSelf is Stop of the actor itself: the message being handled is its last.
func (x *Context) StopSelf() {
	c := x.turn()
	c.signal(c, sigStop)
}

// Log publishes a [LogEvent] of the actor's on the system's event stream. If
// there is no listener it costs next to nothing.
func (x *Context) Log(level Level, text string) {
	c := x.turn()
	if e := c.system.events; e.active() {
		e.Publish(LogEvent{Level: level, Actor: Ref{c}, Text: text, Time: c.now()})
	}
}

// Become makes f handle the messages that follow, in the actor's place, until
// Unbecome, or Become with another one. The hooks stay the actor's.
func (x *Context) Become(f ReceiveFunc) {
	if f == nil {
		panic("actor: Become(nil)")
	}
	c := x.turn()
	b, m := c.behaviour(), c.extra()
	m.below = append(m.below, *b)
	*b = f
	c.changed()
}

// Unbecome undoes the last Become that has not been undone, and reports
// whether there was one.
func (x *Context) Unbecome() bool {
	c := x.turn()
	if c.more == nil || len(c.more.below) == 0 {
		return false
	}
	b, m := c.behaviour(), c.more
	last := len(m.below) - 1
	*b, m.below[last] = m.below[last], nil
	m.below = m.below[:last]
	c.changed()
	return true
}

// changed publishes that another behaviour is in force.
func (c *Cell) changed() {
	if e := c.system.events; e.active() {
		e.Publish(BehaviorChanged{Actor: Ref{c}, Depth: len(c.more.below), Time: c.now()})
	}
}
