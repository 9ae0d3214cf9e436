package workstealing

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/internal/invariants"
)

const (
	// period is the longest that a job that goes on keeps others waiting which no worker is
	// woken for. The watchdog sees it at the second of two looks, so there are two in it.
	// (An idle Go program's timers have a resolution of about a millisecond.)
	period = time.Millisecond
	look   = period / 2

	// slice is the time from which on a yield has let something run that was not about
	// to yield as well: less than a turn of an actor that has many messages.
	slice = 20 * time.Microsecond

	// patience is the most turns that a new worker leaves to those that are busy
	// with tasks which wait for one another, or with long jobs, before it takes over other work (see
	// Pool.await). Such a turn is a time slice of Go's scheduler, 10 ms. It
	// leaves one to each that there is, up to this: so in a second of such work there
	// are some 14 workers more, and not one each slice.
	patience = 32
)

// apart is 1, and 0 with TinyGo, whose programs have one processor and little memory: they
// need no bytes between what different processors write.
const apart = len("gc") / len(runtime.Compiler)

// runnable is what a pool runs: an actor, whose run is a turn; a group, whose run is
// a task, the argument; a future.
type runnable interface {
	run(w *worker, arg any)

	// recovers says whether a panic of run is recovered.
	recovers() bool

	// caught takes the place of run's end if it panicked, with the value recovered,
	// or, if that is nil, called runtime.Goexit, or panicked and is not to be
	// recovered. The deferred function that has recovered calls it.
	caught(w *worker, recovered any)
}

// job is a runnable that is ready. The zero job is none.
type job struct {
	r   runnable
	arg any // a func or nil: neither allocates
}

func (j job) none() bool { return j.r == nil }

// Pool is a set of workers that run actors, the tasks of groups, and futures: of
// any number of [Dispatcher]s, [Group]s and [Executor]s of one program. Make one
// with [NewPool]. All methods may be called by any goroutine.
//
// A pool has as many workers as can make progress, and no goroutine while it has
// nothing to do; there is nothing to close.
type Pool struct {
	cfg   Config // never written after it was made
	fresh func() // work, searching; a value, to start a goroutine without allocating a closure
	later func() // the same, standing by

	// search packs round<<20 | searching. (With 32 bits each, a processor of 32 bits has to
	// disable interrupts to read it before every job.)
	//
	// searching is the number of workers that look for a job or are about to: looking, or
	// started from outside or by the watchdog, which is to say that a processor comes to them
	// next. None of them yields. It hands the duty to look from the sender that has made a job
	// visible to a worker, see LIVENESS.md.
	//
	// round is raised by a new worker that wants to know who is making progress;
	// a worker that takes its first job in a round counts itself in loops or joins.
	// It has 12 bits: one that took no job for 4,096 rounds may take a new one for its own,
	// and is counted a round later.
	search atomic.Uint32

	// armed says that the watchdog's timer is set.
	armed atomic.Bool
	_     [51 * apart]byte // read for every job, written rarely

	// loops and joins count the workers that have begun a job in this round,
	// loops those that were between two jobs, and joins those that did so in a
	// task that waits.
	loops, joins atomic.Int32

	// standby is 1 while there is a goroutine that is going to look when it is given a
	// processor and does not search until then: what workers leave, should they block. A job
	// from outside does not wait for it.
	standby atomic.Int32
	_       [52 * apart]byte

	inject inject
	ranks  *ranks // in place of all other queues, with the strategy Priority; else nil

	rows   atomic.Pointer[[]*row] // places of all workers, for thieves
	active atomic.Int32           // the workers that have a goroutine; written under mu
	stuck  atomic.Int32           // of these, those that are marked stuck

	// waiting is how many of these wait in a call of this package, for room in a mailbox
	// or for a future, as block says before and unblock after it: await need not find out.
	waiting atomic.Int32

	mu     sync.Mutex // guards what follows and the writing of rows and active
	parked []*worker  // workers without a goroutine; who parked last is last
	holes  []place    // of workers that were dropped
	spare  sync.Pool  // these, until the collector takes them: where many jobs block they are wanted again soon
	made   uint32     // workers ever made

	// again hands a start to one of the goroutines that rest, resting of them, or, with
	// notAtAll, their end. It is made for the first, with room for all there may be.
	again   chan start
	resting int // guarded by mu, as again

	// rests is whether goroutines that have nothing to do rest: those of a dispatcher's own
	// pool, which is closed. Else they end. frugal is whether memory is dear: with TinyGo.
	rests, frugal bool

	reaps bool // reaper is set; guarded by mu

	waits sync.Mutex // guards every wait, and Own and Link of the tasks' rooms

	timer  *time.Timer // the watchdog's
	reaper *time.Timer // see reap

	running atomic.Int32 // goroutines
	closed  atomic.Bool  // see close
	done    func()       // set before closed, nil after it was called; guarded by mu

	// self is what the timers hold of the pool. Package time may keep a
	// timer that was stopped for as long as it would have run, so close takes it
	// away from them.
	self *atomic.Pointer[Pool]
}

