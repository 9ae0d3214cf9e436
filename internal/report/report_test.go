package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/conform"
	"github.com/dynolab/dyno/internal/quotetest"
	"github.com/dynolab/dyno/internal/targets"
)

// golden compares got to a file in testdata.
func golden[T string | []byte](t *testing.T, name string, text T) {
	t.Helper()
	got := []byte(text)
	path := filepath.Join("testdata", name)
	if *quotetest.Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFixture(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(significant(got), significant(want)) {
		t.Errorf("%s differs; if that is right, run go test ./internal/report -update. Got:\n%s", path, got)
	}
}

var manyDigits = regexp.MustCompile(`-?[0-9]+\.[0-9]{9,}(e[-+][0-9]+)?`)

// significant rounds the long figures of text to nine digits: exponentials and
// logarithms, and so the probabilities that come of them, differ in the last
// digits between processors with and without fused multiplication and addition.
func significant(text []byte) []byte {
	return manyDigits.ReplaceAllFunc(text, func(figure []byte) []byte {
		v, err := strconv.ParseFloat(string(figure), 64)
		if err != nil {
			return figure
		}
		return strconv.AppendFloat(nil, v, 'g', 9, 64)
	})
}

const samples = "../compare/testdata/compare/"

func interleaved(t testing.TB) *compare.Comparison {
	t.Helper()
	return compared(t, samples+"interleaved.bench")
}

func unpaired(t testing.TB) *compare.Comparison {
	t.Helper()
	return compared(t, samples+"old.txt", samples+"new.txt")
}

// turns has a comparison with each verdict: two rows whose columns took turns, and
// the control of the second is biased.
func turns(t testing.TB) *compare.Comparison {
	t.Helper()
	return compared(t, samples+"turns.bench")
}

func compared(t testing.TB, paths ...string) *compare.Comparison {
	t.Helper()
	c, err := compare.Compare(paths, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeFixture(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func render(t *testing.T, f func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func textOf(t *testing.T, d Doc, o TextOptions) string {
	t.Helper()
	return string(render(t, func(w io.Writer) error { return d.Text(w, o) }))
}

func plainText(t *testing.T, d Doc) string {
	t.Helper()
	return textOf(t, d, TextOptions{})
}

func terminalOf(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	return plainText(t, Comparison(c, Terminal, Extra{}))
}

func jsonOf(t *testing.T, c *compare.Comparison, card *targets.Scorecard) string {
	t.Helper()
	return string(render(t, func(w io.Writer) error { return JSON(w, c, card) }))
}

// mentions checks that all of wants are in what was written.
func mentions(t *testing.T, out string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func markdownOf(t *testing.T, d Doc) string {
	t.Helper()
	return string(render(t, func(w io.Writer) error { return d.Markdown(w, MarkdownOptions{}) }))
}

// formsOf are the forms of a comparison that people read.
func formsOf(t *testing.T, c *compare.Comparison) map[string]string {
	t.Helper()
	return map[string]string{"text": terminalOf(t, c), "markdown": markdownOf(t, Comparison(c, Document, Extra{})), "HTML": pageOf(t, c, Extra{})}
}

func TestGolden(t *testing.T) {
	for name, c := range map[string]*compare.Comparison{"interleaved": interleaved(t), "unpaired": unpaired(t), "turns": turns(t)} {
		golden(t, name+".txt", terminalOf(t, c))
		golden(t, name+".csv", render(t, func(w io.Writer) error { return CSV(w, c) }))
		golden(t, name+".json", render(t, func(w io.Writer) error { return JSON(w, withoutPaths(c), nil) }))
	}
}

// withoutPaths makes the paths of c those of any system.
func withoutPaths(c *compare.Comparison) *compare.Comparison {
	for i := range c.Files {
		c.Files[i].Path = filepath.ToSlash(c.Files[i].Path)
	}
	return c
}

// Colour adds escape sequences and nothing else.
func TestColorOnlyAddsColor(t *testing.T) {
	c := turns(t)
	plain := terminalOf(t, c)
	colored := textOf(t, Comparison(c, Terminal, Extra{}), TextOptions{Color: true})
	if strings.Contains(plain, "\x1b") {
		t.Error("plain text has escape sequences")
	}
	mentions(t, colored, "\x1b[32mfaster", "\x1b[31mslower", "\x1b[33munproven", "\x1b[2mref-errgroup")
	if stripped := regexp.MustCompile("\x1b\\[[0-9]+m").ReplaceAllString(colored, ""); stripped != plain {
		t.Errorf("without colours it is\n%s", stripped)
	}
}

// CSV parses back into the same figures, to the last digit.
func TestCSVParsesBack(t *testing.T) {
	for _, c := range []*compare.Comparison{interleaved(t), unpaired(t), turns(t)} {
		records, err := csv.NewReader(bytes.NewReader(render(t, func(w io.Writer) error { return CSV(w, c) }))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		head, rest := records[0], records[1:]
		figure := func(name string, v float64) {
			same(t, rest[0][slices.Index(head, name)], v)
		}
		for _, tab := range agreed(c).Tables {
			for _, r := range tab.Rows {
				for _, cell := range r.Cells {
					if cell.Verdict == compare.Absent {
						continue
					}
					if cell.N > 0 {
						figure("center", cell.Center)
					}
					if cell.Vs != nil {
						figure("ratio", cell.Vs.Ratio)
						figure("p", cell.Vs.P)
					}
					rest = rest[1:]
				}
			}
		}
		if len(rest) > 0 {
			t.Errorf("%d lines too many", len(rest))
		}
	}
}

// same checks that s is v as text; "" is NaN.
func same(t *testing.T, s string, v float64) {
	t.Helper()
	if s == "" {
		if !math.IsNaN(v) {
			t.Errorf("empty, want %v", v)
		}
		return
	}
	if got, err := strconv.ParseFloat(s, 64); err != nil || got != v {
		t.Errorf("%q, want %v", s, v)
	}
}

// A report is the same bytes each time, its links lead to its charts, and its
// charts are well-formed.
func TestWrite(t *testing.T) {
	c := interleaved(t)
	out := filepath.Join(t.TempDir(), "deep", "run.md")
	if err := Write(c, nil, out); err != nil {
		t.Fatal(err)
	}
	first := tree(t, filepath.Dir(out))
	if err := Write(interleaved(t), nil, out); err != nil {
		t.Fatal(err)
	}
	second := tree(t, filepath.Dir(out))
	if fmt.Sprint(first) != fmt.Sprint(second) {
		t.Error("a second report of the same results differs")
	}
	golden(t, "report.md", first["run.md"])
	golden(t, "overview.svg", first["run/overview.svg"])
	golden(t, "chart.svg", first["run/Group-workload=short-2.svg"])

	links := regexp.MustCompile(`!\[[^]]*\]\(([^)]*)\)`).FindAllSubmatch(first["run.md"], -1)
	if want := 1 + len(c.Tables[0].Rows); len(links) != want {
		t.Errorf("%d pictures, want %d", len(links), want)
	}
	for _, l := range links {
		if first[string(l[1])] == nil {
			t.Errorf("picture %s does not exist; there are %d files", l[1], len(first))
		}
	}
	for name, data := range first {
		if strings.HasSuffix(name, ".svg") {
			wellFormed(t, name, data)
		}
	}
	// A hole is a miss, and shown in every place.
	if !bytes.Contains(first["run.md"], []byte("crashed: exit status 2")) || !bytes.Contains(first["run/overview.svg"], []byte("missing")) {
		t.Error("the hole is not shown")
	}
}

// tree reads all files below dir.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func wellFormed(t *testing.T, name string, data []byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(data))
	title := false
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "title" {
			title = true
		}
	}
	if !title {
		t.Errorf("%s has no title", name)
	}
	if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Inf")) {
		t.Errorf("%s has coordinates that are no numbers", name)
	}
}

// What a logarithmic axis cannot show has no chart, and the report stands
// without it.
func TestNoChart(t *testing.T) {
	c := compareText(t, "BenchmarkA 1 0 ns/op\nBenchmarkb 1 5 ns/op\nBenchmark<&> 1 5 ns/op\nBenchmarkB 1 6 ns/op\n")
	t0 := c.Tables[0]
	if drawing, ok := rowChart(c, t0, t0.Rows[0]); ok {
		t.Errorf("chart of zero: %+v", drawing)
	}
	if drawing, ok := overviewChart(c, t0); ok {
		t.Errorf("overview of nothing: %+v", drawing)
	}
	out := filepath.Join(t.TempDir(), "run.md")
	if err := Write(c, nil, out); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, data := range tree(t, filepath.Dir(out)) {
		names = append(names, name)
		if strings.HasSuffix(name, ".svg") {
			wellFormed(t, name, data)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "run.html run.md run.report.json run/B-2.svg run/b.svg run/benchmark.svg" {
		t.Errorf("files: %s", got)
	}
}

// A benchmark without a base is in the overview only with what is missing.
func TestOverviewWithoutBase(t *testing.T) {
	c := compareText(t, `BenchmarkA/impl=ref-r 1 5 ns/op
BenchmarkA/impl=x 1 5.5 ns/op
BenchmarkA/impl=y 1 6 ns/op
BenchmarkB/impl=x 1 5 ns/op
`)
	drawing, ok := overviewChart(c, c.Tables[0])
	svg := string(drawing.file())
	if !ok {
		t.Error("there is no overview")
	}
	wellFormed(t, "overview", []byte(svg))
	mentions(t, svg, ">A <", ">against ref-r<", ">B <", ">missing<")
}

func compareText(t testing.TB, text string) *compare.Comparison {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.bench")
	writeFixture(t, path, []byte(text))
	return compared(t, path)
}

// Names and settings are data: they cannot break the document.
func TestMarkdownIsEscaped(t *testing.T) {
	c := compareText(t, "note: a `b` | *c* <script>\nBenchmarkX/|<b>*_`[x](y) 1 5 ns/op\n")
	got := markdownOf(t, Comparison(c, Document, Extra{}))
	for _, bad := range []string{"<script>\n", "<b>", "[x](y)"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q stands unescaped in\n%s", bad, got)
		}
	}
	for _, line := range strings.Split(got, "\n") {
		cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1
		if strings.HasPrefix(line, "| X/") && cells != 9 || strings.HasPrefix(line, "| note") && cells != 2 {
			t.Errorf("%d cells in %s", cells, line)
		}
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct{ file, dir, want string }{
		{"results/m/run.bench", "", "results/m/run.md"},
		{"results/m/run.bench", "out", "out/run.md"},
		{"new=results/run.bench", "", "results/run.md"},
		{"-", "", "stdin.md"},
		{"plain", "", "plain.md"},
	} {
		if got := filepath.ToSlash(Path([]string{c.file, "other"}, c.dir)); got != c.want {
			t.Errorf("Path(%s, %q) = %s, want %s", c.file, c.dir, got, c.want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0.5, "ns/op", "0.5 ns"},
		{0, "ns/op", "0 ns"},
		{1.2345, "ns/op", "1.234 ns"},
		{371.04, "ns/op", "371.0 ns"},
		{999.94, "ns/op", "999.9 ns"},
		{999.96, "ns/op", "1.000 µs"},
		{12345, "ns/op", "12.35 µs"},
		{3e6, "ns/op", "3.000 ms"},
		{2.5e9, "ns/op", "2.500 s"},
		{2.5e13, "ns/op", "25000 s"},
		{1.5, "p99-ns", "1.500 ns"},
		{446.6, "cpu-ns/op", "446.6 ns"},
		{12345, "stop-ns/actor", "12.35 µs"},
		{528, "allocs/op", "528"},
		{17120, "B/op", "17120 B"},
		{0.03125, "allocs/op", "0.0312"},
		{2.4512e-6, "allocs/msg", "0.000002"},
		{2.4512e-6, "drops/msg", "0.00000245"},
		{1048576, "B/op", "1.000 MiB"},
		{2048.3, "B/op", "2048 B"},
		{4110.88, "MB/s", "4111"},
		{12.35, "ms/frame", "12.35 ms"},
		{0.0000357, "allocs/op", "0.00004"},
		{-5, "delta", "-5"},
		{2.5e6, "msgs/s", "2.500M"},
		{math.Inf(1), "ns/op", "–"},
	} {
		if got := formatValue(c.v, c.unit); got != c.want {
			t.Errorf("formatValue(%v, %s) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
	for r, want := range map[float64]string{
		0.05: "0.0500", 0.005: "0.005", 0.3267: "0.327", 1: "1.000", 9.9996: "10.00", 12.345: "12.35", 1234.5: "1234", 0: "0", math.Inf(1): "–",
	} {
		if got := formatRatio(r); got != want {
			t.Errorf("formatRatio(%v) = %q, want %q", r, got, want)
		}
	}
	for p, want := range map[float64]string{0.03125: "0.031", 0.0004: "<0.001", 0.0005: "0.001", 1: "1.000"} {
		if got := formatP(p); got != want {
			t.Errorf("formatP(%v) = %q, want %q", p, got, want)
		}
	}
}

func matrix() *conform.Matrix {
	return &conform.Matrix{
		Clauses: []conform.Clause{{Name: "group/one", Rule: "G1"}, {Name: "group/two", Rule: "G4"}},
		Packages: []conform.Conformance{
			{Path: "example.com/impls/good", Results: map[string]conform.ClauseResult{
				"group/one": {Outcome: "pass"}, "group/two": {Outcome: "skip", Why: "lacks Overlap"},
			}},
			{Path: "example.com/impls/wrong", Results: map[string]conform.ClauseResult{
				"group/one": {Outcome: "fail", Why: "a result came twice", Seed: "7", Repeat: "DYNO_SEED=7 go test ./impls/wrong"},
				"group/two": {Outcome: "unknown"},
			}},
			{Path: "example.com/impls/crash", Results: map[string]conform.ClauseResult{}, Problem: "does not build", Output: "x.go:1: no\n"},
		},
	}
}

func TestConformGolden(t *testing.T) {
	m := matrix()
	golden(t, "conform.txt", plainText(t, Conformance(m, Terminal)))
	golden(t, "conform-screen.txt", plainText(t, Conformance(m, Screen)))
	golden(t, "conform.md", markdownOf(t, Conformance(m, Document)))
	golden(t, "conform.json", render(t, func(w io.Writer) error { return ConformJSON(w, m) }))
	colored := textOf(t, Conformance(m, Terminal), TextOptions{Color: true})
	mentions(t, colored, "\x1b[32mpass", "\x1b[33mskip[2]", "\x1b[31mFAIL[1]", "\x1b[31mUNKNOWN[3]")
	m.Packages[2].Path = "example.com/other/good"
	if text := plainText(t, Conformance(m, Terminal)); !strings.Contains(text, "example.com/impls/good") {
		t.Errorf("packages of one name are not told apart:\n%s", text)
	}
}

// TestConformRules sums clauses up by rule, in the order of the rules' numbers.
func TestConformRules(t *testing.T) {
	m := &conform.Matrix{Packages: []conform.Conformance{{Path: "x/a", Results: map[string]conform.ClauseResult{}}}}
	for _, c := range []struct{ rule, outcomes string }{
		{"V10", "pass pass"},
		{"V2", "pass skip"},
		{"FR-010", "skip"},
		{"FR-002", "pass fail pass unknown skip "},
		{"odd", "pass"},
		{"FR-001", ""},
	} {
		for i, outcome := range strings.Split(c.outcomes, " ") {
			name := fmt.Sprint("actor/", c.rule, i)
			m.Clauses = append(m.Clauses, conform.Clause{Name: name, Rule: c.rule})
			if outcome != "" {
				m.Packages[0].Results[name] = conform.ClauseResult{Outcome: outcome}
			}
		}
	}
	var got []string
	for _, row := range ruleTable(m).Rows {
		var cells []string
		for _, c := range row.Cells {
			cells = append(cells, c.Text)
		}
		got = append(got, strings.Join(cells, "|"))
	}
	want := []string{
		"FR-001|1|—", "FR-002|6|2 FAIL, 2 pass, 1 skip, 1 missing", "FR-010|1|skip",
		"V2|2|1 pass, 1 skip", "V10|2|pass", "odd|1|pass",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Rows that differ in one number are drawn as curves, with a table each, and not
// one by one.
func TestCurves(t *testing.T) {
	c := compared(t, "testdata/curves.bench")
	out := filepath.Join(t.TempDir(), "run.md")
	if err := Write(c, nil, out); err != nil {
		t.Fatal(err)
	}
	files := tree(t, filepath.Dir(out))
	mentions(t, string(files["run.md"]), "| 100k | 398.4 ns | 383.8 ns | 2.588 ns | 56.30 ns | 491.2 ns | 36.49 ns |",
		"| 1M | 707.6 ns | 649.4 ns | 2.814 ns | 60.83 ns | —\\[1\\] | 39.40 ns |\n| last ÷ first | 3.916 | 4.098 | 1.179 | 1.172 | – | 1.248 |")
	golden(t, "curve.svg", files["run/Actor-workload=ring-2-by-actors.svg"])
	var pictures []string
	for _, l := range regexp.MustCompile(`!\[[^]]*\]\(([^)]*)\)`).FindAllSubmatch(files["run.md"], -1) {
		pictures = append(pictures, string(l[1]))
		wellFormed(t, pictures[len(pictures)-1], files[string(l[1])])
	}
	if want := []string{
		"run/overview.svg", "run/Actor-workload=ring-2-by-actors.svg", "run/Actor-workload=big-by-GOMAXPROCS.svg", "run/Actor-workload=count-2.svg",
	}; !slices.Equal(pictures, want) || len(files) != 3+len(want) {
		t.Errorf("pictures %q, want %q, and %d files", pictures, want, len(files))
	}
	ring := string(files["run/Actor-workload=ring-2-by-actors.svg"])
	mentions(t, ring, " missing<", ">100k<", " ×", ">ref-mutex-cond ")
	// lockbased was not measured there.
	if big := string(files["run/Actor-workload=big-by-GOMAXPROCS.svg"]); strings.Contains(big, "lockbased") {
		t.Error("a line without a point has a label")
	}
}

// Where a value is missing the line has a gap, and no bridge.
func TestCurveGap(t *testing.T) {
	table := compare.Table{Unit: "ns/op", Cols: []compare.Column{{Name: "a"}, {Name: "ref-b", Ref: true}}}
	for i, v := range []float64{10, 0, 30, 40} {
		a := compare.Cell{N: 6, Center: v, Lo: v - 1, Hi: v + 1}
		if v == 0 {
			a = compare.Cell{Verdict: compare.Missing, Hole: true}
		}
		table.Rows = append(table.Rows, compare.Row{
			Name:  fmt.Sprintf("X/n=%d", i+1),
			Cells: []compare.Cell{a, {N: 1, Center: -1}}, // which has no logarithm
		})
	}
	curve := table.Curves()[0]
	points := curvePoints(table, curve, 0, scale{1, 4})
	if len(points) != 3 || !points[0].gap || points[1].gap {
		t.Errorf("points %+v, want three, with a gap behind the first", points)
	}
	draw := func() (string, bool) {
		drawing, ok := curveChart(&compare.Comparison{Alpha: 0.05}, table, curve)
		return string(drawing.file()), ok
	}
	gap, _ := draw()
	table.Rows[1].Cells[0] = compare.Cell{N: 1, Center: 20}
	whole, _ := draw()
	// Two stretches of line more, and one in the key; the reference has no point.
	const stretch = `<line class="line "`
	if g, w := strings.Count(gap, stretch), strings.Count(whole, stretch); g != 2 || w != 4 || strings.Contains(whole, "ref-b") {
		t.Errorf("%d stretches of line with a gap and %d without, want 2 and 4", g, w)
	}
	for i := range table.Rows {
		table.Rows[i].Cells[0] = compare.Cell{Verdict: compare.Missing}
	}
	if _, ok := draw(); ok {
		t.Error("there is a chart of nothing")
	}
}

func TestFormatCount(t *testing.T) {
	for v, want := range map[float64]string{
		1: "1", 2: "2", 0.5: "0.5", 999: "999", 1000: "1k", 2500: "2.5k", 1e6: "1M", 3e9: "3G", 1e13: "1e+13",
	} {
		if got := formatCount(v); got != want {
			t.Errorf("formatCount(%v) = %s, want %s", v, got, want)
		}
	}
}

// Failure to write is passed on.
func TestWriteErrors(t *testing.T) {
	c := interleaved(t)
	m := matrix()
	for name, f := range map[string]func(io.Writer) error{
		"text":     func(w io.Writer) error { return Comparison(c, Terminal, Extra{}).Text(w, TextOptions{}) },
		"markdown": func(w io.Writer) error { return Comparison(c, Document, Extra{}).Markdown(w, MarkdownOptions{}) },
		"csv":      func(w io.Writer) error { return CSV(w, c) },
		"json":     func(w io.Writer) error { return JSON(w, c, nil) },
		"html":     Comparison(c, Page, Extra{}).HTML,
		"conform":  func(w io.Writer) error { return Conformance(m, Terminal).Text(w, TextOptions{}) },
		"matrix":   func(w io.Writer) error { return Conformance(m, Document).Markdown(w, MarkdownOptions{}) },
	} {
		if err := f(failing{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	writeFixture(t, file, nil)
	if err := Write(c, nil, filepath.Join(file, "run.md")); err == nil {
		t.Error("a report inside a file was written")
	}
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
