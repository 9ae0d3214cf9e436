package actor

import (
	"math"
	"sync"
	"time"
)

// timers are what a system waits for: timeouts of asks, timers and receive
// timeouts of actors, suspensions that end by themselves. There may be a
// hundred thousand, and most of them are stopped or started again long before
// they are due, so starting and stopping is what has to be cheap.
//
// They are a heap with four children to a node. An entry holds the time it is
// ordered by, so that to compare the four children of a node is to read one
// cache line, or two neighbours, and no timer; and a tree of four children is
// half as deep as one of two, which halves the timers to be written to when an
// entry moves, for each of them knows where its entry is. That knowledge is why
// nothing is deleted lazily: a stopped timer leaves the heap at once, and what a
// timer that is started again and again costs is one entry.
//
// Rejected:
//   - container/heap: comparisons through an interface, and swaps where moving
//     a hole will do. It takes twice the time for a timer that is the first, as
//     the timeout of an ask often is, and no less for any other.
//   - A timing wheel: constant time, but it rounds, and either it ticks while
//     nothing is due or needs an index of its empty slots. A board would pay
//     for the slots of a wheel with three timers in it.
//   - A time.Timer for each: one that is reset is started and stopped in half
//     the time, but it is an object of its own, ringing takes four times as long
//     for it is done on a goroutine each, those of the same time ring in any
//     order, and there is no other clock than package time's.
//   - A pairing heap through the timers themselves: nothing to allocate, but
//     every comparison is a cache miss.
//
// One alarm of the clock serves all. It is set for a time that is not after the
// first timer's: a timer that becomes the first sets it, and when the first is
// stopped it is left as it is and rings in vain, once. Else a system that asks
// and is answered at once, over and over, would set and stop the alarm each
// time, which costs more than everything else that a timer does.
//
// No memory is kept for more than four times as many timers as there are, or for
// [minTimers].
type timers struct {
	clock Clock
	alarm Alarm

	mu      sync.Mutex // guards what follows, and all of every timer's fields but waiter
	base    time.Time  // entries count from here; zero until a timer is started: systems without timers do not look at the clock
	heap    []timerEntry
	seq     uint64 // how many times a timer was started
	armed   int64  // when the alarm rings, never if it is not set
	ringing bool   // a goroutine is in ring, and sets the alarm when done
	closed  bool
}

// timerEntry is a place in the heap.
type timerEntry struct {
	when int64 // nanoseconds since timers.base
	x    *timer
}

// timer is a part of whatever waits for a time. Its zero value with a waiter is
// ready to be started. It must not be copied after that.
type timer struct {
	waiter waiter // who is told; not changed while the timer is started or its waiter being told

	pos int    // where it is in the heap, from 1; 0 if it is not, or dropped
	seq uint64 // timers.seq when it was started: of those with the same time the one started first is due first
	tag uint64 // what it was started with
}

// waiter is told when a timer is due. It is an interface and not a function: a
// pointer to what the timer is part of needs no closure to be allocated.
type waiter interface {
	// due is called once for a start of the timer that was not stopped or
	// replaced in time, with the tag of that start. The calls of a system come
	// one after the other in order of time, on the alarm's goroutine and without
	// a lock. They must not block: the other timers wait. They may start and
	// stop timers, this one included.
	//
	// A call may be on its way when its timer is stopped, or started again, or
	// when timers.close returns.
	due(tag uint64)
}

const (
	never     = math.MaxInt64 // later than any entry
	dropped   = -1            // timer.pos of a timer that close took out of the heap
	minTimers = 64            // the heap is not made smaller than that
	children  = 4             // of a node of the heap
)

// init is called once, before everything else.
func (t *timers) init(clock Clock) {
	t.clock = clock
	t.armed = never
	t.alarm = clock.NewAlarm(t.ring)
}

// start starts x, which becomes due when d has passed, at once if d is not
// positive. If it was started already it is now due at the new time only.
// Any goroutine may call it.
func (t *timers) start(x *timer, d time.Duration) { t.startAs(x, d, 0) }

