package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/counter"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

// A Config says what is measured, how often and how. record.Plan tells of the fields that
// it has too.
type Config struct {
	Packages []string // as the go command has them, and files; see record.SplitFiles
	Bench    string   // which of their benchmarks: a pattern of go test -bench
	Blocks   int
	Time     string // how long a process measures that takes no turns: "100ms", or "100x"
	CPU      []int  // in any order; empty is what this machine has
	Seed     uint64 // of the order, if it is given; else it is random
	Benchmem bool
	Timeout  time.Duration // of one process; 0 is a minute and ten times Time
	Out      string        // path of a new results file; "" is one below results/
	Machine  string        // name of the machine in results; "" is made of what it is
	Resume   string        // path of the results of a run to go on with; "" is none
	Idle     string        // one of the Idle constants

	// Count counts instructions, and times nothing: see package counter. What is said of turns
	// and of time makes no difference then.
	Count bool
	tool  *counter.Tool // that counts

	// How benchmarks take turns. The zero values are for fresh processes.
	Mode     string
	Control  bool
	Rounds   int
	Slice    time.Duration
	Layouts  int    // 0 is as many as blocks
	Schedule string // one of the Schedule constants; "" is ScheduleFixed

	// Build says how packages are built, and in what they run.
	Build Build

	// Given reports whether a flag was given; nil means that none was. It decides what
	// is kept of a run that is resumed.
	Given func(flag string) bool
}

// What is done if the machine is busy.
const (
	IdleWarn = "warn" // say so, and measure
	IdleWait = "wait" // wait until it is not
	IdleOff  = "off"  // do not look
)

// How many blocks a row has.
const (
	ScheduleFixed      = "fixed"      // all of the plan's
	ScheduleSequential = "sequential" // as many as it takes until a look finds it decided
)

func (c *Config) given(flag string) bool { return c.Given != nil && c.Given(flag) }

// plan makes a plan, without cases. With from it is the same again, but for what is
// given.
func (c *Config) plan(from *record.Interrupted) *record.Plan {
	plan := &record.Plan{
		CPU: slices.Compact(slices.Sorted(slices.Values(c.CPU))), Blocks: c.Blocks, Time: c.Time, Seed: c.Seed, Benchmem: c.Benchmem,
		Packages: c.Packages, Bench: c.Bench, Timeout: c.Timeout,
		Mode: c.Mode,
	}
	if plan.Mode == record.ModeProcess {
		plan.Mode = "" // as plans have it that know of no turns
	}
	if plan.InTurns() {
		plan.Control, plan.Rounds, plan.Slice = c.Control, c.Rounds, c.Slice
		if _, files := record.SplitFiles(c.Packages); !files.Any() { // which are linked already
			plan.Layouts = record.LayoutsFor(c.Layouts, c.Blocks)
		}
	}
	if len(plan.CPU) == 0 {
		plan.CPU = []int{runtime.GOMAXPROCS(0)}
	}
	if plan.Timeout == 0 {
		plan.Timeout = time.Minute
		if d, err := time.ParseDuration(c.Time); err == nil {
			plan.Timeout += 10 * d
		}
	}
	if !c.given("seed") {
		plan.Seed = rand.Uint64N(1 << 32) // short enough to be typed again
	}
	if from != nil {
		c.keep(plan, from.Plan)
	}
	if c.tool != nil {
		c.countIn(plan, from == nil)
	}
	if looks := c.sequential(); looks != nil && (from == nil || c.given("plan")) {
		plan.Looks, plan.Alpha, plan.Margin = looks(plan.Blocks), compare.DefaultAlpha, compare.DefaultMargin
	}
	return plan
}

// sequential returns looks if the plan is sequential, and else nil.
func (c *Config) sequential() func(blocks int) []int {
	if c.Schedule == ScheduleSequential {
		return c.looks
	}
	return nil
}

// looks returns the looks of a sequential plan of so many blocks.
func (c *Config) looks(blocks int) []int {
	if c.tool != nil && c.tool.Seeded() {
		return session.CountLooks(blocks)
	}
	return session.ThreeLooks(blocks)
}

// countBlocks is in how many blocks instructions are counted, if nothing is said of it: as few as
// can prove a difference, since blocks differ by little.
const countBlocks = record.LeastBlocks

// countIn makes a plan one that counts: a process at a time, which is the same whatever its
// layout, with one processor, since that is what is simulated. One that is resumed keeps what it had.
func (c *Config) countIn(plan *record.Plan, fresh bool) {
	plan.Counter, plan.Time, plan.Mode, plan.Benchmem = c.tool.String(), "1x", "", false
	plan.Control, plan.Rounds, plan.Slice, plan.Layouts = false, 0, 0, 0
	if fresh && !c.given("cpu") {
		plan.CPU = []int{1}
	}
	if fresh && !c.given("blocks") {
		plan.Blocks = countBlocks
	}
	if fresh && !c.given("timeout") {
		plan.Timeout = 5 * time.Minute // as slow as a simulated processor is
	}
}

// findCounter finds the tool that counts, if something is to be counted: in a run that is resumed,
// as it was.
func (c *Config) findCounter(ctx context.Context, from *record.Interrupted) (err error) {
	if from != nil && from.Plan.Counter != "" {
		c.Count = true
	}
	if !c.Count {
		return nil
	}
	c.Idle, c.Layouts = IdleOff, 1 // nothing that the machine does makes a difference
	c.tool, err = counter.Find(ctx)
	return err
}

