package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
)

// notAgainst are the flags of ab that are for two versions that are measured.
var notAgainst = append([]string{
	"baseline", "save-baseline", "within", "command", "shell", "why", "on", "resume", "dir", "identical", "trimpath", "no-cache",
}, runner.BuildFlags...)

// compareAgainst counts the instructions of packages in the working directory, and compares them
// with those of a baseline that was counted once, here or elsewhere.
func (c *abFlags) compareAgainst(cmd *cobra.Command, packages []string) error {
	if !c.Count {
		return errors.New("--against is for counts of instructions, which can be compared whenever they were made, as times cannot: add --count, or keep a build by --save-baseline")
	}
	if err := refuse(cmd, rule{true, notAgainst, "is for two versions that are measured: with --against one is"}); err != nil {
		return err
	}
	one := defaultRun()
	one.Packages, one.Count, one.Bench, one.Blocks, one.CPU = packages, true, c.Bench, c.Blocks, c.CPU
	one.Machine, one.Out, one.Timeout, one.Seed, one.Given = c.Machine, c.Out, c.Timeout, c.Seed, cmd.Flags().Changed
	if err := one.Against(cmd.Context(), c.against); err != nil {
		return err
	}
	path, err := runner.New(consoleOf(cmd), "benchrun ab").Packages(cmd.Context(), one, nil)
	if err != nil {
		return err
	}
	files := []string{"old=" + c.against, "new=" + path}
	compared, _, err := compareFiles(cmd, files, c.AB.Compare)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if c.comment != "-" {
		if err := comparison(out, compared, report.Extra{Again: again(cmd, files...)}).show(out, "text", nil); err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n", report.Sentence(compared))
	}
	if err := c.writeComment(cmd, compared, report.Versions{Old: c.against, New: "the working directory"}); err != nil {
		return err
	}
	return c.report(cmd.ErrOrStderr(), compared)
}
