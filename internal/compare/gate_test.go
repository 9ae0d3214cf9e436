package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// gateBlocks is how many blocks the files of these tests have.
const gateBlocks = 12

// A gateRow is a benchmark of two versions, as a file has it.
type gateRow struct {
	name   string
	before map[string][]string                 // by side: lines before the first block
	in     func(block int, side string) string // the line of a block; "" for none
}

// timed is a row whose new version takes so many times as long; noise makes that a
// matter of luck.
func timed(name string, ratio, noise float64) gateRow {
	return gateRow{name: name, in: func(block int, side string) string {
		v := 1000 + float64(block*7%5)
		if side == record.SideNew {
			v *= ratio * (1 + noise*float64(block*5%7-3))
		}
		return fmt.Sprintf("Benchmark%s-2 100 %.3f ns/op 64 B/op 1 allocs/op", name, v)
	}}
}

// gateRows are the rows that there may be beside one that fails.
var gateRows = map[string]gateRow{
	"same":         timed("Same", 1, 0.0001),
	"faster":       timed("Faster", 0.5, 0.001),
	"slower":       timed("Slower", 2, 0.001),
	"inconclusive": timed("Inconclusive", 1, 0.1),
}

// gateText writes rows as benchrun ab does.
func gateText(rows []gateRow) string {
	var b strings.Builder
	b.WriteString("old: v1\nnew: v2\nUnit ns/op better=lower\nUnit B/op better=lower\nUnit allocs/op better=lower\npkg: example.com/m\n")
	for _, r := range rows {
		for _, side := range []string{record.SideOld, record.SideNew} {
			for _, line := range r.before[side] {
				fmt.Fprintf(&b, "side: %s\n%s\n", side, line)
			}
		}
	}
	for block := 1; block <= gateBlocks; block++ {
		fmt.Fprintf(&b, "block: %d\n", block)
		for i, r := range rows {
			for k, side := range []string{record.SideOld, record.SideNew, "control"} {
				if r.in == nil {
					continue
				}
				copies, of := 1, side
				if side == "control" {
					copies, of = 2, record.SideOld
				}
				if line := r.in(block, side); line != "" {
					fmt.Fprintf(&b, "case: %d\nside: %s\ncopy: %d\n%s\n", 2*i+min(k, 1)+1, of, copies, line)
				}
			}
		}
	}
	return b.String()
}

// failing is a row that fails in a version, or in both, as listed.
func failing(line string, sides ...string) gateRow {
	r := gateRow{name: "Hash", before: make(map[string][]string)}
	for _, side := range sides {
		r.before[side] = []string{line}
	}
	return r
}

// failingIn is a row that fails in these blocks.
func failingIn(reason string, fails func(block int, side string) bool) gateRow {
	works := timed("Hash", 1, 0.0001)
	return gateRow{name: "Hash", in: func(block int, side string) string {
		if fails(block, side) {
			return fmt.Sprintf("# hole: case=BenchmarkHash-2 block=%d reason=%q", block, reason)
		}
		return works.in(block, side)
	}}
}

