package conformtest

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/task"
)

// taskBug is one way for an executor to be wrong. The empty bug is none.
type taskBug string

// is reports whether b is the given bug; each is named where it bites, and in
// the table of wrong executors.
func (b taskBug) is(name taskBug) bool {
	if !knownTaskBugs[name] {
		panic("a bug that is not in the table: " + string(name))
	}
	return b == name
}

// wrongExecutor runs every task on a goroutine of its own, under one mutex, with
// at most one bug. A lone one runs them one at a time, in order, when somebody
// asks: their goroutines hand on the turn.
type wrongExecutor struct {
	bug  taskBug
	lone bool

	mu      sync.Mutex // guards what follows, and all wrongTasks
	last    uint64     // number of the task that was started last
	pending int
	closed  bool
	kept    []*task.Handle // what should have been let go

	// Of a lone one.
	ready   []*task.Handle // that would go on
	running *task.Handle   // whose turn it is
	driven  bool           // somebody runs tasks
	back    chan struct{}  // a token when the turn is handed back
	change  chan struct{}  // closed, and made anew, when a driver looks again
}

// wrongTask is what a wrongExecutor knows of a task.
type wrongTask struct {
	state task.Status
	done  chan struct{}

	// Of a lone executor.
	turn    chan struct{} // a token when the task may go on; nil before it has begun
	waits   *task.Handle  // what it waits for, in Wait
	waiters []*task.Handle
}

func wrongTaskImpl(b taskBug, lone bool) dyno.Impl {
	p := dyno.Promises{Overlap: true, Eager: true, Parks: true}
	if lone {
		p = dyno.Promises{StartOrder: true, Deterministic: true, Parks: true}
	}
	return dyno.Impl{
		Name: "wrong", Promises: p,
		NewExecutor: func() task.Executor {
			return &wrongExecutor{bug: b, lone: lone, change: make(chan struct{}), back: make(chan struct{}, 1)}
		},
	}
}

func of(h *task.Handle) *wrongTask { return h.Room().Own.(*wrongTask) }

func (x *wrongExecutor) Start(h, _ *task.Handle) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return task.ErrClosed
	}
	x.last++
	x.pending++
	h.Room().ID = x.last
	h.Room().Own = &wrongTask{done: make(chan struct{})}
	if x.lone {
		x.queue(h)
		x.changed()
		return nil
	}
	go x.run(h)
	return nil
}

// run runs a task that has not begun, on a goroutine that is its own.
func (x *wrongExecutor) run(h *task.Handle) {
	s := task.Failed // unless Run returns
	defer func() {
		x.mu.Lock()
		x.end(h, s)
		if x.lone {
			x.running = nil
			x.back <- struct{}{}
			x.changed()
		}
		x.mu.Unlock()
	}()
	if x.Status(h) != task.Pending {
		return
	}
	s = h.Run()
}

// end makes a task what it is to be for ever, if it is Pending. mu is held.
func (x *wrongExecutor) end(h *task.Handle, s task.Status) bool {
	t := of(h)
	if t.state != task.Pending {
		return false
	}
	t.state = s
	x.pending--
	close(t.done)
	for _, w := range slices.Backward(t.waiters) {
		x.wake(w, h)
	}
	t.waiters = nil
	return true
}

func (x *wrongExecutor) Status(h *task.Handle) task.Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	return of(h).state
}

func (x *wrongExecutor) Wait(ctx context.Context, h, from *task.Handle) error {
	if x.lone {
		return x.loneWait(ctx, h, from)
	}
	select {
	case <-of(h).done:
		return nil
	default:
	}
	select {
	case <-of(h).done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *wrongExecutor) Done(h *task.Handle) <-chan struct{} { return of(h).done }

func (x *wrongExecutor) Cancel(h *task.Handle) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.end(h, task.Cancelled) {
		return false
	}
	if x.lone && of(h).turn == nil { // it never begins
		x.ready = slices.DeleteFunc(x.ready, func(r *task.Handle) bool { return r == h })
	}
	x.changed()
	return true
}

func (x *wrongExecutor) Yield(h *task.Handle) {
	if !x.lone {
		runtime.Gosched()
		return
	}
	x.mu.Lock()
	x.queue(h)
	x.pass(h)
	x.mu.Unlock()
}

