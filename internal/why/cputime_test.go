package why

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"
)

// tallied is a process that has done one slice of one operation.
func tallied(counters map[string]float64) tally {
	return tally{{N: 1, Elapsed: 1, Counters: counters}}
}

// slicesOf is a process that has done one slice of n operations, with its CPU time and
// its time in nanoseconds.
func slicesOf(n int, cpu, wall float64) tally {
	return tally{{N: n, Elapsed: time.Duration(wall), Counters: map[string]float64{"user-ns": 0.75 * cpu, "system-ns": 0.25 * cpu}}}
}

// CPU time is of the program and the system together, for an operation, compared
// pair by pair.
func TestCPUTime(t *testing.T) {
	var base, this []tally
	for i := range counterPairs {
		// The pairs differ by far more than their sides do.
		drift := 1e6 * float64(i*i)
		base = append(base, slicesOf(10_000, 56e6+drift, 57e6+drift))
		this = append(this, slicesOf(10_000, 61.45e6+drift+1e3*float64(i), 63e6+drift))
	}
	c := newCPUTime(base, this)
	want := CPUTime{Base: 6850, Diff: Interval{545.35, 544.9, 545.8}, BaseWall: 6950, Wall: Interval{600, 600, 600}, Pairs: 8, Clock: 0.2}
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.01 }
	if c == nil || !near(c.Base, want.Base) || !near(c.BaseWall, want.BaseWall) || c.Pairs != 8 || !near(c.Clock, want.Clock) ||
		!near(c.Diff.Est, want.Diff.Est) || !near(c.Diff.Lo, want.Diff.Lo) || !near(c.Diff.Hi, want.Diff.Hi) || !near(c.Wall.Est, 600) {
		t.Errorf("the CPU time is %+v, want %+v", c, want)
	}
	delete(this[3][0].Counters, "system-ns")
	if c := newCPUTime(base, this); c != nil {
		t.Errorf("of a process that did not count: %+v", c)
	}
}

// A clock in steps, in which both sides look equal, does not prove that they are.
func TestCPUTimeOfACoarseClock(t *testing.T) {
	of := func(cpu float64) []tally { return slices.Repeat([]tally{slicesOf(1000, cpu, 20e6)}, counterPairs) }
	c := newCPUTime(of(10e6), of(10e6))
	if c == nil || c.Diff.Est != 0 || c.Diff.Lo != -20_000 || c.Diff.Hi != 20_000 || !c.coarse(2000) || c.coarse(200_000) {
		t.Errorf("10 ms in 1,000 operations: %+v", c)
	}
	if c := newCPUTime(of(0), of(0)); c != nil {
		t.Errorf("of a clock that stands still: %+v", c)
	}
}

// A process's counters are for one operation of all its slices; levels are averages
// over those that have one.
func TestTally(t *testing.T) {
	p := tally{
		{N: 10, Elapsed: 500, Counters: map[string]float64{"user-ns": 300_000, "system-ns": 40_000, "sched-p50-ns": 30, "cgo-calls": 5}},
		{N: 30, Elapsed: 700, Counters: map[string]float64{"user-ns": 100_000, "system-ns": 20_000}},
	}
	if cpu, ok := p.cpu(); !ok || cpu != 11_500 {
		t.Errorf("the CPU time is %v, %v", cpu, ok)
	}
	if wall, _ := p.wall(); wall != 30 {
		t.Errorf("the time is %v", wall)
	}
	all := slices.Repeat([]tally{p}, counterPairs)
	if c := newCPUTime(all, all); c == nil || c.Clock != 2000 { // steps of 20 µs in 20 operations
		t.Errorf("the clock of %+v", c)
	}
	if c := newCPUTime(all[:1], all[:1]); c != nil {
		t.Errorf("one pair bounds nothing: %+v", c)
	}
	if v, ok := p.value(kindOf("sched-p50-ns")); !ok || v != 30 {
		t.Errorf("the level is %v, %v", v, ok)
	}
	if v, ok := p.value(kindOf("cgo-calls")); ok {
		t.Errorf("what one slice of two has counted is %v", v)
	}
}

