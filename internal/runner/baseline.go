package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/baseline"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/internal/versions"
)

// baselineKey is the setting that names the baseline that old is, in results.
const baselineKey = "baseline"

// Baselines returns where baselines are kept: below the user's cache folder, but benchrun
// removes none by itself.
func Baselines() (baseline.Store, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for baselines: %w", err)
	}
	return baseline.Store(filepath.Join(folder, "benchrun", "baselines")), nil
}

// BaselineModule returns the path of the module in the folder dir, whose baselines have names
// of their own.
func (r *Runner) BaselineModule(ctx context.Context, dir string) (module string, err error) {
	err = r.whole(ctx, func(ctx context.Context) error {
		v, err := r.newVersions(ctx, &AB{Dir: dir, NoCache: true})
		if err != nil {
			return err
		}
		if v.trees[1], err = v.workspace.Lay(ctx, "", sides[1]); err != nil {
			return hinted(dir, err)
		}
		module, err = v.workspace.ModulePath(ctx, v.trees[1])
		return err
	})
	return module, err
}

// Keep builds one version, c.Args with packages behind it or the work tree, and keeps its
// tests under a name. It measures nothing.
func (r *Runner) Keep(ctx context.Context, c *AB, name string) (kept *baseline.Baseline, err error) {
	if err := baseline.CheckName(name); err != nil {
		return nil, err
	}
	store, err := Baselines()
	if err != nil {
		return nil, err
	}
	plan := c.plan(nil)
	if err := c.check(plan); err != nil {
		return nil, err
	}
	err = r.whole(ctx, func(ctx context.Context) error {
		v, err := r.newVersions(ctx, c)
		if err != nil {
			return r.unmeasured(ctx, err)
		}
		if kept, err = v.keep(ctx, c, plan, store, name); err != nil {
			return r.unmeasured(ctx, err)
		}
		return nil
	})
	return kept, err
}

func (v *Versions) keep(ctx context.Context, c *AB, plan *record.Plan, store baseline.Store, name string) (*baseline.Baseline, error) {
	version, packages := v.one(ctx, c.Args)
	v.choose(packages, c.Packages)
	if err := v.layOne(ctx, 0, version, nil); err != nil {
		return nil, hinted(c.Dir, err, c.Args...)
	}
	t := v.trees[0]
	settings, err := v.goEnv(ctx, t)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(v.w, "building the tests of %s\n", strings.Join(v.packages, " "))
	var problems []testbin.BuildProblem
	err = v.compileOne(ctx, 0, func(o testbin.BuildOptions) (err error) {
		v.binaries[0], problems, err = testbin.Build(ctx, t.Dir, v.folders[0], v.packages, o)
		return err
	})
	if err != nil {
		return nil, hinted(c.Dir, err, c.Args...)
	}
	for _, p := range problems {
		if !p.Untested {
			return nil, fmt.Errorf("nothing was kept, because a package does not build:\n%s: %s%s", p.Pkg, strings.ReplaceAll(p.String(), "\n", "\n    "), v.meant(ctx))
		}
	}
	benchmarks := 0
	var with []testbin.Binary
	for _, b := range v.binaries[0] {
		l, err := list(ctx, v.w, b, plan)
		if err != nil {
			return nil, err
		}
		if benchmarks += len(l.Cases); len(l.Cases) > 0 {
			with = append(with, b)
		}
	}
	if v.binaries[0] = with; len(with) == 0 {
		return nil, fmt.Errorf("nothing to keep: %w", noBenchmarks(c.Dir, v.packages))
	}
	if err := c.canTakeTurns(plan, with); err != nil {
		return nil, err
	}
	fmt.Fprintf(v.w, "linking it in %s\n", console.Count(plan.Layouts, "layout"))
	if err := testbin.Link(ctx, with, 0, plan.Layouts, linked(v.w, name)); err != nil {
		return nil, err
	}
	v.w.Clear()
	module, err := v.workspace.ModulePath(ctx, t)
	if err != nil {
		return nil, err
	}
	b := &baseline.Baseline{
		Name: name, Module: module, Version: t.Name, Made: time.Now().UTC().Truncate(time.Second),
		Protocol: program.Version, Patterns: v.packages, Layouts: max(1, plan.Layouts), Settings: settings, Build: c.Builds[0].flags(),
	}
	b.Commit, b.Dirty = commitOf(ctx, t, "")
	if before, err := store.Open(module, name); err == nil {
		fmt.Fprintf(v.w, "note: this takes the place of the baseline %s of %s\n", name, before.Made.Format(time.DateTime))
	}
	if err := store.Keep(b, func(p *jobs.Packer) error { return packBaseline(b, p, with) }); err != nil {
		return nil, err
	}
	fmt.Fprintf(v.w, "kept as baseline %s: %s of %s\n", name, console.Count(benchmarks, "benchmark"), console.Count(len(with), "package"))
	return b, nil
}

// packBaseline adds binaries to a baseline.
func packBaseline(b *baseline.Baseline, to *jobs.Packer, binaries []testbin.Binary) error {
	job := new(jobs.Job)
	if err := (parts{binaries: binaries}).pack(to, job); err != nil {
		return err
	}
	for _, one := range job.Binaries {
		images := one.Layouts
		if len(images) == 0 {
			images = []string{one.Image}
		}
		b.Packages = append(b.Packages, baseline.Package{Pkg: one.Pkg, Source: one.Source, Undrivable: one.Undrivable, Images: images, Folder: one.Folder})
	}
	return nil
}