// A version that crashes, fails, hangs, skips a benchmark or has it no more is told,
// and closes the gate if it is the new one only: whatever rows there are besides, and
// in whatever order.
func TestGateOfFailures(t *testing.T) {
	const crash = "crashed: panic: runtime error: index out of range [4096] with length 4096 (tiny.go:12)"
	hole := func(reason string) string { return fmt.Sprintf("# hole: case=BenchmarkHash-2 reason=%q", reason) }
	skip := func(reason string) string { return fmt.Sprintf("# skip: case=BenchmarkHash-2 reason=%q", reason) }
	is := func(side string) func(int, string) bool {
		return func(_ int, s string) bool { return s == side }
	}
	type want struct {
		fault, doubt int // how many failures are faults, and how many are told
		kind         FailureKind
		blocks       string
		cells        string // what the row's cells of old and new say: a figure (.), a failure (x), both (!), nothing ( )
	}
	none := want{}
	kinds := map[string]struct {
		row gateRow
		want
	}{
		"crash when listed, new":  {failing(hole(crash), record.SideNew), want{1, 0, Crashes, "", " x"}},
		"crash when listed, old":  {failing(hole(crash), record.SideOld), want{0, 1, Crashes, "", "x "}},
		"crash when listed, both": {failing(hole(crash), record.SideOld, record.SideNew), want{0, 2, Crashes, "", "xx"}},
		"fail when listed, new":   {failing(hole("failed: tiny_test.go:7: boom"), record.SideNew), want{1, 0, Fails, "", " x"}},
		"fail when listed, old":   {failing(hole("failed: tiny_test.go:7: boom"), record.SideOld), want{0, 1, Fails, "", "x "}},
		"hang when listed, new": {
			failing(hole("nothing printed and not finished after 1m0s: hangs, or needs a longer --timeout (tiny.go:3)"), record.SideNew),
			want{1, 0, Hangs, "", " x"},
		},
		"the kind counts, crash": {failing(`# hole: case=BenchmarkHash-2 kind="crash" reason="boom"`, record.SideNew), want{1, 0, Crashes, "", " x"}},
		"the kind counts, hang":  {failing(`# hole: case=BenchmarkHash-2 kind="hang" reason="crashed: in the middle"`, record.SideNew), want{1, 0, Hangs, "", " x"}},
		"a kind of boards":       {failing(`# hole: case=BenchmarkHash-2 kind="too big" reason="crashed: no"`, record.SideNew), want{1, 0, Fails, "", " x"}},
		"no operations, new":     {failing(hole(record.NoOperations), record.SideNew), want{1, 0, Crashes, "", " x"}},
		"package crashes, new":   {failing(hole(record.ListingFailed+crash), record.SideNew), want{1, 0, Crashes, "", " x"}},
		"skip when listed, new":  {failing(skip("needs a board"), record.SideNew), want{1, 0, Skips, "", " x"}},
		"skip when listed, old":  {failing(skip("needs a board"), record.SideOld), none},
		"skip when listed, both": {failing(skip("needs a board"), record.SideOld, record.SideNew), none},
		"gone":                   {failing(skip(record.OnlyIn(record.SideOld)), record.SideNew), want{1, 0, Gone, "", " x"}},
		"new":                    {failing(skip(record.OnlyIn(record.SideNew)), record.SideOld), none},
		"new, and crashes": {
			gateRow{before: map[string][]string{record.SideOld: {skip(record.OnlyIn(record.SideNew))}, record.SideNew: {hole(crash)}}},
			want{1, 0, Crashes, "", " x"},
		},
		"new, and skips itself": {
			gateRow{before: map[string][]string{record.SideOld: {skip(record.OnlyIn(record.SideNew))}, record.SideNew: {skip("needs a board")}}}, none,
		},
		"crashed, and is gone": {
			gateRow{before: map[string][]string{record.SideOld: {hole(crash)}, record.SideNew: {skip(record.OnlyIn(record.SideOld))}}},
			want{0, 1, Crashes, "", "x "},
		},
		"skipped, and crashes": {
			gateRow{before: map[string][]string{record.SideOld: {skip("needs a board")}, record.SideNew: {hole(crash)}}},
			want{1, 0, Crashes, "", " x"},
		},

		"crash in all blocks, new": {failingIn(crash, is(record.SideNew)), want{1, 0, Crashes, "", ".x"}},
		"crash in all blocks, old": {
			failingIn(crash, func(_ int, side string) bool { return side != record.SideNew }), want{0, 1, Crashes, "", "x."},
		},
		"crash in all blocks, both": {failingIn(crash, func(int, string) bool { return true }), want{0, 2, Crashes, "", "xx"}},
		"hang in all blocks, new": {
			failingIn("no answer after 1m0s: hangs, or needs a longer --timeout", is(record.SideNew)), want{1, 0, Hangs, "", ".x"},
		},
		"skip in all blocks, new": {failingIn("skipped: not today", is(record.SideNew)), want{1, 0, Skips, "", ".x"}},
		"flaky, new": {
			failingIn(crash, func(block int, side string) bool { return side == record.SideNew && (block == 3 || block == 12) }),
			want{1, 0, Crashes, "3, 12", ".!"},
		},
		"flaky, old": {
			failingIn(crash, func(block int, side string) bool { return side == record.SideOld && block == 1 }),
			want{0, 1, Crashes, "1", "!."},
		},
		"flaky, both": {
			failingIn(crash, func(block int, side string) bool {
				return side == record.SideOld && block == 1 || side == record.SideNew && block == 2
			}),
			want{0, 2, Crashes, "1", "!!"},
		},
		"flaky, new and control": {
			failingIn(crash, func(block int, side string) bool {
				return side == "control" && block == 4 || side == record.SideNew && block == 2
			}),
			want{0, 2, Crashes, "4", "!!"},
		},
		"flaky in old, always in new": {
			failingIn(crash, func(block int, side string) bool {
				return side == record.SideOld && block == 1 || side == record.SideNew
			}),
			want{1, 1, Crashes, "1", "!x"},
		},
		"no reason, new": {
			gateRow{name: "Hash", in: func(block int, side string) string {
				if side == record.SideNew {
					return ""
				}
				return timed("Hash", 1, 0).in(block, side)
			}}, want{1, 0, Fails, "", ".x"},
		},
	}
	beside := [][]string{
		nil,
		{"same"},
		{"faster"},
		{"slower"},
		{"inconclusive"},
		{"same", "faster"},
		{"slower", "same"},
		{"same", "faster", "slower", "inconclusive"},
	}
	for kind, k := range kinds {
		for _, others := range beside {
			if kind == "no reason, new" && others == nil {
				continue // then there is no new version
			}
			for at := range len(others) + 1 {
				var rows []gateRow
				for _, o := range others {
					rows = append(rows, gateRows[o])
				}
				rows = slices.Insert(rows, at, k.row)
				name := fmt.Sprintf("%s, at %d of %v", kind, at, others)
				c, err := Compare([]string{"-"}, Options{Stdin: strings.NewReader(gateText(rows))})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				for _, o := range others {
					wantVerdict(t, c, "ns/op", gateRows[o].name+"-2", record.SideNew, Verdict(o))
				}
				g := c.Gate()
				faults := len(g.Broken)
				if faults != k.fault || len(c.Failures) != k.fault+k.doubt {
					t.Errorf("%s: broken %q, failures %+v, want %d and %d", name, g.Broken, c.Failures, k.fault, k.fault+k.doubt)
					continue
				}
				plain, strict := statusOf(g, false), statusOf(g, true)
				wantPlain, wantStrict := 0, 0
				compared := len(others) > 0 || strings.ContainsAny(k.cells, ".!") && !strings.Contains(k.cells, "x")
				if k.doubt > 0 || slices.Contains(others, "inconclusive") {
					wantStrict = 3
				}
				if !compared {
					wantPlain, wantStrict = 4, 4
				}
				if k.fault > 0 || slices.Contains(others, "slower") {
					wantPlain, wantStrict = 1, 1
				}
				if plain != wantPlain || strict != wantStrict {
					t.Errorf("%s: gate %d, strict %d, want %d, %d: %+v", name, plain, strict, wantPlain, wantStrict, g)
				}
				if k.fault+k.doubt > 0 {
					checkFailure(t, name, c, g, k.kind, k.blocks, k.cells)
				}
			}
		}
	}
}

