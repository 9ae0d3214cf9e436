package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/internal/truth"
	"github.com/dynolab/dyno/internal/versions"
	"github.com/dynolab/dyno/report"
)

// truthConfig are the flags that only calibrate --truth has.
type truthConfig struct {
	pairs int
	parts []string
	time  string
	all   time.Duration // that all parts may take, about; 0 if pairs says how many
}

// truthPairs is how many pairs calibrate --truth measures by default: enough for an
// interval of about a third of what processes differ by.
const truthPairs = 30

// checkTruth returns an error for flags that make no sense with --truth, or without.
func checkTruth(cmd *cobra.Command, truth bool, own truthConfig) error {
	if !truth {
		if flag := firstChanged(cmd, "pairs", "parts", "time"); flag != "" {
			return fmt.Errorf("--%s is for --truth", flag)
		}
		return nil
	}
	if flag := firstChanged(cmd, "quick", "slow", "trials"); flag != "" {
		return fmt.Errorf("--%s is for copies that are slowed on purpose, and with --truth there are none", flag)
	}
	if cmd.Flags().Changed("for") && cmd.Flags().Changed("pairs") {
		return errors.New("--pairs and --for both say how many pairs are measured")
	}
	if own.pairs < calibrate.LeastPairs {
		return fmt.Errorf("--pairs is %d; it must be at least %d", own.pairs, calibrate.LeastPairs)
	}
	for _, part := range own.parts {
		if err := oneOf("--parts", part, calibrate.TruthParts); err != nil {
			return err
		}
	}
	if len(own.parts) == 0 {
		return fmt.Errorf("--parts is empty; it lists %s", strings.Join(calibrate.TruthParts, ", "))
	}
	return nil
}

// runTruth measures a truth suite and shows it.
func runTruth(cmd *cobra.Command, c measureConfig, own truthConfig, args []string, format string) error {
	if c.bench == "" {
		c.bench = "."
	}
	dash := cmd.ArgsLenAtDash()
	if dash < 0 {
		dash = len(args)
	}
	files, err := measureTruth(cmd, c, own, args[:dash], args[dash:])
	if len(files) == 0 {
		return err
	}
	if !slices.Contains(own.parts, calibrate.TruthPairs) && c.resume == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "results: %s\nthe truth is in other files: benchrun calibrate --truth --from FILES shows them together\n", strings.Join(files, " "))
		return err
	}
	if shown := showTruth(cmd, files, format, calibrate.CalibrationPath(calibrate.TruthPath(files[0], calibrate.TruthPairs))); err == nil {
		err = shown
	}
	return err
}

// A truthRun is the measuring of a truth suite.
type truthRun struct {
	own  truthConfig
	c    measureConfig
	ab   abConfig // as benchrun ab has it if it is told nothing
	w    io.Writer
	d    *duel
	from map[string]*record.Interrupted // by part; nil if there is nothing of it yet

	folder   string // of the plain test binaries
	subjects []testbin.Binary
	plans    map[string]*record.Plan
	here     *record.Circumstances
	path     string // of the pairs' file, from which the others' follow
	progress map[string]*progress
}

