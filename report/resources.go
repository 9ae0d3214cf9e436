package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// Resources are what processes used while they were measured: processor time,
// collections and memory. They explain times, and there are many of them, so text
// and Markdown have those only that are proven to differ. HTML has all.

// split parts the tables of c: what benchmarks report, and resources. Where there is
// nothing but resources, because a filter asks for them, they are what is asked.
func split(c *compare.Comparison) (reported, resources []compare.Table) {
	for _, t := range c.Tables {
		if t.Resource {
			resources = append(resources, t)
		} else {
			reported = append(reported, t)
		}
	}
	if len(reported) == 0 {
		return resources, nil
	}
	return reported, resources
}

// resourcesTitle is the head of the table of those that differ.
const resourcesTitle = "Resources that differ"

// noResources is said where no resource is proven to differ.
func noResources(c *compare.Comparison) string {
	return "Processor time, collections and memory: " + resourcesSay(c, nil)
}

// resourcesSay says how many resources are proven to differ.
func resourcesSay(c *compare.Comparison, resources []compare.Table) string {
	switch counts := resourceCounts(resources); {
	case c.ResourceComparisons == 0:
		return "nothing was compared."
	case counts == "":
		return fmt.Sprintf("no difference proven in %s.", counted(c.ResourceComparisons, "comparison"))
	default:
		return fmt.Sprintf("%s in %s.", counts, counted(c.ResourceComparisons, "comparison"))
	}
}

// resourceLayout lays out the resources that are proven to differ: a line for each
// benchmark, column and unit. It has no lines if there are none.
func resourceLayout(c *compare.Comparison, resources []compare.Table) layout {
	l := layout{
		head:  []string{"benchmark", columnHead(c), "unit", "base", "value", "ratio", confidence(c) + " interval", "verdict", ""},
		right: []bool{false, false, false, true, true, true, true, false, false},
	}
	// Of two versions the heads say which is which.
	versions := c.Col == record.SideKey && !slices.ContainsFunc(resources, func(t compare.Table) bool { return len(t.Cols) != 2 })
	if versions {
		l.head[3], l.head[4] = record.SideOld, record.SideNew
		l.head, l.right = slices.Delete(l.head, 1, 2), slices.Delete(l.right, 1, 2)
	}
	last := ""
	for _, at := range provenIn(resources) {
		name := benchmark(at.row)
		first := name != last
		last = name
		if !first {
			name = ""
		}
		base, unit := at.row.Cells[at.row.Base], at.table.Unit
		line := []string{
			name, at.table.Cols[at.col].Name, unit, formatValue(base.Center, unit), formatValue(at.cell.Center, unit),
			formatRatio(at.cell.Vs.Ratio), formatInterval(at.cell.Vs), string(at.cell.Verdict), remarks(at.cell),
		}
		if versions {
			line = slices.Delete(line, 1, 2)
		}
		l.rows, l.group = append(l.rows, line), append(l.group, first)
		l.verdicts, l.ref = append(l.verdicts, at.cell.Verdict), append(l.ref, at.table.Cols[at.col].Ref)
	}
	return l
}

// A place is a cell, and where it stands.
type place struct {
	table compare.Table
	row   compare.Row
	col   int
	cell  compare.Cell
}

// provenIn returns the cells of tables that are proven to differ, benchmark by
// benchmark and column by column.
func provenIn(tables []compare.Table) (out []place) {
	var rows []compare.Row // each benchmark once
	var cols []string
	for _, t := range tables {
		for _, r := range t.Rows {
			if !slices.ContainsFunc(rows, func(o compare.Row) bool { return o.Name == r.Name && o.Pkg == r.Pkg }) {
				rows = append(rows, r)
			}
		}
		for _, col := range t.Cols {
			if !slices.Contains(cols, col.Name) {
				cols = append(cols, col.Name)
			}
		}
	}
	for _, row := range rows {
		for _, col := range cols {
			for _, t := range tables {
				r, there := rowIn(t, row)
				j := columnIndex(t, col)
				if there && j >= 0 && r.Cells[j].Verdict.Proven() {
					out = append(out, place{t, r, j, r.Cells[j]})
				}
			}
		}
	}
	return out
}

// resourceCounts says how many resources are proven to differ, and which way: "3
// worse, 1 better"; empty for none.
func resourceCounts(resources []compare.Table) string {
	count := make(map[compare.Verdict]int)
	for _, at := range provenIn(resources) {
		count[at.cell.Verdict]++
	}
	var parts []string
	for _, v := range []compare.Verdict{compare.Worse, compare.Better, compare.Higher, compare.Lower} {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[v], v))
		}
	}
	return strings.Join(parts, ", ")
}
