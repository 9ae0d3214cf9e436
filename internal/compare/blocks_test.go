package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// A turns is a made-up run in which subjects took turns.
type turns struct {
	blocks, rounds int
	layouts        int                // 0: the file does not say
	noise          float64            // of each slice
	process        float64            // what a process differs from others by
	bias           float64            // by which the control is slower than its base
	effects        map[string]float64 // by column; a column without is as fast as the base
	correlated     float64            // how much of a process's difference the next block's has
	head           string             // lines before the first block
	more           string             // fields of each line of slices
	result         string             // further values of each benchmark line
	rare           map[string]float64 // by how much the mean of a column grows, by one slice in a hundred
	burst          float64            // the part of the slices, of all columns, that the machine delays
	row            string             // "X" if it is empty
	seed           uint64
}

// text is the results file: columns ref-a, the base with its control, and those of
// the effects.
func (w turns) text() string {
	rng := rand.New(rand.NewPCG(w.seed, 1))
	var b strings.Builder
	b.WriteString(w.head)
	cols := []string{"ref-a", "ref-a"}
	for col := range w.effects {
		cols = append(cols, col)
	}
	slices.Sort(cols)
	row := w.row
	if row == "" {
		row = "X"
	}
	before := make([]float64, len(cols))
	for block := range w.blocks {
		fmt.Fprintf(&b, "block: %d\n", block+1)
		if w.layouts > 0 {
			fmt.Fprintf(&b, "layout: %d\n", block%w.layouts)
		}
		moments := make([]float64, w.rounds)
		for i := range moments {
			moments[i] = 0.3 * rng.Float64() // common to all that measure then
		}
		for i, col := range cols {
			before[i] = w.correlated*before[i] + w.process*rng.NormFloat64()
			level := before[i] + w.effects[col]
			copies := 1
			if i > 0 && cols[i-1] == col {
				copies = 2
				level += w.bias
			}
			var ns []string
			var per []float64
			for round, moment := range moments {
				v := 5e6 * math.Exp(moment+level+w.noise*rng.NormFloat64())
				if w.burst > 0 && rng.Float64() < w.burst {
					v += 5e6 * (5 + 50*rng.ExpFloat64())
				}
				if rare := w.rare[col]; rare > 0 && (round+13*block)%100 == 50 {
					v += 5e6 * 100 * rare
				}
				per = append(per, v/1000)
				ns = append(ns, fmt.Sprintf("%.0f", v))
			}
			slices.Sort(per)
			fmt.Fprintf(&b, "copy: %d\nBenchmark%s/impl=%s-2 %d %.4f ns/op%s\n# slices: n=1000 warmup=%d%s ns=%s\n",
				copies, row, col, 1000*w.rounds, stats.Median(per), w.result, w.rounds, w.more, strings.Join(ns, ","))
		}
	}
	return b.String()
}

// Rounds of a block are paired with one another: drift from round to round, which
// the blocks' medians hold, goes.
func TestRoundsArePaired(t *testing.T) {
	text := turns{blocks: 8, rounds: 10, noise: 0.003, process: 0.001, layouts: 8, effects: map[string]float64{"x": math.Log(1.03)}, seed: 1}.text()
	c := compareText(t, Options{}, text)
	cell := wantVerdict(t, c, "ns/op", "X-2", "x", Slower)
	near(t, "ratio", cell.Vs.Ratio, 1.03, 0.003)
	if cell.Vs.Rounds != 80 || cell.Vs.N != 8 || cell.Vs.Layouts != 8 {
		t.Errorf("%+v, want 80 rounds in 8 pairs of 8 layouts", cell.Vs)
	}
	for _, b := range cell.Blocks {
		near(t, "ratio of a block", b.Ratio, 1.03, 0.02)
	}
	// What the results themselves say is not used where there are rounds.
	wild := regexp.MustCompile(`(?m)^(BenchmarkX/impl=x-2 \d+) [\d.]+`).ReplaceAllString(text, "$1 12345")
	near(t, "ratio", wantVerdict(t, compareText(t, Options{}, wild), "ns/op", "X-2", "x", Slower).Vs.Ratio, cell.Vs.Ratio, 1e-12)
	// Slices that are missing take their round with them, and nothing else.
	torn := strings.Replace(text, " ns=", " ns=-,-,", 1) // shifts the first result's by two
	cell = wantVerdict(t, compareText(t, Options{}, torn), "ns/op", "X-2", "x", Slower)
	if cell.Vs.Rounds != 78 {
		t.Errorf("%d rounds, want 78", cell.Vs.Rounds)
	}
}

