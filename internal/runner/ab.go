package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/internal/versions"
)

// An AB says which versions of a module are compared, and how.
type AB struct {
	Config
	Dir string // the folder with the module

	// Args are the versions, and packages behind them; then come Packages.
	Args []string

	// Baseline names what was kept by Keep, which is old then: Args begin with the new version.
	Baseline string

	Command bool // Args are two commands, whose processes are compared
	Shell   bool // a shell runs them

	// Builds are those of both sides. Where they differ one version is compared with itself, if
	// no second one is named.
	Builds [2]Build

	// Compare says how the results are judged: a sequential plan is decided so.
	Compare compare.Options
	// Within is about how long measuring may take; 0 means as long as it takes.
	Within time.Duration

	NoCache   bool // build all anew
	Trimpath  bool // build so that equal sources give equal binaries
	Identical bool // measure packages whose test binaries are identical, too

	Settings []record.Setting // more of what the results say, such as what they are for
}

// DefaultAB returns what is compared, and how, if nothing is said of it.
func DefaultAB() AB {
	return AB{
		Config: Config{
			Bench: ".", Blocks: 12, Time: "200ms", Benchmem: true, Idle: IdleWarn,
			Mode: record.ModeAuto, Control: true, Rounds: session.SharpRounds, Slice: session.SharpSlice, Schedule: ScheduleSequential,
		},
		Dir: ".", Trimpath: true,
		Compare: compare.Options{Alpha: compare.DefaultAlpha, Margin: compare.DefaultMargin},
	}
}

// An ABRun is a comparison of two versions.
type ABRun struct {
	*Versions
	Plan     *record.Plan
	Binaries []testbin.Binary
	Counted  *testbin.Counted // nil if the run is timed

	Path string // of the results; "" if there was nothing to measure

	// Unmeasured is what there is to evaluate all the same if no benchmark can be measured
	// in both versions, nil if that is nothing.
	Unmeasured *compare.Comparison
}

// Skipping are the benchmarks that skip themselves, of a comparison of which nothing could be
// measured.
func (r *ABRun) Skipping() (holes []record.Hole) {
	if r.Unmeasured == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.absent), func(h record.Hole) bool { return !h.Skipped || h.Gone() || h.Case == "" })
}

// ErrNothing is the error of a comparison of which nothing can be measured.
var ErrNothing = errors.New("nothing to compare: no benchmark that matches runs in both versions")

// AB compares two versions, or goes on with it. c.Compare becomes that of a run that is
// resumed, if that has decided by it. then is called when all is measured, while the
// binaries are still there.
func (r *Runner) AB(ctx context.Context, c *AB, then func(ctx context.Context, run *ABRun) error) (*ABRun, error) {
	from, err := c.resume()
	if err != nil {
		return nil, err
	}
	if from != nil {
		texts, _ := commandsOf(from.Plan.Packages)
		c.Command = len(texts) > 0
	}
	if c.Command {
		return r.commands(ctx, c, from, then)
	}
	if err := c.findCounter(ctx, from); err != nil {
		return nil, err
	}
	if c.Count && !c.given("margin") {
		c.Compare.Margin = compare.CountMargin
	}
	plan := c.plan(from)
	plan.Col = record.SideKey
	if err := c.check(plan); err != nil {
		return nil, err
	}
	run := &ABRun{Plan: plan}
	j := &job{plan: plan, from: from, path: c.Out, tool: c.tool}
	err = r.run(ctx, c.Idle, func(ctx context.Context) (jobs []*job, err error) {
		if run.Versions, err = r.newVersions(ctx, c); err != nil {
			return nil, err
		}
		v := run.Versions
		if err := v.prepare(ctx, c, plan, from); err != nil {
			return nil, err
		}
		if len(v.cases) == 0 {
			run.Unmeasured, err = v.nothing(ctx, c, plan)
			return nil, err
		}
		run.Binaries, j.absent = v.all(), v.absent
		j.linking = linked(r.con, "versions")
		j.take(r.processes, parts{binaries: run.Binaries})
		run.Counted, _ = j.subject.(*testbin.Counted)
		j.here = v.circumstances(ctx, c.Machine, cmp.Or(c.Out, c.Resume))
		j.here.Fixed = append(c.Settings, j.here.Fixed...)
		j.noteCounter()
		if j.path == "" && from == nil {
			j.path = resultsPath(ctx, c.Dir, j.here.Machine, "", abName(j.here, c.Builds), time.Now())
		}
		return []*job{j}, nil
	}, func(ctx context.Context) error {
		run.Path = j.path
		return then(ctx, run)
	})
	return run, err
}

// resume reads the comparison that is to be gone on with, nil if there is none.
func (c *AB) resume() (*record.Interrupted, error) {
	from, err := c.Config.resume(len(c.Args)+len(c.Packages)+len(c.Builds[0])+len(c.Builds[1]) > 0 || c.Within > 0,
		"with its own versions, builds and packages: leave out --out, --within, versions, how they are built, and packages")
	if from == nil {
		return nil, err
	}
	if !ComparesVersions(from) {
		return nil, fmt.Errorf("%s does not compare two versions: go on with benchrun run --resume", c.Resume)
	}
	c.Trimpath, c.Builds = from.Config["build"] == trimpath, buildsOf(from)
	if len(from.Plan.Looks) > 0 { // which decided at this level
		c.Compare.Alpha, c.Compare.Margin = from.Plan.Alpha, from.Plan.Margin
	}
	return from, nil
}

