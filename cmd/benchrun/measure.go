package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/program/subject"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

const (
	exitInterrupted = 130 // 128 + SIGINT, as shells have it

	module = "github.com/dynolab/dyno"
	// The values of --plan.
	planFixed, planSequential = "fixed", "sequential"

	defaultPackages = module + "/impls" // a path that means the same in every folder of the checkout
)

// measureConfig is what the flags of run say.
type measureConfig struct {
	packages []string
	bench    string
	blocks   int
	time     string
	cpu      []int
	seed     uint64
	benchmem bool
	timeout  time.Duration
	out      string
	machine  string
	resume   string
	idle     string

	// calibrate makes the plan a calibration's; nil for every other run.
	calibrate *calibrateConfig

	// How benchmarks take turns. The zero values are for fresh processes.
	mode    string
	control bool
	rounds  int
	slice   time.Duration
	layouts int
	plan    string

	// files are programs that are measured beside the packages.
	files record.Files
}

// measuringOf are the flags of all that measure which say how, in the help.
var measuringOf = []string{"rounds", "slice", "layouts", "plan", "time", "seed", "timeout", "machine", "idle"}

// A bench is where measuring takes place: subjects, and what they have.
type bench struct {
	subjects []testbin.Binary
	programs []subject.Program
	cases    []record.Case
	absent   []record.Hole // what a plan has to leave out
}

// interruptible returns a context that ends with the first interrupt, and a
// channel that is closed by the second. stop goes back to what an interrupt
// does by default.
func interruptible(parent context.Context, first func()) (ctx context.Context, second <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	kill := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		for _, act := range []func(){
			func() { first(); cancel(session.ErrInterrupted) },
			func() { close(kill) },
		} {
			select {
			case <-signals:
				act()
			case <-ended:
				return
			}
		}
	}()
	return ctx, kill, func() {
		signal.Stop(signals)
		close(ended)
		cancel(nil)
	}
}

// A syncWriter is a writer for several goroutines.
type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *syncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// inDyno reports whether the working directory is in a checkout of dyno.
func inDyno(ctx context.Context) bool {
	return goOutput(ctx, "list", "-m") == module
}

func goOutput(ctx context.Context, args ...string) string { return goOutputIn(ctx, ".", args...) }

// goOutputIn returns what the go command prints in dir, "" if it fails.
func goOutputIn(ctx context.Context, dir string, args ...string) string {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// packagesOr returns the packages that are named, and else the ones that are
// meant: dyno's own in its checkout, the working directory's elsewhere.
func packagesOr(ctx context.Context, args []string) []string {
	switch {
	case len(args) > 0:
		return args
	case inDyno(ctx):
		return []string{defaultPackages}
	}
	return []string{"."}
}

// build compiles the packages into folder. What does not work is told on w.
func build(ctx context.Context, w io.Writer, folder string, packages []string, o testbin.BuildOptions) (*bench, error) {
	programs, packages, err := subject.OpenAll(ctx, packages)
	if err != nil || len(packages) == 0 {
		return &bench{programs: programs}, err
	}
	if toBuild, _ := record.SplitFiles(packages); len(toBuild) > 0 {
		fmt.Fprintf(w, "building the tests of %s\n", strings.Join(toBuild, " "))
	}
	subjects, problems, err := testbin.Build(ctx, ".", folder, packages, o)
	if err != nil {
		return nil, err
	}
	b := &bench{subjects: subjects, programs: programs}
	for _, p := range problems {
		fmt.Fprintf(w, "benchrun: %s %s\n%s", p.Pkg, p.Reason, p.Output)
		b.absent = append(b.absent, record.Hole{Pkg: p.Pkg, Reason: p.Reason, Skipped: p.Untested})
	}
	if len(subjects)+len(programs) == 0 {
		if !slices.ContainsFunc(problems, func(p testbin.BuildProblem) bool { return !p.Untested }) {
			return nil, fmt.Errorf("nothing to measure: %w", noTests(packages))
		}
		return nil, errors.New("nothing to measure: none of the packages gave a test binary that runs")
	}
	return b, nil
}

// prepare builds the packages into folder and lists their benchmarks. What does
// not work is told on w; it is an error only if nothing is left.
func prepare(ctx context.Context, w io.Writer, folder string, packages []string, o testbin.BuildOptions, pattern string, cpu int, timeout time.Duration) (*bench, error) {
	if err := record.CheckPattern(pattern); err != nil {
		return nil, err
	}
	b, err := build(ctx, w, folder, packages, o)
	if err != nil {
		return nil, err
	}
	var with []testbin.Binary // that have benchmarks
	for _, s := range b.subjects {
		fmt.Fprintf(w, "listing the benchmarks of %s\n", s.Pkg)
		l, err := s.Cases(pattern, cpu, timeout, ctx.Done())
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(w, "benchrun: %s: listing its benchmarks: %s\n", s.Pkg, describe(err))
			l.Absent = append(l.Absent, record.Hole{Reason: record.ListingFailed + err.Error()})
		}
		for _, h := range l.Absent {
			h.Pkg = s.Pkg
			if h.Case != "" && !h.Skipped {
				fmt.Fprintf(w, "benchrun: %s: %s: %s\n", s.Pkg, h.Case, h)
			}
			b.absent = append(b.absent, h)
		}
		if len(l.Cases) > 0 {
			with = append(with, s)
		}
		b.cases = append(b.cases, l.Cases...)
	}
	more, err := subject.Cases(b.programs, pattern, b.cases)
	if err != nil {
		return nil, err
	}
	if b.cases = append(b.cases, more...); len(b.cases) > 0 {
		b.subjects = with
		return b, nil
	}
	if i := slices.IndexFunc(b.absent, func(h record.Hole) bool { return h.Case != "" }); i >= 0 {
		h := b.absent[i]
		return nil, fmt.Errorf("nothing to measure: every benchmark that matches skips itself or fails, such as %s (%s)", h.Case, h)
	}
	if pattern == "." {
		return nil, fmt.Errorf("nothing to measure: %w", noBenchmarks(packages))
	}
	all, err := subject.Cases(b.programs, ".", nil)
	if err != nil {
		return nil, err
	}
	return nil, noMatch(ctx, b.subjects, all, pattern, cpu, timeout)
}

