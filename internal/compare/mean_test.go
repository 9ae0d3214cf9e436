package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// A verdict on time is about the mean: what comes in one slice of a hundred, of one
// side only, is in it, and the typical time stands beside it.
func TestRareCostIsInTheVerdict(t *testing.T) {
	w := turns{blocks: 12, rounds: 100, layouts: 12, noise: 0.02, process: 0.003, effects: map[string]float64{"x": 0}}
	for seed := range uint64(5) {
		w.seed, w.rare = 100+seed, map[string]float64{"x": 0.05}
		cell := wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "x", Slower)
		if !cell.Vs.RareCosts {
			t.Errorf("seed %d: no rare costs: %+v", w.seed, cell.Vs)
		}
		near(t, "ratio", cell.Vs.Ratio, 1.045, 0.01) // less than 5 %, since moments are slower than 5e6 by chance
		near(t, "typical ratio", cell.Vs.Typical, 1, 0.005)
		if !(cell.Vs.TypicalLo < cell.Vs.Typical && cell.Vs.TypicalHi > cell.Vs.Typical && cell.Vs.TypicalHi-cell.Vs.TypicalLo < 0.02) {
			t.Errorf("seed %d: the typical ratio is %v to %v", w.seed, cell.Vs.TypicalLo, cell.Vs.TypicalHi)
		}

		// What is typically faster, and not on the whole, is not called that.
		w.effects = map[string]float64{"x": -0.03}
		c := compareText(t, Options{}, w.text())
		_, _, cell = cellAt(t, c, "ns/op", "X-2", "x")
		if cell.Verdict == Faster || !cell.Vs.RareCosts {
			t.Errorf("seed %d: typically faster and rarely slower is %q: %+v", w.seed, cell.Verdict, cell.Vs)
		}
		near(t, "ratio", cell.Vs.Ratio, 1.015, 0.01)
		near(t, "typical ratio", cell.Vs.Typical, 0.97, 0.005)

		// On both sides alike it is no difference.
		w.effects = map[string]float64{"x": 0}
		w.rare = map[string]float64{"x": 0.05, "ref-a": 0.05}
		if cell = wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "x", Same); cell.Vs.RareCosts {
			t.Errorf("seed %d: rare costs, of both: %+v", w.seed, cell.Vs)
		}
		w.rare = map[string]float64{"ref-a": 0.05}
		wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "x", Faster)
	}
}

// The typical difference is no answer where the mean of all slices speaks against it.
func TestContradicts(t *testing.T) {
	const margin = 0.02
	for _, c := range []struct {
		name        string
		lo, est, hi float64 // of the mean
		same        bool    // whether it contradicts that they are the same
		more, less  bool    // and that time is more, and less
		rate        [2]bool // and that a rate is more, and less
	}{
		{"nothing", -0.01, 0, 0.01, false, true, true, [2]bool{true, true}},
		{"about the margin", -0.019, 0.0001, 0.019, false, false, true, [2]bool{true, true}},
		{"may be slower", -0.01, 0.01, 0.03, true, false, true, [2]bool{true, true}},
		{"may be faster", -0.03, -0.01, 0.01, true, true, true, [2]bool{true, false}},
		{"slower", 0.01, 0.03, 0.05, true, false, true, [2]bool{false, true}},
		{"faster", -0.05, -0.03, -0.01, true, true, false, [2]bool{true, false}},
		{"not known", -1, 0.1, 1.2, true, false, true, [2]bool{true, true}},
		{"not known, the other way", -1.2, -0.1, 1, true, true, true, [2]bool{true, false}},
	} {
		test := &tested{rough: &stats.Shift{Lo: c.lo, Est: c.est, Hi: c.hi}}
		for what, got := range map[string][2]bool{
			"same":      {test.contradicts(stats.Same, -1, margin), c.same},
			"more time": {test.contradicts(stats.More, -1, margin), c.more},
			"less time": {test.contradicts(stats.Less, -1, margin), c.less},
			"more rate": {test.contradicts(stats.More, +1, margin), c.rate[0]},
			"less rate": {test.contradicts(stats.Less, +1, margin), c.rate[1]},
			"unknown":   {test.contradicts(stats.Unknown, -1, margin), false},
			"doubtful":  {test.contradicts(stats.Doubtful, -1, margin), false},
		} {
			if got[0] != got[1] {
				t.Errorf("%s, %s: contradicts is %v", c.name, what, got[0])
			}
		}
		for _, a := range []stats.Answer{stats.Same, stats.More, stats.Less} {
			if new(tested).contradicts(a, -1, margin) {
				t.Errorf("the mean speaks against its own answer %v", a)
			}
		}
	}
}

