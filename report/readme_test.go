package report

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/lab"
)

// Quoted figures stand between these two marks; the first names the
// results file they come from.
var readmeFigures = regexp.MustCompile(`(?s)<!-- figures: begin (\S+) -->\n.*?<!-- figures: end -->`)

// target is a figure we aim at. A target that is missed is shown as missed; no
// test fails for it.
type target struct {
	row, impl, base string
	limit           float64
}

// targets are those of the task group's implementations.
var targets = []target{
	{"workload=short/failfast=off", "workstealing", "ref-errgroup", 0.35},
	{"workload=stream", "workstealing", "ref-errgroup", 0.3},
	{"workload=uneven", "workstealing", "ref-floor", 1.15},
	{"workload=short/failfast=off", "lockbased", "ref-errgroup", 1.5},
	{"workload=short/failfast=off", "actorloop", "ref-errgroup", 2},
	{"workload=short/failfast=off", "channel", "ref-errgroup", 1.5},
	{"workload=short/failfast=off", "serial", "ref-errgroup", 1.5},
}

// TestReadmeFigures holds the README to the results file that it names: its
// table, its picture and the targets are what the file says. With -update it
// writes them.
func TestReadmeFigures(t *testing.T) {
	hold(t, "README.md", readmeFigures, "ReadmeFigures", func(root, files string) []byte { return figures(t, root, files) })
}

// figures renders what the README quotes of a results file.
func figures(t *testing.T, root, file string) []byte {
	t.Helper()
	compare := func(base string) lab.Table {
		c, err := lab.Compare([]string{filepath.Join(root, filepath.FromSlash(file))}, lab.CompareOptions{Base: base})
		if err != nil {
			t.Fatal(err)
		}
		return c.Tables[0]
	}
	c, err := lab.Compare([]string{filepath.Join(root, filepath.FromSlash(file))}, lab.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	table := c.Tables[0]
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- figures: begin %s -->\n", file)
	fmt.Fprintf(&b, "Time per task relative to the reference `ref-errgroup`, less is better; **bold** where the %.0f%% interval excludes 1.00.\n",
		100*(1-c.Alpha))
	fmt.Fprintf(&b, "Machine: %s, %s cores, %s, %s; commit %.8s, %d blocks.\n\n",
		setting(c.Files[0], "cpu-model"), setting(c.Files[0], "cores"), setting(c.Files[0], "kernel"), setting(c.Files[0], "toolchain"), setting(c.Files[0], "commit"), c.Files[0].Blocks)
	// Implementations first; references that some workloads have last.
	cols := slices.Clone(table.Cols)
	slices.SortStableFunc(cols, func(a, b lab.Column) int { return ref(a) - ref(b) })
	cols = slices.DeleteFunc(cols, func(c lab.Column) bool { return c.Name == "ref-errgroup" })
	b.WriteString("| workload | ref-errgroup |")
	for _, col := range cols {
		b.WriteString(" " + col.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(cols)+1) + "\n")
	index := func(t lab.Table, name string) int {
		return slices.IndexFunc(t.Cols, func(c lab.Column) bool { return c.Name == name })
	}
	for _, r := range table.Rows {
		fmt.Fprintf(&b, "| %s | %s |", workloadName(r), nanoseconds(r.Cells[index(table, "ref-errgroup")].Center))
		for _, col := range cols {
			cell := r.Cells[index(table, col.Name)]
			switch vs := cell.Vs; {
			case vs == nil:
				b.WriteString(" |")
			case vs.Lo > 1 || vs.Hi < 1:
				fmt.Fprintf(&b, " **%.2f** |", vs.Ratio)
			default:
				fmt.Fprintf(&b, " %.2f |", vs.Ratio)
			}
		}
		b.WriteString("\n")
	}
	stem := strings.TrimSuffix(file, path.Ext(file))
	fmt.Fprintf(&b, "\n![Ratios with their intervals](%s/overview.svg)\n", stem)
	fmt.Fprintf(&b, "\nThe whole [report](%s.md) and the [raw file](%s). What we aim at, and what this run shows:\n\n", stem, file)
	b.WriteString("| workload | implementation | base | target | measured (interval) | |\n|---|---|---|---:|---:|---|\n")
	byBase := map[string]lab.Table{}
	for _, want := range targets {
		tab, ok := byBase[want.base]
		if !ok {
			tab = compare(want.base)
			byBase[want.base] = tab
		}
		measured, verdict := "not measured", "open"
		for _, r := range tab.Rows {
			if !strings.Contains(r.Name, "/"+want.row+"-") {
				continue
			}
			if i := index(tab, want.impl); i >= 0 && r.Cells[i].Vs != nil {
				vs := r.Cells[i].Vs
				measured = fmt.Sprintf("%.2f (%.2f to %.2f)", vs.Ratio, vs.Lo, vs.Hi)
				switch {
				case math.IsInf(vs.Hi, 0) || vs.Hi > want.limit && vs.Ratio <= want.limit:
					verdict = "met, the interval reaches beyond"
				case vs.Ratio > want.limit:
					verdict = "**missed**"
				default:
					verdict = "met"
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | ≤ %.2f | %s | %s |\n", strings.TrimPrefix(want.row, "workload="), want.impl, want.base, want.limit, measured, verdict)
	}
	b.WriteString("<!-- figures: end -->")
	return b.Bytes()
}

func ref(c lab.Column) int {
	if c.Ref {
		return 1
	}
	return 0
}

// workloadName is a row's name without what all rows have.
func workloadName(r lab.Row) string {
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
