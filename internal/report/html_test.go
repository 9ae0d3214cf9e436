package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/why"
)

func pageOf(t *testing.T, c *compare.Comparison, x Extra) string {
	t.Helper()
	return string(render(t, func(w io.Writer) error { return Comparison(c, Page, x).HTML(w) }))
}

// resultsOf reads a file of results/, which anyone has.
func resultsOf(t *testing.T, path string) *compare.Comparison {
	t.Helper()
	return compared(t, filepath.FromSlash("../../results/"+path))
}

// The page refers to nothing but itself, its links lead somewhere, and no name is
// there twice.
func TestHTMLStandsAlone(t *testing.T) {
	for name, c := range map[string]*compare.Comparison{
		"interleaved": interleaved(t), "unpaired": unpaired(t), "curves": compared(t, "testdata/curves.bench"), "means": means(t),
	} {
		page := pageOf(t, c, Extra{Title: "Comparison of " + name})
		for _, bad := range []string{"http:", "https:", "//", "<script", "@import", "url(", "<link", "<iframe", " on", "style=", "NaN", "Inf", "ZgotmplZ"} {
			// A path of a package or a system may have what a reference has.
			if i := strings.Index(withoutText(page), bad); i >= 0 {
				t.Errorf("%s has %q: …%s…", name, bad, withoutText(page)[max(0, i-80):i+40])
			}
		}
		if n := linksLead(t, page); n < 10 {
			t.Errorf("%s has %d links", name, n)
		}
		if again := pageOf(t, c, Extra{Title: "Comparison of " + name}); again != page {
			t.Errorf("%s: a second page of the same results differs", name)
		}
	}
}

