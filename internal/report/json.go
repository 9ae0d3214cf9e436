package report

import (
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/conform"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
)

// The schemas name the forms of JSON. Fields may be added under the same name; a change
// of meaning gets a new one.
const (
	ComparisonSchema = "dyno-comparison/2"
	MatrixSchema     = "dyno-conformance/1"
	SideBySideSchema = "dyno-sidebyside/1"
	TargetsSchema    = "dyno-targets/1"
)

// The types below are the schema, described in docs/reading-a-report.md. A figure
// that does not exist, or is infinite, is null.
type (
	comparisonJSON struct {
		Schema      string      `json:"schema"`
		Alpha       float64     `json:"alpha"`
		Margin      float64     `json:"margin"`
		Column      string      `json:"column"`
		Comparisons int         `json:"comparisons"`
		Resources   int         `json:"resource_comparisons"`
		Files       []fileJSON  `json:"files"`
		Tables      []tableJSON `json:"tables"`
		Findings    []string    `json:"findings"`
		remarksJSON

		Failures []failureJSON `json:"failures,omitempty"`

		Calibrations []calibrationJSON `json:"calibrations,omitempty"`
	}
	// remarksJSON are the fields of every document of results that come behind its
	// figures.
	remarksJSON struct {
		Warnings []string    `json:"warnings"`
		Problems []string    `json:"problems"`
		Targets  []scoreJSON `json:"targets,omitempty"`
	}
	fileJSON struct {
		Label   string        `json:"label"`
		Path    string        `json:"path"`
		Results int           `json:"results"`
		Blocks  int           `json:"blocks"`
		Config  []settingJSON `json:"config"`
		Holes   []holeJSON    `json:"holes"`

		Clauses []boardClauseJSON `json:"clauses,omitempty"`
	}
	failureJSON struct {
		Benchmark string `json:"benchmark,omitempty"`
		Pkg       string `json:"pkg,omitempty"`
		Column    string `json:"column,omitempty"`
		Kind      string `json:"kind"`
		Reason    string `json:"reason"`
		Blocks    string `json:"blocks,omitempty"`
		Fault     bool   `json:"fault"`
		Accepted  bool   `json:"accepted,omitempty"`
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
		Unit     string    `json:"unit"`
		Better   string    `json:"better"` // "lower", "higher" or ""
		Exact    bool      `json:"exact"`
		Resource bool      `json:"resource"`
		Rows     []rowJSON `json:"rows"`
	}
	rowJSON struct {
		Benchmark string       `json:"benchmark"`
		Pkg       string       `json:"pkg,omitempty"`
		Base      string       `json:"base,omitempty"`
		Cells     []cellJSON   `json:"cells"`
		Control   *controlJSON `json:"control,omitempty"`
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
		Failure   string      `json:"failure,omitempty"`
		Versus    *versusJSON `json:"versus,omitempty"`
		Slices    *slicesJSON `json:"slices,omitempty"`
		Blocks    []blockJSON `json:"blocks,omitempty"`
		Notes     []string    `json:"notes,omitempty"`
	}
	slicesJSON struct {
		N   int     `json:"n"`
		P50 float64 `json:"p50"`
		P90 float64 `json:"p90"`
		P99 float64 `json:"p99"`
		Max float64 `json:"max"`
	}
	versusJSON struct {
		Ratio       *float64 `json:"ratio"`
		Lo          *float64 `json:"lo"`
		Hi          *float64 `json:"hi"`
		P           *float64 `json:"p"`
		Adjusted    *float64 `json:"p_adjusted"`
		Detectable  *float64 `json:"detectable"`
		NeedBlocks  int      `json:"need_blocks,omitempty"`
		NeedSeconds float64  `json:"need_seconds,omitempty"`
		Paired      bool     `json:"paired"`
		N           int      `json:"n"`
		BaseN       int      `json:"base_n"`
		Rounds      int      `json:"rounds,omitempty"`
		Layouts     int      `json:"layouts"`
		Lag1        *float64 `json:"lag1"`
		Trend       *float64 `json:"trend"`

		RareCosts   bool         `json:"rare_costs"`
		Undecidable bool         `json:"undecidable,omitempty"`
		Typical     *typicalJSON `json:"typical,omitempty"`
		Tail        *tailJSON    `json:"tail,omitempty"`
	}
	typicalJSON struct {
		Ratio *float64 `json:"ratio"`
		Lo    *float64 `json:"lo"`
		Hi    *float64 `json:"hi"`
	}
	tailJSON struct {
		typicalJSON
		Moved bool `json:"moved"`
	}
	controlJSON struct {
		Column string      `json:"column"`
		Alarm  bool        `json:"alarm"`
		Versus versusJSON  `json:"versus"`
		Blocks []blockJSON `json:"blocks"`
	}
	blockJSON struct {
		File   string   `json:"file"`
		Block  string   `json:"block"`
		Layout string   `json:"layout,omitempty"`
		Value  float64  `json:"value"`
		Ratio  *float64 `json:"ratio"`
	}
)