// startAs is start with a tag, which due is called with. By that a waiter that
// starts a timer time and again recognises a call that was on its way when stop
// returned false, and belongs to the past.
func (t *timers) startAs(x *timer, d time.Duration, tag uint64) {
	now := t.clock.Now() // before the lock: this is a third of the work
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		x.pos = dropped
		return
	}
	if t.base.IsZero() {
		t.base = now
	}
	t.seq++
	x.seq, x.tag = t.seq, tag
	e := timerEntry{after(int64(now.Sub(t.base)), int64(d)), x}
	if x.pos > 0 {
		t.settle(x.pos-1, e)
	} else {
		n := len(t.heap)
		if n == cap(t.heap) {
			t.resize(max(minTimers, 2*n)) // append would grow by a quarter, and copy everything five times
		}
		t.heap = t.heap[:n+1]
		t.up(n, e)
	}
	if !t.ringing && e.when < t.armed {
		t.armed = e.when
		t.alarm.Set(d)
	}
}

// after returns the time d after now, which is before never. now is negative if
// another goroutine started the system's first timer after this clock was read.
func after(now, d int64) int64 {
	now, d = max(now, 0), max(d, 0)
	return now + min(d, never-1-now)
}

// stop stops x and reports whether due will not be called for its last start.
// If it returns false then that call was made or will be, or x was not started
// since the last stop. Any goroutine may call it.
func (t *timers) stop(x *timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch x.pos {
	case 0:
		return false
	case dropped:
		x.pos = 0
	default:
		t.remove(x.pos - 1)
	}
	return true
}

// close stops all timers, and those that are started later, for good: the system
// is over. It does not wait for a call of due that has begun.
func (t *timers) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.heap {
		e.x.pos = dropped
	}
	t.closed = true
	t.heap = nil
	t.alarm.Stop()
}

// ring is what the alarm calls. It tells the waiters of all timers that are due
// and sets the alarm for the first of the others.
func (t *timers) ring() {
	t.mu.Lock() // unlocked without defer: due is called in between, and a panic there must show itself
	if t.ringing {
		t.mu.Unlock()
		return // the goroutine that rings looks at the heap once more before it leaves
	}
	t.ringing = true
	t.armed = never
	for len(t.heap) > 0 {
		now := int64(t.clock.Now().Sub(t.base))
		first := t.heap[0].when
		if first > now {
			t.armed = first
			t.alarm.Set(time.Duration(first - now))
			break
		}
		// One at a time: what has not been called can still be stopped.
		for len(t.heap) > 0 && t.heap[0].when <= now {
			x := t.heap[0].x
			w, tag := x.waiter, x.tag
			t.remove(0)
			t.mu.Unlock()
			w.due(tag)
			t.mu.Lock()
		}
	}
	t.ringing = false
	t.mu.Unlock()
}

// The heap. All of it is called with the lock.

// before reports whether a is due before b.
func (a timerEntry) before(b timerEntry) bool {
	return a.when < b.when || a.when == b.when && a.x.seq < b.x.seq
}

// put writes e at i and tells its timer.
func (t *timers) put(i int, e timerEntry) {
	t.heap[i] = e
	e.x.pos = i + 1
}

// up puts e at i or at one of its ancestors, moving down those that come after e.
func (t *timers) up(i int, e timerEntry) {
	for i > 0 {
		p := (i - 1) / children
		if !e.before(t.heap[p]) {
			break
		}
		t.put(i, t.heap[p])
		i = p
	}
	t.put(i, e)
}

// down puts e at i or at one of its descendants, moving up those that come
// before e.
func (t *timers) down(i int, e timerEntry) {
	for {
		k := i*children + 1
		if k >= len(t.heap) {
			break
		}
		first := k
		for k++; k < len(t.heap) && k <= i*children+children; k++ {
			if t.heap[k].before(t.heap[first]) {
				first = k
			}
		}
		if !t.heap[first].before(e) {
			break
		}
		t.put(i, t.heap[first])
		i = first
	}
	t.put(i, e)
}

// settle puts e at i or wherever else it belongs from there.
func (t *timers) settle(i int, e timerEntry) {
	if i > 0 && e.before(t.heap[(i-1)/children]) {
		t.up(i, e)
	} else {
		t.down(i, e)
	}
}

// remove takes out what is at i.
func (t *timers) remove(i int) {
	t.heap[i].x.pos = 0
	n := len(t.heap) - 1
	last := t.heap[n]
	t.heap[n] = timerEntry{}
	t.heap = t.heap[:n]
	if i < n {
		t.settle(i, last)
	}
	// Half of what there is, when a quarter is used: until that happens again,
	// or the heap has to grow, as many timers come or go as were copied.
	if c := cap(t.heap); n <= c/4 && c > minTimers {
		t.resize(c / 2)
	}
}

// resize gives the heap room for c timers.
func (t *timers) resize(c int) {
	h := make([]timerEntry, len(t.heap), c)
	copy(h, t.heap)
	t.heap = h
}
