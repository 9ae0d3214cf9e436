package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/lab"
)

const (
	exitInterrupted = 130 // 128 + SIGINT, as shells have it

	module          = "github.com/dynolab/dyno"
	defaultPackages = "./impls"
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
}

// A bench is where measuring takes place: subjects, and the folder they lie in.
type bench struct {
	subjects []lab.Subject
	cases    []lab.Case
	absent   []absence
}

// An absence is a benchmark, or all of a package's, that a plan has to leave out.
type absence struct {
	pkg  string
	hole lab.Hole
}

// inDyno reports whether the working directory is in a checkout of dyno.
func inDyno(ctx context.Context) bool {
	return goOutput(ctx, "list", "-m") == module
}

func goOutput(ctx context.Context, args ...string) string {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
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

// prepare builds the packages into folder and lists their benchmarks. What does
// not work is told on w; it is an error only if nothing is left.
func prepare(ctx context.Context, w io.Writer, folder string, packages []string, pattern string, timeout time.Duration) (*bench, error) {
	if err := lab.CheckPattern(pattern); err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "building the tests of %s\n", strings.Join(packages, " "))
	subjects, problems, err := lab.Build(ctx, ".", folder, packages)
	if err != nil {
		return nil, err
	}
	b := new(bench)
	for _, p := range problems {
		fmt.Fprintf(w, "benchrun: %s %s\n%s", p.Pkg, p.Reason, p.Output)
	}
	for _, s := range subjects {
		fmt.Fprintf(w, "listing the benchmarks of %s\n", s.Pkg)
		l, err := s.Cases(pattern, timeout, ctx.Done())
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(w, "benchrun: %s: listing its benchmarks: %v\n", s.Pkg, describe(err))
			if l == nil || len(l.Cases) == 0 {
				continue
			}
		}
		for _, h := range l.Absent {
			if !h.Skipped {
				fmt.Fprintf(w, "benchrun: %s: %s %s\n", s.Pkg, h.Case, h)
			}
			b.absent = append(b.absent, absence{s.Pkg, h})
		}
		b.subjects = append(b.subjects, s)
		b.cases = append(b.cases, l.Cases...)
	}
	switch {
	case len(b.cases) > 0:
		return b, nil
	case len(b.subjects) == 0 && len(problems) > 0:
		return nil, fmt.Errorf("nothing to measure: none of the packages gave a test binary that runs")
	case pattern == ".":
		return nil, fmt.Errorf("nothing to measure: %s has no benchmarks that can run", strings.Join(packages, " "))
	}
	var known []lab.Case
	for _, s := range b.subjects {
		if l, err := s.Cases(".", timeout, ctx.Done()); err == nil {
			known = append(known, l.Cases...)
		}
	}
	return nil, lab.NoMatch(pattern, known)
}

