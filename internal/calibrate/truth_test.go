package calibrate

import (
	"context"
	"errors"
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
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
	"github.com/dynolab/dyno/internal/session"
)

// oldAndNew are cases of both versions, as ab has them.
func oldAndNew(names ...string) []record.Case {
	var cases []record.Case
	for _, name := range names {
		for _, side := range []string{record.SideOld, record.SideNew} {
			cases = append(cases, record.Case{Pkg: "example.com/m", Name: "Benchmark" + name, Side: side})
		}
	}
	return cases
}

// truthPlan is a plan that has no cases yet.
func truthPlan() *record.Plan {
	return &record.Plan{CPU: []int{2}, Time: TruthTime, Seed: 5, Timeout: time.Minute, Packages: []string{"."}, Bench: "."}
}

// The versions of a benchmark run directly after one another, now this one first and
// now that one, and the benchmarks in another order in each block.
func TestPairsPlan(t *testing.T) {
	p := truthPlan()
	Pairs(p, oldAndNew("A", "B", "C"), 40, 100)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if p.Layouts != 40 || p.InTurns() {
		t.Errorf("%d layouts, mode %q", p.Layouts, p.Mode)
	}
	oldFirst, orders := 0, make(map[string]bool)
	for block := 1; block <= p.Blocks; block++ {
		units, order := p.Order(block), ""
		if len(units) != 6 {
			t.Fatalf("block %d: %+v", block, units)
		}
		for i := 0; i < len(units); i += 2 {
			a, b := units[i].Step.Case, units[i+1].Step.Case
			if units[i].Turns != nil || a.Name != b.Name || a.Side == b.Side {
				t.Errorf("block %d has %+v and then %+v", block, a, b)
			}
			if a.Side == record.SideOld {
				oldFirst++
			}
			order += a.Name
		}
		orders[order] = true
	}
	if oldFirst < 40 || oldFirst > 80 || len(orders) != 6 {
		t.Errorf("old is first in %d of 120 pairs; %d of 6 orders", oldFirst, len(orders))
	}
	if Pairs(p, oldAndNew("A"), 200, 300); p.Layouts != record.MaxLayouts {
		t.Errorf("%d layouts", p.Layouts)
	}
}

// What people give to benchstat is all of the old version, and then all of the new
// one, ten values from each process. An interrupt keeps what is there.
func TestOneByOne(t *testing.T) {
	p := truthPlan()
	OneByOne(p, oldAndNew("A", "B"))
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, u := range p.Order(1) {
		order = append(order, u.Step.Case.Name+" "+u.Step.Case.Side)
	}
	if want := []string{"BenchmarkA old", "BenchmarkB old", "BenchmarkA new", "BenchmarkB new"}; !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
	if one := truthPlan(); session.NewForecast(p, nil).Left() < 4*10*300*time.Millisecond || one.Timeout*10 != p.Timeout {
		t.Errorf("forecast of %v, timeout %v", session.NewForecast(p, nil).Left(), p.Timeout)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ran := 0
	path := truthFileOf(t, p, TruthBenchstat, ctx, func(_ int, s record.Step) (string, error) {
		if ran++; ran == 3 {
			cancel()
		}
		var lines []string
		for i := range p.Count {
			ns := 100 + i
			if s.Case.Side == record.SideNew && s.Case.Name == "BenchmarkA" {
				ns += 20
			}
			lines = append(lines, fmt.Sprintf("%s \t 1000 \t %d ns/op", s.FullName(), ns))
		}
		return strings.Join(lines, "\n"), nil
	})
	if ran != 4 {
		t.Errorf("%d processes, want 4", ran)
	}
	pairs := recordtest.Write(t, "pairs.bench", pairsText(3, 1.2, 0.01, "A", "B"))
	truth, err := ReadTruth([]string{pairs, path})
	if err != nil || len(truth.Rows) != 2 || len(truth.Problems) > 0 {
		t.Fatalf("%v, %+v", err, truth)
	}
	a, b := truth.Rows[0].Benchstat, truth.Rows[1].Benchstat
	if len(a) != 1 || a[0].Verdict != compare.Slower || math.Abs(a[0].Ratio-124.5/104.5) > 1e-9 || a[0].P > 0.001 {
		t.Errorf("A: %+v", a)
	}
	if len(b) != 1 || b[0].Verdict != compare.Inconclusive || b[0].Ratio != 1 {
		t.Errorf("B: %+v", b)
	}
}

// truthFileOf carries out a part of a suite, on from where ctx ends it, and returns
// the path of its file.
func truthFileOf(t *testing.T, p *record.Plan, part string, ctx context.Context, process func(block int, s record.Step) (string, error)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), part+".bench")
	here := &record.Circumstances{Machine: "m", Fixed: []record.Setting{{Key: TruthKey, Values: []string{part}}, {Key: "machine", Values: []string{"m"}}}}
	store, err := record.Create(path, p, here, nil, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	h := fakeSubject{measure: process}
	err = session.Run(ctx, p, h, store, nil, session.Quiet{}, nil)
	if closed := store.Close(); closed != nil {
		t.Fatal(closed)
	}
	if errors.Is(err, session.ErrInterrupted) {
		resume(t, path, h)
	} else if err != nil {
		t.Fatal(err)
	}
	return path
}

