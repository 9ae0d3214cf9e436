package actorloop

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// alarm is what a sender has to do about an actor that gets a message.
type alarm uint8

const (
	on       alarm = iota // schedule it: it is asleep
	off                   // nothing: it is scheduled or in a turn
	muted                 // nothing: it handles system messages only
	detached              // never again anything: it has stopped
)

// keep is the capacity up to which an empty mailbox keeps its memory: a flood
// should not be remembered for ever, and less is soon needed again.
const keep = 1 << 10

// box is an actor with its mailbox.
type box struct {
	cell  actor.Cell
	d     *Dispatcher
	event event // says that the actor is ready; sent by whoever sets alarm to off

	bound *bounded // nil if the mailbox is a plain one; the pointer never changes

	mu    sync.Mutex // guards what follows, down to held, and *bound
	alarm alarm
	shut  bool
	in    []any // arrived, if the mailbox is a plain one
	held  int   // messages in out, as last counted

	out []any // what a turn has taken; the turn's
	pos int   // of the next message in out
}

func newBox(d *Dispatcher, cfg actor.MailboxConfig) *box {
	b := &box{d: d}
	b.event.box = b // its kind is ready, the zero one
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
		return b.sendBounded(b.bound.rank(msg), msg, from)
	}
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return actor.Closed
	}
	b.in = append(b.in, msg)
	b.ring(on, from)
	return actor.Sent
}

// ring schedules the actor if its alarm is on, or is the given one, and unlocks
// mu.
func (b *box) ring(also alarm, from actor.Worker) {
	a := b.alarm
	if a != on && a != also {
		b.mu.Unlock()
		return
	}
	b.alarm = off
	b.mu.Unlock()
	b.d.schedule(b, from)
}

// sendBounded is Send for a mailbox that is not a plain one. rank was got
// before the lock is taken: the function is the user's.
func (b *box) sendBounded(rank int, msg any, from actor.Worker) actor.SendResult {
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return actor.Closed
	}
	dropped, drop, res := b.bound.offer(rank, msg)
	if res != actor.Sent {
		b.mu.Unlock()
		return res
	}
	b.ring(on, from)
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	return actor.Sent
}

// SendWait implements [actor.Port].
func (b *box) SendWait(ctx context.Context, msg any, from actor.Worker) error {
	s := &sender{rank: b.bound.rank(msg), msg: msg, ready: make(chan error, 1)}
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return actor.ErrStopped
	}
	if _, _, res := b.bound.offer(s.rank, msg); res == actor.Sent {
		b.ring(on, from)
		return nil
	}
	if err := ctx.Err(); err != nil {
		b.mu.Unlock()
		return err
	}
	b.bound.senders.push(s)
	b.mu.Unlock()
	if w, ok := from.(*worker); ok {
		w.pause()
		defer w.resume()
	}
	select {
	case err := <-s.ready:
		return err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case err := <-s.ready: // it was answered first
		return err
	default:
	}
	b.bound.giveUp(s)
	return ctx.Err()
}

// pause is called by a worker that is about to wait in a turn: it gives away
// what it has kept, and another worker may take its place.
func (w *worker) pause() {
	if b := w.next.Swap(nil); b != nil {
		w.d.inbox.send(&b.event)
	}
	w.d.inbox.send(&event{kind: paused})
}

func (w *worker) resume() { w.d.inbox.send(&event{kind: resume}) }

// Wake implements [actor.Port].
func (b *box) Wake(from actor.Worker) {
	b.mu.Lock()
	b.ring(muted, from)
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

// Len implements [actor.Port]. What a turn has taken counts until the turn is
// over.
func (b *box) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.held + len(b.in)
	if b.bound != nil {
		n += b.bound.len()
	}
	return n
}

// refill gets messages into out, which is used up, and reports whether there
// are any: all of a plain mailbox at once, and one at a time where order and
// bound depend on what else has come.
func (b *box) refill() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pos = 0
	if b.bound == nil {
		b.in, b.out = b.out[:0], b.in
		b.held = max(len(b.out)-1, 0) // the first is about to be handled
		return len(b.out) > 0
	}
	b.out = b.out[:0]
	if b.bound.len() == 0 {
		return false
	}
	b.out = append(b.out, b.bound.pop())
	return true
}

// rest acts on the verdict of a turn and reports whether the actor has to be
// scheduled again, which is up to the caller then.
func (b *box) rest(v actor.Verdict) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if invariants.Enabled && b.alarm != off {
		invariants.Violated("actorloop", "the alarm of an actor in its turn is off")
	}
	b.held = len(b.out) - b.pos
	switch v {
	case actor.Yield:
		return true
	case actor.Stopped:
		b.alarm = detached
		return false
	case actor.Suspended:
		b.alarm = muted
	case actor.Continue:
		if b.held > 0 || len(b.in) > 0 || b.bound != nil && b.bound.len() > 0 {
			return true
		}
		b.alarm = on
		if cap(b.in) > keep {
			b.in = nil
		}
		if cap(b.out) > keep {
			b.out, b.pos = nil, 0
		}
	}
	if b.cell.Pending() {
		b.alarm = off
		return true
	}
	return false
}