// describe is an error with what the subject printed, if it is about one.
func describe(err error) string {
	if out := lab.FailureOutput(err); out != "" {
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
	w := cmd.ErrOrStderr()
	ctx, stop := context.WithCancelCause(cmd.Context())
	defer stop(nil)
	kill := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ended := make(chan struct{})
	defer close(ended)
	go func() { // the first signal lets the running process finish, the second does not
		for _, act := range []func(){
			func() { stop(lab.ErrInterrupted) },
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

	switch c.idle {
	case "off":
	case "warn", "wait":
		if err := checkIdle(ctx, w, c.idle == "wait"); err != nil {
			return "", asInterrupt(err)
		}
	default:
		return "", oneOf("--idle", c.idle, []string{"warn", "wait", "off"})
	}

	var from *lab.Interrupted
	if c.resume != "" {
		if c.out != "" || len(c.packages) > 0 {
			return "", errors.New("--resume goes on in its own file with its own packages: leave out --out and the packages")
		}
		if from, err = lab.ReadInterrupted(c.resume); err != nil {
			return "", err
		}
		if from.Finished() {
			fmt.Fprintf(w, "%s is complete: all %d blocks are there\n", c.resume, from.Plan.Blocks)
			return c.resume, nil
		}
		if from.Torn != "" {
			fmt.Fprintf(w, "%s ends in the middle of a line; that one is measured again\n", c.resume)
		}
		c.packages, c.machine = from.Plan.Packages, from.Config["machine"]
	}
	folder, err := os.MkdirTemp("", "benchrun")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	plan, b, err := makePlan(ctx, w, folder, c, from, changed)
	if err != nil {
		return "", asInterrupt(err)
	}
	here := lab.Describe(ctx, ".", c.machine)
	if from != nil {
		if err := sameCircumstances(from, plan, here); err != nil {
			return "", err
		}
	}
	store, err := openStore(ctx, c, plan, b, here, from)
	if err != nil {
		return "", err
	}
	steps := plan.Blocks * len(plan.Cases) * len(plan.CPU)
	fmt.Fprintf(w, "measuring %d benchmarks in %d blocks, %d processes, about %v; order by seed %d\nresults: %s\n",
		len(plan.Cases)*len(plan.CPU), plan.Blocks, steps, roughly(lab.Estimate(plan)), plan.Seed, store.Path)
	err = lab.Run(ctx, plan, b.subjects, store, from, newProgress(w), kill)
	err = errors.Join(err, store.Close())
	if errors.Is(err, lab.ErrInterrupted) {
		fmt.Fprintf(w, "interrupted; what was measured is kept. To go on:\n  benchrun run --resume %s\n", store.Path)
		return store.Path, exitError(exitInterrupted)
	}
	return store.Path, err
}

// asInterrupt turns the end of the context before anything was measured into
// its exit status.
func asInterrupt(err error) error {
	if errors.Is(err, lab.ErrInterrupted) {
		return exitError(exitInterrupted)
	}
	return err
}

// makePlan builds what is to be measured and plans it. With from it plans the
// same again, but for the flags that are given.
func makePlan(ctx context.Context, w io.Writer, folder string, c measureConfig, from *lab.Interrupted, changed func(string) bool) (*lab.Plan, *bench, error) {
	plan := &lab.Plan{
		CPU: c.cpu, Blocks: c.blocks, Time: c.time, Seed: c.seed, Benchmem: c.benchmem,
		Packages: c.packages, Bench: c.bench, Timeout: c.timeout,
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
		for flag, keep := range map[string]func(){
			"cpu":      func() { plan.CPU = from.Plan.CPU },
			"blocks":   func() { plan.Blocks = from.Plan.Blocks },
			"time":     func() { plan.Time = from.Plan.Time },
			"seed":     func() { plan.Seed = from.Plan.Seed },
			"benchmem": func() { plan.Benchmem = from.Plan.Benchmem },
			"bench":    func() { plan.Bench = from.Plan.Bench },
			"timeout":  func() { plan.Timeout = from.Plan.Timeout },
		} {
			if !changed(flag) {
				keep()
			}
		}
	}
	if err := lab.CheckTime(plan.Time); err != nil {
		return nil, nil, err
	}
	b, err := prepare(ctx, w, folder, plan.Packages, plan.Bench, plan.Timeout)
	if err != nil {
		return nil, nil, err
	}
	plan.Cases = b.cases
	plan.Subjects = make(map[string]string)
	for _, s := range b.subjects {
		plan.Subjects[s.Pkg] = s.Hash
	}
	return plan, b, plan.Check()
}

// sameCircumstances returns an error that names what is different from when the
// run was begun: then its halves could not be compared.
func sameCircumstances(from *lab.Interrupted, plan *lab.Plan, here *lab.Circumstances) error {
	var diffs []string
	keys := make(map[string]bool)
	for _, s := range here.Fixed {
		keys[s.Key] = true
		if then, now := from.Config[s.Key], strings.Join(s.Values, " "); then != now {
			diffs = append(diffs, s.Key+": "+orNone(then)+" → "+now)
		}
	}
	for _, key := range lab.FixedKeys() {
		if then := from.Config[key]; then != "" && !keys[key] {
			diffs = append(diffs, key+": "+then+" → none")
		}
	}
	diffs = append(diffs, from.Plan.Differences(plan)...)
	if len(diffs) == 0 {
		return nil
	}
	return fmt.Errorf("%s cannot be resumed, because this is not the same run any more:\n  %s\nstart a new one, or restore what is different",
		from.Path, strings.Join(diffs, "\n  "))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// openStore opens the results file, new or resumed, and notes what the plan has
// to leave out.
func openStore(ctx context.Context, c measureConfig, plan *lab.Plan, b *bench, here *lab.Circumstances, from *lab.Interrupted) (*lab.Store, error) {
	now := time.Now()
	if from != nil {
		return from.Resume(now)
	}
	path := c.out
	if path == "" {
		root := "."
		if mod := goOutput(ctx, "env", "GOMOD"); filepath.IsAbs(mod) && mod != os.DevNull {
			root = filepath.Dir(mod)
			if wd, err := os.Getwd(); err == nil {
				if rel, err := filepath.Rel(wd, root); err == nil {
					root = rel
				}
			}
		}
		commit := here.Value("commit")
		if commit == "" {
			commit = "nocommit"
		}
		name := now.UTC().Format("20060102-150405") + "-" + commit[:min(8, len(commit))] + ".bench"
		path = filepath.Join(root, "results", here.Machine, name)
	}
	store, err := lab.Create(path, plan, here, now)
	if err != nil {
		return nil, err
	}
	for _, a := range b.absent {
		for _, n := range plan.CPU {
			h := a.hole
			h.Case = lab.Step{Case: lab.Case{Name: h.Case}, CPU: n}.FullName()
			store.Hole(h, a.pkg)
		}
	}
	return store, nil
}

// checkIdle warns if the machine is busy, or waits until it is not.
func checkIdle(ctx context.Context, w io.Writer, wait bool) error {
	for first := true; ; first = false {
		busy := lab.CheckIdle(ctx, time.Second)
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
