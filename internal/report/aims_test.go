package report

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets"
)

// The README's tables of what the implementations of actors and of executors aim
// at stand between these marks; the first names the results files, of which the
// first that has the row counts.
var (
	readmeAims     = regexp.MustCompile(`(?s)<!-- aims: begin ([^>]+?) -->\n.*?<!-- aims: end -->`)
	readmeTaskAims = regexp.MustCompile(`(?s)<!-- task aims: begin ([^>]+?) -->\n.*?<!-- task aims: end -->`)
)

// aimsOf judges what the implementations of a contract aim at by files below
// root. A miss is shown as one; no test fails for it.
func aimsOf(t *testing.T, bench, root string, files ...string) []targets.Score {
	t.Helper()
	all := slices.DeleteFunc(targets.All(), func(t targets.Target) bool { return t.Required || t.Bench != bench })
	var paths []string
	for _, file := range files {
		paths = append(paths, filepath.Join(root, filepath.FromSlash(file)))
	}
	card, err := judgeFiles(all, paths, targets.JudgeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return card.Scores
}

// quoteAim is a score as the README quotes it: the figure and what it shows.
func quoteAim(s targets.Score) (measured, verdict string) {
	switch t := s.Target; {
	case !s.Measured():
		return "not measured", "open"
	case t.BaseWorkload != "":
		measured = fmt.Sprintf("%.1f", s.Figure)
	case t.Base != "":
		measured = fmt.Sprintf("%.2f (%.2f to %.2f)", s.Figure, s.Lo, s.Hi)
	case math.IsNaN(s.Hi):
		measured = digits3(s.Figure)
	default:
		measured = fmt.Sprintf("%s (%s to %s)", digits3(s.Figure), digits3(s.Lo), digits3(s.Hi))
	}
	switch {
	case s.Outcome == targets.Miss:
		verdict = "**missed**"
	case math.IsNaN(s.Hi):
		verdict = "met, but without an interval"
	case s.Doubtful():
		verdict = "met, the interval reaches beyond"
	default:
		verdict = "met"
	}
	return measured, verdict
}

// TestReadmeAims holds the README's table of aims to the results files that it
// names. With -update it writes it.
func TestReadmeAims(t *testing.T) {
	hold(t, "README.md", readmeAims, "ReadmeAims", func(root, files string) []byte {
		return aimsTable(t, "aims", "Actor", root, strings.Fields(files))
	})
}

// TestReadmeTaskAims is the same for executors.
func TestReadmeTaskAims(t *testing.T) {
	hold(t, "README.md", readmeTaskAims, "ReadmeTaskAims", func(root, files string) []byte {
		return aimsTable(t, "task aims", "Task", root, strings.Fields(files))
	})
}

// aimsTable renders what the README quotes of a contract's benchmarks.
func aimsTable(t *testing.T, mark, bench, root string, files []string) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- %s: begin %s -->\n", mark, strings.Join(files, " "))
	for i, file := range files {
		c, err := compare.Compare([]string{filepath.Join(root, filepath.FromSlash(file))}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			fmt.Fprintf(&b, "Machine: %s, %s cores, %s, %s. Files:", setting(c.Files[0], "cpu-model"), setting(c.Files[0], "cores"), setting(c.Files[0], "kernel"), setting(c.Files[0], "toolchain"))
		}
		fmt.Fprintf(&b, " [%.8s, %d blocks](%s)", setting(c.Files[0], "commit"), c.Files[0].Blocks, file)
	}
	b.WriteString(".\n\n| workload | implementation | unit | base | aim | measured (interval) | |\n|---|---|---|---|---:|---:|---|\n")
	for _, a := range aimsOf(t, bench, root, files...) {
		base, limit := a.Target.BaseWorkload, digits3(a.Target.Limit)
		if a.Target.Base != "" {
			base, limit = "`"+a.Target.Base+"`", fmt.Sprintf("%.2f", a.Target.Limit)
		}
		measured, verdict := quoteAim(a)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | ≤ %s | %s | %s |\n", a.Target.Workload, a.Impl, a.Target.Metric, base, limit, measured, verdict)
	}
	fmt.Fprintf(&b, "<!-- %s: end -->", mark)
	return b.Bytes()
}

// digits3 is v with three digits, as far as they mean anything.
func digits3(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "–"
	}
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
