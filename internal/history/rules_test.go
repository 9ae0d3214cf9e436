package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/stats"
)

// TestDocumented: what docs/history.md says in figures.
func TestDocumented(t *testing.T) {
	if proofsPerYear != 50 || ProofBlocks != 48 || ProofLayouts != 24 || year != 365*24*time.Hour || permutations != 999 || LeastPoints(0.05) != 8 {
		t.Errorf("%d comparisons in %v, of %d blocks in %d layouts, %d orders, %d points", proofsPerYear, year, ProofBlocks, ProofLayouts, permutations, LeastPoints(0.05))
	}
	h := &History{Alpha: 0.05}
	if level, left := h.ProofLevel("box", time.Now()); math.Abs(level-0.001) > 1e-15 || left != 50 {
		t.Errorf("the next comparison is at %v, and %d are left", level, left)
	}
	if got := ProofSetting(0.001); got.Values[0] != "history level=0.001" {
		t.Errorf("its file says %v", got)
	}
}

// TestSpeedThresholds: a run whose anchor is more than 5 % and more than five spreads from the
// others takes no part, from five runs on, and none that is nearer.
func TestSpeedThresholds(t *testing.T) {
	for _, c := range []struct {
		anchors []float64 // of the others
		last    float64
		apart   bool
	}{
		{[]float64{100, 100, 100, 100}, 104.9, false},
		{[]float64{100, 100, 100, 100}, 105.1, true},
		{[]float64{100, 100, 100, 100}, 95.3, false},
		{[]float64{100, 100, 100, 100}, 95.1, true},
		{[]float64{100, 100, 100}, 200, false}, // too few
		{[]float64{98, 99, 100, 101, 102, 100}, 106.9, false},
		{[]float64{96, 98, 100, 102, 104, 98, 102}, 114, false}, // five spreads of 3 %
		{[]float64{96, 98, 100, 102, 104, 98, 102}, 135, true},
	} {
		h := new(History)
		for _, a := range append(slices.Clone(c.anchors), c.last) {
			h.Runs = append(h.Runs, Run{Machine: "box", Anchor: a})
		}
		h.Runs = append(h.Runs, Run{Machine: "barn", Anchor: 1000}) // another one says nothing
		h.checkSpeed()
		for i, r := range h.Runs {
			if apart := r.Apart != ""; apart != (c.apart && i == len(c.anchors)) {
				t.Errorf("%v beside %v: run %d apart %q", c.last, c.anchors, i, r.Apart)
			}
		}
	}
}

// TestTakenBack: what goes back to where it was, but for a tenth of the step or what noise hides,
// is one step with an end; else there are two.
func TestTakenBack(t *testing.T) {
	for _, c := range []struct {
		back, noise float64
		ended       bool
	}{{1, 0.001, true}, {0.95, 0.001, true}, {1.05, 0.001, true}, {0.8, 0.001, false}, {1.2, 0.001, false}, {0.8, 0.03, true}} {
		before, within := part{first: 0, end: 10}, part{first: 10, end: 20, from: 0.1, to: 0.1}
		rest := 0.1 * (1 - c.back)
		after := part{first: 20, end: 30, from: rest, to: rest}
		if got := isBack(before, within, after, c.noise); got != c.ended {
			t.Errorf("%v of a step in noise of %v taken back: %t", c.back, c.noise, got)
		}
	}
	if isBack(part{end: 10}, part{first: 10, end: 20, from: 1, to: 1}, part{first: 20, end: 30, to: 1}, 0.01) {
		t.Error("a drift from there is back")
	}
}