// linksLead checks that links lead to a part of the page, of which each has a name of its own,
// and counts them.
func linksLead(t *testing.T, page string) int {
	t.Helper()
	ids := make(map[string]int)
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]]++; ids[m[1]] > 1 {
			t.Errorf("two elements are %q", m[1])
		}
	}
	links := regexp.MustCompile(`(?:href|aria-labelledby)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	for _, m := range links {
		if ids[strings.TrimPrefix(m[1], "#")] == 0 {
			t.Errorf("nothing is %q", m[1])
		}
	}
	return len(links)
}

// withoutScript is a page without the one script that it has, which loads nothing.
func withoutScript(page string) string {
	return strings.Replace(page, "<script>"+pageScript+"</script>", "", 1)
}

// The script reaches for nothing outside of the page, and makes no markup of what is in it.
func TestScriptStaysInThePage(t *testing.T) {
	for _, bad := range []string{"fetch", "XMLHttp", "WebSocket", "import", "http", "innerHTML", "outerHTML", "eval", "Function", "location", "cookie", "src", "</"} {
		if strings.Contains(pageScript, bad) {
			t.Errorf("the script has %q", bad)
		}
	}
}

// withoutText is the tags of a page: what it shows may be anything.
func withoutText(page string) string {
	page = withoutScript(page)
	return strings.Join(regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1), "")
}

// The policy that lets the style sheet in names the sheet that is there.
func TestHTMLPolicyFitsItsStyle(t *testing.T) {
	page := pageOf(t, interleaved(t), Extra{})
	_, style, _ := strings.Cut(page, "<style>")
	style, _, ok := strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	_, script, _ := strings.Cut(page, "<script>")
	script, _, hasScript := strings.Cut(script, "</script>")
	scriptSum := sha256.Sum256([]byte(script))
	for _, want := range []string{
		"style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		"script-src 'sha256-" + base64.StdEncoding.EncodeToString(scriptSum[:]) + "'",
	} {
		if !ok || !hasScript || !strings.Contains(html.UnescapeString(page), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// Every cell is in the answer and among the figures.
func TestHTMLHasEveryCell(t *testing.T) {
	c := interleaved(t)
	page := html.UnescapeString(pageOf(t, c, Extra{}))
	c = agreed(c)
	_, answer, _ := strings.Cut(page, `<table class="answer">`)
	answer, rest, _ := strings.Cut(answer, "</table>")
	for i, tab := range c.Tables {
		for _, r := range tab.Rows {
			for j, cell := range r.Cells {
				if cell.Vs == nil || cell.Verdict == compare.Base {
					continue
				}
				if i == 0 && !strings.Contains(answer, fmt.Sprintf(`%s <small>%s</small>`, placeOf(tab, r, j).ratio(), formatInterval(cell.Vs))) && formatInterval(cell.Vs) != "" {
					t.Errorf("the answer lacks %s of %s", tab.Cols[j].Name, r.Name)
				}
				if !strings.Contains(rest, formatValue(cell.Center, tab.Unit)) || !strings.Contains(rest, string(cell.Verdict)) {
					t.Errorf("the figures lack %s of %s in %s", tab.Cols[j].Name, r.Name, tab.Unit)
				}
			}
		}
	}
	mentions(t, page, slices.Concat(c.Warnings, c.Notes, legend(c), []string{"crashed: exit status 2"})...)
}

// What cannot be told says what it would have seen, and what would decide it; what is
// not proven, why; and the control stands beside what it controls.
func TestHTMLOfTurns(t *testing.T) {
	c := compared(t, samples+"turns.bench")
	page := html.UnescapeString(pageOf(t, c, Extra{}))
	_, answer, _ := strings.Cut(page, `<table class="answer">`)
	answer, rest, _ := strings.Cut(answer, "</table>")
	found := 0
	for _, r := range c.Tables[0].Rows {
		for _, cell := range r.Cells {
			if cell.Verdict == compare.Inconclusive {
				found++
				if text := power(cell); text == "" || !strings.Contains(answer, text) || !strings.Contains(rest, formatDetectable(cell)) || !strings.Contains(rest, formatNeed(cell)) {
					t.Errorf("the page does not say of %s: %q", r.Name, text)
				}
			}
			if cell.Verdict == compare.Unproven {
				found++
				if len(cell.Notes) == 0 || !strings.Contains(page, c.Notes[cell.Notes[0]]) {
					t.Errorf("the page does not say why something in %s is unproven", r.Name)
				}
			}
		}
		if r.Control == nil || !strings.Contains(rest, "again (control)") || !strings.Contains(rest, controlLine(c.Tables[0], r)) {
			t.Errorf("the control of %s is not shown", r.Name)
		}
	}
	if found < 2 {
		t.Errorf("%d cells were to be looked at", found)
	}
	if strings.Count(page, `class="margin"`) < 6 || !strings.Contains(rest, ">L11<") {
		t.Error("the margin or the layouts are not drawn")
	}
}

// Names, settings and reasons are text, whatever they hold.
func TestHTMLEscapes(t *testing.T) {
	const evil = `<script>alert("1")</script>`
	c := compareText(t, "machine: "+evil+"\nblock: 1\nBenchmarkX"+evil+"/impl="+evil+" 1 5 ns/op\nBenchmarkX"+evil+"/impl=b 1 6 ns/op 3 "+evil+
		"\n# hole: case=X/impl=c reason="+fmt.Sprintf("%q", evil)+"\n")
	c.Warnings, c.Problems = append(c.Warnings, evil), append(c.Problems, evil)
	x := &why.Index{Cells: []why.Cell{{Row: c.Tables[0].Rows[0].Name, Base: evil, Column: "b", Sentence: evil, Notes: []string{evil}, Profiles: []why.Profile{{Kind: evil, Diff: evil}}}}}
	page := pageOf(t, c, Extra{Title: evil, Why: x, Profiles: `javascript:alert(1)//`})
	if strings.Contains(withoutScript(page), "<script") || strings.Contains(page, `"javascript:`) {
		t.Errorf("a name became markup")
	}
	if n := strings.Count(html.UnescapeString(page), evil); n < 12 {
		t.Errorf("%d of them are shown", n)
	}
}

// The page of the default comparison opens at once.
func TestHTMLIsSmall(t *testing.T) {
	for _, path := range []string{"intel-xeon-2c-linux-amd64/20261120-213226-348fc45c.bench", "amd-epyc-2c-linux-amd64/20261121-170929-e08f0212.bench"} {
		if n := len(pageOf(t, resultsOf(t, path), Extra{})); n > 1<<20 {
			t.Errorf("the page of %s has %d bytes", path, n)
		}
	}
}

