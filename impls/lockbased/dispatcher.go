package lockbased

import (
	"runtime"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
)

// period is how often the dispatcher looks whether its workers make progress,
// while there is something to do: long against a turn, short for a person. It
// is how long actors wait when all workers are blocked.
const period = time.Millisecond

// Dispatcher runs actors on a fixed set of workers that take them from one
// locked queue. Make one with [NewDispatcher].
type Dispatcher struct {
	target int // workers that are to be able to run
	most   int

	mu       sync.Mutex       // guards everything below
	ready    queue.Ring[*box] // scheduled actors, the one that waits longest first
	idle     []*worker        // parked workers; the last to park is the first to be woken
	workers  int              // goroutines
	blocked  int              // workers that wait in SendWait
	stuck    int              // workers that are taken for blocked by something else
	taken    uint64           // actors taken from ready so far
	watching bool             // the timer is set
	lastSeen uint64           // taken, when the timer fired last
	timer    *time.Timer
	started  bool
	stopping bool
	done     func() // to be called by the last worker to leave
	parks    uint64
	wakes    uint64
	all      map[*worker]struct{}
	gone     actor.Stats // of workers that have left
}

// worker is a goroutine that runs turns: an [actor.Worker].
type worker struct {
	d     *Dispatcher
	tally actor.Tally
	wake  chan struct{} // capacity 1
	guest *guest        // whose it is; nil: it has a goroutine of its own

	// How the last turn ended, if it did not return.
	box     *box
	verdict actor.Verdict
}

func (w *worker) Dispatcher() actor.Dispatcher { return w.d }

// NewDispatcher returns a dispatcher with as many workers as processors, since more of them
// could not run at once, and at most the 10,000 at which Go's own scheduler gives up on
// threads, those included that a handler keeps blocked.
func NewDispatcher() *Dispatcher { return newDispatcher(runtime.GOMAXPROCS(0), 10_000) }

func newDispatcher(target, most int) *Dispatcher {
	return &Dispatcher{target: min(target, most), most: most, all: make(map[*worker]struct{})}
}

// Start implements [actor.Dispatcher]. Workers start when there is work.
func (d *Dispatcher) Start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started {
		return actor.ErrStarted
	}
	d.started = true
	return nil
}

// Attach implements [actor.Dispatcher].
func (d *Dispatcher) Attach(cfg actor.MailboxConfig) actor.Port { return newBox(d, cfg) }

// Stop implements [actor.Dispatcher].
func (d *Dispatcher) Stop(done func()) {
	d.mu.Lock()
	d.stopping = true
	if d.timer != nil {
		d.timer.Stop()
	}
	for len(d.idle) > 0 {
		d.wakeIdle()
	}
	if d.workers > 0 {
		d.done = done
		d.mu.Unlock()
		return
	}
	d.mu.Unlock()
	done()
}

// AddStats implements [actor.Dispatcher].
func (d *Dispatcher) AddStats(s *actor.Stats) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Messages += d.gone.Messages
	s.Turns += d.gone.Turns
	s.Parks += d.parks
	s.Wakes += d.wakes
	s.Workers += d.workers
	for w := range d.all {
		w.tally.AddTo(s)
	}
}

// schedule queues an actor that has become ready. A worker that does so in a
// turn takes the actor itself afterwards, so no other one is woken for the
// first one that is ready: that would cost more than most turns take. What is
// queued and not taken because the turn goes on for long, watchdog finds.
func (d *Dispatcher) schedule(b *box, from actor.Worker) {
	if w, ok := from.(*worker); ok {
		if w.guest != nil {
			from = nil // it takes no other actor
		}
	} else if g, ok := from.(*guest); ok {
		if g.keep(b) {
			return
		}
		from = nil
	}
	d.mu.Lock()
	d.ready.Push(b)
	helped := (from == nil || d.ready.Len() > 1) && d.help()
	if !helped || d.ready.Len() > 1 {
		d.watch()
	}
	d.mu.Unlock()
}

// help gets one more worker to work, if there may be one more, and reports
// whether it did. mu is held.
func (d *Dispatcher) help() bool {
	switch {
	case len(d.idle) > 0:
		d.wakeIdle()
		return true
	case d.workers-d.blocked-d.stuck < d.target && d.workers < d.most:
		d.workers++
		d.wakes++
		w := &worker{d: d, wake: make(chan struct{}, 1)}
		d.all[w] = struct{}{}
		go w.run()
		return true
	}
	return false
}

// wakeIdle wakes the worker that parked last. mu is held, and a worker is parked.
func (d *Dispatcher) wakeIdle() {
	w := d.idle[len(d.idle)-1]
	d.idle = d.idle[:len(d.idle)-1]
	d.wakes++
	w.wake <- struct{}{}
}

