package conformtest

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/idle"
)

// These tests are of the adapter: that it notices what goes wrong with a check,
// wherever it runs, and says so in the agreed form.

func TestReadSettings(t *testing.T) {
	env := func(kv ...string) func(string) string {
		return func(k string) string {
			if i := slices.Index(kv, k); i >= 0 {
				return kv[i+1]
			}
			return ""
		}
	}
	for _, test := range []struct {
		env  []string
		soak int
		seed uint64
		err  string
	}{
		{nil, 0, 0, ""},
		{[]string{"DYNO_SEED", "7"}, 0, 7, ""},
		{[]string{"DYNO_SEED", "18446744073709551615", "DYNO_SOAK", "3"}, 3, 1<<64 - 1, ""},
		{[]string{"DYNO_SEED", "x"}, 0, 0, `DYNO_SEED="x": want a number`},
		{[]string{"DYNO_SOAK", "0"}, 0, 0, `DYNO_SOAK="0": want the number of times`},
		{[]string{"DYNO_STRESS", "-1s"}, 0, 0, `DYNO_STRESS="-1s": want how long`},
		{[]string{"DYNO_SOAK", "many"}, 0, 0, `DYNO_SOAK="many": want the number of times`},
	} {
		set, err := readSettings(env(test.env...), false, false)
		switch {
		case test.err != "":
			if err == nil || !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("%q: the error is %v, want %s…", test.env, err, test.err)
			}
		case err != nil:
			t.Errorf("%q: %v", test.env, err)
		case set.soak != test.soak || set.runs() != max(1, test.soak) || test.seed != 0 && set.seed != test.seed:
			t.Errorf("%q: soak %d, runs %d, seed %d", test.env, set.soak, set.runs(), set.seed)
		}
	}
	long, _ := readSettings(env("DYNO_SOAK", "1000"), false, false)
	normal, _ := readSettings(env(), false, false)
	short, _ := readSettings(env(), true, false)
	if long.groups != 1_000_000 || long.hists <= normal.hists || normal.groups <= short.groups || normal.rounds <= short.rounds {
		t.Errorf("long, normal and short are not in that order: %+v, %+v, %+v", long, normal, short)
	}
	night, _ := readSettings(env("DYNO_NIGHTLY", "1", "DYNO_STRESS", "10s"), false, false)
	if night.cycles <= normal.cycles || night.depth <= normal.depth || night.stress != 10*time.Second || normal.stress != 100*time.Millisecond || short.stress != 0 {
		t.Errorf("night and day are not in that order: %+v, %+v", night, normal)
	}
	other, _ := readSettings(env(), false, false)
	if other.seed == normal.seed {
		t.Error("two runs without DYNO_SEED have the same seed")
	}
	set := settings{seed: 5}
	if set.seedOf(0) != 5 || set.seedOf(1) == 5 || set.seedOf(1) == set.seedOf(2) {
		t.Error("the first run does not have the given seed, or later ones not their own")
	}
}

// What depends on chance is repeated, with a seed of its own each time, until its time is
// over or it fails; what does not is run once.
func TestStressIsABudgetOfTime(t *testing.T) {
	s := &suite{impl: wrongGroupImpl(""), limit: patience, set: settings{seed: 1, stress: time.Hour}}
	for _, kind := range []conformance.Kind{conformance.Stochastic, conformance.Required} {
		seeds := map[uint64]bool{}
		c := hostClause{Clause: conformance.Clause{Name: "group/x", Kind: kind}, check: func(_ *testing.T, s *suite) outcome {
			seeds[s.set.seed] = true
			if len(seeds) == 5 {
				return outcome{skip: "seen enough"}
			}
			return outcome{}
		}}
		t.Run("host", func(t *testing.T) { s.hostClause(t, c) })
		if want := map[bool]int{true: 5, false: 1}[kind == conformance.Stochastic]; len(seeds) != want {
			t.Errorf("a host's clause that is %v was run with %d seeds, want %d", kind, len(seeds), want)
		}
	}
	stochastic := conformance.Clause{Kind: conformance.Stochastic}
	if long := time.Now().Add(-2 * time.Hour); s.again(stochastic, 1, long) || !s.again(stochastic, 1, time.Now()) || s.again(conformance.Clause{}, 1, time.Now()) {
		t.Error("a clause is repeated although its time is over, or does not depend on chance, or is not although there is time")
	}
}