// NewPool returns a pool without workers. If cfg cannot be used the error is a
// [*ConfigError].
func NewPool(cfg Config) (*Pool, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	p := &Pool{cfg: cfg, self: new(atomic.Pointer[Pool])}
	p.self.Store(p)
	p.fresh, p.later = func() { p.work(searches) }, func() { p.work(standsBy) }
	p.frugal = runtime.Compiler != "gc"
	p.rests = p.frugal
	p.inject.init()
	if cfg.Strategy == Priority {
		p.ranks = new(ranks)
		p.ranks.init()
	}
	p.rows.Store(&noRows)
	return p, nil
}

// newPool returns a pool with the default configuration, but that it keeps parked
// workers for as long as it lives.
func newPool() *Pool {
	p, err := NewPool(Config{})
	if err != nil {
		panic(err) // the default can be used
	}
	p.cfg.KeepAlive = 0            // no timers
	p.rests = false                // and no goroutine that rests: nothing closes it
	p.cfg.QueueCapacity = maxQueue // tasks may start many others before they wait for them
	return p
}

// submit makes j, which comes from outside, ready to run.
func (p *Pool) submit(j job) {
	p.inject.push(j)
	p.wake()
}

// share makes b ready to run on any worker; inside says that a worker of the pool does so.
func (p *Pool) share(b *box, inside bool) {
	if p.ranks == nil {
		p.submit(job{r: b})
		return
	}
	p.ranks.push(b)
	if inside {
		p.standBy()
	} else {
		p.wake()
	}
}

const oneRound = 1 << 20 // the lowest bit of round in Pool.search

func searching(search uint32) uint32 { return search % oneRound }

func round(search uint32) uint32 { return search / oneRound }

// wake starts a worker now, unless one is searching already. It is called after a job became
// visible that no worker is going to reach: by a sender from outside, who is about to give
// up its processor as a rule, and by the watchdog.
func (p *Pool) wake() {
	for {
		v := p.search.Load()
		if searching(v) != 0 {
			return
		}
		if p.full() {
			p.arm() // all are busy; or stuck
			return
		}
		if p.search.CompareAndSwap(v, v+1) { // fails also if only the round changed
			p.launch(searches)
			return
		}
	}
}

// standBy starts a goroutine that stands by, unless there is one or a worker is searching. It is
// called by a worker that leaves a visible job behind, and goes on for as long as it likes.
func (p *Pool) standBy() {
	switch {
	case searching(p.search.Load()) != 0 || p.standby.Load() != 0:
	case p.full():
		p.arm()
	case p.standby.CompareAndSwap(0, 1):
		p.launch(standsBy)
	}
}

// full reports whether there are as many workers as there may be.
func (p *Pool) full() bool {
	n := int(p.active.Load())
	return n >= p.cfg.MaxWorkers || p.cfg.Parallelism > 0 && n-int(p.stuck.Load()) >= p.cfg.Parallelism
}

// start is how a goroutine begins.
type start byte

const (
	notAtAll start = iota
	searches       // it looks
	standsBy       // it stands by
)

// launch has a goroutine work: one that rests, or a new one.
func (p *Pool) launch(how start) {
	p.running.Add(1)
	if p.rests {
		p.mu.Lock()
		rested := p.resting > 0
		if rested {
			p.resting--
			p.again <- how // there is room: no more rest than it has
		}
		p.mu.Unlock()
		if rested {
			return
		}
	}
	if how == searches {
		go p.fresh()
	} else {
		go p.later()
	}
}

