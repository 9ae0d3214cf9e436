package stats

import (
	"math"
	"testing"
)

// The example of Borenstein and others, Introduction to Meta-Analysis (2009), chapter 14.
func TestRandomEffects(t *testing.T) {
	estimates := []float64{0.095, 0.277, 0.367, 0.664, 0.462, 0.185}
	var se []float64
	for _, v := range []float64{0.033, 0.031, 0.050, 0.011, 0.043, 0.023} {
		se = append(se, math.Sqrt(v))
	}
	s := RandomEffects(estimates, se, 0.05)
	for what, c := range map[string][2]float64{"mean": {s.Center, 0.358}, "Q": {s.Q, 12.0}, "I2": {s.I2, 0.583}, "tau2": {s.Tau2, 0.037}} {
		if math.Abs(c[0]-c[1]) > 0.025*math.Max(1, c[1]) {
			t.Errorf("%s is %v, want %v", what, c[0], c[1])
		}
	}
	if s.Lo > 0.358-1.96*0.105 || s.Hi < 0.358+1.96*0.105 {
		t.Errorf("%v to %v is narrower than by the normal distribution", s.Lo, s.Hi)
	}
	same := RandomEffects([]float64{1, 1, 1}, []float64{0.1, 0.1, 0.1}, 0.05)
	if same.I2 != 0 || same.Tau2 != 0 || math.Abs(same.Center-1) > 1e-12 || !(same.Hi-same.Lo > 0.1) {
		t.Errorf("three that agree: %+v", same)
	}
}

// An interval gives back the standard error that it was made of.
func TestStandardError(t *testing.T) {
	half := 0.02 * studentQuantile(0.05, 11)
	if got := StandardError(1-half, 1+half, 12, 0.05); math.Abs(got-0.02) > 1e-9 {
		t.Errorf("%v, want 0.02", got)
	}
}
