package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/record"
)

// What files lack, or have that no run wrote, makes no verdict: neither does what is pooled and
// is not the same.

// A damaged is why rows have no verdicts.
type damaged struct {
	kind string          // what is wrong
	what string          // the same with file and line, the first of several
	rows map[rowKey]bool // nil: all that the file has figures of
	file string          // label
}

// addDamage takes in what shows that a file has not what was written.
func (g *grid) addDamage(s *source, damage []record.Damage) {
	for _, d := range damage {
		r := damaged{kind: d.What, what: fmt.Sprintf("%s:%d: %s", s.file.Path, d.Line, d.What), file: s.file.Label}
		if d.Of != nil {
			r.rows = make(map[rowKey]bool)
		}
		for _, of := range d.Of {
			if at := s.labelled(of); g.passes(at) {
				r.rows[g.rowOf(at)] = true
			}
		}
		switch i := slices.IndexFunc(g.damage, func(o damaged) bool { return o.file == r.file && o.kind == d.What && len(o.rows) > 0 }); {
		case i >= 0:
			maps.Copy(g.damage[i].rows, r.rows)
		case len(d.Of) == 0 || len(r.rows) > 0:
			g.damage = append(g.damage, r)
		}
	}
}

// passes reports whether the filter lets something through that has a value in no unit: it is lent
// one in each, so that a filter by unit does not hide it.
func (g *grid) passes(r *benchfmt.Result) bool {
	all := *r
	all.Values = nil
	for _, u := range g.units {
		all.Values = append(all.Values, benchfmt.Value{Unit: u, OrigUnit: g.orig[u]})
	}
	ok, _ := g.filter.Apply(&all)
	return ok
}

// rowOf is the row of a result.
func (g *grid) rowOf(r *benchfmt.Result) rowKey {
	key := rowKey{name: g.byRow.Project(r).StringValues()}
	if !g.colKeys["pkg"] {
		key.pkg = record.ConfigOf(r, "pkg")
	}
	return key
}

// has reports whether a cell has figures of the file with this label.
func (c *gridCell) has(file string) bool {
	for _, values := range c.values {
		if slices.ContainsFunc(values, func(v value) bool { return v.file == file }) {
			return true
		}
	}
	return false
}

// damageOf returns why a row is damaged, nil if it is not.
func (g *grid) damageOf(row rowKey) (why []string) {
	for _, r := range g.damage {
		hit := r.rows[row]
		for _, col := range g.cols {
			if c := g.cells[cellKey{row, col}]; r.rows == nil && c != nil && c.has(r.file) {
				hit = true
			}
		}
		if hit && !slices.Contains(why, r.what) {
			why = append(why, r.what)
		}
	}
	return why
}

// shownDamage is how much of the damage of a file is told; there may be one a line.
const shownDamage = 5

// tellDamage returns the warnings that what was measured is not all there.
func (g *grid) tellDamage() (warnings []string) {
	told := make(map[string]int)
	for _, r := range g.damage {
		told[r.file]++
		switch n := told[r.file]; {
		case n > shownDamage:
		case r.rows == nil:
			warnings = append(warnings, r.what+": nothing of this file is proven")
		case len(r.rows) == 0:
			warnings = append(warnings, r.what+": no results are there")
		default:
			warnings = append(warnings, r.what+": nothing is proven of "+nameSome(r.names()))
		}
	}
	for _, s := range g.files {
		if n := told[s] - shownDamage; n > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d more such lines", s, n))
		}
	}
	return warnings
}

// names are those of the rows.
func (r damaged) names() (names []string) {
	for row := range r.rows {
		names = append(names, row.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// nameSome lists names, those that come first of many.
func nameSome(names []string) string {
	const most = 4
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// blameNobody takes back that a benchmark of the new version is at fault where what shows is
// a file that lacks results.
func (g *grid) blameNobody() {
	for i, f := range g.failures {
		if f.Reason == noReason && g.damageOf(rowKey{f.Row, f.Pkg}) != nil {
			g.failures[i].Fault = false
		}
	}
}

// markDamaged marks the cells of a row that is damaged, as why says.
func (e *evaluator) markDamaged(r *Row, why []string) {
	for i := range r.Cells {
		if cell := &r.Cells[i]; len(why) > 0 && cell.N > 0 {
			cell.Damaged = true
			e.mark(cell, "the file is damaged: %s", strings.Join(why[:min(len(why), shownDamage)], "; "))
		}
	}
}

// unknown takes back all that a cell says beside its values.
func (c *Cell) unknown() {
	c.Lo, c.Hi = math.Inf(-1), math.Inf(1)
	if v := c.Vs; v != nil {
		nan := math.NaN()
		v.Lo, v.Hi, v.P, v.Adjusted, v.Detectable = nan, nan, nan, nan, nan
		v.Need, v.NeedTime, v.Undecidable = 0, 0, false
	}
	if c.Verdict.compared() {
		c.Verdict = Unproven
	}
}

// twice returns the path of an earlier source that has the results of the same run; "" if there
// is none.
func (d *Data) twice(i int) string {
	run := func(s *source) string {
		var b strings.Builder
		for _, key := range []string{"started", "plan", "seed", "machine"} {
			v := s.from.Value(key)
			if v == "" && key != "machine" {
				return ""
			}
			b.WriteString(v + "\n")
		}
		return b.String()
	}
	of := run(d.sources[i])
	for _, s := range d.sources[:i] {
		if of != "" && run(s) == of {
			return s.file.Path
		}
	}
	return ""
}

// unprove takes back what is said of cells that are damaged, and the verdicts of those that pool
// what is not the same.
func (e *evaluator) unprove() {
	for _, t := range e.c.Tables {
		for _, row := range t.Rows {
			for k := range row.Cells {
				cell := &row.Cells[k]
				switch {
				case cell.Damaged:
					cell.unknown()
				case (cell.Verdict.Proven() || cell.Verdict == Same) && (cell.Pools || row.Base >= 0 && row.Cells[row.Base].Pools):
					cell.Verdict = Unproven
				}
			}
		}
	}
}
