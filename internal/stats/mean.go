package stats

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"
)

// Blocks is what one comparison measured: a value a block, in the order of time.
type Blocks struct {
	// D is the values: as a rule the logarithms of the blocks' ratios.
	D []float64

	// Number is the blocks' numbers, counted from 1 and ascending. Only Looks ask
	// for them; nil means 1, 2, ….
	Number []int

	// Layout is the code layout that each block was measured in. A block without
	// one ("", or Layout is nil) has a layout of its own.
	Layout []string
}

// A Family is comparisons that were measured in the same blocks and in the same
// unit, controls included.
type Family []Blocks

const (
	// LeastUnits is how many blocks it takes to find something by Student's test
	// alone. Among fewer the p-value is at least 2/2ⁿ, the chance that all of them
	// lie on one side: it is what the test cannot know if blocks are of two kinds,
	// such as processes that are fast or slow for good.
	LeastUnits = 6

	// expected is the correlation of a block with the next that a test reckons with
	// as long as nothing is known, and expectedBlocks how many blocks that weighs:
	// SIMULATED.md has the figures that chose them.
	expected       = 0.2
	expectedBlocks = 30

	// lagBias is how many blocks the estimate of a correlation costs: with
	// n·r + 1 over n - lagBias it is right on average.
	lagBias = 4

	// mostCorr bounds the correlation, since at 1 blocks are one and the same.
	mostCorr = 0.9
)

// Mean is Family.Mean of a single comparison whose blocks are d, measured in these
// layouts.
func Mean(d []float64, layout []string, alpha float64) Shift {
	return Family{{D: d, Layout: layout}}.Mean(0, Looks{}, alpha)
}

// Mean estimates the mean of the i-th comparison's blocks, with an interval of
// confidence 1-alpha, and tests whether it is zero. P <= alpha if and only if the
// interval leaves out zero. It panics if the comparison has no blocks or alpha is
// not between 0 and 1.
//
// It is Student's test, with three changes:
//
//   - With EnoughLayouts a layout is one unit, the average of its blocks.
//   - A unit may resemble the one before. The variance of the mean is that of
//     autoregressive values of the correlation Corr.
//   - A dozen blocks hardly tell how large that correlation is. So it starts from
//     what the other comparisons of the family show, and that from expected.
//
// SIMULATED.md compares it with others and names the sources.
func (f Family) Mean(i int, looks Looks, alpha float64) Shift {
	return f.Tests().Mean(i, looks, alpha)
}

// Tests are those of a family, one after the other: what its comparisons show together is
// gathered once.
type Tests struct {
	family Family
	others map[int][]lag // by the last block that is looked at: for each comparison, what all but it show
}

// Tests returns the tests of f, which must not change from now on.
func (f Family) Tests() *Tests { return &Tests{family: f, others: make(map[int][]lag)} }

// Mean is [Family.Mean].
func (t *Tests) Mean(i int, looks Looks, alpha float64) Shift {
	b := t.family[i]
	check(len(b.D) > 0, alpha)
	return looks.combine(len(b.D), b.Number, alpha, func(until int, level float64) Shift {
		if t.others[until] == nil {
			t.others[until] = t.family.others(until)
		}
		return student(b.until(until).units(), t.others[until][i].corr(expected), level)
	})
}

// others returns, for each comparison, what all but it show up to a block. Each sum is added up
// in the order of the family: the difference of the sum of all and its own part would be another
// figure in the last digits.
func (f Family) others(until int) []lag {
	out := make([]lag, len(f))
	var before lag
	for k, b := range f {
		var own lag
		own.add(b.until(until).units())
		out[k] = before
		before.sum, before.weight = before.sum+own.sum, before.weight+own.weight
		for i := range out[:k] {
			out[i].sum, out[i].weight = out[i].sum+own.sum, out[i].weight+own.weight
		}
	}
	return out
}

// always is later than any block.
const always = math.MaxInt

// until returns the blocks up to this number.
func (b Blocks) until(number int) Blocks {
	if number == always {
		return b
	}
	n := min(number, len(b.D))
	if b.Number != nil {
		n, _ = slices.BinarySearch(b.Number, number+1)
	}
	b.D = b.D[:n]
	b.Layout = b.Layout[:min(n, len(b.Layout))]
	return b
}

// units returns the averages of the blocks of each layout, in the order in which
// layouts appear; the blocks themselves if the layouts are too few.
func (b Blocks) units() []float64 {
	if len(b.Layout) == 0 {
		return b.D
	}
	names := make([]string, 0, len(b.D))
	values := make([]float64, 2*len(b.D))
	sum, size := values[:0:len(b.D)], values[len(b.D):len(b.D)]
	at := -1 // of the block before: layouts come in turn
	for k, d := range b.D {
		layout := ""
		if k < len(b.Layout) {
			layout = b.Layout[k]
		}
		if at++; at == len(names) {
			at = 0
		}
		if layout == "" {
			at = -1
		} else if at == len(names) || names[at] != layout {
			at = slices.Index(names, layout)
		}
		if at < 0 {
			at = len(names)
			names, sum, size = append(names, layout), append(sum, 0), append(size, 0)
		}
		sum[at] += d
		size[at]++
	}
	if len(sum) < EnoughLayouts {
		return b.D
	}
	for k := range sum {
		sum[k] /= size[k]
	}
	return sum
}

