package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// controls counts the rows of tables that have a control of which something varies, and
// those in which it alarms.
func controls(tables []compare.Table) (n, alarms int) {
	for _, t := range tables {
		for _, r := range t.Rows {
			if r.Control == nil || math.IsNaN(r.Control.Vs.P) {
				continue
			}
			if n++; r.Control.Alarm {
				alarms++
			}
		}
	}
	return n, alarms
}

// paired reports whether anything in a table was compared block by block.
func paired(t compare.Table) bool {
	return some(t, func(c compare.Cell) bool { return c.Vs != nil && c.Vs.Paired })
}

// legend explains the tables in a few lines.
func legend(c *compare.Comparison) []string {
	reported, resources := split(c)
	family := c.Comparisons
	if len(reported) > 0 && reported[0].Resource { // there is nothing else
		family = c.ResourceComparisons
	}
	lines := []string{
		"ratio: this line over its benchmark's base, with its " + confidence(c) + " interval. n: pairs of one block each; two numbers: unpaired samples, base first.",
		fmt.Sprintf("p: of this comparison alone; the verdict goes by p corrected for %s (Holm), so that this report claims any false difference with a chance of at most %v. same: proven to differ by less than %s%%.",
			counted(family, "comparison"), c.Alpha, strconv.FormatFloat(100*c.Margin, 'g', 4, 64)),
	}
	lines = append(lines, timeLegend(reported)...)
	if slices.ContainsFunc(c.Tables, func(t compare.Table) bool { return len(movedTails(t)) > 0 }) {
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
	if slices.ContainsFunc(c.Files, compare.File.Emulated) {
		lines = append(lines, "emulated: a program plays the board. Figures compare with one another on it, and are no measure of real time.")
	}
	isRef := func(col compare.Column) bool { return col.Ref }
	if slices.ContainsFunc(c.Tables, func(t compare.Table) bool { return slices.ContainsFunc(t.Cols, isRef) }) {
		lines = append(lines, "A name that begins with "+record.RefPrefix+" is a reference: code written by hand for that workload.")
	}
	if len(c.Tables) > 0 && hasPeers(c.Tables[0]) {
		lines = append(lines, "A name that begins with "+record.PeerPrefix+" is a peer: what other people have built, used as they recommend.")
	}
	return lines
}

// timeLegend explains the times of tables that are made of slices.
func timeLegend(tables []compare.Table) (lines []string) {
	if slices.ContainsFunc(tables, hasTypical) {
		lines = append(lines,
			"time/op: total time ÷ total operations of a block, with all that it costs: of the base in its middle block, of the others that times the ratio. typical: without what comes in few slices; of the base, its median slice.",
			"The ratio of times is that of total times, within blocks. Unless rare costs are marked it is estimated by typical slices, which hardly change with what the machine does to single ones.")
	}
	if slices.ContainsFunc(tables, hasRareCosts) {
		lines = append(lines, "rare costs: what few slices cost is proven to differ from the base's, so the ratio is another one than the typical.")
	}
	return lines
}

// chartLegend explains what only the HTML has.
func chartLegend(c *compare.Comparison) []string {
	lines := []string{
		"In a picture of ratios the dot is the estimate and the bar its " + confidence(c) + " interval, over a logarithmic axis; the dashed line is the base. A hollow dot has no interval.",
	}
	if c.Margin > 0 {
		lines = append(lines, "The shaded band round 1 is the margin of "+formatPercent(c.Margin)+": an interval that lies in it says that there is no difference that matters.")
	}
	return append(lines,
		"Block by block: each value as it differs from its own line's median, in the order of time. What all lines do at once is the machine; a line that climbs or falls by itself has drifted.",
	)
}

// controlLine says what the A/A control of a row says.
func controlLine(t compare.Table, r compare.Row) string {
	if r.Control == nil {
		return ""
	}
	ratio, in := ratioOf(r.Control.Vs.Ratio, r.Control.Vs.Lo, r.Control.Vs.Hi)
	s := fmt.Sprintf("Control: a second process of %s against the first is %s", t.Cols[r.Control.Col].Name, ratio)
	if in != "" {
		s += " (" + in + ")"
	}
	if r.Control.Alarm {
		return s + ". They are told apart although they are the same code: differences of this size are not to be believed here."
	}
	return s + "; they are not told apart, as it should be."
}
