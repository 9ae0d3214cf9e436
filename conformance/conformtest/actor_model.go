package conformtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/conformance"
	"pgregory.net/rapid"
)

// The model of an actor: a random program of messages and signals is given to one
// actor under a supervisor, and to a sequential model of its mailbox, stash,
// timers, suspension and restarts. What the actor does, in which order, must be
// what the model does. On a dispatcher that is Synchronous several steps are given
// before the actor runs; on others each one is settled, because there the actor
// runs when it likes.

// actorProgram is what rapid draws.
type actorProgram struct {
	retry   bool
	limit   int // of restarts; 0: none
	backoff int // seconds
	steps   []actorStep
}

type actorStep struct {
	op   actorOp
	arg  int
	more bool // the next step comes before the actor runs
}

type actorOp int

const (
	doNote        actorOp = iota // messages: the actor writes down that it has been given one
	doSuspend                    // it suspends itself, for arg seconds or, if that is 0, until it is resumed
	doStash                      // it stashes the message the first time or, if arg is 3, twice
	doUnstash                    // it unstashes or, if arg is 3, stashes the message first
	doFail                       // it fails the first time; arg is the directive
	doPanic                      // likewise
	doSuspendFail                // it suspends itself, and fails
	doTimer                      // it starts a timer, for arg seconds
	doPeriodic                   // it starts a periodic one
	doStopTimer                  // it stops the arg-th of its timers
	doStopSelf                   // it stops
	opSuspend                    // from outside: likewise
	opResume                     // it is resumed
	opAdvance                    // a second passes
	opStop                       // it is stopped
	actorOpCount  = iota
)

func (s actorStep) String() string {
	names := [actorOpCount]string{
		"note", "suspend-self", "stash", "unstash", "fail", "panic", "suspend-fail", "timer", "periodic", "stop-timer", "stop-self",
		"suspend", "resume", "second", "stop",
	}
	text := names[s.op] + "(" + strconv.Itoa(s.arg) + ")"
	if s.more {
		text += "+"
	}
	return text
}

func (p actorProgram) String() string {
	s := []string{fmt.Sprintf("retry=%v limit=%d backoff=%d:", p.retry, p.limit, p.backoff)}
	for _, st := range p.steps {
		s = append(s, st.String())
	}
	return strings.Join(s, " ")
}

func actorPrograms() *rapid.Generator[actorProgram] {
	weighted := []actorOp{
		doNote, doNote, doNote, doNote, doSuspend, doStash, doStash, doStash, doStash, doUnstash, doUnstash, doUnstash, doFail, doFail, doPanic, doSuspendFail,
		doTimer, doTimer, doPeriodic, doStopTimer, opSuspend, opResume, opResume, opAdvance, opAdvance, opAdvance,
	}
	rare := append(slices.Repeat(weighted, 3), doStopSelf, opStop)
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) actorStep {
		return actorStep{rapid.SampledFrom(rare).Draw(t, "op"), rapid.IntRange(0, 3).Draw(t, "arg"), rapid.Bool().Draw(t, "more")}
	}), 0, 40)
	return rapid.Custom(func(t *rapid.T) actorProgram {
		return actorProgram{
			retry: rapid.Bool().Draw(t, "retry"), limit: rapid.IntRange(0, 2).Draw(t, "limit"),
			backoff: rapid.IntRange(0, 2).Draw(t, "backoff"), steps: steps.Draw(t, "steps"),
		}
	})
}

// directive is what the arg of a failure asks for.
func (s actorStep) directive() actor.Directive {
	return []actor.Directive{actor.Restart, actor.Resume, actor.Restart, actor.Stop}[s.arg]
}

// modelMsg is a message, by its place in the program. The model and the actor
// have each their own.
type modelMsg struct {
	actorStep
	n     int
	tries int // so far
}

// stashes reports whether the message is stashed this time.
func (m *modelMsg) stashes() bool {
	switch {
	case m.op == doStash && m.arg == 3:
		return m.tries <= 2
	case m.op == doStash, m.op == doUnstash && m.arg == 3:
		return m.tries <= 1
	}
	return false
}

// modelTimer is a timer, by the number of its message. due is its place in time, in
// seconds, and first in the order of starting for those with the same.
type modelTimer struct {
	n, due, first, period int
	rung                  bool // its notice waits
}

// actorModel is the model.
type actorModel struct {
	p       actorProgram
	trace   []string
	now     int
	starts  int // of what waits for a time
	value   int
	stopped bool

	mailbox []*modelMsg
	notices []any // *modelMsg that come before the mailbox, and *modelTimer
	stash   []*modelMsg
	timers  []*modelTimer // that run, in the order in which they were started
	signals []actorStep   // from outside, or the actor's own

	paused   bool
	pauseEnd modelTimer // due is 0 if it has no end
	backoff  modelTimer // likewise if there is none
	restarts int
}

