// Package driven has the benchmarks of any test binary measured a slice at a
// time, in a process that lives on between slices.
//
// It goes through these steps:
//
//  1. [Overlay] writes a copy of this toolchain's package testing in which a
//     benchmark can be driven, for go test -c -overlay (overlay.go).
//  2. [Start] starts a binary that was built so, with one benchmark, and waits
//     until that is ready: it has said in which of three ways it is driven
//     (process.go).
//  3. [Process.Run] measures one slice: so many operations, and the time they
//     took. Between slices the process waits for its next command, and uses no
//     processor.
//  4. [Process.Finish] ends the benchmark, which may check its results then, and
//     returns what it reports beside times.
//
// docs/driving.md tells what is different from go test -bench.
package driven

import (
	"errors"
	"time"
)

// ErrUnsupported is the error, wrapped with what is missing, where benchmarks
// cannot be driven at all: this Go's package testing is not as expected, or the
// operating system hands no files to a process.
var ErrUnsupported = errors.New("benchmarks cannot be driven here")

// ErrKilled is the error of what was under way when Config.Kill was closed.
var ErrKilled = errors.New("killed")

// A Refusal says why a benchmark that is in order is not to be driven. It can
// still be measured in a process of its own, as go test -bench would.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return "not to be driven: " + r.Reason }

// A Failure says why a process was of no use: it crashed, failed, skipped itself,
// or took too long.
type Failure struct {
	Reason string // one line
	Output string // what the process printed; "" if nothing
}

func (f *Failure) Error() string { return f.Reason }

// Config says what is to be driven, and how.
type Config struct {
	// Binary is the test binary, built with the overlay, and Dir the folder of
	// its package, in which it runs.
	Binary, Dir string

	// Benchmark is the full name of a benchmark without sub-benchmarks, such as
	// "BenchmarkActor/workload=ring/impl=channel", without the suffix that tells
	// GOMAXPROCS.
	Benchmark string

	// CPU is the benchmark's GOMAXPROCS; 0 means 1.
	CPU int

	// Env is added to the environment that the process inherits, and Args to the
	// flags it is given, such as -test.benchmem.
	Env, Args []string

	// Slow makes every slice slower on purpose, for tests of the method: after
	// its work the process spins for Slow times as long as that took, within the
	// measured time. 0 for real measurements; must not be negative.
	Slow float64

	// Counters asks for [Slice.Counters].
	Counters bool

	// Timeout is how long one answer may take; 0 means a minute.
	Timeout time.Duration

	// Kill ends the process at once when it is closed; nil means never.
	Kill <-chan struct{}
}

// The ways in which a benchmark is driven, best first.
const (
	ModeSession = "session" // the benchmark knows of being driven: it prepares once and does slices
	ModeLoop    = "loop"    // for b.Loop(): it prepares once, and waits inside b.Loop
	ModeRunN    = "runN"    // b.N: the benchmark function is called once for each slice
)

// Hello is what a process says when it is ready for its first slice.
type Hello struct {
	Mode string // ModeSession, ModeLoop or ModeRunN

	// Unit is how many operations the smallest sensible piece of work has: a
	// slice should be a multiple of it. At least 1.
	Unit int

	// GCHeavy says that the benchmark declares that it collects garbage so
	// often that a slice should have several whole cycles.
	GCHeavy bool

	Pid int // of the process

	// Probe is in ModeRunN the time of testing's own first call of the benchmark
	// function, with b.N = 1, which comes before everything else: a first idea of
	// how long an operation takes, and often a bad one. 0 in other modes.
	Probe time.Duration
}

// A Slice is a measured piece of work.
type Slice struct {
	N       int           // operations
	Elapsed time.Duration // of all of them, as the benchmark's timer has it

	// Allocs and Bytes are how many allocations were made and how many bytes
	// allocated while the timer ran, by the whole process.
	Allocs, Bytes uint64

	GCs uint32 // garbage collections that ended between its beginning and its end

	// Extra are the metrics that the benchmark reported of the slice by
	// b.ReportMetric, by their units; nil in sessions, which report at the end.
	Extra map[string]float64

	// Counters are what moved during the slice, by name; nil unless
	// [Config].Counters asks for them. docs/driving.md lists them.
	Counters map[string]float64
}

// A Result is what a benchmark reports when it ends.
type Result struct {
	// Line is what testing would have printed behind the benchmark's name, of
	// all slices since the last Reset taken together: the number of operations,
	// and values with their units. "" if there was no slice.
	Line string

	// Extra are the metrics of that line that the benchmark reported itself. In
	// ModeRunN, where it reports them for each slice, they are the medians.
	Extra map[string]float64
}