func TestNames(t *testing.T) {
	for function, want := range map[string]string{
		"github.com/dynolab/dyno/impls/lockbased_test.TestConformance": "github.com/dynolab/dyno/impls/lockbased",
		"example.com/a.b/pkg.(*T).Method":                              "example.com/a.b/pkg",
		"main.main.func1":                                              "main",
	} {
		if got := packageOf(function); got != want {
			t.Errorf("packageOf(%q) = %q, want %q", function, got, want)
		}
	}
	if got, want := exactly("TestX/group/a-b"), "^TestX$/^group$/^a-b$"; got != want {
		t.Errorf("exactly = %q, want %q", got, want)
	}
}

// spinOver ends what spins in a test that is over.
var spinOver atomic.Bool

// places are the two ways to run a check.
var places = []struct {
	name  string
	parks bool
}{{"bubble", true}, {"outside", false}}

// TestPlaces runs checks that go wrong in every way there is.
func TestPlaces(t *testing.T) {
	forever := func() { <-make(chan int) }
	for _, test := range []struct {
		name  string
		check func(e *conformance.Env) error
		in    string // what the error says in a bubble; "" for no error
		out   string // and outside
	}{
		{"pass", func(e *conformance.Env) error { e.Settle(); return nil }, "", ""},
		{"error", func(*conformance.Env) error { return errors.New("as seen") }, "as seen", "as seen"},
		{"hang", func(*conformance.Env) error { forever(); return nil }, "every goroutine waits", "no goroutine runs or could run"},
		{"error and leftover", func(*conformance.Env) error { go forever(); return errors.New("as seen") }, "as seen", "as seen"},
		{"leftover", func(*conformance.Env) error { go forever(); return nil }, "1 goroutines are left for ever", ""},
		{"goexit", func(*conformance.Env) error { runtime.Goexit(); return nil }, "goroutine of the check was ended", "goroutine of the check was ended"},
		{"panic", func(*conformance.Env) error { panic("as seen") }, "the check panicked: as seen", "the check panicked: as seen"},
		{"spin", func(*conformance.Env) error {
			for stop := time.Now().Add(time.Hour); time.Now().Before(stop); {
				runtime.Gosched()
				if spinOver.Load() {
					break
				}
			}
			return nil
		}, "something spins, or holds a lock", "was not over after"},
		{"late", func(*conformance.Env) error {
			go func() { time.Sleep(time.Second) }() // ends by itself
			return nil
		}, "", ""},
	} {
		for _, place := range places {
			t.Run(test.name+"/"+place.name, func(t *testing.T) {
				impl := wrongGroupImpl("")
				impl.Promises.Parks = place.parks
				s := &suite{impl: impl, limit: patience}
				want := test.in
				if !place.parks {
					want = test.out
				}
				if strings.Contains(want, "was not over") || test.name == "spin" {
					s.limit = 100 * time.Millisecond
				}
				spinOver.Store(false)
				err := s.try(t, test.check, 1)
				spinOver.Store(true)
				switch {
				case want == "" && err != nil:
					t.Errorf("the check failed: %v", err)
				case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
					t.Errorf("the error is %v, want one that contains %q", err, want)
				case test.name == "hang" && !strings.Contains(err.Error(), "conformtest.TestPlaces"):
					t.Errorf("the error does not show where the check hangs: %v", err)
				}
			})
		}
	}
}

