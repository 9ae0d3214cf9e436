package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/program/subject"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

// Tests are compiled tests, and programs, and what there is to measure in them.
type Tests struct {
	Binaries []testbin.Binary
	Programs []subject.Program // which are measured beside them
	Cases    []record.Case
	Says     map[record.Case]string // what cases say of themselves
	Absent   []record.Hole          // what a plan has to leave out
}

// A Calibration makes the plan of a run that of a calibration; see calibrate.Calibrate.
type Calibration struct {
	Slows  []float64
	Trials int           // 0: as many as For has time for
	For    time.Duration // that measuring takes, about
}

// plan completes a plan that has all but its cases, and how many blocks it has.
func (c *Calibration) plan(p *record.Plan, cases []record.Case) {
	if c.Trials > 0 {
		calibrate.Calibrate(p, cases, c.Slows, p.Blocks, c.Trials)
	} else {
		calibrate.CalibrateFor(p, cases, c.Slows, p.Blocks, c.For)
	}
}

// check returns an error if there can be no such calibration.
func (c *Calibration) check(plan *record.Plan, given bool) error {
	switch {
	case c.For < 0, c.For == 0 && c.Trials == 0:
		return fmt.Errorf("--for is %v; it must be more than zero", c.For)
	case c.Trials < 0 || c.Trials == 0 && given:
		return fmt.Errorf("--trials is %d; it must be at least 1", c.Trials)
	}
	return calibrate.CheckCalibration(c.Slows, plan.Blocks, max(1, c.Trials))
}

// CalibrationConfig returns how a calibration measures, if nothing is said of it.
func CalibrationConfig() Config {
	return Config{
		Blocks: calibrate.CalibrationBlocks, Idle: IdleWarn, Time: "100ms", // of processes alone, of which there are none
		Mode: record.ModeTurns, Control: true, Rounds: calibrate.CalibrationRounds, Slice: calibrate.CalibrationSlice, Layouts: calibrate.CalibrationLayouts,
	}
}

// Packages measures the benchmarks of packages, or the rest of the run that is resumed, and
// returns the path of the results; "" if there are none yet. Without packages it is those of
// dyno in its checkout, and elsewhere the one in the working directory. calibration is nil for
// an ordinary run.
func (r *Runner) Packages(ctx context.Context, c Config, calibration *Calibration) (path string, err error) {
	from, err := c.resume(len(c.Packages)+len(c.Build) > 0, "with its own packages and build: leave out --out, the packages and how they are built")
	if err != nil {
		return "", err
	}
	if from != nil && ComparesVersions(from) {
		return "", fmt.Errorf("%s compares two versions: go on with benchrun ab --resume", c.Resume)
	}
	if from == nil {
		if own := len(c.Packages) == 0 && c.Bench == "" && InDyno(ctx); own && calibration != nil {
			c.Bench, c.Packages = calibrate.OwnBench, calibrate.OwnPackages
		}
		c.Packages = packagesOr(ctx, c.Packages)
	}
	c.Bench = cmp.Or(c.Bench, ".")
	if err := c.findCounter(ctx, from); err != nil {
		return "", err
	}
	plan := c.plan(from)
	err = c.check(plan)
	if err == nil && calibration != nil && from == nil {
		err = calibration.check(plan, c.given("trials"))
	}
	if err != nil {
		return "", err
	}
	if from != nil && from.Finished() {
		fmt.Fprintf(r.con, "%s is complete: all %d blocks are there\n", c.Resume, from.Plan.Blocks)
		return c.Resume, nil
	}
	j := &job{plan: plan, from: from, path: c.Out, tool: c.tool}
	err = r.run(ctx, c.Idle, func(ctx context.Context) ([]*job, error) {
		return []*job{j}, r.prepare(ctx, j, &c, calibration)
	}, nil)
	if !j.begun {
		return "", err
	}
	return j.path, err
}

