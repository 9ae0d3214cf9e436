package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"

	"github.com/dynolab/dyno/lab"
)

// formatValue writes a value of unit for people: times with their own prefix
// ("1.72 µs"), counts as counts ("528"), the rest as benchunit scales it. The
// unit's remainder ("/op") is left to the caption.
func formatValue(v float64, unit string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	if tidy, tidyUnit := benchunit.Tidy(v, unit); strings.HasPrefix(tidyUnit, "sec") || strings.HasSuffix(tidyUnit, "-sec") {
		return formatTime(tidy)
	}
	if isInstructions(unit) {
		return strconv.FormatFloat(v, 'f', -1, 64) // which are exact
	}
	if abs := math.Abs(v); v == math.Trunc(v) && abs < 100_000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	} else if abs < 1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return benchunit.Scale(v, benchunit.ClassOf(unit))
}

// formatTime writes seconds with four significant digits.
func formatTime(sec float64) string {
	for _, u := range []struct {
		name string
		sec  float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}} {
		// 999.95 ns would be rounded to 1000.0 ns: let it be 1.000 µs.
		if math.Abs(sec) >= 0.99995*u.sec {
			return digits(sec/u.sec) + " " + u.name
		}
	}
	return strconv.FormatFloat(sec*1e9, 'g', 3, 64) + " ns"
}

// digits writes v, of at least about 1, with four significant digits.
func digits(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 999.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case abs >= 99.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case abs >= 9.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// formatRatio writes a ratio with three to four significant digits.
func formatRatio(r float64) string {
	switch {
	case math.IsNaN(r) || math.IsInf(r, 0):
		return "–"
	case r == 0:
		return "0"
	case r < 0.00995:
		return strconv.FormatFloat(r, 'g', 3, 64)
	case r < 0.0995:
		return strconv.FormatFloat(r, 'f', 4, 64)
	case r < 9.9995:
		return strconv.FormatFloat(r, 'f', 3, 64)
	case r < 99.995:
		return strconv.FormatFloat(r, 'f', 2, 64)
	}
	return strconv.FormatFloat(r, 'f', 0, 64)
}

// formatInterval writes a ratio's interval; empty if there is none.
func formatInterval(vs *lab.Versus) string {
	if vs == nil || math.IsNaN(vs.Lo) || math.IsInf(vs.Hi, 1) {
		return ""
	}
	return formatRatio(vs.Lo) + " to " + formatRatio(vs.Hi)
}

// formatP writes a p-value; empty for values that are not tested.
func formatP(p float64) string {
	switch {
	case math.IsNaN(p):
		return ""
	case p < 0.0005:
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// formatSpread writes the interval of a cell's centre as a percentage, as
// benchstat does.
func formatSpread(c lab.Cell) string {
	return "±" + benchmath.Summary{Center: c.Center, Lo: c.Lo, Hi: c.Hi}.PctRangeString()
}

// formatN writes sample sizes: one number for pairs, two for unpaired samples.
func formatN(c lab.Cell) string {
	switch {
	case c.Vs == nil || math.IsNaN(c.Vs.P):
		return strconv.Itoa(c.N)
	case c.Vs.Paired:
		return strconv.Itoa(c.Vs.N)
	}
	return fmt.Sprintf("%d+%d", c.Vs.BaseN, c.Vs.N)
}

// caption names a table: unit, and which way is good.
func caption(t lab.Table) string {
	switch {
	case t.Better < 0:
		return t.Unit + " (less is better)"
	case t.Better > 0:
		return t.Unit + " (more is better)"
	}
	return t.Unit
}

// benchmark names a row.
func benchmark(r lab.Row) string {
	if r.Pkg != "" {
		return r.Pkg + " " + r.Name
	}
	return r.Name
}

// columnHead names the column key: "impl" for "/impl", "file" for ".file".
func columnHead(c *lab.Comparison) string {
	head, _, _ := strings.Cut(c.Col, "@")
	return strings.TrimLeft(head, "/.")
}

// references writes footnote marks, such as "[1][3]".
func references(notes []int) string {
	var b strings.Builder
	for _, n := range notes {
		fmt.Fprintf(&b, "[%d]", n+1)
	}
	return b.String()
}

// confidence writes the confidence of the intervals, such as "95%".
func confidence(c *lab.Comparison) string {
	return strconv.FormatFloat(100*(1-c.Alpha), 'g', 4, 64) + "%"
}

// A layout is a table as text cells, before it is drawn.
type layout struct {
	head []string
	rows [][]string
	// right says which columns are numbers; group, which rows begin a group.
	right []bool
	group []bool
	// verdicts has each row's verdict, for colours; ref, whether it is a
	// reference.
	verdicts []lab.Verdict
	ref      []bool
}

// detail lays a table out with one line for each cell: the benchmark's base
// first, then the others in column order. Cells that are neither there nor due
// have no line.
func detail(c *lab.Comparison, t lab.Table) layout {
	exact := t.Exact
	l := layout{
		head:  []string{"benchmark", columnHead(c), "median", "±", "ratio", confidence(c) + " interval", "p", "n", "verdict", ""},
		right: []bool{false, false, true, true, true, true, true, true, false, false},
	}
	sight := !exact && hasSight(t)
	if sight {
		l.head = slices.Insert(l.head, 8, "sees", "needs")
		l.right = slices.Insert(l.right, 8, true, true)
	}
	if exact {
		l.head = []string{"benchmark", columnHead(c), "value", "ratio", "n", "verdict", ""}
		l.right = []bool{false, false, true, true, true, false, false}
	}
	for _, r := range t.Rows {
		first := true
		for _, i := range baseFirst(r) {
			cell := r.Cells[i]
			if cell.Verdict == lab.Absent {
				continue
			}
			value, spread, ratio, n := "—", "", "", ""
			p := ""
			if cell.N > 0 {
				value, spread, n = formatValue(cell.Center, t.Unit), formatSpread(cell), formatN(cell)
			}
			if cell.Vs != nil {
				ratio, p = formatRatio(cell.Vs.Ratio), formatP(cell.Vs.Adjusted)
			} else if i == r.Base {
				ratio = "1"
			}
			name := ""
			if first {
				name = benchmark(r)
			}
			line := []string{name, t.Cols[i].Name, value, spread, ratio, formatInterval(cell.Vs), p, n, string(cell.Verdict), references(cell.Notes)}
			if sight {
				line = slices.Insert(line, 8, formatSight(cell), formatNeed(cell))
			}
			if exact {
				line = []string{name, t.Cols[i].Name, value, ratio, n, string(cell.Verdict), references(cell.Notes)}
			}
			l.rows = append(l.rows, line)
			l.group = append(l.group, first)
			l.verdicts = append(l.verdicts, cell.Verdict)
			l.ref = append(l.ref, t.Cols[i].Ref)
			first = false
		}
	}
	return l
}

// hasSight reports whether something in a table is inconclusive, and it is known
// what would have been seen.
func hasSight(t lab.Table) bool {
	for _, r := range t.Rows {
		for _, cell := range r.Cells {
			if formatSight(cell) != "" {
				return true
			}
		}
	}
	return false
}

// formatSight writes the smallest effect that an inconclusive cell would have
// proven: "3.4%", or "nothing" if it has too few blocks; empty for others.
func formatSight(c lab.Cell) string {
	switch {
	case c.Verdict != lab.Inconclusive || c.Vs == nil || math.IsNaN(c.Vs.Detectable):
		return ""
	case math.IsInf(c.Vs.Detectable, 1):
		return "nothing"
	}
	return strconv.FormatFloat(100*(c.Vs.Detectable-1), 'g', 2, 64) + "%"
}

// formatNeed writes what would decide an inconclusive cell: "24 blocks, 13s"; empty
// if that is not known.
func formatNeed(c lab.Cell) string {
	if c.Vs == nil || c.Vs.Need == 0 {
		return ""
	}
	s := fmt.Sprintf("%d blocks", c.Vs.Need)
	switch d := c.Vs.NeedTime; {
	case d >= 10*time.Second:
		s += ", " + d.Round(time.Second).String()
	case d > 0:
		s += ", " + d.Round(100*time.Millisecond).String()
	}
	return s
}

// overview lays a table out with one line for each benchmark and the ratios
// only.
func overview(t lab.Table) layout {
	l := layout{head: []string{"benchmark"}, right: []bool{false}}
	for _, col := range t.Cols {
		l.head = append(l.head, col.Name)
		l.right = append(l.right, true)
	}
	for _, r := range t.Rows {
		line := []string{benchmark(r)}
		for _, cell := range r.Cells {
			line = append(line, brief(cell))
		}
		l.rows = append(l.rows, line)
	}
	return l
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

// wide reports whether a table has so many columns that an overview helps.
func wide(t lab.Table) bool { return len(t.Cols) > 2 && len(t.Rows) > 1 }

// controls counts the rows that have a control of which something varies, and those in which it alarms.
func controls(c *lab.Comparison) (n, alarms int) {
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			if r.Control != nil && !math.IsNaN(r.Control.Vs.P) {
				n++
				if r.Control.Alarm {
					alarms++
				}
			}
		}
	}
	return n, alarms
}

// paired reports whether anything in a table was compared block by block.
func paired(t lab.Table) bool {
	return slices.ContainsFunc(t.Rows, func(r lab.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c lab.Cell) bool { return c.Vs != nil && c.Vs.Paired })
	})
}

