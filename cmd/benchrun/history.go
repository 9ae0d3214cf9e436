package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/history"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

// historyFlags are the flags of history.
type historyFlags struct {
	history.Options
	prove, watch bool
	within       time.Duration
	idle         string
	dir, format  string
	paths        []string
}

func newHistoryCmd() *cobra.Command {
	c := &historyFlags{Options: history.Options{Alpha: compare.DefaultAlpha}, idle: runner.IdleWarn, dir: ".", format: "text"}
	return newCommand("history", c.run, fields{
		"prove": &c.prove, "watch": &c.watch, "bench": &c.Bench, "machine": &c.Machine, "format": &c.format,
		"within": &c.within, "idle": &c.idle, "dir": &c.dir, "alpha": &c.Alpha,
	})
}

// run shows the history, and measures what it was asked to prove.
func (c *historyFlags) run(cmd *cobra.Command, args []string) error {
	if err := (compare.Options{Alpha: c.Alpha, Margin: compare.DefaultMargin}).Check(); err != nil {
		return err
	}
	proving := c.prove || c.watch
	why := "is for --prove and --watch"
	if err := refuse(cmd, rule{!proving, []string{"within", "idle"}, why}); err != nil {
		return err
	}
	if c.paths = args; len(args) == 0 {
		c.paths = []string{"results"}
	}
	c.Order = history.CommitOrder(cmd.Context(), c.dir)
	h, err := history.Read(c.paths, c.Options)
	if err != nil {
		return err
	}
	var proofs []string
	if proving {
		if proofs, err = c.proveSome(cmd, h); err != nil {
			return err
		}
		if h, err = history.Read(append(c.paths, proofs...), c.Options); err != nil {
			return err
		}
	}
	document := documentOf(func(form report.Form) report.Doc { return report.History(h, form) })
	if err := document.show(cmd.OutOrStdout(), c.format, map[string]func(io.Writer) error{
		"json": func(w io.Writer) error { return report.HistoryJSON(w, h) },
	}); err != nil {
		return err
	}
	return provenStatus(h, proofs)
}

// proveSome measures what is suspected on this machine, and returns where the results are.
func (c *historyFlags) proveSome(cmd *cobra.Command, h *history.History) (paths []string, err error) {
	con := consoleOf(cmd)
	here := session.Describe(cmd.Context(), c.dir, c.Machine, "").Machine
	all := h.Requests()
	requests := slices.DeleteFunc(slices.Clone(all), func(r history.Request) bool { return r.Machine != here })
	level, left := h.ProofLevel(here, time.Now())
	switch {
	case len(requests) == 0 && len(all) > 0 && !c.watch:
		return nil, fmt.Errorf("this machine is %s, and what is suspected was measured on %s: prove it there", here, all[0].Machine)
	case len(requests) == 0:
		fmt.Fprintf(con, "nothing to prove: no step is suspected on %s of which the commits are known\n", here)
		return nil, nil
	case left <= 0:
		return nil, fmt.Errorf("%s has had all comparisons of a year: more of them would raise more false alarms than promised; benchrun ab %s %s compares by hand",
			here, requests[0].Old, requests[0].New)
	}
	if !c.watch {
		requests = requests[:1]
	}
	for _, r := range requests[:min(left, len(requests))] {
		fmt.Fprintf(con, "proving %s of %s\n", console.Count(len(r.Cases), "step"), r.Pkg)
		path, err := c.proveOne(cmd.Context(), con, r, level)
		if err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// proveOne compares both sides of steps at level.
func (c *historyFlags) proveOne(ctx context.Context, con *console.Console, r history.Request, level float64) (path string, err error) {
	ab := runner.DefaultAB()
	ab.Dir, ab.Idle, ab.Machine, ab.Within = c.dir, c.idle, r.Machine, c.within
	ab.Args, ab.Packages, ab.Bench = []string{r.Old, r.New}, []string{r.Pkg}, r.Pattern()
	ab.Blocks, ab.Layouts, ab.Schedule = history.ProofBlocks, history.ProofLayouts, runner.ScheduleFixed // a proof is kept
	ab.Given = func(flag string) bool { return flag == "blocks" }
	ab.Compare.Alpha = level
	ab.Identical = true // what is the same shows no step, and that is to be on record
	ab.Settings = append(ab.Settings, history.ProofSetting(level))
	run, err := runner.New(con, "benchrun ab").AB(ctx, &ab, func(context.Context, *runner.ABRun) error { return nil })
	switch {
	case err != nil:
		return "", fmt.Errorf("comparing %s and %s: %w", r.Old, r.New, err)
	case run.Path == "":
		return "", errors.New("the benchmarks of the step cannot be measured in both versions")
	}
	return run.Path, nil
}

// provenStatus is the exit status of what the comparisons at paths say, as an error.
func provenStatus(h *history.History, paths []string) error {
	undecided := false
	for _, s := range h.Steps() {
		if s.Step.Proof == nil || !slices.Contains(paths, s.Step.Proof.Path) {
			continue
		}
		if s.Step.State == history.Proven && s.Step.Log > 0 {
			return exitError(exitSlower)
		}
		undecided = undecided || s.Step.State == history.Undecided
	}
	if undecided {
		return exitError(exitInconclusive)
	}
	return nil
}