// JSON writes c as one indented JSON object of the schema ComparisonSchema, with
// the scores of card if that is not nil.
func JSON(w io.Writer, c *compare.Comparison, card *targets.Scorecard) error {
	doc := comparisonJSON{
		Schema: ComparisonSchema, Alpha: c.Alpha, Margin: c.Margin, Column: c.Col, Comparisons: c.Comparisons, Resources: c.ResourceComparisons,
		Files: each(c.Files, fileToJSON), Tables: []tableJSON{}, Findings: append([]string{}, c.Findings...),
		remarksJSON: remarksToJSON(c.Warnings, c.Problems, card), Calibrations: each(c.Calibrations, calibrationToJSON),
	}
	for _, f := range c.Failures {
		doc.Failures = append(doc.Failures, failureJSON{f.Row, f.Pkg, f.Col, string(f.Kind), f.Reason, f.Blocks, f.Fault, f.Accepted})
	}
	for _, t := range c.Tables {
		tj := tableJSON{Unit: t.Unit, Exact: t.Exact, Resource: t.Resource, Rows: []rowJSON{}}
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
				if cell.Verdict != compare.Absent {
					rj.Cells = append(rj.Cells, cellToJSON(c, t.Cols[i], cell))
				}
			}
			if k := r.Control; k != nil {
				rj.Control = &controlJSON{t.Cols[k.Col].Name, k.Alarm, versusToJSON(&k.Vs), blocksToJSON(k.Blocks)}
			}
			tj.Rows = append(tj.Rows, rj)
		}
		doc.Tables = append(doc.Tables, tj)
	}
	return writeJSON(w, doc)
}

// remarksToJSON has an empty list for none, and without a card no targets at all.
func remarksToJSON(warnings, problems []string, card *targets.Scorecard) remarksJSON {
	r := remarksJSON{Warnings: append([]string{}, warnings...), Problems: append([]string{}, problems...)}
	if card != nil {
		r.Targets = each(card.Scores, scoreToJSON)
	}
	return r
}

func fileToJSON(f compare.File) fileJSON {
	return fileJSON{
		Label: f.Label, Path: f.Path, Results: f.Results, Blocks: f.Blocks,
		Config:  each(f.Config, func(s record.Setting) settingJSON { return settingJSON(s) }),
		Holes:   each(f.Holes, func(h record.Hole) holeJSON { return holeJSON(h) }),
		Clauses: each(f.Clauses, func(c record.BoardClause) boardClauseJSON { return boardClauseJSON(c) }),
	}
}

