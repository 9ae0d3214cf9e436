package report

import (
	"fmt"
	"slices"

	"github.com/dynolab/dyno/internal/compare"
)

// movedTails returns the rows of t in which a tail moved, with the base and the
// columns in which it did.
func movedTails(t compare.Table) (rows []compare.Row, cols [][]int) {
	for _, r := range t.Rows {
		var moved []int
		for _, i := range baseFirst(r) {
			if cell := r.Cells[i]; i == r.Base || cell.Vs != nil && cell.Vs.TailMoved {
				moved = append(moved, i)
			}
		}
		if slices.ContainsFunc(moved, func(i int) bool { return i != r.Base }) {
			rows, cols = append(rows, r), append(cols, moved)
		}
	}
	return rows, cols
}

// slicesTitle is the head of the table of the slices in which a tail moved.
const slicesTitle = "Slices of what has a finding"

// movedLayout lays out the slices of all benchmarks of which a tail moved. It has no
// lines if there are none.
func movedLayout(c *compare.Comparison) layout {
	l := sliceLayout(c)
	for _, t := range c.Tables {
		rows, cols := movedTails(t)
		for k, r := range rows {
			l.add(t, r, cols[k])
		}
	}
	return l
}

// sliceLayout is a table of how the times of slices are distributed, without lines.
func sliceLayout(c *compare.Comparison) layout {
	return layout{
		head:  []string{"benchmark", columnHead(c), "slices", "p50", "p90", "p99", "max", "p99 ratio", confidence(c) + " interval", ""},
		right: []bool{false, false, true, true, true, true, true, true, true, false},
	}
}

// add adds those columns of a row that are made of slices.
func (l *layout) add(t compare.Table, r compare.Row, cols []int) {
	first := true
	for _, i := range cols {
		cell := r.Cells[i]
		d := cell.Slices
		if d == nil {
			continue
		}
		name := ""
		if first {
			name = benchmark(r)
		}
		line := []string{name, t.Cols[i].Name, fmt.Sprint(d.N)}
		for _, v := range []float64{d.P50, d.P90, d.P99, d.Max} {
			line = append(line, formatValue(v, t.Unit))
		}
		ratio, interval, moved := "", "", ""
		switch vs := cell.Vs; {
		case i == r.Base:
			ratio = "1"
		case vs != nil && vs.Tail > 0:
			ratio, interval = formatRatio(vs.Tail), formatInterval(&compare.Versus{Lo: vs.TailLo, Hi: vs.TailHi})
			if vs.TailMoved {
				moved = "finding"
			}
		}
		l.rows = append(l.rows, append(line, ratio, interval, moved))
		l.group = append(l.group, first)
		first = false
	}
}

// slicesGrid has the distribution of each column of a row that is made of slices, as a
// table of the page; nil if none is. open says that a tail moved.
func slicesGrid(c *compare.Comparison, t compare.Table, r compare.Row) (grid *gridView, open bool) {
	l := sliceLayout(c)
	l.add(t, r, baseFirst(r))
	if len(l.rows) == 0 {
		return nil, false
	}
	g := gridOf(l, "Slices of "+benchmark(r))
	g.Head = g.Head[1:]
	for i := range g.Rows {
		g.Rows[i] = g.Rows[i][1:]
	}
	moved := slices.ContainsFunc(r.Cells, func(cell compare.Cell) bool { return cell.Vs != nil && cell.Vs.TailMoved })
	if !moved { // the last column has nothing
		g.Head = g.Head[:len(g.Head)-1]
		for i := range g.Rows {
			g.Rows[i] = g.Rows[i][:len(g.Head)]
		}
	}
	return &g, moved
}