// planned are the settings that flags make and plans have: how a run within a run takes them
// from its Config, and how one that is resumed takes them from the plan that it had.
var planned = []struct {
	flag   string
	config func(to, from *Config)
	plan   func(to, was *record.Plan)
}{
	{"cpu", func(to, from *Config) { to.CPU = from.CPU }, func(to, was *record.Plan) { to.CPU = was.CPU }},
	{"blocks", func(to, from *Config) { to.Blocks = from.Blocks }, func(to, was *record.Plan) { to.Blocks = was.Blocks }},
	{"time", func(to, from *Config) { to.Time = from.Time }, func(to, was *record.Plan) { to.Time = was.Time }},
	{"seed", func(to, from *Config) { to.Seed = from.Seed }, func(to, was *record.Plan) { to.Seed = was.Seed }},
	{"benchmem", func(to, from *Config) { to.Benchmem = from.Benchmem }, func(to, was *record.Plan) { to.Benchmem = was.Benchmem }},
	{"bench", func(to, from *Config) { to.Bench = from.Bench }, func(to, was *record.Plan) { to.Bench = was.Bench }},
	{"timeout", func(to, from *Config) { to.Timeout = from.Timeout }, func(to, was *record.Plan) { to.Timeout = was.Timeout }},
	{"mode", func(to, from *Config) { to.Mode = from.Mode }, func(to, was *record.Plan) { to.Mode = was.Mode }},
	{"control", func(to, from *Config) { to.Control = from.Control }, func(to, was *record.Plan) { to.Control = was.Control }},
	{"rounds", func(to, from *Config) { to.Rounds = from.Rounds }, func(to, was *record.Plan) { to.Rounds = was.Rounds }},
	{"slice", func(to, from *Config) { to.Slice = from.Slice }, func(to, was *record.Plan) { to.Slice = was.Slice }},
	{"layouts", func(to, from *Config) { to.Layouts = from.Layouts }, func(to, was *record.Plan) { to.Layouts = was.Layouts }},
	{"plan", func(to, from *Config) { to.Schedule = from.Schedule }, func(to, was *record.Plan) { to.Looks, to.Alpha, to.Margin = was.Looks, was.Alpha, was.Margin }},
}

// keep sets what is not given to what it was.
func (c *Config) keep(plan, was *record.Plan) {
	plan.Col, plan.Trial = was.Col, was.Trial
	for _, s := range planned {
		if !c.given(s.flag) {
			s.plan(plan, was)
		}
	}
}

// resume reads the run that is to be gone on with, nil if there is none. more says that
// something was given that belongs to a new run, and leaveOut what. Of the Config it
// keeps what is not in plans.
func (c *Config) resume(more bool, leaveOut string) (*record.Interrupted, error) {
	if c.Resume == "" {
		return nil, nil
	}
	if c.Out != "" || more {
		return nil, errors.New("--resume goes on in its own file " + leaveOut)
	}
	from, err := record.ReadInterrupted(c.Resume)
	if err != nil {
		return nil, err
	}
	c.Packages, c.Build = from.Plan.Packages, buildOf(from, "")
	if !c.given("machine") {
		c.Machine = from.Config["machine"]
	}
	return from, nil
}

// check returns an error for what cannot be carried out, before anything takes time.
func (c *Config) check(plan *record.Plan) error {
	if err := oneOf("--idle", c.Idle, IdleWarn, IdleWait, IdleOff); err != nil {
		return err
	}
	if err := oneOf("--plan", cmp.Or(c.Schedule, ScheduleFixed), ScheduleFixed, ScheduleSequential); err != nil {
		return err
	}
	if strings.ContainsAny(c.Machine, `/\`) || c.Machine == "." || c.Machine == ".." {
		return fmt.Errorf("--machine is %q; it becomes the name of a folder", c.Machine)
	}
	if err := CheckOut(c.Out); err != nil {
		return err
	}
	return plan.CheckSettings()
}

// canTakeTurns returns an error if a binary that a new run has to measure in turns cannot be driven.
// What is measured otherwise sees much less, so that has to be asked for: --mode auto that is given.
func (c *Config) canTakeTurns(plan *record.Plan, binaries []testbin.Binary) error {
	if !plan.InTurns() || plan.Mode == record.ModeAuto && c.given("mode") {
		return nil
	}
	remedy := ""
	if plan.Mode == record.ModeAuto {
		remedy = " (--mode=auto measures them all the same: each value in a process of its own, which sees much less)"
	}
	for _, b := range binaries {
		if b.Undrivable != nil {
			why := strings.TrimPrefix(b.Undrivable.Error(), program.ErrUnsupported.Error()+": ")
			return fmt.Errorf("the benchmarks of %s cannot alternate, and nothing was measured%s: %s", b.ID(), remedy, why)
		}
	}
	return nil
}

// oneOf checks the value of a flag that takes one of a few words.
func oneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("%s is %q; it must be one of %s", flag, value, strings.Join(words, ", "))
}

// CheckOut returns an error for an --out that cannot be written: a file that is there, or
// one in a folder that is not. "" stands for no --out.
func CheckOut(path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already: choose another --out, or go on with it by --resume", path)
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("--out %s: there is no folder %s; make it first, so that no typing error makes one", path, folder)
	}
	return nil
}
