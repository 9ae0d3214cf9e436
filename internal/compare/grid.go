package compare

import (
	"errors"
	"fmt"
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
	file, block string // block is "" if the results have none
	v           float64
	layout      string // of the binary, "" if the results do not say

	// twin is the value of a second process of the same code in the same block, the
	// control's; NaN if there is none.
	twin       float64
	twinRounds []float64

	// rounds are the block's slices, in this unit, by round; NaN is one that is
	// missing. Nil if it has none, or they are of another unit.
	rounds []float64

	// partial says that v has not all that the operations cost: most collections of
	// garbage are outside. rare is the part of the time that is likely to be missing
	// because they are rare.
	partial bool
	rare    float64

	// took is how long measuring it took, warm-up included, and row how long its row
	// took in this block with everything; 0 if that is not known.
	took, row time.Duration
}

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
	if a.plan != b.plan {
		return a.plan - b.plan
	}
	return a.seen - b.seen
}

// A grid holds results sorted into rows and columns, but not yet judged.
type grid struct {
	units  []string // tidy names, in the order of tables
	meta   benchfmt.UnitMetadataMap
	orig   map[string]string // tidy to written unit
	rows   []rowKey
	cols   []string
	cells  map[cellKey]*gridCell
	blocks map[string]int // number of blocks by file
	copies int            // results of third and further copies, which are not compared

	col      string        // the projection that makes the columns
	packages []record.Hole // of whole packages
	failures []Failure     // by findFailures
}

type gridCell struct {
	place  place
	values map[string][]value // by tidy unit
	// control are the values of a second process of the same code.
	control map[string][]value
	holes   []record.Hole
	// controlHoles are those of that second process.
	controlHoles []record.Hole

	// config has the values that the circumstances of the results take.
	config map[string][]string
}

// arrange projects results and holes on rows and columns. in stays as it is.
func arrange(in *inputs, opts Options) (*grid, error) {
	expr := opts.Filter
	if expr == "" {
		expr = "*"
	}
	filter, err := benchproc.NewFilter(expr)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	var parser benchproc.ProjectionParser
	rowBy, err := parser.Parse(".fullname", filter)
	if err != nil {
		return nil, err
	}
	colBy, err := parser.Parse(opts.Col, filter)
	if err != nil {
		return nil, fmt.Errorf("column key: %w", err)
	}
	colKeys := make(map[string]bool)
	for _, f := range colBy.Fields() {
		colKeys[f.Name] = true
	}
	g := &grid{
		meta:   in.units,
		orig:   make(map[string]string),
		cells:  make(map[cellKey]*gridCell),
		blocks: make(map[string]int),
		col:    opts.Col,
	}
	var colOrder []benchproc.Key
	colNames := make(map[benchproc.Key]string)
	cellOf := func(r *benchfmt.Result) *gridCell {
		col := colBy.Project(r)
		if _, ok := colNames[col]; !ok {
			colNames[col] = columnName(col)
			colOrder = append(colOrder, col)
		}
		key := cellKey{rowKey{name: rowBy.Project(r).StringValues()}, colNames[col]}
		if !colKeys["pkg"] {
			key.row.pkg = r.GetConfig("pkg")
		}
		cell := g.cells[key]
		if cell == nil {
			cell = &gridCell{
				place:  place{math.MaxInt, len(g.cells)},
				values: make(map[string][]value), control: make(map[string][]value),
				config: make(map[string][]string),
			}
			g.cells[key] = cell
		}
		if i, err := strconv.Atoi(r.GetConfig("case")); err == nil {
			cell.place.plan = min(cell.place.plan, i)
		}
		return cell
	}

	type blockKey struct{ file, block string }
	blocks := make(map[blockKey]bool)
	var makers []maker
	used := 0
	for _, from := range in.results {
		r := from.filterable()
		if ok, _ := filter.Apply(r); !ok {
			continue
		}
		used++
		if m := makerOf(r); !slices.Contains(makers, m) {
			makers = append(makers, m)
		}
		cell := cellOf(r)
		values := cell.values
		switch r.GetConfig("copy") {
		case "", "1":
		case "2":
			values = cell.control
		default:
			g.copies++
			continue
		}
		at := blockKey{r.GetConfig(".file"), r.GetConfig("block")}
		if at.block != "" && !blocks[at] {
			blocks[at] = true
			g.blocks[at.file]++
		}
		for _, s := range r.Config {
			if s.File && !colKeys[s.Key] && !Passing[s.Key] && !slices.Contains(cell.config[s.Key], string(s.Value)) {
				cell.config[s.Key] = append(cell.config[s.Key], string(s.Value))
			}
		}
		took := measuring(r, from.Slices)
		for _, v := range r.Values {
			if _, ok := g.orig[v.Unit]; !ok {
				g.orig[v.Unit] = record.Written(v)
				g.units = append(g.units, v.Unit)
			}
			val := value{file: at.file, block: at.block, v: record.InUnit(v, g.orig[v.Unit]), twin: math.NaN(), layout: r.GetConfig("layout"), took: took}
			if v.Unit == "sec/op" {
				val.ofSlices(from.Slices, record.InUnit(benchfmt.Value{Value: 1e-9, Unit: "sec/op"}, g.orig[v.Unit]))
			}
			values[v.Unit] = append(values[v.Unit], val)
		}
	}
	if used == 0 && !in.nothingButHoles() {
		if len(in.results) > 0 {
			return nil, fmt.Errorf("filter %q matches none of the %d results", expr, len(in.results))
		}
		msg := in.names() + ` holds no benchmark results, lines such as "BenchmarkX-8  100  52.1 ns/op"`
		if len(in.problems) > 0 {
			msg += "; the first malformed line is " + in.problems[0]
		}
		return nil, errors.New(msg)
	}
	if err := checkMakers(makers); err != nil {
		return nil, err
	}
	for _, h := range in.holes {
		r := h.filterable()
		// A hole has a value in no unit. Lend it one in each, so that a filter
		// by unit does not hide it.
		for _, u := range g.units {
			r.Values = append(r.Values, benchfmt.Value{Unit: u, OrigUnit: g.orig[u]})
		}
		ok, _ := filter.Apply(r)
		switch c := r.GetConfig("copy"); {
		case !ok:
		case h.Hole.Case == "":
			g.packages = append(g.packages, *h.Hole)
		case c == "" || c == "1":
			cell := cellOf(r)
			cell.holes = append(cell.holes, *h.Hole)
		default: // no cell lacks it
			cell := cellOf(r)
			cell.controlHoles = append(cell.controlHoles, *h.Hole)
		}
	}
	g.mergePackages()
	g.order(colOrder, colNames, strings.Contains(opts.Col, "@"))
	g.dropRates()
	slices.SortStableFunc(g.units, func(a, b string) int { return unitRank(a) - unitRank(b) })
	return g, nil
}

