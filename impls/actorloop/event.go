package actorloop

import (
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
)

// event is what the scheduler is told.
type event struct {
	kind eventKind

	box  *box             // of ready
	by   *worker          // of left
	of   *guest           // of came and went
	ask  chan actor.Stats // of count; capacity 1
	done func()           // of stop
}

type eventKind uint8

const (
	ready  eventKind = iota // box has something to do; the node is the box's own
	room                    // the answer to wantRoom
	kept                    // the answer to wantKept
	tick                    // the timer has fired
	paused                  // a worker waits in SendWait
	resume                  // and does not any more
	left                    // by is about to end
	came                    // there is a new guest
	went                    // there is not any more
	count                   // ask wants to know what has been counted
	stop                    // every actor has stopped
)

// newEvent returns an event for those that are sent too seldom to be kept.
func newEvent(e event) *node[event] { return &node[event]{msg: e} }

// send tells the scheduler, and wakes it if it sleeps: to start it, as a group's
// manager is, costs twice a wake-up, and the scheduler of a system has more to do.
func (d *Dispatcher) send(e *node[event]) {
	if d.inbox.send(e) {
		d.bell <- struct{}{}
	}
}

// request is a wish of the scheduler to be told something, once, by whichever
// worker sees it happen first. Its event is sent again only after it has been
// received, so that none has to be allocated.
type request struct {
	state atomic.Uint32
	event node[event]
}

const (
	quiet  uint32 = iota // the scheduler does not want to know
	wanted               // it does
	told                 // the event is on its way
)

// tell grants the wish, if there is one. Any worker calls it.
func (r *request) tell(d *Dispatcher) {
	if r.state.Load() == wanted && r.state.CompareAndSwap(wanted, told) {
		d.send(&r.event)
	}
}

// want makes the wish. Like what follows it is the scheduler's.
func (r *request) want() { r.state.CompareAndSwap(quiet, wanted) }

// drop takes it back. It may be too late for that.
func (r *request) drop() { r.state.CompareAndSwap(wanted, quiet) }

// granted has to be called when the event has been received.
func (r *request) granted() { r.state.Store(quiet) }