// legend explains the table in a few lines.
func legend(c *lab.Comparison) []string {
	margin := strconv.FormatFloat(100*c.Margin, 'g', 4, 64) + "%"
	lines := []string{
		"ratio: this line over its benchmark's base, with its " + confidence(c) + " interval. n: pairs of one block each; two numbers: unpaired samples, base first.",
		fmt.Sprintf("p: corrected for %s, so that this report claims any false difference with a chance of at most %v. same: proven to differ by less than %s.",
			counted(c.Comparisons, "comparison"), c.Alpha, margin),
	}
	if slices.ContainsFunc(c.Tables, hasSight) {
		lines = append(lines, "inconclusive: this data cannot say. sees: what it would have shown nine times out of ten; needs: what is likely to decide it.")
	}
	if len(c.Tables) > 0 && wide(c.Tables[0]) {
		lines = append(lines, "First table: ~ inconclusive, ? unproven, = the same, — no value.")
	}
	if n, alarms := controls(c); n > 0 {
		lines = append(lines, fmt.Sprintf("A/A control: identical code ran twice in %s; told apart in %d.", counted(n, "row"), alarms))
	} else if slices.ContainsFunc(c.Tables, paired) {
		lines = append(lines, "No A/A control in these results: nothing shows whether identical code would have been told apart.")
	}
	if slices.ContainsFunc(c.Files, lab.File.Emulated) {
		lines = append(lines, "emulated: a program plays the board. Figures compare with one another on it, and are no measure of real time.")
	}
	for _, t := range c.Tables {
		for _, col := range t.Cols {
			if col.Ref {
				return append(lines, "A name that begins with "+lab.RefPrefix+" is a reference: code written by hand for that workload.")
			}
		}
	}
	return lines
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
