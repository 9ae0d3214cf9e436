package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/stats"
)

// A planted change is one at a point, of so much, or one that goes on to another point.
type planted struct {
	at, to int // to is 0 of a step
	size   float64
}

// plant makes points with these changes, and noise of this spread.
func plant(r *rand.Rand, points int, noise float64, changes []planted) []float64 {
	d := make([]float64, points)
	for i := range d {
		d[i] = noise * r.NormFloat64()
		for _, c := range changes {
			switch {
			case c.to == 0 && i >= c.at:
				d[i] += c.size
			case c.to > 0 && i >= c.at:
				d[i] += c.size * min(1, float64(i-c.at)/float64(c.to-c.at))
			}
		}
	}
	return d
}

// TestPlanted shows that each planted change is found as what it is: by how much it is by itself,
// a drift as a drift, and nothing twice.
func TestPlanted(t *testing.T) {
	const noise = 0.005
	histories := 30
	for _, c := range []struct {
		name    string
		points  int
		changes []planted
		want    string // the sizes in percent, rounded: a drift has a ~, and what was taken back its end
		right   float64
	}{
		{"flat", 40, nil, "", 0.85},
		{"a step", 40, []planted{{15, 0, 0.03}}, "+3", 0.85},
		{"a quarter of weeks", 13, []planted{{7, 0, 0.05}}, "+5", 0.85},
		{"two alike", 45, []planted{{15, 0, 0.03}, {30, 0, 0.03}}, "+3 +3", 0.85},
		{"two of different size", 45, []planted{{15, 0, 0.08}, {30, 0, 0.03}}, "+8 +3", 0.85},
		{"up and down in part", 45, []planted{{15, 0, 0.08}, {30, 0, -0.03}}, "+8 -3", 0.85},
		{"taken back", 45, []planted{{15, 0, 0.05}, {30, 0, -0.05}}, "+5/30", 0.85},
		{"taken back, and then another", 60, []planted{{15, 0, 0.05}, {30, 0, -0.05}, {45, 0, 0.04}}, "+5/30 +4", 0.85},
		{"taken back late", 40, []planted{{10, 0, 0.05}, {36, 0, -0.05}}, "+5/36", 0.6},
		{"three", 60, []planted{{15, 0, 0.04}, {30, 0, 0.04}, {45, 0, 0.04}}, "+4 +4 +4", 0.8},
		{"a slow drift", 50, []planted{{0, 49, 0.06}}, "~+6", 0.85},
		{"a slow drift down", 50, []planted{{0, 49, -0.06}}, "~-6", 0.85},
		{"a step, and a drift later", 80, []planted{{20, 0, -0.1}, {40, 79, 0.06}}, "-10 ~+6|-10 +1 ~+5|-10 +1 +1 ~+4", 0.6},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(31, uint64(len(c.name))))
			right, others := 0, make(map[string]int)
			for range histories {
				h := historyOf(plant(r, c.points, noise, c.changes))
				h.suspect()
				var got []string
				sum, wrong, i := 0.0, false, 0
				for _, s := range h.Series[0].Pieces[0].Steps {
					text := fmt.Sprintf("%+.0f", 100*s.Log)
					if s.Drift {
						text = "~" + text
					} else if i < len(c.changes) {
						wrong = wrong || s.Lo > c.changes[i].at || s.Hi < c.changes[i].at
					}
					sum += s.Log
					if s.Ended > 0 {
						sum -= s.Log
						text += fmt.Sprint("/", s.Ended)
						i++
					}
					i++
					got = append(got, text)
				}
				answer := strings.Join(got, " ")
				if slices.ContainsFunc(strings.Split(c.want, "|"), func(want string) bool { return near(answer, want) }) {
					right++
				} else {
					others[answer]++
				}
				// Whatever is found, all together are what the ends differ by.
				d := h.Series[0].Points
				if len(got) >= len(strings.Fields(c.want)) && len(got) > 0 && !strings.Contains(answer, "~") {
					ends := d[len(d)-1].Log - d[0].Log
					if math.Abs(sum-ends) > 5*noise*math.Sqrt2 {
						t.Errorf("%v sum up to %.3f, and the ends differ by %.3f", got, sum, ends)
					}
				}
				if wrong && !slices.ContainsFunc(c.changes, func(p planted) bool { return p.to > 0 }) {
					others["elsewhere"]++
				}
			}
			t.Logf("%q in %d of %d, else %v", c.want, right, histories, others)
			if float64(right) < c.right*float64(histories) {
				t.Errorf("%q in %d of %d, else %v", c.want, right, histories, others)
			}
			if others["elsewhere"] > histories/4 {
				t.Errorf("in %d of %d a step is not in its 95 %% set", others["elsewhere"], histories)
			}
		})
	}
}

