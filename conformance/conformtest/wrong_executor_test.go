package conformtest

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/task"
)

// wrongExecutor runs every task on a goroutine of its own, under one mutex, with
// at most one bug. A lone one runs them one at a time, in order, when a goroutine
// asks: their goroutines hand on the turn.
type wrongExecutor struct {
	bug  bug
	lone bool

	mu      sync.Mutex // guards what follows, and all wrongTasks
	last    uint64     // number of the task that was started last
	over    int        // tasks
	pending int
	closed  bool
	kept    []*task.Handle  // what should have been let go
	gone    []chan struct{} // of those who have given up, for one bug only
	all     []*task.Handle  // for some bugs only
	slot    chan struct{}   // held by who runs, for one bug only

	// Of a lone one.
	ready   []*task.Handle // that would go on
	running *task.Handle   // whose turn it is
	driven  bool           // a goroutine runs tasks
	back    chan struct{}  // a token when the turn is handed back
	change  chan struct{}  // closed, and made anew, when a driver looks again
}

// wrongTask is what a wrongExecutor knows of a task.
type wrongTask struct {
	state task.Status
	done  chan struct{}
	left  chan struct{} // closed when its goroutine is done with it
	idle  bool          // it was not asked for; for one bug only
	begun bool
	back  bool // it is a part that was withdrawn

	// Of a lone executor.
	turn    chan struct{} // a token when the task may go on; nil before it has begun
	waits   *task.Handle  // what it waits for, in Wait
	waiters []*task.Handle
}

func wrongExecutorImpl(b bug, lone bool) dyno.Impl {
	p := dyno.Promises{Overlap: true, Eager: true, Parks: true}
	if lone {
		p = dyno.Promises{StartOrder: true, Deterministic: true, Parks: true}
	}
	return dyno.Impl{
		Name: "wrong", Promises: p,
		NewExecutor: func() task.Executor {
			x := &wrongExecutor{bug: b, lone: lone, change: make(chan struct{}), back: make(chan struct{}, 1), slot: make(chan struct{}, 1)}
			if b.is("executors kept") {
				wrongExecutorsLeft = append(wrongExecutorsLeft, x)
			}
			if !lone {
				return wrongJoiner{x}
			}
			return x
		},
	}
}

// wrongExecutorsLeft holds executors that should be nowhere.
var wrongExecutorsLeft []*wrongExecutor

func of(h *task.Handle) *wrongTask { return h.Room().Own.(*wrongTask) }

func (x *wrongExecutor) Start(h, _ *task.Handle) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed && !x.bug.is("tasks accepted after Close") {
		return task.ErrClosed
	}
	h.Room().ID = uint32(x.last)
	x.last++
	x.pending++
	if !x.bug.is("tasks numbered from 0") {
		h.Room().ID = uint32(x.last)
	}
	t := &wrongTask{done: make(chan struct{}), left: make(chan struct{})}
	if x.bug.is("one waiter released") {
		t.done = make(chan struct{}, 1)
	}
	h.Room().Own = t
	if x.bug.is("tasks kept", "executors kept") {
		x.kept = append(x.kept, h)
	}
	if x.bug.is("Close cancels", "Close waits", "Cancel cancels others, too") {
		x.all = append(x.all, h)
	}
	if x.lone && !x.bug.is("tasks run by themselves") {
		x.queue(h)
		x.changed()
		return nil
	}
	switch {
	case x.bug.is("every fiftieth task forgotten") && x.last%50 == 0:
	case x.bug.is("tasks started by who waits only"):
		t.idle = true
	case x.bug.is("task run by its starter"):
		x.mu.Unlock()
		x.run(h)
		x.mu.Lock()
	default:
		go x.run(h)
	}
	return nil
}

// wrongJoiner is a wrongExecutor that runs parts, too.
type wrongJoiner struct{ *wrongExecutor }

var _ task.Joiner = wrongJoiner{}

func (x wrongJoiner) Offer(part, _ *task.Handle) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := &wrongTask{done: make(chan struct{}), left: make(chan struct{})}
	part.Room().Own = t
	if x.bug.is("parts offered are Pending") {
		x.pending++
	}
	if x.bug.is("parts offered to no worker", "parts withdrawn always") {
		return
	}
	go func() {
		x.mu.Lock()
		if t.back {
			x.mu.Unlock()
			return
		}
		t.begun = true
		if !x.bug.is("parts offered are Pending") {
			x.pending++
		}
		x.mu.Unlock()
		x.run(part)
	}()
}

