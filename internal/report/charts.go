package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
)

// Heights of panes in pixels.
const (
	barHeight   = 24
	axisHeight  = 20
	plotHeight  = 260
	stripHeight = 34
	stripMargin = 4
)

// overviewChart draws the ratios of t: a group of bars for each row, in it one for each
// column that has a ratio or lacks what is due. ok is false if there is no ratio.
func overviewChart(c *compare.Comparison, t compare.Table) (out chart, ok bool) {
	s := ratioScale(t, t.Rows...)
	for _, r := range t.Rows {
		title := benchmark(r)
		for i, cell := range r.Cells {
			compared := cell.Vs != nil && !math.IsNaN(cell.Vs.Ratio)
			if !compared && cell.Verdict != compare.Missing && cell.Verdict != compare.Skipped {
				continue
			}
			b := s.ratio(c, placeOf(t, r, i))
			p := pane{title: title, left: t.Cols[i].Name, class: b.class, height: barHeight, body: b.body(), right: []string{"", string(cell.Verdict)}}
			if compared {
				ok, p.right[0] = true, formatRatio(cell.Vs.Ratio)
			}
			if title != "" && r.Base >= 0 {
				p.note = "against " + t.Cols[r.Base].Name
			}
			title = "" // which stands above it
			out.panes = append(out.panes, p)
		}
	}
	axis := axisPane(s.ratioTicks(7))
	out.panes = slices.Concat([]pane{axis}, out.panes, []pane{axis})
	out.title = t.Unit + " relative to each benchmark's base"
	out.caption = fmt.Sprintf("ratio with %s interval, logarithmic; base = 1", confidence(c))
	switch {
	case t.Better < 0:
		out.caption += ", left is better"
	case t.Better > 0:
		out.caption += ", right is better"
	}
	return out, ok
}

// axisPane is the horizontal axis below panes.
func axisPane(ticks []tick) pane { return pane{height: axisHeight, body: axisBody(ticks, chartAxis)} }

// valueTicks are round values of unit on the axis.
func (s scale) valueTicks(unit string) []tick {
	return s.ticks(s.roundValues(7), func(v float64) string { return formatTick(v, unit) })
}

// rowChart draws the values of one row of t, with what they are as a ratio. ok is false
// if there is nothing that a logarithmic axis can show.
func rowChart(c *compare.Comparison, t compare.Table, r compare.Row) (out chart, ok bool) {
	var values []float64
	base := math.NaN()
	for i, cell := range r.Cells {
		switch {
		case cell.N == 0:
			continue
		case cell.Center <= 0:
			return chart{}, false
		case i == r.Base:
			base = cell.Center
		}
		values = append(values, cell.Center, cell.Lo, cell.Hi)
	}
	s, ok := scaleOf(values...)
	for i, cell := range r.Cells {
		if cell.Verdict == compare.Absent {
			continue
		}
		p := pane{left: t.Cols[i].Name, class: placeOf(t, r, i).tone(), height: barHeight, right: []string{"", "", string(cell.Verdict)}}
		if cell.N == 0 {
			cell.Center = math.NaN() // no bar
		} else {
			p.right[0] = formatValue(cell.Center, t.Unit)
			if cell.Vs != nil {
				p.right[1] = formatRatio(cell.Vs.Ratio)
			}
		}
		p.body = s.bar(p.class, base, cell.Center, cell.Lo, cell.Hi).body()
		out.panes = append(out.panes, p)
	}
	out.panes = append(out.panes, axisPane(s.valueTicks(t.Unit)))
	out.title = benchmark(r)
	out.caption = fmt.Sprintf("%s, with %s intervals, logarithmic", caption(t), confidence(c))
	return out, ok
}

// ratioScale is an axis for the ratios of rows, and for 1. References, of which some are
// floors, and the few values that lie far from all others do not squeeze it: these stand at
// its edge, as an arrow.
func ratioScale(t compare.Table, rows ...compare.Row) scale {
	values := ratiosOf(t, rows, false)
	if len(values) == 0 {
		values = ratiosOf(t, rows, true)
	}
	lo, hi := extremes(append(values, 1))
	if n := len(values); n > 0 {
		slices.Sort(values)
		const rare, far = 20, 2 // one in so many, and so many times beyond the others
		lo, hi = max(lo, values[n/rare]/far), min(hi, values[n-1-n/rare]*far)
	}
	// A little air; and a tenth to each side at least, so that noise does not fill
	// the picture.
	return scale{min(lo/1.02, 1/1.1), max(hi*1.02, 1.1)}
}

// ratiosOf are the ratios of rows with the ends of their intervals, as far as an axis has
// them: of references, or of the others.
func ratiosOf(t compare.Table, rows []compare.Row, refs bool) (values []float64) {
	for _, r := range rows {
		for i, cell := range r.Cells {
			if vs := cell.Vs; vs != nil && t.Cols[i].Ref == refs {
				for _, v := range []float64{vs.Ratio, vs.Lo, vs.Hi} {
					if v > 0 && !math.IsInf(v, 1) {
						values = append(values, v)
					}
				}
			}
		}
	}
	return values
}

