package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// triesOf are tries of calls whose cost, in each length, is that of cost times what
// noise returns.
func triesOf(cost []float64, noise func() float64) [][]float64 {
	tries := make([][]float64, callTries)
	for i := range tries {
		for _, c := range cost {
			tries[i] = append(tries[i], math.Log(c*noise()))
		}
	}
	return tries
}

func TestChooseCalls(t *testing.T) {
	const ms = time.Millisecond
	exactly := func() float64 { return 1 }
	prepared := func(p time.Duration) (cost []float64) { // of an operation, before which something takes p
		for _, l := range callLengths {
			cost = append(cost, float64(l)/float64(l-p))
		}
		return cost
	}
	for name, c := range map[string]struct {
		cost     []float64
		shortest int
		want     calls
	}{
		"flat":                           {[]float64{1, 1, 1, 1, 1}, 0, calls{}},
		"a little cheaper":               {[]float64{1.04, 1.01, 1, 1, 1}, 0, calls{}},
		"flat, and long":                 {[]float64{0, 0, 1, 1, 1}, 2, calls{}},
		"as long as calls are tried":     {[]float64{0, 0, 0, 0, 1}, 4, calls{}},
		"prepares for 0.02 ms":           {prepared(20 * time.Microsecond), 0, calls{}},
		"prepares for 0.1 ms":            {prepared(100 * time.Microsecond), 0, calls{length: 16 * ms}},
		"prepares for 0.5 ms":            {prepared(500 * time.Microsecond), 0, calls{length: 64 * ms}},
		"prepares for 0.9 ms":            {prepared(900 * time.Microsecond), 0, calls{length: 256 * ms}},
		"prepares for 3 ms":              {[]float64{4, 2, 1.2, 1.049, 1.01}, 0, calls{length: 256 * ms}},
		"prepares for very long":         {[]float64{200, 50, 13, 4, 1.7}, 0, calls{length: wholeCall, whole: true}},
		"grows slowly at the end":        {[]float64{1, 1, 1, 1, 1.04}, 0, calls{}},
		"grows at the end":               {[]float64{1, 1, 1, 1, 1.12}, 0, calls{length: wholeCall, whole: true}},
		"grows, by less each time":       {[]float64{1, 1.1, 1.2, 1.28, 1.36}, 0, calls{length: wholeCall, whole: true}},
		"has grown":                      {[]float64{1, 1.3, 1.5, 1.5, 1.5}, 0, calls{length: 64 * ms}},
		"grows once, at the end":         {[]float64{1, 1, 1, 1, 1.09}, 0, calls{length: 256 * ms}},
		"gets cheaper, and then grows":   {[]float64{3, 1.5, 1, 1, 2}, 0, calls{length: wholeCall, whole: true}},
		"grows, of long ones":            {[]float64{0, 0, 0, 1, 1.2}, 3, calls{length: wholeCall, whole: true}},
		"grows, what is short not known": {[]float64{0, 0, 1, 1.07, 1.14}, 2, calls{length: wholeCall, whole: true}},
	} {
		if got := choose([][][]float64{triesOf(c.cost, exactly), triesOf(c.cost, exactly)}, c.shortest); got.length != c.want.length || got.whole != c.want.whole {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}

	// All sides of a benchmark have to show a step, or one of them a large one; and so have
	// the cheapest tries, which nothing has disturbed.
	flat := []float64{1, 1, 1, 1, 1}
	falling := func(by float64) []float64 { return []float64{1 + by, 1 + by, 1, 1, 1} }
	for name, c := range map[string]struct {
		sides []([]float64)
		want  time.Duration
	}{
		"both":                   {[][]float64{falling(0.1), falling(0.15)}, 64 * ms},
		"one a little":           {[][]float64{flat, falling(0.15)}, 0},
		"one by much":            {[][]float64{flat, falling(0.3)}, 256 * ms},
		"the other by much":      {[][]float64{falling(0.3), flat}, 256 * ms},
		"against one another":    {[][]float64{falling(0.1), falling(-0.1)}, 0},
		"there are no two":       {[][]float64{falling(0.15)}, 0},
		"there are no two, much": {[][]float64{falling(0.3)}, 256 * ms},
		"two of three":           {[][]float64{falling(0.1), falling(0.1), flat}, 0},
	} {
		var tries [][][]float64
		for _, cost := range c.sides {
			tries = append(tries, triesOf(cost, exactly))
		}
		if got := choose(tries, 0); got.length != c.want || got.whole {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
	// The first try is as cheap in both lengths, and the others are disturbed.
	var more, less [][]float64
	for i := range callTries {
		short, long := 0.3, 0.4
		if i == 0 {
			short, long = 0, 0.04
		}
		more, less = append(more, []float64{short, long, long, long, long}), append(less, []float64{long, short, short, short, short})
	}
	for _, side := range [][][]float64{more, less} {
		if step := stepOf(side, 0); step != 0 {
			t.Errorf("the cheapest tries are alike, and there is a step of %v", step)
		}
		side[0] = side[1]
		if step := stepOf(side, 0); math.Abs(math.Abs(step)-0.1) > 1e-9 {
			t.Errorf("where all are disturbed there is a step of %v", step)
		}
	}

	// Noise is no dependence: a step counts if all tries of both sides agree which way it
	// goes, and the cheapest ones do.
	r := rand.New(rand.NewPCG(3, 4))
	for noise, most := range map[float64]int{0.02: 1, 0.05: 4, 0.1: 12} { // percent
		longer := 0
		const runs = 1000
		for range runs {
			side := func() [][]float64 {
				return triesOf([]float64{1, 1, 1, 1, 1}, func() float64 { return math.Exp(noise * r.NormFloat64()) })
			}
			if c := choose([][][]float64{side(), side()}, 0); c.length > ms {
				longer++
			}
		}
		// Three tries of the longest calls agree by chance in one case of four; that both
		// sides do, and the same way, in one of thirty-two. One side alone must be apart.
		if longer > runs*most/100 {
			t.Errorf("noise of %v: longer calls in %d cases of %d", noise, longer, runs)
		}
	}
	// And noise hides no large one.
	for range 1000 {
		if c := choose([][][]float64{triesOf([]float64{1, 1.2, 1.5, 2, 3}, func() float64 { return math.Exp(0.03 * r.NormFloat64()) })}, 0); !c.whole {
			t.Fatalf("what grows is %+v", c)
		}
	}
}

// callsPlan is a plan of two sides of a benchmark, with its control.
func callsPlan(blocks int) *record.Plan {
	plan := turnsPlanOf(0, blocks, 100, time.Millisecond)
	for _, side := range []string{record.SideOld, record.SideNew} {
		plan.Cases = append(plan.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkG", Side: side})
	}
	plan.Col = record.SideKey
	return plan
}

// callsWorld has benchmarks with b.N, whose calls of n operations take so long.
func callsWorld(takes func(block int, s record.Step, n int) time.Duration) *fakeWorld {
	return &fakeWorld{make: func(block int, s record.Step) *fakeDriver {
		return &fakeDriver{mode: program.ModeRunN, takes: func(n int) time.Duration { return takes(block, s, n) }}
	}}
}

// callsRun carries out a plan of two sides of a benchmark, with its control, whose
// calls of n operations take so long.
func callsRun(t *testing.T, blocks int, takes func(block int, s record.Step, n int) time.Duration) (got map[string]found, w *fakeWorld, notes, file string) {
	t.Helper()
	w = callsWorld(takes)
	path, p := turnsRun(t, callsPlan(blocks), w)
	text := readFile(t, path)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, record.NoteMark) {
			file += line
		}
	}
	return find(t, path), w, strings.Join(p.notes, "\n"), file
}

// growing is what n operations take whose cost grows with their number, if by is 1; by 0
// they take a microsecond each.
func growing(n, by int) time.Duration {
	return time.Duration(float64(n) * 1000 * (1 + float64(by)*math.Log1p(float64(n)/1e4)))
}

// A slice that is a call of the benchmark function is as long as it takes for its
// cost not to depend on that, for all sides of a row and in all blocks alike.
func TestCallsOfARow(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for name, c := range map[string]struct {
		takes   func(block int, s record.Step, n int) time.Duration
		call    time.Duration // of a slice
		rounds  int
		whole   bool
		note    string  // a part of it; "" for none
		diluted float64 // by how much, at most, an operation may seem to cost more than a microsecond
	}{
		"flat": {
			takes: func(_ int, _ record.Step, n int) time.Duration { return time.Duration(n) * us },
			call:  leastCall, rounds: 12,
		},
		"a new side that is slower": {
			takes: func(_ int, s record.Step, n int) time.Duration {
				return time.Duration(n) * (us + time.Duration(s.Index))
			},
			call: leastCall, rounds: 12, diluted: 0.0021,
		},
		"slow operations": {
			takes: func(_ int, _ record.Step, n int) time.Duration { return time.Duration(n) * 30 * ms },
			call:  30 * ms, rounds: 6, diluted: 30_000,
		},
		"prepares for a millisecond": {
			takes: func(_ int, _ record.Step, n int) time.Duration { return ms + time.Duration(n)*us },
			call:  256 * ms, rounds: 2, diluted: 0.01,
		},
		// Longer than the first slices, of which nothing can be foretold then.
		"prepares for 10 ms": {
			takes: func(_ int, _ record.Step, n int) time.Duration { return 10*ms + time.Duration(n)*us },
			call:  256 * ms, rounds: 2, diluted: 0.06,
		},
		"prepares for 60 ms": {
			takes: func(_ int, _ record.Step, n int) time.Duration { return 60*ms + time.Duration(n)*us },
			call:  wholeCall, rounds: 1, whole: true, diluted: 0.09, note: "each slice is a whole call of about 1s, as go test makes it: there is one a block, which finds less",
		},
		"one side prepares, the old": {
			takes: func(_ int, s record.Step, n int) time.Duration {
				return time.Duration(2-s.Index)*ms + time.Duration(n)*us
			},
			call: 256 * ms, rounds: 2, diluted: 0.01,
		},
		"one side prepares, the new": {
			takes: func(_ int, s record.Step, n int) time.Duration {
				return time.Duration(s.Index-1)*ms + time.Duration(n)*us
			},
			call: 256 * ms, rounds: 2, diluted: 0.01,
		},
		"grows": {
			takes: func(_ int, _ record.Step, n int) time.Duration { return growing(n, 1) },
			call:  wholeCall, rounds: 1, whole: true, diluted: 6, note: "each slice is a whole call of about 1s, as go test makes it: there is one a block, which finds less",
		},
		"one side grows, the old": {
			takes: func(_ int, s record.Step, n int) time.Duration { return growing(n, 2-s.Index) },
			call:  wholeCall, rounds: 1, whole: true, diluted: 6, note: "each slice is a whole call of about 1s, as go test makes it: there is one a block, which finds less",
		},
		"one side grows, the new": {
			takes: func(_ int, s record.Step, n int) time.Duration { return growing(n, s.Index-1) },
			call:  wholeCall, rounds: 1, whole: true, diluted: 6, note: "each slice is a whole call of about 1s, as go test makes it: there is one a block, which finds less",
		},
		// As package testing does, it ends with a thousand million.
		"ignores b.N": {
			takes: func(_ int, _ record.Step, n int) time.Duration { return 6 * ms },
			call:  6 * ms, rounds: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			const blocks = 3
			got, w, notes, file := callsRun(t, blocks, c.takes)
			w.onlySlicesCount(t, got)
			ops := make(map[int]int)
			for key, f := range got {
				if f.times == nil {
					t.Fatalf("%s: %+v", key, f)
				}
				ops[f.times.N]++
				took := time.Duration(f.times.Ns[0])
				if perOp := float64(took) / float64(us) / float64(f.times.N); perOp-1 > c.diluted {
					t.Errorf("%s: an operation costs %v µs", key, perOp)
				}
				if !strings.Contains(name, "one side") && (took < c.call*8/10 || took > c.call*15/10) {
					t.Errorf("%s: calls of %v, want %v", key, took, c.call)
				}
				if len(f.times.Ns) != c.rounds {
					t.Errorf("%s: %d rounds, want %d", key, len(f.times.Ns), c.rounds)
				}
			}
			if len(got) != 3*blocks || len(ops) != 1 {
				t.Errorf("%d results of these numbers of operations: %v", len(got), ops)
			}
			// In the first block all but the control are tried, and in others none is.
			for i, f := range w.live {
				if tried := strings.HasPrefix(w.starts[i], "1:") && !strings.Contains(w.starts[i], "/2 "); (f.usages > 2*callTries) != tried {
					t.Errorf("%s: asked %d times for what it has used", w.starts[i], f.usages)
				}
			}
			// Whole calls are those of go test, which collects garbage before each; there is
			// nothing else by which these are told from others.
			for _, f := range w.live {
				want := 0
				if c.whole {
					want = c.rounds
				}
				if len(f.called) != want {
					t.Errorf("%s: %d whole calls, want %d", f.name, len(f.called), want)
				}
			}
			// It is said once, to who watches and to who reads the results.
			if (c.note == "") != (notes == "") || strings.Count(notes, c.note) != 1 && c.note != "" || !strings.HasPrefix(notes, "G-2: ") && c.note != "" {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if want := fmt.Sprintf("%spkg=example.com/a row=%q text=%q\n", record.NoteMark, "G-2", strings.TrimPrefix(notes, "G-2: ")); c.note != "" && file != want || c.note == "" && file != "" {
				t.Errorf("the file has %q, want %q", file, want)
			}
		})
	}
}

// What a machine does meanwhile is no dependence: slices stay as short as planned on one
// that gets slower all the time, or faster, and after a moment in which long calls happen to
// be disturbed.
func TestNoiseIsNoDependence(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	drifting := func(by float64) func(n int, clock time.Duration) float64 {
		return func(_ int, clock time.Duration) float64 { return math.Exp(by * min(clock.Seconds(), 9)) }
	}
	for name, disturbed := range map[string]func(n int, clock time.Duration) float64{
		"gets slower": drifting(0.3),
		"gets faster": drifting(-0.3),
		"long calls are disturbed for three seconds and a half": func(n int, clock time.Duration) float64 {
			if n > 100_000 && clock < 3500*ms {
				return 1.15
			}
			return 1
		},
	} {
		var clock time.Duration
		got, _, notes, _ := callsRun(t, 2, func(_ int, _ record.Step, n int) time.Duration {
			d := time.Duration(float64(n) * float64(us) * disturbed(n, clock))
			clock += d
			return d
		})
		for key, f := range got {
			if took := time.Duration(f.times.Ns[0]); took > 2*leastCall || notes != "" {
				t.Errorf("%s: %s has slices of %v; %s", name, key, took, notes)
			}
		}
	}
}

// A run that goes on, and one that is told what another one has found, have slices like
// those, and try no lengths.
func TestLengthsAreKnown(t *testing.T) {
	for name, c := range map[string]struct {
		takes func(n int) time.Duration
		whole bool
	}{
		"longer": {func(n int) time.Duration { return time.Millisecond + time.Duration(n)*time.Microsecond }, false},
		"whole":  {func(n int) time.Duration { return growing(n, 1) }, true},
	} {
		takes := func(_ int, _ record.Step, n int) time.Duration { return c.takes(n) }
		got, w, _, _ := callsRun(t, 1, takes)
		if len(got) != 3 {
			t.Fatalf("%s: %d results", name, len(got))
		}
		ops := got["1/1/1"].times.N
		like := func(what string, got map[string]found, w *fakeWorld) {
			for key, f := range got {
				if f.times == nil || f.times.N != ops || (len(f.times.Ns) == 1) != c.whole {
					t.Errorf("%s, %s, %s: %+v, want %d operations", name, what, key, f.times, ops)
				}
			}
			for _, f := range w.live {
				if f.usages > 2*callTries || (len(f.called) > 0) != c.whole {
					t.Errorf("%s, %s: %s was asked %d times for what it has used, and called %d times", name, what, f.name, f.usages, len(f.called))
				}
			}
		}

		plan := callsPlan(2)
		path := filepath.Join(recordtest.Dir(t), "run.bench")
		s := create(t, path, plan)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		w = callsWorld(takes)
		stopped := w.deps()
		stopped.anchor = func() string {
			if len(w.live) > 0 {
				cancel() // in the second block
			}
			return ""
		}
		if err := carryOut(ctx, plan, s, nil, new(watched), stopped); !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		must(t, s.Close())
		r := interrupted(t, path)
		s, w = resume(t, r), callsWorld(takes)
		must(t, carryOut(context.Background(), r.Plan, s, r, new(watched), w.deps()))
		must(t, s.Close())
		if got := find(t, path); len(got) == 6 {
			like("gone on with", got, w)
		} else {
			t.Errorf("%s: %d results after it went on", name, len(got))
		}

		plan = callsPlan(1)
		plan.SliceOps, plan.WholeCalls = ops, c.whole
		w = callsWorld(takes)
		path, _ = turnsRun(t, plan, w)
		like("told", find(t, path), w)
	}
}

// TestKnownLengthsStay proves that sides of which is known how many operations a slice has do
// as many in all blocks, however differently long they take for them while they warm up, as on
// a busy machine.
func TestKnownLengthsStay(t *testing.T) {
	const known = 19
	plan := callsPlan(4)
	plan.SliceOps = known
	w := callsWorld(func(block int, s record.Step, n int) time.Duration {
		return time.Duration(n) * time.Microsecond * time.Duration(1+(3*block+5*s.Index+7*s.Copy)%6)
	})
	path, _ := turnsRun(t, plan, w)
	got := find(t, path)
	for key, f := range got {
		if f.times == nil || f.times.N != known {
			t.Errorf("%s: %+v, want slices of %d operations", key, f.times, known)
		}
	}
	if len(got) != 3*4 {
		t.Errorf("%d results", len(got))
	}
}

// A clocked is a Driver of which only the clocks matter.
type clocked struct {
	Driver
	slice  program.Slice
	usages []program.Usage
	errs   map[string]error
}

func (c *clocked) Run(n int) (program.Slice, error) {
	s := c.slice
	s.N = n
	return s, c.errs["run"]
}

func (c *clocked) Usage() (program.Usage, error) {
	u := c.usages[0]
	c.usages = c.usages[1:]
	return u, c.errs[fmt.Sprint("usage", len(c.usages))]
}

// What a slice costs is processor time, which neighbours do not change, without
// collections, which come in some slices only.
func TestTryCall(t *testing.T) {
	const us = time.Microsecond
	for name, c := range map[string]struct {
		elapsed, cpu, gc time.Duration
		want             float64
	}{
		"kept from the processor":     {400 * us, 250 * us, 0, 2500},
		"several processors":          {400 * us, 800 * us, 0, 8000},
		"with a collection":           {400 * us, 800 * us, 300 * us, 5000},
		"with nothing but collection": {400 * us, 400 * us, 500 * us, 0.01},
		"mostly waits":                {400 * us, 200 * us, 0, 2000},
		"processor time not known":    {400 * us, 0, 0, 0.01},
		"no time":                     {0, 0, 0, 0.01},
	} {
		d := &clocked{slice: program.Slice{Elapsed: c.elapsed, CPU: c.cpu}, usages: []program.Usage{{GCCPU: time.Second}, {GCCPU: time.Second + c.gc}}}
		if cost, s, err := try(d, 100); err != nil || cost != c.want || s.N != 100 || s.Elapsed != c.elapsed {
			t.Errorf("%s: %v, %+v, %v; want %v", name, cost, s, err, c.want)
		}
	}
	for _, where := range []string{"usage1", "run", "usage0"} {
		want := errors.New(where)
		d := &clocked{usages: make([]program.Usage, 2), errs: map[string]error{where: want}}
		if _, _, err := try(d, 100); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// What fails while calls are tried is the benchmark's failure; who is killed or
// interrupted meanwhile loses the row.
func TestCallsFail(t *testing.T) {
	for _, c := range []struct {
		fail, want error // want is that of the run
	}{
		{&program.Failure{Reason: "crashed"}, nil},
		{program.ErrKilled, ErrInterrupted},
	} {
		plan := turnsPlanOf(2, 1, 10, time.Millisecond)
		w := &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
			f := &fakeDriver{mode: program.ModeRunN, perOp: constantly(1000)}
			if s.Index == 2 {
				f.failAt, f.fail = 20, c.fail // of 12 that warm up, and 23 that try
			}
			return f
		}}
		path := filepath.Join(recordtest.Dir(t), "run.bench")
		s := create(t, path, plan)
		if err := carryOut(context.Background(), plan, s, nil, new(watched), w.deps()); !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c.fail, err)
		}
		must(t, s.Close())
		got := find(t, path)
		if c.want != nil {
			if len(got) != 0 {
				t.Errorf("%v: %v", c.fail, got)
			}
			continue
		}
		if len(got) != 3 || got["1/2/1"].reason != "crashed" || got["1/1/1"].times == nil || got["1/1/2"].times == nil {
			t.Errorf("%v: %v", c.fail, got)
		}
		for _, f := range w.live {
			if f.name == "2/1" && f.slices != f.failAt {
				t.Errorf("it was tried %d times", f.slices)
			}
		}
	}
}