// TestHangSaysWhat looks at what is said, where only real time tells, of a call that does not
// return, and of one whose effect does not come. Neither is left to the patience for what spins.
func TestHangSaysWhat(t *testing.T) {
	impl := wrongGroupImpl("waiters not woken by Close")
	impl.Promises.Parks = false
	s := &suite{impl: impl, limit: time.Hour}
	err := s.try(t, clause(t, "waiters-released-by-close").Check, 1)
	if err == nil || !strings.Contains(err.Error(), "it waits for Next to return") || !strings.Contains(err.Error(), "(*wrongGroup).Next") {
		t.Errorf("the error is %v, want one that names Next and shows its stack", err)
	}
	e := &conformance.Env{Impl: wrongDispatcherImpl("system message of an actor wakes no worker", false), Seed: 1, Rounds: 1, Settle: func() { idle.Wait() }, Patience: time.Hour, AtRest: idle.Now}
	all := allActors()
	i := slices.IndexFunc(all, func(c conformance.Clause) bool { return c.Name == "actor/stop-idle" })
	if err := all[i].Check(e); err == nil || !strings.Contains(err.Error(), "waited in vain for") {
		t.Errorf("an actor is not told to stop, and the error is %v", err)
	}
}

// TestSpin: what spins is known after a few seconds of the processors, and at few ticks where
// there are many; a check that goes on, and a process that does not run, are not taken for it.
func TestSpin(t *testing.T) {
	for _, test := range []struct {
		name  string
		brief bool
		tick  time.Duration // of the processors at each tick
		goes  int           // the check makes a demand every so many ticks; 0 is never
		least int           // the tick at which the check is given up; 0 if it is not
		most  int
	}{
		{"one processor", true, restPause, 0, 40, 40},
		{"64 processors", true, 64 * restPause, 0, spinLooks, 2 * spinLooks},
		{"a twentieth of one", true, restPause / 20, 0, 800, 800},
		{"stopped", true, 0, 0, 0, 0},
		{"goes on", true, restPause, 20, 0, 0},
		{"takes long", false, restPause, 0, 0, 0},
	} {
		ticks := 0
		l := newLookout(time.Hour, &conformance.Env{}, true)
		l.brief = test.brief
		l.worked, l.work = 0, func() time.Duration { return time.Duration(ticks) * test.tick }
		l.demands = func() int64 {
			if test.goes == 0 {
				return 7
			}
			return int64(ticks / test.goes)
		}
		l.demanded = l.demands()
		wrong, told := "", 0
		for wrong == "" && ticks < 10_000 {
			ticks++
			wrong = l.look()
			if l.spins.Load() && told == 0 {
				told = ticks
			}
		}
		switch {
		case test.least == 0 && (wrong != "" || told > 0):
			t.Errorf("%s: given up at tick %d: %s", test.name, ticks, wrong)
		case test.least > 0 && (ticks < test.least || ticks > test.most || told == 0 || told >= ticks):
			t.Errorf("%s: given up at tick %d, the check told at %d; want %d to %d, and before", test.name, ticks, told, test.least, test.most)
		}
	}
}

// TestRest: a check that rests is given up restLooks ticks after it last went on, however often
// it rested before; a tick at which something ran takes back one.
func TestRest(t *testing.T) {
	l := newLookout(time.Hour, &conformance.Env{}, false)
	demands := int64(1)
	l.demands = func() int64 { return demands }
	tick := func(atRest bool) string { return cmp.Or(l.look(), l.rest(atRest)) }
	for range 10 {
		demands++
		for i := range restLooks - 1 {
			if wrong := tick(true); wrong != "" {
				t.Fatalf("given up at tick %d after it last went on: %s", i, wrong)
			}
		}
	}
	if wrong := tick(false); wrong != "" {
		t.Fatalf("something runs, and the check is given up: %s", wrong)
	}
	if wrong := tick(true); wrong != "" {
		t.Fatalf("given up though something ran meanwhile: %s", wrong)
	}
	if wrong := tick(true); !strings.Contains(wrong, "no goroutine runs") {
		t.Errorf("after %d ticks at rest more than not the lookout says %q", restLooks, wrong)
	}
}

// spinningGroup is a group whose Next spins until a result is there or the test is over.
type spinningGroup struct{ group.Group[int] }

func (g spinningGroup) Next(ctx context.Context) (group.Result[int], bool, error) {
	for !spinOver.Load() {
		if r, ok, err := g.Group.Next(ended); ok || err == nil || ctx.Err() != nil {
			return r, ok, err
		}
		runtime.Gosched()
	}
	return g.Group.Next(ctx)
}

