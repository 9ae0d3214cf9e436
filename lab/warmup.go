package lab

import (
	"math"
	"slices"
	"time"

	"github.com/dynolab/dyno/lab/driven"
)

// A process gets faster for a while: pages are touched for the first time, the
// heap grows to its size, stacks grow, caches fill. What it does meanwhile is not
// measured. It counts as steady when the median of its latest slices and that of
// as many before them differ by no more than chance lets them, or by two percent.
//
// How long that takes has nothing to do with how long the slices are that count,
// so slices that warm up take leastWarm however short those are: over four slices of
// 1 ms, two percent are much, and what gets faster for a tenth of a second would
// look steady on the way.

const (
	// leastWarm is how long slices take at least that warm up.
	leastWarm = 5 * time.Millisecond
	// leastRunN is how long slices take at least of which each is a call of the
	// benchmark function: it begins with a collection of garbage and with whatever
	// the function prepares, which takes as long for the shortest slice.
	leastRunN = 5 * time.Millisecond
	// windowHalf is how many slices are compared with as many before them, and
	// longHalf how many if slices take more than twice as long as planned. Of those that
	// take more than four times as long, each is also compared with the one before.
	windowHalf, longHalf = 4, 2
	// steadyWithin is the difference between halves that is steady in any case,
	// and steadyAtMost the one that never is, however much the slices scatter. Of a
	// slice alone it is not known how much it scatters, so steadyAlone is for those.
	// All are logarithms of ratios.
	steadyWithin, steadyAtMost, steadyAlone = 0.02, 0.10, 0.03
	// mostWarmup is after how many times the planned time of a slice that warms up
	// a process is as warm as it gets, if it has done a whole window by then: half a
	// second, or more if slices are to be longer than leastWarm. So are the other
	// numbers of slices below.
	mostWarmup = 100
	// mostSlices and mostOps end the warming up of what does not take longer for
	// more operations. Package testing has the same bound of operations.
	mostSlices, mostOps = 300, 1e9
	// gcCycles is how many cycles of garbage collection a slice should have if a
	// cycle takes less than gcFrequent planned slices (40 ms); gcLongest planned
	// slices (60 ms) bound such a slice.
	gcCycles, gcFrequent, gcLongest = 3, 8, 12
)

// A warmth is how a process is after it has been warmed up.
type warmth struct {
	n      int           // operations of a slice
	slice  time.Duration // that a slice takes, about
	slices int           // how many it took
	steady bool
	perOp  float64 // nanoseconds, in slices that warm up
}

