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

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"github.com/dynolab/dyno/internal/record"
)

// A value is one measurement, and where it stands.
type value struct {
	*measured
	v float64

	// twin is the value of a second process of the same code in the same block, the
	// control's; nil if there is none.
	twin *value

	// rounds are the block's slices, in this unit, by round; NaN is one that is
	// missing. Nil if it has none, or they are of another unit.
	rounds []float64
}

// A measured is what is known of values that one process gave.
type measured struct {
	blockID
	number int    // of the block; 0 if it has none
	layout string // of the binary, "" if the results do not say

	// took is how long measuring it took, warm-up included.
	took time.Duration

	// Of a time that is made of slices: partial says that it has not all that the operations
	// cost: most collections of garbage are outside. rare is the part of the time that is likely
	// to be missing because they are rare. row is how long its row took in this block with everything.
	// Where they are not known they are zero.
	partial bool
	rare    float64
	row     time.Duration
}

// A blockID names a block; block is "" if the results have none.
type blockID struct{ file, block string }

// A rowKey names a row. pkg is dropped where it tells nothing apart.
type rowKey struct{ name, pkg string }

// A cellKey names a cell, in all tables.
type cellKey struct {
	row rowKey
	col string
}

// A place is where something stands in a table: by the plan's case index if
// there is one, else by appearance.
type place struct{ plan, seen int }

func (a place) compare(b place) int {
	return cmp.Or(cmp.Compare(a.plan, b.plan), cmp.Compare(a.seen, b.seen))
}

// A grid holds results sorted into rows and columns, but not yet judged.
type grid struct {
	projection
	colKeys  map[string]bool          // those of the columns' projection
	colNames map[benchproc.Key]string // by what was projected

	units  []string // tidy names, in the order of tables
	meta   benchfmt.UnitMetadataMap
	orig   map[string]string // tidy to written unit
	rows   []rowKey
	cols   []string
	cells  map[cellKey]*gridCell
	copies int // results of third and further copies, which are not compared
	times  map[timesKey]times
	slices map[*measured]*Distribution // of the cells whose first values these are

	damage []damaged
	files  []string // labels

	packages []record.Hole // of whole packages
	failures []Failure     // by findFailures
}

// A projection says where results stand.
type projection struct {
	filter       *benchproc.Filter
	col          string // what makes the columns
	byRow, byCol *benchproc.Projection
}

func project(filter, col string) (p projection, err error) {
	p.col = col
	if p.filter, err = benchproc.NewFilter(filter); err != nil {
		return p, fmt.Errorf("filter: %w", err)
	}
	var parser benchproc.ProjectionParser
	if p.byRow, err = parser.Parse(".fullname", p.filter); err != nil {
		return p, err
	}
	if p.byCol, err = parser.Parse(col, p.filter); err != nil {
		return p, fmt.Errorf("column key: %w", err)
	}
	return p, nil
}

type gridCell struct {
	place  place
	pkg    string             // import path
	values map[string][]value // by tidy unit
	// control are the values of a second process of the same code.
	control map[string][]value
	holes   []record.Hole
	// controlHoles are those of that second process.
	controlHoles []record.Hole

	// config has the values that the circumstances of the results take.
	config map[string][]string
}

// arrange projects results and holes on rows and columns. d stays as it is.
func arrange(d *Data, opts Options, c *Comparison) (*grid, error) {
	at, err := project(cmp.Or(opts.Filter, "*"), opts.Col)
	if err != nil {
		return nil, err
	}
	g := &grid{
		projection: at, colKeys: make(map[string]bool), colNames: make(map[benchproc.Key]string),
		meta: make(benchfmt.UnitMetadataMap), orig: make(map[string]string), cells: make(map[cellKey]*gridCell), times: make(map[timesKey]times),
		slices: make(map[*measured]*Distribution),
	}
	for _, f := range g.byCol.Fields() {
		g.colKeys[f.Name] = true
	}
	if err := d.checkColumns(g.byCol); err != nil {
		return nil, err
	}
	var makers []maker
	seen := make([]*seenRows, len(d.sources))
	for i, s := range d.sources {
		seen[i] = newSeenRows(d)
		c.Files = append(c.Files, s.file)
		g.files = append(g.files, s.file.Label)
		if first := d.twice(i); first != "" && !g.colKeys[".file"] {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s has the run that %s has: it counts once", s.file.Path, first))
			continue
		}
		c.Problems = append(c.Problems, s.from.Tell(s.from.Problems)...)
		c.Problems = append(c.Problems, g.addUnits(s.from.Units)...)
		for _, rec := range s.from.Results {
			r := s.labelled(rec.Result)
			if ok, _ := g.filter.Apply(r); !ok {
				continue
			}
			if m := makerOf(r); !slices.Contains(makers, m) {
				makers = append(makers, m)
			}
			seen[i].add(r)
			for _, v := range onceEach(r) {
				c.Problems = append(c.Problems, fmt.Sprintf("%s:%d: %s stands twice in the line; the first value is taken", s.file.Path, rec.Line(), record.Written(v)))
			}
			g.add(r, rec.Slices)
		}
	}
	if len(makers) == 0 && !d.nothingButHoles() {
		return nil, d.nothing(opts.Filter, c.Problems)
	}
	if err := checkMakers(makers); err != nil {
		return nil, err
	}
	for i, s := range d.sources {
		f := &c.Files[i]
		whole := f.Holes
		f.Holes = nil
		for _, rec := range s.from.Holes {
			if r := s.labelled(rec.Result); g.addHole(r, *rec.Hole) {
				seen[i].add(r)
				f.Holes = append(f.Holes, *rec.Hole)
			}
		}
		if opts.Filter == "" {
			f.Holes, seen[i] = whole, nil // whatever lines are about
		}
		f.Alone = each(seen[i].of(s.from.Alone), func(l record.RowLine) string { return l.Row + " (" + l.Text + ")" })
		f.Told = each(seen[i].of(s.from.Notes), func(l record.RowLine) string { return l.Row + ": " + l.Text })
	}
	for _, s := range d.sources {
		g.addDamage(s, s.from.Damage)
	}
	g.mergePackages()
	g.order(strings.Contains(opts.Col, "@"))
	g.dropRates()
	slices.SortStableFunc(g.units, func(a, b string) int { return unitRank(g.orig[a]) - unitRank(g.orig[b]) })
	return g, nil
}

