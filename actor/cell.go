package actor

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/internal/invariants"
)

// State is where an actor is in its life.
type State uint32

const (
	// StateStarting: spawned, PreStart not over. Actors without PreStart skip it.
	StateStarting State = iota
	// StateRunning: handles messages.
	StateRunning
	// StateSuspended: handles system messages only; user messages wait. It is the
	// state of an actor that has failed, until its parent has decided.
	StateSuspended
	// StateStopping: handles system messages only and refuses user messages; its
	// children are stopping.
	StateStopping
	// StateStopped: nothing is left of it.
	StateStopped
)

// String returns the state in lower case.
func (s State) String() string {
	switch s {
	case StateStarting:
		return "starting"
	case StateRunning:
		return "running"
	case StateSuspended:
		return "suspended"
	case StateStopping:
		return "stopping"
	case StateStopped:
		return "stopped"
	}
	return "State(" + itoa(int(s)) + ")"
}

// Cell is an actor as the core keeps it. It is part of the Port that an
// implementation makes, and its exported methods are what an implementation
// writes a turn with (see spi.go); no other code calls them.
//
// A Cell must not be copied. Where nothing else is said, fields belong to the
// turn: only one goroutine at a time is in it, and the implementation hands
// them from one turn to the next.
type Cell struct {
	// What senders read stands apart from what a turn writes: both are touched
	// for every message, by different processors. All of it is written before
	// the Ref exists and never again, except for state, which changes a few
	// times in a life.
	port    Port
	system  *System
	parent  *Cell   // nil for the root
	given   *string // the name; nil if there is none, which is most
	intake  *Intake // nil for actors that are not a Taker
	pid     PID
	quantum int32         // user messages a turn
	state   atomic.Uint32 // a State; written by the turn, read by anyone

	actor    Actor // the behaviour in force
	worker   Worker
	signals  signals // pushed to by anyone
	more     *more   // what few actors have; nil: nothing
	children *Cell   // the newest; they are linked through older and newer
	older    *Cell   // these two belong to the parent's turn
	newer    *Cell
	left     int32    // user messages left in this turn; quantum between turns
	started  bool     // PreStart has succeeded or there is none, and PostStop is owed
	closed   bool     // the port is
	urgency  Priority // never written after the Ref exists
}

// Priority returns the actor's priority, for dispatchers that go by it. Any
// goroutine may call it.
func (c *Cell) Priority() Priority { return c.urgency }

// BeginTurn handles the waiting system messages and reports whether the actor
// may handle user messages. w is the worker that runs the turn. Every turn
// begins with it and ends with EndTurn or Caught.
func (c *Cell) BeginTurn(w Worker) bool {
	if invariants.Enabled {
		if c.worker != nil {
			invariants.Violated("actor", "one turn of an actor at a time")
		}
		if w.Dispatcher() != c.system.dispatcher {
			invariants.Violated("actor", "the worker of a turn belongs to the system's dispatcher")
		}
	}
	c.worker = w
	if c.signals.pending() {
		return c.handleSignals()
	}
	return State(c.state.Load()) == StateRunning
}

// Invoke has the actor handle msg, and then system messages that have come
// meanwhile. It reports whether it may be called with another message in this
// turn; if not, what was accepted and not handled waits, or is handed to
// Undelivered by Port.Close.
func (c *Cell) Invoke(msg any) bool {
	if forges(msg) { // it was sent, though only the runtime may make it
		return c.Invoke(Forged{msg})
	}
	c.left--
	if err := c.actor.Receive((*Context)(c), msg); err != nil {
		c.fail(msg, err, true)
		return false
	}
	if c.signals.pending() {
		return c.handleSignals() && c.left > 0
	}
	return c.left > 0
}

// EndTurn ends a turn and says what is to become of the actor. It counts the
// turn in t, which belongs to the calling worker. Until the implementation has
// acted on the verdict no other turn may begin.
func (c *Cell) EndTurn(t *Tally) Verdict {
	left := c.left
	c.left = c.quantum
	t.turn(c.quantum - left)
	v := Continue
	switch {
	case State(c.state.Load()) != StateRunning:
		v = c.settle()
	case left <= 0:
		v = Yield
	}
	if c.more != nil { // of an actor that has stopped there is none
		c.ended(left)
	}
	c.worker = nil
	return v
}

