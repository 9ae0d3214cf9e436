package stats

import (
	"math"
	"sync"
)

const (
	// signedRankExact is the largest number of pairs with the exact null distribution,
	// of n^3/2 additions; beyond it the normal approximation is off by less than 0.0005.
	signedRankExact = 200

	// rankSumExact is the same for each of two unpaired samples, and the limit
	// that benchmath has for samples without ties.
	rankSumExact = 50
)

// A Shift says how far one sample lies above another.
type Shift struct {
	// Est is the estimate: the mean, or of a rank test that of Hodges and Lehmann,
	// the median of all averages of two pairs' differences or of all differences
	// between the samples.
	Est float64

	// Lo and Hi bound it with at least the confidence that was asked for. They
	// are infinite if the samples are too small for any such interval.
	Lo, Hi float64

	// P is the probability of a shift at least as extreme if there is none.
	P float64

	// MinP is the least P that samples of this size can give. A test whose
	// MinP is above its level cannot find anything.
	MinP float64

	// Units is how many independent values a mean is of, Spread their standard
	// deviation, NaN of a single one, and Corr the correlation of a unit with the
	// next that was reckoned with. Rank tests leave them 0.
	Units        int
	Spread, Corr float64
}

// SignedRank estimates the centre of the paired differences d, with an interval
// of confidence 1-alpha, and tests with Wilcoxon's signed rank test whether it is
// zero. It assumes that differences are independent and symmetric about their
// centre. It panics if d is empty or alpha not between 0 and 1.
//
// A tie counts against the difference, as if the tied values, unrounded, had lain
// the unfavourable way: that is conservative, and P <= alpha if and only if the
// interval leaves out zero. Mid-ranks and dropped zeros need a null distribution for
// each pattern of ties.
func SignedRank(d []float64, alpha float64) Shift {
	check(len(d) > 0, alpha)
	return invert(averagesOf(d), signedRankCDF(len(d)), alpha)
}

// walsh returns the averages of all pairs of d, each value with itself included.
func walsh(d []float64) []float64 {
	w := make([]float64, 0, len(d)*(len(d)+1)/2)
	for i, a := range d {
		for _, b := range d[i:] {
			w = append(w, a/2+b/2) // a+b may overflow
		}
	}
	return w
}

// RankSum estimates how far the values of y lie above those of x, with an
// interval of confidence 1-alpha, and tests with the rank sum test of Wilcoxon,
// Mann and Whitney whether they do. It assumes independent samples whose
// distributions differ in nothing but location. Ties count against a difference,
// as in SignedRank. It panics if a sample is empty or alpha not between 0 and 1.
func RankSum(x, y []float64, alpha float64) Shift {
	check(len(x) > 0 && len(y) > 0, alpha)
	diffs := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			diffs = append(diffs, b-a)
		}
	}
	return invert(listed(diffs), rankSumCDF(len(x), len(y)), alpha)
}

func check(filled bool, alpha float64) {
	if !filled {
		panic("infer: no values")
	}
	if !(alpha > 0 && alpha < 1) {
		panic("infer: level outside (0, 1)")
	}
}

// HodgesLehmann returns the median of the averages of all pairs of d, each value
// with itself included: the estimate of SignedRank, without its test. It takes
// memory for d only, and panics if d is empty.
func HodgesLehmann(d []float64) float64 {
	check(len(d) > 0, 0.5)
	if len(d) <= few {
		return median(averagesOf(d))
	}
	a := spare.Get().(*averages)
	defer spare.Put(a)
	return median(a.of(d))
}

// spare are averages that are not in use, for their memory.
var spare = sync.Pool{New: func() any { return new(averages) }}

// invert reads estimate, interval and p-value off the elementary estimates e. Their number
// above zero is the test's statistic, and cdf(s) the probability, if the shift is zero, that
// it is at most s.
func invert(e estimates, cdf func(s int) float64, alpha float64) Shift {
	res := Shift{Est: median(e), Lo: math.Inf(-1), Hi: math.Inf(1), MinP: math.Min(1, 2*cdf(0))}

	// The interval runs from the c-th smallest to the c-th largest.
	if c := outside(cdf, alpha); c > 0 {
		res.Lo, _ = e.smallest(c)
		res.Hi, _ = e.smallest(e.count() + 1 - c)
	}

	below, notAbove := e.around(0)
	res.P = math.Min(1, 2*cdf(min(notAbove, e.count()-below)))
	return res
}

