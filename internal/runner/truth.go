package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/internal/truth"
)

// A Truth says what a truth suite measures. Of how turns are taken its Config has what is
// given; the rest is as for an AB. Time is that of plain processes.
type Truth struct {
	Config

	// Args and Packages are as an AB has them. Without Args the versions are those of
	// the plants.
	Args []string

	Pairs int           // of processes of each benchmark
	For   time.Duration // that all parts take, about, if it is not 0: then it says how many pairs
	Parts []string      // of calibrate.TruthParts: what is measured
}

// A truthRun is the measuring of a truth suite.
type truthRun struct {
	*Runner
	c     *Truth
	ab    AB
	v     *Versions
	from  map[string]*record.Interrupted // by part; nil if there is nothing of it yet
	plans map[string]*record.Plan        // by part
	plain []testbin.Binary               // as go test builds them
	here  *record.Circumstances
	path  string // of the pairs' file, from which the others' follow
}

// truthMostLayouts is how many layouts the pairs have at most, if that is not given: one
// for each of them.
const truthMostLayouts = 100

// partTitles say what a part is.
var partTitles = map[string]string{
	calibrate.TruthPairs:     "the truth, old and new alternating",
	calibrate.TruthAB:        "benchrun ab",
	calibrate.TruthBenchstat: "for benchstat, old and then new",
}

// Truth measures the parts of a truth suite, or what is left of them, and returns the
// paths of all that there are.
func (r *Runner) Truth(ctx context.Context, c *Truth) (files []string, err error) {
	if len(c.Parts) < len(calibrate.TruthParts) {
		r.command += " --parts " + strings.Join(c.Parts, ",")
	}
	c.Bench = cmp.Or(c.Bench, ".")
	t := &truthRun{Runner: r, c: c, from: make(map[string]*record.Interrupted), plans: make(map[string]*record.Plan)}
	if err := t.resume(); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.finished() {
		fmt.Fprintf(r.con, "%s is complete: all blocks of its parts are there\n", t.path)
	} else {
		err = r.run(ctx, c.Idle, func(ctx context.Context) ([]*job, error) {
			if err := t.prepare(ctx); err != nil {
				return nil, err
			}
			return t.jobs(), nil
		}, nil)
		if t.here == nil {
			return nil, err
		}
	}
	for _, part := range calibrate.TruthParts {
		path := calibrate.TruthPath(t.path, part)
		if _, missing := os.Stat(path); missing == nil {
			files = append(files, path)
		}
	}
	return files, err
}

// resume reads what an earlier run has left, if one is to be gone on with, and what it
// compared.
func (t *truthRun) resume() error {
	c := t.c
	if c.Resume == "" {
		return nil
	}
	if c.Out != "" || len(c.Args)+len(c.Packages) > 0 {
		return errors.New("--resume goes on in its own files with its own versions and packages: leave out --out, versions and packages")
	}
	t.path = calibrate.TruthPath(c.Resume, calibrate.TruthPairs)
	for _, part := range calibrate.TruthParts {
		from, err := record.ReadInterrupted(calibrate.TruthPath(t.path, part))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if from.Config[calibrate.TruthKey] != part {
			return fmt.Errorf("%s is not of a truth suite: benchrun calibrate --truth makes them", from.Path)
		}
		t.from[part] = from
		names := sidesOf(from)
		c.Args, c.Packages = names[:], from.Plan.Packages
		if names == [2]string{truth.Old, truth.New} {
			c.Args = nil
		}
		c.Bench, c.CPU, c.Machine = from.Plan.Bench, from.Plan.CPU, from.Config["machine"]
	}
	if len(t.from) == 0 {
		return fmt.Errorf("%s: %w", c.Resume, os.ErrNotExist)
	}
	return nil
}

