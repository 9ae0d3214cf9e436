package actor

import "context"

// Ref is a reference to one incarnation of an actor: a plain value, comparable
// with ==, to be copied and put into messages freely. The zero Ref is no actor's.
//
// A Ref stays bound to its actor when that has stopped: sending fails then,
// and never reaches another actor of the same name. All that a Ref keeps in
// memory of a stopped actor is an empty shell of some 200 bytes, and those of
// its parents.
type Ref struct {
	cell *Cell
}

// IsZero reports whether r is zero.
func (r Ref) IsZero() bool { return r.cell == nil }

// Tell sends msg from outside the system; an actor uses [Context.Tell], which
// is faster. It returns nil if the mailbox has accepted the message, and a
// [*SendError], which gives it back, if not. It waits only if the mailbox is
// full and its policy is Block.
func (r Ref) Tell(msg any) error { return r.TellContext(context.Background(), msg) }

// TellContext is Tell that stops waiting for room when ctx ends. Room wins over
// a context that has ended already: ctx is not looked at unless the call would
// have to wait. A nil ctx means context.Background.
func (r Ref) TellContext(ctx context.Context, msg any) error {
	if r.cell == nil {
		return &SendError{Msg: msg, Reason: ErrZeroRef}
	}
	if res := r.cell.port.Send(msg, nil); res != Sent {
		if reason := insist(ctx, r.cell, msg, nil, res); reason != nil {
			return r.cell.system.giveBack(r, msg, reason)
		}
	}
	return nil
}

// PID returns the actor's PID, which is zero for the zero Ref.
func (r Ref) PID() PID {
	if r.cell == nil {
		return PID{}
	}
	return r.cell.pid
}

// Name returns the name that the actor has among its parent's children: the
// one it was spawned with, or "anon-" and its PID. It is empty for the zero Ref.
func (r Ref) Name() string {
	if r.cell == nil {
		return ""
	}
	return string(r.cell.appendName(nil))
}

// Path returns the names from the root to the actor, such as
// "/user/room/anon-12". It is empty for the zero Ref.
func (r Ref) Path() string {
	if r.cell == nil {
		return ""
	}
	return string(r.cell.appendPath(nil))
}

// String returns the path and the PID, "/user/room/anon-12#12", or "the zero Ref";
// for an actor in another system it returns the text of its address.
func (r Ref) String() string {
	if r.cell == nil {
		return "the zero Ref"
	}
	if r.cell.away() {
		return r.Address().String()
	}
	b := r.cell.appendPath(nil)
	b = append(b, '#')
	return string(r.cell.pid.append(b))
}

// Intake returns what the actor told of itself as a [Taker]; nil if it is none, or
// is not in this system, and for the zero Ref.
func (r Ref) Intake() *Intake {
	if r.cell == nil {
		return nil
	}
	return r.cell.intake
}

// Backlog returns how many user messages wait in the actor's mailbox. While it
// is being sent to, or in a turn, the number may be out of date at once, and
// those that the turn has picked up may or may not be counted. Of an actor in
// another system it is how many messages are under way there, to whichever
// actor: accepted here and, as far as is known, in no mailbox yet.
func (r Ref) Backlog() int {
	if r.cell == nil {
		return 0
	}
	return r.cell.port.Len()
}