// The control is never pooled with what it controls, and is judged apart.
func TestControl(t *testing.T) {
	quiet := turns{blocks: 12, rounds: 8, layouts: 12, noise: 0.002, process: 0.002, effects: map[string]float64{"same": 0, "near": 0.06, "far": 1.4}, seed: 2}
	c := compareText(t, Options{}, quiet.text())
	_, r, base := cellAt(t, c, "ns/op", "X-2", "ref-a")
	if base.N != 12 || r.Control == nil || r.Control.Alarm || r.Control.Vs.N != 12 || len(r.Control.Blocks) != 12 {
		t.Fatalf("base %d values, control %+v", base.N, r.Control)
	}
	near(t, "control", r.Control.Vs.Ratio, 1, 0.003)
	wantVerdict(t, c, "ns/op", "X-2", "same", Same)
	wantVerdict(t, c, "ns/op", "X-2", "near", Slower)
	if c.Comparisons != 3 {
		t.Errorf("%d comparisons, want the control to be none of them", c.Comparisons)
	}

	biased := quiet
	biased.bias = 0.08
	c = compareText(t, Options{}, biased.text())
	_, r, _ = cellAt(t, c, "ns/op", "X-2", "ref-a")
	if !r.Control.Alarm {
		t.Errorf("no alarm: %+v", r.Control)
	}
	most := "off by up to " + percent(max(math.Abs(math.Log(r.Control.Vs.Lo)), math.Abs(math.Log(r.Control.Vs.Hi))))
	for _, col := range []string{"same", "near"} {
		if cell := wantVerdict(t, c, "ns/op", "X-2", col, Unproven); !strings.Contains(notesOf(c, cell), "A/A control") || !strings.Contains(notesOf(c, cell), most) {
			t.Errorf("%s: notes %q", col, notesOf(c, cell))
		}
	}
	if cell := wantVerdict(t, c, "ns/op", "X-2", "far", Slower); !strings.Contains(notesOf(c, cell), "this is more") {
		t.Errorf("far: notes %q", notesOf(c, cell))
	}
	if g := c.Gate(); len(g.Slower) != 1 || len(g.Inconclusive) != 2 {
		t.Errorf("gate: %+v", g)
	}
	// A hole of the control is none of the base, and a third copy is told.
	c = compareText(t, Options{}, quiet.text()+"copy: 2\n# hole: case=BenchmarkX/impl=ref-a-2 block=12 reason=r\ncopy: 3\nBenchmarkX/impl=ref-a-2 1 1 ns/op\n")
	if _, _, base = cellAt(t, c, "ns/op", "X-2", "ref-a"); base.Hole || base.N != 12 || base.Min < 1000 {
		t.Errorf("base: %+v", base)
	}
	if !strings.Contains(strings.Join(c.Warnings, "\n"), "no table: 1") {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

// A small difference between builds needs many layouts, a large one does not.
func TestLayouts(t *testing.T) {
	w := turns{blocks: 12, rounds: 8, noise: 0.001, process: 0.001, effects: map[string]float64{"small": 0.015, "large": 0.05}, seed: 3}
	for layouts, want := range map[int]Verdict{0: Unproven, 1: Unproven, 7: Unproven, 8: Slower, 12: Slower} {
		w.layouts = layouts
		c := compareText(t, Options{Margin: 0.005}, w.text())
		cell := wantVerdict(t, c, "ns/op", "X-2", "small", want)
		if note := notesOf(c, cell); strings.Contains(note, "needs 8 layouts") != (want == Unproven) {
			t.Errorf("%d layouts: notes %q", layouts, note)
		}
		wantVerdict(t, c, "ns/op", "X-2", "large", Slower)
		// With the usual margin it does not matter, whatever it comes from.
		wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "small", Same)
	}
}

// Claims hold for the report as a whole: what one comparison proves alone, many
// may not, and more blocks do.
func TestClaimsAreTheReports(t *testing.T) {
	report := func(rows, blocks int) *Comparison {
		var text strings.Builder
		w := turns{blocks: blocks, rounds: 4, layouts: blocks, noise: 0.005, process: 0.03, effects: map[string]float64{"x": 0.06}}
		for i := range rows {
			w.row, w.seed = fmt.Sprintf("X/n=%d", i), uint64(i)
			text.WriteString(w.text())
			w.effects = map[string]float64{"x": 0}
		}
		return compareText(t, Options{}, text.String())
	}
	const row = "X/n=0-2"
	cell := wantVerdict(t, report(1, 8), "ns/op", row, "x", Slower)
	if cell.Vs.Adjusted != cell.Vs.P || cell.Vs.Need != 0 {
		t.Errorf("alone: %+v", cell.Vs)
	}
	c := report(20, 8)
	cell = wantVerdict(t, c, "ns/op", row, "x", Inconclusive)
	near(t, "adjusted p", cell.Vs.Adjusted, 20*cell.Vs.P, 1e-12)
	if c.Comparisons != 20 || !(cell.Vs.P < 0.05) || math.IsInf(cell.Vs.Hi, 1) {
		t.Errorf("%d comparisons, %+v", c.Comparisons, cell.Vs)
	}
	// It says what it would need, and could detect no less than what it has found.
	if cell.Vs.Need <= 8 || cell.Vs.Need > 30 || cell.Vs.Undecidable || cell.Vs.Detectable < cell.Vs.Ratio {
		t.Errorf("needs %d blocks, detects %v: %+v", cell.Vs.Need, cell.Vs.Detectable, cell.Vs)
	}
	wantVerdict(t, report(20, 24), "ns/op", row, "x", Slower)
	// Five blocks can prove nothing, however large the difference.
	w := turns{blocks: 5, rounds: 4, layouts: 5, noise: 0.001, effects: map[string]float64{"x": 0.5}}
	c = compareText(t, Options{}, w.text())
	cell = wantVerdict(t, c, "ns/op", "X-2", "x", Inconclusive)
	near(t, "least p", cell.Vs.P, 2.0/32, 1e-12)
	if !math.IsInf(cell.Vs.Detectable, 1) || cell.Vs.Need != record.LeastBlocks || !strings.Contains(notesOf(c, cell), "so few blocks") {
		t.Errorf("detects %v, needs %d blocks; notes %q", cell.Vs.Detectable, cell.Vs.Need, notesOf(c, cell))
	}
}

// What is inconclusive says how small an effect it could have seen, and what would
// help: how many blocks, and how long that takes on the wall.
func TestInconclusiveSaysWhatWouldHelp(t *testing.T) {
	w := turns{blocks: 12, rounds: 10, layouts: 12, noise: 0.001, process: 0.03, effects: map[string]float64{"x": 0.001}, seed: 24}
	cell := wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "x", Inconclusive)
	// The spread of a process and the mean of two is 0.03 × sqrt(1.5), and 12 blocks
	// see about one and a bit of it.
	if d := math.Log(cell.Vs.Detectable); d < 0.02 || d > 0.09 {
		t.Errorf("sees %v", cell.Vs.Detectable)
	}
	if cell.Vs.Need < 20 || cell.Vs.Need > mostBlocks || cell.Vs.Undecidable {
		t.Errorf("needs %d blocks", cell.Vs.Need)
	}
	// Old files do not say how long a row took: a block is two columns, of 10 slices for
	// warming up and 10 more, of 5 to 7 ms, and about as much again for what is between.
	per := cell.Vs.NeedTime.Seconds() / float64(cell.Vs.Need)
	near(t, "seconds a block", per, 2*2*20*0.0058, 0.05)
	old := cell.Vs.Need

	w.more = " row-ms=1300"
	cell = wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "x", Inconclusive)
	if want := 1300 * time.Millisecond * time.Duration(old); cell.Vs.Need != old || cell.Vs.NeedTime.Round(time.Millisecond) != want {
		t.Errorf("needs %d blocks, %v; want %d, %v", cell.Vs.Need, cell.Vs.NeedTime, old, want)
	}
	w.blocks, w.layouts = old, old
	cell = wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "x", Same)
	if cell.Vs.Need != 0 || cell.Vs.NeedTime != 0 || cell.Vs.Undecidable {
		t.Errorf("decided, and needs %d blocks more", cell.Vs.Need)
	}

	// Where more blocks would not do than anybody measures, it says that.
	w.blocks, w.layouts, w.process = 12, 12, 0.3
	cell = wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "x", Inconclusive)
	if cell.Vs.Need != 0 || cell.Vs.NeedTime != 0 || !cell.Vs.Undecidable {
		t.Errorf("needs %d blocks, %v", cell.Vs.Need, cell.Vs)
	}
}

