package serial

import "github.com/dynolab/dyno/actor"

// mailbox is an actor's queue of user messages. It is not safe for concurrent
// use: the dispatcher's mutex guards it, but for bound, which never changes.
type mailbox struct {
	fifo  ring[any] // unless there are priorities
	bound *bound    // nil for a plain unbounded mailbox, to keep that small
}

// bound is what a mailbox with a capacity or with priorities has in addition.
type bound struct {
	policy   actor.Policy
	capacity int // 0: none
	priority func(any) int

	heap    heap    // if there are priorities
	senders senders // calls of SendWait that wait for room
}

func newMailbox(cfg actor.MailboxConfig) (m mailbox) {
	if cfg.Policy == actor.Unbounded && cfg.Priority == nil {
		return m
	}
	m.bound = &bound{policy: cfg.Policy, capacity: cfg.Capacity, priority: cfg.Priority}
	if cfg.Policy == actor.Grow {
		m.bound.capacity = 0
		if cfg.Priority == nil {
			m.fifo.reserve(cfg.Capacity)
		} else {
			m.bound.heap.items = make([]item, 0, cfg.Capacity)
		}
	}
	return m
}

func (m *mailbox) len() int {
	if m.bound == nil {
		return m.fifo.len()
	}
	return m.fifo.len() + len(m.bound.heap.items)
}

// prio returns the priority of msg. It needs no lock.
func (m *mailbox) prio(msg any) int {
	if m.bound == nil || m.bound.priority == nil {
		return 0
	}
	return m.bound.priority(msg)
}

// offer queues msg, if the policy allows it. If a message had to make room for
// it, that is returned as well.
func (m *mailbox) offer(prio int, msg any) (dropped any, drop bool, res actor.SendResult) {
	x := m.bound
	if x == nil {
		if len(m.fifo.buf) == 0 {
			m.fifo.buf = make([]any, 2) // many actors never have more waiting
		}
		m.fifo.push(msg)
		return nil, false, actor.Sent
	}
	if x.capacity > 0 && m.len() >= x.capacity {
		switch x.policy {
		case actor.DropNewest:
			return nil, false, actor.Full
		case actor.Block:
			return nil, false, actor.MustWait
		case actor.DropOldest:
			drop = true
			if x.priority == nil {
				dropped = m.fifo.pop()
				break
			}
			i := x.heap.last()
			if x.heap.items[i].prio < prio {
				return msg, true, actor.Sent // nothing that waits matters less
			}
			dropped = x.heap.remove(i)
		}
	}
	if x.priority == nil {
		m.fifo.push(msg)
	} else {
		x.heap.push(prio, msg)
	}
	return dropped, drop, actor.Sent
}

// pop removes and returns the next message; there must be one. If a sender
// waits for room it has it now.
func (m *mailbox) pop() (msg any) {
	x := m.bound
	if x == nil || x.priority == nil {
		msg = m.fifo.pop()
	} else {
		msg = x.heap.remove(0)
	}
	if x != nil && !x.senders.empty() {
		s := x.senders.pop()
		m.offer(s.prio, s.msg)
		s.answer(nil)
	}
	return msg
}

// close refuses the waiting senders, takes all messages out and returns them
// in the order in which they would have been handled.
func (m *mailbox) close() []any {
	if m.bound != nil {
		for !m.bound.senders.empty() {
			m.bound.senders.pop().answer(actor.ErrStopped)
		}
	}
	left := make([]any, 0, m.len())
	for m.len() > 0 {
		left = append(left, m.pop())
	}
	m.fifo = ring[any]{}
	if m.bound != nil {
		m.bound.heap = heap{}
	}
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
	prio     int
	msg      any
	answered bool
	err      error         // what SendWait returns, once answered
	ready    chan struct{} // closed when answered; nil if the sender runs actors meanwhile

	prev, next *sender // neighbours while it is queued
}

// answer ends the wait of s, which has been taken out of the queue.
func (s *sender) answer(err error) {
	s.answered, s.err, s.msg = true, err, nil
	if s.ready != nil {
		close(s.ready)
	}
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
