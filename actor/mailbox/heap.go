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
	h.seq++
	h.items = append(h.items, item{})
	h.up(len(h.items)-1, item{prio, h.seq, msg})
}

// remove removes the item at index i and returns its message.
func (h *heap) remove(i int) any {
	msg := h.items[i].msg
	n := len(h.items) - 1
	moved := h.items[n]
	h.items[n] = item{} // or the slot would keep the message alive
	h.items = h.items[:n]
	switch {
	case i < n:
		h.up(h.down(i), moved)
	case n == 0 && cap(h.items) > h.keep:
		h.items = nil
	}
	return msg
}

// last returns the index of the oldest of the items with the largest prio. In a
// heap those are anywhere.
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

// up puts it into the free slot i, or where it belongs between there and the top.
func (h *heap) up(i int, it item) {
	for i > 0 {
		parent := (i - 1) / 2
		if !it.before(&h.items[parent]) {
			break
		}
		h.items[i] = h.items[parent]
		i = parent
	}
	h.items[i] = it
}

// down moves the free slot i to the bottom, always to the smaller child, and
// returns where it is then. What has to fill it comes from the bottom, so it
// mostly belongs there (Wegener, "Bottom-up heapsort", TCS 118, 1993).
func (h *heap) down(i int) int {
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			return i
		}
		if child+1 < len(h.items) && h.items[child+1].before(&h.items[child]) {
			child++
		}
		h.items[i] = h.items[child]
		i = child
	}
}
