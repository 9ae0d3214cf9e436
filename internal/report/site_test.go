package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sitePages are the pages of a site as they are written, by their paths.
func sitePages(t *testing.T, pages []SitePage) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, p := range pages {
		if out[p.Path] != "" {
			t.Errorf("two pages are %s", p.Path)
		}
		out[p.Path] = string(render(t, func(w io.Writer) error { return p.Doc.HTML(w) }))
	}
	return out
}

func aSite(t *testing.T) []SiteRun {
	t.Helper()
	return []SiteRun{
		{Path: "intel/old.bench", Comparison: resultsOf(t, "intel-xeon-2c-linux-amd64/20261122-022738-4f3837d0.bench")},
		{Path: "intel/ab.bench", Comparison: resultsOf(t, "intel-xeon-2c-linux-amd64/20261122-023338-ab-69d75370-4f3837d0.bench")},
		{Path: "rv32/board.bench", Comparison: compared(t, "testdata/side-board.bench")},
		{Path: "a b/#1?.bench", Comparison: turns(t)},
	}
}

// All pages lead to one another, and nowhere else: each link is a page of the site, and its
// fragment is there.
func TestSiteLinks(t *testing.T) {
	more := SitePage{"history.html", Doc{Title: "What changed over time"}}
	pages := sitePages(t, Site(aSite(t), more))
	links := 0
	reached := map[string]bool{"index.html": true}
	for at, page := range pages {
		for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			to, fragment, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			target := at
			if to != "" {
				target = path.Join(path.Dir(at), strings.NewReplacer("%20", " ", "%23", "#", "%3F", "?").Replace(to))
			}
			if pages[target] == "" || fragment != "" && !strings.Contains(pages[target], ` id="`+fragment+`"`) {
				t.Errorf("%s leads to %s, which is not there", at, m[1])
			}
			reached[target] = true
			links++
		}
	}
	for p := range pages {
		if !reached[p] {
			t.Errorf("no link leads to %s", p)
		}
	}
	if links < 100 || len(pages) < 20 {
		t.Errorf("%d links on %d pages", links, len(pages))
	}
}