// statusOf is the exit status of a gate.
func statusOf(g Gate, strict bool) int {
	switch {
	case g.Bad():
		return 1
	case g.Empty:
		return 4
	case strict && len(g.Inconclusive) > 0:
		return 3
	}
	return 0
}

// checkFailure checks what is said of the row that fails: of which kind the first
// failure is, in which blocks, and what its cells are in the first table.
func checkFailure(t *testing.T, name string, c *Comparison, g Gate, kind FailureKind, blocks, cells string) {
	t.Helper()
	if f := c.Failures[0]; f.Kind != kind || f.Blocks != blocks || f.Row != "Hash-2" {
		t.Errorf("%s: the failure %+v, want one that %s in %q", name, f, kind, blocks)
	}
	lines := 0
	for _, line := range slices.Concat(g.Broken, g.Slower, g.Inconclusive) {
		if strings.HasPrefix(line, "Hash-2, ") {
			lines++
		}
	}
	if lines != len(c.Failures) {
		t.Errorf("%s: %d lines of it in %+v, want one for each failure", name, lines, g)
	}
	i := slices.IndexFunc(c.Tables[0].Rows, func(r Row) bool { return r.Name == "Hash-2" })
	if i < 0 {
		t.Errorf("%s: no row in the first table", name)
		return
	}
	got := ""
	for _, side := range []string{record.SideOld, record.SideNew} {
		k := slices.IndexFunc(c.Tables[0].Cols, func(col Column) bool { return col.Name == side })
		if k < 0 {
			got += " "
			continue
		}
		switch cell := c.Tables[0].Rows[i].Cells[k]; {
		case cell.N > 0 && cell.Failure != "":
			got += "!"
		case cell.N > 0:
			got += "."
		case cell.Failure != "":
			if cell.Verdict != Missing || !cell.Hole {
				t.Errorf("%s: the cell of %s is %+v", name, side, cell)
			}
			got += "x"
		default:
			got += " "
		}
	}
	if got != cells {
		t.Errorf("%s: cells %q, want %q", name, got, cells)
	}
	for _, table := range c.Tables[1:] {
		if len(cells) == 2 && !strings.ContainsAny(cells, ".!") && slices.ContainsFunc(table.Rows, func(r Row) bool { return r.Name == "Hash-2" }) {
			t.Errorf("%s: a row in %s, too", name, table.Unit)
		}
	}
}

