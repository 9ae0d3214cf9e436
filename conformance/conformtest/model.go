package conformtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/group"
	"pgregory.net/rapid"
)

// The model-based test: a random program of calls is run step by step on a
// group and on a sequential model of the contract, and after every step, when
// all is settled, what has returned must be what the model says. rapid finds a
// shortest program that fails.

// model is the contract for one group, one step at a time. Tasks are known by
// numbers. Which of several blocked calls is served is not its business.
type model struct {
	limit    int
	failFast bool
	closed   bool
	inflight []int // accepted and unfinished
	queue    []int // completed and not taken, oldest first
	first    error // first task error
	cause    error // of the group's context
	answer   error // of Wait, once settled
	settled  bool
}

func (m *model) full() bool { return m.limit > 0 && len(m.inflight) >= m.limit }

func (m *model) drained() bool { return m.settled && len(m.queue) == 0 }

func (m *model) accept(task int) { m.inflight = append(m.inflight, task) }

func (m *model) complete(task int, err error) {
	m.inflight = slices.DeleteFunc(m.inflight, func(i int) bool { return i == task })
	m.queue = append(m.queue, task)
	if err != nil && m.first == nil {
		m.first = err
		if m.failFast {
			m.cancel(err)
		}
	}
	m.settle()
}

func (m *model) cancel(cause error) {
	if m.cause == nil && !m.settled {
		m.cause = cause
	}
}

func (m *model) settle() {
	if m.closed && len(m.inflight) == 0 && !m.settled {
		m.answer, m.settled = m.verdict(), true
	}
}

// verdict is what Wait returns when no task is in flight.
func (m *model) verdict() error {
	switch {
	case m.settled:
		return m.answer
	case m.first != nil:
		return m.first
	}
	return m.cause
}

// Program is what rapid draws: options and steps.
type program struct {
	limit, buffer int
	failFast      bool
	steps         []step
}

type step struct {
	op  op
	arg int // which task, consumer, outcome or cause; taken modulo what there is
}

type op int

const (
	opGo     op = iota // submit a task; arg decides how it will end
	opEnd              // let the arg-th held task end
	opNext             // a consumer that waits
	opTry              // Next with an ended context
	opGiveUp           // the arg-th waiting consumer gives up
	opWait             // a goroutine waits
	opCancel           // arg decides the cause
	opClose
)

func (s step) String() string {
	name := [...]string{"go", "end", "next", "try", "give-up", "wait", "cancel", "close"}[s.op]
	switch s.op {
	case opNext, opTry, opWait, opClose:
		return name
	}
	return name + "(" + strconv.Itoa(s.arg) + ")"
}

func (p program) String() string {
	s := []string{fmt.Sprintf("limit=%d buffer=%d fail-fast=%v:", p.limit, p.buffer, p.failFast)}
	for _, st := range p.steps {
		s = append(s, st.String())
	}
	return strings.Join(s, " ")
}

// programs draws programs. Submitting, ending and consuming are more frequent
// than what ends a group's life.
func programs() *rapid.Generator[program] {
	weighted := []op{opGo, opGo, opGo, opGo, opEnd, opEnd, opEnd, opNext, opNext, opTry, opGiveUp, opWait, opCancel, opClose}
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom(weighted).Draw(t, "op"), rapid.IntRange(0, 5).Draw(t, "arg")}
	}), 1, 40)
	return rapid.Custom(func(t *rapid.T) program {
		return program{
			limit:    rapid.IntRange(0, 3).Draw(t, "limit"),
			buffer:   rapid.IntRange(0, 4).Draw(t, "buffer"),
			failFast: rapid.Bool().Draw(t, "fail-fast"),
			steps:    steps.Draw(t, "steps"),
		}
	})
}

// taskError is the error of a task, by its number.
type taskError struct{ task int }

func (e *taskError) Error() string { return "error of task " + strconv.Itoa(e.task) }

var errOther = errors.New("another cause")

// machine runs a program on a group and a model side by side.
type machine struct {
	e     *conformance.Env
	g     group.Group[int]
	m     model
	gated bool // tasks are held until opEnd; else they end as soon as they run

	tasks   []*modelTask
	submits []*pending[error]
	nexts   []*nextCall
	waits   []*pending[error]

	mu     sync.Mutex
	ended  []ending // by tasks, as their last act, in order
	broken error    // what calls did that did not return
}

type modelTask struct {
	outcome int // 0 to 3 value, 4 error, 5 panic
	hold    chan struct{}
	open    bool
}

