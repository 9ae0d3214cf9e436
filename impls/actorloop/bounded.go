package actorloop

import (
	"slices"

	"github.com/dynolab/dyno/actor"
)

// bounded is the queue of a mailbox with a capacity or with priorities. The
// box's mutex guards it.
type bounded struct {
	policy   actor.Policy
	capacity int // 0: none
	keep     int // the capacity up to which an empty queue keeps its memory
	priority func(any) int
	fifo     queue[any] // without priority
	items    []item     // with priority, a heap: smallest rank first, then smallest seq
	seq      uint64
	senders  queue[*sender] // calls of SendWait that wait for room
}

// item is a message with its place.
type item struct {
	rank int
	seq  uint64 // the order of arrival
	msg  any
}

// sender is a call of SendWait.
type sender struct {
	rank  int
	msg   any
	ready chan error // capacity 1; what SendWait returns
}

func newBounded(cfg actor.MailboxConfig) *bounded {
	q := &bounded{policy: cfg.Policy, capacity: cfg.Capacity, keep: keep, priority: cfg.Priority}
	if q.policy == actor.Grow {
		q.keep = max(keep, cfg.Capacity)
		q.capacity = 0
		if q.priority == nil {
			q.fifo.buf = make([]any, 0, cfg.Capacity)
		} else {
			q.items = make([]item, 0, cfg.Capacity)
		}
	}
	return q
}

func (q *bounded) len() int { return q.fifo.len() + len(q.items) }

// rank returns the priority of msg. It needs no lock.
func (q *bounded) rank(msg any) int {
	if q.priority == nil {
		return 0
	}
	return q.priority(msg)
}

// offer queues msg, if the policy allows it. If a message has to go for it, that
// is returned as well.
func (q *bounded) offer(rank int, msg any) (dropped any, drop bool, res actor.SendResult) {
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
			i := q.last()
			if q.items[i].rank < rank {
				return msg, true, actor.Sent // nothing that waits matters less
			}
			dropped = q.remove(i)
		}
	}
	if q.priority == nil {
		q.fifo.push(msg)
		return dropped, drop, actor.Sent
	}
	q.seq++
	q.items = append(q.items, item{rank, q.seq, msg})
	q.up(len(q.items) - 1)
	return dropped, drop, actor.Sent
}

// pop removes and returns the next message; there must be one. The room goes to
// the sender that has waited for it longest.
func (q *bounded) pop() any {
	msg := q.take()
	if q.senders.len() > 0 {
		s := q.senders.pop()
		q.offer(s.rank, s.msg)
		s.ready <- nil
	}
	if q.len() == 0 {
		if cap(q.fifo.buf) > q.keep {
			q.fifo = queue[any]{}
		}
		if cap(q.items) > q.keep {
			q.items = nil
		}
	}
	return msg
}

// take is pop without the senders.
func (q *bounded) take() any {
	if q.priority == nil {
		return q.fifo.pop()
	}
	return q.remove(0)
}

// giveUp takes a sender out that has not been answered.
func (q *bounded) giveUp(s *sender) {
	waiting := q.senders.buf[q.senders.first:]
	i := slices.Index(waiting, s)
	waiting = slices.Delete(waiting, i, i+1)
	q.senders.buf = q.senders.buf[:q.senders.first+len(waiting)]
}

// close refuses the senders that wait and returns left with all messages behind
// it, in the order in which they would have been handled.
func (q *bounded) close(left []any) []any {
	for q.senders.len() > 0 {
		q.senders.pop().ready <- actor.ErrStopped
	}
	for q.len() > 0 {
		left = append(left, q.take())
	}
	q.fifo, q.items = queue[any]{}, nil
	return left
}

func (q *bounded) less(i, j int) bool {
	a, b := &q.items[i], &q.items[j]
	return a.rank < b.rank || a.rank == b.rank && a.seq < b.seq
}

// remove removes the item at index i and returns its message.
func (q *bounded) remove(i int) any {
	msg := q.items[i].msg
	n := len(q.items) - 1
	q.items[i] = q.items[n]
	q.items[n] = item{}
	q.items = q.items[:n]
	if i < n {
		q.down(i)
		q.up(i)
	}
	return msg
}

// last returns the index of the oldest of the items with the largest rank. In a
// heap those are anywhere.
func (q *bounded) last() int {
	v := 0
	for i := range q.items {
		a, b := &q.items[i], &q.items[v]
		if a.rank > b.rank || a.rank == b.rank && a.seq < b.seq {
			v = i
		}
	}
	return v
}

func (q *bounded) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.less(i, parent) {
			return
		}
		q.items[i], q.items[parent] = q.items[parent], q.items[i]
		i = parent
	}
}

func (q *bounded) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.items) {
			return
		}
		if child+1 < len(q.items) && q.less(child+1, child) {
			child++
		}
		if !q.less(child, i) {
			return
		}
		q.items[i], q.items[child] = q.items[child], q.items[i]
		i = child
	}
}