// ratio is the bar of a cell's ratio to its base.
func (s scale) ratio(c *compare.Comparison, p place) bar {
	nan := math.NaN()
	b := s.bar(p.tone(), 1, nan, nan, nan)
	switch vs := p.cell.Vs; {
	case p.isBase():
		b.at = b.one
	case vs != nil:
		b = s.bar(b.class, 1, vs.Ratio, vs.Lo, vs.Hi)
	}
	if c.Margin > 0 {
		b.margin = max(s.at(1-c.Margin), 0)
		b.width = min(s.at(1+c.Margin), 1) - b.margin
	}
	return b
}

// tone is the look of a cell in charts: of its verdict, but grey for the base and for
// references.
func (p place) tone() Tone {
	if p.isBase() || p.column().Ref {
		return Reference
	}
	return verdictTone(p.cell.Verdict)
}

// styleOf is the look of a column in charts of lines: implementations have colours,
// references are grey and dashed; all have their symbols.
func styleOf(t compare.Table, col int) lineStyle {
	ref, alike := t.Cols[col].Ref, 0 // columns before it
	for _, c := range t.Cols[:col] {
		if c.Ref == ref {
			alike++
		}
	}
	s := lineStyle{symbol: "m" + strconv.Itoa(col%len(symbols))}
	if ref {
		s.class, s.dash = string(Reference), "dash"+strconv.Itoa(alike%4)
	} else {
		s.class = "s" + strconv.Itoa(alike%7) // as many as the style sheet has
	}
	return s
}

// A point is a value of a line: where along the axis, and its interval, NaN if it has
// none. The line goes on to the next point, unless there is a gap behind it.
type point struct {
	x, at, lo, hi float64
	gap           bool
	title         string
}

// bounded reports whether the point has an interval.
func (p point) bounded() bool {
	return p.lo > 0 && !math.IsInf(p.hi, 0) && !math.IsNaN(p.hi)
}

// A line is the points of a column.
type line struct {
	key
	points []point
	shift  float64 // pixels to the right, so that intervals do not hide one another
}

// lineChart draws lines over a common logarithmic axis of unit, with ticks along it. ok
// is false if there is nothing to draw.
func lineChart(lines []line, along []tick, unit string) (out chart, ok bool) {
	lines = slices.DeleteFunc(lines, func(l line) bool { return len(l.points) == 0 })
	var values []float64
	for _, l := range lines {
		for _, p := range l.points {
			values = append(values, p.at)
			if p.bounded() {
				values = append(values, p.lo, p.hi)
			}
		}
	}
	y, ok := scaleOf(values...)
	if !ok {
		return chart{}, false
	}
	plot := pane{height: plotHeight, ticks: y.valueTicks(unit)}
	plot.body = gridBody(along, plot.ticks)
	for _, l := range lines {
		out.keys = append(out.keys, l.key)
		l.draw(&plot.body, y)
	}
	out.panes = []pane{plot, axisPane(along)}
	return out, true
}

// gridBody is faint lines at the ticks of both axes.
func gridBody(across, up []tick) (m markup) {
	for _, t := range up {
		at := pixels(plotHeight * (1 - t.at))
		m.line("grid", "0", at, "100%", at)
	}
	for _, t := range across {
		m.line("grid", along(t.at), "0", along(t.at), "100%")
	}
	return m
}

// draw draws a line on the axis y.
func (l line) draw(m *markup, y scale) {
	height := func(v float64) string { return pixels(plotHeight * (1 - y.at(v))) }
	m.add(`<g class="%s" transform="translate(%s)">`, l.style.class, pixels(l.shift))
	for i, p := range l.points {
		if i+1 < len(l.points) && !p.gap {
			next := l.points[i+1]
			m.line("line "+l.style.dash, along(p.x), height(p.at), along(next.x), height(next.at))
		}
		if p.bounded() {
			m.line("whisker", along(p.x), height(p.lo), along(p.x), height(p.hi))
		}
	}
	for _, p := range l.points {
		m.symbol(l.style.symbol, along(p.x), height(p.at), p.title)
	}
	m.add("</g>")
}

// curveChart draws a curve of t: a line for each column that has a value which an axis
// can show.
func curveChart(c *compare.Comparison, t compare.Table, curve compare.Curve) (chart, bool) {
	x := scale{curve.Points[0].X, curve.Points[len(curve.Points)-1].X}
	var lines []line
	for i, col := range t.Cols {
		lines = append(lines, line{key{styleOf(t, i), col.Name, curveNote(t, curve, i)}, curvePoints(t, curve, i, x), 0})
	}
	ticks := each(curve.Points, func(p compare.CurvePoint) tick { return tick{x.at(p.X), formatCount(p.X)} })
	out, ok := lineChart(lines, ticks, t.Unit)
	if !ok {
		return chart{}, false
	}
	out.title = curveName(curve)
	out.caption = fmt.Sprintf("%s over %s, both logarithmic, with %s intervals", caption(t), curve.Key, confidence(c))
	out.panes[0].label = out.title + ", as in the table below"
	return out, true
}

