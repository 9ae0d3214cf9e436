package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// An evaluator turns a grid into the tables of a Comparison.
type evaluator struct {
	c      *Comparison
	looks  map[string]stats.Looks // by file
	notes  map[string]int         // index in c.Notes by text
	times  map[timesKey]times     // of the grid, as slices is
	slices map[*measured]*Distribution

	tested   []*tested // in the order of c's tables
	controls []*tested

	// whole are those and the ones that the filter has left out, which tell as well how much
	// blocks resemble the ones before; nil if there is no filter.
	whole []*tested

	partial  bool                // some times lack most collections of garbage
	unpaired bool                // some comparison was not paired by block
	across   bool                // what is compared is the same whenever and wherever it is counted
	pooled   map[string]bool     // configuration keys that differ within a cell
	differ   map[string][]string // what columns say of configuration keys in which they differ
}

// note returns the index of the note with this text.
func (e *evaluator) note(format string, args ...any) int {
	text := fmt.Sprintf(format, args...)
	i, ok := e.notes[text]
	if !ok {
		i = len(e.c.Notes)
		e.c.Notes = append(e.c.Notes, text)
		e.notes[text] = i
	}
	return i
}

// table judges all cells in one unit, for t. The values are those of the tidy unit's
// written form.
func (e *evaluator) table(t *Table, g *grid, unit string, opts Options) error {
	t.Unit, t.Better = g.orig[unit], betterOf(g.meta, g.orig[unit])
	t.Exact = g.meta.GetAssumption(unit) == benchmath.AssumeExact
	if instructions(unit) { // whether or not the file says so
		t.Better, t.Exact = -1, true
	}
	counting := slices.ContainsFunc(g.units, func(u string) bool { return g.orig[u] == record.UnitCounted })
	t.Resource = slices.Contains(resourceUnits, t.Unit) || counting && t.Unit != record.UnitCounted
	// Only columns and rows that have this unit, or should.
	has := func(row rowKey, col string) bool {
		cell := g.cells[cellKey{row, col}]
		return cell != nil && len(cell.values[unit]) > 0
	}
	// The first table also has what failed, and so has no figure in any.
	failed := func(row rowKey) bool { return unit == g.units[0] && g.versions() && len(g.failed(row)) > 0 }
	rows := slices.DeleteFunc(slices.Clone(g.rows), func(row rowKey) bool {
		return !failed(row) && !slices.ContainsFunc(g.cols, func(col string) bool { return has(row, col) })
	})
	silent := func(col string) bool {
		return !slices.ContainsFunc(rows, func(row rowKey) bool {
			cell := g.cells[cellKey{row, col}]
			return has(row, col) || cell != nil && len(cell.holes) > 0
		})
	}
	cols := slices.Clone(g.cols)
	if !g.pair() {
		cols = slices.DeleteFunc(cols, silent)
	}
	for _, col := range cols {
		t.Cols = append(t.Cols, Column{Name: col, Ref: record.IsReference(col), Peer: record.IsPeer(col), Silent: silent(col)})
	}
	base := slices.Index(cols, opts.Base)
	if opts.Base != "" && !slices.Contains(g.cols, opts.Base) {
		return fmt.Errorf("no column %q to compare to%s The columns are: %s", opts.Base, didYouMean(opts.Base, g.cols), strings.Join(g.cols, ", "))
	}
	t.Rows = make([]Row, len(rows))
	for i, row := range rows {
		r := &t.Rows[i]
		*r = Row{Name: row.name, Pkg: row.pkg, Package: g.packageOf(row), Base: base, Cells: make([]Cell, len(cols))}
		cells := make([]*gridCell, len(cols))
		for k, col := range cols {
			cells[k] = g.cells[cellKey{row, col}]
		}
		if opts.Base == "" {
			r.Base = firstBase(t.Cols, cells, unit)
		}
		if r.Base >= 0 && (opts.alone || !has(row, cols[r.Base])) {
			r.Base = -1
		}
		e.row(t, r, cells, unit)
		e.control(t, r, cells, unit)
		e.markDamaged(r, g.damageOf(row))
	}
	return nil
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

// didYouMean ends a sentence about s with the nearest candidate, if one is near enough to be
// meant.
func didYouMean(s string, candidates []string) string {
	if near := console.Nearest(s, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "."
}

// row fills the cells of r.
func (e *evaluator) row(t *Table, r *Row, cells []*gridCell, unit string) {
	samples := make([][]value, len(cells))
	most := 0
	outside := func(i int) bool { return t.Cols[i].Ref || t.Cols[i].Peer } // is there for some benchmarks only
	onlyOutside := true
	for i, c := range cells {
		if c == nil {
			continue
		}
		samples[i] = c.values[unit]
		if !t.Exact {
			var reduced bool
			if samples[i], reduced = perBlock(samples[i]); reduced {
				e.mark(&r.Cells[i], "several values in a block were reduced to their median: they come from one process, and the process is what varies")
			}
		}
		samples[i] = withTwins(samples[i], c.control[unit])
		most = max(most, len(samples[i]))
		onlyOutside = onlyOutside && (outside(i) || len(samples[i]) == 0)
	}
	for i, c := range cells {
		cell := &r.Cells[i]
		e.gaps(cell, c, len(samples[i]), most)
		switch {
		case len(samples[i]) > 0:
			e.figures(t, cell, c, samples[i])
		case c != nil && len(c.holes) > 0:
			cell.Verdict = Missing
			if !cell.Hole {
				cell.Verdict = Skipped
			}
		case t.Cols[i].Silent:
			// nothing was due: what one of a pair never reports is a warning
		case !outside(i) && !onlyOutside:
			cell.Verdict, cell.Hole = Missing, true
			e.mark(cell, noReason)
		}
	}
	for i := range cells {
		cell := &r.Cells[i]
		switch {
		case cell.N == 0:
		case i == r.Base:
			cell.Verdict = Base
			for k := range cell.Blocks {
				cell.Blocks[k].Ratio = 1
			}
		case r.Base < 0:
			cell.Verdict = NoBase
		default:
			e.across = simulated(unit) && sameProcessor(cells[i], cells[r.Base])
			e.compare(t, r, i, samples[i], samples[r.Base], unit)
			e.differences(t.Cols[r.Base].Name, cells[r.Base], t.Cols[i].Name, cells[i])
		}
	}
}

// figures sums up the values of a cell, of which there are some.
func (e *evaluator) figures(t *Table, cell *Cell, c *gridCell, values []value) {
	cell.N, cell.Slices, cell.Blocks = len(values), e.distribution(values), blockValues(values)
	var assume benchmath.Assumption = benchmath.AssumeNothing
	if t.Exact {
		assume = benchmath.AssumeExact
	}
	sum := assume.Summary(e.sample(values), 1-e.c.Alpha)
	cell.Center, cell.Lo, cell.Hi = sum.Center, sum.Lo, sum.Hi
	cell.Min, cell.Max = slices.Min(floats(values)), slices.Max(floats(values))
	for _, w := range sum.Warnings {
		e.mark(cell, "%v", w)
	}
	if cell.Pools = e.mixed(c); cell.Pools {
		e.mark(cell, "pools results of different circumstances; see the warnings")
	}
}

// blockValues are the values of blocks, without a ratio.
func blockValues(values []value) []BlockValue {
	out := make([]BlockValue, len(values))
	for i, v := range values {
		out[i] = BlockValue{File: v.file, Block: v.block, Layout: v.layout, V: v.v, Ratio: math.NaN(), Typical: math.NaN()}
	}
	return out
}

// perBlock returns one value a block, the median of the block's values, in
// order of appearance, and whether there was anything to reduce. Values
// without a block stay. It returns in if there was nothing.
func perBlock(in []value) (out []value, reduced bool) {
	if ascending(in) {
		return in, false
	}
	index := make(map[blockID]int)
	var groups [][]float64
	for _, v := range in {
		i, ok := index[v.blockID]
		if !ok || v.block == "" {
			i, index[v.blockID] = len(out), len(out)
			out, groups = append(out, v), append(groups, nil)
		}
		groups[i] = append(groups[i], v.v)
	}
	for i, g := range groups {
		if len(g) > 1 {
			slices.Sort(g)
			out[i].v, out[i].rounds = stats.Median(g), nil // which are of one of them
		}
	}
	return out, len(out) < len(in)
}

// ascending reports whether values are of blocks of one file, each of a later one than the value
// before, as a run writes them.
func ascending(s []value) bool {
	for i := range s {
		if s[i].number < 1 || i > 0 && (s[i].file != s[i-1].file || s[i].number <= s[i-1].number) {
			return false
		}
	}
	return true
}

// gaps notes what a cell lacks and why.
func (e *evaluator) gaps(cell *Cell, c *gridCell, n, most int) {
	if c != nil && len(c.holes) > 0 {
		cell.Hole = len(due(c.holes)) > 0
		for _, h := range mergeHoles(c.holes) {
			e.mark(cell, "%s", h)
		}
	} else if n > 0 && n < most {
		e.mark(cell, "fewer values than others of the same benchmark, which have up to %d", most)
	}
	slices.Sort(cell.Notes)
	cell.Notes = slices.Compact(cell.Notes)
}

// sample makes benchmath's sample of s. NewSample sorts in place, so it gets
// values of its own; s keeps its order, and with it the pairs.
func (e *evaluator) sample(s []value) *benchmath.Sample {
	return benchmath.NewSample(floats(s), &benchmath.Thresholds{CompareAlpha: e.c.Alpha})
}

func floats(s []value) []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = v.v
	}
	return out
}