// measureTruth measures the parts of a truth suite, or what is left of them, and
// returns the paths of all that there are. args and packages are as ab has them; without
// them the versions are those of the plants.
func measureTruth(cmd *cobra.Command, c measureConfig, own truthConfig, args, packages []string) (files []string, err error) {
	r := &truthRun{own: own, c: c, w: &syncWriter{w: cmd.ErrOrStderr()}, plans: make(map[string]*record.Plan), progress: make(map[string]*progress)}
	abCommand(&r.ab)
	if err := r.resumed(&args, &packages); err != nil {
		return nil, err
	}
	for _, part := range calibrate.TruthParts {
		r.progress[part] = newProgress(r.w, terminalWidth(cmd.ErrOrStderr()))
	}
	ctx, kill, stop := interruptible(cmd.Context(), func() {
		for _, p := range r.progress {
			p.interrupted()
		}
	})
	defer stop()
	folder, err := scratch.New()
	if err != nil {
		return nil, err
	}
	defer folder.Remove()
	r.folder = filepath.Join(folder.Path, "plain")
	if err := os.Mkdir(r.folder, 0o755); err != nil {
		return nil, err
	}
	if len(args) == 0 {
		args, packages, r.ab.dir = []string{truth.Old, truth.New}, []string{"."}, folder.Path
		if err := truth.Lay(folder.Path); err != nil {
			return nil, err
		}
	}
	r.d = &duel{trimpath: r.ab.trimpath, identical: r.ab.identical, cache: openCache(r.w)}
	if r.d.desk, err = versions.Open(ctx, r.ab.dir); err == nil {
		defer r.d.leave(r.w)
		err = r.prepare(ctx, cmd.Flags().Changed, args, packages)
	}
	switch {
	case errors.Is(err, session.ErrInterrupted), ctx.Err() != nil:
		fmt.Fprintln(r.w, "interrupted before anything was measured")
		return nil, exitError(exitInterrupted)
	case err != nil:
		return nil, err
	}
	for _, part := range calibrate.TruthParts {
		if slices.Contains(own.parts, part) && err == nil {
			err = r.measure(ctx, part, kill)
		}
		path := calibrate.TruthPath(r.path, part)
		if _, missing := os.Stat(path); missing == nil {
			files = append(files, path)
		}
	}
	return files, err
}

// resumed reads what an earlier run has left, if one is to be gone on with, and what it
// compared.
func (r *truthRun) resumed(args, packages *[]string) error {
	r.from = make(map[string]*record.Interrupted)
	if r.c.resume == "" {
		return nil
	}
	if r.c.out != "" || len(*args)+len(*packages) > 0 {
		return errors.New("--resume goes on in its own files with its own versions and packages: leave out --out, versions and packages")
	}
	r.path = calibrate.TruthPath(r.c.resume, calibrate.TruthPairs)
	for _, part := range calibrate.TruthParts {
		from, err := record.ReadInterrupted(calibrate.TruthPath(r.path, part))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if from.Config[calibrate.TruthKey] != part {
			return fmt.Errorf("%s is not of a truth suite: benchrun calibrate --truth makes them", from.Path)
		}
		r.from[part] = from
		names := sidesOf(from)
		*args, *packages = names[:], from.Plan.Packages
		if names == [2]string{truth.Old, truth.New} {
			*args = nil
		}
		r.c.bench, r.c.cpu, r.c.machine = from.Plan.Bench, from.Plan.CPU, from.Config["machine"]
	}
	if len(r.from) == 0 {
		return fmt.Errorf("%s: %w", r.c.resume, os.ErrNotExist)
	}
	return nil
}

// prepare lays out and builds both versions, as ab does and as go test -c does, and
// makes the plans.
func (r *truthRun) prepare(ctx context.Context, changed func(string) bool, args, packages []string) error {
	if r.c.idle != "off" {
		if err := checkIdle(ctx, r.w, r.c.idle == "wait"); err != nil {
			return err
		}
	}
	a := &r.ab
	a.bench, a.cpu, a.machine, a.idle, a.timeout, a.seed = r.c.bench, r.c.cpu, r.c.machine, r.c.idle, r.c.timeout, r.c.seed
	a.blocksGiven, a.roundsGiven = changed("blocks"), changed("rounds")
	for flag, set := range map[string]func(){
		"blocks":  func() { a.blocks = r.c.blocks },
		"rounds":  func() { a.rounds = r.c.rounds },
		"slice":   func() { a.slice = r.c.slice },
		"layouts": func() { a.layouts = r.c.layouts },
	} {
		if changed(flag) {
			set()
		}
	}
	changedOfAB := func(flag string) bool { return flag != "time" && changed(flag) }
	plan := newPlan(a.measureConfig, r.from[calibrate.TruthAB], changedOfAB)
	plan.Col = record.SideKey
	if err := checkAB(*a, plan); err != nil {
		return err
	}
	if err := checkOut(r.c.out); err != nil {
		return err
	}
	pairs := r.plain(changed)
	if err := pairs.CheckSettings(); err != nil {
		return err
	}
	if err := r.d.prepare(ctx, r.w, *a, plan, r.from[calibrate.TruthAB], args, packages); err != nil {
		return err
	}
	if len(r.d.cases) == 0 {
		return errors.New("nothing to measure: the versions do not differ in any benchmark")
	}
	r.plans[calibrate.TruthAB] = plan
	r.describe(ctx)
	return r.plan(ctx, pairs, changed)
}