// curvePoints are the points of a column of a curve.
func curvePoints(t compare.Table, curve compare.Curve, col int, x scale) (points []point) {
	for _, p := range curve.Points {
		cell := t.Rows[p.Row].Cells[col]
		if cell.N > 0 && cell.Center > 0 && !math.IsInf(cell.Center, 1) {
			points = append(points, point{
				x: x.at(p.X), at: cell.Center, lo: cell.Lo, hi: cell.Hi,
				title: fmt.Sprintf("%s, %s=%s: %s", t.Cols[col].Name, curve.Key, formatCount(p.X), formatValue(cell.Center, t.Unit)),
			})
		} else if n := len(points); n > 0 {
			points[n-1].gap = true
		}
	}
	return points
}

// curveNote is a column's value at the last point, and how many times the first one
// that is.
func curveNote(t compare.Table, curve compare.Curve, col int) string {
	value, rise := "", ""
	switch last := t.Rows[curve.Points[len(curve.Points)-1].Row].Cells[col]; {
	case last.N > 0:
		value = formatValue(last.Center, t.Unit)
	case last.Verdict != compare.Absent:
		value = string(last.Verdict) // what is missing shows in every place
	}
	if !math.IsNaN(curve.Rise[col]) {
		rise = "×" + formatRatio(curve.Rise[col])
	}
	return joined(" ", value, rise)
}

// A quantile is a unit that is a quantile of a distribution, such as "cycle-p99.9-ns".
type quantile struct {
	table    compare.Table
	of, name string // "cycle-" or "", and "p99.9"
	q        float64
}

// quantileOf splits a unit into what it is of, and which quantile it is; the maximum is 1.
func quantileOf(unit string) (of, name string, q float64, ok bool) {
	rest, ok := strings.CutSuffix(unit, "-ns")
	at := strings.LastIndexByte(rest, '-') + 1
	of, name = rest[:at], rest[at:]
	if ok && name == "max" {
		return of, name, 1, true
	}
	number, isQuantile := strings.CutPrefix(name, "p")
	v, err := strconv.ParseFloat(number, 64)
	if !ok || !isQuantile || err != nil || !(v > 0 && v < 100) {
		return "", "", 0, false
	}
	return of, name, v / 100, true
}

// quantileUnits are the units that are quantiles of one distribution, three or more, in
// rising order, so that they make a curve.
func quantileUnits(c *compare.Comparison) (out [][]quantile) {
	var order []string
	families := make(map[string][]quantile)
	for _, t := range c.Tables {
		if of, name, q, ok := quantileOf(t.Unit); ok {
			if families[of] == nil {
				order = append(order, of)
			}
			families[of] = append(families[of], quantile{t, of, name, q})
		}
	}
	for _, of := range order {
		if f := families[of]; len(f) >= 3 {
			slices.SortFunc(f, func(a, b quantile) int { return cmp.Compare(a.q, b.q) })
			out = append(out, f)
		}
	}
	return out
}

// quantileChart draws the quantiles of a benchmark, a line for each column. ok
// is false if it has none.
func quantileChart(c *compare.Comparison, at rowIndex, family []quantile, r compare.Row) (chart, bool) {
	t := c.Tables[0] // for the looks of its columns
	lines := make([]line, len(t.Cols))
	var ticks []tick
	for k, q := range family {
		x := float64(k) / float64(len(family)-1)
		ticks = append(ticks, tick{x, q.name})
		for j, col := range t.Cols {
			if cell := at.cell(q.table, r, col.Name); cell.N > 0 && cell.Center > 0 {
				lines[j].points = append(lines[j].points, point{
					x: x, at: cell.Center, lo: cell.Lo, hi: cell.Hi,
					title: fmt.Sprintf("%s, %s: %s", col.Name, q.name, formatValue(cell.Center, q.table.Unit)),
				})
			}
		}
	}
	for j, col := range t.Cols {
		lines[j].key = key{style: styleOf(t, j), name: col.Name}
		lines[j].shift = 3 * (float64(j) - float64(len(lines)-1)/2)
	}
	out, ok := lineChart(lines, ticks, family[0].table.Unit)
	if !ok {
		return chart{}, false
	}
	what := cmp.Or(strings.TrimSuffix(family[0].of, "-"), "latency")
	out.title = "Quantiles of " + what
	out.caption = fmt.Sprintf("Quantiles of %s, logarithmic, with %s intervals over the blocks", what, confidence(c))
	out.panes[0].label = out.title + ", as in the table of the other units"
	return out, true
}
