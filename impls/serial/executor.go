package serial

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
	"github.com/dynolab/dyno/task"
)

// ExecutorConfig is what makes an executor of this implementation different from
// the one that [NewExecutor] makes. The zero value is that one.
type ExecutorConfig struct {
	// Schedule is the order in which tasks have their turn. With every order but
	// FIFO a task can be interrupted when it starts another one, too.
	Schedule Schedule

	// StallAfter is how long a task may be in progress, without a turn of any other,
	// while others are ready, before the calls of Wait and Value that wait outside
	// tasks return a [*StallError]. It is what Config.StallAfter is to a group: 0
	// means a minute, and negative means for ever.
	StallAfter time.Duration
}

// Executor runs tasks one at a time and on demand: in Flush, Wait and Value. Make
// one with [NewExecutor] or [NewExecutorWith].
type Executor struct {
	mu      sync.Mutex // guards everything below, and the Rooms of all tasks, but for the state
	sched   *scheduler // nil: first in, first out
	ready   task.Queue // tasks that wait for their turn
	started uint64     // tasks so far
	pending int        // tasks whose state is Pending
	closed  bool

	running bool         // a coroutine has the baton
	current *task.Handle // whose coroutine that is
	turns   uint64       // how often the baton has been handed over

	patrons []*waiter        // who waits outside tasks: the demand
	late    []*waiter        // those of them who are answered before the next turn
	flush   *waiter          // the one of them that is a call of Flush, if one is
	polled  queue.List[*job] // tasks that wait for another one
	spare   *waiter          // one that is not in use

	idle  *coroutine // those that have no task
	idles int
	free  *job // those that are not in use
	frees int

	watchdog watchdog
	stalled  *StallError // set while the task in progress is taken for stalled
}

// job is what a task has that is in progress, or that a caller waits for. It is in
// its Room's Own.
type job struct {
	h  *task.Handle
	co *coroutine // nil until the task begins

	waiters queue.List[*waiter] // who waits for the task, in the order in which they came
	done    chan struct{}       // nil until a goroutine asks for it

	// What the task itself waits for.
	awaits *task.Handle
	ctx    context.Context // of that wait
	err    error           // what Wait returns
	self   waiter          // in the list of those who wait for awaits

	poll queue.Node[*job] // in the list of those that are polled
	next *job             // in the list of those that are free
}

// waiter is what waits for a task: another task, or a call of Wait, or of
// Flush, outside tasks.
type waiter struct {
	j    *job                // the task that waits, or nil
	h    *task.Handle        // what a call of Wait waits for
	node queue.Node[*waiter] // in the list of those who wait for it

	// Outside tasks.
	ready    chan struct{} // capacity 1; a token means that the wait is over
	err      error
	place    int // index in the executor's patrons
	steps    int // Flush: taken so far
	limit    int
	answered bool
	late     bool // it is in the executor's list
}

// What an executor keeps for later: enough for tasks that take turns with each
// other, and little enough to be forgotten.
const (
	maxIdle = 8
	maxFree = 64
)

// polls is how many of the tasks that wait are asked, each time the baton is handed
// over, whether the context of their wait has ended. Each costs a miss of the
// cache where many wait.
const polls = 2

// NewExecutor returns an executor that runs tasks in the order in which they were
// started.
func NewExecutor() *Executor { return NewExecutorWith(ExecutorConfig{}) }

// NewExecutorWith returns an executor that follows c.
func NewExecutorWith(c ExecutorConfig) *Executor {
	return &Executor{sched: newScheduler(c.Schedule), watchdog: newWatchdog(c.StallAfter)}
}

var _ task.Joiner = (*Executor)(nil)

// Start implements [task.Executor]. It only queues, but for a Schedule that
// interrupts the task that calls it.
func (x *Executor) Start(h, from *task.Handle) error {
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return task.ErrClosed
	}
	x.accept(h, from)
	return nil
}

