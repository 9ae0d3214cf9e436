package stats

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"
)

// Critical values of the signed rank test, two-sided: the largest statistic
// that is significant. R. L. McCornack, Extended tables of the Wilcoxon matched
// pair signed rank statistic, JASA 60 (1965).
func TestSignedRankTable(t *testing.T) {
	for _, tab := range []struct {
		alpha float64
		first int // number of pairs of the first value
		crit  []int
	}{
		{0.05, 6, []int{0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46, 52, 58, 65, 73, 81, 89}},
		{0.01, 8, []int{0, 1, 3, 5, 7, 9, 12, 15, 19, 23, 27, 32, 37, 42, 48, 54, 61, 68}},
	} {
		for i, want := range tab.crit {
			n := tab.first + i
			cdf := signedRankCDF(n)
			if p := 2 * cdf(want); p > tab.alpha {
				t.Errorf("n=%d: P(%d) = %v, want <= %v", n, want, p, tab.alpha)
			}
			if p := 2 * cdf(want+1); p <= tab.alpha {
				t.Errorf("n=%d: P(%d) = %v, want > %v", n, want+1, p, tab.alpha)
			}
		}
		if p := 2 * signedRankCDF(tab.first-1)(0); p <= tab.alpha {
			t.Errorf("n=%d: least p = %v, want > %v", tab.first-1, p, tab.alpha)
		}
	}
}

// Critical values of the rank sum test, two-sided at 0.05. R. C. Milton, An
// extended table of critical values for the Mann-Whitney two-sample statistic,
// JASA 59 (1964).
func TestRankSumTable(t *testing.T) {
	for _, c := range []struct{ n, m, crit int }{
		{4, 4, 0},
		{5, 5, 2},
		{6, 6, 5},
		{7, 7, 8},
		{8, 8, 13},
		{9, 9, 17},
		{10, 10, 23},
		{12, 12, 37},
		{15, 15, 64},
		{20, 20, 127},
		{5, 8, 6},
		{8, 5, 6},
		{4, 10, 5},
		{10, 20, 55},
		{3, 5, 0},
	} {
		cdf := rankSumCDF(c.n, c.m)
		if p := 2 * cdf(c.crit); p > 0.05 {
			t.Errorf("n=%d, m=%d: P(%d) = %v, want <= 0.05", c.n, c.m, c.crit, p)
		}
		if p := 2 * cdf(c.crit+1); p <= 0.05 {
			t.Errorf("n=%d, m=%d: P(%d) = %v, want > 0.05", c.n, c.m, c.crit+1, p)
		}
	}
}

// Hollander, Wolfe and Chicken, examples 3.1 to 3.4: depression scale before
// and after a tranquilizer.
func TestSignedRankExample(t *testing.T) {
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	d := make([]float64, len(x))
	for i := range d {
		d[i] = y[i] - x[i]
	}
	s := SignedRank(d, 0.05)
	near(t, "p", s.P, 2*0.01953, 1e-4)
	near(t, "estimate", s.Est, -0.46, 1e-9)
	near(t, "lower end", s.Lo, -0.786, 1e-9)
	near(t, "upper end", s.Hi, -0.010, 1e-9)
}

