package report

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/dynolab/dyno/lab"
)

// csvHead are the columns of CSV, in order.
var csvHead = []string{
	"unit", "pkg", "benchmark", "column", "reference", "n", "center", "lo", "hi",
	"base", "ratio", "ratio_lo", "ratio_hi", "p", "paired", "pairs", "verdict", "notes",
}

// CSV writes c with one line for each cell, in full precision. Figures that do
// not exist are empty, infinite ones "+Inf" or "-Inf". Notes are joined by
// "; ". Warnings and circumstances are not in it; JSON has them.
func CSV(w io.Writer, c *lab.Comparison) error {
	out := csv.NewWriter(w)
	_ = out.Write(csvHead) // Error tells
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			base := ""
			if r.Base >= 0 {
				base = t.Cols[r.Base].Name
			}
			for i, cell := range r.Cells {
				if cell.Verdict == lab.Absent {
					continue
				}
				line := []string{
					t.Unit, r.Pkg, r.Name, t.Cols[i].Name, strconv.FormatBool(t.Cols[i].Ref), strconv.Itoa(cell.N),
					"", "", "", base, "", "", "", "", "", "", string(cell.Verdict), joinNotes(c, cell),
				}
				if cell.N > 0 {
					line[6], line[7], line[8] = number(cell.Center), number(cell.Lo), number(cell.Hi)
				}
				if vs := cell.Vs; vs != nil {
					line[10], line[11], line[12], line[13] = number(vs.Ratio), number(vs.Lo), number(vs.Hi), number(vs.P)
					line[14] = strconv.FormatBool(vs.Paired)
					if vs.Paired {
						line[15] = strconv.Itoa(vs.N)
					}
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

func joinNotes(c *lab.Comparison, cell lab.Cell) string {
	s := ""
	for i, n := range cell.Notes {
		if i > 0 {
			s += "; "
		}
		s += c.Notes[n]
	}
	return s
}
