package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"golang.org/x/perf/benchmath"
)

// A judge turns a grid into the tables of a Comparison.
type judge struct {
	c     *Comparison
	notes map[string]int // index in c.Notes by text

	unpaired bool            // some comparison was not paired by block
	pooled   map[string]bool // configuration keys that differ within a cell
	differ   []difference
}

// A difference is a configuration key that differs between two columns.
type difference struct {
	key    string
	values []string // by column: "name: value"
}

// note returns the index of the note with this text.
func (j *judge) note(format string, args ...any) int {
	text := fmt.Sprintf(format, args...)
	i, ok := j.notes[text]
	if !ok {
		i = len(j.c.Notes)
		j.c.Notes = append(j.c.Notes, text)
		j.notes[text] = i
	}
	return i
}

// table judges all cells in one unit. The values are those of the tidy unit's
// written form.
func (j *judge) table(g *grid, unit string, opts CompareOptions) (Table, error) {
	t := Table{
		Unit:   g.orig[unit],
		Better: g.meta.GetBetter(unit),
		Exact:  g.meta.GetAssumption(unit) == benchmath.AssumeExact,
	}
	// Only columns and rows that have this unit, or should.
	has := func(row rowKey, col string) bool {
		cell := g.cells[cellKey{row, col}]
		return cell != nil && len(cell.values[unit]) > 0
	}
	rows := slices.DeleteFunc(slices.Clone(g.rows), func(row rowKey) bool {
		return !slices.ContainsFunc(g.cols, func(col string) bool { return has(row, col) })
	})
	cols := slices.DeleteFunc(slices.Clone(g.cols), func(col string) bool {
		return !slices.ContainsFunc(rows, func(row rowKey) bool {
			cell := g.cells[cellKey{row, col}]
			return cell != nil && (len(cell.values[unit]) > 0 || len(cell.holes) > 0)
		})
	})
	for _, col := range cols {
		t.Cols = append(t.Cols, Column{Name: col, Ref: strings.HasPrefix(col, RefPrefix)})
	}
	base := slices.Index(cols, opts.Base)
	if opts.Base != "" && !slices.Contains(g.cols, opts.Base) {
		return t, fmt.Errorf("no column %q to compare to; did you mean %q? The columns are: %s",
			opts.Base, nearest(opts.Base, g.cols), strings.Join(g.cols, ", "))
	}
	for _, row := range rows {
		r := Row{Name: row.name, Pkg: row.pkg, Base: base, Cells: make([]Cell, len(cols))}
		cells := make([]*gridCell, len(cols))
		for i, col := range cols {
			cells[i] = g.cells[cellKey{row, col}]
		}
		if opts.Base == "" {
			r.Base = firstBase(t.Cols, cells, unit)
		}
		if r.Base >= 0 && !has(row, cols[r.Base]) {
			r.Base = -1
		}
		j.row(&t, &r, cells, unit)
		t.Rows = append(t.Rows, r)
	}
	return t, nil
}

// firstBase returns the first reference, in plan order, that has values in
// this row; if the whole table has no reference, the first column.
func firstBase(cols []Column, cells []*gridCell, unit string) int {
	if !slices.ContainsFunc(cols, func(c Column) bool { return c.Ref }) {
		return 0
	}
	best := -1
	for i, c := range cells {
		if cols[i].Ref && c != nil && len(c.values[unit]) > 0 && (best < 0 || c.place.compare(cells[best].place) < 0) {
			best = i
		}
	}
	return best
}

// nearest returns the candidate with the fewest edits from s.
func nearest(s string, candidates []string) string {
	return slices.MinFunc(candidates, func(a, b string) int {
		return levenshtein.ComputeDistance(s, a) - levenshtein.ComputeDistance(s, b)
	})
}

