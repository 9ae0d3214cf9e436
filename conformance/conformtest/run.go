package conformtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
)

// Run runs the conformance suite on impl, a sub-test per clause. The package
// documentation says what is run how, and which environment variables matter.
//
// It must not be called from a parallel test: some clauses count goroutines
// and measure the heap.
func Run(t *testing.T, impl dyno.Impl) {
	s := newSuite(t, impl)
	if impl.NewGroup != nil {
		s.contract(t, "group", conformance.Group(), hostClauses)
	} else {
		t.Logf("%s has no task group: clauses of package group do not apply", impl.Name)
	}
	if impl.NewDispatcher != nil {
		s.contract(t, "actor", conformance.Actor(), actorHostClauses)
	} else {
		t.Logf("%s runs no actors: clauses of package actor do not apply", impl.Name)
	}
	if impl.NewExecutor != nil {
		s.contract(t, "task", conformance.Task(), taskHostClauses)
	} else {
		t.Logf("%s has no executor: clauses of package task do not apply", impl.Name)
	}
}

// RunCore runs the clauses that only the actor core can break, on the actors of impl,
// as [Run] runs the others. It is for the core's own tests.
func RunCore(t *testing.T, impl dyno.Impl) {
	newSuite(t, impl).contract(t, "actor", conformance.Core(), nil)
}

// newSuite reads what the environment asks for.
func newSuite(t *testing.T, impl dyno.Impl) *suite {
	set, err := readSettings(os.Getenv, testing.Short(), raceEnabled)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(loadEnv) != "" {
		beLoad()
	}
	if os.Getenv(crashEnv) != "" {
		beCrashNotes()
	}
	t.Logf("random choices start from DYNO_SEED=%d", set.seed)
	return &suite{impl: impl, set: set, limit: patience, pkg: callingPackage(), crash: startCrashNotes(t)}
}

// contract runs the clauses of one contract below a sub-test of its name.
func (s *suite) contract(t *testing.T, name string, clauses []conformance.Clause, host []hostClause) {
	t.Run(name, func(t *testing.T) {
		for _, c := range clauses {
			t.Run(strings.TrimPrefix(c.Name, name+"/"), func(t *testing.T) { s.clause(t, c) })
		}
		for _, c := range host {
			t.Run(strings.TrimPrefix(c.Name, name+"/"), func(t *testing.T) { s.hostClause(t, c) })
		}
		s.sayCommon(t)
	})
}

// sayCommon says which failures of a contract have one cause, as a rule: those that have
// seen the same, but for numbers.
func (s *suite) sayCommon(t *testing.T) {
	for seen, names := range s.failures {
		if len(names) > 2 {
			t.Logf("%d clauses have seen the same, and fail for one reason, as a rule: “%s”\n    %s", len(names), seen, strings.Join(names, "\n    "))
		}
	}
	s.failures = nil
}

// sameSeen returns what a check has seen without what differs from clause to clause:
// numbers, and where in a script it was.
func sameSeen(seen string) string {
	if at, rest, ok := strings.Cut(seen, "”: "); ok && strings.HasPrefix(at, "at “") {
		seen = rest
	}
	return regexp.MustCompile(`\d+`).ReplaceAllString(seen, "…")
}

// settings is what the environment asks for.
type settings struct {
	seed     uint64        // of the first run of every clause
	soak     int           // 0, or how often every clause is run
	stress   time.Duration // how long a stochastic clause is repeated, each time with a seed of its own
	rounds   int           // of stochastic clauses
	programs int           // for actor/model
	hists    int           // for group/linearizable
	groups   int           // for group/dropped-groups
	cycles   int           // for actor/cycles-leak-nothing; of slow ones a tenth, but leastCycles
	million  int           // for the same: how often an actor is suspended and resumed
	flood    int           // for actor/flood-of-a-million
	futures  int           // for task/futures-collected and task/waiters-forgotten
	depth    int           // for task/deep-joins
}

// stressByDay is how long a stochastic clause is repeated unless DYNO_STRESS says otherwise.
// With -short it is run once.
const stressByDay = 100 * time.Millisecond

