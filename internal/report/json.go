package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/conform"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
)

// The schemas name the forms of JSON, which FORMATS.md describes. Fields
// may be added under the same name; a change of meaning gets a new one.
const (
	comparisonSchema = "dyno-comparison/3"
	matrixSchema     = "dyno-conformance/1"
	sideBySideSchema = "dyno-sidebyside/1"
	targetsSchema    = "dyno-targets/1"
)

// An object is keys and values in turns, written in this order. A key with ,omitempty is
// left out if its value is empty; a figure that does not exist, or is infinite, is null.
type object []any

// objects are a list of objects, each made when it is written: a report has hundreds of thousands.
type objects struct {
	n  int
	at func(i int) object
}

func objectsOf[T any](all []T, of func(T) object) objects {
	return objects{len(all), func(i int) object { return of(all[i]) }}
}

// An encoder writes indented JSON. Objects it writes where they stand: to encode each by itself and
// indent the whole reads a member once for each level above it.
type encoder struct {
	*bufio.Writer
	depth int
	apart bytes.Buffer // what package json writes
}

func (e *encoder) value(v any) error {
	switch v := v.(type) {
	case object:
		i, sep := 0, byte('{')
		for ; i < len(v); i += 2 {
			key, omit := strings.CutSuffix(v[i].(string), ",omitempty")
			if omit && isEmpty(v[i+1]) {
				continue
			}
			e.element(sep)
			e.string(`"` + key + `": `)
			if err := e.value(v[i+1]); err != nil {
				return err
			}
			sep = ','
		}
		e.end(sep == '{', "{}")
	case objects:
		for i := range v.n {
			e.element("[,"[min(i, 1)])
			if err := e.value(v.at(i)); err != nil {
				return err
			}
		}
		e.end(v.n == 0, "[]")
	case []object:
		if v == nil {
			return e.value(nil)
		}
		return e.value(objectsOf(v, func(o object) object { return o }))
	case map[string]object:
		var all object
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, key, v[key])
		}
		return e.value(all)
	case float64:
		switch abs := math.Abs(v); {
		case math.IsNaN(v) || math.IsInf(v, 0):
			e.string("null")
		case abs != 0 && (abs < 1e-6 || abs >= 1e21):
			return e.other(v)
		default:
			_, _ = e.Write(strconv.AppendFloat(e.AvailableBuffer(), v, 'f', -1, 64))
		}
	case int:
		_, _ = e.Write(strconv.AppendInt(e.AvailableBuffer(), int64(v), 10))
	case string:
		e.text(v)
	case compare.Verdict:
		e.text(string(v))
	case bool:
		e.string(strconv.FormatBool(v))
	case nil:
		e.string("null")
	default:
		return e.other(v)
	}
	return nil
}

// other writes what has no objects.
func (e *encoder) other(v any) error {
	e.apart.Reset()
	enc := json.NewEncoder(&e.apart)
	enc.SetEscapeHTML(false)
	enc.SetIndent(strings.Repeat("  ", e.depth), "  ")
	err := enc.Encode(v)
	e.string(asciiControls(strings.TrimSuffix(e.apart.String(), "\n")))
	return err
}

// string writes text as it is. Flush reports what fails.
func (e *encoder) string(s string) { _, _ = e.WriteString(s) }

// text writes a string, which is mostly as it stands there.
func (e *encoder) text(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			_ = e.other(s) // of which there is no error
			return
		}
	}
	e.string(`"`)
	e.string(s)
	e.string(`"`)
}

// element begins an element with a line of its own, behind sep: the first of its list is one deeper
// than that.
func (e *encoder) element(sep byte) {
	e.string(string(sep))
	if sep != ',' {
		e.depth++
	}
	e.line()
}

// end ends a list or an object, of the brackets both if it is empty.
func (e *encoder) end(isEmpty bool, brackets string) {
	if isEmpty {
		e.string(brackets)
		return
	}
	e.depth--
	e.line()
	e.string(brackets[1:])
}

func (e *encoder) line() {
	e.string("\n")
	e.string(strings.Repeat("  ", e.depth)) // of one string of many
}

