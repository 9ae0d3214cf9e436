package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/lab"
)

// The columns of a comparison's tables, as data: a new one is an entry here, and text,
// Markdown, HTML and CSV have it.

// A place is a cell, and where it stands.
type place struct {
	table lab.Table
	row   lab.Row
	col   int
	cell  lab.Cell
}

func (p place) column() lab.Column { return p.table.Cols[p.col] }
func (p place) isBase() bool       { return p.col == p.row.Base }

// value writes a value in the table's unit.
func (p place) value(v float64) string { return formatValue(v, p.table.Unit) }

// placesIn are the cells of rows of t that are there or due, the base of each row first.
func placesIn(t lab.Table, rows ...lab.Row) (out []place) {
	for _, r := range rows {
		for _, i := range baseFirst(r) {
			if r.Cells[i].Verdict != lab.Absent {
				out = append(out, place{t, r, i, r.Cells[i]})
			}
		}
	}
	return out
}

// baseFirst returns the indexes of r's cells, the base before the others.
func baseFirst(r lab.Row) []int {
	order := make([]int, 0, len(r.Cells))
	if r.Base >= 0 {
		order = append(order, r.Base)
	}
	for i := range r.Cells {
		if i != r.Base {
			order = append(order, i)
		}
	}
	return order
}

// benchmarkColumn names the rows.
func benchmarkColumn() column[place] {
	return column[place]{head: "benchmark", text: func(p place) string { return benchmark(p.row) }}
}

// nameColumn names the columns that are compared.
func nameColumn(c *lab.Comparison) column[place] {
	return column[place]{head: columnHead(c), cell: nameCell}
}

func nameCell(p place) Cell {
	cell := Cell{Text: p.column().Name}
	if p.column().Ref {
		cell.Tone = Reference
	}
	return cell
}

// barColumn draws ratios on s.
func barColumn(c *lab.Comparison, s scale) column[place] {
	return column[place]{head: "ratio to the base", bars: true, cell: func(p place) Cell {
		b := s.ratio(c, p.table, p.row, p.col)
		return Cell{bar: &b}
	}}
}

// ratioColumns are the ratio to the base, and its interval.
func ratioColumns(c *lab.Comparison) []column[place] {
	return []column[place]{
		{head: "ratio", right: true, text: ratioText},
		{head: confidence(c) + " interval", right: true, text: func(p place) string { return formatInterval(p.cell.Vs) }},
	}
}

func ratioText(p place) string {
	switch {
	case p.cell.Vs != nil:
		return formatRatio(p.cell.Vs.Ratio)
	case p.isBase():
		return "1"
	}
	return ""
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
	strong := v == lab.Missing
	tone := verdictTone(v)
	return Cell{Text: string(v), Tone: tone, Strong: strong || tone == Good || tone == Bad}
}

// ifMeasured is empty for cells without a value.
func ifMeasured(text func(place) string) func(place) string {
	return func(p place) string {
		if p.cell.N == 0 {
			return ""
		}
		return text(p)
	}
}

// figureColumns are all that is known of the cells of t.
func figureColumns(c *lab.Comparison, t lab.Table, s scale) []column[place] {
	noPower, noTypical := t.Exact || !hasPower(t), t.Exact || !hasTypical(t)
	bars := barColumn(c, s)
	ratio := ratioColumns(c)
	bars.hide, ratio[1].hide = t.Exact, t.Exact
	return slices.Concat(
		[]column[place]{
			benchmarkColumn(), nameColumn(c), bars,
			{head: valueHead(t), right: true, text: valueText},
			{head: "±", right: true, hide: t.Exact, text: ifMeasured(func(p place) string { return formatSpread(p.cell) })},
		},
		ratio,
		[]column[place]{
			{head: "typical", right: true, hide: noTypical, text: typicalText},
			{head: "p", right: true, hide: t.Exact, text: func(p place) string {
				if p.cell.Vs == nil {
					return ""
				}
				return formatP(p.cell.Vs.Adjusted)
			}},
			{head: "n", right: true, text: ifMeasured(func(p place) string { return formatN(p.cell) })},
			{head: "could detect", right: true, hide: noPower, text: func(p place) string { return formatDetectable(p.cell) }},
			{head: "would need", right: true, hide: noPower, text: func(p place) string { return formatNeed(p.cell) }},
		},
		verdictColumns(),
	)
}

