package workstealing

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
)

// runner runs actors. It is a goroutine with a ready queue.
type runner struct {
	d    *Dispatcher
	wake chan struct{} // capacity 1: one token ends a park
	rng  uint64        // xorshift state; owner only

	// Guarded by the dispatcher's mutex; rescuer and retired are read by the
	// owner, to whom wake, or the start, hands them.
	asleep  bool
	rescuer bool      // it was roused because others are stuck
	roused  time.Time // when, if it is a rescuer
	retired bool      // it was woken to end
	idle    time.Time // when it parked

	// next is the actor that the one in its turn sent to last: it runs next,
	// while what they share is in this processor's cache. Owner and thieves
	// swap it; thieves only when the worker is stuck, or work is to be conserved.
	next  atomic.Pointer[box]
	queue ring

	streak int    // turns in a row from next; owner only
	turns  uint32 // taken; owner only

	// asked is set by the patrol and cleared by the owner between two turns. It
	// hands the question over whether this worker is stuck.
	asked atomic.Bool
	cost  atomic.Uint32 // what a turn takes, in nanoseconds, or 0: not known; the owner writes it
	since time.Time     // when the owner last answered
	then  uint64        // its turns at that time
	head  uint32        // the oldest in queue at the last patrol; guarded by the dispatcher's mutex

	tally actor.Tally
}

// newRunner returns a worker without its goroutine; seed is not 0.
func newRunner(d *Dispatcher, seed uint64) *runner {
	w := &runner{d: d, wake: make(chan struct{}, 1), rng: seed * 0x9e3779b97f4a7c15}
	if d.cfg.Strategy != Priority { // which has no queue of a worker's own
		w.queue.init(d.cfg.QueueCapacity)
	}
	return w
}

var _ actor.Worker = (*runner)(nil)

// Dispatcher implements [actor.Worker].
func (w *runner) Dispatcher() actor.Dispatcher { return w.d }

// main is the worker's goroutine, which counts as looking when it starts.
func (w *runner) main() {
	w.loop(w.look())
}

// loop gives turns, to b first, until there is no work for this worker.
func (w *runner) loop(b *box) {
	for w.serve(b) {
		b = w.other()
	}
}

// serve gives turns, to b first, until there is no work for this worker, and returns
// false; or until an actor panics, and returns true: then the worker goes on.
//
// One deferred function is there for all turns, since what it shares with this one
// costs TinyGo five allocations each time that it is deferred.
func (w *runner) serve(b *box) (again bool) {
	var msg any     // what is being handled
	var inTurn *box // the actor in whose turn this is
	defer func() {
		if inTurn != nil {
			w.caught(inTurn, msg, recover())
			again = true
		}
	}()
	for b != nil {
		inTurn = b
		v := b.turn(w, &msg)
		inTurn = nil
		b.after(w, v)
		b = w.other()
	}
	return false
}

// caught ends a turn whose actor panicked or called Goexit. After Goexit this
// goroutine is lost: another one goes on as w, beginning with the verdict.
func (w *runner) caught(b *box, msg, recovered any) {
	v := b.cell.Caught(&w.tally, msg, recovered)
	if recovered == nil {
		go w.resume(b, v)
		return
	}
	b.after(w, v)
}

// resume goes on as w after its goroutine was ended by an actor's Goexit.
func (w *runner) resume(b *box, v actor.Verdict) {
	b.after(w, v)
	w.loop(w.other())
}

// other returns the actor that has its turn after another one's, and nil when the
// worker is to end.
func (w *runner) other() *box {
	if b := w.take(); b != nil {
		return b
	}
	return w.find()
}

// take takes an actor from what the worker has itself.
func (w *runner) take() *box {
	if w.asked.Load() {
		w.answer()
	}
	if w.turns++; w.turns%outside == 0 {
		if w.d.stopping.Load() {
			return nil
		}
		if b := w.d.inj.pop(); b != nil {
			return b
		}
	}
	if w.streak < streak {
		if b := w.next.Load(); b != nil {
			if b = w.next.Swap(nil); b != nil {
				w.streak++
				return b
			}
		}
	}
	w.streak = 0
	if b := w.queue.pop(); b != nil {
		return b
	}
	return w.next.Swap(nil)
}

// answer tells the patrol that the worker is not stuck, and writes down what its
// turns take. Time that it slept counts: who was idle a moment ago calls for help
// sooner.
func (w *runner) answer() {
	w.asked.Store(false)
	w.tally.Publish()
	now := time.Now()
	if turns, took := w.tally.Turns-w.then, now.Sub(w.since); turns > 0 && took > 0 {
		w.cost.Store(uint32(min(max(uint64(took)/turns, 1), worthwhile)))
	}
	w.since, w.then = now, w.tally.Turns
}

