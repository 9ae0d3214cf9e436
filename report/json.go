package report

import (
	"encoding/json"
	"io"
	"math"

	"github.com/dynolab/dyno/lab"
)

// ComparisonSchema names the form of JSON's output. Fields may be added under
// the same name; a change of meaning gets a new one.
const ComparisonSchema = "dyno-comparison/1"

// The types below are the schema, told in docs/reading-a-report.md. A figure
// that does not exist, or is infinite, is null.
type (
	comparisonJSON struct {
		Schema      string      `json:"schema"`
		Alpha       float64     `json:"alpha"`
		Column      string      `json:"column"`
		Comparisons int         `json:"comparisons"`
		Files       []fileJSON  `json:"files"`
		Tables      []tableJSON `json:"tables"`
		Warnings    []string    `json:"warnings"`
		Problems    []string    `json:"problems"`
		Targets     []scoreJSON `json:"targets,omitempty"`

		Calibrations []calibrationJSON `json:"calibrations,omitempty"`
	}
	fileJSON struct {
		Label   string        `json:"label"`
		Path    string        `json:"path"`
		Results int           `json:"results"`
		Blocks  int           `json:"blocks"`
		Config  []settingJSON `json:"config"`
		Holes   []holeJSON    `json:"holes"`
	}
	settingJSON struct {
		Key    string   `json:"key"`
		Values []string `json:"values"`
	}
	holeJSON struct {
		Pkg     string `json:"pkg,omitempty"`
		Case    string `json:"case"`
		Block   string `json:"block,omitempty"`
		Side    string `json:"side,omitempty"`
		Reason  string `json:"reason"`
		Skipped bool   `json:"skipped"`
	}
	tableJSON struct {
		Unit   string    `json:"unit"`
		Better string    `json:"better"` // "lower", "higher" or ""
		Exact  bool      `json:"exact"`
		Rows   []rowJSON `json:"rows"`
	}
	rowJSON struct {
		Benchmark string     `json:"benchmark"`
		Pkg       string     `json:"pkg,omitempty"`
		Base      string     `json:"base,omitempty"`
		Cells     []cellJSON `json:"cells"`
	}
	cellJSON struct {
		Column    string      `json:"column"`
		Reference bool        `json:"reference"`
		N         int         `json:"n"`
		Center    *float64    `json:"center"`
		Lo        *float64    `json:"lo"`
		Hi        *float64    `json:"hi"`
		Verdict   string      `json:"verdict"`
		Hole      bool        `json:"hole"`
		Versus    *versusJSON `json:"versus,omitempty"`
		Notes     []string    `json:"notes,omitempty"`
	}
	versusJSON struct {
		Ratio  *float64 `json:"ratio"`
		Lo     *float64 `json:"lo"`
		Hi     *float64 `json:"hi"`
		P      *float64 `json:"p"`
		Paired bool     `json:"paired"`
		N      int      `json:"n"`
		BaseN  int      `json:"base_n"`
	}
)

// JSON writes c as one indented JSON object of the schema ComparisonSchema, with
// the scores of card if that is not nil.
func JSON(w io.Writer, c *lab.Comparison, card *Scorecard) error {
	doc := comparisonJSON{
		Schema: ComparisonSchema, Alpha: c.Alpha, Column: c.Col, Comparisons: c.Comparisons,
		Files: []fileJSON{}, Tables: []tableJSON{},
		Warnings: append([]string{}, c.Warnings...), Problems: append([]string{}, c.Problems...),
	}
	for _, f := range c.Files {
		doc.Files = append(doc.Files, fileToJSON(f))
	}
	if card != nil {
		doc.Targets = scoresToJSON(card)
	}
	doc.Calibrations = calibrationsToJSON(c)
	for _, t := range c.Tables {
		tj := tableJSON{Unit: t.Unit, Exact: t.Exact, Rows: []rowJSON{}}
		switch {
		case t.Better < 0:
			tj.Better = "lower"
		case t.Better > 0:
			tj.Better = "higher"
		}
		for _, r := range t.Rows {
			rj := rowJSON{Benchmark: r.Name, Pkg: r.Pkg}
			if r.Base >= 0 {
				rj.Base = t.Cols[r.Base].Name
			}
			for i, cell := range r.Cells {
				if cell.Verdict != lab.Absent {
					rj.Cells = append(rj.Cells, cellToJSON(c, t.Cols[i], cell))
				}
			}
			tj.Rows = append(tj.Rows, rj)
		}
		doc.Tables = append(doc.Tables, tj)
	}
	return writeJSON(w, doc)
}

func fileToJSON(f lab.File) fileJSON {
	fj := fileJSON{Label: f.Label, Path: f.Path, Results: f.Results, Blocks: f.Blocks, Config: []settingJSON{}, Holes: []holeJSON{}}
	for _, s := range f.Config {
		fj.Config = append(fj.Config, settingJSON(s))
	}
	for _, h := range f.Holes {
		fj.Holes = append(fj.Holes, holeJSON(h))
	}
	return fj
}

func cellToJSON(c *lab.Comparison, col lab.Column, cell lab.Cell) cellJSON {
	cj := cellJSON{Column: col.Name, Reference: col.Ref, N: cell.N, Verdict: string(cell.Verdict), Hole: cell.Hole}
	if cell.N > 0 {
		cj.Center, cj.Lo, cj.Hi = finite(cell.Center), finite(cell.Lo), finite(cell.Hi)
	}
	if vs := cell.Vs; vs != nil {
		cj.Versus = &versusJSON{finite(vs.Ratio), finite(vs.Lo), finite(vs.Hi), finite(vs.P), vs.Paired, vs.N, vs.BaseN}
	}
	for _, n := range cell.Notes {
		cj.Notes = append(cj.Notes, c.Notes[n])
	}
	return cj
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
