package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/why"
)

// onPage has the answer first, then what it rests on, to be looked up.
func onPage(c *compare.Comparison, x Extra) []Block {
	var ratios, benchmarks, curves, units, resources []Block
	if len(c.Tables) > 0 {
		reported, used := split(c)
		ratios, benchmarks, curves = ratioSection(c), benchmarkSection(c, x), curveSection(c)
		units, resources = unitSection(c, reported[1:]), usedSection(c, used)
	}
	return slices.Concat(
		answerSection(c),
		pageFindings(c), warningSection(c.Warnings, Page),
		ratios, benchmarks, curves, units, resources,
		clauseSection(c.Files), scoreSection(x.Card, Page), trustSection(c), pageEnd(c.Notes, c.Files, c.Problems, append(legend(c), chartLegend(c)...)))
}

// pageEnd is what every page of results ends with.
func pageEnd(notes []string, files []compare.File, problems, legend []string) []Block {
	var lines []Block
	if len(problems) > 0 {
		malformed := List{Items: each(problems, func(p string) Item { return Item{Name: p} })}
		lines = section(Heading{Level: 2, Text: "Malformed lines", ID: "problems"}, Paragraph{Text: "They were left out; the rest was read."}, malformed)
	}
	return slices.Concat(noteSection(notes), holeSection(files), lines, circumstances(files),
		listSection(Heading{Level: 2, Text: "How to read this", ID: "reading"}, listOf(legend...)))
}

func pageFindings(c *compare.Comparison) []Block {
	blocks := findingSection(c)
	if blocks == nil {
		return nil
	}
	return slices.Insert(blocks, 1, Block(Paragraph{Text: "These are not verdicts, and no gate uses them."}))
}

// trustSection quotes the calibrations of the machines.
func trustSection(c *compare.Comparison) []Block {
	says := each(quotedCalibrations(c), func(text string) Block { return Paragraph{Text: text} })
	return section(Heading{Level: 2, Text: "How far this machine can be trusted", ID: "calibration", Short: "This machine"}, says...)
}

// answerSection is what a page begins with: the answer in sentences, and as a table that
// shows it in one table; and what to read before one believes it.
func answerSection(c *compare.Comparison) []Block {
	blocks := append([]Block{Heading{Level: 2, Text: "The answer", ID: "answer"}}, faultNote(c)...)
	says := sentences(c)
	if len(says) == 1 && (isPair(c) || len(contenders(c)) == 0) {
		blocks = append(blocks, Paragraph{Text: says[0], Tone: Lead})
	} else {
		blocks = append(blocks, List{Items: each(says, func(s string) Item {
			name, text, _ := strings.Cut(s, ": ")
			return Item{name, text}
		}), Tone: Lead})
	}
	blocks = append(blocks, linesOf(settle(c))...)
	if len(c.Tables) > 0 {
		blocks = append(blocks, answerTables(c)...)
	}
	reported, resources := split(c)
	for _, p := range []struct {
		n          int
		text, part string
	}{
		{len(resources), "Processor time, collections, memory: " + resourcesSay(c, resources), "Resources"},
		{len(c.Findings), counted(len(c.Findings), "finding") + " beside the verdicts:", "Findings"},
		{len(c.Warnings), counted(len(c.Warnings), "warning") + " to read before you believe it:", "Warnings"},
	} {
		if p.n > 0 {
			blocks = append(blocks, Paragraph{Text: p.text, Tone: Dim, Links: []Link{{"#" + lowerFirst(p.part), p.part}}})
		}
	}
	if len(reported) > 1 {
		others := reported[1:]
		blocks = append(blocks, Fold{Summary: "The verdicts in " + counted(len(others), "other unit"), Blocks: []Block{tallies(others)}})
	}
	return append(blocks, fileLines(c.Files)...)
}

// answerTables show the answer: what has changed, or which design does how on which workload.
func answerTables(c *compare.Comparison) []Block {
	t := c.Tables[0]
	switch {
	case isPair(c):
		return changes(c)
	case len(t.Contenders()) > 0:
		return []Block{heatMap(t), Paragraph{Text: heatLegend(t), Tone: Dim}}
	}
	return nil
}

