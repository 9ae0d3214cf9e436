package lockbased

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// phase is where an actor is in the schedule.
type phase uint8

const (
	asleep    phase = iota // whoever sends it something schedules it
	scheduled              // in the ready queue, in a turn, or on the way from one to the other
	suspended              // only Wake schedules it
	finished               // nobody schedules it
)

// box is an actor with its mailbox.
type box struct {
	cell actor.Cell
	d    *Dispatcher

	bound *bounded // nil if the mailbox is a plain unbounded one; the pointer never changes

	mu    sync.Mutex // guards what follows, down to out, and *bound
	phase phase
	shut  bool
	held  int   // messages left in out when last the turn said so
	in    []any // arrived, if the mailbox is a plain one

	out []any // what a turn took from in; the turn's
	pos int   // of the next message in out
}

func newBox(d *Dispatcher, cfg actor.MailboxConfig) *box {
	b := &box{d: d}
	if cfg.Policy != actor.Unbounded || cfg.Priority != nil {
		b.bound = newBounded(cfg)
	}
	return b
}

// Cell implements [actor.Port].
func (b *box) Cell() *actor.Cell { return &b.cell }

// Send implements [actor.Port].
func (b *box) Send(msg any, from actor.Worker) actor.SendResult {
	if b.bound != nil {
		return b.sendBounded(msg, from)
	}
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return actor.Closed
	}
	b.in = append(b.in, msg)
	b.scheduleUnlock(asleep, from)
	return actor.Sent
}

// scheduleUnlock schedules the actor unless it is beyond the phase most, and
// unlocks mu.
func (b *box) scheduleUnlock(most phase, from actor.Worker) {
	if b.phase == asleep || b.phase == suspended && most == suspended {
		b.phase = scheduled
		b.mu.Unlock()
		b.d.schedule(b, from)
		return
	}
	b.mu.Unlock()
}

// sendBounded is Send for a mailbox that is not a plain one.
func (b *box) sendBounded(msg any, from actor.Worker) actor.SendResult {
	prio := b.bound.prio(msg) // before the lock is taken: it is the user's
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return actor.Closed
	}
	dropped, drop, res := b.bound.offer(prio, msg)
	if res != actor.Sent {
		b.mu.Unlock()
		return res
	}
	b.scheduleUnlock(asleep, from)
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	return actor.Sent
}

// SendWait implements [actor.Port].
func (b *box) SendWait(ctx context.Context, msg any, from actor.Worker) error {
	prio := b.bound.prio(msg)
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return actor.ErrStopped
	}
	if _, _, res := b.bound.offer(prio, msg); res == actor.Sent {
		b.scheduleUnlock(asleep, from)
		return nil
	}
	if err := ctx.Err(); err != nil {
		b.mu.Unlock()
		return err
	}
	s := &sender{prio: prio, msg: msg, ready: make(chan error, 1)}
	b.bound.senders.push(s)
	b.mu.Unlock()
	if from != nil {
		b.d.pause()
		defer b.d.resume()
	}
	select {
	case err := <-s.ready:
		return err
	case <-ctx.Done():
	}
	b.mu.Lock()
	select {
	case err := <-s.ready: // it was answered first
		b.mu.Unlock()
		return err
	default:
	}
	b.bound.senders.remove(s)
	b.mu.Unlock()
	return ctx.Err()
}

// Wake implements [actor.Port].
func (b *box) Wake(from actor.Worker) {
	b.mu.Lock()
	b.scheduleUnlock(suspended, from)
}

// Close implements [actor.Port].
func (b *box) Close() {
	b.mu.Lock()
	b.shut = true
	left := append(b.out[b.pos:], b.in...)
	b.in, b.held = nil, 0
	if b.bound != nil {
		left = b.bound.close(left)
	}
	b.mu.Unlock()
	b.out, b.pos = nil, 0
	for _, msg := range left {
		b.cell.Undelivered(msg, actor.ErrStopped)
	}
}

// Len implements [actor.Port].
func (b *box) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bound != nil {
		return b.bound.len()
	}
	return b.held + len(b.in)
}

// turn runs a turn of the actor on w.
func (b *box) turn(w *worker) (v actor.Verdict) {
	var msg any
	returned := false
	defer func() {
		if !returned {
			v = b.cell.Caught(&w.tally, msg, recover())
			w.box, w.verdict = b, v
		}
	}()
	if b.cell.BeginTurn(w) {
		for {
			if b.pos == len(b.out) && !b.refill() {
				break
			}
			msg = b.out[b.pos]
			b.out[b.pos] = nil // or the slot would keep the message alive
			b.pos++
			if !b.cell.Invoke(msg) {
				break
			}
		}
	}
	v = b.cell.EndTurn(&w.tally)
	returned = true
	return v
}

// refill gets messages into out, which is used up, and reports whether there
// are any: all of a plain mailbox at once, and one at a time where order and
// bound depend on what else has come.
func (b *box) refill() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bound == nil {
		b.in, b.out = b.out[:0], b.in
		b.pos = 0
		b.held = len(b.out)
		return len(b.out) > 0
	}
	if b.bound.len() == 0 {
		return false
	}
	b.out = append(b.out[:0], b.bound.pop())
	b.pos = 0
	return true
}

// keep is the capacity from which on an empty queue's memory is given back
// when the actor goes to sleep: a flood should not be remembered for ever, and
// below this the memory is soon needed again.
const keep = 1 << 10

// rest acts on the verdict of a turn and reports whether the actor is to be
// put into the ready queue again.
func (b *box) rest(v actor.Verdict) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if invariants.Enabled && b.phase != scheduled {
		invariants.Violated("lockbased", "an actor in a turn is scheduled")
	}
	b.held = len(b.out) - b.pos
	switch v {
	case actor.Yield:
		return true
	case actor.Stopped:
		b.phase = finished
		return false
	case actor.Suspended:
		b.phase = suspended
	case actor.Continue:
		if b.held > 0 || len(b.in) > 0 || b.bound != nil && b.bound.len() > 0 {
			return true
		}
		b.phase = asleep
		if cap(b.in) > keep {
			b.in = nil
		}
		if cap(b.out) > keep {
			b.out, b.pos = nil, 0
		}
	}
	if b.cell.Pending() {
		b.phase = scheduled
		return true
	}
	return false
}
