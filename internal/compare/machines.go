package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/dynolab/dyno/internal/stats"
)

// An Across is what several machines say of one comparison: a row and column in one unit. Each
// has its own verdict, of figures that were measured on it; figures of different machines are
// never compared.
type Across struct {
	Pkg, Row, Col, Unit string
	Machines            []AcrossOn
	// Together sums the logarithms of the ratios up; nil if fewer than two machines have one
	// with an interval.
	Together *stats.Summary
}

// An AcrossOn is the word of one machine.
type AcrossOn struct {
	Machine string
	Verdict Verdict
	// Ratio is new over old on this machine, with its bounds; NaN if there is none.
	Ratio, Lo, Hi float64
}

// Machines sets comparisons of several machines beside one another, in the order of the first.
// names are those of the machines.
func Machines(names []string, each []*Comparison) (all []Across) {
	for m, c := range each {
		for _, t := range c.Tables {
			if t.Resource {
				continue
			}
			for _, r := range t.Rows {
				for i, cell := range r.Cells {
					if cell.Vs == nil && cell.Verdict != Missing || i == r.Base {
						continue
					}
					on := AcrossOn{names[m], cell.Verdict, math.NaN(), math.NaN(), math.NaN()}
					if cell.Vs != nil {
						on.Ratio, on.Lo, on.Hi = cell.Vs.Ratio, cell.Vs.Lo, cell.Vs.Hi
					}
					name := Across{Pkg: r.Pkg, Row: r.Name, Col: t.Cols[i].Name, Unit: t.Unit}
					a := find(&all, func(o Across) bool {
						return o.Pkg == name.Pkg && o.Row == name.Row && o.Col == name.Col && o.Unit == name.Unit
					}, name)
					a.Machines = append(a.Machines, on)
				}
			}
		}
	}
	for i := range all {
		all[i].sumUp(each[0].Alpha)
	}
	return all
}

// sumUp fills Together. An interval of a ratio becomes one of its logarithm, and that a standard
// error, as if it were a normal one: it is only a weight.
func (a *Across) sumUp(alpha float64) {
	var logs, se []float64
	for _, m := range a.Machines {
		if e := stats.StandardError(math.Log(m.Lo), math.Log(m.Hi), 1000, alpha); e > 0 && !math.IsInf(e, 0) {
			logs, se = append(logs, math.Log(m.Ratio)), append(se, e)
		}
	}
	if len(logs) > 1 {
		s := stats.RandomEffects(logs, se, alpha)
		a.Together = &s
	}
}

// String says it in a sentence, such as "slower on 3 of 4 machines; together +5.0 % (+1.0 to
// +9.2 %), heterogeneity I² 40 %".
func (a *Across) String() string {
	count := make(map[Verdict]int)
	var order []Verdict
	for _, m := range a.Machines {
		if count[m.Verdict] == 0 {
			order = append(order, m.Verdict)
		}
		count[m.Verdict]++
	}
	var parts []string
	for _, v := range order {
		parts = append(parts, fmt.Sprintf("%s on %d of %d machines", v, count[v], len(a.Machines)))
	}
	text := strings.Join(parts, ", ")
	if s := a.Together; s != nil {
		percent := func(l float64) string { return fmt.Sprintf("%+.1f %%", 100*math.Expm1(l)) }
		text += fmt.Sprintf("; together %s (%s to %s), heterogeneity I² %.0f %%", percent(s.Center), percent(s.Lo), percent(s.Hi), 100*s.I2)
	}
	return text
}