func (x *wrongExecutor) Flush(limit int) int {
	if !x.lone {
		return 0
	}
	if limit <= 0 {
		limit = task.FlushLimit
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.driven {
		return 0
	}
	n := 0
	x.drive(func() bool { return n == limit }, func() { n++ })
	return n
}

func (x *wrongExecutor) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.pending
}

func (x *wrongExecutor) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
}

// queue puts a task at the end of those that are ready. mu is held, here and in
// what follows.
func (x *wrongExecutor) queue(h *task.Handle) {
	x.ready = append(x.ready, h)
}

// first puts a task before all that are ready.
func (x *wrongExecutor) first(h *task.Handle) {
	x.ready = slices.DeleteFunc(x.ready, func(r *task.Handle) bool { return r == h })
	x.ready = slices.Insert(x.ready, 0, h)
}

// changed wakes all who wait for something to do, or for an end.
func (x *wrongExecutor) changed() {
	close(x.change)
	x.change = make(chan struct{})
}

// wake makes a task ready that waits for another one, before all others.
func (x *wrongExecutor) wake(w, h *task.Handle) {
	if t := of(w); t.waits == h {
		t.waits = nil
		x.first(w)
	}
}

// drive runs tasks, one step after the other, until stop or none is ready. Nobody
// else does.
func (x *wrongExecutor) drive(stop func() bool, step func()) {
	x.driven = true
	for len(x.ready) > 0 && !stop() {
		h := x.ready[0]
		x.ready = x.ready[1:]
		step()
		x.running = h
		if t := of(h); t.turn == nil {
			t.turn = make(chan struct{}, 1)
			go x.run(h)
		} else {
			t.turn <- struct{}{}
		}
		x.mu.Unlock()
		<-x.back
		x.mu.Lock()
	}
	x.driven = false
	x.changed()
}

// pass hands the turn of h back, and waits for the next one.
func (x *wrongExecutor) pass(h *task.Handle) {
	x.running = nil
	x.back <- struct{}{}
	x.mu.Unlock()
	<-of(h).turn
	x.mu.Lock()
}

// loneWait is Wait of a lone executor. A context may be a task's, which asks for
// the state of that one: it is never looked at under the lock.
func (x *wrongExecutor) loneWait(ctx context.Context, h, from *task.Handle) error {
	if x.Status(h) != task.Pending {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ended := false // guarded by mu
	defer context.AfterFunc(ctx, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		ended = true
		if from != nil && from.Executor() == task.Executor(x) {
			x.wake(from, h)
		}
		x.changed()
	})()
	x.mu.Lock()
	over := func() bool { return of(h).state != task.Pending }
	var err error
	switch {
	case from != nil && x.running == from:
		err = x.inside(over, &ended, h, from)
	default:
		err = x.outside(over, &ended, h)
	}
	quit := err == nil && !over()
	x.mu.Unlock()
	if quit {
		return ctx.Err()
	}
	return err
}

// inside waits as a task that has the turn, until over or ended. mu is held.
func (x *wrongExecutor) inside(over func() bool, ended *bool, h, from *task.Handle) error {
	if over() || *ended {
		return nil
	}
	if err := circle(h, from); err != nil {
		return err
	}
	of(from).waits = h
	of(h).waiters = append(of(h).waiters, from)
	if slices.Contains(x.ready, h) {
		x.first(h)
	}
	x.pass(from)
	return nil
}

// outside waits, and has tasks run if nobody else does, until over or ended. mu is
// held.
func (x *wrongExecutor) outside(over func() bool, ended *bool, h *task.Handle) error {
	for !over() && !*ended {
		switch {
		case x.driven:
			change := x.change
			x.mu.Unlock()
			<-change
			x.mu.Lock()
		case len(x.ready) == 0:
			return task.ErrDeadlock
		default:
			x.drive(func() bool { return over() || *ended }, func() {})
		}
	}
	return nil
}

// circle returns an error if from, which is to wait for h, is one of those that h
// waits for.
func circle(h, from *task.Handle) error {
	tasks := []uint64{from.Room().ID}
	for c := h; c != nil; c = of(c).waits {
		if c == from {
			return &task.CycleError{Tasks: tasks}
		}
		tasks = append(tasks, c.Room().ID)
	}
	return nil
}
