package workstealing

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// batch is the most tasks a worker takes from the injector at once. With
	// it the injector's line changes hands once in 32 tasks; what a blocked
	// worker holds back from others is theirs to steal.
	batch = 32

	// crowd is the number of workers from which on most are surely blocked. A
	// worker then takes one task at a time, because what it took more would
	// have to be found among many, and stolen.
	crowd = 8

	// looks is how often a worker without work looks around before it retires.
	// Few: a worker that comes back costs 300 ns, and whoever it waits for may
	// need its processor.
	looks = 8
)

// Pool is a set of workers that run the tasks of any number of groups.
// Make one with [NewPool]. All methods may be called by any goroutine.
//
// A pool has as many workers as can make progress, and none while it has
// nothing to do; there is nothing to close.
type Pool struct {
	inj   injector
	start func() // work; a value, to start a goroutine without allocating a closure

	// watch packs round<<32 | lookers.
	//
	// lookers is the number of workers that look for a task or are about to:
	// started and not yet scheduled, or looking around. It hands the duty to
	// look from a submitter to a worker. The rule that keeps tasks from being
	// forgotten: whoever makes work visible reads lookers afterwards and starts
	// a worker at 0; whoever stops looking lowers lookers first and looks once
	// more afterwards. One of the two sees the other.
	//
	// round is raised by a new worker that wants to know who is making progress;
	// a worker that takes its first task in a round counts itself in movers.
	watch atomic.Uint64
	_     [56]byte // read for every task, written rarely

	movers atomic.Int32
	_      [60]byte

	// workers is every slot that has ever been in use and was not trimmed,
	// for thieves. The slice grows in place; a reader keeps the length it saw.
	workers atomic.Pointer[[]*worker]

	// active is the number of slots that have a goroutine; written under mu.
	active atomic.Int32

	mu     sync.Mutex // guards what follows and the writing of workers and active
	parked []*worker  // slots without a goroutine
}

// NewPool returns a pool without workers.
func NewPool() *Pool {
	p := new(Pool)
	p.start = p.work
	p.inj.init()
	p.workers.Store(new([]*worker))
	return p
}

// shared is the pool of the groups that are made without one.
var shared = NewPool()

// worker is a slot for a goroutine that runs tasks. The slot outlives the
// goroutine: it is parked without one, and costs no stack then.
type worker struct {
	deque
	_ [40]byte // the next worker's owner must not share the line

	pool  *Pool
	rng   uint64 // xorshift state; owner only
	round uint32 // the last round in which the worker counted itself; owner only
	_     [40]byte
}

// submit queues t and sees to it that somebody looks for it.
func (p *Pool) submit(t job) {
	p.inj.push(t)
	p.wake()
}

func lookers(watch uint64) uint32 { return uint32(watch) }

func round(watch uint64) uint32 { return uint32(watch >> 32) }

// wake starts a worker unless somebody is looking for work already. It is
// called after work became visible.
func (p *Pool) wake() {
	for {
		v := p.watch.Load()
		if lookers(v) != 0 {
			return
		}
		if p.watch.CompareAndSwap(v, v+1) { // fails also if only the round changed
			go p.start()
			return
		}
	}
}

// work is the life of a worker's goroutine, which counts as a looker from the
// moment it was started.
func (p *Pool) work() {
	p.await()
	w := p.unpark()
	if w.look() {
		w.run()
		return
	}
	p.park(w)
}

// await returns when this new worker is needed.
//
// The goroutine was made runnable when there was work and nobody looked for it,
// and it runs now: as a rule because a running task blocked, since Go's
// scheduler then gives the processor to the next goroutine, this one. (That is
// how the pool learns of a blocked task, at no cost while none blocks.) But it
// also runs when a worker's time slice ended. So it counts the workers that
// took a task since it last looked: if there are as many as processors, it lets
// them go on and looks again later. There is one new worker at a time, or a few
// at the most; they share the count, and may then judge too early.
func (p *Pool) await() {
	procs := int32(runtime.GOMAXPROCS(0))
	for {
		moved := p.movers.Swap(0)
		p.watch.Add(1 << 32)
		if moved < procs || p.inj.empty() {
			return
		}
		runtime.Gosched()
	}
}