// changes are the rows of a pair, what got worse first. What has not changed is folded, if
// anything has.
func changes(c *compare.Comparison) (blocks []Block) {
	f := sortFindings(c)
	first := c.Tables[0]
	isKept := place.matters
	if len(f.broken)+len(f.proven) == 0 && !slices.ContainsFunc(f.others, isKept) {
		isKept = func(p place) bool { return p.cell.Verdict != compare.Same }
	}
	shown := slices.Concat(f.broken, f.proven, kept(f.others, isKept))
	folded := kept(f.others, func(p place) bool { return !isKept(p) })
	if len(shown) > 0 {
		t := pairRows(c, shown, first, Page)
		t.Caption = fmt.Sprintf("Change with its %s interval, worst first", confidence(c))
		blocks = append(blocks, t)
	}
	if len(folded) > 0 {
		more := fmt.Sprintf("%d more: %s", len(folded), countOf(folded))
		blocks = append(blocks, Fold{Summary: more, Open: len(shown) == 0, Blocks: []Block{pairRows(c, folded, first, Page)}})
	}
	return blocks
}

// heatMap has the ratio of each design on each workload, filled by how far it is proven to
// differ, on a logarithmic scale.
func heatMap(t compare.Table) Table {
	names := rowNames(t)
	columns := []column[int]{{head: "ratio to the base", cell: func(i int) Cell {
		r := t.Rows[i]
		cell := Cell{Text: names[i], Link: "#" + rowID(i)}
		if r.Base >= 0 {
			cell.Small = "against " + t.Cols[r.Base].Name
		}
		return cell
	}}}
	for _, s := range t.Contenders() {
		columns = append(columns, column[int]{head: markedName(t.Cols[s.Col]), right: true, cell: func(i int) Cell { return heatCell(placeOf(t, t.Rows[i], s.Col)) }})
	}
	rows := make([]int, len(t.Rows))
	for i := range rows {
		rows[i] = i
	}
	out := labelled(tabulate(rows, columns), "Ratios", "")
	out.Look = HeatMap
	return out
}

// peerMark marks the columns of peers where they stand among designs.
const peerMark = "◇"

// markedName is the name of a column, with a mark if it is a peer's.
func markedName(col compare.Column) string {
	if col.Peer {
		return peerMark + " " + strings.TrimPrefix(col.Name, record.PeerPrefix)
	}
	return col.Name
}

// hasPeers reports whether some column is a peer's.
func hasPeers(t compare.Table) bool {
	return slices.ContainsFunc(t.Cols, func(col compare.Column) bool { return col.Peer })
}

// glyphs are the verdicts of a heat map. Where it is proven which way a value differs the
// glyph points there.
var glyphs = map[compare.Verdict]string{compare.Same: "=", compare.Inconclusive: "~", compare.Unproven: "?", compare.Missing: "missing", compare.Skipped: "skipped", compare.NoBase: "no base", compare.Base: "base"}

func heatCell(p place) Cell {
	glyph := glyphs[p.cell.Verdict]
	if !p.isCompared() {
		return Cell{Text: glyph, Tone: Dim}
	}
	if p.cell.Verdict.Proven() {
		glyph = "▲"
		if p.cell.Vs.Ratio < 1 {
			glyph = "▼"
		}
	}
	cell := Cell{Text: formatRatio(p.cell.Vs.Ratio) + " " + glyph, Hint: joined(", ", string(p.cell.Verdict), p.interval(), p.center())}
	switch verdictTone(p.cell.Verdict) {
	case Good:
		cell.Heat = heatStep("cool", p.cell)
	case Bad:
		cell.Heat = heatStep("warm", p.cell)
	}
	return cell
}

// heatStep is one of four steps: up to a quarter more or less, up to half as much again, up to
// three times, and beyond.
func heatStep(kind string, c compare.Cell) Tone {
	step := 1
	for _, from := range []float64{1.25, 1.5, 3} {
		if size(c) >= math.Log(from) {
			step++
		}
	}
	return Tone(kind + strconv.Itoa(step))
}

// heatLegend explains a heat map.
func heatLegend(t compare.Table) string {
	less, more := "less", "more"
	switch {
	case t.Better < 0:
		less, more = "faster", "slower"
	case t.Better > 0:
		less, more = "slower", "faster"
	}
	if t.Unit == record.UnitCounted {
		less, more = string(compare.Fewer), string(compare.More)
	} else if compare.Seconds(t.Unit) == 0 && t.Better != 0 {
		less, more = map[string]string{"faster": "better", "slower": "worse"}[less], map[string]string{"faster": "better", "slower": "worse"}[more]
	}
	peers := ""
	if hasPeers(t) {
		peers = " " + peerMark + " is a peer: what other people have built."
	}
	return fmt.Sprintf("%s, as a part of each benchmark's base. Filled is what is proven: ▼ %s, ▲ %s, the stronger the colour, the further. Not filled: = the same, ~ inconclusive, ? unproven. A name leads to all that is known of it.%s", caption(t), less, more, peers)
}