// A machine delays a few slices by so much that the mean may be anything: then what is
// typical is an answer only where the mean goes the same way, and a note says why.
func TestMeanSpeaksAgainst(t *testing.T) {
	count := make(map[string]int)
	for seed := range uint64(10) {
		w := turns{
			blocks: 12, rounds: 20, layouts: 12, noise: 0.002, process: 0.002, burst: 0.02, seed: 300 + seed,
			effects: map[string]float64{"same": 0, "faster": -0.1, "slower": 0.1},
		}
		c := compareText(t, Options{}, w.text())
		for col := range w.effects {
			_, _, cell := cellAt(t, c, "ns/op", "X-2", col)
			count[col+" is "+string(cell.Verdict)]++
			noted := strings.Contains(notesOf(c, cell), "the typical time would be an answer, but all slices together do not bear it out")
			if noted != (cell.Verdict == Inconclusive) {
				t.Errorf("seed %d, %s: %q, notes %q", w.seed, col, cell.Verdict, notesOf(c, cell))
			}
			if cell.Vs.RareCosts || math.Abs(math.Log(cell.Vs.Typical)-w.effects[col]) > 0.01 {
				t.Errorf("seed %d, %s: %+v", w.seed, col, cell.Vs)
			}
		}
	}
	// The mean goes either way by chance, so that three things are found now and then
	// that are so, and nothing that is not.
	if n, m := count["slower is slower"], count["faster is faster"]; n < 2 || count["slower is inconclusive"] != 10-n ||
		m < 2 || count["faster is inconclusive"] != 10-m || m > 8 || count["same is inconclusive"] != 10 {
		t.Errorf("%v", count)
	}
}

// What the base takes is known from it and its control, in the mean and in what is
// typical, so that less of it is chance.
func TestControlIsATwin(t *testing.T) {
	const blocks, rounds = 12, 12
	file := func(control bool) string {
		var b strings.Builder
		for block := range blocks {
			off := 0.01 * float64(block%4-1) // of the base in one direction, of the control in the other
			fmt.Fprintf(&b, "block: %d\nlayout: %d\n", block+1, block)
			write := func(impl, copies string, level float64) {
				fmt.Fprintf(&b, "copy: %s\nBenchmarkX/impl=%s 1 1 ns/op\n# slices: n=1 ns=%s\n", copies, impl,
					strings.TrimPrefix(strings.Repeat(fmt.Sprintf(",%.0f", 1e9*math.Exp(level)), rounds), ","))
			}
			write("ref-a", "1", off)
			if control {
				write("ref-a", "2", -off)
			}
			write("x", "1", 0.05)
		}
		return b.String()
	}
	with := wantVerdict(t, compareText(t, Options{}, file(true)), "ns/op", "X", "x", Slower)
	without := wantVerdict(t, compareText(t, Options{}, file(false)), "ns/op", "X", "x", Slower)
	for _, b := range with.Blocks {
		near(t, "ratio of a block", b.Ratio, math.Exp(0.05), 1e-8)
	}
	near(t, "ratio", with.Vs.Ratio, math.Exp(0.05), 1e-8)
	near(t, "typical ratio", with.Vs.Typical, math.Exp(0.05), 1e-8)
	if width := with.Vs.Hi - with.Vs.Lo; width > 1e-6 || without.Vs.Hi-without.Vs.Lo < 0.01 {
		t.Errorf("the interval is %v wide, and %v without a control", width, without.Vs.Hi-without.Vs.Lo)
	}
	// The base's own figures are its own, and the control is compared with it alone.
	c := compareText(t, Options{}, file(true))
	_, row, base := cellAt(t, c, "ns/op", "X", "ref-a")
	if base.N != blocks || row.Control.Vs.N != blocks || math.Abs(math.Log(base.Max)-math.Log(1e9)-0.02) > 1e-8 {
		t.Errorf("the base is %+v, its control %+v", base, row.Control)
	}
	near(t, "the control in block 3", row.Control.Blocks[2].Ratio, math.Exp(-0.02), 1e-8)
	// In a block where it is missing the base stands alone.
	partly := strings.Replace(file(true), "copy: 2\nBenchmarkX/impl=ref-a 1 1 ns/op\n", "copy: 2\n# ", 1)
	_, _, cell := cellAt(t, compareText(t, Options{}, partly), "ns/op", "X", "x")
	near(t, "ratio of the first block", cell.Blocks[0].Ratio, math.Exp(0.06), 1e-8)
	near(t, "ratio of the second block", cell.Blocks[1].Ratio, math.Exp(0.05), 1e-8)
}