func (x wrongJoiner) Withdraw(part, _ *task.Handle) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := of(part)
	if t.begun && !x.bug.is("parts withdrawn that have begun") || x.bug.is("parts offered to no worker") {
		return false
	}
	t.back = true
	return true
}

// run runs a task that has not begun, on a goroutine that is its own.
func (x *wrongExecutor) run(h *task.Handle) {
	s := task.Failed // unless Run returns
	if x.bug.is("Goexit taken for success") {
		s = task.Resolved
	}
	returned := false
	defer func() {
		if !returned && x.bug.is("Goexit loses the end") {
			return
		}
		x.mu.Lock()
		x.end(h, s)
		close(of(h).left)
		if x.lone {
			x.running = nil
			x.back <- struct{}{}
			x.changed()
		}
		x.mu.Unlock()
		if x.bug.is("one task at a time") {
			<-x.slot
		}
	}()
	if x.bug.is("one task at a time") {
		x.slot <- struct{}{}
	}
	x.mu.Lock()
	begin := of(h).state == task.Pending
	of(h).begun = begin
	x.mu.Unlock()
	if !begin && !x.bug.is("canceled task runs all the same") {
		returned = true
		if x.bug.is("canceled tasks kept") {
			x.mu.Lock()
			x.kept = append(x.kept, h)
			x.mu.Unlock()
		}
		return
	}
	s = h.Run()
	returned = true
}

// end makes a task what it is to be for ever, if it is Pending. mu is held.
func (x *wrongExecutor) end(h *task.Handle, s task.Status) bool {
	t := of(h)
	if t.state != task.Pending {
		if t.state == task.Cancelled && s != task.Cancelled {
			if x.bug.is("result beats an earlier Cancel") {
				t.state = s
				if !t.begun { // a failure would have no error, and who asks for it crash
					t.state = task.Resolved
				}
			}
			if x.bug.is("canceled task counts until it returns") {
				x.pending--
			}
		}
		return false
	}
	t.state = s
	x.over++
	if x.bug.is("counted after it is seen") {
		close(t.done)
		x.mu.Unlock()
		runtime.Gosched()
		x.mu.Lock()
		x.pending--
		return true
	}
	if s != task.Cancelled || !x.bug.is("canceled task counts until it returns") {
		x.pending--
	}
	if x.bug.is("one waiter released") {
		t.done <- struct{}{}
		return true
	}
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
	t := of(h)
	over, off := t.done, ctx.Done()
	switch {
	case x.bug.is("waiters released when the task returns"):
		over = t.left
	case x.bug.is("Wait ignores its context"):
		off = nil
	case x.bug.is("context beats the result") && ctx.Err() != nil:
		return ctx.Err()
	case x.bug.is("tasks started by who waits only"):
		x.mu.Lock()
		if t.idle {
			t.idle = false
			go x.run(h)
		}
		x.mu.Unlock()
	case x.bug.is("who gives up leaves a goroutine"):
		end, c := over, make(chan struct{})
		go func() {
			<-end
			close(c)
		}()
		over = c
	}
	for x.bug.is("who waits spins") && !spinOver.Load() && ctx.Err() == nil && x.Status(h) == task.Pending {
		runtime.Gosched()
	}
	select {
	case <-over:
		return nil
	default:
	}
	select {
	case <-over:
		return nil
	case <-off:
		switch {
		case x.bug.is("who gives up remembered"):
			x.mu.Lock()
			x.gone = append(x.gone, make(chan struct{}))
			x.mu.Unlock()
		case x.bug.is("who gives up takes the task along"):
			x.Cancel(h)
		case x.bug.is("cause instead of Err"):
			return context.Cause(ctx)
		}
		return ctx.Err()
	}
}

func (x *wrongExecutor) Done(h *task.Handle) <-chan struct{} {
	t := of(h)
	switch {
	case x.bug.is("Done made anew"):
		c := make(chan struct{})
		go func() {
			<-t.done
			close(c)
		}()
		return c
	case x.bug.is("Done closed when the task returns"):
		return t.left
	}
	return t.done
}