// accept queues h. mu is held, and released.
func (x *Executor) accept(h, from *task.Handle) {
	x.started++
	x.pending++
	h.Room().ID = uint32(x.started)
	x.ready.Push(h)
	if from != nil && from == x.current && x.sched.fine() {
		x.ready.PushFront(from) // by default it goes on
		x.pass(own(from))
		return
	}
	x.watch()
	x.mu.Unlock()
}

// Offer implements [task.Joiner]. A part is a task like any other, until it is taken back.
func (x *Executor) Offer(part, from *task.Handle) {
	x.mu.Lock()
	x.accept(part, from)
}

// Withdraw implements [task.Joiner]: it takes a part that has had no turn out of the queue.
func (x *Executor) Withdraw(part, _ *task.Handle) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.Status(part) != task.Pending || own(part) != nil { // a job is made when it begins: no other task can wait for it
		return false
	}
	x.ready.Remove(part)
	x.pending--
	return true
}

// Status implements [task.Executor].
func (x *Executor) Status(h *task.Handle) task.Status {
	return task.Status(h.Room().Word.Load())
}

// Pending implements [task.Executor].
func (x *Executor) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.pending
}

// Close implements [task.Executor].
func (x *Executor) Close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
}

// Done implements [task.Executor]. It is no demand: no goroutine runs the task because
// of it.
func (x *Executor) Done(h *task.Handle) <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := h.Room()
	if done, ok := r.Own.(chan struct{}); ok {
		return done
	}
	j := own(h)
	switch {
	case j != nil && j.done != nil:
		return j.done
	case x.Status(h) != task.Pending:
		return over
	case j == nil:
		j = x.job(h)
	}
	j.done = make(chan struct{})
	return j.done
}

// over is what Done returns for tasks that were over before any goroutine asked.
var over = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Cancel implements [task.Executor].
func (x *Executor) Cancel(h *task.Handle) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.Status(h) != task.Pending {
		return false
	}
	j := own(h)
	x.settle(h, task.Cancelled)
	switch {
	case j == nil:
		x.ready.Remove(h)
	case j.co == nil:
		x.ready.Remove(h)
		x.release(j)
	case j.awaits != nil: // most likely its context is about to end
		x.polled.Remove(&j.poll)
		x.polled.PushFront(&j.poll)
	}
	x.watch() // those who waited for h may be ready
	return true
}

// Yield implements [task.Executor].
func (x *Executor) Yield(h *task.Handle) {
	x.mu.Lock()
	if h != x.current { // a goroutine that is not the task's
		x.mu.Unlock()
		return
	}
	x.stepped()
	x.ready.Push(h)
	x.pass(own(h))
}

// Wait implements [task.Executor]. Beyond the contract it returns a [*StallError]
// if it is called outside tasks and a task in progress stalls.
func (x *Executor) Wait(ctx context.Context, h, from *task.Handle) error {
	if x.Status(h) != task.Pending {
		return nil
	}
	x.mu.Lock()
	if x.Status(h) != task.Pending {
		x.mu.Unlock()
		return nil
	}
	if err := ctx.Err(); err != nil {
		x.mu.Unlock()
		return err
	}
	if from == nil || from != x.current {
		return x.attend(ctx, h)
	}
	return x.await(ctx, h, from)
}

// await is Wait in a task: its coroutine hands the baton on. mu is held, and
// released.
func (x *Executor) await(ctx context.Context, h, from *task.Handle) error {
	j := own(from)
	if invariants.Enabled && j.awaits != nil {
		invariants.Violated("serial", "a task waits for one thing at a time")
	}
	for t := h; t != nil; {
		if t == from {
			err := circle(from, h)
			x.mu.Unlock()
			return err
		}
		o := own(t)
		if o == nil {
			break
		}
		t = o.awaits
	}
	o := x.job(h)
	if o.co == nil {
		x.ready.Remove(h) // it has its turn now, ahead of the queue
		x.ready.PushFront(h)
	}
	o.enlist(&j.self)
	j.awaits, j.ctx = h, ctx
	j.self.j = j
	j.poll.Value = j
	x.polled.Push(&j.poll)
	x.pass(j)
	return j.err
}