// checkColumns returns an error if no result has a key of which columns are to be made: then
// there would be one column without a name.
func (d *Data) checkColumns(by *benchproc.Projection) error {
	keys := []string{".file"}
	add := func(key string) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, s := range d.sources {
		for _, rec := range slices.Concat(s.from.Results, s.from.Holes) {
			for _, c := range rec.Result.Config {
				add(c.Key)
			}
			_, parts := rec.Result.Name.Parts()
			for _, part := range parts {
				if key, _, ok := strings.Cut(string(part), "="); ok {
					add(key)
				} else if strings.HasPrefix(key, "-") {
					add("/gomaxprocs")
				}
			}
		}
	}
	for _, f := range by.Fields() {
		if len(keys) > 1 && !f.IsTuple && !strings.HasPrefix(f.Name, ".") && !slices.Contains(keys, f.Name) {
			return fmt.Errorf("no result has %q, which --col names%s The keys are: %s", f.Name, didYouMean(f.Name, keys), strings.Join(keys, ", "))
		}
	}
	return nil
}

// seenRows are the rows of a file of which the filter has let something through, and their
// benchmarks, by their names.
type seenRows struct {
	rows  *benchproc.Projection
	names map[rowKey]bool
}

func newSeenRows(d *Data) *seenRows {
	at, err := project("*", d.columns()) // as of the run that wrote of rows
	if err != nil {
		panic(err) // of a column that is always there
	}
	return &seenRows{at.byRow, make(map[rowKey]bool)}
}

func (s *seenRows) add(r *benchfmt.Result) {
	for _, pkg := range []string{"", record.ConfigOf(r, "pkg")} {
		s.names[rowKey{string(r.Name), pkg}] = true
		s.names[rowKey{s.rows.Project(r).StringValues(), pkg}] = true
	}
}