// ratioSection has every ratio with its interval, of references too. A pair has them
// in its answer.
func ratioSection(c *compare.Comparison) []Block {
	answer := answerTable(c, c.Tables[0], true)
	if isPair(c) || len(answer.Rows) == 0 {
		return nil
	}
	return section(Heading{Level: 2, Text: "The ratios and their intervals", ID: "ratios", Short: "Ratios"}, answer)
}

// tallies are the verdicts in some units, a line each.
func tallies(tables []compare.Table) Table {
	return labelled(tabulate(tables, []column[compare.Table]{
		{head: "unit", text: caption},
		{head: "verdicts", long: true, text: func(t compare.Table) string { return tally(t).String() }},
	}), "Verdicts in other units", "")
}

// Ratios writes the ratios of c as a part of a page with the [Style]: a table of
// those in the first unit, without verdicts. It is for a run that goes on.
func Ratios(w io.Writer, c *compare.Comparison) error {
	c = agreed(c)
	var answer Table
	if len(c.Tables) > 0 {
		answer = answerTable(c, c.Tables[0], false)
	}
	var shown Block = Paragraph{Text: "Nothing is compared: each benchmark has one column only."}
	if len(answer.Rows) > 0 {
		shown = answer
	}
	return writePage(w, func(p *page) error { return p.block(shown) })
}

// benchmarkSection has all that is known of each benchmark.
func benchmarkSection(c *compare.Comparison, x Extra) []Block {
	var blocks []Block
	quantiles, at, figures := quantileUnits(c), indexRows(c.Tables...), figuresOf(c, c.Tables[0])
	for i, r := range c.Tables[0].Rows {
		blocks = append(blocks, Heading{Level: 3, Text: benchmark(r), ID: rowID(i)})
		for _, part := range [][]Block{rowFigures(figures, r), whyPanels(c, r, x), rowSlices(c, r), rowUnits(c, at, r)} {
			blocks = append(blocks, part...)
		}
		for _, family := range quantiles {
			drawing, ok := quantileChart(c, at, family, r)
			blocks = append(blocks, figureIf(ok, "", "", drawing)...)
		}
		if drawing, values, ok := stripChart(c.Tables[0], r); ok {
			blocks = append(blocks, Figure{chart: drawing}, Fold{Summary: "The values", Blocks: []Block{values}})
		}
	}
	return section(Heading{Level: 2, Text: "Benchmark by benchmark", ID: "benchmarks"}, blocks...)
}

// without leaves out the columns of t that have nothing in them, and those at indexes.
// What has no head gets one, because a page is heard as well.
func without(t Table, indexes ...int) Table {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if slices.Contains(indexes, i) || t.isEmpty(i) {
			t.Columns = slices.Delete(slices.Clone(t.Columns), i, i+1)
			for k := range t.Rows {
				t.Rows[k].Cells = slices.Delete(t.Rows[k].Cells, i, i+1)
			}
		} else if t.Columns[i].Head == "" {
			t.Columns[i].Head = "remarks"
		}
	}
	return t
}

// rowFigures are the figures of a benchmark in the first unit, and what its A/A control
// says.
func rowFigures(f figureMaker, r compare.Row) []Block {
	blocks := []Block{labelled(without(f.rows(r), 0), "Figures of "+benchmark(r), caption(f.t))}
	if says := controlLine(f.t, r); says != "" {
		blocks = append(blocks, Paragraph{Text: says, Tone: Dim})
	}
	return blocks
}

// rowSlices has the distribution of each column of a row that is made of slices, at once
// if a tail moved.
func rowSlices(c *compare.Comparison, r compare.Row) []Block {
	t := sliceTable(c, placesIn(c.Tables[0], r))
	if len(t.Rows) == 0 {
		return nil
	}
	moved := slices.ContainsFunc(r.Cells, func(c compare.Cell) bool { return c.Vs != nil && c.Vs.Tail > 0 && c.Vs.TailMoved })
	return []Block{Fold{
		Summary: "Slices: quantiles of the time of an operation", Open: moved,
		Blocks: []Block{labelled(without(t, 0), "Slices of "+benchmark(r), "")},
	}}
}

