package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
)

// The columns of a comparison's full tables, as data: what is an entry of
// figureMaker.columns is in text, Markdown and HTML, and CSV has a list of its own. Those of
// the summary, which benchrun compare prints by default, are in summary.go. A test that fails
// names the command that rewrites the golden files.

// A place is a cell, and where it stands.
type place struct {
	table compare.Table
	row   compare.Row
	col   int
	cell  compare.Cell
}

func placeOf(t compare.Table, r compare.Row, col int) place { return place{t, r, col, r.Cells[col]} }

// matters reports whether a cell is not to be folded: all but what is the same, and what this
// data cannot say.
func (p place) matters() bool {
	return p.cell.Verdict != compare.Same && p.cell.Verdict != compare.Inconclusive
}

// kept are the places for which is holds.
func kept(all []place, is func(place) bool) []place {
	return slices.DeleteFunc(slices.Clone(all), func(p place) bool { return !is(p) })
}

func (p place) isMeasured() bool { return p.cell.N > 0 }

func (p place) isCompared() bool { return p.cell.Vs != nil }

func (p place) isPaired() bool { return p.isCompared() && p.cell.Vs.Paired }

func (p place) isDecidable() bool { return p.isCompared() && p.cell.Vs.Need > 0 }

func (p place) hasSlices() bool { return p.cell.Slices != nil }

func (p place) hasTail() bool { return !p.isBase() && p.isCompared() && p.cell.Vs.Tail > 0 }

func (p place) interval() string { return formatInterval(p.cell.Vs) }

// ratio writes the ratio of what is compared.
func (p place) ratio() string {
	ratio, _ := ratioOf(p.cell.Vs.Ratio, p.cell.Vs.Lo, p.cell.Vs.Hi)
	return ratio
}

// base is the cell to which p is compared.
func (p place) base() place { return placeOf(p.table, p.row, p.row.Base) }

func (p place) column() compare.Column { return p.table.Cols[p.col] }
func (p place) isBase() bool           { return p.col == p.row.Base }

// value writes a value in the table's unit.
func (p place) value(v float64) string { return formatValue(v, p.table.Unit) }

// placesIn are the cells of rows of t that are there or due, the base of each row first.
func placesIn(t compare.Table, rows ...compare.Row) (out []place) {
	for _, r := range rows {
		if r.Base >= 0 && r.Cells[r.Base].Verdict != compare.Absent {
			out = append(out, placeOf(t, r, r.Base))
		}
		for i, cell := range r.Cells {
			if i != r.Base && cell.Verdict != compare.Absent {
				out = append(out, placeOf(t, r, i))
			}
		}
	}
	return out
}

// benchmarkColumn names the rows.
func benchmarkColumn() column[place] {
	return column[place]{head: "benchmark", text: func(p place) string { return benchmark(p.row) }}
}

// nameColumn names the columns that are compared.
func nameColumn(c *compare.Comparison) column[place] {
	return column[place]{head: columnHead(c), name: true, cell: func(p place) Cell {
		cell := Cell{Text: p.column().Name}
		if p.column().Ref {
			cell.Tone = Reference
		}
		return cell
	}}
}

// barColumn draws ratios on s, without the colours of verdicts if they are not to show.
func barColumn(c *compare.Comparison, s scale, verdicts bool) column[place] {
	return column[place]{head: "ratio to the base", bars: true, cell: func(p place) Cell {
		b := s.ratio(c, p)
		if !verdicts {
			b.class = Flat
		}
		return Cell{bar: &b}
	}}
}

// ratioColumns are the ratio to the base, and its interval.
func ratioColumns(c *compare.Comparison) []column[place] {
	return []column[place]{
		{head: "ratio", right: true, text: func(p place) string {
			switch {
			case p.isCompared():
				return p.ratio()
			case p.isBase():
				return "1"
			}
			return ""
		}},
		{head: confidence(c) + " interval", right: true, text: place.interval},
	}
}

// verdictColumns are the verdict, and what stands behind it.
func verdictColumns() []column[place] {
	return []column[place]{
		{head: "verdict", cell: verdictCell},
		{head: "", long: true, cell: func(p place) Cell {
			return Cell{Text: joined(" ", rareCosts(p.cell), references(p.cell.Notes), p.cell.Failure), Notes: p.cell.Notes}
		}},
	}
}