// tested is a comparison that was tested, before the tests are taken together.
type tested struct {
	table *Table
	row   *Row
	col   int // of the cell that is compared
	pairs []valuePair

	vs    *Versus
	unit  string // tidy
	shift stats.Shift

	// logs says that the shift is the logarithm of a ratio. blocks has the
	// differences of the blocks, in order, unless the two were measured apart.
	logs   bool
	blocks stats.Blocks
	looks  stats.Looks

	// typical has the typical differences of the blocks, where they are made of
	// slices. If the answer is theirs, rough is the plain mean with its standard error.
	// share is the part of the level that the answer spends.
	typical []float64
	rough   *stats.Shift
	share   float64

	tail []float64     // by how much the tails moved beyond what is typical, a block
	took time.Duration // measuring it, a block

	counts bool // instructions on a simulated processor, which layouts do not change

	partial bool    // the values lack most collections of garbage
	rare    float64 // the part of the time that may be missing since collections are rare
}

// String names what was compared.
func (t *tested) String() string {
	return fmt.Sprintf("%s, %s, %s", t.row.Name, t.table.Cols[t.col].Name, t.table.Unit)
}

// compare compares the cell in col, of the values x, with the row's base, of the values
// ref. What needs a test gets its verdict from conclude.
func (e *evaluator) compare(t *Table, r *Row, col int, x, ref []value, unit string) {
	cell, base := &r.Cells[col], &r.Cells[r.Base]
	cell.Vs = untested(len(x), len(ref))
	pairs := pair(x, ref)
	setRatios(cell.Blocks, pairs)
	switch {
	case base.Center > 0 && cell.Center >= 0:
		cell.Vs.Ratio = cell.Center / base.Center
	case base.Center == 0 && cell.Center == 0:
		cell.Vs.Ratio = 1
	} // else the two differ, and by no part of the base
	if largest(x, ref) < Negligible(t.Unit) {
		// Whatever its ratio is: it is no member of the family, which would need
		// more blocks for it.
		cell.Verdict = Same
		cell.Vs.Ratio = 1
		return
	}
	if counted(t.Unit) && allCloser(pairs, x, ref, Negligible(t.Unit)) {
		cell.Verdict = Same
		return
	}
	if t.Exact || (counted(t.Unit) || simulated(t.Unit)) && constant(x) && constant(ref) && len(x) > 1 && len(ref) > 1 {
		apart := cell.Min > base.Max || base.Min > cell.Max
		switch {
		case cell.Min == base.Min && cell.Max == base.Max && cell.Min == cell.Max,
			// What is exact by what the file says differs by no chance, however little.
			!t.Exact && apart && math.Abs(math.Log(cell.Vs.Ratio)) < math.Log1p(e.c.Margin):
			cell.Verdict = Same
			return
		case apart && (!simulated(unit) || len(x) >= stats.LeastCounts && len(ref) >= stats.LeastCounts):
			cell.Verdict = t.word(cell.Center > base.Center)
			return
		}
		// They vary after all, so they are tested like others.
		x, _ = perBlock(x)
		ref, _ = perBlock(ref)
		pairs = pair(x, ref)
	}
	if !t.Exact && unvarying(x, ref) {
		cell.Verdict = Same // nothing to test
		return
	}
	test := e.test(cell.Vs, pairs, x, ref, unit)
	test.table, test.row, test.col = t, r, col
	test.setTypical(cell.Blocks)
	if t.Resource {
		e.c.ResourceComparisons++
	} else {
		e.c.Comparisons++
	}
	test.counts = simulated(unit)
	cell.Vs.Apart = !cell.Vs.Paired && !e.across
	e.unpaired = e.unpaired || cell.Vs.Apart
	e.tested = append(e.tested, test)
}