// Who works while it waits is told once, however many blocks there are, and its
// control not at all.
func TestWorkInTheBackground(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		side  string
		idles func() func() time.Duration // what it uses from one look to the next
		want  string
	}{
		"nothing":         {record.SideNew, func() func() time.Duration { return nil }, ""},
		"next to nothing": {record.SideNew, func() func() time.Duration { return func() time.Duration { return 2 * ms } }, ""},
		"half a processor": {
			record.SideNew, func() func() time.Duration { return func() time.Duration { return 5 * ms } },
			"G-2, new: works in the background: it uses 50 % of a processor while it waits, which its own slices pay for",
		},
		"the base": {
			record.SideOld, func() func() time.Duration { return func() time.Duration { return 5 * ms } },
			"G-2, old: works in the background: it uses 50 % of a processor while it waits, which its own slices pay for",
		},
		"several processors": {
			record.SideNew, func() func() time.Duration { return func() time.Duration { return 25 * ms } },
			"G-2, new: works in the background: it uses 250 % of a processor while it waits, which its own slices pay for",
		},
		"something that comes and goes": {record.SideNew, func() func() time.Duration {
			looks := 0
			return func() time.Duration {
				if looks++; looks == 4 || looks == 5 {
					return 0
				}
				return 9 * ms
			}
		}, ""},
		// A collection that has begun before, and ends.
		"something that ends": {record.SideNew, func() func() time.Duration {
			looks := 0
			return func() time.Duration {
				if looks++; looks < 6 {
					return 9 * ms
				}
				return 0
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := turnsPlanOf(0, 3, 10, FigureSlice) // no other lengths are tried
			for _, side := range []string{record.SideOld, record.SideNew} {
				plan.Cases = append(plan.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkG", Side: side})
			}
			plan.Col = record.SideKey
			w := &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
				f := new(fakeDriver)
				if s.Case.Side == c.side {
					f.idles = c.idles()
				}
				return f
			}}
			path, p := turnsRun(t, plan, w)
			if got := strings.Join(p.notes, "\n"); got != c.want {
				t.Errorf("told %q, want %q", got, c.want)
			}
			text := readFile(t, path)
			line := ""
			if row, note, ok := strings.Cut(c.want, ": "); ok {
				line = fmt.Sprintf("%spkg=example.com/a row=%q text=%q\n", record.NoteMark, row, note)
			}
			if strings.Count(string(text), record.NoteMark) != strings.Count(line, record.NoteMark) || !strings.Contains(string(text), line) {
				t.Errorf("the file lacks %q, or has more", line)
			}
			if want := 2 * 3 * idle; w.slept != want { // two sides, three times
				t.Errorf("watched for %v, want %v", w.slept, want)
			}
		})
	}
}