// outside returns the largest c of which the c-th smallest and the c-th largest
// elementary estimate leave at most alpha/2 outside at each end; 0 if there is
// none.
func outside(cdf func(s int) float64, alpha float64) int {
	c := 0
	for 2*cdf(c) <= alpha { // ends below the middle: alpha < 1
		c++
	}
	return c
}

// Median returns the median of sorted values, of which there is at least one.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// signedRankCDF returns the distribution function of the sum of positive ranks
// among n pairs that do not differ.
func signedRankCDF(n int) func(s int) float64 {
	if n > signedRankExact {
		top := n * (n + 1) / 2
		mean, sd := float64(top)/2, math.Sqrt(float64(n)*float64(n+1)*float64(2*n+1)/24)
		return normalCDF(mean, sd, top)
	}
	return exact(&signedRanks, n, func() []float64 { return signedRankWeights(n) })
}

// Distributions that were needed before are kept: most tests of a report are of as many blocks.
var signedRanks, rankSums sync.Map // by the size of the samples

// exact returns the distribution function of the weights of 0, 1, … that make returns.
func exact(kept *sync.Map, size any, weights func() []float64) func(s int) float64 {
	if cdf, ok := kept.Load(size); ok {
		return cdf.(func(s int) float64)
	}
	cdf := accumulate(weights())
	kept.Store(size, cdf)
	return cdf
}

// signedRankWeights counts the subsets of the ranks 1 to n by their sum.
func signedRankWeights(n int) []float64 {
	// sets[s] after k steps is of the ranks 1 to k: rank k joins or does not.
	sets := make([]float64, n*(n+1)/2+1)
	sets[0] = 1
	for k := 1; k <= n; k++ {
		for s := k * (k + 1) / 2; s >= k; s-- {
			sets[s] += sets[s-k]
		}
	}
	return sets
}

// rankSumCDF returns the distribution function of the Mann-Whitney statistic
// of samples of n and m values that do not differ.
func rankSumCDF(n, m int) func(u int) float64 {
	if n > rankSumExact || m > rankSumExact {
		top := n * m
		mean, sd := float64(top)/2, math.Sqrt(float64(n)*float64(m)*float64(n+m+1)/12)
		return normalCDF(mean, sd, top)
	}
	return exact(&rankSums, [2]int{n, m}, func() []float64 { return rankSumWeights(n, m) })
}

// rankSumWeights counts the orders of n and m values by the statistic.
func rankSumWeights(n, m int) []float64 {
	// at[j] counts the orders of i and j values by statistic. The largest of
	// all i+j values is either of the first sample, and then lies above j
	// others, or of the second (Mann and Whitney 1947). Counts rather than
	// probabilities: they are whole numbers, exact in a float64 as long as it
	// matters, so that p can equal a level such as 0.1.
	at := make([][]float64, m+1)
	for j := range at {
		at[j] = []float64{1}
	}
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			next := make([]float64, i*j+1)
			for u, orders := range at[j] { // of i-1 and j values
				next[u+j] += orders
			}
			for u, orders := range at[j-1] { // of i and j-1 values
				next[u] += orders
			}
			at[j] = next
		}
	}
	return at[m]
}

// accumulate turns the weights of 0, 1, … into their distribution function. It
// overwrites them.
func accumulate(weight []float64) func(s int) float64 {
	for i := 1; i < len(weight); i++ {
		weight[i] += weight[i-1]
	}
	total := weight[len(weight)-1]
	return func(s int) float64 { return weight[min(s, len(weight)-1)] / total }
}

// normalCDF approximates a symmetric distribution over 0..top, with the
// correction for continuity.
func normalCDF(mean, sd float64, top int) func(s int) float64 {
	return func(s int) float64 {
		if s >= top {
			return 1
		}
		return math.Erfc((mean-float64(s)-0.5)/(sd*math.Sqrt2)) / 2
	}
}
