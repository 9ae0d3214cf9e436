package actor

import "context"

// This file is what an implementation fills: where messages wait, and who runs
// an actor when. What a mailbox means (order, bounds, policies, priorities) is in
// package actor/mailbox, without synchronisation, for all of them. So a minimal
// implementation is a mutex, a mailbox.Queue and this turn:
//
//	func (b *box) turn(w *worker) (v actor.Verdict) {
//		var msg any
//		returned := false
//		defer func() {
//			if !returned { // the actor panicked or called Goexit
//				v = b.cell.Caught(&w.tally, msg, recover())
//			}
//		}()
//		if b.cell.BeginTurn(w) {
//			for ok := true; ok; ok = b.cell.Invoke(msg) {
//				if msg, ok = b.pop(); !ok {
//					break
//				}
//			}
//		}
//		v = b.cell.EndTurn(&w.tally)
//		returned = true
//		return v
//	}
//
// The turn is for copying: shared, it would have to call pop indirectly for every
// message. Between Tell and Receive there are two indirect calls, Port.Send and
// Receive itself.

// Dispatcher is an implementation: it makes the actors' mailboxes and runs
// their turns. One serves one system, once.
//
// What it owes:
//
//   - One turn of an actor at a time, and what one turn did is visible in the
//     next (it happens before it).
//   - Whatever was sent before an actor goes idle is found: the sender queues
//     first and then looks whether the actor is idle; the turn's end makes it
//     idle first and then looks once more.
//   - Messages of one sender to one actor are handled in the order of sending,
//     except as the mailbox's Priority says.
//   - Every message that Send accepted is handed to Cell.Invoke or to
//     Cell.Undelivered, exactly once.
type Dispatcher interface {
	// Start prepares for work. The core calls it before anything else. It
	// fails if the dispatcher has been started before.
	Start() error

	// Attach makes the mailbox of a new actor, with a zero Cell in it. cfg has
	// been checked. Any goroutine may call it, also several at once, from Start
	// to Stop.
	Attach(cfg MailboxConfig) Port

	// Stop ends what Start and later calls have begun. The core calls it once,
	// when every actor has stopped, from within the last turn: so it must not
	// wait. When no goroutine of the dispatcher is left, but for one that is
	// about to end, it calls done, which does not block; it may do so before
	// Stop returns. Ports may be used afterwards, and refuse.
	Stop(done func())

	// AddStats adds what the dispatcher has counted to s. Any goroutine may
	// call it at any time, also after Stop.
	AddStats(s *Stats)
}

// Synchronous is a Dispatcher without workers: turns run on the
// goroutine that calls RunUntilIdle, or waits in SendWait, and at no other time.
type Synchronous interface {
	Dispatcher

	// RunUntilIdle runs turns until no actor has anything to do. If a turn is
	// under way already, on this goroutine or another one, it returns at once:
	// the goroutine that runs that one goes on with everything that is queued.
	RunUntilIdle()
}

// Port is an actor's entrance: its mailbox for user messages and its place in
// the implementation's schedule in one, so that a send is one indirect call.
// All methods may be called by any number of goroutines at once, except where
// they say otherwise.
type Port interface {
	// Cell returns the actor's Cell, which is part of the Port's own memory, so
	// that an actor is one object. It must be zero when Attach returns.
	Cell() *Cell

	// Send queues msg and, if the actor is idle, schedules it: on the worker
	// from, if that is not nil, after that worker's present turn. from is
	// always a worker of this dispatcher, and the caller is in its turn. Send
	// never waits and never runs an actor.
	Send(msg any, from Worker) SendResult

	// SendWait is called after Send has returned MustWait. It waits until msg
	// is queued, and returns nil; or until the actor stops, and returns
	// ErrStopped; or until ctx ends, and returns its error. An implementation
	// that would wait for ever may return ErrDeadlock. If from is not nil that
	// worker waits, and others must take over what it cannot do meanwhile.
	SendWait(ctx context.Context, msg any, from Worker) error

	// Wake schedules the actor, unless it is scheduled or in a turn that will
	// still look at Cell.Pending, because a system message was queued. from is
	// as in Send. After the verdict Stopped it does nothing.
	Wake(from Worker)

	// Close makes every later Send return Closed and every waiting SendWait
	// return ErrStopped, and hands each message that was accepted and not
	// handled, in order, to Cell.Undelivered with ErrStopped. What a Send that
	// is under way may still queue must be handed over as well, by the goroutine that
	// finds it. The core calls it once, inside Cell.EndTurn or Cell.Caught.
	Close()

	// Len returns how many user messages wait; while others send it may be out
	// of date at once. What the present turn has taken does not count in a mailbox
	// with a capacity: those who wait for room there are told by it. In one
	// without it may count, or not, until the turn is over.
	Len() int
}

