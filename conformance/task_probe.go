package conformance

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/task"
)

// Task returns the clauses of package task, in the order of the rules. They say
// what who starts a task, waits for it or cancels it can see, and the task itself.
func Task() []Clause { return slices.Concat(taskParts()...) }

func taskParts() [][]Clause {
	return [][]Clause{
		startClauses, forkClauses, pendingClauses, closedClauses,
		handleClauses, taskWaitClauses, taskCancelClauses,
		futureClauses, joinClauses, forClauses, taskErrorClauses, taskGoexitClauses, insideClauses,
		onDemandClauses, taskPromiseClauses, taskLeftoverClauses, taskStormClauses,
	}
}

// TaskClauses returns the clauses of package task as [Clauses] does: none for an
// implementation without an executor.
func TaskClauses(impl dyno.Impl) iter.Seq[*Clause] {
	if impl.NewExecutor == nil {
		return func(func(*Clause) bool) {}
	}
	return each(taskParts())
}

// The vocabulary in which checks of tasks are written, on top of that for groups.
// A check has a runner: an executor, and what has its tasks run if they do not by
// themselves. Tasks may call e.fail and e.require: what they say is the check's.

// tasks turns the body of a check of tasks into one that returns what it found.
// When the body has returned the gates are opened and the executor is closed, and
// every task must end.
//
//go:noinline
func tasks(body func(r *runner)) func(e *Env) error {
	return check(func(e *Env) {
		r := e.runner()
		defer r.abandon()
		body(r)
		e.hasChecked() // before end does
		r.end()
	})
}

// startOrder is what executors promise that run tasks in the order in which they were
// accepted. Those that run tasks on demand lack eager; if they lack overlapEager they
// run one task at a time.
var startOrder = dyno.Promises{StartOrder: true}

// runner is an executor under test.
type runner struct {
	e *Env
	x task.Executor

	over    bool       // end was called
	driving bool       // the check has asked for tasks to run
	flush   *call[int] // the last call of Flush; nil if there was none
}

func (e *Env) runner() *runner { return &runner{e: e, x: e.Impl.NewExecutor()} }

// anyOrder reports whether tasks have their turn one at a time in an order that
// not known: then one that is held up holds up any other.
func (r *runner) anyOrder() bool {
	p := r.e.Impl.Promises
	return !p.Overlap && !p.StartOrder
}

// abandon leaves nothing running after a check that has failed.
func (r *runner) abandon() {
	if !r.over {
		r.e.release()
		start(r.e, "Close", func() struct{} { r.x.Close(); return struct{}{} })
	}
}

// end closes the executor and demands that every task comes to its end.
func (r *runner) end() {
	r.over = true
	r.e.release()
	r.close()
	r.drive()
	r.until("every task to be over", func() bool { return r.x.Pending() == 0 })
	r.idle()
}

// drive has tasks run from now on, whether or not they do by themselves. It does
// not wait.
func (r *runner) drive() {
	r.driving = true
	r.again()
}

// again calls Flush if the last call has returned.
func (r *runner) again() {
	if !r.driving || r.e.Impl.Promises.Eager {
		return
	}
	if r.flush != nil {
		select {
		case <-r.flush.over:
			r.e.require(r.flush.ending == "", "Flush ", r.flush.ending)
		default:
			return // a task is in progress
		}
	}
	r.flush = start(r.e, "Flush", func() int { return r.x.Flush(0) })
}

// idle lets everything run that can.
func (r *runner) idle() {
	r.again()
	r.e.Settle()
}

// until waits until cond, which it calls now and then. seen, which may be missing,
// says what is the case instead.
func (r *runner) until(what string, cond func() bool, seen ...func() string) {
	e := r.e
	for wait := e.wait(what); ; {
		r.again()
		if e.Exact {
			e.Settle()
		}
		if cond() {
			break
		}
		if !wait.again() {
			is := "waited in vain for " + what
			if len(seen) > 0 {
				is = seen[0]()
			}
			e.hangs(is, ", and nothing more happens; ", r.x.Pending(), " tasks are Pending")
		}
	}
	e.waitFor("")
}

// reached has tasks run and waits until n of them have reached g since it was
// called last.
func (r *runner) reached(g *gate, n int) {
	r.drive()
	for range n {
		r.until("tasks to start", func() bool { return came(g.arrived) })
	}
}

// done returns what a call returned that may need other tasks to run, as until
// does.
func done[R any](r *runner, c *call[R]) R {
	r.until(c.what+" to return", func() bool { return came(c.over) })
	return c.await()
}

// atOnce calls f, which must return by itself, on a goroutine of its own.
func atOnce[R any](r *runner, what string, f func() R) R { return start(r.e, what, f).get() }

