package channel

import (
	"context"

	"github.com/dynolab/dyno/actor"
)

// shelf is a mailbox whose order, or whose policy, no channel has: messages by
// priority, dropping the oldest for the newest, or room for so many that the
// memory should not be there in advance. Its state travels through a channel,
// and a full one is made with another channel, of tokens, which take no memory.
type shelf struct {
	priority func(any) int
	capacity int           // of DropOldest; 0 for all others
	slots    chan struct{} // a token for each message, of DropNewest and Block; nil for all others
	turn     chan *heap    // of capacity one
	keep     int           // the capacity up to which an empty heap keeps its memory
}

func newShelf(cfg actor.MailboxConfig) *shelf {
	s := &shelf{priority: cfg.Priority, turn: make(chan *heap, 1), keep: keep}
	h := &heap{}
	switch cfg.Policy {
	case actor.DropOldest:
		s.capacity = cfg.Capacity
	case actor.DropNewest, actor.Block:
		s.slots = make(chan struct{}, cfg.Capacity)
	case actor.Grow:
		h.items = make([]item, 0, cfg.Capacity)
		s.keep = max(keep, cfg.Capacity)
	}
	s.turn <- h
	return s
}

// rank returns the priority of msg.
func (s *shelf) rank(msg any) int {
	if s.priority == nil {
		return 0
	}
	return s.priority(msg)
}

func (s *shelf) len() int {
	h := <-s.turn
	n := len(h.items)
	s.turn <- h
	return n
}

// sendShelf is Send for a mailbox that is a shelf.
func (b *box) sendShelf(msg any) actor.SendResult {
	s := b.shelf
	rank := s.rank(msg) // first: it is the user's, and may panic
	if s.slots != nil {
		select {
		case s.slots <- struct{}{}:
		default:
			return b.refusal()
		}
	}
	return b.place(rank, msg)
}

// waitShelf is SendWait for a mailbox that is a shelf and was full.
func (b *box) waitShelf(ctx context.Context, msg any) error {
	s := b.shelf
	rank := s.rank(msg)
	select {
	case s.slots <- struct{}{}:
	case <-b.shut:
		return actor.ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.place(rank, msg) == actor.Closed {
		return actor.ErrStopped
	}
	return nil
}

// place puts a message that has its slot, if it needs one, on the shelf.
func (b *box) place(rank int, msg any) actor.SendResult {
	s := b.shelf
	h := <-s.turn
	if h.closed {
		s.turn <- h
		return actor.Closed
	}
	var dropped any
	drop := s.capacity > 0 && len(h.items) == s.capacity
	if drop {
		if i := h.last(); h.items[i].rank < rank {
			dropped = msg // nothing that waits matters less
		} else {
			dropped = h.remove(i)
			h.push(rank, msg)
		}
	} else {
		h.push(rank, msg)
	}
	s.turn <- h
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	b.ring()
	return actor.Sent
}

// popShelf returns the next message, if there is one.
func (b *box) popShelf() (msg any, ok bool) {
	s := b.shelf
	h := <-s.turn
	if len(h.items) > 0 {
		msg, ok = h.remove(0), true
		if len(h.items) == 0 && cap(h.items) > s.keep {
			h.items = nil
		}
	}
	s.turn <- h
	if ok && s.slots != nil {
		<-s.slots
	}
	return msg, ok
}

// closeShelf closes the shelf and hands over what is on it.
func (b *box) closeShelf() {
	h := <-b.shelf.turn
	h.closed = true
	left := heap{items: h.items}
	h.items = nil
	b.shelf.turn <- h
	for len(left.items) > 0 {
		b.refuse(left.remove(0))
	}
}

// item is a message with its place.
type item struct {
	rank int
	seq  uint64 // the order of arrival
	msg  any
}

// heap is a priority queue: smallest rank first, then smallest seq. Package
// container/heap would allocate for every item that it is given. It belongs to
// whoever received it.
type heap struct {
	items  []item
	seq    uint64
	closed bool
}

func (h *heap) less(i, j int) bool {
	a, b := &h.items[i], &h.items[j]
	return a.rank < b.rank || a.rank == b.rank && a.seq < b.seq
}

func (h *heap) push(rank int, msg any) {
	h.seq++
	h.items = append(h.items, item{rank, h.seq, msg})
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

// last returns the index of the oldest of the items with the largest rank. In a
// heap those are anywhere.
func (h *heap) last() int {
	v := 0
	for i := range h.items {
		a, b := &h.items[i], &h.items[v]
		if a.rank > b.rank || a.rank == b.rank && a.seq < b.seq {
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