func isEmpty(value any) bool {
	if all, ok := value.(objects); ok || value == nil {
		return all.n == 0
	}
	v := reflect.ValueOf(value)
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// each makes a list, which is empty and not null for none.
func each[T, U any](all []T, of func(T) U) []U {
	out := make([]U, len(all))
	for i, v := range all {
		out[i] = of(v)
	}
	return out
}

func list(all []string) []string { return append([]string{}, all...) }

// WriteJSON writes what programs are to read, indented.
func WriteJSON(w io.Writer, doc any) error {
	e := encoder{Writer: bufio.NewWriterSize(w, 1<<16)}
	if err := e.value(doc); err != nil {
		return err
	}
	e.string("\n")
	return e.Flush()
}

// isControl reports whether a terminal would obey a character, or it is no character.
func isControl(r rune) bool {
	return (r < ' ' || r > '~') && r != '\n' && console.Printable(string(r)) != string(r)
}

// asciiControls writes what a terminal would obey in JSON as \u, which means the same: the
// encoder does so with some.
func asciiControls(doc string) string {
	if !strings.ContainsFunc(doc, isControl) {
		return doc
	}
	var b strings.Builder
	for _, r := range doc {
		if !isControl(r) {
			b.WriteRune(r)
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, "\\u%04x", unit)
			}
		}
	}
	return b.String()
}

// JSON writes c as one indented JSON object, with the scores of card if that is not nil.
func JSON(w io.Writer, c *compare.Comparison, card *targets.Scorecard) error {
	c = agreed(c)
	doc := object{
		"schema", comparisonSchema, "alpha", c.Alpha, "margin", c.Margin, "column", c.Col,
		"comparisons", c.Comparisons, "resource_comparisons", c.ResourceComparisons,
		"files", each(c.Files, fileObject),
		"tables", objectsOf(c.Tables, func(t compare.Table) object { return tableObject(c, t) }),
		"findings", list(c.Findings),
	}
	doc = append(doc, remarkMembers(c.Warnings, c.Problems, card)...)
	return WriteJSON(w, append(doc,
		"failures,omitempty", each(c.Failures, failureObject), "calibrations,omitempty", each(c.Calibrations, calibrationObject)))
}

// remarkMembers are the members of every document of results that come behind its
// figures.
func remarkMembers(warnings, problems []string, card *targets.Scorecard) object {
	o := object{"warnings", list(warnings), "problems", list(problems)}
	if card != nil {
		o = append(o, "targets,omitempty", each(card.Scores, scoreObject))
	}
	return o
}

func fileObject(f compare.File) object {
	return object{
		"label", f.Label, "path", f.Path, "results", f.Results, "blocks", f.Blocks,
		"planned_blocks,omitempty", f.Planned, "complete_blocks,omitempty", f.Ended,
		"config", each(f.Config, func(s record.Setting) object { return object{"key", s.Key, "values", s.Values} }),
		"holes", each(f.Holes, func(h record.Hole) object {
			return object{"pkg,omitempty", h.Pkg, "case", h.Case, "block,omitempty", h.Block, "side,omitempty", h.Side, "kind,omitempty", h.Kind, "reason", h.Reason, "skipped", h.Skipped}
		}),
		"clauses,omitempty", each(f.Clauses, func(c record.BoardClause) object {
			return object{"implementation", c.Impl, "clause", c.Name, "result", c.Result, "outcome,omitempty", c.Outcome, "why,omitempty", c.Why}
		}),
	}
}

func failureObject(f compare.Failure) object {
	return object{
		"benchmark,omitempty", f.Row, "pkg,omitempty", f.Pkg, "column,omitempty", f.Col, "kind", f.Kind, "reason", f.Reason,
		"blocks,omitempty", f.Blocks, "fault", f.Fault, "accepted,omitempty", f.Accepted,
	}
}

func tableObject(c *compare.Comparison, t compare.Table) object {
	better := ""
	switch {
	case t.Better < 0:
		better = "lower"
	case t.Better > 0:
		better = "higher"
	}
	return object{
		"unit", t.Unit, "better", better, "exact", t.Exact, "resource", t.Resource,
		"rows", objectsOf(t.Rows, func(r compare.Row) object { return rowObject(c, t, r) }),
	}
}

