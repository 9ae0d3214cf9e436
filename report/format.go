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
	if sec, ok := seconds(v, unit); ok {
		return formatTime(sec)
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

// seconds returns v in seconds if unit is one of time, such as "ns/op", "p99-ns" or
// "cpu-ns/op".
func seconds(v float64, unit string) (sec float64, ok bool) {
	what, _, _ := strings.Cut(unit, "/")
	sec, tidy := benchunit.Tidy(v, what)
	return sec, tidy == "sec" || strings.HasSuffix(tidy, "-sec")
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

// valueHead names the column of a table's values. They are those of the middle block;
// a block's time is that of all its operations, divided by their number.
func valueHead(t lab.Table) string {
	if rest, ok := strings.CutPrefix(t.Unit, "ns/"); ok {
		return "time/" + rest
	}
	return "value"
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

// columnIndex returns where a column of a table is; -1 if there is none of that name.
func columnIndex(t lab.Table, name string) int {
	return slices.IndexFunc(t.Cols, func(c lab.Column) bool { return c.Name == name })
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
		head:  []string{"benchmark", columnHead(c), valueHead(t), "±", "ratio", confidence(c) + " interval", "p", "n", "verdict", ""},
		right: []bool{false, false, true, true, true, true, true, true, false, false},
	}
	power, typical := !exact && hasPower(t), !exact && hasTypical(t)
	if power {
		l.head = slices.Insert(l.head, 8, "could detect", "would need")
		l.right = slices.Insert(l.right, 8, true, true)
	}
	if typical {
		l.head = slices.Insert(l.head, 6, "typical")
		l.right = slices.Insert(l.right, 6, true)
	}
	if exact {
		l.head = []string{"benchmark", columnHead(c), valueHead(t), "ratio", "n", "verdict", ""}
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
			line := []string{name, t.Cols[i].Name, value, spread, ratio, formatInterval(cell.Vs), p, n, string(cell.Verdict), remarks(cell)}
			if power {
				line = slices.Insert(line, 8, formatDetectable(cell), formatNeed(cell))
			}
			if typical {
				line = slices.Insert(line, 6, formatTypical(t, cell))
			}
			if exact {
				line = []string{name, t.Cols[i].Name, value, ratio, n, string(cell.Verdict), remarks(cell)}
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

// some reports whether is holds for some cell of t.
func some(t lab.Table, is func(c lab.Cell) bool) bool {
	return slices.ContainsFunc(t.Rows, func(r lab.Row) bool { return slices.ContainsFunc(r.Cells, is) })
}

// hasPower reports whether something in a table is inconclusive, and it is known
// what would have been detected.
func hasPower(t lab.Table) bool {
	return some(t, func(c lab.Cell) bool { return formatDetectable(c) != "" })
}

// hasTypical reports whether something in a table is compared whose values are made of
// slices, so that there is a typical time.
func hasTypical(t lab.Table) bool {
	return some(t, func(c lab.Cell) bool { return c.Vs != nil && c.Vs.Typical > 0 })
}

// hasRareCosts reports whether something in a table has rare costs other than its
// base's.
func hasRareCosts(t lab.Table) bool {
	return some(t, func(c lab.Cell) bool { return rareCosts(c) != "" })
}

// formatTypical writes the ratio of typical times, and of the base the typical time
// itself: the median slice. Empty for what is not made of slices.
func formatTypical(t lab.Table, c lab.Cell) string {
	switch {
	case c.Vs != nil && c.Vs.Typical > 0:
		return formatRatio(c.Vs.Typical)
	case c.Vs == nil && c.Slices != nil:
		return formatValue(c.Slices.P50, t.Unit)
	}
	return ""
}

// rareCosts marks a cell whose mean differs from the base's otherwise than what is
// typical does.
func rareCosts(c lab.Cell) string {
	if c.Vs != nil && c.Vs.RareCosts {
		return "rare costs"
	}
	return ""
}

// remarks are what stands behind the verdict of a cell.
func remarks(c lab.Cell) string {
	return joined(" ", rareCosts(c), references(c.Notes), c.Failure)
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// formatDetectable writes the smallest effect that an inconclusive cell would have
// proven: "3.4%", or "nothing" if it has too few blocks; empty for others.
func formatDetectable(c lab.Cell) string {
	switch {
	case c.Verdict != lab.Inconclusive || c.Vs == nil || math.IsNaN(c.Vs.Detectable):
		return ""
	case math.IsInf(c.Vs.Detectable, 1):
		return "nothing"
	}
	percent := 100 * (c.Vs.Detectable - 1)
	if percent >= 99.5 {
		return strconv.FormatFloat(percent, 'f', 0, 64) + "%"
	}
	return strconv.FormatFloat(percent, 'g', 2, 64) + "%"
}

// undecidable stands for a number of blocks that is out of reach.
const undecidable = "not decidable here"

// formatNeed writes what would decide an inconclusive cell, and how long that takes by
// the clock on the wall: "24 blocks, 31s"; empty if that is not known.
func formatNeed(c lab.Cell) string {
	switch {
	case c.Vs == nil:
		return ""
	case c.Vs.Undecidable:
		return undecidable
	case c.Vs.Need == 0:
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

// controls counts the rows of tables that have a control of which something varies, and
// those in which it alarms.
func controls(tables []lab.Table) (n, alarms int) {
	for _, t := range tables {
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
	return some(t, func(c lab.Cell) bool { return c.Vs != nil && c.Vs.Paired })
}

// legend explains the table in a few lines.
func legend(c *lab.Comparison) []string {
	reported, resources := split(c)
	family := c.Comparisons
	if len(reported) > 0 && reported[0].Resource { // there is nothing else
		family = c.ResourceComparisons
	}
	margin := strconv.FormatFloat(100*c.Margin, 'g', 4, 64) + "%"
	lines := []string{
		"ratio: this line over its benchmark's base, with its " + confidence(c) + " interval. n: pairs of one block each; two numbers: unpaired samples, base first.",
		fmt.Sprintf("p: corrected for %s, so that this report claims any false difference with a chance of at most %v. same: proven to differ by less than %s.",
			counted(family, "comparison"), c.Alpha, margin),
	}
	lines = append(lines, timeLegend(reported)...)
	if slices.ContainsFunc(c.Tables, func(t lab.Table) bool { rows, _ := movedTails(t); return len(rows) > 0 }) {
		lines = append(lines, "p50, p90, p99, max: of the time of an operation in slices, those of all blocks together. p99 ratio: to the base in the same block.")
	}
	if slices.ContainsFunc(c.Tables, hasPower) {
		lines = append(lines, "inconclusive: this data cannot say. could detect: what it would have proven nine times out of ten; would need: what is likely to decide it, in all.")
	}
	if c.ResourceComparisons > 0 && len(resources) > 0 {
		lines = append(lines, fmt.Sprintf("Resources – processor time, collections, memory – explain times. They are a family of their own, with the same chance again: corrected for %s.",
			counted(c.ResourceComparisons, "comparison")))
	}
	if len(c.Tables) > 0 && wide(c.Tables[0]) {
		lines = append(lines, "First table: ~ inconclusive, ? unproven, = the same, — no value.")
	}
	if n, alarms := controls(reported); n > 0 {
		lines = append(lines, fmt.Sprintf("A/A control: identical code ran twice in %s; told apart in %d. There the base is both copies together.", counted(n, "row"), alarms))
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

// timeLegend explains the times of tables that are made of slices.
func timeLegend(tables []lab.Table) (lines []string) {
	if slices.ContainsFunc(tables, hasTypical) {
		lines = append(lines,
			"time/op: total time ÷ total operations of a block, with all that it costs; of several blocks the middle one. typical: without what comes in few slices; of the base, its median slice.",
			"The ratio of times is that of total times, within blocks. Unless rare costs are marked it is estimated by typical slices, which hardly change with what the machine does to single ones; time/op does.")
	}
	if slices.ContainsFunc(tables, hasRareCosts) {
		lines = append(lines, "rare costs: what few slices cost is proven to differ from the base's, so the ratio is another one than the typical.")
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
