package why

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

// leanAndFat is a package with two benchmarks that differ by an allocation of 64
// bytes, after a preparation that allocates much.
var leanAndFat = map[string]string{
	"go.mod": "module example.com/leanfat\n\ngo 1.26\n",
	"x_test.go": `package leanfat

import "testing"

var sink, prepared []byte

func BenchmarkX(b *testing.B) {
	b.Run("impl=lean", func(b *testing.B) {
		n := 0
		for b.Loop() {
			for i := range 200 {
				n += i
			}
		}
		_ = n
	})
	b.Run("impl=fat", func(b *testing.B) {
		for range 1000 {
			prepared = make([]byte, 4096)
		}
		for b.Loop() {
			sink = make([]byte, 64)
		}
	})
	b.Run("impl=wrong", func(b *testing.B) { b.Fatal("wrong result") })
}
`,
}

func buildLeanAndFat(t *testing.T) testbin.Binary {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a package")
	}
	dir, out := t.TempDir(), t.TempDir()
	for name, text := range leanAndFat {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	subjects, problems, err := testbin.Build(context.Background(), dir, out, []string{"."}, testbin.BuildOptions{Driven: true})
	if err != nil || len(problems) > 0 || len(subjects) != 1 {
		t.Fatal(err, problems, subjects)
	}
	return subjects[0]
}

func leanFatPair(s testbin.Binary, this string) Pair {
	bench := func(impl string) Bench {
		return Bench{Column: impl, Binary: s, Step: record.Step{Case: record.Case{Pkg: s.Pkg, Name: "BenchmarkX/impl=" + impl}, CPU: 1}, Ns: 100}
	}
	return Pair{
		Row: "X", Verdict: compare.Slower, Ratio: 1.5,
		Base: bench("lean"), This: bench(this), Fastest: 100, Slowest: 100,
	}
}

