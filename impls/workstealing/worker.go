package workstealing

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

const (
	// budget is how many turns in a row a worker gives to actors in its run-next
	// slot before those in the queue have theirs: two actors that only talk to
	// each other must not keep a processor for ever.
	budget = 64

	// poll is how many jobs a worker takes from its own queue before it
	// looks into the inject queue, as in Go's scheduler: a prime, so that it does
	// not fall in step with the program.
	poll = 61

	// bottom is the number of the job among those at which a worker takes the oldest
	// of its forks and not the newest, for the same reason: the one after number 0.
	bottom = 1

	// batch is the most jobs a worker takes from the inject queue at once. With
	// it the queue's line changes hands once in 32 jobs; what a blocked
	// worker holds back from others is theirs to steal.
	batch = 32

	// crowd is the number of workers from which on most are surely blocked. A
	// worker then takes one job at a time, because what it took more would
	// have to be found among many, and stolen.
	crowd = 8

	// worthwhile is the time in nanoseconds that the actors in a worker's queue
	// must take, as far as one can tell, before another worker is woken for
	// them. A woken worker comes some 5 to 50 µs later, and actors that talk to
	// each other from two processors send twice as slowly as from one: measured,
	// count ran in 18 ns a message on one and 30 on two, fanin in 18 and 34.
	worthwhile = 50_000

	// long is the time from which on a job is so long that its worker may be one more than there
	// are processors: so much that to have Go choose between them costs nothing.
	long = period / 8

	// many is how many messages a turn may send to the actor that runs next
	// before others are offered it, if turns are short: 4,096 sends take about
	// as long as worthwhile says.
	many = 4096
)

// worker runs jobs. It is a place with a queue, which outlives the goroutine that
// works there: it is parked without one. Methods are for that goroutine, the owner,
// where nothing else is said.
type worker struct {
	queue runq
	_     [24 * apart]byte // thieves write the queue's word

	// next is the actor that the one in its turn sent to last: it runs next,
	// while what they share is in this processor's cache. Owner and thieves
	// swap it; thieves only when the worker is stuck, or work is to be conserved.
	next atomic.Pointer[box]

	pool    *Pool
	keeps   *Pool  // pool, if what becomes ready here waits here; else nil
	guest   *guest // whose it is; nil: it has a place in the pool
	handled any    // the message that is being handled

	// What it counts, and for whom: they change when it comes to another
	// dispatcher's actors, or another executor's tasks.
	d     *Dispatcher
	tally *tally
	early [events]uint64 // what it counted before it came to the first dispatcher's
	x     *Executor
	books *books

	// How it sends to actors that are not idle: see lane.
	lane    lane
	stream  *box // the one that it sends to most
	streak  int  // and how often more than to others
	patient int  // how often that is before it takes a lane

	rng   uint64    // xorshift state
	round uint32    // the last round in which it counted itself
	jobs  uint32    // taken between two jobs, modulo poll
	nexts int       // turns in a row from next
	depth int       // tasks in progress on its goroutine
	extra bool      // there are more at work than processors; it is to stand back after a period
	begun time.Time // when it began to be that, or was given a processor again
	ran   int       // jobs since then

	wait wait // of the newest of them

	// asked is set by the watchdog and cleared by the owner between two jobs. It
	// hands the question over whether this worker is stuck, which stuck answers:
	// thieves may then take next. Both are set for a worker that waits in a call of
	// this package.
	asked, stuck atomic.Bool
	cost         atomic.Uint32 // what a turn takes, in nanoseconds, or 0: not known; the owner writes it
	since        time.Time     // when the owner last answered; of a parked one, when it parked: then the pool's
	then         uint64        // its turns at that time
	timed        bool          // since and then are of this stretch of work: it has not parked after them

	// Of a turn that is timed, see box.over. In its frame they would be cleared for each turn, for which
	// a Cortex-M3 takes 240 instructions.
	turnMessages int32
	turnBegan    time.Time

	// Of the pool; guarded by its mutex.
	place        // written again only when it was dropped
	busy  bool   // it has a goroutine
	head  uint32 // the oldest in queue when the watchdog looked last

	runs runnable // what runs now, in serveFrugally; nil between two jobs

	// With Go's own compiler that is less than 512 bytes and more than 480, for which memory comes in
	// whole lines: the next worker's owner does not share one.
}

// place is where a worker is: its row, its bit there, and the number, from 0.
type place struct {
	row *row
	bit uint32
	id  int
}

var _ actor.Worker = (*worker)(nil)

