package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// conclude takes all tests of the report together, and gives those cells a verdict
// that have been tested. docs/method.md has the reasons.
func (e *evaluator) conclude() {
	e.measure()
	adjust := func(tests []*tested) []float64 {
		p := make([]float64, len(tests))
		for i, t := range tests {
			p[i] = t.vs.P
		}
		adjusted := stats.Holm(p)
		for i, t := range tests {
			t.vs.Adjusted = adjusted[i]
		}
		return adjusted
	}
	for _, resource := range []bool{false, true} {
		of := func(tests []*tested) []*tested {
			return slices.DeleteFunc(slices.Clone(tests), func(t *tested) bool { return t.table.Resource != resource })
		}
		controls, family := of(e.controls), of(e.tested)
		adjust(controls)
		for _, t := range controls {
			t.row.Control.Alarm = t.vs.Adjusted <= e.c.Alpha
		}
		level := stats.HolmLevel(adjust(family), e.c.Alpha)
		for _, t := range family {
			e.decide(t, level)
		}
	}
	e.tails()
}

// measure tests all that was measured block by block. Comparisons of one unit and
// their controls tell together how much blocks resemble the ones before; those that a
// filter leaves out do so, too: what is said of one comparison alone does not depend on
// which others are looked at.
func (e *evaluator) measure() {
	here := slices.Concat(e.tested, e.controls)
	at := make(map[comparedAt]*tested)
	for _, t := range here {
		at[t.place()] = t
	}
	all := slices.Clone(e.whole)
	for i, t := range all {
		if mine := at[t.place()]; mine != nil {
			all[i] = mine
			delete(at, t.place())
		}
	}
	for _, t := range here {
		if at[t.place()] == t {
			all = append(all, t)
		}
	}
	members := make(map[string][]*tested)
	for _, t := range all {
		if t.vs.Paired {
			members[t.unit] = append(members[t.unit], t)
		}
	}
	for _, tests := range members {
		estimate(tests, e.c.Alpha)
	}
}

// comparedAt says which comparison one is, of the first copies or of the controls.
type comparedAt struct {
	unit, pkg, row, col string
	control             bool
}

func (t *tested) place() comparedAt {
	control := t.row.Control != nil && t.vs == &t.row.Control.Vs
	return comparedAt{t.unit, t.row.Package, t.row.Name, t.table.Cols[t.col].Name, control}
}

// The mean is estimated in two ways: the plain one is that of all slices, and the typical
// one the Hodges-Lehmann estimate of the rounds, which is sharp and blind to what comes
// in less than about one slice in eight.
//
// What the machine does to slices, it does to both sides alike. So if what the mean has
// beyond the typical is not proven to differ between the two, the typical difference is
// that of the means; if it is, the program makes it, and the plain mean stands alone.
// Each of the two tests spends its share of the level. The shares add up to a little more
// than one, because the second can err only where the rest was proven to differ as well:
// docs/method.md, From rounds to a verdict.
const (
	excessLevel  = 0.01 // at which the rest is proven to differ
	typicalShare = 0.95
	plainShare   = 0.2
)

// estimate tests members, which were measured block by block in one unit.
func estimate(members []*tested, alpha float64) {
	var plain, usual, excess stats.Family
	at := make([]int, len(members)) // in usual and excess
	for i, t := range members {
		plain = append(plain, t.blocks)
		if at[i] = len(usual); len(t.typical) == 0 {
			continue
		}
		typical, rest := t.blocks, t.blocks
		typical.D, rest.D = t.typical, make([]float64, len(t.typical))
		for k, d := range t.typical {
			rest.D[k] = t.blocks.D[k] - d
		}
		usual, excess = append(usual, typical), append(excess, rest)
	}
	means, typical, rest := plain.Tests(), usual.Tests(), excess.Tests()
	for i, t := range members {
		k := at[i]
		if len(t.typical) == 0 {
			t.settle(means.Mean(i, t.looks, alpha), 1)
			continue
		}
		if t.vs.RareCosts = rest.Mean(k, t.looks, alpha).P <= excessLevel; t.vs.RareCosts {
			t.settle(means.Mean(i, t.looks, alpha*plainShare), plainShare)
			continue
		}
		t.settle(typical.Mean(k, t.looks, alpha*typicalShare), typicalShare)
		rough := means.Mean(i, stats.Looks{}, oneSigma) // the plain mean, and its standard error
		t.rough = &rough
	}
}

// oneSigma is the level of an interval that reaches a standard error to either side.
const oneSigma = 0.3173

// settle takes s for the answer, of a test that may spend a share of the level.
func (t *tested) settle(s stats.Shift, share float64) {
	s.P, s.MinP = min(1, s.P/share), min(1, s.MinP/share)
	t.shift, t.share, t.vs.Shift, t.vs.P = s, share, s, s.P
	t.ratio()
}