func verdictCell(p place) Cell {
	v := p.cell.Verdict
	if p.column().Ref {
		return Cell{Text: string(v), Tone: Reference} // background, and no contender
	}
	strong := v == compare.Missing
	tone := verdictTone(v)
	text := string(v)
	if v == compare.Higher || v == compare.Lower {
		text += " (direction unknown)"
		strong = true
	}
	return Cell{Text: text, Tone: tone, Strong: strong || tone == Good || tone == Bad}
}

// A figureMaker makes tables of the figures of rows of a table. What none of its rows have is no column.
type figureMaker struct {
	c                          *compare.Comparison
	t                          compare.Table
	noPower, noTypical, noTest bool
}

func figuresOf(c *compare.Comparison, t compare.Table) figureMaker {
	noTest := !some(t, func(c compare.Cell) bool { return c.Vs != nil && !math.IsNaN(c.Vs.P) })
	return figureMaker{c, t, t.Exact || !hasPower(t), t.Exact || !hasTypical(t), noTest}
}

// columns are all that is known of the cells.
func (f figureMaker) columns(s scale) []column[place] {
	c, t := f.c, f.t
	bars, ratio := barColumn(c, s, true), ratioColumns(c)
	bars.hide, ratio[1].hide = t.Exact, t.Exact
	return slices.Concat(
		[]column[place]{
			benchmarkColumn(), nameColumn(c), bars,
			{head: valueHead(t), right: true, text: place.center},
			{head: "±", right: true, hide: t.Exact, only: place.isMeasured, text: func(p place) string { return formatSpread(p.cell) }},
		},
		ratio,
		[]column[place]{
			{head: "typical", right: true, hide: f.noTypical, text: place.typical},
			{head: "p", right: true, hide: f.noTest, only: place.isCompared, text: func(p place) string { return formatP(p.cell.Vs.P) }},
			{head: "corrected", right: true, hide: f.noTest || family(c, t) < 2, only: place.isCompared, text: func(p place) string { return formatP(p.cell.Vs.Adjusted) }},
			{head: "n", right: true, only: place.isMeasured, text: func(p place) string { return formatN(p.cell) }},
			{head: "could detect", right: true, hide: f.noPower, text: func(p place) string { return formatDetectable(p.cell) }},
			{head: "would need", right: true, hide: f.noPower, text: func(p place) string { return formatNeed(p.cell) }},
		},
		verdictColumns(),
	)
}

// family is how many comparisons those of a table are corrected for.
func family(c *compare.Comparison, t compare.Table) int {
	if t.Resource {
		return c.ResourceComparisons
	}
	return c.Comparisons
}

// center writes the value: that of the middle block, or beside a base what [agreed] makes of it.
func (p place) center() string {
	if !p.isMeasured() {
		return "—"
	}
	return p.value(p.cell.Center)
}

// typical writes the ratio of typical times, and of the base the typical time itself: the
// median slice. Empty for what is not made of slices.
func (p place) typical() string {
	switch {
	case p.isCompared() && p.cell.Vs.Typical > 0:
		return formatRatio(p.cell.Vs.Typical)
	case !p.isCompared() && p.hasSlices():
		return p.value(p.cell.Slices.P50)
	}
	return ""
}

// rows has a line for each cell of rows: the benchmark's base first, then the others in column order.
// Cells that are neither there nor due have no line.
func (f figureMaker) rows(rows ...compare.Row) Table {
	s := ratioScale(f.t, rows...)
	out := grouped(tabulate(placesIn(f.t, rows...), f.columns(s)))
	if !f.t.Exact {
		out.Axis = s.ratioTicks(5)
	}
	return out
}

// overview is t with one line for each benchmark and the ratios only.
func overview(t compare.Table) Table {
	columns := []column[compare.Row]{{head: "benchmark", text: benchmark}}
	for i, col := range t.Cols {
		columns = append(columns, column[compare.Row]{head: col.Name, right: true, cell: func(r compare.Row) Cell {
			return Cell{Text: brief(r.Cells[i]), Notes: r.Cells[i].Notes}
		}})
	}
	return tabulate(t.Rows, columns)
}