// row fills the cells of r.
func (j *judge) row(t *Table, r *Row, cells []*gridCell, unit string) {
	samples := make([][]value, len(cells))
	most := 0
	onlyRefs := true
	for i, c := range cells {
		if c == nil {
			continue
		}
		samples[i] = c.values[unit]
		if !t.Exact {
			var reduced bool
			if samples[i], reduced = perBlock(samples[i]); reduced {
				r.Cells[i].Notes = append(r.Cells[i].Notes, j.note(
					"several values in a block were reduced to their median: they come from one process, and the process is what varies"))
			}
		}
		most = max(most, len(samples[i]))
		onlyRefs = onlyRefs && (t.Cols[i].Ref || len(samples[i]) == 0)
	}
	for i := range cells {
		cell, s := &r.Cells[i], samples[i]
		cell.N = len(s)
		for _, v := range s {
			cell.Blocks = append(cell.Blocks, BlockValue{File: v.file, Block: v.block, Layout: v.layout, V: v.v})
		}
		j.gaps(cell, cells[i], len(s), most)
		if cell.N == 0 {
			cell.Verdict = Absent
			if cells[i] != nil && len(cells[i].holes) > 0 {
				cell.Verdict = Missing
				if !cell.Hole {
					cell.Verdict = Skipped
				}
			} else if !t.Cols[i].Ref && !onlyRefs {
				cell.Verdict, cell.Hole = Missing, true
				cell.Notes = append(cell.Notes, j.note("no result, and the input names no reason"))
			}
			continue
		}
		sum := j.summary(t, s)
		cell.Center, cell.Lo, cell.Hi = sum.Center, sum.Lo, sum.Hi
		byValue := func(a, b value) int { return cmp.Compare(a.v, b.v) }
		cell.Min, cell.Max = slices.MinFunc(s, byValue).v, slices.MaxFunc(s, byValue).v
		for _, w := range sum.Warnings {
			cell.Notes = append(cell.Notes, j.note("%v", w))
		}
		if j.mixed(cells[i]) {
			cell.Notes = append(cell.Notes, j.note("pools results of different circumstances; see the warnings"))
		}
	}
	for i := range cells {
		cell := &r.Cells[i]
		switch {
		case cell.N == 0:
		case i == r.Base:
			cell.Verdict = Base
		case r.Base < 0:
			cell.Verdict = NoBase
		default:
			j.compare(t, cell, &r.Cells[r.Base], samples[i], samples[r.Base], unit)
			j.differences(t.Cols[r.Base].Name, cells[r.Base], t.Cols[i].Name, cells[i])
		}
	}
}

// perBlock returns one value a block, the median of the block's values, in
// order of appearance, and whether there was anything to reduce. Values
// without a block stay.
func perBlock(in []value) (out []value, reduced bool) {
	type key struct{ file, block string }
	index := make(map[key]int)
	var groups [][]float64
	for _, v := range in {
		k := key{v.file, v.block}
		i, ok := index[k]
		if !ok || v.block == "" {
			i = len(out)
			index[k] = i
			out = append(out, v)
			groups = append(groups, nil)
		} else {
			reduced = true
		}
		groups[i] = append(groups[i], v.v)
	}
	for i, g := range groups {
		slices.Sort(g)
		out[i].v = median(g)
	}
	return out, reduced
}

// gaps notes what a cell lacks and why.
func (j *judge) gaps(cell *Cell, c *gridCell, n, most int) {
	if c != nil && len(c.holes) > 0 {
		for _, h := range mergeHoles(c.holes) {
			if !h.Skipped {
				cell.Hole = true
			}
			cell.Notes = append(cell.Notes, j.note("%s", h))
		}
	} else if n > 0 && n < most {
		cell.Notes = append(cell.Notes, j.note("fewer values than others of the same benchmark, which have up to %d", most))
	}
	slices.Sort(cell.Notes)
	cell.Notes = slices.Compact(cell.Notes)
}

func (j *judge) summary(t *Table, s []value) benchmath.Summary {
	var assume benchmath.Assumption = benchmath.AssumeNothing
	if t.Exact {
		assume = benchmath.AssumeExact
	}
	return assume.Summary(j.sample(s), 1-j.c.Alpha)
}

// sample makes benchmath's sample of s. NewSample sorts in place, so it gets
// values of its own; s keeps its order, and with it the pairs.
func (j *judge) sample(s []value) *benchmath.Sample {
	return benchmath.NewSample(floats(s), &benchmath.Thresholds{CompareAlpha: j.c.Alpha})
}

func floats(s []value) []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = v.v
	}
	return out
}

