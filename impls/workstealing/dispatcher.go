package workstealing

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
)

const (
	// ringSize is the capacity of a worker's ready queue, a power of two. What
	// does not fit goes to the injector, half of the queue at once.
	ringSize = 256

	// streak is how many turns in a row a worker gives to actors in its next
	// slot before those in the queue have theirs: two actors that only talk to
	// each other must not keep a processor for ever.
	streak = 64

	// outside is how many turns a worker gives to its own queue before it
	// looks into the injector, as in Go's scheduler: a prime, so that it does
	// not fall in step with the program.
	outside = 61

	// peeks is how often a worker without work looks around before it parks.
	peeks = 32

	// patrol is the time between two looks for workers that are stuck in a
	// handler. An idle Go program's timers are good for about a millisecond.
	patrol = time.Millisecond
)

// Dispatcher runs actors on workers with a ready queue each, which steal from
// one another. Make one with [NewDispatcher].
type Dispatcher struct {
	started atomic.Bool

	// watch is the number of workers that look for work. It hands the duty to
	// look, as Pool.watch does: whoever makes work visible reads it afterwards
	// and wakes a worker at 0; whoever stops looking lowers it first and looks
	// once more afterwards.
	watch atomic.Int32

	// spare is how many workers could be woken or started: those that are
	// parked, and those that are missing from one for each processor.
	spare atomic.Int32

	// patrols says that the patrol's timer is set.
	patrols atomic.Bool
	_       [52]byte // read for every message, written rarely

	inj entrance

	workers atomic.Pointer[[]*runner] // all there are, for thieves

	mu      sync.Mutex // guards what follows, and the writing of workers
	parked  []*runner
	running int         // workers that have not ended
	blocked int         // of these, those that wait in SendWait
	procs   int         // workers that are not blocked there should be
	stop    func()      // done, once Stop was called
	made    uint64      // workers ever made
	retired actor.Tally // what the workers that have ended had counted

	stopping atomic.Bool
	timer    *time.Timer
}

// NewDispatcher returns a dispatcher for one system.
func NewDispatcher() *Dispatcher {
	d := new(Dispatcher)
	d.workers.Store(new([]*runner))
	return d
}

var _ actor.Dispatcher = (*Dispatcher)(nil)

// Start implements [actor.Dispatcher]. Workers are started when there is work.
func (d *Dispatcher) Start() error {
	if d.started.Swap(true) {
		return errors.New("workstealing: a dispatcher serves one system, once")
	}
	d.procs = runtime.GOMAXPROCS(0)
	d.spare.Store(int32(d.procs))
	return nil
}

// Attach implements [actor.Dispatcher].
func (d *Dispatcher) Attach(cfg actor.MailboxConfig) actor.Port {
	b := &box{d: d}
	switch {
	case cfg.Priority != nil, cfg.Policy != actor.Unbounded && cfg.Policy != actor.Grow:
		b.bounded = newBounded(cfg)
	case cfg.Capacity > 0:
		b.in = make([]any, 0, cfg.Capacity)
	}
	return b
}

// Stop implements [actor.Dispatcher].
func (d *Dispatcher) Stop(done func()) {
	d.mu.Lock()
	d.stop = done
	d.stopping.Store(true)
	parked := d.parked
	d.parked = nil
	none := d.running == 0
	if d.timer != nil {
		d.timer.Stop()
	}
	d.mu.Unlock()
	for _, w := range parked {
		w.wake <- struct{}{}
	}
	if none {
		done()
	}
}

// AddStats implements [actor.Dispatcher].
func (d *Dispatcher) AddStats(s *actor.Stats) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retired.AddTo(s)
	for _, w := range *d.workers.Load() {
		w.tally.AddTo(s)
	}
	s.Workers += d.running
}

// schedule makes b, which the caller has set to scheduled, ready to run: next
// on the worker from, if it is not nil.
func (d *Dispatcher) schedule(b *box, from actor.Worker) {
	if w, ok := from.(*runner); ok && w.d == d {
		if old := w.next.Swap(b); old != nil {
			w.push(old)
		} else if !d.patrols.Load() {
			d.arm() // should the sender's handler block, b waits here
		}
		return
	}
	d.inj.push(b)
	d.alert()
}