// student tests units whose correlation is presumed to be prior.
func student(u []float64, prior, alpha float64) Shift {
	n := len(u)
	mean, sd := moments(u)
	var own lag
	own.add(u)
	s := Shift{
		Est: mean, Lo: math.Inf(-1), Hi: math.Inf(1), P: 1, MinP: leastP(n),
		Units: n, Spread: sd, Corr: own.corr(prior),
	}
	reach := 0.0 // of the interval, to either side
	switch {
	case n == 1:
		return s
	case sd > 0:
		se := sd * math.Sqrt(inflation(s.Corr, n)/float64(n))
		reach = se * studentQuantile(alpha, n-1)
		s.P = max(studentTail(math.Abs(mean)/se, n-1), s.MinP)
	case mean != 0: // all the same: they say which way, and not how sure
		s.MinP = math.Ldexp(1, 1-n)
		s.P = s.MinP
	}
	if s.MinP > alpha {
		return s
	}
	s.Lo, s.Hi = mean-reach, mean+reach
	// Where p and alpha differ by no more than rounding the interval decides.
	if out := s.Lo > 0 || s.Hi < 0; out {
		s.P = min(s.P, alpha)
	} else if s.P <= alpha {
		s.P = math.Nextafter(alpha, 1)
	}
	return s
}

// leastP is the least p-value of n units.
func leastP(n int) float64 {
	if n >= LeastUnits {
		return 0
	}
	return math.Ldexp(1, 1-n)
}

// moments returns mean and standard deviation, which is NaN of a single value, and
// 0 if the values differ by no more than rounding.
func moments(u []float64) (mean, sd float64) {
	n, largest := float64(len(u)), 0.0
	for _, v := range u {
		mean += v / n
		largest = max(largest, math.Abs(v))
	}
	for _, v := range u {
		sd += (v - mean) * (v - mean)
	}
	sd = math.Sqrt(sd / (n - 1))
	if sd <= 1e-12*largest {
		sd = 0
	}
	return mean, sd
}

// A lag gathers how much units resemble the ones before.
type lag struct{ sum, weight float64 }

// add adds the units of a comparison. A few tell nothing, nor do equal ones.
func (l *lag) add(u []float64) {
	mean, sd := moments(u)
	if len(u) < LeastUnits || sd == 0 {
		return
	}
	n, products := float64(len(u)), 0.0
	for i := range u[1:] {
		products += (u[i] - mean) * (u[i+1] - mean)
	}
	l.sum += n*products/(sd*sd*(n-1)) + 1
	l.weight += n - lagBias
}

// corr estimates the correlation of a unit with the next, where prior is what is
// presumed of it.
func (l *lag) corr(prior float64) float64 {
	c := (l.sum + expectedBlocks*prior) / (l.weight + expectedBlocks)
	return min(max(0, c), mostCorr)
}

// inflation returns by how much the variance of the mean of n autoregressive values
// of this correlation exceeds the n-th part of the variance that the sample shows.
func inflation(corr float64, n int) float64 {
	size := float64(n)
	// size times the variance of the mean, if that of a value is 1
	long := 1 + 2*corr/(1-corr)*(1-(1-math.Pow(corr, size))/(size*(1-corr)))
	shown := (size - long) / (size - 1) // what the sample variance is on average
	return long / shown
}

// studentTail returns the chance that a value of Student's distribution of df
// degrees of freedom lies at least t from zero, on either side.
//
// Source: M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions (1964),
// 26.7.1, which keeps the digits of small tails.
func studentTail(t float64, df int) float64 {
	n := float64(df)
	return mathx.BetaInc(n/(n+t*t), n/2, 0.5)
}

// A studentPoint is a quantile of Student's distribution.
type studentPoint struct {
	level float64
	df    int
	t     float64
}

// quantiles are those that were asked for last: most tests of a report are of as many blocks,
// at the same level.
var quantiles [1 << 10]atomic.Pointer[studentPoint]

// studentQuantile returns how far from zero a value of Student's distribution lies
// with the chance level.
func studentQuantile(level float64, df int) float64 {
	const golden = 0x9e3779b97f4a7c15
	kept := &quantiles[(math.Float64bits(level)*golden+uint64(df))*golden>>54]
	if q := kept.Load(); q != nil && q.level == level && q.df == df {
		return q.t
	}
	t := newtonQuantile(level, df)
	kept.Store(&studentPoint{level, df, t})
	return t
}

// newtonQuantile is studentQuantile, reckoned anew.
func newtonQuantile(level float64, df int) float64 {
	// Tails fall ever less steeply, so Newton's steps from a point that is too near to
	// zero, as the normal distribution's is, come closer without going beyond.
	density := stats.TDist{V: float64(df)}.PDF
	t := math.Sqrt2 * math.Erfcinv(level)
	for {
		step := (studentTail(t, df) - level) / (2 * density(t))
		if t += step; !(step > 1e-13*t) {
			return t
		}
	}
}