// plain is a plan of plain processes, without cases.
func (r *truthRun) plain(changed func(string) bool) *record.Plan {
	c := r.c
	c.mode, c.time, c.benchmem, c.blocks = "", r.own.time, true, 1
	return newPlan(c, nil, changed)
}

// describe notes the circumstances, and where results are kept. What the plants are is
// known by dyno's commit.
func (r *truthRun) describe(ctx context.Context) {
	r.here = r.d.circumstances(ctx, r.ab)
	commit := r.here.Value(record.SideNew + "-commit")
	if r.ab.dir != "." {
		var dirty string
		if commit, dirty = session.Commit(ctx, ".", ""); commit != "" {
			r.here.Fixed = append([]record.Setting{{Key: "commit", Values: []string{commit}}, {Key: "dirty", Values: []string{dirty}}}, r.here.Fixed...)
		}
	}
	switch {
	case r.path != "":
	case r.c.out != "":
		r.path = calibrate.TruthPath(r.c.out, calibrate.TruthPairs)
	default:
		r.path = resultsPath(ctx, calibrate.TruthPrefix, r.here.Machine, commit, time.Now())
	}
}

// plan makes the plans of the parts that plain processes measure, and builds those.
func (r *truthRun) plan(ctx context.Context, pairs *record.Plan, changed func(string) bool) error {
	pairs.Packages = r.d.packages
	one := *pairs
	calibrate.OneByOne(&one, r.d.cases)
	layouts := truthMostLayouts
	if changed("layouts") {
		layouts = r.c.layouts
	}
	calibrate.Pairs(pairs, r.d.cases, r.own.pairs, layouts)
	r.plans[calibrate.TruthPairs], r.plans[calibrate.TruthBenchstat] = pairs, &one
	if r.own.all > 0 {
		calibrate.Pairs(pairs, r.d.cases, 1, layouts)
		each := r.left(calibrate.TruthPairs)
		n := int((r.own.all - r.left(calibrate.TruthAB) - r.left(calibrate.TruthBenchstat)) / max(1, each))
		calibrate.Pairs(pairs, r.d.cases, max(calibrate.LeastPairs, n), layouts)
	}
	for _, part := range []string{calibrate.TruthPairs, calibrate.TruthBenchstat} {
		if from := r.from[part]; from != nil {
			again := *from.Plan
			again.Subjects = nil // what is built now counts
			r.plans[part] = &again
		}
	}
	all := time.Duration(0)
	for _, part := range calibrate.TruthParts {
		all += r.left(part)
	}
	fmt.Fprintf(r.w, "truth suite of %s: %s, about %v\n", counted(len(r.d.cases)/len(sides)*len(pairs.CPU), "benchmark"), strings.Join(r.own.parts, ", "), roughly(all))
	return r.build(ctx)
}

// truthMostLayouts is how many layouts there are at most: one for each pair.
const truthMostLayouts = 100

// left is how long a part takes that is asked for, about.
func (r *truthRun) left(part string) time.Duration {
	if !slices.Contains(r.own.parts, part) {
		return 0
	}
	return session.NewForecast(r.plans[part], r.from[part]).Left()
}

