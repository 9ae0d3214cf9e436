package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynolab/dyno/internal/compare"
)

// drawn is results of a few benchmarks in several columns and units, as text: of versions in
// blocks, of designs in blocks, or of files.
func drawn(t *rapid.T) (texts []string, o compare.Options) {
	units := []string{"ns/op", "req/s", "p99-ns", "ms/frame", "allocs/op", "B/op", "hit-%", "text-bytes", "errors/op", "delta", "MB/s", "cpu-ns/op", "live-heap-B", "gcs/Mop"}
	mode := rapid.SampledFrom([]string{"versions", "designs", "two files", "three files"}).Draw(t, "mode")
	columns := map[string][]string{
		"versions": {"old", "new"}, "designs": {"ref-a", "x", "y"}, "two files": {"0", "1"}, "three files": {"0", "1", "2"},
	}[mode]
	type series struct {
		name, unit string
		base       float64
		factor     []float64 // by column
		noise      float64
	}
	lost := make(map[string]int) // the number of the column that never reports the unit
	for _, unit := range units {
		lost[unit] = rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 2}).Draw(t, "lost")
	}
	var all []series
	for b := range rapid.IntRange(1, 4).Draw(t, "benchmarks") {
		for _, unit := range rapid.SliceOfNDistinct(rapid.SampledFrom(units), 1, 4, rapid.ID).Draw(t, "units") {
			s := series{name: fmt.Sprintf("B%d", b), unit: unit, base: rapid.SampledFrom([]float64{0, 0.00003, 0.3, 100, 2100.5, 3e6}).Draw(t, "base")}
			if unit == "delta" && rapid.Bool().Draw(t, "negative") {
				s.base = -s.base
			}
			s.noise = rapid.SampledFrom([]float64{0, 0.001, 0.05}).Draw(t, "noise")
			for range columns {
				s.factor = append(s.factor, rapid.SampledFrom([]float64{1, 1, 1.001, 1.049, 0.9, 2.5, 0, -1}).Draw(t, "factor"))
			}
			all = append(all, s)
		}
	}
	value := func(s series, col, block int) string {
		f := s.factor[col]
		if f < 0 && s.unit != "delta" {
			f = 1
		}
		v := s.base * f
		if s.base == 0 && f > 1 {
			v = 5
		}
		v *= 1 + s.noise*math.Sin(float64(7*block+3*col+len(s.unit)))
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	lines := func(col, block int, name func(string) string) string {
		b := "\n"
		for i, s := range all {
			if i == 0 || all[i-1].name != s.name {
				b += "\nBenchmark" + name(s.name) + " 1"
			}
			if lacks := col > 0 && (block+i)%11 == 3 && s.noise > 0; !lacks && (i == 0 || lost[s.unit] != col+1) {
				b += " " + value(s, col, block) + " " + s.unit
			}
		}
		return b + "\n"
	}
	const exact = "Unit text-bytes assume=exact\n"
	blocks := rapid.IntRange(1, 9).Draw(t, "blocks")
	switch mode {
	case "versions", "designs":
		text := exact
		for block := range blocks {
			text += fmt.Sprintf("block: %d\n", block+1)
			for col, name := range columns {
				if mode == "versions" {
					text += "side: " + name + lines(col, block, func(b string) string { return b + "-8" })
				} else {
					text += lines(col, block, func(b string) string { return b + "/impl=" + name + "-8" })
				}
			}
		}
		return []string{text}, o
	}
	for col := range columns {
		text := exact
		for block := range blocks {
			text += lines(col, block, func(b string) string { return b + "-8" })
		}
		texts = append(texts, text)
	}
	return texts, o
}

// Sentence, tables, gate, Markdown, HTML, CSV and JSON say the same of each cell, whatever is
// compared.
func TestOneFigureOneMeaning(t *testing.T) {
	comparisons, cells := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		texts, o := drawn(rt)
		c := comparedTexts(t, o, texts...)
		comparisons++
		p := property{T: t, rt: rt, c: agreed(c), gate: c.Gate()}
		p.data(c)
		p.documents(c)
		p.sentences(c)
		p.gates()
		cells += p.cells
	})
	t.Logf("%d comparisons, %d cells", comparisons, cells)
}

// A property checks a comparison, as documents have it.
type property struct {
	*testing.T
	rt    *rapid.T
	c     *compare.Comparison
	gate  compare.Gate
	cells int
}

// places are the cells that are there or due.
func (p *property) places() (all []place) {
	for _, t := range p.c.Tables {
		for _, r := range t.Rows {
			for i, cell := range r.Cells {
				if cell.Verdict != compare.Absent {
					all = append(all, placeOf(t, r, i))
				}
			}
		}
	}
	return all
}

