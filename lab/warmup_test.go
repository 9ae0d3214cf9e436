package lab

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/lab/driven"
)

// warmed warms f up in a world of its own, for slices of 5 ms.
func warmed(t *testing.T, f *fakeDriver) warmth {
	t.Helper()
	return warmedFor(t, f, 5*time.Millisecond)
}

// warmedFor warms f up for slices that take so long.
func warmedFor(t *testing.T, f *fakeDriver, slice time.Duration) warmth {
	t.Helper()
	f.w, f.unit = new(fakeWorld), max(1, f.unit)
	w, err := warmUp(f, slice, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if w.slices != f.slices || w.n < 1 || w.n%f.unit != 0 {
		t.Errorf("%+v after %d slices in units of %d", w, f.slices, f.unit)
	}
	return w
}

func constantly(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

func TestWarmUp(t *testing.T) {
	about := func(got, want time.Duration) bool { return math.Abs(float64(got)/float64(want)-1) < 0.05 }

	w := warmed(t, &fakeDriver{perOp: constantly(100)})
	if w.n != 50_000 || !w.steady || w.slices > 14 {
		t.Errorf("what is steady at once: %+v", w)
	}
	quick := w.slices

	// The first thirty slices get faster and faster.
	w = warmed(t, &fakeDriver{perOp: func(slice int) time.Duration {
		return time.Duration(1000 + 9000*math.Exp(-float64(slice)/8))
	}})
	if !w.steady || w.slices < quick+15 || math.Abs(float64(w.n)/5000-1) > 0.04 {
		t.Errorf("what warms up slowly: %+v", w)
	}

	// It never is: then it is said.
	w = warmed(t, &fakeDriver{perOp: func(slice int) time.Duration { return time.Duration(1000 * math.Pow(1.05, float64(slice))) }})
	if w.steady || w.slices > 60 {
		t.Errorf("what gets slower for ever: %+v", w)
	}

	// Scatter is no trend.
	r := rand.New(rand.NewPCG(1, 2))
	steady := 0
	for range 50 {
		w = warmed(t, &fakeDriver{perOp: func(int) time.Duration { return time.Duration(1000 * math.Exp(0.05*r.NormFloat64())) }})
		if w.steady && w.slices < 30 {
			steady++
		}
	}
	if steady < 45 {
		t.Errorf("what scatters by 5 %% was steady soon %d times of 50", steady)
	}

	// Slices are whole units, and longer than asked for where one is.
	w = warmed(t, &fakeDriver{perOp: constantly(time.Microsecond), unit: 832})
	if w.n != 832*6 {
		t.Errorf("in units of 832: %+v", w)
	}
	w = warmed(t, &fakeDriver{perOp: constantly(time.Millisecond), unit: 64})
	if w.n != 64 || !about(w.slice, 64*time.Millisecond) || w.slices > 5 {
		t.Errorf("of a unit of 64 ms: %+v", w)
	}

	// What takes no time, or as long for any number, comes to an end.
	w = warmed(t, &fakeDriver{perOp: constantly(0)})
	if w.n != mostOps || w.slices > mostSlices {
		t.Errorf("of no time: %+v", w)
	}

	// Slices have whole cycles of garbage collection.
	for _, c := range []struct {
		every time.Duration
		heavy bool
		want  time.Duration
	}{
		{2 * time.Millisecond, false, 6 * time.Millisecond},
		{10 * time.Millisecond, false, 30 * time.Millisecond},
		{200 * time.Millisecond, false, 5 * time.Millisecond},
		{35 * time.Millisecond, true, 60 * time.Millisecond}, // the most
	} {
		w = warmed(t, &fakeDriver{perOp: constantly(100), gcEvery: c.every, heavy: c.heavy})
		if math.Abs(float64(w.slice)/float64(c.want)-1) > 0.25 {
			t.Errorf("a collection every %v: slices of %v, want about %v", c.every, w.slice, c.want)
		}
	}
}

// When a process is steady does not depend on how long the slices are that count.
func TestWarmUpForShortSlices(t *testing.T) {
	for _, slice := range []time.Duration{100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
		f := new(fakeDriver)
		f.perOp = func(int) time.Duration { // three times slower, and then less and less
			return time.Duration(1000 + 2000*math.Exp(-f.spent.Seconds()/0.03))
		}
		w := warmedFor(t, f, slice)
		if got, want := float64(w.n), float64(slice)/1000; !w.steady || math.Abs(got/want-1) > 0.05 {
			t.Errorf("for slices of %v: %+v, want %v operations", slice, w, want)
		}
		if f.spent < 100*time.Millisecond {
			t.Errorf("for slices of %v: steady after %v", slice, f.spent)
		}
		// It ends after half a second at the latest.
		f = &fakeDriver{perOp: func(slice int) time.Duration { return time.Duration(1000 * math.Pow(1.05, float64(slice))) }}
		if w := warmedFor(t, f, slice); w.steady || f.spent < 500*time.Millisecond || f.spent > 600*time.Millisecond {
			t.Errorf("for slices of %v: %+v after %v", slice, w, f.spent)
		}
	}
}

// Nor does which collections are so frequent that slices have whole cycles.
func TestCyclesOfShortSlices(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		heavy bool
		want  time.Duration
	}{
		{100 * time.Microsecond, false, time.Millisecond}, // has cycles enough
		{2 * time.Millisecond, false, 6 * time.Millisecond},
		{10 * time.Millisecond, false, 30 * time.Millisecond},
		{25 * time.Millisecond, false, 60 * time.Millisecond},
		{33 * time.Millisecond, false, 60 * time.Millisecond}, // once or twice in what is looked at first
		{50 * time.Millisecond, false, time.Millisecond},      // too rare
		{70 * time.Millisecond, false, time.Millisecond},
		{200 * time.Millisecond, false, time.Millisecond},
		{35 * time.Millisecond, true, 60 * time.Millisecond},
	} {
		for shift := range 7 { // of where in a cycle it begins
			f := &fakeDriver{perOp: constantly(100), gcEvery: c.every, heavy: c.heavy, spent: c.every * time.Duration(shift) / 7}
			if w := warmedFor(t, f, time.Millisecond); math.Abs(float64(w.slice)/float64(c.want)-1) > 0.25 {
				t.Errorf("a collection every %v, from %d/7 on: slices of %v, want about %v", c.every, shift, w.slice, c.want)
			}
		}
	}
}

// What collects garbage is as warm as anything else when it is steady in short slices.
// It takes a slice that has whole cycles, and more only if that is not as long as the
// others say.
func TestWarmUpWithCycles(t *testing.T) {
	f := &fakeDriver{perOp: constantly(100), gcEvery: 10 * time.Millisecond}
	if w := warmed(t, f); !w.steady || f.spent > 75*time.Millisecond {
		t.Errorf("%+v after %v", w, f.spent)
	}
	f = &fakeDriver{perOp: constantly(100), gcEvery: 5 * time.Millisecond}
	if w := warmed(t, f); !w.steady || f.spent > 60*time.Millisecond {
		t.Errorf("%+v after %v", w, f.spent)
	}
	// Long slices scatter as much as short ones.
	r := rand.New(rand.NewPCG(1, 2))
	soon := 0
	for range 50 {
		f := &fakeDriver{gcEvery: 10 * time.Millisecond, perOp: func(int) time.Duration { return time.Duration(1000 * math.Exp(0.08*r.NormFloat64())) }}
		if w := warmed(t, f); w.steady && f.spent < 250*time.Millisecond {
			soon++
		}
	}
	if soon < 43 {
		t.Errorf("what scatters by 8 %% was steady soon %d times of 50", soon)
	}
	// It seems steady for a while, and then gets faster once more: a larger heap.
	f = &fakeDriver{gcEvery: 10 * time.Millisecond}
	f.perOp = func(int) time.Duration {
		if f.spent < 41*time.Millisecond {
			return 200
		}
		return 100
	}
	if w := warmed(t, f); !w.steady || f.spent < 70*time.Millisecond || f.spent > 150*time.Millisecond || math.Abs(float64(w.n)*100/30e6-1) > 0.25 {
		t.Errorf("%+v after %v", w, f.spent)
	}
}

// A slice that is a call of the benchmark function is no shorter than 5 ms, and
// there are so many fewer.
func TestRoundsOfCalls(t *testing.T) {
	for _, c := range []struct {
		slice        time.Duration
		rounds, want int
		took         time.Duration
	}{
		{time.Millisecond, 100, 20, leastRunN},
		{time.Millisecond, 3, 3, leastRunN},
		{20 * time.Millisecond, 10, 10, 20 * time.Millisecond},
	} {
		path, _ := turnsRun(t, turnsPlanOf(2, 1, c.rounds, c.slice), &fakeWorld{make: func(int, Step) *fakeDriver {
			return &fakeDriver{perOp: constantly(1000), mode: driven.ModeRunN}
		}})
		for key, f := range find(t, path) {
			if len(f.times.Ns) != c.want || f.times.Ns[0] != c.took.Nanoseconds() {
				t.Errorf("%v × %d: %s has %d rounds of %d ns, want %d of %v", c.slice, c.rounds, key, len(f.times.Ns), f.times.Ns[0], c.want, c.took)
			}
		}
	}
}

// Where one of a row has long slices the others have no very short ones.
func TestSlicesAreAlike(t *testing.T) {
	for _, c := range []struct {
		every time.Duration // of collections of the second column
		slice time.Duration // of the plan
		want  [2]time.Duration
	}{
		{0, time.Millisecond, [2]time.Duration{time.Millisecond, time.Millisecond}},
		{time.Millisecond, time.Millisecond, [2]time.Duration{3 * time.Millisecond, 3 * time.Millisecond}},
		{10 * time.Millisecond, time.Millisecond, [2]time.Duration{5 * time.Millisecond, 30 * time.Millisecond}},
		{10 * time.Millisecond, 5 * time.Millisecond, [2]time.Duration{5 * time.Millisecond, 30 * time.Millisecond}},
	} {
		path, _ := turnsRun(t, turnsPlanOf(2, 1, 20, c.slice), &fakeWorld{make: func(_ int, s Step) *fakeDriver {
			f := &fakeDriver{unit: 7, perOp: constantly(1000)}
			if s.Index == 2 {
				f.gcEvery = c.every
			}
			return f
		}})
		for key, f := range find(t, path) {
			want := c.want[0]
			if strings.HasPrefix(key, "1/2/") {
				want = c.want[1]
			}
			if math.Abs(float64(f.times.Ns[0])/float64(want)-1) > 0.2 || f.times.N%7 != 0 {
				t.Errorf("a collection every %v, slices of %v: %s has %d ns of %d operations, want %v", c.every, c.slice, key, f.times.Ns[0], f.times.N, want)
			}
		}
	}
}

// Rows with long slices have fewer rounds, but never a handful.
func TestRoundsOfLongSlices(t *testing.T) {
	for _, c := range []struct {
		perOp []time.Duration // by column
		want  int
	}{
		{[]time.Duration{1, 1, 1}, 20},
		{[]time.Duration{1, time.Millisecond, 10 * time.Millisecond}, 20}, // 5, 5, 10 and 5 ms a round
		{[]time.Duration{1, 30 * time.Millisecond, 45 * time.Millisecond}, 9},
		{[]time.Duration{1, time.Second, time.Second}, leastRounds},
	} {
		plan := turnsPlan(3, 1, 20)
		path, _ := turnsRun(t, plan, &fakeWorld{make: func(_ int, s Step) *fakeDriver {
			return &fakeDriver{perOp: constantly(c.perOp[s.Index-1])}
		}})
		for key, f := range find(t, path) {
			if len(f.times.Ns) != c.want {
				t.Errorf("%v: %s has %d rounds, want %d", c.perOp, key, len(f.times.Ns), c.want)
			}
		}
	}
}

var _ driver = (*fakeDriver)(nil)
