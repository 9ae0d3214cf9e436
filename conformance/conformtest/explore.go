package conformtest

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
)

// Strategy is how a schedule decides who is next.
type Strategy int

const (
	// Replay takes the choices of Schedule.Choices, and beyond them who has been
	// ready longest. Without choices this is first in, first out.
	Replay Strategy = iota
	// Walk takes any who is ready, each with the same probability.
	Walk
	// PCT gives each a random priority, always takes the highest, and lowers
	// that of the one that runs at Depth - 1 random steps among the first Steps
	// (Burckhardt and others, ASPLOS 2010).
	PCT
)

// Schedule is one order in which a scenario is to run. The scenario hands it to
// the scheduler it runs on, which asks for nothing of this package: a few lines
// in the scenario's own test translate it. See conformance/EXPLORATION.md.
//
// A schedule is for one scheduler, that is one executor, group or actor system.
type Schedule struct {
	Strategy Strategy
	Seed     uint64 // for Walk and PCT
	Depth    int    // for PCT
	Steps    int    // for PCT
	Choices  []int  // for Replay: an index into those who are ready, the one who has been for longest being 0

	trace []choice
}

// choice is one that was made, and what the one who was chosen did.
type choice struct {
	ready, index int
	who          string
	notes        []string
}

// Record is to be called by the scheduler for every choice, before who was
// chosen runs: forced ones, too.
func (s *Schedule) Record(ready, index int, who string) {
	s.trace = append(s.trace, choice{ready: ready, index: index, who: who})
}

// Note adds to the trace what the step in progress does. The scenario calls it,
// from what the scheduler runs, as often as it likes.
func (s *Schedule) Note(text string) {
	if n := len(s.trace); n > 0 {
		s.trace[n-1].notes = append(s.trace[n-1].notes, text)
	}
}

// choices returns the indices chosen so far, without the zeros at the end.
func (s *Schedule) choices() []int {
	var all []int
	for _, c := range s.trace {
		all = append(all, c.index)
	}
	return trimZeros(all)
}

func trimZeros(choices []int) []int {
	for len(choices) > 0 && choices[len(choices)-1] == 0 {
		choices = choices[:len(choices)-1]
	}
	return choices
}