func valueText(p place) string {
	if p.cell.N == 0 {
		return "—"
	}
	return p.value(p.cell.Center)
}

// typicalText writes the ratio of typical times, and of the base the typical time
// itself: the median slice. Empty for what is not made of slices.
func typicalText(p place) string {
	switch vs := p.cell.Vs; {
	case vs != nil && vs.Typical > 0:
		return formatRatio(vs.Typical)
	case vs == nil && p.cell.Slices != nil:
		return p.value(p.cell.Slices.P50)
	}
	return ""
}

// figureTable has rows of t with a line for each cell: the benchmark's base first, then the
// others in column order. Cells that are neither there nor due have no line.
func figureTable(c *lab.Comparison, t lab.Table, rows ...lab.Row) Table {
	s := ratioScale(rows)
	out := grouped(tabulate(placesIn(t, rows...), figureColumns(c, t, s)))
	if !t.Exact {
		out.Axis = s.ratioTicks(5)
	}
	return out
}

// overview is t with one line for each benchmark and the ratios only.
func overview(t lab.Table) Table {
	columns := []column[lab.Row]{{head: "benchmark", text: benchmark}}
	for i, col := range t.Cols {
		columns = append(columns, column[lab.Row]{head: col.Name, right: true, cell: func(r lab.Row) Cell {
			return Cell{Text: brief(r.Cells[i]), Notes: r.Cells[i].Notes}
		}})
	}
	return tabulate(t.Rows, columns)
}

// brief is a cell of the overview: the ratio and one word, or one sign where
// the word would be long.
func brief(c lab.Cell) string {
	switch c.Verdict {
	case lab.Absent:
		return ""
	case lab.Missing, lab.Skipped:
		return "—" + references(c.Notes)
	case lab.Base:
		return "base"
	case lab.NoBase:
		return "no base"
	case lab.Inconclusive:
		return formatRatio(c.Vs.Ratio) + " ~"
	case lab.Unproven:
		return formatRatio(c.Vs.Ratio) + " ?"
	case lab.Same:
		return formatRatio(c.Vs.Ratio) + " ="
	}
	return formatRatio(c.Vs.Ratio) + " " + string(c.Verdict)
}

// resourceTable has the resources that are proven to differ: a line for each benchmark,
// column and unit. It has no lines if there are none.
func resourceTable(c *lab.Comparison, resources []lab.Table) Table {
	// Of two versions the heads say which is which.
	versions := c.Col == lab.SideKey && !slices.ContainsFunc(resources, func(t lab.Table) bool { return len(t.Cols) != 2 })
	name, base, value := nameColumn(c), "base", "value"
	if versions {
		name.hide, base, value = true, lab.SideOld, lab.SideNew
	}
	columns := slices.Concat([]column[place]{
		benchmarkColumn(), name,
		{head: "unit", text: func(p place) string { return p.table.Unit }},
		{head: base, right: true, text: func(p place) string { return p.value(p.row.Cells[p.row.Base].Center) }},
		{head: value, right: true, text: valueText},
	}, ratioColumns(c), verdictColumns())
	return grouped(tabulate(provenIn(resources), columns))
}

// sliceTable has how the times of slices are distributed, of the places that are made of
// slices.
func sliceTable(c *lab.Comparison, places []place) Table {
	places = slices.DeleteFunc(places, func(p place) bool { return p.cell.Slices == nil })
	columns := []column[place]{benchmarkColumn(), nameColumn(c), {head: "slices", right: true, text: func(p place) string { return strconv.Itoa(p.cell.Slices.N) }}}
	columns[1].cell = func(p place) Cell { return Cell{Text: p.column().Name} }
	for _, q := range []struct {
		head string
		of   func(*lab.Distribution) float64
	}{
		{"p50", func(d *lab.Distribution) float64 { return d.P50 }},
		{"p90", func(d *lab.Distribution) float64 { return d.P90 }},
		{"p99", func(d *lab.Distribution) float64 { return d.P99 }},
		{"max", func(d *lab.Distribution) float64 { return d.Max }},
	} {
		columns = append(columns, column[place]{head: q.head, right: true, text: func(p place) string { return p.value(q.of(p.cell.Slices)) }})
	}
	columns = append(columns,
		column[place]{head: "p99 ratio", right: true, text: func(p place) string {
			switch vs := p.cell.Vs; {
			case p.isBase():
				return "1"
			case vs != nil && vs.Tail > 0:
				return formatRatio(vs.Tail)
			}
			return ""
		}},
		column[place]{head: confidence(c) + " interval", right: true, text: func(p place) string {
			if vs := p.cell.Vs; !p.isBase() && vs != nil && vs.Tail > 0 {
				return formatInterval(&lab.Versus{Lo: vs.TailLo, Hi: vs.TailHi})
			}
			return ""
		}},
		column[place]{head: "", text: func(p place) string {
			if !p.isBase() && tailMoved(p.cell) {
				return "finding"
			}
			return ""
		}})
	return grouped(tabulate(places, columns))
}

