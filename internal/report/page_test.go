package report

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// firstScreen is a page up to its second section, as text that is easily searched.
func firstScreen(t *testing.T, page string) string {
	t.Helper()
	_, screen, ok := strings.Cut(html.UnescapeString(page), "<h1>")
	end := regexp.MustCompile(`</section>`).FindStringIndex(screen)
	if !ok || end == nil {
		t.Fatal("the page has no section")
	}
	return screen[:end[0]]
}

// The first screen of several designs says of each what the data says: a sentence with how
// many of its verdicts there are, and a heat map with each ratio, its verdict's glyph, and
// filled where and only where something is proven. References are not in it.
func TestFirstScreenOfDesigns(t *testing.T) {
	for _, path := range []string{"intel-xeon-2c-linux-amd64/20261122-022738-4f3837d0.bench", "amd-epyc-2c-linux-amd64/20261121-140125-f5a39d91.bench"} {
		c := resultsOf(t, path)
		tab, screen := c.Tables[0], firstScreen(t, pageOf(t, c, Extra{}))
		_, heat, _ := strings.Cut(screen, `<table class="heat">`)
		heat, _, _ = strings.Cut(heat, "</table>")
		rows := strings.Split(heat, "<tr>")[2:] // behind the head's
		if len(rows) != len(tab.Rows) {
			t.Fatalf("%s: %d rows of %d", path, len(rows), len(tab.Rows))
		}
		mentions(t, screen, setting(c.Files[0], "cpu-model"), "22 Nov 2026"[2:], fmt.Sprint(len(tab.Rows), " benchmarks"))
		shown := 0
		for j, col := range tab.Cols {
			if col.Ref {
				if strings.Contains(heat, ">"+col.Name+"<") {
					t.Errorf("%s: the reference %s is a contender", path, col.Name)
				}
				continue
			}
			count := make(map[compare.Verdict]int)
			compared := 0
			for i, r := range tab.Rows {
				cell := r.Cells[j]
				if cell.Vs == nil || j == r.Base {
					continue
				}
				compared++
				count[cell.Verdict]++
				want := regexp.QuoteMeta(formatRatio(cell.Vs.Ratio)) + " "
				switch cell.Verdict {
				case compare.Faster:
					want = `<td class="num cool[1-4]"[^>]*>` + want + "▼"
				case compare.Slower:
					want = `<td class="num warm[1-4]"[^>]*>` + want + "▲"
				case compare.Inconclusive:
					want = `<td class="num"[^>]*>` + want + "~"
				case compare.Same:
					want = `<td class="num"[^>]*>` + want + "="
				}
				if !regexp.MustCompile(want).MatchString(rows[i]) {
					t.Errorf("%s: %s of %s is not %s in\n%s", path, col.Name, r.Name, want, rows[i])
				}
				shown++
			}
			if compared == 0 {
				continue
			}
			if n := count[compare.Faster]; n > 0 {
				mentions(t, screen, fmt.Sprintf("<code>%s</code><span>: </span>faster on %d of %d", col.Name, n, compared))
			}
			if n := count[compare.Slower]; n > 1 {
				mentions(t, screen, fmt.Sprintf("slower on %d of %d", n, compared))
			}
		}
		if shown < 10 {
			t.Errorf("%s: only %d cells were looked at", path, shown)
		}
	}
}

// The heat map marks what is other people's, and the headline counts it apart.
func TestHeatMapMarksPeers(t *testing.T) {
	c := resultsOf(t, "amd-epyc-2c-linux-amd64/20261121-140125-f5a39d91.bench")
	for i, col := range c.Tables[0].Cols {
		if col.Name == "channel" {
			c.Tables[0].Cols[i] = compare.Column{Name: "peer-pond", Peer: true}
		}
	}
	_, heat, _ := strings.Cut(firstScreen(t, pageOf(t, c, Extra{})), `<table class="heat">`)
	mentions(t, heat, ">◇ pond<", ">lockbased<", "◇ is a peer")
	if got := Headline(c); !strings.HasPrefix(got, "4 designs and 1 peer against references, ") {
		t.Error(got)
	}
	// Where a design is the base there is none beside the peers.
	one := compare.Table{Cols: []compare.Column{{Name: "mine"}, {Name: "peer-x", Peer: true}}, Rows: []compare.Row{
		{Cells: []compare.Cell{{Verdict: compare.Base, N: 9}, {Verdict: compare.Slower, N: 9, Vs: &compare.Versus{Ratio: 2}}}},
	}}
	if got := subject(&compare.Comparison{Tables: []compare.Table{one}}); got != "1 peer against mine, 1 benchmark" {
		t.Error(got)
	}
	// Of three files the first is no contender, and is named.
	three := compare.Table{Cols: []compare.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Rows: []compare.Row{
		{Cells: []compare.Cell{{Verdict: compare.Base, N: 9}, one.Rows[0].Cells[1], one.Rows[0].Cells[1]}},
	}}
	if got := subject(&compare.Comparison{Col: ".file", Tables: []compare.Table{three}}); got != "2 files against a, 1 benchmark" {
		t.Error(got)
	}
	if got := strings.Join(legend(c), " "); !strings.Contains(got, "peer-") {
		t.Error(got)
	}
}