// What one comes for is first: designs before peers, and of each the most measured.
func TestSiteOrdersDesigns(t *testing.T) {
	s := new(site)
	for design, figures := range map[string]int{"peer-most": 9, "peer-few": 1, "few": 1, "also-few": 1, "most": 5} {
		s.designs.names = append(s.designs.names, design)
		s.figuresOf = append(s.figuresOf, slices.Repeat([]siteFigure{{design: design}}, figures)...)
	}
	s.sortDesigns()
	if got, want := strings.Join(s.designs.names, " "), "most also-few few peer-most peer-few"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The index counts out of how many, and only implementations are designs: what names none, and
// how a peer is called, is not.
func TestSiteCounts(t *testing.T) {
	var text strings.Builder
	for i := range 8 {
		for _, line := range []string{
			"X/workload=a/impl=ref-b 1 %d ns/op", "X/workload=a/impl=one 1 5%d ns/op", "X/workload=b/impl=ref-b 1 5%d ns/op", "X/workload=b/impl=one 1 %d ns/op",
			"X/workload=c/impl=one 1 %d ns/op", "X/workload=c 1 %d ns/op", "Y 1 %d ns/op", "Z/peer=p/impl=native 1 %d ns/op", "Z/peer=p/impl=adapter 1 %d ns/op",
		} {
			fmt.Fprintf(&text, "Benchmark"+line+"\n", 10+i%3)
		}
	}
	c := compareText(t, "machine: m\n"+text.String())
	s := newSite([]SiteRun{{Path: "m/a.bench", Comparison: c}})
	if !slices.Equal(s.designs.names, []string{"one"}) || strings.Join(s.workloads.names, " ") != "X/a X/b X/c" {
		t.Errorf("designs %q, workloads %q", s.designs.names, s.workloads.names)
	}
	var got []string
	for _, kind := range []*siteNames{&s.designs, &s.workloads} {
		for _, r := range kind.table(s, "index.html").Rows {
			line := ""
			for _, c := range r.Cells {
				line += "|" + c.Text
			}
			got = append(got, line)
		}
	}
	// Without blocks nothing is proven.
	want := []string{"|one|0 of 2|0 of 2|3", "|X/a|0 of 1|0 of 1|1", "|X/b|0 of 1|0 of 1|1", "|X/c|||1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The figures of a design are the latest ratios to a reference on each machine. What is
// compared with another design only has its value.
func TestSiteFigures(t *testing.T) {
	runs := aSite(t)
	pages := sitePages(t, Site(runs))
	page := html.UnescapeString(pages["designs/workstealing.html"])
	tab := runs[0].Comparison.Tables[0]
	col := columnIndex(tab, "workstealing")
	for i, r := range tab.Rows {
		want := fmt.Sprintf(`href="../runs/intel/old.html#%s">%s `, rowID(i), formatRatio(r.Cells[col].Vs.Ratio))
		if !strings.Contains(page, want) {
			t.Errorf("no %s of %s", want, r.Name)
		}
	}
	// A later run without a reference takes no ratio's place.
	later := compareText(t, "machine: "+setting(runs[0].Comparison.Files[0], "machine")+"\nstarted: 2027-01-01T00:00:00Z\n"+
		"BenchmarkGroup/workload=cancel/impl=lockbased-2 1 5 ns/op\nBenchmarkGroup/workload=cancel/impl=workstealing-2 1 7 ns/op\nBenchmarkNew/impl=workstealing-2 1 123 ns/op\n")
	again := sitePages(t, Site(append(runs, SiteRun{Path: "intel/later.bench", Comparison: later})))["designs/workstealing.html"]
	mentions(t, again, "runs/intel/old.html#b1", "123.0 ns")
	if strings.Contains(again, "7.000 ns") {
		t.Errorf("the design has a later value in place of its ratio:\n%s", again)
	}
	board := runs[2].Comparison.Tables[0]
	p := placesIn(board, board.Rows[0])[0]
	if p.column().Ref {
		t.Fatalf("the board has a reference, %s", p.column().Name)
	}
	row := regexp.MustCompile(`(?s)<tr>[^\n]*` + regexp.QuoteMeta(p.center()) + `[^\n]*tiny`).FindString(html.UnescapeString(pages["designs/"+p.column().Name+".html"]))
	if row == "" || strings.Contains(row, "faster") || strings.Contains(row, "worse") || strings.Contains(row, "better") {
		t.Errorf("the board's figure %s stands as %q in\n%s", p.center(), row, pages["designs/"+p.column().Name+".html"])
	}
	mentions(t, pages["index.html"], "Results: 4 runs on 3 machines", "HEAD against 69d7537, 5 benchmarks", "workstealing: faster on 10 of 12", ">10 of 14<")
}

// What several machines have measured of one job stands side by side: the verdict of each, how many
// agree and how far they are apart, and no time.
func TestSiteSideBySide(t *testing.T) {
	run := func(machine, job, file string) SiteRun {
		text, err := os.ReadFile(filepath.Join("../../results/amd-epyc-2c-linux-amd64", file))
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`(?m)^job: .*\n`).ReplaceAll(text, nil)
		text = bytes.Replace(text, []byte("\nmachine: amd-epyc-2c-linux-amd64\n"), []byte("\njob: "+job+"\nmachine: "+machine+"\n"), 1)
		path := filepath.Join(t.TempDir(), "run.bench")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return SiteRun{Path: machine + "/" + job + ".bench", Comparison: compared(t, path)}
	}
	const alone, fleet = "20261123-132211-bc947da4-alone.bench", "20261123-132301-bc947da4-fleet.bench"
	pages := sitePages(t, Site([]SiteRun{run("one", "same", alone), run("two", "same", fleet), run("two", "other", alone)}))
	page := html.UnescapeString(pages["side-by-side.html"])
	for _, want := range []string{
		`href="runs/one/same.html"`, `href="runs/two/same.html"`, ">2.544 slower<", ">2.430 slower<", "slower on 2 of 2 machines; together +", "heterogeneity I² ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, wrong := range []string{"other", " µs", " ns<"} {
		if strings.Contains(page, wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
	if !strings.Contains(pages["index.html"], "1 plan that several have measured") {
		t.Error("the index does not lead there")
	}
	if pages := sitePages(t, Site([]SiteRun{run("one", "same", alone), run("two", "other", fleet)})); pages["side-by-side.html"] != "" {
		t.Error("two jobs stand side by side")
	}
}