// contradicts reports whether the plain mean speaks against an answer that the typical
// difference gives: if that is no difference or less time, it must be so within a
// standard error, since then a rare cost would be overlooked; if it is more time, the
// mean must at least go the same way.
func (t *tested) contradicts(answer stats.Answer, better int, margin float64) bool {
	if t.rough == nil {
		return false
	}
	good := stats.Less
	if better > 0 {
		good = stats.More
	}
	switch answer {
	case stats.Same:
		return t.rough.Lo < -margin || t.rough.Hi > margin
	case stats.More:
		return answer == good && t.rough.Lo <= 0 || t.rough.Est <= 0
	case stats.Less:
		return answer == good && t.rough.Hi >= 0 || t.rough.Est >= 0
	}
	return false
}

// decide gives the cell of t its verdict, if level is what the family leaves to it.
func (e *evaluator) decide(t *tested, level float64) {
	table, cell := t.table, &t.row.Cells[t.col]
	rule := stats.Rule{Alpha: e.c.Alpha, Margin: math.Log1p(e.c.Margin)}
	if !t.logs {
		rule.Margin = 0 // a ratio's
	}
	bias := 0.0
	if c := t.row.Control; c != nil && c.Alarm && t.logs {
		bias = max(math.Abs(math.Log(c.Vs.Lo)), math.Abs(math.Log(c.Vs.Hi)))
	}
	evidence := stats.Evidence{
		Lo: t.shift.Lo, Hi: t.shift.Hi, Est: t.shift.Est, Adjusted: t.vs.Adjusted,
		Apart: t.vs.Apart, Bias: bias, Layouts: t.vs.Layouts,
	}
	if t.counts {
		evidence.Layouts = 0
	}
	answer, doubt := rule.Decide(evidence)
	if t.contradicts(answer, table.Better, rule.Margin) {
		e.mark(cell, "the typical time would be an answer, but all slices together do not bear it out: their mean is %s to %s of the base's, rare costs or disturbances included",
			percentOf(t.rough.Lo), percentOf(t.rough.Hi))
		answer = stats.Unknown
	}
	if answer == stats.Unknown && t.shift.MinP > level {
		if answer = t.byCount(rule.Margin); t.counts && t.alike(rule.Margin) {
			answer = stats.Same
		}
	}
	switch answer {
	case stats.More, stats.Less:
		cell.Verdict = table.word(answer == stats.More)
		if bias > 0 {
			e.mark(cell, "the row's A/A control is off by up to %s; this is more", percent(bias))
		}
	case stats.Same:
		cell.Verdict = Same
	case stats.Doubtful:
		cell.Verdict = Unproven
		switch doubt {
		case stats.BiasedControl:
			e.mark(cell, "the row's A/A control, a second process of identical code, is off by up to %s: this may be nothing else", percent(bias))
		case stats.FewLayouts:
			e.mark(cell, "a difference below %s between builds may come from where the linker puts functions: it needs %d layouts, and was measured in %d",
				percent(math.Log1p(stats.LayoutEffect)), stats.EnoughLayouts, t.vs.Layouts)
		case stats.MeasuredApart:
			e.mark(cell, "unpaired: not measured in the same blocks, so noise that drifts is taken for a difference")
		}
	default:
		cell.Verdict = Inconclusive
		e.tooFew(cell, t, level)
	}
	e.forecast(cell, t, level)
	e.incomplete(cell, t)
}

// byCount returns how two counts differ, in blocks too few for a test: each varies by less
// than what the runtime allocates beside a program, and they lie ten times as far apart at
// least. By noise alone, of whatever size, two of two blocks do so at most twice in a
// thousand times, and those of more blocks more rarely. It is Unknown if they do not.
func (t *tested) byCount(margin float64) stats.Answer {
	if !counted(t.table.Unit) || len(t.pairs) < 2 {
		return stats.Unknown
	}
	var x, ref []float64
	for _, p := range t.pairs {
		x, ref = append(x, p.x.v), append(ref, p.ref.v)
		if p.ref.twin != nil {
			ref = append(ref, p.ref.twin.v)
		}
	}
	stray := Negligible(t.table.Unit)
	if slices.Max(x)-slices.Min(x) >= stray || slices.Max(ref)-slices.Min(ref) >= stray {
		return stats.Unknown
	}
	above, below := slices.Min(x)-slices.Max(ref), slices.Min(ref)-slices.Max(x)
	if max(above, below) < 10*stray {
		return stats.Unknown
	}
	nan := math.NaN()
	t.vs.Lo, t.vs.Hi, t.vs.P, t.vs.Adjusted = nan, nan, nan, nan // nothing was tested
	switch {
	case t.logs && math.Abs(math.Log(t.vs.Ratio)) < margin:
		return stats.Same
	case above > 0:
		return stats.More
	}
	return stats.Less
}

