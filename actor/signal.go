package actor

import "sync/atomic"

// signal is a system message. The type is private and has a queue of its own,
// so no user code can forge one.
type signal struct {
	next *signal
	kind signalKind
	from *Cell    // the child that stopped or failed
	fail *Failure // of a failure
}

type signalKind uint8

const (
	sigStart        signalKind = iota + 1 // run PreStart
	sigStop                               // handle no further message, stop the children, stop
	sigChildStopped                       // from has stopped
	sigFailure                            // from has failed and waits for a decision
)

// signals is a queue of system messages: a lock-free stack that the actor's
// turn takes whole and reverses. System messages are rare, so a node is
// allocated for each.
type signals struct {
	top atomic.Pointer[signal] // the newest; &noSignals when the actor has stopped
}

// noSignals marks the queue of an actor that takes no more.
var noSignals signal

// push queues s and reports whether the actor still takes system messages. The
// caller then sees to it that the actor has a turn (Port.Wake).
func (q *signals) push(s *signal) bool {
	for {
		top := q.top.Load()
		if top == &noSignals {
			return false
		}
		s.next = top
		if q.top.CompareAndSwap(top, s) {
			return true
		}
	}
}

// pending reports whether there are system messages.
func (q *signals) pending() bool { return q.top.Load() != nil }

// take removes all system messages and returns them, oldest first. Only the
// actor's turn calls it.
func (q *signals) take() *signal {
	var oldest *signal
	for s := q.top.Swap(nil); s != nil; {
		s.next, oldest, s = oldest, s, s.next
	}
	return oldest
}

// close makes the queue refuse system messages from now on and drops what is
// in it: an actor that has stopped has nothing left to do about it. Only the
// actor's turn calls it.
func (q *signals) close() { q.top.Store(&noSignals) }
