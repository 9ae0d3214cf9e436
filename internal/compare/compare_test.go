package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"github.com/dynolab/dyno/internal/recordtest"
)

// compareText compares one file of the given text.
func compareText(t testing.TB, o Options, text string) *Comparison {
	t.Helper()
	c, err := Compare([]string{recordtest.Write(t, "a.bench", text)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cellAt finds a cell by names; the test fails if there is none.
func cellAt(t testing.TB, c *Comparison, unit, row, col string) (Table, Row, Cell) {
	t.Helper()
	for _, tab := range c.Tables {
		if tab.Unit != unit {
			continue
		}
		i := slices.IndexFunc(tab.Cols, func(c Column) bool { return c.Name == col })
		for _, r := range tab.Rows {
			if r.Name == row && i >= 0 {
				return tab, r, r.Cells[i]
			}
		}
	}
	t.Fatalf("no cell %s, %s in %s", row, col, unit)
	panic("unreachable")
}

func notesOf(c *Comparison, cell Cell) string {
	var s []string
	for _, n := range cell.Notes {
		s = append(s, c.Notes[n])
	}
	return strings.Join(s, "\n")
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func wantVerdict(t *testing.T, c *Comparison, unit, row, col string, want Verdict) Cell {
	t.Helper()
	_, _, cell := cellAt(t, c, unit, row, col)
	if cell.Verdict != want {
		t.Errorf("%s of %s in %s: %q, want %q (%+v)", col, row, unit, cell.Verdict, want, cell.Vs)
	}
	return cell
}

// Our centres and intervals are benchmath's, of the values as benchfmt reads
// them; so benchstat shows the same.
func TestCentersAreBenchstats(t *testing.T) {
	for _, files := range [][]string{
		{"testdata/compare/interleaved.bench"},
		{"testdata/compare/old.txt", "testdata/compare/new.txt"},
	} {
		c, err := Compare(files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		type key struct{ unit, name, file string }
		values := make(map[key][]float64)
		in := benchfmt.Files{Paths: files}
		for in.Scan() {
			if res, ok := in.Result().(*benchfmt.Result); ok {
				for _, v := range res.Values {
					k := key{v.Unit, string(res.Name), filepath.Base(res.GetConfig(".file"))}
					values[k] = append(values[k], v.Value)
				}
			}
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
		units := benchfmt.UnitMetadataMap(in.Units())
		found := 0
		for k, vs := range values {
			want := units.GetAssumption(k.unit).Summary(benchmath.NewSample(vs, &benchmath.DefaultThresholds), 0.95)
			unit, factor := k.unit, 1.0
			if unit == "sec/op" {
				unit, factor = "ns/op", 1e9
			}
			row, col := k.name, k.file
			if len(files) == 1 {
				_, rest, _ := strings.Cut(k.name, "/impl=")
				col = strings.TrimSuffix(rest, "-2")
				row = strings.Replace(k.name, "/impl="+col, "", 1)
			}
			_, _, cell := cellAt(t, c, unit, row, col)
			for _, f := range []struct {
				what      string
				got, want float64
			}{{"center", cell.Center, want.Center * factor}, {"lo", cell.Lo, want.Lo * factor}, {"hi", cell.Hi, want.Hi * factor}} {
				if f.got != f.want && math.Abs(f.got-f.want) > 1e-9*math.Abs(f.want) {
					t.Errorf("%v: %s is %v, benchmath says %v", k, f.what, f.got, f.want)
				}
			}
			if cell.N != len(vs) {
				t.Errorf("%v: %d values, want %d", k, cell.N, len(vs))
			}
			found++
		}
		if found == 0 {
			t.Error("no values compared")
		}
	}
}

// Without blocks the p-value is benchmath's, and with it benchstat's.
func TestUnpairedPIsBenchstats(t *testing.T) {
	c, err := Compare([]string{"testdata/compare/old.txt", "testdata/compare/new.txt"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := func(file, name string) *benchmath.Sample {
		var vs []float64
		in := benchfmt.Files{Paths: []string{file}}
		for in.Scan() {
			if res, ok := in.Result().(*benchfmt.Result); ok && string(res.Name) == name {
				v, _ := res.Value("sec/op")
				vs = append(vs, v)
			}
		}
		return benchmath.NewSample(vs, &benchmath.DefaultThresholds)
	}
	for _, name := range []string{"Encode-8", "Decode-8", "Same-8"} {
		want := benchmath.AssumeNothing.Compare(read("testdata/compare/old.txt", name), read("testdata/compare/new.txt", name))
		_, _, cell := cellAt(t, c, "ns/op", name, "new.txt")
		if cell.Vs.Paired {
			t.Errorf("%s: paired across files", name)
		}
		near(t, name+": p", cell.Vs.P, want.P, 1e-12)
	}
	wantVerdict(t, c, "ns/op", "Encode-8", "new.txt", Unproven)
	wantVerdict(t, c, "ns/op", "Decode-8", "new.txt", Unproven)
	wantVerdict(t, c, "ns/op", "Same-8", "new.txt", Unproven)
	if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "unpaired") }) {
		t.Errorf("no warning that the comparison is unpaired: %q", c.Warnings)
	}
	if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, `"commit": old.txt: aaaa; new.txt: bbbb`) }) {
		t.Errorf("no warning that commits differ: %q", c.Warnings)
	}
}

// drifting is an interleaved run whose noise, common to a block, is ten times
// the difference between a and b.
func drifting(blocks int, withBlocks bool) string {
	rng := rand.New(rand.NewPCG(5, 6))
	var s strings.Builder
	for b := range blocks {
		if withBlocks {
			fmt.Fprintf(&s, "block: %d\n", b)
		}
		drift := 1 + 0.5*rng.Float64()
		lines := []string{
			fmt.Sprintf("BenchmarkX/impl=a 1 %.6g ns/op\n", 1000*drift*(1+0.01*rng.Float64())),
			fmt.Sprintf("BenchmarkX/impl=b 1 %.6g ns/op\n", 1050*drift*(1+0.01*rng.Float64())),
		}
		if rng.IntN(2) == 0 {
			slices.Reverse(lines)
		}
		s.WriteString(strings.Join(lines, ""))
	}
	return s.String()
}

// Pairs by block see through drift that hides the same difference from an
// unpaired test.
func TestPairsSeeThroughDrift(t *testing.T) {
	o := Options{Base: "a"}
	cell := wantVerdict(t, compareText(t, o, drifting(10, true)), "ns/op", "X", "b", Slower)
	if !cell.Vs.Paired || cell.Vs.N != 10 {
		t.Errorf("compared with %+v, want 10 pairs", cell.Vs)
	}
	near(t, "ratio", cell.Vs.Ratio, 1.05, 0.005)
	if !(cell.Vs.Lo > 1.03 && cell.Vs.Lo < 1.05 && cell.Vs.Hi > 1.05 && cell.Vs.Hi < 1.07) {
		t.Errorf("interval [%v, %v], want a narrow one around 1.05", cell.Vs.Lo, cell.Vs.Hi)
	}
	cell = wantVerdict(t, compareText(t, o, drifting(10, false)), "ns/op", "X", "b", Inconclusive)
	if cell.Vs.Paired || cell.Vs.N != 10 || cell.Vs.BaseN != 10 {
		t.Errorf("compared with %+v, want two samples of 10", cell.Vs)
	}
}

// Five blocks cannot show anything at 0.05, six can; and the note says so.
func TestTooFew(t *testing.T) {
	c := compareText(t, Options{Base: "a"}, drifting(5, true))
	cell := wantVerdict(t, c, "ns/op", "X", "b", Inconclusive)
	if !strings.Contains(notesOf(c, cell), "so few blocks that both columns have can prove no difference at level 0.05") {
		t.Errorf("notes: %q", notesOf(c, cell))
	}
	if !math.IsInf(cell.Vs.Hi, 1) || cell.Vs.Lo != 0 {
		t.Errorf("interval [%v, %v] from too few blocks", cell.Vs.Lo, cell.Vs.Hi)
	}
	wantVerdict(t, compareText(t, Options{Base: "a"}, drifting(6, true)), "ns/op", "X", "b", Slower) // one comparison
	wantVerdict(t, compareText(t, Options{Base: "a", Alpha: 0.1}, drifting(5, true)), "ns/op", "X", "b", Slower)
	// Three unpaired values each are too few as well.
	wantVerdict(t, compareText(t, Options{Base: "a"}, drifting(3, false)), "ns/op", "X", "b", Inconclusive)
}

// Only blocks that both columns have make pairs, and a hole says why.
func TestPairsWithHoles(t *testing.T) {
	text := drifting(8, true)
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		if strings.Contains(l, "impl=b") && i < 6 {
			lines[i] = `# hole: case=BenchmarkX/impl=b block=` + strconv.Itoa(i/3) + ` reason="no luck"` + "\n"
		}
	}
	c := compareText(t, Options{Base: "a"}, strings.Join(lines, ""))
	cell := wantVerdict(t, c, "ns/op", "X", "b", Slower)
	if cell.Vs.N != 6 || !cell.Hole {
		t.Errorf("%d pairs, hole %v, want 6 and a hole", cell.Vs.N, cell.Hole)
	}
	if got := notesOf(c, cell); got != "missing in block 0, 1: no luck" {
		t.Errorf("notes: %q", got)
	}
	if g := c.Gate(); len(g.Slower) != 1 {
		t.Errorf("gate: %+v", g)
	}
	// Without a hole line the reason is not known, but that it is missing is reported.
	c = compareText(t, Options{Base: "a"}, strings.ReplaceAll(strings.Join(lines, ""), "# hole", "# comment"))
	if _, _, cell = cellAt(t, c, "ns/op", "X", "b"); !strings.Contains(notesOf(c, cell), "fewer values than others of the same benchmark, which have up to 8") {
		t.Errorf("notes: %q", notesOf(c, cell))
	}
}

// blocks repeats lines in n blocks, with a little noise on what is written
// "%v".
func blocks(n int, lines ...string) string {
	var s strings.Builder
	for b := range n {
		fmt.Fprintf(&s, "block: %d\n", b)
		for i, l := range lines {
			fmt.Fprintf(&s, "case: %d\n", i)
			s.WriteString(strings.ReplaceAll(l, "~", fmt.Sprintf(".%d%d", (b*7+i*3)%10, (b*3+i)%10)) + "\n")
		}
	}
	return s.String()
}

// Peers are no references, so none is a base, and stand behind the designs.
func TestPeersComeLast(t *testing.T) {
	c := compareText(t, Options{}, blocks(12,
		"BenchmarkG/w=1/impl=peer-x 1 200~ ns/op",
		"BenchmarkG/w=1/impl=ref-a 1 400~ ns/op",
		"BenchmarkG/w=1/impl=fast 1 100~ ns/op",
	))
	near(t, "ratio of the peer", wantVerdict(t, c, "ns/op", "G/w=1", "peer-x", Faster).Vs.Ratio, 0.5, 0.01)
	wantVerdict(t, c, "ns/op", "G/w=1", "ref-a", Base)
	want := []Column{{Name: "ref-a", Ref: true}, {Name: "fast"}, {Name: "peer-x", Peer: true}}
	if got := c.Tables[0].Cols; !slices.Equal(got, want) {
		t.Errorf("columns %+v, want %+v", got, want)
	}
}

// The base is each row's own first reference, in plan order.
func TestBaseIsTheFirstReference(t *testing.T) {
	text := blocks(12,
		"BenchmarkG/w=1/impl=fast 1 100~ ns/op",
		"BenchmarkG/w=1/impl=ref-b 1 200~ ns/op",
		"BenchmarkG/w=1/impl=ref-a 1 400~ ns/op",
		"BenchmarkG/w=2/impl=ref-a 1 300~ ns/op",
		"BenchmarkG/w=2/impl=fast 1 600~ ns/op",
		"BenchmarkG/w=3/impl=fast 1 600~ ns/op",
		"BenchmarkG/w=4/impl=ref-a 1 300~ ns/op",
		"BenchmarkG/w=4/impl=ref-b 1 300~ ns/op",
	)
	c := compareText(t, Options{}, text)
	near(t, "ratio to ref-b", wantVerdict(t, c, "ns/op", "G/w=1", "fast", Faster).Vs.Ratio, 0.5, 0.01)
	near(t, "ratio to ref-a", wantVerdict(t, c, "ns/op", "G/w=2", "fast", Slower).Vs.Ratio, 2, 0.01)
	wantVerdict(t, c, "ns/op", "G/w=1", "ref-a", Slower)
	wantVerdict(t, c, "ns/op", "G/w=1", "ref-b", Base)
	wantVerdict(t, c, "ns/op", "G/w=3", "fast", NoBase)
	wantVerdict(t, c, "ns/op", "G/w=4", "ref-a", Base)
	var names []string
	for _, col := range c.Tables[0].Cols {
		names = append(names, col.Name)
		if col.Ref != strings.HasPrefix(col.Name, "ref-") {
			t.Errorf("%s: Ref is %v", col.Name, col.Ref)
		}
	}
	if got := strings.Join(names, " "); got != "ref-b ref-a fast" {
		t.Errorf("columns %s: want references first, in plan order", got)
	}
	// The plan's order holds, not the file's.
	lines := strings.SplitAfter(text, "case: ")
	head, rest := lines[0], lines[1:]
	slices.Reverse(rest)
	reversed := compareText(t, Options{}, head+"case: "+strings.Join(rest, "\ncase: "))
	if got := reversed.Tables[0].Rows[0].Name; got != "G/w=1" {
		t.Errorf("first row %s, want the plan's first", got)
	}

	c = compareText(t, Options{Base: "fast"}, text)
	wantVerdict(t, c, "ns/op", "G/w=1", "ref-b", Slower)
	wantVerdict(t, c, "ns/op", "G/w=3", "fast", Base)

	_, err := Compare([]string{recordtest.Write(t, "a", text)}, Options{Base: "fats"})
	if err == nil || !strings.Contains(err.Error(), `did you mean "fast"`) {
		t.Errorf("unknown base: %v", err)
	}
}

// Where files number their cases differently, the least number counts.
func TestPlanOrderOfSeveralFiles(t *testing.T) {
	a := recordtest.Write(t, "a.bench", "case: 1\nBenchmarkFirst/impl=x 1 5 ns/op\ncase: 2\nBenchmarkSecond/impl=x 1 5 ns/op\n")
	b := recordtest.Write(t, "b.bench", "case: 9\nBenchmarkFirst/impl=x 1 5 ns/op\n")
	c, err := Compare([]string{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rows := c.Tables[0].Rows; rows[0].Name != "First" {
		t.Errorf("first row: %s", rows[0].Name)
	}
}

// Exact units are compared, not tested; overlapping ranges are no difference.
func TestExactUnits(t *testing.T) {
	text := "Unit allocs/op assume=exact\n" + blocks(3,
		"BenchmarkG/impl=a 1 10 allocs/op",
		"BenchmarkG/impl=b 1 12 allocs/op",
		"BenchmarkG/impl=c 1 10 allocs/op",
		"BenchmarkG/impl=d 1 9 allocs/op",
	) + "BenchmarkG/impl=e 1 9 allocs/op\nBenchmarkG/impl=e 1 11 allocs/op\n"
	c := compareText(t, Options{Base: "a"}, text)
	cell := wantVerdict(t, c, "allocs/op", "G", "b", Worse)
	near(t, "ratio", cell.Vs.Ratio, 1.2, 1e-12)
	if !math.IsNaN(cell.Vs.P) || !math.IsNaN(cell.Vs.Lo) {
		t.Errorf("exact values were tested: %+v", cell.Vs)
	}
	wantVerdict(t, c, "allocs/op", "G", "c", Same)
	wantVerdict(t, c, "allocs/op", "G", "d", Better)
	cell = wantVerdict(t, c, "allocs/op", "G", "e", Inconclusive)
	if !strings.Contains(notesOf(c, cell), "exact distribution expected") {
		t.Errorf("notes: %q", notesOf(c, cell))
	}
}

// What the runtime allocates beside a program is no difference, and needs no test.
func TestNextToNothingIsNothing(t *testing.T) {
	text := blocks(12,
		"BenchmarkG/impl=a 1 1~e-4 allocs/msg 1~e-2 B/msg",
		"BenchmarkG/impl=b 1 8~e-3 allocs/msg 8~e-1 B/msg",
		"BenchmarkG/impl=c 1 2~e-2 allocs/msg 2~ B/msg",
	)
	c := compareText(t, Options{Base: "a"}, text)
	for _, unit := range []string{"allocs/msg", "B/msg"} {
		if cell := wantVerdict(t, c, unit, "G", "b", Same); !math.IsNaN(cell.Vs.P) {
			t.Errorf("%s: tested, %+v", unit, cell.Vs)
		}
		wantVerdict(t, c, unit, "G", "c", Worse)
	}
	if c.Comparisons != 2 {
		t.Errorf("%d comparisons, want those of c", c.Comparisons)
	}
}

// A rate that is calculated from the time says nothing new. It is shown to who asks
// for it, and where there is no time.
func TestRatesAreNoComparisonsOfTheirOwn(t *testing.T) {
	both := blocks(12, "BenchmarkG/impl=a 1 100~ ns/op 100~ MB/s", "BenchmarkG/impl=b 1 200~ ns/op 50~ MB/s")
	units := func(opts Options, text string) (us []string) {
		for _, table := range compareText(t, opts, text).Tables {
			us = append(us, table.Unit)
		}
		return us
	}
	if got := units(Options{}, both); !slices.Equal(got, []string{"ns/op"}) {
		t.Errorf("tables of %q", got)
	}
	if got := units(Options{Filter: ".unit:MB/s"}, both); !slices.Equal(got, []string{"MB/s"}) {
		t.Errorf("asked for MB/s: tables of %q", got)
	}
	if got := units(Options{}, both+blocks(12, "BenchmarkH/impl=a 1 10~ MB/s")); !slices.Equal(got, []string{"ns/op", "MB/s"}) {
		t.Errorf("a benchmark without a time: tables of %q", got)
	}
}

// Which way is good comes from the unit, and so does the word.
func TestDirections(t *testing.T) {
	text := "Unit msgs/s better=higher\nUnit B/actor better=lower\nUnit p50-ns better=lower\n" + blocks(12,
		"BenchmarkG/impl=a 1 100~ ns/op 100~ msgs/s 100~ B/actor 100~ p50-ns 100~ things",
		"BenchmarkG/impl=b 1 200~ ns/op 200~ msgs/s 200~ B/actor 200~ p50-ns 200~ things",
		"BenchmarkG/impl=c 1 50~ ns/op 50~ msgs/s 50~ B/actor 50~ p50-ns 50~ things",
	)
	c := compareText(t, Options{Base: "a"}, text)
	for unit, want := range map[string][2]Verdict{
		"ns/op": {Slower, Faster}, "msgs/s": {Faster, Slower}, "B/actor": {Worse, Better}, "p50-ns": {Slower, Faster}, "things": {Higher, Lower},
	} {
		wantVerdict(t, c, unit, "G", "b", want[0])
		wantVerdict(t, c, unit, "G", "c", want[1])
	}
	if got := c.Tables[0].Unit; got != "ns/op" {
		t.Errorf("first table is %s", got)
	}
}

// Units are ordered: time, allocations, bytes, then as they appear.
func TestOrderOfTables(t *testing.T) {
	c := compareText(t, Options{}, "BenchmarkX 1 5 z/op 3 B/op 2 allocs/op 4 a/op 1 ns/op\n")
	var units []string
	for _, tab := range c.Tables {
		units = append(units, tab.Unit)
	}
	if got := strings.Join(units, " "); got != "ns/op allocs/op B/op z/op a/op" {
		t.Errorf("tables: %s", got)
	}
}

// Zero and negative values have no logarithm: they are tested, without an
// interval of the ratio.
func TestValuesThatAreNotPositive(t *testing.T) {
	text := blocks(6,
		"BenchmarkG/impl=a 1 0 ns/op",
		"BenchmarkG/impl=b 1 5~ ns/op",
		"BenchmarkG/impl=c 1 0 ns/op",
	)
	c := compareText(t, Options{Base: "a"}, text)
	if len(c.Tables) != 1 {
		t.Fatalf("%d tables, want 1: zero has got a unit of its own", len(c.Tables))
	}
	cell := wantVerdict(t, c, "ns/op", "G", "b", Slower)
	if !math.IsNaN(cell.Vs.Ratio) || !math.IsNaN(cell.Vs.Lo) {
		t.Errorf("a ratio to zero: %+v", cell.Vs)
	}
	cell = wantVerdict(t, c, "ns/op", "G", "c", Same)
	if cell.Vs.Ratio != 1 {
		t.Errorf("zero over zero is %v", cell.Vs.Ratio)
	}
	// The same without blocks.
	plain := strings.ReplaceAll(text, "block: ", "# block ")
	wantVerdict(t, compareText(t, Options{Base: "a"}, plain), "ns/op", "G", "b", Unproven)
}

// Several values in a block are one, their median: they come from one process.
func TestValuesOfOneProcess(t *testing.T) {
	c := compareText(t, Options{}, "block: 1\nBenchmarkX 1 10 ns/op\nBenchmarkX 1 90 ns/op\nBenchmarkX 1 20 ns/op\nblock: 2\nBenchmarkX 1 40 ns/op\n")
	cell := wantVerdict(t, c, "ns/op", "X", "a.bench", Base)
	if cell.N != 2 || cell.Center != 30 {
		t.Errorf("n=%d, center %v, want 2 and 30", cell.N, cell.Center)
	}
	if !strings.Contains(notesOf(c, cell), "reduced to their median") {
		t.Errorf("notes: %q", notesOf(c, cell))
	}
}

// A comparison keeps what each block said, and how its binary was laid out.
func TestValuesOfBlocks(t *testing.T) {
	c := compareText(t, Options{}, `block: 1
BenchmarkX/impl=a 1 10 ns/op
BenchmarkX/impl=a 1 12 ns/op
layout: 4
BenchmarkX/impl=b 1 7 ns/op
block: 2
layout: 5
BenchmarkX/impl=b 1 9 ns/op
BenchmarkX/impl=a 1 13 ns/op
`)
	_, _, a := cellAt(t, c, "ns/op", "X", "a")
	_, _, b := cellAt(t, c, "ns/op", "X", "b")
	label, nan := c.Files[0].Label, math.NaN()
	if want := []BlockValue{{label, "1", "", 11, 1, nan}, {label, "2", "5", 13, 1, nan}}; !slices.EqualFunc(a.Blocks, want, sameBlock) {
		t.Errorf("a is %+v, want %+v", a.Blocks, want)
	}
	if want := []BlockValue{{label, "1", "4", 7, 7. / 11, nan}, {label, "2", "5", 9, 9. / 13, nan}}; !slices.EqualFunc(b.Blocks, want, sameBlock) {
		t.Errorf("b is %+v, want %+v", b.Blocks, want)
	}
}

func sameBlock(a, b BlockValue) bool {
	near := math.Abs(a.Ratio-b.Ratio) < 1e-12 && math.IsNaN(a.Typical) && math.IsNaN(b.Typical)
	a.Ratio, a.Typical, b.Typical = b.Ratio, 0, 0
	return near && a == b
}

// Packages are told apart only where one name stands in several.
func TestPackages(t *testing.T) {
	c := compareText(t, Options{}, "pkg: p/a\nBenchmarkX/impl=a 1 10 ns/op\npkg: p/b\nBenchmarkX/impl=b 1 20 ns/op\n")
	if rows := c.Tables[0].Rows; len(rows) != 1 || rows[0].Pkg != "" {
		t.Errorf("rows: %+v, want one without package", rows)
	}
	c = compareText(t, Options{}, "pkg: p/a\nBenchmarkX 1 10 ns/op\npkg: p/b\nBenchmarkX 1 20 ns/op\n")
	if rows := c.Tables[0].Rows; len(rows) != 2 || rows[0].Pkg != "p/a" || rows[1].Pkg != "p/b" {
		t.Errorf("rows: %+v, want one for each package", rows)
	}
	c = compareText(t, Options{Col: "pkg"}, "pkg: p/a\nBenchmarkX 1 10 ns/op\npkg: p/b\nBenchmarkX 1 20 ns/op\n")
	if tab := c.Tables[0]; len(tab.Rows) != 1 || len(tab.Cols) != 2 || tab.Cols[1].Name != "p/b" {
		t.Errorf("table: %+v, want the packages as columns", tab)
	}
}

// A cell that pools different circumstances is told.
func TestMixedCircumstances(t *testing.T) {
	c := compareText(t, Options{}, "commit: one\nBenchmarkX/impl=a 1 10 ns/op\ncommit: two\nBenchmarkX/impl=a 1 20 ns/op\nBenchmarkX/impl=b 1 20 ns/op\n")
	_, _, cell := cellAt(t, c, "ns/op", "X", "a")
	if !strings.Contains(notesOf(c, cell), "pools results of different circumstances") {
		t.Errorf("notes: %q", notesOf(c, cell))
	}
	all := strings.Join(c.Warnings, "\n")
	if !strings.Contains(all, `differ in "commit" are pooled`) || !strings.Contains(all, `columns differ in "commit": a: one, two; b: two`) {
		t.Errorf("warnings: %q", c.Warnings)
	}
	c = compareText(t, Options{Col: "commit"}, "commit: one\nblock: 1\ncase: 1\nBenchmarkX 1 10 ns/op\ncommit: two\nblock: 2\nBenchmarkX 1 20 ns/op\n")
	if all := strings.Join(c.Warnings, "\n"); strings.Contains(all, "commit") || strings.Contains(all, "block\"") {
		t.Errorf("warnings about what is compared: %q", c.Warnings)
	}
}

// Columns may name their order, which also chooses them, or several keys.
func TestColumnKeys(t *testing.T) {
	text := blocks(6, "BenchmarkX/impl=a/size=1-2 1 10~ ns/op", "BenchmarkX/impl=b/size=1-2 1 20~ ns/op", "BenchmarkX/impl=c-2 1 30~ ns/op")
	cols := func(o Options) string {
		var names []string
		for _, c := range compareText(t, o, text).Tables[0].Cols {
			names = append(names, c.Name)
		}
		return strings.Join(names, "|")
	}
	for col, want := range map[string]string{
		"":                    "a|b|c",
		"/impl@(c a)":         "c|a",
		"/size":               "1|(no /size)",
		"/impl,/gomaxprocs":   "a 2|b 2|c 2",
		".file":               "a.bench",
		"/impl@(b a),/size":   "b 1|a 1",
		".name,/impl@(b c a)": "X b|X c|X a",
	} {
		if got := cols(Options{Col: col}); got != want {
			t.Errorf("--col %q: %s, want %s", col, got, want)
		}
	}
	if got := cols(Options{Filter: "/impl:(a OR c)"}); got != "a|c" {
		t.Errorf("filtered: %s", got)
	}
	for _, o := range []Options{
		{Col: "/impl@nonsense"}, {Filter: "impl:"}, {Filter: "/impl:none"}, {Alpha: 2}, {Alpha: math.NaN()}, {Alpha: -1},
	} {
		if _, err := Compare([]string{recordtest.Write(t, "a", text)}, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// A hole is a hole under a filter by unit too, and only where it is due.
func TestHoles(t *testing.T) {
	text := `pkg: p
block: 1
BenchmarkX/impl=a 1 10 ns/op 1 B/op
# hole: case=BenchmarkX/impl=b block=1 reason="crashed: \"oh\""
# hole: case="X/impl=c" reason=gone
# skip: case=BenchmarkX/impl=d reason="needs Overlap"
BenchmarkY/impl=b 1 10 ns/op
BenchmarkZ/impl=ref-z 1 10 ns/op
BenchmarkZ/impl=peer-z 1 10 ns/op
`
	for _, filter := range []string{"", ".unit:ns/op", "pkg:p", "block:1 OR /impl:(c OR d)"} {
		c := compareText(t, Options{Filter: filter}, text)
		b := wantVerdict(t, c, "ns/op", "X", "b", Missing)
		if got := notesOf(c, b); got != `missing in block 1: crashed: "oh"` || !b.Hole {
			t.Errorf("filter %q: b: %q, hole %v", filter, got, b.Hole)
		}
		if got := notesOf(c, wantVerdict(t, c, "ns/op", "X", "c", Missing)); got != "missing: gone" {
			t.Errorf("filter %q: c: %q", filter, got)
		}
		d := wantVerdict(t, c, "ns/op", "X", "d", Skipped)
		if got := notesOf(c, d); got != "skipped: needs Overlap" || d.Hole {
			t.Errorf("filter %q: d: %q, hole %v", filter, got, d.Hole)
		}
		// No reason is recorded; a reference or a peer that a benchmark has not is no hole.
		if a := wantVerdict(t, c, "ns/op", "Y", "a", Missing); !a.Hole || !strings.Contains(notesOf(c, a), "names no reason") {
			t.Errorf("filter %q: a: %+v", filter, a)
		}
		wantVerdict(t, c, "ns/op", "X", "ref-z", Absent)
		wantVerdict(t, c, "ns/op", "Z", "a", Absent)
	}
	// A hole may name another block than the one in force.
	late := text + "# hole: case=BenchmarkX/impl=e block=2 reason=late\n"
	if c := compareText(t, Options{Filter: "block:1"}, late); strings.Contains(strings.Join(c.Notes, "\n"), "late") {
		t.Errorf("the filter takes a hole for one of another block: %q", c.Notes)
	}
	if c := compareText(t, Options{Filter: "/impl:(a OR d)"}, text); len(c.Tables[0].Cols) != 2 {
		t.Errorf("the filter does not hold for holes: %+v", c.Tables[0].Cols)
	}
	if c := compareText(t, Options{}, text); len(c.Files[0].Holes) != 3 || !strings.Contains(strings.Join(c.Warnings, "\n"), "missing results in a.bench, measurements that were due and failed: 2") {
		t.Errorf("holes %+v, warnings %q", c.Files[0].Holes, c.Warnings)
	}
}

// Malformed lines are reported with their place, and the rest is read.
func TestMalformedLines(t *testing.T) {
	path := recordtest.Write(t, "a.bench", "BenchmarkX 1 10 ns/op\nBenchmarkX one 10 ns/op\n# hole: case=\n# hole: case=\"x\nBenchmarkX 1 30 ns/op\nUnit ns/op better\nBenchmarkX 1 NaN ns/op +Inf B/op\n")
	c, err := Compare([]string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.Problems)
	if len(c.Problems) != 6 {
		t.Fatalf("problems: %q, want 6", c.Problems)
	}
	for i, line := range []int{2, 3, 4, 6, 7, 7} {
		if want := fmt.Sprintf("%s:%d: ", path, line); !strings.HasPrefix(c.Problems[i], want) {
			t.Errorf("problem %q, want it to begin with %q", c.Problems[i], want)
		}
	}
	if _, _, cell := cellAt(t, c, "ns/op", "X", "a.bench"); cell.N != 2 {
		t.Errorf("%d values, want the 2 good ones", cell.N)
	}
}

// What cannot be read or holds nothing is an error that says what to do.
func TestNothingToCompare(t *testing.T) {
	for want, paths := range map[string][]string{
		"no result file given":             nil,
		"no such file":                     {filepath.Join(t.TempDir(), "missing")},
		"no benchmark results":             {recordtest.Write(t, "empty", "PASS\n")},
		"malformed line is":                {recordtest.Write(t, "bad", "BenchmarkX one\n")},
		"longer than any that can be read": {recordtest.Write(t, "long", "key: "+strings.Repeat("x", 1<<17))},
		"labelled=missing":                 {"labelled=missing/labelled=missing"},
	} {
		_, err := Compare(paths, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", paths, err, want)
		}
	}
}

func TestLabels(t *testing.T) {
	odd := recordtest.Write(t, "w=1.bench", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"x/a", "x/b"}, "a b"},
		{[]string{"x/a", "y/a", "z/b"}, "x/a y/a b"},
		{[]string{"x/a", "x/a"}, "x/a#1 x/a#2"},
		{[]string{"old=x/a", "new=x/a"}, "old new"},
		{[]string{"old=x/a", "y/a"}, "old a"},
		{[]string{"-"}, "-"},
		{[]string{odd}, "w=1.bench"},
	} {
		var got []string
		for _, f := range label(c.args) {
			got = append(got, f.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("labels of %q: %q, want %s", c.args, got, c.want)
		}
	}
}

func TestStdin(t *testing.T) {
	c, err := Compare([]string{"new=-"}, Options{Stdin: strings.NewReader("BenchmarkX 1 10 ns/op\n")})
	if err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, c, "ns/op", "X", "new", Base)
}

// Blocks of different files are different blocks: they were not measured
// together.
func TestFilesAreNotPaired(t *testing.T) {
	a := recordtest.Write(t, "a.bench", blocks(8, "BenchmarkX 1 10~ ns/op"))
	b := recordtest.Write(t, "b.bench", blocks(8, "BenchmarkX 1 20~ ns/op"))
	c, err := Compare([]string{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if cell := wantVerdict(t, c, "ns/op", "X", "b.bench", Unproven); cell.Vs.Paired {
		t.Error("paired across files")
	}
	// But one file's blocks are pairs, whatever other files say.
	mixed := recordtest.Write(t, "c.bench", blocks(8, "BenchmarkX/impl=a 1 10~ ns/op", "BenchmarkX/impl=b 1 20~ ns/op"))
	again := recordtest.Write(t, "d.bench", blocks(4, "BenchmarkX/impl=a 1 10~ ns/op", "BenchmarkX/impl=b 1 20~ ns/op"))
	if c, err = Compare([]string{mixed, again}, Options{}); err != nil {
		t.Fatal(err)
	}
	if cell := wantVerdict(t, c, "ns/op", "X", "b", Slower); !cell.Vs.Paired || cell.Vs.N != 12 {
		t.Errorf("compared with %+v, want 12 pairs", cell.Vs)
	}
}

func TestGate(t *testing.T) {
	base := []string{"BenchmarkX/impl=ref-a 1 100~ ns/op", "BenchmarkX/impl=ref-b 1 900~ ns/op"}
	for name, c := range map[string]struct {
		lines                []string
		extra                string
		slower, inconclusive int
	}{
		"faster":                  {[]string{"BenchmarkX/impl=x 1 50~ ns/op"}, "", 0, 0},
		"slower":                  {[]string{"BenchmarkX/impl=x 1 200~ ns/op"}, "", 1, 0},
		"same":                    {[]string{"BenchmarkX/impl=x 1 100~ ns/op"}, "", 0, 0},
		"inconclusive":            {[]string{"BenchmarkX/impl=x 1 100~ ns/op", "BenchmarkY/impl=ref-a 1 1~ ns/op", "BenchmarkY/impl=x 1 1~ ns/op"}, "", 0, 1},
		"references do not count": {nil, "", 0, 0},
		"hole":                    {[]string{"BenchmarkX/impl=x 1 50~ ns/op"}, "# hole: case=BenchmarkX/impl=y reason=r\n", 0, 1},
		"hole in a faster one":    {[]string{"BenchmarkX/impl=x 1 50~ ns/op"}, "# hole: case=BenchmarkX/impl=x block=9 reason=r\n", 0, 1},
		"skip":                    {[]string{"BenchmarkX/impl=x 1 50~ ns/op"}, "# skip: case=BenchmarkX/impl=y reason=r\n", 0, 0},
		"unit without direction":  {[]string{"BenchmarkX/impl=x 1 50~ ns/op 7~ things", "BenchmarkX/impl=ref-a 1 9~ things"}, "", 0, 1},
		"and it is the same":      {[]string{"BenchmarkX/impl=x 1 50~ ns/op 9 things", "BenchmarkX/impl=ref-a 1 9 things"}, "", 0, 0},
		"rate alone":              {[]string{"BenchmarkZ/impl=ref-a 1 9~ req/s", "BenchmarkZ/impl=x 1 8~ req/s"}, "", 1, 0},
		"latency alone":           {[]string{"BenchmarkZ/impl=ref-a 1 8~ p99-ns", "BenchmarkZ/impl=x 1 9~ p99-ns"}, "", 1, 0},
		"new benchmark":           {[]string{"BenchmarkX/impl=x 1 50~ ns/op", "BenchmarkNew/impl=x 1 50~ ns/op"}, "", 0, 1},
		"too few":                 {[]string{"BenchmarkX/impl=x 1 50~ ns/op"}, "block: 1\nBenchmarkFew/impl=ref-a 1 1 ns/op\nBenchmarkFew/impl=x 1 9 ns/op\n", 0, 1},
	} {
		got := compareText(t, Options{}, blocks(12, append(slices.Clone(base), c.lines...)...)+c.extra).Gate()
		if len(got.Slower) != c.slower || len(got.Inconclusive) != c.inconclusive || got.Empty != (c.lines == nil) {
			t.Errorf("%s: %+v, want %d slower and %d inconclusive", name, got, c.slower, c.inconclusive)
		}
	}
}

// Where old and new were not measured in turns, or in too few blocks, the gate could not find the worst
// of changes; with one row that can be proven it could.
func TestGateBlind(t *testing.T) {
	few := blocks(3, "BenchmarkX/impl=ref-a 1 100~ ns/op", "BenchmarkX/impl=x 1 900~ ns/op")
	enough := blocks(12, "BenchmarkY/impl=ref-a 1 100~ ns/op", "BenchmarkY/impl=x 1 100~ ns/op")
	exact := blocks(3, "BenchmarkX/impl=ref-a 1 100~ ns/op 5 allocs/op", "BenchmarkX/impl=x 1 900~ ns/op 6 allocs/op")
	apart := strings.Repeat("BenchmarkX/impl=ref-a 1 100 ns/op\n", 6) + strings.Repeat("BenchmarkX/impl=x 1 900 ns/op\n", 6)
	for name, c := range map[string]struct {
		text  string
		blind bool
	}{
		"few": {few, true}, "few of one, enough of another": {few + enough, false}, "enough": {enough, false},
		"apart": {apart, true}, "exact": {exact, true},
	} {
		got := compareText(t, Options{}, c.text).Gate()
		if got.Blind != c.blind || got.Empty {
			t.Errorf("%s: %+v, want blind %v", name, got, c.blind)
		}
		if worse := len(got.Slower) > 0; worse != (name == "exact") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// With ties the test of x/perf says more than 1: findings/benchmath-above-one.sh.
func TestApartIsAProbability(t *testing.T) {
	var text strings.Builder
	for _, v := range []int{100, 101, 102, 103, 99, 98} {
		fmt.Fprintf(&text, "BenchmarkX/impl=ref-a 1 %d ns/op\n", v)
		if v != 100 {
			fmt.Fprintf(&text, "BenchmarkX/impl=x 1 %d ns/op\n", v)
		}
	}
	_, _, cell := cellAt(t, compareText(t, Options{}, text.String()), "ns/op", "X", "x")
	if cell.Vs.P != 1 {
		t.Errorf("p is %v, want 1", cell.Vs.P)
	}
}