// What explains a difference stands with its benchmark, and leads to pprof's pages of it.
func TestHTMLExplains(t *testing.T) {
	c := turns(t)
	t0 := c.Tables[0]
	r, col := cellWith(t, c, compare.Verdict.Proven)
	x := &why.Index{Cells: []why.Cell{{
		Pkg: "p", Row: r.Name, Base: t0.Cols[r.Base].Name, Column: t0.Cols[col].Name, Sentence: "It allocates less.",
		Counters: []why.Counter{
			{Name: "context switches", Unit: "/op", Base: 2, This: 1, Ratio: &why.Ratio{Ratio: 0.5, Lo: 0.4, Hi: 0.6}, Moved: true},
			{Name: "page faults", Unit: "/op", Base: 2, This: 2},
		},
		Profiles: []why.Profile{{
			Kind: why.CPU, Unit: "ns/op", Base: why.Side{Path: "a/base.pb.gz"}, This: why.Side{Path: "a/this.pb.gz"}, Diff: "a/diff.pb.gz",
			Top: []why.Change{{Name: "runtime.mallocgc", Base: why.Cost{Flat: 30}, This: why.Cost{Flat: 12}}},
		}},
	}}}
	page := pageOf(t, c, Extra{Why: x, Profiles: "profile/"})
	mentions(t, html.UnescapeString(page),
		"It allocates less.", "context switches", "0.400 to 0.600", "runtime.mallocgc", "−18.00 ns",
		`href="profile/a/base.pb.gz/"`, `href="profile/a/this.pb.gz/"`, `href="profile/a/diff.pb.gz/"`,
	)
	if strings.Contains(page, "page faults") {
		t.Error("a counter that did not move is shown")
	}
	if page := pageOf(t, c, Extra{Why: x}); strings.Contains(page, "profile/") || !strings.Contains(page, "go tool pprof -http : why/a/diff.pb.gz") {
		t.Error("where nothing serves profiles the page leads to them, or does not say how to open them")
	}
}

// cellWith returns the first compared cell, by row and column, whose verdict is one.
func cellWith(t *testing.T, c *compare.Comparison, one func(compare.Verdict) bool) (compare.Row, int) {
	t.Helper()
	for _, r := range c.Tables[0].Rows {
		for i, cell := range r.Cells {
			if i != r.Base && cell.Vs != nil && one(cell.Verdict) {
				return r, i
			}
		}
	}
	t.Fatal("there is no such verdict")
	return compare.Row{}, 0
}

// What is not proven has no story, even if it once was thought to be.
func TestHTMLExplainsNothingUnproven(t *testing.T) {
	c := turns(t)
	r, col := cellWith(t, c, func(v compare.Verdict) bool { return v == compare.Inconclusive })
	base, this := c.Tables[0].Cols[r.Base].Name, c.Tables[0].Cols[col].Name
	x := &why.Index{Cells: []why.Cell{{Pkg: r.Pkg, Row: r.Name, Base: base, Column: this, Verdict: "slower", Sentence: "The time is spent waiting."}}}
	page := pageOf(t, c, Extra{Why: x})
	if strings.Contains(page, "waiting") || strings.Contains(page, "<h4>Why") {
		t.Error("a difference that is not proven is explained")
	}
	if !strings.Contains(page, "<h4>Profiles of "+this+"</h4>") || !strings.Contains(page, this+" and "+base+" are not shown to differ") {
		t.Error("it is not said that there is nothing to explain")
	}
}

// Write finds the explanations beside the results.
func TestWriteExplains(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(samples + "turns.bench")
	if err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(dir, "run.bench")
	writeFixture(t, results, data)
	c := compared(t, results)
	r, col := cellWith(t, c, compare.Verdict.Proven)
	x := &why.Index{Schema: why.Schema, Cells: []why.Cell{{Row: r.Name, Base: c.Tables[0].Cols[r.Base].Name, Column: c.Tables[0].Cols[col].Name, Folder: "a", Sentence: "It does less."}}}
	if err := x.Write(results); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "run.md")
	if err := Write(c, nil, out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(HTMLPath(out))
	if err != nil || !bytes.Contains(page, []byte("It does less.")) {
		t.Errorf("the explanation is not there: %v", err)
	}
}

