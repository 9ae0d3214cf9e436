package lab

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// CalibrationSchema names the form of a calibration's JSON. Fields may be added
// under the same name; a change of meaning gets a new one.
const CalibrationSchema = "dyno-calibration/1"

// A Calibration is what a machine has shown of our verdicts where the truth is
// known: programs that are the same (A/A), and programs slowed on purpose by a
// known part. It is derived from results, by the same reader and the same
// judgement as every report; docs/calibration.md tells how it comes about.
type Calibration struct {
	Schema string `json:"schema"`

	// Files are the results it was computed from, without their folders, and
	// Measured when the latest of them was begun, in UTC.
	Files    []string  `json:"files"`
	Measured time.Time `json:"measured"`

	// Circumstances are the configuration lines of the files, by key. A key of
	// which the files have several values has them all, joined by "; ".
	Circumstances map[string]string `json:"circumstances"`

	Alpha  float64 `json:"alpha"`  // level of each test
	Margin float64 `json:"margin"` // a difference below it is none, as a part: 0.02

	// Trials is the number of trials that gave a comparison. Each trial is like
	// one report: Blocks blocks of Rounds rounds, of processes of its own; Layouts
	// is the number of code layouts that its blocks take turns in. If trials
	// differ, these are the largest.
	Trials  int `json:"trials"`
	Blocks  int `json:"blocks"`
	Rounds  int `json:"rounds"`
	Layouts int `json:"layouts"`

	// Alarms counts the A/A comparisons whose p-value is at most Alpha: false
	// alarms, of which Alpha is the promised share. Wrong counts those whose
	// verdict, in a report of the whole trial, is that one is faster.
	Alarms Rate `json:"alarms"`
	Wrong  Rate `json:"wrong"`

	// Covered counts the comparisons with a slowed program whose interval has
	// the true ratio. 1 - Alpha is the promised share.
	Covered Rate `json:"covered"`

	Ways       []CalibratedWay       `json:"ways"`       // by how benchmarks are driven
	Benchmarks []CalibratedBenchmark `json:"benchmarks"` // in the plan's order, those of a way together
	Effects    []CalibratedEffect    `json:"effects"`    // over all benchmarks, smallest first

	// Habits are what others' procedures say of the same data.
	Habits []Habit `json:"habits"`

	// Problems are lines that could not be read, each "file:line: what", and
	// Holes measurements that were due and failed.
	Problems []string `json:"problems,omitempty"`
	Holes    []string `json:"holes,omitempty"`
}

// A CalibratedWay is what a calibration says of all benchmarks that are driven in
// one way: some see less than others, which figures of all together do not tell.
type CalibratedWay struct {
	Driven  string             `json:"driven"` // "session", "loop", "runN"; "" if the file does not say
	Alarms  Rate               `json:"alarms"`
	Wrong   Rate               `json:"wrong"`
	Covered Rate               `json:"covered"`
	Effects []CalibratedEffect `json:"effects"`
}

// A CalibratedBenchmark is what a calibration says of one benchmark.
type CalibratedBenchmark struct {
	Pkg     string             `json:"pkg"`    // "" if the file does not say
	Name    string             `json:"name"`   // with the suffix that tells GOMAXPROCS
	Driven  string             `json:"driven"` // as CalibratedWay has it
	Alarms  Rate               `json:"alarms"`
	Wrong   Rate               `json:"wrong"`
	Covered Rate               `json:"covered"`
	Effects []CalibratedEffect `json:"effects"`
	Spread  float64            `json:"spread"` // standard deviation of the blocks' log ratios, A/A, if they were normal: the median over trials
	// Detectable is the smallest slow-down that a trial finds in nine cases of
	// ten if nothing else is compared, as a part (0.01 is 1 %): the median over its
	// comparisons; 0 if unknown.
	Detectable float64 `json:"detectable"`
	Seconds    float64 `json:"seconds"` // measured time of a pair in a trial, the mean
}

// A CalibratedEffect is what a calibration says of one injected slow-down.
type CalibratedEffect struct {
	Slow float64 `json:"slow"` // the injected part: 0.02 is 2 %

	// Found counts the comparisons that found it: p at most Alpha, and the right
	// way round. Called counts those with the verdict "slower" in a report of the
	// whole trial, Denied those with one that is wrong: that it is faster, or,
	// if Slow is not below Margin, that it is the same.
	Found  Rate `json:"found"`
	Called Rate `json:"called"`
	Denied Rate `json:"denied"`

	Covered Rate    `json:"covered"` // intervals that have 1 + Slow
	Ratio   float64 `json:"ratio"`   // median of the estimates
	Seconds float64 `json:"seconds"` // measured time of a pair in a trial, the mean
}

// A Rate is how often something was so.
type Rate struct {
	K int `json:"k"` // times it was so
	N int `json:"n"` // of so many

	// Lo and Hi bound the probability with 95 % confidence (Clopper and Pearson);
	// 0 and 1 if N is 0.
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Part is K/N, NaN if N is 0.
func (r Rate) Part() float64 { return float64(r.K) / float64(r.N) }

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

func (t tally) rate() Rate {
	r := Rate{K: t.k, N: t.n}
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

	vs      *Versus // nil if compare made no comparison
	verdict Verdict
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
				if ns != Lost {
					sum += float64(ns)
				}
			}
		}
	}
	return sum / 1e9
}

// claims reports whether a verdict says of a time that there is a difference.
func claims(v Verdict) bool { return v == Faster || v == Slower }

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
	e.called.add(p.verdict == Slower)
	e.denied.add(p.verdict == Faster || p.verdict == Same && p.slow >= margin)
	e.ratio = append(e.ratio, p.vs.Ratio)
	e.seconds = append(e.seconds, p.seconds())
}

// list returns the effects, smallest first.
func (c *calibrationTally) list() []CalibratedEffect {
	out := make([]CalibratedEffect, 0, len(c.effects))
	for _, e := range c.effects {
		out = append(out, CalibratedEffect{
			Slow: e.slow, Found: e.found.rate(), Called: e.called.rate(), Denied: e.denied.rate(), Covered: e.covered.rate(),
			Ratio: medianOf(e.ratio), Seconds: mean(e.seconds),
		})
	}
	slices.SortFunc(out, func(a, b CalibratedEffect) int { return cmp.Compare(a.Slow, b.Slow) })
	return out
}

// count sums up what the pairs show.
func (c *Calibration) count(pairs []trialPair) {
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
		spread := p.vs.shift.Spread
		if d := math.Expm1(p.vs.shift.Detectable(p.vs.shift.Units, c.Alpha)); d > 0 && !math.IsInf(d, 1) {
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
		c.Ways = append(c.Ways, CalibratedWay{Driven: d, Alarms: t.alarms.rate(), Wrong: t.wrong.rate(), Covered: t.covered.rate(), Effects: t.list()})
	}
	c.Benchmarks = make([]CalibratedBenchmark, 0, len(benches))
	for _, b := range benches {
		c.Benchmarks = append(c.Benchmarks, CalibratedBenchmark{
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
	return median(values)
}

// mean returns the mean, 0 of nothing.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}