// How long to count is about what is not known: whether a program waits takes the
// time itself too, that it computes does not.
func TestLacking(t *testing.T) {
	diff := at(100)
	vague := Interval{100, -300, 500} // 16 times as wide as it may be
	for _, c := range []struct {
		cpu, wall Interval
		want      float64
	}{
		{Interval{60, 10, 110}, vague, 4},
		{Interval{40, -10, 90}, vague, 256},
		{Interval{40, -10, 90}, Interval{100, 90, 110}, 4},
		{Interval{0, -5, 5}, vague, 256},
		{Interval{50, 45, 55}, Interval{100, 90, 110}, math.Inf(1)},
		{Interval{60, 48, 72}, Interval{100, 90, 110}, 3.24},
		{Interval{75, 49.9, 100}, Interval{100, 90, 110}, 1.5},
	} {
		if got := (&CPUTime{Diff: c.cpu, Wall: c.wall}).lacking(diff); !(math.Abs(got-c.want) < 0.05 || got == c.want) {
			t.Errorf("CPU time %v, time %v: %v times as long, want %v", c.cpu, c.wall, got, c.want)
		}
	}
}

func TestCommonStep(t *testing.T) {
	step := uint64(0)
	for _, c := range []struct{ cpu, want uint64 }{{0, 0}, {40_000_000, 40_000_000}, {60_000_000, 20_000_000}, {0, 20_000_000}, {19_999_000, 1000}} {
		if step = commonStep(step, c.cpu); step != c.want {
			t.Errorf("after %d the step is %d, want %d", c.cpu, step, c.want)
		}
	}
}

// The interval decides, not the estimate.
func TestReading(t *testing.T) {
	up, down := Interval{100, 99, 101}, Interval{-100, -101, -99}
	wide := Interval{100, 10, 190}
	there := Interval{100, 90, 110} // the time differs here too
	for _, c := range []struct {
		diff, cpu, wall Interval
		want            reading
	}{
		{up, Interval{100, 50, 150}, there, computes},
		{up, Interval{190, 180, 200}, there, computes}, // two processors
		{up, Interval{100, 49, 151}, there, unsure},
		{up, Interval{0, -51, 51}, there, unsure},
		{up, Interval{0, -49, 50}, there, unsure}, // half of it is at least half
		{up, Interval{0, -49, 49}, there, waits},
		{up, Interval{-200, -220, -180}, there, waits},
		{up, Interval{0, -9, 9}, Interval{60, 49, 71}, unsure},
		{up, Interval{0, -9, 9}, Interval{0, -9, 9}, absent},
		{up, Interval{0, -99, 99}, Interval{0, -9, 9}, absent},
		{up, Interval{80, 60, 99}, Interval{0, -9, 9}, computes},
		{up, Interval{10, 9, 11}, Interval{10, 9.5, 10.5}, absent},
		{down, Interval{-100, -150, -50}, Interval{-100, -110, -90}, computes},
		{down, Interval{0, -49, 49}, Interval{-100, -110, -90}, waits},
		{down, Interval{0, -51, 49}, Interval{-100, -110, -90}, unsure},
		{down, Interval{200, 180, 220}, Interval{-100, -110, -90}, waits},
		{down, Interval{0, -9, 9}, there, absent},

		// Where the results say little of how much it is, what was counted may say
		// that it is less, but not that it is more.
		{wide, Interval{30, 28, 32}, Interval{30, 28, 32}, computes},
		{wide, Interval{30, 28, 32}, Interval{30, -80, 140}, unsure},
		{wide, Interval{5, 4, 6}, Interval{30, 28, 32}, waits},
		{wide, Interval{5, 4, 16}, Interval{30, 28, 32}, unsure},
		{wide, Interval{60, 55, 65}, Interval{200, 190, 210}, computes},
		{wide, Interval{0, -1, 1}, Interval{0, -1, 4}, absent},
		{wide, Interval{0, -1, 1}, Interval{0, -1, 6}, unsure},
	} {
		if got := (&CPUTime{Diff: c.cpu, Wall: c.wall}).reading(c.diff); got != c.want {
			t.Errorf("of %v, CPU time %v and time %v: reading %d, want %d", c.diff, c.cpu, c.wall, got, c.want)
		}
	}
}

// One loop with ten percent more iterations, from slices and samples to the sentence:
// samples alone would not tell its CPU times apart, and for all they say it might wait.
func TestTenPercentMoreOfOneLoop(t *testing.T) {
	var base, this []tally
	for i, scatter := range []float64{-90, 60, 20, -40, 110, 0, -70, 35} { // of processes, in ns
		base = append(base, slicesOf(65_000, 65_000*(5590+scatter), 65_000*(5600+scatter)))
		scatter += 12 * float64(i-3)
		this = append(this, slicesOf(65_000, 65_000*(6135+scatter), 65_000*(6143+scatter)))
	}
	profile := func(samples int64) Sampled {
		return Sampled{N: 1_030_000, Profile: synthetic(t, CPU, 10_000_000, fmt.Sprintf("%d example.com/tiny.Hash example.com/tiny.BenchmarkHash\n1 runtime.findRunnable runtime.schedule", samples))}
	}
	d, err := Diff(CPU, profile(574), profile(630))
	if err != nil {
		t.Fatal(err)
	}
	f := finding{
		baseName: "old", thisName: "new", diff: Interval{543, 480, 600}, differs: true,
		cpu: newCPUTime(base, this), profiles: map[Kind]*Profile{CPU: &d}, counted: 2 * time.Second, sampled: 6 * time.Second,
	}
	got, explained := f.sentence()
	if want := regexp.MustCompile(`^new is 543 ns per operation slower than old and uses 5\d\d ns more CPU time \(5\d\d to 5\d\d ns\): 5\d\d ns more in its own code \(tiny\.Hash\)\.$`); !explained || !want.MatchString(got) {
		t.Errorf("explained %v: %s", explained, got)
	}
	if t3 := d.cpuTime(); t3.reading(f.diff) == computes {
		t.Errorf("samples alone prove it (%v): the example shows nothing", t3.Diff)
	}
}

