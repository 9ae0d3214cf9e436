package infer

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/montanaflynn/stats"
)

// Power is the chance with which a comparison is to find an effect for that effect
// to count as one that it sees.
const Power = 0.9

const (
	// sightExact is the largest number of blocks of which sight is found by
	// drawing. Beyond it stands the normal approximation, which errs by about
	// 1/n: it is corrected by what it errs here.
	sightExact = 30

	// draws is how many samples are drawn: the power of the effect found is then
	// off by 1.5 % (standard error).
	draws = 400

	// mostBlocks is about where Need gives up: nobody would run as many.
	mostBlocks = 100_000
)

// A Sight knows how small an effect a signed rank test sees. It keeps what it has
// found, and is for one goroutine; the zero value is ready.
//
// The test of n differences finds that they lie above zero if the c-th smallest
// average of two of them does, with the c that belongs to its level. So with
// normal noise of spread 1 the effect that it finds with a given power is a
// quantile of that average's distribution without an effect, negated. That
// distribution has no closed form: up to 30 blocks it is drawn, from a fixed
// seed, since with few blocks and small levels the normal approximation is far
// too hopeful – it forgets that all of 12 blocks must agree. Beyond, the test is
// as good as the t test of 3/π as many blocks.
//
// Sources: G. E. Noether, Sample size determination for some common nonparametric
// tests, Journal of the American Statistical Association 82 (1987). 3/π: Hollander,
// Wolfe, Chicken (2014), 3.11. The spread from the length of an interval: E. L.
// Lehmann, Nonparametric confidence intervals for a shift parameter, Annals of
// Mathematical Statistics 34 (1963).
type Sight struct {
	seen map[[2]int]drawn
}

// drawn is what samples of n normal values of spread 1 show.
type drawn struct {
	effect float64 // the shift that is found with Power
	length float64 // mean distance from the c-th smallest to the c-th largest average
}

// Spread estimates the standard deviation of the differences d as the one that
// normal values would need for an interval as long as theirs: unlike their own
// it is not blown up by a single outlier. Of fewer than six differences, which
// have no interval, it is the sample's own. It is NaN for a single one.
func (s *Sight) Spread(d []float64) float64 {
	if len(d) < 2 {
		return math.NaN()
	}
	const level = 0.05
	c := outside(signedRankCDF(len(d)), level)
	if c == 0 {
		sd, err := stats.StandardDeviationSample(d)
		if err != nil {
			return math.NaN()
		}
		return sd
	}
	w := walsh(d)
	slices.Sort(w)
	return (w[len(w)-c] - w[c-1]) / s.look(len(d), c, level).length
}

// Detectable returns the smallest effect that a test of n blocks at level finds
// with the chance Power, if the blocks' differences are normal with this spread;
// infinite if so few can find none.
func (s *Sight) Detectable(spread float64, n int, level float64) float64 {
	if n < 1 || !(level > 0) {
		return math.Inf(1)
	}
	if n > sightExact {
		effect := approximate(n, level).effect
		if c := outside(signedRankCDF(sightExact), min(level, 0.5)); c > 0 {
			off := s.look(sightExact, c, level).effect/approximate(sightExact, level).effect - 1
			effect *= 1 + off*sightExact/float64(n)
		}
		return spread * effect
	}
	c := outside(signedRankCDF(n), min(level, 0.5))
	if c == 0 {
		return math.Inf(1)
	}
	return spread * s.look(n, c, level).effect
}

// Need returns how many blocks a test at level needs to find effect with the
// chance Power; 0 if even mostBlocks would not do, or there is no such number.
func (s *Sight) Need(spread, effect, level float64) int {
	enough := func(n int) bool { return s.Detectable(spread, n, level) <= effect }
	if !(effect > 0) || !(level > 0) || !(spread*approximate(mostBlocks, level).effect <= effect) {
		return 0
	}
	lo, hi := 0, 1 // hi becomes enough, lo is not
	for !enough(hi) && hi < mostBlocks {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// look returns what a test of n blocks shows whose level leaves out c averages at
// each end.
func (s *Sight) look(n, c int, level float64) drawn {
	if n > sightExact {
		return approximate(n, level)
	}
	key := [2]int{n, c}
	if d, ok := s.seen[key]; ok {
		return d
	}
	rng := rand.New(rand.NewPCG(uint64(n), uint64(c)))
	d, sum := make([]float64, n), 0.0
	effects := make([]float64, draws)
	for i := range effects {
		for j := range d {
			d[j] = rng.NormFloat64()
		}
		w := walsh(d)
		slices.Sort(w)
		effects[i] = -w[c-1]
		sum += w[len(w)-c] - w[c-1]
	}
	effect, err := stats.Percentile(effects, 100*Power)
	if err != nil {
		effect = math.NaN() // cannot be: there are values, and 90 is a percentage
	}
	if s.seen == nil {
		s.seen = make(map[[2]int]drawn)
	}
	s.seen[key] = drawn{effect: effect, length: sum / draws}
	return s.seen[key]
}

// approximate is look's answer for many blocks.
func approximate(n int, level float64) drawn {
	se := math.Sqrt(math.Pi / 3 / float64(n))
	z := quantile(1 - level/2)
	return drawn{effect: (z + quantile(Power)) * se, length: 2 * z * se}
}

// quantile is that of the standard normal distribution.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
