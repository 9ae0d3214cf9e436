package compare

import (
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
// unit in which g has any, which is time for most. What has no value or nothing to
// be compared to waits for none.
func (c *Comparison) decided(g record.Group) bool {
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			if r.Name == g.Name && (r.Pkg == "" || r.Pkg == g.Pkg) {
				return !slices.ContainsFunc(r.Cells, func(cell Cell) bool {
					return cell.Vs != nil && !cell.Verdict.Proven() && cell.Verdict != Same
				})
			}
		}
	}
	return false // nothing is known of it
}