// rest waits for the next launch and returns how it begins, where goroutines are not
// left to end: for as many as run at a time.
func (p *Pool) rest() start {
	p.mu.Lock()
	rests := p.seat()
	p.mu.Unlock()
	if !rests {
		return notAtAll
	}
	return <-p.again // nothing writes the field any more
}

// seat counts the caller among the goroutines that rest, if it may, and reports whether it did. mu is held.
func (p *Pool) seat() bool {
	if !p.rests || p.closed.Load() {
		return false
	}
	if p.again == nil {
		p.again = make(chan start, p.cfg.atATime())
	}
	if p.resting == cap(p.again) {
		return false
	}
	p.resting++
	return true
}

// work is the life of a worker's goroutine.
func (p *Pool) work(how start) {
	deep := p.frugal // with TinyGo a stack is as large as it is
	for how != notAtAll {
		if p.begin(how) {
			if !deep {
				deepen()
				deep = true
			}
			how = <-p.again
		} else {
			how = p.rest()
		}
	}
}

// begin has the goroutine be a worker until there are no jobs for it, and reports whether it is
// counted among those that rest.
func (p *Pool) begin(how start) (rests bool) {
	extra := false
	if how == standsBy {
		var needed bool
		if needed, extra = p.await(); !needed {
			p.exit()
			return false
		}
	}
	if w := p.unpark(); w != nil {
		n := int(p.active.Load() - p.waiting.Load())
		w.extra = extra || how == searches && n > 1 && n > p.cfg.atATime() // which takes a lock of Go's scheduler
		return w.loop(w.look(), true)
	}
	// There are as many as there may be after all: who has stopped since and
	// found this one searching has left the rest to it.
	p.search.Add(^uint32(0))
	p.arm()
	p.exit()
	return false
}

// deepen has the goroutine's stack grow while there is next to nothing on it. A new one has 2 KiB,
// on which a handler that sends to another process does not fit, and Go copies what
// is on a stack that it lets grow: with a handler that took 1.3 µs, and a message
// to another process and its reply a sixth more time. One that does not rest, as where many jobs
// block, has no use for it.
//
//go:noinline
func deepen() {
	var b [2000]byte
	touch(&b)
}

// touch keeps b on the stack.
//
//go:noinline
func touch(b *[2000]byte) { b[0] = 1 }

// await is the life of a goroutine that stands by. It reports whether that ends with its
// being a worker that searches, or else for lack of work, and whether that worker is an extra one.
//
// It was made runnable when a worker left work behind, and it runs now: as a rule because a
// running job blocked, since Go's scheduler then gives the processor to the next goroutine,
// this one. (That is how the pool learns of a blocked job, at no cost while none blocks.) But it
// also runs when a worker's time slice ended. So, unless there are fewer workers that
// do not wait than processors, it counts those that began a job since it last looked. If they are as many
// as processors, it lets them go on and looks again later. If they are fewer, it
// yields: where a worker has blocked the processor is free, and the yield is over at
// once; where one computes it goes on for a slice. After that it takes over for a while what has
// waited meanwhile, but forks.
//
// A task that joins others may run them on its worker for ever and look at nothing
// else, and what others do with the processors is not the pool's to know: it leaves them
// a few turns only.
func (p *Pool) await() (search, extra bool) {
	procs := int32(p.cfg.atATime())
	for turn := int32(0); ; turn++ {
		loops, joins := p.loops.Swap(0), p.joins.Swap(0)
		p.search.Add(oneRound)
		need := demand(turn, p.active.Load()-p.waiting.Load(), loops, joins, procs)
		if need != needed {
			if !p.visible() {
				if p.standDown() {
					return false, false
				}
				continue
			}
			begun := time.Now()
			runtime.Gosched()
			took := time.Since(begun)
			if need == unknown && took < slice {
				need = needed
			}
			extra = need != needed && took >= period && p.hurries()
		}
		if need == needed || extra {
			p.search.Add(1) // before it stops to stand by: a worker that leaves a job sees one of the two
			p.standby.Store(0)
			return true, extra
		}
	}
}

// standDown ends a standby, and reports whether it did: not if there is a job now, and no other
// goroutine has begun to stand by for it.
func (p *Pool) standDown() bool {
	p.standby.Store(0)
	invariants.Window() // what comes now is left to the look below
	return !p.visible() || !p.standby.CompareAndSwap(0, 1)
}