// nudge gets an idle worker to work if an actor is ready.
func (d *Dispatcher) nudge() {
	d.mu.Lock()
	if d.ready.Len() > 0 {
		d.help()
	}
	d.mu.Unlock()
}

// watch sets the timer. It is called whenever an actor is ready and no worker is
// on its way to it but those that are in a turn. mu is held.
func (d *Dispatcher) watch() {
	if d.watching {
		return
	}
	d.watching = true
	d.lastSeen = d.taken
	if d.timer == nil {
		d.timer = time.AfterFunc(period, d.watchdog)
	} else {
		d.timer.Reset(period)
	}
}

// watchdog is what the timer calls: if actors are ready and none was taken for a
// whole period, the workers are busy or blocked, and as many more are
// brought in.
func (d *Dispatcher) watchdog() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watching = false
	if d.stopping || d.ready.Len() == 0 {
		return
	}
	if d.taken == d.lastSeen {
		if len(d.idle) == 0 {
			d.stuck = d.workers - d.blocked
		}
		for range min(d.target, d.ready.Len()) {
			d.help()
		}
	}
	d.watch()
}

// pause and resume surround a wait of w in SendWait.
func (w *worker) pause() {
	if w.guest != nil {
		w.guest.of.TurnWaits()
		return
	}
	d := w.d
	d.mu.Lock()
	d.blocked++
	if d.ready.Len() > 0 {
		d.help()
	}
	d.mu.Unlock()
}

func (w *worker) resume() {
	if w.guest != nil {
		return
	}
	d := w.d
	d.mu.Lock()
	d.blocked--
	d.mu.Unlock()
}

// run is the life of a worker's goroutine.
func (w *worker) run() {
	returned := false
	defer func() {
		if !returned {
			// An actor has called Goexit, which ends this goroutine; another one
			// goes on in its place.
			w.settle()
			go w.run()
		}
	}()
	for w.serve() {
		w.settle()
	}
	returned = true
}

// serve runs turns until the worker is to end, and returns false; or until a turn
// does not return: then box and verdict say how it has ended, and if that was a panic
// serve returns true.
//
// One deferred function is there for all turns, since what it shares with this one
// costs TinyGo four allocations each time that it is deferred.
func (w *worker) serve() (again bool) {
	d := w.d
	var msg any     // what is being handled
	var inTurn *box // the actor in whose turn this is
	defer func() {
		if inTurn != nil {
			w.box, w.verdict = inTurn, inTurn.cell.Caught(&w.tally, msg, recover())
			again = true
		}
	}()
	d.mu.Lock()
	for {
		b := d.take(w)
		if b == nil {
			return false
		}
		inTurn = b
		v := b.turn(w, &msg)
		inTurn = nil
		ready := b.rest(v)
		invariants.Window()
		d.mu.Lock()
		if ready {
			d.ready.Push(b)
		}
	}
}

// settle acts on the verdict of a turn that has not returned.
func (w *worker) settle() {
	b, v := w.box, w.verdict
	w.box = nil
	if b.rest(v) {
		w.d.mu.Lock()
		w.d.ready.Push(b)
		w.d.mu.Unlock()
	}
}

// take returns the next actor, for which it parks the worker if need be, or
// nil if the worker is to end. mu is held at the call and not afterwards.
func (d *Dispatcher) take(w *worker) *box {
	for {
		if d.ready.Len() > 0 {
			b := d.ready.Pop()
			d.taken++
			if d.ready.Len() > 0 {
				if len(d.idle) > 0 {
					d.wakeIdle()
				}
				d.watch()
			}
			d.mu.Unlock()
			return b
		}
		if d.stuck > 0 {
			d.stuck-- // one of those taken for stuck, or one in its place
		}
		w.tally.Publish()
		if d.stopping || len(d.idle) >= d.target {
			d.leave(w)
			return nil
		}
		d.idle = append(d.idle, w)
		d.parks++
		d.mu.Unlock()
		invariants.Window()
		<-w.wake
		d.mu.Lock()
	}
}

// leave ends a worker. mu is held at the call and not afterwards.
func (d *Dispatcher) leave(w *worker) {
	d.workers--
	delete(d.all, w)
	w.tally.AddTo(&d.gone)
	done := d.done
	if d.workers > 0 {
		done = nil
	}
	if invariants.Enabled && done != nil && d.ready.Len() > 0 {
		invariants.Violated("lockbased", "no actor is ready when the last worker leaves")
	}
	d.mu.Unlock()
	if done != nil {
		done()
	}
}