// A plan that looks several times spends a part of its level at each look, and says
// so in its results.
func TestSequentialPlan(t *testing.T) {
	w := turns{blocks: 6, rounds: 4, layouts: 12, noise: 0.01, process: 0.03, effects: map[string]float64{"x": 0.08}, seed: 5}
	const looks = record.PlanMark + `{"blocks":12,"looks":[6,9,12]}` + "\n"
	compare := func(blocks int, head string, want Verdict) *Versus {
		t.Helper()
		w.blocks, w.head = blocks, head
		return wantVerdict(t, compareText(t, Options{}, w.text()), "ns/op", "X-2", "x", want).Vs
	}
	share := func(blocks int) float64 { return stats.Looks{At: []int{6, 9, 12}}.Share(blocks) }
	fixed := compare(6, "", Slower)
	first := compare(6, looks, Inconclusive)
	near(t, "p after 6 blocks", first.P, fixed.P/share(6), 1e-12)
	if first.Lo >= fixed.Lo || first.Hi <= fixed.Hi {
		t.Errorf("the interval of a look is %v to %v, and of no look %v to %v", first.Lo, first.Hi, fixed.Lo, fixed.Hi)
	}
	// At the second look the least p of both counts.
	fixed = compare(9, "", Slower)
	second := compare(9, looks, Slower)
	near(t, "p after 9 blocks", second.P, min(first.P, fixed.P/share(9)), 1e-9)
	near(t, "p without looks", compare(9, "# plan: {nonsense\n", Slower).P, fixed.P, 1e-12)
}