func (x *wrongExecutor) Cancel(h *task.Handle) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.bug.is("Cancel of a task in progress refused") && of(h).begun {
		return false
	}
	if x.bug.is("Cancel says yes again") && of(h).state == task.Cancelled {
		return true
	}
	if !x.end(h, task.Cancelled) {
		return false
	}
	if x.bug.is("Cancel cancels others, too") {
		for _, o := range x.all {
			x.end(o, task.Cancelled)
		}
	}
	if x.lone && of(h).turn == nil && !x.bug.is("canceled task is a step") { // it never begins
		x.ready = slices.DeleteFunc(x.ready, func(r *task.Handle) bool { return r == h })
	}
	x.changed()
	return true
}

func (x *wrongExecutor) Yield(h *task.Handle) {
	if !x.lone {
		if x.bug.is("Yield swallows the turn") {
			<-of(h).done
		}
		runtime.Gosched()
		return
	}
	x.mu.Lock()
	if x.bug.is("who yields comes first") {
		x.first(h)
	} else {
		x.queue(h)
	}
	x.pass(h)
	x.mu.Unlock()
}

func (x *wrongExecutor) Flush(limit int) int {
	if !x.lone {
		if x.bug.is("Flush says what it was asked") {
			return limit
		}
		return 0
	}
	if limit <= 0 {
		limit = task.FlushLimit
		if x.bug.is("budget of 1,000") {
			limit = 1000
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.driven {
		return 0
	}
	n := 0
	ended := x.over
	x.drive(func() bool { return n == limit || x.bug.is("ends counted as steps") && x.over-ended >= limit }, func() { n++ })
	if x.bug.is("ends counted as steps") {
		return x.over - ended
	}
	return n
}

func (x *wrongExecutor) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.bug.is("Pending counts all that were ever started") {
		return int(x.last)
	}
	return x.pending
}

func (x *wrongExecutor) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed && x.bug.is("second Close panics") {
		panic("wrong: closed before")
	}
	x.closed = true
	switch {
	case x.bug.is("Close cancels"):
		for _, h := range x.all {
			x.end(h, task.Cancelled)
		}
	case x.bug.is("Close waits"):
		for x.pending > 0 {
			h := x.all[len(x.all)-1]
			for _, c := range x.all {
				if of(c).state == task.Pending {
					h = c
				}
			}
			x.mu.Unlock()
			<-of(h).done
			x.mu.Lock()
		}
	case x.bug.is("goroutine left by Close"):
		go func() { <-make(chan int) }()
	}
}

// queue puts a task at the end of those that are ready. mu is held, here and in
// what follows.
func (x *wrongExecutor) queue(h *task.Handle) {
	if x.bug.is("newest task first") {
		x.ready = slices.Insert(x.ready, 0, h)
		return
	}
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
		if x.bug.is("who waited comes last") {
			x.queue(w)
		} else {
			x.first(w)
		}
	}
}

