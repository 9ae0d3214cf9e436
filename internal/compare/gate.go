package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/record"
)

// A Failure is a benchmark that was due in a column and gave no figure there, or not
// in each block. A comparison of two versions has all of them. Any other has those
// that are in no table, without a column.
type Failure struct {
	Row, Pkg string // as in Row; no Row if the failure is of the whole package Pkg
	Col      string // SideOld or SideNew
	Kind     FailureKind
	Reason   string // in one line: "crashed: panic: oh (tiny.go:12)"
	Detail   string // Reason, but for what Kind says

	// Blocks are those in which it failed, "3, 5"; "" if it never gave a figure.
	Blocks string

	// Fault says that the failure is the new version's fault: the old version does
	// not fail, or at least gave figures where the new one gave none.
	Fault bool
	// Accepted says that it would be a fault, if CompareOptions.Accept did not name
	// the benchmark.
	Accepted bool
}

// A FailureKind is the way in which a benchmark fails, as a verb.
type FailureKind string

// The kinds of failures.
const (
	Crashes FailureKind = "crashes"
	Fails   FailureKind = "fails"
	Hangs   FailureKind = "hangs"
	Skips   FailureKind = "skips itself"
	Gone    FailureKind = "is gone"
)

// Name says what has failed: a row, with its package if that tells it from another, or
// a whole package.
func (f Failure) Name() string {
	return strings.TrimSpace(f.Pkg + " " + f.Row)
}

// String says what has failed, where and why.
func (f Failure) String() string {
	s := f.Name()
	if f.Col != "" {
		s += ", " + f.Col
	}
	if f.Blocks != "" {
		s += ", in block " + f.Blocks
	}
	return s + ": " + f.Reason
}

// failureKind returns the kind of failure of a hole.
func failureKind(h record.Hole) FailureKind {
	switch h.Kind {
	case failure.Gone:
		return Gone
	case failure.Skip, failure.Unchanged:
		return Skips
	case failure.Crash:
		return Crashes
	case failure.Hang:
		return Hangs
	}
	if h.Skipped {
		return Skips
	}
	return Fails
}

// noReason is the reason of a failure that the results say nothing of.
const noReason = "no result, and the input names no reason"

// A gridState is how far a benchmark has come in a column.
type gridState struct {
	figures         bool
	failed, skipped []record.Hole // skipping is no failure of its own
}

// state returns how far the benchmark of a cell has come; that there is no cell means
// that nothing is known of it.
func (c *gridCell) state() (s gridState) {
	if c != nil {
		s.figures = len(c.values) > 0
		s.failed = due(c.holes)
		s.skipped = slices.DeleteFunc(slices.Clone(c.holes), func(h record.Hole) bool { return !h.Skipped })
	}
	return s
}

// due returns the holes of what was due: skipping is no fault.
func due(holes []record.Hole) []record.Hole {
	return slices.DeleteFunc(slices.Clone(holes), func(h record.Hole) bool { return h.Skipped })
}

// versions reports whether the columns are the two versions of packages.
func (g *grid) versions() bool {
	return g.col == record.SideKey && len(g.cols) > 0 &&
		!slices.ContainsFunc(g.cols, func(col string) bool { return col != record.SideOld && col != record.SideNew })
}

// pair reports whether two things are compared, such as two versions or two files. What only
// one of them reports is a column of both all the same.
func (g *grid) pair() bool {
	return len(g.cols) == 2 && slices.Contains([]string{record.SideKey, ".file", "commit"}, g.col)
}

