package report

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// means has two versions whose means and typical times disagree, and resources of
// which some differ.
func means(t testing.TB) *compare.Comparison {
	t.Helper()
	return compared(t, "testdata/means.bench")
}

// versionsOfMeans are what means compares.
var versionsOfMeans = Versions{Old: "v1.0.0", New: "v1.1.0"}

func commentOn(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	return markdownOf(t, Comment(c, versionsOfMeans))
}

func TestMeansGolden(t *testing.T) {
	c := means(t)
	golden(t, "means.txt", terminalOf(t, c))
	golden(t, "means.csv", render(t, func(w io.Writer) error { return CSV(w, c) }))
	mentions(t, commentOn(t, c), "### Benchmarks: 1 slower; 2 findings; resources: 3 worse, 1 better\n\nv1.1.0 against v1.0.0.\n",
		"| Rare-2 | ns/op | 247.1 ns | 260.4 ns | +5.4 % | +5.2 to +5.6 % | **slower** |",
		"\n\nResources that differ:\n\n", "| Steady-2 | live-heap-B | 3.999 MiB | 3.205 MiB | −19.9 % | −20.0 to −19.7 % | better |",
		"Resources explain times. They are a family of their own, with the same level again: 25 comparisons.")
}

// cellOf is the new version's cell of a benchmark in a unit.
func cellOf(t *testing.T, c *compare.Comparison, unit, name string) compare.Cell {
	t.Helper()
	for _, tab := range c.Tables {
		if tab.Unit != unit {
			continue
		}
		if r, ok := indexRows(tab).row(tab, compare.Row{Name: name}); ok {
			return r.Cells[1-r.Base]
		}
	}
	t.Fatalf("no %s in %s", name, unit)
	return compare.Cell{}
}

// The page says where rare costs make the typical time another than the mean. What text has of
// them is golden.
func TestTypicalBesideTheMean(t *testing.T) {
	c := means(t)
	rare := cellOf(t, c, "ns/op", "Rare-2")
	if !rare.Vs.RareCosts || math.Abs(rare.Vs.Ratio-rare.Vs.Typical) < 0.04 {
		t.Fatalf("the sample has no rare costs: %+v", rare.Vs)
	}
	page := html.UnescapeString(pageOf(t, c, Extra{}))
	if want := "rare costs: the typical ratio is " + formatRatio(rare.Vs.Typical); strings.Count(page, want) != 1 || !strings.Contains(page, ">typical<") {
		t.Errorf("the page does not say it in the answer, or not with the benchmark: %q", want)
	}
}

// Findings come before warnings, everywhere, and the page shows all slices: those of a tail
// that moved at once.
func TestFindings(t *testing.T) {
	c := means(t)
	if len(c.Findings) == 0 || !cellOf(t, c, "ns/op", "Tail-2").Vs.TailMoved {
		t.Fatal("no tail moved in the sample")
	}
	c.Warnings = append(c.Warnings, "a warning to come later")
	forms := formsOf(t, c)
	forms["comment"] = commentOn(t, c)
	for name, out := range forms {
		for _, f := range c.Findings {
			if out := html.UnescapeString(out); !strings.Contains(out, "finding: "+f) || strings.Index(out, "finding: "+f) > strings.Index(out, "a warning to come later") {
				t.Errorf("%s lacks finding %q before the warnings", name, f)
			}
		}
	}
	page := html.UnescapeString(forms["HTML"])
	for _, name := range []string{"Tail-2", "Noisy-2"} { // one with a finding and one without
		d := cellOf(t, c, "ns/op", name).Slices
		mentions(t, page, each([]float64{d.P50, d.P90, d.P99, d.Max}, func(v float64) string { return formatValue(v, "ns/op") })...)
	}
	// It is a table that opens by itself only where there is something to see.
	if folded, open := strings.Count(page, "<details><summary>Slices"), strings.Count(page, "<details open><summary>Slices"); folded != 3 || open != 2 {
		t.Errorf("%d tables of slices are folded and %d open, want 3 and 2", folded, open)
	}
	c.Findings = nil
	if page := pageOf(t, c, Extra{}); strings.Contains(page, "finding:") || strings.Contains(page, `id="findings"`) {
		t.Error("a section of no findings")
	}
}

// A finding changes no gate.
func TestFindingsChangeNoGate(t *testing.T) {
	c := means(t)
	before := c.Gate()
	if len(c.Findings) == 0 || len(before.Slower) == 0 {
		t.Fatal("the sample has no findings, or nothing slower")
	}
	for _, tab := range c.Tables {
		for _, r := range tab.Rows {
			for _, cell := range r.Cells {
				if cell.Vs != nil {
					cell.Vs.TailMoved = false
				}
			}
		}
	}
	c.Findings = nil
	if after := c.Gate(); !slices.Equal(before.Slower, after.Slower) || !slices.Equal(before.Inconclusive, after.Inconclusive) {
		t.Errorf("without findings the gate says %+v, with them %+v", after, before)
	}
}

