// Package targets holds what is promised of the implementations, as data: which
// figure of which workload must lie on which side of which limit.
//
// There is one list, which [Evaluate] holds results files against: for benchrun targets,
// for reports, and for the README. A target names workloads, metrics and columns as
// they stand in results, so that a board can be evaluated by the same list.
//
// Two promises of the requirements are no figure of a workload and are not here:
// the coverage of the actor packages (V11), which make cover shows, and that a
// million suspensions leak nothing (S5), which is a clause.
package targets

import "strings"

// A Target is one promise.
type Target struct {
	// ID names the target in tables and for programs; it begins with the line
	// of the requirements, or with "aim".
	ID string

	// Says is the promise in a few words.
	Says string

	// Bench is the contract, "Group", "Task" or "Actor", or "Board": the benchmark's
	// name without Benchmark. Workload is the path below it without its key:
	// "pingpong", "ring/actors=1000000", and of Board a case, "backlog".
	Bench, Workload string

	// Metric is the unit of the measured figure, as results of a real clock have it;
	// see OnInstructions.
	Metric string

	// PerSecond and Times derive the figure that is evaluated from the measured one: how
	// often something of so many nanoseconds happens in a second, or that multiple.
	PerSecond bool
	Times     float64

	// Unit is the unit of the figure that is evaluated, if that is not Metric.
	Unit string

	// Limit bounds the figure, from the side that Bound says.
	Limit float64
	Bound Bound

	// Statistic is which of the figures of several blocks is evaluated.
	Statistic Statistic

	// Base, if not empty, makes the target one of a ratio: to the figure in
	// this column, a reference.
	Base string

	// BaseWorkload, if not empty, makes it one of the ratio to the same
	// implementation's figure of another workload.
	BaseWorkload string

	// Impls are the implementations of which it is promised; nil means of each that
	// does not skip the workload.
	Impls []string

	// Required tells what is promised from what is aimed at. A required target
	// that is missed is a fault.
	Required bool

	// Timed says that the figure depends on how fast the machine is although it is no
	// time: that of an emulator then says nothing.
	Timed bool

	// Where says what it is promised on.
	Where Place

	// Note says how it is derived, or what the workload adds.
	Note string
}

// A Bound is the side of a limit on which figures are good.
type Bound uint8

// The bounds. A limit itself is good.
const (
	AtMost Bound = iota
	AtLeast
)

// String is the sign of the bound.
func (b Bound) String() string {
	if b == AtLeast {
		return "≥"
	}
	return "≤"
}

// A Statistic is which of the figures of several blocks counts.
type Statistic uint8

// The statistics. Median is for times, which other work on the machine can only
// make worse; Worst, the block that is furthest on the bad side, for counts, in
// which there is no noise.
const (
	Median Statistic = iota
	Worst
)

// String is the name of the statistic.
func (s Statistic) String() string {
	if s == Worst {
		return "worst"
	}
	return "median"
}

// A Place is a set of what a target is promised on.
type Place uint8

// The places.
const (
	Host Place = 1 << iota
	Board

	Anywhere = Host | Board
)

// Ratio reports whether the figure is compared to another one.
func (t Target) Ratio() bool { return t.Base != "" || t.BaseWorkload != "" }

// Figure is what is evaluated when v was measured. Of a ratio it is the ratio.
func (t Target) Figure(v float64) float64 {
	switch {
	case t.PerSecond:
		return 1e9 / v
	case t.Times != 0:
		return t.Times * v
	}
	return v
}

// FigureUnit is the unit of Figure, and of Limit; of a ratio it is empty.
func (t Target) FigureUnit() string {
	switch {
	case t.Ratio():
		return ""
	case t.Unit != "":
		return t.Unit
	}
	return t.Metric
}

// Met reports whether a figure keeps the target. What is no number does not.
func (t Target) Met(figure float64) bool {
	if t.Bound == AtLeast {
		return figure >= t.Limit
	}
	return figure <= t.Limit
}

// Row is the name of the benchmark without the implementation, as results have it:
// "Actor/workload=pingpong".
func (t Target) Row() string { return Row(t.Bench, t.Workload) }

// Row is Target.Row of a benchmark and the path of a workload, or case, below it.
func Row(bench, workload string) string {
	if bench == boardBench {
		return bench + "/case=" + workload
	}
	return bench + "/workload=" + workload
}

// boardBench is the benchmark of what only boards measure.
const boardBench = "Board"

// OnInstructions is the unit in which an emulated board has what others have in
// metric, a time: its clock counts instructions. ok is false of what is no time, which
// has the same unit everywhere.
func OnInstructions(metric string) (unit string, ok bool) {
	if of, ok := strings.CutPrefix(metric, "ns/"); ok && of != "" {
		return "insns/" + of, true
	}
	if what, ok := strings.CutSuffix(metric, "-ns"); ok && what != "" {
		return what + "-insns", true
	}
	return metric, false
}
