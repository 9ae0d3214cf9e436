package compare

import (
	"math"
	"slices"

	"github.com/dynolab/dyno/internal/record"
)

// Decided returns the groups of plan that need no blocks after those that are in
// the results at path, as Compare judges them at the plan's level. What that may
// spend at each look is in the plan, so it follows from the complete blocks alone:
// a run that was interrupted decides as one that was not.
//
// Blocks that are measured later never take a decision back: at a later look, a
// comparison's p, and with it the others' after Holm's correction, can only become
// smaller.
func Decided(plan *record.Plan, path string) ([]record.Group, error) {
	c, err := Compare([]string{path}, Options{Col: plan.Col, Alpha: plan.Alpha, Margin: plan.Margin})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(plan.Groups(), func(g record.Group) bool { return !c.decided(g) }), nil
}

// decided reports whether each comparison of g has its answer: those of the first
// unit in which g has any, which is time for most, and those of what it allocates. What has no
// value or nothing to be compared to waits for none.
func (c *Comparison) decided(g record.Group) (known bool) {
	for _, t := range c.Tables {
		if known && !counted(t.Unit) {
			continue
		}
		for _, r := range t.Rows {
			if r.Name != g.Name || r.Pkg != "" && r.Pkg != g.Pkg {
				continue
			}
			if slices.ContainsFunc(r.Cells, func(cell Cell) bool { return cell.Vs != nil && !c.answered(cell) }) {
				return false
			}
			known = true
		}
	}
	return known
}

// answered reports whether a comparison has an answer that more blocks are not likely to change: what is
// proven to differ, but by less than the margin as it looks, may turn out not to matter.
func (c *Comparison) answered(cell Cell) bool {
	return cell.Verdict == Same || cell.Verdict.Proven() && !(math.Abs(math.Log(cell.Vs.Ratio)) < math.Log1p(c.Margin))
}
