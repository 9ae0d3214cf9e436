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

	"github.com/dynolab/dyno/internal/compare"
)

// formatValue writes a value of unit for people: times and bytes with their own prefix
// ("1.72 µs", "528 B"), counts as counts ("528"), the rest with a prefix from 100,000 on.
// The unit's remainder ("/op") is left to the caption.
func formatValue(v float64, unit string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	if sec := compare.Seconds(unit); sec > 0 {
		return formatTime(v * sec)
	}
	if isInstructions(unit) {
		return strconv.FormatFloat(v, 'f', -1, 64) // which are exact
	}
	isBytes := compare.IsBytes(unit)
	suffix := ""
	if isBytes {
		suffix = " B"
	}
	switch abs := math.Abs(v); {
	case v == math.Trunc(v) && abs < 100_000:
		return strconv.FormatFloat(v, 'f', 0, 64) + suffix
	case abs < 1:
		digits := 3
		if abs < compare.Negligible(unit) && abs < 0.001 {
			digits = 1 // as good as none
		}
		short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
		return strconv.FormatFloat(short, 'f', -1, 64) + suffix // 0.00000245, as people write it
	case abs < 99_999.5:
		return digits(v) + suffix
	case isBytes:
		text := benchunit.Scale(v, benchunit.Binary)
		number := strings.TrimRight(text, "KMGTi")
		return number + " " + text[len(number):] + "B"
	}
	return benchunit.Scale(v, benchunit.Decimal)
}

// timeUnits are the prefixes of times, the longest first.
var timeUnits = []struct {
	name string
	sec  float64
}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}}

// formatTime writes seconds with four significant digits.
func formatTime(sec float64) string {
	for _, u := range timeUnits {
		// 999.95 ns would be rounded to 1000.0 ns: let it be 1.000 µs.
		if math.Abs(sec) >= 0.99995*u.sec {
			return digits(sec/u.sec) + " " + u.name
		}
	}
	return strconv.FormatFloat(sec*1e9, 'g', 3, 64) + " ns"
}

// digits writes v, of at least about 1, with four significant digits.
func digits(v float64) string {
	for decimals, least := range []float64{999.95, 99.995, 9.9995} {
		if math.Abs(v) >= least {
			return strconv.FormatFloat(v, 'f', decimals, 64)
		}
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
	case r < 99.995:
		return digits(r)
	}
	return strconv.FormatFloat(r, 'f', 0, 64)
}

// formatInterval writes a ratio's interval; empty if there is none.
func formatInterval(vs *compare.Versus) string {
	if vs == nil {
		return ""
	}
	_, interval := ratioOf(vs.Ratio, vs.Lo, vs.Hi)
	return interval
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
func formatSpread(c compare.Cell) string {
	return "±" + benchmath.Summary{Center: c.Center, Lo: c.Lo, Hi: c.Hi}.PctRangeString()
}

// formatN writes sample sizes: one number for pairs, two for unpaired samples.
func formatN(c compare.Cell) string {
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
func valueHead(t compare.Table) string {
	if rest, ok := strings.CutPrefix(t.Unit, "ns/"); ok {
		return "time/" + rest
	}
	return "value"
}

// caption names a table: unit, and which way is good.
func caption(t compare.Table) string {
	switch {
	case t.Better < 0:
		return t.Unit + " (less is better)"
	case t.Better > 0:
		return t.Unit + " (more is better)"
	}
	return t.Unit + " (which way is better is not known)"
}

// benchmark names a row.
func benchmark(r compare.Row) string { return joined(" ", r.Pkg, r.Name) }

// columnHead names the column key: "impl" for "/impl", "file" for ".file".
func columnHead(c *compare.Comparison) string {
	head, _, _ := strings.Cut(c.Col, "@")
	return strings.TrimLeft(head, "/.")
}

// columnIndex returns where a column of a table is; -1 if there is none of that name.
func columnIndex(t compare.Table, name string) int {
	return slices.IndexFunc(t.Cols, func(c compare.Column) bool { return c.Name == name })
}

// references writes footnote marks, such as "[1][3]".
func references(notes []int) string {
	return strings.Join(each(notes, func(n int) string { return fmt.Sprintf("[%d]", n+1) }), "")
}

// confidence writes the confidence of the intervals, such as "95%".
func confidence(c *compare.Comparison) string {
	return strconv.FormatFloat(100*(1-c.Alpha), 'g', 4, 64) + "%"
}

// some reports whether is holds for some cell of t.
func some(t compare.Table, is func(c compare.Cell) bool) bool {
	return slices.ContainsFunc(t.Rows, func(r compare.Row) bool { return slices.ContainsFunc(r.Cells, is) })
}

// hasPower reports whether something in a table is inconclusive, and it is known
// what would have been detected.
func hasPower(t compare.Table) bool {
	return some(t, func(c compare.Cell) bool { return formatDetectable(c) != "" })
}

// hasTypical reports whether something in a table is compared whose values are made of
// slices, so that there is a typical time.
func hasTypical(t compare.Table) bool {
	return some(t, func(c compare.Cell) bool { return c.Vs != nil && c.Vs.Typical > 0 })
}

// hasRareCosts reports whether something in a table has rare costs other than its
// base's.
func hasRareCosts(t compare.Table) bool {
	return some(t, func(c compare.Cell) bool { return rareCosts(c) != "" })
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// formatDetectable writes the smallest effect that an inconclusive cell would have
// proven: "3.4%", or "nothing" if it has too few blocks; empty for others.
func formatDetectable(c compare.Cell) string {
	switch {
	case c.Verdict != compare.Inconclusive || c.Vs == nil || math.IsNaN(c.Vs.Detectable):
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
func formatNeed(c compare.Cell) string {
	switch {
	case c.Vs == nil:
		return ""
	case c.Vs.Undecidable:
		return undecidable
	case c.Vs.Need == 0:
		return ""
	}
	unit := 100 * time.Millisecond
	if c.Vs.NeedTime >= 10*time.Second {
		unit = time.Second
	}
	took := ""
	if c.Vs.NeedTime > 0 {
		took = c.Vs.NeedTime.Round(unit).String()
	}
	return joined(", ", fmt.Sprintf("%d blocks", c.Vs.Need), took)
}

// wide reports whether a table has so many columns that an overview helps.
func wide(t compare.Table) bool { return len(t.Cols) > 2 && len(t.Rows) > 1 }

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

// formatDelta writes a change of a cost with its sign.
func formatDelta(v float64, unit string) string {
	if v == 0 {
		return "0"
	}
	return sign(v) + formatValue(math.Abs(v), unit)
}

// sign is what stands before the absolute value of a change.
func sign(v float64) string {
	switch {
	case v > 0:
		return "+"
	case v < 0:
		return "−"
	}
	return ""
}

// formatPercent writes a fraction as a percentage.
func formatPercent(v float64) string {
	return strconv.FormatFloat(math.Round(1e4*v)/100, 'g', 4, 64) + " %"
}

// counted writes how many there are of something.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
