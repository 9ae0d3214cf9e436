package compare

import (
	"math"
	"strings"
	"testing"
)

// Each machine has its own verdict; together they say how many agree, and how far they are
// apart. That one machine is ten times as fast changes nothing.
func TestMachines(t *testing.T) {
	on := func(verdict Verdict, scale, ratio float64) *Comparison {
		half := 0.005
		return &Comparison{Alpha: 0.05, Tables: []Table{{
			Unit: "ns/op", Cols: []Column{{Name: "old"}, {Name: "new"}},
			Rows: []Row{{Name: "X-2", Cells: []Cell{
				{Center: scale, Verdict: Base},
				{Center: scale * ratio, Verdict: verdict, Vs: &Versus{Ratio: ratio, Lo: ratio * (1 - half), Hi: ratio * (1 + half)}},
			}}},
		}}}
	}
	all := Machines([]string{"a", "b", "c", "d"}, []*Comparison{on(Slower, 1, 1.10), on(Slower, 10, 1.10), on(Slower, 100, 1.10), on(Same, 5, 1.00)})
	if len(all) != 1 || len(all[0].Machines) != 4 || all[0].Machines[3].Machine != "d" || all[0].Machines[3].Verdict != Same {
		t.Fatalf("%+v", all)
	}
	a := all[0]
	if got, want := a.String()[:len("slower on 3 of 4 machines, same on 1 of 4 machines; together ")], "slower on 3 of 4 machines, same on 1 of 4 machines; together "; got != want {
		t.Errorf("%q", a.String())
	}
	if a.Together.I2 < 0.9 || math.Abs(a.Together.Center-3*math.Log(1.1)/4) > 0.005 || a.Together.Lo > 0 {
		t.Errorf("one of four disagrees: %+v", a.Together)
	}
	one := Machines([]string{"a"}, []*Comparison{on(Slower, 1, 1.10)})
	if one[0].Together != nil {
		t.Error("one machine is summed up")
	}
}

// A plan that was carried out alone and through a fleet of one has the same verdicts: kept results
// of one machine, one after the other. Of what processes cost besides, one of the two may be
// inconclusive.
func TestAloneAndThroughAFleet(t *testing.T) {
	verdicts := func(name string) map[string]Verdict {
		c, err := Compare([]string{"../../results/amd-epyc-2c-linux-amd64/" + name + ".bench"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		all := make(map[string]Verdict)
		for _, table := range c.Tables {
			for _, r := range table.Rows {
				for i, cell := range r.Cells {
					kind := "result"
					if table.Resource {
						kind = "resource"
					}
					all[kind+" "+r.Name+" "+table.Unit+" "+table.Cols[i].Name] = cell.Verdict
				}
			}
		}
		return all
	}
	alone, fleet := verdicts("20261123-132211-bc947da4-alone"), verdicts("20261123-132301-bc947da4-fleet")
	if len(alone) != len(fleet) || len(alone) < 100 {
		t.Fatalf("%d and %d verdicts", len(alone), len(fleet))
	}
	for of, v := range alone {
		if w := fleet[of]; v != w && (strings.HasPrefix(of, "result ") || v != Inconclusive && w != Inconclusive && v != Same && w != Same) {
			t.Errorf("%s: %v alone, and %v through the fleet", of, v, w)
		}
	}
}