// untested is a Versus of which nothing is known yet.
func untested(n, baseN int) *Versus {
	nan := math.NaN()
	return &Versus{
		Ratio: nan, Lo: nan, Hi: nan, P: nan, Adjusted: nan, Detectable: nan, Lag1: nan, Trend: nan,
		Typical: nan, TypicalLo: nan, TypicalHi: nan, Tail: nan, TailLo: nan, TailHi: nan,
		Layouts: 1, N: n, BaseN: baseN,
	}
}

// counted reports whether a unit counts what a program does, which takes no noise:
// allocations and bytes for something, one by one.
func counted(unit string) bool { return Negligible(unit) > 0 }

// instructions reports whether a unit is of an emulator's instruction clock, which
// is the same in every run.
func instructions(unit string) bool {
	return strings.HasPrefix(unit, "insns/") || strings.HasSuffix(unit, "-insns")
}

// simulated reports whether a unit is of instructions on a simulated processor. What varies of
// them is the program's own: hash seeds, the order of goroutines, when a collection falls.
func simulated(unit string) bool { return unit == record.UnitCounted || unit == record.UnitCountedOwn }

// sameProcessor reports whether what was counted for two cells, which need not be on one machine,
// is of the same toolchain, which says for which architecture, and counter.
func sameProcessor(a, b *gridCell) bool {
	return !slices.ContainsFunc([]string{"toolchain", record.CounterKey}, func(key string) bool {
		return len(a.config[key]) != 1 || !slices.Equal(a.config[key], b.config[key])
	})
}