// built are the settings of the go command that decide what is built. The first three must
// be the same for two versions to be compared: what differs else is said.
var built = []string{"GOOS", "GOARCH", "GOVERSION", "GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GODEBUG", "CGO_ENABLED", trimpath}

const mustAgree = 3

// goEnv returns the settings by which t is built. It is for before flags are added.
func (v *Versions) goEnv(ctx context.Context, t *versions.Tree) (map[string]string, error) {
	said, err := v.workspace.GoEnv(ctx, t, built[:len(built)-1]...)
	if err == nil {
		said[trimpath] = strconv.FormatBool(v.trimpath)
	}
	return said, err
}

// one tells a version among the arguments from the packages that follow; it is the work tree
// if the first is neither a revision, nor another module's folder, nor path@version.
func (v *Versions) one(ctx context.Context, args []string) (version string, packages []string) {
	if len(args) > 0 && v.isOtherVersion(ctx, args[0]) {
		return args[0], args[1:]
	}
	return "", args
}

// openBaseline opens the one that old is to be, of the module in the work tree.
func (v *Versions) openBaseline(ctx context.Context, name string) error {
	store, err := Baselines()
	if err != nil {
		return err
	}
	module, err := v.workspace.ModulePath(ctx, v.trees[1])
	if err != nil {
		return err
	}
	b, err := store.Open(module, name)
	if err != nil {
		return err
	}
	v.kept = b
	v.Old = fmt.Sprintf("baseline %s, kept %s: %s", name, b.Made.Format(time.DateTime), named(b.Version, b.Commit, b.Dirty))
	fmt.Fprintf(v.w, "%s: %s\n", sides[0], v.Old)
	if b.Protocol != program.Version {
		return fmt.Errorf("the baseline %s was kept by another benchrun, whose binaries are driven otherwise; to keep it anew: %s", name, b.Again())
	}
	now, err := v.goEnv(ctx, v.trees[1])
	if err != nil {
		return err
	}
	now["GOOS"], now["GOARCH"] = runtime.GOOS, runtime.GOARCH // its binaries run here
	for i, key := range built {
		switch was, is := b.Settings[key], now[key]; {
		case was == is:
		case i >= mustAgree:
			v.note(fmt.Sprintf("the baseline %s was built with %s=%s, and the new version with %s=%s, which is part of what differs",
				name, key, strconv.Quote(was), key, strconv.Quote(is)))
		case key == "GOVERSION":
			return fmt.Errorf("the baseline %s was built by %s, and the new version is by %s: GOTOOLCHAIN=%s builds it alike, and %s keeps the baseline anew",
				name, was, is, was, b.Again())
		default:
			return fmt.Errorf("the baseline %s was built for %s/%s, and this is %s/%s; to keep one for it: %s",
				name, b.Settings["GOOS"], b.Settings["GOARCH"], now["GOOS"], now["GOARCH"], b.Again())
		}
	}
	return nil
}

// takeBaseline makes the kept binaries those of old, as far as the packages that are asked for have
// them: seen are the packages that these are in the new version.
func (v *Versions) takeBaseline(seen []string) error {
	whole := slices.Equal(v.packages, v.kept.Patterns)
	var kept []string
	for i, p := range v.kept.Packages {
		kept = append(kept, p.Pkg)
		if !whole && !slices.Contains(seen, p.Pkg) {
			continue
		}
		images, folder, err := v.kept.Images(p, filepath.Join(v.folders[0], "kept"+strconv.Itoa(i)), v.kept.Layouts)
		if err != nil {
			return err
		}
		b := testbin.Binary{Pkg: p.Pkg, Side: sides[0], Source: p.Source, Dir: folder, Env: v.builds[1].runEnv()}
		for l, path := range images {
			b.Layouts = append(b.Layouts, testbin.Image{Path: path, Hash: p.Images[l]})
		}
		v.binaries[0] = append(v.binaries[0], testbin.Kept(b, p.Undrivable))
	}
	if len(v.binaries[0]) == 0 {
		return fmt.Errorf("the baseline %s has none of %s; it has %s: %s PACKAGES keeps others", v.kept.Name, strings.Join(v.packages, " "),
			strings.Join(kept, ", "), v.kept.Again())
	}
	return nil
}

// lacks says of which benchmarks the baseline is older than they are.
func (v *Versions) lacks(absent []record.Hole) {
	if v.kept == nil {
		return
	}
	missing := 0
	for _, h := range absent {
		if h.Side == sides[0] && h.Gone() {
			missing++
		}
	}
	if missing > 0 {
		v.note(fmt.Sprintf("the baseline %s lacks %s of the new version, which cannot be compared; once they are what later versions are compared to: benchrun ab --save-baseline %s",
			v.kept.Name, console.Count(missing, "benchmark"), v.kept.Name))
	}
}

// keptLayouts limits the plan to the layouts that were kept.
func (v *Versions) keptLayouts(c *AB, plan *record.Plan) error {
	switch have := v.kept.Layouts; {
	case plan.Layouts <= have:
	case c.given("layouts"):
		return fmt.Errorf("the baseline %s has %s: %s --layouts %d keeps it with more", v.kept.Name, console.Count(have, "layout"), v.kept.Again(), plan.Layouts)
	default:
		v.note(fmt.Sprintf("measured in %s, as many as the baseline %s was kept in", console.Count(have, "layout"), v.kept.Name))
		plan.Layouts = have
	}
	return nil
}