// Work that shares processors has slices in which it does, however it is driven, if they
// are planned to be short.
func TestSharedWorkHasLongSlices(t *testing.T) {
	for _, c := range []struct {
		processors float64
		planned    time.Duration
		want       time.Duration
	}{
		{1, time.Millisecond, time.Millisecond},
		{1.1, time.Millisecond, time.Millisecond},
		{1.6, time.Millisecond, sharedSlice},
		{2, 100 * time.Microsecond, sharedSlice},
		{2, FigureSlice, FigureSlice},
	} {
		for _, mode := range []string{program.ModeSession, program.ModeLoop} {
			path, _ := turnsRun(t, turnsPlanOf(2, 2, 100, c.planned), &fakeWorld{make: func(int, record.Step) *fakeDriver {
				return &fakeDriver{perOp: constantly(1000), unit: 7, mode: mode, processors: c.processors}
			}})
			for key, f := range find(t, path) {
				if got := time.Duration(f.times.Ns[0]); math.Abs(float64(got)/float64(c.want)-1) > 0.1 || f.times.N%7 != 0 {
					t.Errorf("%v processors, %s, slices of %v: %s has slices of %v in units of 7: %d", c.processors, mode, c.planned, key, got, f.times.N)
				}
			}
		}
	}
}

// Slices of what is no call of a benchmark function are never whole calls, whatever they
// cost.
func TestLongSlicesAreNoCalls(t *testing.T) {
	for _, mode := range []string{program.ModeSession, program.ModeLoop} {
		w := &fakeWorld{make: func(int, record.Step) *fakeDriver {
			return &fakeDriver{takes: func(n int) time.Duration { return growing(n, 1) }, unit: 7, mode: mode}
		}}
		path, p := turnsRun(t, turnsPlanOf(2, 2, 100, time.Millisecond), w)
		for key, f := range find(t, path) {
			if took := time.Duration(f.times.Ns[0]); took < 128*time.Millisecond || took > 512*time.Millisecond || len(f.times.Ns) != leastRounds {
				t.Errorf("%s, %s: %d slices of %v", mode, key, len(f.times.Ns), took)
			}
		}
		for _, f := range w.live {
			if len(f.called) > 0 {
				t.Errorf("%s: %s has %d whole calls", mode, f.name, len(f.called))
			}
		}
		if len(p.notes) > 0 {
			t.Errorf("%s: notes %q, and none that a reader could act on", mode, p.notes)
		}
		// Of what takes long to begin a slice all that is tried is whole units, too.
		_, p = turnsRun(t, turnsPlanOf(2, 1, 100, time.Millisecond), &fakeWorld{make: func(int, record.Step) *fakeDriver {
			takes := func(n int) time.Duration { return 60*time.Millisecond + time.Duration(n)*time.Microsecond }
			return &fakeDriver{takes: takes, unit: 7, mode: mode}
		}})
		if len(p.notes) > 0 {
			t.Errorf("%s: notes %q, and none that a reader could act on", mode, p.notes)
		}
	}
}

