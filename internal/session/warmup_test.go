package session

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
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

// How far apart collections are, and what one costs, is estimated from what the
// process allocates, so it is known of collections that have not come yet.
func TestWarmUpEstimatesCycles(t *testing.T) {
	const cost = collectionStart + 1<<20*markedByte // of a heap of a mebibyte
	for _, every := range []time.Duration{0, 100 * time.Microsecond, 10 * time.Millisecond, 200 * time.Millisecond, 10 * time.Second} {
		w := warmed(t, &fakeDriver{perOp: constantly(100), gcEvery: every})
		if math.Abs(float64(w.cycle-every)) > 0.01*float64(every) || (w.collection == cost) != (every > 0) {
			t.Errorf("a collection every %v: one in %v that costs %v", every, w.cycle, w.collection)
		}
		if w.n != 50_000 || w.slice != 5*time.Millisecond {
			t.Errorf("a collection every %v: slices of %d operations, %v", every, w.n, w.slice)
		}
	}
	// What next to nothing is allocated for has no cycles, nor has a heap that has
	// outgrown its goal.
	w := warmth{perOp: 1000}
	f := &fakeDriver{w: new(fakeWorld), perOp: constantly(1000), gcEvery: time.Millisecond}
	if err := w.collections(f, leastBytes/2); err != nil || w.cycle != 0 {
		t.Errorf("for a few bytes: %+v, %v", w, err)
	}
	f.gcEvery = 0
	if err := w.collections(f, 48); err != nil || w.cycle != 0 {
		t.Errorf("without a goal: %+v, %v", w, err)
	}
	// A cycle of years is a long one.
	f.gcEvery, f.perOp = 10*time.Millisecond, constantly(1)
	w.perOp = 1e18
	if err := w.collections(f, 48); err != nil || w.cycle != time.Hour {
		t.Errorf("of years: %+v, %v", w, err)
	}
}

func TestLeastRun(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ cycle, collection, want time.Duration }{
		{0, 0, 0},
		{5 * ms, ms, 50 * ms},   // ten cycles
		{50 * ms, ms, 300 * ms}, // of which a collection is a 300th
		{50 * ms, 100 * time.Microsecond, 30 * ms},  // so little that none need come
		{50 * ms, 30 * ms, 500 * ms},                // ten cycles
		{200 * ms, 30 * ms, time.Second},            // ten cycles would take two seconds
		{time.Hour, 5 * time.Second, longestRun},    // one, a second
		{time.Hour, 2 * time.Millisecond, 600 * ms}, // it is a 300th of this
	} {
		if got := (warmth{cycle: c.cycle, collection: c.collection}).leastRun(); got != c.want {
			t.Errorf("collections of %v every %v: at least %v, want %v", c.collection, c.cycle, got, c.want)
		}
	}
}

// A heap has its size when it has been collected a few times: until then a process
// is not warm, if that is soon.
func TestWarmUpWaitsForTheHeap(t *testing.T) {
	for _, c := range []struct {
		every       time.Duration // of collections
		least, most time.Duration // that warming up takes
	}{
		{0, 0, 60 * time.Millisecond},
		{2 * time.Millisecond, 0, 60 * time.Millisecond},
		{40 * time.Millisecond, 80 * time.Millisecond, 90 * time.Millisecond},
		{200 * time.Millisecond, 400 * time.Millisecond, 410 * time.Millisecond},
		{400 * time.Millisecond, 0, 60 * time.Millisecond}, // too long to wait for
	} {
		f := &fakeDriver{perOp: constantly(100), gcEvery: c.every}
		if w := warmed(t, f); !w.steady || f.spent < c.least || f.spent > c.most {
			t.Errorf("a collection every %v: %+v after %v", c.every, w, f.spent)
		}
	}
	// It seems steady for a while, and then gets faster once more: a larger heap.
	f := &fakeDriver{gcEvery: 40 * time.Millisecond}
	f.perOp = func(int) time.Duration {
		if f.spent < 40*time.Millisecond {
			return 200
		}
		return 100
	}
	f.says = func() program.Usage { return program.Usage{LiveHeap: 1 << 20, HeapGoal: 1<<20 + 48*200_000} }
	if w := warmed(t, f); !w.steady || f.spent > 150*time.Millisecond || math.Abs(float64(w.n)*100/5e6-1) > 0.01 {
		t.Errorf("%+v after %v", w, f.spent)
	}
	// What never collects although it should is as warm as it gets.
	f = &fakeDriver{perOp: constantly(100)}
	f.says = func() program.Usage { return program.Usage{HeapGoal: 48 * 100_000} }
	if w := warmed(t, f); !w.steady || f.spent < 500*time.Millisecond || f.spent > 510*time.Millisecond {
		t.Errorf("%+v after %v", w, f.spent)
	}
}