// drive runs tasks, one step after the other, until stop or none is ready. No one
// else does.
func (x *wrongExecutor) drive(stop func() bool, step func()) {
	x.driven = true
	for len(x.ready) > 0 && !stop() {
		i := 0
		if x.bug.is("random order") {
			i = rand.IntN(len(x.ready))
		}
		h := x.ready[i]
		x.ready = slices.Delete(x.ready, i, i+1)
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
	if x.bug.is("waiters are not told that tasks are not run") {
		// They were told that a task is over. They have the time to see that tasks
		// are run, which is true for a moment more.
		x.mu.Unlock()
		for range 100 {
			runtime.Gosched()
		}
		x.mu.Lock()
		x.driven = false
		return
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
	if err := circle(h, from); err != nil && !x.bug.is("circle not noticed") && (h == from || !x.bug.is("circle of many not noticed")) {
		return err
	}
	of(from).waits = h
	of(h).waiters = append(of(h).waiters, from)
	if slices.Contains(x.ready, h) && !x.bug.is("awaited task in its turn") {
		x.first(h)
	}
	x.pass(from)
	return nil
}

// outside waits, and has tasks run if no other goroutine does, until over or ended. mu is
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
	tasks := []uint64{uint64(from.Room().ID)}
	for c := h; c != nil; c = of(c).waits {
		if c == from {
			return &task.CycleError{Tasks: tasks}
		}
		tasks = append(tasks, uint64(c.Room().ID))
	}
	return nil
}

// wrongExecutors says of every bug of an executor which clauses must notice it.
var wrongExecutors = []wrong{
	// Starting.
	{"every fiftieth task forgotten", "start-once"},
	{"task run by its starter", "promise-overlap-forks wait-context-ends"},
	{"tasks started by who waits only", "promise-eager start-once"},
	{"one task at a time", "promise-overlap-forks future-tree"},
	{"tasks accepted after Close", "close-refuses"},

	// Counting.
	{"Pending counts all that were ever started", "pending-counts pending-at-the-end"},
	{"counted after it is seen", "pending-at-the-end"},
	{"canceled task counts until it returns", "pending-canceled"},

	// Parts.
	{"parts offered are Pending", "join"},
	{"parts offered to no worker", "join join-in-parts"},
	{"parts withdrawn always", "join-waits"},
	{"parts withdrawn that have begun", "join-waits join-error"},

	// The end.
	{"Close cancels", "close-runs-on"},
	{"Close waits", "close-runs-on close-refuses"},
	{"second Close panics", "close-runs-on"},
	{"goroutine left by Close", "leaves-no-goroutine"},

	// States and waits.
	{"Done made anew", "done-same"},
	{"Done closed when the task returns", "cancel-in-progress wait-result-beats-context"},
	{"one waiter released", "wait-by-many cancel-releases-waiters wait-same-for-ever"},
	{"waiters released when the task returns", "cancel-releases-waiters cancel-in-progress"},
	{"Wait ignores its context", "wait-context-ends wait-context-has-ended wait-in-a-task-gives-up"},
	{"context beats the result", "wait-result-beats-context"},
	{"cause instead of Err", "wait-context-has-ended"},
	{"who gives up takes the task along", "wait-context-ends wait-context-has-ended"},
	{"who gives up leaves a goroutine", "waiters-leave-no-goroutine"},

	// Cancel.
	{"canceled task runs all the same", "cancel-before-start"},
	{"result beats an earlier Cancel", "cancel-in-progress cancel-in-a-task"},
	{"Cancel of a task in progress refused", "cancel-in-progress pending-canceled"},
	{"Cancel says yes again", "cancel-in-progress"},
	{"Cancel cancels others, too", "cancel-in-progress"},

	// Goexit, yields, and what is left.
	{"Goexit loses the end", "goexit goexit-nested"},
	{"Goexit taken for success", "goexit goexit-nested"},
	{"Yield swallows the turn", "yield-lets-others-run"},
	{"Flush says what it was asked", "flush-of-eager"},
	{"tasks kept", "not-retained"},
	{"canceled tasks kept", "canceled-not-retained"},
}

// wrongLoneExecutors is the same for executors that run one task at a time, on demand.
var wrongLoneExecutors = []wrong{
	{"tasks run by themselves", "flush-counts-steps"},
	{"newest task first", "order-start order-trace"},
	{"random order", "promise-deterministic order-start"},
	{"who yields comes first", "order-trace"},
	{"awaited task in its turn", "order-awaited-first"},
	{"who waited comes last", "order-awaited-first"},
	{"circle not noticed", "cycle"},
	{"circle of many not noticed", "cycle"},
	{"tasks numbered from 0", "cycle"},
	{"budget of 1,000", "flush-budget"},
	{"ends counted as steps", "flush-counts-steps order-trace"},
	{"canceled task is a step", "flush-counts-steps"},
	{"waiters are not told that tasks are not run", "waiters-take-over"},
}

// wrongExecutorsOnHost and wrongLoneExecutorsOnHost are the same for clauses that need a host.
var wrongExecutorsOnHost = []wrong{
	{"result beats an earlier Cancel", "linearizable"},
	{"Cancel says yes again", "linearizable"},
	{"context beats the result", "linearizable"},
	{"one task at a time", "deep-joins blocked-for-real"},
	{"who gives up remembered", "waiters-forgotten"},
	{"who gives up leaves a goroutine", "waiters-forgotten"},
	{"tasks kept", "futures-collected"},
	{"goroutine left by Close", "futures-collected"},
	{"executors kept", "futures-collected"},
	{"who waits spins", "waits-are-idle"},
}

var wrongLoneExecutorsOnHost = []wrong{
	{"Cancel says yes again", "linearizable"},
}
