package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
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
	read := func(names ...string) *compare.Calibration {
		paths := make([]string, len(names))
		for i, name := range names {
			paths[i] = filepath.Join(root, filepath.FromSlash(name))
		}
		c, err := calibrate.Read(paths, calibrate.Options{})
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

// unchangedFigures is where the page on calibration says what was found of modules in
// which nothing changed that counts.
var unchangedFigures = regexp.MustCompile(`(?s)<!-- unchanged: begin (\S+) -->\n.*?<!-- unchanged: end -->\n`)

// TestUnchangedFigures holds that to the results files that the pattern names.
func TestUnchangedFigures(t *testing.T) {
	hold(t, "docs/calibration.md", unchangedFigures, "UnchangedFigures", func(root, pattern string) []byte { return unchanged(t, root, pattern) })
}

// unchanged renders a row for each package and way of driving, and one for each way.
func unchanged(t *testing.T, root, pattern string) []byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no such files (%v)", pattern, err)
	}
	c, err := calibrate.Read(paths, calibrate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Problems) > 0 {
		t.Errorf("%q", c.Problems)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- unchanged: begin %s -->\n", pattern)
	b.WriteString("| package | driven | comparisons | p ≤ 0.05 | 95% interval | called different | 95% interval |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|\n")
	type part struct{ pkg, driven string }
	var parts []part
	counts := make(map[part][3]int) // comparisons, alarms, called different
	for _, w := range c.Benchmarks {
		at := part{w.Pkg, w.Driven}
		if !slices.Contains(parts, at) {
			parts = append(parts, at)
		}
		n := counts[at]
		counts[at] = [3]int{n[0] + w.Alarms.N, n[1] + w.Alarms.K, n[2] + w.Wrong.K}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(strings.Compare(a.driven, b.driven), strings.Compare(a.pkg, b.pkg)) })
	for _, p := range parts {
		n := counts[p]
		fmt.Fprintf(&b, "| %s | %s | %d | %d | | %d | |\n", p.pkg, way(p.driven), n[0], n[1], n[2])
	}
	sum := func(name string, alarms, wrong compare.Rate) {
		fmt.Fprintf(&b, "| %s | | %d | %s | %s | %s | %s |\n", name, alarms.N, rate(alarms), rateInterval(alarms), rate(wrong), rateInterval(wrong))
	}
	for _, w := range c.Ways {
		sum("all, "+way(w.Driven), w.Alarms, w.Wrong)
	}
	sum("all", c.Alarms, c.Wrong)
	fmt.Fprintf(&b, "\n%d reports of up to %d rows of %d blocks; %s, %s.\n<!-- unchanged: end -->\n",
		c.Trials, mostRows(t, paths), c.Blocks, c.Circumstances["machine"], c.Circumstances["toolchain"])
	return b.Bytes()
}

// mostRows is how many rows the largest report has.
func mostRows(t *testing.T, paths []string) (most int) {
	t.Helper()
	for _, path := range paths {
		for _, table := range compared(t, path).Tables {
			most = max(most, len(table.Rows))
		}
	}
	return most
}