// noMatch is the error for a pattern that matches no benchmark of subjects, nor a known one,
// or what has ended ctx while they were asked which ones they have.
func noMatch(ctx context.Context, subjects []testbin.Binary, known []record.Case, pattern string, cpu int, timeout time.Duration) error {
	for _, s := range subjects {
		l, err := s.Cases(".", cpu, timeout, ctx.Done())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			known = append(known, l.Cases...)
		}
	}
	return testbin.NoMatch(pattern, known)
}

// noTests is the error for packages without tests.
func noTests(packages []string) error {
	return fmt.Errorf("there are no _test.go files in %s; benchmarks stand in them", strings.Join(packages, " "))
}

// noBenchmarks is the error for packages that have tests and no benchmarks.
func noBenchmarks(packages []string) error {
	return fmt.Errorf(`there are no benchmarks in %s. One looks so, in a file whose name ends in _test.go:

	func BenchmarkWork(b *testing.B) {
		for b.Loop() {
			work() // what is to be measured
		}
	}`, strings.Join(packages, " "))
}

// describe is an error with what the subject printed, if it is about one.
func describe(err error) string {
	if out := program.Output(err); out != "" {
		return err.Error() + "\n" + indent(out)
	}
	return err.Error()
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(s, "\n", "\n    ")
}