// alike reports whether instructions are the same in blocks too few for a test, two at least: none
// differs by more than a third of the margin. Where the sides differ by the margin, noise of whatever
// size has two blocks say so at most three times in a hundred.
func (t *tested) alike(margin float64) bool {
	return t.logs && len(t.pairs) > 1 && !slices.ContainsFunc(t.blocks.D, func(d float64) bool { return math.Abs(d) > margin/3 })
}

// mostBlocks is how many blocks a report asks for at most: with more it says that
// this machine cannot decide it.
const mostBlocks = record.MaxLayouts

// forecast tells of a comparison what its data could detect, and of an inconclusive
// one what would decide it.
func (e *evaluator) forecast(cell *Cell, t *tested, level float64) {
	if !t.vs.Paired || !t.logs {
		return
	}
	level *= t.share * t.looks.Share(t.blocks.Number[len(t.blocks.Number)-1])
	if t.vs.Detectable = math.Exp(t.shift.Detectable(t.shift.Units, level)); t.shift.Units < 2 {
		t.vs.Detectable = math.Inf(1) // one block says nothing of how they vary
	}
	if cell.Verdict != Inconclusive {
		return
	}
	// An effect as large as this looks, or if it looks like none, one that matters.
	effect := max(math.Abs(t.shift.Est), math.Log1p(e.c.Margin))
	t.vs.Need = t.shift.Need(effect, level, mostBlocks) * t.vs.N / t.shift.Units // a layout has as many blocks then
	t.vs.Undecidable = t.vs.Need == 0
	t.vs.NeedTime = saturated(t.took, t.vs.Need)
	if t.vs.Need > 0 && t.vs.Need <= t.vs.N { // by luck it missed what it would mostly see
		t.vs.Need, t.vs.NeedTime = 0, 0
	}
}

// incomplete takes a verdict back that would be about something else than what the
// operations cost: where collections of garbage are not in the times.
func (e *evaluator) incomplete(cell *Cell, t *tested) {
	switch {
	case t.rare > e.c.Margin:
		if cell.Verdict == Faster || cell.Verdict == Same {
			cell.Verdict = Unproven
		}
		e.mark(cell, "collections of garbage come so seldom that few or none were measured, and take about %.2g %% of the time: measure longer, with more --rounds", 100*t.rare)
	case t.partial:
		e.partial = true
	}
}

// tooFew notes that no such sample could have proven anything.
func (e *evaluator) tooFew(cell *Cell, t *tested, level float64) {
	switch {
	case t.shift.MinP <= level:
	case !t.vs.Paired:
		e.mark(cell, "so few values can show no difference at level %.2g", level)
	default:
		e.mark(cell, "so few blocks that both columns have can prove no difference at level %.2g", level)
	}
}

// mark adds a note to a cell.
func (e *evaluator) mark(cell *Cell, format string, args ...any) {
	cell.Notes = append(cell.Notes, e.note(format, args...))
}

// percent writes the logarithm of a ratio as the percentage by which it exceeds
// one.
func percent(log float64) string {
	return fmt.Sprintf("%.3g %%", 100*math.Expm1(log))
}

// percentOf writes the logarithm of a ratio as a percentage.
func percentOf(log float64) string { return fmt.Sprintf("%.4g %%", 100*math.Exp(log)) }

// saturated is n times d, as far as there is such a time.
func saturated(d time.Duration, n int) time.Duration {
	return time.Duration(min(float64(d)*float64(n), math.MaxInt64/2))
}

// orderLevel is the level of the warnings that blocks depend on one another: of
// all comparisons together, and small, since such a warning decides nothing.
const orderLevel = 0.01

// ordered returns warnings about blocks that are not independent: comparisons in
// which that shows, and whether it shows in all of the first table together.
func (e *evaluator) ordered() []string {
	var (
		p      []float64
		of     []string
		groups [][]stats.Order // by row: comparisons of a row have their base in common
		row    *Row
	)
	for _, t := range e.tested {
		o, ok := stats.Ordered(t.blocks.D)
		if !ok {
			continue
		}
		p = append(p, o.LagP, o.TrendP)
		of = append(of, fmt.Sprintf("%s (correlation with the next block %.2f)", t, o.Lag1), fmt.Sprintf("%s (trend %.2f)", t, o.Trend))
		if t.table != &e.c.Tables[0] {
			continue
		}
		if t.row != row {
			row, groups = t.row, append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], o)
	}
	var warnings, found []string
	for i, adjusted := range stats.Holm(p) {
		if adjusted <= orderLevel {
			found = append(found, of[i])
		}
	}
	const consequence = "the blocks depend on one another, so intervals may be too narrow and verdicts too sure; measure on a quieter machine"
	if len(found) > 0 {
		warnings = append(warnings, consequence+": "+strings.Join(found, "; "))
	}
	if lag1, p := stats.Together(groups); p <= orderLevel {
		warnings = append(warnings, fmt.Sprintf("%s: in the first table ratios resemble those of the block before (mean correlation %.2f)", consequence, lag1))
	}
	return warnings
}