// Worker is who runs a turn. An implementation passes one to BeginTurn and
// finds it again, as from, in what the actor does to other actors' Ports, where
// it may assert its own type. It must not be nil.
type Worker interface {
	// Dispatcher returns the dispatcher it belongs to.
	Dispatcher() Dispatcher
}

// Host is a Dispatcher that can have turns run by goroutines which are none of its own.
// One that has a goroutine for each actor cannot.
type Host interface {
	Dispatcher

	// NewGuest returns a Guest of l. Any goroutine may call it, from Start on.
	NewGuest(l Lender) Guest
}

// Lender is whose goroutine runs the turns of a Guest.
type Lender interface {
	// TurnWaits is called, on that goroutine, when such a turn is about to wait in
	// SendWait. It must not block.
	TurnWaits()
}

// Guest is a Worker whose goroutine is its user's. Who has got a message from outside,
// such as off a network, and has nothing to do until the next one comes, saves waking a
// worker: it sends as the Guest ([Ref.Offer]), and calls Run. One goroutine at a time uses it.
type Guest interface {
	Worker

	// Run runs a turn of the actor that a send as this Guest has made ready, if one has; of
	// several it is the first, and the dispatcher's workers have the others. Each
	// send must be followed by Run, or Leave, at once: until then no worker runs the
	// actor. What becomes ready in the turn is for the workers as well. The turn
	// takes as long as its handlers do. If one calls runtime.Goexit, that ends the
	// caller's goroutine, with the turn settled; the Guest can be used by another one then.
	Run()

	// Leave ends the use. An actor that Run has not reached is left to the workers.
	Leave()
}

// SendResult is the answer of Port.Send.
type SendResult uint8

const (
	// Sent: the message is the mailbox's now.
	Sent SendResult = iota
	// Full: the mailbox is full and its policy is DropNewest.
	Full
	// Closed: the actor is stopping or has stopped.
	Closed
	// MustWait: the mailbox is full and its policy is Block.
	MustWait
)

// Verdict is what the core says at the end of a turn. It decides; the
// implementation schedules.
type Verdict uint8

const (
	// Continue: the turn ended because no user message was left. Make the
	// actor idle, then look once more whether there are user messages or
	// Cell.Pending, and if so schedule it again.
	Continue Verdict = iota
	// Yield: the actor has had its turn. Schedule it again behind all others.
	Yield
	// Suspended: the actor handles no user messages for now. Make it idle in
	// such a way that only Wake schedules it, then look once more at
	// Cell.Pending. User messages go on queueing, unless the Port is closed. Why it is
	// suspended, and what resumes it, [Cell.Suspension] says.
	Suspended
	// Stopped: the actor is gone for good, its Port closed. Never schedule it
	// again and let go of what it no longer needs: a Ref that is kept keeps
	// the Port.
	Stopped
)

// String returns the verdict in lower case.
func (v Verdict) String() string {
	switch v {
	case Continue:
		return "continue"
	case Yield:
		return "yield"
	case Suspended:
		return "suspended"
	case Stopped:
		return "stopped"
	}
	return "Verdict(" + itoa(int(v)) + ")"
}
