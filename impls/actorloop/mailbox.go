package actorloop

import "sync/atomic"

// mailbox is the queue of messages to a manager: any number of senders, one
// receiver that takes everything at once. It is a stack of linked messages (R.
// Kent Treiber, "Systems Programming: Coping with Parallelism", IBM RJ 5118,
// 1986) that is only ever emptied as a whole, so that there is no ABA problem,
// and turned round by the receiver.
//
// It also is the switch of the manager: an asleep mailbox has no manager, and
// the sender that finds it so must start one.
type mailbox[T any] struct {
	// top is the newest message, nil if there is none, or the mailbox's asleep
	// mark. It hands messages from senders to the manager, and the state from
	// a manager that ends (sleep) to the sender that starts the next one.
	top    atomic.Pointer[message[T]]
	asleep message[T] // only its address matters
}

func (m *mailbox[T]) init() { m.top.Store(&m.asleep) }

// send adds msg and reports whether the caller must start the manager.
func (m *mailbox[T]) send(msg *message[T]) (start bool) {
	for {
		top := m.top.Load()
		msg.next = top
		start := top == &m.asleep
		if start {
			msg.next = nil
		}
		if m.top.CompareAndSwap(top, msg) {
			return start
		}
	}
}

// receive takes all messages, the oldest first, linked by next. It returns nil
// if there is none. Only the manager may call it.
func (m *mailbox[T]) receive() *message[T] {
	var oldest *message[T]
	for msg := m.top.Swap(nil); msg != nil; {
		next := msg.next
		msg.next = oldest
		oldest, msg = msg, next
	}
	return oldest
}

// sleep ends the manager's duty if there is no message, and reports whether it
// did. Only the manager may call it; after true it is not the manager any more.
func (m *mailbox[T]) sleep() bool {
	return m.top.CompareAndSwap(nil, &m.asleep)
}
