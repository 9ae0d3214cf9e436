package report

import (
	"math"
	"slices"
	"strconv"

	"github.com/dynolab/dyno/internal/compare"
)

// agreed returns c as documents have it, in which base, value and ratio of a cell say the
// same. What was measured in the same blocks as the base takes what the base takes, times the
// ratio: its own middle block may be another one than the base's, in which the machine was
// faster or slower. Where the base is nothing, or so little that it is as good as nothing, no
// ratio tells how much there is.
func agreed(c *compare.Comparison) *compare.Comparison {
	out := *c
	out.Tables = slices.Clone(c.Tables)
	for i, t := range c.Tables {
		rows := slices.Clone(t.Rows)
		for k, r := range t.Rows {
			rows[k].Cells = slices.Clone(r.Cells)
			for j := range r.Cells {
				agree(&rows[k].Cells[j], r, t.Unit)
			}
		}
		out.Tables[i].Rows = rows
	}
	return &out
}

// agree makes a cell of r agree with its base.
func agree(cell *compare.Cell, r compare.Row, unit string) {
	if cell.Vs == nil || r.Base < 0 || cell.N == 0 {
		return
	}
	vs, base := *cell.Vs, r.Cells[r.Base].Center
	switch k := base * vs.Ratio / cell.Center; {
	case base < compare.Negligible(unit) && cell.Center != base:
		vs.Ratio, vs.Lo, vs.Hi = math.NaN(), math.NaN(), math.NaN()
	case vs.Paired && k > 0 && !math.IsInf(k, 1):
		cell.Center, cell.Lo, cell.Hi = cell.Center*k, cell.Lo*k, cell.Hi*k
	}
	cell.Vs = &vs
}

// A change is an estimate and its interval in one form: both as percentages or both as
// factors, with as many decimals as it takes to see that the one lies in the other.
type change struct {
	estimate string // "+3.4 %" or "×2.1"; "–" if there is none
	interval string // "+3.1 to +3.7 %"; "" if there is none
}

// changeOf writes a ratio and its bounds as a change.
func changeOf(ratio, lo, hi float64) change {
	isBounded := lo > 0 && !math.IsInf(hi, 1)
	switch {
	case math.IsNaN(ratio) || math.IsInf(ratio, 0):
		return change{estimate: "–"}
	case ratio >= 2 && !isBounded:
		return change{estimate: "×" + formatRatio(ratio)}
	case !isBounded:
		return change{estimate: percentChange(ratio, leastDecimals(ratio)) + " %"}
	case max(ratio, hi) >= 2:
		texts := alike(ratioDecimals(max(ratio, hi)), func(v float64, decimals int) string {
			return "×" + strconv.FormatFloat(v, 'f', decimals, 64)
		}, ratio, lo, hi)
		return change{texts[0], texts[1] + " to " + texts[2]}
	}
	texts := alike(1, percentChange, ratio, lo, hi)
	return change{texts[0] + " %", texts[1] + " to " + texts[2] + " %"}
}

// ratioOf writes a ratio and its interval, which is "" if there is none.
func ratioOf(ratio, lo, hi float64) (estimate, interval string) {
	switch {
	case math.IsNaN(lo) || math.IsInf(hi, 1):
		return formatRatio(ratio), ""
	case math.IsNaN(ratio) || math.IsInf(ratio, 0) || !(lo > 0):
		return formatRatio(ratio), formatRatio(lo) + " to " + formatRatio(hi)
	}
	texts := alike(ratioDecimals(ratio), func(v float64, decimals int) string {
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}, ratio, lo, hi)
	return texts[0], texts[1] + " to " + texts[2]
}

// mostDecimals is how many decimals an estimate has at most to be seen in its interval.
const mostDecimals = 1

// alike writes an estimate and its bounds with the same number of decimals, so many or, to
// tell the three apart, up to mostDecimals more.
func alike(decimals int, write func(v float64, decimals int) string, estimate, lo, hi float64) (texts [3]string) {
	for more := range mostDecimals + 1 {
		texts = [3]string{write(estimate, decimals+more), write(lo, decimals+more), write(hi, decimals+more)}
		if (texts[0] != texts[1] || estimate == lo) && (texts[0] != texts[2] || estimate == hi) {
			break
		}
	}
	return texts
}

// ratioDecimals are those of three to four digits of a ratio.
func ratioDecimals(ratio float64) int {
	switch {
	case ratio >= 99.995:
		return 0
	case ratio >= 9.9995:
		return 2
	case ratio >= 0.0995:
		return 3
	case ratio >= 0.00995:
		return 4
	}
	return min(2-int(math.Floor(math.Log10(ratio))), 12)
}

// percentChange writes by how much a ratio differs from 1, in percent, without the sign of
// percent: "+3.4", "−12", "0".
func percentChange(ratio float64, decimals int) string {
	text := strconv.FormatFloat(100*math.Abs(ratio-1), 'f', decimals, 64)
	if v, err := strconv.ParseFloat(text, 64); err == nil && v == 0 {
		return "0"
	}
	return sign(ratio-1) + text
}

// leastDecimals is how many decimals a change has that stands alone: one, none if that is a
// 0, more if it is less.
func leastDecimals(ratio float64) int {
	percent := 100 * math.Abs(ratio-1)
	switch {
	case percent < 0.0995 && percent > 0:
		return min(-int(math.Floor(math.Log10(percent))), 6)
	case math.Abs(percent-math.Round(percent)) < 0.05:
		return 0
	}
	return 1
}

// change is what of a cell differs from its base: as a part of that, or where no ratio tells,
// as what there is more or less.
func (p place) change() change {
	vs := p.cell.Vs
	if math.IsNaN(vs.Ratio) && p.isMeasured() && p.row.Base >= 0 && p.base().isMeasured() {
		return change{estimate: formatDelta(p.cell.Center-p.base().cell.Center, p.table.Unit)}
	}
	return changeOf(vs.Ratio, vs.Lo, vs.Hi)
}