// What it costs in processor time decides, for that is what neighbours do not change;
// but by the clock of what waits.
func TestCallsGoByProcessorTime(t *testing.T) {
	for _, c := range []struct {
		processors float64 // of a microsecond for each operation
		want       time.Duration
	}{
		{1, leastCall},
		{0.4, wholeCall},
	} {
		path, _ := turnsRun(t, turnsPlanOf(2, 1, 100, time.Millisecond), &fakeWorld{make: func(int, record.Step) *fakeDriver {
			return &fakeDriver{
				mode: program.ModeRunN,
				takes: func(n int) time.Duration { // half as long again, of the longest that are tried
					took := time.Duration(n) * time.Microsecond
					if n > 100_000 {
						took += took / 2
					}
					return took
				},
				works: func(n int) time.Duration { return time.Duration(c.processors * 1000 * float64(n)) },
			}
		}})
		for key, f := range find(t, path) {
			if got := time.Duration(f.times.Ns[0]); math.Abs(float64(got)/float64(c.want)-1) > 0.3 {
				t.Errorf("%v processors: %s has slices of %v, want %v", c.processors, key, got, c.want)
			}
		}
	}
}

// TestWhichClock: the cost of what works more than half of the time is its processor time.
func TestWhichClock(t *testing.T) {
	for used, cpu := range map[float64]bool{0.4: false, 0.6: true, 1.2: true, 1.3: false} {
		trial := new(lengthTrial)
		for i := range callTries {
			for range callLengths {
				trial.byCPU[i], trial.byClock[i] = append(trial.byCPU[i], math.Log(100*used)), append(trial.byClock[i], math.Log(100))
			}
		}
		if got := trial.logs()[0][0]; (got != math.Log(100)) != cpu {
			t.Errorf("what uses %v processors costs %v", used, math.Exp(got))
		}
		for i := range callTries { // one of the two longest is enough to be shared
			trial.byCPU[i][len(callLengths)-1] = 0
		}
		if got := trial.isShared(); got != (used > 1.25) {
			t.Errorf("what uses %v processors in long slices, and fewer in the longest, is shared: %t", used, got)
		}
	}
}

