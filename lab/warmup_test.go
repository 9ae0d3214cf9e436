package lab

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// warmed warms f up in a world of its own, for slices of 5 ms.
func warmed(t *testing.T, f *fakeDriver) warmth {
	t.Helper()
	f.w, f.unit = new(fakeWorld), max(1, f.unit)
	w, err := warmUp(f, 5*time.Millisecond, func() error { return nil })
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
