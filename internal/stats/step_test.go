package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// longer is n, or as many as the night has time for.
func longer(n, atNight int) int {
	if os.Getenv("DYNO_NIGHTLY") != "" {
		return atNight
	}
	return n
}

// sequenceOf draws values of which neighbours have the correlation rho. With df they have the
// tails of Student's distribution of so many degrees of freedom, two at least.
func sequenceOf(r *rand.Rand, n int, rho float64, df int) []float64 {
	d := make([]float64, n)
	last := r.NormFloat64()
	for i := range d {
		last = rho*last + math.Sqrt(1-rho*rho)*r.NormFloat64()
		if d[i] = last; df > 0 {
			chi := 0.0
			for range df {
				x := r.NormFloat64()
				chi += x * x
			}
			d[i] /= math.Sqrt(chi / float64(df))
		}
	}
	return d
}

// TestStepLevel: values without a step are called different as often as the level says, or
// less, whatever their tails are.
func TestStepLevel(t *testing.T) {
	series := longer(600, 10_000)
	for _, c := range []struct{ n, df int }{{12, 0}, {50, 0}, {50, 2}} {
		r := rand.New(rand.NewPCG(uint64(c.n), uint64(c.df)))
		alarms, students, rare := 0, 0, 0
		for range series {
			s := Sequence{D: sequenceOf(r, c.n, 0, c.df)}.Step(999)
			if s.P <= 0.05 {
				alarms++
			}
			if s.Student <= 0.05 {
				students++
			}
			if s.P <= 0.05 && s.Student <= 0.001 {
				rare++
			}
		}
		// Student's is right where values are normal.
		t.Logf("by Student's test: %d of %d, at a level of 0.001 %d", students, series, rare)
		if most := 0.06*float64(series) + 4*math.Sqrt(0.06*float64(series)); c.df == 0 && (float64(students) > most || students < series/100) {
			t.Errorf("%d values: Student's test alarms in %d of %d", c.n, students, series)
		}
		most := 0.0025 * float64(series)
		if c.df > 0 { // heavy tails: by as much as both tests together let through
			most *= 4
		}
		if float64(rare) > most+4*math.Sqrt(most) {
			t.Errorf("%d values, t of %d: at a level of 0.001 %d of %d alarms", c.n, c.df, rare, series)
		}
		t.Logf("%d values, t of %d: %d of %d", c.n, c.df, alarms, series)
		if most := 0.05 + 4*math.Sqrt(0.05*0.95/float64(series)); float64(alarms) > most*float64(series) {
			t.Errorf("%d values, t of %d: %d of %d alarms", c.n, c.df, alarms, series)
		}
		if alarms < series/50 {
			t.Errorf("%d values, t of %d: %d of %d alarms: the test does not spend its level", c.n, c.df, alarms, series)
		}
	}
}

// TestStepOfChosenPlace: a test of the same split that does not know that it was chosen
// raises many times more alarms.
func TestStepOfChosenPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	alarms, series := 0, 400
	for range series {
		d := sequenceOf(r, 50, 0, 0)
		at := newContrasts(50).lasting(Sequence{D: d}.standardized()).first
		a, sdA := moments(d[:at])
		b, sdB := moments(d[at:])
		n, m := float64(at), float64(50-at)
		pooled := math.Sqrt(((n-1)*sdA*sdA + (m-1)*sdB*sdB) / (n + m - 2))
		if studentTail(math.Abs(a-b)/pooled/math.Sqrt(1/n+1/m), 48) <= 0.05 {
			alarms++
		}
	}
	if alarms < series/4 {
		t.Errorf("Student's test of the chosen split alarms in %d of %d flat series; then there would be no need for ours", alarms, series)
	}
}

