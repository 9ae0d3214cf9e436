package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
)

// conditions sets one comparison beside itself, made in several circumstances, each an argument
// LABEL=FILE: a table a workload, with the time of the base in each, and the others'
// ratios to it. A file measured with several values of GOMAXPROCS has a column for each.
func (q *quote) conditions(args []string) {
	type column struct {
		label string
		cells map[string]compare.Cell // by implementation
	}
	columns := make(map[string][]column) // by workload
	var workloads, impls []string
	bases := make(map[string]string) // by workload
	for i, arg := range args {
		label, file := labelAndFile(arg)
		c := q.compare(file, compare.Options{})
		f, times := c.Files[0], tableOf(c, "ns/op")
		if i == 0 {
			q.Sayf("%s; commit %.8s.", machine(f, "toolchain"), setting(f, "commit"))
		}
		q.Sayf(" [%s](%s): %d blocks.", label, strings.TrimPrefix(file, "results/"), f.Blocks)
		for _, r := range times.Rows {
			name, procs := compare.WithoutProcs(r.Name)
			_, name, _ = strings.Cut(name, "workload=")
			workloads = once(workloads, name)
			bases[name] = times.Cols[r.Base].Name
			l := label
			if l == "GOMAXPROCS" {
				l += fmt.Sprint(" ", procs)
			}
			// By name: the columns of another file may be others.
			cells := make(map[string]compare.Cell)
			for i, cell := range r.Cells {
				if col := times.Cols[i]; cell.N > 0 && (!col.Ref || i == r.Base) {
					cells[col.Name] = cell
					if i != r.Base {
						impls = once(impls, col.Name)
					}
				}
			}
			columns[name] = append(columns[name], column{l, cells})
		}
	}
	q.Sayf("\n")
	for _, name := range workloads {
		heads := each(columns[name], func(c column) string { return c.label })
		q.Sayf("\n")
		q.Head("lr", append([]string{name}, heads...)...)
		base := bases[name]
		q.Row(append([]string{"`" + base + "`"}, each(columns[name], func(c column) string { return nanoseconds(c.cells[base].Center) })...)...)
		for _, impl := range impls {
			q.Row(append([]string{impl}, each(columns[name], func(c column) string { return ratio(c.cells[impl]) })...)...)
		}
	}
}

// labelAndFile takes apart an argument LABEL=FILE, with a _ for each space of the label.
func labelAndFile(arg string) (label, file string) {
	label, file, _ = strings.Cut(arg, "=")
	return strings.ReplaceAll(label, "_", " "), file
}

// sides are what changes of the build do to benchmarks: a column for each argument LABEL=FILE, as above,
// of a file that benchrun ab has written. An argument unit=UNIT before them is what is shown, in place
// of the first.
func (q *quote) sides(args []string) {
	unit := ""
	if name, ok := strings.CutPrefix(args[0], "unit="); ok {
		unit, args = name, args[1:]
	}
	var heads, names []string
	cells := make(map[string][]string) // by benchmark
	for i, arg := range args {
		label, file := labelAndFile(arg)
		heads = append(heads, label)
		c := q.compare(file, compare.Options{})
		if c.Counted() {
			c = q.compare(file, compare.Options{Margin: compare.CountMargin})
		}
		f := c.Files[0]
		shown := c.Tables[0]
		if unit != "" {
			shown = tableOf(c, unit)
		}
		if i == 0 {
			q.Sayf("%s; ratios in `%s`.", machine(f), shown.Unit)
		}
		q.Sayf(" [%s](%s): %d blocks, %s.", label, strings.TrimPrefix(file, "results/"), f.Blocks, builds(f))
		for _, r := range shown.Rows {
			if r.Cells[0].Center == 0 {
				continue // of which nothing has a ratio
			}
			name, _ := compare.WithoutProcs(r.Name)
			if _, workload, ok := strings.Cut(name, "workload="); ok {
				name = workload
			}
			names = once(names, name)
			for len(cells[name]) < i {
				cells[name] = append(cells[name], "")
			}
			cells[name] = append(cells[name], changeWithInterval(r.Cells[1]))
		}
	}
	q.Sayf("\n\n")
	q.Head("lr", append([]string{"benchmark"}, heads...)...)
	slices.Sort(names)
	for _, name := range names {
		for len(cells[name]) < len(args) {
			cells[name] = append(cells[name], "")
		}
		q.Row(append([]string{name}, cells[name]...)...)
	}
}

// changeWithInterval is a ratio with its interval, bold if a difference is proven.
func changeWithInterval(cell compare.Cell) string {
	if cell.Vs == nil {
		return ""
	}
	text := fmt.Sprintf("%.3f", cell.Vs.Ratio)
	if cell.Verdict.Proven() {
		text = "**" + text + "**"
	}
	if math.IsNaN(cell.Vs.Lo) {
		return text + " (no interval)" // as one side has next to none
	}
	if math.IsInf(cell.Vs.Hi, 1) {
		return text + " (too few blocks for an interval)"
	}
	return fmt.Sprintf("%s (%.3f to %.3f)", text, cell.Vs.Lo, cell.Vs.Hi)
}