func cellToJSON(c *compare.Comparison, col compare.Column, cell compare.Cell) cellJSON {
	cj := cellJSON{Column: col.Name, Reference: col.Ref, N: cell.N, Verdict: string(cell.Verdict), Hole: cell.Hole, Failure: cell.Failure}
	if cell.N > 0 {
		cj.Center, cj.Lo, cj.Hi = finite(cell.Center), finite(cell.Lo), finite(cell.Hi)
	}
	if vs := cell.Vs; vs != nil {
		v := versusToJSON(vs)
		cj.Versus = &v
	}
	if d := cell.Slices; d != nil {
		cj.Slices = &slicesJSON{d.N, d.P50, d.P90, d.P99, d.Max}
	}
	cj.Blocks = blocksToJSON(cell.Blocks)
	cj.Notes = notesOf(c, cell)
	return cj
}

func versusToJSON(vs *compare.Versus) versusJSON {
	v := versusJSON{
		Ratio: finite(vs.Ratio), Lo: finite(vs.Lo), Hi: finite(vs.Hi), P: finite(vs.P), Adjusted: finite(vs.Adjusted),
		Detectable: finite(vs.Detectable), NeedBlocks: vs.Need, NeedSeconds: vs.NeedTime.Seconds(),
		Paired: vs.Paired, N: vs.N, BaseN: vs.BaseN, Rounds: vs.Rounds, Layouts: vs.Layouts,
		Lag1: finite(vs.Lag1), Trend: finite(vs.Trend), RareCosts: vs.RareCosts, Undecidable: vs.Undecidable,
	}
	if vs.Typical > 0 {
		v.Typical = &typicalJSON{finite(vs.Typical), finite(vs.TypicalLo), finite(vs.TypicalHi)}
	}
	if vs.Tail > 0 {
		v.Tail = &tailJSON{typicalJSON{finite(vs.Tail), finite(vs.TailLo), finite(vs.TailHi)}, vs.TailMoved}
	}
	return v
}

// blocksToJSON leaves out values that belong to no block.
func blocksToJSON(blocks []compare.BlockValue) []blockJSON {
	var out []blockJSON
	for _, b := range blocks {
		if b.Block != "" {
			out = append(out, blockJSON{b.File, b.Block, b.Layout, b.V, finite(b.Ratio)})
		}
	}
	return out
}

