package remote

import (
	"sync/atomic"
	"time"
)

// A message that is alone in its frame is handled by the goroutine that has read it: the
// reader lends itself to the actor for a turn. Nothing else has come, so it would
// only wait for the next frame, and to wake a worker instead costs more than all
// else that dyno does for a message.
//
// No goroutine reads during that turn, and handlers may take as long as they like. So the duty
// to read can be taken from the goroutine in a turn, and given to a new one: at once
// if the turn waits for credit, or for room in a mailbox; and if it goes on, within
// guardPeriod and guardDoubt. That often is no more than a timer set for each hop would
// cost: at a millisecond the threads that it woke cost a ping-pong a fifth of its time.
// After that, and after a turn that was found to take long, the workers handle
// the next lendPause of such messages.
//
// A message with a reply address is left to the workers. Its reply wakes a goroutine at
// the other end, so that two threads are awake in any case, and with both used an ask
// took some 5 % less processor time.
//
// Rejected: a goroutine that stands by to read (to wake it is what is to be saved); to
// lend itself for messages that are not alone (one goroutine would do what two can).
type loan struct {
	// state is odd in a turn. The reader makes it so. Who makes it even again has the
	// duty to read, and all that is the reader's: the reader itself after the turn, or
	// who takes it over.
	state atomic.Uint64

	guard   *time.Timer
	guarded atomic.Bool // the guard is set, or about to look
	seen    uint64      // state, when the guard looked last; the guard's
}

const (
	guardPeriod = 20 * time.Millisecond
	guardDoubt  = time.Millisecond

	// lendPause is how many messages are left to workers after a turn that was too long.
	lendPause = 1000

	// tooLong is what turns may take: some ten times what waking a worker does. One in
	// measured is measured, the first included.
	tooLong  = 50 * time.Microsecond
	measured = 16
)

// alone has the message that is about to be offered sent as the guest. mu is held.
func (in *inbound) alone() {
	switch {
	case in.pause > 0:
		in.pause--
	case in.guest != nil:
		in.from = in.guest
	}
}

// lend runs the turn of an actor that the frame has made ready, if it has, and reports
// whether this goroutine still is the reader.
func (a *association) lend() (reader bool) {
	in := &a.in
	if !in.lends {
		return true
	}
	in.lends = false
	g, l := in.guest, &a.lent
	turn := l.state.Add(1)
	if !l.guarded.Load() && l.guarded.CompareAndSwap(false, true) { // after state was written: see checkLoan
		l.guard.Reset(guardPeriod)
	}
	var begun time.Time
	if turn/2%measured == 0 {
		begun = time.Now()
	}
	returned := false
	defer func() {
		reader = l.state.CompareAndSwap(turn, turn+1)
		switch {
		case !reader:
			g.Leave()
		case !returned: // the actor has called runtime.Goexit
			go a.read()
		case !begun.IsZero() && time.Since(begun) > tooLong:
			in.pause = lendPause
		}
	}()
	g.Run()
	returned = true
	return
}

// TurnWaits implements [actor.Lender]: it takes the duty to read from a goroutine that is in
// a turn. Any goroutine may call it.
func (a *association) TurnWaits() { a.takeOver(a.lent.state.Load()) }

// takeOver has another goroutine read if state is that of a turn, and still is.
func (a *association) takeOver(state uint64) {
	if state%2 == 1 && a.lent.state.CompareAndSwap(state, state+1) {
		a.in.guest, a.in.pause = nil, lendPause
		go a.read()
	}
}

// checkLoan is the guard's look: it goes on while there are turns.
func (a *association) checkLoan() {
	l := &a.lent
	state := l.state.Load()
	again := state != l.seen
	l.seen = state
	switch {
	case again && state%2 == 1:
		l.guard.Reset(guardDoubt)
	case again:
		l.guard.Reset(guardPeriod)
	case state%2 == 1:
		a.takeOver(state)
		l.guard.Reset(guardPeriod)
	default:
		// The reader writes state and then looks at guarded; this is the other way
		// round. One of them sees the other.
		l.guarded.Store(false)
		if l.state.Load() != state && l.guarded.CompareAndSwap(false, true) {
			l.guard.Reset(guardPeriod)
		}
	}
}
