package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Case is one benchmark of a subject: a leaf, with all its sub-benchmark
// names, such as "BenchmarkGroup/workload=short/impl=channel".
type Case struct {
	Pkg  string
	Name string // without the "-8" that tells GOMAXPROCS

	// Side says which of two versions of the package is meant, "old" or "new",
	// in a run that compares versions; it is "" in any other. It also tells copies
	// of one version apart that are compared with one another.
	Side string

	// Slow makes the case slower on purpose, to test the method: by so many times
	// its own time. 0 for real measurements.
	Slow float64
}

// Pattern returns a -test.bench pattern that matches the case. It also matches
// what has the whole name and a slash in front, which Beneath is for: b.Run("a") and
// b.Run("a/b") may both be leaves.
func (c Case) Pattern() string {
	elems := strings.Split(c.Name, "/")
	for i, e := range elems {
		elems[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elems, "/")
}

// Beneath is the pattern of what has more names than the case.
func (c Case) Beneath() string { return c.Pattern() + "/" }

// A Plan says what is measured, how often, and in which order. It is written
// into the results, so that a run can be repeated, and resumed. From Mode on, its fields are
// zero in plans of files that know nothing of them.
type Plan struct {
	Cases    []Case        `json:"cases,omitempty"`
	CPU      []int         `json:"cpu"`      // values of GOMAXPROCS
	Blocks   int           `json:"blocks"`   // each case runs once in each
	Time     string        `json:"time"`     // -test.benchtime: a duration, or a number of iterations such as "100x"
	Seed     uint64        `json:"seed"`     // of the orders
	Benchmem bool          `json:"benchmem"` // testing counts bytes and allocations per operation
	Timeout  time.Duration `json:"timeout"`  // of one process, in nanoseconds

	// Packages and Bench are what the cases were chosen by, and Subjects the
	// hash of each test binary, by what Subject.Hashes calls it.
	Packages []string          `json:"packages"`
	Bench    string            `json:"bench"`
	Subjects map[string]string `json:"subjects"`

	// Sources are the digests of the sources of what is measured and of its references,
	// by the subject's ID; they do not change with what is measured that way. Absent
	// where that is not known.
	Sources map[string]string `json:"sources,omitempty"`

	Mode string `json:"mode,omitempty"` // one of the Mode constants; "" means ModeProcess

	// Col is the key whose values are compared with one another: "/impl" for a
	// part of benchmark names, or "side" for Case.Side. "" means "/impl".
	Col string `json:"col,omitempty"`

	// Control adds a second copy of its base to each row that compares anything:
	// what the two differ by is what the method gets wrong.
	Control bool `json:"control,omitempty"`

	// Rounds is in how many rounds those that take turns do a slice each, and
	// Slice how long a slice is to take. Slices that must be longer are fewer; see
	// internal/session/turns.go. Both are 0 in ModeProcess.
	Rounds int           `json:"rounds,omitempty"`
	Slice  time.Duration `json:"slice,omitempty"`

	// SliceOps is how many operations a slice has, and WholeCalls that it is a call as go test
	// makes it, where another run has found that of the plan's only row. 0 has it found in the
	// first block.
	SliceOps   int  `json:"sliceops,omitempty"`
	WholeCalls bool `json:"wholecalls,omitempty"`

	Layouts int `json:"layouts,omitempty"` // in how many orders of its functions each test binary is linked; 0 means 1
	Trial   int `json:"trial,omitempty"`   // how many blocks make a trial of a calibration; 0 means that it is none

	// Looks are the blocks, ascending, after which it is looked which rows are
	// decided and need no more blocks; the last one is Blocks. A fixed plan has none.
	Looks []int `json:"looks,omitempty"`

	// Count is how many values each process prints, one after the other, as by go
	// test -count. More than 1 is for processes that take no turns, and then all of
	// one side come before all of the next. 0 means 1.
	Count int `json:"count,omitempty"`

	// InOrder has each block in the order of the cases, every second one backwards, for
	// subjects to which it is dear to change from some of the cases to others, as a board
	// is that is flashed for that.
	InOrder bool `json:"inorder,omitempty"`

	// Counter is the tool that counts instructions, with its version, where they are counted and
	// nothing is timed; "" else.
	Counter string `json:"counter,omitempty"`

	Own json.RawMessage `json:"own,omitempty"` // what the subject wants to have on record of how it runs the cases

	// Alpha and Margin are those of the decisions that are taken at Looks.
	Alpha  float64 `json:"alpha,omitempty"`
	Margin float64 `json:"margin,omitempty"`
}

// The modes of a plan.
const (
	ModeProcess = "process" // each benchmark in a fresh process in each block: one value
	ModeTurns   = "turns"   // the benchmarks of a row take turns, slice by slice; one that cannot be driven so is a hole
	ModeAuto    = "auto"    // ModeTurns for rows that compare anything and can be driven so, ModeProcess for the others
)

// mostSteps bounds how many benchmarks a block has: a file that is damaged, or made
// to harm, could ask for the product of two long lists.
const mostSteps = 100_000

// Check returns an error if the plan cannot be carried out.
func (p *Plan) Check() error {
	if len(p.Cases) == 0 {
		return errors.New("the plan has no benchmarks")
	}
	if steps := len(p.Cases) * max(1, len(p.CPU)); steps > mostSteps {
		return fmt.Errorf("the plan has %d benchmarks in a block, more than %d", steps, mostSteps)
	}
	return p.CheckSettings()
}

// CheckSettings is Check for a plan whose cases are not known yet.
func (p *Plan) CheckSettings() error {
	turns := p.InTurns()
	switch {
	case p.Blocks < 1:
		return fmt.Errorf("--blocks is %d; it must be at least 1 (6 is the least that can prove a difference)", p.Blocks)
	case len(p.CPU) == 0:
		return errors.New("--cpu is empty")
	case p.Timeout <= 0:
		return fmt.Errorf("--timeout is %v; it must be positive", p.Timeout)
	case p.Layouts < 0 || p.Layouts > MaxLayouts:
		return fmt.Errorf("--layouts is %d; it must be between 1 and %d", p.Layouts, MaxLayouts)
	case !turns && p.Mode != "" && p.Mode != ModeProcess:
		return fmt.Errorf("--mode is %q; it must be one of %s, %s, %s", p.Mode, ModeAuto, ModeTurns, ModeProcess)
	case turns && (p.Rounds < 1 || p.Rounds > MostRounds):
		return fmt.Errorf("--rounds is %d; it must be between 1 and %d", p.Rounds, MostRounds)
	case turns && p.Slice <= 0:
		return fmt.Errorf("--slice is %v; it must be positive", p.Slice)
	}
	if err := p.checkLooks(); err != nil {
		return err
	}
	for _, n := range p.CPU {
		if n < 1 {
			return fmt.Errorf("--cpu %d: GOMAXPROCS is at least 1", n)
		}
	}
	if err := checkTime(p.Time); err != nil {
		return err
	}
	return CheckPattern(p.Bench)
}

// checkTime returns an error if s is no -test.benchtime.
func checkTime(s string) error {
	if n, ok := strings.CutSuffix(s, "x"); ok {
		if v, err := strconv.Atoi(n); err == nil && v > 0 {
			return nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return nil
	}
	return fmt.Errorf(`--time is %q; it must be a duration such as "100ms" or a number of iterations such as "1000x"`, s)
}

// MostRounds bounds the line that has a process's slices: readers of the format
// take none of more than 64 KiB.
const MostRounds = 4000

// MaxLayouts bounds the test binaries that are linked of one package.
const MaxLayouts = 100

// checkLooks returns an error if Looks are no blocks in ascending order that end
// with the last one.
func (p *Plan) checkLooks() error {
	before := 0
	for _, block := range p.Looks {
		if block <= before {
			return fmt.Errorf("the looks %v are no ascending numbers of blocks", p.Looks)
		}
		before = block
	}
	switch {
	case len(p.Looks) == 0:
		return nil
	case before != p.Blocks:
		return fmt.Errorf("the last of the looks %v is not after the last of %d blocks", p.Looks, p.Blocks)
	case !(p.Alpha > 0 && p.Alpha < 1) || !(p.Margin >= 0):
		return fmt.Errorf("the level %v and margin %v of the looks make no sense", p.Alpha, p.Margin)
	}
	return nil
}

// LayoutsFor returns how many layouts test binaries have in a plan of so many blocks if
// given are asked for: a block has one, and 0 asks for one of its own for each.
func LayoutsFor(given, blocks int) int {
	if given == 0 {
		given = blocks
	}
	return min(given, blocks, MaxLayouts)
}

// LeastBlocks is how few blocks a comparison of versions has at least: fewer hardly say
// how much blocks vary, and see only large differences.
const LeastBlocks = 6

func SubjectID(pkg, side string) string {
	if side == "" {
		return pkg
	}
	return pkg + " " + side // no import path has a space
}