// TestStepPower: a step of the size that is said to be detectable is found nine times of
// ten, at levels of one series and of a thousand.
func TestStepPower(t *testing.T) {
	type sides struct {
		before, after int
		level         float64
	}
	series, cases := longer(200, 2000), []sides{{7, 6, 0.0003}, {10, 10, 0.05}, {25, 25, 0.05}}
	if series > 200 {
		cases = append(cases, sides{40, 10, 0.01}, sides{10, 10, 0.001}, sides{7, 6, 0.00005})
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(c.before), 3))
			delta := DetectableStep(c.before, c.after, 1, 0.05, c.level)
			found, covered := 0, 0
			for range series {
				d := sequenceOf(r, c.before+c.after, 0, 0)
				for i := range d[c.before:] {
					d[c.before+i] += delta
				}
				s := Sequence{D: d}.Step(999)
				if s.P <= 0.05 && s.Student <= c.level && s.End == len(d) {
					found++
				}
				if s.Lo <= c.before && c.before <= s.Hi {
					covered++
				}
			}
			t.Logf("step of %.2f spreads: found %d, in the set %d of %d", delta, found, covered, series)
			if part := float64(found) / float64(series); part < 0.85 || part > 0.97 {
				t.Errorf("a step of %.2f spreads is found in %d of %d", delta, found, series)
			}
			if covered < series*90/100 {
				t.Errorf("the 95 %% set has the place in %d of %d", covered, series)
			}
		})
	}
}

// TestStepThatEnded: a step that was taken back is found, and where it began and ended.
func TestStepThatEnded(t *testing.T) {
	d := sequenceOf(rand.New(rand.NewPCG(5, 5)), 40, 0, 0)
	for i := 15; i < 25; i++ {
		d[i] += 5
	}
	if s := (Sequence{D: d}).Step(9999); s.First != 15 || s.End != 25 || s.P > 0.001 || math.Abs(s.Shift-5) > 1.5 {
		t.Errorf("got %+v, want a step of about 5 from 15 to 25", s)
	}
}

// TestOutlierIsNoStep: one value that is far off is none, wherever it is; three are.
func TestOutlierIsNoStep(t *testing.T) {
	for _, at := range []int{0, 20, 39} {
		d := sequenceOf(rand.New(rand.NewPCG(8, 8)), 40, 0, 0)
		d[at] += 100
		if s := (Sequence{D: d}).Step(9999); s.P <= 0.05 || s.First < 2 || s.First > 38 || s.End < s.First+2 {
			t.Errorf("one outlier at %d: %+v", at, s)
		}
	}
	d := sequenceOf(rand.New(rand.NewPCG(8, 8)), 40, 0, 0)
	for i := 37; i < 40; i++ {
		d[i] += 8
	}
	if s := (Sequence{D: d}).Step(9999); s.P > 0.01 || s.First != 37 {
		t.Errorf("the last three are others: %+v", s)
	}
}

// TestStepOfTooFew: so few values can show nothing, and that is known before.
func TestStepOfTooFew(t *testing.T) {
	if got := DetectableStep(3, 3, 1, 0.05, 0.05); !math.IsInf(got, 1) {
		t.Errorf("of three and three values a step of %v", got)
	}
	if s := (Sequence{D: []float64{0, 0, 0, 1, 1, 1}}).Step(9999); s.P <= 0.05 {
		t.Errorf("three and three: p = %v", s.P)
	}
	if s := (Sequence{D: []float64{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}}).Step(9999); s.P > 0.02 || s.First != 5 {
		t.Errorf("five and five that differ in nothing else: %+v", s)
	}
}

// TestStepIsRepeatable: the same values give the same p.
func TestStepIsRepeatable(t *testing.T) {
	s := Sequence{D: sequenceOf(rand.New(rand.NewPCG(1, 9)), 30, 0, 0), SE: make([]float64, 30)}
	if a, b := s.Step(500), s.Step(500); a != b {
		t.Errorf("%+v and then %+v", a, b)
	}
}

// TestBetween: what scatters beyond the standard errors is told from them, and a step does
// not count.
func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	s := Sequence{}
	for i := range 400 {
		s.D = append(s.D, 3*r.NormFloat64()+4*r.NormFloat64()+100*float64(i/200))
		s.SE = append(s.SE, 3)
	}
	if got := s.Between(); math.Abs(got-4) > 0.6 {
		t.Errorf("between runs %.2f, want 4", got)
	}
	if got := s.Noise(); math.Abs(got-5) > 0.6 {
		t.Errorf("noise %.2f, want 5", got)
	}
}
