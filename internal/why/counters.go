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
	"github.com/dynolab/dyno/internal/testbin"
)

const (
	// counterPairs is how many pairs of fresh processes are counted in, at least:
	// with 8 all of them have to agree, or almost, before something counts as
	// moved (an exact level of 2·5/256 = 3.9 %).
	counterPairs = 8

	// counterSlices is how many slices each process does at least, in turn with
	// the other, and counterSlice about how long one of them takes on average: long
	// enough for some cycles of garbage collection.
	counterSlices = 3
	counterSlice  = 20 * time.Millisecond
)

// effort returns how many pairs of processes are counted in, and how long each
// process is to run its slices, if a profile of CPU time takes about as long as d.
// All of it takes about as long as d too. Up to [DefaultTime] the processes run
// longer; beyond, there are more of them, because what processes differ by does not
// go away in longer ones: so the interval becomes narrower with the root of d,
// which is what [advice] counts on.
func effort(d time.Duration) (pairs int, each time.Duration) {
	pairs = max(counterPairs, int(counterPairs*float64(d)/float64(DefaultTime)))
	each = max(counterSlices*counterSlice, min(d, DefaultTime)/(2*counterPairs))
	return pairs, each
}

// A counterKind is what internal/program counts, and how it is told.
type counterKind struct {
	key, name, unit string
	level           bool // not per operation

	// ns is what one event costs, very roughly, in nanoseconds on a machine of
	// today: only what could make up a noticeable part of a difference is worth
	// a word. Zero is for what is no cost.
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
	{key: "mutex-wait-ns", name: "time that goroutines were blocked at locks", unit: "ns/op", ns: 1},
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
		one, other, err := e.countPair(ctx, p, each, i%2 == 1)
		if err != nil {
			return nil, nil, err
		}
		base, this = append(base, *one), append(this, *other)
	}
	return compareCounters(base, this), newCPUTime(base, this), nil
}

// A tally is what was counted in the slices of one process.
type tally struct {
	slices int
	ops    float64            // operations, in all slices
	wall   float64            // their time, ns
	sums   map[string]float64 // by key, over the slices that have it
	have   map[string]int     // how many slices have it

	// clock is the largest step, in nanoseconds, that the CPU time of all slices is
	// a multiple of: the system's clock of CPU time is no finer than that.
	clock uint64
}

// add adds a slice.
func (t *tally) add(s program.Slice) {
	t.slices++
	t.ops += float64(s.N)
	t.wall += float64(s.Elapsed)
	for key, v := range s.Counters {
		t.sums[key] += v
		t.have[key]++
	}
	t.clock = commonStep(t.clock, uint64(max(0, s.Counters["user-ns"]+s.Counters["system-ns"])))
}

// value returns a counter for one operation, or a level's average over the slices.
func (t *tally) value(k counterKind) (v float64, ok bool) {
	n := t.have[k.key]
	switch {
	case n == 0 || !k.level && n < t.slices:
		return 0, false
	case k.level:
		return t.sums[k.key] / float64(n), true
	}
	return t.sums[k.key] / t.ops, true
}