// warmUp runs slices until the process is steady, and finds how many operations
// take about slice. Its error is the process's, or stop's, which is asked before
// each slice.
//
// Where slices have to have whole cycles of garbage collection, that is found when
// the process is steady in short ones, and it does not begin anew then: the first
// long slice is only to agree with what the short ones took together.
func warmUp(p driver, slice time.Duration, stop func() error) (w warmth, err error) {
	hello := p.Hello()
	unit := max(1, hello.Unit)
	if hello.Mode == driven.ModeRunN {
		slice = max(slice, leastRunN)
	}
	planned := max(slice, leastWarm) // of what warms up
	target := planned
	w.n = unit
	var spent, sized time.Duration // of all slices, and of those of full size
	var ops int                    // during sized
	var seen collections           // during sized
	var perOp []float64            // of the slices of full size
	var cycles time.Duration       // that a slice takes which has whole ones; 0 if that is not known, or none has to
	for {
		if err := stop(); err != nil {
			return w, err
		}
		s, err := p.Run(w.n)
		if err != nil {
			return w, err
		}
		w.slices++
		spent += s.Elapsed
		over := spent >= mostWarmup*planned || w.slices >= mostSlices
		if s.Elapsed < target/2 && !over && w.n < mostOps {
			w.n = grown(w.n, unit, s.Elapsed, target)
			continue
		}
		sized += s.Elapsed
		ops += s.N
		if cycles == 0 {
			seen.add(int(s.GCs), sized)
		}
		perOp = append(perOp, float64(s.Elapsed)/float64(s.N))
		half := windowHalf
		switch {
		case cycles > 0, s.Elapsed > 4*planned:
			half = 1
		case s.Elapsed > 2*planned:
			half = longHalf
		}
		if len(perOp) < 2*half {
			continue
		}
		window := perOp[len(perOp)-2*half:]
		w.steady = steady(window)
		if !w.steady && len(perOp) >= 2*longHalf && half < longHalf {
			window = perOp[len(perOp)-2*longHalf:] // these say how much they scatter
			w.steady = steady(window)
		}
		if !w.steady && !over {
			continue
		}
		w.perOp = median(slices.Sorted(slices.Values(window)))
		if cycles == 0 {
			// A single collection does not say how far apart they are.
			if seen.n == 1 && !hello.GCHeavy && sized < 2*gcFrequent*planned && !over {
				continue
			}
			cycles = seen.target(planned, hello.GCHeavy)
			if cycles > 0 {
				w.perOp = float64(sized) / float64(ops) // which has its part of the collections
			}
			// Of so few cycles the time of one is known to a quarter, and no better.
			if cycles > target+target/4 && !over {
				target = cycles
				w.n = multiple(float64(target)/w.perOp, unit)
				perOp = []float64{w.perOp}
				continue
			}
		}
		w.n = multiple(float64(max(slice, cycles))/w.perOp, unit)
		w.slice = time.Duration(w.perOp * float64(w.n))
		return w, nil
	}
}

// grown returns how many operations to try when n of them took so much less time
// than wanted: what would take that, but no more than a hundred times as many,
// because the first ones are slower.
func grown(n, unit int, took, want time.Duration) int {
	factor := 100.0
	if took > 0 {
		factor = min(factor, float64(want)/float64(took))
	}
	return max(multiple(float64(n)*factor, unit), n+unit)
}

// multiple returns the multiple of unit that is nearest to n, at least one.
func multiple(n float64, unit int) int {
	return unit * max(1, int(math.Round(min(n, mostOps)/float64(unit))))
}

// steady reports whether the medians of the two halves of window are about the
// same.
func steady(window []float64) bool {
	half := len(window) / 2
	before := slices.Sorted(slices.Values(window[:half]))
	after := slices.Sorted(slices.Values(window[half:]))
	a, b := median(before), median(after)
	if !(a > 0 && b > 0) {
		return a == b
	}
	if half == 1 {
		return math.Abs(math.Log(b/a)) <= steadyAlone
	}
	// How far the values of a half lie apart says how much its median varies.
	scatter := max(math.Log(before[half-1]/before[0]), math.Log(after[half-1]/after[0])) / 2
	return math.Abs(math.Log(b/a)) <= min(max(steadyWithin, scatter), steadyAtMost)
}

// collections are those that came in slices, one after another.
type collections struct {
	n, first      int           // all of them, and those in the first slice that had any
	at, last, all time.Duration // the ends of the first and of the last slice that had any, and of all slices
}

// add adds a slice with n collections, which ended at the time at.
func (c *collections) add(n int, at time.Duration) {
	c.all = at
	if n == 0 {
		return
	}
	if c.n == 0 {
		c.first, c.at = n, at
	}
	c.n += n
	c.last = at
}

// target returns how long a slice takes that has whole cycles, if slices that warm
// up are planned to take so long; 0 if a slice needs none, because collections are
// rare or there were none.
func (c *collections) target(planned time.Duration, declared bool) time.Duration {
	if c.n == 0 {
		return 0
	}
	cycle := c.all / time.Duration(c.n)
	if later := c.n - c.first; later > 0 {
		cycle = (c.last - c.at) / time.Duration(later) // from one to the next, and not from when we began to look
	}
	if !declared && cycle >= gcFrequent*planned {
		return 0
	}
	return min(gcCycles*cycle, gcLongest*planned)
}

var _ driver = (*driven.Process)(nil)