// pairsText makes a file of n pairs of each benchmark, of which new takes ratio times
// as long as old, with so much noise.
func pairsText(n int, ratio, noise float64, names ...string) string {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	var b strings.Builder
	b.WriteString("truth: pairs\nmachine: m\ncores: 2\nstarted: 2026-11-21T10:00:00Z\n")
	for block := range n {
		fmt.Fprintf(&b, "block: %d\npkg: example.com/m\n", block+1)
		for _, name := range names {
			for k, side := range []string{record.SideOld, record.SideNew} {
				ns := 1000 * math.Exp(noise*r.NormFloat64())
				if k == 1 {
					ns *= ratio
				}
				fmt.Fprintf(&b, "side: %s\ncase: %d\nBenchmark%s-2 100 %.4f ns/op 3 allocs/op\n", side, 2*int(name[0]-'A')+k+1, name, ns)
			}
		}
	}
	return b.String()
}

// abText makes a file of benchrun ab, of the benchmarks of which ratios has how much
// longer new takes, with so much noise.
func abText(ratios map[string]float64, driven string, noise float64) string {
	r := rand.New(rand.NewPCG(4, uint64(len(ratios))))
	var b strings.Builder
	b.WriteString("old: x\nnew: y\nmachine: m\nUnit ns/op better=lower\nUnit allocs/op better=lower\n")
	for block := range 12 {
		fmt.Fprintf(&b, "block: %d\nlayout: %d\npkg: example.com/m\n", block+1, block)
		for i, name := range []string{"A", "B"} {
			for k, of := range []struct{ side, copy string }{{record.SideOld, "1"}, {record.SideNew, "1"}, {record.SideOld, "2"}} {
				ratio, allocs := 1.0, 3
				if of.side == record.SideNew {
					ratio, allocs = ratios[name], 4
				}
				var ns []int64
				sum := int64(0)
				for range 20 {
					ns = append(ns, int64(1e6*ratio*math.Exp(noise*r.NormFloat64())))
					sum += ns[len(ns)-1]
				}
				fmt.Fprintf(&b, "side: %s\ncase: %d\ncopy: %s\ndriven: %s\nBenchmark%s-2 20000 %.4f ns/op 8 B/op %d allocs/op\n%s\n",
					of.side, 2*i+k%2+1, of.copy, driven, name, float64(sum)/20/1000, allocs, record.Slices{N: 1000, Steady: true, Took: 500 * time.Millisecond, Ns: ns}.Line())
			}
		}
	}
	// Of A older files say it so, which counts.
	b.WriteString("# took: pkg=example.com/m row=\"A-2\" ms=5000\n# resumed\n# took: pkg=example.com/m row=\"A-2\" ms=2500\n")
	return b.String()
}

