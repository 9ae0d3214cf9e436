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

// Charts in the HTML are inline SVG that the template writes. It has no width of
// its own: places along it are percentages, heights are pixels, so text and lines
// keep their size on a telephone. Colours come from the style sheet, which knows
// light and dark.
type (
	symbol   struct{ ID, Path string }
	tickView struct{ At, Label string }
	segment  struct{ X1, Y1, X2, Y2 string }
	dotView  struct {
		X, Y, Title string
		Clipped     bool
	}
	// A barView is a ratio with its interval; a place that is empty is not
	// drawn.
	barView struct {
		Class, MarginX, MarginWidth, One, Lo, Hi, At string
		Open                                         bool // the interval goes on
	}
	linesView struct {
		Caption, Label string
		Height         int
		X, Y           []tickView
		Series         []seriesView
	}
	seriesView struct {
		Name, Class, Dash, Symbol string
		Shift                     string // pixels to the right, so that intervals do not hide one another
		Segments, Whiskers        []segment
		Dots                      []dotView
	}
	stripsView struct {
		Caption string
		Bands   []bandView
		Strips  []stripView
		Foot    []tickView // numbers of blocks
		Layouts []tickView
		Table   gridView
	}
	bandView  struct{ X, Width string }
	stripView struct {
		Name, Label, Class, Value string
		Segments                  []segment
		Dots                      []dotView
	}
)

// symbols are the marks of lines, which tell them apart where colours do not.
func symbols() []symbol {
	var out []symbol
	for i, path := range []string{
		"M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",                // circle
		"M-3.2 -3.2h6.4v6.4h-6.4z",                                     // square
		"M0 -4.2L4.2 3.2H-4.2z",                                        // triangle
		"M0 -4.6L4.6 0L0 4.6L-4.6 0z",                                  // diamond
		"M0 4.2L4.2 -3.2H-4.2z",                                        // triangle upside down
		"M-4.2 -1.4h2.8v-2.8h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8z", // cross
	} {
		out = append(out, symbol{"m" + strconv.Itoa(i), path})
	}
	return out
}

// along writes a place along a chart, from 0 to 1.
func along(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e4)/100, 'f', -1, 64) + "%"
}

// pixels writes a height.
func pixels(y float64) string { return strconv.FormatFloat(math.Round(y*10)/10, 'f', -1, 64) }

// A scale is a logarithmic axis.
type scale struct{ lo, hi float64 }

// at returns where v lies, 0 to 1 within the axis.
func (s scale) at(v float64) float64 { return math.Log(v/s.lo) / math.Log(s.hi/s.lo) }

