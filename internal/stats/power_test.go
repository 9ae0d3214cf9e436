package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Shifts of noncentral t distributions that a test finds in 0.9 of all cases, from
// SciPy: the root of stats.nct.sf(t, df, shift) = 0.9 where stats.t.sf(t, df) is
// half of the level.
func TestDetectableBySciPy(t *testing.T) {
	for _, c := range []struct {
		units int
		level float64
		want  float64
	}{
		{6, 0.05, 4.09169},
		{6, 0.0025, 7.94086},
		{12, 0.05, 3.56619},
		{12, 0.0025, 5.47304},
		{12, 1e-05, 9.93614},
		{24, 0.05, 3.38592},
		{48, 0.0005, 5.09344},
		{96, 0.05, 3.27480},
	} {
		got := Shift{Spread: 1}.Detectable(c.units, c.level) * math.Sqrt(float64(c.units))
		near(t, fmt.Sprintf("%d units, level %v", c.units, c.level), got/c.want, 1, 0.004)
	}
}

// What is said to be detectable is found nine times out of ten, if blocks are as
// dependent as the test has found them to be on average; and as many blocks as are
// said to be needed find it.
func TestDetectableBySimulation(t *testing.T) {
	const rounds, spread = 2000, 3.0
	rng := rand.New(rand.NewPCG(13, 14))
	normal := func(n int) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = spread * rng.NormFloat64()
		}
		return d
	}
	for _, c := range []struct {
		n       int
		level   float64
		members int // of the family
	}{{6, 0.05, 1}, {12, 0.05, 1}, {12, 0.05, 20}, {12, 0.001, 1}, {12, 0.001, 20}, {20, 0.0005, 1}, {30, 0.01, 5}, {60, 0.0005, 1}} {
		f := Family{{D: normal(c.n)}}
		for len(f) < c.members {
			f = append(f, Blocks{D: normal(c.n)})
		}
		typical := Shift{Spread: spread}
		for range rounds {
			f[0].D = normal(c.n)
			typical.Corr += f.Mean(0, Looks{}, c.level).Corr / rounds
		}
		effect, found := typical.Detectable(c.n, c.level), 0
		for range rounds {
			f[0].D = normal(c.n)
			for i := range f[0].D {
				f[0].D[i] += effect
			}
			found += count(f.Mean(0, Looks{}, c.level).Lo > 0)
		}
		if got := float64(found) / rounds; math.Abs(got-Power) > 0.03 {
			t.Errorf("n=%d, level %v, %d comparisons: an effect of %.3f is found with %.3f, want %v", c.n, c.level, c.members, effect, got, Power)
		}
		if need := typical.Need(effect, c.level, 1000); need != c.n {
			t.Errorf("n=%d, level %v: would need %d blocks to find what %d find", c.n, c.level, need, c.n)
		}
		half := typical.Need(effect/2, c.level, 1000)
		if half < 2*c.n || half > 5*c.n {
			t.Errorf("n=%d, level %v: would need %d blocks to find half of that", c.n, c.level, half)
		}
		if got := typical.Need(effect/2, c.level, half); got != half {
			t.Errorf("needs %d blocks, and %d with a bound that it just reaches", half, got)
		}
		if got := typical.Need(effect/2, c.level, half-1); got != 0 {
			t.Errorf("needs %d blocks, and %d where the bound is one fewer: it cannot be decided", half, got)
		}
	}
}

func TestDetectableOfLittle(t *testing.T) {
	nan := math.NaN()
	s := Shift{Spread: 1}
	for name, got := range map[string]float64{
		"five blocks": s.Detectable(5, 0.05),
		"one block":   s.Detectable(1, 0.05),
		"level 0":     s.Detectable(12, 0),
		"level NaN":   s.Detectable(12, nan),
		"no blocks":   s.Detectable(0, 0.05),
	} {
		if !math.IsInf(got, 1) {
			t.Errorf("%s: could detect %v", name, got)
		}
	}
	if got := s.Detectable(5, 0.07); math.IsInf(got, 1) {
		t.Error("five blocks find nothing at a level that they can reach")
	}
	if got := (Shift{Spread: nan}).Detectable(12, 0.05); !math.IsNaN(got) {
		t.Errorf("with an unknown spread %v could be detected", got)
	}
	if a, b := s.Detectable(12, 0.05), (Shift{Spread: 1, Corr: 0.3}).Detectable(12, 0.05); !(b > 1.2*a) {
		t.Errorf("with correlated blocks %v could be detected, with others %v", b, a)
	}
	for name, got := range map[string]int{
		"nothing":           s.Need(0, 0.05, 1000),
		"NaN":               s.Need(nan, 0.05, 1000),
		"an unknown spread": Shift{Spread: nan}.Need(1, 0.05, 1000),
		"level 0":           s.Need(1, 0, 1000),
		"no blocks":         s.Need(1, 0.05, 0),
	} {
		if got != 0 {
			t.Errorf("to find %s it would need %d blocks", name, got)
		}
	}
	if got := s.Need(1e9, 0.05, 1000); got != LeastUnits {
		t.Errorf("what cannot be overlooked would need %d blocks, want %d", got, LeastUnits)
	}
}