// near reports whether sizes are those that are wanted, each within 1.2 %, and an end within two
// points.
func near(got, want string) bool {
	a, b := strings.Fields(got), strings.Fields(want)
	return slices.EqualFunc(a, b, func(a, b string) bool {
		if strings.HasPrefix(a, "~") != strings.HasPrefix(b, "~") {
			return false
		}
		var size, wanted float64
		var end, wantedEnd int
		_, _ = fmt.Sscanf(strings.TrimPrefix(a, "~"), "%g/%d", &size, &end)
		_, _ = fmt.Sscanf(strings.TrimPrefix(b, "~"), "%g/%d", &wanted, &wantedEnd)
		return math.Abs(size-wanted) <= 1.2 && end-wantedEnd <= 2 && wantedEnd-end <= 2
	})
}

// TestSpikes: what is far off at single points is no step, how large and how many they are.
func TestSpikes(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	found := 0
	for n := range 60 {
		d := plant(r, 40, 0.005, nil)
		for range 1 + n%3 {
			d[r.IntN(40)] += float64(n%5+1) * math.Copysign(0.1, float64(n%2)-0.5)
		}
		h := historyOf(d)
		h.suspect()
		found += min(1, len(h.Steps()))
	}
	if found > 12 {
		t.Errorf("in %d of 60 series with spikes a step is suspected", found)
	}
	// With a step the spike is no part of its size.
	d := plant(r, 40, 0.005, []planted{{20, 0, 0.05}})
	d[30] += 3
	h := historyOf(d)
	if h.suspect(); len(h.Steps()) != 1 || math.Abs(h.Steps()[0].Step.Log-0.05) > 0.01 {
		t.Errorf("a step beside a spike: %+v", h.Series[0].Pieces[0].Steps)
	}
}

// TestDriftIsProvenOnce: a comparison of the ends of a drift answers for it, also when it has gone
// on for some runs, and not one of a part of it.
func TestDriftIsProvenOnce(t *testing.T) {
	d := plant(rand.New(rand.NewPCG(62, 1)), 48, 0.005, []planted{{0, 47, 0.06}})
	h := historyOf(d)
	h.suspect()
	steps := h.Steps()
	if len(steps) != 1 || !steps[0].Step.Drift || steps[0].Step.Old != "c0" || steps[0].Step.New != "c47" || steps[0].Step.Before != 0 || steps[0].Step.At != 1 || steps[0].Step.Hi != 47 || !(steps[0].Step.P <= 0.05 && steps[0].Step.Adjusted <= 0.05) {
		t.Fatalf("steps are %+v", steps)
	}
	for _, c := range []struct {
		old, now string
		answers  bool
	}{{"c0", "c47", true}, {"c11", "c23", true}, {"c12", "c47", false}, {"c0", "c22", false}, {"c30", "c5", false}} {
		if got := h.spans(steps[0], c.old, c.now); got != c.answers {
			t.Errorf("%s against %s answers: %t", c.now, c.old, got)
		}
	}
	if r := h.Requests(); len(r) != 1 || r[0].Old != "c0" || r[0].New != "c47" {
		t.Errorf("requests are %+v", r)
	}
}

// TestDetectable: what is said to be detectable in a quarter of weekly runs is found nine times
// of ten, among forty series, of which the others show nothing.
func TestDetectable(t *testing.T) {
	const noise, histories = 0.01, 40
	r := rand.New(rand.NewPCG(51, 1))
	found, other := 0, 0
	for range histories {
		var all [][]float64
		for range 40 {
			all = append(all, plant(r, 13, noise, nil))
		}
		level := 0.05 / 40
		all[7] = plant(r, 13, noise, []planted{{6, 0, stats.DetectableStep(6, 7, noise, 0.05, level)}})
		h := historyOf(all...)
		h.suspect()
		hit := false
		for _, s := range h.Steps() {
			if s.Series.Name == "X/n=7" {
				hit = true
			} else {
				other++
			}
		}
		if hit {
			found++
		}
	}
	t.Logf("found in %d of %d, and %d that are not there", found, histories, other)
	if found < histories*75/100 || other > histories/5 {
		t.Errorf("found in %d of %d, and %d that are not there", found, histories, other)
	}
	if size := stats.DetectableStep(6, 7, noise, 0.05, 0.05/40); size > math.Log(1.05) {
		t.Errorf("a project of forty series with points of 1 %% sees %.1f %% in a quarter of weekly runs, want 5 %%", 100*size)
	}
}
