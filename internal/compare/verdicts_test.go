package compare

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/verdicts.txt; look at the difference before you commit it")

// kept are the results whose verdicts are held, as patterns below results/. Of the
// sixty reports of code that had not changed a few do, which differ in how they were
// driven. Of searches for a commit the ends, visits and proofs are.
var kept = []string{"*/[0-9]*.bench", "*/calibration-*.bench", "*/truth-*.bench", "*/unchanged-*/*-1.bench", "*/bisect-*/*.bench"}

// Results that are kept have the verdicts that they had. The golden file may be
// rewritten, by -update, in a commit that changes on purpose what results are judged
// to be and says so, or that adds or removes results; never in one that moves code.
func TestVerdictsOfKeptResults(t *testing.T) {
	const root, golden = "../../results", "testdata/verdicts.txt"
	var b strings.Builder
	for _, pattern := range kept {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no results are %s: %v", pattern, err)
		}
		for _, path := range paths {
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "== %s\n%s", filepath.ToSlash(name), verdictsOf(path))
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	file := ""
	got, wanted := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		g, w := lineOf(got, i), lineOf(wanted, i)
		if strings.HasPrefix(w, "== ") {
			file = w
		}
		if g != w {
			t.Fatalf("line %d of %s, %s:\n got %s\nwant %s", i+1, golden, file, g, w)
		}
	}
}

// lineOf is line i, "" behind the last one.
func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// verdictsOf says what is in a file and what a comparison with the default options says
// of it: a line for each row of each table, with the verdict and the ratio of each column
// but the base.
func verdictsOf(path string) string {
	c, err := Compare([]string{path}, Options{})
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "") + "\n"
	}
	f := c.Files[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d results, %d blocks, %d holes, %d clauses, %d alone, %d told, %d failures, %d findings, %d warnings, %d notes, %d problems, %d comparisons\n",
		c.Col, f.Results, f.Blocks, len(f.Holes), len(f.Clauses), len(f.Alone), len(f.Told),
		len(c.Failures), len(c.Findings), len(c.Warnings), len(c.Notes), len(c.Problems), c.Comparisons)
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			var said []string
			for i, cell := range r.Cells {
				if cell.Verdict == Absent || cell.Verdict == Base {
					continue
				}
				text := t.Cols[i].Name + " " + string(cell.Verdict)
				if cell.Vs != nil {
					text += fmt.Sprintf(" %.4g", cell.Vs.Ratio)
				}
				said = append(said, text)
			}
			if len(said) > 0 {
				fmt.Fprintf(&b, "%s %s: %s\n", t.Unit, r.Name, strings.Join(said, ", "))
			}
		}
	}
	return b.String()
}