func rowObject(c *compare.Comparison, t compare.Table, r compare.Row) object {
	var base string
	if r.Base >= 0 {
		base = t.Cols[r.Base].Name
	}
	var cells []object
	for i, cell := range r.Cells {
		if cell.Verdict != compare.Absent {
			cells = append(cells, cellObject(c, t.Cols[i], cell))
		}
	}
	var control object
	if k := r.Control; k != nil {
		control = object{"column", t.Cols[k.Col].Name, "alarm", k.Alarm, "versus", versusObject(&k.Vs), "blocks", blockObjects(k.Blocks)}
	}
	return object{"benchmark", r.Name, "pkg,omitempty", cmp.Or(r.Package, r.Pkg), "base,omitempty", base, "cells", cells, "control,omitempty", control}
}

func cellObject(c *compare.Comparison, col compare.Column, cell compare.Cell) object {
	if cell.N == 0 {
		cell.Center, cell.Lo, cell.Hi = math.NaN(), math.NaN(), math.NaN()
	}
	var quantiles object
	if d := cell.Slices; d != nil {
		quantiles = object{"n", d.N, "p50", d.P50, "p90", d.P90, "p99", d.P99, "max", d.Max}
	}
	return object{
		"column", col.Name, "reference", col.Ref, "n", cell.N, "center", cell.Center, "lo", cell.Lo, "hi", cell.Hi,
		"verdict", cell.Verdict, "hole", cell.Hole, "failure,omitempty", cell.Failure, "versus,omitempty", versusObject(cell.Vs),
		"time,omitempty", timeObject(cell.Time), "slices,omitempty", quantiles, "blocks,omitempty", blockObjects(cell.Blocks), "notes,omitempty", notesOf(c, cell),
	}
}

// timeObject is what time says beside a count; empty if nothing does.
func timeObject(cell *compare.Cell) object {
	if cell == nil || cell.Vs == nil {
		return nil
	}
	return object{"ratio", cell.Vs.Ratio, "lo", cell.Vs.Lo, "hi", cell.Vs.Hi, "verdict", cell.Verdict}
}

// versusObject is empty for what is not compared.
func versusObject(vs *compare.Versus) object {
	if vs == nil {
		return nil
	}
	var typical, tail object
	if vs.Typical > 0 {
		typical = object{"ratio", vs.Typical, "lo", vs.TypicalLo, "hi", vs.TypicalHi}
	}
	if vs.Tail > 0 {
		tail = object{"ratio", vs.Tail, "lo", vs.TailLo, "hi", vs.TailHi, "moved", vs.TailMoved}
	}
	return object{
		"ratio", vs.Ratio, "lo", vs.Lo, "hi", vs.Hi, "p", vs.P, "p_adjusted", vs.Adjusted,
		"detectable", vs.Detectable, "need_blocks,omitempty", vs.Need, "need_seconds,omitempty", vs.NeedTime.Seconds(),
		"paired", vs.Paired, "n", vs.N, "base_n", vs.BaseN, "rounds,omitempty", vs.Rounds, "layouts", vs.Layouts,
		"lag1", vs.Lag1, "trend", vs.Trend, "rare_costs", vs.RareCosts, "undecidable,omitempty", vs.Undecidable,
		"typical,omitempty", typical, "tail,omitempty", tail,
	}
}

// blockObjects leaves out values that belong to no block.
func blockObjects(blocks []compare.BlockValue) any {
	none := func(b compare.BlockValue) bool { return b.Block == "" }
	if slices.ContainsFunc(blocks, none) {
		blocks = slices.DeleteFunc(slices.Clone(blocks), none)
	}
	if len(blocks) == 0 {
		return nil
	}
	return objectsOf(blocks, func(b compare.BlockValue) object {
		return object{"file", b.File, "block", b.Block, "layout,omitempty", b.Layout, "value", b.V, "ratio", b.Ratio}
	})
}

func calibrationObject(q compare.CalibrationQuote) object {
	c := q.Calibration
	return object{
		"machine", q.Machine, "file", filepath.Base(q.Path), "measured", c.Measured, "stale", list(q.Stale),
		"alarms", c.Alarms, "wrong", c.Wrong, "covered", c.Covered, "effects", c.Effects, "ways", c.Ways,
	}
}