// ended is a context that has ended.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// TestSpinSaysWhat gives what spins to clauses: that wait for it, in a bubble and outside,
// and outside for all to rest, or for something else to happen.
func TestSpinSaysWhat(t *testing.T) {
	if !canTellBurnt {
		t.Skip("the time that a process has used is not known here")
	}
	defer spinOver.Store(true)
	right := wrongGroupImpl("")
	spinning, forever := right, right
	spinning.NewGroup = func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return spinningGroup{right.NewGroup(ctx, opts...)}
	}
	forever.NewGroup = func(context.Context, ...group.Option) group.Group[int] {
		for !spinOver.Load() {
			runtime.Gosched()
		}
		panic("the test is over")
	}
	for _, test := range []struct {
		name string
		impl dyno.Impl
		run  func(t *testing.T, watch *lookout, check func(*conformance.Env) error) error
		want string
	}{
		{"a call in a bubble", spinning, inBubble, "something spins, for "},
		{"a call outside", forever, onGoroutinesOf, "something spins, for "},
		{"before rest", spinning, onGoroutinesOf, "is never at rest: something spins"},
	} {
		spinOver.Store(false)
		watch := newLookout(time.Hour, &conformance.Env{Impl: test.impl, Seed: 1, Rounds: 1}, true)
		// Twenty times as fast, and yet by small steps: the check is to hear of it before it is given up.
		worked, last := time.Duration(0), processorTime()
		watch.patience, watch.worked = 2, 0
		watch.work = func() time.Duration {
			now := processorTime()
			worked += min(20*(now-last), spinTime/12)
			last = now
			return worked
		}
		err := test.run(t, watch, clause(t, "waiters-released-by-close").Check)
		spinOver.Store(true)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "conformtest.spinningGroup.Next") && test.name != "a call outside" {
			t.Errorf("%s: the error is %v, want %q and the stack of what spins", test.name, err, test.want)
		}
	}
	e := &conformance.Env{
		Impl: wrongDispatcherImpl("system message of an actor wakes no worker", false), Seed: 1, Rounds: 1, Settle: func() { idle.Wait() },
		Patience: time.Hour, AtRest: func() bool { return false }, Spins: func() bool { return true },
	}
	all := allActors()
	i := slices.IndexFunc(all, func(c conformance.Clause) bool { return c.Name == "actor/stop-idle" })
	if err := all[i].Check(e); err == nil || !strings.Contains(err.Error(), "waited in vain for") {
		t.Errorf("something spins beside an actor that is not told to stop, and the error is %v", err)
	}
}

func onGoroutinesOf(_ *testing.T, watch *lookout, check func(*conformance.Env) error) error {
	return onGoroutines(watch, check)
}

func clause(t *testing.T, name string) conformance.Clause {
	t.Helper()
	all := conformance.Group()
	i := slices.IndexFunc(all, func(c conformance.Clause) bool { return c.Name == "group/"+name })
	if i < 0 {
		t.Fatalf("there is no clause group/%s", name)
	}
	return all[i]
}

// TestOutside runs wrong groups outside a bubble, where what a group must not
// do is found by asking the scheduler, and what it must do by waiting for it.
func TestOutside(t *testing.T) {
	atNight(t)
	for _, w := range wrongGroups {
		name, _, _ := strings.Cut(w.clauses, " ")
		if name == "" || slices.Contains([]string{"leaves-no-goroutine", "leaves-no-goroutine-when-dropped"}, name) {
			continue // needs Parks
		}
		if w.bug == "results in submission order" {
			continue // nothing tells outside that two results are queued but taking them
		}
		impl := wrongGroupImpl(w.bug)
		impl.Promises.Parks = false
		s := &suite{impl: impl, limit: 150 * time.Millisecond, set: settings{rounds: 10}}
		if err := s.try(t, clause(t, name).Check, 1); err == nil {
			t.Errorf("%s: group/%s passed", w.bug, name)
		}
	}
}