// A control of which there is nothing, such as no collection in some block, has no
// logarithm: then differences are tested, and no ratios.
func TestTwinOfNothing(t *testing.T) {
	lines := func(twin string) string {
		return "copy: 1\nBenchmarkX/impl=ref-a 1 40~ gcs/Mop\ncopy: 2\nBenchmarkX/impl=ref-a 1 " + twin + " gcs/Mop\ncopy: 1\nBenchmarkX/impl=b 1 90~ gcs/Mop"
	}
	head := "Unit gcs/Mop better=lower\n"
	cell := wantVerdict(t, compareText(t, Options{}, head+blocks(12, lines("0"))), "gcs/Mop", "X", "b", Worse)
	if !math.IsNaN(cell.Vs.Lo) || !(cell.Vs.P < 0.001) || math.Abs(cell.Vs.Ratio-9.0/4) > 0.1 {
		t.Errorf("%+v", cell.Vs)
	}
	cell = wantVerdict(t, compareText(t, Options{}, head+blocks(12, lines("40~"))), "gcs/Mop", "X", "b", Worse)
	if math.IsNaN(cell.Vs.Lo) || math.Abs(cell.Vs.Ratio-9.0/4) > 0.1 {
		t.Errorf("%+v", cell.Vs)
	}
}

// Files of before have most collections outside of the times, which is said of them.
func TestOldFilesArePartial(t *testing.T) {
	w := turns{blocks: 12, rounds: 12, layouts: 12, noise: 0.002, process: 0.002, effects: map[string]float64{"x": 0.1}}
	const told = "have most collections of garbage outside"
	count := func(text string) (n int) {
		c := compareText(t, Options{}, text)
		wantVerdict(t, c, "ns/op", "X-2", "x", Slower)
		for _, w := range c.Warnings {
			n += strings.Count(w, told)
		}
		return n
	}
	if n := count(w.text()); n != 1 {
		t.Errorf("it is said %d times", n)
	}
	w.more = " whole=true"
	whole := w.text()
	if n := count(whole); n != 0 {
		t.Errorf("of whole slices it is said %d times", n)
	}
	if n := count(strings.Replace(whole, w.more, "", 1)); n != 1 {
		t.Errorf("where one process is of before it is said %d times", n)
	}
	// Single processes have their collections, and there are no slices.
	var plain strings.Builder
	for line := range strings.Lines(whole) {
		if !strings.HasPrefix(line, record.SlicesMark) {
			plain.WriteString(line)
		}
	}
	if n := count(plain.String()); n != 0 {
		t.Errorf("of single processes it is said %d times", n)
	}
}