// saysWaiting finds that a sentence says where the time goes is not computing. That
// it cannot tell "whether it computes or waits" is not that.
var saysWaiting = regexp.MustCompile(`waiting|waits (more|less)|in parallel`)

// checkWaiting fails if a sentence says that a program waits though the interval of
// its CPU time holds half of the difference, or reaches beyond it, or though it is
// not proven that there is a difference; and if it does not say so though both
// intervals do.
func checkWaiting(t *testing.T, f *finding) (said bool) {
	t.Helper()
	got, explained := f.sentence()
	cpu, wall, enough := f.cpu.Diff.towards(f.diff.Est), f.cpu.Wall.towards(f.diff.Est), half*f.cpu.size(f.diff)
	said = saysWaiting.MatchString(got)
	if said && (!f.differs || cpu.Hi >= math.Abs(f.diff.Est)/2 || wall.Hi < f.diff.towards(f.diff.Est).Lo/2 || explained) {
		t.Fatalf("of %v, CPU time %+v, time %+v: %v %s", f.diff, f.cpu.Diff, f.cpu.Wall, explained, got)
	}
	if proven := f.differs && cpu.Hi < enough && wall.Lo >= math.Abs(f.diff.Est)/2; proven && !said {
		t.Fatalf("of %v, CPU time %+v, time %+v it is not said to wait: %s", f.diff, f.cpu.Diff, f.cpu.Wall, got)
	}
	return said
}

func TestWaitingIsProven(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	interval := func() Interval {
		est := 3 * r.NormFloat64()
		return Interval{est, est - r.ExpFloat64(), est + r.ExpFloat64()}
	}
	p := cpuProfile(600, 10, 12, changed(ownCode, 9, 11), changed("locks", 1, 1))
	n := 0
	for range 20_000 {
		if checkWaiting(t, &finding{
			diff: interval(), differs: r.IntN(10) > 0, counted: 6 * time.Second, sampled: 6 * time.Second,
			cpu:      &CPUTime{Base: 10, Diff: interval(), BaseWall: 1 + 20*r.Float64(), Wall: interval(), Pairs: 8},
			profiles: map[Kind]*Profile{CPU: p},
			counters: []Counter{{Name: kindOf("mutex-wait-ns").name, Key: "mutex-wait-ns", Unit: "ns/op", Base: 0, This: 100, Moved: true}},
		}) {
			n++
		}
	}
	if n < 1000 {
		t.Errorf("only %d sentences say that something waits: the test tries too little", n)
	}
}

