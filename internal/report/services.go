package report

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/dynolab/dyno/internal/compare"
)

// Services are the formats of services that keep a figure of each commit, by the word that
// benchrun compare --format has for it: a new format is an entry here.
var Services = map[string]func(io.Writer, *compare.Comparison) error{"bencher": bencher, "github": gitHubAction}

// bencher writes c as Bencher's adapter json reads it, the Bencher Metric Format: of each
// benchmark its measures, with the ends of their intervals.
func bencher(w io.Writer, c *compare.Comparison) error {
	type metric struct {
		Value float64  `json:"value"`
		Lower *float64 `json:"lower_value,omitempty"`
		Upper *float64 `json:"upper_value,omitempty"`
	}
	all := make(map[string]map[string]metric)
	eachMeasured(c, func(name string, t compare.Table, cell compare.Cell) {
		if all[name] == nil {
			all[name] = make(map[string]metric)
		}
		measure := t.Unit
		if measure == "ns/op" {
			measure = "latency" // Bencher's own, in nanoseconds
		}
		m := metric{Value: cell.Center}
		if halfWidth(cell) >= 0 {
			m.Lower, m.Upper = &cell.Lo, &cell.Hi
		}
		all[name][measure] = m
	})
	return WriteJSON(w, all)
}

// gitHubAction writes c as github-action-benchmark reads it as its tool customSmallerIsBetter: a
// list, which has no place for units of which more is better.
func gitHubAction(w io.Writer, c *compare.Comparison) error {
	type entry struct {
		Name  string  `json:"name"`
		Unit  string  `json:"unit"`
		Value float64 `json:"value"`
		Range string  `json:"range,omitempty"`
	}
	all := []entry{}
	eachMeasured(c, func(name string, t compare.Table, cell compare.Cell) {
		if t.Better >= 0 {
			return
		}
		if t.Unit != "ns/op" {
			name += " - " + t.Unit // as the action does with lines of go test
		}
		e := entry{Name: name, Unit: t.Unit, Value: cell.Center}
		if half := halfWidth(cell); half >= 0 {
			e.Range = fmt.Sprintf("± %.4g", half)
		}
		all = append(all, e)
	})
	return WriteJSON(w, all)
}

// eachMeasured calls f with each figure of what benchmarks report, and with a name that the
// benchmark has in a later run as well: a file that is the only column is not in it.
func eachMeasured(c *compare.Comparison, f func(name string, t compare.Table, cell compare.Cell)) {
	for _, t := range agreed(c).Tables {
		if t.Resource {
			continue
		}
		for _, r := range t.Rows {
			for j, cell := range r.Cells {
				name := r.Name
				if r.Pkg != "" {
					name = r.Pkg + "." + name
				}
				if col := t.Cols[j].Name; col != "-" && (len(c.Files) > 1 || col != c.Files[0].Label) {
					name += "/" + col
				}
				if cell.N > 0 && cell.Verdict != compare.Absent && !math.IsInf(cell.Center, 0) {
					f(cmp.Or(name, "all"), t, cell)
				}
			}
		}
	}
}

// halfWidth is how far the interval of a cell reaches from its middle, NaN if it has none.
func halfWidth(cell compare.Cell) float64 {
	if half := max(cell.Hi-cell.Center, cell.Center-cell.Lo); !math.IsInf(half, 0) {
		return half
	}
	return math.NaN()
}