// rowUnits are the values of a benchmark in other units, and what it used.
func rowUnits(c *compare.Comparison, at rowIndex, r compare.Row) (blocks []Block) {
	reported, resources := split(c)
	if t := otherUnits(c, at, reported[1:], r); len(t.Columns) > 1 {
		blocks = append(blocks, labelled(t, "Other units of "+benchmark(r), "The other units"))
	}
	if t := otherUnits(c, at, resources, r); len(t.Columns) > 1 {
		blocks = append(blocks, Fold{
			Summary: "Processor time, collections and memory",
			Blocks:  []Block{labelled(t, "Resources of "+benchmark(r), "")},
		})
	}
	return blocks
}

// otherUnits are the values of a benchmark in the units of some tables, a line for each
// column that has one.
func otherUnits(c *compare.Comparison, at rowIndex, tables []compare.Table, r compare.Row) Table {
	columns := []column[string]{{head: columnHead(c), text: func(name string) string { return name }}}
	some := make(map[string]bool) // columns that have a value
	for _, t := range tables {
		if _, there := at.row(t, r); !there {
			continue
		}
		for _, col := range t.Cols {
			some[col.Name] = some[col.Name] || at.cell(t, r, col.Name).N > 0
		}
		columns = append(columns, column[string]{head: t.Unit, right: true, cell: func(name string) Cell {
			cell := at.cell(t, r, name)
			switch {
			case cell.N == 0:
				return Cell{}
			case cell.Vs == nil:
				return Cell{Text: formatValue(cell.Center, t.Unit)}
			}
			return Cell{Text: formatValue(cell.Center, t.Unit) + " " + string(cell.Verdict), Tone: verdictTone(cell.Verdict)}
		}})
	}
	var names []string // of columns, in order
	for _, t := range c.Tables {
		for _, col := range t.Cols {
			if some[col.Name] && !slices.Contains(names, col.Name) {
				names = append(names, col.Name)
			}
		}
	}
	return tabulate(names, columns)
}

func curveSection(c *compare.Comparison) []Block {
	var blocks []Block
	t := c.Tables[0]
	for _, curve := range t.Curves() {
		drawing, ok := curveChart(c, t, curve)
		blocks = slices.Concat(blocks, []Block{Heading{Level: 3, Text: curveName(curve)}}, figureIf(ok, "", "", drawing),
			[]Block{labelled(curveTable(t, curve), curveName(curve), "")})
	}
	return section(Heading{Level: 2, Text: "Curves", ID: "curves"}, blocks...)
}

// unitFolds are all figures of tables.
func unitFolds(c *compare.Comparison, tables []compare.Table) []Block {
	return each(tables, func(t compare.Table) Block {
		all := labelled(without(figuresOf(c, t).rows(t.Rows...)), "All figures in "+t.Unit, caption(t))
		return Fold{Summary: caption(t), Blocks: []Block{all}}
	})
}

func unitSection(c *compare.Comparison, tables []compare.Table) []Block {
	return section(Heading{Level: 2, Text: "Other units", ID: "units"}, unitFolds(c, tables)...)
}

// usedSection shows what processes used, if that was measured.
func usedSection(c *compare.Comparison, resources []compare.Table) []Block {
	if len(resources) == 0 {
		return nil
	}
	blocks := []Block{
		Heading{Level: 2, Text: "Resources", ID: "resources"},
		Paragraph{Text: "Processor time, collections and memory: " + resourcesSay(c, resources) + " They explain times, and are a family of their own."},
	}
	if t := resourceTable(c, resources); len(t.Rows) > 0 {
		blocks = append(blocks, labelled(without(t), resourcesTitle, resourcesTitle))
	}
	return slices.Concat(blocks, unitFolds(c, resources))
}

// whyPanels explain the differences of a row, as far as that was asked.
func whyPanels(c *compare.Comparison, r compare.Row, x Extra) (blocks []Block) {
	t := c.Tables[0]
	for j, cell := range r.Cells {
		if x.Why == nil || r.Base < 0 || j == r.Base {
			continue
		}
		if e := x.Why.Find(r.Pkg, r.Name, t.Cols[r.Base].Name, t.Cols[j].Name); e != nil {
			blocks = append(blocks, whyPanel(e, cell.Verdict, x))
		}
	}
	return blocks
}