// filterable returns the result with its label, for a filter, which cuts values off.
func (in input) filterable() *benchfmt.Result {
	from := in.Result
	config := make([]benchfmt.Config, len(from.Config)+1)
	config[copy(config, from.Config)] = benchfmt.Config{Key: ".file", Value: []byte(in.label)}
	return &benchfmt.Result{Config: config, Name: from.Name, Iters: from.Iters, Values: slices.Clone(from.Values)}
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
		v.partial, v.rare, v.row = !s.Whole, s.Rare, s.Took
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

// columnName joins the values of a column key. Unlike Key.StringValues it keeps
// a missing value visible, so that two different keys never share a name.
func columnName(key benchproc.Key) string {
	var parts []string
	for _, f := range key.Projection().FlattenedFields() {
		v := key.Get(f)
		if v == "" {
			v = "(no " + f.Name + ")"
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, " ")
}

// Passing are the configuration keys that differ from result to result or from
// run to run by design; that they do is no reason for a warning.
var Passing = map[string]bool{
	"block": true, "case": true, "pkg": true, "load": true, "image": true,
	"copy": true, "layout": true, "envpad": true,
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
}

// order sorts rows and columns by their first cell's place, references before
// other columns. A column projection that names an order (fixed) keeps it.
func (g *grid) order(keys []benchproc.Key, names map[benchproc.Key]string, fixed bool) {
	rows, cols := make(map[rowKey]place), make(map[string]place)
	for key, cell := range g.cells {
		if at, ok := rows[key.row]; !ok || cell.place.compare(at) < 0 {
			rows[key.row] = cell.place
		}
		if at, ok := cols[key.col]; !ok || cell.place.compare(at) < 0 {
			cols[key.col] = cell.place
		}
	}
	for row := range rows {
		g.rows = append(g.rows, row)
	}
	slices.SortFunc(g.rows, func(a, b rowKey) int { return rows[a].compare(rows[b]) })
	if fixed {
		benchproc.SortKeys(keys)
		for _, k := range keys {
			g.cols = append(g.cols, names[k])
		}
		return
	}
	for col := range cols {
		g.cols = append(g.cols, col)
	}
	slices.SortFunc(g.cols, func(a, b string) int {
		if ref := strings.HasPrefix(a, record.RefPrefix); ref != strings.HasPrefix(b, record.RefPrefix) {
			if ref {
				return -1
			}
			return 1
		}
		return cols[a].compare(cols[b])
	})
}

// unitRank puts time first, then what is allocated, then the rest.
func unitRank(unit string) int {
	switch unit {
	case "sec/op", "ns/op", "insns/op":
		return 0
	case "allocs/op":
		return 1
	case "B/op":
		return 2
	}
	return 3
}