// readSettings reads DYNO_SEED, DYNO_SOAK, DYNO_STRESS and DYNO_NIGHTLY. By day one run of a
// stochastic clause takes about 100 ms at most, under -race with -short.
func readSettings(getenv func(string) string, short, race bool) (settings, error) {
	set := settings{seed: rand.Uint64(), stress: stressByDay}
	when := 0
	switch {
	case short && race: // what is left over is for runs without -race to count
		when = 4
	case short:
		when = 3
	case race:
		when = 2
	case getenv("DYNO_NIGHTLY") != "":
		when = 1
	}
	if short {
		set.stress = 0
	}
	for _, size := range []struct {
		of   *int
		when [5]int // by day, by night, under -race, with -short, with both
	}{
		{&set.rounds, [5]int{10, 10, 10, 3, 3}},
		{&set.programs, [5]int{200, 200, 100, 50, 50}},
		{&set.hists, [5]int{500, 500, 200, 100, 100}},
		{&set.groups, [5]int{20_000, 50_000, 10_000, 5_000, 2_000}},
		{&set.cycles, [5]int{10_000, 1_000_000, 5_000, 2_000, leastCycles}},
		{&set.million, [5]int{200_000, 1_000_000, 5_000, 2_000, 2 * leastCycles}},
		{&set.flood, [5]int{1_000_000, 1_000_000, 200_000, 100_000, 20_000}},
		// The race detector ends a process with more than 8,128 goroutines.
		{&set.futures, [5]int{50_000, 100_000, 20_000, 20_000, 5_000}},
		{&set.depth, [5]int{20_000, 100_000, 5_000, 20_000, 2_000}},
	} {
		*size.of = size.when[when]
	}
	if v := getenv("DYNO_STRESS"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return set, fmt.Errorf("DYNO_STRESS=%q: want how long each stochastic clause is repeated, such as 10s", v)
		}
		set.stress = d
	}
	if v := getenv("DYNO_SOAK"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return set, fmt.Errorf("DYNO_SOAK=%q: want the number of times that every clause is run, such as 1000", v)
		}
		set.soak = n
		set.programs, set.hists = max(set.programs, 10*n), max(set.hists, 10*n)
		set.groups = max(set.groups, min(1000*n, 1_000_000))
		set.cycles = max(set.cycles, min(1000*n, 1_000_000))
	}
	if v := getenv("DYNO_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 0, 64)
		if err != nil {
			return set, fmt.Errorf("DYNO_SEED=%q: want a number below 2^64, such as a failure prints", v)
		}
		set.seed = n
	}
	return set, nil
}

// runs returns how often every clause is run.
func (s settings) runs() int { return max(1, s.soak) }

// seedOf returns the seed of the i-th run: the given one first, so that it
// repeats what was reported.
func (s settings) seedOf(i int) uint64 {
	if i == 0 {
		return s.seed
	}
	return rand.NewPCG(s.seed, uint64(i)).Uint64()
}

// suite is the suite applied to one implementation.
type suite struct {
	impl  dyno.Impl
	set   settings
	limit time.Duration // of one run of a check, in real time
	pkg   string        // import path of the package that called Run
	terse bool          // of what hangs the stacks are not shown

	crash    *crashNotes
	failures map[string][]string // clauses by what was seen

	// measured takes the figures of the clause that is being run; or nil.
	measured func(value int, unit string)
}

// hostClause is a clause that needs more than an Env.
type hostClause struct {
	conformance.Clause // its Check is nil
	check              func(t *testing.T, s *suite) outcome
}

// outcome is what became of a clause.
type outcome struct {
	err   error  // nil if it passed
	seed  uint64 // of the run that failed
	skip  string // why it was not decided; "" if it was
	notes []string

	undecided int // histories, of group/linearizable
}

// clause runs a clause as often as the settings say, up to its first failure.
func (s *suite) clause(t *testing.T, c conformance.Clause) {
	if why := c.Skip(s.env(0)); why != "" {
		s.report(t, c, outcome{skip: why})
		return
	}
	worst := map[string]int{} // figure by unit
	s.measured = func(value int, unit string) { worst[unit] = max(worst[unit], value) }
	defer func() { s.measured = nil }()
	begun := time.Now()
	for i := 0; i == 0 || s.again(c, i, begun); i++ {
		if s.set.soak > 1 && i == s.set.soak/2 {
			stop, err := startLoad(t.Name())
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
		}
		seed := s.set.seedOf(i)
		s.notes(t, c, seed)
		err := s.try(t, c.Check, seed)
		s.crash.running("")
		if err != nil {
			s.report(t, c, outcome{err: err, seed: seed})
			return
		}
	}
	var notes []string
	for unit, value := range worst {
		notes = append(notes, fmt.Sprintf("conform-metric: clause=%s value=%d unit=%s", c.Name, value, unit))
	}
	slices.Sort(notes)
	s.report(t, c, outcome{notes: notes})
}