// The bounds of the ratio of means are the ratios that Student's t just does not rule
// out. Its quantile for four degrees of freedom is 2.776.
func TestRatioOfMeans(t *testing.T) {
	before, after := []float64{100, 102, 98, 101, 99}, []float64{111, 109, 110, 112, 108}
	got := ratioOfMeans(before, after, 0.05, 0.02)
	student := func(ratio float64) float64 {
		var differ []float64
		for i := range before {
			differ = append(differ, after[i]-ratio*before[i])
		}
		m, squares := mean(differ), 0.0
		for _, d := range differ {
			squares += (d - m) * (d - m)
		}
		return m / math.Sqrt(squares/4/5)
	}
	if lo, hi := student(got.Lo), student(got.Hi); math.Abs(lo-2.776445) > 1e-5 || math.Abs(hi+2.776445) > 1e-5 || math.Abs(got.Ratio-1.1) > 1e-12 || got.Is != compare.Slower || got.Pairs != 5 {
		t.Errorf("%+v, of which Student's t are %v and %v", got, lo, hi)
	}
	for _, c := range []struct {
		before, after []float64
		is            compare.Verdict
		interval      bool
	}{
		{nil, nil, compare.Inconclusive, false},
		{[]float64{100}, []float64{150}, compare.Inconclusive, false},
		{[]float64{110, 109, 111, 112, 108}, []float64{100, 99, 101, 102, 98}, compare.Faster, true},
		{[]float64{100, 101, 99, 100, 102}, []float64{100, 101, 100, 100, 101}, compare.Same, true},
		{[]float64{100, 101, 99, 100, 102}, []float64{102, 103, 101, 102, 104}, compare.Inconclusive, true}, // 2 %, the margin
		{[]float64{100, 150, 90}, []float64{110, 100, 160}, compare.Inconclusive, true},
		// One process that takes a thousand times as long proves nothing of a mean.
		{[]float64{100, 101, 99, 100, 100_000}, []float64{100, 101, 100, 100, 101}, compare.Inconclusive, false},
		{[]float64{100, 101, 100, 100, 101}, []float64{100, 101, 99, 100, 100_000}, compare.Inconclusive, true},
	} {
		if got := ratioOfMeans(c.before, c.after, 0.05, 0.02); got.Is != c.is || (got.Hi > 0) != c.interval || math.IsNaN(got.Ratio) {
			t.Errorf("%v and %v: %+v, want %s", c.before, c.after, got, c.is)
		}
	}
}

// The truth is in the interval as often as that says, also where processes now and
// then take much longer.
func TestTruthIsCovered(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	time := func(moment, mean float64) float64 {
		v := mean * moment * math.Exp(0.03*r.NormFloat64())
		if r.Float64() < 0.2 {
			v += 0.1 * mean // on average 2 % of the mean
		}
		return v
	}
	var covered []bool
	for range 2000 {
		var before, after []float64
		for range 20 {
			moment := math.Exp(0.1 * r.NormFloat64()) // which a pair shares
			before, after = append(before, time(moment, 100)), append(after, time(moment, 107))
		}
		got := ratioOfMeans(before, after, 0.05, 0.02)
		covered = append(covered, got.Lo <= 1.07 && 1.07 <= got.Hi)
	}
	if rate := rateOf(covered, func(is bool) bool { return is }); !has(rate, 0.95) && (rate.Part() < 0.93 || rate.Part() > 0.97) {
		t.Errorf("covered %+v", rate)
	}
}

