package workstealing

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

const (
	// deepest is how many tasks may be in progress on one goroutine, each but the
	// first in the place of the one below that waits for it. What is deeper begins
	// on another goroutine, with a stack of its own: Go ends the program when a
	// stack exceeds 1 GB (250 MB where an int has 32 bits), which leaves 64 KB
	// for each task, and one that does little takes less than 1 KB.
	deepest = 1 << 14
)

// The word of a task's room: its [task.Status] in the two lowest bits, and these.
const (
	// claimed says that a goroutine runs the task: the one that has set it.
	claimed = 4 << iota

	// ending says that it is decided how the task ends, and by whom: who has set
	// the bit counts the task as over and then writes the state. For others it is
	// Pending until then. So the goroutine that sees a task over finds it counted.
	ending

	// awaited says that there is a channel to close in the room's Own, or a worker to
	// wake that waits for the task, see release.
	awaited

	// waits says that the task itself waits, or has waited, for another one, in join:
	// Cancel has to end that.
	waits

	status = 3
)

// Executor runs tasks on a [Pool], and a task that
// waits for one that no goroutine has begun runs it in its own place. Make one with
// [NewExecutor].
//
// An executor without work has no goroutines; one that is no longer used need not
// be closed.
type Executor struct {
	pool   *Pool
	closed atomic.Bool
	_      [47 * apart]byte // read for every task, written rarely

	// accepted counts the tasks started from outside, and canceled those that
	// were over by Cancel. Workers count the others in their books.
	accepted, canceled atomic.Uint32
	books              records[books]
}

// books is what a worker counts for an executor, modulo 1<<32.
type books struct {
	started, over atomic.Uint32    // written by the worker
	_             [56 * apart]byte // the next worker's must not share the line
}

var _ task.Joiner = (*Executor)(nil)

// offered is the ID in the room of a part that Offer was called with: it is counted as
// started when it has begun.
const offered = 1

// NewExecutor returns an executor of tasks, on a pool of its own.
func NewExecutor() *Executor { return NewExecutorOn(newPool()) }

// NewExecutorOn returns an executor of tasks on p.
func NewExecutorOn(p *Pool) *Executor { return &Executor{pool: p} }

// Start implements [task.Executor]. A task that another one starts goes to the
// worker of that one.
func (x *Executor) Start(h, from *task.Handle) error {
	if x.closed.Load() {
		return task.ErrClosed
	}
	if w := x.at(from); w != nil {
		x.of(w).started.Add(1)
		w.fork((*future)(h))
		x.pool.standBy()
	} else {
		x.admit(h)
	}
	return nil
}

// admit accepts a task from outside.
func (x *Executor) admit(h *task.Handle) {
	x.accepted.Add(1)
	x.pool.submit(job{r: (*future)(h)})
}

// Offer implements [task.Joiner]. A part goes to the worker of its task, as a task that
// another one starts.
func (x *Executor) Offer(part, from *task.Handle) {
	w := x.at(from)
	if w == nil { // the task is over, and its context was kept
		part.Room().ID = 0
		x.admit(part)
		return
	}
	if w.late() {
		w.attend() // a task that joins begins no other job
	}
	part.Room().ID = offered
	w.fork((*future)(part))
	x.pool.standBy()
}

// Withdraw implements [task.Joiner]. What is not the newest job stays: the wait for it
// claims it as it does any task.
func (x *Executor) Withdraw(part, from *task.Handle) bool {
	w := x.at(from)
	return w != nil && w.queue.withdraw((*future)(part))
}

// of returns the books of w for x.
func (x *Executor) of(w *worker) *books {
	if w.x != x {
		w.x, w.books = x, x.books.of(w)
	}
	return w.books
}

// at returns the worker on which the task is in progress, if it is one of x's pool.
func (x *Executor) at(h *task.Handle) *worker {
	if h == nil {
		return nil
	}
	w, _ := h.Room().Place.(*worker)
	if w == nil || w.pool != x.pool {
		return nil
	}
	return w
}

// future is a task as the pool sees it.
type future task.Handle

// run implements runnable. The task may be over, or in progress elsewhere.
func (f *future) run(w *worker, _ any) {
	if h := (*task.Handle)(f); claim(h) {
		w.perform(h)
	}
}

// recovers implements runnable: Run does.
func (f *future) recovers() bool { return false }

// caught implements runnable: the deferred function of perform has seen to it.
func (f *future) caught(*worker, any) {}

// waits reports whether no goroutine has claimed the task and it is not over.
func (f *future) waits() bool { return (*task.Handle)(f).Room().Word.Load()&^awaited == 0 }

// perform runs h, which this worker has claimed.
func (w *worker) perform(h *task.Handle) {
	if w.late() {
		w.attend()
	}
	r := h.Room()
	if invariants.Enabled && (r.Word.Load()&claimed == 0 || r.Place != nil) {
		invariants.Violated("workstealing", "a task runs once, by who has claimed it")
	}
	if r.ID == offered {
		x := h.Executor().(*Executor)
		x.of(w).started.Add(1)
	}
	s := task.Failed // unless Run returns
	w.depth++
	r.Place = w
	defer func() {
		w.depth--
		r.Place = nil
		x := h.Executor().(*Executor)
		x.end(h, s, &x.of(w).over)
	}()
	s = h.Run()
}

