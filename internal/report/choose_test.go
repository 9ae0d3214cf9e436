package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/quotetest"
)

// What README.md and docs/choose.md say about which design to choose is made here, of a
// results file whose blocks are enough to prove something.

// heat is a ratio with its verdict: blue squares for faster, orange ones for slower, more of
// them for a larger factor, and a white one if neither is proven. It is legible without colours:
// what is proven is bold, and the ratio says which way.
func heat(cell compare.Cell) string {
	switch {
	case cell.Vs == nil:
		return ""
	case !cell.Verdict.Proven():
		return "⬜ " + ratio(cell)
	}
	square := "🟦"
	if cell.Vs.Ratio > 1 {
		square = "🟧"
	}
	n := 1
	switch factor := math.Exp(math.Abs(math.Log(cell.Vs.Ratio))); {
	case factor >= 3:
		n = 3
	case factor >= 1.5:
		n = 2
	}
	return strings.Repeat(square, n) + " " + ratio(cell)
}

// baseOf is a row's base: its column, and -1 if there is none.
func baseOf(r compare.Row) int {
	return slices.IndexFunc(r.Cells, func(c compare.Cell) bool { return c.Verdict == compare.Base })
}

// designs are the columns that are no references.
func designs(t compare.Table) (cols []int) {
	for i, col := range t.Cols {
		if !col.Ref {
			cols = append(cols, i)
		}
	}
	return cols
}

// rowName is a row's name as users write it: without "workload=" and GOMAXPROCS.
func rowName(r compare.Row) string {
	name := strings.Replace(r.Name, "workload=", "", 1)
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		name = name[:i]
	}
	return name
}

// heatMap has a row for each workload and a column for each design, relative to code written
// by hand, and a sentence for each design.
func (q *quote) heatMap(files []string) {
	c := q.compare(files[0], compare.Options{})
	t, f := tableOf(c, "ns/op"), c.Files[0]
	cols := designs(t)
	q.Head("llrl", append([]string{"workload", "written by hand", "time"}, names(t, cols)...)...)
	for _, r := range t.Rows {
		base := baseOf(r)
		q.Row(append([]string{rowName(r), "`" + t.Cols[base].Name + "`", nanoseconds(r.Cells[base].Center)},
			each(cols, func(i int) string { return heat(r.Cells[i]) })...)...)
	}
	q.Sayf("\n🟦 **faster**, 🟧 **slower**, proven among %d comparisons at a level of %g together; two squares from a factor of 1.5, three from 3; ⬜ not proven.\n", c.Comparisons, c.Alpha)
	q.Sayf("%s; commit %.8s, %d blocks: `benchrun compare %s`.\n\n", machine(f, "toolchain"), setting(f, "commit"), f.Blocks, files[0])
	for _, i := range cols {
		q.Sayf("- %s\n", standing(t, i))
	}
}

// standing says in a sentence how a design stands against code written by hand.
func standing(t compare.Table, col int) string {
	faster, slower, all := 0, 0, 0
	least, most := math.Inf(1), 0.0
	for _, r := range t.Rows {
		cell := r.Cells[col]
		if cell.Vs == nil {
			continue
		}
		all++
		least, most = min(least, cell.Vs.Ratio), max(most, cell.Vs.Ratio)
		switch cell.Verdict {
		case compare.Faster:
			faster++
		case compare.Slower:
			slower++
		}
	}
	return fmt.Sprintf("`%s`: faster on %d of %d workloads, slower on %d; %.2f to %.2f of the time.", t.Cols[col].Name, faster, all, slower, least, most)
}

// choices say for each workload which design and which code by hand take the least time of
// those that are proven to be faster than the base.
func (q *quote) choices(files []string) {
	t := tableOf(q.compare(files[0], compare.Options{}), "ns/op")
	q.Head("lllll", "workload", "base: written by hand", "fastest design", "other code by hand", "limit: no features at all")
	for _, r := range t.Rows {
		base := baseOf(r)
		q.Row(rowName(r), "`"+t.Cols[base].Name+"` 1",
			fastest(t, r, func(col compare.Column) bool { return !col.Ref }),
			fastest(t, r, func(col compare.Column) bool { return col.Ref && col.Name != "ref-floor" }),
			fastest(t, r, func(col compare.Column) bool { return col.Name == "ref-floor" }))
	}
}

