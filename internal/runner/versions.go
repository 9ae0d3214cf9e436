package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/internal/baseline"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/internal/versions"
)

// trimpath is the flag that makes equal sources give equal binaries.
const trimpath = "-trimpath"

// sides are the sides of two versions, by index.
var sides = [2]string{record.SideOld, record.SideNew}

// ComparesVersions reports whether a run compares two versions: then its file says what each
// side is.
func ComparesVersions(run *record.Interrupted) bool { return run.Config[record.SideOld] != "" }

// sidesOf returns what the versions were called that run compares.
func sidesOf(run *record.Interrupted) (names [2]string) {
	for i, side := range sides {
		names[i] = run.Config[side]
	}
	return names
}

// Versions are two versions of a module that are laid out and built.
type Versions struct {
	// Old and New are what they are called, with their commits.
	Old, New string
	// Identical are the packages whose test binaries do not differ.
	Identical []string
	// Notes say what a reader of the results should know of how they were built.
	Notes []string

	w         *console.Console
	away      *away // where they are measured; nil is here
	workspace *versions.Workspace
	trees     [2]*versions.Tree  // old, new
	kept      *baseline.Baseline // what old is; nil if it is a tree
	cache     *testbin.BuildCache
	builds    [2]Build
	trimpath  bool
	identical bool // identical packages are measured too

	packages []string
	folders  [2]string           // of the test binaries
	binaries [2][]testbin.Binary // without those that are identical
	cases    []record.Case
	absent   []record.Hole

	unchanged string // the control of what is left out because nothing that it can reach differs; "" if there is none
}

// close removes what was laid out, also after an interrupt; a kill leaves it to the
// next benchrun.
func (v *Versions) close() {
	if err := v.workspace.Close(); err != nil {
		fmt.Fprintf(v.w, "benchrun: not everything could be removed: %v\n", err)
	}
}

// all returns the test binaries of both.
func (v *Versions) all() []testbin.Binary { return slices.Concat(v.binaries[0], v.binaries[1]) }

// split tells the versions among the arguments from the packages that follow. The
// second argument is a version if git knows it as a revision, if it is
// path@version, or if it is the folder of a module: after a revision, of another
// one than this, for then "." is a package.
//
// With two builds of one version the first may be missing, too: then a folder that is in this
// module is a package.
func (v *Versions) split(ctx context.Context, args []string) (names [2]string, packages []string) {
	if v.twoBuilds() && (len(args) == 0 || !v.isOtherVersion(ctx, args[0])) {
		return names, args
	}
	names[0] = args[0]
	if len(args) == 1 {
		return names, nil
	}
	second := args[1]
	module := v.workspace.IsModule(second) && (!v.workspace.IsRevision(ctx, args[0]) || !v.workspace.IsHere(ctx, second))
	if module || v.workspace.IsRevision(ctx, second) || versions.IsModuleVersion(second) {
		names[1] = second
		return names, args[2:]
	}
	return names, args[1:]
}

// isOtherVersion reports whether name can only be meant as a version, of which nothing else is
// known: a revision, a module, or the folder of another one than this.
func (v *Versions) isOtherVersion(ctx context.Context, name string) bool {
	return v.workspace.IsRevision(ctx, name) || versions.IsModuleVersion(name) || v.workspace.IsModule(name) && !v.workspace.IsHere(ctx, name)
}

// choose makes the packages those of the arguments and more, or all below the folder.
func (v *Versions) choose(packages, more []string) {
	if v.packages = append(packages, more...); len(v.packages) == 0 {
		v.packages = []string{"./..."}
	}
}

// twoBuilds reports whether the sides are to be built in two ways, or to run in two.
func (v *Versions) twoBuilds() bool { return !maps.Equal(v.builds[0], v.builds[1]) }

// layNew lays the new version out, and opens the baseline that it is compared to.
func (v *Versions) layNew(ctx context.Context, name, keptAs string, from *record.Interrupted) error {
	if err := v.layOne(ctx, 1, name, from); err != nil {
		return err
	}
	return v.openBaseline(ctx, keptAs)
}