// findFailures fills g.failures. accept matches the names of benchmarks that may be
// gone, or skip themselves; nil matches none.
func (g *grid) findFailures(accept *regexp.Regexp) {
	type cause struct{ pkg, side, reason string }
	told := make(map[cause]bool)
	for _, row := range g.rows {
		if !g.versions() {
			if holes := g.rowOfHoles(row); len(due(holes)) > 0 {
				var reasons []string
				for _, h := range holes {
					reasons = append(reasons, h.String())
				}
				g.failures = append(g.failures, Failure{Row: row.name, Pkg: row.pkg, Kind: failureKind(holes[0]), Reason: strings.Join(reasons, "; "), Detail: strings.Join(reasons, "; ")})
			}
			continue
		}
		for _, f := range g.failuresOf(row) {
			f.Accepted = f.Fault && (f.Kind == Gone || f.Kind == Skips) && accepts(accept, row.name)
			f.Fault = f.Fault && !f.Accepted
			g.failures = append(g.failures, f)
		}
		for _, col := range g.cols {
			for _, h := range g.cells[cellKey{row, col}].state().failed {
				told[cause{h.Pkg, h.Side, h.Reason}] = true
			}
		}
	}
	for _, h := range due(g.packages) {
		if told[cause{h.Pkg, h.Side, h.Reason}] {
			continue // each of its benchmarks is there
		}
		both := slices.ContainsFunc(g.packages, func(o record.Hole) bool { return o.Pkg == h.Pkg && o.Side == record.SideOld })
		g.failures = append(g.failures, Failure{
			Pkg: h.Pkg, Col: h.Side, Kind: failureKind(h), Reason: h.Reason, Detail: h.Detail(), Fault: h.Side == record.SideNew && !both,
		})
	}
}

// dueTime makes time the unit of rows that failed if there is no figure in any unit:
// it was due.
func (g *grid) dueTime() {
	if len(g.units) == 0 && slices.ContainsFunc(g.rows, func(row rowKey) bool { return len(g.failed(row)) > 0 }) {
		g.units, g.orig["sec/op"] = []string{"sec/op"}, "ns/op"
	}
}

// failuresOf returns the failures of a row that compares two versions: that of the old
// one, and that of the new one.
func (g *grid) failuresOf(row rowKey) (failures []Failure) {
	before, after := g.cells[cellKey{row, record.SideOld}], g.cells[cellKey{row, record.SideNew}]
	was, is := before.state(), after.state()
	add := func(col string, figures bool, holes []record.Hole, fault bool) {
		f := Failure{Row: row.name, Pkg: row.pkg, Col: col, Fault: fault, Kind: Fails, Reason: noReason, Detail: noReason}
		if len(holes) > 0 {
			f.Kind, f.Reason, f.Detail = failureKind(holes[0]), holes[0].Reason, holes[0].Detail()
		}
		if figures {
			f.Blocks = blocksOf(holes)
		}
		failures = append(failures, f)
	}
	if before != nil && len(before.controlHoles) > 0 { // it is the old version, too
		was.failed = append(was.failed, before.controlHoles...)
	}
	if len(was.failed) > 0 {
		add(record.SideOld, was.figures, was.failed, false)
	}
	isDue := len(was.skipped) == 0 // the old version has it, and does not skip it
	switch worked := len(was.failed) == 0; {
	case len(is.failed) > 0:
		add(record.SideNew, is.figures, is.failed, worked || was.figures && !is.figures)
	case is.figures, !isDue:
	case len(is.skipped) > 0 && (worked || was.figures):
		add(record.SideNew, false, is.skipped, true)
	case len(is.skipped) == 0 && was.figures && slices.Contains(g.cols, record.SideNew):
		add(record.SideNew, false, nil, true)
	}
	return failures
}

// blocksOf names the blocks of holes, each once.
func blocksOf(holes []record.Hole) string {
	var blocks []string
	for _, h := range holes {
		if h.Block != "" && !slices.Contains(blocks, h.Block) {
			blocks = append(blocks, h.Block)
		}
	}
	return strings.Join(blocks, ", ")
}

// procsSuffix is what GOMAXPROCS adds to a name.
var procsSuffix = regexp.MustCompile(`-\d+$`)

// accepts reports whether the pattern, if there is one, matches the name of a row's
// benchmark, with or without its GOMAXPROCS.
func accepts(pattern *regexp.Regexp, row string) bool {
	name := "Benchmark" + row
	return pattern != nil && (pattern.MatchString(name) || pattern.MatchString(procsSuffix.ReplaceAllString(name, "")))
}

// failed returns the failures of a row.
func (g *grid) failed(row rowKey) (failures []Failure) {
	for _, f := range g.failures {
		if f.Row == row.name && f.Pkg == row.pkg {
			failures = append(failures, f)
		}
	}
	return failures
}