// tailMoved reports whether the tail of a cell's slices is proven to differ.
func tailMoved(c lab.Cell) bool { return c.Vs != nil && c.Vs.Tail > 0 && c.Vs.TailMoved }

// movedTails are the places of a table in which a tail moved, each row with its base.
func movedTails(t lab.Table) (out []place) {
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
func curveTable(t lab.Table, curve lab.Curve) Table {
	points := append(slices.Clone(curve.Points), lab.CurvePoint{Row: -1})
	columns := []column[lab.CurvePoint]{{head: curve.Key, right: true, text: func(p lab.CurvePoint) string {
		if p.Row < 0 {
			return "last ÷ first"
		}
		return formatCount(p.X)
	}}}
	for i, col := range t.Cols {
		none := !slices.ContainsFunc(curve.Points, func(p lab.CurvePoint) bool { return t.Rows[p.Row].Cells[i].Verdict != lab.Absent })
		columns = append(columns, column[lab.CurvePoint]{head: col.Name, right: true, hide: none, cell: func(p lab.CurvePoint) Cell {
			if p.Row < 0 {
				return Cell{Text: formatRatio(curve.Rise[i])}
			}
			switch cell := t.Rows[p.Row].Cells[i]; {
			case cell.N > 0:
				return Cell{Text: formatValue(cell.Center, t.Unit)}
			case cell.Verdict != lab.Absent:
				return Cell{Text: "—" + references(cell.Notes), Notes: cell.Notes}
			}
			return Cell{}
		}})
	}
	return tabulate(points, columns)
}

// A csvColumn is a column of CSV. Those of a Versus, and of a Distribution, are empty for
// cells without one.
type csvColumn struct {
	head   string
	cell   func(*lab.Comparison, place) string
	versus func(*lab.Versus) string
	slices func(*lab.Distribution) float64
}

// csvColumns are the columns of CSV, in order.
var csvColumns = []csvColumn{
	{head: "unit", cell: func(_ *lab.Comparison, p place) string { return p.table.Unit }},
	{head: "pkg", cell: func(_ *lab.Comparison, p place) string { return p.row.Pkg }},
	{head: "benchmark", cell: func(_ *lab.Comparison, p place) string { return p.row.Name }},
	{head: "column", cell: func(_ *lab.Comparison, p place) string { return p.column().Name }},
	{head: "reference", cell: func(_ *lab.Comparison, p place) string { return strconv.FormatBool(p.column().Ref) }},
	{head: "n", cell: func(_ *lab.Comparison, p place) string { return strconv.Itoa(p.cell.N) }},
	{head: "center", cell: csvValue(func(c lab.Cell) float64 { return c.Center })},
	{head: "lo", cell: csvValue(func(c lab.Cell) float64 { return c.Lo })},
	{head: "hi", cell: csvValue(func(c lab.Cell) float64 { return c.Hi })},
	{head: "base", cell: func(_ *lab.Comparison, p place) string {
		if p.row.Base < 0 {
			return ""
		}
		return p.table.Cols[p.row.Base].Name
	}},
	{head: "ratio", versus: func(v *lab.Versus) string { return number(v.Ratio) }},
	{head: "ratio_lo", versus: func(v *lab.Versus) string { return number(v.Lo) }},
	{head: "ratio_hi", versus: func(v *lab.Versus) string { return number(v.Hi) }},
	{head: "p", versus: func(v *lab.Versus) string { return number(v.P) }},
	{head: "p_adjusted", versus: func(v *lab.Versus) string { return number(v.Adjusted) }},
	{head: "paired", versus: func(v *lab.Versus) string { return strconv.FormatBool(v.Paired) }},
	{head: "pairs", versus: csvIf(func(v *lab.Versus) bool { return v.Paired }, func(v *lab.Versus) string { return strconv.Itoa(v.N) })},
	{head: "rounds", versus: csvIf(func(v *lab.Versus) bool { return v.Paired }, func(v *lab.Versus) string { return strconv.Itoa(v.Rounds) })},
	{head: "layouts", versus: func(v *lab.Versus) string { return strconv.Itoa(v.Layouts) }},
	{head: "control", cell: func(_ *lab.Comparison, p place) string {
		if p.cell.Vs == nil || p.row.Control == nil {
			return ""
		}
		return number(p.row.Control.Vs.Ratio)
	}},
	{head: "detectable", versus: func(v *lab.Versus) string { return number(v.Detectable) }},
	{head: "need_blocks", versus: csvIf(func(v *lab.Versus) bool { return v.Need > 0 }, func(v *lab.Versus) string { return strconv.Itoa(v.Need) })},
	{head: "need_seconds", versus: csvIf(func(v *lab.Versus) bool { return v.Need > 0 }, func(v *lab.Versus) string { return number(v.NeedTime.Seconds()) })},
	{head: "verdict", cell: func(_ *lab.Comparison, p place) string { return string(p.cell.Verdict) }},
	{head: "notes", cell: func(c *lab.Comparison, p place) string {
		var notes []string
		for _, n := range p.cell.Notes {
			notes = append(notes, c.Notes[n])
		}
		return strings.Join(notes, "; ")
	}},
	{head: "resource", cell: func(_ *lab.Comparison, p place) string { return strconv.FormatBool(p.table.Resource) }},
	{head: "undecidable", versus: func(v *lab.Versus) string { return strconv.FormatBool(v.Undecidable) }},
	{head: "rare_costs", versus: func(v *lab.Versus) string { return strconv.FormatBool(v.RareCosts) }},
	{head: "typical", versus: func(v *lab.Versus) string { return number(v.Typical) }},
	{head: "typical_lo", versus: func(v *lab.Versus) string { return number(v.TypicalLo) }},
	{head: "typical_hi", versus: func(v *lab.Versus) string { return number(v.TypicalHi) }},
	{head: "slices", cell: func(_ *lab.Comparison, p place) string {
		if p.cell.Slices == nil {
			return ""
		}
		return strconv.Itoa(p.cell.Slices.N)
	}},
	{head: "p50", slices: func(d *lab.Distribution) float64 { return d.P50 }},
	{head: "p90", slices: func(d *lab.Distribution) float64 { return d.P90 }},
	{head: "p99", slices: func(d *lab.Distribution) float64 { return d.P99 }},
	{head: "max", slices: func(d *lab.Distribution) float64 { return d.Max }},
	{head: "tail", versus: func(v *lab.Versus) string { return number(v.Tail) }},
	{head: "tail_lo", versus: func(v *lab.Versus) string { return number(v.TailLo) }},
	{head: "tail_hi", versus: func(v *lab.Versus) string { return number(v.TailHi) }},
	{head: "tail_moved", versus: func(v *lab.Versus) string { return strconv.FormatBool(v.TailMoved) }},
}

// csvValue is a figure of the cells that have values.
func csvValue(of func(lab.Cell) float64) func(*lab.Comparison, place) string {
	return func(_ *lab.Comparison, p place) string {
		return ifMeasured(func(p place) string { return number(of(p.cell)) })(p)
	}
}

// csvIf is empty where is does not hold.
func csvIf(is func(*lab.Versus) bool, text func(*lab.Versus) string) func(*lab.Versus) string {
	return func(v *lab.Versus) string {
		if !is(v) {
			return ""
		}
		return text(v)
	}
}

// text is what a line of CSV has in the column.
func (k csvColumn) text(c *lab.Comparison, p place) string {
	switch {
	case k.cell != nil:
		return k.cell(c, p)
	case k.versus != nil && p.cell.Vs != nil:
		return k.versus(p.cell.Vs)
	case k.slices != nil && p.cell.Slices != nil:
		return number(k.slices(p.cell.Slices))
	}
	return ""
}

// CSV writes c with one line for each cell, in full precision. Figures that do
// not exist are empty, infinite ones "+Inf" or "-Inf". Notes are joined by
// "; ". Findings, warnings and circumstances are not in it; JSON has them.
func CSV(w io.Writer, c *lab.Comparison) error {
	out := csv.NewWriter(w)
	line := make([]string, len(csvColumns))
	for i, k := range csvColumns {
		line[i] = k.head
	}
	_ = out.Write(line) // Error reports it
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			for j, cell := range r.Cells {
				if cell.Verdict == lab.Absent {
					continue
				}
				for i, k := range csvColumns {
					line[i] = k.text(c, place{t, r, j, cell})
				}
				_ = out.Write(line)
			}
		}
	}
	out.Flush()
	return out.Error()
}