// newWorker returns a worker without place and goroutine; seed is not 0.
func newWorker(p *Pool, seed uint64) *worker {
	w := &worker{pool: p, rng: seed * 0x9e3779b97f4a7c15, patient: streak}
	w.queue.limit = p.cfg.QueueCapacity
	if p.ranks == nil {
		w.keeps = p
	}
	return w
}

// renew has a worker that was dropped, and has no jobs, forget for whom it has counted what, and what
// its turns took.
func (w *worker) renew() {
	w.d, w.tally, w.x, w.books = nil, nil, nil, nil
	w.timed = false
	w.asked.Store(false)
	w.cost.Store(0)
	w.wait.over = nil // which is of the bubble it was made in
}

func (w *worker) Dispatcher() actor.Dispatcher { return w.d }

// loop runs j, if there is one, and others until there are none for this worker, and
// parks it. Then the goroutine ends, or rests, if it may, which loop reports.
func (w *worker) loop(j job, mayRest bool) (rests bool) {
	for !j.none() {
		var panicked bool
		if w.pool.frugal {
			panicked = !w.serveFrugally(j)
		} else {
			panicked = w.serve(j)
		}
		if !panicked {
			break
		}
		j = w.other()
	}
	p := w.pool
	rests = p.park(w, mayRest)
	p.exit()
	return rests
}

// serve runs j and others until there are none for this worker, and returns
// false; or until one panics, and returns true: then the worker goes on.
//
// One deferred function is there for all jobs.
func (w *worker) serve(j job) (again bool) {
	var r runnable // what runs now
	defer func() {
		if r == nil {
			return
		}
		var v any
		if r.recovers() {
			v = recover()
		}
		r.caught(w, v)
		if again = v != nil; !again {
			go w.resume() // this goroutine ends; what waits here goes on on another one
		}
	}()
	for ; !j.none(); j = w.other() {
		if w.late() {
			w.attend()
		}
		if invariants.Enabled {
			w.checkLeft()
		}
		r = j.r
		r.run(w, j.arg)
		for b := w.following(); b != nil; b = w.following() {
			r = b
			b.run(w, nil)
		}
		r = nil
	}
	return false
}

// serveFrugally is serve for TinyGo, where a deferred function that shares variables costs five
// allocations each time, and a call beside one six instructions: what runs is in the worker, and
// jobs run in a function that defers nothing. With Go's own compiler short takes 1.4 % longer so.
// It returns true where serve returns false.
func (w *worker) serveFrugally(j job) (done bool) {
	defer w.ended()
	w.runAll(j)
	return true // when ended has recovered, false is returned
}

// runAll runs j and others until there are none for this worker.
func (w *worker) runAll(j job) {
	for ; !j.none(); j = w.other() {
		if w.late() {
			w.attend()
		}
		w.runs = j.r
		j.r.run(w, j.arg)
		for b := w.following(); b != nil; b = w.following() {
			w.runs = b
			b.run(w, nil)
		}
		w.runs = nil
	}
}

// ended is what serveFrugally defers.
func (w *worker) ended() {
	r := w.runs
	if r == nil {
		return
	}
	w.runs = nil
	var v any
	if r.recovers() {
		v = recover()
	}
	r.caught(w, v)
	if v == nil {
		go w.resume() // as in serve
	}
}

// checkLeft panics if jobs wait for the worker, which is about to begin another one, and no worker is
// going to take them. Where that is about to change, others are let run.
func (w *worker) checkLeft() {
	p := w.pool
	for range 10_000 {
		some, _ := w.waits()
		if !some || p.armed.Load() || p.standby.Load() != 0 || searching(p.search.Load()) != 0 || p.closed.Load() {
			return
		}
		runtime.Gosched()
	}
	invariants.Violated("workstealing", "what a worker leaves behind when it begins a job is taken by another")
}

// resume goes on with a worker whose goroutine a job has ended.
func (w *worker) resume() { w.loop(w.other(), false) }

// other returns the job that comes after another one, or none when the
// worker is to park.
func (w *worker) other() job {
	if w.extra && w.standsBack() {
		return job{}
	}
	if j := w.take(); !j.none() {
		return j
	}
	return w.find()
}

