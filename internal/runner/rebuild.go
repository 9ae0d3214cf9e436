package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
)

// A Rebuilt is what a run measured, compiled again so that it can be driven if that is
// possible.
type Rebuilt struct {
	Binaries []testbin.Binary
	// Others says which of them are not what was measured; "" if all are.
	Others string

	close func()
}

// Close removes it.
func (b *Rebuilt) Close() { b.close() }

// Rebuild compiles again what run measured: the packages of the module in the working
// directory, or both versions of it that were compared. The caller closes what it returns.
func Rebuild(ctx context.Context, con *console.Console, run *record.Interrupted) (*Rebuilt, error) {
	r := New(con, "")
	b := &Rebuilt{close: r.close}
	rebuild := r.rebuildPackages
	if ComparesVersions(run) {
		rebuild = r.rebuildVersions
	}
	others, err := rebuild(ctx, b, run)
	if err != nil {
		b.Close()
		return nil, err
	}
	if len(others) > 0 {
		b.Others = "not the test binaries that were measured: " + strings.Join(others, ", ") +
			"; the code, the toolchain or the way of building has changed since"
		fmt.Fprintln(con, "warning:", b.Others)
	}
	return b, nil
}

// rebuildPackages compiles the packages of run, and returns which are not what it measured.
func (r *Runner) rebuildPackages(ctx context.Context, b *Rebuilt, run *record.Interrupted) (others []string, err error) {
	folder, err := r.scratch()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(r.con, "building the tests of %s\n", strings.Join(run.Plan.Packages, " "))
	how := buildOf(run, "")
	env, err := how.goEnv(ctx, ".", nil)
	if err != nil {
		return nil, err
	}
	build := func(name string, o testbin.BuildOptions) ([]testbin.Binary, error) {
		o.Env, o.RunEnv = env, how.runEnv()
		out := filepath.Join(folder, name)
		if err := os.Mkdir(out, 0o755); err != nil {
			return nil, err
		}
		binaries, problems, err := testbin.Build(ctx, ".", out, run.Plan.Packages, o)
		for _, p := range problems {
			if !p.Untested {
				fmt.Fprintf(r.con, "benchrun: %s %s\n", p.Pkg, p)
			}
		}
		return binaries, err
	}
	if b.Binaries, err = build("driven", testbin.BuildOptions{Driven: true, Cache: r.openCache()}); err != nil {
		return nil, err
	}
	if others = different(run.Plan, b.Binaries); len(others) == 0 {
		return nil, nil
	}
	// A run of single processes measures what go test would build.
	plain, err := build("plain", testbin.BuildOptions{})
	return different(run.Plan, plain), err
}

// rebuildVersions is rebuildPackages of both versions: the same commits, wherever branches
// are by now, and what was named as a folder as it is now.
func (r *Runner) rebuildVersions(ctx context.Context, b *Rebuilt, run *record.Interrupted) (others []string, err error) {
	c := &AB{Dir: ".", Trimpath: run.Config["build"] == trimpath, Identical: true, Builds: buildsOf(run)} // they may have been measured all the same
	v, err := r.newVersions(ctx, c)
	if err != nil {
		return nil, err
	}
	plan := *run.Plan
	plan.Layouts, plan.Subjects = 0, nil // what is built now counts, and one layout is enough
	err = v.prepare(ctx, c, &plan, run)
	b.Binaries = v.all()
	return different(run.Plan, b.Binaries), err
}

// different returns which of the binaries are not those that plan measured.
func different(plan *record.Plan, binaries []testbin.Binary) []string {
	var names []string
	for _, b := range binaries {
		if have, ok := plan.Subjects[b.ID()]; ok && have != b.Hash {
			names = append(names, b.ID())
		}
	}
	return names
}
