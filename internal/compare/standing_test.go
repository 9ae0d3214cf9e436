package compare

import (
	"fmt"
	"math"
	"testing"
)

// A column's standing counts the rows in which it is compared, and references stand only
// where there is nothing else.
func TestStanding(t *testing.T) {
	cell := func(v Verdict, ratio float64) Cell { return Cell{Verdict: v, Vs: &Versus{Ratio: ratio}} }
	base := Cell{Verdict: Base}
	tab := Table{
		Cols: []Column{{Name: "ref", Ref: true}, {Name: "a"}, {Name: "ref-b", Ref: true}},
		Rows: []Row{
			{Base: 0, Cells: []Cell{base, cell(Faster, 0.5), cell(Faster, 0.1)}},
			{Base: 0, Cells: []Cell{base, cell(Slower, 8), {}}},
			{Base: 1, Cells: []Cell{{}, base, cell(Same, 1)}},
			{Base: 0, Cells: []Cell{base, cell(Worse, math.NaN()), {}}},
		},
	}
	all := tab.Contenders()
	if len(all) != 1 {
		t.Fatalf("contenders: %+v", all)
	}
	s := all[0]
	if s.Col != 1 || fmt.Sprint(s.Rows, s.Good, s.Bad) != "[0 1 3] [0] [1 3]" || s.Least != 0.5 || s.Most != 8 || math.Abs(s.Geomean-2) > 1e-12 || s.GeomeanRows != 2 || s.Count[Slower] != 1 {
		t.Errorf("%+v", s)
	}
	tab.Cols[1].Ref = true
	if all := tab.Contenders(); len(all) != 2 {
		t.Errorf("of references only: %+v", all)
	}
	if s := tab.Standing(0); len(s.Rows) != 0 || !math.IsNaN(s.Geomean) || !math.IsNaN(s.Least) {
		t.Errorf("of a base: %+v", s)
	}
}
