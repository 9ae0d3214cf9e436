package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"golang.org/x/perf/benchunit"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/dynolab/dyno/internal/compare"
)

// ErrNoChart says that a row or table has nothing that a logarithmic axis can
// show: no value, or values that are not positive.
var ErrNoChart = errors.New("nothing to draw on a logarithmic axis")

// Sizes in points. The width is that of a page of text; charts grow in height.
const (
	chartWidth   = 680
	chartLine    = 24 // height of a line of a chart
	overviewLine = 15 // height of one column's mark in the overview
	chartExtra   = 92 // title, axis and margins
)

var (
	ink       = color.RGBA{0x22, 0x22, 0x22, 0xff}
	faint     = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	reference = color.RGBA{0x77, 0x77, 0x77, 0xff}

	// series are colours that people who do not see all colours can tell apart
	// too. M. Okabe, K. Ito, Color Universal Design (2008); without yellow,
	// which is hard to see on white.
	series = []color.RGBA{
		{0x00, 0x72, 0xb2, 0xff},
		{0xd5, 0x5e, 0x00, 0xff},
		{0x00, 0x9e, 0x73, 0xff},
		{0xcc, 0x79, 0xa7, 0xff},
		{0xe6, 0x9f, 0x00, 0xff},
		{0x56, 0xb4, 0xe9, 0xff},
		{0x00, 0x00, 0x00, 0xff},
	}
)

// Chart draws one row of t as SVG: a line for each column with its centre, its
// interval and its ratio, over a logarithmic axis. References are grey, and a
// dashed line stands at the base. ErrNoChart means that there is nothing to
// draw.
func Chart(w io.Writer, c *compare.Comparison, t compare.Table, r compare.Row) error {
	var (
		names  []string
		marks  []mark
		labels [][]string
		base   = math.NaN()
	)
	for i, cell := range r.Cells {
		if cell.Verdict == compare.Absent {
			continue
		}
		m := mark{at: math.NaN(), color: series[0]}
		if t.Cols[i].Ref || i == r.Base {
			m.color = reference
		}
		label := []string{"", "", string(cell.Verdict)}
		if cell.N > 0 {
			m.at, m.lo, m.hi = cell.Center, cell.Lo, cell.Hi
			label[0] = formatValue(cell.Center, t.Unit)
			if cell.Vs != nil {
				label[1] = formatRatio(cell.Vs.Ratio)
			}
		}
		if i == r.Base {
			base = cell.Center
		}
		names, marks, labels = append(names, t.Cols[i].Name), append(marks, m), append(labels, label)
	}
	n := len(marks)
	for i := range marks {
		marks[i].y = float64(n - 1 - i)
	}
	p, err := newPlot(marks, base)
	if err != nil {
		return err
	}
	p.Title.Text = benchmark(r)
	axis := fmt.Sprintf("%s, with %s intervals, logarithmic", caption(t), confidence(c))
	p.X.Tick.Marker = ticks(func(v float64) string { return formatTick(v, t.Unit) })
	ys := make([]plot.Tick, n)
	for i, name := range names {
		ys[i] = plot.Tick{Value: marks[i].y, Label: name}
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ys)
	p.Y.Min, p.Y.Max = -0.6, float64(n)-0.4
	return writeSVG(w, p, axis, labelTable{marks, labels, style(10)}, font.Length(chartExtra+chartLine*n))
}

// Overview draws the ratios of t as SVG: a group of lines for each row, in it
// one for each column but the base, with a mark if it has a ratio. ErrNoChart
// means that there is nothing to draw.
func Overview(w io.Writer, c *compare.Comparison, t compare.Table) error {
	colors := columnColors(t)
	var (
		marks  []mark
		labels [][]string
		groups []plot.Tick
		bounds plotter.XYs
		y      float64
	)
	for _, r := range t.Rows {
		top := y
		for i, cell := range r.Cells {
			m, ratio := mark{y: -y, at: math.NaN(), color: colors[i]}, ""
			switch {
			case cell.Vs != nil && !math.IsNaN(cell.Vs.Ratio):
				m.at, m.lo, m.hi = cell.Vs.Ratio, cell.Vs.Lo, cell.Vs.Hi
				ratio = formatRatio(cell.Vs.Ratio)
			case cell.Verdict != compare.Missing && cell.Verdict != compare.Skipped:
				continue
			}
			marks = append(marks, m)
			labels = append(labels, []string{t.Cols[i].Name, ratio, string(cell.Verdict)})
			y++
		}
		if y > top {
			name := benchmark(r)
			if r.Base >= 0 {
				name += "\nagainst " + t.Cols[r.Base].Name
			}
			groups = append(groups, plot.Tick{Value: -(top + y - 1) / 2, Label: name})
			y++ // room between groups
			bounds = append(bounds, plotter.XY{Y: -(y - 1)})
		}
	}
	p, err := newPlot(marks, 1)
	if err != nil {
		return err
	}
	p.Title.Text = t.Unit + " relative to each benchmark's base"
	axis := fmt.Sprintf("ratio with %s interval, logarithmic; base = 1", confidence(c))
	if t.Better != 0 {
		axis += map[bool]string{true: ", left is better", false: ", right is better"}[t.Better < 0]
	}
	p.X.Tick.Marker = ticks(func(v float64) string { return fmt.Sprintf("%g", v) })
	p.Y.Tick.Marker = plot.ConstantTicks(groups)
	p.Y.Min, p.Y.Max = -(y-1)+0.2, 0.8
	p.Add(separators(bounds))
	return writeSVG(w, p, axis, labelTable{marks, labels, style(8.5)}, font.Length(chartExtra+overviewLine*y))
}