// Where collections are so rare that few were measured there is no "faster" and no
// "same", if what is missing may be more than the margin; but "slower" is.
func TestRareCollectionsAreUnproven(t *testing.T) {
	for rare, want := range map[string][3]Verdict{
		"":            {Faster, Same, Slower},
		" rare=0.015": {Faster, Same, Slower},
		" rare=0.04":  {Unproven, Unproven, Slower},
	} {
		w := turns{
			blocks: 12, rounds: 12, layouts: 12, noise: 0.002, process: 0.002, more: " whole=true" + rare, seed: 8,
			effects: map[string]float64{"f": -0.1, "s": 0, "z": 0.1},
		}
		c := compareText(t, Options{}, w.text())
		for i, col := range []string{"f", "s", "z"} {
			cell := wantVerdict(t, c, "ns/op", "X-2", col, want[i])
			const note = "collections of garbage come so seldom that few or none were measured, and take about 4 % of the time: measure longer, with more --rounds"
			if noted := notesOf(c, cell) == note; noted != (rare == " rare=0.04") {
				t.Errorf("%q: notes %q", rare, notesOf(c, cell))
			}
		}
	}
	// That of one side is enough.
	w := turns{blocks: 12, rounds: 12, layouts: 12, noise: 0.002, process: 0.002, more: " whole=true", seed: 8, effects: map[string]float64{"f": -0.1}}
	at := strings.Index(w.text(), " whole=true")
	wantVerdict(t, compareText(t, Options{}, w.text()[:at]+" rare=0.5"+w.text()[at:]), "ns/op", "X-2", "f", Unproven)
}

// tailed is a run of two columns, of which slices are slower now and then: each in so
// many of a hundred, by half.
func tailed(base, x int, shift float64) string {
	var b strings.Builder
	for block := range 12 {
		fmt.Fprintf(&b, "block: %d\nlayout: %d\n", block+1, block)
		for i, slow := range []int{base, x} {
			var ns []string
			for round := range 100 {
				v := 1e6 * (1 + 0.001*float64((7*round+3*block+i)%11))
				if (round*37+block*11)%100 < slow {
					v *= 1.5
				}
				if i == 1 {
					v *= math.Exp(shift)
				}
				ns = append(ns, fmt.Sprintf("%.0f", v))
			}
			fmt.Fprintf(&b, "BenchmarkX/impl=%c 1 1 ns/op\n# slices: n=1000 whole=true ns=%s\n", "ab"[i], strings.Join(ns, ","))
		}
	}
	return b.String()
}

// A tail that became longer, and by more than what is typical, is a finding, and no verdict; one
// that became shorter is none: there is nothing to do.
func TestTails(t *testing.T) {
	for _, c := range []struct {
		base, x int
		shift   float64
		want    Verdict
		finding string // what it begins with
	}{
		{0, 0, 0, Same, ""},
		{3, 3, 0, Same, ""},
		{0, 3, 0, Same, "X, b: the slowest slices became slower than the others did: the 99th percentile +49.3 %, the typical time +0.1 %"},
		{3, 0, 0, Same, ""},
		{0, 0, 0.1, Slower, ""},
		{3, 3, 0.1, Slower, ""},
		{0, 3, 0.1, Slower, "X, b: the slowest slices became slower than the others did: the 99th percentile +65 %, the typical time +10.6 %"},
		{3, 0, 0.1, Slower, ""},
	} {
		// The margin is such that the mean is the same: it moves by 1.5 %.
		comparison := compareText(t, Options{Base: "a", Margin: 0.03}, tailed(c.base, c.x, c.shift))
		cell := wantVerdict(t, comparison, "ns/op", "X", "b", c.want)
		if found := strings.Join(comparison.Findings, "\n"); !strings.HasPrefix(found, c.finding) || (found == "") != (c.finding == "") || cell.Vs.TailMoved != (c.base != c.x) {
			t.Errorf("%+v: findings %q, %+v", c, comparison.Findings, cell.Vs)
		}
		if comparison.Comparisons != 1 || len(cell.Notes) != 0 {
			t.Errorf("%+v: %d comparisons, notes %q", c, comparison.Comparisons, notesOf(comparison, cell))
		}
	}
	// A tail that moved by less than the margin is not worth a line.
	if c := compareText(t, Options{Base: "a", Margin: 0.6}, tailed(0, 3, 0)); len(c.Findings) != 0 {
		t.Errorf("findings %q", c.Findings)
	}
	// All tails of a report together are at its level: one that is proven alone is not
	// among many that are not.
	alone := compareText(t, Options{Base: "a", Margin: 0.03, Alpha: 0.0006}, tailed(0, 3, 0))
	if len(alone.Findings) != 1 {
		t.Errorf("findings %q", alone.Findings)
	}
	many := tailed(0, 3, 0)
	for i := range 3 {
		many += strings.ReplaceAll(tailed(0, 0, 0), "BenchmarkX", fmt.Sprintf("BenchmarkY%d", i))
	}
	if c := compareText(t, Options{Base: "a", Margin: 0.03, Alpha: 0.0006}, many); len(c.Findings) != 0 {
		t.Errorf("findings among four rows: %q", c.Findings)
	}
}