// TestLatest: how many slices are compared depends on how long they take.
func TestLatest(t *testing.T) {
	const target = 5 * time.Millisecond
	perOp := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	for took, want := range map[time.Duration]int{target: 8, 2 * target: 8, 2*target + 1: 4, 4 * target: 4, 4*target + 1: 2} {
		if window, enough := latest(perOp, took, target); !enough || len(window) != want {
			t.Errorf("of slices of %v %d are compared, want %d", took, len(window), want)
		}
		if _, enough := latest(perOp[:want-1], took, target); enough {
			t.Errorf("%d slices of %v are enough", want-1, took)
		}
	}
	for _, c := range []struct {
		window []float64
		want   bool
	}{
		{[]float64{1, 1.029}, true},
		{[]float64{1, 1.031}, false},
		{[]float64{1, 1, 1.019, 1.019}, true},
		{[]float64{1, 1, 1.021, 1.021}, false},
		{[]float64{1, 1.06, 1.04, 1.10}, false},
		{[]float64{1, 1.06, 1.02, 1.08}, true}, // within half of their scatter
		{[]float64{1, 2, 1.08, 2.1}, true},
		{[]float64{1, 2, 1.2, 2.2}, false},
	} {
		if got := steady(c.window); got != c.want {
			t.Errorf("%v is steady: %t", c.window, got)
		}
	}
}

// Where one of a row has long slices the others have no very short ones.
func TestSlicesAreAlike(t *testing.T) {
	for _, c := range []struct {
		unit  int           // of the second column, of a microsecond each
		slice time.Duration // of the plan
		want  [2]time.Duration
	}{
		{7, time.Millisecond, [2]time.Duration{time.Millisecond, time.Millisecond}},
		{3000, time.Millisecond, [2]time.Duration{3 * time.Millisecond, 3 * time.Millisecond}},
		{30_000, time.Millisecond, [2]time.Duration{5 * time.Millisecond, 30 * time.Millisecond}},
		{30_000, 5 * time.Millisecond, [2]time.Duration{5 * time.Millisecond, 30 * time.Millisecond}},
	} {
		path, _ := turnsRun(t, turnsPlanOf(2, 1, 20, c.slice), &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
			f := &fakeDriver{unit: 7, perOp: constantly(1000)}
			if s.Index == 2 {
				f.unit = c.unit
			}
			return f
		}})
		for key, f := range find(t, path) {
			want, unit := c.want[0], 7
			if strings.HasPrefix(key, "1/2/") {
				want, unit = c.want[1], c.unit
			}
			if math.Abs(float64(f.times.Ns[0])/float64(want)-1) > 0.01 || f.times.N%unit != 0 {
				t.Errorf("units of %d, slices of %v: %s has %d ns of %d operations, want %v", c.unit, c.slice, key, f.times.Ns[0], f.times.N, want)
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
		{[]time.Duration{1, time.Millisecond, 10 * time.Millisecond}, 20}, // twice as long as planned
		{[]time.Duration{1, 8 * time.Millisecond, 12500 * time.Microsecond}, 16},
		{[]time.Duration{1, 30 * time.Millisecond, 45 * time.Millisecond}, 4},
		{[]time.Duration{1, time.Second, time.Second}, leastRounds},
	} {
		plan := recordtest.Turns(3, 1, 20)
		path, _ := turnsRun(t, plan, &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
			return &fakeDriver{perOp: constantly(c.perOp[s.Index-1])}
		}})
		for key, f := range find(t, path) {
			if len(f.times.Ns) != c.want {
				t.Errorf("%v: %s has %d rounds, want %d", c.perOp, key, len(f.times.Ns), c.want)
			}
		}
	}
}