// fastest names the column that takes the least time, of those that are wanted and proven to
// be faster than the base.
func fastest(t compare.Table, r compare.Row, want func(compare.Column) bool) string {
	best := -1
	for i, cell := range r.Cells {
		if want(t.Cols[i]) && cell.Verdict == compare.Faster && (best < 0 || cell.Vs.Ratio < r.Cells[best].Vs.Ratio) {
			best = i
		}
	}
	if best < 0 {
		return "none is faster"
	}
	return "`" + t.Cols[best].Name + "` " + ratio(r.Cells[best])
}

// memory has what an operation allocates.
func (q *quote) memory(files []string) {
	c := q.compare(files[0], compare.Options{})
	q.Head("lllr", append([]string{"workload", "unit", "written by hand"}, names(c.Tables[0], designs(c.Tables[0]))...)...)
	for _, t := range c.Tables {
		if t.Unit != "allocs/task" && t.Unit != "B/task" {
			continue
		}
		for _, r := range t.Rows {
			base := baseOf(r)
			q.Row(append([]string{rowName(r), t.Unit, "`" + t.Cols[base].Name + "` " + digits3(r.Cells[base].Center)},
				each(designs(t), func(i int) string {
					cell := r.Cells[i]
					if cell.Verdict.Proven() {
						return "**" + digits3(cell.Center) + "**"
					}
					return digits3(cell.Center)
				})...)...)
		}
	}
}

// A figure that is bold is a verdict, and verdicts are written by TestQuotes only.
func TestBoldFiguresAreVerdicts(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(quotetest.Root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range append(pages, filepath.Join(quotetest.Root, "README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, bold := range boldFigures(string(data)) {
			t.Errorf("%s: %s is bold and is not quoted from a results file by TestQuotes", filepath.Base(page), bold)
		}
	}
	if got := boldFigures("a **0.24** b <!-- x: begin f -->**0.3**<!-- x: end --> **faster** **+10 %**"); !slices.Equal(got, []string{"**0.24**", "**+10 %**"}) {
		t.Errorf("bold figures of the sample: %q", got)
	}
}

// boldFigures are the figures in bold of a page, but for its quoted parts.
func boldFigures(page string) []string {
	page = regexp.MustCompile(`(?s)<!-- [a-z ]+: begin.*?: end -->`).ReplaceAllString(page, "")
	return regexp.MustCompile(`\*\*[+−-]?[0-9][0-9.,]*( ?%)?( times)?\*\*`).FindAllString(page, -1)
}

// proof are the reasons to believe a verdict, with the figures of the files that another page
// names.
func (q *quote) proof(pages []string) {
	page := pages[0]
	all := q.calibration(below(filesOf(q.t, page, "calibrations")...)...)
	paths, err := filepath.Glob(below(filesOf(q.t, page, "unchanged")...)[0])
	unchanged := q.calibration(must(q, paths, err)...)
	suite := q.suite(filesOf(q.t, page, "truth sums"))
	q.Sayf("- **It does not invent differences.** Of %d comparisons of public modules with versions of themselves in which nothing changed that counts, %s were called different (%s). Of %d comparisons of a program with itself, %s.\n",
		unchanged.Wrong.N, rate(unchanged.Wrong), rateInterval(unchanged.Wrong), all.Wrong.N, rate(all.Wrong))
	q.Sayf("- **It finds real ones.** Of the verdicts on planted changes whose true size is known from plain `go test`, %s were found and %d of %d were wrong.\n",
		ofAll(suite.Dyno.Found), suite.Dyno.Wrong.K, suite.Dyno.Wrong.N)
	q.Sayf("- **Its intervals hold.** The true ratio of programs that were slowed on purpose is in %s of %d intervals (%s); 95%% are promised.\n",
		rate(all.Covered), all.Covered.N, rateInterval(all.Covered))
}

// filesOf are the files that a mark of a page names.
func filesOf(t *testing.T, page, mark string) []string {
	t.Helper()
	data, err := os.ReadFile(below(page)[0])
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("<!-- " + mark + ": begin ([^\n]*) -->").FindSubmatch(data)
	if m == nil {
		t.Fatalf("%s has no marks %q", page, mark)
	}
	return strings.Fields(string(m[1]))
}

// ab is what benchrun ab prints of some benchmarks of a file: the answer and its table.
func (q *quote) ab(args []string) {
	c := q.compare(args[0], compare.Options{Filter: ".name:(" + strings.Join(args[1:], " OR ") + ") .unit:ns/op"})
	answer, _, _ := strings.Cut(strings.TrimSpace(summaryOf(q.t, c, Extra{Fold: true})), "\n\nwarning:")
	q.Sayf("```\n%s\n```\n", answer)
}
