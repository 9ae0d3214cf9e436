package why

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/stats"
)

const (
	// counterPairs is how many pairs of fresh processes are counted in, at least:
	// all of 8 have to agree, or almost, before something counts as moved.
	counterPairs = 8

	// counterSlices is how many slices each process does at least, and counterSlice
	// about how long one takes: long enough for some cycles of garbage collection.
	counterSlices = 3
	counterSlice  = 20 * time.Millisecond
)

// effort returns how many pairs of processes are counted in, and how long each
// process is to run its slices, for all of it to take about as long as d. Up to
// [DefaultTime] the processes run longer; beyond, there are more of them, because what
// processes differ by does not go away in longer ones: so the interval becomes narrower
// with the root of d, which is what [advice] counts on.
func effort(d time.Duration) (pairs int, each time.Duration) {
	pairs = max(counterPairs, int(counterPairs*float64(d)/float64(DefaultTime)))
	each = max(counterSlices*counterSlice, min(d, DefaultTime)/(2*counterPairs))
	return pairs, each
}

// A counterKind is what internal/program counts, and how it is told.
type counterKind struct {
	key, name, unit string
	level           bool // not per operation

	// ns is what one event costs, very roughly: only what could make up a noticeable
	// part of a difference is worth a word. Zero is for what is no cost.
	ns float64
}

var counterKinds = []counterKind{
	{key: "voluntary-switches", name: "context switches because a thread waited", unit: "/op", ns: 5000},
	{key: "involuntary-switches", name: "context switches because a thread was preempted", unit: "/op", ns: 5000},
	{key: "sched-events", name: "goroutines that waited for a processor, of which the runtime counts a sample", unit: "/op"},
	{key: "sched-p50-ns", name: "median scheduling latency", unit: "ns", level: true},
	{key: "sched-p99-ns", name: "99th percentile of the scheduling latency", unit: "ns", level: true},
	{key: "goroutines-created", name: "goroutines started", unit: "/op", ns: 300},
	{key: "gc-cycles", name: "garbage collections", unit: "/op", ns: 200_000},
	{key: "gc-cpu-ns", name: "CPU time of the garbage collector", unit: "ns/op", ns: 1},
	{key: "mutex-wait-ns", name: "time that goroutines were blocked at locks, of which the runtime times a sample", unit: "ns/op", ns: 1},
	{key: "user-ns", name: "CPU time of the program", unit: "ns/op", ns: 1},
	{key: "system-ns", name: "CPU time of the operating system", unit: "ns/op", ns: 1},
	{key: "minor-faults", name: "page faults", unit: "/op", ns: 500},
	{key: "major-faults", name: "page faults that read a disk", unit: "/op", ns: 100_000},
	{key: "heap-live-B", name: "live heap", unit: "B", level: true},
	{key: "cgo-calls", name: "calls of C", unit: "/op", ns: 50},
}

// counters runs both sides of a pair in slices, in several pairs of fresh
// processes, and compares what was counted. The CPU time is nil if it was not
// counted.
func (e *explainer) counters(ctx context.Context, p *Pair) ([]Counter, *CPUTime, error) {
	if err := cmp.Or(p.Base.Binary.Undrivable, p.This.Binary.Undrivable); err != nil {
		return nil, nil, err
	}
	pairs, each := effort(e.opts.Time)
	var base, this []tally // by pair
	for i := range pairs {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		two, err := e.countPair(ctx, p, each, i%2 == 1)
		if err != nil {
			return nil, nil, err
		}
		base, this = append(base, two[0].done), append(this, two[1].done)
	}
	return compareCounters(base, this), newCPUTime(base, this), nil
}

// A tally is what was counted in the slices of one process.
type tally []program.Slice

// ops is how many operations the slices had.
func (t tally) ops() (n float64) {
	for _, s := range t {
		n += float64(s.N)
	}
	return n
}

// wall returns the time of an operation in nanoseconds.
func (t tally) wall() (ns float64, ok bool) {
	for _, s := range t {
		ns += float64(s.Elapsed)
	}
	return ns / t.ops(), true
}

// value returns a counter for one operation, or a level's average over the slices that
// have one.
func (t tally) value(k counterKind) (v float64, ok bool) {
	sum, n := 0.0, 0
	for _, s := range t {
		if v, ok := s.Counters[k.key]; ok {
			sum, n = sum+v, n+1
		}
	}
	switch {
	case n == 0 || !k.level && n < len(t):
		return 0, false
	case k.level:
		return sum / float64(n), true
	}
	return sum / t.ops(), true
}

