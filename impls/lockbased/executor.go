package lockbased

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
	"github.com/dynolab/dyno/task"
)

// patience is how often in a row a slot goes to a task that came back from
// waiting, or to the one that is waited for, while others wait to begin: the
// first is what keeps few tasks half done, and this what keeps the others
// from waiting for ever.
const patience = 64

// Executor runs tasks in slots, and keeps all there is to know of them behind one
// mutex. Make one with [NewExecutor].
//
// Of a handle's room, Word is the state, written under the mutex and read by
// any goroutine. The rest belongs to who has the mutex: ID is the task's phase, Link
// and Place are its neighbours in the queue of those that have not begun, and Own
// is the list of those who wait for it.
type Executor struct {
	slots    int
	sleepers sync.Pool // of *sleeper

	mu        sync.Mutex // guards everything below
	closed    bool
	pending   int                  // tasks whose state is Pending
	taken     int                  // slots in use; more than slots if some seem to be blocked
	fresh     task.Queue           // tasks that have not begun and are not over
	returning queue.List[*sleeper] // those that need a slot to go on after a wait
	streak    int                  // see patience

	timer    *time.Timer
	watching bool   // the timer is set
	given    uint64 // how often a slot has been given away
	lastSeen uint64 // given, when the timer was set
}

// The phases of a task.
const (
	queued  uint32 = iota // it is in fresh, or on its way there
	working               // it has a slot
	waiting               // it has given its slot away, and waits for another task
	gone                  // it has returned
)

// NewExecutor returns an executor that is open. While none is blocked four times
// GOMAXPROCS tasks are in progress at once, but for those that wait for another one: so
// a few that are blocked cost the others nothing.
func NewExecutor() *Executor { return newExecutor(4 * runtime.GOMAXPROCS(0)) }

var _ task.Joiner = (*Executor)(nil)

func newExecutor(slots int) *Executor { return &Executor{slots: slots} }

// Start implements [task.Executor].
func (x *Executor) Start(h, _ *task.Handle) error {
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return task.ErrClosed
	}
	slot := x.accept(h)
	x.mu.Unlock()
	if slot {
		go x.work(h)
	}
	return nil
}

// accept counts h, and reports whether it has got a slot. Else it is in the line. mu is held.
func (x *Executor) accept(h *task.Handle) (slot bool) {
	x.pending++
	if slot = x.taken < x.slots; slot {
		x.taken++
		h.Room().ID = working
	} else {
		x.fresh.Push(h)
		x.watch()
	}
	x.check()
	return slot
}

// Offer implements [task.Joiner]. A part is a task like any other, until it is taken back.
func (x *Executor) Offer(part, _ *task.Handle) {
	x.mu.Lock()
	slot := x.accept(part)
	x.mu.Unlock()
	if slot {
		go x.work(part)
	}
}

// Withdraw implements [task.Joiner]: it takes a part that has no slot out of the line.
func (x *Executor) Withdraw(part, _ *task.Handle) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if part.Room().ID != queued {
		return false
	}
	x.fresh.Remove(part)
	x.pending--
	x.check()
	return true
}

// work runs h and then every task that the slot is given to.
func (x *Executor) work(h *task.Handle) {
	returned := false
	defer func() {
		if returned {
			return
		}
		// The task called Goexit. This goroutine cannot go on, so another one
		// runs what the slot is given to.
		if next := x.leave(h, task.Failed); next != nil {
			go x.work(next)
		}
	}()
	for h != nil {
		s := x.Status(h)
		if s == task.Pending { // else it was canceled after it got the slot
			s = h.Run()
		}
		h = x.leave(h, s)
	}
	returned = true
}

// leave ends h, with state s if it is not over, and gives its slot away. If that
// is to a task that has not begun, leave returns it, for the caller to run.
func (x *Executor) leave(h *task.Handle, s task.Status) (next *task.Handle) {
	x.mu.Lock()
	defer x.mu.Unlock()
	phase := h.Room().ID
	h.Room().ID = gone
	if x.Status(h) == task.Pending {
		x.settle(h, s)
	}
	if phase == working { // not if a goroutine that it has left behind waits in its name
		next = x.pass()
	}
	x.watch()
	x.check()
	return next
}

