package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
)

// A strip is a column's values, block by block.
type strip struct {
	name   string
	class  Tone
	values []compare.BlockValue
	median float64
}

// stripsOf are the columns of a row that have several values, and its control.
func stripsOf(t compare.Table, r compare.Row) (strips []strip) {
	add := func(name, class string, values []compare.BlockValue) {
		if len(values) > 1 {
			strips = append(strips, strip{name, Tone(class), values, medianOf(values)})
		}
	}
	for i, cell := range r.Cells {
		add(t.Cols[i].Name, styleOf(t, i).class, cell.Blocks)
	}
	if k := r.Control; k != nil {
		add(t.Cols[k.Col].Name+" again (control)", string(Reference), k.Blocks)
	}
	return strips
}

// A moment is a place in the order of time. Values that belong to no block have their
// number as one.
type moment struct{ file, block string }

// unnumbered begins the block of a moment that is none.
const unnumbered = "\x00"

// moment returns when a value was measured.
func (s strip) moment(i int) moment {
	v := s.values[i]
	if v.Block == "" {
		return moment{v.File, unnumbered + strconv.Itoa(i)}
	}
	return moment{v.File, v.Block}
}

// A timeline is the moments of strips, in order.
type timeline struct {
	moments []moment
	index   map[moment]int
	layouts map[moment]string
	files   []string
}

// timelineOf orders the moments of strips as files have them. A column that lacks blocks
// must not bring them into disorder, so they are sorted by number where they have one.
func timelineOf(strips []strip) timeline {
	tl := timeline{index: make(map[moment]int), layouts: make(map[moment]string)}
	for _, s := range strips {
		for i, v := range s.values {
			m := s.moment(i)
			if _, ok := tl.index[m]; !ok {
				tl.index[m] = len(tl.moments)
				tl.moments = append(tl.moments, m)
			}
			if v.Layout != "" {
				tl.layouts[m] = v.Layout
			}
			if !slices.Contains(tl.files, m.file) {
				tl.files = append(tl.files, m.file)
			}
		}
	}
	slices.SortStableFunc(tl.moments, func(a, b moment) int {
		if d := slices.Index(tl.files, a.file) - slices.Index(tl.files, b.file); d != 0 {
			return d
		}
		x, errA := strconv.Atoi(strings.TrimPrefix(a.block, unnumbered))
		y, errB := strconv.Atoi(strings.TrimPrefix(b.block, unnumbered))
		if errA != nil || errB != nil {
			return 0
		}
		return x - y
	})
	for i, m := range tl.moments {
		tl.index[m] = i
	}
	return tl
}

// middle is where the moment i stands along the axis.
func (tl timeline) middle(i int) float64 { return (float64(i) + 0.5) / float64(len(tl.moments)) }

// block names a moment in a chart.
func (tl timeline) block(i int) string {
	block, none := strings.CutPrefix(tl.moments[i].block, unnumbered)
	if k, err := strconv.Atoi(block); none && err == nil {
		return strconv.Itoa(k + 1)
	}
	return block
}

// label names a moment in a table.
func (tl timeline) label(i int) string {
	m, label := tl.moments[i], tl.block(i)
	if len(tl.files) > 1 {
		label = m.file + " " + label
	}
	if tl.layouts[m] != "" {
		label += ", layout " + tl.layouts[m]
	}
	return label
}

// foot has the numbers of the blocks, as many as there is room for, and below them
// those of the layouts.
func (tl timeline) foot() (m markup) {
	n := len(tl.moments)
	for i, at := range tl.moments {
		if n <= 14 || i == 0 || i == n-1 || i%((n+9)/10) == 0 && i < n-3 {
			m.footText(i, along(tl.middle(i)), "11", tl.block(i))
		}
		if n <= 16 && tl.layouts[at] != "" {
			m.footText(i, along(tl.middle(i)), "25", "L"+tl.layouts[at])
		}
	}
	return m
}

// footText is the label of the moment i. Where it is narrow each third one is left.
func (m *markup) footText(i int, x, y, label string) {
	class := ""
	if i%3 != 0 {
		class = ` class="fine"`
	}
	m.add(`<text%s x="%s" y="%s" text-anchor="middle">%s</text>`, class, x, y, escaped(label))
}

// bands mark every other block where blocks have layouts.
func (tl timeline) bands() (m markup) {
	n := float64(len(tl.moments))
	for i, at := range tl.moments {
		if i%2 == 1 && tl.layouts[at] != "" {
			m.rect("band", along(float64(i)/n), along(1/n))
		}
	}
	return m
}

