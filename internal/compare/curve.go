package compare

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
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
	for i, r := range t.Rows {
		for _, n := range numbersIn(r.Name) {
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
// that are numbers, and GOMAXPROCS.
func numbersIn(name string) []numberIn {
	base, parts := benchfmt.Name(name).Parts()
	without := func(skip int) string {
		rest := slices.Delete(slices.Clone(parts), skip, skip+1)
		return string(base) + string(bytes.Join(rest, nil))
	}
	var found []numberIn
	procs := numberIn{gomaxprocs, 1, name} // which is not written if it is 1
	for i, p := range parts {
		key, value, ok := strings.Cut(string(p), "=")
		if p[0] == '-' {
			key, value, ok = gomaxprocs, string(p[1:]), true
		}
		x, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || !(x > 0) || math.IsInf(x, 1) {
			continue
		}
		n := numberIn{strings.TrimPrefix(key, "/"), x, without(i)}
		if p[0] == '-' {
			procs = n
			continue
		}
		found = append(found, n)
	}
	return append(found, procs)
}