// Negligible is how little of a unit is none: a hundredth of an allocation for each
// operation, or a byte, is the runtime's own, which has timers, stacks and
// collections beside the program. It is 0 of most units.
func Negligible(unit string) float64 {
	what, per, _ := strings.Cut(unit, "/")
	switch {
	case per == "" || secondsIn[per] > 0:
		return 0
	case what == "allocs":
		return 0.01
	case what == "B":
		return 1
	}
	return 0
}

// largest returns the largest absolute value of both.
func largest(x, ref []value) (most float64) {
	for _, s := range [][]value{x, ref} {
		for i := range s {
			most = max(most, math.Abs(s[i].v))
		}
	}
	return most
}

// control compares the row's second copy with the first, if there is one.
func (e *evaluator) control(t *Table, r *Row, cells []*gridCell, unit string) {
	i := slices.IndexFunc(cells, func(c *gridCell) bool { return c != nil && len(c.control[unit]) > 0 && len(c.values[unit]) > 0 })
	if i < 0 {
		return
	}
	copies, _ := perBlock(cells[i].control[unit])
	ref, _ := perBlock(cells[i].values[unit])
	r.Control = &Control{Col: i, Vs: *untested(len(copies), len(ref)), Blocks: blockValues(copies)}
	pairs := pair(copies, ref)
	setRatios(r.Control.Blocks, pairs)
	if len(pairs) == 0 || t.Exact || unvarying(copies, ref) || largest(copies, ref) < Negligible(t.Unit) {
		return // nothing to test
	}
	test := e.test(&r.Control.Vs, pairs, copies, ref, unit)
	test.table, test.row, test.col = t, r, i
	test.setTypical(r.Control.Blocks)
	e.controls = append(e.controls, test)
}