// push puts b at the end of the worker's queue, for itself or a thief.
func (w *runner) push(b *box) {
	switch {
	case w.d.cfg.Strategy == Priority:
		w.d.ranks.push(b)
		w.d.alert()
	case w.queue.len() == 0 && w.next.Load() == nil:
		w.queue.push(b) // alone: the worker itself comes to it next
	case !w.queue.push(b):
		// Full: half of it goes to the entrance, where all look.
		for range w.queue.capacity() / 2 {
			if old := w.queue.pop(); old != nil {
				w.d.inj.push(old)
			}
		}
		w.d.inj.push(b)
		w.d.alert()
	case w.pays():
		w.d.alert()
	}
}

// pays reports whether what waits in the queue is worth another worker: whether it
// would wait here for longer than the other one needs to come to it.
func (w *runner) pays() bool {
	if w.d.cfg.Strategy == WorkConserving && w.next.Load() != nil {
		return true
	}
	n := w.queue.len()
	if n <= 0 {
		return false
	}
	c := w.cost.Load()
	return c == 0 || uint64(n)*uint64(c) >= worthwhile || w.d.cfg.Strategy == WorkConserving
}

// offer puts b, if it is the one to run next here, where others can take it: the
// actor in its turn goes on sending to it, n messages by now, so they are not
// taking turns.
func (w *runner) offer(b *box, n int) {
	if c := w.cost.Load(); c != 0 && c < worthwhile && n < many {
		return
	}
	if w.d.spare.Load() > 0 && w.next.Load() == b && w.next.CompareAndSwap(b, nil) {
		if !w.queue.push(b) {
			w.d.inj.push(b)
		}
		w.d.alert()
	}
}

// find looks for an actor to run, parks if there is none, and returns nil when
// the worker is to end.
func (w *runner) find() *box {
	if b := w.grab(w.d.cfg.Strategy == WorkConserving); b != nil {
		return b
	}
	if w.d.watch.Load() > 0 {
		if !w.park() { // another one is looking
			return nil
		}
	} else {
		w.d.watch.Add(1)
	}
	return w.look()
}

// look looks for an actor for a while, then parks, again and again. It returns
// nil when the worker is to end. The worker counts as looking before the call and
// not after it.
func (w *runner) look() *box {
	for {
		if b := w.peek(); b != nil {
			return b
		}
		if !w.park() {
			return nil
		}
	}
}

// peek looks for an actor for a while, and returns nil if there is none. The worker
// counts as looking before the call and not after it.
func (w *runner) peek() *box {
	d := w.d
	if w.rescuer {
		d.arrived(w)
	}
	for range peeks {
		if b := w.grab(w.rescuer || d.cfg.Strategy == WorkConserving); b != nil {
			w.rescuer = false
			if d.watch.Add(-1) == 0 && d.visible() {
				d.alert()
			}
			return b
		}
		if d.stopping.Load() {
			break
		}
		runtime.Gosched()
	}
	w.rescuer = false
	d.watch.Add(-1)
	return nil
}

// park waits until the worker is woken, and counts as looking then; it returns
// false when the worker is to end. The worker does not count as looking before the
// call.
func (w *runner) park() bool {
	d := w.d
	w.asked.Store(false)
	d.mu.Lock()
	if d.stopping.Load() || d.running-d.blocked > d.cfg.Parallelism {
		w.end() // unlocks
		return false
	}
	d.parked = append(d.parked, w)
	w.asleep = true
	d.count()
	d.keep(w)
	d.mu.Unlock()
	w.tally.Parks++
	w.tally.Publish()
	if d.visible() { // it came after the last look and before spare counted this worker
		d.alert()
	}
	<-w.wake
	if d.stopping.Load() || w.retired {
		d.mu.Lock()
		w.end()
		return false
	}
	w.tally.Wakes++
	return true
}

// end ends the worker. The dispatcher's mutex is held, and released.
func (w *runner) end() {
	d := w.d
	w.tally.Publish()
	var mine actor.Stats
	w.tally.AddTo(&mine)
	r := &d.retired
	r.Turns += mine.Turns
	r.Messages += mine.Messages
	r.Steals += mine.Steals
	r.Parks += mine.Parks
	r.Wakes += mine.Wakes
	r.Publish()
	var ws []*runner
	for _, o := range *d.workers.Load() {
		if o != w {
			ws = append(ws, o)
		}
	}
	d.workers.Store(&ws)
	d.running--
	d.count()
	stop := d.stop
	last := d.running == 0
	d.mu.Unlock()
	if stop != nil && last {
		stop()
		return
	}
	if d.visible() {
		d.alert()
	}
}

