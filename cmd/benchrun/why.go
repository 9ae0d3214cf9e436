package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/why"
)

func newWhyCmd() *cobra.Command {
	opts, all, long := reportOptions(), false, why.DefaultTime
	cmd := newCommand("why", func(cmd *cobra.Command, args []string) error {
		if long <= 0 {
			return fmt.Errorf("--time is %v; it must be positive", long)
		}
		c, _, err := compareFiles(cmd, args, opts)
		if err != nil {
			return err
		}
		return explainFile(cmd, c, all, long)
	}, compareFields(&opts), fields{"all": &all, "time": &long})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := needFiles(cmd, args); err != nil {
			return err
		}
		if len(args) > 1 || compare.ReadsStdin(args[0]) {
			return errors.New("why explains the differences of one results file")
		}
		return nil
	}
	return cmd
}

// explainFile explains the differences in c, a comparison of one file, and prints
// them.
func explainFile(cmd *cobra.Command, c *compare.Comparison, all bool, long time.Duration) error {
	run, err := record.ReadInterrupted(c.Files[0].Path)
	if err != nil {
		return fmt.Errorf("it cannot be known which benchmarks to run again: %w", err)
	}
	con := consoleOf(cmd)
	ctx, _, stop := session.Interruptible(cmd.Context(), func() { fmt.Fprintln(con, "interrupted") })
	defer stop()
	rebuilt, err := runner.Rebuild(ctx, con, run)
	if err != nil {
		return err
	}
	defer rebuilt.Close()
	file := why.File{Comparison: c, Plan: run.Plan, Binaries: rebuilt.Binaries, Others: rebuilt.Others, All: all}
	return file.Explain(ctx, cmd.OutOrStdout(), con, why.Options{Time: long})
}
