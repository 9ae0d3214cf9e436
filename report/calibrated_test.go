package report

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/lab"
)

// calibratedFigures is where the page on calibration says what was found.
var calibratedFigures = regexp.MustCompile(`(?s)<!-- calibrations: begin (.*?) -->\n.*?<!-- calibrations: end -->\n`)

// TestCalibrationFigures holds the page on calibration to the results files that
// it names, as TestReadmeFigures does with the README. For other figures name
// other files in the page and run it with -update.
func TestCalibrationFigures(t *testing.T) {
	hold(t, "docs/calibration.md", calibratedFigures, "CalibrationFigures", func(root, files string) []byte { return calibrated(t, root, files) })
}

// calibrated renders a row for each benchmark and slow-down of each file, and what
// all files show together.
func calibrated(t *testing.T, root, files string) []byte {
	t.Helper()
	read := func(names ...string) *lab.Calibration {
		paths := make([]string, len(names))
		for i, name := range names {
			paths[i] = filepath.Join(root, filepath.FromSlash(name))
		}
		c, err := lab.ReadCalibration(paths, lab.CalibrateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Problems) > 0 {
			t.Errorf("%v: %q", names, c.Problems)
		}
		return c
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- calibrations: begin %s -->\n", files)
	b.WriteString("| file | benchmark | driven | blocks × rounds | A/A | alarms | called different | slower by | found | true ratio in interval | ratio | measured |\n")
	b.WriteString("|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	names := strings.Fields(files)
	for i, name := range names {
		c := read(name)
		for k, w := range c.Benchmarks {
			file := ""
			if k == 0 {
				file = fmt.Sprintf("[%d](../%s)", i+1, name)
			}
			for j, e := range w.Effects {
				alike := []string{file, strings.NewReplacer("workload=", "", "impl=", "").Replace(w.Name), way(w.Driven), fmt.Sprintf("%d × %d", c.Blocks, c.Rounds), fmt.Sprint(w.Alarms.N), fmt.Sprint(w.Alarms.K), fmt.Sprint(w.Wrong.K)}
				if j > 0 {
					alike = make([]string, len(alike)) // told in the row above
				}
				fmt.Fprintf(&b, "| %s | %s | %d of %d | %d of %d | %s | %s |\n", strings.Join(alike, " | "),
					percent(e.Slow), e.Found.K, e.Found.N, e.Covered.K, e.Covered.N, formatRatio(e.Ratio), duration(e.Seconds))
			}
		}
	}
	all := read(names...)
	fmt.Fprintf(&b, "\nAll together: %d A/A comparisons, of which %s alarm (%s) and %s are called different (%s); the true ratio is in %s of %d intervals (%s).\n",
		all.Alarms.N, rate(all.Alarms), rateInterval(all.Alarms), rate(all.Wrong), rateInterval(all.Wrong), rate(all.Covered), all.Covered.N, rateInterval(all.Covered))
	for _, w := range all.Ways {
		if len(all.Ways) == 1 {
			fmt.Fprintf(&b, "All are driven by %s.\n", way(w.Driven))
			break
		}
		fmt.Fprintf(&b, "By %s: %d A/A comparisons, of which %s alarm (%s) and %s are called different (%s); the true ratio is in %s of %d intervals (%s).\n",
			way(w.Driven), w.Alarms.N, rate(w.Alarms), rateInterval(w.Alarms), rate(w.Wrong), rateInterval(w.Wrong), rate(w.Covered), w.Covered.N, rateInterval(w.Covered))
	}
	machines := make(map[string]bool)
	for _, name := range names {
		machines[path.Base(path.Dir(name))] = true
	}
	fmt.Fprintf(&b, "Machines: %s.\n<!-- calibrations: end -->\n", strings.Join(slices.Sorted(maps.Keys(machines)), ", "))
	return b.Bytes()
}