func (m *actorModel) say(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

// step is one step of the program, without what comes of it.
func (m *actorModel) step(n int, s actorStep) {
	switch {
	case s.op >= opSuspend:
		if !m.stopped {
			m.signals = append(m.signals, s)
		}
	case m.stopped:
		m.say("%d comes back", n)
	default:
		m.mailbox = append(m.mailbox, &modelMsg{s, n, 0})
	}
}

// run runs the actor until it has nothing to do.
func (m *actorModel) run() {
	for !m.stopped {
		for len(m.signals) > 0 && !m.stopped {
			s := m.signals[0]
			m.signals = m.signals[1:]
			m.signal(s)
		}
		switch {
		case m.stopped || m.paused || m.backoff.due > 0:
			return
		case len(m.notices) > 0:
			next := m.notices[0]
			m.notices = m.notices[1:]
			if msg, ok := next.(*modelMsg); ok {
				m.receive(msg)
			} else {
				m.rings(next.(*modelTimer))
			}
		case len(m.mailbox) > 0:
			next := m.mailbox[0]
			m.mailbox = m.mailbox[1:]
			m.receive(next)
		default:
			return
		}
	}
}

func (m *actorModel) signal(s actorStep) {
	switch s.op {
	case opSuspend, doSuspend:
		m.paused = true
		m.pauseEnd = modelTimer{}
		if s.arg > 0 {
			m.starts++
			m.pauseEnd = modelTimer{due: m.now + s.arg, first: m.starts}
		}
	case opResume:
		m.paused = false
		m.pauseEnd = modelTimer{}
	case opStop, doStopSelf:
		m.stop(nil)
	}
}

func (m *actorModel) rings(t *modelTimer) {
	if !slices.Contains(m.timers, t) {
		return // stopped meanwhile
	}
	t.rung = false
	if t.period == 0 {
		m.timers = slices.DeleteFunc(m.timers, func(o *modelTimer) bool { return o == t })
	}
	m.say("value %d: timer %d", m.value, t.n)
	if t.n%3 == 0 && len(m.timers) > 0 {
		m.timers = m.timers[1:]
	}
}

func (m *actorModel) receive(msg *modelMsg) {
	m.say("value %d: message %d", m.value, msg.n)
	msg.tries++
	if msg.stashes() {
		m.stash = append(m.stash, msg)
		return
	}
	switch msg.op {
	case doSuspend, doStopSelf:
		m.signal(msg.actorStep)
	case doUnstash:
		m.unstash()
	case doFail, doPanic:
		if msg.tries == 1 {
			m.failed(msg)
		}
	case doSuspendFail:
		if msg.tries == 1 {
			m.signal(actorStep{op: doSuspend, arg: msg.n % 3})
			m.failed(msg)
		}
	case doTimer, doPeriodic:
		m.starts++
		t := &modelTimer{n: msg.n, due: m.now + msg.arg + 1, first: m.starts}
		if msg.op == doPeriodic {
			t.period = msg.arg + 1
		}
		m.timers = append(m.timers, t)
	case doStopTimer:
		if msg.arg < len(m.timers) {
			m.timers = slices.Delete(m.timers, msg.arg, msg.arg+1)
		}
	}
}

func (m *actorModel) unstash() {
	var list []any
	for _, msg := range m.stash {
		list = append(list, msg)
	}
	m.notices = append(list, m.notices...)
	m.stash = nil
}

// failed is a failure and what the supervisor decides.
func (m *actorModel) failed(msg *modelMsg) {
	d := msg.directive()
	if d == actor.Restart {
		if m.restarts++; m.p.limit > 0 && m.restarts > m.p.limit {
			d = actor.Stop
		}
	}
	switch d {
	case actor.Stop:
		m.stop(msg)
		return
	case actor.Restart:
		m.unstash()
	}
	if m.p.retry {
		m.notices = append([]any{msg}, m.notices...)
	} else {
		m.say("%d is a dead letter: %v", msg.n, actor.ErrFailed)
	}
	if d == actor.Restart {
		m.say("value %d: before a restart", m.value)
		m.timers = nil
		m.paused, m.pauseEnd = false, modelTimer{}
		if m.p.backoff > 0 {
			m.starts++
			m.backoff = modelTimer{due: m.now + m.p.backoff, first: m.starts}
		} else {
			m.begin()
		}
	}
}

func (m *actorModel) begin() {
	m.value++
	m.say("value %d: after a restart", m.value)
}

func (m *actorModel) stop(failed *modelMsg) {
	m.stopped = true
	if failed != nil {
		m.say("%d is a dead letter: %v", failed.n, actor.ErrFailed)
	}
	var rest []*modelMsg
	for _, n := range m.notices {
		if msg, ok := n.(*modelMsg); ok {
			rest = append(rest, msg)
		}
	}
	for _, msg := range slices.Concat(rest, m.stash, m.mailbox) {
		m.say("%d is a dead letter: %v", msg.n, actor.ErrStopped)
	}
	if m.backoff.due == 0 {
		m.say("value %d: stops", m.value)
	}
}

// second lets a second pass.
func (m *actorModel) second() {
	m.now++
	if m.stopped {
		return
	}
	due := []*modelTimer{&m.pauseEnd, &m.backoff}
	due = append(due, m.timers...)
	due = slices.DeleteFunc(due, func(t *modelTimer) bool { return t.due != m.now })
	slices.SortFunc(due, func(a, b *modelTimer) int { return a.first - b.first })
	for _, t := range due {
		switch {
		case t == &m.pauseEnd:
			m.paused, m.pauseEnd = false, modelTimer{}
		case t == &m.backoff:
			m.backoff = modelTimer{}
			m.begin()
		default:
			if t.period > 0 {
				m.starts++
				t.due, t.first = t.due+t.period, m.starts
			}
			if !t.rung {
				t.rung = true
				m.notices = append(m.notices, t)
			}
		}
	}
}

// modelActor is the actor.
type modelActor struct {
	r      *actorRun
	value  int
	timers []*modelClockwork
}

// modelClockwork is a timer and its message.
type modelClockwork struct {
	n        int
	periodic bool
	timer    *actor.Timer
}

var errModel = errors.New("a failure of the program's")

func (a *modelActor) Receive(ctx *actor.Context, msg any) error {
	if t, ok := msg.(*modelClockwork); ok {
		a.r.say("value %d: timer %d", a.value, t.n)
		if !t.periodic {
			a.timers = slices.DeleteFunc(a.timers, func(o *modelClockwork) bool { return o == t })
		}
		if t.n%3 == 0 && len(a.timers) > 0 { // one whose time may be up as well
			a.timers[0].timer.Stop()
			a.timers = a.timers[1:]
		}
		return nil
	}
	m := msg.(*modelMsg)
	a.r.say("value %d: message %d", a.value, m.n)
	m.tries++
	if m.stashes() {
		ctx.Stash(msg)
		return nil
	}
	switch m.op {
	case doSuspend:
		ctx.Suspend(actor.Suspension{After: time.Duration(m.arg) * time.Second})
	case doUnstash:
		ctx.UnstashAll()
	case doFail:
		if m.tries == 1 {
			return errModel
		}
	case doPanic:
		if m.tries == 1 {
			panic(errModel)
		}
	case doSuspendFail:
		if m.tries == 1 {
			ctx.Suspend(actor.Suspension{After: time.Duration(m.n%3) * time.Second})
			return errModel
		}
	case doTimer, doPeriodic:
		t := &modelClockwork{n: m.n, periodic: m.op == doPeriodic}
		d := time.Duration(m.arg+1) * time.Second
		if t.periodic {
			t.timer = ctx.StartPeriodic(d, t)
		} else {
			t.timer = ctx.StartTimer(d, t)
		}
		a.timers = append(a.timers, t)
	case doStopTimer:
		if m.arg < len(a.timers) {
			a.timers[m.arg].timer.Stop()
			a.timers = slices.Delete(a.timers, m.arg, m.arg+1)
		}
	case doStopSelf:
		ctx.StopSelf()
	}
	return nil
}

func (a *modelActor) PreRestart(*actor.Context, error) error {
	a.r.say("value %d: before a restart", a.value)
	return nil
}

func (a *modelActor) PostRestart(*actor.Context, error) error {
	a.r.say("value %d: after a restart", a.value)
	return nil
}

func (a *modelActor) PostStop(*actor.Context) error {
	a.r.say("value %d: stops", a.value)
	return nil
}

// actorRun is a run of a program.
type actorRun struct {
	e     *conformance.Env
	sys   *actortest.System
	clock *actor.ManualClock
	model *actorModel

	mu    sync.Mutex
	trace []string
}

func (r *actorRun) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trace = append(r.trace, fmt.Sprintf(format, args...))
}

