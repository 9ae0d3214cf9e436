package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// The columns of a comparison's tables, as data: a new one is an entry here, and text,
// Markdown, HTML and CSV have it.

// A place is a cell, and where it stands.
type place struct {
	table compare.Table
	row   compare.Row
	col   int
	cell  compare.Cell
}

func (p place) column() compare.Column { return p.table.Cols[p.col] }
func (p place) isBase() bool           { return p.col == p.row.Base }

// value writes a value in the table's unit.
func (p place) value(v float64) string { return formatValue(v, p.table.Unit) }

// placesIn are the cells of rows of t that are there or due, the base of each row first.
func placesIn(t compare.Table, rows ...compare.Row) (out []place) {
	for _, r := range rows {
		for _, i := range baseFirst(r) {
			if r.Cells[i].Verdict != compare.Absent {
				out = append(out, place{t, r, i, r.Cells[i]})
			}
		}
	}
	return out
}

// baseFirst returns the indexes of r's cells, the base before the others.
func baseFirst(r compare.Row) []int {
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
func nameColumn(c *compare.Comparison) column[place] {
	return column[place]{head: columnHead(c), name: true, cell: nameCell}
}

func nameCell(p place) Cell {
	cell := Cell{Text: p.column().Name}
	if p.column().Ref {
		cell.Tone = Reference
	}
	return cell
}

// barColumn draws ratios on s.
func barColumn(c *compare.Comparison, s scale) column[place] {
	return column[place]{head: "ratio to the base", bars: true, cell: func(p place) Cell {
		b := s.ratio(c, p.table, p.row, p.col)
		return Cell{bar: &b}
	}}
}

// ratioColumns are the ratio to the base, and its interval.
func ratioColumns(c *compare.Comparison) []column[place] {
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
	strong := v == compare.Missing
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
func figureColumns(c *compare.Comparison, t compare.Table, s scale) []column[place] {
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
func figureTable(c *compare.Comparison, t compare.Table, rows ...compare.Row) Table {
	s := ratioScale(rows)
	out := grouped(tabulate(placesIn(t, rows...), figureColumns(c, t, s)))
	if !t.Exact {
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
	case compare.Base:
		return "base"
	case compare.NoBase:
		return "no base"
	case compare.Inconclusive:
		return formatRatio(c.Vs.Ratio) + " ~"
	case compare.Unproven:
		return formatRatio(c.Vs.Ratio) + " ?"
	case compare.Same:
		return formatRatio(c.Vs.Ratio) + " ="
	}
	return formatRatio(c.Vs.Ratio) + " " + string(c.Verdict)
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
		{head: base, right: true, text: func(p place) string { return p.value(p.row.Cells[p.row.Base].Center) }},
		{head: value, right: true, text: valueText},
	}, ratioColumns(c), verdictColumns())
	return grouped(tabulate(provenIn(resources), columns))
}

// sliceTable has how the times of slices are distributed, of the places that are made of
// slices.
func sliceTable(c *compare.Comparison, places []place) Table {
	places = slices.DeleteFunc(places, func(p place) bool { return p.cell.Slices == nil })
	columns := []column[place]{benchmarkColumn(), nameColumn(c), {head: "slices", right: true, text: func(p place) string { return strconv.Itoa(p.cell.Slices.N) }}}
	columns[1].cell = func(p place) Cell { return Cell{Text: p.column().Name} }
	for _, q := range []struct {
		head string
		of   func(*compare.Distribution) float64
	}{
		{"p50", func(d *compare.Distribution) float64 { return d.P50 }},
		{"p90", func(d *compare.Distribution) float64 { return d.P90 }},
		{"p99", func(d *compare.Distribution) float64 { return d.P99 }},
		{"max", func(d *compare.Distribution) float64 { return d.Max }},
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
				return formatInterval(&compare.Versus{Lo: vs.TailLo, Hi: vs.TailHi})
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
func tailMoved(c compare.Cell) bool { return c.Vs != nil && c.Vs.Tail > 0 && c.Vs.TailMoved }

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
	points := append(slices.Clone(curve.Points), compare.CurvePoint{Row: -1})
	columns := []column[compare.CurvePoint]{{head: curve.Key, right: true, text: func(p compare.CurvePoint) string {
		if p.Row < 0 {
			return "last ÷ first"
		}
		return formatCount(p.X)
	}}}
	for i, col := range t.Cols {
		none := !slices.ContainsFunc(curve.Points, func(p compare.CurvePoint) bool { return t.Rows[p.Row].Cells[i].Verdict != compare.Absent })
		columns = append(columns, column[compare.CurvePoint]{head: col.Name, right: true, hide: none, cell: func(p compare.CurvePoint) Cell {
			if p.Row < 0 {
				return Cell{Text: formatRatio(curve.Rise[i])}
			}
			switch cell := t.Rows[p.Row].Cells[i]; {
			case cell.N > 0:
				return Cell{Text: formatValue(cell.Center, t.Unit)}
			case cell.Verdict != compare.Absent:
				return Cell{Text: "—" + references(cell.Notes), Notes: cell.Notes}
			}
			return Cell{}
		}})
	}
	return tabulate(points, columns)
}

// A csvColumn is a column of CSV: a text, a number, or a truth value; nil is empty.
type csvColumn struct {
	head string
	cell func(place) any
}

// csvColumns are the columns of the CSV of c, in order.
func csvColumns(c *compare.Comparison) []csvColumn {
	return []csvColumn{
		{"unit", func(p place) any { return p.table.Unit }},
		{"pkg", func(p place) any { return p.row.Pkg }},
		{"benchmark", func(p place) any { return p.row.Name }},
		{"column", func(p place) any { return p.column().Name }},
		{"reference", func(p place) any { return p.column().Ref }},
		{"n", func(p place) any { return p.cell.N }},
		{"center", csvMeasured(func(c compare.Cell) any { return c.Center })},
		{"lo", csvMeasured(func(c compare.Cell) any { return c.Lo })},
		{"hi", csvMeasured(func(c compare.Cell) any { return c.Hi })},
		{"base", func(p place) any {
			if p.row.Base < 0 {
				return nil
			}
			return p.table.Cols[p.row.Base].Name
		}},
		{"ratio", csvVersus(func(v *compare.Versus) any { return v.Ratio })},
		{"ratio_lo", csvVersus(func(v *compare.Versus) any { return v.Lo })},
		{"ratio_hi", csvVersus(func(v *compare.Versus) any { return v.Hi })},
		{"p", csvVersus(func(v *compare.Versus) any { return v.P })},
		{"p_adjusted", csvVersus(func(v *compare.Versus) any { return v.Adjusted })},
		{"paired", csvVersus(func(v *compare.Versus) any { return v.Paired })},
		{"pairs", csvVersus(func(v *compare.Versus) any { return csvIf(v.Paired, v.N) })},
		{"rounds", csvVersus(func(v *compare.Versus) any { return csvIf(v.Paired, v.Rounds) })},
		{"layouts", csvVersus(func(v *compare.Versus) any { return v.Layouts })},
		{"control", func(p place) any {
			if p.cell.Vs == nil || p.row.Control == nil {
				return nil
			}
			return p.row.Control.Vs.Ratio
		}},
		{"detectable", csvVersus(func(v *compare.Versus) any { return v.Detectable })},
		{"need_blocks", csvVersus(func(v *compare.Versus) any { return csvIf(v.Need > 0, v.Need) })},
		{"need_seconds", csvVersus(func(v *compare.Versus) any { return csvIf(v.Need > 0, v.NeedTime.Seconds()) })},
		{"verdict", func(p place) any { return string(p.cell.Verdict) }},
		{"notes", func(p place) any { return strings.Join(notesOf(c, p.cell), "; ") }},
		{"resource", func(p place) any { return p.table.Resource }},
		{"undecidable", csvVersus(func(v *compare.Versus) any { return v.Undecidable })},
		{"rare_costs", csvVersus(func(v *compare.Versus) any { return v.RareCosts })},
		{"typical", csvVersus(func(v *compare.Versus) any { return v.Typical })},
		{"typical_lo", csvVersus(func(v *compare.Versus) any { return v.TypicalLo })},
		{"typical_hi", csvVersus(func(v *compare.Versus) any { return v.TypicalHi })},
		{"slices", csvSlices(func(d *compare.Distribution) any { return d.N })},
		{"p50", csvSlices(func(d *compare.Distribution) any { return d.P50 })},
		{"p90", csvSlices(func(d *compare.Distribution) any { return d.P90 })},
		{"p99", csvSlices(func(d *compare.Distribution) any { return d.P99 })},
		{"max", csvSlices(func(d *compare.Distribution) any { return d.Max })},
		{"tail", csvVersus(func(v *compare.Versus) any { return v.Tail })},
		{"tail_lo", csvVersus(func(v *compare.Versus) any { return v.TailLo })},
		{"tail_hi", csvVersus(func(v *compare.Versus) any { return v.TailHi })},
		{"tail_moved", csvVersus(func(v *compare.Versus) any { return v.TailMoved })},
	}
}

// csvMeasured is a figure of the cells that have values.
func csvMeasured(of func(compare.Cell) any) func(place) any {
	return func(p place) any { return csvIf(p.cell.N > 0, of(p.cell)) }
}

// csvVersus is of the cells that are compared.
func csvVersus(of func(*compare.Versus) any) func(place) any {
	return func(p place) any {
		if p.cell.Vs == nil {
			return nil
		}
		return of(p.cell.Vs)
	}
}

// csvSlices is of the cells that are made of slices.
func csvSlices(of func(*compare.Distribution) any) func(place) any {
	return func(p place) any {
		if p.cell.Slices == nil {
			return nil
		}
		return of(p.cell.Slices)
	}
}

func csvIf(ok bool, v any) any {
	if !ok {
		return nil
	}
	return v
}

// notesOf are the notes to which a cell refers.
func notesOf(c *compare.Comparison, cell compare.Cell) (notes []string) {
	for _, n := range cell.Notes {
		notes = append(notes, c.Notes[n])
	}
	return notes
}

// CSV writes c with one line for each cell, in full precision. Figures that do
// not exist are empty, infinite ones "+Inf" or "-Inf". Notes are joined by
// "; ". Findings, warnings and circumstances are not in it; JSON has them.
func CSV(w io.Writer, c *compare.Comparison) error {
	out := csv.NewWriter(w)
	columns := csvColumns(c)
	line := make([]string, len(columns))
	for i, k := range columns {
		line[i] = k.head
	}
	_ = out.Write(line) // Error reports it
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			for j, cell := range r.Cells {
				if cell.Verdict == compare.Absent {
					continue
				}
				for i, k := range columns {
					line[i] = csvText(k.cell(place{t, r, j, cell}))
				}
				_ = out.Write(line)
			}
		}
	}
	out.Flush()
	return out.Error()
}

// csvText writes a figure so that parsing gives it back; "" for NaN.
func csvText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		if math.IsNaN(v) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// verdictTone is how a verdict is meant.
func verdictTone(v compare.Verdict) Tone {
	switch v {
	case compare.Faster, compare.Better:
		return Good
	case compare.Slower, compare.Worse:
		return Bad
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
	return tallyOf(counts, compare.Better, compare.Faster, compare.Slower, compare.Worse, compare.Lower, compare.Higher, compare.Same,
		compare.Inconclusive, compare.Unproven, compare.Missing, compare.NoBase, compare.Skipped)
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

// more is what there is to say of a cell beside its verdict: why it failed, what would
// decide it, and whether rare costs make the difference.
func more(cell compare.Cell) string {
	rare := rareCosts(cell)
	if rare != "" {
		rare += ": the typical ratio is " + formatRatio(cell.Vs.Typical)
	}
	return joined("; ", cell.Failure, power(cell), rare)
}

// power says what an inconclusive cell could detect, and what would decide it; empty
// for others.
func power(cell compare.Cell) string {
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
func answerTable(c *compare.Comparison, t compare.Table, verdicts bool) Table {
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
