package mailbox

// item is a message with its priority.
type item struct {
	prio int
	seq  uint64 // the order of arrival
	msg  any
}

func (a *item) before(b *item) bool {
	return a.prio < b.prio || a.prio == b.prio && a.seq < b.seq
}

// heap is a priority queue: smallest prio first, then smallest seq. Package
// container/heap would allocate for every item it is given.
type heap struct {
	items []item
	seq   uint64
	keep  int // the capacity up to which an empty heap keeps its memory
}

func (h *heap) push(prio int, msg any) {
	n := len(h.items)
	if n < cap(h.items) {
		h.items = h.items[:n+1]
	} else {
		h.items = append(heaps.grow(h.items), item{})
	}
	h.seq++
	h.items[h.rise(n, prio, h.seq)] = item{prio, h.seq, msg}
}

// remove removes the item at index i and returns its message.
func (h *heap) remove(i int) any {
	msg := h.items[i].msg
	n := len(h.items) - 1
	last := h.items[n]
	h.items[n] = item{} // or the slot would keep the message alive
	h.items = h.items[:n]
	switch {
	case i < n:
		h.items[h.rise(h.sink(i), last.prio, last.seq)] = last
	case n == 0 && cap(h.items) > h.keep:
		heaps.give(h.items)
		h.items = nil
	}
	return msg
}

// last returns the index of the oldest of the items with the largest prio. In a
// heap those are anywhere, so it looks at all: a mailbox that drops has a capacity, and a
// heap with two ends would cost every other message more.
func (h *heap) last() int {
	last := 0
	for i := range h.items {
		a, b := &h.items[i], &h.items[last]
		if a.prio > b.prio || a.prio == b.prio && a.seq < b.seq {
			last = i
		}
	}
	return last
}

// rise moves the free slot i up to where an item with prio and seq belongs between
// there and the top, and returns where that is.
func (h *heap) rise(i int, prio int, seq uint64) int {
	items := h.items
	for i > 0 {
		parent := (i - 1) / 2
		if p := &items[parent]; p.prio < prio || p.prio == prio && p.seq < seq {
			break
		}
		items[i] = items[parent]
		i = parent
	}
	return i
}

// sink moves the free slot i to the bottom, always to the smaller child, and
// returns where it is then. What has to fill it comes from the bottom, so it
// mostly belongs there (Wegener, "Bottom-up heapsort", TCS 118, 1993).
func (h *heap) sink(i int) int {
	items := h.items
	for {
		child := 2*i + 1
		if child >= len(items) {
			return i
		}
		if child+1 < len(items) && items[child+1].before(&items[child]) {
			child++
		}
		items[i] = items[child]
		i = child
	}
}