// What a verdict is worth follows from the truth's interval.
func TestTruthJudges(t *testing.T) {
	for _, c := range []struct {
		lo, hi                             float64
		faster, slower, same, inconclusive Outcome
	}{
		{1.05, 1.09, Wrong, Found, Wrong, Missed},
		{0.90, 0.95, Found, Wrong, Wrong, Missed},
		{0.99, 1.01, Wrong, Wrong, Agrees, Undecided},
		{1.004, 1.012, Wrong, Agrees, Agrees, Undecided},
		{0.985, 0.996, Agrees, Wrong, Agrees, Undecided},
		{1.005, 1.04, Wrong, Agrees, Unknown, Unknown},
		{0.97, 1.04, Unknown, Unknown, Unknown, Unknown},
		{0, 0, Unknown, Unknown, Unknown, Unknown},
	} {
		truth := TruthRatio{Ratio: math.Sqrt(c.lo * c.hi), Lo: c.lo, Hi: c.hi, Is: compare.Inconclusive}
		switch {
		case c.lo > 1.02:
			truth.Is = compare.Slower
		case c.hi == 0:
		case c.hi < 1/1.02:
			truth.Is = compare.Faster
		case c.lo >= 1/1.02 && c.hi <= 1.02:
			truth.Is = compare.Same
		}
		for verdict, want := range map[compare.Verdict]Outcome{
			compare.Faster: c.faster, compare.Slower: c.slower, compare.Same: c.same, compare.Inconclusive: c.inconclusive, compare.Unproven: c.inconclusive, compare.Missing: c.inconclusive,
		} {
			if got := truth.evaluate(verdict); got != want {
				t.Errorf("%s where the truth is %v to %v: %s, want %s", verdict, c.lo, c.hi, got, want)
			}
		}
	}
}