// each makes a list, which is empty and not null for none.
func each[T, U any](all []T, of func(T) U) []U {
	out := make([]U, len(all))
	for i, v := range all {
		out[i] = of(v)
	}
	return out
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

// A boardClauseJSON is a clause that a board has run, one time.
type boardClauseJSON struct {
	Impl    string `json:"implementation"`
	Name    string `json:"clause"`
	Result  string `json:"result"` // "pass", "skip" or "fail"
	Outcome string `json:"outcome,omitempty"`
	Why     string `json:"why,omitempty"`
}

// A calibrationJSON is what the JSON of a comparison says of a machine.
type calibrationJSON struct {
	Machine  string                     `json:"machine"`
	File     string                     `json:"file"`
	Measured time.Time                  `json:"measured"`
	Stale    []string                   `json:"stale"`
	Alarms   compare.Rate               `json:"alarms"`
	Wrong    compare.Rate               `json:"wrong"`
	Covered  compare.Rate               `json:"covered"`
	Effects  []compare.CalibratedEffect `json:"effects"`
	Ways     []compare.CalibratedWay    `json:"ways"`
}

func calibrationToJSON(q compare.CalibrationQuote) calibrationJSON {
	cal := q.Calibration
	return calibrationJSON{
		Machine: q.Machine, File: filepath.Base(q.Path), Measured: cal.Measured, Stale: append([]string{}, q.Stale...),
		Alarms: cal.Alarms, Wrong: cal.Wrong, Covered: cal.Covered, Effects: cal.Effects, Ways: cal.Ways,
	}
}

type (
	matrixJSON struct {
		Schema   string            `json:"schema"`
		Clauses  []clauseJSON      `json:"clauses"`
		Packages []conformanceJSON `json:"packages"`
	}
	clauseJSON struct {
		Name string `json:"name"`
		Rule string `json:"rule"`
	}
	conformanceJSON struct {
		Path    string                      `json:"path"`
		Problem string                      `json:"problem,omitempty"`
		Output  string                      `json:"output,omitempty"`
		Results map[string]clauseResultJSON `json:"results"`
	}
	clauseResultJSON struct {
		Result string `json:"result"`
		Why    string `json:"why,omitempty"`
		Seed   string `json:"seed,omitempty"`
		Repeat string `json:"repeat,omitempty"`
	}
)

// ConformJSON writes m as one indented JSON object of the schema MatrixSchema.
func ConformJSON(w io.Writer, m *conform.Matrix) error {
	doc := matrixJSON{Schema: MatrixSchema, Clauses: each(m.Clauses, func(c conform.Clause) clauseJSON { return clauseJSON(c) }), Packages: []conformanceJSON{}}
	for _, p := range m.Packages {
		pj := conformanceJSON{Path: p.Path, Problem: p.Problem, Output: p.Output, Results: make(map[string]clauseResultJSON)}
		for name, r := range p.Results {
			pj.Results[name] = clauseResultJSON{r.Outcome, r.Why, r.Seed, r.Repeat}
		}
		doc.Packages = append(doc.Packages, pj)
	}
	return writeJSON(w, doc)
}

type (
	sideJSON struct {
		Schema    string             `json:"schema"`
		Places    []placeJSON        `json:"places"`
		Files     []fileJSON         `json:"files"`
		Workloads []sideWorkloadJSON `json:"workloads"`
		HostOnly  []string           `json:"host_only"`
		remarksJSON
	}
	placeJSON struct {
		Name     string   `json:"name"`
		Board    bool     `json:"board"`
		Chip     string   `json:"chip,omitempty"`
		Emulated bool     `json:"emulated"`
		Paths    []string `json:"paths"`
	}
	sideWorkloadJSON struct {
		Benchmark string           `json:"benchmark"`
		Figures   []sideFigureJSON `json:"figures"`
	}
	sideFigureJSON struct {
		Impl   string   `json:"implementation"`
		Place  string   `json:"place"`
		Unit   string   `json:"unit"`
		Exact  bool     `json:"exact"`
		N      int      `json:"n"`
		Procs  int      `json:"procs,omitempty"`
		Center *float64 `json:"center"`
		Lo     *float64 `json:"lo"`
		Hi     *float64 `json:"hi"`
		Why    string   `json:"why,omitempty"`
	}
)

// SideBySideJSON writes s as one indented JSON object of the schema
// SideBySideSchema, with the scores of card if that is not nil.
func SideBySideJSON(w io.Writer, s *compare.SideBySide, card *targets.Scorecard) error {
	doc := sideJSON{
		Schema: SideBySideSchema, Workloads: []sideWorkloadJSON{}, HostOnly: append([]string{}, s.HostOnly...),
		remarksJSON: remarksToJSON(sideWarnings(s), sideProblems(s), card), Files: each(sideFiles(s), fileToJSON),
		Places: each(s.Places, func(p compare.Place) placeJSON { return placeJSON{p.Name, p.Board, p.Chip, p.Emulated, p.Paths} }),
	}
	for _, load := range s.Workloads {
		wj := sideWorkloadJSON{Benchmark: load.Name, Figures: []sideFigureJSON{}}
		for _, impl := range load.Impls {
			for _, line := range impl.Lines {
				for i, c := range line.Cells {
					if c.N == 0 && c.Why == "" {
						continue
					}
					fj := sideFigureJSON{Impl: impl.Name, Place: s.Places[i].Name, Unit: line.Unit, N: c.N, Procs: c.Procs, Exact: c.Exact, Why: c.Why}
					if c.N > 0 {
						fj.Unit, fj.Center, fj.Lo, fj.Hi = c.Unit, finite(c.Center), finite(c.Lo), finite(c.Hi)
					}
					wj.Figures = append(wj.Figures, fj)
				}
			}
		}
		doc.Workloads = append(doc.Workloads, wj)
	}
	return writeJSON(w, doc)
}

type (
	scorecardJSON struct {
		Schema   string      `json:"schema"`
		Alpha    float64     `json:"alpha"`
		Required tallyJSON   `json:"required"`
		Aims     tallyJSON   `json:"aims"`
		Files    []fileJSON  `json:"files"`
		Scores   []scoreJSON `json:"scores"`
	}
	tallyJSON struct {
		Pass        int `json:"pass"`
		Miss        int `json:"miss"`
		NotMeasured int `json:"not_measured"`
		Skipped     int `json:"skipped"`
	}
	scoreJSON struct {
		ID        string   `json:"id"`
		Says      string   `json:"says"`
		Impl      string   `json:"implementation"`
		Board     string   `json:"board,omitempty"`
		Emulated  bool     `json:"emulated,omitempty"`
		Required  bool     `json:"required"`
		Workload  string   `json:"workload"`
		Metric    string   `json:"metric"`
		Base      string   `json:"base,omitempty"`
		Unit      string   `json:"unit"`
		Bound     string   `json:"bound"` // "<=" or ">="
		Limit     float64  `json:"limit"`
		Statistic string   `json:"statistic"`
		Note      string   `json:"note,omitempty"`
		Outcome   string   `json:"outcome"` // "pass", "miss", "not measured", "skipped"
		Why       string   `json:"why,omitempty"`
		Figure    *float64 `json:"figure"`
		Lo        *float64 `json:"lo"`
		Hi        *float64 `json:"hi"`
		Min       *float64 `json:"min"`
		Max       *float64 `json:"max"`
		N         int      `json:"n"`
		File      string   `json:"file,omitempty"`
	}
)

// ScorecardJSON writes the card as one indented JSON object of the schema
// TargetsSchema.
func ScorecardJSON(w io.Writer, c *targets.Scorecard) error {
	return writeJSON(w, scorecardJSON{
		Schema: TargetsSchema, Alpha: c.Alpha, Files: each(c.Files, fileToJSON), Scores: each(c.Scores, scoreToJSON),
		Required: tallyJSON(c.Tally(true)), Aims: tallyJSON(c.Tally(false)),
	})
}

func scoreToJSON(s targets.Score) scoreJSON {
	t := s.Target
	sj := scoreJSON{
		ID: t.ID, Says: t.Says, Impl: s.Impl, Board: s.Board, Emulated: s.Emulated, Required: t.Required,
		Workload: t.Row(), Metric: t.Metric, Base: t.Base,
		Unit: t.FigureUnit(), Bound: "<=", Limit: t.Limit, Statistic: t.Statistic.String(), Note: t.Note,
		Outcome: strings.ToLower(string(s.Outcome)), Why: s.Why,
	}
	if t.BaseWorkload != "" {
		sj.Base = targets.Row(t.Bench, t.BaseWorkload)
	}
	if t.Bound == targets.AtLeast {
		sj.Bound = ">="
	}
	if s.Measured() {
		sj.Figure, sj.Lo, sj.Hi = finite(s.Figure), finite(s.Lo), finite(s.Hi)
		sj.Min, sj.Max, sj.N, sj.File = finite(s.Min), finite(s.Max), s.N, s.File
	}
	return sj
}

// CalibrationJSON writes c as JSON, as docs/calibration.md tells it.
func CalibrationJSON(w io.Writer, c *compare.Calibration) error {
	return writeJSON(w, c)
}

// TruthJSON writes t as JSON, as docs/calibration.md tells it.
func TruthJSON(w io.Writer, t *calibrate.Truth) error {
	return writeJSON(w, t)
}