// whyPanel shows what lies behind a difference. One that this comparison does not
// prove has no sentence, even if it was explained when it was thought to be proven.
func whyPanel(e *why.Cell, v compare.Verdict, x Extra) Panel {
	title, sentence := "Why "+e.Column+" is "+string(v), e.Sentence
	if !v.Proven() {
		title, sentence = "Profiles of "+e.Column, why.Unproven(e.Column, e.Base)
	}
	blocks := []Block{Heading{Level: 4, Text: title}, Paragraph{Text: sentence}}
	for _, n := range e.Notes {
		blocks = append(blocks, Paragraph{Text: n, Tone: Dim})
	}
	if t := counterTable(e); len(t.Rows) > 0 {
		blocks = append(blocks, Fold{Summary: "Counters that moved", Blocks: []Block{t}})
	}
	for _, p := range e.Profiles {
		blocks = append(blocks, profileFold(e, p, x))
	}
	return Panel{Blocks: blocks}
}

func counterTable(e *why.Cell) Table {
	moved := slices.DeleteFunc(slices.Clone(e.Counters), func(k why.Counter) bool { return !k.Moved })
	hasRatio := func(k why.Counter) bool { return k.Ratio != nil }
	return labelled(tabulate(moved, []column[why.Counter]{
		{head: "counter", text: func(k why.Counter) string { return k.Name + ", " + k.Unit }},
		{head: e.Base, right: true, text: func(k why.Counter) string { return formatValue(k.Base, k.Unit) }},
		{head: e.Column, right: true, text: func(k why.Counter) string { return formatValue(k.This, k.Unit) }},
		{head: "ratio", right: true, only: hasRatio, text: func(k why.Counter) string {
			ratio, _ := ratioOf(k.Ratio.Ratio, k.Ratio.Lo, k.Ratio.Hi)
			return ratio
		}},
		{head: "95% interval", right: true, only: hasRatio, text: func(k why.Counter) string {
			return formatInterval(&compare.Versus{Ratio: k.Ratio.Ratio, Lo: k.Ratio.Lo, Hi: k.Ratio.Hi})
		}},
	}), "Counters of "+e.Column, "")
}

// kindNames say what profiles count.
var kindNames = map[why.Kind]string{why.CPU: "CPU time", why.Alloc: "Bytes allocated", why.Mutex: "Time that others waited for locks", why.Block: "Time blocked", why.Instructions: "Instructions"}

// shownChanges is how many functions of a profile a report shows; the index has
// more.
const shownChanges = 12

// profileFold shows a profile: tables of the largest changes, and links to pprof's pages of it,
// or where nothing serves those, the command that opens them.
func profileFold(e *why.Cell, p why.Profile, x Extra) Fold {
	name := cmp.Or(kindNames[p.Kind], string(p.Kind)) + " by function"
	// Groups add up to the totals; a function may stand for what it calls, and is
	// ordered by that.
	blocks := slices.Concat(
		changeTable(e, p, name, "all of it", p.Groups, false),
		changeTable(e, p, name, "with all that it calls, the largest changes first", p.Top, true))
	var links []Link
	for _, side := range []struct{ name, path string }{{e.Base, p.Base.Path}, {e.Column, p.This.Path}, {"the difference", p.Diff}} {
		if x.Profiles != "" && side.path != "" {
			links = append(links, Link{x.Profiles + side.path + "/", side.name})
		}
	}
	switch {
	case len(links) > 0:
		blocks = append(blocks, Paragraph{Text: "Open in pprof:", Links: links})
	case p.Diff != "":
		blocks = append(blocks, Paragraph{Text: "In pprof: go tool pprof -http : why/" + p.Diff, Tone: Dim})
	}
	return Fold{Summary: name, Blocks: blocks}
}

// changeTable has the largest of changes, of functions with what they call.
func changeTable(e *why.Cell, p why.Profile, name, says string, changes []why.Change, functions bool) []Block {
	if len(changes) == 0 {
		return nil
	}
	cost := func(c why.Cost) float64 { return c.Flat }
	first := column[why.Change]{head: "what", long: true, text: func(k why.Change) string { return k.Name }}
	if functions {
		cost = func(c why.Cost) float64 { return max(c.Cum, c.Flat) }
		first.head, first.cell = "function", func(k why.Change) Cell { return Cell{Code: []string{k.Name}} }
	}
	t := tabulate(changes[:min(len(changes), shownChanges)], []column[why.Change]{
		first,
		{head: e.Base, right: true, text: func(k why.Change) string { return formatValue(cost(k.Base), p.Unit) }},
		{head: e.Column, right: true, text: func(k why.Change) string { return formatValue(cost(k.This), p.Unit) }},
		{head: "change", right: true, text: func(k why.Change) string { return formatDelta(cost(k.This)-cost(k.Base), p.Unit) }},
	})
	return []Block{labelled(t, name+" of "+e.Column, p.Unit+", "+says)}
}