func (t *modelTask) err(i int) error {
	if t.outcome < 4 {
		return nil
	}
	return &taskError{i}
}

type ending struct {
	task  int
	cause error // of the context that the task saw
}

// pending is a call that may block.
type pending[R any] struct {
	task int // for Go
	over chan struct{}
	res  R
}

type nextCall struct {
	pending[nextResult]
	cancel context.CancelFunc
	gaveUp bool
}

type nextResult struct {
	r   group.Result[int]
	ok  bool
	err error
}

// call calls f on a goroutine of its own.
func call[R any](x *machine, p *pending[R], f func() R) {
	p.over = make(chan struct{})
	go func() {
		err := errors.New("a call ended its caller's goroutine")
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("a call panicked: %v", v)
			}
			x.mu.Lock()
			defer x.mu.Unlock()
			x.broken = errors.Join(x.broken, err)
			close(p.over)
		}()
		p.res = f()
		err = nil
	}()
}

func (x *machine) brokenCall() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.broken
}

func (p *pending[R]) returned() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// run runs the program and returns the first difference.
func (p program) run(e *conformance.Env) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("a call panicked: %v\nprogram: %v", v, p)
		}
	}()
	pr := e.Impl.Promises
	x := &machine{e: e, gated: pr.Overlap && pr.Eager, m: model{limit: p.limit, failFast: p.failFast}}
	if !pr.Eager {
		x.m.limit = 0 // tasks run one at a time on demand, and Go never blocks
	}
	x.g = e.Impl.NewGroup(context.Background(),
		group.WithMaxConcurrency(p.limit), group.WithResultBuffer(p.buffer), group.WithFailFast(p.failFast))
	defer x.letGo()
	for i, st := range p.steps {
		if err := x.step(st); err != nil {
			return fmt.Errorf("step %d: %w\nprogram: %v", i+1, err, p)
		}
	}
	// In the end the group is closed, its tasks end one after the other, and
	// it is drained.
	rest := []step{{op: opClose}}
	for range x.tasks {
		rest = append(rest, step{op: opEnd})
	}
	rest = append(rest, step{op: opWait})
	for range x.tasks {
		rest = append(rest, step{op: opNext})
	}
	for _, st := range append(rest, step{op: opNext}) {
		if err := x.step(st); err != nil {
			return fmt.Errorf("%v at the end: %w\nprogram: %v", st, err, p)
		}
	}
	if !x.m.drained() || len(x.nexts) > 0 || len(x.waits) > 0 || len(x.submits) > 0 {
		return fmt.Errorf("at the end the group is not drained, or calls wait\nprogram: %v", p)
	}
	return nil
}

// letGo lets all tasks end, whatever comes of it.
func (x *machine) letGo() {
	for _, t := range x.tasks {
		if !t.open {
			t.open = true
			close(t.hold)
		}
	}
}

// step does one step on the group, settles, and does it on the model.
func (x *machine) step(st step) error {
	switch st.op {
	case opGo:
		x.submit(st.arg)
	case opEnd:
		held := slices.DeleteFunc(slices.Clone(x.m.inflight), func(i int) bool { return x.tasks[i].open })
		if len(held) == 0 {
			return nil
		}
		t := x.tasks[held[st.arg%len(held)]]
		t.open = true
		close(t.hold)
	case opNext, opTry:
		x.next(st.op == opTry)
	case opGiveUp:
		if len(x.nexts) == 0 {
			return nil
		}
		n := x.nexts[st.arg%len(x.nexts)]
		n.gaveUp = true
		n.cancel()
	case opWait:
		w := &pending[error]{}
		call(x, w, x.g.Wait)
		x.waits = append(x.waits, w)
	case opCancel:
		cause := []error{errOther, context.Canceled, nil}[st.arg%3]
		x.g.Cancel(cause)
		if cause == nil {
			cause = context.Canceled
		}
		x.m.cancel(cause)
	case opClose:
		x.g.Close()
	}
	return x.settle(st)
}

func (x *machine) submit(outcome int) {
	i := len(x.tasks)
	t := &modelTask{outcome: outcome, hold: make(chan struct{}), open: !x.gated}
	if t.open {
		close(t.hold)
	}
	x.tasks = append(x.tasks, t)
	s := &pending[error]{task: i}
	call(x, s, func() error {
		return x.g.Go(func(ctx context.Context) (int, error) {
			<-t.hold
			x.mu.Lock()
			x.ended = append(x.ended, ending{i, context.Cause(ctx)})
			x.mu.Unlock()
			if t.outcome == 5 {
				panic(t.err(i))
			}
			return i, t.err(i)
		})
	})
	x.submits = append(x.submits, s)
}