// lay lays both versions out. A run that goes on does so with the commits that it
// began with, whatever branches have moved in the meantime.
func (v *Versions) lay(ctx context.Context, names [2]string, from *record.Interrupted) error {
	var toolchains [2]string
	for i, name := range names {
		if err := v.layOne(ctx, i, name, from); err != nil {
			return err
		}
		var err error
		if toolchains[i], err = v.workspace.Toolchain(ctx, v.trees[i]); err != nil {
			return err
		}
	}
	if toolchains[0] != toolchains[1] && v.builds[0]["go"] == v.builds[1]["go"] {
		v.note(fmt.Sprintf("the versions are built by different toolchains, which is part of what differs: %s for old, %s for new; --go makes it one",
			toolchains[0], toolchains[1]))
	}
	return nil
}

// layOne lays side i out, and says what it is.
func (v *Versions) layOne(ctx context.Context, i int, name string, from *record.Interrupted) error {
	called := name
	if from != nil {
		switch commit := from.Config[sides[i]+"-commit"]; {
		case name == versions.WorkTreeName:
			called = versions.WorkTree
		case commit != "" && v.workspace.IsRevision(ctx, name):
			called = commit
		}
	}
	t, err := v.workspace.Lay(ctx, called, sides[i])
	if err != nil {
		return err
	}
	if called != name {
		t.Name = name
	}
	v.trees[i] = t
	if t.Env, err = v.builds[i].goEnv(ctx, t.Dir, t.Env); err != nil {
		return err
	}
	commit, dirty := commitOf(ctx, t, "")
	shown := named(t.Name, commit, dirty) + v.builds[i].String()
	fmt.Fprintf(v.w, "%s: %s\n", sides[i], shown)
	if i == 0 {
		v.Old = shown
	} else {
		v.New = shown
	}
	for _, text := range t.Notes {
		v.note(text)
	}
	return nil
}

// named is what a version is called, with its commit if it has one.
func named(name, commit, dirty string) string {
	if commit == "" {
		return name
	}
	name += " (" + commit[:min(8, len(commit))]
	if dirty != "false" {
		name += " and what is not committed"
	}
	return name + ")"
}

// commitOf returns the commit of a version, "" if it has none, and how it differs from
// that; see session.Commit.
func commitOf(ctx context.Context, t *versions.Tree, results string) (commit, dirty string) {
	if t.Commit != "" {
		return t.Commit, "false"
	}
	return session.Commit(ctx, t.Dir, results)
}

// note says, here and in Notes, what a reader of the results should know.
func (v *Versions) note(text string) {
	if slices.Contains(v.Notes, text) { // of a version that is on both sides
		return
	}
	fmt.Fprintf(v.w, "note: %s\n", text)
	v.Notes = append(v.Notes, text)
}

// build compiles both versions at the same time, and leaves out the packages that
// are the same. That a package does not build in one version is an error.
func (v *Versions) build(ctx context.Context) error {
	fmt.Fprintf(v.w, "building the tests of %s in both versions\n", strings.Join(v.packages, " "))
	problems, err := v.compile(ctx)
	if err != nil {
		return err
	}
	if v.kept == nil { // which is of the same module by its path
		if err := v.rename(ctx, problems[0]); err != nil {
			return err
		}
	}
	if err := v.check(problems); err != nil {
		return err
	}
	if len(v.all()) == 0 {
		if !slices.ContainsFunc(slices.Concat(problems[0], problems[1]), func(p testbin.BuildProblem) bool { return !p.Untested }) {
			return fmt.Errorf("%w: %w", errUntested, noTests(v.packages))
		}
		return fmt.Errorf("nothing to compare: none of the packages can be built; what go says stands above%s", v.meant(ctx))
	}
	v.noteGODEBUG()
	if !v.identical && slices.Equal(v.builds[0].runEnv(), v.builds[1].runEnv()) {
		v.leaveOutIdentical()
	}
	return nil
}

// meant asks whether the first package, which cannot be built, is a revision that was mistyped.
func (v *Versions) meant(ctx context.Context) string {
	if near := v.workspace.Meant(ctx, v.packages[0]); near != "" {
		return fmt.Sprintf("; %q is no revision either: did you mean %s?", v.packages[0], near)
	}
	return ""
}

// errUntested begins the error that no package has tests.
var errUntested = errors.New("nothing to compare")

