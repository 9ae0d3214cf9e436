package mailboxes

import "sync/atomic"

// stackBox is Treiber's stack, pushed one by one and taken as a whole. The turn
// turns what it took round, so that the oldest comes first. A Push is one
// compare-and-swap, which is also all that becoming scheduled takes: the place
// in the schedule is the value of the pointer to the top.
//
// There is no ABA problem, because nobody pops: the compare-and-swap of a Push
// that finds the same top again puts its node above whatever that is now, and
// taking all is an exchange.
type stackBox struct {
	top atomic.Pointer[node] // &b.idle, or the last pushed, or nil: scheduled and empty

	_ [line]byte

	// The turn's, and until it begins the one's who made the box scheduled.
	any   bool // first holds a message
	first any
	out   *node // the oldest of those that were taken

	idle node // only its address is used
}

var _ Box = (*stackBox)(nil)

func newStackBox() *stackBox {
	b := &stackBox{}
	b.top.Store(&b.idle)
	return b
}

// Push implements [Box].
func (b *stackBox) Push(msg any, from *Worker) bool {
	var n *node
	for {
		top := b.top.Load()
		if top == &b.idle {
			if b.top.CompareAndSwap(top, nil) {
				pause()
				b.first, b.any = msg, true
				if n != nil {
					n.msg = nil
					from.put(n)
				}
				return true
			}
			continue
		}
		if n == nil {
			n = from.get()
			n.msg = msg
		}
		n.next = top
		pause()
		if b.top.CompareAndSwap(top, n) {
			return false
		}
	}
}

// Pop implements [Box].
func (b *stackBox) Pop(w *Worker) (any, bool) {
	n := b.out
	if n == nil {
		if b.any {
			msg := b.first
			b.first, b.any = nil, false
			return msg, true
		}
		if b.top.Load() == nil {
			return nil, false
		}
		// The latest is at the top; below it the list is the turn's alone.
		var above *node
		for n = b.top.Swap(nil); ; {
			below := n.next
			n.next = above
			if below == nil {
				break
			}
			above, n = n, below
		}
	}
	b.out = n.next
	msg := n.msg
	n.msg = nil
	w.put(n)
	return msg, true
}

// Rest implements [Box].
func (b *stackBox) Rest(*Worker) bool {
	if b.any || b.out != nil {
		return false
	}
	pause()
	return b.top.CompareAndSwap(nil, &b.idle)
}
