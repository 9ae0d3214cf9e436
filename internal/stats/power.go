package stats

import "math"

// Power is the chance with which a comparison is to find an effect for that effect
// to count as one that it could detect.
const Power = 0.9

// Detectable returns the smallest effect that a test like the one of s, of so many
// units, finds at this level with the chance Power, if its units have the spread
// and the correlation that s shows; infinite if so few can find none, NaN if the
// spread is not known.
//
// It solves for the shift of a noncentral t distribution by Johnson and Welch's
// approximation t·(1 - 1/4ν) ~ normal of variance 1 + t²/2ν, whose power is right to
// 0.002 (Abramowitz and Stegun, 26.7.10).
func (s Shift) Detectable(units int, level float64) float64 {
	switch {
	case math.IsNaN(s.Spread):
		return math.NaN()
	case units < 2 || !(level > 0) || leastP(units) > level:
		return math.Inf(1)
	}
	df := float64(units - 1)
	t := studentQuantile(min(level, 0.5), units-1)
	shift := t*(1-1/(4*df)) + quantile(Power)*math.Sqrt(1+t*t/(2*df))
	return shift * s.Spread * math.Sqrt(inflation(s.Corr, units)/float64(units))
}

// Need returns how many units a test like the one of s would need to find effect at
// this level with the chance Power; 0 if it would be more than most, which is what
// is not decidable in practice, or there is no such number.
func (s Shift) Need(effect, level float64, most int) int {
	enough := func(n int) bool { return s.Detectable(n, level) <= effect }
	if !(effect > 0) || !enough(most) {
		return 0
	}
	lo, hi := 1, most // hi is enough, lo is not
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// quantile is that of the standard normal distribution.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
