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
	prio, ended := q.queue.Priority(msg), ctx.Err() // before the lock, as above
	q.mu.Lock()
	s, err := q.queue.PushOrWait(msg, prio, ended)
	q.mu.Unlock()
	if s == nil {
		if err == nil {
			b.Wake(from)
		}
		return err
	}
	if w, ok := from.(*worker); ok {
		w.block()
		defer w.unblock()
	}
	return s.Await(ctx, func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.queue.Leave(s)
	})
}
