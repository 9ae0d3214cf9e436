package session

import (
	"math"
	"slices"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/stats"
)

// A process gets faster for a while: pages are touched for the first time, the heap and
// stacks grow, caches fill. It counts as steady when the median of its latest slices and
// that of as many before them differ by no more than chance lets them, or by two percent,
// and when its heap has had its size for a collection, if that is soon.
//
// Slices that warm up take leastWarm however short those are that count: over four slices
// of 1 ms, two percent are much, and what gets faster for a tenth of a second would look
// steady on the way.

const (
	// leastWarm is how long slices take at least that warm up.
	leastWarm = 5 * time.Millisecond
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
	// a process is as warm as it gets, if it has done a whole window by then.
	mostWarmup = 100
	// mostSlices and mostOps end the warming up of what does not take longer for
	// more operations.
	mostSlices, mostOps = 300, 1e9
	// settled is how many collections there are before the heap has its size.
	settled = 2
)

// A warmth is how a process is after it has been warmed up.
type warmth struct {
	n      int           // operations of a slice
	known  bool          // n is that of all sides and blocks: what this process takes for it changes nothing
	slice  time.Duration // that a slice takes, about
	slices int           // how many it took
	steady bool
	perOp  float64 // nanoseconds, in slices that warm up

	untimed   untimed
	firstUse  time.Duration // by which its first operation took longer than others; of b.Loop only
	ownFigure bool          // it reports a metric that is of its slice as a whole

	// cycle is about how long the process runs from one collection of garbage to the
	// next, by what it allocates and how far its heap may grow; 0 if it allocates
	// next to nothing, or that is not known.
	cycle time.Duration
	// collection is about what a collection costs then.
	collection time.Duration
}

// leastRun returns how long a process has to run for it to be little whether one
// collection more or less comes in that time, which is chance.
func (w warmth) leastRun() time.Duration {
	return min(wholeCycles*w.cycle, w.collection*negligible, longestRun)
}

// warmUp runs slices until the process is steady, and finds how many operations
// take about slice. Its error is the process's, or stop's, which is asked before
// each slice.
func warmUp(p Driver, slice time.Duration, stop func() error) (w warmth, err error) {
	unit := max(1, p.Hello().Unit)
	target := max(slice, leastWarm)
	w.n = unit
	var (
		spent       time.Duration // of all slices
		ops         int           // of all slices
		bytes       uint64        // that they allocated
		collections int           // that came in them
		perOp       []float64     // of the slices of full size
	)
	var first, wall time.Duration
	for {
		if err := stop(); err != nil {
			return w, err
		}
		s, err := p.Run(w.n)
		if err != nil {
			return w, err
		}
		if w.slices++; w.slices == 1 {
			first = s.Elapsed / time.Duration(s.N)
		}
		w.untimed.learn(s)
		w.ownFigure = w.ownFigure || hasOwnFigure(s.Extra)
		spent += s.Elapsed
		wall += s.Wall
		ops += s.N
		bytes += s.Bytes
		collections += int(s.GCs)
		late := wall >= stretchWall*mostWarmup*target
		over := spent >= mostWarmup*target || w.slices >= mostSlices || late
		if s.Elapsed < target/2 && !over && w.n < mostOps {
			if n := w.untimed.grown(s, grown(w.n, unit, s.Elapsed, target)) / unit * unit; n > w.n {
				w.n = n
				continue
			}
		}
		perOp = append(perOp, float64(s.Elapsed)/float64(s.N))
		window, enough := latest(perOp, s.Elapsed, target)
		if late && !enough && len(perOp) > 1 {
			window, enough = perOp[len(perOp)-2:], true // more would take too long
		}
		if !enough || !steady(window) && !over {
			continue
		}
		w.steady = steady(window)
		w.perOp = stats.Median(slices.Sorted(slices.Values(window)))
		if err := w.collections(p, float64(bytes)/float64(ops)); err != nil {
			return w, err
		}
		if collections < settled && !over && w.cycle > 0 && w.cycle < mostWarmup*target/settled {
			continue // its heap is about to grow to its size
		}
		if p.Hello().Mode == program.ModeLoop { // go test leaves out the first call of others, too
			w.firstUse = max(0, first-time.Duration(w.perOp))
		}
		w.resize(multiple(float64(slice)/w.perOp, unit), unit)
		return w, nil
	}
}