// grab takes an actor from the entrance or another worker's queue, or, if desperate,
// from a stuck worker's next slot.
func (w *runner) grab(desperate bool) *box {
	if w.d.cfg.Strategy == Priority {
		return w.d.ranks.pop(w.turns)
	}
	if b := w.d.inj.pop(); b != nil {
		return b
	}
	ws := *w.d.workers.Load()
	w.rng ^= w.rng << 13
	w.rng ^= w.rng >> 7
	w.rng ^= w.rng << 17
	start := int(w.rng % uint64(len(ws)+1))
	for _, part := range [2][]*runner{ws[start:], ws[:start]} {
		for _, victim := range part {
			if victim == w {
				continue
			}
			if b := victim.queue.steal(&w.queue); b != nil {
				w.tally.Steals++
				return b
			}
			if desperate && victim.next.Load() != nil {
				if b := victim.next.Swap(nil); b != nil {
					w.tally.Steals++
					return b
				}
			}
		}
	}
	return nil
}

// stock reports whether an actor waits for this worker.
func (w *runner) stock() bool { return w.next.Load() != nil || w.queue.len() > 0 }

// block is called in a turn that is about to wait: what waits for this worker
// goes to others.
func (w *runner) block() {
	d := w.d
	if b := w.next.Swap(nil); b != nil {
		d.inj.push(b)
	}
	for b := w.queue.pop(); b != nil; b = w.queue.pop() {
		d.inj.push(b)
	}
	d.mu.Lock()
	d.blocked++
	d.count()
	d.mu.Unlock()
	if d.visible() {
		d.alert()
	}
}

// unblock undoes block.
func (w *runner) unblock() {
	w.d.mu.Lock()
	w.d.blocked--
	w.d.count()
	w.d.mu.Unlock()
}

// ring is a worker's ready queue: the owner appends, owner and thieves take the
// oldest. It is that of Go's scheduler (runtime/proc.go, runqput and runqsteal).
type ring struct {
	slots []atomic.Pointer[box] // their number is a power of two
	mask  uint32
	_     [36]byte
	head  atomic.Uint32 // of the oldest; raised by compare-and-swap by whoever takes
	_     [60]byte
	tail  atomic.Uint32 // behind the newest; the owner's. Storing it hands the slots before it over.
	_     [60]byte
}

func (q *ring) init(capacity int) {
	q.slots = make([]atomic.Pointer[box], capacity)
	q.mask = uint32(capacity - 1)
}

func (q *ring) capacity() int { return len(q.slots) }

// push appends b and reports whether there was room. Owner only.
func (q *ring) push(b *box) bool {
	tail := q.tail.Load()
	if tail-q.head.Load() >= uint32(len(q.slots)) {
		return false
	}
	q.slots[tail&q.mask].Store(b)
	q.tail.Store(tail + 1)
	return true
}

// pop takes the oldest. Owner only.
func (q *ring) pop() *box {
	for {
		head := q.head.Load()
		if head == q.tail.Load() {
			return nil
		}
		b := q.slots[head&q.mask].Load()
		if q.head.CompareAndSwap(head, head+1) {
			return b
		}
	}
}

// steal moves half of the queue, the larger one if it is odd, to the empty queue
// of the caller, who owns it, and returns one of them.
func (q *ring) steal(to *ring) *box {
	for {
		head := q.head.Load()
		n := q.tail.Load() - head
		if n == 0 || n > uint32(len(q.slots)) { // or the two reads do not belong together
			return nil
		}
		n -= n / 2
		tail := to.tail.Load()
		if room := uint32(len(to.slots)) - (tail - to.head.Load()); n-1 > room {
			n = room + 1
		}
		first := q.slots[head&q.mask].Load()
		for i := uint32(1); i < n; i++ {
			to.slots[(tail+i-1)&to.mask].Store(q.slots[(head+i)&q.mask].Load())
		}
		if q.head.CompareAndSwap(head, head+n) {
			if n > 1 {
				to.tail.Store(tail + n - 1)
			}
			return first
		}
	}
}

// len returns how many actors wait in the queue.
func (q *ring) len() int {
	head := q.head.Load()
	return int(int32(q.tail.Load() - head))
}