// Caught takes the place of EndTurn when the actor did not return from Invoke,
// or a hook from BeginTurn or EndTurn: it panicked, with the value recovered,
// or, if that is nil, called runtime.Goexit. It must be called on the
// goroutine of the turn by the deferred function that has recovered, where the
// panic's stack is still there. msg is the message that Invoke was called with.
func (c *Cell) Caught(t *Tally, msg, recovered any) Verdict {
	sent := State(c.state.Load()) == StateRunning
	if m := c.more; m != nil && m.busy {
		msg, sent = m.current.msg, m.current.sent
		m.busy, m.current = false, notice{}
	} else if !sent {
		msg = nil // a hook failed, not a message
	} else {
		msg = plain(msg) // as Receive was given it
	}
	c.fail(msg, caught(recovered), sent)
	return c.EndTurn(t)
}

// caught makes an error of what a deferred function has recovered.
func caught(recovered any) error {
	if recovered == nil {
		return ErrGoexit
	}
	return newPanicError(recovered)
}

// Pending reports whether system messages wait. Any goroutine may call it; an
// implementation does when it has made the actor idle.
func (c *Cell) Pending() bool { return c.signals.pending() }

// Undelivered takes a message that Send had accepted and the actor is not going to
// handle: with ErrStopped what Close finds, with ErrDropped what DropOldest
// drops. Any goroutine may call it.
func (c *Cell) Undelivered(msg any, reason error) {
	c.system.deadLetter(DeadLetter{Msg: msg, To: Ref{c}, Reason: reason})
}

// handleSignals handles system messages until there are none, and what comes
// before user messages because of them, and reports whether the actor may handle
// user messages then.
func (c *Cell) handleSignals() bool {
	c.takeSignals()
	if State(c.state.Load()) != StateRunning {
		return false
	}
	if c.more != nil {
		return c.deliver()
	}
	return true
}

// takeSignals handles system messages until there are none.
func (c *Cell) takeSignals() {
	var rest *signal                           // taken and not begun
	defer func() { c.signals.putBack(rest) }() // there is some if a hook has called Goexit
	for rest = c.signals.take(); rest != nil; {
		s := rest
		rest = s.next
		c.handle(s)
		if rest == nil {
			rest = c.signals.take()
		}
	}
}

func (c *Cell) handle(s *signal) {
	switch s.kind {
	case sigStart:
		c.start()
	case sigStop:
		c.state.Store(uint32(StateStopping))
	case sigChildStopped:
		c.lost(s.arg.(*Cell))
	case sigFailure:
		f := s.arg.(*Failure)
		c.decide(f.Actor.cell, f)
	case sigRestart:
		c.restart(s.arg.(*restartOrder))
	case sigBackoff:
		if v := s.arg.(*verdict); c.more.verdict == v && State(c.state.Load()) != StateStopping {
			v.waiting = false
			c.renew()
		}
	case sigGoOn:
		c.goOn(s.arg.(*goOnOrder))
	case sigSuspend:
		c.suspended(s.arg.(*pause))
	case sigResume:
		c.resumed(s.epoch, s.arg.(time.Time))
	case sigSeek:
		c.seek(s.arg.(*Cell), s.epoch)
	case sigUnseek:
		c.unseek(s.arg.(*Cell), s.epoch)
	case sigWatch:
		c.extra().watchers.add(s.arg.(*Cell))
	case sigUnwatch:
		if c.more != nil {
			c.more.watchers.remove(s.arg.(*Cell))
		}
	case sigTerminated:
		c.terminated(s.arg.(*Terminated))
	case sigTimer:
		c.rings(s.arg.(*Timer))
	case sigDrain:
		m := c.extra()
		m.drains = append(m.drains, *s.arg.(*drain))
	case sigNudge:
		if m := c.more; s == &m.nudge {
			m.nudged = false
		} else {
			m.custom.announced()
		}
	}
}

// lost forgets a child that has stopped.
func (c *Cell) lost(child *Cell) {
	c.unlink(child)
	if c.parent == nil {
		c.state.Store(uint32(StateStopping)) // a guardian is gone, and with it the system
	}
	m := c.more
	if m == nil {
		return
	}
	delete(m.budgets, child)
	if m.verdict != nil && State(c.state.Load()) != StateStopping {
		c.renew() // it may have been the last that a restart waited for
	}
}

