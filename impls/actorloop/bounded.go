package actorloop

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
)

// bounded is a mailbox with a capacity or priorities. What becomes of a message its sender
// has to know at once, so it does not ask the actor.
type bounded struct {
	mu    sync.Mutex // guards queue; hands messages from senders to the turn
	queue mailbox.Queue
}

func (m *bounded) push(msg any) (res actor.SendResult, dropped any, drop bool) {
	prio := m.queue.Priority(msg) // before the lock is taken: it is the user's
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.queue.Push(msg, prio)
}

func (m *bounded) pushOrWait(ctx context.Context, msg any) (*mailbox.Sender, error) {
	prio, ended := m.queue.Priority(msg), ctx.Err() // as in push
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.queue.PushOrWait(msg, prio, ended)
}

func (m *bounded) await(ctx context.Context, s *mailbox.Sender) error {
	return s.Await(ctx, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.queue.Leave(s)
	})
}

func (m *bounded) pop() (msg any, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.queue.Pop()
}

func (m *bounded) close() (left []any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.queue.Close()
}

func (m *bounded) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.queue.Len()
}

// sendBounded is Send for a mailbox that is not a plain one.
func (b *box) sendBounded(msg any, from actor.Worker) actor.SendResult {
	res, dropped, drop := b.bounded.push(msg)
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	invariants.Window()
	// The message is queued, and now the sender looks whether the actor sleeps; the end of a
	// turn has it sleep and then looks at the queue. One of them sees the other.
	if res == actor.Sent && b.in.wake() {
		b.d.schedule(b, from)
	}
	return res
}

func (b *box) SendWait(ctx context.Context, msg any, from actor.Worker) error {
	s, err := b.bounded.pushOrWait(ctx, msg)
	if s == nil {
		if err == nil && b.in.wake() {
			b.d.schedule(b, from)
		}
		return err
	}
	if w, ok := from.(*worker); ok {
		w.pause()
		defer w.resume()
	}
	return b.bounded.await(ctx, s)
}

// handleBounded takes one message at a time: what is next depends on what else has come.
func (b *box) handleBounded(handled *any) {
	for {
		msg, ok := b.bounded.pop()
		if !ok {
			return
		}
		*handled = msg
		if !b.cell.Invoke(msg) {
			return
		}
	}
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
