package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/targets"
)

func newTargetsCmd() *cobra.Command {
	c := runner.Config{Packages: []string{defaultPackages}, Blocks: 6, Time: "300ms", Idle: runner.IdleWarn}
	forMeasuring := []string{"blocks", "time", "seed", "out", "machine", "idle"}
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "targets [[label=]file...]",
		Short: "Judge results by what is promised",
		Long: `Targets judges results files by the list of what is promised of dyno's
implementations: a table for each implementation with each target, its limit, the
figure, what the blocks lie between, and whether that passes. Of several files
that have a figure the first counts; - is standard input.

Without a file, in a checkout of dyno, it first measures what the required targets
need, in about three minutes, into a results file like any run's; with --all
also what the aims need, among them a million actors, which takes about a quarter
of an hour. Latencies need an idle machine: --idle wait waits for one.

A required target is a promise. An aim is what an implementation is built for,
such as a ratio to a reference, and is shown if the file has it; --all shows
also the others.

The exit status is 0 if all required targets are passed, 1 if one is missed, else
3 if one is not measured (but not for an implementation that lacks what a
workload needs), and 2 on an error. Aims do not change it.`,
		Example: `  benchrun targets results/my-machine/run.bench
  benchrun targets
  benchrun targets --all --blocks 8 --idle wait
  benchrun run ./mydispatcher --out mine.bench; benchrun targets --json mine.bench`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 {
				if !inDyno(cmd.Context()) {
					return errors.New("without a file targets measures dyno's implementations, and this folder is not in a checkout of dyno; " +
						"to judge results: benchrun targets file (benchrun targets --help shows more)")
				}
				c.Bench, c.Given = targets.Pattern(all), cmd.Flags().Changed
				path, err := runner.New(consoleOf(cmd), "benchrun run").Packages(cmd.Context(), c, nil)
				if err != nil {
					return err
				}
				files = []string{path}
			} else if flag := firstChanged(cmd, forMeasuring...); flag != "" {
				return fmt.Errorf("--%s is for measuring, and with a file nothing is measured", flag)
			}
			return judgeTargets(cmd, files, all, asJSON)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "measure and show also the aims that no file has a figure for")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	measuring(cmd, &c, map[string]string{
		"blocks": "measure `n` blocks: each benchmark runs once in each",
		"time":   "how long a process measures: a `duration`, or a number of iterations such as 1000x",
	}, forMeasuring...)
	return cmd
}

// judgeTargets prints how the files do. Its error is the exit status.
func judgeTargets(cmd *cobra.Command, files []string, all, asJSON bool) error {
	d, err := compare.Read(files, cmd.InOrStdin())
	if err != nil {
		return err
	}
	card, err := targets.Judge(targets.All(), d, targets.JudgeOptions{})
	if err != nil {
		return err
	}
	leftOut(cmd, card.Problems)
	if !all {
		card = card.Only(func(s targets.Score) bool { return s.Target.Required || s.Outcome != targets.NotMeasured })
	}
	out := cmd.OutOrStdout()
	if asJSON {
		err = report.ScorecardJSON(out, card)
	} else {
		err = report.Scorecard(card).Text(out, report.TextOptions{Color: wantsColor(out)})
	}
	if err != nil {
		return err
	}
	for _, line := range card.Unmet() {
		fmt.Fprintf(cmd.ErrOrStderr(), "targets: %s\n", line)
	}
	switch n := card.Tally(true); {
	case n.Miss > 0:
		return exitError(exitSlower)
	case n.NotMeasured > 0:
		return exitError(exitInconclusive)
	}
	return nil
}
