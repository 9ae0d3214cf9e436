package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/record"
)

// A Place is a machine or a board that gave results.
type Place struct {
	Name     string // of the board, else of the machine, else of the file
	Chip     string // of a board, if the results say it
	Board    bool
	Emulated bool

	// Paths are those of its files, as they were given.
	Paths []string
	files []int // their indexes
}

// Places returns what the files are results of, in order of appearance. A file that holds
// results of several boards is one place.
func (d *Data) Places() (places []Place) {
	for k, one := range d.Each() {
		f := one.sources[0].file
		p := Place{Name: f.Board(), Chip: f.Value("chip"), Board: f.Board() != "", Emulated: f.Emulated()}
		p.Name = cmp.Or(p.Name, f.Value("machine"), f.Label)
		at := find(&places, func(o Place) bool { return o.Name == p.Name && o.Board == p.Board && o.Emulated == p.Emulated }, p)
		at.Paths, at.files = append(at.Paths, one.sources[0].arg), append(at.files, k)
	}
	return places
}

// A SideBySide is what machines and boards measured of the same benchmarks, each
// figure as it is: between two places there is no ratio and no verdict, because a
// figure of one says nothing of the other. It is plain data.
type SideBySide struct {
	Places []Place
	// Comparisons have the figures of each place by itself, none of them compared.
	Comparisons []*Comparison

	Workloads []SideWorkload
	// HostOnly are the benchmarks that no board has; they are in no table.
	HostOnly []string
}

// A SideWorkload is one benchmark, without implementation and GOMAXPROCS.
type SideWorkload struct {
	Name  string
	Impls []SideImpl
}

// A SideImpl is one implementation. References are left out: boards run none.
type SideImpl struct {
	Name  string
	Lines []SideLine
}

// A SideLine is what one implementation took of one thing, such as time.
type SideLine struct {
	// Unit is what is measured, with a real clock's unit: a board of which the
	// clock counts instructions has "insns/op" where this is "ns/op".
	Unit  string
	Cells []SideCell // one a place
}

// A SideCell is one figure.
type SideCell struct {
	Unit string // of the value, as in the results
	// N is the number of values; if it is zero, the fields below have no meaning.
	N              int
	Center, Lo, Hi float64 // as in Cell
	Exact          bool
	Procs          int // GOMAXPROCS: of several the largest counts

	// Why says why there is no value, if the results say it.
	Why string
}

// SideBySide compares nothing: it sets the results of several places, of which at least
// one is a board, beside one another. opts.Col and opts.Base are not used: the columns of
// each place are implementations. The error is that of [Data.Compare].
func (d *Data) SideBySide(opts Options) (*SideBySide, error) {
	s := &SideBySide{Places: d.Places()}
	for _, p := range s.Places {
		opts.Col, opts.Base, opts.alone = "/impl", "", true
		c, err := d.some(p.files).Compare(opts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		s.Comparisons = append(s.Comparisons, c)
	}
	s.collect()
	return s, nil
}

// collect fills Workloads and HostOnly.
func (s *SideBySide) collect() {
	var all []SideWorkload
	onBoard := make(map[string]bool)
	for i, c := range s.Comparisons {
		for _, t := range c.Tables {
			if t.Resource {
				continue // of processes, which no board has
			}
			for _, r := range t.Rows {
				name, procs := WithoutProcs(strings.TrimSpace(r.Pkg + " " + r.Name))
				for k, cell := range r.Cells {
					if t.Cols[k].Ref || cell.N == 0 {
						continue
					}
					at := s.cell(implOf(&all, name, t.Cols[k].Name), realUnit(t.Unit), i)
					if at.N == 0 || procs > at.Procs {
						*at = SideCell{Unit: t.Unit, N: cell.N, Center: cell.Center, Lo: cell.Lo, Hi: cell.Hi, Exact: t.Exact, Procs: procs}
					}
					onBoard[name] = onBoard[name] || s.Places[i].Board
				}
			}
		}
	}
	for i, c := range s.Comparisons {
		for _, f := range c.Files {
			for _, h := range f.Holes {
				name, impl, ok := splitImpl(h.Case)
				if !ok || record.IsReference(impl) {
					continue
				}
				w, unit := implOf(&all, name, impl), "ns/op"
				if len(w.Lines) > 0 {
					unit = w.Lines[0].Unit
				}
				if cell := s.cell(w, unit, i); cell.N == 0 && cell.Why == "" {
					cell.Why = h.String()
				}
				onBoard[name] = onBoard[name] || s.Places[i].Board
			}
		}
	}
	for _, w := range all {
		for i := range w.Impls {
			slices.SortStableFunc(w.Impls[i].Lines, func(a, b SideLine) int { return unitRank(a.Unit) - unitRank(b.Unit) })
		}
		if onBoard[w.Name] {
			s.Workloads = append(s.Workloads, w)
		} else {
			s.HostOnly = append(s.HostOnly, w.Name)
		}
	}
}

// implOf returns an implementation of a workload, which it makes if need be.
func implOf(all *[]SideWorkload, workload, impl string) *SideImpl {
	w := find(all, func(w SideWorkload) bool { return w.Name == workload }, SideWorkload{Name: workload})
	return find(&w.Impls, func(o SideImpl) bool { return o.Name == impl }, SideImpl{Name: impl})
}

// cell returns the cell of a place, which it makes if need be.
func (s *SideBySide) cell(w *SideImpl, unit string, place int) *SideCell {
	fresh := SideLine{Unit: unit, Cells: make([]SideCell, len(s.Places))}
	return &find(&w.Lines, func(l SideLine) bool { return l.Unit == unit }, fresh).Cells[place]
}

// find returns the element of list of which is holds; without one it adds fresh.
func find[T any](list *[]T, is func(T) bool, fresh T) *T {
	i := slices.IndexFunc(*list, is)
	if i < 0 {
		i, *list = len(*list), append(*list, fresh)
	}
	return &(*list)[i]
}

// WithoutProcs splits GOMAXPROCS from a benchmark's name, which is absent if it is
// 1.
func WithoutProcs(name string) (string, int) {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 0 {
			return name[:i], n
		}
	}
	return name, 1
}

// splitImpl splits the implementation from a full benchmark name.
func splitImpl(full string) (name, impl string, ok bool) {
	full, _ = WithoutProcs(strings.TrimPrefix(full, "Benchmark"))
	before, after, ok := strings.Cut(full, "/impl=")
	impl, rest, more := strings.Cut(after, "/")
	if more {
		before += "/" + rest
	}
	return before, impl, ok && impl != ""
}

// realUnit is the unit with a real clock of what unit measures.
func realUnit(unit string) string {
	if of, ok := strings.CutPrefix(unit, "insns/"); ok {
		return "ns/" + of
	}
	if what, ok := strings.CutSuffix(unit, "-insns"); ok {
		return what + "-ns"
	}
	return unit
}

// Spread is how far the ends of the interval lie from the centre at most, relative
// to it; NaN if there is no interval, or the unit is exact.
func (c SideCell) Spread() float64 {
	if c.Exact || c.N == 0 || c.Center == 0 || math.IsInf(c.Lo, 0) || math.IsInf(c.Hi, 0) {
		return math.NaN()
	}
	return max(c.Center-c.Lo, c.Hi-c.Center) / math.Abs(c.Center)
}