// measure carries out what c says, or the rest of the run it resumes, and
// returns the path of the results. changed names the flags that were given.
func measure(cmd *cobra.Command, c measureConfig, changed func(flag string) bool) (path string, err error) {
	var from *record.Interrupted
	if c.resume != "" {
		if c.out != "" || len(c.packages) > 0 {
			return "", errors.New("--resume goes on in its own file with its own packages: leave out --out and the packages")
		}
		if from, err = record.ReadInterrupted(c.resume); err != nil {
			return "", err
		}
		if isAB(from) {
			return "", fmt.Errorf("%s compares two versions: go on with benchrun ab --resume", c.resume)
		}
		c.packages = from.Plan.Packages
		if !changed("machine") {
			c.machine = from.Config["machine"]
		}
	}
	plan := newPlan(c, from, changed)
	if err := checkFlags(c, plan); err != nil {
		return "", err
	}
	w := &syncWriter{w: cmd.ErrOrStderr()}
	if from != nil && from.Finished() {
		fmt.Fprintf(w, "%s is complete: all %d blocks are there\n", c.resume, from.Plan.Blocks)
		return c.resume, nil
	}

	measuring := newProgress(w, terminalWidth(cmd.ErrOrStderr()))
	ctx, kill, stop := interruptible(cmd.Context(), func() { measuring.interrupted() })
	defer stop()
	// Before anything is measured, the first interrupt ends it all.
	early := func(err error) error {
		if errors.Is(err, session.ErrInterrupted) {
			fmt.Fprintln(w, "interrupted before anything was measured")
			return exitError(exitInterrupted)
		}
		return err
	}
	if c.idle != "off" {
		if err := checkIdle(ctx, w, c.idle == "wait"); err != nil {
			return "", early(err)
		}
	}
	folder, err := scratch.New()
	if err != nil {
		return "", err
	}
	defer folder.Remove()
	b, err := subjectsOf(ctx, w, folder.Path, plan, c, from)
	if err != nil {
		return "", early(err)
	}
	plan.Subjects = make(map[string]string)
	for _, s := range b.subjects {
		maps.Copy(plan.Subjects, s.Hashes())
	}
	maps.Copy(plan.Subjects, subject.Hashes(b.programs))
	here := session.Describe(ctx, ".", c.machine, c.resume)
	if ctx.Err() != nil {
		return "", early(context.Cause(ctx))
	}
	var store *record.Store
	if from != nil {
		if err := sameCircumstances(from, plan, here); err != nil {
			return "", err
		}
		if from.Torn != "" {
			what := "line"
			if strings.HasPrefix(from.Torn, "# row ") {
				what = "row"
			}
			fmt.Fprintf(w, "%s ends in the middle of a %s; that one is measured again\n", c.resume, what)
		}
		store, err = from.Resume(time.Now())
	} else {
		store, err = create(ctx, c, plan, b, here)
	}
	if err != nil {
		return "", err
	}
	again := "benchrun run"
	if c.calibrate != nil {
		again = "benchrun calibrate"
	}
	return store.Path, carryOut(ctx, w, plan, subject.New(plan, b.programs, testbin.NewBinaries(plan, b.subjects, kill), kill), store, from, measuring, kill, again)
}

// carryOut measures what is left of plan, and closes the store. again is the
// command that goes on if it is interrupted.
func carryOut(ctx context.Context, w io.Writer, plan *record.Plan, on session.Subject, store *record.Store, from *record.Interrupted,
	measuring *progress, kill <-chan struct{}, again string,
) error {
	rest := session.NewForecast(plan, from)
	fmt.Fprintf(w, "measuring %s in %s, %s, about %v; order by seed %d\nresults: %s\n",
		counted(len(plan.Cases)*len(plan.CPU), "benchmark"), counted(plan.Blocks, "block"), counted(rest.Steps(), "process"),
		roughly(rest.Left()), plan.Seed, store.Path)
	err := session.Run(ctx, plan, on, store, from, measuring,
		func() ([]record.Group, error) { return compare.Decided(plan, store.Path) })
	measuring.end()
	goOn := fmt.Sprintf("what was measured is kept. To go on:\n  %s --resume %s", again, shellWord(store.Path))
	if closed := store.Close(); closed != nil { // the first error of all writes: the run ended for it
		return fmt.Errorf("%w; when there is a remedy for that, %s", closed, goOn)
	}
	if errors.Is(err, session.ErrInterrupted) {
		fmt.Fprintf(w, "interrupted; %s\n", goOn)
		return exitError(exitInterrupted)
	}
	return err
}

