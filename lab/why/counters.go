package why

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/dynolab/dyno/lab"
	"github.com/dynolab/dyno/lab/driven"
	"github.com/dynolab/dyno/lab/infer"
)

const (
	// counterPairs is how many pairs of fresh processes counters are compared
	// in: with 8 all of them have to agree, or almost, before one counts as
	// moved (an exact level of 2·5/256 = 3.9 %).
	counterPairs = 8

	// counterSlices is how many slices each process does, in turn with the
	// other, and counterSlice about how long one of them takes on average: long
	// enough for some cycles of garbage collection.
	counterSlices = 3
	counterSlice  = 20 * time.Millisecond
)

// A counterKind is what lab/driven counts, and how it is told.
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
	{key: "mutex-wait-ns", name: "waiting for locks", unit: "ns/op", ns: 1},
	{key: "user-ns", name: "CPU time of the program", unit: "ns/op", ns: 1},
	{key: "system-ns", name: "CPU time of the operating system", unit: "ns/op", ns: 1},
	{key: "minor-faults", name: "page faults", unit: "/op", ns: 500},
	{key: "major-faults", name: "page faults that read a disk", unit: "/op", ns: 100_000},
	{key: "heap-live-B", name: "live heap", unit: "B", level: true},
	{key: "cgo-calls", name: "calls of C", unit: "/op", ns: 50},
}

// counters runs both sides of a pair in slices, in several pairs of fresh
// processes, and compares what was counted.
func (e *explainer) counters(ctx context.Context, p *Pair) ([]Counter, error) {
	if err := cmp.Or(p.Base.Subject.Undrivable, p.This.Subject.Undrivable); err != nil {
		return nil, err
	}
	var base, this []map[string]float64 // by pair
	for i := range counterPairs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		one, other, err := e.countPair(ctx, p, i%2 == 1)
		if err != nil {
			return nil, err
		}
		base, this = append(base, one), append(this, other)
	}
	return compareCounters(base, this), nil
}

// countPair counts in one pair of processes. first says which of them begins:
// what comes second finds the machine as the other left it.
func (e *explainer) countPair(ctx context.Context, p *Pair, thisFirst bool) (base, this map[string]float64, err error) {
	type counted struct {
		p   *driven.Process
		n   int
		ops float64
		sum map[string]float64
	}
	// As many operations on both sides: what a slice does once, however long it is,
	// is then the same for both.
	n := max(1, int(2*float64(counterSlice)/(p.Base.Ns+p.This.Ns)))
	both := make([]*counted, 2)
	for i, b := range []*Bench{&p.Base, &p.This} {
		proc, err := driven.Start(ctx, b.config(e.opts, e.opts.Timeout, true))
		if err != nil {
			return nil, nil, err
		}
		defer proc.Close()
		unit := proc.Hello().Unit
		n := (n + unit - 1) / unit * unit
		both[i] = &counted{p: proc, n: n, sum: make(map[string]float64)}
		if _, err := proc.Run(n); err != nil { // to warm up
			return nil, nil, err
		}
	}
	order := slices.Clone(both)
	if thisFirst {
		slices.Reverse(order)
	}
	for range counterSlices {
		for _, c := range order {
			s, err := c.p.Run(c.n)
			if err != nil {
				return nil, nil, err
			}
			c.ops += float64(s.N)
			for key, v := range s.Counters {
				c.sum[key] += v
			}
		}
	}
	for _, c := range both {
		if _, err := c.p.Finish(); err != nil {
			return nil, nil, err
		}
		for _, k := range counterKinds {
			v, ok := c.sum[k.key]
			switch {
			case !ok:
			case k.level:
				c.sum[k.key] = v / counterSlices
			default:
				c.sum[k.key] = v / c.ops
			}
		}
	}
	return both[0].sum, both[1].sum, nil
}

// compareCounters compares what was counted in pairs of processes.
func compareCounters(base, this []map[string]float64) []Counter {
	var out []Counter
	for _, k := range counterKinds {
		var x, y, logs []float64
		same := 0 // pairs in which this has more, less those in which it has less
		for i := range base {
			b, ok1 := base[i][k.key]
			t, ok2 := this[i][k.key]
			if !ok1 || !ok2 {
				continue
			}
			x, y = append(x, b), append(y, t)
			switch {
			case t > b:
				same++
			case t < b:
				same--
			}
			if b > 0 && t > 0 {
				logs = append(logs, math.Log(t/b))
			}
		}
		if len(x) < counterPairs { // not counted by this Go, or this system
			continue
		}
		c := Counter{Name: k.name, Key: k.key, Unit: k.unit, Base: median(x), This: median(y), Pairs: len(x)}
		if c.Base == 0 && c.This == 0 {
			continue
		}
		if len(logs) == len(x) {
			est, lo, hi := paired(logs)
			c.Ratio = &Ratio{math.Exp(est), math.Exp(lo), math.Exp(hi)}
			c.Moved = lo > 0 || hi < 0
		} else {
			// A ratio to nothing is none; but that all pairs agree says as much.
			c.Moved = same == len(x) || same == -len(x)
		}
		out = append(out, c)
	}
	return out
}

// paired returns the Hodges-Lehmann estimate of the centre of counterPairs
// differences, and its signed rank interval: with 8 differences there are 36
// averages of two, and the fourth from each end bound it, because the sum of ranks
// is 3 or less with probability 5/256.
func paired(d []float64) (est, lo, hi float64) {
	s := infer.SignedRank(d, lab.DefaultAlpha)
	return s.Est, s.Lo, s.Hi
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
		case !c.Moved, k.key == "user-ns": // the profile says that better
		case k.level && changed, !k.level && c.weight() >= 0.05*math.Abs(diff):
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Counter) int { return order(a.weight(), b.weight()) })
	return out[:min(len(out), 3)]
}
