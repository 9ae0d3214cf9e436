package lab

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dynolab/dyno/lab/infer"
)

// conclude takes all tests of the report together, and gives those cells a verdict
// that have been tested. docs/method.md has the reasons.
func (j *judge) conclude() {
	adjust := func(tests []tested) []float64 {
		p := make([]float64, len(tests))
		for i, t := range tests {
			p[i] = t.vs.P
		}
		adjusted := infer.Holm(p)
		for i, t := range tests {
			t.vs.Adjusted = adjusted[i]
		}
		return adjusted
	}
	adjust(j.controls)
	for _, t := range j.controls {
		r := &j.c.Tables[t.at.table].Rows[t.at.row]
		r.Control.Alarm = r.Control.Vs.Adjusted <= j.c.Alpha
	}

	level := infer.HolmLevel(adjust(j.tested), j.c.Alpha)
	margin := math.Log1p(j.c.Margin)
	for _, t := range j.tested {
		table := &j.c.Tables[t.at.table]
		row := &table.Rows[t.at.row]
		cell := &row.Cells[t.at.col]
		rule := infer.Rule{Alpha: j.c.Alpha, Margin: margin}
		if !t.logs {
			rule.Margin = 0 // a ratio's
		}
		bias := 0.0
		if c := row.Control; c != nil && c.Alarm && t.logs {
			bias = max(math.Abs(math.Log(c.Vs.Lo)), math.Abs(math.Log(c.Vs.Hi)))
		}
		spread := j.sight.Spread(t.d)
		if t.d != nil {
			t.vs.Detectable = math.Exp(j.sight.Detectable(spread, t.vs.N, level*t.share))
		}
		answer, doubt := rule.Decide(infer.Evidence{
			Lo: t.shift.Lo, Hi: t.shift.Hi, Est: t.shift.Est, Adjusted: t.vs.Adjusted,
			Apart: !t.vs.Paired, Bias: bias, Layouts: t.vs.Layouts,
		})
		switch answer {
		case infer.More, infer.Less:
			cell.Verdict = word(t.unit, table.Better, answer == infer.More)
			if bias > 0 {
				j.mark(cell, "the row's A/A control is off by up to %s; this is more", percent(bias))
			}
		case infer.Same:
			cell.Verdict = Same
		case infer.Doubtful:
			cell.Verdict = Unproven
			switch doubt {
			case infer.BiasedControl:
				j.mark(cell, "the row's A/A control, a second process of identical code, is off by up to %s: this may be nothing else", percent(bias))
			case infer.FewLayouts:
				j.mark(cell, "a difference below %s between builds may come from where the linker puts functions: it needs %d layouts, and was measured in %d",
					percent(math.Log1p(infer.LayoutEffect)), infer.EnoughLayouts, t.vs.Layouts)
			case infer.MeasuredApart:
				j.mark(cell, "unpaired: not measured in the same blocks, so noise that drifts is taken for a difference")
			}
		default:
			cell.Verdict = Inconclusive
			if t.d != nil {
				// An effect as large as this looks, or if it looks like none, one
				// that matters.
				effect := max(math.Abs(t.shift.Est), margin)
				t.vs.Need = max(0, j.sight.Need(spread, effect, level*t.share))
				t.vs.NeedTime = saturated(t.took, t.vs.Need)
				if t.vs.Need <= t.vs.N { // by luck it missed what it would mostly see
					t.vs.Need, t.vs.NeedTime = 0, 0
				}
			}
			j.tooFew(cell, t, level)
		}
	}
}

// tooFew notes that no such sample could have proven anything.
func (j *judge) tooFew(cell *Cell, t tested, level float64) {
	switch {
	case t.shift.MinP <= level:
	case !t.vs.Paired:
		j.mark(cell, "so few values can show no difference at level %.2g", level)
	case j.c.Comparisons > 1:
		j.mark(cell, "need >= %d blocks that both columns have to prove anything among %d comparisons at level %v",
			enoughPairs(level*t.share), j.c.Comparisons, j.c.Alpha)
	default:
		j.mark(cell, "need >= %d blocks that both columns have to prove anything at level %v", enoughPairs(level*t.share), j.c.Alpha)
	}
}

// mark adds a note to a cell.
func (j *judge) mark(cell *Cell, format string, args ...any) {
	cell.Notes = append(cell.Notes, j.note(format, args...))
}

// percent writes the logarithm of a ratio as the percentage by which it exceeds
// one.
func percent(log float64) string {
	return fmt.Sprintf("%.3g %%", 100*math.Expm1(log))
}

// saturated is n times d, as far as there is such a time.
func saturated(d time.Duration, n int) time.Duration {
	return time.Duration(min(float64(d)*float64(n), math.MaxInt64/2))
}

// orderLevel is the level of the warnings that blocks depend on one another: of
// all comparisons together, and small, since such a warning decides nothing.
const orderLevel = 0.01

// ordered returns warnings about blocks that are not independent: comparisons in
// which that shows, and whether it shows in all of the first table together.
func (j *judge) ordered() []string {
	var (
		p      []float64
		of     []string
		groups [][]infer.Order // by row: comparisons of a row have their base in common
		row    = -1
	)
	for _, t := range j.tested {
		o, ok := infer.Ordered(t.d)
		if !ok {
			continue
		}
		table := j.c.Tables[t.at.table]
		name := fmt.Sprintf("%s, %s, %s", table.Rows[t.at.row].Name, table.Cols[t.at.col].Name, table.Unit)
		p = append(p, o.LagP, o.TrendP)
		of = append(of, name+fmt.Sprintf(" (correlation with the next block %.2f)", o.Lag1), name+fmt.Sprintf(" (trend %.2f)", o.Trend))
		if t.at.table == 0 {
			if t.at.row != row {
				row = t.at.row
				groups = append(groups, nil)
			}
			groups[len(groups)-1] = append(groups[len(groups)-1], o)
		}
	}
	var warnings, found []string
	for i, adjusted := range infer.Holm(p) {
		if adjusted <= orderLevel {
			found = append(found, of[i])
		}
	}
	const consequence = "the blocks depend on one another, so intervals may be too narrow and verdicts too sure; measure on a quieter machine"
	if len(found) > 0 {
		warnings = append(warnings, consequence+": "+strings.Join(found, "; "))
	}
	if lag1, p := infer.Together(groups); p <= orderLevel {
		warnings = append(warnings, fmt.Sprintf("%s: in the first table ratios resemble those of the block before (mean correlation %.2f)", consequence, lag1))
	}
	return warnings
}