// check makes the plans of the pairs and of the part ab, without cases, and returns an
// error for what cannot be carried out.
func (t *truthRun) check() error {
	c := t.c
	if c.Pairs < calibrate.LeastPairs {
		return fmt.Errorf("--pairs is %d; it must be at least %d", c.Pairs, calibrate.LeastPairs)
	}
	if len(c.Parts) == 0 {
		return fmt.Errorf("--parts is empty; it lists %s", strings.Join(calibrate.TruthParts, ", "))
	}
	for _, part := range c.Parts {
		if err := oneOf("--parts", part, calibrate.TruthParts...); err != nil {
			return err
		}
	}
	if c.given("for") && c.For <= 0 {
		return fmt.Errorf("--for is %v; it must be more than zero", c.For)
	}
	a := DefaultAB()
	a.Args, a.Packages, a.Bench, a.CPU, a.Machine, a.Idle, a.Timeout, a.Seed = c.Args, c.Packages, c.Bench, c.CPU, c.Machine, c.Idle, c.Timeout, c.Seed
	a.Given = func(flag string) bool { return flag != "time" && c.given(flag) }
	for _, s := range planned {
		if a.given(s.flag) {
			s.config(&a.Config, &c.Config)
		}
	}
	t.ab = a
	ab := a.plan(t.from[calibrate.TruthAB])
	ab.Col = record.SideKey
	plain := c.Config
	plain.Mode, plain.Benchmem, plain.Blocks = "", true, 1
	pairs := plain.plan(nil)
	t.plans[calibrate.TruthAB], t.plans[calibrate.TruthPairs] = ab, pairs
	if err := a.check(ab); err != nil {
		return err
	}
	if err := CheckOut(c.Out); err != nil {
		return err
	}
	return pairs.CheckSettings()
}

// prepare lays out and builds both versions, as ab does and as go test -c does, and
// completes the plans.
func (t *truthRun) prepare(ctx context.Context) error {
	ab := t.plans[calibrate.TruthAB]
	folder, err := t.scratch()
	if err != nil {
		return err
	}
	if len(t.c.Args) == 0 {
		t.ab.Args, t.ab.Packages, t.ab.Dir = []string{truth.Old, truth.New}, []string{"."}, folder
		if err := truth.Lay(folder); err != nil {
			return err
		}
	}
	if t.v, err = t.newVersions(ctx, &t.ab); err != nil {
		return err
	}
	if err := t.v.prepare(ctx, &t.ab, ab, t.from[calibrate.TruthAB]); err != nil {
		return err
	}
	if len(t.v.cases) == 0 {
		if _, err := t.v.nothing(ctx, &t.ab, ab); err != nil {
			return err
		}
		return errors.New("nothing to measure: the versions do not differ in any benchmark")
	}
	here := t.circumstances(ctx)
	t.plan()
	if err := t.build(ctx, filepath.Join(folder, "plain")); err != nil {
		return err
	}
	t.here = here
	return nil
}

// circumstances notes the circumstances, and where results are kept. What the plants are
// is known by dyno's commit.
func (t *truthRun) circumstances(ctx context.Context) *record.Circumstances {
	here := t.v.circumstances(ctx, t.ab.Machine, "")
	commit := here.Value(record.SideNew + "-commit")
	if t.ab.Dir != "." {
		var dirty string
		if commit, dirty = session.Commit(ctx, ".", ""); commit != "" {
			here.Fixed = slices.Insert(here.Fixed, 0, fixed("commit", commit), fixed("dirty", dirty))
		}
	}
	switch {
	case t.path != "":
	case t.c.Out != "":
		t.path = calibrate.TruthPath(t.c.Out, calibrate.TruthPairs)
	default:
		t.path = resultsPath(ctx, ".", here.Machine, calibrate.TruthPrefix, short(commit), time.Now())
	}
	return here
}

func fixed(key, value string) record.Setting {
	return record.Setting{Key: key, Values: []string{value}}
}

