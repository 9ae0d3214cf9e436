package report

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/perf/benchunit"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
)

// A chart is panes, one below the other, over one horizontal axis, with text left and
// right of them. It has no width of its own: places along it are parts of the width,
// heights are pixels, so text and lines keep their size on a telephone. A page shows
// the panes as a grid of pictures; a file has all of them in one.
type chart struct {
	title   string // of a file
	caption string // what the axes are
	keys    []key
	panes   []pane
}

type (
	// A key is the look of a line, and its name.
	key struct {
		style lineStyle
		name  string
		note  string // values, such as its last one
	}
	pane struct {
		title  string // a line of its own above the pane
		note   string // behind the title
		left   string
		ticks  []tick // left of the pane, over its height
		right  []string
		class  Tone
		height float64
		label  string // for those who do not see it; empty for what a table has as well
		body   markup
	}
	// A tick is a place on an axis, from 0 to 1, and what stands there.
	tick struct {
		at    float64
		label string
	}
	// A lineStyle is the look of a column in charts.
	lineStyle struct{ class, dash, symbol string }
)

// chartStyle is the style sheet of charts, in pages and in files; it has light and dark.
//
//go:embed html/chart.css
var chartStyle string

// symbols are the marks of lines, which tell them apart where colours do not.
var symbols = []string{
	"M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",                // circle
	"M-3.2 -3.2h6.4v6.4h-6.4z",                                     // square
	"M0 -4.2L4.2 3.2H-4.2z",                                        // triangle
	"M0 -4.6L4.6 0L0 4.6L-4.6 0z",                                  // diamond
	"M0 4.2L4.2 -3.2H-4.2z",                                        // triangle upside down
	"M-4.2 -1.4h2.8v-2.8h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8z", // cross
}

// symbolDefs defines the symbols for use.
func symbolDefs() string {
	var m markup
	m.add("<defs>")
	for i, path := range symbols {
		m.add(`<g id="m%d"><path d="%s"/></g>`, i, path)
	}
	m.add(`<g id="less"><path d="M7 -5L0 0L7 5z"/></g><g id="more"><path d="M-7 -5L0 0L-7 5z"/></g>`) // what lies beyond an axis
	m.add("</defs>")
	return string(m)
}

// markup is elements of SVG.
type markup []byte

func (m *markup) add(format string, args ...any) { *m = fmt.Appendf(*m, format, args...) }