// resize makes slices have n operations, or the most that they may have.
func (w *warmth) resize(n, unit int) {
	w.n = max(unit, min(n, w.untimed.most(w.perOp)/unit*unit))
	w.slice = time.Duration(w.perOp * float64(w.n))
}

// latest returns the latest slices, of which one half is to be compared with the
// other, the last one having taken so long; enough is false if there are too few.
func latest(perOp []float64, took, target time.Duration) (window []float64, enough bool) {
	half := windowHalf
	switch {
	case took > 4*target:
		half = 1
	case took > 2*target:
		half = longHalf
	}
	if len(perOp) < 2*half {
		return nil, false
	}
	window = perOp[len(perOp)-2*half:]
	if half < longHalf && !steady(window) && len(perOp) >= 2*longHalf {
		window = perOp[len(perOp)-2*longHalf:] // these say how much they scatter
	}
	return window, true
}

// How long a process runs at least if it collects garbage: so long that it has
// wholeCycles collections, or that a collection is one part in negligible of it; but
// no longer than longestRun.
const (
	wholeCycles = 10
	negligible  = 300
	longestRun  = time.Second
)

// matteringPart is the part of its time that a process spends on collections from which on its
// slices are longer: the collector works on the other processors, whose threads a pause has put to
// sleep, and marks what a pause has put out of the caches. An operation of a microsecond that makes 1 KiB
// of garbage cost 16 % more in the first millisecond of a slice than 16 ms later, 5 % over
// 16 ms and 1.5 % over 48 ms; without a collection it cost 1 % more in the first, and nothing over 16 ms.
// One that makes 256 bytes more, and so spends a twentieth on collections, was called 20 % slower in
// slices of 1 ms, 16 to 18 in those of 16 ms and 13 in those of 64 ms, where go test says 15.
const matteringPart = 1.0 / 100

// collectedSlice is how long slices of w are at least for its collections to cost in them what they
// cost in a long run: sharedSlice, or a whole cycle, as far as that is no longer than the longest that is tried.
func (w warmth) collectedSlice() time.Duration {
	if w.cycle <= 0 || float64(w.collection) < matteringPart*float64(w.cycle) {
		return 0
	}
	return min(max(sharedSlice, w.cycle), callLengths[len(callLengths)-1])
}

// What a collection costs, roughly: a processor marks about a gigabyte of pointers in a
// second, and the workers that a collection starts take hundreds of microseconds of processor time
// of a heap that is next to empty: 630 were measured on two virtual processors, gc-cpu-ns/op over gcs/Mop.
const (
	collectionStart = 500 * time.Microsecond
	markedByte      = time.Nanosecond
)

// leastBytes is how many bytes an operation allocates at least for its collections
// to matter: less is the runtime's own.
const leastBytes = 1.0 / 16

// collections finds how far apart collections are, and what one costs, if an
// operation of p allocates so many bytes.
func (w *warmth) collections(p Driver, bytesPerOp float64) error {
	if bytesPerOp < leastBytes {
		return nil
	}
	u, err := p.Usage()
	if err != nil || u.HeapGoal <= u.LiveHeap {
		return err
	}
	ns := float64(u.HeapGoal-u.LiveHeap) / bytesPerOp * w.perOp
	w.cycle = time.Duration(min(ns, float64(time.Hour)))
	w.collection = collectionStart + time.Duration(u.LiveHeap)*markedByte
	return nil
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
	a, b := stats.Median(before), stats.Median(after)
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

var _ Driver = (*program.Process)(nil)