// settle lets the actor and the model run, and compares.
func (r *actorRun) settle() error {
	r.sys.Drive()
	r.e.Settle()
	r.model.run()
	for range 10_000 { // where it cannot be told that everything has happened
		r.mu.Lock()
		behind := len(r.trace) < len(r.model.trace)
		r.mu.Unlock()
		if r.e.Exact || !behind {
			break
		}
		r.e.Settle()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.trace, r.model.trace) {
		return fmt.Errorf("the actor and the model differ\nprogram: %v\nactor:   %s\nmodel:   %s",
			r.model.p, strings.Join(r.trace, "; "), strings.Join(r.model.trace, "; "))
	}
	return nil
}

// run runs the program on a new actor.
func (p actorProgram) run(e *conformance.Env) error {
	r := &actorRun{e: e, clock: actor.NewManualClock(time.Unix(0, 0)), model: &actorModel{p: p, value: 1}}
	s := &actor.Supervisor{
		Retry: p.retry, MaxRestarts: p.limit, Window: -1,
		Backoff: actor.Backoff{Min: time.Duration(p.backoff) * time.Second, Max: time.Duration(p.backoff) * time.Second},
		Decide:  func(f actor.Failure) actor.Directive { return f.Msg.(*modelMsg).directive() },
	}
	if p.limit == 0 {
		s.MaxRestarts = -1
	}
	guardian := actortest.Scripted()
	guardian.Supervisor = s
	r.sys = actortest.New(actor.Config{
		Dispatcher: e.Impl.NewDispatcher(),
		Clock:      r.clock,
		Guardian:   guardian,
		DeadLetters: func(l actor.DeadLetter) {
			if !l.Returned {
				r.say("%d is a dead letter: %v", l.Msg.(*modelMsg).n, l.Reason)
			}
		},
	}, func(err error) { panic(err) })
	values := 0
	ref := r.sys.Spawn(actor.Props{New: func() actor.Actor {
		values++
		return &modelActor{r: r, value: values}
	}})
	for n, st := range p.steps {
		if st.op == opAdvance {
			if err := r.settle(); err != nil {
				return err
			}
			r.clock.Advance(time.Second)
			r.model.second()
		} else {
			r.model.step(n, st)
			r.step(ref, n, st)
		}
		if st.more && r.sys.Synchronous() && st.op != opAdvance {
			continue
		}
		if err := r.settle(); err != nil {
			return err
		}
	}
	if err := r.settle(); err != nil {
		return err
	}
	if err := r.sys.Shutdown(context.Background()); err != nil {
		return err
	}
	r.model.step(len(p.steps), actorStep{op: opStop})
	return r.settle()
}