// Hollander, Wolfe and Chicken, examples 4.1 to 4.4: permeability of membranes.
func TestRankSumExample(t *testing.T) {
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	s := RankSum(x, y, 0.05)
	near(t, "p", s.P, 0.2544, 1e-4)
	near(t, "estimate", s.Est, -0.305, 1e-9)
	near(t, "lower end", s.Lo, -0.76, 1e-9)
	near(t, "upper end", s.Hi, 0.15, 1e-9)
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// The distribution of the sum of positive ranks, counted over all signs.
func TestSignedRankCDFByCounting(t *testing.T) {
	for n := 1; n <= 12; n++ {
		top := n * (n + 1) / 2
		count := make([]int, top+1)
		for signs := range 1 << n {
			sum := 0
			for s := uint(signs); s != 0; s &= s - 1 {
				sum += bits.TrailingZeros(s) + 1
			}
			count[sum]++
		}
		cdf, seen := signedRankCDF(n), 0
		for s, c := range count {
			seen += c
			if got, want := cdf(s), float64(seen)/float64(int(1)<<n); got != want {
				t.Fatalf("n=%d: cdf(%d) = %v, want %v", n, s, got, want)
			}
		}
	}
}

// Where exact distribution and approximation meet they must agree.
func TestApproximationsMeet(t *testing.T) {
	exact := signedRankCDF(signedRankExact)
	n := float64(signedRankExact)
	approx := normalCDF(n*(n+1)/4, math.Sqrt(n*(n+1)*(2*n+1)/24), signedRankExact*(signedRankExact+1)/2)
	for _, s := range []int{8000, 8500, 9000, 10000, 10050, 11000, 12000} {
		near(t, fmt.Sprintf("signed rank P(%d)", s), approx(s), exact(s), 5e-4)
	}
	over := signedRankCDF(signedRankExact + 1)
	if got := over(0); got > 1e-6 {
		t.Errorf("P(0) of %d pairs = %v, want about 0", signedRankExact+1, got)
	}
	if got := over(math.MaxInt32); got != 1 {
		t.Errorf("P(all) of %d pairs = %v, want 1", signedRankExact+1, got)
	}

	exact = rankSumCDF(rankSumExact, rankSumExact)
	approx = normalCDF(1250, math.Sqrt(50*50*101/12.0), 2500)
	for _, u := range []int{900, 950, 1000, 1100, 1250, 1400} {
		near(t, fmt.Sprintf("rank sum P(%d)", u), approx(u), exact(u), 1e-3)
	}
	if got := rankSumCDF(rankSumExact+1, 5)(255); got != 1 {
		t.Errorf("P(all) of 51 and 5 = %v, want 1", got)
	}
}

// Without ties our rank sum test is benchmath's.
func TestRankSumIsBenchmaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		x, y := make([]float64, 1+rng.IntN(20)), make([]float64, 1+rng.IntN(20))
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for i := range y {
			y[i] = rng.NormFloat64() + 0.5
		}
		got := RankSum(x, y, 0.05).P
		want := benchmath.AssumeNothing.Compare(
			benchmath.NewSample(x, &benchmath.DefaultThresholds), benchmath.NewSample(y, &benchmath.DefaultThresholds)).P
		near(t, fmt.Sprintf("p of %d and %d values", len(x), len(y)), got, want, 1e-9)
	}
}

// p <= alpha says the same as an interval without zero, with ties too; and
// what is said of x over y is the mirror of y over x.
func TestIntervalAndPAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alpha := rapid.SampledFrom([]float64{0.01, 0.05, 0.1, 0.5}).Draw(t, "alpha")
		// Few distinct values, so that there are ties and zeros.
		sample := rapid.SliceOfN(rapid.Map(rapid.IntRange(-4, 8), func(i int) float64 { return float64(i) / 2 }), 1, 14)
		x, y := sample.Draw(t, "x"), sample.Draw(t, "y")
		for name, s := range map[string][2]Shift{
			"signed rank": {SignedRank(x, alpha), SignedRank(negated(x), alpha)},
			"rank sum":    {RankSum(x, y, alpha), RankSum(y, x, alpha)},
		} {
			a, b := s[0], s[1]
			if significant := a.Lo > 0 || a.Hi < 0; significant != (a.P <= alpha) {
				t.Fatalf("%s: p = %v at alpha %v, but the interval is [%v, %v]", name, a.P, alpha, a.Lo, a.Hi)
			}
			if a.MinP > alpha && !math.IsInf(a.Lo, -1) {
				t.Fatalf("%s: an interval from too few values: %+v", name, a)
			}
			if a.Est < a.Lo || a.Est > a.Hi {
				t.Fatalf("%s: estimate outside its interval: %+v", name, a)
			}
			if a.Est != -b.Est || a.Lo != -b.Hi || a.Hi != -b.Lo || a.P != b.P {
				t.Fatalf("%s: %+v is not the mirror of %+v", name, a, b)
			}
		}
	})
}

func negated(s []float64) []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = -v
	}
	return out
}

// Under no difference the tests call one at most as often as their level says,
// and the intervals miss the truth as rarely. The seed is fixed: this is a
// check of the code, not of luck. The bounds are the level plus four standard
// deviations of the count.
func TestFalseAlarms(t *testing.T) {
	const rounds, alpha = 2000, 0.05
	limit := alpha + 4*math.Sqrt(alpha*(1-alpha)/rounds)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{6, 10, 25} {
		paired, unpaired := 0, 0
		for range rounds {
			d, x, y := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				drift := 3 * float64(i) / float64(n) // common to a block
				d[i] = (drift + rng.NormFloat64()) - (drift + rng.NormFloat64())
				x[i], y[i] = rng.ExpFloat64(), rng.ExpFloat64()
			}
			if s := SignedRank(d, alpha); s.Lo > 0 || s.Hi < 0 {
				paired++
			}
			if s := RankSum(x, y, alpha); s.Lo > 0 || s.Hi < 0 {
				unpaired++
			}
		}
		for what, hits := range map[string]int{"paired": paired, "unpaired": unpaired} {
			if rate := float64(hits) / rounds; rate > limit || rate < alpha/4 {
				t.Errorf("%s, n=%d: %.3f false alarms, want at most %.3f and not nearly none", what, n, rate, limit)
			}
		}
	}
}