// ConformJSON writes m as one indented JSON object.
func ConformJSON(w io.Writer, m *conform.Matrix) error {
	return WriteJSON(w, object{
		"schema", matrixSchema,
		"clauses", each(m.Clauses, func(c conform.Clause) object { return object{"name", c.Name, "rule", c.Rule} }),
		"packages", each(m.Packages, func(p conform.Conformance) object {
			results := make(map[string]object)
			for name, r := range p.Results {
				results[name] = object{"result", r.Outcome, "why,omitempty", r.Why, "seed,omitempty", r.Seed, "repeat,omitempty", r.Repeat}
			}
			return object{"path", p.Path, "problem,omitempty", p.Problem, "output,omitempty", p.Output, "results", results}
		}),
	})
}

// SideBySideJSON writes s as one indented JSON object, with the scores of card if that is
// not nil.
func SideBySideJSON(w io.Writer, s *compare.SideBySide, card *targets.Scorecard) error {
	return WriteJSON(w, append(object{
		"schema", sideBySideSchema,
		"places", each(s.Places, func(p compare.Place) object {
			return object{"name", p.Name, "board", p.Board, "chip,omitempty", p.Chip, "emulated", p.Emulated, "paths", p.Paths}
		}),
		"files", each(sideFiles(s), fileObject),
		"workloads", each(s.Workloads, func(load compare.SideWorkload) object {
			return object{"benchmark", load.Name, "figures", sideFigures(s, load)}
		}),
		"host_only", list(s.HostOnly),
	}, remarkMembers(sideWarnings(s), sideProblems(s), card)...))
}

// sideFigures are the cells of a workload that have a figure, or a reason why not.
func sideFigures(s *compare.SideBySide, load compare.SideWorkload) []object {
	out := []object{}
	for _, impl := range load.Impls {
		for _, line := range impl.Lines {
			for i, c := range line.Cells {
				if c.N == 0 {
					c.Unit, c.Center, c.Lo, c.Hi = line.Unit, math.NaN(), math.NaN(), math.NaN()
				}
				if c.N > 0 || c.Why != "" {
					out = append(out, object{
						"implementation", impl.Name, "place", s.Places[i].Name, "unit", c.Unit, "exact", c.Exact, "n", c.N,
						"procs,omitempty", c.Procs, "center", c.Center, "lo", c.Lo, "hi", c.Hi, "why,omitempty", c.Why,
					})
				}
			}
		}
	}
	return out
}

// ScorecardJSON writes the card as one indented JSON object.
func ScorecardJSON(w io.Writer, c *targets.Scorecard) error {
	tally := func(required bool) object {
		n := c.Tally(required)
		return object{"pass", n.Pass, "miss", n.Miss, "not_measured", n.NotMeasured, "skipped", n.Skipped}
	}
	return WriteJSON(w, object{
		"schema", targetsSchema, "alpha", c.Alpha, "required", tally(true), "aims", tally(false),
		"files", each(c.Files, fileObject), "scores", each(c.Scores, scoreObject),
	})
}

func scoreObject(s targets.Score) object {
	t := s.Target
	base, bound := t.Base, "<="
	if t.BaseWorkload != "" {
		base = targets.Row(t.Bench, t.BaseWorkload)
	}
	if t.Bound == targets.AtLeast {
		bound = ">="
	}
	figures := targets.Score{Figure: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Min: math.NaN(), Max: math.NaN()}
	if s.Measured() {
		figures = s
	}
	return object{
		"id", t.ID, "says", t.Says, "implementation", s.Impl, "board,omitempty", s.Board, "emulated,omitempty", s.Emulated,
		"required", t.Required, "workload", t.Row(), "metric", t.Metric, "base,omitempty", base, "unit", t.FigureUnit(),
		"bound", bound, "limit", t.Limit, "statistic", t.Statistic.String(), "note,omitempty", t.Note,
		"outcome", strings.ToLower(string(s.Outcome)), "why,omitempty", s.Why,
		"figure", figures.Figure, "lo", figures.Lo, "hi", figures.Hi, "min", figures.Min, "max", figures.Max,
		"n", figures.N, "file,omitempty", figures.File,
	}
}