// What a line of the gate says is enough to go on.
func TestGateSaysWhy(t *testing.T) {
	flaky := failingIn("crashed: panic: oh (tiny.go:12)", func(block int, side string) bool { return side == record.SideNew && block > 10 })
	gone := failing(`# skip: case=BenchmarkHash/size=1.5-2 reason="only the old version has it"`, record.SideNew)
	skips := failing(`# skip: case=BenchmarkSkips reason="needs a board"`, record.SideNew)
	broken := failing(`# hole: pkg=example.com/m/sub side=new reason="listing its benchmarks: crashed: panic: init (sub.go:3)"`, record.SideNew)
	g := compareText(t, Options{}, gateText([]gateRow{flaky, gone, skips, broken})).Gate()
	want := []string{
		"Hash-2, new, in block 11, 12: crashed: panic: oh (tiny.go:12)",
		"Hash/size=1.5-2, new: only the old version has it (if that is meant: --accept '^BenchmarkHash/size=1\\.5$')",
		"Skips, new: needs a board (if that is meant: --accept '^BenchmarkSkips$')",
		"example.com/m/sub, new: listing its benchmarks: crashed: panic: init (sub.go:3)",
	}
	if slices.Sort(g.Broken); !slices.Equal(g.Broken, slices.Sorted(slices.Values(want))) {
		t.Errorf("broken\n%s\nwant\n%s", strings.Join(g.Broken, "\n"), strings.Join(want, "\n"))
	}
}

// What is accepted is told and judged no more; what crashes cannot be accepted.
func TestGateAccepts(t *testing.T) {
	for _, c := range []struct {
		line, accept string
		want         int // of the strict gate
	}{
		{`# skip: case=BenchmarkHash-2 reason="only the old version has it"`, "", 1},
		{`# skip: case=BenchmarkHash-2 reason="only the old version has it"`, "^BenchmarkHash$", 0},
		{`# skip: case=BenchmarkHash-2 reason="only the old version has it"`, "^BenchmarkHash-2$", 0},
		{`# skip: case=BenchmarkHash-2 reason="only the old version has it"`, "^BenchmarkHas$", 1},
		{`# skip: case=BenchmarkHash-2 reason="needs a board"`, "Hash", 0},
		{`# hole: case=BenchmarkHash-2 reason="skipped: not today"`, "Hash", 0},
		{`# hole: case=BenchmarkHash-2 reason="crashed: panic: oh"`, "Hash", 1},
	} {
		for _, rows := range [][]gateRow{{gateRows["same"], failing(c.line, record.SideNew)}, {failing(c.line, record.SideNew), gateRows["same"]}} {
			got := compareText(t, Options{Accept: c.accept}, gateText(rows))
			if status := statusOf(got.Gate(), true); status != c.want {
				t.Errorf("%s, --accept %q: %d, want %d: %+v", c.line, c.accept, status, c.want, got.Gate())
			}
			if len(got.Failures) != 1 || got.Failures[0].Accepted != (c.want == 0) {
				t.Errorf("%s, --accept %q: failures %+v", c.line, c.accept, got.Failures)
			}
		}
	}
	if _, err := Compare([]string{recordtest.Write(t, "a", gateText([]gateRow{gateRows["same"]}))}, Options{Accept: "("}); err == nil || !strings.HasPrefix(err.Error(), "--accept ") {
		t.Errorf("a pattern that is none: %v", err)
	}
}

// Of a package that could not be listed nothing has a row but what the other side has
// of it; then the package itself is not told once more.
func TestGateOfPackages(t *testing.T) {
	const reason = `reason="listing its benchmarks: crashed: panic: init (m.go:3)"`
	whole := func(side string) string { return "# hole: pkg=example.com/m side=" + side + " " + reason }
	each := "# hole: case=BenchmarkHash-2 " + reason
	for _, c := range []struct {
		name             string
		row              gateRow
		filter           string
		broken, doubtful int
	}{
		{"new", failing(whole(record.SideNew), record.SideNew), "", 1, 0},
		{"old", failing(whole(record.SideOld), record.SideOld), "", 0, 1},
		{"both", gateRow{before: map[string][]string{record.SideOld: {whole(record.SideOld)}, record.SideNew: {whole(record.SideNew)}}}, "", 0, 2},
		{"new, and its benchmarks", gateRow{before: map[string][]string{record.SideNew: {whole(record.SideNew), each}}}, "", 1, 0},
		{"new, in the filter", failing(whole(record.SideNew), record.SideNew), "pkg:example.com/m", 1, 0},
		{"new, not in the filter", failing(whole(record.SideNew), record.SideNew), "-side:new OR .name:Same", 0, 0},
		{"does not build in either", failing(`# hole: pkg=example.com/n reason="does not build"`, record.SideOld), "", 0, 1},
		{"has no tests", failing(`# skip: pkg=example.com/n reason="no tests"`, record.SideOld), "", 0, 0},
	} {
		g := compareText(t, Options{Filter: c.filter}, gateText([]gateRow{gateRows["same"], c.row})).Gate()
		if len(g.Broken) != c.broken || len(g.Inconclusive) != c.doubtful {
			t.Errorf("%s: %+v, want %d broken, %d inconclusive", c.name, g, c.broken, c.doubtful)
		}
	}
}

