package runner

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/bisect"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
)

// A bisectRow is what is searched: one benchmark in one unit.
type bisectRow struct {
	record.Case
	cpu   int
	name  string // of the row
	unit  string
	typed bool // the typical time speaks, as for its ends
	exact bool // counts
	dir   string
}

// choose chooses the row to search.
func (b *bisectRun) choose(path string) error {
	d, err := compare.Read([]string{path}, nil)
	if err != nil {
		return err
	}
	c, err := d.Compare(b.c.Compare)
	if err != nil {
		return err
	}
	units := []string{b.c.Unit}
	if b.c.Memory {
		units = append(units, unitBytes)
	}
	best, others := findRow(c.Tables, units)
	if best.row == nil {
		var has []string
		for _, t := range c.Tables {
			has = append(has, t.Unit)
		}
		return fmt.Errorf("no benchmark gives figures in %s at both ends; units are: %s", b.c.Unit, strings.Join(has, ", "))
	}
	for _, l := range locate(b.plan) {
		if l.Row == best.row.Name && (best.row.Pkg == "" || best.row.Pkg == l.Case.Pkg) && l.Case.Side == record.SideNew {
			b.row.Case, b.row.cpu = l.Case, l.CPU
		}
	}
	b.row.Side = ""
	b.row.name, b.row.unit = best.row.Name, best.unit
	b.row.exact = isCount(best.unit) && best.exactly()
	b.row.typed = best.cell.Vs != nil && !best.cell.Vs.RareCosts && !math.IsNaN(best.cell.Vs.Typical)
	if len(others) > 0 {
		b.note("other benchmarks differ as well, and are not searched: %s; --bench names one", strings.Join(others, ", "))
	}
	i := slices.IndexFunc(b.v.binaries[1], func(o testbin.Binary) bool { return o.Pkg == b.row.Pkg })
	b.row.dir, err = filepath.Rel(b.v.trees[1].Dir, b.v.binaries[1][i].Dir)
	return err
}

// findRow finds the row to search in the first of these units in which one differs: of those
// that are proven to be worse the one that is by most, else of those that differ. If none
// differs in any unit, it is the one of which that is least sure, in the first unit that has
// rows. others are the names of other rows that differ in its unit.
func findRow(tables []compare.Table, units []string) (best foundRow, others []string) {
	for _, unit := range units {
		i := slices.IndexFunc(tables, func(t compare.Table) bool { return t.Unit == unit })
		if i < 0 {
			continue
		}
		found, differ := tallest(&tables[i])
		if found.rank > max(best.rank, 1) || best.row == nil {
			best, others = found, differ
		}
		if best.rank > 1 {
			break
		}
	}
	return best, slices.DeleteFunc(others, func(name string) bool { return name == best.row.Name })
}

// tallest returns the row of a table that is rather searched than the others, and the names
// of all that differ.
func tallest(t *compare.Table) (best foundRow, differ []string) {
	for i := range t.Rows {
		for k := range t.Rows[i].Cells {
			f := foundRow{&t.Rows[i], &t.Rows[i].Cells[k], t.Unit, 1}
			if t.Cols[k].Name != record.SideNew || f.cell.N == 0 {
				continue
			}
			switch {
			case f.cell.Verdict.Bad(), f.cell.Verdict == compare.Lower, f.cell.Verdict == compare.Higher:
				f.rank = 3
			case f.cell.Verdict.Proven():
				f.rank = 2
			}
			if f.rank > 1 {
				differ = append(differ, f.row.Name)
			}
			if f.rank > best.rank || f.rank == best.rank && f.before(best.cell) {
				best = f
			}
		}
	}
	return best, differ
}

// A foundRow is a row of the ends.
type foundRow struct {
	row  *compare.Row
	cell *compare.Cell
	unit string
	rank int // 3 if it is proven to be worse, 2 to differ
}

// exactly reports whether counts are so much alike in all blocks of an end, beside the step
// between both, that one block tells which end a version is like. What a benchmark allocates
// by chance, as from pools, is searched like times: by ratios, which need values above zero.
func (f foundRow) exactly() bool {
	if f.row.Base < 0 {
		return true
	}
	base := &f.row.Cells[f.row.Base]
	scatter := max(base.Max-base.Min, f.cell.Max-f.cell.Min)
	return scatter <= math.Abs(f.cell.Center-base.Center)/8 || base.Min <= 0 || f.cell.Min <= 0
}

// before reports whether f is rather searched than another one of its rank: what is proven by
// how much it is, else by how sure it is.
func (f foundRow) before(other *compare.Cell) bool {
	if f.rank == 1 && f.cell.Vs != nil && other.Vs != nil {
		return f.cell.Vs.P < other.Vs.P
	}
	return distance(f.cell) > distance(other)
}

// locate is compare.Locate for a plan of sides.
func locate(plan *record.Plan) []compare.Located {
	all, err := compare.Locate(plan, record.SideKey)
	if err != nil {
		panic(err) // the key is one
	}
	return all
}

// distance is how far a cell lies from its base.
func distance(c *compare.Cell) float64 {
	if c == nil || c.Vs == nil || math.IsNaN(c.Vs.Ratio) || c.Vs.Ratio <= 0 {
		return 0
	}
	return math.Abs(math.Log(c.Vs.Ratio))
}