// Everything, from the test binary to the index that others read.
func TestExplain(t *testing.T) {
	s := buildLeanAndFat(t)
	results := filepath.Join(t.TempDir(), "run.bench")
	x := &Index{Schema: Schema, Results: "run.bench", Plan: "p", Col: "/impl", Cells: []Cell{
		{Pkg: s.Pkg, Row: "X", Column: "gone", Base: "lean"},
		{Pkg: s.Pkg, Row: "Y", Column: "kept", Base: "lean", Folder: "Y"},
	}}
	if err := os.MkdirAll(filepath.Join(Folder(results), "X"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(Folder(results), "X", "gone.cpu.pb.gz"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var steps []string
	err := explain(context.Background(), results, x, []Pair{leanFatPair(s, "fat"), leanFatPair(s, "wrong")}, Options{
		Time: 300 * time.Millisecond,
		step: func(what string) { steps = append(steps, what) },
		done: func(c *Cell) { c.Notes = append(c.Notes, "seen") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 10 {
		t.Errorf("the steps were %q", steps)
	}
	x, problems, err := Read(results)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if len(x.Cells) != 3 || x.Find("", "Y", "lean", "kept") == nil || x.Find("", "X", "lean", "gone") != nil {
		t.Errorf("the cells are %+v", x.Cells)
	}
	c := x.Find(s.Pkg, "X", "lean", "fat")
	if c == nil {
		t.Fatal("the cell is not in the index")
	}
	if c.Sentence == "" || !slices.Contains(c.Notes, "seen") || c.Verdict != "slower" || c.Ratio != 1.5 {
		t.Errorf("the cell is %+v", c)
	}
	// Every file is in the index, and what was there before is gone.
	named := []string{"why.json"}
	for _, c := range x.Cells {
		for _, p := range c.Profiles {
			named = append(named, filepath.Base(p.Base.Path), filepath.Base(p.This.Path), filepath.Base(p.Diff))
		}
	}
	err = filepath.WalkDir(Folder(results), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains(named, d.Name()) {
			t.Errorf("the index does not name %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	var kinds []Kind
	for _, p := range c.Profiles {
		kinds = append(kinds, p.Kind)
		for _, path := range []string{p.Base.Path, p.This.Path, p.Diff} {
			if _, err := readProfile(filepath.Join(Folder(results), filepath.FromSlash(path))); path != "" && err != nil {
				t.Error(err)
			}
		}
		// The preparation, of 4 MB, is in neither.
		if p.Kind == Alloc && (math.Abs(p.This.Total-64) > 0.5 || math.Abs(p.Base.Total) > 0.5) {
			t.Errorf("allocated is %v and %v B/op, not 0 and 64", p.Base.Total, p.This.Total)
		}
		if p.Kind == Alloc && p.owner(64) != "leanfat.BenchmarkX.func2" {
			t.Errorf("most is allocated in %q", p.owner(64))
		}
		// How many samples it has is the kernel's affair.
		if p.Kind == CPU && (p.This.N < 1000 || p.This.Wall <= 0) {
			t.Errorf("the profile of CPU time is of %+v", p.This)
		}
	}
	if !slices.Equal(kinds, []Kind{CPU, Alloc, Mutex, Block}) {
		t.Errorf("profiles are %v; notes: %q", kinds, c.Notes)
	}
	if s.Undrivable == nil && (len(c.Counters) == 0 || c.CPU == nil) {
		t.Fatalf("nothing was counted: %q", c.Notes)
	}
	if d := c.CPU; d != nil && (d.Pairs != counterPairs || !(d.Base > 0) || !(d.BaseWall > 0) || !(d.Diff.Lo <= d.Diff.Est && d.Diff.Est <= d.Diff.Hi) || !(d.Clock > 0)) {
		t.Errorf("the CPU time is %+v", d)
	}
	// A benchmark that fails has no explanation, and says why.
	w := x.Find(s.Pkg, "X", "lean", "wrong")
	if w == nil || len(w.Profiles) != 0 || !slices.ContainsFunc(w.Notes, func(n string) bool { return strings.Contains(n, "wrong result") }) {
		t.Errorf("the cell of what fails is %+v", w)
	}
}

// What is killed ends, keeps what was done before, and says so.
func TestExplainKilled(t *testing.T) {
	s := buildLeanAndFat(t)
	results := filepath.Join(t.TempDir(), "run.bench")
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	n := 0
	x := &Index{Schema: Schema}
	err := explain(ctx, results, x, []Pair{leanFatPair(s, "fat"), leanFatPair(s, "fat")}, Options{
		Time: 20 * time.Millisecond,
		done: func(*Cell) {},
		step: func(string) {
			if n++; n == 6 { // the second cell's first
				kill()
			}
		},
		timeout: time.Hour,
	})
	if !errors.Is(err, session.ErrInterrupted) {
		t.Errorf("the error is %v", err)
	}
	if x, _, err := Read(results); err != nil || len(x.Cells) != 1 {
		t.Errorf("kept is %+v, %v", x, err)
	}
}

func TestPairs(t *testing.T) {
	plan := &record.Plan{CPU: []int{1, 2}}
	for _, impl := range []string{"ref-a", "b", "c"} {
		plan.Cases = append(plan.Cases, record.Case{Pkg: "p", Name: "BenchmarkX/impl=" + impl + "/n=3"})
	}
	vs := &compare.Versus{Ratio: 2, Lo: 1.5, Hi: 2.5}
	cells := []compare.Cell{{N: 8, Center: 10, Verdict: compare.Base}, {N: 8, Center: 20, Vs: vs, Verdict: compare.Slower}, {N: 8, Center: 11, Vs: vs, Verdict: compare.Inconclusive}}
	c := &compare.Comparison{
		Col: "/impl", Files: make([]compare.File, 1),
		Tables: []compare.Table{{Unit: "B/op"}, {
			Unit: "ns/op", Cols: []compare.Column{{Name: "ref-a"}, {Name: "b"}, {Name: "c"}},
			Rows: []compare.Row{{Name: "X/n=3", Cells: cells}, {Name: "X/n=3-2", Cells: cells}},
		}},
	}
	subjects := []testbin.Binary{{Pkg: "p", Path: "bin"}}
	for all, want := range map[bool]int{false: 2, true: 4} {
		pairs, err := findPairs(c, plan, subjects, all)
		if err != nil || len(pairs) != want {
			t.Fatalf("all %v: %d pairs, %v", all, len(pairs), err)
		}
		p := pairs[want/2] // the first of the second row
		if p.Row != "X/n=3-2" || p.This.Column != "b" || p.Base.Column != "ref-a" || p.This.Step.FullName() != "BenchmarkX/impl=b/n=3-2" ||
			p.Base.Step.FullName() != "BenchmarkX/impl=ref-a/n=3-2" || p.This.Ns != 20 || p.Fastest != 10 || p.Slowest != 20 || p.Base.Binary.Path != "bin" ||
			p.diff() != (Interval{10, 5, 15}) {
			t.Errorf("all %v: %+v", all, p)
		}
	}
	c.Tables = c.Tables[:1]
	if _, err := findPairs(c, plan, subjects, false); err == nil {
		t.Error("there are no times, and no error")
	}
}

// What is explained is the ratio that was judged, with its interval: figures of the
// table may contradict it.
func TestPairDiff(t *testing.T) {
	for _, c := range []struct {
		p    Pair
		want Interval
	}{
		{Pair{Base: Bench{Ns: 1000}, This: Bench{Ns: 990}, Ratio: 1.25, Lo: 1.125, Hi: 1.5}, Interval{250, 125, 500}},
		{Pair{Base: Bench{Ns: 1000}, This: Bench{Ns: 800}, Ratio: 0.75, Lo: 0.5, Hi: 0.875}, Interval{-250, -500, -125}},
		{Pair{Base: Bench{Ns: 1000}, This: Bench{Ns: 1250}, Ratio: 1.25, Lo: math.NaN(), Hi: math.NaN()}, Interval{250, 250, 250}},
		{Pair{Base: Bench{Ns: 1000}, This: Bench{Ns: 1250}, Ratio: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}, Interval{250, 250, 250}},
	} {
		if got := c.p.diff(); got != c.want {
			t.Errorf("the difference is %+v, want %+v", got, c.want)
		}
	}
}

// A profile of CPU time is taken again if a sentence needs more samples: not if the
// difference is waiting, or none.
func TestMoreSamples(t *testing.T) {
	few := &taken{Sampled: Sampled{Profile: synthetic(t, CPU, 1e7, "250 x.org/a.f"), N: 1000, Wall: 1e6}}
	many := &taken{Sampled: Sampled{Profile: synthetic(t, CPU, 1e7, "500 x.org/a.f"), N: 1000, Wall: 1e6}}
	computing, idle := counted(100, Interval{50, 40, 60}, 100, 50), counted(100, Interval{0, -1, 1}, 100, 50)
	for _, c := range []struct {
		name       string
		f          finding
		kind       Kind
		base, this *taken
		want       int
	}{
		{"it computes", finding{diff: at(50), differs: true, cpu: computing}, CPU, few, few, 2500},
		{"not counted", finding{diff: at(50), differs: true}, CPU, few, few, 2500},
		{"enough", finding{diff: at(50), differs: true, cpu: computing}, CPU, few, many, 0},
		{"it waits", finding{diff: at(50), differs: true, cpu: idle}, CPU, few, few, 0},
		{"not proven", finding{diff: at(50), cpu: computing}, CPU, few, few, 0},
		{"events", finding{diff: at(50), differs: true, cpu: computing}, Alloc, few, few, 0},
	} {
		if n := c.f.more(c.kind, c.base, c.this, time.Second); n != c.want {
			t.Errorf("%s: %d operations, want %d", c.name, n, c.want)
		}
	}
}

// Two versions of one benchmark have one name, and a profile each.
func TestExplainVersions(t *testing.T) {
	old := buildLeanAndFat(t)
	newer := old
	old.Side, newer.Side = record.SideOld, record.SideNew
	p := leanFatPair(old, "fat")
	p.Base = p.This
	p.Base.Column, p.This.Column, p.This.Binary = record.SideOld, record.SideNew, newer
	results := filepath.Join(t.TempDir(), "run.bench")
	x := &Index{Schema: Schema}
	if err := explain(context.Background(), results, x, []Pair{p}, Options{Time: 10 * time.Millisecond, done: func(*Cell) {}, step: func(string) {}}); err != nil {
		t.Fatal(err)
	}
	for _, d := range x.Cells[0].Profiles {
		if d.Base.Path == d.This.Path {
			t.Errorf("both sides have the profile %s", d.This.Path)
		}
	}
	if len(x.Cells[0].Profiles) == 0 {
		t.Error("there are no profiles")
	}
}
