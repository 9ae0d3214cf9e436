package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/counter"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// A job is what is measured into one results file.
type job struct {
	title   string // what it is, if that has to be said
	plan    *record.Plan
	subject session.Subject
	parts   parts         // of which subject is made
	tool    *counter.Tool // by which it counts; nil if it times
	here    *record.Circumstances

	from   *record.Interrupted // the run to go on with; nil for a new one
	path   string              // of a new one's results
	absent []record.Hole       // what a new one's plan has to leave out

	linking func(linked, of int) // as of testbin.Link, of what is linked while it goes on

	quiet  bool   // what it measures is told by its caller
	resume string // what --resume takes to go on after an interrupt, for a shell; "" is its own results

	begun bool // there is a results file
}

// timed reports whether the job measures time, to which it matters what else the machine does.
func (j *job) timed() bool { return j.tool == nil }

// noteCounter notes by what the job counts.
func (j *job) noteCounter() {
	if j.tool != nil {
		j.here.Fixed = append(j.here.Fixed, record.Setting{Key: record.CounterKey, Values: []string{j.tool.String()}})
	}
}

// open makes the job's results file, or goes on with it. A run that is not the same any
// more is an error: its halves could not be compared.
func (j *job) open(con *console.Console) (*record.Store, error) {
	now := time.Now()
	if j.from == nil {
		return record.Create(j.path, j.plan, j.here, forEachCPU(j.absent, j.plan.CPU), now)
	}
	j.path = j.from.Path
	if err := j.from.Refuse(append(j.here.Differences(j.from.Config), j.from.Plan.Differences(j.plan)...)); err != nil {
		return nil, err
	}
	if j.from.Torn != "" {
		what := "line"
		if strings.HasPrefix(j.from.Torn, "# row ") {
			what = "row"
		}
		fmt.Fprintf(con, "%s ends in the middle of a %s; that one is measured again\n", j.path, what)
	}
	return j.from.Resume(now)
}

// untracked reports whether dir has files that are new to the git repository in which it lies.
func untracked(ctx context.Context, dir string) bool {
	said, err := child.Says(ctx, dir, nil, "git", "ls-files", "--others", "--exclude-standard")
	return err == nil && said != ""
}

// measure measures what is left of a job. Its error is session.ErrInterrupted if it was
// interrupted; then it has said how to go on.
func (r *Runner) measure(ctx context.Context, j *job) error {
	if r.away != nil {
		return r.send(ctx, j)
	}
	results := filepath.Dir(filepath.Dir(j.path))
	isNew := j.from == nil && isMissing(results)
	store, err := j.open(r.con)
	if err != nil {
		return err
	}
	if j.begun = true; isNew && untracked(ctx, results) {
		fmt.Fprintf(r.con, "%s is new: commit it to keep what is measured, or have git ignore it\n", results)
	}
	if j.title != "" {
		fmt.Fprintf(r.con, "%s:\n", j.title)
	}
	return r.carryOut(ctx, j, store)
}

// isMissing reports whether there is nothing at path.
func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// benchmarks counts what a plan measures; two versions of a benchmark are one.
func benchmarks(p *record.Plan) int {
	if p.Col == record.SideKey {
		return len(p.Groups())
	}
	return len(p.Cases) * len(p.CPU)
}

// longRun is how long a comparison takes at least to have it said how it takes less.
const longRun = 4 * time.Minute

// carryOut measures into store, and closes it.
func (r *Runner) carryOut(ctx context.Context, j *job, store *record.Store) error {
	rest := session.NewForecast(j.plan, j.from)
	if r.progress.after = nil; r.AfterBlock != nil {
		r.progress.after = func(block int) { r.AfterBlock(store.Path, block) }
	}
	if r.progress.quiet = j.quiet; !j.quiet {
		most := ""
		if len(j.plan.Looks) > 1 {
			most = "at most "
		}
		fmt.Fprintf(r.con, "measuring %s in %s%s, %s, about %v; order by seed %d\nresults: %s\n",
			console.Count(benchmarks(j.plan), "benchmark"), most, console.Count(j.plan.Blocks, "block"), console.Count(rest.Steps(), "process"),
			console.Rough(rest.Left()), j.plan.Seed, store.Path)
		if j.plan.Col == record.SideKey && rest.Left() > longRun {
			fmt.Fprintln(r.con, "for less: Ctrl-C, and --within 3m, or --bench and packages for fewer benchmarks")
		}
	}
	err := session.Run(ctx, j.plan, j.subject, store, j.from, r.progress,
		func() ([]record.Group, error) { return compare.Decided(j.plan, store.Path) })
	r.progress.end()
	goOn := fmt.Sprintf("what was measured is kept. To go on:\n  %s --resume %s", r.command, cmp.Or(j.resume, console.ShellWord(store.Path)))
	if closed := store.Close(); closed != nil { // the first error of all writes: the run ended for it
		return fmt.Errorf("%w; when there is a remedy for that, %s", closed, goOn)
	}
	if errors.Is(err, session.ErrInterrupted) {
		fmt.Fprintf(r.con, "interrupted; %s\n", goOn)
		return session.ErrInterrupted
	}
	return err
}

// forEachCPU names holes as the results would have been named, one for each
// GOMAXPROCS.
func forEachCPU(holes []record.Hole, cpu []int) []record.Hole {
	var out []record.Hole
	for _, h := range holes {
		if h.Case == "" {
			out = append(out, h)
			continue
		}
		c := record.Case{Name: h.Case}
		for _, n := range cpu {
			h.Case = record.Step{Case: c, CPU: n}.FullName()
			out = append(out, h)
		}
	}
	return out
}