// compare judges cell, of the values x, against base, of the values ref.
func (j *judge) compare(t *Table, cell, base *Cell, x, ref []value, unit string) {
	vs := &Versus{Ratio: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), P: math.NaN(), N: len(x), BaseN: len(ref)}
	cell.Vs = vs
	if base.Center != 0 {
		vs.Ratio = cell.Center / base.Center
	} else if cell.Center == 0 {
		vs.Ratio = 1
	}
	if t.Exact {
		// Lo and Hi are the least and the greatest value.
		switch {
		case cell.Lo == base.Lo && cell.Hi == base.Hi && cell.Lo == cell.Hi:
			cell.Verdict = Same
		case cell.Lo <= base.Hi && base.Lo <= cell.Hi:
			cell.Verdict = NoDifference
		default:
			cell.Verdict = word(unit, t.Better, cell.Center > base.Center)
		}
		return
	}
	if constant(x, ref) {
		cell.Verdict = Same // nothing varies, so there is nothing to test
		return
	}
	j.c.Comparisons++

	px, pref, paired := pairs(x, ref)
	logs := positive(x) && positive(ref)
	var sh shift
	if paired {
		vs.Paired, vs.N, vs.BaseN = true, len(px), len(px)
		d := make([]float64, len(px))
		for i := range d {
			if logs {
				d[i] = math.Log(px[i]) - math.Log(pref[i])
			} else {
				d[i] = px[i] - pref[i]
			}
		}
		sh = signedRank(d, j.c.Alpha)
		vs.P = sh.p
		if sh.minP > j.c.Alpha {
			cell.Notes = append(cell.Notes, j.note("need >= %d blocks that both columns have to show a difference at level %v",
				enoughPairs(j.c.Alpha), j.c.Alpha))
		}
	} else {
		j.unpaired = true
		a, b := floats(ref), floats(x)
		if logs {
			for _, s := range [][]float64{a, b} {
				for i := range s {
					s[i] = math.Log(s[i])
				}
			}
		}
		sh = rankSum(a, b, j.c.Alpha)
		res := benchmath.AssumeNothing.Compare(j.sample(ref), j.sample(x))
		vs.P = res.P
		for _, w := range res.Warnings {
			cell.Notes = append(cell.Notes, j.note("%v", w))
		}
	}
	if logs {
		vs.Ratio, vs.Lo, vs.Hi = math.Exp(sh.est), math.Exp(sh.lo), math.Exp(sh.hi)
	}
	switch {
	case sh.minP > j.c.Alpha:
		cell.Verdict = TooFew
	case vs.P > j.c.Alpha || sh.est == 0:
		cell.Verdict = NoDifference
	default:
		cell.Verdict = word(unit, t.Better, sh.est > 0)
	}
}

// pairs returns the values of x and ref that belong to the same block, and
// whether they can be paired: every value has a block, and some block has
// both. Blocks of different files are different blocks, since they were not
// measured together. What only one of the two has is left out.
func pairs(x, ref []value) (px, pref []float64, ok bool) {
	type key struct{ file, block string }
	of := make(map[key]float64)
	for _, v := range ref {
		if v.block == "" {
			return nil, nil, false
		}
		of[key{v.file, v.block}] = v.v
	}
	for _, v := range x {
		if v.block == "" {
			return nil, nil, false
		}
		if r, ok := of[key{v.file, v.block}]; ok {
			px, pref = append(px, v.v), append(pref, r)
		}
	}
	return px, pref, len(px) > 0
}

// enoughPairs returns how many pairs the signed rank test needs to find
// anything at all at level alpha.
func enoughPairs(alpha float64) int {
	n := 1
	for math.Ldexp(1, 1-n) > alpha {
		n++
	}
	return n
}

func positive(s []value) bool {
	return !slices.ContainsFunc(s, func(v value) bool { return !(v.v > 0) || math.IsInf(v.v, 1) })
}

// constant reports whether all values of both samples are the same.
func constant(a, b []value) bool {
	differs := func(v value) bool { return v.v != a[0].v }
	return !slices.ContainsFunc(a, differs) && !slices.ContainsFunc(b, differs)
}

// word returns the verdict for a value that is above (or below) its base.
func word(unit string, better int, above bool) Verdict {
	speed := strings.HasPrefix(unit, "sec") || strings.HasSuffix(unit, "-sec") || strings.HasSuffix(unit, "/s")
	good := above == (better > 0)
	switch {
	case better == 0 && above:
		return Higher
	case better == 0:
		return Lower
	case speed && good:
		return Faster
	case speed:
		return Slower
	case good:
		return Better
	}
	return Worse
}

// mixed reports whether a cell pools results whose circumstances differ, and
// remembers in what.
func (j *judge) mixed(c *gridCell) bool {
	found := false
	for key, values := range c.config {
		if len(values) > 1 {
			j.pooled[key] = true
			found = true
		}
	}
	return found
}

