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
	c := runner.Config{Packages: []string{runner.DefaultPackages}, Blocks: 6, Time: "300ms", Idle: runner.IdleWarn}
	var all, asJSON bool
	return newCommand("targets", func(cmd *cobra.Command, files []string) error {
		forMeasuring := []string{"blocks", "time", "seed", "out", "machine", "idle"}
		if err := refuse(cmd, rule{len(files) > 0, forMeasuring, "is for measuring, and with a file nothing is measured"}); err != nil {
			return err
		}
		if len(files) == 0 {
			if !runner.InDyno(cmd.Context()) {
				return errors.New("without a file targets measures dyno's implementations, and this folder is not in a checkout of dyno; " +
					"to evaluate results: benchrun targets file (benchrun targets --help shows more)")
			}
			c.Bench, c.Given = targets.Pattern(all), cmd.Flags().Changed
			path, err := runner.New(consoleOf(cmd), "benchrun run").Packages(cmd.Context(), c, nil)
			if err != nil {
				return err
			}
			files = []string{path}
		}
		return judgeTargets(cmd, files, all, asJSON)
	}, fields{"all": &all, "json": &asJSON}, configFields(&c))
}

// judgeTargets prints how the files do. Its error is the exit status.
func judgeTargets(cmd *cobra.Command, files []string, all, asJSON bool) error {
	d, err := compare.Read(files, cmd.InOrStdin())
	if err != nil {
		return err
	}
	card, err := targets.Evaluate(targets.All(), d, targets.EvaluateOptions{})
	if err != nil {
		return err
	}
	leftOut(cmd, card.Problems)
	for _, f := range card.Files {
		if n := runner.CommitsSince(cmd.Context(), ".", f.Value("commit")); n > 0 {
			card.Doubt(f.Label, fmt.Sprintf("stale: %d commits since have changed the core or an implementation", n))
		}
	}
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
