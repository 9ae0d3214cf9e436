package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/targets"
)

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
		if isFolder(arg) {
			return folderForFile(arg)
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
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

// compareFiles compares, judges by targets, and reports malformed lines on
// standard error.
func compareFiles(cmd *cobra.Command, files []string, o compare.Options) (*compare.Comparison, *targets.Scorecard, error) {
	if err := o.Check(); err != nil {
		return nil, nil, err
	}
	d, err := compare.Read(files, cmd.InOrStdin())
	if err != nil {
		return nil, nil, err
	}
	return compareData(cmd, d, o)
}

// compareData is compareFiles of what has been read.
func compareData(cmd *cobra.Command, d *compare.Data, o compare.Options) (*compare.Comparison, *targets.Scorecard, error) {
	c, err := d.Compare(o)
	if err != nil {
		return nil, nil, err
	}
	c.Calibrations = calibrate.Calibrations(c.Files)
	leftOut(cmd, c.Problems)
	card, err := scorecard(c, d, o)
	return c, card, err
}

// scorecard judges the one file of a comparison, for the section in its report. It is
// nil if no target has a figure there, and if the columns are no implementations
// or there are several files, of which a target could mean any.
func scorecard(c *compare.Comparison, d *compare.Data, o compare.Options) (*targets.Scorecard, error) {
	if len(c.Files) != 1 || c.Col != "/impl" {
		return nil, nil
	}
	return targets.Measured(d, o)
}

// leftOut says which lines of the input are malformed.
func leftOut(cmd *cobra.Command, problems []string) {
	for _, p := range problems {
		fmt.Fprintf(cmd.ErrOrStderr(), "benchrun: %s (left out)\n", p)
	}
}

// documentOf returns a document in one of its forms.
type documentOf func(report.Form) report.Doc

// show prints a document in format: text, md or html, or what data has for another one.
func (of documentOf) show(out io.Writer, format string, data map[string]func(io.Writer) error) error {
	switch write := data[format]; {
	case write != nil:
		return write(out)
	case format == "md":
		return of(report.Document).Markdown(out, report.MarkdownOptions{})
	case format == "html":
		return of(report.Page).HTML(out)
	}
	return of(report.Terminal).Text(out, report.TextOptions{Color: wantsColor(out)})
}

// comparison returns the document of a comparison.
func comparison(c *compare.Comparison, card *targets.Scorecard) documentOf {
	return func(form report.Form) report.Doc { return report.Comparison(c, form, report.Extra{Card: card}) }
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