// TestLinearizableNotices and the tests after it give wrong groups to the clauses that
// need a host.
func TestLinearizableNotices(t *testing.T) {
	set, _ := testSettings(t)
	set.hists = 3000
	for _, b := range []bug{
		"newest result first", "result delivered twice", "drained with tasks in flight", "Wait does not wait",
		"second error overwrites the first", "ended context beats a queued result", "task accepted after Close",
		"limit ignored", "last cause wins", "waiters not woken by Close",
	} {
		t.Run(string(b), func(t *testing.T) {
			o := checkLinearizable(t, &suite{impl: wrongGroupImpl(b), set: set, limit: patience})
			if o.err == nil {
				t.Fatalf("%d histories were all right", set.hists)
			}
			t.Log(firstLine(o.err))
		})
	}
	o := checkLinearizable(t, &suite{impl: wrongGroupImpl(""), set: set, limit: patience})
	if o.err != nil {
		t.Errorf("histories of the right group: %v", o.err)
	}
	// They are cut small enough to be decided, in microseconds as a rule. A busy
	// machine may leave one undecided, which is no verdict; if it is more, the
	// clause checks less than it says.
	if most := set.hists / 1000; o.undecided > most {
		t.Errorf("%s, want at most %d", o.skip, most)
	}
}

// TestHistories gives hand-written histories to the linearizability check.
func TestHistories(t *testing.T) {
	op := func(begin, end int64, in linInput, out linOutput) porcupine.Operation {
		return porcupine.Operation{Input: in, Output: out, Call: begin, Return: end}
	}
	const never = 100
	goOne, endOne := op(1, 2, linInput{op: linGo, id: 1}, linOutput{}), op(3, never, linInput{op: linEnd, id: 1}, linOutput{})
	got := func(begin, end int64, id int) porcupine.Operation {
		return op(begin, end, linInput{op: linNext}, linOutput{kind: 1, id: id})
	}
	empty := func(begin, end int64) porcupine.Operation {
		return op(begin, end, linInput{op: linNext}, linOutput{kind: 2})
	}
	drain := func(begin, end int64) porcupine.Operation { return op(begin, end, linInput{op: linNext}, linOutput{}) }
	closed := func(begin, end int64) porcupine.Operation { return op(begin, end, linInput{op: linClose}, linOutput{}) }
	for _, test := range []struct {
		name    string
		limit   int
		history []porcupine.Operation
		legal   bool
	}{
		{"a result", 0, []porcupine.Operation{goOne, endOne, got(4, 5, 1)}, true},
		{"a result before its task ends", 0, []porcupine.Operation{goOne, op(6, never, linInput{op: linEnd, id: 1}, linOutput{}), got(4, 5, 1)}, false},
		{"a result that completes later than its last act", 0, []porcupine.Operation{goOne, endOne, empty(4, 5), got(6, 7, 1)}, true},
		{"a result twice", 0, []porcupine.Operation{goOne, endOne, got(4, 5, 1), got(6, 7, 1)}, false},
		{"gone after it was there", 0, []porcupine.Operation{goOne, endOne, got(4, 5, 1), closed(6, 7), empty(8, 9)}, false},
		{"the drain", 0, []porcupine.Operation{goOne, endOne, got(4, 5, 1), closed(6, 7), drain(8, 9)}, true},
		{"the drain with a close that may be later", 0, []porcupine.Operation{goOne, endOne, got(4, 5, 1), closed(6, 9), drain(7, 8)}, true},
		{"the drain without a close", 0, []porcupine.Operation{goOne, endOne, got(4, 5, 1), drain(8, 9)}, false},
		{"accepted after close", 0, []porcupine.Operation{closed(0, 0), goOne}, false},
		{"beyond the limit", 1, []porcupine.Operation{goOne, op(1, 3, linInput{op: linGo, id: 2}, linOutput{}), op(4, never, linInput{op: linEnd, id: 1}, linOutput{})}, false},
		{"the cause", 0, []porcupine.Operation{
			op(1, 2, linInput{op: linCancel, id: 2}, linOutput{}), op(3, 4, linInput{op: linWait}, linOutput{err: -2}), op(3, 4, linInput{op: linCause}, linOutput{err: -2}),
		}, true},
		{"the second cause", 0, []porcupine.Operation{
			op(1, 2, linInput{op: linCancel, id: 2}, linOutput{}), op(3, 4, linInput{op: linCancel, id: 3}, linOutput{}),
			op(5, 6, linInput{op: linWait}, linOutput{err: -3}), op(5, 6, linInput{op: linCause}, linOutput{err: -3}),
		}, false},
		{"no cause", 0, []porcupine.Operation{op(1, 2, linInput{op: linCancel, id: 2}, linOutput{}), op(3, 4, linInput{op: linWait}, linOutput{})}, false},
	} {
		want := porcupine.Illegal
		if test.legal {
			want = porcupine.Ok
		}
		if got := porcupine.CheckOperationsTimeout(linModel(test.limit), test.history, time.Minute); got != want {
			t.Errorf("%s: %s, want %s:%s", test.name, got, want, describe(test.history))
		}
	}
}