// necessity says whether a new worker is needed, as far as it can tell in one of its turns.
type necessity int

const (
	needed   necessity = iota
	unneeded           // the others make progress: it looks again later
	unknown            // it yields, and is needed if nothing ran meanwhile
)

// demand decides for await, after so many turns: active workers do not wait, and of these
// loops and joins have begun a job since it last looked.
func demand(turn, active, loops, joins, procs int32) necessity {
	switch {
	case active < procs || loops < procs && turn >= min(active, patience):
		return needed
	case loops+joins >= procs:
		return unneeded
	}
	return unknown
}

// exit is the end of a goroutine.
func (p *Pool) exit() {
	if p.running.Add(-1) == 0 && p.closed.Load() {
		p.end()
	}
}

// close has done called when the last goroutine ends. Nothing is ready to run, and
// nothing will be.
func (p *Pool) close(done func()) {
	p.mu.Lock()
	p.done = done
	p.closed.Store(true)
	for _, t := range []*time.Timer{p.timer, p.reaper} {
		if t != nil {
			t.Stop()
		}
	}
	p.self.Store(nil)
	for ; p.resting > 0; p.resting-- {
		p.again <- notAtAll
	}
	p.mu.Unlock()
	if p.running.Load() == 0 {
		p.end()
	}
}

// end calls done, once: the last goroutine may end while close looks for one.
func (p *Pool) end() {
	p.mu.Lock()
	done := p.done
	p.done = nil
	p.mu.Unlock()
	if done != nil {
		done()
	}
}

// visible reports whether there is a job that a searching worker should take. Who stops
// looking asks it, and relies on the answer: what is left for a worker to reach itself the
// watchdog looks after from now on, since the job that this one is in may wait for it.
func (p *Pool) visible() bool {
	if p.queued() {
		return true
	}
	for _, r := range *p.rows.Load() {
		for shown := r.shown.Load(); shown != 0; shown &= shown - 1 {
			i := bits.TrailingZeros32(shown)
			bit, at := uint32(1)<<i, &r.workers[i] // a worker's own place changes when it is dropped
			w := at.Load()
			if w == nil {
				continue
			}
			some, pays := w.waits()
			if !some {
				// The owner adds a job and then looks whether it is shown; this hides
				// it and then looks whether there is a job. One of them sees the other. It may be
				// another owner by now, who has the place of one that was dropped.
				invariants.Window()
				r.hide(bit)
				if w = at.Load(); w == nil {
					continue
				}
				if some, pays = w.waits(); some {
					r.show(bit)
				}
			}
			if pays {
				return true
			}
			if some {
				p.arm()
			}
		}
	}
	return false
}

// hurries reports whether there is a visible job that is no fork. A task that waits for a fork
// runs it itself, and one that divides what is to be done takes all there is.
func (p *Pool) hurries() bool {
	hurry := p.queued()
	for _, r := range *p.rows.Load() {
		for shown := r.shown.Load(); shown != 0 && !hurry; shown &= shown - 1 {
			w := r.workers[bits.TrailingZeros32(shown)].Load()
			hurry = w != nil && unpack(w.queue.word.Load()).flags&flagForks == 0 && w.pays()
		}
	}
	return hurry
}

// queued reports whether a job waits in a queue that is not a worker's.
func (p *Pool) queued() bool {
	return !p.inject.empty() || p.ranks != nil && !p.ranks.empty()
}

// anyWaits reports whether a job waits in any queue. Of what comes later, its sender sees to it that
// there is a look. mu is held.
func (p *Pool) anyWaits() bool {
	waits := p.queued()
	p.each(func(w *worker) { waits = waits || w.stock() })
	invariants.Window()
	return waits
}

// noRows is what a pool has that has had no worker.
var noRows []*row

// row is places for workers.
type row struct {
	// shown has a bit for each worker that may have a job for others: looking for
	// work costs as much as there are such workers, and not as many as are blocked.
	shown atomic.Uint32

	used    int // how many there have been; guarded by the pool's mutex
	workers [rowSize]atomic.Pointer[worker]
}

// rowSize is the number of places of a row: 32, and with TinyGo 8, since a place that is not
// used is memory there.
const rowSize = 8 << (2 * apart)

