package workstealing

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

const (
	// streak is how many turns in a row a worker gives to actors in its next
	// slot before those in the queue have theirs: two actors that only talk to
	// each other must not keep a processor for ever.
	streak = 64

	// outside is how many turns a worker gives to its own queue before it
	// looks into the injector, as in Go's scheduler: a prime, so that it does
	// not fall in step with the program.
	outside = 61

	// peeks is how often a worker without work looks around before it parks,
	// giving up its processor in between. Few: more did not make any workload
	// faster, and a second thread that is awake costs latency, as the operating
	// system now and then puts it where the first one runs: with 32 instead of 4
	// the mean backlog of latency100k was 2 to 40 times as long.
	peeks = 4

	// worthwhile is the time in nanoseconds that the actors in a worker's queue
	// must take, as far as one can tell, before another worker is woken for
	// them. A woken worker comes some 5 to 50 µs later, and actors that talk to
	// each other from two processors send twice as slowly as from one: measured,
	// count ran in 18 ns a message on one and 30 on two, fanin in 18 and 34.
	worthwhile = 50_000

	// many is how many messages a turn may send to the actor that runs next
	// before others are offered it, if turns are short: 4,096 sends take about
	// as long as worthwhile says.
	many = 4096

	// patrol is the time between two looks for workers that are stuck in a
	// handler, and for actors that have waited since the last look. An idle Go
	// program's timers are good for about a millisecond.
	patrol = time.Millisecond
)

// Dispatcher runs actors on workers with a ready queue each, which steal from
// one another. Make one with [NewDispatcher].
type Dispatcher struct {
	cfg     Config // never written after Start
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
	_       [64]byte // read for every message, written rarely

	inj   entrance
	ranks ranks // in place of all other queues, with the strategy Priority

	workers atomic.Pointer[[]*runner] // all there are, for thieves

	mu      sync.Mutex // guards what follows, and the writing of workers
	parked  []*runner  // who parked last is last, and is woken first
	running int        // workers that have not ended
	blocked int        // of these, those that wait in SendWait
	stop    func()     // done, once Stop was called

	rescuing int       // rescuers that have been roused and not begun to look
	patience time.Time // no rescuers before; see arrived

	made    uint64      // workers ever made
	retired actor.Tally // what the workers that have ended had counted

	stopping atomic.Bool
	timer    *time.Timer // the patrol's
	reaper   *time.Timer // see reap
	reaps    bool        // reaper is set

	// self is what the timers hold of the dispatcher. Package time may keep a
	// timer that was stopped for as long as it would have run, so Stop takes it
	// away from them.
	self *atomic.Pointer[Dispatcher]
}

// after is time.AfterFunc for what is done to a dispatcher until Stop.
func after(t time.Duration, self *atomic.Pointer[Dispatcher], do func(*Dispatcher)) *time.Timer {
	return time.AfterFunc(t, func() {
		if d := self.Load(); d != nil {
			do(d)
		}
	})
}

// NewDispatcher returns a dispatcher for one system, with the default [Config].
func NewDispatcher() *Dispatcher { return NewDispatcherWith(Config{}) }

// NewDispatcherWith returns a dispatcher for one system. If cfg cannot be used,
// Start, and with it actor.NewSystem, returns a [*ConfigError].
func NewDispatcherWith(cfg Config) *Dispatcher {
	d := &Dispatcher{cfg: cfg}
	d.workers.Store(new([]*runner))
	return d
}

var _ actor.Dispatcher = (*Dispatcher)(nil)