// Values stand in the order of time, with gaps where some are missing, and the
// layouts and the control beside them.
func TestStrips(t *testing.T) {
	value := func(block, layout string, v float64) compare.BlockValue {
		return compare.BlockValue{File: "f", Block: block, Layout: layout, V: v}
	}
	r := compare.Row{
		Name: "X",
		Cells: []compare.Cell{
			{N: 2, Blocks: []compare.BlockValue{value("10", "2", 100), value("9", "1", 104)}},
			{N: 3, Blocks: []compare.BlockValue{value("9", "1", 50), value("11", "3", 50), value("10", "2", 500)}},
		},
		Control: &compare.Control{Col: 0, Blocks: []compare.BlockValue{value("9", "1", 100), value("11", "3", 100)}},
	}
	tab := compare.Table{Unit: "ns/op", Cols: []compare.Column{{Name: "a"}, {Name: "b"}}, Rows: []compare.Row{r}}
	drawing, values, ok := stripChart(tab, r)
	if len(drawing.panes) != 4 || !ok {
		t.Fatalf("panes: %+v", drawing.panes)
	}
	if foot := regexp.MustCompile(`>(\w+)<`).FindAllString(string(drawing.panes[3].body), -1); strings.Join(foot, "") != ">9<>L1<>10<>L2<>11<>L3<" {
		t.Errorf("blocks and layouts are %q", foot)
	}
	count := func(pane int, what string) int { return strings.Count(string(drawing.panes[pane].body), what) }
	if a := drawing.panes[0]; count(0, `class="dot"`) != 2 || count(0, `class="line"`) != 0 {
		t.Errorf("a goes back in time: %s", a.body) // block 10 is read before block 9
	}
	if b := drawing.panes[1]; count(1, `class="dot"`) != 2 || count(1, `class="hollow" cx="50%" cy="4"`) != 1 {
		t.Errorf("ten times the median is not at the upper edge: %s", b.body)
	}
	if control := drawing.panes[2]; control.left != "a again (control)" || count(2, `class="line"`) != 0 {
		t.Errorf("a line of the control leads over the block that is missing: %s: %s", control.left, control.body)
	}
	if got := values.Rows[1].Cells[3].Text; got != "" {
		t.Errorf("the control has %q in block 10", got)
	}
	one := compare.Row{Cells: []compare.Cell{{N: 1, Blocks: []compare.BlockValue{value("1", "", 1)}}}}
	if drawing, _, ok := stripChart(compare.Table{Cols: []compare.Column{{}}}, one); ok {
		t.Errorf("one value is drawn: %+v", drawing)
	}
}

func TestQuantileOf(t *testing.T) {
	for _, tt := range []struct {
		unit, prefix, name string
		q                  float64
		ok                 bool
	}{
		{"p50-ns", "", "p50", 0.5, true},
		{"cycle-p99.9-ns", "cycle-", "p99.9", 0.999, true},
		{"resume-max-ns", "resume-", "max", 1, true},
		{"mean-ns", "", "", 0, false},
		{"ns/op", "", "", 0, false},
		{"p200-ns", "", "", 0, false},
		{"stop-ns/actor", "", "", 0, false},
	} {
		prefix, name, q, ok := quantileOf(tt.unit)
		if ok != tt.ok || ok && (prefix != tt.prefix || name != tt.name || math.Abs(q-tt.q) > 1e-9) {
			t.Errorf("%s is %q %q %v %v", tt.unit, prefix, name, q, ok)
		}
	}
}

// An axis has some ticks and not too many, whatever it spans, and that of ratios
// always has 1.
func TestTicks(t *testing.T) {
	for _, s := range []scale{{0.99, 1.01}, {0.91, 1.1}, {0.5, 1.2}, {0.9, 40}, {1e-9, 1e9}, {0.2, 1.1}, {3e-4, 1.1}} {
		for _, most := range []int{3, 5} {
			got := s.ratioTicks(most)
			if len(got) < 1 || len(got) > most || !slices.ContainsFunc(got, func(t tick) bool { return t.label == "1" }) {
				t.Errorf("%v, at most %d: %+v", s, most, got)
			}
		}
	}
}