func FuzzWaiting(f *testing.F) {
	f.Add(543.0, 300.0, 800.0, 545.0, 480.0, 610.0, 540.0, 530.0, 550.0)
	f.Add(-100.0, -150.0, -50.0, 0.0, -49.0, 49.0, -100.0, -110.0, -90.0)
	f.Add(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
	f.Fuzz(func(t *testing.T, diff, diffLo, diffHi, cpu, cpuLo, cpuHi, wall, wallLo, wallHi float64) {
		three := []Interval{{diff, diffLo, diffHi}, {cpu, cpuLo, cpuHi}, {wall, wallLo, wallHi}}
		for _, i := range three {
			if !(-1e18 <= i.Lo && i.Lo <= i.Est && i.Est <= i.Hi && i.Hi <= 1e18) {
				return
			}
		}
		checkWaiting(t, &finding{
			diff: three[0], differs: true, cpu: &CPUTime{Base: 10, Diff: three[1], BaseWall: 10, Wall: three[2]},
			profiles: map[Kind]*Profile{CPU: cpuProfile(600, 10, 12, changed(ownCode, 10, 12))},
		})
	})
}

// simulated counts 8·factor pairs of processes: the time differs by one, the CPU time
// by the share of it that computes, and processes scatter by sd.
func simulated(r *rand.Rand, computes, sd float64, factor float64) *CPUTime {
	var base, this []tally
	for range int(math.Ceil(counterPairs * factor)) {
		b, t := 10+sd*r.NormFloat64(), 10+computes+sd*r.NormFloat64()
		base = append(base, slicesOf(1, b*1e6, 20e6))
		this = append(this, slicesOf(1, t*1e6, 21e6))
	}
	return newCPUTime(base, this)
}

// How often readings are right, whatever processes scatter by: one that just
// computes half of the difference is said to wait as often as the interval's upper
// end misses, and where the reading is unsure the time that is advised makes it sure.
func TestReadingsAreRight(t *testing.T) {
	const trials, repeats = 1000, 40
	diff := at(1e6)
	r := rand.New(rand.NewPCG(3, 4))
	for _, sd := range []float64{0.05, 0.2, 0.5, 1} {
		for _, c := range []struct {
			share       float64
			right       reading
			most, least float64 // of wrong readings, of right ones after the advice
		}{{0.5, unsure, 0.03, 0}, {1, computes, 0.03, 0.9}, {0, waits, 0.03, 0.9}} {
			wrong, sure, again := 0, 0, 0 // of the trials, and of again once more
			for range trials {
				cpu := simulated(r, c.share, sd, 1)
				got := cpu.reading(diff)
				if got == waits && c.right != waits || got == computes && c.right == waits {
					wrong++
				}
				if got != unsure || c.right == unsure {
					continue
				}
				// Not where chance has put the estimate so near that no time is known.
				if factor := cpu.lacking(diff); factor < 100 && again < repeats {
					again++
					if simulated(r, c.share, sd, factor).reading(diff) == c.right {
						sure++
					}
				}
			}
			if rate := float64(wrong) / trials; rate > c.most {
				t.Errorf("share %v, scatter %v: %.1f %% of readings are wrong", c.share, sd, 100*rate)
			}
			if sd >= 0.5 && c.right != unsure && again < repeats || float64(sure) < c.least*float64(again) {
				t.Errorf("share %v, scatter %v: after the advice %d of %d are sure", c.share, sd, sure, again)
			}
			t.Logf("share %v, scatter %v: wrong %d of %d, after the advice sure %d of %d", c.share, sd, wrong, trials, sure, again)
		}
	}
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		d      time.Duration
		factor float64
		want   string
	}{
		{6 * time.Second, 1.5, "--time 9s would do"},
		{6 * time.Second, 9.4, "--time 60s would do"},
		{6 * time.Second, 20, "--time 120s would do"},
		{6 * time.Second, 20.1, "--time 3m would do"},
		{6 * time.Second, 600, "--time 60m would do"},
		{6 * time.Second, 601, "not even --time 1h would do"},
		{6 * time.Second, math.Inf(1), "not even --time 1h would do"},
		{6 * time.Second, math.NaN(), "not even --time 1h would do"},
		{time.Millisecond, 2, "--time 1s would do"},
	} {
		got := advice(c.d, c.factor)
		if got != c.want {
			t.Errorf("%v × %v: %s, want %s", c.d, c.factor, got, c.want)
		}
		var said string
		if n, _ := fmt.Sscanf(got, "--time %s would do", &said); n == 1 {
			d, err := time.ParseDuration(said)
			if err != nil || float64(d) < float64(c.d)*c.factor {
				t.Errorf("%v × %v: %s is %v, %v", c.d, c.factor, said, d, err)
			}
		}
	}
}

// More time is more pairs: only so does an interval become narrower as is advised.
func TestEffort(t *testing.T) {
	for _, c := range []struct {
		d     time.Duration
		pairs int
		each  time.Duration
	}{
		{10 * time.Millisecond, 8, 60 * time.Millisecond},
		{3 * time.Second, 8, 187500 * time.Microsecond},
		{6 * time.Second, 8, 375 * time.Millisecond},
		{60 * time.Second, 80, 375 * time.Millisecond},
	} {
		if pairs, each := effort(c.d); pairs != c.pairs || each != c.each {
			t.Errorf("%v: %d pairs of %v", c.d, pairs, each)
		}
	}
	for _, c := range []struct {
		slice, took time.Duration
		want        int
	}{{20 * time.Millisecond, 22 * time.Millisecond, 17}, {125 * time.Millisecond, 130 * time.Millisecond, 3}, {20 * time.Millisecond, 2 * time.Second, 1}} {
		if n := countedSlices(375*time.Millisecond, c.slice, c.took); n != c.want {
			t.Errorf("slices of %v that take %v: %d", c.slice, c.took, n)
		}
	}
}