func (x *machine) next(try bool) {
	ctx, cancel := context.WithCancel(context.Background())
	n := &nextCall{cancel: cancel, gaveUp: try}
	if try {
		cancel()
	}
	call(x, &n.pending, func() (r nextResult) {
		r.r, r.ok, r.err = x.g.Next(ctx)
		return r
	})
	x.nexts = append(x.nexts, n)
}

// settle lets the group become idle, brings the model up to date with what
// happened, and compares.
func (x *machine) settle(st step) error {
	x.e.Settle()
	queued, drained := len(x.m.queue) > 0, x.m.drained()
	if err := x.brokenCall(); err != nil {
		return err
	}
	// What Wait may return: the verdicts of the moments without a task in
	// flight. In a step a slot may go from a task that ends to a blocked Go,
	// with such a moment in between or without.
	var possible []error
	fresh := map[int]bool{} // accepted in this step
	moment := func() {
		if !slices.ContainsFunc(x.m.inflight, func(i int) bool { return !fresh[i] }) {
			possible = append(possible, x.m.verdict())
		}
	}
	moment()
	// Acceptances first, then the completions in their order: a task that was
	// accepted in this step may have ended in it.
	var refused []*pending[error]
	x.submits = slices.DeleteFunc(x.submits, func(s *pending[error]) bool {
		if !s.returned() {
			return false
		}
		if s.res == nil {
			x.m.accept(s.task)
			fresh[s.task] = true
		} else {
			refused = append(refused, s)
		}
		return true
	})
	if st.op == opClose {
		x.m.closed = true // before the completions: it refused what was blocked
	}
	x.mu.Lock()
	ended := x.ended
	x.ended = nil
	x.mu.Unlock()
	for _, end := range ended {
		if !slices.Contains(x.m.inflight, end.task) {
			return fmt.Errorf("task %d ended, which was not in flight", end.task)
		}
		if !sameError(end.cause, x.m.cause) {
			return fmt.Errorf("task %d saw cause %v, want %v", end.task, end.cause, x.m.cause)
		}
		x.m.complete(end.task, x.tasks[end.task].err(end.task))
		moment()
	}
	x.m.settle()
	for _, s := range refused {
		if s.res != group.ErrGroupClosed || !x.m.closed {
			return fmt.Errorf("Go returned %v, closed: %v", s.res, x.m.closed)
		}
	}
	if err := x.progress(); err != nil {
		return err
	}
	if st.op == opTry && (queued || drained) {
		if try := x.nexts[len(x.nexts)-1]; try.returned() && try.res.err != nil {
			return fmt.Errorf("Next with an ended context returned %v, queued: %v, drained: %v", try.res.err, queued, drained)
		}
	}
	if err := x.consumers(); err != nil {
		return err
	}
	return x.waiters(possible)
}

// progress demands that what can go on has gone on.
func (x *machine) progress() error {
	m := &x.m
	for _, i := range m.inflight {
		demanded := x.e.Impl.Promises.Eager || len(x.waits) > 0 || slices.ContainsFunc(x.nexts, func(n *nextCall) bool { return !n.returned() && !n.gaveUp })
		if x.tasks[i].open && demanded {
			return fmt.Errorf("task %d may end and does not", i)
		}
	}
	switch {
	case m.limit > 0 && len(m.inflight) > m.limit:
		return fmt.Errorf("%d tasks in flight, limit %d", len(m.inflight), m.limit)
	case len(x.submits) > 0 && m.closed:
		return errors.New("Go waits although the group is closed")
	case len(x.submits) > 0 && !m.full():
		return errors.New("Go waits although the group is not full")
	}
	return nil
}