// standsBack is called between two jobs of an extra worker, and reports whether it is to park: if it is
// still one too many, and has had its time. What waits for it then is for the others. But long
// jobs stay, and it goes on when it has a processor again, as a goroutine for each would: where all
// look they would be in front of what comes from outside.
func (w *worker) standsBack() bool {
	p := w.pool
	w.ran++
	took := time.Since(w.begun)
	if took < period {
		return false
	}
	if int(p.active.Load()-p.waiting.Load()) <= p.cfg.atATime() { // which takes a lock of Go's scheduler
		w.extra = false
		return false
	}
	if w.stock() && took > time.Duration(w.ran)*long {
		runtime.Gosched()
		w.begun, w.ran = time.Now(), 0
		return false
	}
	if b := w.next.Swap(nil); b != nil {
		p.inject.push(job{r: b})
	}
	for w.leaveOldest() {
	}
	return true
}

// leaveOldest moves the oldest job of the queue to the inject queue, where all look, and reports
// whether there was one.
func (w *worker) leaveOldest() bool {
	j := w.queue.oldest()
	if j.none() {
		return false
	}
	if f, ok := j.r.(*future); !ok || f.waits() {
		w.pool.inject.push(j)
	}
	return true
}

// take takes a job from what the worker has itself, or none.
func (w *worker) take() job {
	if w.asked.Load() {
		w.answer(w.now())
	}
	if w.jobs++; w.jobs == poll {
		w.jobs = 0
	}
	if w.jobs <= bottom {
		if j := w.outOfTurn(w.jobs); !j.none() {
			return j
		}
	}
	if w.nexts < budget {
		if b := w.next.Load(); b != nil {
			if b = w.next.Swap(nil); b != nil {
				w.nexts++
				return job{r: b}
			}
		}
	}
	w.nexts = 0
	if j := w.queue.pop(); !j.none() {
		return j
	}
	if b := w.next.Load(); b != nil {
		if b = w.next.Swap(nil); b != nil {
			return job{r: b}
		}
	}
	return job{}
}

// following is take where nothing but the actor in the run-next slot is due, which between
// two actors' turns is the rule, and counts the worker in. Else it returns nil. A job is four
// words, an actor one.
func (w *worker) following() *box {
	if w.next.Load() == nil || w.asked.Load() || w.jobs < bottom || w.jobs == poll-1 || w.nexts >= budget {
		return nil
	}
	b := w.next.Swap(nil)
	if b != nil {
		w.jobs++
		w.nexts++
		if w.late() {
			w.attend()
		}
	}
	return b
}

// outOfTurn takes the job that is number n of poll ones, 0 or bottom, from where others would
// keep it waiting for ever, or none.
func (w *worker) outOfTurn(n uint32) job {
	if n == bottom {
		return w.queue.oldest()
	}
	if w.d != nil && w.d.stopped.Load() {
		w.d.quit(w) // a worker that always has something to do keeps no actor of it alive
	}
	return w.poll()
}

// poll takes a job from elsewhere though there are own ones: which has waited in
// the inject queue; or, if a new worker waits to be needed, which another worker
// has: that one may be blocked, and all others be busy with their own.
func (w *worker) poll() job {
	p := w.pool
	j := p.inject.pop()
	if j.none() && (p.standby.Load() != 0 || searching(p.search.Load()) > 0) {
		j = w.rob()
	}
	if !j.none() {
		w.leave() // should j block, what was to be next (see push) waits here
	}
	return j
}

// now returns the time if anything is going to depend on it: what turns take, or for how long the
// worker is parked.
func (w *worker) now() (t time.Time) {
	if w.tally != nil || w.pool.cfg.KeepAlive > 0 {
		t = time.Now()
	}
	return t
}

// answer tells the watchdog that the worker is not stuck, and writes down what its
// turns take, if it has not parked since the last answer.
func (w *worker) answer(now time.Time) {
	if w.asked.Load() {
		w.asked.Store(false)
	}
	if w.stuck.Load() && w.stuck.Swap(false) {
		w.pool.stuck.Add(-1)
	}
	if w.tally == nil {
		return
	}
	w.tally.Publish()
	if w.timed {
		w.measure(now.Sub(w.since))
	}
	w.timed, w.since, w.then = true, now, w.tally.Turns
}

// measure writes down what a turn took since the last answer, if that can be told.
func (w *worker) measure(took time.Duration) {
	if turns := w.tally.Turns - w.then; turns > 0 && took > 0 {
		w.cost.Store(uint32(min(max(uint64(took)/turns, 1), worthwhile)))
	}
}

// mark marks the worker as stuck. Any goroutine may call it.
func (w *worker) mark() {
	if !w.stuck.Swap(true) {
		w.pool.stuck.Add(1)
	}
	if w.stock() {
		w.show()
	}
}

