package report

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
)

// Quoted figures stand between these two marks; the first names the
// results file they come from.
var readmeFigures = regexp.MustCompile(`(?s)<!-- figures: begin (\S+) -->\n.*?<!-- figures: end -->`)

// TestReadmeFigures holds the README to the results file that it names: its
// table, its picture and the targets are what the file says. With -update it
// writes them.
func TestReadmeFigures(t *testing.T) {
	hold(t, "README.md", readmeFigures, "ReadmeFigures", func(root, files string) []byte { return figures(t, root, files) })
}

// figures renders what the README quotes of a results file.
func figures(t *testing.T, root, file string) []byte {
	t.Helper()
	c, err := compare.Compare([]string{filepath.Join(root, filepath.FromSlash(file))}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := c.Tables[0]
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- figures: begin %s -->\n", file)
	fmt.Fprintf(&b, "Time per task relative to the reference `ref-errgroup`, less is better; **bold** where it is proven to differ, in %s at level %v together.\n",
		counted(c.Comparisons, "comparison"), c.Alpha)
	fmt.Fprintf(&b, "Machine: %s, %s cores, %s, %s; commit %.8s, %d blocks.\n\n",
		setting(c.Files[0], "cpu-model"), setting(c.Files[0], "cores"), setting(c.Files[0], "kernel"), setting(c.Files[0], "toolchain"), setting(c.Files[0], "commit"), c.Files[0].Blocks)
	// Implementations first; references that some workloads have last.
	cols := slices.Clone(table.Cols)
	slices.SortStableFunc(cols, func(a, b compare.Column) int { return ref(a) - ref(b) })
	cols = slices.DeleteFunc(cols, func(c compare.Column) bool { return c.Name == "ref-errgroup" })
	b.WriteString("| workload | ref-errgroup |")
	for _, col := range cols {
		b.WriteString(" " + col.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(cols)+1) + "\n")
	index := func(t compare.Table, name string) int {
		return slices.IndexFunc(t.Cols, func(c compare.Column) bool { return c.Name == name })
	}
	for _, r := range table.Rows {
		fmt.Fprintf(&b, "| %s | %s |", workloadName(r), nanoseconds(r.Cells[index(table, "ref-errgroup")].Center))
		for _, col := range cols {
			cell := r.Cells[index(table, col.Name)]
			switch vs := cell.Vs; {
			case vs == nil:
				b.WriteString(" |")
			default:
				b.WriteString(quotedRatio(cell))
			}
		}
		b.WriteString("\n")
	}
	stem := strings.TrimSuffix(file, path.Ext(file))
	fmt.Fprintf(&b, "\n![Ratios with their intervals](%s/overview.svg)\n", stem)
	fmt.Fprintf(&b, "\nThe whole [report](%s.md) and the [raw file](%s). What we aim at, and what this run shows:\n\n", stem, file)
	b.WriteString("| workload | implementation | base | target | measured (interval) | |\n|---|---|---|---:|---:|---|\n")
	for _, a := range aimsOf(t, "Group", root, file) {
		measured, verdict := quoteAim(a)
		fmt.Fprintf(&b, "| %s | %s | %s | ≤ %.2f | %s | %s |\n", a.Target.Workload, a.Impl, a.Target.Base, a.Target.Limit, measured, verdict)
	}
	b.WriteString("<!-- figures: end -->")
	return b.Bytes()
}

func ref(c compare.Column) int {
	if c.Ref {
		return 1
	}
	return 0
}

// workloadName is a row's name without what all rows have.
func workloadName(r compare.Row) string {
	name := strings.TrimPrefix(r.Name, "Group/workload=")
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		name = name[:i]
	}
	return name
}

func nanoseconds(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.2f µs", v/1000)
	}
	return fmt.Sprintf("%.0f ns", v)
}