// prepare builds what j measures, lists it if j is a new run, and completes j.
func (r *Runner) prepare(ctx context.Context, j *job, c *Config, calibration *Calibration) error {
	folder, err := r.scratch()
	if err != nil {
		return err
	}
	tests, err := r.testsOf(ctx, folder, j, c, calibration)
	if err != nil {
		return err
	}
	j.absent = tests.Absent
	addHashes(j.plan, tests.Binaries)
	maps.Copy(j.plan.Subjects, subject.Hashes(tests.Programs))
	if j.tool != nil && len(tests.Programs) > 0 {
		return errors.New("instructions are counted of Go benchmarks; --program is timed only")
	}
	j.take(r.processes, parts{tests.Binaries, tests.Programs})
	j.here = session.Describe(ctx, ".", c.Machine, c.Resume)
	j.here.Fixed = withBuild(j.here.Fixed, c.Build.describe(ctx, "."))
	j.noteCounter()
	noteMade(j.here, tests.Programs)
	if j.path == "" && j.from == nil {
		prefix := ""
		if calibration != nil {
			prefix = calibrate.CalibrationPrefix
		}
		j.path = resultsPath(ctx, ".", j.here.Machine, prefix, short(j.here.Value("commit")), time.Now())
	}
	return nil
}

// noteMade notes with what programs were made, as they say.
func noteMade(here *record.Circumstances, programs []subject.Program) {
	for _, p := range programs {
		if p.Made != "" {
			key := record.MadePrefix + strings.ToLower(filepath.Base(p.Path))
			here.Fixed = append(here.Fixed, record.Setting{Key: key, Values: []string{p.Made}})
		}
	}
}

// testsOf builds the tests that j measures into folder, and lists the cases of a new run
// into its plan.
func (r *Runner) testsOf(ctx context.Context, folder string, j *job, c *Config, calibration *Calibration) (tests *Tests, err error) {
	plan := j.plan
	o := testbin.BuildOptions{Driven: true, RunEnv: c.Build.runEnv(), Cache: r.openCache()}
	if o.Env, err = c.Build.goEnv(ctx, ".", nil); err != nil {
		return nil, err
	}
	if j.from != nil {
		// Nothing is listed: binaries that are the same have the same benchmarks.
		tests, err = build(ctx, r.con, folder, plan.Packages, o)
		plan.Cases = j.from.Plan.Cases
	} else if tests, err = listTests(ctx, r.con, folder, plan, o); err == nil {
		plan.Cases = tests.Cases
		if calibration != nil {
			calibration.plan(plan, tests.Cases)
		}
		withoutTurns(plan)
		err = c.canTakeTurns(plan, tests.inTurns(plan))
	}
	if err != nil {
		return nil, err
	}
	if j.from == nil {
		warnTooFew(r.con, plan, 0)
	}
	if plan.Layouts > 1 {
		fmt.Fprintf(r.con, "linking them in %s\n", console.Count(plan.Layouts, "layout"))
	}
	defer r.con.Clear()
	if err := r.away.build(ctx, folder, tests.Binaries); err != nil {
		return nil, err
	}
	return tests, testbin.Link(ctx, tests.Binaries, 0, plan.Layouts, linked(r.con, "tests"))
}

// warnTooFew says on w, before plan takes time, if it has too few blocks.
func warnTooFew(w io.Writer, plan *record.Plan, usual int) {
	if text := session.TooFew(plan, usual); text != "" {
		fmt.Fprintf(w, "warning: %s\n", text)
	}
}

// linked says on con how far linking is: it may take longer than measuring.
func linked(con *console.Console, what string) func(linked, of int) {
	return func(linked, of int) { con.Status(fmt.Sprintf("%d/%d layouts of the %s linked", linked, of, what)) }
}

// withoutTurns makes plan one of plain processes if nothing is compared with anything.
func withoutTurns(plan *record.Plan) {
	if !slices.ContainsFunc(plan.Groups(), plan.TakesTurns) {
		plan.Mode, plan.Control, plan.Rounds, plan.Slice, plan.Layouts = "", false, 0, 0, 0
	}
}

