package targets_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
	"github.com/dynolab/dyno/internal/targets/targetstest"
)

// Every kind of target and of figure, worked out by hand.
func TestEvaluate(t *testing.T) {
	nan := math.NaN()
	card := targetstest.Evaluate(t, targetstest.Sample, "../report/testdata/targets.bench")
	if card.Alpha != compare.DefaultAlpha {
		t.Errorf("by default the level is %v", card.Alpha)
	}
	for _, c := range []struct {
		id, impl       string
		outcome        targets.Outcome
		figure, lo, hi float64
		min, max       float64
		n              int
		why            string
	}{
		{"SC-005", "fast", targets.Pass, 0.001, 0.001, 0.001, 0.001, 0.001, 6, ""},
		// A derived figure, in its own unit.
		{"FR-014", "fast", targets.Pass, 32500, 30000, 35000, 30000, 35000, 6, ""},
		{"FR-014", "slow", targets.Miss, 152500, 150000, 155000, 150000, 155000, 6, ""},
		// One that falls where the measured one rises: limits and extremes change places.
		{"V11/rate", "fast", targets.Pass, 2e7, 2e7, 2e7, 2e7, 2e7, 6, ""},
		{"V11/rate", "slow", targets.Miss, 1e9 / 2025, 1e9 / 2050, 5e5, 1e9 / 2050, 5e5, 6, ""},
		// The interval of the median holds the limit.
		{"V11/memory", "slow", targets.Miss, 1035, 1000, 1070, 1000, 1070, 6, "not certain: the interval holds the limit"},
		// One block of a median may be bad, but not one of a count.
		{"SC-002", "slow", targets.Pass, 1, 0, 30, 0, 30, 6, "not certain: the interval holds the limit"},
		{"SC-003", "fast", targets.Pass, 95, nan, nan, 95, 100, 6, ""},
		{"SC-003", "slow", targets.Miss, 94, nan, nan, 94, 100, 6, ""},
		// What is not there, and why.
		{"S5/cycle", "fast", targets.NotMeasured, 0, 0, 0, 0, 0, 0, "missing: crashed: panic: oh"},
		{"S5/cycle", "slow", targets.Skip, 0, 0, 0, 0, 0, 0, "needs Timers"},
		{"X/none", "fast", targets.NotMeasured, 0, 0, 0, 0, 0, 0, "no results of workload=nothing"},
		{"X/group", "", targets.NotMeasured, 0, 0, 0, 0, 0, 0, "no results of any implementation"},
		{"aim/count/fast", "fast", targets.NotMeasured, 0, 0, 0, 0, 0, 0, "no results of ref-other to compare to"},
		// Ratios: to a reference, and to another workload.
		{"aim/pingpong/fast", "fast", targets.Miss, 0.32455, 0.29465, 0.35749, nan, nan, 6, "not certain: the interval holds the limit"},
		{"aim/pingpong/slow", "slow", targets.Miss, 1.5249, 1.49387, 1.55658, nan, nan, 6, ""},
		{"aim/ring/fast", "fast", targets.Pass, 2.5, nan, nan, nan, nan, 6, "of two medians, without an interval"},
		{"aim/ring/slow", "slow", targets.NotMeasured, 0, 0, 0, 0, 0, 0, "nothing to compare to: no results of workload=ring/actors=2"},
	} {
		i := slices.IndexFunc(card.Scores, func(s targets.Score) bool { return s.Target.ID == c.id && s.Impl == c.impl })
		if i < 0 {
			t.Errorf("%s is not evaluated for %q", c.id, c.impl)
			continue
		}
		s := card.Scores[i]
		if s.Outcome != c.outcome || s.Why != c.why {
			t.Errorf("%s, %s: %s, %q, want %s, %q", c.id, c.impl, s.Outcome, s.Why, c.outcome, c.why)
		}
		if s.Measured() && (s.N != c.n || s.File != "targets.bench") {
			t.Errorf("%s, %s: n = %d of %s", c.id, c.impl, s.N, s.File)
		}
		for _, v := range [][2]float64{{s.Figure, c.figure}, {s.Lo, c.lo}, {s.Hi, c.hi}, {s.Min, c.min}, {s.Max, c.max}} {
			if s.Measured() && !(math.Abs(v[0]-v[1]) <= 1e-3*v[1] || math.IsNaN(v[0]) && math.IsNaN(v[1])) {
				t.Errorf("%s, %s: figure, lo, hi, min, max are %v %v %v %v %v, want %v %v %v %v %v", c.id, c.impl,
					s.Figure, s.Lo, s.Hi, s.Min, s.Max, c.figure, c.lo, c.hi, c.min, c.max)
				break
			}
		}
	}
	for _, s := range card.Scores {
		if s.Target.ID == "SC-001/board" {
			t.Error("a board's target was evaluated on a host")
		}
		if strings.HasPrefix(s.Impl, "ref-") {
			t.Errorf("%s was evaluated for the reference %s", s.Target.ID, s.Impl)
		}
	}
	if got, want := card.Tally(true), (targets.Tally{Pass: 8, Miss: 4, NotMeasured: 4, Skipped: 1}); got != want {
		t.Errorf("required: %+v, want %+v", got, want)
	}
	if got, want := card.Tally(false), (targets.Tally{Pass: 1, Miss: 2, NotMeasured: 2}); got != want {
		t.Errorf("aims: %+v, want %+v", got, want)
	}
}

