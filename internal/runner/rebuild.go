package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/scratch"
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
func Rebuild(ctx context.Context, con *console.Console, run *record.Interrupted) (b *Rebuilt, err error) {
	if ComparesVersions(run) {
		return rebuildVersions(ctx, con, run)
	}
	folder, err := scratch.New()
	if err != nil {
		return nil, err
	}
	b = &Rebuilt{close: func() { _ = folder.Remove() }}
	if err := b.packages(ctx, con, folder.Path, run.Plan); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// packages compiles the packages of plan into folder.
func (b *Rebuilt) packages(ctx context.Context, con *console.Console, folder string, plan *record.Plan) (err error) {
	fmt.Fprintf(con, "building the tests of %s\n", strings.Join(plan.Packages, " "))
	build := func(name string, o testbin.BuildOptions) ([]testbin.Binary, error) {
		out := filepath.Join(folder, name)
		if err := os.Mkdir(out, 0o755); err != nil {
			return nil, err
		}
		binaries, problems, err := testbin.Build(ctx, ".", out, plan.Packages, o)
		for _, p := range problems {
			if !p.Untested {
				fmt.Fprintf(con, "benchrun: %s %s\n%s", p.Pkg, p.Reason, p.Output)
			}
		}
		return binaries, err
	}
	if b.Binaries, err = build("driven", testbin.BuildOptions{Driven: true}); err != nil {
		return err
	}
	others := different(plan, b.Binaries)
	if len(others) > 0 {
		// A run of single processes measures what go test would build.
		plain, err := build("plain", testbin.BuildOptions{})
		if err != nil {
			return err
		}
		others = different(plan, plain)
	}
	b.warn(con, others)
	return nil
}

// rebuildVersions lays out and builds both versions again: the same commits, wherever
// branches are by now, and what was named as a folder as it is now.
func rebuildVersions(ctx context.Context, con *console.Console, run *record.Interrupted) (*Rebuilt, error) {
	cache := openCache(con)
	v, err := newVersions(ctx, con, ".")
	if err != nil {
		return nil, err
	}
	v.cache, v.trimpath, v.packages = cache, run.Config["build"] == trimpath, run.Plan.Packages
	v.identical = true // they may have been measured all the same
	if err = v.lay(ctx, sidesOf(run), run); err == nil {
		err = v.build(ctx)
	}
	if err != nil {
		v.close()
		return nil, err
	}
	b := &Rebuilt{Binaries: v.all(), close: v.close}
	b.warn(con, different(run.Plan, b.Binaries))
	return b, nil
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

// warn says, and notes, which test binaries are not the ones that were measured.
func (b *Rebuilt) warn(con *console.Console, names []string) {
	if len(names) == 0 {
		return
	}
	b.Others = "not the test binaries that were measured: " + strings.Join(names, ", ") +
		"; the code, the toolchain or the way of building has changed since"
	fmt.Fprintln(con, "warning:", b.Others)
}