// inTurns returns the binaries whose benchmarks are to take turns.
func (t *Tests) inTurns(plan *record.Plan) (binaries []testbin.Binary) {
	pkgs := make(map[string]bool)
	for _, g := range plan.Groups() {
		if plan.TakesTurns(g) {
			for _, s := range g.Steps {
				pkgs[s.Case.Pkg] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(t.Binaries), func(b testbin.Binary) bool { return !pkgs[b.Pkg] })
}

// addHashes adds those of binaries to the Subjects of plan, and those of their sources.
func addHashes(plan *record.Plan, binaries []testbin.Binary) {
	if plan.Subjects == nil {
		plan.Subjects = make(map[string]string)
	}
	if plan.Sources == nil {
		plan.Sources = make(map[string]string)
	}
	for _, b := range binaries {
		maps.Copy(plan.Subjects, b.Hashes())
		if b.Source != "" {
			plan.Sources[b.ID()] = b.Source
		}
	}
}

// build compiles the packages into folder, and opens the files beside them. What does not
// work is said on w.
func build(ctx context.Context, w io.Writer, folder string, packages []string, o testbin.BuildOptions) (*Tests, error) {
	programs, packages, err := subject.OpenAll(ctx, packages)
	if err != nil || len(packages) == 0 {
		return &Tests{Programs: programs, Says: make(map[record.Case]string)}, err
	}
	if toBuild, _ := record.SplitFiles(packages); len(toBuild) > 0 {
		fmt.Fprintf(w, "building the tests of %s\n", strings.Join(toBuild, " "))
	}
	binaries, problems, err := testbin.Build(ctx, ".", folder, packages, o)
	if err != nil {
		return nil, hinted(".", err)
	}
	t := &Tests{Binaries: binaries, Programs: programs, Says: make(map[record.Case]string)}
	for _, p := range problems {
		fmt.Fprintf(w, "benchrun: %s %s\n", p.Pkg, p)
		t.Absent = append(t.Absent, record.Hole{Pkg: p.Pkg, Reason: p.Reason, Skipped: p.Untested})
	}
	if len(binaries)+len(programs) == 0 {
		if !slices.ContainsFunc(problems, func(p testbin.BuildProblem) bool { return !p.Untested }) {
			return nil, fmt.Errorf("nothing to measure: %w", hinted(".", noTests(packages)))
		}
		return nil, hinted(".", errors.New("nothing to measure: no package could be built; why stands above"))
	}
	return t, nil
}

// List lists the benchmarks of plan's Packages that match its Bench. What does not work is
// said; it is an error only if nothing is left.
func (r *Runner) List(ctx context.Context, plan *record.Plan) (*Tests, error) {
	ctx, _, stop := session.Interruptible(ctx, func() {})
	defer stop()
	defer r.close()
	folder, err := r.scratch()
	if err != nil {
		return nil, err
	}
	plan.Packages = packagesOr(ctx, plan.Packages)
	return listTests(ctx, r.con, folder, plan, testbin.BuildOptions{Driven: true, Cache: r.openCache()})
}

// listTests builds the Packages of plan into folder and lists those of their benchmarks that
// match its Bench, with the most of its CPU; none may be silent for longer than its
// Timeout. What does not work is said on w; it is an error only if nothing is left.
func listTests(ctx context.Context, w io.Writer, folder string, plan *record.Plan, o testbin.BuildOptions) (*Tests, error) {
	if err := record.CheckPattern(plan.Bench); err != nil {
		return nil, err
	}
	t, err := build(ctx, w, folder, plan.Packages, o)
	if err != nil {
		return nil, err
	}
	var with []testbin.Binary // that have benchmarks
	unlisted := false
	for _, b := range t.Binaries {
		fmt.Fprintf(w, "listing the benchmarks of %s\n", b.Pkg)
		l, err := list(ctx, w, b, plan)
		if err != nil {
			return nil, err
		}
		unlisted = unlisted || slices.ContainsFunc(l.Absent, func(h record.Hole) bool { return h.Case == "" })
		if len(l.Cases) > 0 {
			with = append(with, b)
		}
		t.Cases, t.Absent = append(t.Cases, l.Cases...), append(t.Absent, l.Absent...)
		maps.Copy(t.Says, l.Says)
	}
	more, err := subject.Cases(t.Programs, plan.Bench, t.Cases)
	if err != nil {
		return nil, err
	}
	if t.Cases = append(t.Cases, more...); len(t.Cases) > 0 {
		t.Binaries = with
		return t, nil
	}
	if i := slices.IndexFunc(t.Absent, func(h record.Hole) bool { return h.Case != "" }); i >= 0 {
		h := t.Absent[i]
		return nil, fmt.Errorf("nothing to measure: every benchmark that matches skips itself or fails, such as %s (%s)", h.Case, h)
	}
	if unlisted {
		return nil, errors.New("nothing to measure: no package could list its benchmarks; why stands above")
	}
	if plan.Bench == "." {
		return nil, fmt.Errorf("nothing to measure: %w", noBenchmarks(".", plan.Packages))
	}
	all, err := subject.Cases(t.Programs, ".", nil)
	if err != nil {
		return nil, err
	}
	return nil, noMatch(ctx, t.Binaries, all, plan)
}

// list lists the benchmarks of b that plan asks for. What fails is said on w. It is an
// error only if ctx ends.
func list(ctx context.Context, w io.Writer, b testbin.Binary, plan *record.Plan) (*testbin.Listing, error) {
	name := b.Pkg
	if b.Side != "" {
		name += " (" + b.Side + ")"
	}
	l, err := b.Cases(ctx, plan.Bench, slices.Max(plan.CPU), plan.Timeout)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		fmt.Fprintf(w, "benchrun: %s: listing its benchmarks: %s\n", name, describe(err))
		l.Absent = append(l.Absent, record.Hole{Kind: failure.Of(err), Reason: record.ListingFailed + err.Error()})
	}
	for i, h := range l.Absent {
		h.Pkg, h.Side = b.Pkg, b.Side
		if h.Case != "" && !h.Skipped {
			fmt.Fprintf(w, "benchrun: %s: %s: %s\n", name, h.Case, h)
		}
		l.Absent[i] = h
	}
	return l, nil
}

// noMatch is the error for a plan whose Bench matches no benchmark of binaries, nor a known
// one, or what has ended ctx while they were asked which ones they have.
func noMatch(ctx context.Context, binaries []testbin.Binary, known []record.Case, plan *record.Plan) error {
	for _, b := range binaries {
		l, err := b.Cases(ctx, ".", slices.Max(plan.CPU), plan.Timeout)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			known = append(known, l.Cases...)
		}
	}
	return testbin.NoMatch(plan.Bench, known)
}

// noTests is the error for packages without tests.
func noTests(packages []string) error {
	return fmt.Errorf("there are no _test.go files in %s; benchmarks stand in them", strings.Join(packages, " "))
}

// noBenchmarks is the error for packages of the folder dir that have tests and no benchmarks.
func noBenchmarks(dir string, packages []string) error {
	err := fmt.Errorf("there are no benchmarks in %q", strings.Join(packages, " "))
	if text := hint(dir); text != "" {
		return fmt.Errorf("%w; %s", err, text)
	}
	return fmt.Errorf("%w. %s", err, Example)
}

// Example is a benchmark to copy.
const Example = `One looks so, in a file whose name ends in _test.go:

	func BenchmarkWork(b *testing.B) {
		for b.Loop() {
			work() // what is to be measured
		}
	}`

// describe is an error with what the subject printed, if it is about one.
func describe(err error) string {
	if out := program.Output(err); out != "" {
		return err.Error() + "\n" + console.Indent(out)
	}
	return err.Error()
}
