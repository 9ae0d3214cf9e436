package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// A Series is what the runs say of one benchmark.
type Series struct {
	Machine, Pkg string
	Name         string // of the benchmark, with GOMAXPROCS, without "Benchmark"
	Reference    string // what it is divided by: a column, or the commit of an old version; "" for nothing

	// Counted says that points are counts of instructions, divided by that of the first one, and
	// Reference is by what they were counted.
	Counted bool

	Unit string // of absolute times

	Points []Point // in the order of commits, or of time where that is not known
	Pieces []Piece // what is judged, each by itself; none without a reference
}

// A Point is what a run says of a series.
type Point struct {
	Run int // index in History.Runs

	// Log is the logarithm of the ratio to the reference, and SE its standard error, from
	// the run's blocks; both are NaN if there is no ratio, and SE if there is one block.
	Log, SE float64
	Blocks  int
	Value   float64 // of the benchmark itself, in Unit; it is never judged

	circumstances []circumstance
}

// A Piece is points of a series that can be compared with one another, and what was found
// among them.
type Piece struct {
	First, End int      // points, from First up to and without End
	Cut        []string // why the piece begins: what is another than before; none for the first

	// Noise is the standard deviation of a point, and Detectable the smallest lasting step
	// in the middle of the piece that would be suspected nine times of ten, both
	// logarithms. They are NaN and infinite if there are too few points.
	Noise, Detectable float64

	Steps []Step // in the order of points
	Marks []Mark // in the order of points
}

// A Mark is where circumstances changed, and nothing was cut: a step there may be theirs, and a
// comparison of both sides tells.
type Mark struct {
	At   int // the first point with the new ones
	What []string
}

// A History is what the runs of some machines say.
type History struct {
	Alpha  float64 // level at which steps are suspected, of all series of a machine
	Runs   []Run   // in the order of time
	Series []Series

	Files  int      // that were read
	Others []string // files that are no history: calibrations, truth suites and files without results
	Notes  []string // what a reader should know
}

// Options say what is read, and how steps are looked for.
type Options struct {
	// Alpha is the level at which steps are suspected, of all series of a machine
	// together. 0 means compare.DefaultAlpha.
	Alpha float64

	// Machine is the name of the one machine that is wanted, Bench a pattern of go test
	// -bench for the benchmarks; "" is all.
	Machine, Bench string

	// Order has the place of each commit in the history of the repository. Where a commit of
	// a series is not among them, or Order is nil, points are in the order of time.
	Order map[string]int
}

// Read reads the results files at paths and below them, and looks for steps.
func Read(paths []string, o Options) (*History, error) {
	if err := record.CheckPattern(o.Bench); err != nil {
		return nil, err
	}
	files, err := find(paths)
	if err != nil {
		return nil, err
	}
	o.Alpha = cmp.Or(o.Alpha, compare.DefaultAlpha)
	h := &History{Alpha: o.Alpha, Files: len(files)}
	for _, path := range files {
		r, err := readRun(path)
		switch {
		case err != nil:
			return nil, err
		case r == nil:
			h.Others = append(h.Others, path)
		case o.Machine == "" || r.Machine == o.Machine:
			h.Runs = append(h.Runs, *r)
		}
	}
	if len(files) > 0 && len(h.Others) == len(files) {
		return nil, fmt.Errorf("no results of a run in %s: benchrun run makes some", strings.Join(paths, " "))
	}
	slices.SortStableFunc(h.Runs, func(a, b Run) int { return a.Started.Compare(b.Started) })
	h.checkSpeed()
	h.gather(o)
	h.suspect()
	h.readProofs()
	return h, nil
}

// A seriesKey tells series apart.
type seriesKey struct{ machine, pkg, name, reference string }