func (p place) String() string {
	return fmt.Sprintf("%s, %s, %s: %s, %+v", p.row.Name, p.column().Name, p.table.Unit, p.cell.Verdict, p.cell.Vs)
}

// near reports whether two figures are the same, to so many parts of them.
func near(a, b, part float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= part*max(math.Abs(a), math.Abs(b))
}

// data checks CSV and JSON: verdict, ratio and value, of which each follows from the others.
func (p *property) data(c *compare.Comparison) {
	var b strings.Builder
	if err := CSV(&b, c); err != nil {
		p.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		p.Fatal(err)
	}
	var doc struct {
		Tables []struct {
			Unit string
			Rows []struct {
				Benchmark string
				Cells     []struct {
					Column, Verdict string
					Center          *float64
					Versus          *struct{ Ratio *float64 }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(jsonOf(p.T, c, nil)), &doc); err != nil {
		p.Fatal(err)
	}
	number := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	type figures struct {
		verdict       string
		center, ratio float64
	}
	inJSON := make(map[string]figures)
	for _, t := range doc.Tables {
		for _, r := range t.Rows {
			for _, cell := range r.Cells {
				f := figures{cell.Verdict, number(cell.Center), math.NaN()}
				if cell.Versus != nil {
					f.ratio = number(cell.Versus.Ratio)
				}
				inJSON[t.Unit+" "+r.Benchmark+" "+cell.Column] = f
			}
		}
	}
	field := func(line []string, head string) string { return line[slices.Index(lines[0], head)] }
	parsed := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	inCSV := make(map[string]figures)
	for _, line := range lines[1:] {
		inCSV[field(line, "unit")+" "+field(line, "benchmark")+" "+field(line, "column")] = figures{field(line, "verdict"), parsed(field(line, "center")), parsed(field(line, "ratio"))}
	}
	for _, at := range p.places() {
		p.cells++
		key := at.table.Unit + " " + at.row.Name + " " + at.column().Name
		a, b := inJSON[key], inCSV[key]
		if a.verdict != string(at.cell.Verdict) || b.verdict != a.verdict || !near(a.center, b.center, 0) || !near(a.ratio, b.ratio, 0) {
			p.rt.Fatalf("%v: JSON %+v, CSV %+v", at, a, b)
		}
		if at.isCompared() && !math.IsNaN(a.ratio) {
			if base := inJSON[at.table.Unit+" "+at.row.Name+" "+at.base().column().Name].center; !near(base*a.ratio, a.center, 1e-9) {
				p.rt.Fatalf("%v: %v times %v is not %v", at, base, a.ratio, a.center)
			}
			if vs := at.cell.Vs; vs.Lo > vs.Ratio || vs.Hi < vs.Ratio {
				p.rt.Fatalf("%v: the estimate lies outside of its interval", at)
			}
		}
	}
}

// lineWith reports whether a line of text has all parts, in their order.
func lineWith(text string, parts ...string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		for _, part := range parts {
			i := strings.Index(line, part)
			if i < 0 {
				return false
			}
			line = line[i+len(part):]
		}
		return true
	})
}

// linesOfRow are the lines of text that may be about a cell.
func linesOfRow(text string, at place) string {
	lines := strings.Split(text, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return !strings.Contains(line, at.column().Name+" ") && !strings.Contains(line, strings.TrimSuffix(at.row.Name, "-8"))
	}), "\n")
}

var tags = regexp.MustCompile(`<[^>]*>`)

// documents checks that text, Markdown and page have a line with value, ratio and verdict of
// each cell, and the summary one of each that is to be seen at once.
func (p *property) documents(c *compare.Comparison) {
	text, markdown := terminalOf(p.T, c), markdownOf(p.T, Comparison(c, Document, Extra{}))
	page := html.UnescapeString(tags.ReplaceAllString(strings.ReplaceAll(pageOf(p.T, c, Extra{}), "</tr>", "\n"), " "))
	markdown = html.UnescapeString(strings.NewReplacer("*", "", `\_`, "_").Replace(markdown))
	summary, terminal := summaryOf(p.T, c, Extra{}), summaryOf(p.T, c, Extra{Fold: true})
	for _, at := range p.places() {
		value, ratio, verdict := at.center(), "", verdictCell(at).Text
		if at.isCompared() {
			ratio = at.ratio()
		}
		forms := map[string]string{"text": text, "Markdown": markdown, "page": page}
		if reported, _ := split(c); at.table.Resource && !reported[0].Resource { // text and Markdown have those that differ
			forms = map[string]string{"page": page}
		}
		for form, out := range forms {
			if !lineWith(out, at.column().Name, value, ratio, verdict) {
				p.rt.Fatalf("%s has no line of %v with %q, %q, %q:\n%s", form, at, value, ratio, verdict, linesOfRow(out, at))
			}
		}
		if at.isBase() || !at.isCompared() || at.column().Ref {
			continue
		}
		row := []string{strings.TrimSuffix(at.row.Name, "-8")}
		if isPair(c) {
			row = append(row, at.base().center(), value, at.change().estimate, verdict)
		} else {
			row = append(row, strings.TrimSpace(strings.TrimSuffix(brief(at.cell), "?")))
		}
		isShown := at.cell.Verdict.Proven() && (!at.table.Resource || at.table.Judged() && at.cell.Verdict == compare.Worse)
		if isShown && (!lineWith(summary, row...) || !lineWith(terminal, row...) && isPair(c)) {
			p.rt.Fatalf("the summary has no row of %v with %q:\n%s", at, row, linesOfRow(summary, at))
		}
	}
}