// brief is a cell of the overview: the ratio and one word, or one sign where
// the word would be long.
func brief(c compare.Cell) string {
	switch c.Verdict {
	case compare.Absent:
		return ""
	case compare.Missing, compare.Skipped:
		return "—" + references(c.Notes)
	case compare.Base, compare.NoBase:
		return string(c.Verdict)
	}
	signs := map[compare.Verdict]string{compare.Inconclusive: "~", compare.Unproven: "?", compare.Same: "="}
	ratio := ""
	if !math.IsNaN(c.Vs.Ratio) {
		ratio = formatRatio(c.Vs.Ratio)
	}
	return joined(" ", ratio, cmp.Or(signs[c.Verdict], string(c.Verdict)))
}

// resourceTable has the resources that are proven to differ: a line for each benchmark,
// column and unit. It has no lines if there are none.
func resourceTable(c *compare.Comparison, resources []compare.Table) Table {
	// Of two versions the heads say which is which.
	versions := c.Col == record.SideKey && !slices.ContainsFunc(resources, func(t compare.Table) bool { return len(t.Cols) != 2 })
	name, base, value := nameColumn(c), "base", "value"
	if versions {
		name.hide, base, value = true, record.SideOld, record.SideNew
	}
	columns := slices.Concat([]column[place]{
		benchmarkColumn(), name,
		{head: "unit", text: func(p place) string { return p.table.Unit }},
		{head: base, right: true, text: func(p place) string { return p.value(p.base().cell.Center) }},
		{head: value, right: true, text: place.center},
	}, ratioColumns(c), verdictColumns())
	return grouped(tabulate(provenIn(resources), columns))
}

// sliceTable has how the times of slices are distributed, of the places that are made of
// slices.
func sliceTable(c *compare.Comparison, places []place) Table {
	places = slices.DeleteFunc(places, func(p place) bool { return !p.hasSlices() })
	quantile := func(head string, of func(*compare.Distribution) float64) column[place] {
		return column[place]{head: head, right: true, text: func(p place) string { return p.value(of(p.cell.Slices)) }}
	}
	return grouped(tabulate(places, []column[place]{
		benchmarkColumn(),
		{head: columnHead(c), name: true, text: func(p place) string { return p.column().Name }},
		{head: "slices", right: true, text: func(p place) string { return strconv.Itoa(p.cell.Slices.N) }},
		quantile("p50", func(d *compare.Distribution) float64 { return d.P50 }),
		quantile("p90", func(d *compare.Distribution) float64 { return d.P90 }),
		quantile("p99", func(d *compare.Distribution) float64 { return d.P99 }),
		quantile("max", func(d *compare.Distribution) float64 { return d.Max }),
		{head: "p99 ratio", right: true, text: func(p place) string {
			switch {
			case p.isBase():
				return "1"
			case p.hasTail():
				return formatRatio(p.cell.Vs.Tail)
			}
			return ""
		}},
		{head: confidence(c) + " interval", right: true, only: place.hasTail, text: func(p place) string {
			return formatInterval(&compare.Versus{Ratio: p.cell.Vs.Tail, Lo: p.cell.Vs.TailLo, Hi: p.cell.Vs.TailHi})
		}},
		{only: place.hasTail, text: func(p place) string {
			if p.cell.Vs.TailMoved {
				return "moved"
			}
			return ""
		}},
	}))
}

// movedTails are the places of a table in which a tail moved, each row with its base.
func movedTails(t compare.Table) (out []place) {
	for _, r := range t.Rows {
		places := slices.DeleteFunc(placesIn(t, r), func(p place) bool { return !p.isBase() && (p.cell.Vs == nil || !p.cell.Vs.TailMoved) })
		if slices.ContainsFunc(places, func(p place) bool { return !p.isBase() }) {
			out = append(out, places...)
		}
	}
	return out
}

