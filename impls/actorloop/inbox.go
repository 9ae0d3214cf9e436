package actorloop

import (
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
)

// event is what the scheduler is told.
type event struct {
	next *event // in the inbox, or in the ready queue
	kind eventKind

	box  *box             // of ready
	by   *worker          // of left
	ask  chan actor.Stats // of count; capacity 1
	done func()           // of stop
}

type eventKind uint8

const (
	ready  eventKind = iota // box has something to do; the event is the box's own
	room                    // the answer to wantRoom
	kept                    // the answer to wantKept
	tick                    // the timer has fired
	paused                  // a worker waits in SendWait
	resume                  // and does not any more
	left                    // by is about to end
	count                   // ask wants to know what has been counted
	stop                    // every actor has stopped
)

// inbox is the queue of events to the scheduler. It is built like mailbox, and
// wakes a goroutine where mailbox starts one: the scheduler of a system has more
// to do than the manager of a group, and starting costs twice a wake-up.
type inbox struct {
	// top is the newest event, nil if there is none, or the asleep mark. It
	// hands events from senders to the scheduler.
	top    atomic.Pointer[event]
	asleep event         // only its address matters
	bell   chan struct{} // capacity 1; rung by the one who replaces the asleep mark
}

// send adds e and wakes the scheduler if it sleeps.
func (q *inbox) send(e *event) {
	for {
		top := q.top.Load()
		wake := top == &q.asleep
		if wake {
			e.next = nil
		} else {
			e.next = top
		}
		if q.top.CompareAndSwap(top, e) {
			if wake {
				q.bell <- struct{}{}
			}
			return
		}
	}
}

// empty reports whether no event waits.
func (q *inbox) empty() bool {
	top := q.top.Load()
	return top == nil || top == &q.asleep
}

// receive takes all events, the oldest first, linked by next. It returns nil if
// there is none. Only the scheduler calls it.
func (q *inbox) receive() *event {
	var oldest *event
	for e := q.top.Swap(nil); e != nil; {
		e.next, oldest, e = oldest, e, e.next
	}
	return oldest
}

// sleep waits until there is an event. Only the scheduler calls it.
func (q *inbox) sleep() {
	if q.top.CompareAndSwap(nil, &q.asleep) {
		<-q.bell
	}
}

// request is a wish of the scheduler to be told something, once, by whichever
// worker sees it happen first. Its event is sent again only after it has been
// received, so that none has to be allocated.
type request struct {
	state atomic.Uint32
	event event
}

const (
	quiet  uint32 = iota // the scheduler does not want to know
	wanted               // it does
	told                 // the event is on its way
)

// tell grants the wish, if there is one. Any worker calls it.
func (r *request) tell(q *inbox) {
	if r.state.Load() == wanted && r.state.CompareAndSwap(wanted, told) {
		q.send(&r.event)
	}
}

// want makes the wish. Like what follows it is the scheduler's.
func (r *request) want() { r.state.CompareAndSwap(quiet, wanted) }

// drop takes it back. It may be too late for that.
func (r *request) drop() { r.state.CompareAndSwap(wanted, quiet) }

// granted has to be called when the event has been received.
func (r *request) granted() { r.state.Store(quiet) }
