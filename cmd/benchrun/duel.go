package main

import (
	"bytes"
	"cmp"
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
	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/internal/versions"
	"github.com/dynolab/dyno/report"
)

// A duel is two versions that are laid out and built.
type duel struct {
	desk  *versions.Desk
	trees [2]*versions.Tree // old, new
	named report.Versions
	cache *testbin.BuildCache

	packages  []string
	trimpath  bool
	identical bool // identical packages are measured too

	folders  [2]string           // of the test binaries
	subjects [2][]testbin.Binary // without those that are identical
	cases    []record.Case
	absent   []record.Hole

	unmeasured *compare.Comparison // why, if nothing is to be measured that should have been
}

// sides are the sides of a duel, by index.
var sides = [2]string{record.SideOld, record.SideNew}

// sidesOf returns what the versions were called that run compares.
func sidesOf(run *record.Interrupted) (names [2]string) {
	for i, side := range sides {
		names[i] = run.Config[side]
	}
	return names
}

// leave removes what was laid out, also after an interrupt; a kill leaves it to the
// next benchrun. What could not be removed is told on w.
func (d *duel) leave(w io.Writer) {
	if err := d.desk.Close(); err != nil {
		fmt.Fprintf(w, "benchrun: not everything could be removed: %v\n", err)
	}
}

// prepare lays out and builds both versions, and makes the plan, or what from has
// of it. Nothing is left in d.cases if there is nothing to measure.
func (d *duel) prepare(ctx context.Context, w io.Writer, c abConfig, plan *record.Plan, from *record.Interrupted, args, packages []string) error {
	var names [2]string
	if from == nil {
		var more []string
		names, more = d.split(ctx, args)
		d.packages = append(more, packages...)
		if len(d.packages) == 0 {
			d.packages = []string{"./..."}
		}
	} else {
		names, d.packages = sidesOf(from), from.Plan.Packages
	}
	plan.Packages = d.packages
	if err := d.lay(ctx, w, names, from); err != nil {
		return err
	}
	if err := d.build(ctx, w); err != nil {
		return err
	}
	switch {
	case from != nil:
		d.cases = from.Plan.Cases // binaries that are the same have the same ones
	case len(d.subjects[0])+len(d.subjects[1]) == 0:
		fmt.Fprintf(w, "identical build: the test binaries of %s do not differ; nothing to measure (--identical measures all the same)\n",
			counted(len(d.named.Identical), "package"))
		return nil
	default:
		if err := d.list(ctx, w, plan); err != nil {
			return err
		}
		if len(d.cases) == 0 {
			return d.nothing(ctx, w, c, plan)
		}
	}
	plan.Cases = d.cases
	if from == nil {
		if err := session.Size(plan, session.Sizing{
			Alpha: c.compare.Alpha, Margin: c.compare.Margin, Sequential: c.plan == planSequential,
			Within: c.within, BlocksGiven: c.blocksGiven, RoundsGiven: c.roundsGiven, Layouts: c.layouts,
		}); err != nil {
			return err
		}
	}
	return d.link(ctx, w, plan)
}

// link links what is measured in all layouts, and notes the binaries in the plan.
// Only packages that have something to measure are worth it.
func (d *duel) link(ctx context.Context, w io.Writer, plan *record.Plan) error {
	if plan.Layouts > 1 {
		fmt.Fprintf(w, "linking both in %s\n", counted(plan.Layouts, "layout"))
	}
	plan.Subjects = make(map[string]string)
	for i := range sides {
		d.subjects[i] = slices.DeleteFunc(d.subjects[i], func(s testbin.Binary) bool {
			return !slices.ContainsFunc(d.cases, func(c record.Case) bool { return c.Pkg == s.Pkg })
		})
		if err := testbin.Link(ctx, d.folders[i], d.subjects[i], plan.Layouts); err != nil {
			return err
		}
		for _, s := range d.subjects[i] {
			maps.Copy(plan.Subjects, s.Hashes())
		}
	}
	return nil
}

// store opens the results file: a new one, or the one of from.
func (d *duel) store(ctx context.Context, c abConfig, plan *record.Plan, from *record.Interrupted, here *record.Circumstances) (*record.Store, error) {
	now := time.Now()
	if from == nil {
		return record.Create(cmp.Or(c.out, d.path(ctx, c.dir, here, now)), plan, here, forEachCPU(d.absent, plan.CPU), now)
	}
	if err := sameCircumstances(from, plan, here); err != nil {
		return nil, err
	}
	return from.Resume(now)
}

