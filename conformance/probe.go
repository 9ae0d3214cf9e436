package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/dynolab/dyno/group"
)

// The vocabulary in which checks are written. A check is a function of an Env
// that returns normally or calls e.fail; the function check makes of it what a
// Clause wants. All of it is for the check's own goroutine, unless it says
// otherwise.

// failure is what fail panics with, to leave the check from any depth.
type failure struct{ err error }

// check turns the body of a check into one that returns what it found.
//
// Inlined it is in the package's initialization some hundred times: the compiler takes
// twice as long for the package then, and its code is larger.
//
//go:noinline
func check(body func(e *Env)) func(e *Env) error {
	return func(e *Env) (err error) {
		defer e.release()
		defer func() {
			switch v := recover().(type) {
			case nil:
			case failure:
				err = v.err
			default:
				p := group.NewPanicError(v)
				err = errors.New("the check panicked: " + text(p.Value) + "\n" + string(p.Stack))
			}
		}()
		body(e)
		e.hasChecked()
		return nil
	}
}

// atRandom makes a check of an experiment that takes its choices from rng, and repeats it.
func atRandom(experiment func(e *Env, rng *rand.Rand)) func(e *Env) error {
	return check(func(e *Env) {
		rng := e.random()
		for range e.rounds() {
			experiment(e, rng)
		}
	})
}

// hasChecked ends a check that has demanded nothing of what it has seen: it would pass
// whatever the implementation does. What an implementation need not do is for the
// fields of a Clause to say, and Clause.Skip.
func (e *Env) hasChecked() {
	if e.checked.Load() == 0 {
		e.fail("the check returned without having checked anything")
	}
}

// fail ends the check: what was seen, made of parts as text does.
func (e *Env) fail(parts ...any) {
	panic(failure{errors.New(text(parts...))})
}

// hangs ends a check that has waited in vain: what is the case, and where its
// goroutines are.
func (e *Env) hangs(parts ...any) {
	what := text(parts...)
	if e.Stacks != nil {
		what += "\n" + string(e.Stacks())
	}
	e.fail(what)
}

// waiting is a check's wait for something that must happen.
type waiting struct {
	e     *Env
	began time.Time
	tries int
	looks int // whether anything runs
	rests int // how often all was at rest, less how often it was not
}

// What a check waits for takes milliseconds. After restAfter it looks, each restPause, whether
// anything runs at all; when nothing has restLooks times, nothing will.
const (
	restAfter = time.Second
	restPause = 50 * time.Millisecond
	restLooks = 20
)

// wait begins to wait; what is said if the check hangs.
func (e *Env) wait(what string) *waiting {
	e.checked.Add(1)
	e.waitFor(what)
	return &waiting{e: e, began: time.Now()}
}

// again lets time pass until the check may look once more, or reports false: nothing
// that has not happened by now will. What must happen may need time to pass: a worker
// that is blocked is replaced only when that shows. Where Settle is exact time is cheap,
// and nothing that takes ten seconds of it is going to happen; elsewhere it is Patience
// that ends, or before that the rest of all goroutines, or what spins. Patience is counted in looks where
// there are any: time for which the process was stopped is not the implementation's.
func (w *waiting) again() bool {
	w.tries++
	switch {
	case w.e.Exact:
		if w.tries > 100 {
			return false
		}
		time.Sleep(100 * time.Millisecond)
	case w.e.AtRest != nil && time.Since(w.began) > restAfter:
		// One look says little, since what would wake a goroutine may wait for a processor of
		// the machine; a process that is stopped does not look.
		w.looks++
		if w.e.AtRest() {
			w.rests++
		} else if w.rests > 0 {
			w.rests--
		}
		time.Sleep(restPause)
		spins := w.e.Spins != nil && w.e.Spins()
		return w.rests < restLooks && !spins && time.Duration(w.looks)*restPause < w.e.Patience
	case w.tries%16 == 0:
		// Not all of it is yielding: TinyGo's clock for some emulated chips
		// stands while anything can run, and what is waited for may come by it.
		time.Sleep(time.Microsecond)
		return w.e.Patience == 0 || w.e.AtRest != nil || time.Since(w.began) < w.e.Patience
	default:
		yield()
	}
	return true
}