// On a busy machine a process runs for a while, and then waits for its turn: slices of a
// millisecond are as fast as ever, long ones take many times their processor time. That is
// no dependence on the length.
func TestBusyMachineIsNoDependence(t *testing.T) {
	const runsFor, waits = 4 * time.Millisecond, 24 * time.Millisecond
	work := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	for _, mode := range []string{program.ModeLoop, program.ModeSession, program.ModeRunN} {
		path, p := turnsRun(t, turnsPlanOf(2, 2, 100, time.Millisecond), &fakeWorld{make: func(int, record.Step) *fakeDriver {
			return &fakeDriver{mode: mode, works: work, takes: func(n int) time.Duration {
				return work(n) + work(n)/runsFor*waits
			}}
		}})
		want := time.Millisecond
		if mode == program.ModeRunN {
			want = leastCall
		}
		for key, f := range find(t, path) {
			if got := work(f.times.N); got > want*5/4 {
				t.Errorf("%s: %s has slices of %v work, want at most %v", mode, key, got, want)
			}
		}
		if len(p.notes) > 0 {
			t.Errorf("%s: notes %q", mode, p.notes)
		}
	}
}

// What a function does once in so many operations, and not in the last ones of a call, is
// a small part of a call however short slices are planned.
func TestBatchesAreNotLeftOut(t *testing.T) {
	const us, batch = time.Microsecond, 64
	got, _, _, _ := callsRun(t, 2, func(_ int, s record.Step, n int) time.Duration {
		if s.Case.Side == record.SideNew {
			n = n / batch * batch
		}
		return time.Duration(n) * 2 * us
	})
	for key, f := range got {
		if perOp := float64(f.times.Ns[0]) / float64(f.times.N); perOp < 2000*0.99 || perOp > 2000 {
			t.Errorf("%s: an operation costs %v ns in calls of %d", key, perOp, f.times.N)
		}
	}
}

// Lengths are tried in turn with the others, which leave cold caches: what is slow after
// another's slice, and not after its own, has long slices.
func TestCachesAreColdWhenLengthsAreTried(t *testing.T) {
	for _, cold := range []time.Duration{0, 500 * time.Microsecond} {
		w := new(fakeWorld)
		w.make = func(int, record.Step) *fakeDriver {
			f := &fakeDriver{mode: program.ModeLoop}
			f.takes = func(n int) time.Duration {
				took := time.Duration(n) * time.Microsecond
				if len(w.ran) > 0 && w.ran[len(w.ran)-1] != f.name {
					took += cold
				}
				return took
			}
			return f
		}
		path, _ := turnsRun(t, turnsPlanOf(2, 1, 100, time.Millisecond), w)
		for key, f := range find(t, path) {
			took := time.Duration(f.times.Ns[0])
			if cold == 0 && took > 2*time.Millisecond || float64(cold) > 0.02*float64(took) {
				t.Errorf("%v for caches: %s has slices of %v", cold, key, took)
			}
		}
	}
}