// start runs PreStart.
func (c *Cell) start() {
	if State(c.state.Load()) != StateStarting {
		return
	}
	if err := c.protect((*c.behaviour()).(PreStarter).PreStart); err != nil {
		c.fail(nil, err, false)
		return
	}
	c.started = true
	c.state.Store(uint32(StateRunning))
	c.announce()
}

// announce publishes that the actor has started.
func (c *Cell) announce() {
	if e := c.system.events; e.active() && !c.private() {
		e.Publish(ActorStarted{Actor: Ref{c}, Time: c.now()})
	}
}

// private reports whether c is the root or the system guardian, of which users
// get no Ref.
func (c *Cell) private() bool {
	return c.parent == nil || c.parent.parent == nil && c.name() == systemGuardian
}

// fail suspends the actor and asks its parent what is to become of it. msg is
// the message it failed on, nil for a hook; sent says that it is one that
// was sent and must be accounted for.
func (c *Cell) fail(msg any, err error, sent bool) {
	f := &Failure{Actor: Ref{c}, Msg: msg, Err: err, Time: c.now(), early: !c.started}
	if b, ok := msg.(Boxed); ok {
		f.Msg = b.Unbox()
	}
	c.system.failed(f)
	if sent {
		c.system.failedActors.add(1)
	}
	if State(c.state.Load()) == StateStopping {
		return // it is on its way out already
	}
	m := c.extra()
	if m.broken != nil {
		return // a decision about it is on its way already
	}
	m.lastErr = err
	m.broken, m.failed, m.failedOn = f, sent, msg
	c.suspend(holdFailed)
	c.send(c.parent, &signal{kind: sigFailure, arg: f})
}

// ended does what is left to do at the end of a turn for an actor that has
// more than others. left is what it had left of its share.
func (c *Cell) ended(left int32) {
	m := c.more
	if m.idle != nil && left < c.quantum {
		m.idle.last = c.now()
	}
	c.handOn()
	if len(m.seekers) > 0 {
		c.room(false)
	}
	if len(m.drains) > 0 {
		c.drained(left)
	}
}

// settle does what the end of a turn of an actor that is not running asks for.
func (c *Cell) settle() Verdict {
	if State(c.state.Load()) != StateStopping {
		return Suspended
	}
	if !c.closed {
		c.closed = true
		if c.more != nil {
			c.quit()
		}
		c.port.Close()
		if c.parent != nil {
			for child := c.children; child != nil; child = child.older {
				c.signal(child, sigStop)
			}
		}
	}
	if c.children != nil {
		if c.parent == nil {
			// The guardians go one after the other: what the user's actors
			// need of the system's stays until they are gone.
			c.signal(c.children, sigStop)
		}
		return Suspended
	}
	c.finish()
	return Stopped
}

// quit ends what an actor that is stopping has begun. What it had taken out of
// its mailbox comes before the rest of that in the dead letters.
func (c *Cell) quit() {
	m := c.more
	c.recovered(false)
	c.unpause()
	c.handOn()
	if m.verdict != nil {
		c.system.timers.stop(&m.verdict.timer)
	}
	c.stopTimers()
	c.spill()
}

// finish is the end of an actor whose children have stopped.
func (c *Cell) finish() {
	c.uncover()
	if c.started {
		c.started = false
		if h, ok := c.self().(PostStopper); ok {
			if err := c.protect(h.PostStop); err != nil {
				c.fail(nil, err, false)
			}
		}
	}
	c.actor = nil
	c.state.Store(uint32(StateStopped))
	c.system.remove(c) // before the queue is closed, which tells those who begin to watch it that it has gone
	rest := c.signals.close()
	if e := c.system.events; e.active() && !c.private() {
		e.Publish(ActorStopped{Actor: Ref{c}, Time: c.now()})
	}
	if c.more != nil {
		c.stopTimers() // of PostStop
		c.spill()
		c.room(true)
		c.drained(0)
		c.unwatchAll()
		c.tellWatchers()
		c.more = nil
	}
	for ; rest != nil; rest = rest.next { // after those who came in time
		c.decline(rest)
	}
	if c.parent == nil {
		c.system.over()
		return
	}
	c.send(c.parent, &signal{kind: sigChildStopped, arg: c})
}

