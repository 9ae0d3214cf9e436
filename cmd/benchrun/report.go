package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/lab"
	"github.com/dynolab/dyno/report"
)

func newReportCmd() *cobra.Command {
	var (
		opts lab.CompareOptions
		dir  string
	)
	cmd := &cobra.Command{
		Use:   "report [label=]file...",
		Short: "Write a report with charts beside result files",
		Long: `Report writes a markdown document with the comparison of the result files: what
compare prints, the circumstances, every hole, and SVG charts: one of all ratios,
one for each curve, that is for benchmarks that differ in one number only, and
one for each other benchmark. It stands beside the first file, under its name
with the extension .md, its charts in a folder of that name; --out chooses
another place. Its path is printed.

The same results give the same bytes.`,
		Example: `  benchrun report results/my-machine/run.bench
  benchrun report --out /tmp/reports old=before.txt new=after.txt`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, card, err := compareFiles(cmd, args, opts)
			if err != nil {
				return err
			}
			path := report.Path(args, dir)
			if err := report.Write(c, card, path); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), path)
			return nil
		},
	}
	compareFlags(cmd, &opts)
	cmd.Flags().StringVar(&dir, "out", "", "write into this `folder` instead of beside the results")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}