// gather makes the series of the runs.
func (h *History) gather(o Options) {
	of := make(map[seriesKey]*Series)
	var keys []seriesKey
	for i := range h.Runs {
		r := &h.Runs[i]
		if r.proves != "" {
			continue // it is asked for below, and was measured because of what others say
		}
		c, err := r.compared(compare.DefaultAlpha)
		if err != nil {
			h.Notes = append(h.Notes, fmt.Sprintf("%s takes no part: %v", r.Path, err))
			r.Apart = err.Error()
			continue
		}
		for _, m := range r.measured(c) {
			if o.Bench != "" && !record.Matches(o.Bench, record.ResultMark+m.name) {
				continue
			}
			key := seriesKey{r.Machine, m.pkg, m.name, m.reference}
			s := of[key]
			if s == nil {
				s = &Series{Machine: r.Machine, Pkg: m.pkg, Name: m.name, Reference: m.reference, Counted: m.counted, Unit: m.unit}
				of[key] = s
				keys = append(keys, key)
			}
			m.point.Run = i
			s.Points = append(s.Points, m.point)
		}
	}
	slices.SortStableFunc(keys, func(a, b seriesKey) int { return strings.Compare(a.machine, b.machine) })
	for _, key := range keys {
		s := of[key]
		h.arrange(s, o.Order)
		if s.Counted {
			first := s.Points[0].Log
			for i := range s.Points {
				s.Points[i].Log -= first
			}
		}
		h.cut(s)
		h.Series = append(h.Series, *s)
	}
}

// timeUnits are those of times of an operation.
var timeUnits = []string{"ns/op", "sec/op", "insns/op"}

// A measurement is what a run says of one series.
type measurement struct {
	pkg, name, reference, unit string
	counted                    bool
	point                      Point
}

// measured returns what a run says of each of its benchmarks.
func (r *Run) measured(c *compare.Comparison) (all []measurement) {
	if len(c.Tables) == 0 || !c.Counted() && !slices.Contains(timeUnits, c.Tables[0].Unit) {
		return nil
	}
	t := c.Tables[0] // counts of instructions come first, then time
	names := r.names(c.Col)
	for _, row := range t.Rows {
		for i, cell := range row.Cells {
			full, known := names[place{row.Name, row.Pkg, t.Cols[i].Name}]
			if cell.N == 0 || !known || row.Base == i && t.Cols[i].Ref {
				continue
			}
			m := measurement{pkg: full.pkg, name: full.name, unit: t.Unit}
			m.point = Point{Log: math.NaN(), SE: math.NaN(), Blocks: cell.N, Value: cell.Center}
			switch {
			case c.Col == record.SideKey:
				if t.Cols[i].Name != record.SideNew || r.Old == "" {
					continue // an old side has no reference
				}
				m.reference = r.Old
			case row.Base >= 0 && t.Cols[row.Base].Ref:
				m.reference = t.Cols[row.Base].Name
			}
			if c.Counted() && c.Col != record.SideKey { // they need nothing to be divided by
				m.counted, m.reference = true, r.countedBy()
				m.point.Log, m.point.SE = logOf(cell.Blocks)
			} else if vs := cell.Vs; m.reference != "" && vs != nil && (vs.Paired || c.Counted()) && vs.Ratio > 0 { // counts that do not vary are not tested
				m.point.Log, m.point.Blocks = math.Log(vs.Ratio), vs.N
				m.point.SE = standardError(vs.Shift)
			} else {
				m.reference = ""
			}
			m.point.circumstances = append(slices.Clip(r.circumstances),
				circumstance{workSource, r.source[full.subject]},
				circumstance{"way of measuring", full.way})
			all = append(all, m)
		}
	}
	return all
}

// countedBy is what counts have to have in common to be compared: the tool and the toolchain, which
// says for which architecture.
func (r *Run) countedBy() string {
	return r.file.Value(record.CounterKey) + ", " + strings.TrimPrefix(r.file.Value("toolchain"), "go version ")
}

// logOf returns the mean of the logarithms of values, and its standard error.
func logOf(blocks []compare.BlockValue) (mean, se float64) {
	n, square := float64(len(blocks)), 0.0
	for _, b := range blocks {
		mean += math.Log(b.V) / n
	}
	for _, b := range blocks {
		square += (math.Log(b.V) - mean) * (math.Log(b.V) - mean)
	}
	return mean, math.Sqrt(square / (n - 1) / n) // NaN of one
}

// standardError is that of the mean of a shift's units.
func standardError(s stats.Shift) float64 {
	if s.Units < 2 {
		return math.NaN()
	}
	return s.Spread / math.Sqrt(float64(s.Units))
}