// block is called in a job that is about to wait: what waits for this worker
// goes to others.
func (w *worker) block() {
	if w.guest != nil {
		w.guest.of.TurnWaits()
		return
	}
	w.pool.waiting.Add(1)
	w.asked.Store(true)
	w.mark()
	if w.stock() || w.pool.queued() {
		w.pool.standBy()
	}
}

// unblock undoes block.
func (w *worker) unblock() {
	if w.guest != nil {
		return
	}
	w.pool.waiting.Add(-1)
	w.answer(w.now())
}

// stock reports whether a job waits for this worker. Any goroutine may call it.
func (w *worker) stock() bool { return w.next.Load() != nil || w.queue.len() > 0 }

// show makes the worker's jobs visible for others, after one was added. Any
// goroutine may call it.
func (w *worker) show() {
	if w.row.shown.Load()&w.bit == 0 {
		w.row.show(w.bit)
	}
}

// push puts b at the end of the worker's queue, for itself or a thief.
func (w *worker) push(b *box) {
	switch {
	case w.keeps == nil:
		w.pool.share(b, w.guest == nil)
	case w.next.Load() == nil && w.queue.len() == 0:
		w.add(job{r: b}, 0) // the worker itself comes to it next
	default:
		w.enqueue(b)
	}
}

// enqueue is push for a worker that keeps what becomes ready, and comes to another actor first.
func (w *worker) enqueue(b *box) {
	w.add(job{r: b}, 0)
	w.leave()
}

// leave sees to it that a worker takes what waits here, whatever the worker's next job does.
func (w *worker) leave() {
	switch some, pays := w.waits(); {
	case pays:
		w.pool.standBy()
	case some:
		w.pool.arm()
	}
}

// add appends j to the queue. If it is full half of it goes to the inject queue,
// where all look.
func (w *worker) add(j job, flags uint32) {
	for !w.queue.push(j, flags) {
		for range w.queue.limit / 2 {
			if !w.leaveOldest() {
				break
			}
		}
		w.pool.standBy()
	}
	w.show()
}

// fork appends f, a task that the one in progress here has started.
func (w *worker) fork(f *future) {
	w.add(job{r: f}, flagForks|flagUrgent)
	w.queue.last = f
}

// pays reports whether what waits in the queue is worth another worker. Any goroutine may call it.
func (w *worker) pays() bool {
	_, pays := w.waits()
	return pays
}

// waits reports whether a job waits for this worker, and whether it is worth another one: whether it
// would wait here for longer than the other one needs to reach it. If it is not known
// how long, it is, but not with TinyGo: there is no processor for another one, and its
// stack is a tenth of the memory. Both are of one moment: a pool that has only groups never arms
// the watchdog, whose timer would be of the bubble in which it was made. Any goroutine may call it.
func (w *worker) waits() (some, pays bool) {
	all := w.stuck.Load() || w.pool.cfg.Strategy == WorkConserving
	next := w.next.Load() != nil
	s := unpack(w.queue.word.Load())
	n := s.len()
	if n == 0 {
		return next, next && all
	}
	c := w.cost.Load()
	return true, all || s.flags&flagUrgent != 0 || c == 0 && apart == 1 || uint64(n)*uint64(c) >= worthwhile
}

// offer puts b, if it is the one to run next here, where others can take it: the
// actor in its turn goes on sending to it, n messages by now, so they are not
// taking turns.
func (w *worker) offer(b *box, n int) {
	if c := w.cost.Load(); c != 0 && c < worthwhile && n < many {
		return
	}
	if w.next.Load() == b && !w.pool.full() && w.next.CompareAndSwap(b, nil) {
		w.add(job{r: b}, 0)
		w.pool.standBy()
		w.pool.arm() // who searches may have looked already, and not find it worth coming
	}
}

// find looks for a job elsewhere, and returns none when the worker is to park.
func (w *worker) find() job {
	p := w.pool
	if p.active.Load()-p.waiting.Load() > crowd && !p.queued() {
		return job{} // it comes back from a block, as many do. Who parks looks once more
	}
	if j := w.grab(); !j.none() {
		// What is left may have been hidden meanwhile, and who looked for it
		// have given up.
		if searching(p.search.Load()) == 0 && (w.queue.len() > 0 || p.queued()) {
			p.standBy()
		}
		return j
	}
	if searching(p.search.Load()) > 0 {
		return job{} // two would only be in each other's way
	}
	p.search.Add(1)
	return w.look()
}

