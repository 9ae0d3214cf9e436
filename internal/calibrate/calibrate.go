package calibrate

import (
	"cmp"
	"math"
	"slices"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// CalibrationSchema names the form of a calibration's JSON. Fields may be added
// under the same name; a change of meaning gets a new one.
const CalibrationSchema = "dyno-calibration/1"

// rateConfidence is the confidence of a Rate's interval.
const rateConfidence = 0.95

// rateOf is how often yes holds of all.
func rateOf[T any](all []T, yes func(T) bool) compare.Rate {
	r := compare.Rate{K: len(where(all, yes)), N: len(all)}
	r.Lo, r.Hi = binomialInterval(r.K, r.N, rateConfidence)
	return r
}

// where returns those of all of which yes holds.
func where[T any](all []T, yes func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !yes(v) })
}

// A group is what has a key in common.
type group[K comparable, T any] struct {
	key     K
	members []T
}

// groupBy returns groups and their members in order of appearance.
func groupBy[K comparable, T any](all []T, key func(T) K) (groups []group[K, T]) {
	at := make(map[K]int)
	for _, v := range all {
		k := key(v)
		i, ok := at[k]
		if !ok {
			i, at[k] = len(groups), len(groups)
			groups = append(groups, group[K, T]{key: k})
		}
		groups[i].members = append(groups[i].members, v)
	}
	return groups
}

// binomialInterval bounds the probability of something that came k times out of
// n, independently of one another, by the interval of Clopper and Pearson
// (Biometrika 26, 1934): all probabilities for which neither so few nor so many
// would be a surprise at half of 1 - confidence. Its coverage is never less than
// it says. Without trials it is everything.
func binomialInterval(k, n int, confidence float64) (lo, hi float64) {
	tail := (1 - confidence) / 2
	// Both bounds are where a tail's probability, which is monotonous in p, is
	// tail. 60 halvings leave less than a float64 can tell apart.
	solve := func(above func(p float64) bool) float64 {
		a, b := 0.0, 1.0
		for range 60 {
			if m := (a + b) / 2; above(m) {
				b = m
			} else {
				a = m
			}
		}
		return (a + b) / 2
	}
	hi = 1
	if k > 0 {
		lo = solve(func(p float64) bool { return 1-binomialCDF(k-1, n, p) > tail })
	}
	if k < n {
		hi = solve(func(p float64) bool { return binomialCDF(k, n, p) < tail })
	}
	return lo, hi
}