// A cell has how its slices are distributed, those of all blocks together.
func TestDistribution(t *testing.T) {
	var b strings.Builder
	for block, ns := range []string{"1000,2000,3000,-,4000", "5000,6000,7000,8000,9000,10000"} {
		fmt.Fprintf(&b, "block: %d\nBenchmarkX/impl=a 1 1 ns/op\n# slices: n=10 ns=%s\n", block+1, ns)
	}
	_, _, cell := cellAt(t, compareText(t, Options{}, b.String()), "ns/op", "X", "a")
	if want := (Distribution{N: 10, P50: 500, P90: 900, P99: 1000, Max: 1000}); cell.Slices == nil || *cell.Slices != want {
		t.Errorf("%+v, want %+v", cell.Slices, want)
	}
	if _, _, cell := cellAt(t, compareText(t, Options{}, "BenchmarkX/impl=a 1 1 ns/op\n"), "ns/op", "X", "a"); cell.Slices != nil {
		t.Errorf("of no slices: %+v", cell.Slices)
	}
	if d := distributionOf(nil); d != nil {
		t.Errorf("of nothing: %+v", d)
	}
	all := make([]float64, 100)
	for i := range all {
		all[i] = float64(i + 1)
	}
	for q, want := range map[float64]float64{0: 1, 0.001: 1, 0.5: 50, 0.501: 51, 0.9: 90, 0.99: 99, 1: 100} {
		if got := quantile(all, q); got != want {
			t.Errorf("the %v quantile of 1 to 100 is %v, want %v", q, got, want)
		}
	}
}

// Allocations keep their fractions: half of one more is a difference, and what the
// runtime allocates for itself is none.
func TestAllocationsKeepFractions(t *testing.T) {
	for _, c := range []struct {
		base, x string // "~" is noise
		want    Verdict
		tested  bool
	}{
		{"0", "0.5", Worse, false},
		{"0.5", "0", Better, false},
		{"0.003", "0.004", Same, false},
		{"0.003", "0.012", Same, false}, // closer than a hundredth
		{"0.5", "0.505", Same, false},
		{"0.5", "0.52", Worse, false},
		{"2", "2.5", Worse, false},
		{"2.5", "2", Better, false},
		{"100", "100.5", Same, false}, // less than the margin
		{"200~e-2", "250~e-2", Worse, true},
		{"200~e-2", "200~e-2", Same, false},
		{"0~e-2", "50~e-2", Worse, true},
	} {
		text := blocks(12, "BenchmarkG/impl=a 1 "+c.base+" allocs/op", "BenchmarkG/impl=b 1 "+c.x+" allocs/op")
		comparison := compareText(t, Options{Base: "a"}, "Unit allocs/op better=lower\n"+text)
		cell := wantVerdict(t, comparison, "allocs/op", "G", "b", c.want)
		if (comparison.Comparisons == 1) != c.tested || math.IsNaN(cell.Vs.P) == c.tested {
			t.Errorf("%+v: %d comparisons, %+v", c, comparison.Comparisons, cell.Vs)
		}
	}
	// And so with slices: they are the process's, and have no slices of their own.
	w := turns{blocks: 12, rounds: 12, layouts: 12, noise: 0.002, process: 0.002, effects: map[string]float64{"x": 0.1}, result: " 1.25 allocs/op"}
	_, _, cell := cellAt(t, compareText(t, Options{}, w.text()), "allocs/op", "X-2", "x")
	if cell.Slices != nil || cell.Center != 1.25 || cell.Verdict != Same {
		t.Errorf("%+v", cell)
	}
}

