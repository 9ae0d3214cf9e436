package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/targets"
)

// reportFormats are the values of report's --format.
var reportFormats = []string{"text", "md", "json", "html"}

func newReportCmd() *cobra.Command {
	var (
		opts   compare.Options
		dir    string
		format string
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

Results of a board and of anything else, such as a host, are shown side by side:
for each benchmark a line for each implementation and a column for each machine
and board. There, nothing is compared: no ratio, no verdict. Emulated figures are
labelled so. Its files end in -boards.html, -boards.md and -boards.report.json.

With --format nothing is written, and the report is printed in that form.

The same results give the same bytes.`,
		Example: `  benchrun report results/my-machine/run.bench
  benchrun report --out /tmp/reports old=before.txt new=after.txt
  benchrun report results/my-machine/run.bench results/cortex-m3-qemu/run.bench`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "" {
				if err := oneOf("--format", format, reportFormats); err != nil {
					return err
				}
				if dir != "" {
					return fmt.Errorf("--format prints the report and --out writes it: give one of them")
				}
			}
			d, err := compare.Read(args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			places := d.Places()
			sideBySide := len(places) > 1 && slices.ContainsFunc(places, func(p compare.Place) bool { return p.Board })
			if flag := firstChanged(cmd, "col", "base"); sideBySide && flag != "" {
				return fmt.Errorf("--%s is for what is compared, and these are figures of %s, which are shown side by side", flag, placeNames(places))
			}
			if err := opts.Check(); err != nil {
				return err
			}
			if sideBySide {
				return reportSideBySide(cmd, d, opts, report.SideBySidePath(args, dir), format)
			}
			c, card, err := compareData(cmd, d, opts)
			if err != nil {
				return err
			}
			return comparison(c, card).give(cmd.OutOrStdout(), format,
				func(w io.Writer) error { return report.JSON(w, c, card) },
				report.Path(args, dir), func(path string) error { return report.Write(c, card, path) })
		},
	}
	compareFlags(cmd, &opts)
	cmd.Flags().StringVar(&dir, "out", "", "write into this `folder` instead of beside the results")
	cmd.Flags().StringVar(&format, "format", "", "write nothing, and print the report in this `form`: "+strings.Join(reportFormats, ", "))
	_ = cmd.MarkFlagDirname("out")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(reportFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// give prints a report, or if format is empty writes it at path and prints where its parts
// are.
func (of documentOf) give(out io.Writer, format string, writeJSON func(io.Writer) error, path string, write func(path string) error) error {
	if format != "" {
		return of.show(out, format, map[string]func(io.Writer) error{"json": writeJSON})
	}
	if err := write(path); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	_, err := fmt.Fprintf(out, "%s\n%s\n", report.HTMLPath(path), path)
	return err
}

func placeNames(places []compare.Place) string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// reportSideBySide reports results of several machines and boards, at path or as format.
func reportSideBySide(cmd *cobra.Command, d *compare.Data, o compare.Options, path, format string) error {
	s, err := d.SideBySide(o)
	if err != nil {
		return err
	}
	for _, c := range s.Comparisons {
		leftOut(cmd, c.Problems)
	}
	card, err := targets.Measured(d, o)
	if err != nil {
		return err
	}
	doc := documentOf(func(form report.Form) report.Doc { return report.SideBySide(s, form, card) })
	return doc.give(cmd.OutOrStdout(), format,
		func(w io.Writer) error { return report.SideBySideJSON(w, s, card) },
		path, func(path string) error { return report.WriteSideBySide(s, card, path) })
}