// of are the lines that are about such a row, each once; of nil all.
func (s *seenRows) of(lines []record.RowLine) (out []record.RowLine) {
	for _, l := range lines {
		if (s == nil || s.names[rowKey{l.Row, l.Pkg}]) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// onceEach leaves the first value of each unit in r, and returns the others: a line is one
// measurement.
func onceEach(r *benchfmt.Result) (others []benchfmt.Value) {
	seen := make(map[string]bool)
	r.Values = slices.DeleteFunc(r.Values, func(v benchfmt.Value) bool {
		if seen[v.Unit] {
			others = append(others, v)
		}
		again := seen[v.Unit]
		seen[v.Unit] = true
		return again
	})
	return others
}

// labelled returns the result with the file's label, for a filter, which cuts values off. It is there
// until the next one is asked for.
func (s *source) labelled(from *benchfmt.Result) *benchfmt.Result {
	s.config = append(append(s.config[:0], from.Config...), benchfmt.Config{Key: ".file", Value: []byte(s.file.Label)})
	s.values = append(s.values[:0], from.Values...)
	return &benchfmt.Result{Config: s.config, Name: from.Name, Iters: from.Iters, Values: s.values}
}

// addUnits adds what a file says of units. What another file has said before counts;
// that it says otherwise is a problem.
func (g *grid) addUnits(units benchfmt.UnitMetadataMap) (problems []string) {
	for key, m := range units {
		have, ok := g.meta[key]
		if !ok {
			g.meta[key] = m
		} else if have.Value != m.Value {
			path, line := m.Pos()
			problems = append(problems, fmt.Sprintf("%s:%d: metadata %s of unit %s already set to %s", path, line, key.Key, m.OrigUnit, have.Value))
		}
	}
	slices.Sort(problems)
	return problems
}

// cell returns the cell of a result.
func (g *grid) cell(r *benchfmt.Result) *gridCell {
	col := g.byCol.Project(r)
	if _, ok := g.colNames[col]; !ok {
		g.colNames[col] = columnName(col)
	}
	key := cellKey{g.rowOf(r), g.colNames[col]}
	cell := g.cells[key]
	if cell == nil {
		cell = &gridCell{
			place:  place{math.MaxInt, len(g.cells)},
			pkg:    record.ConfigOf(r, "pkg"),
			values: make(map[string][]value), control: make(map[string][]value),
			config: make(map[string][]string),
		}
		g.cells[key] = cell
	}
	if i, err := strconv.Atoi(record.ConfigOf(r, "case")); err == nil {
		cell.place.plan = min(cell.place.plan, i)
	}
	return cell
}

// add adds a result that the filter has let through.
func (g *grid) add(r *benchfmt.Result, rounds *record.Slices) {
	cell := g.cell(r)
	values := cell.values
	switch record.ConfigOf(r, "copy") {
	case "", "1":
	case "2":
		values = cell.control
	default:
		g.copies++
		return
	}
	for _, s := range r.Config {
		if s.File && !g.colKeys[s.Key] && !Passing[s.Key] && !slices.Contains(cell.config[s.Key], string(s.Value)) {
			cell.config[s.Key] = append(cell.config[s.Key], string(s.Value))
		}
	}
	from := &measured{
		blockID: blockID{record.ConfigOf(r, ".file"), record.ConfigOf(r, "block")}, layout: record.ConfigOf(r, "layout"),
		took: measuring(r, rounds),
	}
	from.number, _ = strconv.Atoi(from.block)
	for _, v := range r.Values {
		if _, ok := g.orig[v.Unit]; !ok {
			g.orig[v.Unit] = record.Written(v)
			g.units = append(g.units, v.Unit)
		}
		val := value{measured: from, v: record.InUnit(v, g.orig[v.Unit])}
		if v.Unit == "sec/op" {
			val.ofSlices(rounds, record.InUnit(benchfmt.Value{Value: 1e-9, Unit: "sec/op"}, g.orig[v.Unit]))
		}
		values[v.Unit] = append(values[v.Unit], val)
	}
}

// addHole adds a hole, if the filter lets it through.
func (g *grid) addHole(r *benchfmt.Result, h record.Hole) (ok bool) {
	ok = g.passes(r)
	switch c := record.ConfigOf(r, "copy"); {
	case !ok:
	case h.Case == "":
		g.packages = append(g.packages, h)
	case c == "" || c == "1":
		cell := g.cell(r)
		cell.holes = append(cell.holes, h)
	default: // no cell lacks it
		cell := g.cell(r)
		cell.controlHoles = append(cell.controlHoles, h)
	}
	return ok
}

// packageOf is the import path of a row, as far as its cells have one.
func (g *grid) packageOf(row rowKey) string {
	for _, col := range g.cols {
		if cell := g.cells[cellKey{row, col}]; cell != nil && cell.pkg != "" {
			return cell.pkg
		}
	}
	return row.pkg
}

// dropRates drops MB/s of what has a time as well. Package testing calculates it
// from that, so it would say everything a second time, and count twice as many
// comparisons. A filter by unit that leaves time out shows it.
func (g *grid) dropRates() {
	const rate, time = "B/s", "sec/op"
	left := false
	for _, cell := range g.cells {
		if len(cell.values[time]) > 0 {
			delete(cell.values, rate)
		}
		left = left || len(cell.values[rate]) > 0
	}
	if !left {
		g.units = slices.DeleteFunc(g.units, func(u string) bool { return u == rate })
	}
}

// ofSlices makes v the mean of slices: their time divided by their operations, in the
// unit of which a nanosecond is ns. Files of before 2026-11-22 have the median in the
// benchmark line.
func (v *value) ofSlices(s *record.Slices, ns float64) {
	if s == nil {
		return
	}
	sum, n := 0.0, 0
	v.rounds = make([]float64, 0, len(s.Ns))
	for _, t := range s.Ns {
		if t < 0 {
			v.rounds = append(v.rounds, math.NaN())
			continue
		}
		sum, n = sum+float64(t), n+1
		v.rounds = append(v.rounds, float64(t)*ns/float64(s.N))
	}
	if n > 0 {
		v.v = sum * ns / float64(s.N) / float64(n)
		from := *v.measured
		from.partial, from.rare, from.row = !s.Whole, s.Rare, s.Took
		v.measured = &from
	}
}

// measuring returns how long it took to measure r.
func measuring(r *benchfmt.Result, s *record.Slices) time.Duration {
	ns := 0.0
	if s != nil {
		for _, v := range s.Ns {
			ns += max(0, float64(v))
		}
		ns *= 1 + float64(s.Warmup)/float64(len(s.Ns))
	} else if sec, ok := r.Value("sec/op"); ok {
		ns = 1e9 * sec * float64(r.Iters)
	}
	return time.Duration(min(ns, math.MaxInt64/4))
}

// Without is the name of a column of what has no such key.
func Without(key string) string { return "(no " + key + ")" }

// columnName joins the values of a column key. Unlike Key.StringValues it keeps
// a missing value visible, so that two different keys never share a name.
func columnName(key benchproc.Key) string {
	var parts []string
	for _, f := range key.Projection().FlattenedFields() {
		v := key.Get(f)
		if v == "" {
			v = Without(f.Name)
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, " ")
}

// Passing are the configuration keys that differ from result to result or from
// run to run by design; that they do is no reason for a warning.
var Passing = map[string]bool{
	"block": true, "case": true, "pkg": true, "load": true, record.AnchorKey: true, "image": true,
	"copy": true, "layout": true, "envpad": true,
	"trial": true,
	// They tell two runs apart, not what was measured.
	"started": true, "plan": true, "seed": true,
}

// mergePackages drops the package from row names unless some cell would then
// mix results of several packages; of versions of packages, unless some row would.
func (g *grid) mergePackages() {
	of := make(map[cellKey]string)
	for key := range g.cells {
		bare := cellKey{rowKey{name: key.row.name}, key.col}
		if g.col == record.SideKey {
			bare.col = ""
		}
		if pkg, ok := of[bare]; ok && pkg != key.row.pkg {
			return
		}
		of[bare] = key.row.pkg
	}
	merged := make(map[cellKey]*gridCell, len(g.cells))
	for key, cell := range g.cells {
		merged[cellKey{rowKey{name: key.row.name}, key.col}] = cell
	}
	g.cells = merged
	for i, d := range g.damage {
		if d.rows == nil {
			continue
		}
		g.damage[i].rows = make(map[rowKey]bool)
		for row := range d.rows {
			g.damage[i].rows[rowKey{name: row.name}] = true
		}
	}
}

// order sorts rows and columns by their first cell's place, references before
// other columns. A column projection that names an order (fixed) keeps it.
func (g *grid) order(fixed bool) {
	rows, cols := make(map[rowKey]place), make(map[string]place)
	for key, cell := range g.cells {
		if at, ok := rows[key.row]; !ok || cell.place.compare(at) < 0 {
			rows[key.row] = cell.place
		}
		if at, ok := cols[key.col]; !ok || cell.place.compare(at) < 0 {
			cols[key.col] = cell.place
		}
	}
	g.rows = slices.SortedFunc(maps.Keys(rows), func(a, b rowKey) int { return rows[a].compare(rows[b]) })
	if fixed {
		keys := slices.Collect(maps.Keys(g.colNames))
		benchproc.SortKeys(keys)
		for _, k := range keys {
			g.cols = append(g.cols, g.colNames[k])
		}
		return
	}
	rank := func(col string) int {
		switch {
		case g.col == record.SideKey:
			return slices.Index([]string{record.SideOld, record.SideNew}, col)
		case record.IsReference(col):
			return 0
		case record.IsPeer(col):
			return 2
		}
		return 1
	}
	g.cols = slices.SortedFunc(maps.Keys(cols), func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), cols[a].compare(cols[b]))
	})
}

// unitRank puts time first, then what is allocated, then the rest, resources last.
func unitRank(unit string) int {
	if slices.Contains(resourceUnits, unit) {
		return 4
	}
	switch unit {
	case record.UnitCounted: // beside which time is information
		return -1
	case "sec/op", "ns/op", "insns/op":
		return 0
	case "allocs/op":
		return 1
	case "B/op":
		return 2
	}
	return 3
}

// A Located is a step of a plan, and where its results stand in the tables of a
// comparison.
type Located struct {
	record.Step
	Row, Col string
}

// Locate says where the results of each step of p stand if col makes the
// columns, as [Comparison].Col has it. The rows are named without packages. A
// column key that is not in the name of a benchmark has the same value for all.
func Locate(p *record.Plan, col string) ([]Located, error) {
	at, err := project("*", col)
	if err != nil {
		return nil, err
	}
	steps := p.Steps()
	out := make([]Located, len(steps))
	for i, s := range steps {
		r := s.Place()
		out[i] = Located{Step: s, Row: at.byRow.Project(r).StringValues(), Col: columnName(at.byCol.Project(r))}
	}
	return out, nil
}
