package compare

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Curve is rows of a table that differ in one number only, such as those of
// X/actors=2, X/actors=1000 and X/actors=1000000, or of X, X-2 and X-4, which
// were measured with as many processors: how each column changes with it.
type Curve struct {
	Name   string // what the rows' names have in common
	Pkg    string // as in Row
	Key    string // what the number is: "actors", or "GOMAXPROCS"
	Points []CurvePoint

	// Rise is, for each column, its value at the last point over that at the
	// first one; NaN if one of them is not there, or not positive.
	Rise []float64
}

// A CurvePoint is one row of a curve.
type CurvePoint struct {
	X   float64
	Row int // index in Table.Rows
}

// curveLeast is the least number of points that are a curve. Two are a
// comparison, which the table shows.
const curveLeast = 3

// gomaxprocs is the key of curves over the number that ends benchmark names.
const gomaxprocs = "GOMAXPROCS"

// Curves returns the curves among the rows of t, in the order in which their
// first rows stand there, each with its points in ascending order. A row may lie
// on several. Numbers that are not positive, as a logarithmic axis needs them,
// make no curve.
func (t Table) Curves() []Curve {
	var curves []Curve
	procs := Procs(namesOf(t.Rows))
	for i, r := range t.Rows {
		for _, n := range numbersIn(r.Name, procs) {
			same := func(c Curve) bool { return c.Name == n.rest && c.Pkg == r.Pkg && c.Key == n.key }
			c := find(&curves, same, Curve{Name: n.rest, Pkg: r.Pkg, Key: n.key})
			// Two ways to write one number would be one point with two values.
			if !slices.ContainsFunc(c.Points, func(p CurvePoint) bool { return p.X == n.x }) {
				c.Points = append(c.Points, CurvePoint{n.x, i})
			}
		}
	}
	curves = slices.DeleteFunc(curves, func(c Curve) bool { return len(c.Points) < curveLeast })
	for k := range curves {
		c := &curves[k]
		slices.SortFunc(c.Points, func(a, b CurvePoint) int { return cmp.Compare(a.X, b.X) })
		first, last := t.Rows[c.Points[0].Row], t.Rows[c.Points[len(c.Points)-1].Row]
		for i := range t.Cols {
			rise := math.NaN()
			if a, b := first.Cells[i], last.Cells[i]; a.N > 0 && b.N > 0 && a.Center > 0 && b.Center > 0 {
				rise = b.Center / a.Center
			}
			c.Rise = append(c.Rise, rise)
		}
	}
	return curves
}

// numberIn is a number in a benchmark's name.
type numberIn struct {
	key  string
	x    float64
	rest string // the name without it
}

// numbersIn returns the numbers in a benchmark's name: the values of its keys
// that are numbers, and GOMAXPROCS, which procs finds.
func numbersIn(name string, procs func(string) string) []numberIn {
	suffix := procs(name)
	parts := strings.Split(strings.TrimSuffix(name, suffix), "/")
	var found []numberIn
	for i, p := range parts {
		key, value, ok := strings.Cut(p, "=")
		x, err := strconv.ParseFloat(value, 64)
		if i == 0 || !ok || err != nil || !(x > 0) || math.IsInf(x, 1) {
			continue
		}
		rest := slices.Delete(slices.Clone(parts), i, i+1)
		found = append(found, numberIn{key, x, strings.Join(rest, "/") + suffix})
	}
	n := numberIn{gomaxprocs, 1, strings.TrimSuffix(name, suffix)} // 1 is not written
	if x, err := strconv.ParseFloat(strings.TrimPrefix(suffix, "-"), 64); err == nil && x > 0 {
		n.x = x
	}
	return append(found, n)
}

// Procs returns what tells of a benchmark's name, one of names, which part of it is
// GOMAXPROCS: "-8" of "Sum-8"; "" if that is 1. A number that ends a name may be a parameter
// as well, as in "Shift/delta=-1" and "Append/size-100": behind = it is one, and where some
// names end in no number, GOMAXPROCS was 1, but for the numbers of names that are there
// without them as well, as --cpu 1,8 makes them.
func Procs(names []string) func(name string) string {
	there := make(map[string]bool)
	for _, name := range names {
		there[name] = true
	}
	bare := false
	known := make(map[string]bool)
	for name := range there {
		suffix := suffixOf(name)
		bare = bare || suffix == ""
		known[suffix] = known[suffix] || there[strings.TrimSuffix(name, suffix)]
	}
	return func(name string) string {
		suffix := suffixOf(name)
		if bare && !known[suffix] {
			return ""
		}
		return suffix
	}
}

// suffixOf is what may be GOMAXPROCS in a name.
func suffixOf(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 1 || name[i-1] == '=' {
		return ""
	}
	if n, err := strconv.ParseUint(name[i+1:], 10, 16); err != nil || n == 0 {
		return ""
	}
	return name[i:]
}

// namesOf are the names of rows.
func namesOf(rows []Row) []string { return each(rows, func(r Row) string { return r.Name }) }

// each makes a list.
func each[T, U any](all []T, of func(T) U) []U {
	out := make([]U, len(all))
	for i, v := range all {
		out[i] = of(v)
	}
	return out
}