// consumers demands that the calls of Next that returned did so with what the
// model says: the oldest results, the drain, or their own context's end.
func (x *machine) consumers() error {
	var got []int
	var err error
	x.nexts = slices.DeleteFunc(x.nexts, func(n *nextCall) bool {
		if !n.returned() {
			if n.gaveUp {
				err = errors.Join(err, errors.New("Next waits although its context has ended"))
			}
			return false
		}
		n.cancel()
		switch r := n.res; {
		case r.ok && r.err == nil:
			i, e := identify(r.r)
			if e == nil && !sameError(r.r.Err, x.tasks[i].err(i)) {
				e = fmt.Errorf("the error of task %d is %v, want %v", i, r.r.Err, x.tasks[i].err(i))
			}
			err = errors.Join(err, e)
			got = append(got, i)
		case r == nextResult{}:
			if !x.m.settled {
				err = errors.Join(err, errors.New("Next says that the group is drained, and it is not"))
			}
		case r == nextResult{err: context.Canceled} && n.gaveUp:
		default:
			err = errors.Join(err, fmt.Errorf("Next returned (%v, %v, %v)", r.r, r.ok, r.err))
		}
		return true
	})
	if err != nil {
		return err
	}
	// Several consumers may be served in one step; together they get the oldest.
	if len(got) > len(x.m.queue) {
		return fmt.Errorf("Next returned results %v, queued are %v", got, x.m.queue)
	}
	oldest := slices.Clone(x.m.queue[:len(got)])
	slices.Sort(got)
	slices.Sort(oldest)
	if !slices.Equal(got, oldest) {
		return fmt.Errorf("Next returned results %v, the oldest are %v", got, oldest)
	}
	x.m.queue = x.m.queue[len(got):]
	switch {
	case len(x.nexts) > 0 && len(x.m.queue) > 0:
		return fmt.Errorf("Next waits although results %v are queued", x.m.queue)
	case len(x.nexts) > 0 && x.m.drained():
		return errors.New("Next waits although the group is drained")
	}
	return nil
}

// waiters demands of Wait that it returned what it may, and that it waits only
// while tasks are in flight.
func (x *machine) waiters(possible []error) error {
	var err error
	x.waits = slices.DeleteFunc(x.waits, func(w *pending[error]) bool {
		if !w.returned() {
			return false
		}
		if !slices.ContainsFunc(possible, func(p error) bool { return sameError(p, w.res) }) {
			err = fmt.Errorf("Wait returned %v, want %v", w.res, possible)
		}
		return true
	})
	if err == nil && len(x.waits) > 0 && len(x.m.inflight) == 0 {
		err = errors.New("Wait waits although no task is in flight")
	}
	return err
}

// identify tells whose result r is.
func identify(r group.Result[int]) (int, error) {
	var te *taskError
	if r.Err == nil {
		return r.Value, nil
	}
	if errors.As(r.Err, &te) {
		return te.task, nil
	}
	return 0, fmt.Errorf("a result has error %v", r.Err)
}

// sameError reports whether got is the error want, or the same task's.
func sameError(got, want error) bool {
	var g, w *taskError
	if errors.As(got, &g) && errors.As(want, &w) {
		return g.task == w.task
	}
	return got == want
}

// recorder is the testing.TB that rapid gets: the suite reports by itself.
type recorder struct {
	rapid.TB
	mu     sync.Mutex
	errs   []string
	failed bool
}

func (r *recorder) Helper()             {}
func (r *recorder) Name() string        { return "group/model" }
func (r *recorder) Log(...any)          {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Fail()               { r.mu.Lock(); defer r.mu.Unlock(); r.failed = true }
func (r *recorder) FailNow()            { r.Fail(); runtime.Goexit() }
func (r *recorder) Failed() bool        { r.mu.Lock(); defer r.mu.Unlock(); return r.failed }
func (r *recorder) Error(args ...any)   { r.record(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) {
	r.record(fmt.Sprintf(format, args...))
}

func (r *recorder) Fatal(args ...any) { r.record(fmt.Sprint(args...)); runtime.Goexit() }

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }
func (r *recorder) Skip(...any)                       { runtime.Goexit() }
func (r *recorder) Skipf(string, ...any)              { runtime.Goexit() }
func (r *recorder) SkipNow()                          { runtime.Goexit() }

func (r *recorder) record(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.errs = append(r.errs, s)
}

// checkModel runs n random programs.
func checkModel(t *testing.T, s *suite) outcome {
	seed := s.set.seed
	err := s.checkPrograms(seed, func(rt *rapid.T) error {
		return s.try(t, programs().Draw(rt, "program").run, seed)
	})
	return outcome{err: err, seed: seed}
}

// testingShort makes up for rapid's own division by 5 in short mode.
func testingShort() int {
	if testing.Short() {
		return 5
	}
	return 1
}

// setFlags sets command-line flags and returns a function that sets them back.
func setFlags(values map[string]string) (restore func()) {
	old := map[string]string{}
	for name, v := range values {
		old[name] = flag.Lookup(name).Value.String()
		if err := flag.Set(name, v); err != nil {
			panic(err)
		}
	}
	return func() {
		for name, v := range old {
			if err := flag.Set(name, v); err != nil {
				panic(err)
			}
		}
	}
}
