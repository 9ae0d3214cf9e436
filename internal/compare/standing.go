package compare

import "math"

// A Standing is how one column of a table does against the bases of its rows.
type Standing struct {
	Col int

	// Rows are the indexes of the rows in which it is compared with another column, and
	// Count is how many of them have each verdict.
	Rows  []int
	Count map[Verdict]int

	// Good and Bad are the rows in which it is proven to differ, and which way. Higher and
	// Lower are those in which nothing says which way is better.
	Good, Bad, Higher, Lower []int

	// Least and Most are the extremes of its ratios; NaN if no row has one.
	Least, Most float64

	// Geomean is the geometric mean of the ratios above zero, over GeomeanRows rows;
	// NaN for none. It has no interval: benchmarks are not a sample of anything.
	Geomean     float64
	GeomeanRows int
}

// Standing sums a column of t up.
func (t Table) Standing(col int) Standing {
	s := Standing{Col: col, Count: make(map[Verdict]int), Least: math.NaN(), Most: math.NaN()}
	logs := 0.0
	for i, r := range t.Rows {
		cell := r.Cells[col]
		if col == r.Base || cell.Vs == nil {
			continue
		}
		s.Rows = append(s.Rows, i)
		s.Count[cell.Verdict]++
		switch v := cell.Verdict; {
		case v.Good():
			s.Good = append(s.Good, i)
		case v.Bad():
			s.Bad = append(s.Bad, i)
		case v == Higher:
			s.Higher = append(s.Higher, i)
		case v == Lower:
			s.Lower = append(s.Lower, i)
		}
		ratio := cell.Vs.Ratio
		if math.IsNaN(ratio) {
			continue
		}
		if math.IsNaN(s.Least) {
			s.Least, s.Most = ratio, ratio
		}
		s.Least, s.Most = min(s.Least, ratio), max(s.Most, ratio)
		if ratio > 0 && !math.IsInf(ratio, 1) {
			logs += math.Log(ratio)
			s.GeomeanRows++
		}
	}
	s.Geomean = math.Exp(logs / float64(s.GeomeanRows)) // 0/0 is NaN
	return s
}

// Contenders are the columns of t that are compared in some row and are no references, or
// if there is none, the references that are.
func (t Table) Contenders() (all []Standing) {
	for _, refs := range []bool{false, true} {
		for i, col := range t.Cols {
			if s := t.Standing(i); col.Ref == refs && len(s.Rows) > 0 {
				all = append(all, s)
			}
		}
		if len(all) > 0 {
			break
		}
	}
	return all
}