// resultsFile writes a results file of one implementation's pingpong.
func resultsFile(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Of several files the first that has the figure counts, and a reason that one
// gives is better than that another has nothing.
func TestEvaluateSeveralFiles(t *testing.T) {
	of := func(workload string) []targets.Target {
		return []targets.Target{{ID: "x", Bench: "Actor", Workload: workload, Metric: "ns/op", Limit: 15, Where: targets.Host}}
	}
	one := resultsFile(t, "one.bench", "BenchmarkActor/workload=a/impl=x-2 1 10 ns/op", "BenchmarkActor/workload=a/impl="+record.PeerPrefix+"y-2 1 10 ns/op", "BenchmarkActor/workload=c/impl=x-2 1 5 ns/op",
		`# hole: case=BenchmarkActor/workload=h/impl=x-2 reason="crashed"`)
	two := resultsFile(t, "two.bench", "BenchmarkActor/workload=a/impl=x-2 1 20 ns/op", "BenchmarkActor/workload=b/impl=x-2 1 30 ns/op",
		`# skip: case=BenchmarkActor/workload=d/impl=x-2 reason="lacks y"`)
	for _, c := range []struct {
		workload, file string
		outcome        targets.Outcome
		figure         float64
	}{{"a", "one.bench", targets.Pass, 10}, {"b", "two.bench", targets.Miss, 30}, {"c", "one.bench", targets.Pass, 5}, {"d", "", targets.Skip, 0}, {"e", "", targets.NotMeasured, 0}} {
		s := targetstest.Evaluate(t, of(c.workload), one, two).Scores
		if len(s) != 1 || s[0].File != c.file || s[0].Outcome != c.outcome || s[0].Figure != c.figure && s[0].Measured() {
			t.Errorf("%s: %+v, want %s %v of %q", c.workload, s, c.outcome, c.figure, c.file)
		}
	}
	for _, files := range [][]string{{one, two}, {two, one}} {
		h := of("h")
		h[0].Impls = []string{"x"}
		if s := targetstest.Evaluate(t, h, files...).Scores[0]; s.Outcome != targets.NotMeasured || s.Why != "missing: crashed" {
			t.Errorf("what one file says of it is lost: %s, %q", s.Outcome, s.Why)
		}
	}
	card := targetstest.Evaluate(t, of("a"), two, one)
	if card.Scores[0].Figure != 20 {
		t.Errorf("%v of the second file, want 20 of the first", card.Scores[0].Figure)
	}
	if len(card.Files) != 2 || card.Files[0].Label != "two.bench" || card.Files[1].Label != "one.bench" {
		t.Errorf("files are %+v", card.Files)
	}
}

// Names are whole: one that another begins with is not that other, and of
// several GOMAXPROCS the largest counts.
func TestEvaluateNames(t *testing.T) {
	file := resultsFile(t, "x.bench",
		"BenchmarkActor/workload=a/impl=x-2 1 10 ns/op",
		"BenchmarkActor/workload=a/impl=x-16 1 16 ns/op",
		"BenchmarkActor/workload=a/impl=x 1 1 ns/op",
		"BenchmarkActor/workload=ab/impl=x-32 1 99 ns/op",
		"BenchmarkActor/workload=a/k=1/impl=x-32 1 98 ns/op",
		"BenchmarkGroup/workload=a/impl=x-32 1 97 ns/op",
		"BenchmarkActor/workload=one/impl=x 1 7 ns/op",
		`# hole: case=BenchmarkActor/workload=h/impl=x-y-2 reason="another one's"`,
		`# hole: case=BenchmarkActor/workload=h/impl=x-2 reason="its own"`)
	for _, c := range []struct {
		workload string
		want     float64
	}{{"a", 16}, {"a/k=1", 98}, {"one", 7}, {"h", 0}} {
		s := targetstest.Evaluate(t, []targets.Target{{Bench: "Actor", Workload: c.workload, Metric: "ns/op", Limit: 1, Impls: []string{"x"}, Where: targets.Host}}, file).Scores[0]
		if c.want != s.Figure || c.workload == "h" && s.Why != "missing: its own" {
			t.Errorf("%s: %v (%s), want %v", c.workload, s.Figure, s.Why, c.want)
		}
	}
	s := targetstest.Evaluate(t, []targets.Target{{Bench: "Actor", Workload: "h", Metric: "ns/op", Limit: 1, Impls: []string{"x-2"}, Where: targets.Host}}, file).Scores[0]
	if s.Why != "missing: its own" {
		t.Errorf("an implementation with a number in its name: %q", s.Why)
	}
	// Of what was measured in another unit it is said which one is not there.
	s = targetstest.Evaluate(t, []targets.Target{{Bench: "Actor", Workload: "a", Metric: "B/op", Limit: 1, Impls: []string{"x"}, Where: targets.Host}}, file).Scores[0]
	if s.Outcome != targets.NotMeasured || s.Why != "the results of workload=a have no B/op" {
		t.Errorf("a unit that is not there: %s, %q", s.Outcome, s.Why)
	}
}

// Too few blocks give a figure, and say so: of the figure, of one that is derived of it, and of a
// ratio to what has fewer.
func TestEvaluateFewBlocks(t *testing.T) {
	var lines []string
	for b := range 8 {
		lines = append(lines, fmt.Sprintf("block: %d", b+1))
		lines = append(lines, fmt.Sprintf("BenchmarkActor/workload=c/impl=x-2 1 %d ns/op", 10*min(1, b)), "BenchmarkActor/workload=c/impl=ref-r-2 1 20 ns/op")
		for _, workload := range []string{"a", "b"} {
			if row := "BenchmarkActor/workload=" + workload + "/impl="; b == 0 {
				lines = append(lines, row+"x-2 1 10 ns/op", row+"ref-r-2 1 20 ns/op")
			} else if workload == "b" {
				lines = append(lines, row+"x-2 1 10 ns/op")
			}
		}
	}
	file := resultsFile(t, "x.bench", lines...)
	for _, target := range []targets.Target{
		{Workload: "a", Limit: 15},
		{Workload: "a", Limit: 15, Base: "ref-r"},
		{Workload: "b", Limit: 15, Base: "ref-r"},
		{Workload: "c", Limit: 15, Base: "ref-r"}, // a time of nothing has no ratio
		{Workload: "a", Limit: 1e6, Bound: targets.AtLeast, PerSecond: true},
	} {
		target.Bench, target.Metric, target.Where = "Actor", "ns/op", targets.Host
		s := targetstest.Evaluate(t, []targets.Target{target}, file).Scores[0]
		if s.Outcome != targets.Pass || s.Why != "too few blocks for an interval" || !math.IsNaN(s.Lo) || !math.IsNaN(s.Hi) || s.Doubtful() {
			t.Errorf("%+v", s)
		}
	}
}

// A hole in some blocks is said, and of a ratio only the pairs count.
func TestEvaluateHoles(t *testing.T) {
	var lines []string
	for b := range 8 {
		lines = append(lines, fmt.Sprintf("block: %d", b+1), "BenchmarkActor/workload=a/impl=x-2 1 10 ns/op")
		if b > 0 {
			lines = append(lines, "BenchmarkActor/workload=a/impl=ref-r-2 1 20 ns/op", "BenchmarkActor/workload=a/impl=y-2 1 10 ns/op")
		}
	}
	lines = append(lines, `# hole: case=BenchmarkActor/workload=a/impl=y-2 block=1 reason="crashed"`)
	file := resultsFile(t, "x.bench", lines...)
	one := targets.Target{Bench: "Actor", Workload: "a", Metric: "ns/op", Limit: 15, Where: targets.Host}
	ratio := one
	ratio.Base = "ref-r"
	card := targetstest.Evaluate(t, []targets.Target{one, ratio}, file)
	var got []string
	for _, s := range card.Scores {
		got = append(got, fmt.Sprintf("%s %s %d %s", s.Impl, s.Outcome, s.N, s.Why))
	}
	want := []string{"x pass 8 ", "y pass 7 a result is missing", "x pass 7 ", "y pass 7 a result is missing"}
	if !slices.Equal(got, want) {
		t.Errorf("scores are\n%q\nwant\n%q", got, want)
	}
	few := resultsFile(t, "few.bench", "block: 1", "BenchmarkActor/workload=a/impl=y-2 1 10 ns/op", "block: 2", `# hole: case=BenchmarkActor/workload=a/impl=y-2 block=2 reason="crashed"`)
	if s := targetstest.Evaluate(t, []targets.Target{one}, few).Scores[0]; s.Why != "too few blocks for an interval; a result is missing" {
		t.Errorf("of one block of two: %q", s.Why)
	}
}

// A ratio is to the base that the target names, or to nothing: not to what a
// comparison takes where that is missing.
func TestEvaluateWithoutBase(t *testing.T) {
	target := targets.Target{Bench: "Actor", Workload: "a", Metric: "ns/op", Base: "ref-r", Limit: 15, Impls: []string{"x"}, Where: targets.Anywhere}
	for name, lines := range map[string][]string{
		"no reference at all": {"BenchmarkActor/workload=a/impl=y-2 1 20 ns/op"},
		"another reference":   {"BenchmarkActor/workload=a/impl=ref-a-2 1 20 ns/op"},
		"an emulated board":   {"board: b", "emulated: yes", "clock-unit: insns", "clock-hz: 1000", "BenchmarkActor/workload=a/impl=ref-r-2 1 20 insns/op", "BenchmarkActor/workload=a/impl=x 1 10 insns/op"},
		"it takes nothing":    {"BenchmarkActor/workload=a/impl=ref-r-2 1 0 ns/op"},
		"of another workload": {"BenchmarkActor/workload=a/impl=ref-a-2 1 20 ns/op", "BenchmarkActor/workload=b/impl=ref-r-2 1 20 ns/op"},
	} {
		if !strings.Contains(strings.Join(lines, "\n"), "impl=x") {
			lines = append(lines, "BenchmarkActor/workload=a/impl=x-2 1 10 ns/op")
		}
		file := resultsFile(t, "x.bench", lines...)
		s := targetstest.Evaluate(t, []targets.Target{target}, file).Scores[0]
		if s.Outcome != targets.NotMeasured || s.Why != "no results of ref-r to compare to" {
			t.Errorf("%s: %s %v, %q", name, s.Outcome, s.Figure, s.Why)
		}
	}
}

func TestEvaluateErrors(t *testing.T) {
	for name, paths := range map[string][]string{
		"no file":         nil,
		"missing file":    {"../report/testdata/none.bench"},
		"nothing in it":   {resultsFile(t, "empty.bench", "PASS")},
		"second, missing": {"../report/testdata/targets.bench", "../report/testdata/none.bench"},
	} {
		if card, err := targetstest.EvaluateFiles(targetstest.Sample, paths, targets.EvaluateOptions{}); err == nil {
			t.Errorf("%s: %d scores and no error", name, len(card.Scores))
		}
	}
	if card, err := targetstest.EvaluateFiles(targetstest.Sample, []string{"../report/testdata/targets.bench"}, targets.EvaluateOptions{Filter: "("}); err == nil {
		t.Errorf("a filter that is none: %d scores and no error", len(card.Scores))
	}
	card := targetstest.Evaluate(t, targetstest.Sample, resultsFile(t, "torn.bench", "BenchmarkActor/workload=pingpong/impl=fast-2 1 30 ns/op", "BenchmarkActor/workload=pingpong/impl=fast-2 many ns/op"))
	if len(card.Problems) != 1 || !strings.Contains(card.Problems[0], "torn.bench:2:") {
		t.Errorf("a malformed line gave %q", card.Problems)
	}
}

// TestDoubt: what is said against a file is said of its figures, and of no others.
func TestDoubt(t *testing.T) {
	card := targetstest.Evaluate(t, boardTargets, "../report/testdata/side-host.bench", "../report/testdata/side-emulated.bench")
	card.Doubt("side-emulated.bench", "stale")
	card.Doubt("side-emulated.bench", "and old")
	for _, s := range card.Scores {
		if doubted := strings.HasSuffix(s.Why, "stale; and old"); doubted != (s.Measured() && s.Board == "tiny-qemu") {
			t.Errorf("%s, %s: %q", s.Subject(), s.Target.ID, s.Why)
		}
	}
}

// TestDoubtful: a figure whose interval holds the limit, and nothing else.
func TestDoubtful(t *testing.T) {
	for _, c := range []struct {
		outcome targets.Outcome
		lo, hi  float64
		want    bool
	}{
		{targets.Pass, 0.5, 2, true},
		{targets.Miss, 0.5, 2, true},
		{targets.Pass, 0.5, 1, false},
		{targets.Miss, 1.1, 2, false},
		{targets.NotMeasured, 0.5, 2, false},
		{targets.Skip, 0.5, 2, false},
		{targets.Pass, math.NaN(), math.NaN(), false},
	} {
		if got := (targets.Score{Target: targets.Target{Limit: 1}, Outcome: c.outcome, Lo: c.lo, Hi: c.hi}).Doubtful(); got != c.want {
			t.Errorf("%s, %v to %v: doubtful %t", c.outcome, c.lo, c.hi, got)
		}
	}
}

// Filter and level are those of the comparison.
func TestEvaluateOptions(t *testing.T) {
	card, err := targetstest.EvaluateFiles(targetstest.Sample, []string{"../report/testdata/targets.bench"}, targets.EvaluateOptions{Filter: "/workload:count", Alpha: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(card.Scores)
	whole := card
	card = card.Only(targets.Score.Measured)
	for i, s := range whole.Scores {
		if s.Target.ID != all[i].Target.ID || s.Impl != all[i].Impl {
			t.Fatalf("the card that some scores are taken of has changed: %+v", whole.Scores)
		}
	}
	if len(card.Scores) != 2 || card.Alpha != 0.5 {
		t.Errorf("%d figures of one workload at level %v: %+v", len(card.Scores), card.Alpha, card.Scores)
	}
	for _, s := range card.Scores {
		if s.Impl == "slow" && !(s.Lo > 1e9/2050 && s.Hi < 5e5) {
			t.Errorf("the 50%% interval is %v to %v", s.Lo, s.Hi)
		}
	}
}

// boardTargets are of hosts and boards.
var boardTargets = []targets.Target{
	{ID: "FR-014", Says: "1,000 messages within 1 s", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", Times: 1000, Unit: "ns", Limit: 1e9, Required: true, Where: targets.Anywhere},
	{ID: "V11/rate", Says: "a million messages a second", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", PerSecond: true, Unit: "msgs/s", Limit: 1e6, Bound: targets.AtLeast, Required: true, Where: targets.Host},
	{ID: "SC-001/board", Says: "within 20 ms", Bench: "Board", Workload: "first", Metric: "max-ns", Limit: 20e6, Required: true, Where: targets.Board},
}

// Targets are evaluated of hosts and each board by itself: what a host keeps says
// nothing of a board. An emulated board's instructions become times by its clock.
func TestEvaluateBoards(t *testing.T) {
	card := targetstest.Evaluate(t, boardTargets, "../report/testdata/side-host.bench", "../report/testdata/side-emulated.bench", "../report/testdata/side-board.bench")
	var got []string
	for _, s := range card.Scores {
		line := s.Subject() + " | " + s.Target.ID + " | " + string(s.Outcome)
		if s.Measured() {
			line += fmt.Sprintf(" | %.4g %s", s.Figure, s.Target.FigureUnit())
		} else {
			line += " | " + s.Why
		}
		got = append(got, line)
	}
	want := []string{
		"serial | FR-014 | pass | 3e+04 ns",
		"serial | V11/rate | pass | 3.333e+07 msgs/s",
		"serial on tiny-qemu, emulated | FR-014 | pass | 1.997e+07 ns",
		"channel on tiny-qemu, emulated | FR-014 | MISS | 1.28e+09 ns",
		"serial on tiny-qemu, emulated | SC-001/board | pass | 6.4e+04 max-ns",
		"channel on tiny-qemu, emulated | SC-001/board | not measured | no results of case=first",
		"serial on tiny | FR-014 | pass | 6e+06 ns",
		"no implementation on tiny | SC-001/board | not measured | no results of any implementation",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	names, scores := card.BySubject()
	if want := []string{"serial", "serial on tiny-qemu, emulated", "channel on tiny-qemu, emulated", "serial on tiny", "no implementation on tiny"}; !slices.Equal(names, want) {
		t.Errorf("subjects are %q, want %q", names, want)
	}
	if of := scores["serial on tiny-qemu, emulated"]; len(of) != 2 || of[0].Target.ID != "FR-014" || of[1].Target.ID != "SC-001/board" {
		t.Errorf("scores of a subject are %+v", of)
	}
	// The time of an emulator on its host decides nothing, nor what depends on it.
	slow := resultsFile(t, "slow.bench", "board: b", "emulated: yes", "clock-unit: ns", "clock-hz: 1000000000",
		"BenchmarkActor/workload=pingpong/impl=serial 1 312 ns/op 99 backlog 0 allocs/msg")
	for metric, want := range map[string]targets.Outcome{"ns/op": targets.Skip, "backlog": targets.Skip, "allocs/msg": targets.Pass} {
		target := targets.Target{ID: "x", Bench: "Actor", Workload: "pingpong", Metric: metric, Timed: metric == "backlog", Limit: 1e9, Where: targets.Board}
		if s := targetstest.Evaluate(t, []targets.Target{target}, slow).Scores[0]; s.Outcome != want || want == targets.Skip && !strings.Contains(s.Why, "emulator") {
			t.Errorf("%s: %s, %q", metric, s.Outcome, s.Why)
		}
	}
	// What is emulated is not the board of its name.
	real := resultsFile(t, "real.bench", "board: b", "BenchmarkActor/workload=pingpong/impl=serial 1 312 ns/op")
	if card := targetstest.Evaluate(t, boardTargets[:1], slow, real); len(card.Scores) != 2 || card.Scores[0].Outcome != targets.Skip || card.Scores[1].Outcome != targets.Pass {
		t.Errorf("a board and an emulated one of its name: %+v", card.Scores)
	}
	// Nor is an instruction a time where nothing is emulated.
	host := resultsFile(t, "host.bench", "clock-unit: insns", "clock-hz: 1000", "BenchmarkActor/workload=pingpong/impl=serial 1 312 insns/op")
	if s := targetstest.Evaluate(t, boardTargets[:1], host).Scores[0]; s.Measured() {
		t.Errorf("%s: %v", s.Outcome, s.Figure)
	}
	// Without the clock's rate an instruction is no time.
	for _, hz := range []string{"", "clock-hz: 0", "clock-hz: -1", "clock-hz: NaN", "clock-hz: many"} {
		noHz := resultsFile(t, "nohz.bench", "board: b", "emulated: yes", "clock-unit: insns", hz, "BenchmarkActor/workload=pingpong/impl=serial 1 312 insns/op")
		s := targetstest.Evaluate(t, boardTargets[:1], noHz).Scores[0]
		if s.Outcome != targets.NotMeasured || !strings.Contains(s.Why, "clock-hz") {
			t.Errorf("%q: %s: %s", hz, s.Outcome, s.Why)
		}
	}
}