// settle makes h, which is Pending, what s says, and ends the waits for it. mu is
// held.
func (x *Executor) settle(h *task.Handle, s task.Status) {
	r := h.Room()
	r.Word.Store(uint32(s)) // hands the result over to those who do not take the mutex
	x.pending--
	c := sleepersOf(h)
	r.Own = nil
	for !c.Empty() {
		w := c.Pop().Value
		if w.done != nil {
			close(w.done)
			r.Own = w // Done is going to return the same one
			continue
		}
		w.answered = true
		x.recall(w)
	}
}

// recall ends the wait of w, which has left the list: at once, unless it needs a
// slot and there is none. mu is held.
func (x *Executor) recall(w *sleeper) {
	switch {
	case w.from == nil:
	case w.from.Room().ID == gone: // a goroutine that it has left behind waits
	case x.taken >= x.slots:
		x.returning.Push(&w.node)
		return
	default:
		x.taken++
		w.from.Room().ID = working
	}
	w.ready <- struct{}{}
}

// pass gives a slot that comes free to the next one, or back. If that is a task
// that has not begun, pass returns it, and the caller has it run. mu is held.
func (x *Executor) pass() *task.Handle {
	x.given++
	for !x.returning.Empty() && (x.streak < patience || x.fresh.Len() == 0) {
		w := x.returning.Pop().Value
		if r := w.from.Room(); r.ID != gone {
			x.streak++
			r.ID = working
			w.ready <- struct{}{}
			return nil
		}
		w.ready <- struct{}{}
	}
	if x.fresh.Len() > 0 {
		x.streak = 0
		h := x.fresh.Oldest()
		x.begin(h)
		return h
	}
	x.taken--
	return nil
}

// lend is pass for the slot of a task that is going to wait for h. mu is held.
func (x *Executor) lend(h *task.Handle) *task.Handle {
	if h.Room().ID == queued && x.streak < patience {
		x.streak++
		x.given++
		x.begin(h)
		return h
	}
	return x.pass()
}

// begin takes h out of fresh: it has got a slot. mu is held.
func (x *Executor) begin(h *task.Handle) {
	x.fresh.Remove(h)
	h.Room().ID = working
}

// watch sets the timer if a task waits for a slot. mu is held.
func (x *Executor) watch() {
	if x.watching || x.fresh.Len() == 0 && x.returning.Empty() {
		return
	}
	x.watching = true
	x.lastSeen = x.given
	if x.timer == nil {
		x.timer = time.AfterFunc(period, x.watchdog)
	} else {
		x.timer.Reset(period)
	}
}

// watchdog is called by the timer. If no slot has changed hands for a whole period,
// the tasks that have them take long or are blocked: then it makes as many more.
func (x *Executor) watchdog() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watching = false
	if x.given == x.lastSeen {
		for range x.slots {
			x.taken++ // pass takes it back if no task needs it
			if next := x.pass(); next != nil {
				go x.work(next)
			}
		}
	}
	x.watch()
	x.check()
}

// Status implements [task.Executor].
func (x *Executor) Status(h *task.Handle) task.Status {
	return task.Status(h.Room().Word.Load())
}

// Wait implements [task.Executor].
//
// Its parts are functions of their own so that its frame is small: it is on the
// stack of every task that waits, and with a few words more those would not fit
// into the two kilobytes with which a goroutine begins.
func (x *Executor) Wait(ctx context.Context, h, from *task.Handle) error {
	if x.Status(h) != task.Pending {
		return nil // and the task's context need not be made
	}
	ended := ctx.Done()
	if ctx.Err() != nil {
		return x.verdict(ctx, h) // for which no slot need change hands
	}
	if w := x.lieDown(h, from); w != nil {
		select {
		case <-w.ready:
		case <-ended:
			x.getUp(w, h)
		}
		w.from, w.answered = nil, false
		x.sleepers.Put(w)
	}
	return x.verdict(ctx, h)
}