// binomialCDF is the probability of at most k times out of n, each of
// probability p, which lies between 0 and 1.
func binomialCDF(k, n int, p float64) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += math.Exp(lg(n) - lg(i) - lg(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return math.Min(1, sum)
}

// A trialPair is one comparison of a trial: two processes in each block, of the
// same program, of which the second was slowed by the known part slow.
type trialPair struct {
	file, trial string
	pkg, name   string
	place       int     // of its benchmark in the plan, by the numbers of its cases
	driven      string  // how its benchmark was
	slow        float64 // 0: A/A

	// a and b are the two of each block, in order of blocks: a[i] and b[i] ran in
	// the same one.
	a, b []trialProcess

	vs      *compare.Versus // nil if compare made no comparison
	verdict compare.Verdict
	logs    []float64 // logarithms of the blocks' ratios
}

// A trialProcess is what a results file has of one process.
type trialProcess struct {
	block, layout string
	nsPerOp       float64 // the value of its benchmark line
	n             int     // operations a slice; 0 if it has no slices
	slices        []int64 // nanoseconds of each, or Lost
}

// seconds is the measured time of both.
func (p *trialPair) seconds() float64 {
	sum := 0.0
	for _, proc := range slices.Concat(p.a, p.b) {
		for _, ns := range proc.slices {
			if ns != record.Lost {
				sum += float64(ns)
			}
		}
	}
	return sum / 1e9
}

// claims reports whether a verdict says of a time that there is a difference.
func claims(v compare.Verdict) bool { return v == compare.Faster || v == compare.Slower }

// A benchKey names a benchmark, and how it is driven.
type benchKey struct{ pkg, name, driven string }

func (p *trialPair) bench() benchKey { return benchKey{p.pkg, p.name, p.driven} }

func (p *trialPair) slowed() bool { return p.slow > 0 }

// rates are what judged pairs show of A/A and of slowed programs, and effects the latter
// by slow-down, smallest first.
func rates(pairs []*trialPair, alpha, margin float64) (r compare.CalibratedRates, effects []compare.CalibratedEffect) {
	alarm := func(p *trialPair) bool { return p.vs.P <= alpha }
	covers := func(p *trialPair) bool { return p.vs.Lo <= 1+p.slow && 1+p.slow <= p.vs.Hi }
	same := where(pairs, func(p *trialPair) bool { return !p.slowed() })
	slowed := where(pairs, (*trialPair).slowed)
	effects = make([]compare.CalibratedEffect, 0)
	for _, g := range groupBy(slowed, func(p *trialPair) float64 { return p.slow }) {
		effects = append(effects, compare.CalibratedEffect{
			Slow:   g.key,
			Found:  rateOf(g.members, func(p *trialPair) bool { return alarm(p) && p.vs.Ratio > 1 }),
			Called: rateOf(g.members, func(p *trialPair) bool { return p.verdict == compare.Slower }),
			Denied: rateOf(g.members, func(p *trialPair) bool {
				return p.verdict == compare.Faster || p.verdict == compare.Same && p.slow >= margin
			}),
			Covered: rateOf(g.members, covers),
			Ratio:   medianOf(each(g.members, func(p *trialPair) float64 { return p.vs.Ratio })),
			Seconds: mean(each(g.members, (*trialPair).seconds)),
		})
	}
	slices.SortFunc(effects, func(a, b compare.CalibratedEffect) int { return cmp.Compare(a.Slow, b.Slow) })
	claimed := func(p *trialPair) bool { return claims(p.verdict) }
	return compare.CalibratedRates{Alarms: rateOf(same, alarm), Wrong: rateOf(same, claimed), Covered: rateOf(slowed, covers)}, effects
}

// count sums up what the pairs show.
func count(c *compare.Calibration, all []*trialPair) {
	pairs := where(all, func(p *trialPair) bool { return p.vs != nil })
	c.Trials = len(groupBy(pairs, func(p *trialPair) [2]string { return [2]string{p.file, p.trial} }))
	for _, p := range pairs {
		c.Blocks = max(c.Blocks, len(p.a))
		c.Layouts = max(c.Layouts, len(groupBy(p.a, func(proc trialProcess) string { return proc.layout })))
		for _, proc := range p.a {
			c.Rounds = max(c.Rounds, len(proc.slices))
		}
	}
	c.CalibratedRates, c.Effects = rates(pairs, c.Alpha, c.Margin)
	benches := groupBy(pairs, (*trialPair).bench)
	slices.SortStableFunc(benches, func(a, b group[benchKey, *trialPair]) int { return a.members[0].place - b.members[0].place })
	c.Benchmarks = make([]compare.CalibratedBenchmark, 0, len(benches))
	for _, way := range groupBy(benches, func(b group[benchKey, *trialPair]) string { return b.key.driven }) {
		w := compare.CalibratedWay{Driven: way.key}
		w.CalibratedRates, w.Effects = rates(where(pairs, func(p *trialPair) bool { return p.driven == way.key }), c.Alpha, c.Margin)
		c.Ways = append(c.Ways, w)
		for _, b := range way.members {
			c.Benchmarks = append(c.Benchmarks, benchmark(b.key, b.members, c.Alpha, c.Margin))
		}
	}
	c.Habits = habits(all, c.Alpha)
}

// benchmark is what the pairs of one benchmark show.
func benchmark(key benchKey, pairs []*trialPair, alpha, margin float64) compare.CalibratedBenchmark {
	b := compare.CalibratedBenchmark{Pkg: key.pkg, Name: key.name, Seconds: mean(each(pairs, (*trialPair).seconds))}
	b.Driven = key.driven
	b.CalibratedRates, b.Effects = rates(pairs, alpha, margin)
	detectable := each(pairs, func(p *trialPair) float64 { return math.Expm1(p.vs.Shift.Detectable(p.vs.Shift.Units, alpha)) })
	b.Detectable = medianOf(where(detectable, func(d float64) bool { return d > 0 && !math.IsInf(d, 1) }))
	same := where(pairs, func(p *trialPair) bool { return !p.slowed() })
	spreads := each(same, func(p *trialPair) float64 { return p.vs.Shift.Spread })
	b.Spread = medianOf(where(spreads, func(v float64) bool { return !math.IsNaN(v) }))
	return b
}

// each returns what f makes of each of all.
func each[T any](all []T, f func(T) float64) []float64 {
	out := make([]float64, len(all))
	for i, v := range all {
		out[i] = f(v)
	}
	return out
}

// medianOf returns the median of values in any order, 0 if there are none.
func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Clone(values)
	slices.Sort(values)
	return stats.Median(values)
}

// mean returns the mean, 0 of nothing.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}
