package workstealing

import (
	"container/heap"
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
)

// bounded is the queue of a mailbox that has a capacity or priorities. It is
// apart from the fast path: a mutex, and one message at a time. Without priorities
// the heap is a queue: what comes is never before what is there.
type bounded struct {
	cfg actor.MailboxConfig

	mu    sync.Mutex // guards what follows; hands messages from senders to the turn
	shut  bool
	queue prioritized
	free  []*item    // used up
	seq   uint64     // of the next message
	admit []*blocked // senders that wait for room, in order of arrival
}

// item is a message that waits.
type item struct {
	msg      any
	priority int
	seq      uint64 // order of arrival: what came first goes first
}

// blocked is a sender that waits for room.
type blocked struct {
	msg   any
	ready chan error // capacity 1
}

func newBounded(cfg actor.MailboxConfig) *bounded {
	q := &bounded{cfg: cfg}
	q.queue = make(prioritized, 0, min(cfg.Capacity, keep))
	return q
}

// offer queues msg if there is room or the policy makes some. dropped is the
// message that had to go for it, if any did.
func (q *bounded) offer(msg any) (res actor.SendResult, dropped any, drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut {
		return actor.Closed, nil, false
	}
	if full := q.cfg.Capacity > 0 && len(q.queue) >= q.cfg.Capacity; full {
		switch q.cfg.Policy {
		case actor.DropNewest:
			return actor.Full, nil, false
		case actor.Block:
			return actor.MustWait, nil, false
		case actor.DropOldest:
			q.push(msg)
			return actor.Sent, q.take(heap.Remove(&q.queue, q.queue.worst()).(*item)), true
		}
	}
	q.push(msg)
	return actor.Sent, nil, false
}

// push queues msg. mu is held.
func (q *bounded) push(msg any) {
	p := 0
	if q.cfg.Priority != nil {
		p = q.cfg.Priority(msg)
	}
	var it *item
	if n := len(q.free); n > 0 {
		it, q.free = q.free[n-1], q.free[:n-1]
	} else {
		it = new(item)
	}
	*it = item{msg, p, q.seq}
	heap.Push(&q.queue, it)
	q.seq++
}

// take takes the message of an item that was removed. mu is held.
func (q *bounded) take(it *item) any {
	msg := it.msg
	it.msg = nil
	if len(q.free) < keep {
		q.free = append(q.free, it)
	}
	return msg
}

// pop takes the first message, and lets the first of those who wait for room in.
func (q *bounded) pop() (any, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return nil, false
	}
	msg := q.take(heap.Pop(&q.queue).(*item))
	if len(q.admit) > 0 {
		s := q.admit[0]
		q.admit = q.admit[1:]
		q.push(s.msg)
		s.ready <- nil
	}
	return msg, true
}

func (q *bounded) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queue)
}

// close refuses what comes, releases who waits, and hands what is there, in
// order, to the dead letters. Only the turn calls it.
func (q *bounded) close(b *box) {
	q.mu.Lock()
	q.shut = true
	admit := q.admit
	q.admit = nil
	rest := q.queue
	q.queue, q.free = nil, nil
	q.mu.Unlock()
	for _, s := range admit {
		s.ready <- actor.ErrStopped
	}
	for len(rest) > 0 {
		b.cell.Undelivered(heap.Pop(&rest).(*item).msg, actor.ErrStopped)
	}
}

// wait is SendWait.
func (q *bounded) wait(ctx context.Context, b *box, msg any, from actor.Worker) error {
	q.mu.Lock()
	switch {
	case q.shut:
		q.mu.Unlock()
		return actor.ErrStopped
	case len(q.queue) < q.cfg.Capacity && len(q.admit) == 0:
		q.push(msg)
		q.mu.Unlock()
		b.Wake(from)
		return nil
	}
	if err := ctx.Err(); err != nil {
		q.mu.Unlock()
		return err
	}
	s := &blocked{msg: msg, ready: make(chan error, 1)}
	q.admit = append(q.admit, s)
	q.mu.Unlock()
	if w, ok := from.(*worker); ok {
		w.block()
		defer w.unblock()
	}
	select {
	case err := <-s.ready:
		return err
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.admit {
		if q.admit[i] == s {
			q.admit = append(q.admit[:i], q.admit[i+1:]...)
			return ctx.Err()
		}
	}
	return <-s.ready // it was let in, or the actor stopped, first
}

// sendBounded is Send for a mailbox with a bounded queue.
func (b *box) sendBounded(msg any, from actor.Worker) actor.SendResult {
	res, dropped, drop := b.bounded.offer(msg)
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	if res == actor.Sent && b.word.Load()&phaseMask == phaseIdle && b.word.CompareAndSwap(phaseIdle, phaseScheduled) {
		b.d.schedule(b, from)
	}
	return res
}

// prioritized is a heap of items: the smallest priority first, and of equal
// ones the one that came first. It implements heap.Interface; pointers, because
// a conversion to any would allocate for anything else.
type prioritized []*item

func (h prioritized) Len() int { return len(h) }

func (h prioritized) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.priority != b.priority {
		return a.priority < b.priority
	}
	return a.seq < b.seq
}

func (h prioritized) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *prioritized) Push(x any) { *h = append(*h, x.(*item)) }

func (h *prioritized) Pop() any {
	n := len(*h) - 1
	it := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	return it
}

// worst returns the index of the oldest of the items with the lowest priority,
// which is what DropOldest drops.
func (h prioritized) worst() int {
	worst := 0
	for i := range h {
		a, b := h[i], h[worst]
		if a.priority > b.priority || a.priority == b.priority && a.seq < b.seq {
			worst = i
		}
	}
	return worst
}