// unpark returns a slot for the calling goroutine.
func (p *Pool) unpark() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active.Add(1)
	if n := len(p.parked); n > 0 {
		w := p.parked[n-1]
		p.parked = p.parked[:n-1]
		return w
	}
	w := &worker{pool: p}
	ws := append(*p.workers.Load(), w)
	w.rng = uint64(len(ws)) * 0x9e3779b97f4a7c15
	p.workers.Store(&ws)
	return w
}

// park gives back the slot of a goroutine that is about to end. When the last
// one is given back, all slots but a few are dropped: a pool in which a
// thousand tasks slept at once should not remember that for ever.
func (p *Pool) park(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.settle()
	w.block.Store(nil)
	p.parked = append(p.parked, w)
	if keep := 4 * runtime.GOMAXPROCS(0); p.active.Add(-1) == 0 && len(p.parked) > 2*keep {
		ws := append([]*worker(nil), p.parked[len(p.parked)-keep:]...)
		p.workers.Store(&ws)
		p.parked = append([]*worker(nil), ws...)
	}
}

// run runs tasks until there are none, then parks the slot. The calling
// goroutine owns w and is not a looker.
func (w *worker) run() {
	for {
		t, ok := w.next()
		for ok {
			t, ok = t.home.exec(w, t.fn)
		}
		if w.grab() {
			continue
		}
		if lookers(w.pool.watch.Load()) > 0 {
			break // somebody looks already; two would only be in each other's way
		}
		w.pool.watch.Add(1)
		if !w.look() {
			break
		}
	}
	w.pool.park(w)
}

// next takes a task from the worker's own stock and makes sure that others look
// for what is left, in case this task blocks.
func (w *worker) next() (job, bool) {
	t, ok := w.pop()
	if !ok {
		return t, false
	}
	p := w.pool
	v := p.watch.Load()
	if w.round != round(v) {
		w.round = round(v)
		p.movers.Add(1)
	}
	if lookers(v) == 0 && (!w.empty() || !p.inj.empty()) {
		p.wake()
	}
	return t, true
}

// look looks for tasks for a while and reports whether there are any in the
// worker's stock now. The worker counts as a looker before the call and not
// after it.
func (w *worker) look() bool {
	p := w.pool
	for {
		for range looks {
			if w.grab() {
				// The others' stocks are this looker's business as well: who
				// left something there and blocked counted on it.
				if lookers(p.watch.Add(^uint64(0))) == 0 && p.visible(w) {
					p.wake()
				}
				return true
			}
		}
		p.watch.Add(^uint64(0))
		if !p.visible(nil) {
			return false
		}
		p.watch.Add(1)
	}
}

// grab fills the worker's stock, which is empty, from the injector or from
// another worker, and reports whether it found anything.
func (w *worker) grab() bool {
	p := w.pool
	w.settle()
	share, limit := uint32(p.active.Load()), uint32(batch)
	if share > crowd {
		limit = 1
	}
	if b, lo, hi := p.inj.take(share, limit); b != nil {
		w.fill(b, lo, hi)
		return true
	}
	ws := *p.workers.Load()
	w.rng ^= w.rng << 13
	w.rng ^= w.rng >> 7
	w.rng ^= w.rng << 17
	start := int(w.rng % uint64(len(ws)+1))
	for _, part := range [2][]*worker{ws[start:], ws[:start]} {
		for _, victim := range part {
			if b, lo, hi := victim.steal(); b != nil {
				w.fill(b, lo, hi)
				return true
			}
		}
	}
	return false
}

// settle tells the injector of the tasks taken from the present block. The
// worker's stock is empty.
func (w *worker) settle() {
	if w.begun > 0 {
		w.pool.inj.started(w.block.Load(), w.begun)
		w.begun = 0
	}
}

// visible reports whether there is a task for a looker to take, not counting
// the one that except, if it is not nil, is about to begin.
func (p *Pool) visible(except *worker) bool {
	if !p.inj.empty() {
		return true
	}
	for _, w := range *p.workers.Load() {
		if n := w.len(); n > 1 || n == 1 && w != except {
			return true
		}
	}
	return false
}
