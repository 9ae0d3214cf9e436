package actor

import "sync/atomic"

// signal is a system message. The type is private and has a queue of its own,
// so no user code can forge one.
type signal struct {
	next  *signal
	kind  signalKind
	epoch uint32 // of a suspension
	arg   any    // as the kind says
}

type signalKind uint8

const (
	sigStart        signalKind = iota + 1 // run PreStart
	sigStop                               // handle no further message, stop the children, stop
	sigChildStopped                       // *Cell: a child has stopped
	sigFailure                            // *Failure: a child has failed and waits for a decision
	sigRestart                            // *restartOrder: be restarted
	sigBackoff                            // *verdict: the delay of a restart is over
	sigGoOn                               // *goOnOrder: a failed actor goes on
	sigSuspend                            // *pause: handle no user messages
	sigResume                             // time.Time, when it was sent: the suspension epoch is over, or any if that is 0
	sigSeek                               // *Cell: it waits, in its suspension epoch, for room in the mailbox
	sigUnseek                             // *Cell: it no longer does, and has taken what room it wanted; follows each sigSeek
	sigWatch                              // *Cell: tell it when you have stopped
	sigUnwatch                            // *Cell: do not
	sigTerminated                         // *Terminated: an actor that may be watched has stopped
	sigTimer                              // *Timer: its time is up
	sigNudge                              // look at your notices
	sigDrain                              // *drain: tell it when few messages wait
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
func (q *signals) take() *signal { return reversed(q.top.Swap(nil)) }

// putBack undoes a take: rest, the oldest first, comes before whatever has been
// pushed since. Only the actor's turn calls it, while the queue is open.
func (q *signals) putBack(rest *signal) {
	if rest == nil {
		return
	}
	for newest := reversed(rest); !q.top.CompareAndSwap(nil, newest); {
		// Others have pushed. What they pushed is this turn's as soon as it is
		// out of the queue, and newer than all that is to be put back.
		if since := q.top.Swap(nil); since != nil {
			last := since
			for last.next != nil {
				last = last.next
			}
			last.next, newest = newest, since
		}
	}
}

// close makes the queue refuse system messages from now on and returns what is
// in it, the oldest first. Only the actor's turn calls it.
func (q *signals) close() *signal { return reversed(q.top.Swap(&noSignals)) }

// reversed returns the list s the other way round.
func reversed(s *signal) *signal {
	var r *signal
	for s != nil {
		s.next, r, s = r, s, s.next
	}
	return r
}