// number writes v so that parsing gives it back; "" for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// verdictTone is how a verdict is meant.
func verdictTone(v lab.Verdict) Tone {
	switch v {
	case lab.Faster, lab.Better:
		return Good
	case lab.Slower, lab.Worse:
		return Bad
	case lab.Lower, lab.Higher, lab.Same:
		return Flat
	case lab.Missing, lab.Unproven, lab.NoBase:
		return Doubt
	case lab.Inconclusive, lab.Skipped:
		return Open
	}
	return ""
}

// verdictOrder is where verdicts stand in a tally.
var verdictOrder = []lab.Verdict{
	lab.Better, lab.Faster, lab.Slower, lab.Worse, lab.Lower, lab.Higher, lab.Same, lab.Inconclusive, lab.Unproven, lab.Missing, lab.NoBase, lab.Skipped,
}

// tally counts the verdicts of a table: of implementations, that is, and not of
// references, unless there is nothing else.
func tally(t lab.Table) (out Tally) {
	counts := make(map[lab.Verdict]int)
	for _, refs := range []bool{false, true} {
		for _, p := range placesIn(t, t.Rows...) {
			if p.column().Ref == refs && p.cell.Verdict != lab.Base {
				counts[p.cell.Verdict]++
			}
		}
		if len(counts) > 0 {
			break
		}
	}
	for _, v := range verdictOrder {
		if counts[v] > 0 {
			out = append(out, Count{string(v), counts[v], verdictTone(v)})
		}
	}
	return out
}