// showFailures marks the cells of the first table that failures are of.
func (c *Comparison) showFailures() {
	if len(c.Tables) == 0 {
		return
	}
	t := c.Tables[0]
	for _, f := range c.Failures {
		row := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Name == f.Row && r.Pkg == f.Pkg })
		col := slices.IndexFunc(t.Cols, func(col Column) bool { return col.Name == f.Col })
		if row < 0 || col < 0 {
			continue
		}
		cell := &t.Rows[row].Cells[col]
		cell.Hole, cell.Failure = true, f.Reason
		if f.Blocks != "" {
			cell.Failure = "in block " + f.Blocks + ": " + f.Reason
		}
		if cell.N == 0 {
			cell.Verdict = Missing
		}
	}
}

// A Gate is the answer to "did anything get worse?". It looks at every comparison
// with a column that is not a reference, in every unit, and at what gave no figures.
type Gate struct {
	// Broken names what fails by the fault of the new version.
	Broken []string

	// Slower names the cells that are proven to be worse than their base.
	Slower []string

	// Inconclusive names the cells of which it is not proven what they are:
	// inconclusive, unproven, a hole, or no base; what is proven to differ in a unit of
	// which nothing says which way is better; and what fails by no fault of the new
	// version.
	Inconclusive []string

	// Empty is set if not a single comparison has a verdict, or none that rests on files which
	// are not damaged.
	Empty bool

	// Blind is set if what was compared could have proven no difference, however large: there
	// are too few blocks, or values were measured one after the other and none in turns.
	Blind bool
}

// Bad reports whether something is broken, or proven to be worse.
func (g Gate) Bad() bool { return len(g.Broken)+len(g.Slower) > 0 }

// Gate judges the comparison as a whole.
func (c *Comparison) Gate() Gate {
	var g Gate
	type row struct{ name, pkg string }
	failed := make(map[row]bool)
	for _, f := range c.Failures {
		failed[row{f.Row, f.Pkg}] = true
		switch {
		case f.Fault:
			g.Broken = append(g.Broken, f.String()+howToAccept(f))
		case !f.Accepted:
			g.Inconclusive = append(g.Inconclusive, f.String())
		}
	}
	g.Empty = true
	sees := false
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			for i, cell := range r.Cells {
				if t.Cols[i].Ref || cell.Verdict == Absent || cell.Verdict == Skipped || cell.Verdict == Base && !cell.Hole {
					continue
				}
				if cell.Verdict.compared() && !cell.Damaged {
					g.Empty = false
				}
				if vs := cell.Vs; vs != nil {
					few := math.IsInf(vs.Detectable, 1) && !cell.Verdict.Proven()
					g.Blind = g.Blind || vs.Apart || few
					sees = sees || !vs.Apart && !few && !math.IsNaN(vs.P)
				}
				told := failed[row{r.Name, r.Pkg}]
				what := fmt.Sprintf("%s, %s, %s: %s", r.Name, t.Cols[i].Name, t.Unit, cell.Verdict)
				switch {
				case told && (cell.Verdict == Base || cell.Verdict == NoBase || cell.N == 0):
					continue
				case t.Resource && !(cell.Verdict.Bad() && t.Judged()):
					continue
				case cell.Verdict.Bad():
					g.Slower = append(g.Slower, what)
				case cell.Verdict == Higher || cell.Verdict == Lower:
					g.Inconclusive = append(g.Inconclusive, what+", and nothing says which way is better: let the benchmark print "+t.directionLine())
				case !cell.Verdict.Proven() && cell.Verdict != Same:
					g.Inconclusive = append(g.Inconclusive, what)
				case cell.Hole && !told:
					g.Inconclusive = append(g.Inconclusive, what+", but a result is missing")
				}
			}
		}
	}
	g.Blind = g.Blind && !sees
	return g
}

// howToAccept says how to let the gate pass in spite of f, if that may be meant.
func howToAccept(f Failure) string {
	if f.Kind != Gone && f.Kind != Skips {
		return ""
	}
	name := procsSuffix.ReplaceAllString("Benchmark"+f.Row, "")
	return fmt.Sprintf(" (if that is meant: --accept '^%s$')", regexp.QuoteMeta(name))
}