// test takes in how far x lies from ref, block by block if they were measured
// together, as pairs: then it is tested when all comparisons are known.
func (e *evaluator) test(vs *Versus, pairs []valuePair, x, ref []value, unit string) *tested {
	test := &tested{vs: vs, unit: unit, logs: positive(x) && positive(ref)}
	for _, s := range [][]value{x, ref} {
		for _, v := range s {
			test.partial, test.rare = test.partial || v.partial, max(test.rare, v.rare)
		}
	}
	if len(pairs) == 0 {
		test.apart(vs, x, ref, e)
		return test
	}
	test.pairs = pairs
	vs.Paired, vs.N, vs.BaseN = true, len(pairs), len(pairs)
	layouts := make(map[string]bool)
	test.looks = e.looks[pairs[0].x.file]
	test.blocks = stats.Blocks{D: make([]float64, 0, len(pairs)), Number: make([]int, 0, len(pairs)), Layout: make([]string, 0, len(pairs))}
	for _, p := range pairs {
		d := p.x.v - p.ref.center(arithmetic)
		if test.logs {
			d = math.Log(p.x.v) - math.Log(p.ref.center(geometric))
		}
		layouts[p.x.layout] = true
		vs.Rounds += p.rounds()
		test.took += p.took() / time.Duration(len(pairs))
		n, err := strconv.Atoi(p.x.block)
		if err != nil || p.x.file != pairs[0].x.file {
			test.looks = stats.Looks{} // no interim look is at several files together
		}
		test.blocks.D = append(test.blocks.D, d)
		test.blocks.Number = append(test.blocks.Number, n)
		test.blocks.Layout = append(test.blocks.Layout, p.x.layout)
	}
	vs.Layouts = len(layouts)
	if len(layouts) == 1 && layouts[""] {
		test.blocks.Layout = nil // the results say nothing of layouts
	}
	if test.logs {
		if o, ok := stats.Ordered(test.blocks.D); ok {
			vs.Lag1, vs.Trend = o.Lag1, o.Trend
		}
		test.typical, test.tail = e.typical(vs, pairs)
	}
	return test
}

// setRatios gives the blocks of x their ratios to ref, whether or not there is anything to test.
func setRatios(blocks []BlockValue, pairs []valuePair) {
	for _, p := range pairs {
		if base := p.ref.center(geometric); p.x.v > 0 && base > 0 {
			forBlock(blocks, p, func(b *BlockValue) { b.Ratio = p.x.v / base })
		}
	}
}

// setTypical gives blocks the ratios of their typical times.
func (t *tested) setTypical(blocks []BlockValue) {
	for i := range t.typical {
		forBlock(blocks, t.pairs[i], func(b *BlockValue) { b.Typical = math.Exp(t.typical[i]) })
	}
}

// forBlock calls f with what blocks have of the block that the pair is of.
func forBlock(blocks []BlockValue, p valuePair, f func(*BlockValue)) {
	for k, b := range blocks {
		if p.x.blockID == (blockID{b.File, b.Block}) {
			f(&blocks[k])
		}
	}
}

// apart tests values that were not measured in the same blocks.
func (t *tested) apart(vs *Versus, x, ref []value, j *evaluator) {
	a, b := floats(ref), floats(x)
	if t.logs {
		for _, s := range [][]float64{a, b} {
			for i := range s {
				s[i] = math.Log(s[i])
			}
		}
	}
	t.shift = stats.RankSum(a, b, j.c.Alpha)
	// With ties benchmath says more than 1 now and then (findings/benchmath-above-one.sh).
	vs.P = min(1, benchmath.AssumeNothing.Compare(j.sample(ref), j.sample(x)).P)
	if t.logs && vs.Ratio > 0 {
		// The ratio is that of the two medians, which stand beside it, as in benchstat. The
		// estimate of Hodges and Lehmann, of which the interval is, is another one: an
		// interval that reaches as far as both errs less often.
		t.shift.Est = math.Log(vs.Ratio)
		t.shift.Lo, t.shift.Hi = min(t.shift.Lo, t.shift.Est), max(t.shift.Hi, t.shift.Est)
	}
	t.ratio()
}