// circle returns the error that names the tasks from the one that would wait, and
// from h, for which it would, back to it.
func circle(from, h *task.Handle) error {
	err := &task.CycleError{Tasks: []uint64{uint64(from.Room().ID)}}
	for ; h != from; h = own(h).awaits {
		err.Tasks = append(err.Tasks, uint64(h.Room().ID))
	}
	return err
}

// attend is Wait outside tasks: a demand, which keeps the baton going round. mu is
// held, and released.
func (x *Executor) attend(ctx context.Context, h *task.Handle) error {
	if x.stalled != nil {
		err := x.stalled
		x.mu.Unlock()
		return err
	}
	w := x.patron()
	w.h = h
	x.job(h).enlist(w)
	x.serve()
	if done := ctx.Done(); done == nil {
		<-w.ready
	} else {
		select {
		case <-w.ready:
		case <-done:
			x.mu.Lock()
			if !w.answered {
				x.dispel(w, ctx.Err())
			}
			x.mu.Unlock()
			<-w.ready
		}
	}
	return x.dismiss(w)
}

// Flush implements [task.Executor]. It returns early, beyond the contract, if a
// task in progress stalls.
func (x *Executor) Flush(limit int) int {
	x.mu.Lock()
	if x.running {
		x.mu.Unlock()
		return 0
	}
	if limit <= 0 {
		limit = task.FlushLimit
	}
	w := x.patron()
	w.limit = limit
	x.flush = w
	x.serve()
	<-w.ready
	steps := w.steps
	_ = x.dismiss(w)
	return steps
}

// patron returns a new waiter that is no task. mu is held.
func (x *Executor) patron() *waiter {
	w := x.spare
	x.spare = nil
	if w == nil {
		w = &waiter{ready: make(chan struct{}, 1)}
	}
	w.place = len(x.patrons)
	x.patrons = append(x.patrons, w)
	return w
}

// dispel ends the wait of w with err, unless what it waits for is over. mu is
// held.
func (x *Executor) dispel(w *waiter, err error) {
	switch {
	case w.late:
		x.late = slices.DeleteFunc(x.late, func(o *waiter) bool { return o == w })
		err = nil
	case w.h != nil:
		j := own(w.h)
		j.leave(w)
		if j.co == nil && j.waiters.Empty() && j.done == nil {
			x.release(j)
		}
	}
	x.answer(w, err)
}

// serve sees to it that a coroutine has the baton. mu is held, and released.
func (x *Executor) serve() {
	if x.running {
		x.mu.Unlock()
		return
	}
	x.running = true
	to := x.hand()
	x.mu.Unlock()
	to.run()
}

// answer ends the wait of w, which waits for nothing any longer. mu is held.
func (x *Executor) answer(w *waiter, err error) {
	last := len(x.patrons) - 1
	x.patrons[w.place] = x.patrons[last]
	x.patrons[w.place].place = w.place
	x.patrons[last] = nil
	x.patrons = x.patrons[:last]
	if x.flush == w {
		x.flush = nil
	}
	w.err, w.answered = err, true
	w.ready <- struct{}{}
}

// dismiss returns what w was answered and keeps w for the next one.
func (x *Executor) dismiss(w *waiter) error {
	err := w.err
	*w = waiter{ready: w.ready}
	x.mu.Lock()
	x.spare = w
	x.mu.Unlock()
	return err
}

// stepped counts a step of those that Flush is to take. mu is held.
func (x *Executor) stepped() {
	if w := x.flush; w != nil {
		if w.steps++; w.steps == w.limit {
			x.answer(w, nil)
		}
	}
}

// own returns the job of h, or nil. mu is held.
func own(h *task.Handle) *job {
	j, _ := h.Room().Own.(*job)
	return j
}

// job returns the job of h, which is Pending. mu is held.
func (x *Executor) job(h *task.Handle) *job {
	j := own(h)
	if j == nil {
		if j = x.free; j == nil {
			j = new(job)
		} else {
			x.free = j.next
			x.frees--
		}
		j.h = h
		h.Room().Own = j
	}
	return j
}

