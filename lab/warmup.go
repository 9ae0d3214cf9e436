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

const (
	// windowHalf is how many slices are compared with as many before them, and
	// longHalf how many if slices take longer than planned.
	windowHalf, longHalf = 4, 2
	// steadyWithin is the difference between halves that is steady in any case,
	// and steadyAtMost the one that never is, however much the slices scatter; both
	// as logarithms of ratios.
	steadyWithin, steadyAtMost = 0.02, 0.10
	// mostWarmup is after how many times a slice's planned time a process is as
	// warm as it gets, if it has done a whole window by then.
	mostWarmup = 100
	// mostSlices and mostOps end the warming up of what does not take longer for
	// more operations. Package testing has the same bound of operations.
	mostSlices, mostOps = 300, 1e9
	// gcCycles is how many cycles of garbage collection a slice should have if a
	// cycle takes less than gcFrequent slices; gcLongest bounds such a slice. All
	// but the first in planned slices.
	gcCycles, gcFrequent, gcLongest = 3, 8, 12
)

// A warmth is how a process is after it has been warmed up.
type warmth struct {
	n      int           // operations of a slice
	slice  time.Duration // that a slice takes, about
	slices int           // how many it took
	steady bool
}

// warmUp runs slices until the process is steady, and finds how many operations
// take about slice. Its error is the process's, or stop's, which is asked before
// each slice.
func warmUp(p driver, slice time.Duration, stop func() error) (w warmth, err error) {
	unit := max(1, p.Hello().Unit)
	w.n = unit
	var spent, sized time.Duration // of all slices, and of those of full size
	var gcs int                    // during sized
	var perOp []float64            // of the slices of full size
	target := slice
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
		over := spent >= mostWarmup*slice || w.slices >= mostSlices
		if s.Elapsed < target/2 && !over && w.n < mostOps {
			w.n = grown(w.n, unit, s.Elapsed, target)
			continue
		}
		sized += s.Elapsed
		gcs += int(s.GCs)
		perOp = append(perOp, float64(s.Elapsed)/float64(s.N))
		half := windowHalf
		if s.Elapsed > 2*slice {
			half = longHalf
		}
		if len(perOp) < 2*half {
			continue
		}
		window := perOp[len(perOp)-2*half:]
		w.steady = steady(window)
		if !w.steady && !over {
			continue
		}
		each := median(slices.Sorted(slices.Values(window)))
		if heavy := gcTarget(slice, sized, gcs, p.Hello().GCHeavy); heavy > target && !over {
			target = heavy
			w.n = multiple(float64(target)/each, unit)
			perOp, sized, gcs = nil, 0, 0
			continue
		}
		w.n = multiple(float64(target)/each, unit)
		w.slice = time.Duration(each * float64(w.n))
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
	// How far the values of a half lie apart says how much its median varies.
	scatter := max(math.Log(before[half-1]/before[0]), math.Log(after[half-1]/after[0])) / 2
	return math.Abs(math.Log(b/a)) <= min(max(steadyWithin, scatter), steadyAtMost)
}

// gcTarget returns how long slices should be in which garbage was collected gcs
// times within spent.
func gcTarget(slice, spent time.Duration, gcs int, declared bool) time.Duration {
	if gcs == 0 {
		return slice
	}
	cycle := spent / time.Duration(gcs)
	if !declared && cycle >= gcFrequent*slice {
		return slice
	}
	return min(max(gcCycles*cycle, slice), gcLongest*slice)
}

var _ driver = (*driven.Process)(nil)
