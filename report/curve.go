package report

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dynolab/dyno/internal/compare"
)

// curveHeight is the height of a picture of curves in points.
const curveHeight = 360

// refDashes tell references apart, which are all grey.
var refDashes = [][]vg.Length{vg2(5, 2.5), vg2(1.5, 2), {vg.Points(7), vg.Points(2), vg.Points(1.5), vg.Points(2)}, vg2(10, 2.5), vg2(2.5, 4)}

// CurveChart draws one of t's curves as SVG: a line for each column over
// logarithmic axes, with the intervals of its points, and at its end the column's name, its value at the last point, and how many times the first one
// that is. References are grey and dashed. ErrNoChart
// means that there is nothing to draw.
func CurveChart(w io.Writer, c *compare.Comparison, t compare.Table, curve compare.Curve) error {
	lines := newCurveLines(t, curve)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			lo, hi = min(lo, p.at), max(hi, p.at)
			if p.bounded() {
				lo, hi = min(lo, p.lo), max(hi, p.hi)
			}
		}
	}
	if len(lines) == 0 {
		return ErrNoChart
	}
	p := plot.New()
	p.Title.Text = curveName(curve)
	p.Title.TextStyle = alignedAs(p.Title.TextStyle, 12)
	p.Title.Padding = 10
	p.X.Tick.Label = alignedAs(p.X.Tick.Label, 9.5)
	p.Y.Tick.Label = alignedAs(p.Y.Tick.Label, 9.5)
	p.X.LineStyle.Color, p.Y.LineStyle.Color = ink, ink
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Min, p.X.Max = curve.Points[0].X, curve.Points[len(curve.Points)-1].X
	p.Y.Min, p.Y.Max = widen(lo, hi)
	xs := make([]plot.Tick, len(curve.Points))
	for i, point := range curve.Points {
		xs[i] = plot.Tick{Value: point.X, Label: formatCount(point.X)}
	}
	p.X.Tick.Marker = plot.ConstantTicks(xs)
	p.Y.Tick.Marker = ticks(func(v float64) string { return formatTick(v, t.Unit) })
	p.Add(grid{})
	axis := fmt.Sprintf("%s over %s, both logarithmic, with %s intervals", caption(t), curve.Key, confidence(c))
	return writeSVG(w, p, axis, lines, curveHeight)
}

// curveName is a curve's title.
func curveName(curve compare.Curve) string {
	return benchmark(compare.Row{Name: curve.Name, Pkg: curve.Pkg}) + " by " + curve.Key
}

// curveTable lays a curve out with one line for each point and the columns'
// values, and what they rise to in the last line.
func curveTable(t compare.Table, curve compare.Curve) layout {
	l := layout{head: []string{curve.Key}, right: []bool{true}}
	rise := []string{"last ÷ first"}
	var cols []int
	for i, col := range t.Cols {
		if !slices.ContainsFunc(curve.Points, func(p compare.CurvePoint) bool { return t.Rows[p.Row].Cells[i].Verdict != compare.Absent }) {
			continue
		}
		cols = append(cols, i)
		l.head, l.right = append(l.head, col.Name), append(l.right, true)
		rise = append(rise, formatRatio(curve.Rise[i]))
	}
	for _, p := range curve.Points {
		line := []string{formatCount(p.X)}
		for _, i := range cols {
			switch cell := t.Rows[p.Row].Cells[i]; {
			case cell.N > 0:
				line = append(line, formatValue(cell.Center, t.Unit))
			case cell.Verdict != compare.Absent:
				line = append(line, "—"+references(cell.Notes))
			default:
				line = append(line, "")
			}
		}
		l.rows = append(l.rows, line)
	}
	l.rows = append(l.rows, rise)
	return l
}