func (s *suite) hostClause(t *testing.T, c hostClause) {
	if why := c.Skip(s.env(0)); why != "" {
		s.report(t, c.Clause, outcome{skip: why})
		return
	}
	var o outcome
	again, begun := *s, time.Now()
	for i := 0; i == 0 || o.err == nil && o.skip == "" && s.again(c.Clause, s.set.runs()+i, begun); i++ {
		again.set.seed = s.set.seedOf(i)
		s.notes(t, c.Clause, again.set.seed)
		o = c.check(t, &again)
		s.crash.running("")
	}
	s.report(t, c.Clause, o)
}

// again reports whether a clause that was begun at some time and has been run n times is to be
// run once more: as often as is asked for, and one that depends on chance for as long.
func (s *suite) again(c conformance.Clause, n int, begun time.Time) bool {
	return n < s.set.runs() || c.Kind == conformance.Stochastic && time.Since(begun) < s.set.stress
}

// notes has said, should the process end, that this clause ran.
func (s *suite) notes(t *testing.T, c conformance.Clause, seed uint64) {
	s.crash.running(fmt.Sprintf("conform: the process ended while %s ran on %s (rule %s: %s); repeat: %s", c.Name, s.impl.Name, c.Rule, c.Why, s.repeat(t.Name(), seed)))
}

// report prints the line for programs and, after a failure, the text for
// people, and sets the state of the sub-test.
func (s *suite) report(t *testing.T, c conformance.Clause, o outcome) {
	t.Helper()
	for _, n := range o.notes {
		fmt.Fprintln(t.Output(), n)
	}
	line := "conform: clause=" + c.Name + " rule=" + c.Rule
	switch {
	case o.err != nil:
		seen, _, _ := strings.Cut(o.err.Error(), "\n")
		repeat := s.repeat(t.Name(), o.seed)
		if s.failures == nil {
			s.failures = map[string][]string{}
		}
		s.failures[sameSeen(seen)] = append(s.failures[sameSeen(seen)], c.Name)
		fmt.Fprintf(t.Output(), "%s result=fail seed=%d why=%q repeat=%q\n", line, o.seed, seen+" – rule: "+c.Why, repeat)
		t.Errorf("%s breaks %s (rule %s)\n    rule:   %s\n    seen:   %s\n    seed:   %d\n    repeat: %s",
			s.impl.Name, c.Name, c.Rule, c.Why, strings.ReplaceAll(o.err.Error(), "\n", "\n            "), o.seed, repeat)
	case o.skip != "":
		fmt.Fprintf(t.Output(), "%s result=skip why=%q\n", line, o.skip)
		t.Skip(o.skip)
	default:
		fmt.Fprintf(t.Output(), "%s result=pass\n", line)
	}
}

// repeat returns the command that runs the test called name again with seed.
func (s *suite) repeat(name string, seed uint64) string {
	cmd := fmt.Sprintf("DYNO_SEED=%d go test -count=1 ", seed)
	if n := runtime.GOMAXPROCS(0); n != runtime.NumCPU() {
		cmd += fmt.Sprintf("-cpu=%d ", n)
	}
	if raceEnabled {
		cmd += "-race "
	}
	return cmd + "-run '" + exactly(name) + "' " + s.pkg
}

// exactly returns the -run pattern for the one test called name.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// env returns a new Env without what only the place it runs in can give.
func (s *suite) env(seed uint64) *conformance.Env {
	return &conformance.Env{
		Impl:     s.impl,
		Seed:     seed,
		Rounds:   s.set.rounds,
		Platform: conformance.Platform{Goexit: true, RuntimePanics: true, Stacks: true, Goroutines: true, Heap: true},
		Measured: s.measured,
		Exact:    s.impl.Promises.Parks, // it is run in a bubble
	}
}

// try runs check once, in a bubble if the implementation parks, and returns
// what it found. It returns in bounded time.
func (s *suite) try(t *testing.T, check func(*conformance.Env) error, seed uint64) error {
	watch := newLookout(s.limit, s.env(seed), true)
	watch.terse = s.terse
	if s.impl.Promises.Parks {
		return inBubble(t, watch, check)
	}
	return onGoroutines(watch, check)
}

// callingPackage returns the import path of the package whose test called Run.
func callingPackage() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)]) // from the caller of this function
	pkg := packageOf(selfName())
	for {
		f, more := frames.Next()
		switch caller := packageOf(f.Function); {
		case caller == "testing" || !more: // this package's own test called
			return pkg
		case caller != pkg:
			return caller
		}
	}
}

// selfName returns the full name of a function of this package.
func selfName() string {
	pc, _, _, _ := runtime.Caller(0)
	return runtime.FuncForPC(pc).Name()
}

// packageOf returns the import path in the full name of a function, without
// the suffix of an external test package.
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + strings.TrimSuffix(name, "_test")
}
