package history

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
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

// TestRequests: steps between the same commits of a package are measured together, the largest of
// all requests first, and of benchmarks that differ in GOMAXPROCS one.
func TestRequests(t *testing.T) {
	h := new(History)
	for _, c := range []struct {
		machine, pkg, name, old, new string
		log                          float64
		state                        State
		unprovable                   string
	}{
		{"box", "m", "X/impl=b-2", "c1", "c2", 0.02, Suspected, ""},
		{"box", "m", "X/impl=b-4", "c1", "c2", 0.05, Suspected, ""},
		{"box", "m", "Y-2", "c1", "c2", -0.01, Suspected, ""},
		{"barn", "m", "X", "c1", "c2", 0.03, Suspected, ""},
		{"box", "n", "X", "c1", "c2", 0.04, Suspected, ""},
		{"box", "m", "X", "c0", "c2", -0.06, Suspected, ""},
		{"box", "m", "X", "c1", "c3", 0.07, Suspected, ""},
		{"box", "m", "Z", "c1", "c2", 0.08, Explained, ""},
		{"box", "m", "Z", "c1", "c2", 0.09, Suspected, "both sides are the same"},
	} {
		step := Step{Old: c.old, New: c.new, Log: c.log, State: c.state, Unprovable: c.unprovable}
		h.Series = append(h.Series, Series{Machine: c.machine, Pkg: c.pkg, Name: c.name, Pieces: []Piece{{Steps: []Step{step}}}})
	}
	var got []string
	for _, r := range h.Requests() {
		got = append(got, fmt.Sprintf("%s %s %s..%s %.2f %s", r.Machine, r.Pkg, r.Old, r.New, r.Largest, r.Pattern()))
	}
	want := []string{
		"box m c1..c3 0.07 ^BenchmarkX$", "box m c0..c2 0.06 ^BenchmarkX$", "box m c1..c2 0.05 ^BenchmarkX$/^impl=b$|^BenchmarkY$",
		"box n c1..c2 0.04 ^BenchmarkX$", "barn m c1..c2 0.03 ^BenchmarkX$",
	}
	if !slices.Equal(got, want) {
		t.Errorf("requests are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOrderOfSteps: what is proven comes first, then what is to be proven, and of each what became
// slower most.
func TestOrderOfSteps(t *testing.T) {
	steps := []Step{
		{State: Refuted, Log: 9},
		{State: Explained, Log: 8},
		{State: Undecided, Log: 7},
		{State: Suspected, Log: -6},
		{State: Suspected, Log: 5},
		{State: Proven, Log: 4},
	}
	h := &History{Series: []Series{{Pieces: []Piece{{Steps: steps[:2]}, {Steps: steps[2:]}}}}}
	var got []float64
	for _, s := range h.Steps() {
		got = append(got, s.Step.Log)
	}
	if want := []float64{4, 5, -6, 7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("steps are in the order %v, want %v", got, want)
	}
}

// TestPower: what could have been seen is of the pieces that have enough points.
func TestPower(t *testing.T) {
	inf := Piece{Detectable: math.Inf(1)}
	h := &History{Series: []Series{
		{Pieces: []Piece{{Detectable: 0.03}, inf}},
		{Pieces: []Piece{{Detectable: 0.01}, {Detectable: math.NaN()}, {Detectable: 0.02}, {Detectable: 0.07}, {Detectable: 0.05}}},
	}}
	if got, want := h.Power(0.02), (Power{Pieces: 7, Short: 2, Seen: 2, Least: 0.01, Median: 0.03, Most: 0.07}); got != want {
		t.Errorf("power is %+v, want %+v", got, want)
	}
	h.Series = []Series{{Pieces: []Piece{inf}}}
	if got, want := h.Power(1), (Power{Pieces: 1, Short: 1}); got != want {
		t.Errorf("power is %+v, want %+v", got, want)
	}
}

// TestSpan: from the first run to the last.
func TestSpan(t *testing.T) {
	at := func(h int) time.Time { return time.Date(2026, 1, 1, h, 0, 0, 0, time.UTC) }
	for n := range 4 {
		h := new(History)
		var want [2]time.Time
		for i := range n {
			h.Runs = append(h.Runs, Run{Started: at(i)})
			want = [2]time.Time{at(0), at(i)}
		}
		if first, last := h.Span(); first != want[0] || last != want[1] {
			t.Errorf("%d runs are from %v to %v, want %v", n, first, last, want)
		}
	}
}

// TestCommitOrder: a commit stands behind its parents, whatever their clocks said.
func TestCommitOrder(t *testing.T) {
	dir := t.TempDir()
	if got := CommitOrder(t.Context(), dir); got != nil {
		t.Errorf("where no repository is: %v", got)
	}
	git := func(year int, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
		cmd.Env = append(os.Environ(), fmt.Sprintf("GIT_COMMITTER_DATE=%d-01-01T12:00:00Z", year))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git(2026, "init", "-q")
	tree := git(2026, "hash-object", "-t", "tree", "-w", os.DevNull)
	commit := func(year int, parents ...string) string {
		args := []string{"commit-tree", tree, "-m", "x"}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		return git(year, args...)
	}
	first := commit(2030)
	left, right := commit(2020, first), commit(2021, first)
	last := commit(2022, left, right)
	git(2026, "update-ref", "HEAD", last)
	got := CommitOrder(t.Context(), dir)
	if len(got) != 4 || got[first] != 0 || got[left]+got[right] != 3 || got[last] != 3 {
		t.Errorf("%v, want %s, %s and %s, %s", got, first, left, right, last)
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
		{[]float64{96, 98, 100, 102, 104, 98, 102}, 114, false},
		{[]float64{98, 100, 102, 98, 102}, 116.5, false}, // five spreads of 3 %, as the middle one of the others is off by 2 %
		{[]float64{98, 100, 102, 98, 102}, 117.5, true},
	} {
		h := &History{Runs: []Run{{Machine: "barn", Anchor: 1000}}} // another one says nothing
		for _, a := range append(slices.Clone(c.anchors), c.last) {
			h.Runs = append(h.Runs, Run{Machine: "box", Anchor: a})
		}
		h.checkSpeed()
		for i, r := range h.Runs {
			if apart := r.Apart != ""; apart != (c.apart && i == 1+len(c.anchors)) {
				t.Errorf("%v beside %v: run %d apart %q", c.last, c.anchors, i, r.Apart)
			}
		}
	}
}

// TestAnchor: of each loop the least time of any block counts, and what is no time does not.
func TestAnchor(t *testing.T) {
	f := &record.File{Config: []record.Setting{{Key: "commit", Values: []string{"5 5"}}, {Key: record.AnchorKey, Values: []string{"4 9", "1 16", "0 4", "-1 25", "x 25"}}}}
	if got := anchorOf(f); math.Abs(got-2) > 1e-12 {
		t.Errorf("anchor %v, want 2", got)
	}
	if got := anchorOf(new(record.File)); got != 0 {
		t.Errorf("anchor %v of none", got)
	}
}

// TestNames: where a benchmark stands in the tables of a run, of what it is and how it was measured.
func TestNames(t *testing.T) {
	const pkg, file = "m", "x.bench"
	for _, c := range []struct {
		col, name, side, driven string
		slices                  *record.Slices
		row, at, subject, way   string
	}{
		{"/impl", "X/impl=b/n=1-2", "", "", nil, "X/n=1-2", "b", "m", "process"},
		{"/impl", "X/impl=b-2", "", "session", nil, "X-2", "b", "m", "session"},
		{"/impl", "X/n=1", "", "", &record.Slices{Whole: true}, "X/n=1", "(no impl)", "m", "process, slices of 50ms"},
		{record.SideKey, "X/impl=b-2", "new", "session", &record.Slices{}, "X/impl=b-2", "new", "m new", "session, slices of 50ms, collections outside"},
		{".file", "X/impl=b-2", "", "", nil, "X/impl=b-2", file, "m", "process"},
	} {
		res := &benchfmt.Result{Name: benchfmt.Name(c.name)}
		for key, value := range map[string]string{"pkg": pkg, record.SideKey: c.side, "driven": c.driven} {
			res.SetConfig(key, value)
		}
		r := &Run{Path: "results/" + file, file: &record.File{Slice: 50 * time.Millisecond, Results: []record.Record{{Result: res, Slices: c.slices}}}}
		b := benchmark{pkg, c.name, c.subject, c.way}
		if got, want := r.names(c.col), (map[place]benchmark{{c.row, pkg, c.at}: b, {c.row, "", c.at}: b}); !maps.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
}

// TestTakenBack: what goes back to where it was, but for a tenth of the step or what noise hides,
// is one step with an end; else there are two.
func TestTakenBack(t *testing.T) {
	for _, c := range []struct {
		back, noise float64
		ended       bool
	}{{1, 0.001, true}, {0.91, 0.001, true}, {1.09, 0.001, true}, {0.89, 0.001, false}, {1.11, 0.001, false}, {0.8, 0.001, false}, {1.2, 0.001, false}, {0.8, 0.03, true}} {
		before, within := part{first: 0, end: 10}, part{first: 10, end: 20, from: 0.1, to: 0.1}
		rest := 0.1 * (1 - c.back)
		after := part{first: 20, end: 30, from: rest, to: rest}
		if got := isBack(before, within, after, c.noise); got != c.ended {
			t.Errorf("%v of a step in noise of %v taken back: %t", c.back, c.noise, got)
		}
	}
	// However few points there are within.
	if isBack(part{end: 10}, part{first: 10, end: 12, from: 0.1, to: 0.1}, part{first: 12, end: 22, from: 0.035, to: 0.035}, 0.03) {
		t.Error("what is off by 2.6 standard errors is back")
	}
	if isBack(part{end: 10}, part{first: 10, end: 20, from: 1, to: 1}, part{first: 20, end: 30, to: 1}, 0.01) {
		t.Error("a drift from there is back")
	}
}

// TestWith: what changed with a step is said once, however often it went back and forth.
func TestWith(t *testing.T) {
	h := historyOf(make([]float64, 5))
	s := &h.Series[0]
	for i, kernel := range []string{"z", "a", "b", "a", "b"} {
		s.Points[i].circumstances = []circumstance{{"kernel", kernel}}
	}
	step := &Step{Before: 1, Hi: 4}
	if h.circumstances(s, []int{0, 1, 2, 3, 4}, step); !slices.Equal(step.With, []string{"kernel: a → b", "kernel: b → a"}) || step.Old != "c1" || step.New != "c4" {
		t.Errorf("%+v", step)
	}
	s.Points[2].circumstances = []circumstance{{"kernel", "of a run that takes no part"}}
	step = &Step{Before: 1, Hi: 4}
	if h.circumstances(s, []int{0, 1, 3, 4}, step); !slices.Equal(step.With, []string{"kernel: a → b"}) {
		t.Errorf("%+v", step)
	}
}

// TestSettle: a cut moves to the best place between those beside it, if there are values enough to look
// for one, and is bounded there.
func TestSettle(t *testing.T) {
	q := stats.Sequence{D: []float64{0, 0.1, 0, 0.1, 0, 0.1, 5, 5.1, 5, 5.1, 5, 5.1, 9, 9.1, 9, 9.1, 9, 9.1}}
	q.SE = slices.Repeat([]float64{math.NaN()}, len(q.D))
	cuts := settle(q, []cut{{at: 4}, {at: 13}})
	if len(cuts) != 2 || cuts[0].at != 6 || cuts[1].at != 12 || cuts[0].lo < 4 || cuts[0].hi > 8 || cuts[1].lo < 10 || cuts[1].hi > 14 {
		t.Errorf("cuts are %+v", cuts)
	}
	for n, want := range map[int]cut{stats.LeastSequence: {at: stats.LeastSequence / 2}, stats.LeastSequence - 1: {at: 1, lo: 1, hi: 1}} {
		d := append(make([]float64, stats.LeastSequence/2), 5, 5.1, 5, 5.1)
		got := settle(stats.Sequence{D: d[:n], SE: slices.Repeat([]float64{math.NaN()}, n)}, []cut{{at: 1}})
		if got[0].at != want.at || want.lo > 0 && got[0] != want {
			t.Errorf("a cut of %d values: %+v, want %+v", n, got[0], want)
		}
	}
}

// TestDriftOrStep: a line is a drift where what it leaves is less than a number more that is fitted, and
// is as sure as the surest cut in it.
func TestDriftOrStep(t *testing.T) {
	d := []float64{0, 0, 0, 0, 1, 1, 1, 1}
	leaves := left(stats.Sequence{D: d}, lineOf(stats.Sequence{D: d}, 0, 8), 1)
	for _, c := range []struct {
		leaves float64
		drift  bool
	}{{math.Log(8) - 0.1, true}, {math.Log(8) + 0.1, false}} {
		q := stats.Sequence{D: slices.Clone(d)}
		for i := range q.D {
			q.D[i] *= math.Sqrt(c.leaves / leaves)
		}
		cuts := []cut{{at: 4, p: 0.01, adjusted: 0.02}}
		if got := drifts(q, levels(q, cuts), cuts, 1); (len(got) == 1) != c.drift {
			t.Errorf("a line that leaves %.2f: %+v", c.leaves, got)
		}
	}
	q := stats.Sequence{D: []float64{0, 1, 2, 3, 4, 5, 6, 7, 900, 900, 900, 900}}
	cuts := []cut{{at: 4, p: 0.01, adjusted: 0.02}, {at: 8, p: 0.001, adjusted: 0.002}}
	if got := drifts(q, levels(q, cuts), cuts, 1); len(got) != 2 || got[0].end != 8 || got[0].p != 0.01 || got[0].adj != 0.02 {
		t.Errorf("a line and a step behind it: %+v", got)
	}
}

// TestSpansOneStep: a comparison over a second step says nothing of the first, nor of the third.
func TestSpansOneStep(t *testing.T) {
	h := historyOf(make([]float64, 40))
	p := &h.Series[0].Pieces[0]
	p.Steps = []Step{{At: 10}, {At: 20}, {At: 30}}
	for _, c := range []struct{ step, old, now int }{{0, 5, 15}, {0, 5, 25}, {1, 15, 25}, {1, 15, 35}, {1, 5, 25}, {2, 25, 35}, {2, 15, 35}} {
		got := h.spans(Suspicion{&h.Series[0], p, &p.Steps[c.step]}, fmt.Sprintf("c%d", c.old), fmt.Sprintf("c%d", c.now))
		if got != (c.now-c.old == 10) {
			t.Errorf("c%d against c%d answers for the step at %d: %t", c.now, c.old, p.Steps[c.step].At, got)
		}
	}
}

// TestLine: a line is that of the middle slope, and leaves nothing of values on it, and of others no
// more than what is far off counts.
func TestLine(t *testing.T) {
	q := stats.Sequence{D: []float64{7, 1, 2, 3, 4, 99}}
	line := lineOf(q, 1, 5)
	if line != (part{first: 1, end: 5, from: 1, to: 4}) || left(q, line, 0.5) != 0 {
		t.Errorf("the line is %+v and leaves %v", line, left(q, line, 0.5))
	}
	if got := left(q, part{first: 0, end: 6, from: 0, to: 5}, 1); got != 36+0+0+0+0+36 {
		t.Errorf("left is %v", got)
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
	// Those of eight are one in 35, which is enough for one series, also where it is one of several.
	flat := []float64{0, 1, 0, 1, 0, 1, 0, 1}
	for _, others := range [][][]float64{nil, {flat, flat, flat, flat}} {
		h = historyOf(append([][]float64{{0, 0.0001, 0, 0.0001, 1, 1.0001, 1, 1.0001}}, others...)...)
		if h.suspect(); len(h.Steps()) != 1 || h.Steps()[0].Step.At != 4 {
			t.Errorf("of eight points beside %d series: %+v", len(others), h.Series[0].Pieces[0].Steps)
		} else if s, n := h.Steps()[0].Step, float64(1+len(others)); math.Abs(s.Adjusted-n*s.P) > 1e-12 {
			t.Errorf("p = %v of %v series is %v", s.P, n, s.Adjusted)
		}
	}
	// Two steps of which the first was taken back: what is before, within and after is searched.
	d = plant(rand.New(rand.NewPCG(91, 1)), 90, 0.005, []planted{{20, 0, 0.08}, {40, 0, -0.08}, {65, 0, 0.03}})
	h = historyOf(d)
	h.suspect()
	piece, series := &h.Series[0].Pieces[0], &h.Series[0]
	spans := h.consider(nil, &span{piece: piece, series: series, members: h.Members(series, *piece)})
	_, cuts := h.search(&spans)
	for _, cut := range cuts[piece] {
		if !slices.ContainsFunc([]int{20, 40, 65}, func(at int) bool { return max(at-cut.at, cut.at-at) <= 1 }) {
			t.Errorf("parted at %d", cut.at)
		}
	}
	var got []string
	for _, s := range piece.Steps {
		got = append(got, fmt.Sprintf("%d-%d %+.0f", s.At, s.Ended, 100*s.Log))
	}
	if answer := strings.Join(got, ", "); answer != "20-40 +8, 65-0 +3" {
		t.Errorf("steps are %s", answer)
	}
}

// TestStepsAreOfTheSeries: steps are told by the points of their series, whatever of these takes no part
// or is of another piece.
func TestStepsAreOfTheSeries(t *testing.T) {
	d := plant(rand.New(rand.NewPCG(91, 1)), 90, 0.005, []planted{{20, 0, 0.08}, {40, 0, -0.08}, {65, 0, 0.03}})
	alone := historyOf(d)
	alone.suspect()
	at := func(i int) int { // of a point of d, among all
		if i < 0 {
			return i
		}
		return 2 + i + i/10
	}
	all := []float64{9, 9}
	for i, v := range d {
		if i > 0 && i%10 == 0 {
			all = append(all, 7)
		}
		all = append(all, v)
	}
	h := historyOf(all)
	for i := 12; i < len(all); i += 11 {
		h.Runs[i].Apart = "it was busy"
	}
	h.Series[0].Pieces = []Piece{{End: 2}, {First: 2, End: len(all)}}
	h.suspect()
	steps, want := h.Series[0].Pieces[1].Steps, alone.Series[0].Pieces[0].Steps
	if len(steps) != 2 || len(want) != 2 || want[0].Ended == 0 {
		t.Fatalf("steps are %+v, and without others %+v", steps, want)
	}
	for i, s := range want {
		s.At, s.Before, s.Lo, s.Hi = at(s.At), at(s.Before), at(s.Lo), at(s.Hi)
		if s.Ended > 0 {
			s.Ended = at(s.Ended)
		}
		if g := steps[i]; g.At != s.At || g.Before != s.Before || g.Lo != s.Lo || g.Hi != s.Hi || g.Ended != s.Ended || g.Log != s.Log || g.Old != fmt.Sprintf("c%d", s.Before) || g.New != fmt.Sprintf("c%d", s.Hi) {
			t.Errorf("a step is %+v, want %+v", g, s)
		}
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

// TestProofOfNothing: a comparison in which nothing could be compared says nothing.
func TestProofOfNothing(t *testing.T) {
	h := historyOf(stepped(24, 12, 0.1))
	h.suspect()
	if h.takeProof(&Run{Machine: "box", Old: "c9", Commit: "c14"}, &compare.Comparison{Col: record.SideKey}, 0.001); h.Steps()[0].Step.Proof != nil {
		t.Errorf("%+v", h.Steps()[0].Step)
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
	if mean, se := logOf([]compare.BlockValue{{V: math.E}, {V: math.Exp(3)}}); math.Abs(mean-2) > 1e-12 || math.Abs(se-1) > 1e-12 {
		t.Errorf("of two blocks %v ± %v, want 2 ± 1", mean, se)
	}
	if got := standardError(stats.Shift{Units: 1, Spread: 3}); !math.IsNaN(got) {
		t.Errorf("of one unit %v", got)
	}
}