// subjectsOf builds the subjects of plan, or of the rest of the run from, into
// folder, and lists the cases into the plan.
func subjectsOf(ctx context.Context, w io.Writer, folder string, plan *record.Plan, c measureConfig, from *record.Interrupted) (*bench, error) {
	o := testbin.BuildOptions{Driven: plan.InTurns()}
	if plan.Layouts > 1 {
		// Of a program that is measured again, nothing is linked but itself.
		if o.Cache = openCache(w); o.Cache != nil {
			defer o.Cache.Trim() // it is only a cache
		}
	}
	var b *bench
	var err error
	if from == nil {
		if b, err = prepare(ctx, w, folder, plan.Packages, o, plan.Bench, slices.Max(plan.CPU), plan.Timeout); err != nil {
			return nil, err
		}
		plan.Cases = b.cases
		if c.calibrate != nil {
			c.calibrate.plan(plan, b.cases, c.blocks)
		}
		if !slices.ContainsFunc(plan.Groups(), plan.TakesTurns) {
			// Nothing is compared with anything, so these are plain processes.
			plan.Mode, plan.Control, plan.Rounds, plan.Slice, plan.Layouts = "", false, 0, 0, 0
			if o.Driven {
				var all []string
				var ready []testbin.Binary
				for _, s := range b.subjects {
					if s.Prebuilt() {
						ready = append(ready, s)
					} else {
						all = append(all, s.Pkg)
					}
				}
				if len(all) > 0 {
					if b.subjects, _, err = testbin.Build(ctx, ".", folder, all, testbin.BuildOptions{}); err != nil {
						return nil, err
					}
					b.subjects = append(b.subjects, ready...)
				}
			}
		}
	} else {
		// Nothing is listed: binaries that are the same have the same benchmarks.
		if b, err = build(ctx, w, folder, plan.Packages, o); err != nil {
			return nil, err
		}
		plan.Cases = from.Plan.Cases
	}
	if plan.Layouts > 1 {
		fmt.Fprintf(w, "linking them in %s\n", counted(plan.Layouts, "layout"))
	}
	return b, testbin.Link(ctx, folder, b.subjects, plan.Layouts)
}

// shellWord quotes a path for a shell if it needs that.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+=:,@%", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// newPlan makes a plan of the flags, without cases. With from it is the same
// again, but for the flags that are given.
func newPlan(c measureConfig, from *record.Interrupted, changed func(string) bool) *record.Plan {
	plan := &record.Plan{
		CPU: c.cpu, Blocks: c.blocks, Time: c.time, Seed: c.seed, Benchmem: c.benchmem,
		Packages: c.packages, Bench: c.bench, Timeout: c.timeout,
		Mode: c.mode,
	}
	if c.plan == planSequential {
		plan.Looks, plan.Alpha, plan.Margin = session.ThreeLooks(c.blocks), compare.DefaultAlpha, compare.DefaultMargin
	}
	if plan.Mode == record.ModeProcess {
		plan.Mode = "" // as plans have it that know of no turns
	}
	if plan.InTurns() {
		plan.Control, plan.Rounds, plan.Slice = c.control, c.rounds, c.slice
		if _, files := record.SplitFiles(c.packages); !files.Any() { // which are linked already
			plan.Layouts = record.LayoutsFor(c.layouts, c.blocks)
		}
	}
	if len(plan.CPU) == 0 {
		plan.CPU = []int{runtime.GOMAXPROCS(0)}
	}
	if plan.Timeout == 0 {
		plan.Timeout = time.Minute
		if d, err := time.ParseDuration(c.time); err == nil {
			plan.Timeout += 10 * d
		}
	}
	if !changed("seed") {
		plan.Seed = rand.Uint64N(1 << 32) // short enough to be typed again
	}
	if from != nil { // what was not given is what it was
		plan.Col, plan.Trial = from.Plan.Col, from.Plan.Trial
		for flag, keep := range map[string]func(){
			"cpu":      func() { plan.CPU = from.Plan.CPU },
			"blocks":   func() { plan.Blocks = from.Plan.Blocks },
			"time":     func() { plan.Time = from.Plan.Time },
			"seed":     func() { plan.Seed = from.Plan.Seed },
			"benchmem": func() { plan.Benchmem = from.Plan.Benchmem },
			"bench":    func() { plan.Bench = from.Plan.Bench },
			"timeout":  func() { plan.Timeout = from.Plan.Timeout },
			"mode":     func() { plan.Mode = from.Plan.Mode },
			"control":  func() { plan.Control = from.Plan.Control },
			"rounds":   func() { plan.Rounds = from.Plan.Rounds },
			"slice":    func() { plan.Slice = from.Plan.Slice },
			"layouts":  func() { plan.Layouts = from.Plan.Layouts },
			"plan": func() {
				plan.Looks, plan.Alpha, plan.Margin = from.Plan.Looks, from.Plan.Alpha, from.Plan.Margin
			},
		} {
			if !changed(flag) {
				keep()
			}
		}
	}
	return plan
}