// check returns an error for what cannot be carried out, before anything takes time.
func (c *AB) check(plan *record.Plan) error {
	if c.Within < 0 {
		return fmt.Errorf("--within is %v; it must be positive", c.Within)
	}
	if err := c.Compare.Check(); err != nil {
		return err
	}
	return c.Config.check(plan)
}

// newVersions returns what c compares, of which nothing is laid out yet.
func (r *Runner) newVersions(ctx context.Context, c *AB) (*Versions, error) {
	var cache *testbin.BuildCache
	if !c.NoCache {
		cache = r.openCache()
	}
	workspace, err := versions.Open(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	v := &Versions{w: r.con, workspace: workspace, away: r.away, trimpath: c.Trimpath, identical: c.Identical, builds: c.Builds, cache: cache}
	r.cleanUp = append(r.cleanUp, v.close)
	return v, nil
}

// prepare lays out and builds both versions, and completes the plan, or takes what from
// has of it. There are no v.cases if there is nothing to measure.
func (v *Versions) prepare(ctx context.Context, c *AB, plan *record.Plan, from *record.Interrupted) error {
	var names [2]string
	keptAs := c.Baseline
	if from != nil {
		keptAs = from.Config[baselineKey]
	}
	if from == nil {
		var more []string
		if keptAs == "" {
			names, more = v.split(ctx, c.Args)
		} else {
			names[1], more = v.one(ctx, c.Args)
		}
		if v.twoBuilds() && names[1] == versions.WorkTree {
			names[1] = names[0]
		}
		v.choose(more, c.Packages)
	} else {
		names, v.packages = sidesOf(from), from.Plan.Packages
	}
	plan.Packages = v.packages
	lay := func() error { return v.lay(ctx, names, from) }
	if keptAs != "" {
		lay = func() error { return v.layNew(ctx, names[1], keptAs, from) }
	}
	if err := lay(); errors.Is(err, versions.ErrNoModule) {
		return hinted(c.Dir, err, c.Args...)
	} else if err != nil {
		return err
	}
	if err := v.build(ctx); errors.Is(err, testbin.ErrNoPackage) || errors.Is(err, errUntested) {
		return hinted(c.Dir, err, c.Args...)
	} else if err != nil {
		return err
	}
	if from != nil {
		v.cases = from.Plan.Cases // binaries that are the same have the same ones
	} else if len(v.all()) > 0 {
		if err := c.canTakeTurns(plan, v.all()); err != nil {
			return err
		}
		if err := v.list(ctx, plan); err != nil {
			return err
		}
		if err := v.leaveOutUnchanged(ctx, plan.Seed); err != nil {
			return err
		}
	}
	if len(v.cases) == 0 {
		return nil
	}
	plan.Cases = v.cases
	if from == nil {
		if less := c.size(plan, c.Layouts); less != "" {
			v.note(less)
		}
		v.cases = plan.Cases
		if v.kept != nil {
			if err := v.keptLayouts(c, plan); err != nil {
				return err
			}
		}
		warnTooFew(v.w, plan, DefaultAB().Blocks)
	}
	return v.link(ctx, plan, from)
}

// size chooses how much is measured, as [session.Size] does, whose note it returns.
func (c *AB) size(plan *record.Plan, layouts int) (less string) {
	return session.Size(plan, session.Sizing{
		Alpha: c.Compare.Alpha, Margin: c.Compare.Margin, Looks: c.sequential(),
		Within: c.Within, BlocksGiven: c.given("blocks"), RoundsGiven: c.given("rounds"), Layouts: layouts,
	})
}

// nothing says why no benchmark can be measured in both versions. That is no error if all
// that there is is identical, or if something is absent, which is judged.
func (v *Versions) nothing(ctx context.Context, c *AB, plan *record.Plan) (*compare.Comparison, error) {
	switch {
	case len(v.all()) == 0:
		fmt.Fprintf(v.w, "identical build: the test binaries of %s do not differ; nothing to measure (--identical measures all the same)\n",
			console.Count(len(v.Identical), "package"))
		return nil, nil
	case slices.ContainsFunc(v.absent, func(h record.Hole) bool { return h.Side != "" }):
		return compare.Unmeasured(forEachCPU(v.absent, plan.CPU), c.Compare)
	case len(v.Identical) > 0:
		fmt.Fprintln(v.w, "no package that differs has benchmarks that match; nothing to measure")
		return nil, nil
	case plan.Bench == ".":
		return nil, fmt.Errorf("nothing to compare: %w", noBenchmarks(c.Dir, v.packages))
	}
	return nil, fmt.Errorf("nothing to compare in %s: %w", strings.Join(v.packages, " "), noMatch(ctx, v.all(), nil, plan))
}

// abName is what the results' file name says of both versions, and of their builds.
func abName(here *record.Circumstances, builds [2]Build) string {
	all := "ab"
	for i, side := range sides {
		all += "-" + short(here.Value(side+"-commit"))
		if strings.HasPrefix(here.Value(side+"-dirty"), "true") {
			all += "+"
		}
		if how := strings.Trim(notInNames.ReplaceAllString(builds[i].String(), "-"), "-"); how != "" {
			all += "-" + how[:min(40, len(how))]
		}
	}
	return all
}

var notInNames = regexp.MustCompile(`[^\pL\pN.]+`)