// Blocks that hang together are told.
func TestOrderIsTold(t *testing.T) {
	report := func(correlated float64) *Comparison {
		var text strings.Builder
		for i := range 8 {
			text.WriteString(turns{
				blocks: 20, rounds: 4, layouts: 20, noise: 0.001, process: 0.01, correlated: correlated,
				effects: map[string]float64{"x": 0.5}, row: fmt.Sprintf("X/n=%d", i), seed: uint64(60 + i),
			}.text())
		}
		return compareText(t, Options{}, text.String())
	}
	const told = "depend on one another"
	if c := report(0); strings.Contains(strings.Join(c.Warnings, "\n"), told) {
		t.Errorf("independent blocks: %q", c.Warnings)
	}
	c := report(0.8)
	if !strings.Contains(strings.Join(c.Warnings, "\n"), told) {
		t.Errorf("dependent blocks: %q", c.Warnings)
	}
	sum := 0.0
	for i := range 8 {
		_, _, cell := cellAt(t, c, "ns/op", fmt.Sprintf("X/n=%d-2", i), "x")
		sum += cell.Vs.Lag1 / 8
	}
	if sum < 0.3 {
		t.Errorf("mean correlation with the next block %v", sum)
	}
}

// Counts that never vary are compared as they are, whether or not the file says
// that they are exact.
func TestCountsAreExact(t *testing.T) {
	c := compareText(t, Options{Base: "a"}, blocks(3,
		"BenchmarkG/impl=a 1 10~ ns/op 100 allocs/op 64 B/op",
		"BenchmarkG/impl=b 1 10~ ns/op 101 allocs/op 80 B/op",
		"BenchmarkG/impl=c 1 10~ ns/op 90 allocs/op 67~ B/op",
	))
	wantVerdict(t, c, "allocs/op", "G", "b", Same) // by one percent
	wantVerdict(t, c, "allocs/op", "G", "c", Better)
	wantVerdict(t, c, "B/op", "G", "b", Worse)
	wantVerdict(t, c, "B/op", "G", "c", Inconclusive)
	for _, b := range wantVerdict(t, c, "allocs/op", "G", "c", Better).Blocks {
		near(t, "ratio of a block of which nothing is tested", b.Ratio, 0.9, 1e-12)
	}
	wantVerdict(t, compareText(t, Options{Base: "a", Margin: 0.001}, blocks(3,
		"BenchmarkG/impl=a 1 100 allocs/op", "BenchmarkG/impl=b 1 101 allocs/op")), "allocs/op", "G", "b", Worse)
}

