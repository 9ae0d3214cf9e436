package actorloop

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
)

// phase is where an actor is in the schedule.
type phase uint8

const (
	asleep    phase = iota // who sends it something tells the scheduler
	scheduled              // the scheduler, or a worker, has it, or it has stopped for good
	suspended              // it handles system messages only
)

// box is an actor with its mailbox: its [actor.Port].
type box struct {
	cell  actor.Cell
	d     *Dispatcher
	event node[event] // says that the actor is ready; sent by who sets phase to scheduled

	bound *mailbox.Queue // nil if the mailbox is a plain one; the pointer never changes

	mu    sync.Mutex // guards what follows, down to held, and *bound
	phase phase
	shut  bool
	in    []any // arrived, if the mailbox is a plain one
	held  int   // messages in out, as last counted

	out []any // what a turn has taken; the turn's
	pos int   // of the next message in out
}

func newBox(d *Dispatcher, cfg actor.MailboxConfig) *box {
	b := &box{d: d}
	b.event.msg.box = b // its kind is ready, the zero one
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
	b.scheduleUnlock(false, from)
	return actor.Sent
}

// scheduleUnlock schedules the actor if it is asleep or, for system messages,
// suspended, and unlocks mu.
func (b *box) scheduleUnlock(system bool, from actor.Worker) {
	if b.phase == asleep || system && b.phase == suspended {
		b.phase = scheduled
		b.mu.Unlock()
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
	prio := b.bound.Priority(msg)
	b.mu.Lock()
	switch res, _, _ := b.bound.Push(msg, prio); res {
	case actor.Sent:
		b.scheduleUnlock(false, from)
		return nil
	case actor.Closed:
		b.mu.Unlock()
		return actor.ErrStopped
	}
	if err := ctx.Err(); err != nil {
		b.mu.Unlock()
		return err
	}
	ready := make(chan struct{}) // hands the place in the queue, or the refusal, to this goroutine
	s := b.bound.Wait(msg, prio, ready)
	b.mu.Unlock()
	if w, ok := from.(*worker); ok {
		w.pause()
		defer w.resume()
	}
	select {
	case <-ready:
		return s.Err()
	case <-ctx.Done():
	}
	b.mu.Lock()
	waited := b.bound.Leave(s)
	b.mu.Unlock()
	if waited {
		return ctx.Err()
	}
	return s.Err() // it was answered first
}

// pause is called by a worker that is about to wait in a turn: it gives away
// what it has kept, and another worker may take its place.
func (w *worker) pause() {
	if w.guest != nil {
		w.guest.of.TurnWaits()
		return
	}
	if b := w.next.Swap(nil); b != nil {
		w.d.send(&b.event)
	}
	w.d.send(newEvent(event{kind: paused}))
}

func (w *worker) resume() {
	if w.guest == nil {
		w.d.send(newEvent(event{kind: resume}))
	}
}

func (b *box) Wake(from actor.Worker) {
	b.mu.Lock()
	b.scheduleUnlock(true, from)
}

func (b *box) Close() {
	b.mu.Lock()
	b.shut = true
	left := append(b.out[b.pos:], b.in...)
	b.in, b.held = nil, 0
	if b.bound != nil {
		left = append(left, b.bound.Close()...)
	}
	b.mu.Unlock()
	b.out, b.pos = nil, 0
	for _, msg := range left {
		b.cell.Undelivered(msg, actor.ErrStopped)
	}
}

// Len implements [actor.Port]. What a turn has taken counts until the turn is
// over.
func (b *box) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.held + len(b.in)
	if b.bound != nil {
		n += b.bound.Len()
	}
	return n
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
		*handled = nil
	}
	return b.cell.EndTurn(&w.tally)
}

// refill gets messages into out, which is used up, and reports whether there
// are any: all of a plain mailbox at once, and one at a time where order and
// bound depend on what else has come.
func (b *box) refill() bool {
	b.mu.Lock()
	b.held = max(len(b.in)-1, 0) // the first is about to be handled
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

// rest acts on the verdict of a turn and reports whether the actor has to be
// scheduled again, which is up to the caller then.
func (b *box) rest(v actor.Verdict) (again bool) {
	invariants.Window() // what comes now is left to the looks below
	b.mu.Lock()
	defer b.mu.Unlock()
	if invariants.Enabled && b.phase != scheduled {
		invariants.Violated("actorloop", "an actor in a turn is scheduled")
	}
	b.held = len(b.out) - b.pos
	switch v {
	case actor.Yield:
		return true
	case actor.Stopped:
		return false // and as it stays scheduled, nothing schedules it again
	case actor.Suspended:
		b.phase = suspended
	case actor.Continue:
		if invariants.Enabled && b.held > 0 {
			invariants.Violated("actorloop", "a turn that continues has handled all it took")
		}
		if len(b.in) > 0 || b.bound != nil && b.bound.Len() > 0 {
			return true
		}
		b.phase = asleep
		b.out, b.pos = b.out[:0], 0
		mailbox.Discard(&b.in)
		mailbox.Discard(&b.out)
	}
	if b.cell.Pending() {
		b.phase = scheduled
		return true
	}
	return false
}