// look looks for a job and returns none if the worker is to park. It counts as searching before the
// call and not after it, and does not give up its processor in between: who has made something
// visible relies on it.
func (w *worker) look() job {
	p := w.pool
	for {
		j := w.grab()
		if !j.none() || w.extra {
			if w.extra {
				w.begun, w.ran = time.Now(), 0
			}
			// What others have left is this one's business as well: who
			// left something and blocked counted on it.
			if searching(p.search.Add(^uint32(0))) == 0 && p.visible() {
				p.standBy()
			}
			return j
		}
		if p.resign() {
			return job{}
		}
	}
}

// resign ends a worker's search, unless there is a job now that it has not found: who
// has made that visible may have relied on it.
func (p *Pool) resign() bool {
	p.search.Add(^uint32(0))
	invariants.Window() // what comes now is left to the look below
	if !p.visible() {
		return true
	}
	p.search.Add(1)
	return false
}

// grab takes a job from the inject queue, and more of them into the worker's own,
// which is empty; or one from another worker; or none.
func (w *worker) grab() job {
	p := w.pool
	if p.ranks != nil {
		if j := p.ranks.pop(w.jobs); !j.none() {
			return j
		}
	}
	if j := w.receive(); !j.none() {
		return j
	}
	return w.rob()
}

// receive takes a batch out of the inject queue, and returns its first job, or none.
func (w *worker) receive() job {
	p := w.pool
	share, limit := uint32(1), min(p.inject.first(), batch)
	if limit == 0 {
		return job{}
	}
	var slots places
	var tail uint32
	if limit > 1 {
		share = uint32(max(1, p.active.Load()))
		if share <= crowd && !w.extra {
			slots, tail = w.queue.room(int(limit) - 1)
		}
		if slots == nil {
			limit = 1
		}
	}
	b, lo, hi := p.inject.take(share, limit)
	if b == nil {
		return job{}
	}
	first := b.claim(lo)
	var flags uint32
	for i := lo + 1; i < hi; i++ {
		j := b.claim(i)
		if _, actor := j.r.(*box); !actor {
			flags = flagUrgent
		}
		*slots.at(tail) = j
		tail++
	}
	p.inject.started(b, int32(hi-lo))
	if n := int(hi - lo); n > 1 {
		w.queue.publish(n-1, flags)
		w.show()
	}
	return first
}

// rob takes a job from another worker, and half of its queue with it, or none.
func (w *worker) rob() job {
	p := w.pool
	w.rng ^= w.rng << 13
	w.rng ^= w.rng >> 7
	w.rng ^= w.rng << 17
	rows := *p.rows.Load()
	if len(rows) == 0 {
		return job{}
	}
	start, first := int(w.rng>>6%uint64(len(rows))), int(w.rng%32)
	for i := range rows {
		r := rows[(start+i)%len(rows)]
		for shown := bits.RotateLeft32(r.shown.Load(), -first); shown != 0; shown &= shown - 1 {
			victim := r.workers[(bits.TrailingZeros32(shown)+first)%32].Load()
			if victim == nil || victim == w {
				continue
			}
			if j := w.stealFrom(victim); !j.none() {
				w.count(steals)
				return j
			}
		}
	}
	return job{}
}

func (w *worker) stealFrom(victim *worker) job {
	if j := victim.queue.steal(&w.queue, w.extra); !j.none() {
		if w.queue.len() > 0 {
			w.show()
		}
		return j
	}
	if (victim.stuck.Load() || w.pool.cfg.Strategy == WorkConserving) && victim.next.Load() != nil {
		if b := victim.next.Swap(nil); b != nil {
			return job{r: b}
		}
	}
	return job{}
}

// late reports whether the worker has not yet counted itself in this round. Who begins a job
// asks it, and then calls attend.
func (w *worker) late() bool { return w.round != round(w.pool.search.Load()) }

// attend counts the worker among those that have begun a job in this round.
func (w *worker) attend() {
	w.round = round(w.pool.search.Load())
	if w.depth > 0 {
		w.pool.joins.Add(1)
	} else {
		w.pool.loops.Add(1)
	}
}

// What a worker counts of itself, for the dispatcher whose actors it last ran.
type event int

const (
	parks event = iota
	wakes
	steals
	events
)

func (w *worker) count(e event) {
	if w.tally == nil {
		w.early[e]++
		return
	}
	switch e {
	case parks:
		w.tally.Parks++
	case wakes:
		w.tally.Wakes++
	case steals:
		w.tally.Steals++
	}
}
