package history

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// A written run is a results file to be written: blocks of two benchmarks, of which the second
// takes ratio times as long as the first, its reference.
type written struct {
	commit string
	dirty  bool
	config string // further lines of it
	ratio  float64
	blocks int // 4 if it is 0
	old    string
	anchor float64
	pkg    string // "example.com/m" if it is ""
	name   string // "X" if it is ""
}

// folder writes runs into a folder, a day after one another, by names that go the other way.
func folder(t *testing.T, runs ...written) string {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 1))
	for i, w := range runs {
		var b strings.Builder
		started := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		if !strings.Contains(w.config, "machine:") {
			w.config += "machine: box\n"
		}
		if w.old == "" {
			fmt.Fprintf(&b, "commit: %s\ndirty: %v\n", w.commit, w.dirty)
		} else {
			fmt.Fprintf(&b, "old: x\nold-commit: %s\nold-dirty: false\nnew: y\nnew-commit: %s\nnew-dirty: %v\n", w.old, w.commit, w.dirty)
		}
		fmt.Fprintf(&b, "%sstarted: %s\nUnit ns/op better=lower\npkg: %s\n", w.config, started.Format(time.RFC3339), cmp.Or(w.pkg, "example.com/m"))
		for block := range max(w.blocks, 4*(1-min(1, w.blocks))) {
			moment := 100 * (1 + 0.2*r.Float64()) // of the machine, which both have
			fmt.Fprintf(&b, "block: %d\n", block+1)
			if w.anchor > 0 {
				fmt.Fprintf(&b, "anchor: %.3f %.3f\n", w.anchor, 4*w.anchor)
			}
			own := moment * w.ratio * math.Exp(0.001*r.NormFloat64())
			if w.old == "" {
				fmt.Fprintf(&b, "BenchmarkX/impl=ref-a/n=1-2 10 %.6f ns/op\nBenchmarkX/impl=b/n=1-2 10 %.6f ns/op\n", moment, own)
			} else {
				fmt.Fprintf(&b, "side: old\nBenchmarkX/impl=b/n=1-2 10 %.6f ns/op\nside: new\nBenchmarkX/impl=b/n=1-2 10 %.6f ns/op\n", moment, own)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run%03d.bench", 999-i)), []byte(strings.ReplaceAll(b.String(), "BenchmarkX", "Benchmark"+cmp.Or(w.name, "X"))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// commits are runs of commits c0, c1, … with these ratios.
func commits(ratios ...float64) (runs []written) {
	for i, r := range ratios {
		runs = append(runs, written{commit: fmt.Sprintf("c%d", i), ratio: r})
	}
	return runs
}

// stepped are ratios that scatter by 0.2 %, and are larger by size from at on.
func stepped(n, at int, size float64) []float64 {
	r := rand.New(rand.NewPCG(11, uint64(n)))
	ratios := make([]float64, n)
	for i := range ratios {
		ratios[i] = 2 * math.Exp(0.002*r.NormFloat64())
		if i >= at {
			ratios[i] *= 1 + size
		}
	}
	return ratios
}

func read(t *testing.T, dir string, o Options) *History {
	t.Helper()
	h, err := Read([]string{dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// only returns the only series that has a reference.
func only(t *testing.T, h *History) *Series {
	t.Helper()
	if len(h.Series) != 1 || h.Series[0].Reference == "" {
		t.Fatalf("series: %+v, want one with a reference", h.Series)
	}
	return &h.Series[0]
}

// TestSeries: a series is the ratio to the reference of the same run, in the order of time.
func TestSeries(t *testing.T) {
	dir := folder(t, commits(2, 3, 4)...)
	for bench, want := range map[string]int{"^BenchmarkX$/^impl=b$": 1, "^BenchmarkX$/^impl=c$": 0} {
		if h := read(t, dir, Options{Bench: bench}); len(h.Series) != want {
			t.Errorf("of %s there are %d series, want %d", bench, len(h.Series), want)
		}
	}
	h := read(t, dir, Options{})
	s := only(t, h)
	if s.Machine != "box" || s.Pkg != "example.com/m" || s.Name != "X/impl=b/n=1-2" || s.Reference != "ref-a" || s.Unit != "ns/op" {
		t.Errorf("series is %+v", s)
	}
	for i, p := range s.Points {
		if math.Abs(math.Exp(p.Log)-float64(i+2)) > 0.01 || !(p.SE > 0 && p.SE < 0.005) || p.Blocks != 4 || p.Value < 150 {
			t.Errorf("point %d is %+v", i, p)
		}
		if h.Runs[p.Run].Commit != fmt.Sprintf("c%d", i) {
			t.Errorf("point %d is of %s", i, h.Runs[p.Run].Commit)
		}
	}
	if len(s.Pieces) != 1 || !math.IsInf(s.Pieces[0].Detectable, 1) {
		t.Errorf("pieces are %+v; three points show nothing", s.Pieces)
	}
}

// TestSeriesOfVersions: what was compared to one old version again and again is a series, and
// its reference is that commit. A dirty one is none.
func TestSeriesOfVersions(t *testing.T) {
	runs := []written{{commit: "n1", old: "base", ratio: 1.1}, {commit: "n2", old: "base", ratio: 1.2}, {commit: "n3", old: "other", ratio: 1.3}}
	h := read(t, folder(t, runs...), Options{})
	if len(h.Series) != 2 || h.Series[0].Reference != "base" || len(h.Series[0].Points) != 2 || h.Series[1].Reference != "other" {
		t.Fatalf("series are %+v", h.Series)
	}
	if got := math.Exp(h.Series[0].Points[1].Log); math.Abs(got-1.2) > 0.01 {
		t.Errorf("ratio %v, want 1.2", got)
	}
}

// TestSeriesOfBuilds: two builds of one commit are no point of a series, and a toolchain that one
// of two commits asks for is one of the circumstances of the new one.
func TestSeriesOfBuilds(t *testing.T) {
	runs := []written{
		{commit: "n1", old: "base", ratio: 1.1, config: "toolchain: go1\n"},
		{commit: "n2", old: "base", ratio: 1.1, config: "old-toolchain: go1\nnew-toolchain: go2\n"},
		{commit: "base", old: "base", ratio: 1.5, config: "old-toolchain: go1\nnew-toolchain: go2\nold-go: go1\nnew-go: go2\n"},
		{commit: "base", old: "base", ratio: 1.5, config: "toolchain: go2\nnew-gogc: 50\n"},
	}
	const source = `# plan: {"sources":{"example.com/m new":"%d"}}` + "\n"
	runs[0].config += fmt.Sprintf(source, 11)
	runs[1].config += fmt.Sprintf(source, 22)
	s := only(t, read(t, folder(t, runs...), Options{}))
	if len(s.Points) != 2 || len(s.Pieces) != 1 || len(s.Pieces[0].Marks) != 1 || !slices.Equal(s.Pieces[0].Marks[0].What, []string{"toolchain: go1 → go2", "source of the workload and its references: 11 → 22"}) {
		t.Errorf("points %+v, pieces %+v", s.Points, s.Pieces)
	}
}

// TestWhatIsASeries: what has a time is one, and what has that of a reference in the same blocks is
// a ratio, of as many blocks.
func TestWhatIsASeries(t *testing.T) {
	const ref, b = "BenchmarkX/impl=ref-a 1 4 ns/op\n", "BenchmarkX/impl=b 1 5 ns/op\n"
	for lines, want := range map[string]string{
		"BenchmarkX/impl=b 1 5 allocs/op\n":                                    "",
		ref + "BenchmarkX/impl=b 1 5 allocs/op\nBenchmarkY/impl=b 1 5 ns/op\n": "Y/impl=b//1",
		ref + "BenchmarkX/impl=b 1 5 allocs/op\n":                              "",
		"block: 1\n" + b + "BenchmarkX/impl=c 1 4 ns/op\n":                     "X/impl=b//1 X/impl=c//1",
		ref + b: "X/impl=b//1", // in no block
		"block: 1\n" + ref + b + "block: 2\n" + b:                            "X/impl=b/ref-a/1",
		"block: 1\n" + ref + "block: 2\n" + ref + b:                          "X/impl=b/ref-a/1",
		"block: 1\n" + ref + b + "block: 2\n" + ref + "block: 3\n" + ref + b: "X/impl=b/ref-a/2",
	} {
		path := filepath.Join(t.TempDir(), "x.bench")
		if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range read(t, path, Options{}).Series {
			got = append(got, fmt.Sprintf("%s/%s/%d", s.Name, s.Reference, s.Points[0].Blocks))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: series %q, want %q", lines, got, want)
		}
	}
}

// TestAbsoluteTimesAreNotJudged: what has no reference is a series without pieces.
func TestAbsoluteTimesAreNotJudged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "named.txt")
	if err := os.WriteFile(path, []byte("machine: box\nblock: 1\nBenchmarkA 1 5 ns/op\nblock: 2\nBenchmarkA 1 5 ns/op\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := read(t, path, Options{})
	if len(h.Series) != 1 || len(h.Series[0].Pieces) != 0 || h.Series[0].Points[0].Value != 5 {
		t.Errorf("series are %+v", h.Series)
	}
}

// TestCuts: a series begins anew on another machine. Where something else changes that a ratio
// may depend on it goes on, and says what.
func TestCuts(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"toolchain: go1\n", "toolchain: go2\n", "toolchain: go1 → go2"},
		{"kernel: linux 1\n", "kernel: linux 2\n", "kernel: linux 1 → linux 2"},
		{"cpu-model: A\n", "cpu-model: B\n", "machine, cpu-model: A → B"},
		{"gogc: 50\n", "", "GOGC: 50 → not on record"},
		{`# plan: {"sources":{"example.com/m":"11"}}` + "\n", `# plan: {"sources":{"example.com/m":"22"}}` + "\n", "source of the workload and its references: 11 → 22"},
		{"driven: process\n", "driven: session\n", "way of measuring: process → session"},
		{"go: 1.25\n", "go: 1.26\n", ""}, // which says what toolchain there has to be
	} {
		runs := commits(2, 2, 2, 2)
		for i := range runs {
			runs[i].config = c.before
			if i >= 2 {
				runs[i].config = c.after
			}
		}
		s := only(t, read(t, folder(t, runs...), Options{}))
		if strings.HasPrefix(c.want, "machine, ") {
			if len(s.Pieces) != 2 || s.Pieces[0].End != 2 || s.Pieces[1].First != 2 || fmt.Sprint(s.Pieces[1].Cut) != "["+c.want+"]" {
				t.Errorf("pieces are %+v, want a cut after two points: %s", s.Pieces, c.want)
			}
		} else if len(s.Pieces) != 1 || fmt.Sprint(s.Pieces[0].Marks) != strings.Replace("[{2 ["+c.want+"]}]", "{2 []}", "", 1) {
			t.Errorf("pieces are %+v, want one with a mark after two points: %s", s.Pieces, c.want)
		}
	}
	if s := only(t, read(t, folder(t, commits(2, 2)...), Options{})); len(s.Pieces) != 1 {
		t.Errorf("pieces are %+v of runs that do not differ", s.Pieces)
	}
	runs := commits(2, 2)
	var want []string
	for _, key := range []string{"cpu-model", "cores", "cpu-quota", "memory", "virtual", "governor", "emulated", "chip", "emulator"} {
		runs[0].config += key + ": 1\n"
		runs[1].config += key + ": 2\n"
		want = append(want, "machine, "+key+": 1 → 2")
	}
	if s := only(t, read(t, folder(t, runs...), Options{})); len(s.Pieces) != 2 || !slices.Equal(s.Pieces[1].Cut, want) {
		t.Errorf("pieces are %+v, want a cut by %v", s.Pieces, want)
	}
}

// TestMachinesApart: ratios of two machines are two series.
func TestMachinesApart(t *testing.T) {
	runs := commits(2, 2)
	runs[1].config = "machine: barn\n"
	if h := read(t, folder(t, runs...), Options{}); len(h.Series) != 2 || h.Series[0].Machine != "barn" || h.Series[0].Points[0].Run != 1 || fmt.Sprint(h.Machines()) != "[barn box]" {
		t.Errorf("series are %+v", h.Series)
	}
	if h := read(t, folder(t, written{ratio: 2}, written{ratio: 2, pkg: "example.com/other"}), Options{}); len(h.Series) != 2 || h.Series[0].Pkg == h.Series[1].Pkg {
		t.Errorf("series of two packages are %+v", h.Series)
	}
	runs[0].config = "machine:\nboard: pico\n"
	if h := read(t, folder(t, append(runs, written{config: "machine:\n", ratio: 2}, written{config: "machine: shed\nboard: pico\n", ratio: 2})...), Options{}); fmt.Sprint(h.Machines()) != "[barn pico shed unnamed machine]" {
		t.Errorf("machines are %v", h.Machines())
	}
	if h := read(t, folder(t, runs...), Options{Machine: "barn"}); len(h.Series) != 1 || h.Series[0].Machine != "barn" {
		t.Errorf("series of barn are %+v", h.Series)
	}
}

// TestOtherMachineOfTheName: a run on a machine that is not as fast as it was takes no part.
func TestOtherMachineOfTheName(t *testing.T) {
	runs := commits(2, 2, 2, 2, 9, 2, 2)
	for i := range runs {
		runs[i].anchor = []float64{1.50, 1.52, 1.49, 1.51, 1.20, 1.50, 1.48}[i]
	}
	h := read(t, folder(t, runs...), Options{})
	for i, r := range h.Runs {
		if apart := r.Apart != ""; apart != (i == 4) {
			t.Errorf("run %d: apart %q", i, r.Apart)
		}
	}
	if want := "the machine was another one, or busy: its calibration loops took 0.80 times as long as in its other runs"; h.Runs[4].Apart != want {
		t.Errorf("said %q", h.Runs[4].Apart)
	}
	s := only(t, h)
	if got := h.Members(s, s.Pieces[0]); len(s.Pieces) != 1 || len(got) != 6 {
		t.Errorf("points %v of %+v take part", got, s.Pieces)
	}
	if len(h.Notes) != 0 {
		t.Errorf("notes: %v", h.Notes)
	}
	runs[2].anchor = 0
	runs = append(runs, written{anchor: 1, ratio: 2, config: "machine: barn\n"})
	if h := read(t, folder(t, runs...), Options{}); len(h.Notes) != 1 || !strings.Contains(h.Notes[0], "1 of 7 runs have no anchor") {
		t.Errorf("notes: %v", h.Notes)
	}
}

// TestOthersAreNoHistory: calibrations and truth suites are left out, and said to be.
func TestOthersAreNoHistory(t *testing.T) {
	runs := commits(2, 2, 2, 2, 2, 2, 2)
	runs[0].config = "no-trial: 1\n"
	for i, key := range []string{"trial", "slow", "truth", "good-commit", "parent-commit", "from-commit"} {
		runs[i+1].config = key + ": 1\n"
	}
	dir := folder(t, runs...)
	if err := os.WriteFile(filepath.Join(dir, "none.bench"), []byte("PASS\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := Read([]string{dir, dir}, Options{})
	if err != nil || len(h.Runs) != 1 || len(h.Others) != 7 || h.Files != 8 {
		t.Errorf("%d files, %d runs, others %v, %v", h.Files, len(h.Runs), h.Others, err)
	}
	if _, err := Read([]string{dir, filepath.Join(dir, "none")}, Options{}); err == nil {
		t.Error("a folder that is not there is none of an error")
	}
	if _, err := Read([]string{folder(t, runs[1:]...)}, Options{}); err == nil || !strings.Contains(err.Error(), "no results of a run") {
		t.Errorf("of others only: %v", err)
	}
	if _, err := Read([]string{dir}, Options{Bench: "("}); err == nil {
		t.Error("a pattern that is none is no error")
	}
	if _, err := Read([]string{t.TempDir()}, Options{}); err == nil || !strings.Contains(err.Error(), "benchrun run") {
		t.Errorf("of an empty folder: %v", err)
	}
}

// TestDamaged: a file that is not what its run wrote takes no part, and proves nothing; each is said.
func TestDamaged(t *testing.T) {
	runs := append(commits(2, 2, 2), written{commit: "c2", old: "c1", ratio: 2, config: "proves: history level=0.001\n"})
	for i := 1; i < 4; i += 2 {
		runs[i].config += record.BlockEnd + "0\n"
	}
	h := read(t, folder(t, runs...), Options{})
	notes := strings.Join(h.Notes[1:], "\n") // the first is of anchors
	if s := only(t, h); len(s.Points) != 2 || h.Runs[1].Apart == "" || !strings.Contains(notes, "run998.bench takes no part: line 1") || !strings.Contains(notes, "run996.bench proves nothing: line 1") {
		t.Errorf("%d points, notes %s", len(s.Points), notes)
	}
}

// TestSuspected: a step is suspected, with the commits between which it lies.
func TestSuspected(t *testing.T) {
	h := read(t, folder(t, commits(stepped(24, 12, 0.02)...)...), Options{})
	steps := h.Steps()
	if len(steps) != 1 {
		t.Fatalf("steps are %+v", steps)
	}
	s := steps[0].Step
	if s.At != 12 || s.State != Suspected || s.Adjusted > 0.05 || math.Abs(math.Expm1(s.Log)-0.02) > 0.003 || s.Ended != 0 {
		t.Errorf("step is %+v", s)
	}
	if s.Lo > 12 || s.Hi < 12 || s.Before != s.Lo-1 || s.Old != fmt.Sprintf("c%d", s.Before) || s.New != fmt.Sprintf("c%d", s.Hi) || s.Unprovable != "" {
		t.Errorf("step lies between %+v", s)
	}
	p := steps[0].Piece
	if !(p.Detectable > 0.001 && p.Detectable < 0.01) {
		t.Errorf("a step of %v would have been seen, of noise %v", p.Detectable, p.Noise)
	}
	want := Request{Machine: "box", Pkg: "example.com/m", Old: s.Old, New: s.New, Largest: s.Log}
	if r := h.Requests(); len(r) != 1 || r[0].Old != want.Old || r[0].New != want.New || r[0].Pkg != want.Pkg || r[0].Pattern() != "^BenchmarkX$/^impl=b$/^n=1$" {
		t.Errorf("requests are %+v", h.Requests())
	}
}

// TestTwoSteps: behind one step the next is looked for, and one that was taken back is two
// ends of one.
func TestTwoSteps(t *testing.T) {
	ratios := stepped(45, 15, 0.05)
	for i := 30; i < 45; i++ {
		ratios[i] *= 1.05
	}
	h := read(t, folder(t, commits(ratios...)...), Options{})
	steps := h.Series[0].Pieces[0].Steps
	if len(steps) != 2 || steps[0].At != 15 || steps[1].At != 30 {
		t.Errorf("steps are %+v", steps)
	}
	for _, s := range h.Steps() { // a comparison beyond the other one says nothing of either
		for _, c := range []struct{ old, now, at int }{{10, 20, 15}, {0, 29, 15}, {20, 35, 30}, {15, 44, 30}, {29, 30, 30}, {10, 35, 0}, {16, 29, 0}, {31, 44, 0}} {
			if got := h.spans(s, fmt.Sprintf("c%d", c.old), fmt.Sprintf("c%d", c.now)); got != (s.Step.At == c.at) {
				t.Errorf("%+v is of the step at %d: %t", c, s.Step.At, got)
			}
		}
	}
	ratios = stepped(45, 15, 0.05)
	for i := 30; i < 45; i++ {
		ratios[i] /= 1.05
	}
	steps = read(t, folder(t, commits(ratios...)...), Options{}).Series[0].Pieces[0].Steps
	if len(steps) != 1 || steps[0].At != 15 || steps[0].Ended != 30 || steps[0].Before != steps[0].Lo-1 {
		t.Errorf("steps are %+v", steps)
	}
}

// TestChangedWithIt: a step where circumstances changed says so, and a comparison of both sides
// tells what it was; not where the benchmark itself is another one. One elsewhere is no less
// suspected, and one between two machines is none.
func TestChangedWithIt(t *testing.T) {
	const source = `# plan: {"sources":{"example.com/m":"%d"}}` + "\n"
	for _, c := range []struct {
		before, after string
		at            int // where it changes
		with          string
		state         State
		steps         int
	}{
		{"", "toolchain: go2\n", 12, "toolchain: not on record → go2", Suspected, 1},
		{"kernel: linux 1\n", "kernel: linux 2\n", 12, "kernel: linux 1 → linux 2", Suspected, 1},
		{"kernel: linux 1\n", "kernel: linux 2\n", 6, "", Suspected, 1},
		{"kernel: linux 1\n", "kernel: linux 2\n", 11, "", Suspected, 1},
		{"kernel: linux 1\n", "kernel: linux 2\n", 13, "", Suspected, 1},
		{"driven: process\n", "driven: session\n", 12, "way of measuring: process → session", Suspected, 1},
		{fmt.Sprintf(source, 11), fmt.Sprintf(source, 22), 12, "source of the workload and its references: 11 → 22", Explained, 1},
		{fmt.Sprintf(source, 11), fmt.Sprintf(source, 22) + "driven: session\n", 12, "source of the workload and its references: 11 → 22; way of measuring: process → session", Explained, 1},
		{fmt.Sprintf(source, 11), fmt.Sprintf(source, 22), 18, "", Suspected, 1},
		{"cpu-model: A\n", "cpu-model: B\n", 12, "", "", 0},
	} {
		runs := commits(stepped(24, 12, 0.1)...)
		for i := range runs {
			if runs[i].config = c.before; i >= c.at {
				runs[i].config = c.after
			}
		}
		h := read(t, folder(t, runs...), Options{})
		steps := h.Steps()
		if len(steps) != c.steps {
			t.Errorf("%s: steps are %+v", c.after, steps)
			continue
		}
		for _, s := range steps {
			if s.Step.At != 12 || strings.Join(s.Step.With, "; ") != c.with || s.Step.State != c.state || (s.Step.Unprovable != "") != (c.state == Explained) {
				t.Errorf("%s from %d on: %+v, want it at 12 with %q, %s", c.after, c.at, s.Step, c.with, c.state)
			}
		}
		if asked := len(h.Requests()) == 1; asked != (c.state == Suspected) {
			t.Errorf("%s: requests are %+v", c.after, h.Requests())
		}
	}
}

// TestUnprovable: a step between two runs of one commit is not the code's, and what was not
// committed cannot be measured again.
func TestUnprovable(t *testing.T) {
	for want, change := range map[string]func(w *written){
		"both sides are the same commit, so it was not the code":   func(w *written) { w.commit = "same" },
		"a side was measured with changes that were not committed": func(w *written) { w.dirty = true },
		"the results do not say of which commits they are":         func(w *written) { w.commit = "" },
	} {
		for _, sides := range [][2]int{{0, 24}, {0, 12}, {12, 24}} { // both, or one alone
			runs := commits(stepped(24, 12, 0.1)...)
			for i := sides[0]; i < sides[1]; i++ {
				change(&runs[i])
			}
			if sides != [2]int{0, 24} && runs[sides[0]].commit == "same" {
				continue // which differ
			}
			h := read(t, folder(t, runs...), Options{})
			if s := h.Steps(); len(s) != 1 || s[0].Step.Unprovable != want || len(h.Requests()) != 0 {
				t.Errorf("runs %v: steps are %+v, want one of which %s", sides, s, want)
			}
		}
	}
}

// TestOrderOfCommits: an old commit that is measured late stands where it belongs.
func TestOrderOfCommits(t *testing.T) {
	runs := commits(stepped(24, 12, 0.1)...)
	// In time half of the new commits ran among the old ones: without their order there is no step.
	for i := range 6 {
		runs[i], runs[i+12] = runs[i+12], runs[i]
	}
	order := make(map[string]int)
	for i := range runs {
		order[fmt.Sprintf("c%d", i)] = i
	}
	dir := folder(t, runs...)
	s := read(t, dir, Options{Order: order}).Steps()
	if len(s) != 1 || s[0].Step.At != 12 || s[0].Step.Log < 0 {
		t.Errorf("steps are %+v", s)
	}
	for _, inTime := range read(t, dir, Options{}).Steps() {
		if inTime.Step.At == 12 {
			t.Errorf("in the order of time the step is at the same commit: %+v", inTime.Step)
		}
	}
	delete(order, "c5")
	h := read(t, dir, Options{Order: order})
	if got := h.Runs[h.Series[0].Points[2].Run].Commit; got != "c14" {
		t.Errorf("of a commit that is not known the series is not in the order of time: its third point is %s", got)
	}
}

// TestProofs: a comparison of both sides that was measured for it decides what a step is.
func TestProofs(t *testing.T) {
	const proves = "proves: history level=0.001\n"
	for _, c := range []struct {
		name  string
		proof written
		want  State
	}{
		{"proven", written{commit: "c14", old: "c9", ratio: 1.1, config: proves, blocks: 12}, Proven},
		{"another way", written{commit: "c14", old: "c9", ratio: 0.9, config: proves, blocks: 12}, Refuted},
		{"same", written{commit: "c14", old: "c9", ratio: 1, config: proves, blocks: 12}, Refuted},
		{"too few blocks", written{commit: "c14", old: "c9", ratio: 1.1, config: proves, blocks: 2}, Undecided},
		{"not so surely", written{commit: "c14", old: "c9", ratio: 1.1, config: "proves: history level=1e-40\n", blocks: 12}, Undecided},
		{"not beside it", written{commit: "c20", old: "c14", ratio: 1.1, config: proves, blocks: 12}, Suspected},
		{"from the last before it to the first", written{commit: "c12", old: "c11", ratio: 1.1, config: proves, blocks: 12}, Proven},
		{"behind it", written{commit: "c20", old: "c12", ratio: 1.1, config: proves, blocks: 12}, Suspected},
		{"before it", written{commit: "c11", old: "c4", ratio: 1.1, config: proves, blocks: 12}, Suspected},
		{"of another benchmark", written{commit: "c14", old: "c9", ratio: 1.1, config: proves, blocks: 12, name: "Y"}, Suspected},
		{"of another package", written{commit: "c14", old: "c9", ratio: 1.1, config: proves, blocks: 12, pkg: "example.com/other"}, Suspected},
		{"not for it", written{commit: "c14", old: "c9", ratio: 1.1, blocks: 12}, Suspected},
		{"not committed", written{commit: "c14", old: "c9", dirty: true, ratio: 1.1, config: proves, blocks: 12}, Suspected},
		{"without sides", written{commit: "c14", ratio: 1.1, config: proves + "old: x\nold-commit: c9\nnew-commit: c14\n", blocks: 12}, Suspected},
		{"of what was not committed", written{commit: "c14", old: "c9", ratio: 1.1, config: proves + "old-dirty: true\n", blocks: 12}, Suspected},
		{"other machine", written{commit: "c14", old: "c9", ratio: 1.1, config: proves + "machine: barn\n", blocks: 12}, Suspected},
	} {
		runs := append(commits(stepped(24, 12, 0.1)...), c.proof)
		runs[3].commit = "" // as the old side of what was not committed
		h := read(t, folder(t, runs...), Options{})
		var of []Suspicion
		for _, s := range h.Steps() {
			if s.Series.Reference == "ref-a" {
				of = append(of, s)
			}
		}
		if len(of) != 1 || of[0].Step.State != c.want {
			t.Errorf("%s: steps are %+v, want %s", c.name, of, c.want)
			continue
		}
		if p := of[0].Step.Proof; (p == nil) != (c.want == Suspected) || c.want == Proven && !(p.Lo < p.Ratio && p.Ratio < p.Hi && p.Level == 0.001) {
			t.Errorf("%s: proof is %+v", c.name, p)
		}
		if own := len(h.Series[0].Points); own != 24 || strings.Contains(c.proof.config, "proves") && len(h.Series) != 1 {
			t.Errorf("%s: %d series, the first of %d points: a proof is a point of none", c.name, len(h.Series), own)
		}
		if asked := len(h.Requests()) > 0; asked != (c.want == Suspected) {
			t.Errorf("%s: requests are %+v", c.name, h.Requests())
		}
	}
}

// TestProofOfTwoPackages: benchmarks of one name are told apart by their packages.
func TestProofOfTwoPackages(t *testing.T) {
	dir := folder(t, append(commits(stepped(24, 12, 0.1)...), written{commit: "c14", old: "c9", ratio: 1.1, config: "proves: history level=0.001\n", blocks: 12})...)
	path := filepath.Join(dir, "run975.bench")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := string(data[bytes.Index(data, []byte("pkg: ")):])
	data = append(data, strings.ReplaceAll(other, "example.com/m", "example.com/z")...)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if steps := read(t, dir, Options{}).Steps(); len(steps) != 1 || steps[0].Step.State != Proven {
		t.Errorf("steps are %+v", steps)
	}
}

// TestProofLevel: each comparison of a year spends its part of the level.
func TestProofLevel(t *testing.T) {
	runs := commits(2, 2, 2)
	runs[0] = written{commit: "b", old: "a", ratio: 1, config: "proves: history level=0.001\n"}
	runs[2] = runs[0]
	h := read(t, folder(t, runs...), Options{})
	for _, c := range []struct {
		days, left int
	}{{3, proofsPerYear - 2}, {366, proofsPerYear - 1}, {400, proofsPerYear}} {
		level, left := h.ProofLevel("box", time.Date(2026, 1, 1, 13, 0, 0, 0, time.UTC).AddDate(0, 0, c.days))
		if left != c.left || math.Abs(level*proofsPerYear-compare.DefaultAlpha) > 1e-12 {
			t.Errorf("after %d days: level %v, %d left", c.days, level, left)
		}
	}
	if _, left := h.ProofLevel("box", h.Runs[0].Started.Add(year)); left != proofsPerYear-1 {
		t.Errorf("a year after the first %d are left", left)
	}
	if _, left := h.ProofLevel("barn", h.Runs[0].Started); left != proofsPerYear {
		t.Errorf("of another machine %d are left", left)
	}
	for proves, bad := range map[string]bool{"something": true, "history level=0": true, "history level=1": true, "history level=x": true, "history": true, "history level=0.999": false} {
		w := written{commit: "b", old: "a", ratio: 1, config: "proves: " + proves + "\n"}
		if h := read(t, folder(t, append(commits(2), w)...), Options{}); strings.Contains(strings.Join(h.Notes, "\n"), "proves nothing") != bad {
			t.Errorf("%s: notes %v", proves, h.Notes)
		}
	}
}

// TestFamily: a step that is plain enough alone is none among many series, of which one or
// the other looks like that by chance.
func TestFamily(t *testing.T) {
	series := func(step float64) []float64 {
		r := rand.New(rand.NewPCG(4, 4))
		d := make([]float64, 20)
		for i := range d {
			if d[i] = r.NormFloat64(); i >= 10 {
				d[i] += step
			}
		}
		return d
	}
	alone := historyOf(series(1.8))
	alone.suspect()
	steps := alone.Steps()
	if len(steps) != 1 || steps[0].Step.P < 0.001 {
		t.Fatalf("alone: %+v, want a step that is not too plain", steps)
	}
	r := rand.New(rand.NewPCG(6, 6))
	all := [][]float64{series(1.8)}
	for range 60 {
		d := make([]float64, 20)
		for i := range d {
			d[i] = r.NormFloat64()
		}
		all = append(all, d)
	}
	among := historyOf(all...)
	among.suspect()
	if steps := among.Steps(); len(steps) > 0 {
		t.Errorf("among 61 series: %+v", steps)
	}
	flat := historyOf([]float64{1, 2, 1, 2, 1, 2, 1, 2, 1})
	flat.suspect()
	if p := flat.Series[0].Pieces[0]; p.Detectable != stats.DetectableStep(4, 5, p.Noise, flat.Alpha, flat.Alpha) {
		t.Errorf("in the middle of nine points a step of %v could have been seen", p.Detectable)
	}
	two := historyOf([]float64{1, 2, 1, 2, 1, 2, 1, 2, 1}, []float64{1, 2, 1, 2, 1, 2, 1, 2, 1}) // each a family of its own
	two.Series[1].Machine, two.Runs = "barn", append(two.Runs, Run{Machine: "barn"})
	two.suspect()
	for _, s := range two.Series {
		if p := s.Pieces[0]; p.Detectable != flat.Series[0].Pieces[0].Detectable {
			t.Errorf("of %s beside another machine a step of %v could have been seen", s.Machine, p.Detectable)
		}
	}
	if a, b := alone.Series[0].Pieces[0].Detectable, among.Series[0].Pieces[0].Detectable; !(a < b) {
		t.Errorf("alone a step of %v could have been seen, and among others one of %v", a, b)
	}
}
