package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/why"
)

func newWhyCmd() *cobra.Command {
	var (
		opts compare.Options
		all  bool
		long time.Duration
	)
	cmd := &cobra.Command{
		Use:   "why file",
		Short: "Explain the differences in a results file",
		Long: `Why explains each difference in a results file that is proven: it runs both
sides again, in processes of their own, with the same number of operations, and
compares their profiles of CPU time, allocations, locks and blocking, and what
the runtime and the system count. It prints one sentence for each.

None of these processes gives a figure of a table: a profile disturbs what it
looks at. CPU time, which the system counts, says whether the difference is
computing or waiting, and samples say where: a sentence names what makes up at
least half of it, or says that nothing does. If it cannot tell, it says which
--time would do. What is not proven is not explained.

Profiles, differential flame graphs (SVG) and an index, why.json, are kept in the
folder why in the one with the file's name without its extension. Differences
that were explained before are replaced row by row. Open a profile with go tool
pprof, two with -diff_base.

The tests are compiled again, in the module of the working directory: of a file
that compares two versions, both are, in the folder in which benchrun ab was. If a
test binary is not the one that was measured, that is said.

It takes about half a minute for a difference at the default --time. The first
Ctrl-C ends it; what is explained by then is kept.`,
		Example: `  benchrun why results/my-machine/run.bench
  benchrun why --filter '/workload:short' run.bench
  benchrun why --all --time 2s run.bench`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := needFiles(cmd, args); err != nil {
				return err
			}
			if len(args) > 1 || compare.ReadsStdin(args[0]) {
				return errors.New("why explains the differences of one results file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if long <= 0 {
				return fmt.Errorf("--time is %v; it must be positive", long)
			}
			c, _, err := compareFiles(cmd, args, opts)
			if err != nil {
				return err
			}
			return explainFile(cmd, c, all, long)
		},
	}
	compareFlags(cmd, &opts)
	cmd.Flags().BoolVar(&all, "all", false, "profile every comparison, also those that prove nothing")
	cmd.Flags().DurationVar(&long, "time", why.DefaultTime, "how long the fastest of a row is profiled for CPU time, and CPU time is counted, a `duration`; slower ones take longer")
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
	ctx, kill, stop := session.Interruptible(cmd.Context(), func() { fmt.Fprintln(con, "interrupted; again to end at once") })
	defer stop()
	rebuilt, err := runner.Rebuild(ctx, con, run)
	if err != nil {
		return err
	}
	defer rebuilt.Close()
	file := why.File{Comparison: c, Plan: run.Plan, Binaries: rebuilt.Binaries, Others: rebuilt.Others, All: all}
	return file.Explain(ctx, cmd.OutOrStdout(), con, why.Options{Time: long, Kill: kill, Draw: report.WriteFlames})
}
