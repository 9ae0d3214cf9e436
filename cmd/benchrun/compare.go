package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/report"
)

// comparisonFormats are the values of compare's --format.
var comparisonFormats = []string{"text", "md", "csv", "json"}

// compareFlags are the flags that say what is compared, for compare and
// report.
func compareFlags(cmd *cobra.Command, o *compare.Options) {
	f := cmd.Flags()
	f.StringVar(&o.Col, "col", "", "the `key` whose values become columns, such as /impl, commit or .file; a benchproc\nprojection (default side if two versions were measured, else /impl if benchmark names\nhave it, else .file)")
	f.StringVar(&o.Filter, "filter", "", "use only what matches this benchproc filter `expr`ession, such as '/workload:short .unit:ns/op'")
	f.StringVar(&o.Base, "base", "", "the `column` that others are compared to (default: each benchmark's first reference, else the first column)")
	f.Float64Var(&o.Alpha, "alpha", compare.DefaultAlpha, "the `level` of all claims together, as a part; each interval has confidence 1-alpha")
	f.Float64Var(&o.Margin, "margin", compare.DefaultMargin, "the `part` below which a difference counts as none: 0.02 is 2 %")
}

// acceptFlag is the flag that says what may be missing.
func acceptFlag(cmd *cobra.Command, o *compare.Options) {
	cmd.Flags().StringVar(&o.Accept, "accept", "", "benchmarks whose names match this regular `expr`ession, such as '^BenchmarkX$', may be gone from the new\nversion or skip themselves there, whatever --gate says")
}

// needFiles is the argument check of compare and report.
func needFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a results file, or - for standard input; benchrun run makes one below results/", cmd.Name())
	}
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			return folderForFile(arg)
		}
	}
	return nil
}

// folderForFile is the error for a folder where a results file is needed. It names the
// latest results in it.
func folderForFile(folder string) error {
	var latest string
	var at time.Time
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".bench" {
			return nil // what cannot be read has no name to tell
		}
		if info, err := entry.Info(); err == nil && (latest == "" || info.ModTime().After(at)) {
			latest, at = path, info.ModTime()
		}
		return nil
	})
	if latest == "" {
		return fmt.Errorf("%s is a folder, and there are no results in it: benchrun run makes some", folder)
	}
	return fmt.Errorf("%s is a folder; name a file, such as the latest in it: %s", folder, latest)
}

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
			out := cmd.OutOrStdout()
			switch format {
			case "md":
				err = report.Markdown(out, c, card)
			case "csv":
				err = report.CSV(out, c)
			case "json":
				err = report.JSON(out, c, card)
			default:
				err = report.Text(out, c, card, report.TextOptions{Color: wantsColor(out)})
			}
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

// compareFiles compares, judges by targets, and reports malformed lines on
// standard error.
func compareFiles(cmd *cobra.Command, files []string, o compare.Options) (*compare.Comparison, *report.Scorecard, error) {
	if err := checkLevels(o); err != nil {
		return nil, nil, err
	}
	var stdin []byte // which is read twice
	if slices.ContainsFunc(files, compare.ReadsStdin) {
		var err error
		if stdin, err = io.ReadAll(cmd.InOrStdin()); err != nil {
			return nil, nil, err
		}
	}
	o.Stdin = bytes.NewReader(stdin)
	c, err := compare.Compare(files, o)
	if err != nil {
		return nil, nil, err
	}
	c.Calibrations = calibrate.Calibrations(c.Files)
	for _, p := range c.Problems {
		fmt.Fprintf(cmd.ErrOrStderr(), "benchrun: %s (left out)\n", p)
	}
	o.Stdin = bytes.NewReader(stdin)
	card, err := scorecard(c, files, o)
	return c, card, err
}

// checkLevels returns an error for levels that make no sense.
func checkLevels(o compare.Options) error {
	if !(o.Alpha > 0 && o.Alpha < 1) {
		return fmt.Errorf("--alpha is %v; it must lie between 0 and 1, such as %v", o.Alpha, compare.DefaultAlpha)
	}
	if !(o.Margin > 0 && o.Margin < 1) {
		return fmt.Errorf("--margin is %v; it must lie between 0 and 1, such as %v", o.Margin, compare.DefaultMargin)
	}
	return nil
}

// judge tells what the gate found, and returns its exit status as an error.
func judge(w io.Writer, g compare.Gate) error {
	for _, s := range slices.Concat(g.Broken, g.Slower, g.Inconclusive) {
		fmt.Fprintf(w, "gate: %s\n", s)
	}
	switch {
	case g.Bad():
		return exitError(exitSlower)
	case len(g.Inconclusive) > 0:
		return exitError(exitInconclusive)
	}
	return nil
}

// wantsColor reports whether w is a terminal that takes colours; see
// https://no-color.org.
func wantsColor(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