// columnColors returns a colour for each column of t: grey for references.
func columnColors(t compare.Table) []color.RGBA {
	colors := make([]color.RGBA, len(t.Cols))
	next := 0
	for i, col := range t.Cols {
		colors[i] = reference
		if !col.Ref {
			colors[i] = series[next%len(series)]
			next++
		}
	}
	return colors
}

// A mark is one value with its interval at height y. at is NaN if there is no
// value, lo and hi are not finite if there is no interval.
type mark struct {
	y, at, lo, hi float64
	color         color.RGBA
}

// newPlot returns a plot of marks over a logarithmic axis, with a dashed line
// at base unless that is NaN.
func newPlot(marks []mark, base float64) (*plot.Plot, error) {
	lo, hi := math.Inf(1), math.Inf(-1)
	see := func(v float64) {
		if v > 0 && !math.IsInf(v, 1) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	for _, m := range marks {
		if m.at <= 0 {
			return nil, ErrNoChart
		}
		see(m.at)
		see(m.lo)
		see(m.hi)
	}
	if hi < lo {
		return nil, ErrNoChart
	}
	see(base)
	p := plot.New()
	p.Title.TextStyle = alignedAs(p.Title.TextStyle, 12)
	p.Title.Padding = 10
	p.X.Tick.Label = alignedAs(p.X.Tick.Label, 9.5)
	p.Y.Tick.Label = alignedAs(p.Y.Tick.Label, 10)
	p.Y.Tick.Length = 0
	p.Y.LineStyle.Width = 0
	p.X.LineStyle.Color = ink
	p.X.Scale = plot.LogScale{}
	p.X.Min, p.X.Max = widen(lo, hi)
	p.Add(verticals{})
	if !math.IsNaN(base) {
		p.Add(baseLine(base))
	}
	p.Add(whiskers(marks))
	return p, nil
}

// widen returns the ends of a logarithmic axis for values from lo to hi: with a
// little air, and at least a factor of two apart, so that noise does not fill
// the picture.
func widen(lo, hi float64) (float64, float64) {
	lo, hi = lo/1.08, hi*1.08
	if hi < 2*lo {
		mid := math.Sqrt(lo * hi)
		lo, hi = mid/math.Sqrt2, mid*math.Sqrt2
	}
	return lo, hi
}

// style returns an upright sans serif style of size points.
func style(size float64) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)},
		Handler: plot.DefaultTextHandler,
		XAlign:  text.XLeft,
		YAlign:  text.YCenter,
	}
}

// alignedAs is style(size) with old's alignment.
func alignedAs(old text.Style, size float64) text.Style {
	s := style(size)
	s.XAlign, s.YAlign = old.XAlign, old.YAlign
	return s
}

// whiskers draw marks: a bar with caps from lo to hi, a dot at the centre. The
// dot is hollow if there is no interval.
type whiskers []mark

func (ws whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, m := range ws {
		if math.IsNaN(m.at) {
			continue
		}
		line := draw.LineStyle{Color: m.color, Width: vg.Points(1.6)}
		bounded := m.lo > 0 && !math.IsInf(m.hi, 0) && !math.IsNaN(m.hi)
		if bounded {
			l, r, h, capHeight := x(m.lo), x(m.hi), y(m.y), vg.Points(3.5)
			c.StrokeLine2(line, l, h, r, h)
			c.StrokeLine2(line, l, h-capHeight, l, h+capHeight)
			c.StrokeLine2(line, r, h-capHeight, r, h+capHeight)
		}
		at := vg.Point{X: x(m.at), Y: y(m.y)}
		var shape draw.GlyphDrawer = draw.CircleGlyph{}
		if !bounded {
			shape = draw.RingGlyph{}
		}
		c.DrawGlyph(draw.GlyphStyle{Color: m.color, Radius: vg.Points(3.4), Shape: shape}, at)
	}
}

// baseLine is a dashed vertical at the base.
type baseLine float64

func (b baseLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: reference, Width: vg.Points(1), Dashes: vg2(4, 3)}, x(float64(b)), c.Min.Y, x(float64(b)), c.Max.Y)
}

// verticals are faint lines at the labelled ticks.
type verticals struct{}