// differences remembers the circumstances in which two columns differ.
func (j *judge) differences(baseName string, base *gridCell, name string, c *gridCell) {
	for key, values := range c.config {
		a, b := strings.Join(base.config[key], ", "), strings.Join(values, ", ")
		if a != b {
			d := difference{key, []string{baseName + ": " + orNone(a), name + ": " + orNone(b)}}
			if !slices.ContainsFunc(j.differ, func(o difference) bool { return o.key == key && slices.Equal(o.values, d.values) }) {
				j.differ = append(j.differ, d)
			}
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "(not said)"
	}
	return s
}

// warn adds the warnings that concern the comparison as a whole.
func (j *judge) warn(g *grid) {
	warn := func(format string, args ...any) {
		j.c.Warnings = append(j.c.Warnings, fmt.Sprintf(format, args...))
	}
	var pooled []string
	for key := range j.pooled {
		pooled = append(pooled, key)
	}
	slices.Sort(pooled)
	for _, key := range pooled {
		warn("results that differ in %q are pooled in one cell; separate them with --filter or --col %s", key, key)
	}
	byKey := make(map[string][]string)
	var keys []string
	for _, d := range j.differ {
		if _, ok := byKey[d.key]; !ok {
			keys = append(keys, d.key)
		}
		for _, v := range d.values {
			if !slices.Contains(byKey[d.key], v) {
				byKey[d.key] = append(byKey[d.key], v)
			}
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		warn("the columns differ in %q: %s", key, strings.Join(byKey[key], "; "))
	}
	if j.unpaired {
		warn("some comparisons are unpaired (no common blocks): noise that drifts between the columns is taken for a difference far more often than the level says")
	}
	for _, f := range j.c.Files {
		holes := 0
		for _, h := range f.Holes {
			if !h.Skipped {
				holes++
			}
		}
		if holes > 0 {
			warn("holes in %s, measurements that were due and failed: %d", f.Label, holes)
		}
		for _, h := range f.Holes {
			if h.Case == "" && !h.Skipped {
				warn("no results of %s in %s, %s", h.Pkg, f.Label, h)
			}
		}
	}
	for _, row := range g.rows {
		if holes := g.rowOfHoles(row); len(holes) > 0 {
			warn("no results of %s, so it is in no table: %s", row.name, joinHoles(holes))
		}
	}
	if chance := float64(j.c.Comparisons) * j.c.Alpha; chance >= 1 {
		warn("%d comparisons were made at level %v each: about %.0f would be called different by chance if nothing differed",
			j.c.Comparisons, j.c.Alpha, chance)
	}
}

// rowOfHoles returns the holes of a row that has nothing else.
func (g *grid) rowOfHoles(row rowKey) []Hole {
	var holes []Hole
	for _, col := range g.cols {
		if cell := g.cells[cellKey{row, col}]; cell != nil {
			if len(cell.values) > 0 {
				return nil
			}
			holes = append(holes, cell.holes...)
		}
	}
	if !slices.ContainsFunc(holes, func(h Hole) bool { return !h.Skipped }) {
		return nil // nothing was due
	}
	return mergeHoles(holes)
}

func joinHoles(holes []Hole) string {
	texts := make([]string, len(holes))
	for i, h := range holes {
		texts[i] = h.String()
	}
	return strings.Join(texts, "; ")
}

// A Gate is the answer to "did anything get slower?". It looks at every
// comparison with a column that is not a reference, in every unit that has a
// good direction.
type Gate struct {
	// Slower names the cells that are worse than their base.
	Slower []string

	// Inconclusive names the cells that show neither that nor its opposite:
	// no difference shown, too few values, a hole, or no base.
	Inconclusive []string
}

// Gate judges the comparison as a whole. If nothing was compared, that is
// inconclusive too.
func (c *Comparison) Gate() Gate {
	var g Gate
	judged := 0
	for _, t := range c.Tables {
		if t.Better == 0 {
			continue
		}
		for _, r := range t.Rows {
			for i, cell := range r.Cells {
				if t.Cols[i].Ref || cell.Verdict == Absent || cell.Verdict == Skipped || cell.Verdict == Base && !cell.Hole {
					continue
				}
				judged++
				what := fmt.Sprintf("%s, %s, %s: %s", r.Name, t.Cols[i].Name, t.Unit, cell.Verdict)
				switch cell.Verdict {
				case Slower, Worse:
					g.Slower = append(g.Slower, what)
				case Faster, Better, Same:
					if cell.Hole {
						g.Inconclusive = append(g.Inconclusive, what+", but with a hole")
					}
				default:
					g.Inconclusive = append(g.Inconclusive, what)
				}
			}
		}
	}
	if judged == 0 {
		g.Inconclusive = append(g.Inconclusive, "nothing was compared")
	}
	return g
}
