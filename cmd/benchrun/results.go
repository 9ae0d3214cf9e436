package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets"
)

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
// latest results where benchrun keeps them: in the folder, in one of a machine, or in
// those below results. It looks no further, as the folder may be a temporary or a home one.
func folderForFile(folder string) error {
	var latest string
	var at time.Time
	for _, below := range []string{"*.bench", "*/*.bench", "results/*/*.bench"} {
		files, _ := filepath.Glob(filepath.Join(globEscape.Replace(folder), below)) // the pattern is right
		for _, path := range files {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && (latest == "" || info.ModTime().After(at)) {
				latest, at = path, info.ModTime()
			}
		}
	}
	if latest == "" {
		return fmt.Errorf("%s is a folder, and there are no results in it: benchrun run makes some", folder)
	}
	return fmt.Errorf("%s is a folder; name a file, such as the latest in it: %s", folder, latest)
}

// globEscape escapes what a pattern of [filepath.Glob] gives a meaning.
var globEscape = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

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
	if d.Counted() && o.Margin == compare.DefaultMargin && !cmd.Flags().Changed("margin") {
		o.Margin = compare.CountMargin
	}
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

// leftOut says which lines of the input are malformed: of many the first, which tell what is wrong.
func leftOut(cmd *cobra.Command, problems []string) {
	const first = 10
	more := len(problems) - first
	if more > 1 {
		problems = problems[:first]
	}
	for _, p := range problems {
		fmt.Fprintf(cmd.ErrOrStderr(), "benchrun: %s (left out)\n", p)
	}
	if more > 1 {
		fmt.Fprintf(cmd.ErrOrStderr(), "benchrun: %d more lines are left out; benchrun compare --format json names all\n", more)
	}
}