// TestUndecided: a history that was not decided in time is no pass.
func TestUndecided(t *testing.T) {
	var history []porcupine.Operation
	for i := range int64(14) { // all at the same time: 14! orders, and none is allowed
		history = append(history, porcupine.Operation{Input: linInput{op: linCancel, id: int(i) + 1}, Output: linOutput{}, Call: 1, Return: 2})
	}
	history = append(history, porcupine.Operation{Input: linInput{op: linNext}, Output: linOutput{kind: 1, id: 1}, Call: 1, Return: 2})
	if got := porcupine.CheckOperationsTimeout(linModel(0), history, time.Microsecond); got != porcupine.Unknown {
		t.Errorf("a history that takes longer than its time was found %s", got)
	}
	if o := linOutcome("group", 100, 1); o.skip == "" || o.undecided != 1 || !strings.HasPrefix(o.skip, "unknown: 1 of 100") {
		t.Errorf("one undecided history of 100 gave %+v, want a skip that says so", o)
	}
	if o := linOutcome("group", 100, 0); o.skip != "" || o.err != nil {
		t.Errorf("100 decided histories gave %+v, want a pass", o)
	}
}

func TestDroppedNotices(t *testing.T) {
	atNight(t)
	for _, w := range []struct {
		bug    bug
		groups int
	}{
		// 27 bytes a group, little more than is allowed: enough of them that what
		// tests before this one leave to be collected makes no difference.
		{"context not released", 100_000},
		{"goroutine until closed", 10_000},
		{"goroutine leaked per group", 10_000},
	} {
		o := checkDropped(t, &suite{impl: wrongGroupImpl(w.bug), set: settings{groups: w.groups}, limit: patience})
		if o.err == nil {
			t.Errorf("%s: not noticed", w.bug)
		} else {
			t.Logf("%s: %s", w.bug, firstLine(o.err))
		}
	}
	if o := checkDropped(t, &suite{impl: wrongGroupImpl(""), set: settings{groups: 10_000}, limit: patience}); o.err != nil {
		t.Errorf("the right group: %v", o.err)
	}
}

// TestPanicEndsProcess runs the clause in this process, which starts another.
func TestPanicEndsProcess(t *testing.T) {
	if o := checkPanicEndsProcess(t, &suite{impl: wrongGroupImpl("")}); o.err != nil {
		t.Errorf("the right group: %v", o.err)
	}
}

func TestPanicSwallowedIsNoticed(t *testing.T) {
	atNight(t) // it waits for a process that does not end
	o := checkPanicEndsProcess(t, &suite{impl: wrongGroupImpl("panic made an error although off")})
	if o.err == nil || !strings.Contains(o.err.Error(), "survived") {
		t.Errorf("the error is %v, want that the process survived", o.err)
	}
}

// bugEnv tells TestRunChild, in a process of its own, which group to run.
const bugEnv = "DYNO_CONFORM_TEST_BUG"

