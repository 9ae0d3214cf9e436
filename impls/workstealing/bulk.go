package workstealing

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
)

// spell is how many tasks of a lot a worker runs before others have their turn.
const spell = poll

// bulk is a call of GoBulk: tasks which differ by their index.
type bulk[T any] struct {
	g    *Group[T]
	task func(context.Context, int) (T, error)

	// Guarded by the group's mutex.
	accepted, n int
	ready       chan struct{} // closed when all are accepted, or none is any more
}

// lot is a row of indexes of accepted tasks which no worker has begun. One worker at a time, the
// owner, takes the first of them, one by one; others take the upper half, for a lot of their own.
// As long as there are any the lot is in a queue, or on its way from one to the other,
// so what blocks in a task holds back none.
type lot[T any] struct {
	b *bulk[T]

	// word packs lo and hi. Indexes only grow, so a value that is no empty lot does not come back.
	word   atomic.Uint64
	owned  atomic.Bool
	queued atomic.Bool // it is in a queue. Who takes it out clears this and then looks at word
}

func span64(lo, hi int) uint64 { return uint64(lo)<<32 | uint64(hi) }

func bounds(word uint64) (lo, hi int) { return int(word >> 32), int(word & math.MaxUint32) }

// GoBulk implements [group.Bulk].
func (g *Group[T]) GoBulk(n int, task func(ctx context.Context, i int) (T, error)) (accepted int, err error) {
	if task == nil {
		return 0, group.ErrNilTask
	}
	if n == 0 {
		return 0, nil
	}
	b := &bulk[T]{g: g, task: task, n: n}
	g.mu.Lock()
	if g.state.Load()&closedBit != 0 {
		g.mu.Unlock()
		return 0, group.ErrGroupClosed
	}
	lo, hi := b.accept()
	waits := hi < n
	if waits {
		b.ready = make(chan struct{})
		g.bulks = append(g.bulks, b)
		g.raise(flagBulk)
		g.admit() // a slot may have become free before the flag was seen
	}
	g.mu.Unlock()
	b.submit(lo, hi)
	if waits {
		<-b.ready
	}
	if b.accepted < n {
		return b.accepted, group.ErrGroupClosed
	}
	return n, nil
}

// accept accepts as many tasks as there is room for, and returns their indexes. The group's mutex is
// held, and the group is open.
func (b *bulk[T]) accept() (lo, hi int) {
	g := b.g
	lo = b.accepted
	for {
		st := g.state.Load()
		k := b.n - lo
		if k > 0 && g.cfg.MaxConcurrency > 0 {
			g.room(st) // has seen be up to date
			k = min(k, g.cfg.MaxConcurrency-int(int64(st>>1)-int64(g.seen.Load())))
		}
		if k <= 0 {
			return lo, lo
		}
		if g.state.CompareAndSwap(st, st+2*uint64(k)) {
			b.accepted += k
			return lo, b.accepted
		}
	}
}

// submit makes the tasks from lo to before hi, which were accepted, ready to run.
func (b *bulk[T]) submit(lo, hi int) {
	if lo < hi {
		l := &lot[T]{b: b}
		l.word.Store(span64(lo, hi))
		l.queued.Store(true)
		b.g.pool.submit(job{r: l})
	}
}

// more accepts tasks for a worker whose lot is empty.
func (b *bulk[T]) more() (lo, hi int) {
	g := b.g
	if g.flags.Load()&flagBulk == 0 {
		return 0, 0
	}
	g.mu.Lock()
	lo, hi = b.accept()
	g.admit() // of other calls, if there is room left
	g.mu.Unlock()
	return lo, hi
}

// sweep forgets bulks of which all is accepted, and lets the callers go on. mu is held.
func (g *Group[T]) sweep() {
	kept := g.bulks[:0]
	for _, b := range g.bulks {
		if b.accepted < b.n && g.state.Load()&closedBit == 0 {
			kept = append(kept, b)
		} else {
			close(b.ready)
		}
	}
	clear(g.bulks[len(kept):])
	g.bulks = kept
	if len(kept) == 0 {
		g.lower(flagBulk)
	}
}

// run implements runnable: it runs tasks of the lot, or of a part of it where another worker has it.
func (l *lot[T]) run(w *worker, _ any) {
	l.queued.Store(false)
	if l.owned.Swap(true) {
		half := l.split()
		l.enqueue(w)
		if half == nil {
			return
		}
		l = half
	}
	for n := 0; n <= spell && (n == 0 || !w.extra); n++ {
		i, ok := l.next(w)
		if !ok {
			l.disown(w)
			return
		}
		if w.late() {
			w.attend()
		}
		var r group.Result[T]
		r.Value, r.Err = l.b.task(l.b.g.outcome.Context(), i)
		l.b.g.complete(r, flagBulk)
	}
	l.fill()
	l.disown(w)
	w.jobs = poll - 1 // look elsewhere first
}

// next takes the first index of the lot for its owner, or reports false: then it is empty.
// More is accepted before the last one begins, since that may wait for others.
func (l *lot[T]) next(w *worker) (i int, ok bool) {
	for {
		v := l.word.Load()
		lo, hi := bounds(v)
		if lo == hi && !l.fill() {
			return 0, false
		}
		if lo < hi && l.word.CompareAndSwap(v, span64(lo+1, hi)) { // else another worker takes the upper half
			if lo+1 < hi || l.fill() {
				l.enqueue(w)
			}
			return lo, true
		}
	}
}

// fill has the lot, if it is empty, accept more tasks, and reports whether it has some. Its owner calls
// it after each task that has left it empty, so that no slot stays free.
func (l *lot[T]) fill() bool {
	if lo, hi := bounds(l.word.Load()); lo < hi {
		return true
	}
	from, to := l.b.more()
	if from < to {
		l.word.Store(span64(from, to))
	}
	return from < to
}

// split takes the upper half of a lot that another worker has, or returns nil.
func (l *lot[T]) split() *lot[T] {
	for {
		v := l.word.Load()
		lo, hi := bounds(v)
		if lo >= hi {
			return nil
		}
		mid := lo + (hi-lo)/2
		if l.word.CompareAndSwap(v, span64(lo, mid)) {
			half := &lot[T]{b: l.b}
			half.word.Store(span64(mid, hi))
			half.owned.Store(true)
			return half
		}
	}
}

// disown ends the time in which the worker has the lot.
func (l *lot[T]) disown(w *worker) {
	l.owned.Store(false)
	l.enqueue(w)
}

// enqueue puts the lot into the worker's queue, unless it is empty or in one.
func (l *lot[T]) enqueue(w *worker) {
	if lo, hi := bounds(l.word.Load()); lo < hi && !l.queued.Load() && !l.queued.Swap(true) {
		w.add(job{r: l}, flagUrgent)
		w.pool.standBy()
	}
}

// recovers implements runnable.
func (l *lot[T]) recovers() bool { return l.b.g.cfg.PanicToError }

// caught implements runnable.
func (l *lot[T]) caught(w *worker, recovered any) {
	l.b.g.caught(w, recovered) // what is left of the lot is in a queue, for others to halve
}