// start starts a task without a value.
func (r *runner) start(fn func(ctx context.Context) error) *task.Handle {
	return atOnce(r, "Start", func() *task.Handle { return task.Start(r.x, fn) })
}

// spawn starts a task with a value.
func (r *runner) spawn(fn func(ctx context.Context) (int, error)) *task.Future[int] {
	return atOnce(r, "Go", func() *task.Future[int] { return task.Go(r.x, fn) })
}

// held starts a task that passes a gate, and then returns what fn does. It has
// reached the gate when held returns.
func (r *runner) held(fn func(ctx context.Context) (int, error)) (*task.Future[int], *gate) {
	hold := r.e.gate()
	f := r.spawn(func(ctx context.Context) (int, error) {
		hold.pass()
		return fn(ctx)
	})
	r.reached(hold, 1)
	return f, hold
}

// close calls Close, which must not wait.
func (r *runner) close() {
	atOnce(r, "Close", func() struct{} { r.x.Close(); return struct{}{} })
}

// cancel calls Cancel, which must not wait.
func (r *runner) cancel(f *task.Future[int]) bool { return atOnce(r, "Cancel", f.Cancel) }

// flushes calls Flush and returns the number of steps.
func (r *runner) flushes(limit int) int {
	return done(r, start(r.e, "Flush", func() int { return r.x.Flush(limit) }))
}

// pending demands that so many tasks are Pending.
func (r *runner) pending(want int, why string) {
	got := atOnce(r, "Pending", r.x.Pending)
	r.e.require(got == want, "Pending returned ", got, ", want ", want, ": ", why)
}

// answer is what Value returned.
type answer struct {
	v   int
	err error
}

func (a answer) String() string { return text("(", a.v, ", ", a.err, ")") }

// value calls Value with ctx, which may block. It has tasks run that do not run
// by themselves.
func (r *runner) value(f *task.Future[int], ctx context.Context) *call[answer] {
	return start(r.e, "Value", func() (a answer) {
		a.v, a.err = f.Value(ctx)
		return a
	})
}

// answer waits for f.
func (r *runner) answer(f *task.Future[int]) answer {
	a := done(r, r.value(f, context.Background()))
	r.mine(a.err)
	return a
}

// mine ends the check if err is the failure of a task that called e.fail.
func (r *runner) mine(err error) {
	var te *task.Error
	if errors.As(err, &te) {
		if v, ok := te.Panic.(failure); ok {
			panic(v)
		}
	}
}

// gives demands that f comes to have the value v.
func (r *runner) gives(f *task.Future[int], v int) {
	a := r.answer(f)
	r.e.require(a == answer{v: v}, "Value returned ", a.String(), ", want ", v)
	r.is(f, task.Resolved)
}

// givesAll demands that each task comes to have its place as its value.
func (r *runner) givesAll(all []*task.Future[int]) {
	for i, f := range all {
		r.gives(f, i)
	}
}

// fails demands that f comes to fail with an Error of this cause, and returns it.
func (r *runner) fails(f *task.Future[int], cause error) *task.Error {
	a := r.answer(f)
	te, ok := a.err.(*task.Error)
	r.e.require(ok && a.v == 0, "Value returned ", a.String(), ", want no value and a *task.Error")
	r.e.same("the cause of the failure", te.Cause, cause)
	r.is(f, task.Failed)
	return te
}

// off demands that f is canceled, and answers so.
func (r *runner) off(f *task.Future[int]) {
	r.is(f, task.Cancelled)
	a := r.value(f, context.Background()).get()
	te, ok := a.err.(*task.Error)
	r.e.require(ok && a.v == 0 && errors.Is(te, context.Canceled), "Value returned ", a.String(), ", want no value and a *task.Error with cause ", context.Canceled)
	r.is(f, task.Cancelled)
}

// is demands that f has this state.
func (r *runner) is(f *task.Future[int], want task.Status) {
	got := atOnce(r, "Status", f.Status)
	r.e.require(got == want, "the state is ", got.String(), ", want ", want.String())
	closed := false
	select {
	case <-atOnce(r, "Done", f.Done):
		closed = true
	default:
	}
	r.e.require(closed == (want != task.Pending), "the state is ", got.String(), ", and that the channel of Done is closed is ", closed)
}

// returns is a task that returns v.
func returns(v int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return v, nil }
}

// raises is a task that returns v and err.
func raises(v int, err error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return v, err }
}

// tape is what tasks have done, in order. Any goroutine may write it.
type tape struct{ eventLog }

// text returns the entries, one after the other.
func (t *tape) text() string {
	s := ""
	for _, entry := range t.read() {
		s += entry
	}
	return s
}