// alert wakes or starts a worker, unless one is looking for work already. It is
// called after work became visible.
func (d *Dispatcher) alert() {
	if d.spare.Load() <= 0 {
		if !d.patrols.Load() {
			d.arm() // all are busy; or stuck
		}
		return
	}
	if d.watch.Load() == 0 && d.watch.CompareAndSwap(0, 1) {
		d.rouse(false)
	}
}

// rouse wakes a parked worker or starts one, which then counts as looking; if
// there is none to be had nobody does. The caller has raised watch for it. A
// rescuer may be one too many, and takes work from those who are stuck.
func (d *Dispatcher) rouse(rescuer bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var w *runner
	switch n := len(d.parked); {
	case d.stopping.Load():
	case n > 0:
		w = d.parked[n-1]
		d.parked = d.parked[:n-1]
		w.asleep, w.rescuer = false, rescuer
		w.wake <- struct{}{}
	case rescuer || d.running-d.blocked < d.procs:
		w = &runner{d: d, wake: make(chan struct{}, 1), rescuer: rescuer}
		d.made++
		w.rng = d.made * 0x9e3779b97f4a7c15
		d.running++
		old := *d.workers.Load()
		ws := append(old[:len(old):len(old)], w)
		d.workers.Store(&ws)
		go w.main()
	}
	if w == nil {
		d.watch.Add(-1)
		return
	}
	d.count()
	d.set()
}

// count brings spare up to date. mu is held.
func (d *Dispatcher) count() {
	d.spare.Store(int32(len(d.parked) + max(0, d.procs-(d.running-d.blocked))))
}

// arm sees to it that somebody looks for stuck workers.
func (d *Dispatcher) arm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set()
}

// set is arm with mu held.
func (d *Dispatcher) set() {
	if d.patrols.Load() || d.stopping.Load() {
		return
	}
	d.patrols.Store(true)
	if d.timer == nil {
		d.timer = time.AfterFunc(patrol, d.round)
	} else {
		d.timer.Reset(patrol)
	}
}

// round is one patrol: it looks for workers that are stuck in a handler, that
// is, have published no turn since the last round, while actors wait in their
// queues or at the entrance. For each of them one more worker is started, or
// woken, to take those actors. As long as anybody makes progress or anything
// waits there will be another round.
func (d *Dispatcher) round() {
	d.mu.Lock()
	stuck, moved, work := 0, false, !d.inj.empty()
	for _, w := range *d.workers.Load() {
		var s actor.Stats
		w.tally.AddTo(&s)
		switch now := s.Turns + s.Parks; {
		case now != w.seen:
			w.seen, moved = now, true
		case !w.asleep:
			stuck++
			work = work || w.stock()
		}
	}
	if d.stopping.Load() || !moved && !work {
		d.patrols.Store(false)
		// A sender that saw the patrol set may have come after the look above.
		again := !d.inj.empty()
		for _, w := range *d.workers.Load() {
			again = again || w.stock()
		}
		if again {
			d.set()
		}
		d.mu.Unlock()
		return
	}
	d.timer.Reset(patrol)
	d.mu.Unlock()
	for ; work && stuck > 0; stuck-- {
		d.watch.Add(1)
		d.rouse(true)
	}
}

// visible reports whether there is an actor that a looking worker could take.
func (d *Dispatcher) visible() bool {
	if !d.inj.empty() {
		return true
	}
	for _, w := range *d.workers.Load() {
		if w.queue.len() > 0 {
			return true
		}
	}
	return false
}

// entrance is the queue of actors that are scheduled from outside, or that a
// worker's own queue has no place for: first in, first out.
type entrance struct {
	size atomic.Int32 // of the queue; raised before the mutex is released

	mu          sync.Mutex // hands actors from who pushes to who pops
	first, last *box
}

func (e *entrance) push(b *box) {
	e.mu.Lock()
	if e.last == nil {
		e.first = b
	} else {
		e.last.next = b
	}
	e.last = b
	e.size.Add(1)
	e.mu.Unlock()
}

func (e *entrance) pop() *box {
	if e.empty() {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.first
	if b == nil {
		return nil
	}
	if e.first = b.next; e.first == nil {
		e.last = nil
	}
	b.next = nil
	e.size.Add(-1)
	return b
}

func (e *entrance) empty() bool { return e.size.Load() == 0 }