// show sets a bit of shown, and hide clears it. They are not Or and And, which
// TinyGo does not have for every processor; they are called when a worker
// gets its first job, or is found without one, and not for every job.
func (r *row) show(bit uint32) {
	for {
		shown := r.shown.Load()
		invariants.Window() // another one's bit may change
		if shown&bit != 0 || r.shown.CompareAndSwap(shown, shown|bit) {
			return
		}
	}
}

func (r *row) hide(bit uint32) {
	for {
		shown := r.shown.Load()
		invariants.Window() // another one's bit may change
		if shown&bit == 0 || r.shown.CompareAndSwap(shown, shown&^bit) {
			return
		}
	}
}

// unpark returns a worker for the calling goroutine, or nil if there are as many as
// there may be.
func (p *Pool) unpark() (w *worker) {
	p.mu.Lock()
	if int(p.active.Load()) < p.cfg.MaxWorkers {
		p.active.Add(1)
		if n := len(p.parked); n > 0 {
			w = p.parked[n-1]
			p.parked = p.parked[:n-1]
			w.timed = false
			w.count(wakes)
		} else {
			w = p.hire()
		}
		w.busy = true
	}
	p.mu.Unlock()
	return w
}

// hire makes a worker and gives it a place. mu is held.
func (p *Pool) hire() *worker {
	w, _ := p.spare.Get().(*worker)
	if w == nil {
		p.made++
		w = newWorker(p, uint64(p.made))
	}
	if n := len(p.holes); n > 0 {
		w.place = p.holes[n-1]
		p.holes = p.holes[:n-1]
	} else {
		rows := *p.rows.Load()
		if n := len(rows); n == 0 || rows[n-1].used == len(rows[n-1].workers) {
			rows = append(rows[:n:n], new(row))
			p.rows.Store(&rows)
		}
		r := rows[len(rows)-1]
		w.place = place{r, 1 << r.used, rowSize*(len(rows)-1) + r.used}
		r.used++
	}
	w.row.workers[w.id%rowSize].Store(w)
	return w
}

// park gives back the worker of a goroutine that is about to end, or to rest if it may, which park
// reports: without one it costs no stack. Only so many are kept: a pool in which a thousand jobs
// slept at once should not remember that for ever.
func (p *Pool) park(w *worker, mayRest bool) (rests bool) {
	w.count(parks)
	w.forget()
	var now time.Time
	if w.timed { // else nothing depends on it
		now = w.now()
	}
	p.mu.Lock()
	w.answer(now) // with mu held: the watchdog must not mark it afterwards
	w.busy = false
	p.active.Add(-1)
	if len(p.parked) < p.kept() {
		p.parked = append(p.parked, w)
		p.keep(w)
	} else {
		p.drop(w)
	}
	rests = mayRest && p.seat()
	p.mu.Unlock()
	// Who found the pool full has left it to those that are busy.
	if p.visible() {
		p.standBy()
	}
	return rests
}

// kept is how many parked workers are kept: those of two rows, and with TinyGo of one.
func (p *Pool) kept() int { return max(rowSize<<apart, p.cfg.MinWorkers) }

// drop lets go of a parked worker. Its place is used again. mu is held.
func (p *Pool) drop(w *worker) {
	w.row.workers[w.id%rowSize].Store(nil)
	p.holes = append(p.holes, w.place)
	if !p.frugal {
		w.renew()
		p.spare.Put(w)
	}
}

// keep sees to it that w, which has just parked, is let go when it was not
// needed for KeepAlive. mu is held.
func (p *Pool) keep(w *worker) {
	surplus := len(p.parked) > p.cfg.MinWorkers
	if p.cfg.KeepAlive == 0 || !surplus && !p.reaps {
		w.since = time.Time{} // a timer that is set later rings after KeepAlive
		return
	}
	w.since = time.Now()
	if p.reaps || p.closed.Load() || !surplus {
		return
	}
	p.reaps = true
	if p.reaper == nil {
		p.reaper = after(p.cfg.KeepAlive, p.self, (*Pool).reap)
	} else {
		p.reaper.Reset(p.cfg.KeepAlive)
	}
}