// TestRunChild is not a test by itself: the tests below look at its output.
func TestRunChild(t *testing.T) {
	b, ok := os.LookupEnv(bugEnv)
	if !ok {
		t.Skip("runs as a child of TestRunOutput only")
	}
	if b == string(crashes) {
		impl := wrongGroupImpl("")
		impl.NewGroup = func(context.Context, ...group.Option) group.Group[int] {
			go func() { panic("a goroutine of the implementation") }()
			select {}
		}
		Run(t, impl)
	}
	impl := wrongGroupImpl(bug(b))
	impl.Promises.StartOrder = false
	Run(t, impl)
}

// crashes is a group that ends the process.
const crashes = bug("crashes")

// TestRunCrash: a process that an implementation ends says which clause did it, and how
// that is repeated.
func TestRunCrash(t *testing.T) {
	out, failed := runChild(t, crashes, "^TestRunChild$/^group$/^close-keeps-results$", "DYNO_SEED=7")
	want := "conform: the process ended while group/close-keeps-results ran on wrong (rule G3: "
	if !failed || !strings.Contains(out, want) || !strings.Contains(out, "repeat: DYNO_SEED=7 go test -count=1 ") {
		t.Errorf("the process says\n%s\nwant %s…", out, want)
	}
}

// TestRunCommon: failures that have seen the same are said to have one cause.
func TestRunCommon(t *testing.T) {
	out, failed := runChild(t, "Close waits", "^TestRunChild$/^group$/^(close|go)-.*$", "DYNO_SEED=7")
	if !failed || !strings.Contains(out, "clauses have seen the same, and fail for one reason") {
		t.Errorf("the process says\n%s", out)
	}
	for seen, want := range map[string]string{
		"3 of 7 came": "… of … came",
		"at “log a1.start” with 2: 5 entries": "at “log a….start” with …: … entries",
		"at “log a1.start”: “x1” was logged":  "“x…” was logged",
	} {
		if got := sameSeen(seen); got != want {
			t.Errorf("%q is taken for %q, want %q", seen, got, want)
		}
	}
}

// runChild runs clauses of a wrong group and returns the output of go test -v.
func runChild(t *testing.T, b bug, run string, env ...string) (out string, failed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.run="+run)
	cmd.Env = append(append(os.Environ(), bugEnv+"="+string(b)), env...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), err != nil
}

var conformLine = regexp.MustCompile(`(?m)^\s*conform: clause=(\S+) rule=(\S+) result=(\S+)(?: seed=(\d+))?(?: why=("(?:[^"\\]|\\.)*"))?(?: repeat=("(?:[^"\\]|\\.)*"))?$`)

// TestRunOutput holds the output to the form that programs read, and repeats a
// failure with the command that it prints.
func TestRunOutput(t *testing.T) {
	out, failed := runChild(t, "second Close panics", "^TestRunChild$/^group$/^(close-.*|promise-.*|go-after-close)$")
	if !failed {
		t.Error("the process succeeded")
	}
	results := map[string][]string{}
	for _, m := range conformLine.FindAllStringSubmatch(out, -1) {
		results[m[1]] = m
	}
	unquote := func(s string) string {
		u, err := strconv.Unquote(s)
		if err != nil {
			t.Errorf("%s is not quoted as Go does: %v", s, err)
		}
		return u
	}
	if m := results["group/close-keeps-results"]; m == nil || m[2] != "G3" || m[3] != "pass" {
		t.Errorf("the line of a pass is %q", m)
	}
	if m := results["group/promise-start-order"]; m == nil || m[3] != "skip" || unquote(m[5]) != "needs StartOrder, which wrong does not promise" {
		t.Errorf("the line of a skip is %q", m)
	}
	m := results["group/go-after-close"]
	if m == nil || m[3] != "fail" || !strings.Contains(unquote(m[5]), "Close panicked") {
		t.Fatalf("the line of a failure is %q in:\n%s", m, out)
	}
	seed, repeat := m[4], unquote(m[6])
	want := regexp.MustCompile(`^DYNO_SEED=` + seed + ` go test -count=1 (?:-cpu=\d+ )?(?:-race )?-run '([^']*)' github.com/dynolab/dyno/conformance/conformtest$`)
	cmd := want.FindStringSubmatch(repeat)
	if cmd == nil {
		t.Fatalf("the command to repeat is %q, want %s", repeat, want)
	}
	for _, part := range []string{"rule:", "seen:", "seed:   " + seed, "repeat: " + repeat} {
		if !strings.Contains(out, part) {
			t.Errorf("the text of the failure lacks %q:\n%s", part, out)
		}
	}
	again, failed := runChild(t, "second Close panics", cmd[1], "DYNO_SEED="+seed)
	lines := conformLine.FindAllStringSubmatch(again, -1)
	if !failed || len(lines) != 1 || lines[0][1] != "group/go-after-close" || lines[0][4] != seed {
		t.Errorf("the command to repeat ran %q", lines)
	}
}

