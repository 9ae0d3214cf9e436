package report

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/dynolab/dyno/internal/compare"
)

// csvHead are the columns of CSV, in order.
var csvHead = []string{
	"unit", "pkg", "benchmark", "column", "reference", "n", "center", "lo", "hi",
	"base", "ratio", "ratio_lo", "ratio_hi", "p", "p_adjusted", "paired", "pairs",
	"rounds", "layouts", "control", "detectable", "need_blocks", "need_seconds", "verdict", "notes",
	"resource", "undecidable", "rare_costs", "typical", "typical_lo", "typical_hi",
	"slices", "p50", "p90", "p99", "max", "tail", "tail_lo", "tail_hi", "tail_moved",
}

// CSV writes c with one line for each cell, in full precision. Figures that do
// not exist are empty, infinite ones "+Inf" or "-Inf". Notes are joined by
// "; ". Findings, warnings and circumstances are not in it; JSON has them.
func CSV(w io.Writer, c *compare.Comparison) error {
	out := csv.NewWriter(w)
	_ = out.Write(csvHead) // Error tells
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			base := ""
			if r.Base >= 0 {
				base = t.Cols[r.Base].Name
			}
			for i, cell := range r.Cells {
				if cell.Verdict == compare.Absent {
					continue
				}
				f := map[string]string{
					"unit": t.Unit, "pkg": r.Pkg, "benchmark": r.Name, "column": t.Cols[i].Name, "reference": strconv.FormatBool(t.Cols[i].Ref),
					"n": strconv.Itoa(cell.N), "base": base, "verdict": string(cell.Verdict), "notes": joinNotes(c, cell),
					"resource": strconv.FormatBool(t.Resource),
				}
				if d := cell.Slices; d != nil {
					f["slices"], f["p50"], f["p90"] = strconv.Itoa(d.N), number(d.P50), number(d.P90)
					f["p99"], f["max"] = number(d.P99), number(d.Max)
				}
				if cell.N > 0 {
					f["center"], f["lo"], f["hi"] = number(cell.Center), number(cell.Lo), number(cell.Hi)
				}
				if vs := cell.Vs; vs != nil {
					f["ratio"], f["ratio_lo"], f["ratio_hi"] = number(vs.Ratio), number(vs.Lo), number(vs.Hi)
					f["p"], f["p_adjusted"], f["detectable"] = number(vs.P), number(vs.Adjusted), number(vs.Detectable)
					f["typical"], f["typical_lo"], f["typical_hi"] = number(vs.Typical), number(vs.TypicalLo), number(vs.TypicalHi)
					f["tail"], f["tail_lo"], f["tail_hi"] = number(vs.Tail), number(vs.TailLo), number(vs.TailHi)
					f["tail_moved"], f["rare_costs"] = strconv.FormatBool(vs.TailMoved), strconv.FormatBool(vs.RareCosts)
					f["undecidable"] = strconv.FormatBool(vs.Undecidable)
					f["paired"], f["layouts"] = strconv.FormatBool(vs.Paired), strconv.Itoa(vs.Layouts)
					if vs.Paired {
						f["pairs"], f["rounds"] = strconv.Itoa(vs.N), strconv.Itoa(vs.Rounds)
					}
					if r.Control != nil {
						f["control"] = number(r.Control.Vs.Ratio)
					}
					if vs.Need > 0 {
						f["need_blocks"], f["need_seconds"] = strconv.Itoa(vs.Need), number(vs.NeedTime.Seconds())
					}
				}
				line := make([]string, len(csvHead))
				for k, name := range csvHead {
					line[k] = f[name]
				}
				_ = out.Write(line)
			}
		}
	}
	out.Flush()
	return out.Error()
}

// number writes v so that parsing gives it back; "" for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func joinNotes(c *compare.Comparison, cell compare.Cell) string {
	s := ""
	for i, n := range cell.Notes {
		if i > 0 {
			s += "; "
		}
		s += c.Notes[n]
	}
	return s
}