// split tells the versions among the arguments from the packages that follow. The
// second argument is a version if git knows it as a revision, if it is
// path@version, or if it is the folder of a module: after a revision, of another
// one than this, for then "." is a package.
func (d *duel) split(ctx context.Context, args []string) (names [2]string, packages []string) {
	names[0] = args[0]
	if len(args) == 1 {
		return names, nil
	}
	second := args[1]
	module := d.desk.IsModule(second) && (!d.desk.IsRevision(ctx, args[0]) || !d.desk.IsHere(ctx, second))
	if module || d.desk.IsRevision(ctx, second) || versions.IsModuleVersion(second) {
		names[1] = second
		return names, args[2:]
	}
	return names, args[1:]
}

// lay lays both versions out. A run that goes on does so with the commits that it
// began with, whatever branches have moved in the meantime.
func (d *duel) lay(ctx context.Context, w io.Writer, names [2]string, from *record.Interrupted) (err error) {
	var shown, toolchains [2]string
	for i, name := range names {
		called := name
		if from != nil {
			switch commit := from.Config[sides[i]+"-commit"]; {
			case name == versions.WorkTreeName:
				called = versions.WorkTree
			case commit != "" && d.desk.IsRevision(ctx, name):
				called = commit
			}
		}
		t, err := d.desk.Lay(ctx, called, sides[i])
		if err != nil {
			return err
		}
		if called != name {
			t.Name = name
		}
		d.trees[i] = t
		commit, dirty := t.Commit, "false"
		if commit == "" {
			commit, dirty = session.Commit(ctx, t.Dir, "")
		}
		shown[i] = t.Name
		if commit != "" {
			shown[i] += " (" + commit[:min(8, len(commit))]
			if dirty != "false" {
				shown[i] += " and what is not committed"
			}
			shown[i] += ")"
		}
		fmt.Fprintf(w, "%s: %s\n", sides[i], shown[i])
		for _, text := range t.Notes {
			d.note(w, text)
		}
		if toolchains[i], err = d.desk.Toolchain(ctx, t); err != nil {
			return err
		}
	}
	d.named.Old, d.named.New = shown[0], shown[1]
	if toolchains[0] != toolchains[1] {
		d.note(w, fmt.Sprintf("the versions are built by different toolchains, which is part of what differs: %s for old, %s for new; GOTOOLCHAIN makes it one",
			toolchains[0], toolchains[1]))
	}
	return nil
}

// note says on w, and in a comment, what a reader of the results should know.
func (d *duel) note(w io.Writer, text string) {
	fmt.Fprintf(w, "note: %s\n", text)
	d.named.Notes = append(d.named.Notes, text)
}