// ratioScale is an axis for all ratios of rows, and for 1.
func ratioScale(rows []compare.Row) scale {
	lo, hi := 1.0, 1.0
	for _, r := range rows {
		for _, cell := range r.Cells {
			if cell.Vs == nil {
				continue
			}
			for _, v := range []float64{cell.Vs.Ratio, cell.Vs.Lo, cell.Vs.Hi} {
				if v > 0 && !math.IsInf(v, 1) {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
	}
	// A little air; and a tenth to each side at least, so that noise does not fill
	// the picture.
	lo, hi = min(lo/1.02, 1/1.1), max(hi*1.02, 1.1)
	return scale{lo, hi}
}

// bar draws the ratio of a cell.
func (s scale) bar(cell compare.Cell, base bool, margin float64) barView {
	b := barView{One: along(s.at(1))}
	b.Class, _ = verdictClass(cell.Verdict)
	if margin > 0 {
		lo, hi := max(s.at(1-margin), 0), min(s.at(1+margin), 1)
		b.MarginX, b.MarginWidth = along(lo), along(hi-lo)
	}
	switch vs := cell.Vs; {
	case base:
		b.At, b.Class = b.One, "r"
	case vs == nil || !(vs.Ratio > 0) || math.IsInf(vs.Ratio, 1):
	default:
		b.At = along(s.at(vs.Ratio))
		if math.IsNaN(vs.Lo) || vs.Lo <= 0 && math.IsInf(vs.Hi, 1) {
			break
		}
		b.Open = vs.Lo <= 0 || math.IsInf(vs.Hi, 1)
		lo, hi := 0.0, 1.0
		if vs.Lo > 0 {
			lo = s.at(vs.Lo)
		}
		if !math.IsInf(vs.Hi, 1) {
			hi = s.at(vs.Hi)
		}
		b.Lo, b.Hi = along(lo), along(hi)
	}
	return b
}

// ratioTicks returns round ratios of the axis, at most so many: near 1 even steps,
// else as on any logarithmic axis. 1 is always among them.
func (s scale) ratioTicks(most int) []tickView {
	var values []float64
	if s.hi/s.lo < 2 {
		for _, step := range []float64{1, 2, 5, 10, 20, 50} { // hundredths
			values = nil
			for i := math.Ceil((100*s.lo - 100) / step); 100+i*step <= 100*s.hi; i++ {
				values = append(values, (100+i*step)/100)
			}
			if len(values) <= most {
				break
			}
		}
	} else {
		values = s.roundValues(most)
	}
	var out []tickView
	for _, v := range values {
		out = append(out, tickView{along(s.at(v)), strconv.FormatFloat(v, 'g', -1, 64)})
	}
	return out
}

// roundValues returns round numbers of the axis, at most so many.
func (s scale) roundValues(most int) []float64 {
	for _, steps := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		if out := s.valuesAt(steps, 1); len(out) <= most {
			return out
		}
	}
	for decades := 2; ; decades++ {
		if out := s.valuesAt([]float64{1}, decades); len(out) <= most {
			return out
		}
	}
}

// valuesAt returns the numbers of the axis that are one of steps times a power of
// ten, of which only every so many count.
func (s scale) valuesAt(steps []float64, decades int) []float64 {
	var out []float64
	for e := int(math.Floor(math.Log10(s.lo))); float64(e) <= math.Log10(s.hi); e++ {
		if e%decades != 0 {
			continue
		}
		for _, step := range steps {
			// Rounded through text: 1.2e-1 and not 0.12000000000000001.
			v, err := strconv.ParseFloat(fmt.Sprintf("%ge%d", step, e), 64)
			if err == nil && v >= s.lo && v <= s.hi {
				out = append(out, v)
			}
		}
	}
	return out
}

// lineStyle is the look of a column in charts: implementations have colours,
// references are grey and dashed; all have their symbols.
func lineStyle(t compare.Table, col int) (class, dash, symbol string) {
	impls, refs := 0, 0
	for _, c := range t.Cols[:col] {
		if c.Ref {
			refs++
		} else {
			impls++
		}
	}
	symbol = "m" + strconv.Itoa(col%len(symbols()))
	if t.Cols[col].Ref {
		return "r", "dash" + strconv.Itoa(refs%4), symbol
	}
	return "s" + strconv.Itoa(impls%len(series)), "", symbol
}

// plotHeight is the height of a chart of lines, in pixels.
const plotHeight = 260

// A plotted is a point of a line: where along the axis, its value and its interval,
// NaN if it has none.
type plotted struct {
	x, at, lo, hi float64
	gap           bool // the line stops here
	title         string
}

// draw places a line on the axis y.
func (v *seriesView) draw(points []plotted, y scale) {
	height := func(value float64) string { return pixels(plotHeight * (1 - y.at(value))) }
	for i, p := range points {
		x, at := along(p.x), height(p.at)
		v.Dots = append(v.Dots, dotView{X: x, Y: at, Title: p.title})
		if p.lo > 0 && !math.IsInf(p.hi, 0) && !math.IsNaN(p.hi) {
			v.Whiskers = append(v.Whiskers, segment{x, height(p.lo), x, height(p.hi)})
		}
		if i+1 < len(points) && !p.gap {
			next := points[i+1]
			v.Segments = append(v.Segments, segment{x, at, along(next.x), height(next.at)})
		}
	}
}

// linesOf draws lines over a common logarithmic axis of unit. points has them by
// column; a column without any is left out.
func linesOf(t compare.Table, points [][]plotted, unit string) linesView {
	v := linesView{Height: plotHeight}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, line := range points {
		for _, p := range line {
			lo, hi = min(lo, p.at), max(hi, p.at)
			if p.lo > 0 && !math.IsInf(p.hi, 0) && !math.IsNaN(p.hi) {
				lo, hi = min(lo, p.lo), max(hi, p.hi)
			}
		}
	}
	if hi < lo {
		return v
	}
	lo, hi = widen(lo, hi)
	y := scale{lo, hi}
	for _, value := range y.roundValues(7) {
		v.Y = append(v.Y, tickView{pixels(plotHeight * (1 - y.at(value))), formatTick(value, unit)})
	}
	for i, line := range points {
		if len(line) == 0 {
			continue
		}
		s := seriesView{Name: t.Cols[i].Name}
		s.Class, s.Dash, s.Symbol = lineStyle(t, i)
		s.draw(line, y)
		v.Series = append(v.Series, s)
	}
	return v
}

// curveLinesView draws a curve of t.
func curveLinesView(c *compare.Comparison, t compare.Table, curve compare.Curve) linesView {
	x := scale{curve.Points[0].X, curve.Points[len(curve.Points)-1].X}
	points := make([][]plotted, len(t.Cols))
	for i, col := range t.Cols {
		for _, p := range curve.Points {
			cell := t.Rows[p.Row].Cells[i]
			if cell.N > 0 && cell.Center > 0 && !math.IsInf(cell.Center, 1) {
				points[i] = append(points[i], plotted{
					x: x.at(p.X), at: cell.Center, lo: cell.Lo, hi: cell.Hi,
					title: fmt.Sprintf("%s, %s=%s: %s", col.Name, curve.Key, formatCount(p.X), formatValue(cell.Center, t.Unit)),
				})
			} else if n := len(points[i]); n > 0 {
				points[i][n-1].gap = true
			}
		}
	}
	v := linesOf(t, points, t.Unit)
	for _, p := range curve.Points {
		v.X = append(v.X, tickView{along(x.at(p.X)), formatCount(p.X)})
	}
	v.Caption = fmt.Sprintf("%s over %s, both logarithmic, with %s intervals", caption(t), curve.Key, confidence(c))
	v.Label = curveName(curve) + ", as in the table below"
	return v
}

// A quantileFamily is units that are quantiles of one distribution, in rising
// order.
type quantileFamily struct {
	prefix string // "" or, such as, "cycle-"
	tables []int  // in Comparison.Tables
	names  []string
}

// quantileOf splits a unit such as "cycle-p99.9-ns" into what it is of, and which
// quantile it is; the maximum is 1.
func quantileOf(unit string) (prefix, name string, q float64, ok bool) {
	rest, ok := strings.CutSuffix(unit, "-ns")
	if !ok {
		return "", "", 0, false
	}
	at := strings.LastIndexByte(rest, '-') + 1
	prefix, name = rest[:at], rest[at:]
	if name == "max" {
		return prefix, name, 1, true
	}
	v, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
	if err != nil || !strings.HasPrefix(name, "p") || !(v > 0 && v < 100) {
		return "", "", 0, false
	}
	return prefix, name, v / 100, true
}

// quantileUnits finds the families of quantiles that make a curve: of three or
// more.
func quantileUnits(c *compare.Comparison) []quantileFamily {
	type member struct {
		table int
		name  string
		q     float64
	}
	var order []string
	members := make(map[string][]member)
	for i, t := range c.Tables {
		prefix, name, q, ok := quantileOf(t.Unit)
		if !ok {
			continue
		}
		if members[prefix] == nil {
			order = append(order, prefix)
		}
		members[prefix] = append(members[prefix], member{i, name, q})
	}
	var out []quantileFamily
	for _, prefix := range order {
		ms := members[prefix]
		if len(ms) < 3 {
			continue
		}
		slices.SortFunc(ms, func(a, b member) int { return cmp.Compare(a.q, b.q) })
		f := quantileFamily{prefix: prefix}
		for _, m := range ms {
			f.tables, f.names = append(f.tables, m.table), append(f.names, m.name)
		}
		out = append(out, f)
	}
	return out
}

// quantileChart draws the quantiles of a benchmark, a line for each column. ok
// is false if it has none.
func quantileChart(c *compare.Comparison, f quantileFamily, r compare.Row) (v linesView, ok bool) {
	t := c.Tables[0] // for the looks of its columns
	points := make([][]plotted, len(t.Cols))
	for k, i := range f.tables {
		q, there := rowIn(c.Tables[i], r)
		if !there {
			continue
		}
		for j, col := range t.Cols {
			at := columnIndex(c.Tables[i], col.Name)
			if at < 0 || q.Cells[at].N == 0 || !(q.Cells[at].Center > 0) {
				continue
			}
			cell := q.Cells[at]
			points[j] = append(points[j], plotted{
				x: float64(k) / float64(len(f.tables)-1), at: cell.Center, lo: cell.Lo, hi: cell.Hi,
				title: fmt.Sprintf("%s, %s: %s", col.Name, f.names[k], formatValue(cell.Center, c.Tables[i].Unit)),
			})
			ok = true
		}
	}
	if !ok {
		return v, false
	}
	unit := c.Tables[f.tables[0]].Unit
	v = linesOf(t, points, unit)
	for i := range v.Series {
		v.Series[i].Shift = pixels(3 * (float64(i) - float64(len(v.Series)-1)/2))
	}
	for k, name := range f.names {
		v.X = append(v.X, tickView{along(float64(k) / float64(len(f.names)-1)), name})
	}
	what := strings.TrimSuffix(f.prefix, "-")
	if what == "" {
		what = "latency"
	}
	v.Caption = fmt.Sprintf("Quantiles of %s, logarithmic, with %s intervals over the blocks", what, confidence(c))
	v.Label = "Quantiles of " + what + ", as in the table of the other units"
	return v, true
}

// Sizes of strips in pixels.
const (
	stripHeight = 34
	stripMargin = 4
)

// A moment is a place in the order of time.
type moment struct{ file, block string }

// newStrips draws a row's values in the order of time, one strip for each column
// and one for the control, each relative to its own median; nil if there are
// not several values.
func newStrips(t compare.Table, r compare.Row) *stripsView {
	type line struct {
		name, class string
		values      []compare.BlockValue
	}
	var lines []line
	for i, cell := range r.Cells {
		if len(cell.Blocks) > 1 {
			class, _, _ := lineStyle(t, i)
			lines = append(lines, line{t.Cols[i].Name, class, cell.Blocks})
		}
	}
	if r.Control != nil && len(r.Control.Blocks) > 1 {
		lines = append(lines, line{t.Cols[r.Control.Col].Name + " again (control)", "r", r.Control.Blocks})
	}
	if len(lines) == 0 {
		return nil
	}
	// The order of time is that of the file. A column that lacks blocks must not
	// bring them into disorder, so they are sorted by number where they have one.
	index := make(map[moment]int)
	var moments []moment
	layouts := make(map[moment]string)
	at := func(l line, i int) moment {
		v := l.values[i]
		if v.Block == "" {
			return moment{v.File, "\x00" + strconv.Itoa(i)}
		}
		return moment{v.File, v.Block}
	}
	for _, l := range lines {
		for i, v := range l.values {
			m := at(l, i)
			if _, ok := index[m]; !ok {
				index[m] = len(moments)
				moments = append(moments, m)
			}
			if v.Layout != "" {
				layouts[m] = v.Layout
			}
		}
	}
	files := make(map[string]int)
	for _, m := range moments {
		if _, ok := files[m.file]; !ok {
			files[m.file] = len(files)
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		if d := files[a.file] - files[b.file]; d != 0 {
			return d
		}
		x, errA := strconv.Atoi(strings.TrimPrefix(a.block, "\x00"))
		y, errB := strconv.Atoi(strings.TrimPrefix(b.block, "\x00"))
		if errA != nil || errB != nil {
			return 0
		}
		return x - y
	})
	for i, m := range moments {
		index[m] = i
	}
	n := float64(len(moments))
	middle := func(i int) float64 { return (float64(i) + 0.5) / n }

	// One scale for all strips: as far as the farthest value lies from its own
	// median, but 2 % at least and a factor of 2 at most.
	reach := math.Log(1.02)
	medians := make([]float64, len(lines))
	for k, l := range lines {
		medians[k] = medianOf(l.values)
		for _, v := range l.values {
			if d := math.Abs(math.Log(v.V / medians[k])); !math.IsNaN(d) && !math.IsInf(d, 0) {
				reach = max(reach, d)
			}
		}
	}
	reach = min(reach, math.Log(2))

	s := &stripsView{Table: gridView{Label: "Values of " + benchmark(r) + " block by block", Head: []headView{{Text: "block"}}}}
	many := len(files) > 1
	for i, m := range moments {
		label := strings.TrimPrefix(m.block, "\x00")
		if strings.HasPrefix(m.block, "\x00") {
			if k, err := strconv.Atoi(label); err == nil {
				label = strconv.Itoa(k + 1)
			}
		}
		if len(moments) <= 14 || i == 0 || i == len(moments)-1 || i%((len(moments)+9)/10) == 0 && i < len(moments)-3 {
			s.Foot = append(s.Foot, tickView{along(middle(i)), label})
		}
		if many {
			label = m.file + " " + label
		}
		if layouts[m] != "" {
			label += ", layout " + layouts[m]
			if i%2 == 1 {
				s.Bands = append(s.Bands, bandView{along(float64(i) / n), along(1 / n)})
			}
			if len(moments) <= 16 {
				s.Layouts = append(s.Layouts, tickView{along(middle(i)), "L" + layouts[m]})
			}
		}
		s.Table.Rows = append(s.Table.Rows, []gridCell{{Text: label}})
	}
	for k, l := range lines {
		strip := stripView{Name: l.name, Class: l.class, Value: formatValue(medians[k], t.Unit)}
		s.Table.Head = append(s.Table.Head, headView{l.name, true})
		for i := range s.Table.Rows {
			s.Table.Rows[i] = append(s.Table.Rows[i], gridCell{Class: "num"})
		}
		least, most := math.Inf(1), math.Inf(-1)
		last := -1
		for i, v := range l.values {
			m := index[at(l, i)]
			s.Table.Rows[m][k+1].Text = formatValue(v.V, t.Unit)
			d := math.Log(v.V / medians[k])
			if math.IsNaN(d) || math.IsInf(d, 0) {
				continue
			}
			least, most = min(least, v.V/medians[k]), max(most, v.V/medians[k])
			clipped := math.Abs(d) > reach*1.0001
			d = max(-reach, min(reach, d))
			dot := dotView{
				X: along(middle(m)), Y: pixels(stripHeight/2 - d/reach*(stripHeight/2-stripMargin)), Clipped: clipped,
				Title: s.Table.Rows[m][0].Text + ": " + s.Table.Rows[m][k+1].Text + ", " + formatChange(v.V/medians[k]),
			}
			if last == m-1 && len(strip.Dots) > 0 {
				before := strip.Dots[len(strip.Dots)-1]
				strip.Segments = append(strip.Segments, segment{before.X, before.Y, dot.X, dot.Y})
			}
			strip.Dots = append(strip.Dots, dot)
			last = m
		}
		strip.Label = fmt.Sprintf("%s: %s", l.name, counted(len(l.values), "value"))
		if most >= least {
			strip.Label += fmt.Sprintf(", from %s to %s of their median", formatChange(least), formatChange(most))
		}
		s.Strips = append(s.Strips, strip)
	}
	s.Caption = fmt.Sprintf("Block by block, in the order of time: each value against its own line's median, which stands at the right. Top to bottom is %s to %s.",
		formatChange(math.Exp(reach)), formatChange(math.Exp(-reach)))
	if len(layouts) > 0 {
		s.Caption += " L: the code layout of the binaries."
	}
	return s
}

func medianOf(values []compare.BlockValue) float64 {
	vs := make([]float64, len(values))
	for i, v := range values {
		vs[i] = v.V
	}
	slices.Sort(vs)
	if n := len(vs); n%2 == 0 {
		return (vs[n/2-1] + vs[n/2]) / 2
	}
	return vs[len(vs)/2]
}

// formatChange writes a ratio as a change: 1.034 is +3.4 %.
func formatChange(ratio float64) string {
	v := math.Round(1e3*(ratio-1)) / 10
	sign := ""
	switch {
	case v > 0:
		sign = "+"
	case v < 0:
		sign = "−"
	}
	return sign + strconv.FormatFloat(math.Abs(v), 'f', -1, 64) + " %"
}
