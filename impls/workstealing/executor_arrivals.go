package workstealing

import (
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
)

// arrivals is the queue of tasks that were started outside: first in, first out,
// unbounded, and linked through the tasks themselves. A producer is done with one
// compare-and-swap, which puts its task in front of a list; takers divide another
// list among them, behind a lock, and when it is used up one of them exchanges the
// first list for nothing and turns it round. They take many at a time.
type arrivals struct {
	in atomic.Pointer[task.Handle] // the newest first
	_  [56]byte                    // producers write in, takers the rest

	mu  sync.Mutex                  // of takers
	out atomic.Pointer[task.Handle] // the oldest first; written under mu
}

// push adds h. Any goroutine may call it.
func (a *arrivals) push(h *task.Handle) {
	r := h.Room()
	for {
		first := a.in.Load()
		r.Link = first
		if a.in.CompareAndSwap(first, h) {
			return
		}
	}
}

// take moves the oldest tasks into some and returns how many. Any goroutine may
// call it. What it leaves in the queue is out of sight for a moment.
func (a *arrivals) take(some []*task.Handle) (n int) {
	if a.empty() {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.out.Load()
	if h == nil {
		for from := a.in.Swap(nil); from != nil; {
			r := from.Room()
			from, r.Link, h = r.Link, h, from
		}
	}
	for n < len(some) && h != nil {
		some[n] = h
		n++
		r := h.Room()
		h, r.Link = r.Link, nil
	}
	a.out.Store(h)
	return n
}

// empty reports whether there was nothing to take at some moment of the call, or
// what there is was out of sight.
func (a *arrivals) empty() bool { return a.out.Load() == nil && a.in.Load() == nil }