// sentences checks that the answer counts what is proven, in each unit and column, and that it
// says nothing has changed only where all is the same.
func (p *property) sentences(c *compare.Comparison) {
	says := strings.Join(sentences(p.c), "\n")
	counts := make(map[string]int) // by column, unit and verdict
	verdicts := make(map[compare.Verdict]int)
	resources := make(map[string]int)
	for _, at := range p.places() {
		if at.isBase() || !at.isCompared() || at.column().Ref {
			continue
		}
		if reported, _ := split(c); at.table.Resource && !reported[0].Resource {
			if at.cell.Verdict.Proven() {
				resources[at.column().Name+"\x00"+string(at.cell.Verdict)]++
			}
			continue
		}
		verdicts[at.cell.Verdict]++
		if at.cell.Verdict.Proven() {
			counts[at.column().Name+"\x00"+at.table.Unit+"\x00"+string(at.cell.Verdict)]++
		}
	}
	for key, n := range counts {
		parts := strings.Split(key, "\x00")
		col, unit, word := parts[0], parts[1], parts[2]
		in := " in " + unit
		if unit == "ns/op" {
			in = ""
		}
		wants := []string{fmt.Sprintf(`(^|; |\n)%d of \d+ benchmarks? (got|is|are) %s%s:`, n, word, in), fmt.Sprintf(`%s: (\d+ \w+, )*%d %s`, unit, n, word)}
		if !isPair(c) {
			of := fmt.Sprintf(`%s( \(direction unknown\))? on (%d of \d|\S+ \()`, word, n)
			wants = []string{fmt.Sprintf(`(?m)^%s: .*`, regexp.QuoteMeta(col)) + of}
			if in != "" {
				wants = []string{fmt.Sprintf(`(?m)^%s: .*%s: [^;]*`, regexp.QuoteMeta(col), unit) + of}
			}
		}
		if !slices.ContainsFunc(wants, func(want string) bool { return regexp.MustCompile(want).MatchString(says) }) {
			p.rt.Fatalf("no %q in %q", wants, says)
		}
	}
	for key, n := range resources {
		_, word, _ := strings.Cut(key, "\x00")
		if want := fmt.Sprintf("%d %s", n, word); !strings.Contains(says, "resources: ") || !strings.Contains(says, want) {
			p.rt.Fatalf("no resources, %q, in %q", want, says)
		}
	}
	all := 0
	for _, n := range verdicts {
		all += n
	}
	if strings.Contains(says, "No change") && (verdicts[compare.Same] != all || len(resources) > 0) {
		p.rt.Fatalf("%q, and verdicts %v", says, verdicts)
	}
	if strings.Contains(says, "Nothing proven") && len(counts) > 0 {
		p.rt.Fatalf("%q, and %v", says, counts)
	}
}

// gates checks that the gate names exactly what is proven to be worse, and cannot tell of what
// is proven to differ in a unit without a direction.
func (p *property) gates() {
	var worse, unknown []string
	for _, at := range p.places() {
		what := fmt.Sprintf("%s, %s, %s: %s", at.row.Name, at.column().Name, at.table.Unit, at.cell.Verdict)
		switch v := at.cell.Verdict; {
		case at.column().Ref || !at.table.Judged():
		case v == compare.Slower || v == compare.Worse:
			worse = append(worse, what)
		case v == compare.Higher || v == compare.Lower:
			unknown = append(unknown, what)
		}
	}
	if !slices.Equal(worse, p.gate.Slower) {
		p.rt.Fatalf("the gate names %q, want %q", p.gate.Slower, worse)
	}
	for _, what := range unknown {
		if !slices.ContainsFunc(p.gate.Inconclusive, func(s string) bool { return strings.HasPrefix(s, what) }) {
			p.rt.Fatalf("the gate does not mention %q: %q", what, p.gate.Inconclusive)
		}
	}
}