// String returns the trace, a line a step.
func (s *Schedule) String() string {
	var b strings.Builder
	for i, c := range s.trace {
		mark := " "
		if c.index != 0 {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s%4d: %d of %d, %s", mark, i, c.index, c.ready, c.who)
		if len(c.notes) > 0 {
			b.WriteString(": " + strings.Join(c.notes, "; "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Explore runs a scenario in n orders, each of which a seed decides, and fails t
// with the first one in which it returns an error, panics or hangs. It shrinks
// that order to one with as few choices as possible that first in, first out
// would not have made, and prints it with what repeats it.
//
// The scenario makes all it needs anew, on a scheduler that follows s, and is
// deterministic but for the order. Where it is called everything is in a
// testing/synctest bubble.
//
// Seed 0 is first in, first out, which tells how long the scenario is. Then
// random walks take turns with PCT of depth 1, 2 and 3, each having its own
// kind of fault that it finds soon.
//
// With DYNO_SEED=n only that seed is tried, and with DYNO_SCHEDULE=list only the
// schedule that a failure has printed; then nothing is shrunk.
func Explore(t *testing.T, n int, scenario func(s *Schedule) error) {
	t.Helper()
	x := &explorer{run: func(s *Schedule) error {
		impl := dyno.Impl{Promises: dyno.Promises{Parks: true}}
		return inBubble(t, newLookout(patience, &conformance.Env{Impl: impl}, false), func(*conformance.Env) error { return scenario(s) })
	}}
	repeat := func(env string) string { return repeatCommand(env, t.Name(), callingPackage()) }
	f, err := x.explore(n, os.Getenv)
	switch {
	case err != nil:
		t.Fatal(err)
	case f == nil:
		return
	case f.given:
		t.Fatalf("the schedule that was given fails\n    seen:  %s\n    trace: (* is not first in, first out)\n%s", indent(f.err), f.schedule)
	}
	t.Fatalf("a schedule fails\n    seen:     %s\n    seed:     %d (%s), of %d tried\n    schedule: %s (%d choices out of order, shrunk from %d in %d runs)\n    repeat:   %s\n    repeat the whole: %s\n    trace: (* is not first in, first out)\n%s",
		indent(f.err), f.seed, f.strategy, f.tried, formatChoices(f.schedule.choices()), deviations(f.schedule.choices()), f.before, f.runs,
		repeat("DYNO_SCHEDULE="+formatChoices(f.schedule.choices())), repeat("DYNO_SEED="+strconv.FormatUint(f.seed, 10)), f.schedule)
}

func indent(err error) string { return strings.ReplaceAll(err.Error(), "\n", "\n              ") }

// repeatCommand returns the command that runs one test again with something in
// its environment.
func repeatCommand(env, name, pkg string) string {
	cmd := env + " go test -count=1 "
	if n := runtime.GOMAXPROCS(0); n != runtime.NumCPU() {
		cmd += fmt.Sprintf("-cpu=%d ", n)
	}
	if raceEnabled {
		cmd += "-race "
	}
	return cmd + "-run '" + exactly(name) + "' " + pkg
}

// explorer tries schedules.
type explorer struct {
	run  func(*Schedule) error // one run of the scenario
	runs int                   // so far
}

// finding is a schedule in which the scenario fails.
type finding struct {
	schedule *Schedule // the shrunk one, run, so that it has a trace
	err      error     // of that run
	given    bool      // DYNO_SCHEDULE named it
	seed     uint64
	strategy string
	tried    int // seeds
	before   int // choices out of order before it was shrunk
	runs     int // that shrinking took
}

// explore tries n seeds, or what the environment names. It returns nil if
// nothing failed.
func (x *explorer) explore(n int, getenv func(string) string) (*finding, error) {
	if v := getenv("DYNO_SCHEDULE"); v != "" {
		choices, err := parseChoices(v)
		if err != nil {
			return nil, err
		}
		s := &Schedule{Choices: choices}
		if err := x.try(s); err != nil {
			return &finding{schedule: s, err: err, given: true}, nil
		}
		return nil, nil
	}
	first, last := uint64(0), uint64(n)
	if v := getenv("DYNO_SEED"); v != "" {
		seed, err := strconv.ParseUint(v, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("DYNO_SEED=%q: want a number below 2^64, such as a failure prints", v)
		}
		first, last = seed, seed+1
	}
	base := &Schedule{}
	baseErr := x.try(base)
	for seed := first; seed != last; seed++ {
		s, err := base, baseErr
		if seed != 0 {
			s = scheduleOf(seed, len(base.trace))
			err = x.try(s)
		}
		if err == nil {
			continue
		}
		f := &finding{seed: seed, strategy: s.name(), tried: int(seed-first) + 1, before: deviations(s.choices())}
		runs := x.runs
		f.schedule, f.err = x.shrink(s, err)
		f.runs = x.runs - runs
		return f, nil
	}
	return nil, nil
}

// scheduleOf returns the schedule of a seed that is not 0, for a scenario of
// about so many steps.
func scheduleOf(seed uint64, steps int) *Schedule {
	s := &Schedule{Strategy: Walk, Seed: seed}
	if seed%2 == 0 {
		s.Strategy, s.Depth, s.Steps = PCT, int(seed/2%3)+1, max(1, steps)
	}
	return s
}

func (s *Schedule) name() string {
	switch s.Strategy {
	case Walk:
		return "random walk"
	case PCT:
		return fmt.Sprintf("PCT of depth %d over %d steps", s.Depth, s.Steps)
	}
	return "first in, first out"
}

// try runs the scenario once.
func (x *explorer) try(s *Schedule) (err error) {
	x.runs++
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the scenario panicked: %v", v)
		}
	}()
	return x.run(s)
}

// shrink returns a schedule that fails, too, with as few choices out of order as
// it can find, and with what error. It removes ever smaller parts of them, until
// no single one can go (delta debugging: Zeller and Hildebrandt, 2002), and then
// makes each index as small as it can be.
func (x *explorer) shrink(s *Schedule, err error) (*Schedule, error) {
	best := s
	smaller := func(choices []int) bool {
		try := &Schedule{Choices: choices}
		// What a run makes of an index that is out of range counts, and so does
		// that it may be over before all have been used.
		if e := x.try(try); e != nil && weight(try.choices()).less(weight(best.choices())) {
			best, err = try, e
			return true
		}
		return false
	}
	// The choices alone are to fail: not so if the scenario depends on more than
	// the order, and then there is nothing to shrink.
	again := &Schedule{Choices: s.choices()}
	if e := x.try(again); e == nil {
		return s, errors.Join(err, errors.New("but its choices, replayed, do not fail: the scenario depends on more than the order of its steps"))
	}
	for chunk := deviations(best.choices()); chunk > 0; {
		removed := false
		for at := 0; at < deviations(best.choices()); {
			if smaller(without(best.choices(), at, chunk)) {
				removed = true
			} else {
				at += chunk
			}
		}
		if !removed || chunk > deviations(best.choices()) {
			chunk /= 2
		}
	}
	for i := 0; i < len(best.choices()); i++ {
		for v := 1; i < len(best.choices()) && v < best.choices()[i]; v++ {
			c := slices.Clone(best.choices())
			c[i] = v
			if smaller(c) {
				break
			}
		}
	}
	if best == s { // with its strategy; what is printed is what was replayed
		best = again
	}
	return best, err
}

// size is how complicated a schedule is.
type size struct{ deviations, sum, length int }

func weight(choices []int) size {
	w := size{deviations: deviations(choices), length: len(choices)}
	for _, c := range choices {
		w.sum += c
	}
	return w
}

func (a size) less(b size) bool {
	switch {
	case a.deviations != b.deviations:
		return a.deviations < b.deviations
	case a.sum != b.sum:
		return a.sum < b.sum
	}
	return a.length < b.length
}

// deviations returns how many choices first in, first out would not have made.
func deviations(choices []int) int {
	n := 0
	for _, c := range choices {
		if c != 0 {
			n++
		}
	}
	return n
}

// without returns the choices with n of those that are out of order put right,
// from the at-th of them on.
func without(choices []int, at, n int) []int {
	c := slices.Clone(choices)
	k := 0
	for i := range c {
		if c[i] == 0 {
			continue
		}
		if k >= at && k < at+n {
			c[i] = 0
		}
		k++
	}
	return trimZeros(c)
}

// formatChoices writes the choices that are out of order, such as 3:1,7:2 for
// index 1 at step 3 and index 2 at step 7, and fifo if there are none.
func formatChoices(choices []int) string {
	var parts []string
	for i, c := range choices {
		if c != 0 {
			parts = append(parts, strconv.Itoa(i)+":"+strconv.Itoa(c))
		}
	}
	if parts == nil {
		return "fifo"
	}
	return strings.Join(parts, ",")
}

// maxStep is the largest step that a schedule may name: beyond it there is a slip
// of the finger rather than a schedule.
const maxStep = 1 << 24

// parseChoices reads what formatChoices writes.
func parseChoices(text string) ([]int, error) {
	if text == "fifo" {
		return nil, nil
	}
	var choices []int
	for part := range strings.SplitSeq(text, ",") {
		a, b, _ := strings.Cut(part, ":")
		at, err1 := strconv.Atoi(a)
		index, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || at < len(choices) || at > maxStep || index < 1 {
			return nil, fmt.Errorf("DYNO_SCHEDULE=%q: want fifo or step:index,… with rising steps, such as a failure prints", text)
		}
		choices = append(choices, make([]int, at-len(choices))...)
		choices = append(choices, index)
	}
	return choices, nil
}