// reap lets go of the workers that have been parked for KeepAlive, but for the last
// MinWorkers.
func (p *Pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaps = false
	now, n := time.Now(), 0
	for surplus := len(p.parked) - p.cfg.MinWorkers; n < surplus && !p.closed.Load(); n++ {
		w := p.parked[n] // who parked first is first
		if left := p.cfg.KeepAlive - now.Sub(w.since); left > 0 {
			p.reaps = true
			p.reaper.Reset(left)
			break
		}
		p.drop(w)
	}
	p.parked = append(p.parked[:0], p.parked[n:]...)
}

// after is time.AfterFunc for what is done to a pool until it is closed.
func after(t time.Duration, self *atomic.Pointer[Pool], do func(*Pool)) *time.Timer {
	return time.AfterFunc(t, func() {
		if p := self.Load(); p != nil {
			do(p)
		}
	})
}

// arm sets the watchdog's timer.
func (p *Pool) arm() {
	if !p.armed.Load() {
		p.armNow()
	}
}

// armNow is apart from arm, which is inlined.
func (p *Pool) armNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set()
}

// set is arm with mu held. It asks, as a look does: a job that is in progress now, as a rule
// the one that has made something ready, is found stuck at the next look.
func (p *Pool) set() {
	if p.armed.Load() || p.closed.Load() {
		return
	}
	p.armed.Store(true)
	p.each(func(w *worker) {
		if w.busy {
			w.asked.Store(true)
		}
	})
	if p.timer == nil {
		p.timer = after(look, p.self, (*Pool).watch)
	} else {
		p.timer.Reset(look)
	}
}

// watch is one look of the watchdog. It marks workers that are stuck in a job, that
// is, have ended none since the last look: searching workers may take all that waits
// for such a worker, also what is to run next there. And it looks for actors
// that have waited since the last look because no worker was woken for them (see
// worthwhile). As long as any worker makes progress or anything waits there will be
// another look.
func (p *Pool) watch() {
	p.mu.Lock()
	moved, late := false, p.queued()
	p.each(func(w *worker) {
		if !w.busy {
			return
		}
		if w.asked.Swap(true) {
			w.mark()
			late = late || w.stock()
			return
		}
		moved = true
		head := unpack(w.queue.word.Load()).head
		late = late || w.queue.len() > 0 && head == w.head || w.pays()
		w.head = head
	})
	if p.closed.Load() || !moved && !late {
		invariants.Window()
		p.armed.Store(false)
		// A sender that saw the watchdog armed may have come after the look above.
		if p.anyWaits() {
			p.set()
		}
		p.mu.Unlock()
		return
	}
	p.timer.Reset(look)
	p.mu.Unlock()
	if late {
		p.wake()
	}
}

// each calls f with each worker. mu is held.
func (p *Pool) each(f func(w *worker)) {
	for _, r := range *p.rows.Load() {
		for i := range r.used {
			if w := r.workers[i].Load(); w != nil {
				f(w)
			}
		}
	}
}

// records is a record for each worker of a pool, in which it counts for one of
// those whose jobs it runs. There is no lock: a worker that waited for one would seem
// blocked in its job, and another would be started for it, to wait as well.
type records[T any] struct {
	first atomic.Pointer[recordTable[T]]
}

// recordTable has the places of records, by the workers' ids.
type recordTable[T any] struct {
	next  atomic.Pointer[recordTable[T]] // twice as large
	slots []atomic.Pointer[T]
}

// of returns the record of w, whose owner calls it.
func (r *records[T]) of(w *worker) *T {
	at, i, size := &r.first, w.id, 4
	for {
		s := at.Load()
		if s == nil {
			at.CompareAndSwap(nil, &recordTable[T]{slots: make([]atomic.Pointer[T], size)})
			continue
		}
		if i >= size {
			at, i, size = &s.next, i-size, 2*size
			continue
		}
		t := s.slots[i].Load()
		if t == nil {
			t = new(T)
			s.slots[i].Store(t) // hands it to each; no other goroutine writes to this place
		}
		return t
	}
}

// each calls f with each record there is. Any goroutine may call it.
func (r *records[T]) each(f func(*T)) {
	for s := r.first.Load(); s != nil; s = s.next.Load() {
		for i := range s.slots {
			if t := s.slots[i].Load(); t != nil {
				f(t)
			}
		}
	}
}