// Where collections come seldom there are more rounds, for all of a row, so that
// those who make garbage have some of them; but no more than a second takes.
func TestRoundsOfRareCollections(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		every  time.Duration // of the second column
		slice  time.Duration
		rounds int
		want   int
	}{
		{0, ms, 100, 100},
		{2 * ms, ms, 100, 3},     // of 64 ms, as collections take much of the time: a hundred cycles
		{20 * ms, ms, 100, 3},    // ten
		{80 * ms, ms, 100, 5},    // of a whole cycle, as long as the two
		{200 * ms, ms, 100, 464}, // so many that a collection, 1.55 ms, is a 300th
		{time.Minute, ms, 100, 464},
		{20 * ms, 5 * ms, 20, 40},
		{20 * ms, 100 * time.Microsecond, 1000, 3},
		{200 * ms, 50 * time.Microsecond, 1000, record.MostRounds}, // it would be 9,280
		{2 * ms, ms, 300, 9},                                       // what was asked for, twice
	} {
		path, _ := turnsRun(t, turnsPlanOf(2, 1, c.rounds, c.slice), &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
			f := &fakeDriver{perOp: constantly(100)}
			if s.Index == 2 {
				f.gcEvery = c.every
			}
			return f
		}})
		for key, f := range find(t, path) {
			if got := len(f.times.Ns); math.Abs(float64(got-c.want)) > 0.01*float64(c.want) {
				t.Errorf("a collection every %v: %s has %d rounds of %v, want %d", c.every, key, got, c.slice, c.want)
			}
			// What is rare all the same is told: a minute's part of a collection.
			if want := key == "1/2/1" && c.every == time.Minute; (f.times.Rare > 0) != want {
				t.Errorf("a collection every %v: %s: rare %v", c.every, key, f.times.Rare)
			}
		}
	}
	// No process runs longer than longestRun for its collections, however much one
	// of them costs.
	r := &runner{plan: turnsPlanOf(2, 1, 100, ms)}
	p := &side{warm: warmth{slice: ms, cycle: time.Second, collection: time.Second}}
	if got := r.roundsOf([]*side{p}, false); got != 1000 {
		t.Errorf("%d rounds of %v", got, ms)
	}
	p.err = errors.New("it has no rounds")
	if got := r.roundsOf([]*side{p, {warm: warmth{slice: ms}}}, false); got != 100 {
		t.Errorf("%d rounds for one that has failed", got)
	}
}

var _ Driver = (*fakeDriver)(nil)

// Where collections take a part of the time that matters, slices have whole ones; elsewhere
// they stay short. All sides of a row have those of the one that needs the longest.
func TestSlicesHaveWholeCollections(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		every    time.Duration // of the new side; the old one has none
		live     uint64
		at, most time.Duration
	}{
		{0, 1 << 20, leastCall, leastCall},
		{5 * ms, 1 << 18, sharedSlice, sharedSlice},
		{30 * ms, 1 << 18, sharedSlice, sharedSlice}, // 2.5 % of the time
		{100 * ms, 1 << 18, leastCall, leastCall},    // 0.8 %
		{100 * ms, 8 << 20, 100 * ms, 100 * ms},
		{time.Second, 64 << 20, 256 * ms, 256 * ms},
	} {
		w := &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
			f := &fakeDriver{perOp: constantly(time.Microsecond), mode: program.ModeRunN, processors: 1}
			if s.Index == 2 && c.every > 0 {
				f.says = func() program.Usage {
					return program.Usage{LiveHeap: c.live, HeapGoal: c.live + uint64(48*c.every/time.Microsecond)}
				}
			}
			return f
		}}
		path, p := turnsRun(t, turnsPlanOf(2, 2, 250, ms), w)
		for key, f := range find(t, path) {
			if got := time.Duration(f.times.Ns[0]); got < c.at*9/10 || got > c.most*11/10 {
				t.Errorf("a collection of %d bytes every %v: %s has slices of %v, want %v", c.live, c.every, key, got, c.at)
			}
		}
		if len(p.notes) > 0 {
			t.Errorf("notes %q", p.notes)
		}
	}
}
