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
		Short: "Write a report as HTML beside result files",
		Long: `Report writes the comparison of the result files as one HTML file, which needs
nothing else: the answer first, then each benchmark with its ratios, its latency
quantiles and its values in the order of time, the curves, the targets, why
things differ if that was asked, the circumstances and every hole.

It stands beside the first file, under its name with the extension .html; --out
chooses another place. Beside it go a markdown document, .md, with SVG charts in
a folder of that name: one of all ratios, one for each curve, that is for
benchmarks that differ in one number only, and one for each other benchmark; and
the figures as JSON, .report.json. The paths of the HTML and the markdown are
printed.

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
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", report.HTMLPath(path), path)
			return nil
		},
	}
	compareFlags(cmd, &opts)
	cmd.Flags().StringVar(&dir, "out", "", "write into this `folder` instead of beside the results")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}