func (m *markup) line(class, x1, y1, x2, y2 string) {
	m.add(`<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, x1, y1, x2, y2)
}

func (m *markup) text(x, y, anchor, s string) {
	m.add(`<text x="%s" y="%s" text-anchor="%s">%s</text>`, x, y, anchor, escaped(s))
}

// titled is the title of an element, which browsers show where the pointer rests.
func titled(s string) string {
	if s == "" {
		return ""
	}
	return "<title>" + escaped(s) + "</title>"
}

func (m *markup) dot(class, x, y, r, title string) {
	m.add(`<circle class="%s" cx="%s" cy="%s" r="%s">%s</circle>`, class, x, y, r, titled(title))
}

func (m *markup) symbol(id, x, y, title string) {
	m.add(`<use href="#%s" x="%s" y="%s" fill="currentColor">%s</use>`, id, x, y, titled(title))
}

func (m *markup) rect(class, x, width string) {
	m.add(`<rect class="%s" x="%s" width="%s" y="0" height="100%%"/>`, class, x, width)
}

// along writes a place along a chart, from 0 to 1.
func along(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e4)/100, 'f', -1, 64) + "%"
}

// pixels writes a height.
func pixels(y float64) string { return strconv.FormatFloat(math.Round(y*10)/10, 'f', -1, 64) }

// escaped is text in XML.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
	return b.String()
}

// A scale is a logarithmic axis.
type scale struct{ lo, hi float64 }

// at returns where v lies, 0 to 1 within the axis.
func (s scale) at(v float64) float64 { return math.Log(v/s.lo) / math.Log(s.hi/s.lo) }

// extremes are the least and the largest of the values that a logarithm has.
func extremes(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 1) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// scaleOf is an axis for all of values that a logarithm has, with a little air, and at
// least a factor of two long, so that noise does not fill the picture. ok is false if
// there are none.
func scaleOf(values ...float64) (s scale, ok bool) {
	lo, hi := extremes(values)
	if hi < lo {
		return scale{}, false
	}
	lo, hi = lo/1.08, hi*1.08
	if hi < 2*lo {
		mid := math.Sqrt(lo * hi)
		lo, hi = mid/math.Sqrt2, mid*math.Sqrt2
	}
	return scale{lo, hi}, true
}

// ratioTicks returns round ratios of the axis, at most so many: near 1 even steps,
// else as on any logarithmic axis. 1 is always among them.
func (s scale) ratioTicks(most int) []tick {
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
	return s.ticks(values, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
}

// changeTicks are ratioTicks as changes in percent, where these are not beyond reading.
func (s scale) changeTicks(most int) []tick {
	ticks := s.ratioTicks(most)
	if s.hi > 3 {
		return ticks
	}
	for i, t := range ticks {
		if v, err := strconv.ParseFloat(t.label, 64); err == nil {
			ticks[i].label = changeOf(v, math.NaN(), math.NaN()).estimate
		}
	}
	return ticks
}

// ticks are marks at values.
func (s scale) ticks(values []float64, label func(float64) string) []tick {
	return each(values, func(v float64) tick { return tick{s.at(v), label(v)} })
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

// formatTick writes a round value of unit.
func formatTick(v float64, unit string) string {
	if scale := compare.Seconds(unit); scale > 0 {
		sec := v * scale
		for _, u := range timeUnits {
			if sec >= 0.9999*u.sec || u.name == "ns" {
				return fmt.Sprintf("%.3g %s", sec/u.sec, u.name)
			}
		}
	}
	if v >= 10_000 {
		return benchunit.Scale(v, benchunit.Decimal)
	}
	return fmt.Sprintf("%.3g", v)
}

// A bar is a value with its interval, beside what it is compared to.
type bar struct {
	class         Tone
	one           float64 // where what it is compared to stands; NaN for nothing
	at            float64 // NaN if there is no value
	lo, hi        float64 // NaN if there is no interval
	open          bool    // the interval goes on
	margin, width float64 // the band that counts as the same; its width is 0 for none
}

// bar places a value with its interval.
func (s scale) bar(class Tone, one, value, lo, hi float64) bar {
	nan := math.NaN()
	b := bar{class: class, one: s.at(one), at: nan, lo: nan, hi: nan}
	if !(value > 0) || math.IsInf(value, 1) {
		return b
	}
	b.at = s.at(value)
	if math.IsNaN(lo) || math.IsNaN(hi) || lo <= 0 && math.IsInf(hi, 1) {
		return b
	}
	b.open = lo <= 0 || math.IsInf(hi, 1)
	b.lo, b.hi = max(s.at(max(lo, 0)), 0), min(s.at(hi), 1)
	return b
}

func (b bar) body() (m markup) {
	if b.width > 0 {
		m.rect("margin", along(b.margin), along(b.width))
	}
	if !math.IsNaN(b.one) {
		m.line("one", along(b.one), "0", along(b.one), "100%")
	}
	dot, mark := "hollow", "mark"
	if b.open {
		mark = "mark open"
	}
	if !math.IsNaN(b.lo) {
		dot = "dot"
		if b.lo < b.hi {
			m.line(mark, along(b.lo), "50%", along(b.hi), "50%")
		}
	}
	switch {
	case b.at < 0:
		m.symbol("less", "0", "50%", "")
	case b.at > 1:
		m.symbol("more", "100%", "50%", "")
	case !math.IsNaN(b.at):
		m.dot(dot, along(b.at), "50%", "4", "")
	}
	return m
}

// axisBody is the ticks of a horizontal axis that is width pixels wide, but for narrow pictures.
// What these leave out of it is fine, as in footText.
func axisBody(ticks []tick, width float64) (m markup) {
	narrow, wide := wideApart(ticks, narrowAxis), wideApart(ticks, width)
	for i, t := range ticks {
		m.line("grid", along(t.at), "0", along(t.at), "4")
		if !wide[i] {
			continue
		}
		class, anchor := "", "middle"
		if !narrow[i] {
			class = ` class="fine"`
		}
		switch {
		case t.at < edge:
			anchor = "start"
		case t.at > 1-edge:
			anchor = "end"
		}
		m.add(`<text%s x="%s" y="15" text-anchor="%s">%s</text>`, class, along(t.at), anchor, escaped(t.label))
	}
	return m
}

// edge is the part of an axis in which labels lie on the inner side of their tick.
const edge = 0.06

// How wide an axis is at least, in pixels: of a table on a phone, of one elsewhere, and of a chart.
const (
	narrowAxis = 60.0
	tableAxis  = 170.0
	chartAxis  = 500.0
)

// wideApart reports for each tick whether its label has room on an axis of that width beside
// those that matter more: that of 1, or of no change, then the outermost.
func wideApart(ticks []tick, width float64) []bool {
	wide := make([]bool, len(ticks))
	middle := func(t tick) float64 {
		half := charWidth * float64(utf8.RuneCountInString(t.label)) / 2
		switch {
		case t.at < edge:
			return t.at*width + half
		case t.at > 1-edge:
			return t.at*width - half
		}
		return t.at * width
	}
	rank := func(i int) int {
		if t := ticks[i].label; t == "1" || t == "0 %" {
			return -1
		}
		return min(i, len(ticks)-1-i)
	}
	order := make([]int, len(ticks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	for _, i := range order {
		wide[i] = true
		for j := range ticks {
			gap := math.Abs(middle(ticks[i]) - middle(ticks[j]))
			if j != i && wide[j] && gap < charWidth*(float64(utf8.RuneCountInString(ticks[i].label+ticks[j].label))/2+1) {
				wide[i] = false
			}
		}
	}
	return wide
}

// tickBody is the labels of a vertical axis, at the right of their room.
func tickBody(ticks []tick, height float64) (m markup) {
	for _, t := range ticks {
		m.text("100%", pixels(height*(1-t.at)+4), "end", t.label)
	}
	return m
}

// keyBody is a piece of a line, with its symbol.
func keyBody(k key) (m markup) {
	m.line("line "+k.style.dash, "0", "7", "26", "7")
	m.symbol(k.style.symbol, "13", "7", "")
	return m
}

// Sizes of a file in pixels. Its width is that of a page of text.
const (
	fileWidth  = 700
	fileMargin = 14
	textLine   = 18  // height of a line of text
	fileTicks  = 64  // room for the labels of a vertical axis
	charWidth  = 6.4 // of a character on average, or a little more
)

// file draws the chart as a document of its own. What it has beside its panes it
// cannot measure, so it reckons the room that text needs by its characters.
func (c chart) file() []byte {
	left, right := c.room()
	room := fileWidth - 2*fileMargin - left - right
	var m markup
	y := 24.0
	m.add(`<text class="title" x="%d" y="%s">%s</text>`, fileMargin, pixels(y), escaped(c.title))
	y += textLine
	m.text(strconv.Itoa(fileMargin), pixels(y), "start", c.caption)
	y += 12
	for _, k := range c.keys {
		m.add(`<svg class="%s" x="%d" y="%s" width="26" height="14">%s</svg>`, k.style.class, fileMargin, pixels(y), keyBody(k))
		m.text(strconv.Itoa(fileMargin+36), pixels(y+11), "start", joined(" ", k.name, k.note))
		y += textLine
	}
	y += 8
	for _, p := range c.panes {
		y = p.file(&m, y, left, room, right)
	}
	y += fileMargin
	return []byte(console.Printable(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %s" width="%d" height="%s" role="img">
<title>%s</title>
<style>%s</style>
%s
<rect class="paper" width="100%%" height="100%%"/>
%s
</svg>
`, fileWidth, pixels(y), fileWidth, pixels(y), escaped(c.title), chartStyle, symbolDefs(), m)))
}