// The first screen of two versions has the sentence, and below it what is proven, worst
// first, then what is doubtful; what is the same or inconclusive is folded.
func TestFirstScreenOfVersions(t *testing.T) {
	c := twoVersions(compare.Slower, 1.034)
	better := &c.Tables[0].Rows[3].Cells[1]
	better.Verdict, better.Vs.Ratio, better.Vs.Lo, better.Vs.Hi = compare.Faster, 0.9, 0.89, 0.91
	screen := firstScreen(t, pageOf(t, c, Extra{}))
	shown, folded, ok := strings.Cut(screen, "<details>")
	if !ok {
		t.Fatalf("nothing is folded:\n%s", screen)
	}
	mentions(t, shown, "new against old, 6 benchmarks", `<p class="lead">1 of 4 benchmarks got slower: Decode/<wbr>size=1k +3.4 % (+2.4 to +4.4 %); 1 of 4 benchmarks got faster: Sum −10.0 % (−11.0 to −9.0 %)`,
		`href="#b1">Decode/<wbr>size=1k<`, "+2.4 to +4.4 %", `<svg class="axis"`)
	_, table, _ := strings.Cut(shown, "<table")
	if strings.Index(table, "Decode") > strings.Index(table, "Sum") || strings.Contains(table, "Encode") || !strings.Contains(table, "Noisy") {
		t.Errorf("the rows are not what is proven, worst first, and what is doubtful:\n%s", table)
	}
	mentions(t, folded, "Encode", "inconclusive")
}

// Of many changes the sentence names those of the time and counts the others; the rows are in
// order, what got worse first, of that times, and of these what changed by most; and what
// vanished in another unit leaves the axis to the times.
func TestFirstScreenOfManyChanges(t *testing.T) {
	c := resultsOf(t, "amd-epyc-2c-linux-amd64/truth-20261122-174512-37b33975-ab.bench")
	if got := Sentence(c); !strings.HasPrefix(got, "15 of 19 benchmarks got slower: LockSharedN +54.0 %") || !strings.HasSuffix(got, "; allocs/op: 2 worse, 2 better; B/op: 4 worse, 3 better; resources: 13 better, 43 worse") {
		t.Error(got)
	}
	f := sortFindings(c)
	for i, p := range f.proven[1:] {
		before := f.proven[i]
		isBad := func(p place) bool { return verdictTone(p.cell.Verdict) == Bad }
		if isBad(before) == isBad(p) && before.table.Unit == p.table.Unit && size(before.cell) < size(p.cell) || isBad(p) && !isBad(before) {
			t.Errorf("%s stands before %s", benchmark(before.row), benchmark(p.row))
		}
	}
	_, table, _ := strings.Cut(firstScreen(t, pageOf(t, c, Extra{})), `<table class="pair"`)
	head, _, _ := strings.Cut(table, "</thead>")
	mentions(t, head, "−20 %", "+50 %")
	if strings.Contains(head, "−90 %") {
		t.Errorf("the axis is that of allocations:\n%s", head)
	}
}

// A row that is inconclusive although its interval excludes 1 says why, in its place.
func TestCrowded(t *testing.T) {
	c := twoVersions(compare.Inconclusive, 1.03)
	vs := c.Tables[0].Rows[0].Cells[1].Vs
	vs.P, vs.Adjusted = 0.013, 0.092
	const want = "p is 0.013 for this comparison alone, and 0.092 corrected for 5 comparisons"
	mentions(t, firstScreen(t, pageOf(t, c, Extra{})), want)
	for name, change := range map[string]func(*compare.Cell){
		"the interval has 1 in it": func(c *compare.Cell) { c.Vs.Lo = 0.99 },
		"it is decided":            func(c *compare.Cell) { c.Verdict = compare.Slower },
		"p is small enough":        func(c *compare.Cell) { c.Vs.Adjusted = 0.04 },
	} {
		cell, copied := c.Tables[0].Rows[0].Cells[1], *vs
		cell.Vs = &copied
		change(&cell)
		if says := crowded(c, place{c.Tables[0], c.Tables[0].Rows[0], 1, cell}); says != "" {
			t.Errorf("%s: %q", name, says)
		}
	}
}

// References, floors among them, and the one value that lies far from all others do not
// squeeze the axis; they stand at its edge.
func TestRatioScale(t *testing.T) {
	cell := func(ratio float64) compare.Cell {
		return compare.Cell{N: 1, Verdict: compare.Faster, Vs: &compare.Versus{Ratio: ratio, Lo: ratio * 0.98, Hi: ratio * 1.02}}
	}
	tab := compare.Table{Cols: []compare.Column{{Name: record.RefPrefix + "floor", Ref: true}, {Name: "a"}, {Name: "b"}}}
	for i := range 12 {
		a := 0.5 + float64(i)/20
		if i == 7 {
			a = 28
		}
		tab.Rows = append(tab.Rows, compare.Row{Base: -1, Cells: []compare.Cell{cell(0.01), cell(a), cell(1.2)}})
	}
	s := ratioScale(tab, tab.Rows...)
	if s.lo < 0.4 || s.hi > 3 {
		t.Errorf("the axis is from %v to %v", s.lo, s.hi)
	}
	c := &compare.Comparison{Margin: 0.02}
	for _, test := range []struct {
		row, col int
		want     string
	}{{7, 1, `href="#more" x="100%"`}, {0, 0, `href="#less" x="0"`}, {0, 1, "<circle"}} {
		if body := string(s.ratio(c, placeOf(tab, tab.Rows[test.row], test.col)).body()); !strings.Contains(body, test.want) {
			t.Errorf("row %d, column %d is %s, want %s", test.row, test.col, body, test.want)
		}
	}
	tab.Cols = tab.Cols[:1]
	for i := range tab.Rows {
		tab.Rows[i].Cells = tab.Rows[i].Cells[:1]
	}
	if s := ratioScale(tab, tab.Rows...); s.lo > 0.01 {
		t.Errorf("of references only it is from %v to %v", s.lo, s.hi)
	}
}