// commonStep is the greatest common divisor, where 0 is a multiple of everything.
func commonStep(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// counting is a process that is counted in.
type counting struct {
	*program.Process
	n    int // operations of a slice
	done tally
}

// countPair counts in one pair of processes, base and this, each of which runs for about
// as long as each. thisFirst says which of them begins: what comes second finds the
// machine as the other left it.
func (e *explainer) countPair(ctx context.Context, p *Pair, each time.Duration, thisFirst bool) (two [2]*counting, err error) {
	slice := counterSlice
	for i, b := range []*Bench{&p.Base, &p.This} {
		proc, err := e.drive(ctx, b, e.opts.timeout, true)
		if err != nil {
			return two, err
		}
		defer proc.Close()
		two[i] = &counting{Process: proc}
		if proc.Hello().Mode == "runN" {
			// Each slice is a call of the benchmark function, preparation included:
			// few and long ones, as under go test.
			slice = each / counterSlices
		}
	}
	took := time.Duration(0)
	for _, c := range two {
		// As many operations on both sides: what a slice does once, however long it
		// is, is then the same for both.
		c.n = pieces(c.Process, max(1, int(2*float64(slice)/(p.Base.Ns+p.This.Ns))))
		began := time.Now()
		if _, err := c.Run(c.n); err != nil { // to warm up
			return two, err
		}
		took = max(took, time.Since(began))
	}
	turns := two
	if thisFirst {
		slices.Reverse(turns[:])
	}
	for range countedSlices(each, slice, took) {
		for _, c := range turns {
			s, err := c.Run(c.n)
			if err != nil {
				return two, err
			}
			c.done = append(c.done, s)
		}
	}
	for _, c := range two {
		if _, err := c.Finish(); err != nil {
			return two, err
		}
	}
	return two, nil
}

// countedSlices is how many slices a process does that is to run for as long as
// each, if they were planned to take slice and one took so long, with its
// preparation: fewer of those that take longer, down to one.
func countedSlices(each, slice, took time.Duration) int {
	return max(1, int(math.Round(float64(each)/float64(max(slice, took)))))
}

// inPairs returns what value finds in the processes of all pairs; nothing if any of them
// has not counted it.
func inPairs(base, this []tally, value func(tally) (float64, bool)) (b, t []float64) {
	for i := range base {
		x, ok1 := value(base[i])
		y, ok2 := value(this[i])
		if !ok1 || !ok2 {
			return nil, nil
		}
		b, t = append(b, x), append(t, y)
	}
	return b, t
}

// compareCounters compares what was counted in pairs of processes.
func compareCounters(base, this []tally) (out []Counter) {
	for _, k := range counterKinds {
		x, y := inPairs(base, this, func(t tally) (float64, bool) { return t.value(k) })
		if len(x) == 0 { // not counted by this Go, or this system
			continue
		}
		c := Counter{Name: k.name, Key: k.key, Unit: k.unit, Base: median(x), This: median(y), Pairs: len(x)}
		if c.Base == 0 && c.This == 0 {
			continue
		}
		i := paired(x, y, difference)
		if slices.Min(x) > 0 && slices.Min(y) > 0 { // a ratio to nothing is none
			i = paired(x, y, func(x, y float64) float64 { return math.Log(y / x) })
			c.Ratio = &Ratio{math.Exp(i.Est), math.Exp(i.Lo), math.Exp(i.Hi)}
		}
		c.Moved = i.Lo > 0 || i.Hi < 0
		out = append(out, c)
	}
	return out
}

// paired returns the Hodges-Lehmann estimate of the centre of what the values of each
// pair differ by, and its signed rank interval: with 8 pairs there are 36 averages of
// two, and the fourth from each end bound it, because the sum of ranks is 3 or less
// with probability 5/256. With fewer than 6 the interval is infinite.
func paired(x, y []float64, by func(x, y float64) float64) Interval {
	d := make([]float64, len(x))
	for i := range d {
		d[i] = by(x[i], y[i])
	}
	s := stats.SignedRank(d, compare.DefaultAlpha)
	return Interval{Est: s.Est, Lo: s.Lo, Hi: s.Hi}
}

func difference(x, y float64) float64 { return y - x }

func median(v []float64) float64 { return stats.Median(slices.Sorted(slices.Values(v))) }

// kindOf returns what is known of a counter.
func kindOf(key string) counterKind {
	if i := slices.IndexFunc(counterKinds, func(k counterKind) bool { return k.key == key }); i >= 0 {
		return counterKinds[i]
	}
	return counterKind{}
}

// weight is how much of a difference of times a counter's change may be, in
// nanoseconds; of levels, which cost nothing, it is negative and the larger the
// change the nearer to zero.
func (c *Counter) weight() float64 {
	k := kindOf(c.Key)
	d := math.Abs(c.This - c.Base)
	if k.level || k.ns == 0 {
		return -1 / (1 + d/max(c.Base, c.This, 1e-300))
	}
	return d * k.ns
}

// telling returns the counters that moved and may have to do with a difference of
// diff nanoseconds: those that could make up a twentieth of it, or levels that
// changed by a quarter; at most three, the weightiest first.
func telling(counters []Counter, diff float64) []Counter {
	var out []Counter
	for _, c := range counters {
		worth := c.weight() >= 0.05*math.Abs(diff)
		if kindOf(c.Key).level {
			worth = math.Abs(c.This-c.Base) >= 0.25*max(math.Abs(c.Base), math.Abs(c.This))
		}
		if c.Moved && worth && c.Key != "user-ns" { // the sentence begins with CPU time
			out = append(out, c)
		}
	}
	largestFirst(out, func(c Counter) float64 { return c.weight() })
	return out[:min(len(out), 3)]
}