// The truth is pooled, and each comparison of it is judged.
func TestReadTruth(t *testing.T) {
	paths := []string{
		recordtest.Write(t, "truth-1.bench", pairsText(12, 1.1, 0.01, "B", "A")),
		recordtest.Write(t, "truth-2.bench", pairsText(10, 1.1, 0.01, "B", "A")),
		recordtest.Write(t, "truth-1-ab.bench", abText(map[string]float64{"A": 1.1, "B": 1}, "runN", 0.002)),
		recordtest.Write(t, "other.bench", abText(map[string]float64{"A": 0.9, "B": 1.1}, "runN", 0.002)),
	}
	truth, err := ReadTruth(paths)
	if err != nil {
		t.Fatal(err)
	}
	if len(truth.Problems)+len(truth.Holes) > 0 || truth.Circumstances["machine"] != "m" || truth.Circumstances["side"] != "" || truth.Measured.Hour() != 10 {
		t.Errorf("%+v", truth)
	}
	if len(truth.Rows) != 2 || truth.Rows[0].Name != "A-2" || truth.Rows[1].Name != "B-2" {
		t.Fatalf("rows %+v", truth.Rows)
	}
	for _, r := range truth.Rows {
		if r.Driven != "runN" || r.Truth.Pairs != 22 || r.Truth.Is != compare.Slower || math.Abs(r.Truth.Ratio-1.1) > 0.01 || len(r.Dyno) != 2 {
			t.Errorf("%+v", r)
		}
	}
	a, b := truth.Rows[0].Dyno, truth.Rows[1].Dyno
	if a[0].Verdict != compare.Slower || a[0].Outcome != Found || math.Abs(a[0].Ratio-1.1) > 0.005 || a[0].Lo > a[0].Ratio || a[0].Hi < a[0].Ratio || a[0].Lo < 1.09 || a[0].Hi > 1.11 || a[0].P > 0.05 || a[0].Seconds != 7.5 || a[0].File != "truth-1-ab.bench" {
		t.Errorf("A: %+v", a[0])
	}
	if !slices.Equal(a[0].Others, []string{"allocs/op worse"}) {
		t.Errorf("others %q", a[0].Others)
	}
	if a[1].Verdict != compare.Faster || a[1].Outcome != Wrong || b[0].Verdict != compare.Same || b[0].Outcome != Wrong || b[0].Seconds != 6 || b[1].Outcome != Found {
		t.Errorf("%+v, %+v", a, b)
	}
	if d := truth.Dyno; d.Wrong.K != 2 || d.Wrong.N != 4 || d.Found.K != 2 || d.Found.N != 4 || d.Large != d.Found || d.Longest != 7.5 {
		t.Errorf("%+v", d)
	}
	if len(truth.Ways) != 1 || truth.Ways[0].Driven != "runN" || truth.Ways[0].Dyno != truth.Dyno {
		t.Errorf("ways %+v", truth.Ways)
	}

	// What is not decided says what could have been, and what the report says of it.
	blurred := abText(map[string]float64{"A": 1.001, "B": 1}, "loop", 0.3)
	blurred = strings.Replace(blurred, "\nblock: 2\n", "\nblock: 2\nside: new\ncopy: 1\n# hole: case=BenchmarkB-2 block=13 reason=\"crashed: oh\"\n", 1)
	truth, err = ReadTruth([]string{paths[0], recordtest.Write(t, "a.bench", blurred)})
	if err != nil {
		t.Fatal(err)
	}
	if v := truth.Rows[1].Dyno[0]; v.Verdict != compare.Inconclusive || v.Outcome != Missed || v.Sees < 0.02 || v.Sees > 1 || !slices.ContainsFunc(v.Notes, func(n string) bool { return strings.Contains(n, "crashed: oh") }) {
		t.Errorf("%+v", v)
	}

	// A row of which there is nothing but what benchstat says is left out.
	only := strings.Replace(pairsText(10, 1.1, 0.01, "A", "C"), "truth: "+TruthPairs, "truth: "+TruthBenchstat, 1)
	if truth, err = ReadTruth([]string{paths[0], recordtest.Write(t, "s.bench", only)}); err != nil {
		t.Fatal(err)
	}
	if len(truth.Rows) != 2 || len(truth.Rows[0].Benchstat) != 1 || truth.Rows[1].Name != "B-2" {
		t.Errorf("rows %+v", truth.Rows)
	}

	// A change of 3 % is one, and not a large one. What is the same is to be called so.
	truth, err = ReadTruth([]string{
		recordtest.Write(t, "p.bench", pairsText(60, 1.03, 0.01, "A")), recordtest.Write(t, "q.bench", pairsText(60, 1, 0.005, "B")),
		recordtest.Write(t, "a.bench", abText(map[string]float64{"A": 1.03, "B": 1}, "loop", 0.002)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := truth.Dyno; d.Wrong.K != 0 || d.Wrong.N != 2 || d.Found.K != 1 || d.Found.N != 1 || d.Large.N != 0 || d.Agrees != 1 {
		t.Errorf("%+v", truth.Rows)
	}
}

// What cannot be read is told by line, and the rest is read.
func TestReadTruthReadsWhatItCan(t *testing.T) {
	text := pairsText(8, 1.1, 0.01, "A")
	text = strings.Replace(text, "block: 3\n", "block: 3\n# hole: case=BenchmarkA-2 block=3 reason=\"crashed\"\n# took: what\nBenchmarkA-2 1 x\n", 1)
	text += "block: 8\nside: new\nBenchmarkA-2 100 7 ns/op\n" // twice
	text += "block: 9\nside: old\nBenchmarkA-2 100 3 ns/op\nside: new\nBenchmarkA-2 100 3"
	path := recordtest.Write(t, "p.bench", text)
	truth, err := ReadTruth([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	if len(truth.Holes) != 1 || len(truth.Problems) != 3 || truth.Rows[0].Truth.Pairs != 8 || truth.Rows[0].Truth.Lo < 1 || truth.Rows[0].Driven != "" {
		t.Errorf("%+v", truth)
	}
	for _, p := range truth.Problems {
		if !strings.HasPrefix(p, path+":") {
			t.Errorf("problem %q", p)
		}
	}
	for name, paths := range map[string][]string{
		"given twice":          {path, path},
		"another machine":      {path, recordtest.Write(t, "o.bench", strings.Replace(text, "machine: m", "machine: o", 1))},
		"not one truth":        {path, recordtest.Write(t, "t.bench", strings.Replace(text, "machine: m", "benchtime: 3s\nmachine: m", 1))},
		"nothing to compute":   {recordtest.Write(t, "a.bench", abText(map[string]float64{"A": 1, "B": 1}, "loop", 0.002))},
		"no such file":         {filepath.Join(t.TempDir(), "x.bench")},
		"no benchmark results": {path, recordtest.Write(t, "empty.bench", "machine: m\n# nothing\n")},
	} {
		if _, err := ReadTruth(paths); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The pairs go through plan, store and reader, in spite of an interrupt, and give what
// the processes were made of.
func TestTruthThroughTheLab(t *testing.T) {
	p := truthPlan()
	Pairs(p, oldAndNew("A", "B"), 30, 30)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := rand.New(rand.NewPCG(12, 1))
	ran := 0
	path := truthFileOf(t, p, TruthPairs, ctx, func(_ int, s record.Step) (string, error) {
		if ran++; ran == 51 { // in the middle of a block
			cancel()
		}
		ns := 100 * math.Exp(0.01*r.NormFloat64())
		switch {
		case s.Case.Name == "BenchmarkB" && ran > 60 && ran < 65:
			return "", &program.Failure{Reason: "crashed: oh"}
		case s.Case.Name == "BenchmarkA" && s.Case.Side == record.SideNew:
			ns *= 1.05
		}
		return fmt.Sprintf("%s \t 1000 \t %.3f ns/op", s.FullName(), ns), nil
	})
	truth, err := ReadTruth([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	a, b := truth.Rows[0].Truth, truth.Rows[1].Truth
	if len(truth.Rows) != 2 || a.Pairs != 30 || a.Lo > 1.05 || a.Hi < 1.05 || a.Is != compare.Slower {
		t.Errorf("A: %+v", a)
	}
	if b.Pairs >= 30 || b.Pairs < 20 || b.Lo > 1 || b.Hi < 1 || len(truth.Holes) == 0 {
		t.Errorf("B: %+v, holes %q", b, truth.Holes)
	}
	// Its lines are those of testing, one for each process.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\nBenchmark"); n != 120-len(truth.Holes) {
		t.Errorf("%d lines and %d holes", n, len(truth.Holes))
	}
}

// The names of a suite's files follow from any of them.
func TestTruthPath(t *testing.T) {
	for _, path := range []string{"r/m/truth-x.bench", "r/m/truth-x-ab.bench", "r/m/truth-x-benchstat.bench"} {
		for part, want := range map[string]string{
			TruthPairs: "r/m/truth-x.bench", TruthAB: "r/m/truth-x-ab.bench", TruthBenchstat: "r/m/truth-x-benchstat.bench",
		} {
			if got := TruthPath(path, part); got != want {
				t.Errorf("%s of %s: %s", part, path, got)
			}
		}
	}
}

// An interval has the truth if they differ by no more than both are uncertain, on the sides
// that face one another; and rows of which one is not known do not count.
func TestTruthInInterval(t *testing.T) {
	exact := TruthRatio{Ratio: 1.13, Lo: 1.1299, Hi: 1.1301}
	for _, c := range []struct {
		truth      TruthRatio
		ratio      float64
		lo, hi     float64
		has, known bool
	}{
		{exact, 1.14, 1.12, 1.16, true, true},
		{exact, 1.253, 1.202, 1.305, false, true},
		{exact, 1.08, 1.05, 1.10, false, true},
		{TruthRatio{Ratio: 1.13, Lo: 1.05, Hi: 1.22}, 1.253, 1.202, 1.305, false, true}, // 0.103 and 0.087
		{TruthRatio{Ratio: 1.13, Lo: 1.03, Hi: 1.25}, 1.253, 1.202, 1.305, true, true},  // 0.103 and 0.109
		{TruthRatio{Ratio: 1.40, Lo: 1.30, Hi: 1.50}, 1.253, 1.202, 1.305, false, true},
		{TruthRatio{Ratio: 1.13}, 1.253, 1.202, 1.305, false, false},
		{exact, 1.253, 0, 0, false, false},
	} {
		v := TruthVerdict{Verdict: compare.Slower, Ratio: c.ratio, Lo: c.lo, Hi: c.hi}
		got := sum([]TruthRow{{Truth: c.truth, Dyno: []TruthVerdict{v}}}, func(r TruthRow) []TruthVerdict { return r.Dyno }).Holds
		if got.N != len(where([]bool{c.known}, func(b bool) bool { return b })) || (got.K == 1) != c.has {
			t.Errorf("%+v in %v to %v: %d of %d", c.truth, c.lo, c.hi, got.K, got.N)
		}
	}
}
