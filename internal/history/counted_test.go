package history

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// counted writes runs that counted, one of each commit c0, c1, …, a day after one another.
func counted(t *testing.T, toolchain []string, counts []float64, scatter float64) string {
	t.Helper()
	dir := t.TempDir()
	for i, v := range counts {
		var b strings.Builder
		fmt.Fprintf(&b, "machine: box\ncommit: c%d\ntoolchain: go version %s linux/amd64\ncounter: cachegrind of valgrind-3.19.0\nstarted: %s\nUnit instrs/op better=lower\npkg: example.com/m\n",
			i, toolchain[i%len(toolchain)], time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC).Format(time.RFC3339))
		for block := range 6 {
			fmt.Fprintf(&b, "block: %d\nBenchmarkX-1 100 %.4f instrs/op %d ns/op\n", block+1, v*(1+scatter*float64(block%3-1)), 100+10*i)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run%d.bench", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestCountsProve: two counts of instructions prove a step of half a percent, and no smaller one
// than the margin, nor one that the counts themselves scatter by. Another toolchain begins another
// series.
func TestCountsProve(t *testing.T) {
	one, two := []string{"go1.26.8"}, []string{"go1.26.8", "go1.27.4"}
	for _, test := range []struct {
		name       string
		toolchains []string
		counts     []float64
		scatter    float64
		steps      []int // points at which there is one
	}{
		{"half a percent", one, []float64{10_000, 10_002, 10_052}, 0.0003, []int{2}},
		{"less, too", one, []float64{10_000, 9_940}, 0.0003, []int{1}},
		{"within the margin", one, []float64{10_000, 10_020}, 0.0001, nil},
		{"by less than they scatter", one, []float64{10_000, 10_100}, 0.01, nil},
		{"of two toolchains", two, []float64{10_000, 10_100}, 0.0003, nil},
	} {
		h := read(t, counted(t, test.toolchains, test.counts, test.scatter), Options{})
		steps := h.Steps()
		if len(steps) != len(test.steps) {
			t.Errorf("%s: %d steps: %+v", test.name, len(steps), steps)
			continue
		}
		for _, s := range h.Series {
			if s.Points[0].Log != 0 {
				t.Errorf("%s: points are by %v off from the first", test.name, s.Points[0].Log)
			}
		}
		for i, at := range test.steps {
			s := steps[i].Step
			want := math.Log(test.counts[at] / test.counts[at-1])
			if s.State != Proven || s.At != at || math.Abs(s.Log-want) > 1e-4 || s.Old != fmt.Sprintf("c%d", at-1) || s.New != fmt.Sprintf("c%d", at) {
				t.Errorf("%s: %+v", test.name, s)
			}
		}
	}
}

// TestCountsStandInOrder: counts are divided by that of the first commit, whenever it was measured; what
// another tool counts is another series, and of two versions the old one is the reference.
func TestCountsStandInOrder(t *testing.T) {
	dir := counted(t, []string{"go1.26.8"}, []float64{10_000, 9_000, 8_000}, 0)
	h := read(t, dir, Options{Order: map[string]int{"c2": 0, "c1": 1, "c0": 2}})
	if p := h.Series[0].Points; p[0].Log != 0 || math.Abs(p[2].Log-math.Log(1.25)) > 1e-6 || h.Runs[p[0].Run].Commit != "c2" {
		t.Errorf("points are %+v", p)
	}
	change := func(run int, old, new string) {
		t.Helper()
		path := filepath.Join(dir, fmt.Sprintf("run%d.bench", run))
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, new)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change(1, "cachegrind of", "perf of")
	change(2, "commit: c2\n", "old: x\nold-commit: c0\nnew: y\nnew-commit: c2\n")
	change(2, "BenchmarkX-1 100 ", "side: old\nBenchmarkX-1 100 10000 instrs/op 7 ns/op\nside: new\nBenchmarkX-1 100 ")
	h = read(t, dir, Options{})
	var got []string
	for _, s := range h.Series {
		got = append(got, fmt.Sprintf("%s %t %.4f", s.Reference, s.Counted, s.Points[0].Log))
	}
	if fmt.Sprint(got) != "[cachegrind of valgrind-3.19.0, go1.26.8 linux/amd64 true 0.0000 perf of valgrind-3.19.0, go1.26.8 linux/amd64 true 0.0000 c0 false -0.2231]" {
		t.Errorf("series are %q", got)
	}
}

// TestSureErrors: counts that scatter prove what lies six standard errors apart, of both points.
func TestSureErrors(t *testing.T) {
	for _, c := range []struct {
		size, was, is float64
		steps         int
	}{
		{0.02, 0.0033, 0, 1}, {0.02, 0.0034, 0, 0}, {-0.02, 0, 0.0033, 1}, {-0.02, 0, 0.0034, 0}, {0.02, 0.0023, 0.0023, 1}, {0.02, 0.0024, 0.0024, 0},
	} {
		h := historyOf([]float64{0, c.size})
		s := &h.Series[0]
		s.Counted, s.Points[0].SE, s.Points[1].SE = true, c.was, c.is
		if h.suspect(); len(h.Steps()) != c.steps {
			t.Errorf("%+v: steps are %+v", c, s.Pieces[0].Steps)
		}
	}
}