// TestFitDropsWhatDoesNotDiffer: cuts whose sides are the same within two standard errors are none.
func TestFitDropsWhatDoesNotDiffer(t *testing.T) {
	for _, c := range []struct {
		size  float64
		steps int
	}{{0.0001, 0}, {0.02, 1}} {
		d := plant(rand.New(rand.NewPCG(81, 1)), 20, 0.005, []planted{{10, 0, c.size}})
		h := historyOf(d)
		p := &h.Series[0].Pieces[0]
		h.fit(&h.Series[0], p, []cut{{at: 10, p: 0.01, adjusted: 0.02}, {at: 10, p: 0.02, adjusted: 0.03}})
		if len(p.Steps) != c.steps || c.steps > 0 && (p.Steps[0].P != 0.01 || p.Steps[0].Adjusted != 0.02) {
			t.Errorf("a cut of %v: %+v", c.size, p.Steps)
		}
	}
	parts := []part{{first: 0, end: 4, from: 1, to: 1}, {first: 4, end: 13, from: 2, to: 2}}
	if got, want := jumpError(parts[0], parts[1], 3), 3*math.Sqrt(1/4.0+1/9.0); math.Abs(got-want) > 1e-12 {
		t.Errorf("the standard error of a step is %v, want %v", got, want)
	}
	if sameErrors != 2 || farOff != 6 {
		t.Errorf("levels are the same within %d standard errors, and what is off by %d spreads is far off", sameErrors, farOff)
	}
}

// TestBothTests: a step needs Student's test, corrected for all series, and the orders of its own
// points, which do not believe in normal values.
func TestBothTests(t *testing.T) {
	// Seven points of which three are far off: Student's p is tiny, the orders' is not.
	d := make([]float64, 9)
	for i := range d {
		d[i] = 0.0001 * float64(i%2)
	}
	d[7], d[8] = 1, 1.0001
	s := stats.Sequence{D: d}.Step(permutations)
	h := historyOf(d)
	if h.suspect(); len(h.Steps()) > 0 != (s.P <= 0.05 && s.Student <= 0.05) {
		t.Errorf("of p = %v and Student's %v: %+v", s.P, s.Student, h.Series[0].Pieces[0].Steps)
	}
	// Too few: the orders of six points are never believed.
	h = historyOf([]float64{0, 0.0001, 0, 1, 1.0001, 1, 1})
	if h.suspect(); len(h.Steps()) > 0 {
		t.Errorf("of seven points: %+v", h.Series[0].Pieces[0].Steps)
	}
	// Two steps of which the first was taken back: what is before, within and after is searched.
	d = plant(rand.New(rand.NewPCG(91, 1)), 90, 0.005, []planted{{20, 0, 0.08}, {40, 0, -0.08}, {65, 0, 0.03}})
	h = historyOf(d)
	h.suspect()
	var got []string
	for _, s := range h.Series[0].Pieces[0].Steps {
		got = append(got, fmt.Sprintf("%d-%d %+.0f", s.At, s.Ended, 100*s.Log))
	}
	if answer := strings.Join(got, ", "); answer != "20-40 +8, 65-0 +3" {
		t.Errorf("steps are %s", answer)
	}
}

// TestProofDecides: what a comparison says decides, what is proven stays so, and a difference the
// other way refutes.
func TestProofDecides(t *testing.T) {
	for _, c := range []struct {
		size    float64
		verdict compare.Verdict
		ratio   float64
		want    State
	}{
		{0.1, compare.Slower, 1.1, Proven},
		{0.1, compare.Faster, 0.9, Refuted},
		{-0.1, compare.Faster, 0.9, Proven},
		{-0.1, compare.Slower, 1.1, Refuted},
		{0.1, compare.Same, 1.001, Refuted},
		{0.1, compare.Inconclusive, 1.1, Undecided},
	} {
		s := Step{Log: c.size, State: Suspected}
		p := &Proof{Ratio: c.ratio, Verdict: c.verdict}
		if s.take(p); s.State != c.want || s.Proof != p {
			t.Errorf("%+v of %v: %s, want %s", p, c.size, s.State, c.want)
		}
		was := s.State
		if s.take(&Proof{Ratio: 1, Verdict: compare.Same}); (s.State == was) != (was == Proven || was == Refuted) {
			t.Errorf("%s becomes %s by another comparison", was, s.State)
		}
	}
}

// TestStandardErrors: of one unit none is known.
func TestStandardErrors(t *testing.T) {
	if got := standardError(stats.Shift{Units: 4, Spread: 3}); got != 1.5 {
		t.Errorf("of four units %v, want 1.5", got)
	}
	if got := standardError(stats.Shift{Units: 2, Spread: 2}); math.Abs(got-math.Sqrt2) > 1e-12 {
		t.Errorf("of two units %v", got)
	}
	if got := standardError(stats.Shift{Units: 1, Spread: 3}); !math.IsNaN(got) {
		t.Errorf("of one unit %v", got)
	}
}