// What processes used is a family of its own: who shows it too does not need more
// to prove something about time.
func TestResourcesAreAFamily(t *testing.T) {
	head := ""
	for _, unit := range resourceUnits {
		head += "Unit " + unit + " better=lower\n"
	}
	w := turns{blocks: 12, rounds: 12, layouts: 12, noise: 0.01, process: 0.02, head: head, effects: map[string]float64{"x": 0.02, "y": 0.04}, seed: 4}
	without := compareText(t, Options{}, w.text())
	// Twice as much for y, with some noise that is the same in all blocks of a column.
	var b strings.Builder
	for i, line := range strings.SplitAfter(w.text(), "\n") {
		if strings.HasPrefix(line, "Benchmark") {
			line = strings.TrimSuffix(line, "\n")
			for k, unit := range resourceUnits {
				v := float64(100 + (i*7+k*3)%5)
				if strings.Contains(line, "impl=y") {
					v *= 2
				}
				line += fmt.Sprintf(" %v %s", v, unit)
			}
			line += "\n"
		}
		b.WriteString(line)
	}
	with := compareText(t, Options{}, b.String())
	if without.Comparisons != 2 || without.ResourceComparisons != 0 || with.Comparisons != 2 || with.ResourceComparisons != 2*len(resourceUnits) {
		t.Errorf("%d and %d comparisons, %d and %d of resources", without.Comparisons, with.Comparisons, without.ResourceComparisons, with.ResourceComparisons)
	}
	for _, col := range []string{"x", "y"} {
		_, _, a := cellAt(t, without, "ns/op", "X-2", col)
		_, _, b := cellAt(t, with, "ns/op", "X-2", col)
		if a.Vs.P != b.Vs.P || a.Vs.Adjusted != b.Vs.Adjusted || a.Vs.Lo != b.Vs.Lo || a.Verdict != b.Verdict {
			t.Errorf("%s: %q, %+v; with resources %q, %+v", col, a.Verdict, a.Vs, b.Verdict, b.Vs)
		}
	}
	for _, unit := range resourceUnits {
		table, row, cell := cellAt(t, with, unit, "X-2", "y")
		if !table.Resource || table.Better != -1 {
			t.Errorf("%s: %+v", unit, table)
		}
		if cell.Verdict != Worse {
			t.Errorf("%s: %q, %+v", unit, cell.Verdict, cell.Vs)
		}
		if row.Control == nil || row.Control.Alarm {
			t.Errorf("%s: control %+v", unit, row.Control)
		}
	}
	if i := slices.IndexFunc(with.Tables, func(t Table) bool { return t.Resource }); i != 1 || with.Tables[0].Resource {
		t.Errorf("the first table of resources is number %d", i)
	}
}

// What a run noted of a row is reported once by each reader of its results.
func TestNotesOfRowsAreTold(t *testing.T) {
	w := turns{blocks: 6, rounds: 12, layouts: 6, noise: 0.01, process: 0.01, seed: 5}
	const note = record.NoteMark + `pkg=example.com/a row="X-2, new" text="works in the background"` + "\n"
	c := compareText(t, Options{}, note+w.text()+note+record.NoteMark+"nonsense\n")
	n := 0
	for _, warning := range c.Warnings {
		if warning == "X-2, new: works in the background" {
			n++
		}
	}
	if n != 1 || len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "malformed note") {
		t.Errorf("warnings %q, problems %q", c.Warnings, c.Problems)
	}
}
