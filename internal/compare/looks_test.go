package compare

import (
	"math"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// A row is decided when all of its comparisons have an answer in its first unit.
func TestDecided(t *testing.T) {
	row := func(name string, verdicts ...Verdict) Row {
		r := Row{Name: name}
		for _, v := range verdicts {
			cell := Cell{Verdict: v}
			if v != Base && v != Missing {
				cell.Vs = new(Versus)
			}
			r.Cells = append(r.Cells, cell)
		}
		return r
	}
	c := &Comparison{Margin: 0.02, Tables: []Table{
		{Unit: "ns/op", Rows: []Row{
			row("A-2", Base, Faster, Slower, Same, Missing),
			row("B-2", Base, Faster, Inconclusive),
			row("C-2", Base, Unproven),
			{Name: "G-2", Cells: []Cell{{Verdict: Slower, Vs: &Versus{Ratio: 1.019}}}},
			{Name: "H-2", Cells: []Cell{{Verdict: Faster, Vs: &Versus{Ratio: 0.98}}, {Verdict: Slower, Vs: &Versus{Ratio: math.NaN()}}}},
		}},
		{Unit: "p99-ns", Rows: []Row{row("A-2", Base, Inconclusive), row("D-2", Base, Better), row("E-2", Base, Inconclusive)}},
		{Unit: "B/op", Rows: []Row{row("A-2", Base, Same), row("D-2", Base, Inconclusive)}},
	}}
	for name, want := range map[string]bool{"A-2": true, "B-2": false, "C-2": false, "D-2": false, "E-2": false, "F-2": false, "G-2": false, "H-2": true} {
		if got := c.decided(record.Group{Name: name}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	c.Tables[0].Rows = []Row{{Name: "A-2", Pkg: "p"}, {Name: "A-2", Pkg: "q", Cells: []Cell{{Verdict: Inconclusive, Vs: new(Versus)}}}}
	if !c.decided(record.Group{Name: "A-2", Pkg: "p"}) || c.decided(record.Group{Name: "A-2", Pkg: "q"}) {
		t.Error("packages are mixed up")
	}
}