// curveTable has one line for each point of a curve with the columns' values, and what
// they rise to in the last line.
func curveTable(t compare.Table, curve compare.Curve) Table {
	columns := []column[compare.CurvePoint]{{head: curve.Key, right: true, text: func(p compare.CurvePoint) string { return formatCount(p.X) }}}
	last := []Cell{{Text: "last ÷ first"}}
	for i, col := range t.Cols {
		at := func(p compare.CurvePoint) place { return placeOf(t, t.Rows[p.Row], i) }
		if !slices.ContainsFunc(curve.Points, func(p compare.CurvePoint) bool { return at(p).cell.Verdict != compare.Absent }) {
			continue
		}
		columns = append(columns, column[compare.CurvePoint]{head: col.Name, right: true, cell: func(p compare.CurvePoint) Cell {
			switch p := at(p); {
			case p.isMeasured():
				return Cell{Text: p.center()}
			case p.cell.Verdict != compare.Absent:
				return Cell{Text: "—" + references(p.cell.Notes), Notes: p.cell.Notes}
			}
			return Cell{}
		}})
		last = append(last, Cell{Text: formatRatio(curve.Rise[i])})
	}
	out := tabulate(curve.Points, columns)
	out.Rows = append(out.Rows, Row{Cells: last})
	return out
}

// A csvColumn is a column of CSV: a text, a number, or a truth value. It is empty for
// places that are none of only.
type csvColumn struct {
	head string
	only func(place) bool
	cell func(place) any
}

// csvColumns are the columns of the CSV of c, in order.
func csvColumns(c *compare.Comparison) []csvColumn {
	hasBase := func(p place) bool { return p.row.Base >= 0 }
	hasControl := func(p place) bool { return p.isCompared() && p.row.Control != nil }
	columns := []csvColumn{
		{"unit", nil, func(p place) any { return p.table.Unit }},
		{"pkg", nil, func(p place) any { return cmp.Or(p.row.Package, p.row.Pkg) }},
		{"benchmark", nil, func(p place) any { return p.row.Name }},
		{"column", nil, func(p place) any { return p.column().Name }},
		{"reference", nil, func(p place) any { return p.column().Ref }},
		{"n", nil, func(p place) any { return p.cell.N }},
		{"center", place.isMeasured, func(p place) any { return p.cell.Center }},
		{"lo", place.isMeasured, func(p place) any { return p.cell.Lo }},
		{"hi", place.isMeasured, func(p place) any { return p.cell.Hi }},
		{"base", hasBase, func(p place) any { return p.base().column().Name }},
		{"ratio", place.isCompared, func(p place) any { return p.cell.Vs.Ratio }},
		{"ratio_lo", place.isCompared, func(p place) any { return p.cell.Vs.Lo }},
		{"ratio_hi", place.isCompared, func(p place) any { return p.cell.Vs.Hi }},
		{"p", place.isCompared, func(p place) any { return p.cell.Vs.P }},
		{"p_adjusted", place.isCompared, func(p place) any { return p.cell.Vs.Adjusted }},
		{"paired", place.isCompared, func(p place) any { return p.cell.Vs.Paired }},
		{"pairs", place.isPaired, func(p place) any { return p.cell.Vs.N }},
		{"rounds", place.isPaired, func(p place) any { return p.cell.Vs.Rounds }},
		{"layouts", place.isCompared, func(p place) any { return p.cell.Vs.Layouts }},
		{"control", hasControl, func(p place) any { return p.row.Control.Vs.Ratio }},
		{"detectable", place.isCompared, func(p place) any { return p.cell.Vs.Detectable }},
		{"need_blocks", place.isDecidable, func(p place) any { return p.cell.Vs.Need }},
		{"need_seconds", place.isDecidable, func(p place) any { return p.cell.Vs.NeedTime.Seconds() }},
		{"verdict", nil, func(p place) any { return p.cell.Verdict }},
		{"notes", nil, func(p place) any { return strings.Join(notesOf(c, p.cell), "; ") }},
		{"resource", nil, func(p place) any { return p.table.Resource }},
		{"undecidable", place.isCompared, func(p place) any { return p.cell.Vs.Undecidable }},
		{"rare_costs", place.isCompared, func(p place) any { return p.cell.Vs.RareCosts }},
		{"typical", place.isCompared, func(p place) any { return p.cell.Vs.Typical }},
		{"typical_lo", place.isCompared, func(p place) any { return p.cell.Vs.TypicalLo }},
		{"typical_hi", place.isCompared, func(p place) any { return p.cell.Vs.TypicalHi }},
		{"slices", place.hasSlices, func(p place) any { return p.cell.Slices.N }},
		{"p50", place.hasSlices, func(p place) any { return p.cell.Slices.P50 }},
		{"p90", place.hasSlices, func(p place) any { return p.cell.Slices.P90 }},
		{"p99", place.hasSlices, func(p place) any { return p.cell.Slices.P99 }},
		{"max", place.hasSlices, func(p place) any { return p.cell.Slices.Max }},
		{"tail", place.isCompared, func(p place) any { return p.cell.Vs.Tail }},
		{"tail_lo", place.isCompared, func(p place) any { return p.cell.Vs.TailLo }},
		{"tail_hi", place.isCompared, func(p place) any { return p.cell.Vs.TailHi }},
		{"tail_moved", place.isCompared, func(p place) any { return p.cell.Vs.TailMoved }},
	}
	if c.Counted() {
		columns = append(columns,
			csvColumn{"time_ratio", place.hasTime, func(p place) any { return p.cell.Time.Vs.Ratio }},
			csvColumn{"time_verdict", place.hasTime, func(p place) any { return p.cell.Time.Verdict }})
	}
	return columns
}

