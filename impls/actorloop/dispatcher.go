package actorloop

import (
	"runtime"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

const (
	// outboxActors is how many actors workers can take without asking the
	// scheduler: enough to last while it wakes up.
	outboxActors = 128

	// outboxLow is at how many left in the outbox the scheduler is told.
	outboxLow = outboxActors / 4

	// lease is how many turns a worker may give to actors that its own turns
	// have made ready before it looks what else there is: the price of asking
	// is spread over so many, and so many short turns are not long to wait.
	lease = 64

	// mostWorkers bounds the workers there are, those included that a handler keeps
	// blocked: at so many Go's own scheduler gives up on threads.
	mostWorkers = 10_000
)

// Dispatcher runs actors on workers that take them from what a scheduler puts
// out. Make one with [NewDispatcher].
type Dispatcher struct {
	target int // how many workers run turns while none is blocked: more could not run at once

	started atomic.Bool
	inbox   inbox[event]
	bell    chan struct{} // capacity 1; rung by who finds the inbox asleep

	// outbox holds the actors that have been ready for longest. The scheduler
	// sends, and closes it at the end.
	outbox   chan *box
	wantRoom request // when it is full
	wantKept request // while the timer is not set

	idle atomic.Int32 // workers that wait for the outbox, or are about to

	sched scheduler
	over  chan struct{} // closed by the scheduler as it ends; hands over sched
}

// NewDispatcher returns a dispatcher.
func NewDispatcher() *Dispatcher { return new(Dispatcher) }

// Start implements [actor.Dispatcher]. It starts the scheduler; workers start
// when there is work.
func (d *Dispatcher) Start() error {
	if !d.started.CompareAndSwap(false, true) {
		return actor.ErrStarted
	}
	d.target = min(runtime.GOMAXPROCS(0), mostWorkers)
	d.bell = make(chan struct{}, 1)
	d.outbox = make(chan *box, outboxActors)
	d.wantRoom.event.msg.kind = room
	d.wantKept.event.msg.kind = kept
	d.wantKept.want()
	d.over = make(chan struct{})
	d.sched.d = d
	d.sched.tick.msg.kind = tick
	d.sched.workers = make(map[*worker]struct{})
	go d.sched.loop()
	return nil
}

// Attach implements [actor.Dispatcher].
func (d *Dispatcher) Attach(cfg actor.MailboxConfig) actor.Port { return newBox(d, cfg) }

// Stop implements [actor.Dispatcher].
func (d *Dispatcher) Stop(done func()) { d.send(newEvent(event{kind: stop, done: done})) }

// AddStats implements [actor.Dispatcher]. It asks the scheduler, or reads what
// that has left behind.
func (d *Dispatcher) AddStats(s *actor.Stats) {
	if !d.started.Load() {
		return
	}
	var c actor.Stats
	select {
	case <-d.over: // first: what is sent then no goroutine takes out of the inbox
		c = d.sched.counted()
	default:
		ask := make(chan actor.Stats, 1)
		d.send(newEvent(event{kind: count, ask: ask}))
		select {
		case c = <-ask:
		case <-d.over:
			c = d.sched.counted()
		}
	}
	s.Messages += c.Messages
	s.Turns += c.Turns
	s.Parks += c.Parks
	s.Wakes += c.Wakes
	s.Workers += c.Workers
}

// schedule is told that b has become ready, by the worker from, in its turn, or
// by another worker if that is nil.
//
// The goroutine that wakes an actor has the right to have it run, and as a rule gives that
// to the scheduler. A worker may keep it for one actor at a time: that is the
// lease.
func (d *Dispatcher) schedule(b *box, from actor.Worker) {
	if w, ok := from.(*worker); ok {
		if w.guest == nil && w.next.Load() == nil {
			invariants.Window()
			w.next.Store(b)
			// After that: either this sees that the scheduler wants to know, or the
			// scheduler, which looks once more when it has begun to want, sees b.
			d.wantKept.tell(d)
			return
		}
	} else if g, ok := from.(*guest); ok && g.keep(b) {
		return
	}
	d.send(&b.event)
}

// worker is a goroutine that runs turns: an [actor.Worker].
type worker struct {
	d     *Dispatcher
	tally actor.Tally
	nodes *nodes // lent by stocks, until the worker ends

	// next is an actor that a turn of this worker has made ready. The worker
	// puts one there if there is none, and takes it out after the turn; the
	// scheduler takes it out if that turn goes on for too long.
	next   atomic.Pointer[box]
	streak int    // turns since it last took an actor from the outbox
	ended  bool   // it is to end
	guest  *guest // whose it is; nil: it is one of the dispatcher's own

	seen    *box        // what was in next at the last tick; the scheduler's
	leaving node[event] // sent once
}

// begin makes the zero worker one of d.
func (w *worker) begin(d *Dispatcher) { w.d, w.nodes = d, stocks.Get().(*nodes) }

// end gives back what begin has been lent.
func (w *worker) end() {
	stocks.Put(w.nodes)
	w.nodes = nil // they are another one's
}

func (w *worker) Dispatcher() actor.Dispatcher { return w.d }

// run is the life of a worker's goroutine.
func (w *worker) run() {
	returned := false
	defer func() {
		if !returned {
			go w.run() // an actor has called Goexit; another goroutine goes on
		}
	}()
	for !w.ended {
		w.serve()
	}
	returned = true
	w.end()
	w.d.send(&w.leaving)
}

// serve runs turns until the worker is to end or a turn does not return.
func (w *worker) serve() {
	var b *box
	var msg any
	returned := false
	defer func() {
		if !returned {
			w.settle(b, b.cell.Caught(&w.tally, msg, recover()))
		}
	}()
	for {
		if b = w.choose(); b == nil {
			break
		}
		w.settle(b, b.turn(w, &msg))
	}
	w.ended = true
	returned = true
}

// settle acts on the verdict of a turn.
func (w *worker) settle(b *box, v actor.Verdict) {
	if !b.rest(v) {
		return
	}
	if w.guest == nil && w.next.Load() == nil && !w.d.hasUnassigned() {
		invariants.Window()
		w.next.Store(b) // behind all others: there are none
		w.d.wantKept.tell(w.d)
		return
	}
	w.d.send(&b.event)
}

// hasUnassigned reports whether actors are ready that no worker has.
func (d *Dispatcher) hasUnassigned() bool { return len(d.outbox) > 0 || !d.inbox.empty() }

// choose returns the next actor to run, for which it waits if need be, or nil
// if the worker is to end.
func (w *worker) choose() *box {
	d := w.d
	if w.next.Load() != nil {
		if b := w.next.Swap(nil); b != nil {
			w.streak++
			if w.streak < lease || !d.hasUnassigned() {
				return b
			}
			d.send(&b.event)
		}
	}
	w.streak = 0
	var b *box
	select {
	case b = <-d.outbox:
	default:
		n := d.idle.Add(1)
		if int(n) > d.target {
			d.idle.Add(-1)
			w.tally.Publish()
			return nil // of those that were blocked, this one is not needed any more
		}
		w.tally.Parks++
		w.tally.Publish()
		b = <-d.outbox
		d.idle.Add(-1)
		w.tally.Wakes++
	}
	if b == nil { // closed
		w.tally.Publish()
		return nil
	}
	if len(d.outbox) <= outboxLow {
		d.wantRoom.tell(d)
	}
	return b
}