// ratio tells the shift as a ratio, if it is the logarithm of one.
func (t *tested) ratio() {
	if t.logs {
		t.vs.Ratio, t.vs.Lo, t.vs.Hi = math.Exp(t.shift.Est), math.Exp(t.shift.Lo), math.Exp(t.shift.Hi)
	}
}

// took is how long it takes to measure the pair once more, by the clock on the wall.
// Where that is not known it is about twice what the slices take.
func (p valuePair) took() time.Duration {
	if p.x.row > 0 {
		return p.x.row
	}
	return 2 * (p.x.took + p.ref.took)
}

// rounds is how many rounds both values have a slice of.
func (p valuePair) rounds() (n int) {
	for i := range min(len(p.x.rounds), len(p.ref.rounds)) {
		if !math.IsNaN(p.x.rounds[i]) && !math.IsNaN(p.ref.rounds[i]) {
			n++
		}
	}
	return n
}

// A valuePair is two values of the same block.
type valuePair struct{ x, ref *value }

// pair returns the values of x and ref that belong to the same block, by file and
// block. There are none if a value has no block. Blocks of different files are different
// blocks, since they were not measured together. What only one of the two has is left out.
func pair(x, ref []value) (pairs []valuePair) {
	if len(x) == len(ref) && ascending(x) && ascending(ref) {
		for i := range x {
			if x[i].blockID == ref[i].blockID {
				pairs = append(slices.Grow(pairs, len(x)-len(pairs)), valuePair{&x[i], &ref[i]})
			}
		}
		if len(pairs) == len(x) {
			return pairs
		}
		pairs = nil
	}
	hasNone := func(v value) bool { return v.block == "" }
	if slices.ContainsFunc(x, hasNone) || slices.ContainsFunc(ref, hasNone) {
		return nil
	}
	of := make(map[blockID]*value)
	for i := range ref {
		of[ref[i].blockID] = &ref[i]
	}
	files := make(map[string]int)
	for i := range x {
		v := &x[i]
		if _, ok := files[v.file]; !ok {
			files[v.file] = len(files)
		}
		if r, ok := of[v.blockID]; ok {
			pairs = append(pairs, valuePair{v, r})
		}
	}
	slices.SortStableFunc(pairs, func(a, b valuePair) int {
		return cmp.Or(files[a.x.file]-files[b.x.file], cmp.Compare(a.x.number, b.x.number))
	})
	return pairs
}

// positive reports whether all values, and their twins, have a logarithm.
func positive(s []value) bool {
	return !slices.ContainsFunc(s, func(v value) bool {
		return !(v.v > 0) || math.IsInf(v.v, 1) || v.twin != nil && (v.twin.v <= 0 || math.IsInf(v.twin.v, 1))
	})
}

// constant reports whether all values are the same.
func constant(s []value) bool {
	return !slices.ContainsFunc(s, func(v value) bool { return v.v != s[0].v })
}

// unvarying reports whether all values of both are the same, and there are enough
// of them for that to be no chance.
func unvarying(x, ref []value) bool {
	return len(x) > 1 && len(ref) > 1 && constant(x) && constant(ref) && x[0].v == ref[0].v
}