// formatCount writes a number of things: 2, 1000 as 1k, 1000000 as 1M.
func formatCount(v float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if v >= u.size && v < 1e12 {
			return strconv.FormatFloat(v/u.size, 'g', 4, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// A curveLine is a column of a curve.
type curveLine struct {
	color  color.RGBA
	dashes []vg.Length
	points []curvePoint
	label  []string // name, value at the last point, rise
}

// A curvePoint is a value of a column. The line goes on to the next one, unless
// there is a gap behind it.
type curvePoint struct {
	x, at, lo, hi float64
	gap           bool
}

// bounded reports whether the point has an interval.
func (p curvePoint) bounded() bool {
	return p.lo > 0 && !math.IsInf(p.hi, 0) && !math.IsNaN(p.hi)
}

// curveLines are the columns of a curve: lines, and labels right of them.
type curveLines []curveLine

// newCurveLines returns the columns that have something a logarithmic axis can
// show.
func newCurveLines(t compare.Table, curve compare.Curve) curveLines {
	var lines curveLines
	refs := 0
	colors := columnColors(t)
	for i, col := range t.Cols {
		l := curveLine{color: colors[i]}
		if col.Ref {
			l.dashes = refDashes[refs%len(refDashes)]
			refs++
		}
		for _, p := range curve.Points {
			cell := t.Rows[p.Row].Cells[i]
			if cell.N > 0 && cell.Center > 0 && !math.IsInf(cell.Center, 1) {
				l.points = append(l.points, curvePoint{x: p.X, at: cell.Center, lo: cell.Lo, hi: cell.Hi})
			} else if n := len(l.points); n > 0 {
				l.points[n-1].gap = true
			}
		}
		if len(l.points) == 0 {
			continue
		}
		l.label = []string{col.Name, "", ""}
		switch last := t.Rows[curve.Points[len(curve.Points)-1].Row].Cells[i]; {
		case last.N > 0:
			l.label[1] = formatValue(last.Center, t.Unit)
		case last.Verdict != compare.Absent:
			l.label[1] = string(last.Verdict) // a hole shows in every place
		}
		if rise := curve.Rise[i]; !math.IsNaN(rise) {
			l.label[2] = "×" + formatRatio(rise)
		}
		lines = append(lines, l)
	}
	return lines
}

// Plot implements [plot.Plotter].
func (ls curveLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, l := range ls {
		for i, pt := range l.points {
			if i+1 < len(l.points) && !pt.gap {
				next := l.points[i+1]
				c.StrokeLine2(draw.LineStyle{Color: l.color, Width: vg.Points(1.5), Dashes: l.dashes}, x(pt.x), y(pt.at), x(next.x), y(next.at))
			}
			var shape draw.GlyphDrawer = draw.RingGlyph{}
			if pt.bounded() {
				c.StrokeLine2(draw.LineStyle{Color: l.color, Width: vg.Points(1)}, x(pt.x), y(pt.lo), x(pt.x), y(pt.hi))
				shape = draw.CircleGlyph{}
			}
			c.DrawGlyph(draw.GlyphStyle{Color: l.color, Radius: vg.Points(2.6), Shape: shape}, vg.Point{X: x(pt.x), Y: y(pt.at)})
		}
	}
	columns, _ := columnWidths(ls.style(), ls.cells())
	places := make([]vg.Length, len(ls))
	for i, l := range ls {
		places[i] = y(l.points[len(l.points)-1].at)
	}
	for i, at := range spread(places, ls.style().Height("Mg")*1.2, c.Min.Y, c.Max.Y) {
		l := ls[i]
		end := l.points[len(l.points)-1]
		left := c.Max.X + vg.Points(curveLeader)
		// From the line's end to its label, which may have had to make way.
		c.StrokeLine2(draw.LineStyle{Color: l.color, Width: vg.Points(0.5)}, x(end.x)+vg.Points(4), y(end.at), left-vg.Points(2), at)
		s := ls.style()
		s.Color = l.color
		for j, cell := range l.label {
			c.FillText(s, vg.Point{X: left, Y: at}, cell)
			left += columns[j] + vg.Points(labelGap)
		}
	}
}

// curveLeader is the room between the last point and the labels.
const curveLeader = 26

func (curveLines) style() text.Style { return style(9) }

func (ls curveLines) cells() [][]string {
	var cells [][]string
	for _, l := range ls {
		cells = append(cells, l.label)
	}
	return cells
}

// room implements sideLabels.
func (ls curveLines) room() vg.Length {
	_, total := columnWidths(ls.style(), ls.cells())
	return total + vg.Points(curveLeader-labelGap)
}

// spread returns places as near to those given as can be, in the same order, that
// are apart from each other by at least gap and, if there is room enough,
// between lo and hi.
func spread(places []vg.Length, gap, lo, hi vg.Length) []vg.Length {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	// A block is neighbours that touch each other; it stands where the mean of
	// its members wants to be.
	type block struct {
		n    int
		want vg.Length // the sum of where its members want its first to be
	}
	at := func(b block) vg.Length {
		high := max(lo, hi-gap*vg.Length(b.n-1))
		return min(max(b.want/vg.Length(b.n), lo), high)
	}
	var blocks []block
	for _, i := range order {
		b := block{1, places[i]}
		for len(blocks) > 0 {
			below := blocks[len(blocks)-1]
			if at(b) >= at(below)+gap*vg.Length(below.n) {
				break
			}
			b = block{below.n + b.n, below.want + b.want - gap*vg.Length(below.n*b.n)}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	out := make([]vg.Length, len(places))
	k := 0
	for _, b := range blocks {
		for j := range b.n {
			out[order[k]] = at(b) + gap*vg.Length(j)
			k++
		}
	}
	return out
}

// grid is faint lines at the labelled ticks of both axes.
type grid struct{}

// Plot implements [plot.Plotter].
func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	verticals{}.Plot(c, p)
	_, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if t.Label != "" {
			c.StrokeLine2(draw.LineStyle{Color: faint, Width: vg.Points(0.7)}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}
