// Package program starts programs that speak the driving protocol, and talks to them:
// a benchmark is measured a slice at a time, in a process that lives on between slices.
// It knows no more of a program than that. A Go test binary is one if package testbin
// has built it so; PROTOCOL.md tells how any other program becomes one.
//
//  1. [List] asks a program for its benchmarks (list.go).
//  2. [Start] starts a program with one benchmark, and waits until that is ready
//     (process.go).
//  3. [Process.Run] measures one slice: so many operations, and the time they
//     took. Between slices the process waits for its next command, and uses no
//     processor; [Process.Freeze] stops all that it does beside the benchmark.
//  4. [Process.CountHardware] has processors count what it does (hardware.go).
//  5. [Process.Finish] ends the benchmark, which may check its results then, and
//     returns what it reports beside times.
package program

import (
	"errors"
	"time"

	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/hwcount"
)

// ErrUnsupported is the error, wrapped with what is missing, where benchmarks
// cannot be driven at all: the operating system hands no files to a process, or a
// program does not speak the protocol.
var ErrUnsupported = errors.New("benchmarks cannot be driven here")

// ErrKilled is the cause of the end of a context by which processes are ended on request,
// and so the error of what was under way.
var ErrKilled = errors.New("killed")

// A Refusal says why a benchmark that is in order is not to be driven. It can
// still be measured in a process of its own, as go test -bench would.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return "not to be driven: " + r.Reason }

// A Failure says why a process was of no use: it crashed, failed, skipped itself,
// or took too long.
type Failure struct {
	Kind   failure.Kind
	Reason string // one line
	Output string // what the process printed; "" if nothing
}

func (f *Failure) Error() string { return f.Reason }

// FailureKind is for [failure.Of].
func (f *Failure) FailureKind() failure.Kind { return f.Kind }

// Output returns what a process printed before it failed with err, shortened; "" if err
// is no Failure, or it printed nothing.
func Output(err error) string {
	var f *Failure
	if errors.As(err, &f) {
		return f.Output
	}
	return ""
}

// Config says what is to be driven, and how.
type Config struct {
	// Path is the program, and Dir the folder in which it runs; "" is the current one.
	Path, Dir string

	// Benchmark is the full name of a benchmark without sub-benchmarks, such as
	// "BenchmarkActor/workload=ring/impl=channel", without the suffix that tells
	// the number of processors. It has neither spaces nor control characters.
	Benchmark string

	// CPU is how many processors the benchmark may use at a time, GOMAXPROCS in Go; 0
	// means 1.
	CPU int

	// Env is added to the environment that the process inherits, as "KEY=value", and
	// Args are its arguments.
	Env, Args []string

	// Units are Unit lines, without that word, that come before those of the process in
	// its result.
	Units []string

	// Slow makes every slice slower on purpose, for tests of the method: after
	// its work the process spins for Slow times as long as that took, within the
	// measured time. 0 for real measurements; must not be negative.
	Slow float64

	// Counters asks for [Slice.Counters].
	Counters bool

	// Attach opens the counters of [Process.CountHardware]; nil means those of the
	// machine. Tests have others.
	Attach func(pid int) (Counters, error)

	// Timeout is how long one answer may take; 0 means a minute.
	Timeout time.Duration
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

	// Wall is the time from the command for the slice to its answer: what a benchmark does
	// while its timer is off is in it too.
	Wall time.Duration

	// CPU is the processor time that the process used, with all its threads, from
	// the beginning of the slice to its end, to a microsecond: of what goes on beside
	// the benchmark and while its timer is off too. 0 if the system does not tell.
	CPU time.Duration

	// Allocs and Bytes are how many allocations were made and how many bytes
	// allocated while the timer ran, by the whole process; 0 if NoMemory is set, as the
	// program does not count them.
	Allocs, Bytes uint64
	NoMemory      bool

	GCs uint32 // garbage collections that ended between its beginning and its end

	// Extra are the metrics that the benchmark reported of the slice, by their units;
	// nil in sessions, which report at the end.
	Extra map[string]float64

	// Counters are what moved during the slice, by name; nil unless
	// [Config].Counters asks for them. docs/driving.md lists them.
	Counters map[string]float64

	// Hardware is what processors counted, from the command for the slice to its
	// answer; nil unless [Process.CountHardware] has them count, and where NoHardware
	// says why it is not known of this slice.
	Hardware   *Hardware
	NoHardware string
}

// A Usage is what a process has used.
type Usage struct {
	CPU time.Duration // processor time since it began, to a microsecond; 0 if the system does not tell

	// GCCPU is what the runtime estimates that collections of garbage have taken of it,
	// those that have ended. It goes by the clock, so on a busy machine it is too much.
	GCCPU time.Duration

	// LiveHeap is how many bytes the last collection of garbage found in use, and
	// HeapGoal how many make the next one come; 0 if this Go does not tell.
	LiveHeap, HeapGoal uint64
}

// Hardware is what processors counted of a process in user space, in all its threads
// and those of processes that it started.
type Hardware = hwcount.Counts

// A Result is what a benchmark reports when it ends.
type Result struct {
	// Line is what testing would have printed behind the benchmark's name, of
	// all slices since the last Reset taken together: the number of operations,
	// and values with their units. "" if there was no slice.
	Line string

	// Extra are the metrics of that line that the benchmark reported itself. In
	// ModeRunN, where it reports them for each slice, they are the medians.
	Extra map[string]float64

	// Units are the Unit lines that the process printed on standard output, without that
	// word: what it says of units of its metrics, such as "p50-ns better=lower".
	Units []string

	// Resources are what the process has used since the last Reset, and what it
	// holds at the end, by the Resource names; what this Go or the system does not
	// tell is missing.
	Resources map[string]float64
}

// The names of a Result's Resources.
const (
	ResourceGCs      = "gcs"         // garbage collections that ended
	ResourceGCCPU    = "gc-cpu-ns"   // nanoseconds of processor time for them, of those that have ended
	ResourceLiveHeap = "live-heap-B" // bytes that the last collection found in use
	ResourcePeakRSS  = "peak-rss-B"  // the most bytes that the process ever held in memory
)