// compile compiles both versions at the same time; one that was kept it takes as it is.
func (v *Versions) compile(ctx context.Context) (problems [2][]testbin.BuildProblem, err error) {
	work, building := errgroup.WithContext(ctx)
	for i, t := range v.trees {
		if t == nil {
			continue
		}
		err := v.compileOne(ctx, i, func(o testbin.BuildOptions) error {
			work.Go(func() (err error) {
				v.binaries[i], problems[i], err = testbin.Build(building, t.Dir, v.folders[i], v.packages, o)
				if err != nil && building.Err() == nil {
					err = fmt.Errorf("%s: %w", t.Name, err)
				}
				return err
			})
			return nil
		})
		if err != nil {
			return problems, err
		}
	}
	if err = work.Wait(); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil || v.kept == nil {
		return problems, err
	}
	var seen []string
	for _, b := range v.binaries[1] {
		seen = append(seen, b.Pkg)
	}
	for _, p := range problems[1] {
		seen = append(seen, p.Pkg)
	}
	if v.folders[0], err = v.buildFolder(0); err != nil {
		return problems, err
	}
	return problems, v.takeBaseline(seen)
}

// compileOne calls build with how the tests of side i are compiled, into v.folders[i].
func (v *Versions) compileOne(ctx context.Context, i int, build func(testbin.BuildOptions) error) (err error) {
	t := v.trees[i]
	if v.folders[i], err = v.buildFolder(i); err != nil {
		return err
	}
	if v.trimpath {
		if err := v.workspace.AddGoFlag(ctx, t, trimpath); err != nil {
			return err
		}
	}
	return build(testbin.BuildOptions{Driven: true, Side: sides[i], Env: t.Env, RunEnv: v.builds[i].runEnv(), Cache: v.cache, Source: t.Source})
}

// buildFolder makes the folder of the test binaries of side i.
func (v *Versions) buildFolder(i int) (string, error) {
	folder := filepath.Join(v.workspace.Temp(), "build-"+sides[i])
	return folder, os.Mkdir(folder, 0o755)
}

// leaveOutIdentical leaves out the packages that are the same in both versions.
func (v *Versions) leaveOutIdentical() {
	hashes := make(map[string]string)
	for _, b := range v.binaries[0] {
		hashes[b.Pkg] = b.Hash
	}
	for _, b := range v.binaries[1] {
		if hashes[b.Pkg] == b.Hash {
			v.Identical = append(v.Identical, b.Pkg)
			fmt.Fprintf(v.w, "%s: identical build\n", b.Pkg)
		}
	}
	v.drop(func(pkg string) bool { return slices.Contains(v.Identical, pkg) })
}

// drop takes away the test binaries of packages.
func (v *Versions) drop(of func(pkg string) bool) {
	for i := range v.binaries {
		v.binaries[i] = slices.DeleteFunc(v.binaries[i], func(b testbin.Binary) bool { return of(b.Pkg) })
	}
}

// rename calls the old version's packages by the paths that they have in the new
// one, if the module's path is another: "example.com/m" became "example.com/m/v2",
// or it is a fork.
func (v *Versions) rename(ctx context.Context, problems []testbin.BuildProblem) error {
	var paths [2]string
	for i, t := range v.trees {
		var err error
		if paths[i], err = v.workspace.ModulePath(ctx, t); err != nil {
			return err
		}
	}
	if paths[0] == paths[1] {
		return nil
	}
	v.note(fmt.Sprintf("the module is called %s in the old version and %s in the new one; packages are paired by their folders", paths[0], paths[1]))
	call := func(pkg string) string {
		if rest, ok := strings.CutPrefix(pkg, paths[0]); ok && (rest == "" || rest[0] == '/') {
			return paths[1] + rest
		}
		return pkg
	}
	for i, b := range v.binaries[0] {
		v.binaries[0][i].Pkg = call(b.Pkg)
	}
	for i, p := range problems {
		problems[i].Pkg = call(p.Pkg)
	}
	return nil
}