// hasTime reports whether the time of the same benchmark was compared beside its count.
func (p place) hasTime() bool { return p.cell.Time != nil && p.cell.Time.Vs != nil }

// timeColumn has what time says beside counts of instructions.
func timeColumn(c *compare.Comparison) column[place] {
	return column[place]{head: "time", hide: !c.Counted(), only: place.hasTime, cell: func(p place) Cell {
		word := string(p.cell.Time.Verdict)
		if p.cell.Time.Verdict.Proven() {
			word = changeOf(p.cell.Time.Vs.Ratio, math.NaN(), math.NaN()).estimate + " " + word
		}
		return Cell{Text: word, Tone: verdictTone(p.cell.Time.Verdict)}
	}}
}

// notesOf are the notes to which a cell refers.
func notesOf(c *compare.Comparison, cell compare.Cell) []string {
	return each(cell.Notes, func(n int) string { return c.Notes[n] })
}

// CSV writes c with one line for each cell, in full precision. Figures that do
// not exist are empty, infinite ones "+Inf" or "-Inf". Notes are joined by
// "; ". Findings, warnings and circumstances are not in it; JSON has them.
func CSV(w io.Writer, c *compare.Comparison) error {
	c = agreed(c)
	out := csv.NewWriter(w)
	columns := csvColumns(c)
	_ = out.Write(each(columns, func(k csvColumn) string { return k.head })) // Error reports it
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			for j, cell := range r.Cells {
				if cell.Verdict != compare.Absent {
					p := placeOf(t, r, j)
					_ = out.Write(each(columns, func(k csvColumn) string { return k.text(p) }))
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// text writes a figure so that parsing gives it back; "" for NaN.
func (k csvColumn) text(p place) string {
	if k.only != nil && !k.only(p) {
		return ""
	}
	v := k.cell(p)
	if f, ok := v.(float64); ok {
		if math.IsNaN(f) {
			return ""
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return csvText(fmt.Sprint(v))
}

// csvText is a cell of CSV that no spreadsheet takes for a formula: one that begins as such is
// marked as text by an apostrophe, but for numbers.
func csvText(s string) string {
	s = console.Printable(s)
	if _, err := strconv.ParseFloat(s, 64); err != nil && strings.IndexAny(s, "=+-@\t\n＝＋－＠") == 0 {
		return "'" + s
	}
	return s
}

// verdictTone is how a verdict is meant.
func verdictTone(v compare.Verdict) Tone {
	switch {
	case v.Good():
		return Good
	case v.Bad():
		return Bad
	}
	switch v {
	case compare.Lower, compare.Higher, compare.Same:
		return Flat
	case compare.Missing, compare.Unproven, compare.NoBase:
		return Doubt
	case compare.Inconclusive, compare.Skipped:
		return Open
	}
	return ""
}

// tally counts the verdicts of a table: of implementations, that is, and not of
// references, unless there is nothing else.
func tally(t compare.Table) Tally {
	counts := make(map[string]int)
	for _, refs := range []bool{false, true} {
		for _, p := range placesIn(t, t.Rows...) {
			if p.column().Ref == refs && p.cell.Verdict != compare.Base {
				counts[string(p.cell.Verdict)]++
			}
		}
		if len(counts) > 0 {
			break
		}
	}
	return tallyOf(counts, verdictOrder...)
}

// verdictOrder is that in which verdicts are counted.
var verdictOrder = []compare.Verdict{
	compare.Better, compare.Faster, compare.Slower, compare.Worse, compare.Fewer, compare.More, compare.Lower, compare.Higher, compare.Same,
	compare.Inconclusive, compare.Unproven, compare.Missing, compare.NoBase, compare.Skipped,
}

// tallyOf lists the counts of verdicts in this order, without those of which there is
// none.
func tallyOf(counts map[string]int, order ...compare.Verdict) (out Tally) {
	for _, v := range order {
		if n := counts[string(v)]; n > 0 {
			out = append(out, Count{string(v), n, verdictTone(v)})
		}
	}
	return out
}

// rareCosts marks a cell whose mean differs from the base's otherwise than what is
// typical does.
func rareCosts(c compare.Cell) string {
	if c.Vs != nil && c.Vs.RareCosts {
		return "rare costs"
	}
	return ""
}

// more is what there is to say of a cell beside its verdict: why it failed, why it is
// inconclusive, what would decide it, and whether rare costs make the difference.
func more(c *compare.Comparison, p place) string {
	rare := rareCosts(p.cell)
	if rare != "" {
		rare += ": the typical ratio is " + formatRatio(p.cell.Vs.Typical)
	}
	return joined("; ", p.cell.Failure, crowded(c, p), power(p.cell), rare)
}

// crowded says why a cell is inconclusive although its interval excludes 1: the interval is
// of this comparison alone, the verdict of all that the report makes.
func crowded(c *compare.Comparison, p place) string {
	vs := p.cell.Vs
	if p.cell.Verdict != compare.Inconclusive || vs == nil || !(vs.Lo > 1 || vs.Hi < 1) || !(vs.P <= c.Alpha) || vs.Adjusted <= c.Alpha {
		return ""
	}
	return fmt.Sprintf("p is %s for this comparison alone, and %s corrected for %s", formatP(vs.P), formatP(vs.Adjusted), counted(family(c, p.table), "comparison"))
}

// power says what an inconclusive cell could detect, and what would decide it; empty
// for others.
func power(cell compare.Cell) string {
	least, need := formatDetectable(cell), formatNeed(cell)
	switch least {
	case "":
	case "nothing":
		least = "so few blocks can prove nothing"
	default:
		least = "a difference of " + least + " or more would have shown"
	}
	if need != "" && need != undecidable {
		need = "about " + need + " would probably decide"
	}
	return joined("; ", least, need)
}

// answerTable is the table that answers: a line for each cell that is compared, below
// its benchmark. Without verdicts, which only the end of a run has, it leads nowhere.
func answerTable(c *compare.Comparison, t compare.Table, verdicts bool) Table {
	s := ratioScale(t, t.Rows...)
	columns := []column[place]{
		nameColumn(c), barColumn(c, s, verdicts),
		{head: "ratio", right: true, cell: func(p place) Cell {
			cell := Cell{Text: "—", Small: p.interval()}
			switch {
			case p.isCompared():
				cell.Text = p.ratio()
			case p.isMeasured():
				cell.Text = ""
			}
			return cell
		}},
		{head: "verdict", hide: !verdicts, cell: func(p place) Cell {
			cell := verdictCell(p)
			cell.Text, cell.Notes, cell.Small = joined(" ", cell.Text, references(p.cell.Notes)), p.cell.Notes, more(c, p)
			return cell
		}},
	}
	out := Table{Look: Answer, Caption: fmt.Sprintf("Ratio to the base in %s, with its %s interval", caption(t), confidence(c)), Axis: s.ratioTicks(5)}
	for i, r := range t.Rows {
		places := slices.DeleteFunc(placesIn(t, r), func(p place) bool { return p.cell.Verdict == compare.Base })
		if len(places) == 0 {
			continue
		}
		title := Cell{Text: benchmark(r)}
		if verdicts {
			title.Link = "#" + rowID(i)
		}
		if r.Base >= 0 {
			title.Small = "against " + t.Cols[r.Base].Name
		}
		part := tabulate(places, columns)
		out.Columns = part.Columns
		out.Rows = append(append(out.Rows, Row{Cells: []Cell{title}, Title: true}), part.Rows...)
	}
	return out
}

// rowID is the fragment that leads to a row of the first table.
func rowID(i int) string { return "b" + strconv.Itoa(i+1) }
