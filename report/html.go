package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/lab"
	"github.com/dynolab/dyno/lab/why"
	"github.com/dynolab/dyno/targets"
)

// Extra is what a report says besides the comparison. The zero value is
// nothing.
type Extra struct {
	Title string             // "Comparison" if empty
	Card  *targets.Scorecard // the targets that the results decide

	// Why explains differences. Its flame graphs are in Folder, and left out if
	// that is nil. Profiles is the start of the links to its profiles, to which a
	// path in Why is added; empty if they cannot be looked at.
	Why      *why.Index
	Folder   fs.FS
	Profiles string

	// Home are links to other pages, if there are any. Without them the page refers
	// to nothing outside itself.
	Home []Link
}

// A Link leads to another page.
type Link struct{ Href, Name string }

//go:embed html/style.css
var styleSheet string

//go:embed html/report.tmpl
var reportTemplate string

var reportHTML = template.Must(template.New("").Parse(reportTemplate))

// Policy returns the Content-Security-Policy of the page: it lets in the one style
// sheet that is in it, and pictures that are in it, and nothing else: no script,
// nothing from elsewhere.
func Policy() string {
	sum := sha256.Sum256([]byte(styleSheet))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

// Style returns the style sheet of the page, for others that are to look like it.
func Style() template.CSS { return template.CSS(styleSheet) }

// Glance writes the ratios of c as a part of a page with the [Style]: a table of
// those in the first unit, without verdicts. It is for a run that goes on.
func Glance(w io.Writer, c *lab.Comparison) error {
	var v *verdictTable
	if len(c.Tables) > 0 {
		v = theVerdicts(c, c.Tables[0])
	}
	if v == nil {
		_, err := io.WriteString(w, "<p>Nothing is compared: each benchmark has one column only.</p>\n")
		return err
	}
	v.Unjudged = true
	for _, g := range v.Groups {
		for i := range g.Lines {
			g.Lines[i].Word, g.Lines[i].Notes, g.Lines[i].Bar.Class = "", nil, "flat"
		}
	}
	var b bytes.Buffer
	if err := reportHTML.ExecuteTemplate(&b, "verdicts", v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// HTML writes c, with what x adds, as one HTML document: the answer first, then
// what it rests on. It refers to nothing outside itself and has no script.
func HTML(w io.Writer, c *lab.Comparison, x Extra) error {
	var b bytes.Buffer
	if err := reportHTML.ExecuteTemplate(&b, "report", newPage(c, x)); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// The types below are what the template shows: text, and places in charts. Places
// over the width are percentages, so that a chart fits whatever is its width
// without its text becoming smaller.
type (
	page struct {
		Title, Policy string
		Style         template.CSS
		Symbols       []symbol
		Home          []Link
		Files         []fileView
		Sections      []link
		Answer        answer
		Verdicts      *verdictTable
		Findings      []string
		FindingCount  string
		Warnings      []string
		WarningCount  string
		Benchmarks    []benchmarkView
		Curves        []curveView
		Side          []sideView   // of a side by side
		Tables        []detailView // of the units after the first
		Resources     *resourcesView
		Clauses       *clausesView // that boards have run
		Targets       *targetsView
		Calibration   []string
		Notes         []noteView
		Holes         []holeView
		Problems      []string
		Legend        []string
	}
	link     struct{ ID, Name string }
	fileView struct {
		Label, Line string
		Settings    gridView
	}
	answer struct {
		Faults     []string // what fails by the new version's fault
		Says, Unit string
		Counts     []count
		Others     *gridView // the other units, a line each
		Resources  string    // how many of them differ
	}
	resourcesView struct {
		Says   string
		Differ *gridView
		Tables []detailView // all of them
	}
	count struct {
		Class, Word string
		N           int
	}
	verdictTable struct {
		Caption, Head, Axis string
		Unjudged            bool // without verdicts, and links to benchmarks
		Groups              []verdictGroup
		Ticks               []tickView
	}
	verdictGroup struct {
		ID, Name, Against string
		Lines             []lineView
	}
	// A lineView is a cell as one line of a table.
	lineView struct {
		Name, Col, Ratio, Interval, Word, Class, More string
		Ref                                           bool
		Bar                                           barView
		Cells                                         []string
		Notes                                         []noteRef
	}
	noteRef struct {
		ID string
		N  int
	}
	noteView      struct{ ID, Text string }
	holeView      struct{ Name, Reason string }
	benchmarkView struct {
		ID, Name, Control string
		Detail            detailView
		Slices            *gridView
		TailMoved         bool
		Others, Resources *gridView
		Quantiles         []linesView
		Strips            *stripsView
		Why               []whyView
	}
	curveView struct {
		Name  string
		Chart linesView
		Table gridView
	}
	detailView struct {
		Label, Caption    string
		Head              []headView
		Lines             []lineView
		Ticks             []tickView
		Names, Bars, More bool
		Rest              int // columns right of the bar
	}
	headView struct {
		Text  string
		Right bool
	}
	// A gridView is a table of text, whose first column names the rows.
	gridView struct {
		Label, Caption string
		Head           []headView
		Rows           [][]gridCell
	}
	gridCell struct {
		Text, Class string
		Code        bool
	}
	targetsView struct {
		Legend []string
		Cards  []cardView
	}
	cardView struct {
		Name  string
		Table gridView
	}
	whyView struct {
		Title, Sentence string
		Notes           []string
		Counters        *gridView
		Profiles        []profileView
	}
	profileView struct {
		Name   string
		Tables []gridView
		Flame  *pictureView
		Links  []link // to the profiles of both sides
	}
	pictureView struct {
		Data template.URL
		Alt  string
	}
)

func newPage(c *lab.Comparison, x Extra) page {
	p := page{
		Title: x.Title, Style: template.CSS(styleSheet), Policy: Policy(), Home: x.Home, Symbols: symbols(),
		Findings: c.Findings, FindingCount: counted(len(c.Findings), "finding"),
		Warnings: c.Warnings, WarningCount: counted(len(c.Warnings), "warning"), Problems: c.Problems,
		Calibration: Calibrations(c), Legend: append(legend(c), chartLegend(c)...),
	}
	if p.Title == "" {
		p.Title = "Comparison"
	}
	for _, f := range c.Files {
		p.Files = append(p.Files, fileView{f.Label, fileLine(f), settingsGrid(f)})
		for _, h := range f.Holes {
			p.Holes = append(p.Holes, holeView{h.Name(), h.String()})
		}
	}
	for i, n := range c.Notes {
		p.Notes = append(p.Notes, noteView{noteID(i), n})
	}
	p.Answer.Says = "There is nothing to compare."
	if len(c.Tables) > 0 {
		p.Answer = theAnswer(c)
		p.Verdicts = theVerdicts(c, c.Tables[0])
		p.Benchmarks = benchmarkViews(c, x)
		for _, curve := range c.Tables[0].Curves() {
			p.Curves = append(p.Curves, newCurveView(c, c.Tables[0], curve))
		}
		reported, resources := split(c)
		for _, t := range reported[1:] {
			p.Tables = append(p.Tables, unitView(c, t))
		}
		p.Resources = newResourcesView(c, resources)
	}
	p.Answer.Faults = faults(c)
	p.Clauses = newClausesView(c.Files)
	if x.Card != nil {
		p.Targets = newTargetsView(x.Card)
	}
	p.Sections = append([]link{{"answer", "The answer"}}, p.rest()...)
	return p
}

// rest are the sections after the answer that the page has.
func (p page) rest() (sections []link) {
	for _, s := range []struct {
		link
		there bool
	}{
		{link{"findings", "Findings"}, len(p.Findings) > 0},
		{link{"warnings", "Warnings"}, len(p.Warnings) > 0},
		{link{"benchmarks", "Benchmark by benchmark"}, len(p.Benchmarks) > 0},
		{link{"curves", "Curves"}, len(p.Curves) > 0},
		{link{"units", "Other units"}, len(p.Tables) > 0},
		{link{"resources", "Resources"}, p.Resources != nil},
		{link{"clauses", clausesTitle}, p.Clauses != nil},
		{link{"targets", "Targets"}, p.Targets != nil},
		{link{"calibration", "This machine"}, len(p.Calibration) > 0},
		{link{"notes", "Notes"}, len(p.Notes) > 0},
		{link{"holes", "Holes"}, len(p.Holes) > 0},
		{link{"problems", "Malformed lines"}, len(p.Problems) > 0},
		{link{"circumstances", "Circumstances"}, true},
		{link{"reading", "How to read this"}, true},
	} {
		if s.there {
			sections = append(sections, s.link)
		}
	}
	return sections
}

func noteID(i int) string { return "n" + strconv.Itoa(i+1) }

// chartLegend explains what only the HTML has.
func chartLegend(c *lab.Comparison) []string {
	lines := []string{
		"In a picture of ratios the dot is the estimate and the bar its " + confidence(c) + " interval, over a logarithmic axis; the dashed line is the base. A hollow dot has no interval.",
	}
	if c.Margin > 0 {
		lines = append(lines, "The shaded band round 1 is the margin of "+formatPercent(c.Margin)+": an interval that lies in it says that there is no difference that matters.")
	}
	return append(lines,
		"Block by block: each value as it differs from its own line's median, in the order of time. What all lines do at once is the machine; a line that climbs or falls by itself has drifted.",
	)
}

// verdictClass is the style of a verdict, and where it stands in a tally.
func verdictClass(v lab.Verdict) (class string, rank int) {
	switch v {
	case lab.Faster, lab.Better:
		return "good", 0
	case lab.Slower, lab.Worse:
		return "bad", 1
	case lab.Lower:
		return "flat", 2
	case lab.Higher:
		return "flat", 3
	case lab.Same:
		return "flat", 4
	case lab.Inconclusive:
		return "doubt", 5
	case lab.Unproven:
		return "doubt", 6
	case lab.Missing, lab.NoBase, lab.Skipped:
		return "doubt", 7
	}
	return "", 8
}

// tally counts the verdicts of a table: of implementations, that is, and not of
// references, unless there is nothing else.
func tally(t lab.Table) []count {
	counts := make(map[lab.Verdict]int)
	for _, refs := range []bool{false, true} {
		for _, r := range t.Rows {
			for i, cell := range r.Cells {
				if t.Cols[i].Ref == refs && cell.Verdict != lab.Base && cell.Verdict != lab.Absent {
					counts[cell.Verdict]++
				}
			}
		}
		if len(counts) > 0 {
			break
		}
	}
	var words []lab.Verdict
	for v := range counts {
		words = append(words, v)
	}
	slices.SortFunc(words, func(a, b lab.Verdict) int {
		_, i := verdictClass(a)
		_, j := verdictClass(b)
		if i != j {
			return i - j
		}
		return strings.Compare(string(a), string(b))
	})
	var out []count
	for _, v := range words {
		class, _ := verdictClass(v)
		out = append(out, count{class, string(v), counts[v]})
	}
	return out
}

func theAnswer(c *lab.Comparison) answer {
	t := c.Tables[0]
	a := answer{Unit: t.Unit, Counts: tally(t)}
	n := 0
	for _, k := range a.Counts {
		n += k.N
	}
	a.Says = fmt.Sprintf("%s in %s, each with its benchmark's base.", counted(n, "comparison"), caption(t))
	if n == 0 {
		a.Says = "Nothing was compared: each benchmark has one column only."
	}
	reported, resources := split(c)
	if len(resources) > 0 {
		a.Resources = resourcesSay(c, resources)
	}
	if others := reported[1:]; len(others) > 0 {
		a.Others = &gridView{
			Caption: "The verdicts in " + counted(len(others), "other unit"), Label: "Verdicts in other units",
			Head: []headView{{Text: "unit"}, {Text: "verdicts"}},
		}
		for _, t := range others {
			var parts []string
			for _, k := range tally(t) {
				parts = append(parts, fmt.Sprintf("%d %s", k.N, k.Word))
			}
			a.Others.Rows = append(a.Others.Rows, []gridCell{{Text: caption(t)}, {Text: strings.Join(parts, ", "), Class: "long"}})
		}
	}
	return a
}

// rowID is the fragment that leads to a row of the first table.
func rowID(i int) string { return "b" + strconv.Itoa(i+1) }

// theVerdicts is the table that answers: a line for each cell that is compared.
func theVerdicts(c *lab.Comparison, t lab.Table) *verdictTable {
	v := &verdictTable{
		Head: columnHead(c), Axis: "ratio to the base",
		Caption: fmt.Sprintf("Ratio to the base in %s, with its %s interval", caption(t), confidence(c)),
	}
	s := ratioScale(t.Rows)
	for i, r := range t.Rows {
		g := verdictGroup{ID: rowID(i), Name: benchmark(r)}
		if r.Base >= 0 {
			g.Against = t.Cols[r.Base].Name
		}
		for j, cell := range r.Cells {
			if cell.Verdict != lab.Base && cell.Verdict != lab.Absent {
				g.Lines = append(g.Lines, lineOf(c, t, r, j, s))
			}
		}
		if len(g.Lines) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	if len(v.Groups) == 0 {
		return nil
	}
	v.Ticks = s.ratioTicks(3)
	return v
}

// lineOf is one cell as a line.
func lineOf(c *lab.Comparison, t lab.Table, r lab.Row, j int, s scale) lineView {
	cell := r.Cells[j]
	l := lineView{Name: benchmark(r), Col: t.Cols[j].Name, Ref: t.Cols[j].Ref, Word: string(cell.Verdict), Interval: formatInterval(cell.Vs), Ratio: "—"}
	l.Class, _ = verdictClass(cell.Verdict)
	l.More = more(cell)
	l.Bar = s.bar(cell, j == r.Base, c.Margin)
	if l.Ref {
		l.Bar.Class = "r"
	}
	switch {
	case cell.Vs != nil:
		l.Ratio = formatRatio(cell.Vs.Ratio)
	case j == r.Base:
		l.Ratio = "1"
	case cell.N > 0:
		l.Ratio = ""
	}
	for _, n := range cell.Notes {
		l.Notes = append(l.Notes, noteRef{noteID(n), n + 1})
	}
	return l
}

// more is what there is to say of a cell beside its verdict: why it failed, what would
// decide it, and whether rare costs make the difference.
func more(cell lab.Cell) string {
	rare := rareCosts(cell)
	if rare != "" {
		rare += ": the typical ratio is " + formatRatio(cell.Vs.Typical)
	}
	return joined("; ", cell.Failure, sight(cell), rare)
}

// sight says what an inconclusive cell could detect, and what would decide it; empty
// for others.
func sight(cell lab.Cell) string {
	var parts []string
	switch least := formatDetectable(cell); least {
	case "":
	case "nothing":
		parts = append(parts, "so few blocks can prove nothing")
	default:
		parts = append(parts, "could detect "+least)
	}
	switch need := formatNeed(cell); need {
	case "":
	case undecidable:
		parts = append(parts, need)
	default:
		parts = append(parts, "would need about "+need)
	}
	return strings.Join(parts, "; ")
}

// newDetail lays the rows of a table out with all their figures.
func newDetail(c *lab.Comparison, t lab.Table, rows []lab.Row) detailView {
	d := detailView{Caption: caption(t), Names: len(rows) > 1, Bars: !t.Exact}
	s := ratioScale(rows)
	if d.Names {
		d.Head = append(d.Head, headView{Text: "benchmark"})
	}
	d.Head = append(d.Head, headView{Text: columnHead(c)})
	if d.Bars {
		d.Head = append(d.Head, headView{Text: "ratio to the base"})
	}
	figures := []string{"ratio", confidence(c) + " interval", valueHead(t), "±", "p", "n"}
	typical := !t.Exact && hasTypical(t)
	if typical {
		figures = slices.Insert(figures, 2, "typical")
	}
	if t.Exact {
		figures = []string{"ratio", valueHead(t), "n"}
	}
	for _, f := range figures {
		d.Head = append(d.Head, headView{f, true})
	}
	d.Head = append(d.Head, headView{Text: "verdict"})
	d.Rest = len(figures) + 1
	if d.More = !t.Exact && slices.ContainsFunc(rows, func(r lab.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c lab.Cell) bool { return more(c) != "" })
	}); d.More {
		d.Head = append(d.Head, headView{Text: "remarks"})
		d.Rest++
	}
	for _, r := range rows {
		for _, j := range baseFirst(r) {
			cell := r.Cells[j]
			if cell.Verdict == lab.Absent {
				continue
			}
			l := lineOf(c, t, r, j, s)
			value, spread, n, p := "—", "", "", ""
			if cell.N > 0 {
				value, spread, n = formatValue(cell.Center, t.Unit), formatSpread(cell), formatN(cell)
			}
			if cell.Vs != nil {
				p = formatP(cell.Vs.Adjusted)
			}
			l.Cells = []string{l.Ratio, l.Interval, value, spread, p, n}
			if typical {
				l.Cells = slices.Insert(l.Cells, 2, formatTypical(t, cell))
			}
			if t.Exact {
				l.Cells = []string{l.Ratio, value, n}
			}
			d.Lines = append(d.Lines, l)
		}
	}
	d.Ticks = s.ratioTicks(5)
	return d
}

func unitView(c *lab.Comparison, t lab.Table) detailView {
	d := newDetail(c, t, t.Rows)
	d.Label = "All figures in " + t.Unit
	return d
}

// newResourcesView shows what processes used; nil if that was not measured.
func newResourcesView(c *lab.Comparison, resources []lab.Table) *resourcesView {
	if len(resources) == 0 {
		return nil
	}
	v := &resourcesView{Says: "Processor time, collections and memory: " + resourcesSay(c, resources)}
	if l := resourceLayout(c, resources); len(l.rows) > 0 {
		g := gridOf(l, resourcesTitle)
		g.Caption = resourcesTitle
		verdict := len(l.head) - 2
		name := ""
		for i, row := range g.Rows {
			name = cmp.Or(row[0].Text, name)
			row[0].Text = name // each line for itself
			row[verdict].Class, _ = verdictClass(l.verdicts[i])
		}
		v.Differ = &g
	}
	for _, t := range resources {
		v.Tables = append(v.Tables, unitView(c, t))
	}
	return v
}

func benchmarkViews(c *lab.Comparison, x Extra) []benchmarkView {
	t := c.Tables[0]
	quantiles := quantileUnits(c)
	var out []benchmarkView
	for i, r := range t.Rows {
		b := benchmarkView{ID: rowID(i), Name: benchmark(r), Detail: newDetail(c, t, []lab.Row{r}), Control: controlLine(c, t, r)}
		b.Detail.Label = "Figures of " + b.Name
		b.Slices, b.TailMoved = slicesGrid(c, t, r)
		reported, resources := split(c)
		b.Others = otherUnits(c, reported[1:], r)
		if b.Resources = otherUnits(c, resources, r); b.Resources != nil {
			b.Resources.Caption, b.Resources.Label = "", "Resources of "+b.Name
		}
		for _, family := range quantiles {
			if chart, ok := quantileChart(c, family, r); ok {
				b.Quantiles = append(b.Quantiles, chart)
			}
		}
		b.Strips = newStrips(t, r)
		for j, cell := range r.Cells {
			if x.Why == nil || r.Base < 0 || j == r.Base {
				continue
			}
			if e := x.Why.Find(r.Pkg, r.Name, t.Cols[r.Base].Name, t.Cols[j].Name); e != nil {
				b.Why = append(b.Why, newWhyView(e, cell.Verdict, x))
			}
		}
		out = append(out, b)
	}
	return out
}

// controlLine says what the A/A control of a row says.
func controlLine(c *lab.Comparison, t lab.Table, r lab.Row) string {
	if r.Control == nil {
		return ""
	}
	s := fmt.Sprintf("Control: a second process of %s against the first is %s", t.Cols[r.Control.Col].Name, formatRatio(r.Control.Vs.Ratio))
	if in := formatInterval(&r.Control.Vs); in != "" {
		s += " (" + in + ")"
	}
	if r.Control.Alarm {
		return s + ". They are told apart although they are the same code: differences of this size are not to be believed here."
	}
	return s + "; they are not told apart, as it should be."
}

// rowIn returns the row of another table that is the same benchmark as r.
func rowIn(t lab.Table, r lab.Row) (lab.Row, bool) {
	i := slices.IndexFunc(t.Rows, func(o lab.Row) bool { return o.Name == r.Name && o.Pkg == r.Pkg })
	if i < 0 {
		return lab.Row{}, false
	}
	return t.Rows[i], true
}

// otherUnits are the values of a benchmark in the units of some tables.
func otherUnits(c *lab.Comparison, tables []lab.Table, r lab.Row) *gridView {
	g := &gridView{Caption: "The other units", Label: "Other units of " + benchmark(r), Head: []headView{{Text: columnHead(c)}}}
	var names []string // of columns, in order
	cells := make(map[string][]gridCell)
	for _, t := range c.Tables {
		for _, col := range t.Cols {
			if cells[col.Name] == nil {
				names, cells[col.Name] = append(names, col.Name), []gridCell{{Text: col.Name}}
			}
		}
	}
	for _, t := range tables {
		o, ok := rowIn(t, r)
		if !ok {
			continue
		}
		g.Head = append(g.Head, headView{t.Unit, true})
		for _, name := range names {
			text, class := "", "num"
			if j := columnIndex(t, name); j >= 0 && o.Cells[j].N > 0 {
				cell := o.Cells[j]
				text = formatValue(cell.Center, t.Unit)
				if cell.Vs != nil {
					text += " " + string(cell.Verdict)
					kind, _ := verdictClass(cell.Verdict)
					class += " " + kind
				}
			}
			cells[name] = append(cells[name], gridCell{Text: text, Class: class})
		}
	}
	if len(g.Head) == 1 {
		return nil
	}
	for _, name := range names {
		if slices.ContainsFunc(cells[name][1:], func(c gridCell) bool { return c.Text != "" }) {
			g.Rows = append(g.Rows, cells[name])
		}
	}
	return g
}

func settingsGrid(f lab.File) gridView {
	g := gridView{Label: "Circumstances of " + f.Label, Head: []headView{{Text: "setting"}, {Text: "value"}}}
	add := func(key string, c gridCell) {
		c.Class = "long"
		g.Rows = append(g.Rows, []gridCell{{Text: key}, c})
	}
	add("results", gridCell{Text: strconv.Itoa(f.Results)})
	if f.Blocks > 0 {
		add("blocks", gridCell{Text: strconv.Itoa(f.Blocks)})
	}
	for _, s := range f.Config {
		if slices.Contains(perResult, s.Key) {
			continue
		}
		values, more := s.Values, ""
		if len(values) > manyValues {
			more = fmt.Sprintf(" … (%d different values)", len(values))
			values = values[:manyValues]
		}
		add(s.Key, gridCell{Text: strings.Join(values, ", ") + more, Code: true})
	}
	return g
}

// gridOf is a layout as a table of the page.
func gridOf(l layout, label string) gridView {
	g := gridView{Label: label}
	for i, h := range l.head {
		g.Head = append(g.Head, headView{h, l.right[i]})
	}
	for _, row := range l.rows {
		cells := make([]gridCell, len(row))
		for i, text := range row {
			cells[i].Text = text
			if l.right[i] {
				cells[i].Class = "num"
			}
		}
		g.Rows = append(g.Rows, cells)
	}
	return g
}

func newCurveView(c *lab.Comparison, t lab.Table, curve lab.Curve) curveView {
	return curveView{curveName(curve), curveLinesView(c, t, curve), gridOf(curveTable(t, curve), curveName(curve))}
}

func newTargetsView(card *targets.Scorecard) *targetsView {
	v := &targetsView{Legend: scoreLegend(card)}
	names, scores := card.BySubject()
	for _, name := range names {
		g := gridOf(scoreLayout(scores[name]), "Targets of "+name)
		for i, s := range scores[name] {
			row := g.Rows[i]
			row[1].Class, row[8].Class = "long", "long"
			row[7].Class = map[targets.Outcome]string{targets.Pass: "good", targets.Miss: "bad", targets.NotMeasured: "doubt", targets.Skip: "dim"}[s.Outcome]
			// The outcome second: a narrow page shows the first columns.
			g.Rows[i] = slices.Concat(row[:1], row[7:8], row[1:7], row[8:])
		}
		g.Head = slices.Concat(g.Head[:1], []headView{{Text: "outcome"}}, g.Head[1:7], g.Head[8:])
		v.Cards = append(v.Cards, cardView{headline(name, scores[name]), g})
	}
	return v
}

// newWhyView shows what lies behind a difference. One that this comparison does not
// prove has no sentence, even if it was explained when it was thought to be proven.
func newWhyView(e *why.Cell, v lab.Verdict, x Extra) whyView {
	w := whyView{Title: "Why " + e.Column + " is " + string(v), Sentence: e.Sentence, Notes: e.Notes}
	if !v.Proven() {
		w.Title, w.Sentence = "Profiles of "+e.Column, why.Unproven(e.Column, e.Base)
	}
	moved := &gridView{Label: "Counters of " + e.Column, Head: []headView{{Text: "counter"}, {e.Base, true}, {e.Column, true}, {"ratio", true}, {"95% interval", true}}}
	for _, k := range e.Counters {
		if !k.Moved {
			continue
		}
		row := []gridCell{{Text: k.Name + ", " + k.Unit}, {Text: formatValue(k.Base, k.Unit), Class: "num"}, {Text: formatValue(k.This, k.Unit), Class: "num"}, {}, {}}
		if k.Ratio != nil {
			row[3] = gridCell{Text: formatRatio(k.Ratio.Ratio), Class: "num"}
			row[4] = gridCell{Text: formatInterval(&lab.Versus{Lo: k.Ratio.Lo, Hi: k.Ratio.Hi}), Class: "num"}
		}
		moved.Rows = append(moved.Rows, row)
	}
	if len(moved.Rows) > 0 {
		w.Counters = moved
	}
	for _, p := range e.Profiles {
		w.Profiles = append(w.Profiles, newProfileView(e, p, x))
	}
	return w
}

// kindNames say what profiles count.
var kindNames = map[why.Kind]string{why.CPU: "CPU time", why.Alloc: "Bytes allocated", why.Mutex: "Time that others waited for locks", why.Block: "Time blocked"}

// shownChanges is how many functions of a profile a report shows; the index has
// more.
const shownChanges = 12

// maxFlame bounds the flame graphs that a report takes, in bytes: it is to stay a
// page that opens at once.
const maxFlame = 256 << 10

func newProfileView(e *why.Cell, p why.Profile, x Extra) profileView {
	v := profileView{Name: cmp.Or(kindNames[p.Kind], string(p.Kind)) + " by function"}
	// Groups add up to the totals; a function may stand for what it calls, and is
	// ordered by that.
	table := func(name, caption string, changes []why.Change, cost func(why.Cost) float64) {
		if len(changes) == 0 {
			return
		}
		g := gridView{
			Label: v.Name + " of " + e.Column, Caption: p.Unit + ", " + caption,
			Head: []headView{{Text: name}, {e.Base, true}, {e.Column, true}, {"change", true}},
		}
		for _, k := range changes[:min(len(changes), shownChanges)] {
			base, this := cost(k.Base), cost(k.This)
			g.Rows = append(g.Rows, []gridCell{
				{Text: k.Name, Class: "long", Code: name == "function"},
				{Text: formatValue(base, p.Unit), Class: "num"},
				{Text: formatValue(this, p.Unit), Class: "num"},
				{Text: formatDelta(this-base, p.Unit), Class: "num"},
			})
		}
		v.Tables = append(v.Tables, g)
	}
	table("what", "all of it", p.Groups, func(c why.Cost) float64 { return c.Flat })
	table("function", "with all that it calls, the largest changes first", p.Top, func(c why.Cost) float64 { return max(c.Cum, c.Flat) })
	if p.Flame != "" && x.Folder != nil {
		if info, err := fs.Stat(x.Folder, p.Flame); err == nil && info.Mode().IsRegular() && info.Size() <= maxFlame {
			if svg, err := fs.ReadFile(x.Folder, p.Flame); err == nil {
				v.Flame = &pictureView{
					// As a picture, which cannot run or load anything, whatever is in it.
					Data: template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)),
					Alt:  "Flame graph of the change: " + v.Name + "; the tables have the largest of it",
				}
			}
		}
	}
	if x.Profiles != "" {
		for _, side := range []struct{ name, path string }{{e.Base, p.Base.Path}, {e.Column, p.This.Path}} {
			if side.path != "" {
				v.Links = append(v.Links, link{x.Profiles + side.path + "/", side.name})
			}
		}
	}
	return v
}

// formatDelta writes a change of a cost with its sign.
func formatDelta(v float64, unit string) string {
	if v > 0 {
		return "+" + formatValue(v, unit)
	}
	if v < 0 {
		return "−" + formatValue(-v, unit)
	}
	return "0"
}

// formatPercent writes a fraction as a percentage.
func formatPercent(v float64) string {
	return strconv.FormatFloat(math.Round(1e4*v)/100, 'g', 4, 64) + " %"
}
