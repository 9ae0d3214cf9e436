package mailboxes

import "sync/atomic"

// linkedBox is Vyukov's linked queue: a Push exchanges the pointer to the last
// node for its own and then links the one it got to its own. The pointer also
// tells the place in the schedule, nil being idle, so that a Push learns from the
// exchange whether it has to schedule.
//
// The turn is one node behind: head is the node whose message it took last, or
// the stub. It gives head back when it has seen the link to the next. After that
// no Push has any business with head: the one that got it from the exchange has
// set the link, and the exchange has taken it out of last. The node that is last
// goes back when the box goes idle, which takes it out of last, too.
type linkedBox struct {
	last atomic.Pointer[node] // nil: idle

	_ [line]byte

	// The turn's, and until it begins the one's who made the box scheduled;
	// stub.next is set by the Push that gets the stub from last.
	any   bool // first holds a message
	first any
	head  *node
	stub  node
}

var _ Box = (*linkedBox)(nil)

func newLinkedBox() *linkedBox {
	b := &linkedBox{}
	b.head = &b.stub
	return b
}

// Push implements [Box].
func (b *linkedBox) Push(msg any, from *Worker) bool {
	if b.last.Load() == nil && b.last.CompareAndSwap(nil, &b.stub) {
		pause()
		b.first, b.any = msg, true
		return true
	}
	n := from.get()
	n.msg = msg
	before := b.last.Swap(n)
	pause() // the queue is cut in two here, and the turn sees its first part only
	if before == nil {
		b.stub.link(n)
		return true
	}
	before.link(n)
	return false
}

// Pop implements [Box].
func (b *linkedBox) Pop(w *Worker) (any, bool) {
	if b.any {
		msg := b.first
		b.first, b.any = nil, false
		return msg, true
	}
	n := b.head.linked()
	if n == nil {
		return nil, false
	}
	b.forget(b.head, w)
	b.head = n
	msg := n.msg
	n.msg = nil
	return msg, true
}

// Rest implements [Box].
func (b *linkedBox) Rest(w *Worker) bool {
	if b.any || b.head.linked() != nil {
		return false
	}
	head := b.head
	b.head = &b.stub // before the exchange, after which it is not the turn's
	pause()
	if !b.last.CompareAndSwap(head, nil) {
		b.head = head
		return false
	}
	if head != &b.stub {
		w.put(head)
	}
	return true
}

// forget gives back a node that the turn has left behind. The stub is left
// without its link, for the next time that it is head.
func (b *linkedBox) forget(n *node, w *Worker) {
	if n == &b.stub {
		n.link(nil)
		return
	}
	w.put(n)
}
