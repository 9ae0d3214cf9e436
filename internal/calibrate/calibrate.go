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

// A tally counts for a Rate.
type tally struct{ k, n int }

func (t *tally) add(yes bool) {
	t.n++
	if yes {
		t.k++
	}
}

func (t tally) rate() compare.Rate {
	r := compare.Rate{K: t.k, N: t.n}
	r.Lo, r.Hi = binomialInterval(t.k, t.n, rateConfidence)
	return r
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
	for _, side := range [][]trialProcess{p.a, p.b} {
		for _, proc := range side {
			for _, ns := range proc.slices {
				if ns != record.Lost {
					sum += float64(ns)
				}
			}
		}
	}
	return sum / 1e9
}

// claims reports whether a verdict says of a time that there is a difference.
func claims(v compare.Verdict) bool { return v == compare.Faster || v == compare.Slower }

// A calibrationTally counts what pairs show.
type calibrationTally struct {
	alarms, wrong, covered tally
	effects                []*effectTally
}

// An effectTally counts what pairs with one slow-down show.
type effectTally struct {
	slow                           float64
	found, called, denied, covered tally
	ratio, seconds                 []float64
}

// add counts p, of which compare made a comparison.
func (c *calibrationTally) add(p *trialPair, alpha, margin float64) {
	alarm := p.vs.P <= alpha
	if p.slow == 0 {
		c.alarms.add(alarm)
		c.wrong.add(claims(p.verdict))
		return
	}
	i := slices.IndexFunc(c.effects, func(e *effectTally) bool { return e.slow == p.slow })
	if i < 0 {
		i = len(c.effects)
		c.effects = append(c.effects, &effectTally{slow: p.slow})
	}
	e, truth := c.effects[i], 1+p.slow
	covered := p.vs.Lo <= truth && truth <= p.vs.Hi
	c.covered.add(covered)
	e.covered.add(covered)
	e.found.add(alarm && p.vs.Ratio > 1)
	e.called.add(p.verdict == compare.Slower)
	e.denied.add(p.verdict == compare.Faster || p.verdict == compare.Same && p.slow >= margin)
	e.ratio = append(e.ratio, p.vs.Ratio)
	e.seconds = append(e.seconds, p.seconds())
}

// list returns the effects, smallest first.
func (c *calibrationTally) list() []compare.CalibratedEffect {
	out := make([]compare.CalibratedEffect, 0, len(c.effects))
	for _, e := range c.effects {
		out = append(out, compare.CalibratedEffect{
			Slow: e.slow, Found: e.found.rate(), Called: e.called.rate(), Denied: e.denied.rate(), Covered: e.covered.rate(),
			Ratio: medianOf(e.ratio), Seconds: mean(e.seconds),
		})
	}
	slices.SortFunc(out, func(a, b compare.CalibratedEffect) int { return cmp.Compare(a.Slow, b.Slow) })
	return out
}

// count sums up what the pairs show.
func count(c *compare.Calibration, pairs []trialPair) {
	type bench struct {
		calibrationTally
		pkg, name, driven           string
		place                       int
		spread, detectable, seconds []float64
	}
	var all calibrationTally
	var benches []*bench
	var driven []string // in order of the plan
	ways := make(map[string]*calibrationTally)
	trials := make(map[[2]string]bool)
	for i := range pairs {
		p := &pairs[i]
		if p.vs == nil {
			continue
		}
		trials[[2]string{p.file, p.trial}] = true
		c.Blocks = max(c.Blocks, len(p.a))
		layouts := make(map[string]bool)
		for _, proc := range p.a {
			c.Rounds = max(c.Rounds, len(proc.slices))
			layouts[proc.layout] = true
		}
		c.Layouts = max(c.Layouts, len(layouts))
		at := slices.IndexFunc(benches, func(b *bench) bool { return b.pkg == p.pkg && b.name == p.name && b.driven == p.driven })
		if at < 0 {
			at = len(benches)
			benches = append(benches, &bench{pkg: p.pkg, name: p.name, place: p.place, driven: p.driven})
		}
		b := benches[at]
		b.seconds = append(b.seconds, p.seconds())
		spread := p.vs.Shift.Spread
		if d := math.Expm1(p.vs.Shift.Detectable(p.vs.Shift.Units, c.Alpha)); d > 0 && !math.IsInf(d, 1) {
			b.detectable = append(b.detectable, d)
		}
		if p.slow == 0 && !math.IsNaN(spread) {
			b.spread = append(b.spread, spread)
		}
		if ways[p.driven] == nil {
			ways[p.driven] = new(calibrationTally)
		}
		for _, t := range []*calibrationTally{&all, &b.calibrationTally, ways[p.driven]} {
			t.add(p, c.Alpha, c.Margin)
		}
	}
	c.Trials = len(trials)
	c.Alarms, c.Wrong, c.Covered = all.alarms.rate(), all.wrong.rate(), all.covered.rate()
	c.Effects = all.list()
	slices.SortStableFunc(benches, func(a, b *bench) int { return a.place - b.place })
	for _, b := range benches {
		if !slices.Contains(driven, b.driven) {
			driven = append(driven, b.driven)
		}
	}
	slices.SortStableFunc(benches, func(a, b *bench) int { return slices.Index(driven, a.driven) - slices.Index(driven, b.driven) })
	for _, d := range driven {
		t := ways[d]
		c.Ways = append(c.Ways, compare.CalibratedWay{Driven: d, Alarms: t.alarms.rate(), Wrong: t.wrong.rate(), Covered: t.covered.rate(), Effects: t.list()})
	}
	c.Benchmarks = make([]compare.CalibratedBenchmark, 0, len(benches))
	for _, b := range benches {
		c.Benchmarks = append(c.Benchmarks, compare.CalibratedBenchmark{
			Pkg: b.pkg, Name: b.name, Driven: b.driven, Alarms: b.alarms.rate(), Wrong: b.wrong.rate(), Covered: b.covered.rate(), Effects: b.list(),
			Spread: medianOf(b.spread), Detectable: medianOf(b.detectable), Seconds: mean(b.seconds),
		})
	}
	c.Habits = habits(pairs, c.Alpha)
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