// release takes the job away from its task, which is over or has not begun, and
// for which no caller waits. mu is held.
func (x *Executor) release(j *job) {
	r := j.h.Room()
	if r.Own = nil; j.done != nil {
		r.Own = j.done
	}
	*j = job{}
	if x.frees < maxFree {
		j.next = x.free
		x.free = j
		x.frees++
	}
}

// settle makes h, which is Pending, what it is to be for ever, and tells every waiter
// who waits for it. mu is held.
func (x *Executor) settle(h *task.Handle, s task.Status) {
	h.Room().Word.Store(uint32(s))
	x.pending--
	j := own(h)
	if j == nil {
		return
	}
	if j.done != nil {
		close(j.done)
	}
	for !j.waiters.Empty() { // backwards, so that the one that came first is next
		w := j.waiters.Newest().Value
		j.leave(w)
		switch {
		case w.j != nil:
			x.resume(w.j, nil)
			x.ready.PushFront(w.j.h)
		case x.current != h:
			// It was canceled, most likely by the task in progress: the goroutine that waits goes on
			// when that has had its turn, or both would run at once.
			w.late = true
			x.late = append(x.late, w)
		default:
			x.answer(w, nil)
		}
	}
}

// resume ends the wait of j's task, which waits for nothing any longer and is to
// be made ready. mu is held.
func (x *Executor) resume(j *job, err error) {
	x.polled.Remove(&j.poll)
	j.awaits, j.ctx, j.err = nil, nil, err
}

// enlist adds w to those who wait for j's task. The executor's mutex is held.
func (j *job) enlist(w *waiter) {
	w.node.Value = w
	j.waiters.Push(&w.node)
}

// leave undoes enlist.
func (j *job) leave(w *waiter) { j.waiters.Remove(&w.node) }

// poll makes ready those whose wait is over because its context has ended. The
// list goes round, so that every waiter is asked some time. mu is held.
func (x *Executor) poll() {
	first := x.polled.Oldest()
	for i := range polls {
		n := x.polled.Oldest()
		if n == nil || i > 0 && n == first {
			return // there are no more
		}
		j := n.Value
		if err := j.ctx.Err(); err != nil {
			own(j.awaits).leave(&j.self)
			x.resume(j, err)
			x.ready.Push(j.h)
			continue
		}
		x.polled.Remove(n)
		x.polled.Push(n)
	}
}

// watch arms the watchdog if others wait for the task in progress. mu is held.
func (x *Executor) watch() {
	if x.running && x.ready.Len() > 0 {
		x.watchdog.arm(x.turns, x)
	}
}

// bark is what the watchdog does when it fires: if no goroutine has had a turn since it
// was armed, those who wait outside tasks are told.
func (x *Executor) bark() {
	x.mu.Lock()
	defer x.mu.Unlock()
	armed := x.watchdog.armed
	x.watchdog.armed = false
	if !armed || !x.running || x.ready.Len() == 0 {
		return
	}
	if x.turns != x.watchdog.turn {
		x.watch() // another one by now: give it the same time
		return
	}
	x.stalled = &StallError{Task: uint64(x.current.Room().ID), Waiting: x.ready.Len(), After: x.watchdog.after}
	for len(x.patrons) > 0 {
		x.dispel(x.patrons[0], x.stalled)
	}
}

// readyTasks is what the schedule of an executor chooses from.
type readyTasks Executor

func (q *readyTasks) len() int { return q.ready.Len() }

func (q *readyTasks) numbers(each func(int, uint64)) {
	i := 0
	for h := q.ready.Oldest(); h != nil; h = h.Room().Link {
		each(i, uint64(h.Room().ID))
		i++
	}
}

func (q *readyTasks) who(i int) string {
	h := q.ready.Oldest()
	for range i {
		h = h.Room().Link
	}
	return named("task", uint64(h.Room().ID))
}