// plan completes the plans of the parts that plain processes measure.
func (t *truthRun) plan() {
	pairs := t.plans[calibrate.TruthPairs]
	pairs.Packages = t.v.packages
	one := *pairs
	calibrate.OneByOne(&one, t.v.cases)
	layouts := truthMostLayouts
	if t.c.given("layouts") {
		layouts = t.c.Layouts
	}
	calibrate.Pairs(pairs, t.v.cases, t.c.Pairs, layouts)
	t.plans[calibrate.TruthBenchstat] = &one
	if t.c.For > 0 {
		calibrate.Pairs(pairs, t.v.cases, 1, layouts)
		each := t.left(calibrate.TruthPairs)
		n := int((t.c.For - t.left(calibrate.TruthAB) - t.left(calibrate.TruthBenchstat)) / max(1, each))
		calibrate.Pairs(pairs, t.v.cases, max(calibrate.LeastPairs, n), layouts)
	}
	for _, part := range []string{calibrate.TruthPairs, calibrate.TruthBenchstat} {
		if from := t.from[part]; from != nil {
			again := *from.Plan
			again.Subjects = nil // what is built now counts
			t.plans[part] = &again
		}
	}
	var all time.Duration
	for _, part := range calibrate.TruthParts {
		all += t.left(part)
	}
	fmt.Fprintf(t.con, "truth suite of %s: %s, about %v\n",
		console.Count(len(t.v.cases)/len(sides)*len(pairs.CPU), "benchmark"), strings.Join(t.c.Parts, ", "), console.Rough(all))
}

// wants reports whether a part is asked for.
func (t *truthRun) wants(part string) bool { return slices.Contains(t.c.Parts, part) }

// left is how long a part takes that is asked for, about.
func (t *truthRun) left(part string) time.Duration {
	if !t.wants(part) {
		return 0
	}
	return session.NewForecast(t.plans[part], t.from[part]).Left()
}

// build builds plain test binaries of both versions in the folder, and links them in the
// layouts of the pairs. They are called what those of ab are called.
func (t *truthRun) build(ctx context.Context, folder string) error {
	if !t.wants(calibrate.TruthPairs) && !t.wants(calibrate.TruthBenchstat) {
		return nil
	}
	fmt.Fprintln(t.con, "building both without the driver, as go test -c does")
	pairs, one := t.plans[calibrate.TruthPairs], t.plans[calibrate.TruthBenchstat]
	layouts := 1
	if t.wants(calibrate.TruthPairs) {
		layouts = pairs.Layouts
	}
	for i, tree := range t.v.trees {
		folder := filepath.Join(folder, sides[i])
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		built, _, err := testbin.Build(ctx, tree.Dir, folder, t.v.packages,
			testbin.BuildOptions{Side: sides[i], Env: tree.Env, Cache: t.v.cache, Source: tree.Source})
		if err != nil {
			return err
		}
		var binaries []testbin.Binary
		for _, b := range built {
			same := func(o testbin.Binary) bool { return o.Dir == b.Dir }
			if at := slices.IndexFunc(t.v.binaries[i], same); at >= 0 {
				b.Pkg = t.v.binaries[i][at].Pkg
				binaries = append(binaries, b)
			}
		}
		addHashes(one, binaries)
		if layouts > 1 {
			fmt.Fprintf(t.con, "linking the %s version in %s\n", sides[i], console.Count(layouts, "layout"))
		}
		if err := testbin.Link(ctx, binaries, 0, layouts, linked(t.con, sides[i]+" version")); err != nil {
			return err
		}
		addHashes(pairs, binaries)
		t.plain = append(t.plain, binaries...)
	}
	return nil
}

// finished reports whether all that is asked for was measured, so that nothing has to be built.
func (t *truthRun) finished() bool {
	return !slices.ContainsFunc(t.c.Parts, func(part string) bool { return t.from[part] == nil || !t.from[part].Finished() })
}

// jobs returns what there is to measure: the parts that are asked for, and not done.
func (t *truthRun) jobs() []*job {
	var jobs []*job
	for _, part := range calibrate.TruthParts {
		from := t.from[part]
		if !t.wants(part) || from != nil && from.Finished() {
			continue
		}
		here := *t.here
		here.Fixed = append([]record.Setting{fixed(calibrate.TruthKey, part)}, here.Fixed...)
		binaries := t.plain
		if part == calibrate.TruthAB {
			binaries = t.v.all()
		}
		j := &job{title: partTitles[part], plan: t.plans[part], here: &here, from: from, path: calibrate.TruthPath(t.path, part), absent: t.v.absent}
		j.take(t.processes, parts{binaries: binaries})
		jobs = append(jobs, j)
	}
	return jobs
}