// lieDown begins a wait for h. If from has a slot it is given away. It returns nil
// if h is over.
func (x *Executor) lieDown(h, from *task.Handle) *sleeper {
	w, _ := x.sleepers.Get().(*sleeper)
	if w == nil {
		w = &sleeper{ready: make(chan struct{}, 1)}
		w.node.Value = w
	}
	x.mu.Lock()
	if x.Status(h) != task.Pending {
		x.mu.Unlock()
		x.sleepers.Put(w)
		return nil
	}
	c := sleepersOf(h)
	c.Push(&w.node)
	keepSleepers(h, c)
	var next *task.Handle
	if from != nil && from.Executor() == task.Executor(x) && from.Room().ID == working {
		w.from = from
		from.Room().ID = waiting
		next = x.lend(h)
	}
	x.check()
	x.mu.Unlock()
	if next != nil {
		go x.work(next)
	}
	return w
}

// getUp ends the wait of w for h because the caller's context has ended. It waits
// for a slot, if w needs one.
func (x *Executor) getUp(w *sleeper, h *task.Handle) {
	x.mu.Lock()
	if !w.answered { // else the goroutine that did it has recalled w
		c := sleepersOf(h)
		c.Remove(&w.node)
		keepSleepers(h, c)
		x.recall(w)
		x.watch()
		x.check()
	}
	x.mu.Unlock()
	<-w.ready
}

// verdict is what Wait returns: nil if h is over, whatever has become of ctx.
func (x *Executor) verdict(ctx context.Context, h *task.Handle) error {
	if x.Status(h) != task.Pending {
		return nil
	}
	return ctx.Err()
}

// Done implements [task.Executor].
func (x *Executor) Done(h *task.Handle) <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := sleepersOf(h)
	if !c.Empty() && c.Oldest().Value.done != nil {
		return c.Oldest().Value.done
	}
	if x.Status(h) != task.Pending {
		return past
	}
	w := &sleeper{done: make(chan struct{})}
	w.node.Value = w
	c.PushFront(&w.node)
	keepSleepers(h, c)
	return w.done
}

// past is the done channel of the tasks that were over before Done was called.
var past = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Cancel implements [task.Executor].
func (x *Executor) Cancel(h *task.Handle) bool {
	if x.Status(h) != task.Pending {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.Status(h) != task.Pending {
		return false
	}
	if h.Room().ID == queued {
		x.fresh.Remove(h)
	}
	x.settle(h, task.Cancelled)
	x.watch()
	x.check()
	return true
}

// Yield implements [task.Executor]. It is a hint: the task keeps its slot.
func (x *Executor) Yield(*task.Handle) { runtime.Gosched() }

// Flush implements [task.Executor]. There is nothing to do: tasks run by
// themselves.
func (x *Executor) Flush(int) int { return 0 }

// Pending implements [task.Executor].
func (x *Executor) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.pending
}

// Close implements [task.Executor].
func (x *Executor) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
}

// check panics if an invariant of the package comment does not hold. mu is held.
// It costs nothing in builds without invariants.
func (x *Executor) check() {
	if !invariants.Enabled {
		return
	}
	wanted := x.fresh.Len() > 0 || !x.returning.Empty()
	switch {
	case x.pending < 0:
		invariants.Violated("lockbased", "pending >= 0")
	case x.taken < 0:
		invariants.Violated("lockbased", "taken >= 0")
	case wanted && x.taken < x.slots:
		invariants.Violated("lockbased", "a task waits for a slot only if all are taken")
	case wanted && !x.watching:
		invariants.Violated("lockbased", "a task waits for a slot only if the timer is set")
	case x.fresh.Len() > 0 && x.fresh.Oldest().Room().ID != queued:
		invariants.Violated("lockbased", "a task that waits to begin has not begun")
	}
}