// decline answers a system message that came too late for the actor.
func (c *Cell) decline(s *signal) {
	switch s.kind {
	case sigWatch:
		c.send(s.arg.(*Cell), &signal{kind: sigTerminated, arg: &Terminated{Actor: Ref{c}}})
	case sigSeek:
		resume(s.arg.(*Cell), s.epoch, c.workerFor(s.arg.(*Cell)))
	case sigDrain:
		s.arg.(*drain).who.Drained()
	}
}

// protect calls a hook and returns its error, or its panic as one. A Goexit in
// it goes on to the implementation's deferred function, which calls Caught.
func (c *Cell) protect(hook func(*Context) error) (err error) {
	returned := false
	busy := c.more
	if busy != nil {
		busy.busy = true
	}
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		} else if !returned {
			return // Goexit: Caught is going to ask
		}
		if busy != nil {
			busy.busy = false
		}
	}()
	err = hook((*Context)(c))
	returned = true
	return err
}

// signal sends a system message without particulars from this actor's turn.
func (c *Cell) signal(to *Cell, kind signalKind) { c.send(to, &signal{kind: kind}) }

// send sends a system message from this actor's turn.
func (c *Cell) send(to *Cell, s *signal) {
	to.post(s, c.workerFor(to))
}

// post queues a system message for the actor and sees to it that it has a turn,
// on the worker from if that is not nil. It reports false if the actor has
// stopped. Any goroutine may call it.
func (c *Cell) post(s *signal, from Worker) bool {
	if !c.signals.push(s) {
		return false
	}
	c.port.Wake(from)
	return true
}

// workerFor returns the worker to schedule another actor on: this turn's,
// unless the other one belongs to another system.
func (c *Cell) workerFor(to *Cell) Worker {
	if to.system != c.system {
		return nil
	}
	return c.worker
}

// insist is the function insist for this actor's turn.
func (c *Cell) insist(ctx context.Context, to *Cell, msg any, res SendResult) (reason error) {
	if res == MustWait && to == c {
		return ErrFull // only this actor could ever make room
	}
	return insist(ctx, to, msg, c.workerFor(to), res)
}

// insist does what is left to do when to's Port has not simply accepted a
// message: it waits, if the answer was MustWait, and returns the reason if the
// message is not accepted in the end.
func insist(ctx context.Context, to *Cell, msg any, from Worker, res SendResult) (reason error) {
	switch res {
	case Full:
		return ErrFull
	case Closed:
		return ErrStopped
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return to.port.SendWait(ctx, msg, from)
}

// link makes child, which has no siblings yet, a child of c.
func (c *Cell) link(child *Cell) {
	child.older = c.children
	if child.older != nil {
		child.older.newer = child
	}
	c.children = child
}

// unlink undoes link.
func (c *Cell) unlink(child *Cell) {
	if child.newer == nil {
		c.children = child.older
	} else {
		child.newer.older = child.older
	}
	if child.older != nil {
		child.older.newer = child.newer
	}
	child.older, child.newer = nil, nil
}

// anon begins the names of actors that were spawned without one.
const anon = "anon-"

// name returns the name that the actor was spawned with, "" if it has none.
func (c *Cell) name() string {
	if c.given == nil {
		return ""
	}
	return *c.given
}

// away reports whether c stands for an actor in another system: see proxy.
func (c *Cell) away() bool { return c.parent == nil && c.name() != "" }

func (c *Cell) appendName(b []byte) []byte {
	if c.away() {
		i := len(c.name())
		for c.name()[i-1] != '/' {
			i--
		}
		return append(b, c.name()[i:]...)
	}
	if c.name() != "" {
		return append(b, c.name()...)
	}
	return c.pid.append(append(b, anon...))
}

func (c *Cell) appendPath(b []byte) []byte {
	if c.away() {
		return append(b, c.name()...)
	}
	if c.parent == nil {
		return append(b, '/')
	}
	if c.parent.parent != nil {
		b = c.parent.appendPath(b)
	}
	return c.appendName(append(b, '/'))
}
