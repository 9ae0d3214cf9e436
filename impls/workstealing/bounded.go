package workstealing

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
)

// bounded is the queue of a mailbox that has a capacity or priorities. It is
// apart from the fast path: a mutex, and one message at a time.
type bounded struct {
	mu    sync.Mutex // guards queue; hands messages from senders to the turn
	queue mailbox.Queue
}

func (q *bounded) pop() (any, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue.Pop()
}

func (q *bounded) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue.Len()
}

// close refuses what comes, releases who waits, and hands what is there, in
// order, to the dead letters. Only the turn calls it.
func (q *bounded) close(b *box) {
	q.mu.Lock()
	left := q.queue.Close()
	q.mu.Unlock()
	for _, msg := range left {
		b.cell.Undelivered(msg, actor.ErrStopped)
	}
}

// sendBounded is Send for a mailbox with a bounded queue.
func (b *box) sendBounded(msg any, from actor.Worker) actor.SendResult {
	q := b.bounded
	prio := q.queue.Priority(msg) // before the lock is taken: it is the user's
	q.mu.Lock()
	res, dropped, drop := q.queue.Push(msg, prio)
	q.mu.Unlock()
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	invariants.Window()
	// The message is queued, and now the phase is looked at; the end of a turn sets the
	// phase and then looks at the queue. One of them sees the other.
	if res == actor.Sent && b.word.Load()&phaseMask == phaseIdle {
		invariants.Window() // another sender may see the same, and one of them schedules the actor
		if b.word.CompareAndSwap(phaseIdle, phaseScheduled) {
			b.d.schedule(b, from)
		}
	}
	return res
}

func (b *box) SendWait(ctx context.Context, msg any, from actor.Worker) error {
	q := b.bounded
	prio := q.queue.Priority(msg)
	q.mu.Lock()
	switch res, _, _ := q.queue.Push(msg, prio); res {
	case actor.Sent:
		q.mu.Unlock()
		b.Wake(from)
		return nil
	case actor.Closed:
		q.mu.Unlock()
		return actor.ErrStopped
	}
	if err := ctx.Err(); err != nil {
		q.mu.Unlock()
		return err
	}
	ready := make(chan struct{}) // hands the place in the queue, or the refusal, to this goroutine
	s := q.queue.Wait(msg, prio, ready)
	q.mu.Unlock()
	if w, ok := from.(*worker); ok {
		w.block()
		defer w.unblock()
	}
	select {
	case <-ready:
		return s.Err()
	case <-ctx.Done():
	}
	q.mu.Lock()
	waited := q.queue.Leave(s)
	q.mu.Unlock()
	if waited {
		return ctx.Err()
	}
	return s.Err() // it was answered first
}