// TestRunRight runs everything on the right group, the host's clauses, too.
func TestRunRight(t *testing.T) {
	out, failed := runChild(t, "", "^TestRunChild$")
	if failed {
		t.Errorf("the right group failed:\n%s", out)
	}
	for _, c := range hostClauses {
		if !strings.Contains(out, "conform: clause="+c.Name+" rule="+c.Rule+" result=pass") {
			t.Errorf("%s did not pass:\n%s", c.Name, out)
		}
	}
}

// TestRunBadSeed: what cannot be read is said, not ignored.
func TestRunBadSeed(t *testing.T) {
	out, failed := runChild(t, "", "^TestRunChild$", "DYNO_SEED=what")
	if !failed || !strings.Contains(out, `DYNO_SEED="what": want a number`) {
		t.Errorf("DYNO_SEED=what was not refused:\n%s", out)
	}
}

// TestRunSoak runs a clause under the long version's settings, which loads the
// cores by a process that must be gone afterwards.
func TestRunSoak(t *testing.T) {
	out, failed := runChild(t, "", "^TestRunChild$/^group$/^close-keeps-results$", "DYNO_SOAK=6")
	if failed || !strings.Contains(out, "conform: clause=group/close-keeps-results rule=G3 result=pass") {
		t.Errorf("the soak of one clause failed:\n%s", out)
	}
}

// TestNoGroup: an implementation without a task group has no clauses to keep.
func TestNoGroup(t *testing.T) {
	impl := wrongGroupImpl("")
	impl.NewGroup = nil
	Run(t, impl)
}

// Workers that are started and stay are no leak; what each repetition leaves behind is.
func TestLeavesNothing(t *testing.T) {
	var kept [][]byte
	keeps := func(times int) func() error {
		return func() error {
			if times--; times >= 0 {
				kept = append(kept, make([]byte, 1<<20))
			}
			return nil
		}
	}
	for _, c := range []struct {
		times int // of how many repetitions something stays
		leaks bool
	}{{0, false}, {1, false}, {leakRounds - 1, false}, {leakRounds, true}} {
		err := outside(patience, &conformance.Env{}, func(e *conformance.Env) error {
			_, err := leavesNothing(e, 64<<10, 0, keeps(c.times))
			return err
		})
		if (err != nil) != c.leaks {
			t.Errorf("something stays %d times: %v", c.times, err)
		}
		runtime.KeepAlive(kept)
	}
}

// The head of a stack says which bubble it is in, also with labels behind, which Go 1.27 prints.
func TestBubbleTag(t *testing.T) {
	for head, want := range map[string]string{
		"goroutine 7 [running, synctest bubble 3]:\n":                                      "3",
		"goroutine 7 [select (durable), 2 minutes, synctest bubble 12] {job: one}:\n":      "12",
		"goroutine 7 gp=0x1 m=nil [sleep (durable), synctest bubble 5] {\"a key\": \"]: [": "5",
		"goroutine 7 [running] {\"a\": \"[synctest bubble 3]:\"}:\n":                       "",
		"goroutine 7 [running]:\nmain.main()\n":                                            "",
	} {
		m := bubbleTag.FindStringSubmatch(head)
		if got := strings.Join(m[min(1, len(m)):], ""); got != want {
			t.Errorf("%q is of bubble %q, want %q", head, got, want)
		}
	}
}
