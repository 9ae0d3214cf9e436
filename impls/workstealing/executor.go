package workstealing

import (
	"context"
	"math/bits"
	"runtime"
	"sync"
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

	// patience is the most turns that a new processor leaves to those that are busy
	// with tasks which wait for one another, before it takes over other work (see
	// Executor.await). Such a turn is a time slice of Go's scheduler, 10 ms. It
	// leaves one to each that there is, up to this: so in a second of such work there
	// are some 14 processors more, and not one each slice.
	patience = 32
)

// The word of a task's room: its [task.Status] in the two lowest bits, and these.
const (
	// claimed says that somebody runs the task. Whoever sets it does.
	claimed = 4 << iota

	// ending says that it is decided how the task ends, and by whom: who has set
	// the bit counts the task as over and then writes the state. For others it is
	// Pending until then. So whoever sees a task over finds it counted.
	ending

	// awaited says that there is a channel to close in the room's Own.
	awaited

	status = 3
)

// Executor runs tasks on processors that steal from one another, and a task that
// waits for one that nobody has begun runs it in its own place. Make one with
// [NewExecutor].
//
// An executor without work has no goroutines; one that is no longer used need not
// be closed.
type Executor struct {
	start func() // work; a value, to start a goroutine without allocating a closure

	// watch packs round<<32 | lookers, as that of Pool does: whoever makes a task
	// visible reads lookers afterwards and starts a processor at 0; whoever stops
	// looking lowers lookers first and looks once more afterwards.
	watch  atomic.Uint64
	closed atomic.Bool
	_      [47]byte // read for every task, written rarely

	// loops and joins count the processors that have begun a task in this round,
	// loops those that were between two tasks, and joins those that did so in a
	// task that waits.
	loops, joins atomic.Int32
	_            [56]byte

	arrivals arrivals

	// accepted counts the tasks started from outside, and canceled those that
	// were over by Cancel. A processor counts the others, in its forks and in over.
	accepted, canceled atomic.Uint32

	rows   atomic.Pointer[[]*row] // every slot in use, and some that are parked, for thieves
	active atomic.Int32           // the slots that have a goroutine; written under mu

	mu     sync.Mutex   // guards what follows and the writing of rows and active
	parked []*processor // slots without a goroutine
	made   uint64       // slots ever made
	before uint32       // pending tasks in the books of slots that were dropped, modulo 1<<32

	waits sync.Mutex // guards every room's Own
}

var _ task.Executor = (*Executor)(nil)

// NewExecutor returns an executor of tasks.
func NewExecutor() *Executor {
	x := new(Executor)
	x.start = x.work
	x.rows.Store(new([]*row))
	return x
}

// Start implements [task.Executor]. A task that another one starts goes to the
// processor of that one.
func (x *Executor) Start(h, from *task.Handle) error {
	if x.closed.Load() {
		return task.ErrClosed
	}
	if p := x.at(from); p != nil {
		p.forks.push(h)
		p.show()
	} else {
		x.accepted.Add(1)
		x.arrivals.push(h)
	}
	x.wake()
	return nil
}

// at returns the processor on which the task is in progress, if it is one of x.
func (x *Executor) at(h *task.Handle) *processor {
	if h == nil {
		return nil
	}
	p, _ := h.Room().Place.(*processor)
	if p == nil || p.x != x {
		return nil
	}
	return p
}

// state is the state of a task with the word v.
func state(v uint64) task.Status { return task.Status(v & status) }

// Status implements [task.Executor].
func (x *Executor) Status(h *task.Handle) task.Status { return state(h.Room().Word.Load()) }

// claim reports whether the caller is to run h: nobody else does, and it was not
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
// somebody else decides. over is where it is counted.
//
// Between the two steps of somebody else everybody sees the task Pending. "Too
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
	// From now on no channel is added.
	if w.Swap(claimed|uint64(s))&awaited != 0 {
		x.waits.Lock()
		done := h.Room().Own.(chan struct{})
		x.waits.Unlock()
		close(done)
	}
	return true
}

// Cancel implements [task.Executor]. A task that nobody has begun stays where it
// is queued, as one that was claimed, and is dropped when its turn comes.
func (x *Executor) Cancel(h *task.Handle) bool { return x.end(h, task.Cancelled, &x.canceled) }

// always is the channel of tasks that were over before somebody asked.
var always = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done implements [task.Executor].
func (x *Executor) Done(h *task.Handle) <-chan struct{} {
	x.waits.Lock()
	defer x.waits.Unlock()
	r := h.Room()
	if done, ok := r.Own.(chan struct{}); ok {
		return done
	}
	if state(r.Word.Load()) != task.Pending {
		return always
	}
	done := make(chan struct{})
	r.Own = done
	for {
		v := r.Word.Load()
		if v&status != 0 {
			close(done) // it is over since, and nobody was told
			return done
		}
		if r.Word.CompareAndSwap(v, v|awaited) {
			return done
		}
	}
}

// Wait implements [task.Executor]. If the awaited task has not begun, and the wait
// can end in no other way than by its end, it runs here.
func (x *Executor) Wait(ctx context.Context, h, from *task.Handle) error {
	v := h.Room().Word.Load()
	if v&^awaited == 0 && from != nil && task.Own(ctx, from) {
		if p := x.at(from); p != nil && p.depth < deepest && x.Status(from) == task.Pending {
			if claim(h) {
				p.forks.trim() // as a rule it is the newest
				p.perform(h)
			}
		}
		v = h.Room().Word.Load()
	}
	if state(v) != task.Pending {
		return nil
	}
	return x.block(ctx, h, from)
}