func (verticals) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if t.Label != "" {
			c.StrokeLine2(draw.LineStyle{Color: faint, Width: vg.Points(0.7)}, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
}

// separators are faint lines between groups.
type separators plotter.XYs

func (s separators) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for i, at := range s {
		if i < len(s)-1 {
			c.StrokeLine2(draw.LineStyle{Color: faint, Width: vg.Points(0.7)}, c.Min.X, y(at.Y), c.Max.X, y(at.Y))
		}
	}
}

// A table of labels stands right of the axis, where no mark hides it: one line
// for each mark, in columns.
type labelTable struct {
	marks []mark
	cells [][]string
	style text.Style
}

// labelGap is the room between the columns of a labelTable.
const labelGap = 9

// sideLabels is text right of a picture, which needs room for it.
type sideLabels interface {
	plot.Plotter
	room() vg.Length
}

// room implements sideLabels.
func (l labelTable) room() vg.Length {
	_, total := columnWidths(l.style, l.cells)
	return total
}

// columnWidths returns the widths of the columns of cells and their sum, gaps
// included.
func columnWidths(style text.Style, cells [][]string) (columns []vg.Length, total vg.Length) {
	for _, row := range cells {
		for i, s := range row {
			if i == len(columns) {
				columns = append(columns, 0)
			}
			columns[i] = max(columns[i], style.Width(s))
		}
	}
	for _, w := range columns {
		total += w + vg.Points(labelGap)
	}
	return columns, total
}

func (l labelTable) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	columns, _ := columnWidths(l.style, l.cells)
	for i, m := range l.marks {
		s := l.style
		if m.color == reference {
			s.Color = reference
		}
		x := c.Max.X + vg.Points(labelGap)
		for j, cell := range l.cells[i] {
			if cell != "" {
				c.FillText(s, vg.Point{X: x, Y: y(m.y)}, cell)
			}
			x += columns[j] + vg.Points(labelGap)
		}
	}
}

func vg2(a, b float64) []vg.Length { return []vg.Length{vg.Points(a), vg.Points(b)} }

// ticks returns a marker of round numbers: 1, 2 and 5 times the powers of ten,
// only the powers where those would crowd, more where they would be few.
func ticks(label func(float64) string) plot.TickerFunc {
	return func(lo, hi float64) []plot.Tick {
		steps := []float64{1, 2, 5}
		switch decades := math.Log10(hi / lo); {
		case decades > 3.5:
			steps = steps[:1]
		case decades < 0.8:
			steps = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}
		case decades < 1.7:
			steps = []float64{1, 1.5, 2, 3, 5, 7}
		}
		var out []plot.Tick
		for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
			for _, s := range steps {
				// Rounded through text: 1.2e-1 and not 0.12000000000000001.
				var v float64
				if _, err := fmt.Sscanf(fmt.Sprintf("%ge%g", s, e), "%g", &v); err == nil && v >= lo && v <= hi {
					out = append(out, plot.Tick{Value: v, Label: label(v)})
				}
			}
		}
		return out
	}
}

// formatTick writes a round value of unit.
func formatTick(v float64, unit string) string {
	if sec, ok := seconds(v, unit); ok {
		for _, u := range []struct {
			name string
			sec  float64
		}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
			if sec >= 0.9999*u.sec {
				return fmt.Sprintf("%.3g %s", sec/u.sec, u.name)
			}
		}
		return fmt.Sprintf("%.3g ns", sec*1e9)
	}
	if v >= 10_000 {
		return benchunit.Scale(v, benchunit.Decimal)
	}
	return fmt.Sprintf("%.3g", v)
}

// writeSVG writes p, with a text below its axis and labels at its right, as
// SVG. Fonts are named, not embedded, with others of the same widths after
// them; the title is there for those who cannot see it.
//
// The text below the axis is not the plot's own: on a logarithmic scale plot
// reserves room for that as if its middle lay at the mean of the ends.
func writeSVG(w io.Writer, p *plot.Plot, axis string, labels sideLabels, height font.Length) error {
	p.Add(labels)
	c := vgsvg.NewWith(vgsvg.UseWH(chartWidth, height))
	margin := vg.Points(10)
	page := draw.Crop(draw.New(c), margin, -margin, margin, -margin)
	below := style(10)
	below.YAlign = text.YBottom
	plotted := draw.Crop(page, 0, -labels.room(), below.Height(axis)+vg.Points(4), 0)
	p.Draw(plotted)
	data := p.DataCanvas(plotted)
	below.XAlign = text.XCenter
	page.FillText(below, vg.Point{X: data.Center().X, Y: page.Min.Y + vg.Points(3)}, axis)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	var title bytes.Buffer
	if err := xml.EscapeText(&title, []byte(p.Title.Text)); err != nil {
		return err
	}
	svg := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	head := strings.Index(svg, "<svg")
	end := head + strings.IndexByte(svg[head:], '>') + 1
	svg = svg[:end] + "\n<title>" + title.String() + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>" + svg[end:]
	_, err := io.WriteString(w, svg)
	return err
}
