package lockbased

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
)

// phase is where an actor is in the schedule.
type phase uint8

const (
	phaseIdle      phase = iota // a sender schedules it
	phaseScheduled              // in the ready queue, in a turn, on the way from one to the other, or stopped
	phaseSuspended              // only Wake schedules it
)

// box is an actor with its mailbox: its [actor.Port].
type box struct {
	cell actor.Cell // ends with what the turn writes

	// The turn's, for every message.
	out  []any          // what it took from in
	pos  int            // of the next message in out
	held atomic.Uintptr // messages in out, as of the end of the last turn that left any

	_ [8]byte // what senders write, for every message as well, begins a cache line: 192

	mu    sync.Mutex // guards what follows, down to in, and *bound; hands messages from senders to the turn
	phase phase
	shut  bool
	in    []any          // arrived, if the mailbox is a plain unbounded one
	bound *mailbox.Queue // nil if it is; the pointer never changes
	d     *Dispatcher
}

func newBox(d *Dispatcher, cfg actor.MailboxConfig) *box {
	b := &box{d: d}
	if !mailbox.Plain(cfg) {
		q := mailbox.New(cfg)
		b.bound = &q
	}
	return b
}

func (b *box) Cell() *actor.Cell { return &b.cell }

func (b *box) Send(msg any, from actor.Worker) actor.SendResult {
	if b.bound != nil {
		return b.sendBounded(msg, from)
	}
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return actor.Closed
	}
	b.in = mailbox.Append(b.in, msg)
	if b.phase != phaseScheduled {
		b.scheduleUnlock(false, from)
		return actor.Sent
	}
	backlog := len(b.in) == nudge
	b.mu.Unlock()
	if backlog {
		b.d.nudge()
	}
	return actor.Sent
}

// nudge is the number of waiting messages at which a sender has an idle worker
// woken for an actor that is scheduled already: it may be one that the sender's
// worker was going to take after its turn (Dispatcher.schedule), and the turn
// is not going to end soon. Waking a worker costs about as much as sending this
// many messages.
const nudge = 32

// scheduleUnlock schedules the actor if it is idle or, for system messages,
// suspended, and unlocks mu.
func (b *box) scheduleUnlock(system bool, from actor.Worker) {
	if b.phase == phaseIdle || system && b.phase == phaseSuspended {
		b.phase = phaseScheduled
		b.mu.Unlock()
		invariants.Window()
		b.d.schedule(b, from)
		return
	}
	b.mu.Unlock()
}

// sendBounded is Send for a mailbox that is not a plain one.
func (b *box) sendBounded(msg any, from actor.Worker) actor.SendResult {
	prio := b.bound.Priority(msg) // before the lock is taken: it is the user's
	b.mu.Lock()
	res, dropped, drop := b.bound.Push(msg, prio)
	if res != actor.Sent {
		b.mu.Unlock()
		return res
	}
	b.scheduleUnlock(false, from)
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	return actor.Sent
}

func (b *box) SendWait(ctx context.Context, msg any, from actor.Worker) error {
	prio, ended := b.bound.Priority(msg), ctx.Err()
	b.mu.Lock()
	s, err := b.bound.PushOrWait(msg, prio, ended)
	switch {
	case err != nil:
		b.mu.Unlock()
		return err
	case s == nil:
		b.scheduleUnlock(false, from)
		return nil
	}
	b.mu.Unlock()
	if w, ok := from.(*worker); ok {
		w.pause()
		defer w.resume()
	}
	return s.Await(ctx, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.bound.Leave(s)
	})
}

func (b *box) Wake(from actor.Worker) {
	b.mu.Lock()
	b.scheduleUnlock(true, from)
}

func (b *box) Close() {
	b.mu.Lock()
	b.shut = true
	left := append(b.out[b.pos:], b.in...)
	b.in = nil
	b.held.Store(0)
	if b.bound != nil {
		left = append(left, b.bound.Close()...)
	}
	b.mu.Unlock()
	b.out, b.pos = nil, 0
	for _, msg := range left {
		b.cell.Undelivered(msg, actor.ErrStopped)
	}
}

func (b *box) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bound != nil {
		return b.bound.Len()
	}
	return int(b.held.Load()) + len(b.in)
}

// turn runs a turn of the actor on w. It keeps the message that is being handled in
// handled, for the deferred function that deals with a turn that does not return.
func (b *box) turn(w *worker, handled *any) actor.Verdict {
	if b.cell.BeginTurn(w) {
		for b.pos < len(b.out) || b.refill() {
			msg := b.out[b.pos]
			b.out[b.pos] = nil // or the slot would keep the message alive
			b.pos++
			*handled = msg
			if !b.cell.Invoke(msg) {
				break
			}
		}
		*handled = nil // it must not stay alive while the worker sleeps
	}
	return b.cell.EndTurn(&w.tally)
}

// refill gets messages into out, which is used up, and reports whether there
// are any: all of a plain mailbox at once, and one at a time where order and
// bound depend on what else has come.
func (b *box) refill() bool {
	b.mu.Lock()
	if len(b.in) > 0 {
		b.in, b.out, b.pos = b.out[:0], b.in, 0
		b.mu.Unlock()
		return true
	}
	var msg any
	found := false
	if b.bound != nil {
		msg, found = b.bound.Pop()
	}
	b.mu.Unlock()
	if found {
		b.out, b.pos = append(b.out[:0], msg), 0
	}
	return found
}

// rest acts on the verdict of a turn and reports whether the actor is to be
// put into the ready queue again.
func (b *box) rest(v actor.Verdict) (again bool) {
	invariants.Window() // what comes now is left to the looks below
	left := len(b.out) - b.pos
	if left > 0 || b.held.Load() > 0 {
		b.held.Store(uintptr(left))
	}
	if v == actor.Yield {
		// Without the lock, for which a flood of senders may keep the actor
		// waiting longer than the turn took.
		return true
	}
	if v == actor.Stopped {
		return false // scheduled for ever: nothing schedules it again
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if invariants.Enabled && b.phase != phaseScheduled {
		invariants.Violated("lockbased", "an actor in a turn is scheduled")
	}
	switch v {
	case actor.Suspended:
		b.phase = phaseSuspended
	case actor.Continue:
		if invariants.Enabled && left > 0 {
			invariants.Violated("lockbased", "a turn that continues has handled all it took")
		}
		if len(b.in) > 0 || b.bound != nil && b.bound.Len() > 0 {
			return true
		}
		b.phase = phaseIdle
		b.out, b.pos = b.out[:0], 0
		mailbox.Discard(&b.in)
		mailbox.Discard(&b.out)
	}
	if b.cell.Pending() {
		b.phase = phaseScheduled
		return true
	}
	return false
}