// build compiles both versions at the same time, and leaves out the packages that
// are the same. That a package does not build in one version is an error.
func (d *duel) build(ctx context.Context, w io.Writer) error {
	fmt.Fprintf(w, "building the tests of %s in both versions\n", strings.Join(d.packages, " "))
	var problems [2][]testbin.BuildProblem
	work, building := errgroup.WithContext(ctx)
	for i, t := range d.trees {
		d.folders[i] = filepath.Join(d.desk.Temp(), "build-"+sides[i])
		if err := os.Mkdir(d.folders[i], 0o755); err != nil {
			return err
		}
		if d.trimpath {
			if err := d.desk.AddGoFlag(ctx, t, trimpath); err != nil {
				return err
			}
		}
		o := testbin.BuildOptions{Driven: true, Side: sides[i], Env: t.Env, Cache: d.cache, Source: t.Source}
		work.Go(func() (err error) {
			d.subjects[i], problems[i], err = testbin.Build(building, t.Dir, d.folders[i], d.packages, o)
			if err != nil && building.Err() == nil {
				err = fmt.Errorf("%s: %w", t.Name, err)
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	if err := d.rename(ctx, w, problems[0]); err != nil {
		return err
	}
	if err := d.judgeProblems(w, problems); err != nil {
		return err
	}
	if len(d.subjects[0])+len(d.subjects[1]) == 0 {
		if !slices.ContainsFunc(slices.Concat(problems[0], problems[1]), func(p testbin.BuildProblem) bool { return !p.Untested }) {
			return fmt.Errorf("nothing to compare: %w", noTests(d.packages))
		}
		return errors.New("nothing to compare: none of the packages can be built; what go says stands above")
	}
	if d.identical {
		return nil
	}
	hashes := make(map[string]string)
	for _, s := range d.subjects[0] {
		hashes[s.Pkg] = s.Hash
	}
	for _, s := range d.subjects[1] {
		if hashes[s.Pkg] == s.Hash {
			d.named.Identical = append(d.named.Identical, s.Pkg)
			fmt.Fprintf(w, "%s: identical build\n", s.Pkg)
		}
	}
	for i := range sides {
		d.subjects[i] = slices.DeleteFunc(d.subjects[i], func(s testbin.Binary) bool { return slices.Contains(d.named.Identical, s.Pkg) })
	}
	return nil
}

// rename calls the old version's packages by the paths that they have in the new
// one, if the module's path is another: "example.com/m" became "example.com/m/v2",
// or it is a fork.
func (d *duel) rename(ctx context.Context, w io.Writer, problems []testbin.BuildProblem) error {
	var paths [2]string
	for i, t := range d.trees {
		var err error
		if paths[i], err = d.desk.ModulePath(ctx, t); err != nil {
			return err
		}
	}
	if paths[0] == paths[1] {
		return nil
	}
	d.note(w, fmt.Sprintf("the module is called %s in the old version and %s in the new one; packages are paired by their folders", paths[0], paths[1]))
	call := func(pkg string) string {
		if rest, ok := strings.CutPrefix(pkg, paths[0]); ok && (rest == "" || rest[0] == '/') {
			return paths[1] + rest
		}
		return pkg
	}
	for i, s := range d.subjects[0] {
		d.subjects[0][i].Pkg = call(s.Pkg)
	}
	for i, p := range problems {
		problems[i].Pkg = call(p.Pkg)
	}
	return nil
}

// judgeProblems notes what did not build in both versions, and returns an error
// for what did not in one.
func (d *duel) judgeProblems(w io.Writer, problems [2][]testbin.BuildProblem) error {
	broken := func(side int, pkg string) bool {
		return slices.ContainsFunc(problems[side], func(p testbin.BuildProblem) bool { return p.Pkg == pkg && !p.Untested })
	}
	var failed bytes.Buffer
	for i := range sides {
		for _, p := range problems[i] {
			switch {
			case p.Untested:
			case broken(1-i, p.Pkg):
				if i == 1 {
					fmt.Fprintf(w, "benchrun: %s, in both versions: %s\n%s", p.Pkg, p.Reason, p.Output)
					d.absent = append(d.absent, record.Hole{Pkg: p.Pkg, Reason: p.Reason})
				}
			case p.Unknown: // the other version has it; its benchmarks are alone
			default:
				fmt.Fprintf(&failed, "\n%s of %s: %s\n%s", p.Pkg, d.trees[i].Name, p.Reason, indent(strings.TrimRight(p.Output, "\n")))
			}
		}
	}
	if failed.Len() > 0 {
		return fmt.Errorf("nothing was measured, because a package builds in one version only:%s", failed.String())
	}
	return nil
}

// list lists what both versions have. What only one has, and what fails, is told.
func (d *duel) list(ctx context.Context, w io.Writer, plan *record.Plan) error {
	var cases [2][]record.Case
	var failed []record.Hole
	for i, side := range sides {
		fmt.Fprintf(w, "listing the benchmarks of the %s version\n", side)
		for _, s := range d.subjects[i] {
			l, err := s.Cases(plan.Bench, slices.Max(plan.CPU), plan.Timeout, ctx.Done())
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				fmt.Fprintf(w, "benchrun: %s (%s): listing its benchmarks: %s\n", s.Pkg, side, describe(err))
				l.Absent = append(l.Absent, record.Hole{Reason: record.ListingFailed + err.Error()})
			}
			for _, h := range l.Absent {
				h.Pkg, h.Side = s.Pkg, side
				if h.Case != "" && !h.Skipped {
					fmt.Fprintf(w, "benchrun: %s (%s): %s: %s\n", s.Pkg, side, h.Case, h)
				}
				failed = append(failed, h)
			}
			cases[i] = append(cases[i], l.Cases...)
		}
	}
	var absent []record.Hole
	d.cases, absent = record.MatchSides(cases[0], cases[1], failed)
	for _, h := range absent {
		if h.Gone() {
			fmt.Fprintf(w, "%s %s: %s\n", h.Pkg, h.Case, h.Reason)
		}
	}
	d.absent = append(d.absent, absent...)
	return nil
}

// errNothing is the error of a comparison of which nothing can be measured.
var errNothing = errors.New("nothing to compare: no benchmark that matches runs in both versions")

// nothing says why no benchmark can be measured in both versions. That is no error
// if all that there is is identical, or if something is absent, which is judged.
func (d *duel) nothing(ctx context.Context, w io.Writer, c abConfig, plan *record.Plan) (err error) {
	switch {
	case slices.ContainsFunc(d.absent, func(h record.Hole) bool { return h.Side != "" }):
		d.unmeasured, err = compare.Unmeasured(forEachCPU(d.absent, plan.CPU), c.compare)
		return err
	case len(d.named.Identical) > 0:
		fmt.Fprintln(w, "no package that differs has benchmarks that match; nothing to measure")
		return nil
	}
	if plan.Bench == "." {
		return fmt.Errorf("nothing to compare: %w", noBenchmarks(d.packages))
	}
	return fmt.Errorf("nothing to compare in %s: %w", strings.Join(d.packages, " "),
		noMatch(ctx, slices.Concat(d.subjects[0], d.subjects[1]), nil, plan.Bench, slices.Max(plan.CPU), plan.Timeout))
}

// circumstances are those of the machine, with what each version is in place of
// the commit of the working directory.
func (d *duel) circumstances(ctx context.Context, c abConfig) *record.Circumstances {
	here := session.Describe(ctx, d.trees[1].Dir, c.machine, c.out)
	fixed := slices.DeleteFunc(here.Fixed, func(s record.Setting) bool { return s.Key == "commit" || s.Key == "dirty" })
	here.Fixed = nil
	for i, t := range d.trees {
		note := func(key, value string) {
			if value != "" {
				here.Fixed = append(here.Fixed, record.Setting{Key: key, Values: []string{value}})
			}
		}
		note(sides[i], t.Name)
		commit, dirty := t.Commit, "false"
		if commit == "" {
			commit, dirty = session.Commit(ctx, t.Dir, c.out)
		}
		note(sides[i]+"-commit", commit)
		if commit != "" {
			note(sides[i]+"-dirty", dirty)
		}
	}
	if d.trimpath {
		here.Fixed = append(here.Fixed, record.Setting{Key: "build", Values: []string{trimpath}})
	}
	here.Fixed = append(here.Fixed, fixed...)
	return here
}

// path is where results are kept by default: below results/ in the module, or in
// dir if that is in none.
func (d *duel) path(ctx context.Context, dir string, here *record.Circumstances, now time.Time) string {
	name := now.UTC().Format("20060102-150405") + "-ab"
	for _, side := range sides {
		commit := cmp.Or(here.Value(side+"-commit"), "nocommit")
		name += "-" + commit[:min(8, len(commit))]
		if strings.HasPrefix(here.Value(side+"-dirty"), "true") {
			name += "+"
		}
	}
	return filepath.Join(moduleRoot(ctx, dir), "results", here.Machine, name+".bench")
}

// finish reports what was found, and returns the gate's status as an error. compared is
// nil if nothing was measured, because all packages are identical.
func (d *duel) finish(cmd *cobra.Command, c abConfig, compared *compare.Comparison) error {
	out := cmd.OutOrStdout()
	switch {
	case compared == nil:
	case c.comment != "-":
		if err := report.Comparison(compared, report.Terminal, report.Extra{}).Text(out, report.TextOptions{Color: wantsColor(out)}); err != nil {
			return err
		}
	default: // the comment may be too short for them
		for _, warning := range compared.Warnings {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", warning)
		}
	}
	if c.comment != "" {
		var b bytes.Buffer
		if err := report.Comment(compared, d.named).Markdown(&b, report.MarkdownOptions{}); err != nil {
			return err
		}
		if c.comment == "-" {
			if _, err := out.Write(b.Bytes()); err != nil {
				return err
			}
		} else if err := os.WriteFile(c.comment, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if d.cache != nil {
		_ = d.cache.Trim() // it is only a cache
	}
	switch {
	case compared == nil:
	case c.gate != "":
		g := compared.Gate()
		if err := judge(cmd.ErrOrStderr(), g); c.gate == gateStrict || g.Bad() {
			return err
		}
	case d.unmeasured != nil:
		return errNothing
	}
	return nil
}