// build builds plain test binaries of both versions, and links them in the layouts of
// the pairs. They are called what those of ab are called.
func (r *truthRun) build(ctx context.Context) error {
	if !slices.Contains(r.own.parts, calibrate.TruthPairs) && !slices.Contains(r.own.parts, calibrate.TruthBenchstat) {
		return nil
	}
	fmt.Fprintln(r.w, "building both without the driver, as go test -c does")
	for i, t := range r.d.trees {
		folder := filepath.Join(r.folder, sides[i])
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
		built, _, err := testbin.Build(ctx, t.Dir, folder, r.d.packages, testbin.BuildOptions{Side: sides[i], Env: t.Env, Cache: r.d.cache, Source: t.Source})
		if err != nil {
			return err
		}
		var subjects []testbin.Binary
		for _, s := range built {
			same := func(o testbin.Binary) bool { return o.Dir == s.Dir }
			if at := slices.IndexFunc(r.d.subjects[i], same); at >= 0 {
				s.Pkg = r.d.subjects[i][at].Pkg
				subjects = append(subjects, s)
			}
		}
		layouts := 1
		if slices.Contains(r.own.parts, calibrate.TruthPairs) {
			layouts = r.plans[calibrate.TruthPairs].Layouts
		}
		r.plans[calibrate.TruthBenchstat].Subjects = hashes(r.plans[calibrate.TruthBenchstat].Subjects, subjects)
		if layouts > 1 {
			fmt.Fprintf(r.w, "linking the %s version in %s\n", sides[i], counted(layouts, "layout"))
		}
		if err := testbin.Link(ctx, folder, subjects, layouts); err != nil {
			return err
		}
		r.plans[calibrate.TruthPairs].Subjects = hashes(r.plans[calibrate.TruthPairs].Subjects, subjects)
		r.subjects = append(r.subjects, subjects...)
	}
	return nil
}

// hashes returns what of has, with the hashes of subjects.
func hashes(of map[string]string, subjects []testbin.Binary) map[string]string {
	all := maps.Clone(of)
	if all == nil {
		all = make(map[string]string)
	}
	for _, s := range subjects {
		maps.Copy(all, s.Hashes())
	}
	return all
}

// partTitles say what a part is.
var partTitles = map[string]string{
	calibrate.TruthPairs:     "the truth, old and new alternating",
	calibrate.TruthAB:        "benchrun ab",
	calibrate.TruthBenchstat: "for benchstat, old and then new",
}

// measure measures a part, or what is left of it.
func (r *truthRun) measure(ctx context.Context, part string, kill <-chan struct{}) error {
	from, plan, path := r.from[part], r.plans[part], calibrate.TruthPath(r.path, part)
	if from != nil && from.Finished() {
		return nil
	}
	here := *r.here
	here.Fixed = append([]record.Setting{{Key: calibrate.TruthKey, Values: []string{part}}}, here.Fixed...)
	var store *record.Store
	var err error
	if from != nil {
		if err := sameCircumstances(from, plan, &here); err != nil {
			return err
		}
		store, err = from.Resume(time.Now())
	} else {
		store, err = record.Create(path, plan, &here, forEachCPU(r.d.absent, plan.CPU), time.Now())
	}
	if err != nil {
		return err
	}
	subjects := r.subjects
	if part == calibrate.TruthAB {
		subjects = slices.Concat(r.d.subjects[0], r.d.subjects[1])
	}
	fmt.Fprintf(r.w, "%s:\n", partTitles[part])
	again := "benchrun calibrate --truth"
	if len(r.own.parts) < len(calibrate.TruthParts) {
		again += " --parts " + strings.Join(r.own.parts, ",")
	}
	err = carryOut(ctx, r.w, plan, testbin.NewBinaries(plan, subjects, kill), store, from, r.progress[part], kill, again)
	if part == calibrate.TruthAB {
		err = errors.Join(err, calibrate.AppendTimes(path, r.progress[part].times))
	}
	return err
}

// showTruth computes what the files show and prints it, and writes it as JSON to path,
// if that is not empty.
func showTruth(cmd *cobra.Command, files []string, format, path string) error {
	t, err := calibrate.ReadTruth(files)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	switch format {
	case "md":
		err = report.Truth(t).Markdown(out, report.MarkdownOptions{})
	case "json":
		err = report.TruthJSON(out, t)
	default:
		err = report.Truth(t).Text(out, report.TextOptions{})
	}
	if err != nil || path == "" {
		return err
	}
	var b bytes.Buffer
	if err := report.TruthJSON(&b, t); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the truth suite: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "truth suite: %s\nresults: %s\n", path, strings.Join(files, " "))
	return nil
}
