package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
)

// comparisonFormats are the values of compare's --format.
var comparisonFormats = []string{"text", "md", "csv", "json"}

func newCompareCmd() *cobra.Command {
	var (
		opts   compare.Options
		format string
		gate   bool
	)
	cmd := &cobra.Command{
		Use:   "compare [label=]file...",
		Short: "Compare the columns of result files",
		Long: `Compare reads results in Go benchmark format, ours or those of go test -bench,
and prints a table for each unit: what each benchmark and column takes, in the
middle block, with its interval, the ratio to the base with its interval, p, n
and a verdict: faster or slower (better or worse, lower or higher) if that is
proven for the report as a whole, same if it is proven that less than --margin
lies between them, inconclusive if this data cannot say, and unproven if it is
not fit to carry what it says. A time is total time divided by operations, with
collections of garbage and what comes seldom. Of what processes used, it prints
what differs. docs/method.md has the method.

Columns whose name begins with ref- are references: code written by hand. The
base of each benchmark is its first reference in plan order, or the first column
if there is none. Values of the same block are compared with one another; values
without blocks, or of different files, as two samples, which proves nothing.

Emulated figures are compared with those of the same board only: anything else is
an error, and benchrun report shows it side by side.

After the tables of one file stand the targets that it has figures for, if it
was measured with dyno's workloads; see benchrun targets.

The exit status is 0, or 2 on an error, such as a file that cannot be read.
Malformed lines are reported on standard error and left out; that is an error
only if nothing is left. With --gate it is 1 if something is slower (or worse)
than its base, or if results of benchrun ab say that it fails or is gone in the
new version only; and else 3 if that cannot be told of something: inconclusive,
unproven, a hole, no base. References and units without a good direction are not
judged.`,
		Example: `  benchrun compare results/my-machine/run.bench
  benchrun compare --filter '/workload:short .unit:ns/op' run.bench
  benchrun compare old=before.txt new=after.txt --gate
  benchrun compare --col commit --base 1a2b3c4 run.bench
  go test -bench . -count 10 ./... | benchrun compare --col /impl -`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--format", format, comparisonFormats); err != nil {
				return err
			}
			c, card, err := compareFiles(cmd, args, opts)
			if err != nil {
				return err
			}
			err = comparison(c, card).show(cmd.OutOrStdout(), format, map[string]func(io.Writer) error{
				"csv":  func(w io.Writer) error { return report.CSV(w, c) },
				"json": func(w io.Writer) error { return report.JSON(w, c, card) },
			})
			if err != nil || !gate {
				return err
			}
			return judge(cmd.ErrOrStderr(), c.Gate())
		},
	}
	compareFlags(cmd, &opts)
	cmd.Flags().StringVar(&format, "format", "text", "how to print: "+strings.Join(comparisonFormats, ", "))
	cmd.Flags().BoolVar(&gate, "gate", false, "exit with 1 if something is slower or broken, with 3 if that cannot be told")
	acceptFlag(cmd, &opts)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(comparisonFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