// file draws a pane from the height y down, and returns where it ends.
func (p pane) file(m *markup, y, left, room float64, right float64) float64 {
	x := fileMargin + left
	if p.title != "" {
		m.add(`<text class="head" x="%d" y="%s">%s <tspan class="note">%s</tspan></text>`+"\n", fileMargin, pixels(y+textLine), escaped(p.title), escaped(p.note))
		y += textLine + 6
	}
	middle := pixels(y + p.height/2 + 4)
	if p.left != "" {
		m.text(strconv.Itoa(fileMargin), middle, "start", p.left)
	}
	if len(p.ticks) > 0 {
		m.add(`<svg x="%d" y="%s" width="%d" height="%s">%s</svg>`, fileMargin, pixels(y), fileTicks, pixels(p.height), tickBody(p.ticks, p.height))
	}
	m.add(`<svg class="%s" x="%s" y="%s" width="%s" height="%s">%s</svg>`+"\n", p.class, pixels(x), pixels(y), pixels(room), pixels(p.height), p.body)
	for i, s := range p.right {
		if s != "" {
			m.text(pixels(fileWidth-fileMargin-right+12+float64(i)*right/float64(len(p.right))), middle, "start", s)
		}
	}
	return y + p.height
}

// room is how much text needs left and right of the panes.
func (c chart) room() (left, right float64) {
	for _, p := range c.panes {
		left = max(left, charWidth*float64(utf8.RuneCountInString(p.left))+12)
		if len(p.ticks) > 0 {
			left = max(left, fileTicks+12)
		}
		for _, s := range p.right {
			right = max(right, float64(len(p.right))*(charWidth*float64(utf8.RuneCountInString(s))+12))
		}
	}
	return min(left, fileWidth/3), right
}