// read reads a measurement's results. positions are those of its sides, and base is the one
// that levels are above.
func (b *bisectRun) read(file string, positions map[string]int, base int) (*bisect.Measured, error) {
	path := filepath.Join(b.log.folder, file)
	d, err := compare.Read([]string{path}, nil)
	if err != nil {
		return nil, err
	}
	sideOf := make(map[int]string)
	for side, p := range positions {
		sideOf[p] = side
	}
	m := &bisect.Measured{Levels: make(map[int][]float64), Failed: make(map[int]string)}
	cells, err := b.cells(d, compare.Options{Base: sideOf[base]})
	if err != nil {
		return nil, err
	}
	fillLevels(m, cells, positions, sideOf[base], b.row)
	m.Compare = func(x, y int, alpha float64) (bisect.Comparison, error) {
		o := b.c.Compare
		o.Base, o.Alpha = sideOf[x], alpha
		o.Filter = fmt.Sprintf("side:(%s OR %s)", sideOf[x], sideOf[y])
		if file == endsFile {
			o.Filter = "" // all its benchmarks are one report
		}
		cells, err := b.cells(d, o)
		if err != nil {
			return bisect.Comparison{}, err
		}
		return b.comparison(cells, sideOf[x], sideOf[y]), nil
	}
	return m, nil
}

// cells are what the row has in its unit, by side.
func (b *bisectRun) cells(d *compare.Data, o compare.Options) (map[string]*compare.Cell, error) {
	o.Col = record.SideKey
	c, err := d.Compare(o)
	if err != nil {
		return nil, err
	}
	cells := make(map[string]*compare.Cell)
	for _, t := range c.Tables {
		for i := range t.Rows {
			r := &t.Rows[i]
			if r.Name != b.row.name || r.Pkg != "" && r.Pkg != b.row.Pkg || t.Unit != b.row.unit && len(cells) > 0 {
				continue
			}
			for k := range r.Cells {
				if cell := &r.Cells[k]; t.Unit == b.row.unit || cell.N == 0 {
					cells[t.Cols[k].Name] = cell
				}
			}
		}
	}
	for _, f := range c.Failures {
		if cell := cells[f.Col]; cell != nil && cell.Failure == "" {
			cell.Failure = f.Reason
		}
	}
	for side, cell := range cells {
		if cell.N == 0 && cell.Failure == "" && len(cell.Notes) > 0 {
			cell.Failure = c.Notes[cell.Notes[0]]
		}
		cells[side] = cell
	}
	return cells, nil
}

// fillLevels fills in the levels of blocks that all sides have, and why a side has none.
func fillLevels(m *bisect.Measured, cells map[string]*compare.Cell, positions map[string]int, base string, row bisectRow) {
	values := make(map[string]float64) // of the base, by block
	if cell := cells[base]; cell != nil {
		for _, v := range cell.Blocks {
			values[v.Block] = v.V
		}
	}
	sides := make(map[string]int) // how many have a level in a block
	for side, p := range positions {
		cell := cells[side]
		if cell == nil || cell.N == 0 {
			m.Failed[p] = "gave no figure"
			if cell != nil && cell.Failure != "" {
				m.Failed[p] = cell.Failure
			}
			continue
		}
		some := false
		for _, v := range cell.Blocks {
			if row.known(v, values[v.Block]) {
				sides[v.Block]++
				some = true
			}
		}
		if !some {
			m.Failed[p] = "gave no figure that has a ratio to the other versions' figures"
		}
	}
	well := len(positions) - len(m.Failed)
	for side, p := range positions {
		if m.Failed[p] != "" {
			continue
		}
		for _, v := range cells[side].Blocks {
			if sides[v.Block] == well {
				m.Levels[p] = append(m.Levels[p], row.level(v, values[v.Block]))
			}
		}
		if len(m.Levels[p]) == 0 {
			m.Failed[p] = "gave no figure in any block in which the others did"
		}
	}
}

// level returns by how much a value of a block lies above that of the base. It is not a
// number, or not a finite one, if a ratio asks for values above zero.
func (r bisectRow) level(v compare.BlockValue, base float64) float64 {
	switch {
	case r.exact:
		return v.V - base
	case r.typed && v.Typical > 0:
		return math.Log(v.Typical)
	default:
		return math.Log(v.Ratio)
	}
}

func (r bisectRow) known(v compare.BlockValue, base float64) bool {
	level := r.level(v, base)
	return !math.IsNaN(level) && !math.IsInf(level, 0)
}

// comparison is what a comparison says of a side against another one.
func (b *bisectRun) comparison(cells map[string]*compare.Cell, base, side string) bisect.Comparison {
	nan := math.NaN()
	from, cell := cells[base], cells[side]
	j := bisect.Comparison{Ratio: nan, Lo: nan, Hi: nan, P: nan, Detectable: nan, Base: nan, X: nan}
	if from == nil || cell == nil || cell.Vs == nil {
		return j
	}
	j.Word, j.Base, j.X = string(cell.Verdict), from.Center, cell.Center
	j.Proven = cell.Verdict.Proven()
	j.Same = cell.Verdict == compare.Same
	vs := cell.Vs
	j.Ratio, j.Lo, j.Hi, j.P, j.Detectable = vs.Ratio, vs.Lo, vs.Hi, vs.Adjusted, vs.Detectable
	j.Need = vs.Need
	return j
}