// If nothing could be measured, what is absent is judged as if it stood in results.
func TestUnmeasured(t *testing.T) {
	gone := record.Hole{Pkg: "p", Case: "BenchmarkGone", Side: record.SideNew, Skipped: true, Kind: failure.Gone, Reason: record.OnlyIn(record.SideOld)}
	came := record.Hole{Pkg: "p", Case: "BenchmarkCame", Side: record.SideOld, Skipped: true, Kind: failure.Gone, Reason: record.OnlyIn(record.SideNew)}
	crash := record.Hole{Pkg: "p", Case: "BenchmarkCrash-2", Side: record.SideNew, Kind: failure.Crash, Reason: `crashed: panic: "oh"`}
	moved := record.Hole{Pkg: "q", Case: "BenchmarkGone", Side: record.SideOld, Skipped: true, Kind: failure.Gone, Reason: record.OnlyIn(record.SideNew)}
	was := record.Hole{Pkg: "q", Case: "BenchmarkCrash-2", Side: record.SideOld, Kind: failure.Crash, Reason: "crashed: panic: oh"}
	pkg := record.Hole{Pkg: "r", Side: record.SideNew, Kind: failure.Crash, Reason: record.ListingFailed + "crashed: panic: init"}
	for _, c := range []struct {
		absent           []record.Hole
		rows             string
		broken, doubtful int
	}{
		{[]record.Hole{gone}, "Gone", 1, 0},
		{[]record.Hole{came}, "", 0, 0},
		{[]record.Hole{gone, moved}, "p Gone", 1, 0},
		{[]record.Hole{crash, came, gone, pkg}, "Crash-2 Gone", 3, 0},
		{[]record.Hole{was}, "Crash-2", 0, 1},
		{[]record.Hole{pkg}, "", 1, 0},
		{[]record.Hole{crash, was}, "p Crash-2 q Crash-2", 1, 1}, // two benchmarks
	} {
		got, err := Unmeasured(c.absent, Options{})
		if err != nil {
			t.Errorf("%+v: %v", c.absent, err)
			continue
		}
		var rows []string
		for _, table := range got.Tables {
			if table.Unit != "ns/op" || table.Better != -1 {
				t.Errorf("%+v: a table in %s, better %d", c.absent, table.Unit, table.Better)
			}
			for _, r := range table.Rows {
				rows = append(rows, strings.TrimSpace(r.Pkg+" "+r.Name))
			}
		}
		if g := got.Gate(); strings.Join(rows, " ") != c.rows || len(g.Broken) != c.broken || len(g.Inconclusive) != c.doubtful || !g.Empty {
			t.Errorf("%+v: rows %q, %+v, want %q, %d broken and %d inconclusive", c.absent, rows, g, c.rows, c.broken, c.doubtful)
		}
		if !slices.Equal(got.Files[0].Holes, c.absent) {
			t.Errorf("holes %+v, want %+v", got.Files[0].Holes, c.absent)
		}
	}
}

// What is in no table of a comparison of anything else is not lost to its gate.
func TestGateOfWhatIsInNoTable(t *testing.T) {
	faster := blocks(12, "BenchmarkX/impl=ref-a 1 100~ ns/op", "BenchmarkX/impl=x 1 50~ ns/op")
	for _, line := range []string{"# hole: case=BenchmarkY/impl=x reason=crashed", "# hole: pkg=example.com/n reason=broken"} {
		for _, text := range []string{line + "\n" + faster, faster + line + "\n"} {
			if g := compareText(t, Options{}, text).Gate(); len(g.Inconclusive) != 1 || g.Bad() {
				t.Errorf("%s: %+v, want that something is inconclusive", line, g)
			}
		}
	}
}