// commonStep is the greatest common divisor, where 0 is a multiple of everything.
func commonStep(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// countPair counts in one pair of processes, each of which runs for about as long
// as each. thisFirst says which of them begins: what comes second finds the machine
// as the other left it.
func (e *explainer) countPair(ctx context.Context, p *Pair, each time.Duration, thisFirst bool) (base, this *tally, err error) {
	type counted struct {
		tally
		proc *program.Process
		n    int // operations of a slice
	}
	both := make([]*counted, 2)
	slice := counterSlice
	for i, b := range []*Bench{&p.Base, &p.This} {
		proc, err := testbin.Drive(ctx, b.config(e.opts, e.opts.Timeout, true))
		if err != nil {
			return nil, nil, err
		}
		defer proc.Close()
		both[i] = &counted{proc: proc, tally: tally{sums: make(map[string]float64), have: make(map[string]int)}}
		if proc.Hello().Mode == "runN" {
			// Each slice is a call of the benchmark function, preparation included:
			// few and long ones, as under go test.
			slice = each / counterSlices
		}
	}
	took := time.Duration(0)
	for _, c := range both {
		// As many operations on both sides: what a slice does once, however long it
		// is, is then the same for both.
		n, unit := max(1, int(2*float64(slice)/(p.Base.Ns+p.This.Ns))), c.proc.Hello().Unit
		c.n = (n + unit - 1) / unit * unit
		began := time.Now()
		if _, err := c.proc.Run(c.n); err != nil { // to warm up
			return nil, nil, err
		}
		took = max(took, time.Since(began))
	}
	order := slices.Clone(both)
	if thisFirst {
		slices.Reverse(order)
	}
	for range countedSlices(each, slice, took) {
		for _, c := range order {
			s, err := c.proc.Run(c.n)
			if err != nil {
				return nil, nil, err
			}
			c.add(s)
		}
	}
	for _, c := range both {
		if _, err := c.proc.Finish(); err != nil {
			return nil, nil, err
		}
	}
	return &both[0].tally, &both[1].tally, nil
}

// countedSlices is how many slices a process does that is to run for as long as
// each, if they were planned to take slice and one took so long, with its
// preparation: fewer of those that take longer, down to one.
func countedSlices(each, slice, took time.Duration) int {
	return max(1, int(math.Round(float64(each)/float64(max(slice, took)))))
}

// compareCounters compares what was counted in pairs of processes.
func compareCounters(base, this []tally) []Counter {
	var out []Counter
	for _, k := range counterKinds {
		var x, y, diffs, logs []float64
		for i := range base {
			b, ok1 := base[i].value(k)
			t, ok2 := this[i].value(k)
			if !ok1 || !ok2 {
				continue
			}
			x, y, diffs = append(x, b), append(y, t), append(diffs, t-b)
			if b > 0 && t > 0 {
				logs = append(logs, math.Log(t/b))
			}
		}
		if len(x) == 0 || len(x) < len(base) { // not counted by this Go, or this system
			continue
		}
		c := Counter{Name: k.name, Key: k.key, Unit: k.unit, Base: median(x), This: median(y), Pairs: len(x)}
		if c.Base == 0 && c.This == 0 {
			continue
		}
		if len(logs) == len(x) {
			r := paired(logs)
			c.Ratio = &Ratio{math.Exp(r.Est), math.Exp(r.Lo), math.Exp(r.Hi)}
			c.Moved = r.Lo > 0 || r.Hi < 0
		} else { // a ratio to nothing is none
			d := paired(diffs)
			c.Moved = d.Lo > 0 || d.Hi < 0
		}
		out = append(out, c)
	}
	return out
}

// paired returns the Hodges-Lehmann estimate of the centre of the differences of
// pairs, and its signed rank interval: with 8 differences there are 36 averages of
// two, and the fourth from each end bound it, because the sum of ranks is 3 or less
// with probability 5/256. With fewer than 6 the interval is infinite.
func paired(d []float64) Interval {
	s := stats.SignedRank(d, compare.DefaultAlpha)
	return Interval{Est: s.Est, Lo: s.Lo, Hi: s.Hi}
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// kindOf returns what is known of a counter.
func kindOf(key string) counterKind {
	for _, k := range counterKinds {
		if k.key == key {
			return k
		}
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
		k := kindOf(c.Key)
		changed := math.Abs(c.This-c.Base) >= 0.25*max(math.Abs(c.Base), math.Abs(c.This))
		switch {
		case !c.Moved, k.key == "user-ns": // the sentence begins with CPU time
		case k.level && changed, !k.level && c.weight() >= 0.05*math.Abs(diff):
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Counter) int { return order(a.weight(), b.weight()) })
	return out[:min(len(out), 3)]
}