// require ends the check unless ok.
func (e *Env) require(ok bool, parts ...any) {
	e.checked.Add(1)
	if !ok {
		e.fail(parts...)
	}
}

// same ends the check unless got is the very error want.
func (e *Env) same(what string, got, want error) {
	e.checked.Add(1)
	if got != want {
		e.fail(what, " is ", got, ", want ", want)
	}
}

// random returns the check's source of random numbers.
func (e *Env) random() *rand.Rand { return rand.New(rand.NewPCG(e.Seed, 0)) }

// gate is a place where tasks wait until the check opens it. Its methods may
// be called by any goroutine.
type gate struct {
	opened  chan struct{}
	once    sync.Once
	arrived chan struct{} // a token for each that came, as far as there is room
}

func (e *Env) gate() *gate {
	g := &gate{opened: make(chan struct{}), arrived: make(chan struct{}, 1024)}
	e.mu.Lock()
	e.gates = append(e.gates, g)
	e.mu.Unlock()
	return g
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

// pass waits until the gate is open.
func (g *gate) pass() {
	select {
	case g.arrived <- struct{}{}:
	default:
	}
	<-g.opened
}

// reached waits until n tasks have reached g since it was called last.
func (e *Env) reached(g *gate, n int) {
	e.checked.Add(1)
	if e.Exact {
		e.Settle()
	}
	for i := range n {
		if e.Exact {
			select {
			case <-g.arrived:
				continue
			default:
				e.fail("only ", i, " of ", n, " tasks have started, and nothing more happens")
			}
		}
		e.waitFor("tasks to start")
		<-g.arrived
	}
	e.waitFor("")
}

// call is a call on a goroutine of its own.
type call[R any] struct {
	e      *Env
	what   string
	over   chan struct{}
	res    R
	ending string // "" if the call returned, otherwise how it ended
}

// came reports whether a channel is closed, or has something, which it takes.
func came[T any](c <-chan T) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// start calls f on a goroutine of its own; what names the call in messages.
func start[R any](e *Env, what string, f func() R) *call[R] {
	c := &call[R]{e: e, what: what, over: make(chan struct{}), ending: "ended its caller's goroutine"}
	go func() {
		defer close(c.over)
		defer func() {
			switch v := recover().(type) {
			case nil:
			case failure: // fail was called on this goroutine
				c.ending = "found that " + v.err.Error()
			default:
				c.ending = "panicked: " + group.NewPanicError(v).Error()
			}
		}()
		c.res = f()
		c.ending = ""
	}()
	return c
}

// get returns what the call returned; it must return by itself.
func (c *call[R]) get() R {
	if c.e.Exact {
		c.e.Settle()
		select {
		case <-c.over:
		default:
			c.e.fail(c.what, " does not return, and nothing more happens")
		}
	}
	return c.await()
}

// await returns what the call returned, like get, but without asking Settle
// first: for checks in which something runs all the time.
func (c *call[R]) await() R {
	c.e.waitFor(c.what + " to return")
	<-c.over
	c.e.waitFor("")
	c.e.require(c.ending == "", c.what, " ", c.ending)
	return c.res
}

// several makes n calls.
func several[C any](n int, f func(i int) C) []C {
	calls := make([]C, n)
	for i := range calls {
		calls[i] = f(i)
	}
	return calls
}

// returned demands that the calls return want.
func (e *Env) returned(want error, calls ...*call[error]) {
	for _, c := range calls {
		e.same("what "+c.what+" returned", c.get(), want)
	}
}

// blocks demands that the call has not returned although everything that can
// run has run; why says why it must wait.
func (c *call[R]) blocks(why string) {
	c.e.checked.Add(1)
	c.e.Settle()
	select {
	case <-c.over:
		c.e.require(c.ending == "", c.what, " ", c.ending)
		c.e.fail(c.what, " returned ", any(c.res), ", but must wait: ", why)
	default:
	}
}

// taken is what Next returned.
type taken struct {
	r   group.Result[int]
	ok  bool
	err error
}

// probe is a group under test. Its methods bound every call by the rules of
// get, so that no check hangs without a word where Settle is exact.
type probe struct {
	e        *Env
	g        group.Group[int]
	closed   bool // close was called
	finished bool // finish was called
}

func (e *Env) group(ctx context.Context, opts ...group.Option) *probe {
	return &probe{e: e, g: e.Impl.NewGroup(ctx, opts...)}
}

// oneGroup is check for a group without options. When the body has returned without
// finish, the group must be drained, and have succeeded.
//
//go:noinline
func oneGroup(body func(e *Env, p *probe)) func(e *Env) error {
	return check(func(e *Env) {
		p := e.open()
		body(e, p)
		e.hasChecked() // before finish does
		if !p.finished {
			p.finish(nil)
		}
	})
}

// open returns a new group with a background context.
func (e *Env) open(opts ...group.Option) *probe { return e.group(context.Background(), opts...) }

// submit calls Go, which may block.
func (p *probe) submit(fn group.TaskFunc[int]) *call[error] {
	return start(p.e, "Go", func() error { return p.g.Go(fn) })
}

// run calls Go with fns, which must be accepted at once.
func (p *probe) run(fns ...group.TaskFunc[int]) {
	for _, fn := range fns {
		if err := p.submit(fn).get(); err != nil {
			p.e.fail("Go returned ", err, ", want nil")
		}
	}
}

// submitAll calls Go with n tasks on one goroutine, which may block.
func (p *probe) submitAll(n int, task func(i int) group.TaskFunc[int]) *call[error] {
	return start(p.e, "a loop of Go", func() error {
		for i := range n {
			if err := p.g.Go(task(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// held submits a task that passes the gate it returns, and then returns v and err.
func (p *probe) held(v int, err error) *gate {
	hold := p.e.gate()
	p.run(gated(hold, v, err))
	return hold
}

// awaited is a call of Next.
type awaited struct{ *call[taken] }

// next calls Next, which may block.
func (p *probe) next(ctx context.Context) awaited {
	return awaited{start(p.e, "Next", func() (t taken) {
		t.r, t.ok, t.err = p.g.Next(ctx)
		return t
	})}
}

// gives demands that Next returns a result with this value and error.
func (n awaited) gives(value int, err error) {
	n.returns(taken{r: group.Result[int]{Value: value, Err: err}, ok: true})
}

// givesUp demands that Next returns this error and no result.
func (n awaited) givesUp(err error) { n.returns(taken{err: err}) }

// drains demands that Next says that the group is drained.
func (n awaited) drains() { n.returns(taken{}) }

func (n awaited) returns(want taken) {
	t := n.get()
	n.e.require(t == want, n.what, " returned ", t, ", want ", want)
}

// take returns the next result, which must come.
func (p *probe) take() group.Result[int] {
	t := p.next(context.Background()).get()
	if !t.ok || t.err != nil {
		p.e.fail("Next returned ", t, ", want a result")
	}
	return t.r
}

// takes demands that the next results carry these values and no error.
func (p *probe) takes(values ...int) {
	for i, v := range values {
		r := p.take()
		p.e.require(r == group.Result[int]{Value: v}, "result ", i+1, " of ", len(values), " is ", r, ", want value ", v)
	}
}

// takesError demands that the next result carries this value and error.
func (p *probe) takesError(value int, err error) {
	r := p.take()
	p.e.require(r.Value == value && r.Err == err, "the result is ", r, ", want value ", value, " and error ", err)
}

// takesAll takes n results, and these others, in any order, and demands that those carry the
// values 0 to n-1, each once.
func (p *probe) takesAll(n int, others ...group.Result[int]) {
	seen := make([]bool, n)
	for range n + len(others) {
		r := p.take()
		if i := slices.Index(others, r); i >= 0 {
			others = slices.Delete(others, i, i+1)
			continue
		}
		p.e.require(r.Err == nil && r.Value >= 0 && r.Value < n && !seen[r.Value],
			"a result is ", r, "; want each value from 0 to ", n-1, " once and no error")
		seen[r.Value] = true
	}
}

// drained demands that Next says, more than once, that the group is drained.
func (p *probe) drained() {
	for range 2 {
		p.next(context.Background()).drains()
	}
}

// empty demands that no result is queued on a group that is not drained.
func (p *probe) empty(why string) {
	t := p.next(ended(errStop)).get()
	p.e.require(t == taken{err: context.Canceled},
		"Next with an ended context returned ", t, ", want (zero, false, ", context.Canceled, "): ", why)
}

// wait calls Wait, which may block. It also drives an implementation that runs
// tasks only while a goroutine is in Next or Wait.
func (p *probe) wait() *call[error] {
	return start(p.e, "Wait", func() error { return p.g.Wait() })
}

// waits demands that Wait returns want.
func (p *probe) waits(want error) { p.e.same("what Wait returned", p.wait().get(), want) }

// close calls Close, which must not wait.
func (p *probe) close() {
	p.closed = true
	start(p.e, "Close", func() struct{} { p.g.Close(); return struct{}{} }).get()
}

// cancel calls Cancel, which must not wait.
func (p *probe) cancel(cause error) {
	start(p.e, "Cancel", func() struct{} { p.g.Cancel(cause); return struct{}{} }).get()
}

// finish closes the group, unless the check has, and demands that it is drained
// and that Wait returns want: how most checks end.
func (p *probe) finish(want error) {
	p.finished = true
	if !p.closed {
		p.close()
	}
	p.drained()
	p.waits(want)
}

// context returns the context that tasks of the group are given: it runs a
// task for that, and takes its result.
func (p *probe) context() context.Context {
	var ctx context.Context
	p.run(func(c context.Context) (int, error) {
		ctx = c
		return 0, nil
	})
	p.take()
	p.e.require(ctx != nil, "the task was given a nil context")
	return ctx
}

// alive demands that ctx has not ended.
func (p *probe) alive(ctx context.Context, why string) {
	p.e.Settle()
	p.e.require(ctx.Err() == nil, "the group's context has ended with cause ", context.Cause(ctx), ": ", why)
}

// endedBy demands that ctx has ended with the given cause.
func (p *probe) endedBy(ctx context.Context, cause error) {
	p.e.require(ctx.Err() != nil, "the group's context has not ended, want cause ", cause)
	p.e.same("the cause of the group's context", context.Cause(ctx), cause)
}

// value is a task that returns v.
func value(v int) group.TaskFunc[int] {
	return func(context.Context) (int, error) { return v, nil }
}

// failing is a task that returns v and err.
func failing(v int, err error) group.TaskFunc[int] {
	return func(context.Context) (int, error) { return v, err }
}

// gated is a task that passes g and then returns v and err.
func gated(g *gate, v int, err error) group.TaskFunc[int] {
	return func(context.Context) (int, error) {
		g.pass()
		return v, err
	}
}

// The errors of the checks. Each is a value of its own, compared by identity.
var (
	errA    = errors.New("error A")
	errB    = errors.New("error B")
	errStop = errors.New("stop")
)

// ended returns a context that has ended with the given cause.
func ended(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}

// text joins parts as messages show them.
func text(parts ...any) string {
	s := ""
	for _, p := range parts {
		switch p := p.(type) {
		case nil:
			s += "nil"
		case string:
			s += p
		case int:
			s += strconv.Itoa(p)
		case int64:
			s += strconv.FormatInt(p, 10)
		case uint64:
			s += strconv.FormatUint(p, 10)
		case bool:
			s += strconv.FormatBool(p)
		case []int:
			s += "["
			for i, v := range p {
				if i > 0 {
					s += " "
				}
				s += strconv.Itoa(v)
			}
			s += "]"
		case group.Result[int]:
			s += text("{value ", p.Value, ", error ", p.Err, "}")
		case taken:
			s += text("(", p.r, ", ", p.ok, ", ", p.err, ")")
		case error:
			s += "“" + p.Error() + "”"
		default:
			s += "(a value without text)"
		}
	}
	return s
}
