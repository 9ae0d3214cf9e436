package actorloop

import (
	"sync/atomic"

	"github.com/dynolab/dyno/internal/invariants"
)

// inbox is the queue of messages to the goroutine that owns a state: any number of
// senders, one receiver that takes everything at once. It is a stack of linked
// messages (R. Kent Treiber, "Systems Programming: Coping with Parallelism", IBM
// RJ 5118, 1986) that is only ever emptied as a whole, so that there is no ABA
// problem, and turned round by the receiver. What carries a message is part of
// the memory of who sends it, so sending allocates nothing.
//
// It also is the receiver's switch. In an asleep inbox the receiver does not look, and the
// sender that finds it so must start or wake the receiver.
type inbox[M any] struct {
	// top is the newest message, nil if there is none, or the mailbox's asleep
	// mark. It hands messages from senders to the receiver, and the state from
	// a receiver that ends (sleep) to the sender that starts the next one.
	top    atomic.Pointer[node[M]]
	asleep node[M] // only its address matters
}

// node is what carries a message. It is in one inbox at a time.
type node[M any] struct {
	next *node[M]
	msg  M
}

// init puts an unused inbox to sleep.
func (m *inbox[M]) init() { m.top.Store(&m.asleep) }

// send adds n and reports whether the inbox was asleep: then the caller must
// start or wake the receiver.
func (m *inbox[M]) send(n *node[M]) (asleep bool) {
	for {
		top := m.top.Load()
		n.next = top
		if asleep = top == &m.asleep; asleep {
			n.next = nil
		}
		if m.top.CompareAndSwap(top, n) {
			return asleep
		}
	}
}

// empty reports whether no message waits.
func (m *inbox[M]) empty() bool {
	top := m.top.Load()
	return top == nil || top == &m.asleep
}

// receive takes all messages, the oldest first, linked by next. It returns nil
// if there is none. Only the receiver calls it.
func (m *inbox[M]) receive() *node[M] {
	var oldest *node[M]
	for n := m.top.Swap(nil); n != nil; {
		next := n.next
		n.next = oldest
		oldest, n = n, next
	}
	return oldest
}

// sleep puts the inbox to sleep if it is empty, and reports whether it did.
// Only the receiver calls it; after true it is not the receiver any more, until
// it is started or woken.
func (m *inbox[M]) sleep() bool {
	invariants.Window()
	return m.top.CompareAndSwap(nil, &m.asleep)
}