// The page has all resources, apart from what benchmarks report. Text and the comment have
// those that differ and no others, which is golden.
func TestResources(t *testing.T) {
	c := means(t)
	page := html.UnescapeString(pageOf(t, c, Extra{}))
	differ, alike := 0, 0
	for _, tab := range agreed(c).Tables {
		if !tab.Resource {
			continue
		}
		before, after, _ := strings.Cut(page, `<section id="resources"`)
		if folded := "<details><summary>" + caption(tab); strings.Contains(before, folded) || !strings.Contains(after, folded) {
			t.Errorf("%s is not in the page's section of resources, folded", tab.Unit)
		}
		_, others, _ := strings.Cut(page, `aria-label="Other units of Steady-2"`)
		others, _, _ = strings.Cut(others, "</table>")
		_, used, _ := strings.Cut(page, `aria-label="Resources of Steady-2"`)
		used, _, _ = strings.Cut(used, "</table>")
		if strings.Contains(others, tab.Unit) || !strings.Contains(used, tab.Unit) {
			t.Errorf("%s is not apart from the other units of a benchmark", tab.Unit)
		}
		for _, r := range tab.Rows {
			cell := r.Cells[1-r.Base]
			mentions(t, after, formatValue(cell.Center, tab.Unit))
			if cell.Verdict.Proven() {
				differ++
			} else {
				alike++
			}
		}
	}
	if differ != 4 || alike < 20 {
		t.Errorf("%d resources differ and %d do not: not what the sample is for", differ, alike)
	}
	mentions(t, page, "3 worse, 1 better in 25 comparisons")
}

// Where no resource differs a line says so, and in how many comparisons.
func TestNoResources(t *testing.T) {
	c := means(t)
	for _, tab := range c.Tables {
		for _, r := range tab.Rows {
			if cell := &r.Cells[1-r.Base]; tab.Resource && cell.Verdict.Proven() {
				cell.Verdict = compare.Inconclusive
			}
		}
	}
	const want = "Processor time, collections and memory: no difference proven in 25 comparisons."
	for name, out := range formsOf(t, c) {
		if !strings.Contains(out, want) || strings.Contains(out, resourcesTitle) {
			t.Errorf("%s does not say that no resource differs", name)
		}
	}
	if out := commentOn(t, c); !strings.HasPrefix(out, "### Benchmarks: 1 slower; 2 findings\n") || !strings.Contains(out, "no resource proven to differ") {
		t.Errorf("the comment:\n%s", out)
	}
	// Of files that have none nothing is said.
	if out := terminalOf(t, turns(t)); strings.Contains(out, "Processor time") {
		t.Errorf("resources of a file that has none:\n%s", out)
	}
}

// A comment is one line only if there is nothing at all to tell.
func TestCommentOfResourcesAlone(t *testing.T) {
	c := means(t)
	for _, tab := range c.Tables {
		for _, r := range tab.Rows {
			if cell := &r.Cells[1-r.Base]; !tab.Resource {
				cell.Verdict = compare.Same
			}
		}
	}
	if out := commentOn(t, c); !strings.HasPrefix(out, "### Benchmarks: nothing proven; 2 findings; resources: 3 worse, 1 better\n") {
		t.Errorf("with findings and resources:\n%s", out)
	}
	c.Findings = nil
	if out := commentOn(t, c); !strings.HasPrefix(out, "### Benchmarks: nothing proven; resources: 3 worse, 1 better\n") || strings.Contains(out, "finding") {
		t.Errorf("with resources:\n%s", out)
	}
	for _, tab := range c.Tables {
		for _, r := range tab.Rows {
			r.Cells[1-r.Base].Verdict = compare.Same
		}
	}
	if out := commentOn(t, c); strings.Count(out, "\n") != 1 {
		t.Errorf("with nothing:\n%s", out)
	}
}