// checkFlags returns an error for flags that cannot be carried out, before
// anything takes time.
func checkFlags(c measureConfig, plan *record.Plan) error {
	if err := oneOf("--idle", c.idle, []string{"warn", "wait", "off"}); err != nil {
		return err
	}
	if c.plan != "" {
		if err := oneOf("--plan", c.plan, []string{planFixed, planSequential}); err != nil {
			return err
		}
	}
	if strings.ContainsAny(c.machine, `/\`) || c.machine == "." || c.machine == ".." {
		return fmt.Errorf("--machine is %q; it becomes the name of a folder", c.machine)
	}
	if err := checkOut(c.out); err != nil {
		return err
	}
	return plan.CheckSettings()
}

// checkOut returns an error for an --out that cannot be written: a file that is there, or
// one in a folder that is not. "" stands for no --out.
func checkOut(path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already: choose another --out, or go on with it by --resume", path)
	}
	if folder := filepath.Dir(path); !isFolder(folder) {
		return fmt.Errorf("--out %s: there is no folder %s; make it first, so that no typing error makes one", path, folder)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sameCircumstances returns an error that names what is different from when the
// run was begun: then its halves could not be compared.
func sameCircumstances(from *record.Interrupted, plan *record.Plan, here *record.Circumstances) error {
	diffs := append(here.Differences(from.Config), from.Plan.Differences(plan)...)
	if len(diffs) == 0 {
		return nil
	}
	return fmt.Errorf("%s cannot be resumed, because this is not the same run any more:\n  %s\nstart a new one, or restore what is different",
		from.Path, strings.Join(diffs, "\n  "))
}

// create opens a new results file, and notes in it what the plan has to leave
// out.
func create(ctx context.Context, c measureConfig, plan *record.Plan, b *bench, here *record.Circumstances) (*record.Store, error) {
	now := time.Now()
	path := c.out
	if path == "" {
		kind := ""
		if c.calibrate != nil {
			kind = calibrate.CalibrationPrefix
		}
		path = resultsPath(ctx, kind, here.Machine, here.Value("commit"), now)
	}
	return record.Create(path, plan, here, forEachCPU(b.absent, plan.CPU), now)
}

// resultsPath is where results of a kind are kept by default: below results/ in the
// module of the working directory.
func resultsPath(ctx context.Context, kind, machine, commit string, now time.Time) string {
	commit = cmp.Or(commit, "nocommit")
	name := kind + now.UTC().Format("20060102-150405") + "-" + commit[:min(8, len(commit))] + ".bench"
	return filepath.Join(moduleRoot(ctx, "."), "results", machine, name)
}

// moduleRoot returns the root of the module that dir is in, relative to the working
// directory if it can be; dir if it is in none.
func moduleRoot(ctx context.Context, dir string) string {
	mod := goOutputIn(ctx, dir, "env", "GOMOD")
	if !filepath.IsAbs(mod) || mod == os.DevNull {
		return dir
	}
	root := filepath.Dir(mod)
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, root); err == nil {
			return rel
		}
	}
	return root
}

// forEachCPU names holes as the results would have been named, one for each
// GOMAXPROCS.
func forEachCPU(holes []record.Hole, cpu []int) []record.Hole {
	var out []record.Hole
	for _, h := range holes {
		if h.Case == "" {
			out = append(out, h)
			continue
		}
		name := h.Case
		for _, n := range cpu {
			h.Case = record.Step{Case: record.Case{Name: name}, CPU: n}.FullName()
			out = append(out, h)
		}
	}
	return out
}

// checkIdle warns if the machine is busy, or waits until it is not.
func checkIdle(ctx context.Context, w io.Writer, wait bool) error {
	for first := true; ; first = false {
		busy := session.CheckIdle(ctx, time.Second)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case busy == nil:
			return nil
		case !wait:
			fmt.Fprintf(w, "warning: the machine is busy: %s. Figures will scatter; --idle=wait waits for it to calm down\n", busy)
			return nil
		case first:
			fmt.Fprintf(w, "waiting for the machine to calm down: %s (Ctrl-C ends, --idle=warn measures all the same)\n", busy)
		}
	}
}

// counted is a number with its noun.
func counted(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// roughly rounds a duration for people.
func roughly(d time.Duration) time.Duration {
	switch {
	case d > time.Minute:
		return d.Round(10 * time.Second)
	case d > 10*time.Second:
		return d.Round(time.Second)
	}
	return d.Round(100 * time.Millisecond)
}

func uniqueSorted(ns []int) []int {
	ns = slices.Clone(ns)
	slices.Sort(ns)
	return slices.Compact(ns)
}