// A place is where a benchmark stands in tables; pkg is "" where nothing else has the name.
type place struct{ row, pkg, col string }

// A benchmark is what stands there, and how it was measured.
type benchmark struct{ pkg, name, subject, way string }

// names returns the benchmarks of the run by their places.
func (r *Run) names(col string) map[place]benchmark {
	all := make(map[place]benchmark)
	for _, rec := range r.file.Results {
		res := rec.Result
		name, pkg := string(res.Name), res.GetConfig("pkg")
		row, column := name, res.GetConfig(record.SideKey)
		if col == "/impl" {
			row, column = splitImpl(name)
		}
		b := benchmark{pkg: pkg, name: name, subject: record.SubjectID(pkg, res.GetConfig(record.SideKey))}
		b.way = cmp.Or(res.GetConfig("driven"), "process")
		if rec.Slices != nil {
			b.way += fmt.Sprintf(", slices of %v", r.file.Slice)
			if !rec.Slices.Whole {
				b.way += ", collections outside"
			}
		}
		if column == "" {
			column = "(no impl)"
		}
		if col != "/impl" && col != record.SideKey {
			column = filepath.Base(r.Path)
		}
		for _, p := range []string{"", pkg} {
			all[place{row, p, column}] = b
		}
	}
	return all
}

// splitImpl takes the implementation out of a benchmark's name.
func splitImpl(name string) (row, impl string) {
	without, _ := compare.WithoutProcs(name)
	parts := slices.DeleteFunc(strings.Split(without, "/"), func(p string) bool {
		value, ok := strings.CutPrefix(p, "impl=")
		if ok {
			impl = value
		}
		return ok
	})
	return strings.Join(parts, "/") + name[len(without):], impl
}

// arrange puts the points of a series into the order of commits, if that is known of all
// that are clean, and else leaves them in that of time.
func (h *History) arrange(s *Series, order map[string]int) {
	commit := func(p Point) string { return h.Runs[p.Run].Commit }
	for _, p := range s.Points {
		if _, ok := order[commit(p)]; !ok {
			return
		}
	}
	slices.SortStableFunc(s.Points, func(a, b Point) int {
		return order[commit(a)] - order[commit(b)]
	})
}

// workSource is the circumstance that a benchmark and its reference are made of the same.
const workSource = "source of the workload and its references"

// cut cuts a series where it is of another machine, marks where other circumstances change, and
// leaves out runs that take no part.
func (h *History) cut(s *Series) {
	if s.Reference == "" {
		return
	}
	var was *Point
	for i := range s.Points {
		p := &s.Points[i]
		if h.Runs[p.Run].Apart != "" {
			continue
		}
		var cuts, marks []string
		if was != nil {
			for _, c := range changed(*was, *p) {
				if strings.HasPrefix(c.what, machineIs) {
					cuts = append(cuts, c.String())
				} else {
					marks = append(marks, c.String())
				}
			}
		}
		if len(s.Pieces) == 0 || len(cuts) > 0 {
			s.Pieces = append(s.Pieces, Piece{First: i, Cut: cuts, Noise: math.NaN(), Detectable: math.Inf(1)})
		}
		piece := &s.Pieces[len(s.Pieces)-1]
		if len(marks) > 0 {
			piece.Marks = append(piece.Marks, Mark{i, marks})
		}
		was, piece.End = p, i+1
	}
}

// Members returns the indexes of the piece's points that take part.
func (h *History) Members(s *Series, p Piece) (points []int) {
	for i := p.First; i < p.End; i++ {
		if h.Runs[s.Points[i].Run].Apart == "" {
			points = append(points, i)
		}
	}
	return points
}

// Machines returns the names of the machines, in order.
func (h *History) Machines() []string {
	names := make(map[string]bool)
	for _, r := range h.Runs {
		names[r.Machine] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Span is when the first and the last run were begun.
func (h *History) Span() (first, last time.Time) {
	if len(h.Runs) == 0 {
		return first, last
	}
	return h.Runs[0].Started, h.Runs[len(h.Runs)-1].Started
}