// word returns the verdict for a value that is above (or below) its base. Instructions that were
// counted are more or fewer, times and rates faster or slower, unless they are resources, or the file says another direction than
// their unit does.
func (t *Table) word(above bool) Verdict {
	d := dimensionOf(t.Unit)
	speed := d.speed && d.better == t.Better && !slices.Contains(resourceUnits, t.Unit)
	good := above == (t.Better > 0)
	switch {
	case t.Better == 0 && above:
		return Higher
	case t.Better == 0:
		return Lower
	case simulated(t.Unit) && above:
		return More
	case simulated(t.Unit):
		return Fewer
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
func (e *evaluator) mixed(c *gridCell) (found bool) {
	for key, values := range c.config {
		if len(values) > 1 {
			e.pooled[key], found = true, true
		}
	}
	return found
}

// differences remembers the circumstances in which two columns differ.
func (e *evaluator) differences(baseName string, base *gridCell, name string, c *gridCell) {
	for key, values := range c.config {
		a, b := strings.Join(base.config[key], ", "), strings.Join(values, ", ")
		if a == b {
			continue
		}
		for _, said := range []string{baseName + ": " + OrNone(a), name + ": " + OrNone(b)} {
			if !slices.Contains(e.differ[key], said) {
				e.differ[key] = append(e.differ[key], said)
			}
		}
	}
}

// OrNone is a value of a circumstance, in words if there is none.
func OrNone(s string) string {
	if s == "" {
		return "(not said)"
	}
	return s
}

// unreported returns the units of which column i has no value, though it has of others.
func (c *Comparison) unreported(i int) (units []string) {
	reports := false
	for _, t := range c.Tables {
		if t.Cols[i].Silent && !t.Resource {
			units = append(units, t.Unit)
		}
		reports = reports || !t.Cols[i].Silent
	}
	if !reports {
		return nil
	}
	return units
}

// warn adds the warnings that concern the comparison as a whole.
func (e *evaluator) warn(g *grid) {
	warn := func(format string, args ...any) {
		e.c.Warnings = append(e.c.Warnings, fmt.Sprintf(format, args...))
	}
	for _, key := range slices.Sorted(maps.Keys(e.pooled)) {
		warn("results that differ in %q are pooled in one cell; separate them with --filter or --col %s", key, key)
	}
	for _, key := range slices.Sorted(maps.Keys(e.differ)) {
		warn("the columns differ in %q: %s", key, strings.Join(e.differ[key], "; "))
	}
	if e.partial {
		warn("some times are of files of before 2026-11-22, which have most collections of garbage outside of the time of an operation: what they say of a program that makes garbage is about the time between collections")
	}
	if e.unpaired {
		warn("some comparisons are unpaired (no common blocks) and prove nothing: noise that drifts between the columns is taken for a difference far more often than the level says")
	}
	if g.pair() {
		for i, col := range g.cols {
			if units := e.c.unreported(i); len(units) > 0 {
				warn("no result of %s has %s: not compared", col, strings.Join(units, ", "))
			}
		}
	}
	for _, f := range e.c.Files {
		for _, t := range e.c.Tables[:min(1, len(e.c.Tables))] {
			for _, r := range t.Rows {
				if r.IsControlOf(f) && slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Verdict.Proven() }) {
					warn("%s is proven to differ, although nothing that it can reach does: where the linker puts functions decides that, or what this program could not see. Do not rely on what was left out as the same: measure it with --identical", r.Name)
				}
			}
		}
		holes := due(f.Holes)
		if len(holes) > 0 {
			warn("missing results in %s, measurements that were due and failed: %d", f.Label, len(holes))
		}
		for _, told := range f.Told {
			warn("%s", told)
		}
		if len(f.Alone) > 0 {
			warn("in %s these took no turns, and have one value a block, each from a process of its own: %s", f.Label, strings.Join(f.Alone, "; "))
		}
		for _, h := range holes {
			if h.Case == "" {
				warn("no results of %s in %s, %s", h.Pkg, f.Label, h)
			}
		}
	}
	for _, f := range g.failures {
		if f.Row != "" && f.Col == "" {
			warn("no results of %s, so it is in no table: %s", f.Row, f.Reason)
		}
	}
	if g.copies > 0 {
		warn("results of third or further copies of a benchmark, which are in no table: %d", g.copies)
	}
	for _, w := range e.ordered() {
		warn("%s", w)
	}
}

// IsControlOf reports whether a row is measured only as the control of benchmarks that were left out,
// since nothing that they can reach differs between the two versions.
func (r Row) IsControlOf(f File) bool {
	pkg, name, _ := strings.Cut(f.Value(record.UnchangedKey), " "+record.ResultMark)
	bare, _ := WithoutProcs(r.Name)
	return name != "" && r.Package == pkg && (bare == name || r.Name == name)
}

// rowOfHoles returns the holes of a row that has nothing else.
func (g *grid) rowOfHoles(row rowKey) (holes []record.Hole) {
	for _, col := range g.cols {
		if cell := g.cells[cellKey{row, col}]; cell != nil {
			if len(cell.values) > 0 {
				return nil
			}
			holes = append(holes, cell.holes...)
		}
	}
	return mergeHoles(holes)
}
