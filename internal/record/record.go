package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/failure"
)

// A Record is what one step gave in one block: a result, or a hole that says why there
// is none. It is made where the figures are taken, a [Store] writes it, [Read] reads it,
// and comparisons are made of what was read.
type Record struct {
	// Result is the name, the number of operations and the values; of what was read
	// also the configuration. When it is written Printed may stand in for it: the
	// benchmark line as package testing printed it, or the lines of a process that
	// printed several.
	Result  *benchfmt.Result
	Printed string
	Slices  *Slices      // of a step that took turns; nil if it reports a time of its own
	Hole    *Hole        // in place of a result
	Clause  *BoardClause // in place of both, of a clause of the conformance suite

	// The rest is known when it is written; what was read has it in the configuration,
	// as the file says it.
	Step     Step
	Driven   string    // how: ModeProcess, or one of driven's modes
	Pad      int       // bytes of padding in the environment
	Output   string    // what the subject printed, if there is a hole; it is not stored
	Units    []string  // the Unit lines that the subject printed, without their mark
	Settings []Setting // what need not hold of the records before, such as the clock of a board; each has one value
	Notes    []string  // what the subject has to say to people

	line   Line // while it is read
	number int  // of the line that it was read from
}

// NewHole returns the hole that a step leaves in block because of err.
func NewHole(s Step, block int, err error) *Hole {
	return &Hole{Case: s.FullName(), Block: strconv.Itoa(block), Kind: failure.Of(err), Reason: err.Error()}
}

// text returns the lines of r, which stand in its package, with what units lack in front
// of its result. A plan that has nothing but single processes needs to say little of each.
// The result, or what stands in its place, comes after all that is said of it but its
// slices: a step without it is torn.
func (r Record) text(plan *Plan, units *unitTable) string {
	var b strings.Builder
	set := func(key, value string) { b.WriteString(key + ": " + value + "\n") }
	set("case", strconv.Itoa(r.Step.Index))
	if plan.Control {
		set("copy", strconv.Itoa(r.Step.Copy))
	}
	if slices.ContainsFunc(plan.Cases, func(c Case) bool { return c.Slow != 0 }) {
		set("slow", formatSlow(r.Step.Case.Slow))
	}
	if plan.InTurns() {
		set("envpad", strconv.Itoa(r.Pad))
		set("driven", r.Driven)
	}
	for _, note := range r.Notes {
		b.WriteString(NoteMark + "case=" + r.Step.FullName() + " text=" + strconv.Quote(note) + "\n")
	}
	line := r.Printed
	switch {
	case r.Clause != nil:
		return b.String() + r.Clause.Line() + "\n"
	case r.Hole != nil:
		return b.String() + r.Hole.Line() + "\n"
	case r.Result != nil:
		line = ResultLine(r.Result)
	}
	b.WriteString(units.before(line) + line + "\n")
	if r.Slices != nil {
		b.WriteString(r.Slices.Line() + "\n")
	}
	return b.String()
}

// ResultLine is the benchmark line of r, without the newline. It looks like one of
// package testing, and has more digits.
func ResultLine(r *benchfmt.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s \t%8d", ResultMark, r.Name, r.Iters)
	for _, v := range r.Values {
		b.WriteString("\t " + figure(v.Value) + " " + v.Unit)
	}
	return b.String()
}

// figure writes a value with six significant digits, or all of a whole number.
func figure(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	text := strconv.FormatFloat(v, 'g', 6, 64)
	if strings.ContainsAny(text, "e") {
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return text
}
