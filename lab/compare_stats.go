package lab

import (
	"math"
	"slices"
)

// The statistics that benchmath does not have: how far one sample lies from
// another, with an interval, for paired and for unpaired samples. Everything
// here works on logarithms, so that a shift is the logarithm of a ratio.
//
// Both tests are exact up to the sizes named below and count a tie against the
// difference, that is, as if the tied values, unrounded, had lain the
// unfavourable way. The alternatives – mid-ranks, dropped zeros – need a null
// distribution of their own for each pattern of ties; this one is
// conservative, and keeps the p-value and the interval in step: p <= alpha if
// and only if the interval leaves out zero.
//
// Sources: M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical
// Methods, 3rd ed. (2014): 3.1 to 3.3 for the signed rank test, its estimate
// and its interval; 4.1 to 4.3 for the rank sum test and its own. J. L. Hodges,
// E. L. Lehmann, Estimates of location based on rank tests, Annals of
// Mathematical Statistics 34 (1963).

const (
	// signedRankExact is the largest number of pairs for which the exact null
	// distribution is used. It costs n^3/2 additions; beyond it the normal
	// approximation is off by less than 0.0005.
	signedRankExact = 200

	// rankSumExact is the same for each of two unpaired samples, and the limit
	// that benchmath has for samples without ties.
	rankSumExact = 50
)

// A shift says how far one sample lies above another.
type shift struct {
	// est is the Hodges-Lehmann estimate: the median of all averages of two
	// pairs' differences, or of all differences between the samples.
	est float64

	// lo and hi bound it with at least the confidence that was asked for. They
	// are infinite if the samples are too small for any such interval.
	lo, hi float64

	// p is the probability of a shift at least as extreme if there is none.
	p float64

	// minP is the least p that samples of this size can give. A test whose
	// minP is above alpha cannot find anything.
	minP float64
}

// signedRank estimates the centre of the paired differences d, and tests with
// Wilcoxon's signed rank test whether it is zero. It assumes that differences
// are independent and symmetric about their centre; d is not empty.
func signedRank(d []float64, alpha float64) shift {
	walsh := make([]float64, 0, len(d)*(len(d)+1)/2)
	for i, a := range d {
		for _, b := range d[i:] {
			walsh = append(walsh, (a+b)/2)
		}
	}
	return invert(walsh, signedRankCDF(len(d)), alpha)
}

// rankSum estimates how far the values of y lie above those of x, and tests
// with the rank sum test of Wilcoxon, Mann and Whitney whether they do. It
// assumes independent samples whose distributions differ in nothing but
// location; neither is empty.
func rankSum(x, y []float64, alpha float64) shift {
	diffs := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			diffs = append(diffs, b-a)
		}
	}
	return invert(diffs, rankSumCDF(len(x), len(y)), alpha)
}

// invert reads estimate, interval and p-value off the elementary estimates e,
// which it sorts. Their number above zero is the test's statistic, and cdf(s)
// the probability, if the shift is zero, that it is at most s.
func invert(e []float64, cdf func(s int) float64, alpha float64) shift {
	slices.Sort(e)
	res := shift{est: median(e), lo: math.Inf(-1), hi: math.Inf(1), minP: math.Min(1, 2*cdf(0))}

	// The interval runs from the c-th smallest to the c-th largest, with the
	// largest c that leaves at most alpha/2 outside at each end.
	c := 0
	for 2*cdf(c) <= alpha { // ends below the middle: alpha < 1
		c++
	}
	if c > 0 {
		res.lo, res.hi = e[c-1], e[len(e)-c]
	}

	below, above := 0, 0
	for _, v := range e {
		switch {
		case v < 0:
			below++
		case v > 0:
			above++
		}
	}
	tied := len(e) - below - above
	res.p = math.Min(1, 2*cdf(min(below, above)+tied))
	return res
}

// median returns the median of sorted values, of which there is at least one.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// signedRankCDF returns the distribution function of the sum of positive ranks
// among n pairs that do not differ.
func signedRankCDF(n int) func(s int) float64 {
	top := n * (n + 1) / 2
	if n > signedRankExact {
		mean, sd := float64(top)/2, math.Sqrt(float64(n)*float64(n+1)*float64(2*n+1)/24)
		return normalCDF(mean, sd, top)
	}
	// sets[s] after k steps counts the subsets of the ranks 1 to k whose sum is
	// s: rank k joins or does not.
	sets := make([]float64, top+1)
	sets[0] = 1
	for k := 1; k <= n; k++ {
		for s := k * (k + 1) / 2; s >= k; s-- {
			sets[s] += sets[s-k]
		}
	}
	return accumulate(sets)
}

// rankSumCDF returns the distribution function of the Mann-Whitney statistic
// of samples of n and m values that do not differ.
func rankSumCDF(n, m int) func(u int) float64 {
	top := n * m
	if n > rankSumExact || m > rankSumExact {
		mean, sd := float64(top)/2, math.Sqrt(float64(n)*float64(m)*float64(n+m+1)/12)
		return normalCDF(mean, sd, top)
	}
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
	return accumulate(at[m])
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
