package runner

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dynolab/dyno/internal/bisect"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// An end is a benchmark at both ends, in blocks from least to most.
type end struct {
	name                     string
	oldMin, oldMax, min, max float64
	verdict                  compare.Verdict
	p                        float64
}

// tableOf is a table of benchmarks at both ends.
func tableOf(unit string, ends ...end) compare.Table {
	t := compare.Table{Unit: unit, Cols: []compare.Column{{Name: record.SideOld}, {Name: record.SideNew}}}
	for _, e := range ends {
		old := compare.Cell{N: 6, Min: e.oldMin, Max: e.oldMax, Center: (e.oldMin + e.oldMax) / 2}
		cell := compare.Cell{N: 6, Min: e.min, Max: e.max, Center: (e.min + e.max) / 2, Verdict: e.verdict}
		cell.Vs = &compare.Versus{Ratio: cell.Center / old.Center, P: e.p}
		t.Rows = append(t.Rows, compare.Row{Name: e.name, Cells: []compare.Cell{old, cell}})
	}
	return t
}

func TestFindRow(t *testing.T) {
	allocs := func(ends ...end) compare.Table { return tableOf(unitAllocs, ends...) }
	bytes := func(ends ...end) compare.Table { return tableOf(unitBytes, ends...) }
	same := end{"Same", 5, 5, 5, 5, compare.Same, 1}
	for name, c := range map[string]struct {
		tables []compare.Table
		row    string // and the unit
		others []string
	}{
		"what is worse by most":                     {[]compare.Table{allocs(same, end{"A", 10, 10, 11, 11, compare.Worse, 0}, end{"B", 10, 10, 12, 12, compare.Worse, 0})}, "B allocs/op", []string{"A"}},
		"what is worse before what is better":       {[]compare.Table{allocs(end{"A", 10, 10, 5, 5, compare.Better, 0}, end{"B", 10, 10, 11, 11, compare.Worse, 0})}, "B allocs/op", []string{"A"}},
		"what is better if nothing is worse":        {[]compare.Table{allocs(same, end{"A", 10, 10, 5, 5, compare.Better, 0})}, "A allocs/op", nil},
		"allocations before bytes that are more so": {[]compare.Table{allocs(end{"A", 10, 10, 9, 9, compare.Better, 0}), bytes(end{"A", 10, 10, 90, 90, compare.Worse, 0})}, "A allocs/op", nil},
		"bytes if allocations do not differ":        {[]compare.Table{allocs(same), bytes(end{"Same", 10, 10, 12, 12, compare.Worse, 0})}, "Same B/op", nil},
		"what is least sure if nothing differs":     {[]compare.Table{allocs(same, end{"A", 5, 5, 5.1, 5.1, compare.Inconclusive, 0.2}), bytes(same)}, "A allocs/op", nil},
		"no allocations at all":                     {[]compare.Table{bytes(same)}, "Same B/op", nil},
	} {
		best, others := findRow(c.tables, []string{unitAllocs, unitBytes})
		if best.row == nil || best.row.Name+" "+best.unit != c.row || !slices.Equal(others, c.others) {
			t.Errorf("%s: %+v and others %q, want %s and %q", name, best, others, c.row, c.others)
		}
	}
	if best, _ := findRow([]compare.Table{bytes(same)}, []string{unitAllocs}); best.row != nil {
		t.Errorf("of no such unit: %+v", best.row)
	}
}

// TestExactly proves that counts which vary are not believed by a single block.
func TestExactly(t *testing.T) {
	for name, c := range map[string]struct {
		end  end
		want bool
	}{
		"counts":                              {end{"", 297, 297, 305, 305, "", 0}, true},
		"with what the runtime does beside":   {end{"", 297, 297.02, 305.01, 305.9, "", 0}, true},
		"bytes from pools":                    {end{"", 47000, 47900, 47300, 49000, "", 0}, false},
		"which vary at the bad end only":      {end{"", 297, 297, 300, 310, "", 0}, false},
		"which have no ratio, as they vanish": {end{"", 0, 0.5, 1, 1.5, "", 0}, true},
	} {
		table := tableOf(unitBytes, c.end)
		f := foundRow{row: &table.Rows[0], cell: &table.Rows[0].Cells[1]}
		if f.exactly() != c.want {
			t.Errorf("%s: %v, want %v", name, !c.want, c.want)
		}
	}
}

// TestFillLevels proves that levels are those of blocks in which each side has one, and that a side
// without any is told.
func TestFillLevels(t *testing.T) {
	nan := math.NaN()
	cell := func(ratios ...float64) *compare.Cell { // of values in blocks a, b, …; those of the base are 10
		c := &compare.Cell{N: len(ratios)}
		for i, r := range ratios {
			c.Blocks = append(c.Blocks, compare.BlockValue{Block: string(rune('a' + i)), V: 10 * r, Ratio: r, Typical: nan})
		}
		return c
	}
	double := math.Log(2)
	for name, c := range map[string]struct {
		row    bisectRow
		new, x *compare.Cell
		levels map[int][]float64
		failed []int
	}{
		"ratios":                         {bisectRow{}, cell(2, 2), cell(1, 2), map[int][]float64{0: {0, 0}, 9: {double, double}, 5: {0, double}}, nil},
		"differences":                    {bisectRow{exact: true}, cell(2, 2), cell(1, 0), map[int][]float64{0: {0, 0}, 9: {10, 10}, 5: {0, -10}}, nil},
		"a block without a ratio":        {bisectRow{}, cell(2, 2), cell(nan, 2), map[int][]float64{0: {0}, 9: {double}, 5: {double}}, nil},
		"a version without a ratio":      {bisectRow{}, cell(2, 2), cell(nan, nan), map[int][]float64{0: {0, 0}, 9: {double, double}}, []int{5}},
		"a version that is not there":    {bisectRow{}, cell(2, 2), cell(), map[int][]float64{0: {0, 0}, 9: {double, double}}, []int{5}},
		"no block in which all have one": {bisectRow{}, cell(2, nan), cell(nan, 2), map[int][]float64{}, []int{0, 5, 9}},
	} {
		m := &bisect.Measured{Levels: make(map[int][]float64), Failed: make(map[int]string)}
		cells := map[string]*compare.Cell{"old": cell(1, 1), "new": c.new, "x": c.x}
		fillLevels(m, cells, map[string]int{"old": 0, "new": 9, "x": 5}, "old", c.row)
		if !maps.EqualFunc(m.Levels, c.levels, slices.Equal) || !slices.Equal(slices.Sorted(maps.Keys(m.Failed)), c.failed) {
			t.Errorf("%s: levels %v and failed %v, want %v and %v", name, m.Levels, m.Failed, c.levels, c.failed)
		}
	}
}
