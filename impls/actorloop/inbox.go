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
	// top is the newest message, nil if there is none, the inbox's asleep mark, or, in one
	// that is closed, the mark that close was given. It hands messages from senders to the
	// receiver, and the state from a receiver that ends (sleep) to the sender that starts
	// the next one.
	top    atomic.Pointer[node[M]]
	asleep node[M] // only its address matters
}

// found is what a send has found the receiver to be.
type found uint8

const (
	awake   found = iota // it will reach the message
	resting              // it does not look: who sent the message must start or wake it
	gone                 // it takes no more, nor this message
)

// node is what carries a message. It is in one inbox at a time.
type node[M any] struct {
	next *node[M]
	msg  M
}

// init puts an unused inbox to sleep.
func (m *inbox[M]) init() { m.top.Store(&m.asleep) }

// send adds n and reports whether the inbox was asleep: then the caller must
// start or wake the receiver. The inbox is one that is not closed.
func (m *inbox[M]) send(n *node[M]) (asleep bool) { return m.offer(n, nil) == resting }

// offer is send to an inbox that may be closed, with the mark of such ones, or nil.
func (m *inbox[M]) offer(n, closed *node[M]) found {
	for {
		top := m.top.Load()
		was, next := awake, top
		if top == &m.asleep {
			was, next = resting, nil
		} else if top != nil && top == closed {
			return gone
		}
		n.next = next
		if m.top.CompareAndSwap(top, n) {
			return was
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
	oldest, _ := m.take()
	return oldest
}

// take is receive, and counts the messages.
func (m *inbox[M]) take() (oldest *node[M], n int) { return turnRound(m.top.Swap(nil)) }

// close puts mark, which is for closed inboxes only, in the place of all messages, and
// returns them as take does. Only the receiver calls it.
func (m *inbox[M]) close(mark *node[M]) (oldest *node[M], n int) { return turnRound(m.top.Swap(mark)) }

// turnRound makes of a stack of n messages, of which top is the newest, a list from the oldest on.
func turnRound[M any](top *node[M]) (oldest *node[M], n int) {
	for top != nil {
		next := top.next
		top.next = oldest
		oldest, top = top, next
		n++
	}
	return oldest, n
}

// sleep puts the inbox to sleep if it is empty, and reports whether it did.
// Only the receiver calls it; after true it is not the receiver any more, until
// it is started or woken.
func (m *inbox[M]) sleep() bool {
	invariants.Window()
	return m.top.CompareAndSwap(nil, &m.asleep)
}

// wake undoes sleep, and reports whether it did. Any goroutine calls it; who is told true
// must start or wake the receiver.
func (m *inbox[M]) wake() bool { return m.isAsleep() && m.top.CompareAndSwap(&m.asleep, nil) }

func (m *inbox[M]) isAsleep() bool { return m.top.Load() == &m.asleep }