// What fails comes first, and then all that is counted.
func TestCommentOfFailureAndResources(t *testing.T) {
	c := means(t)
	c.Failures = []compare.Failure{{Row: "Gone-2", Col: record.SideNew, Kind: compare.Gone, Reason: "only the old version has it", Fault: true}}
	want := "### 1 benchmark is gone in new: Gone-2\n\nv1.1.0 against v1.0.0: 1 slower; 2 findings; resources: 3 worse, 1 better.\n"
	if out := commentOn(t, c); !strings.HasPrefix(out, want) {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// A filter that asks for a resource gets all of it.
func TestResourcesAskedFor(t *testing.T) {
	c, err := compare.Compare([]string{"testdata/means.bench"}, compare.Options{Filter: ".unit:(gcs/Mop OR live-heap-B)"})
	if err != nil {
		t.Fatal(err)
	}
	out := terminalOf(t, c)
	mentions(t, out, "gcs/Mop (less is better)\n", "live-heap-B (less is better)\n", "\nNoisy-2 ", "p corrected for 10 comparisons")
	if page := pageOf(t, c, Extra{}); strings.Contains(page, `id="resources"`) || !strings.Contains(page, "gcs/Mop") {
		t.Error("the page has them apart from nothing")
	}
}

// JSON of a cell has what tables show of it: null for what does not exist or is
// infinite, and no member for what it is not made of.
func TestJSONOfCell(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	c := &compare.Comparison{Notes: []string{"a <note>"}}
	for _, tt := range []struct {
		cell compare.Cell
		want string
	}{
		{
			compare.Cell{Verdict: compare.Missing, Hole: true, Failure: "crashed", Notes: []int{0}, Center: 7},
			`{"column":"new","reference":false,"n":0,"center":null,"lo":null,"hi":null,"verdict":"missing","hole":true,"failure":"crashed","notes":["a <note>"]}`,
		},
		{
			compare.Cell{
				Verdict: compare.Slower, N: 3, Center: 2, Lo: 1, Hi: inf, Slices: &compare.Distribution{N: 9, P50: 1, P90: 2, P99: 3, Max: 4},
				Blocks: []compare.BlockValue{{File: "a", V: 1}, {File: "a", Block: "1", Layout: "2", V: 2, Ratio: nan}},
				Vs: &compare.Versus{
					Ratio: 2, Lo: 0, Hi: inf, P: nan, Adjusted: nan, Detectable: 1.5, Need: 4, NeedTime: 1500 * time.Millisecond, Paired: true, N: 3, BaseN: 3,
					Lag1: nan, Trend: 0.5, RareCosts: true, Typical: 1.25, TypicalLo: 1, TypicalHi: 2, Tail: 3, TailLo: 2, TailHi: inf, TailMoved: true,
				},
			},
			`{"column":"new","reference":false,"n":3,"center":2,"lo":1,"hi":null,"verdict":"slower","hole":false,"versus":{"ratio":2,"lo":0,"hi":null,"p":null,"p_adjusted":null,` +
				`"detectable":1.5,"need_blocks":4,"need_seconds":1.5,"paired":true,"n":3,"base_n":3,"layouts":0,"lag1":null,"trend":0.5,"rare_costs":true,` +
				`"typical":{"ratio":1.25,"lo":1,"hi":2},"tail":{"ratio":3,"lo":2,"hi":null,"moved":true}},"slices":{"n":9,"p50":1,"p90":2,"p99":3,"max":4},` +
				`"blocks":[{"file":"a","block":"1","layout":"2","value":2,"ratio":null}]}`,
		},
	} {
		var got bytes.Buffer
		if err := json.Compact(&got, render(t, func(w io.Writer) error { return WriteJSON(w, cellObject(c, compare.Column{Name: "new"}, tt.cell)) })); err != nil || got.String() != tt.want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, got.String(), tt.want)
		}
	}
}

// What would decide something is told as blocks and time by the clock on the wall, or
// that nothing would.
func TestFormatNeed(t *testing.T) {
	for _, tt := range []struct {
		vs     compare.Versus
		detect string
		need   string
		reason string
	}{
		{compare.Versus{Detectable: 1.034, Need: 24, NeedTime: 31 * time.Second}, "3.4%", "24 blocks, 31s", "a difference of 3.4% or more would have shown; about 24 blocks, 31s would probably decide"},
		{compare.Versus{Detectable: 1.034, Need: 24, NeedTime: 3100 * time.Millisecond}, "3.4%", "24 blocks, 3.1s", "a difference of 3.4% or more would have shown; about 24 blocks, 3.1s would probably decide"},
		{compare.Versus{Detectable: 2.6, Undecidable: true}, "160%", "not decidable here", "a difference of 160% or more would have shown; not decidable here"},
		{compare.Versus{Detectable: math.Inf(1), Need: 9}, "nothing", "9 blocks", "so few blocks can prove nothing; about 9 blocks would probably decide"},
		{compare.Versus{Detectable: 1.02}, "2%", "", "a difference of 2% or more would have shown"},
		{compare.Versus{Detectable: math.NaN()}, "", "", ""},
	} {
		cell := compare.Cell{Verdict: compare.Inconclusive, Vs: &tt.vs}
		if detect, need, reason := formatDetectable(cell), formatNeed(cell), power(cell); detect != tt.detect || need != tt.need || reason != tt.reason {
			t.Errorf("%+v: %q, %q, %q, want %q, %q, %q", tt.vs, detect, need, reason, tt.detect, tt.need, tt.reason)
		}
	}
}
