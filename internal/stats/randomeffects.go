package stats

import "math"

// A Summary is what several estimates of an effect say together, each of which was made
// somewhere else: what the effect is on average where one could measure, not what it is at any
// one place.
type Summary struct {
	Center, Lo, Hi float64
	// Q is Cochran's: how far the estimates lie apart, in standard errors. Without
	// heterogeneity it is about their number less one.
	Q float64
	// I2 is the part of what they differ by that is no error of measuring: 0 to 1.
	I2 float64
	// Tau2 is the variance of the effect between places.
	Tau2 float64
}

// RandomEffects sums up estimates, of which se are the standard errors, all positive. There are
// at least two. The interval has the confidence 1-alpha.
//
// The variance between places is that of DerSimonian and Laird (Meta-analysis in clinical
// trials, 1986). The interval is that of Hartung and Knapp (A refined method for the
// meta-analysis of controlled clinical trials with binary outcome, 2001), which keeps its level
// with few places, where a normal interval is too narrow; it is made no narrower than one
// without heterogeneity would be, as Röver, Knapp and Friede have it (2015).
func RandomEffects(estimates, se []float64, alpha float64) Summary {
	check(len(estimates) > 1 && len(se) == len(estimates), alpha)
	k := float64(len(estimates))
	fixed, sum := weighted(estimates, se, 0)
	var s Summary
	squares := 0.0
	for i, e := range estimates {
		w := 1 / (se[i] * se[i])
		s.Q += w * (e - fixed) * (e - fixed)
		squares += w * w
	}
	s.Tau2 = max(0, (s.Q-(k-1))/(sum-squares/sum))
	if s.Q > 0 {
		s.I2 = max(0, (s.Q-(k-1))/s.Q)
	}
	s.Center, sum = weighted(estimates, se, s.Tau2)
	residual := 0.0
	for i, e := range estimates {
		residual += (e - s.Center) * (e - s.Center) / (se[i]*se[i] + s.Tau2)
	}
	half := studentQuantile(alpha, len(estimates)-1) * math.Sqrt(max(1, residual/(k-1))/sum)
	s.Lo, s.Hi = s.Center-half, s.Center+half
	return s
}

// weighted returns the mean by the inverse of variances, and the sum of these weights.
func weighted(estimates, se []float64, tau2 float64) (mean, sum float64) {
	for i, e := range estimates {
		w := 1 / (se[i]*se[i] + tau2)
		mean += w * e
		sum += w
	}
	return mean / sum, sum
}

// StandardError returns that of an estimate from n blocks of which lo and hi bound an interval
// with confidence 1-alpha by Student's distribution.
func StandardError(lo, hi float64, n int, alpha float64) float64 {
	return (hi - lo) / 2 / studentQuantile(alpha, max(1, n-1))
}