// block is Wait without helping. If it blocks a processor's goroutine somebody else
// looks after what is visible, as in any other case in which one blocks.
func (x *Executor) block(ctx context.Context, h, from *task.Handle) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := x.Done(h)
	p := x.at(from)
	if p != nil {
		p.still()
	}
	if p != nil && task.Own(ctx, from) {
		// The context ends when the task is over, which costs less to wait for.
		select {
		case <-done:
			return nil
		case <-x.Done(from):
		}
	} else {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
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

// Yield implements [task.Executor].
func (x *Executor) Yield(*task.Handle) { runtime.Gosched() }

// Flush implements [task.Executor].
func (x *Executor) Flush(int) int { return 0 }

// Pending implements [task.Executor]. While tasks are started and end, it may
// count some that are over, but it leaves none out.
func (x *Executor) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	rows := *x.rows.Load()
	n := x.before - x.canceled.Load()
	for _, r := range rows {
		for i := range r.used {
			n -= r.slots[i].Load().over.Load()
		}
	}
	// Behind the books of what is over: each of these was accepted before.
	n += x.accepted.Load()
	for _, r := range rows {
		for i := range r.used {
			n += r.slots[i].Load().forks.accepted()
		}
	}
	if invariants.Enabled && int32(n) < 0 {
		invariants.Violated("workstealing", "no pending task is left out of the books")
	}
	return int(int32(n))
}

// Close implements [task.Executor].
func (x *Executor) Close() { x.closed.Store(true) }

// wake starts a processor unless one is looking for work already. It is called
// after a task became visible.
func (x *Executor) wake() {
	for {
		v := x.watch.Load()
		if lookers(v) != 0 {
			return
		}
		if x.watch.CompareAndSwap(v, v+1) { // fails also if only the round changed
			go x.start()
			return
		}
	}
}

// await returns when this new processor is needed. It is Pool.await, but that a
// task which waits may run others for as long as it likes on its processor, which
// looks at nothing else meanwhile: so for such ones it waits a few turns only.
func (x *Executor) await() {
	procs := int32(runtime.GOMAXPROCS(0))
	for turn := int32(0); ; turn++ {
		loops, joins := x.loops.Swap(0), x.joins.Swap(0)
		x.watch.Add(1 << 32)
		if loops+joins < procs || loops < procs && turn >= min(x.active.Load(), patience) || !x.visible() {
			return
		}
		runtime.Gosched()
	}
}

// visible reports whether there is a task that a looker could take, or one that
// is claimed or over and was left in a queue.
func (x *Executor) visible() bool {
	if !x.arrivals.empty() {
		return true
	}
	for _, r := range *x.rows.Load() {
		for shown := r.shown.Load(); shown != 0; shown &= shown - 1 {
			p := r.slots[bits.TrailingZeros64(shown)].Load()
			if p.forks.len() > 0 {
				return true
			}
			// The owner adds a task and then looks whether it is shown; this hides
			// it and then looks whether there is a task. One of them sees the other.
			r.hide(p.bit)
			if p.forks.len() > 0 {
				r.show(p.bit)
				return true
			}
		}
	}
	return false
}

// row is places for slots.
type row struct {
	// shown has a bit for each slot whose forks may hold a task: looking for work
	// costs as much as there are such slots, and not as many as are blocked.
	shown atomic.Uint64

	used  int // how many there are; guarded by the executor's mutex
	slots [64]atomic.Pointer[processor]
}

// show sets a bit of shown, and hide clears it. They are not Or and And, which
// TinyGo does not have for 64 bits on 32-bit processors; they are called when a slot
// gets its first task, or is found without one, and not for every task.
func (r *row) show(bit uint64) {
	for {
		shown := r.shown.Load()
		if shown&bit != 0 || r.shown.CompareAndSwap(shown, shown|bit) {
			return
		}
	}
}

func (r *row) hide(bit uint64) {
	for {
		shown := r.shown.Load()
		if shown&bit == 0 || r.shown.CompareAndSwap(shown, shown&^bit) {
			return
		}
	}
}

// unpark returns a slot for the calling goroutine.
func (x *Executor) unpark() *processor {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.active.Add(1)
	if n := len(x.parked); n > 0 {
		p := x.parked[n-1]
		x.parked = x.parked[:n-1]
		return p
	}
	rows := *x.rows.Load()
	if n := len(rows); n == 0 || rows[n-1].used == len(rows[n-1].slots) {
		rows = append(rows[:n:n], new(row))
		x.rows.Store(&rows)
	}
	r := rows[len(rows)-1]
	x.made++
	p := &processor{x: x, row: r, bit: 1 << r.used, rng: x.made * 0x9e3779b97f4a7c15}
	r.slots[r.used].Store(p)
	r.used++
	return p
}

// park gives back the slot of a goroutine that is about to end. With the last one
// all slots but those of one row are dropped.
func (x *Executor) park(p *processor) {
	p.forks.tidy()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.parked = append(x.parked, p)
	rows := *x.rows.Load()
	if x.active.Add(-1) > 0 || len(rows) == 1 {
		return
	}
	var kept []*processor
	for _, p := range x.parked {
		if p.row == rows[0] {
			kept = append(kept, p)
		} else {
			x.before += p.forks.accepted() - p.over.Load()
		}
	}
	x.parked = kept
	x.rows.Store(&[]*row{rows[0]})
}