// reachOf is one scale for all strips, as a logarithm: as far as the farthest value lies
// from its own median, but 2 % at least and a factor of 2 at most.
func reachOf(strips []strip) float64 {
	reach := math.Log(1.02)
	for _, s := range strips {
		for _, v := range s.values {
			if d := math.Abs(math.Log(v.V / s.median)); !math.IsNaN(d) && !math.IsInf(d, 0) {
				reach = max(reach, d)
			}
		}
	}
	return min(reach, math.Log(2))
}

// stripChart draws a row's values in the order of time, one strip for each column
// and one for the control, each relative to its own median, and has them as a table.
// ok is false if there are not several values.
func stripChart(t compare.Table, r compare.Row) (out chart, values Table, ok bool) {
	strips := stripsOf(t, r)
	if len(strips) == 0 {
		return chart{}, Table{}, false
	}
	tl, reach := timelineOf(strips), reachOf(strips)
	for _, s := range strips {
		out.panes = append(out.panes, s.pane(tl, reach, t.Unit))
	}
	out.panes = append(out.panes, pane{height: stripHeight, body: tl.foot()})
	out.caption = fmt.Sprintf("Block by block, in the order of time: each value against its own line's median, which stands at the right: it may be of another block than the base's. Top to bottom is %s to %s.",
		formatChange(math.Exp(reach)), formatChange(math.Exp(-reach)))
	if len(tl.layouts) > 0 {
		out.caption += " L: the code layout of the binaries."
	}
	out.title = benchmark(r) + " block by block"
	return out, stripTable(tl, strips, t, r), true
}

// stripTable has the values of strips, a row for each moment.
func stripTable(tl timeline, strips []strip, t compare.Table, r compare.Row) Table {
	columns := []column[moment]{{head: "block", text: func(m moment) string { return tl.label(tl.index[m]) }}}
	for _, s := range strips {
		at := make(map[moment]string)
		for i, v := range s.values {
			at[s.moment(i)] = formatValue(v.V, t.Unit)
		}
		columns = append(columns, column[moment]{head: s.name, right: true, text: func(m moment) string { return at[m] }})
	}
	return labelled(tabulate(tl.moments, columns), "Values of "+benchmark(r)+" block by block", "")
}

// pane draws a strip. What lies farther from the median than reach is at the edge, and
// hollow; a line leads over no block that is missing.
func (s strip) pane(tl timeline, reach float64, unit string) pane {
	p := pane{left: s.name, class: s.class, height: stripHeight, right: []string{"median " + formatValue(s.median, unit)}, body: tl.bands()}
	p.body.line("one", "0", "50%", "100%", "50%")
	least, most := math.Inf(1), math.Inf(-1)
	last, lastX, lastY := -1, "", ""
	var dots markup // over the lines
	for i, v := range s.values {
		at := tl.index[s.moment(i)]
		ratio := v.V / s.median
		d := math.Log(ratio)
		if math.IsNaN(d) || math.IsInf(d, 0) {
			continue
		}
		least, most = min(least, ratio), max(most, ratio)
		class := "dot"
		if math.Abs(d) > reach*1.0001 {
			class = "hollow"
		}
		d = max(-reach, min(reach, d))
		x, y := along(tl.middle(at)), pixels(stripHeight/2-d/reach*(stripHeight/2-stripMargin))
		if last >= 0 && last == at-1 {
			p.body.line("line", lastX, lastY, x, y)
		}
		dots.dot(class, x, y, "3", tl.label(at)+": "+formatValue(v.V, unit)+", "+formatChange(ratio))
		last, lastX, lastY = at, x, y
	}
	p.body = append(p.body, dots...)
	p.label = fmt.Sprintf("%s: %s", s.name, counted(len(s.values), "value"))
	if most >= least {
		p.label += fmt.Sprintf(", from %s to %s of their median", formatChange(least), formatChange(most))
	}
	return p
}

func medianOf(values []compare.BlockValue) float64 {
	vs := each(values, func(v compare.BlockValue) float64 { return v.V })
	slices.Sort(vs)
	n := len(vs)
	if n%2 == 0 {
		return (vs[n/2-1] + vs[n/2]) / 2
	}
	return vs[n/2]
}

// formatChange writes a ratio as a change: 1.034 is +3.4 %.
func formatChange(ratio float64) string {
	v := math.Round(1e3*(ratio-1)) / 10
	return sign(v) + strconv.FormatFloat(math.Abs(v), 'f', -1, 64) + " %"
}
