package lockbased

import "github.com/dynolab/dyno/actor"

// bounded is the queue of a mailbox with a capacity or with priorities. It is
// not safe for concurrent use: the box's mutex guards it.
type bounded struct {
	policy   actor.Policy
	capacity int // 0: none
	priority func(any) int

	fifo    ring[any] // without priorities
	heap    heap      // with priorities
	senders senders   // calls of SendWait that wait for room
}

func newBounded(cfg actor.MailboxConfig) *bounded {
	q := &bounded{policy: cfg.Policy, capacity: cfg.Capacity, priority: cfg.Priority}
	if q.policy == actor.Grow {
		q.capacity = 0
		if q.priority == nil {
			q.fifo.reserve(cfg.Capacity)
		} else {
			q.heap.items = make([]item, 0, cfg.Capacity)
		}
	}
	return q
}

func (q *bounded) len() int { return q.fifo.len() + len(q.heap.items) }

// prio returns the priority of msg. It needs no lock.
func (q *bounded) prio(msg any) int {
	if q.priority == nil {
		return 0
	}
	return q.priority(msg)
}

// offer queues msg, if the policy allows it. If a message had to make room for
// it, that is returned as well.
func (q *bounded) offer(prio int, msg any) (dropped any, drop bool, res actor.SendResult) {
	if q.capacity > 0 && q.len() >= q.capacity {
		switch q.policy {
		case actor.DropNewest:
			return nil, false, actor.Full
		case actor.Block:
			return nil, false, actor.MustWait
		case actor.DropOldest:
			drop = true
			if q.priority == nil {
				dropped = q.fifo.pop()
				break
			}
			i := q.heap.last()
			if q.heap.items[i].prio < prio {
				return msg, true, actor.Sent // nothing that waits matters less
			}
			dropped = q.heap.remove(i)
		}
	}
	if q.priority == nil {
		q.fifo.push(msg)
	} else {
		q.heap.push(prio, msg)
	}
	return dropped, drop, actor.Sent
}

// pop removes and returns the next message; there must be one. If a sender
// waits for room it has it now.
func (q *bounded) pop() (msg any) {
	if q.priority == nil {
		msg = q.fifo.pop()
	} else {
		msg = q.heap.remove(0)
	}
	if !q.senders.empty() {
		s := q.senders.pop()
		q.offer(s.prio, s.msg)
		s.msg = nil
		s.ready <- nil
	}
	return msg
}

// close refuses the waiting senders, takes all messages out and returns them
// behind those in left, in the order in which they would have been handled.
func (q *bounded) close(left []any) []any {
	for !q.senders.empty() {
		q.senders.pop().ready <- actor.ErrStopped
	}
	for q.len() > 0 {
		left = append(left, q.pop())
	}
	q.fifo, q.heap = ring[any]{}, heap{}
	return left
}

// item is a message with its priority.
type item struct {
	prio int
	seq  uint64 // the order of arrival
	msg  any
}

// heap is a priority queue: smallest prio first, then smallest seq. Package
// container/heap would allocate for every item it is given.
type heap struct {
	items []item
	seq   uint64
}

func (h *heap) less(i, j int) bool {
	a, b := &h.items[i], &h.items[j]
	return a.prio < b.prio || a.prio == b.prio && a.seq < b.seq
}

func (h *heap) push(prio int, msg any) {
	h.seq++
	h.items = append(h.items, item{prio, h.seq, msg})
	h.up(len(h.items) - 1)
}

// remove removes the item at index i and returns its message.
func (h *heap) remove(i int) any {
	msg := h.items[i].msg
	n := len(h.items) - 1
	h.items[i] = h.items[n]
	h.items[n] = item{}
	h.items = h.items[:n]
	if i < n {
		h.down(i)
		h.up(i)
	}
	return msg
}

// last returns the index of the oldest of the items with the largest prio.
func (h *heap) last() int {
	v := 0
	for i := range h.items {
		a, b := &h.items[i], &h.items[v]
		if a.prio > b.prio || a.prio == b.prio && a.seq < b.seq {
			v = i
		}
	}
	return v
}

func (h *heap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h.items[i], h.items[parent] = h.items[parent], h.items[i]
		i = parent
	}
}

func (h *heap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			return
		}
		if child+1 < len(h.items) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h.items[i], h.items[child] = h.items[child], h.items[i]
		i = child
	}
}

// sender is a call of SendWait that waits for room.
type sender struct {
	prio  int
	msg   any
	ready chan error // capacity 1; what SendWait returns

	prev, next *sender // neighbours while it is queued
}

// senders is a FIFO queue from whose middle one can leave.
type senders struct {
	oldest, newest *sender
}

func (q *senders) empty() bool { return q.oldest == nil }

func (q *senders) push(s *sender) {
	s.prev = q.newest
	if s.prev == nil {
		q.oldest = s
	} else {
		s.prev.next = s
	}
	q.newest = s
}

// pop removes and returns the one who has waited longest.
func (q *senders) pop() *sender {
	s := q.oldest
	q.remove(s)
	return s
}

func (q *senders) remove(s *sender) {
	if s.prev == nil {
		q.oldest = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		q.newest = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
}