// state is the state of a task with the word v.
func state(v uint32) task.Status { return task.Status(v & status) }

// Status implements [task.Executor].
func (x *Executor) Status(h *task.Handle) task.Status { return state(h.Room().Word.Load()) }

// claim reports whether the caller is to run h: no other goroutine does, and it was not
// canceled.
func claim(h *task.Handle) bool {
	w := &h.Room().Word
	for {
		v := w.Load()
		if v&^awaited != 0 {
			return false
		}
		if w.CompareAndSwap(v, v|claimed) {
			return true
		}
	}
}

// end makes h, which is Pending, s, and reports whether it did: it is too late if
// another goroutine decides. over is where it is counted.
//
// Between the two steps of another goroutine all see the task Pending. "Too
// late" must not be said before they see why, so end waits for the second step,
// which is an addition away.
func (x *Executor) end(h *task.Handle, s task.Status, over *atomic.Uint32) bool {
	w := &h.Room().Word
	for {
		v := w.Load()
		if v&status != 0 {
			return false
		}
		if v&ending != 0 {
			runtime.Gosched() // where there is one thread, it has to go on
			continue
		}
		if w.CompareAndSwap(v, v|ending) {
			break
		}
	}
	over.Add(1)
	// Hands over what the task has left; pairs with the Load of who sees it over.
	// From now on no channel is added, and no worker.
	v := w.Swap(claimed | uint32(s))
	if v&awaited != 0 || s == task.Cancelled && v&waits != 0 {
		x.pool.release(h)
	}
	return true
}

// Cancel implements [task.Executor]. A task that no goroutine has begun stays where it
// is queued, as one that was claimed, and is dropped when its turn comes.
func (x *Executor) Cancel(h *task.Handle) bool { return x.end(h, task.Cancelled, &x.canceled) }

// always is the channel of tasks that were over before a goroutine asked.
var always = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done implements [task.Executor].
func (x *Executor) Done(h *task.Handle) <-chan struct{} {
	x.pool.waits.Lock()
	defer x.pool.waits.Unlock()
	r := h.Room()
	if done := doneOf(r); done != nil {
		return done
	}
	invariants.Window() // it may end now
	// A task that is over gets no channel: release may be about to close what it finds.
	if !mark(r, awaited) {
		return always
	}
	done := make(chan struct{})
	if w, ok := r.Own.(*worker); ok { // it waits
		w.wait.done = done
	} else {
		r.Own = done
	}
	return done
}

// doneOf returns the channel that the task has, or nil.
func doneOf(r *task.Room) chan struct{} {
	if w, ok := r.Own.(*worker); ok {
		return w.wait.done
	}
	done, _ := r.Own.(chan struct{})
	return done
}

// Wait implements [task.Executor]. If the awaited task has not begun, and the wait
// can end in no other way than by its end, it runs here.
func (x *Executor) Wait(ctx context.Context, h, from *task.Handle) error {
	v := h.Room().Word.Load()
	if v&^awaited == 0 && from != nil && task.Own(ctx, from) {
		if w := x.at(from); w != nil && w.depth < deepest && x.Status(from) == task.Pending && claim(h) {
			w.queue.drop((*future)(h))
			w.perform(h)
		}
		v = h.Room().Word.Load()
	}
	if state(v) != task.Pending {
		return nil
	}
	return x.block(ctx, h, from)
}

// block is Wait without helping. If it blocks a worker's goroutine another worker
// looks after what is visible, as in any other case in which one blocks.
func (x *Executor) block(ctx context.Context, h, from *task.Handle) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := x.at(from)
	if w != nil {
		w.block()
		defer w.unblock()
	}
	if w != nil && task.Own(ctx, from) {
		w.join(h, from) // the context ends when the task is over, which costs less to wait for
	} else if ended := ctx.Done(); ended == nil {
		<-x.Done(h) // a select takes longer
	} else {
		select {
		case <-x.Done(h):
			return nil
		case <-ended:
		}
	}
	if x.Status(h) != task.Pending {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Canceled // Handle.Cancel is about to end the context
}

// Yield implements [task.Executor]. Meanwhile the worker makes no progress, and a new one
// need not find that out.
func (x *Executor) Yield(h *task.Handle) {
	if w := x.at(h); w != nil {
		w.pool.waiting.Add(1)
		defer w.pool.waiting.Add(-1)
	}
	runtime.Gosched()
}

// Flush implements [task.Executor].
func (x *Executor) Flush(int) int { return 0 }

// Pending implements [task.Executor]. While tasks are started and end, it may
// count some that are over, but it leaves none out.
func (x *Executor) Pending() int {
	n := -x.canceled.Load()
	x.books.each(func(b *books) { n -= b.over.Load() })
	// Behind the books of what is over: each of these was accepted before.
	n += x.accepted.Load()
	x.books.each(func(b *books) { n += b.started.Load() })
	if invariants.Enabled && int32(n) < 0 {
		invariants.Violated("workstealing", "no pending task is left out of the books")
	}
	return int(int32(n))
}

// Close implements [task.Executor].
func (x *Executor) Close() { x.closed.Store(true) }