// What the runtime allocates beside a program in one of two blocks leaves a count what it is.
func TestStrayAllocationsDoNotHideACount(t *testing.T) {
	for _, c := range []struct {
		base, stray, x string
		want           Verdict
	}{
		{"0", "0.0003", "1", Worse},
		{"1.0003", "1", "0", Better},
		{"1", "1.0003", "2", Worse},
		{"200", "200.004", "201", Same},      // apart, by less than the margin
		{"1", "1.02", "2", Inconclusive},     // more than strays
		{"1", "1.005", "1.09", Inconclusive}, // too near
		{"1", "1.005", "1.006", Same},        // closer than a hundredth
	} {
		var text strings.Builder
		for i, base := range []string{c.base, c.stray} {
			fmt.Fprintf(&text, "block: %d\nBenchmarkG/impl=a 1 %s allocs/op\nBenchmarkG/impl=b 1 %s allocs/op\n", i, base, c.x)
		}
		comparison := compareText(t, Options{Base: "a"}, "Unit allocs/op better=lower\n"+text.String())
		cell := wantVerdict(t, comparison, "allocs/op", "G", "b", c.want)
		if c.want != Inconclusive && !math.IsNaN(cell.Vs.P) {
			t.Errorf("%+v: there was a test: %+v", c, cell.Vs)
		}
	}
}

// By noise alone, of whatever size, two blocks have their counts apart at most as often as
// byCount says.
func TestNoiseIsNoCount(t *testing.T) {
	const tries, stray = 20_000, 0.01
	r := rand.New(rand.NewPCG(16, 2))
	for noise := stray / 8; noise <= 64*stray; noise *= 2 {
		for _, draw := range []func() float64{r.NormFloat64, r.Float64, r.ExpFloat64} {
			count := func() *value { return &value{v: 5 + noise*draw()} }
			wrong := 0
			for range tries {
				same := tested{table: &Table{Unit: "allocs/op"}, vs: new(Versus), pairs: []valuePair{{count(), count()}, {count(), count()}}}
				if same.byCount(math.Log1p(DefaultMargin)) != stats.Unknown {
					wrong++
				}
			}
			if wrong > tries/400 {
				t.Errorf("noise of %g: of %d comparisons of the same program, %d say that it differs", noise, tries, wrong)
			}
		}
	}
}

// Noise has two blocks alike at most as often as alike says, where the sides differ by the margin.
func TestNoiseIsNotAlike(t *testing.T) {
	const tries, margin = 20_000, CountMargin
	r := rand.New(rand.NewPCG(16, 3))
	for noise := margin / 16; noise <= 16*margin; noise *= 2 {
		for _, draw := range []func() float64{r.NormFloat64, r.Float64, r.ExpFloat64} {
			d := func() float64 { return margin + noise*(draw()-draw()) }
			wrong := 0
			for range tries {
				differ := tested{logs: true, pairs: make([]valuePair, 2), blocks: stats.Blocks{D: []float64{d(), d()}}}
				if differ.alike(margin) {
					wrong++
				}
			}
			if wrong > tries/30 {
				t.Errorf("noise of %g: of %d comparisons of programs that differ by the margin, %d say that they are alike", noise, tries, wrong)
			}
		}
	}
}