// check notes what did not build in both versions, and returns an error for what did not
// in one.
func (v *Versions) check(problems [2][]testbin.BuildProblem) error {
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
					fmt.Fprintf(v.w, "benchrun: %s, in both versions: %s\n", p.Pkg, p)
					v.absent = append(v.absent, record.Hole{Pkg: p.Pkg, Reason: p.Reason})
				}
			case p.Unknown: // the other version has it; its benchmarks are alone
			default:
				fmt.Fprintf(&failed, "\n%s of %s: %s", p.Pkg, v.trees[i].Name, strings.ReplaceAll(p.String(), "\n", "\n    "))
			}
		}
	}
	if failed.Len() > 0 {
		return fmt.Errorf("nothing was measured, because a package builds in one version only:%s", failed.String())
	}
	return nil
}

// list lists what both versions have. What only one has, and what fails, is said.
func (v *Versions) list(ctx context.Context, plan *record.Plan) error {
	var cases [2][]record.Case
	var failed []record.Hole
	for i, side := range sides {
		fmt.Fprintf(v.w, "listing the benchmarks of the %s version\n", side)
		for _, b := range v.binaries[i] {
			l, err := list(ctx, v.w, b, plan)
			if err != nil {
				return err
			}
			cases[i], failed = append(cases[i], l.Cases...), append(failed, l.Absent...)
		}
	}
	var absent []record.Hole
	v.cases, absent = record.MatchSides(cases[0], cases[1], failed)
	v.tellAbsent(ctx, absent)
	v.lacks(absent)
	v.absent = append(v.absent, absent...)
	return nil
}

// link links what is measured in the layouts that plan begins with, and notes the binaries in it: a
// run that goes on, and another machine, need all. Only packages that have something to measure are
// worth it.
func (v *Versions) link(ctx context.Context, plan *record.Plan, from *record.Interrupted) error {
	layouts := plan.Layouts
	if from == nil && v.away == nil {
		layouts = testbin.LinkedFirst(plan)
	}
	if layouts > 1 {
		fmt.Fprintf(v.w, "linking both in %s\n", console.Count(layouts, "layout"))
	}
	defer v.w.Clear()
	v.drop(func(pkg string) bool {
		return !slices.ContainsFunc(v.cases, func(c record.Case) bool { return c.Pkg == pkg })
	})
	for i := range sides {
		if err := v.away.build(ctx, v.folders[i], v.binaries[i]); err != nil {
			return err
		}
	}
	all := v.all()
	err := testbin.Link(ctx, all, 0, layouts, linked(v.w, "versions"))
	copy(v.binaries[1], all[copy(v.binaries[0], all):])
	addHashes(plan, all)
	return err
}

// circumstances are those of the machine, with what each version is in place of the commit of
// the working directory, and of how they were built what is the same once, and else of each.
func (v *Versions) circumstances(ctx context.Context, machine, out string) *record.Circumstances {
	here := session.Describe(ctx, v.trees[1].Dir, machine, out)
	var fixed record.Settings
	var built [2]record.Circumstances
	if v.kept != nil {
		fixed.Add(sides[0], baselineKey+" "+v.kept.Name)
		fixed.Add(baselineKey, v.kept.Name)
		if v.kept.Commit != "" {
			fixed.Add(sides[0]+"-commit", v.kept.Commit)
			fixed.Add(sides[0]+"-dirty", v.kept.Dirty)
		}
		built[0].Fixed = v.builds[1].describe(ctx, v.trees[1].Dir) // openBaseline notes what was not so
	}
	for i, t := range v.trees {
		if t == nil {
			continue
		}
		built[i].Fixed = v.builds[i].describe(ctx, t.Dir)
		fixed.Add(sides[i], t.Name)
		if commit, dirty := commitOf(ctx, t, out); commit != "" {
			fixed.Add(sides[i]+"-commit", commit)
			fixed.Add(sides[i]+"-dirty", dirty)
		}
	}
	if v.trimpath {
		fixed.Add("build", trimpath)
	}
	fixed.Add(record.UnchangedKey, v.unchanged)
	for _, key := range record.Built() {
		if before, now := built[0].Value(key), built[1].Value(key); before == now {
			fixed.Add(key, now)
		} else {
			fixed.Add(record.OfSide(record.SideOld, key), before)
			fixed.Add(record.OfSide(record.SideNew, key), now)
		}
	}
	here.Fixed = slices.DeleteFunc(here.Fixed, func(s record.Setting) bool { return s.Key == "commit" || s.Key == "dirty" })
	here.Fixed = withBuild(here.Fixed, fixed.List)
	return here
}