// rareCosts marks a cell whose mean differs from the base's otherwise than what is
// typical does.
func rareCosts(c lab.Cell) string {
	if c.Vs != nil && c.Vs.RareCosts {
		return "rare costs"
	}
	return ""
}

// more is what there is to say of a cell beside its verdict: why it failed, what would
// decide it, and whether rare costs make the difference.
func more(cell lab.Cell) string {
	rare := rareCosts(cell)
	if rare != "" {
		rare += ": the typical ratio is " + formatRatio(cell.Vs.Typical)
	}
	return joined("; ", cell.Failure, power(cell), rare)
}

// power says what an inconclusive cell could detect, and what would decide it; empty
// for others.
func power(cell lab.Cell) string {
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

// answerTable is the table that answers: a line for each cell that is compared, below
// its benchmark. Without verdicts, which only the end of a run has, it leads nowhere.
func answerTable(c *lab.Comparison, t lab.Table, verdicts bool) Table {
	s := ratioScale(t.Rows)
	name, bars := nameColumn(c), barColumn(c, s)
	columns := []column[place]{name, bars, {head: "ratio", right: true, cell: func(p place) Cell {
		ratio := "—"
		switch {
		case p.cell.Vs != nil:
			ratio = formatRatio(p.cell.Vs.Ratio)
		case p.cell.N > 0:
			ratio = ""
		}
		return Cell{Text: ratio, Small: formatInterval(p.cell.Vs)}
	}}}
	if verdicts {
		columns = append(columns, column[place]{head: "verdict", cell: func(p place) Cell {
			cell := verdictCell(p)
			cell.Text, cell.Notes = joined(" ", cell.Text, references(p.cell.Notes)), p.cell.Notes
			cell.Small = more(p.cell)
			return cell
		}})
	} else {
		columns[1].cell = func(p place) Cell {
			b := s.ratio(c, p.table, p.row, p.col)
			b.class = Flat
			return Cell{bar: &b}
		}
	}
	out := Table{Answer: true, Caption: fmt.Sprintf("Ratio to the base in %s, with its %s interval", caption(t), confidence(c)), Axis: s.ratioTicks(3)}
	for i, r := range t.Rows {
		places := slices.DeleteFunc(placesIn(t, r), func(p place) bool { return p.cell.Verdict == lab.Base })
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