// Start implements [actor.Dispatcher]. Workers are started when there is work.
func (d *Dispatcher) Start() error {
	if d.started.Swap(true) {
		return errors.New("workstealing: a dispatcher serves one system, once")
	}
	if err := d.cfg.complete(); err != nil {
		return err
	}
	d.spare.Store(int32(d.cfg.Parallelism))
	d.self = new(atomic.Pointer[Dispatcher])
	d.self.Store(d)
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
	for _, t := range []*time.Timer{d.timer, d.reaper} {
		if t != nil {
			t.Stop()
		}
	}
	if d.self != nil {
		d.self.Store(nil)
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
	w, inside := from.(*runner)
	switch {
	case d.cfg.Strategy == Priority:
		d.ranks.push(b)
		d.alert()
	case inside && w.d == d:
		if old := w.next.Swap(b); old != nil {
			w.push(old)
		}
		if d.cfg.Strategy == WorkConserving {
			d.alert()
		} else if !d.patrols.Load() {
			d.arm() // should the sender's handler block, b waits here, and so may old
		}
	default:
		d.inj.push(b)
		d.alert()
	}
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

// rouse wakes a parked worker or starts one, which then counts as looking. The
// caller has raised watch for it. A rescuer may be one more than Parallelism
// says, and takes work from those who are stuck.
//
// If there is none to be had after all – spare is read without the mutex – then
// nobody looks, and others may have relied on watch meanwhile: it arms the
// patrol. Else it does not: setting a timer wakes a thread, which would be in the
// way of messages that come one by one from outside, and behind them nothing
// waits.
func (d *Dispatcher) rouse(rescuer bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var w *runner
	switch n := len(d.parked); {
	case d.stopping.Load():
	case n > 0:
		w = d.parked[n-1]
		d.parked = d.parked[:n-1]
		w.asleep = false
		d.appoint(w, rescuer)
		w.wake <- struct{}{}
	case d.running < d.cfg.MaxWorkers && (rescuer || d.running-d.blocked < d.cfg.Parallelism):
		d.made++
		w = newRunner(d, d.made)
		d.appoint(w, rescuer)
		d.running++
		old := *d.workers.Load()
		ws := append(old[:len(old):len(old)], w)
		d.workers.Store(&ws)
		go w.main()
	}
	if w == nil {
		d.watch.Add(-1)
		d.set()
		return
	}
	d.count()
}

// appoint says whether w is roused as a rescuer. mu is held.
func (d *Dispatcher) appoint(w *runner, rescuer bool) {
	if w.rescuer = rescuer; rescuer {
		d.rescuing++
		w.roused = time.Now()
	}
}

// arrived is called by a rescuer when it begins to look. If it had to wait for a
// processor, those it was roused for may not be stuck but wait for one as
// well: more workers would only make it worse, so there will be none for several
// times as long as it has waited.
func (d *Dispatcher) arrived(w *runner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rescuing--
	if now := time.Now(); now.Sub(w.roused) > patrol/2 {
		d.patience = now.Add(8 * now.Sub(w.roused))
	}
}

// count brings spare up to date. mu is held.
func (d *Dispatcher) count() {
	if invariants.Enabled && len(d.parked) > d.running {
		invariants.Violated("workstealing", "no more workers are parked than there are")
	}
	missing := min(d.cfg.Parallelism-(d.running-d.blocked), d.cfg.MaxWorkers-d.running)
	d.spare.Store(int32(len(d.parked) + max(0, missing)))
}

// keep sees to it that w, which has just parked, is let go when nobody has
// needed it for KeepAlive. mu is held.
func (d *Dispatcher) keep(w *runner) {
	w.idle = time.Now()
	if d.reaps || d.running <= d.cfg.MinWorkers {
		return
	}
	d.reaps = true
	if d.reaper == nil {
		d.reaper = after(d.cfg.KeepAlive, d.self, (*Dispatcher).reap)
	} else {
		d.reaper.Reset(d.cfg.KeepAlive)
	}
}

// reap lets the workers go that have been parked for KeepAlive, but for the last
// MinWorkers.
func (d *Dispatcher) reap() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reaps = false
	now, surplus := time.Now(), d.running-d.cfg.MinWorkers
	gone := 0
	for _, w := range d.parked { // who parked first is first
		left := d.cfg.KeepAlive - now.Sub(w.idle)
		if gone == surplus || d.stopping.Load() {
			break
		}
		if left > 0 {
			d.reaps = true
			d.reaper.Reset(left)
			break
		}
		gone++
		w.asleep, w.retired = false, true
		w.wake <- struct{}{}
	}
	d.parked = append(d.parked[:0], d.parked[gone:]...)
	d.count()
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
		d.timer = after(patrol, d.self, (*Dispatcher).round)
	} else {
		d.timer.Reset(patrol)
	}
}

// round is one patrol. It looks for workers that are stuck in a handler, that
// is, have ended no turn since the last round, while actors wait in their
// queues or at the entrance: for each of them one more worker is woken, or
// started, to take those actors. And it looks for actors that have waited since
// the last round because nobody was woken for them (see worthwhile). As long as
// anybody makes progress or anything waits there will be another round.
func (d *Dispatcher) round() {
	d.mu.Lock()
	stuck, moved, late, work := 0, false, false, d.queued()
	for _, w := range *d.workers.Load() {
		if w.asleep {
			continue
		}
		if w.asked.Swap(true) {
			stuck++
			work = work || w.stock()
			continue
		}
		moved = true
		head := w.queue.head.Load()
		late = late || w.queue.len() > 0 && head == w.head || w.pays()
		w.head = head
	}
	if d.stopping.Load() || !moved && !work {
		d.patrols.Store(false)
		// A sender that saw the patrol set may have come after the look above.
		again := d.queued()
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
	if d.rescuing > 0 || time.Now().Before(d.patience) {
		stuck = 0
	}
	d.mu.Unlock()
	if late {
		d.alert()
	}
	for ; work && stuck > 0; stuck-- {
		d.watch.Add(1)
		d.rouse(true)
	}
}

// queued reports whether an actor waits in a queue that is not a worker's.
func (d *Dispatcher) queued() bool { return !d.inj.empty() || !d.ranks.empty() }

// visible reports whether there is an actor that a looking worker should take.
func (d *Dispatcher) visible() bool {
	if d.queued() {
		return true
	}
	for _, w := range *d.workers.Load() {
		if w.pays() {
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