// step is one step of the program.
func (r *actorRun) step(ref actor.Ref, n int, st actorStep) {
	switch st.op {
	case opSuspend:
		r.sys.Suspend(ref, actor.Suspension{After: time.Duration(st.arg) * time.Second})
	case opResume:
		r.sys.Resume(ref)
	case opStop:
		r.sys.Stop(ref)
	default:
		if err := ref.Tell(&modelMsg{st, n, 0}); err != nil {
			r.say("%d comes back", n)
		}
	}
}

// checkActorModel runs random programs.
func checkActorModel(t *testing.T, s *suite) outcome {
	seed := s.set.seed
	err := s.checkPrograms(seed, func(rt *rapid.T) error {
		return s.try(t, actorPrograms().Draw(rt, "program").run, seed)
	})
	return outcome{err: err, seed: seed}
}

// checkPrograms has rapid draw random programs and run them, from a seed, and
// returns the error of a short one that fails.
func (s *suite) checkPrograms(seed uint64, run func(rt *rapid.T) error) error {
	defer setFlags(map[string]string{
		"rapid.seed":       strconv.FormatUint(rand.NewPCG(seed, 0).Uint64()|1, 10), // 0 would mean a random one
		"rapid.checks":     strconv.Itoa(s.set.programs * testingShort()),
		"rapid.nofailfile": "true",
		"rapid.shrinktime": "10s",
	})()
	var last error
	rec := &recorder{}
	done := make(chan struct{})
	go func() { // FailNow of rec ends the goroutine
		defer close(done)
		rapid.Check(rec, func(rt *rapid.T) {
			if err := run(rt); err != nil {
				last = err
				rt.Fatal("the model and what it is a model of differ")
			}
		})
	}()
	<-done
	if rec.Failed() && last == nil {
		last = errors.New("rapid: " + strings.Join(rec.errs, "\n"))
	}
	return last
}

// recorder is the testing.TB that rapid gets: the suite reports by itself.
type recorder struct {
	rapid.TB
	mu     sync.Mutex
	errs   []string
	failed bool
}

func (r *recorder) Helper()             {}
func (r *recorder) Name() string        { return "model" }
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
