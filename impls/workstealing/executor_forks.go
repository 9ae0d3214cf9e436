package workstealing

import (
	"sync/atomic"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

const (
	// fewest is the number of places of a new ring.
	fewest = 32

	// litter is how many places may hold tasks that were popped before they are
	// emptied. Tasks that divide a problem are pushed and popped in the same few
	// places, which need not be written twice each time.
	litter = 64
)

// forks is the tasks that were started on one processor and not begun, in the
// order in which they were started. The owner pushes and pops at the new end,
// thieves take at the old one: the deque of Chase and Lev (SPAA 2005). Go's
// atomics are sequentially consistent, which is what it needs: the owner lowers
// end and then reads top, a thief reads top and then end.
//
// A task is in here once in its life. So a thief that empties the place from
// which it took a task cannot meet the same task there again.
type forks struct {
	// top is the index of the oldest; raised by compare-and-swap by who takes it.
	// It has all its 64 bits, so that a thief that slept cannot take it for what it
	// was.
	top atomic.Uint64
	_   [56]byte // thieves write top, the owner the rest

	// end packs accepted<<32 | the index behind the newest. Storing it hands the
	// places before it over to thieves. accepted is how many tasks were started
	// here; in this word, counting them costs nothing.
	end  atomic.Uint64
	ring atomic.Pointer[ring32] // replaced by the owner when it is full

	// Of the owner.
	count uint32 // what is in end: accepted,
	last  uint32 // and the index
	seen  uint32 // a value of top: it is at least that
	dirty uint32 // places from this index on hold no task that was popped

	busy atomic.Bool // the owner is in a method; only in builds that check
}

// ring32 is places for tasks, a power of two of them, for indices of 32 bits.
type ring32 []atomic.Pointer[task.Handle]

func (r ring32) at(i uint32) *atomic.Pointer[task.Handle] { return &r[i&uint32(len(r)-1)] }

// enter and leave find out that two goroutines own the forks, which destroys
// them: one of them uses the context of a task that is in progress on the other.
func (f *forks) enter() {
	if f.busy.Swap(true) {
		invariants.Violated("workstealing", "a task's context is used by the task's own goroutine only")
	}
}

func (f *forks) leave() { f.busy.Store(false) }

// publish writes end.
func (f *forks) publish() { f.end.Store(uint64(f.count)<<32 | uint64(f.last)) }

// push adds a task, which counts as accepted. Owner only.
func (f *forks) push(h *task.Handle) {
	if invariants.Enabled {
		f.enter()
		defer f.leave()
	}
	f.room(1).at(f.last).Store(h)
	f.last++
	f.count++
	f.publish()
}

// fill adds tasks that were accepted elsewhere, at least one, such that the first is the newest.
// Owner only.
func (f *forks) fill(hs []*task.Handle) {
	if invariants.Enabled {
		f.enter()
		defer f.leave()
	}
	r := f.room(uint32(len(hs)))
	for i := len(hs) - 1; i >= 0; i-- {
		r.at(f.last).Store(hs[i])
		f.last++
	}
	f.publish()
}

// room returns the ring with n free places at the end.
func (f *forks) room(n uint32) ring32 {
	end := f.last + n
	r := f.ring.Load()
	if r == nil || end-f.seen > uint32(len(*r)) {
		if r != nil {
			f.drop()
			end = f.last + n
		}
		f.seen = uint32(f.top.Load())
		if r == nil || end-f.seen > uint32(len(*r)) {
			r = f.grow(n)
		}
	}
	if int32(end-f.dirty) > 0 {
		f.dirty = end
	}
	return *r
}

// grow makes a larger ring, with n free places at the end.
func (f *forks) grow(n uint32) *ring32 {
	size := uint32(fewest)
	for size < f.last+n-f.seen {
		size *= 2
	}
	bigger := make(ring32, size)
	if r := f.ring.Load(); r != nil {
		for i := f.seen; i != f.last; i++ {
			bigger.at(i).Store(r.at(i).Load())
		}
	}
	f.dirty = f.last
	f.ring.Store(&bigger)
	// What thieves have taken meanwhile they took out of the other ring.
	for top := uint32(f.top.Load()); f.seen != top; f.seen++ {
		bigger.at(f.seen).Store(nil)
	}
	return &bigger
}

// pop takes the newest task, or returns nil. Owner only.
func (f *forks) pop() *task.Handle {
	if invariants.Enabled {
		f.enter()
		defer f.leave()
	}
	return f.newest()
}

// newest is pop for the other methods.
func (f *forks) newest() *task.Handle {
	if int32(f.last-uint32(f.top.Load())) <= 0 {
		return nil
	}
	f.last--
	f.publish()
	top := f.top.Load()
	place := f.ring.Load().at(f.last)
	switch left := int32(f.last - uint32(top)); {
	case left > 0: // no thief comes as far as here
		h := place.Load()
		if f.dirty-f.last > litter {
			f.sweep()
		}
		return h
	case left == 0 && f.top.CompareAndSwap(top, top+1): // thieves wanted the same
		h := place.Load()
		place.Store(nil)
		f.last++
		f.publish()
		return h
	default: // thieves were faster
		f.last++
		f.publish()
		return nil
	}
}

// trim takes tasks away from the new end that are claimed, or over, so that they
// do not gather where each task waits for those it has started. Owner only.
func (f *forks) trim() {
	if invariants.Enabled {
		f.enter()
		defer f.leave()
	}
	f.trimmed()
}

// trimmed is trim for the other methods.
func (f *forks) trimmed() {
	r := f.ring.Load()
	if r == nil {
		return
	}
	for {
		h := r.at(f.last - 1).Load() // if there is none, one that was taken, or nil
		if h == nil || waits(h) || f.newest() == nil {
			return
		}
	}
}

// drop is trim for both ends.
func (f *forks) drop() {
	f.trimmed()
	for r := f.ring.Load(); ; {
		top := f.top.Load()
		if int32(f.last-uint32(top)) <= 0 {
			return
		}
		place := r.at(uint32(top))
		// A thief may have taken it, and then the swap fails.
		if h := place.Load(); h == nil || waits(h) || !f.top.CompareAndSwap(top, top+1) {
			return
		}
		place.Store(nil)
	}
}

// waits reports whether nobody has claimed h and it is not over.
func waits(h *task.Handle) bool { return h.Room().Word.Load()&^awaited == 0 }

// steal takes the oldest task, or returns nil. Any goroutine may call it.
func (f *forks) steal() *task.Handle {
	for {
		top := f.top.Load()
		if int32(uint32(f.end.Load())-uint32(top)) <= 0 {
			return nil
		}
		place := f.ring.Load().at(uint32(top))
		h := place.Load()
		if f.top.CompareAndSwap(top, top+1) {
			place.CompareAndSwap(h, nil) // unless the owner has put another one there
			return h
		}
	}
}

// sweep empties the places behind the newest task. Owner only.
func (f *forks) sweep() {
	for r := f.ring.Load(); f.dirty != f.last; {
		f.dirty--
		r.at(f.dirty).Store(nil)
	}
}

// tidy lets go of what is not needed: the forks are empty, and may be so for long.
// Owner only.
func (f *forks) tidy() {
	if f.dirty-f.last <= litter {
		f.sweep()
	}
	if r := f.ring.Load(); r != nil && len(*r) > 8*fewest {
		smaller := make(ring32, fewest)
		f.ring.Store(&smaller)
		f.dirty = f.last
	}
}

// len returns the number of tasks at the moment of the call.
func (f *forks) len() int { return int(int32(uint32(f.end.Load()) - uint32(f.top.Load()))) }

// accepted returns how many tasks were ever pushed, modulo 1<<32.
func (f *forks) accepted() uint32 { return uint32(f.end.Load() >> 32) }
