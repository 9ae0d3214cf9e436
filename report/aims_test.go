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

	"github.com/dynolab/dyno/lab"
)

// The README's table of what the actors' implementations aim at stands between
// these marks; the first names the results files, of which the first that has
// the row counts.
var readmeAims = regexp.MustCompile(`(?s)<!-- aims: begin ([^>]+?) -->\n.*?<!-- aims: end -->`)

// aim is a figure that an actor implementation is to keep. One that is missed is
// shown as missed; no test fails for it.
type aim struct {
	row, impl, unit string
	base            string // the column, or with "/" in it the row, it is compared to; "" if limit is absolute
	limit           float64
}

// aims are those of the actors' implementations.
var aims = slices.Concat(
	[]aim{
		{"pingpong", "workstealing", "ns/op", "ref-chan-buffered", 0.33},
		{"ring", "workstealing", "ns/op", "ref-chan-buffered", 0.33},
		{"pairs", "workstealing", "ns/op", "ref-chan-buffered", 0.4},
		{"big", "workstealing", "ns/op", "ref-chan-buffered", 0.6},
		{"fanin", "workstealing", "ns/op", "ref-chan-buffered", 1},
		{"count", "workstealing", "ns/op", "ref-chan-buffered", 0.5},
		{"ask", "workstealing", "ns/op", "ref-chan-reused", 1.1},
		{"spawn", "workstealing", "ns/op", "", 800},
		{"spawn", "workstealing", "B/actor", "", 512},
		{"latency1k", "workstealing", "p99-ns", "ref-chan-buffered", 1.5},
	},
	each("channel", "ref-chan-buffered", 1.3),
	each("lockbased", "ref-mutex-cond", 1.5),
	rises("workstealing", "channel"),
)

// each is the aim of an implementation for each of the main workloads.
func each(impl, base string, limit float64) (all []aim) {
	for _, w := range []string{"pingpong", "ring", "pairs", "count", "fanin", "big", "ask", "spawn"} {
		all = append(all, aim{w, impl, "ns/op", base, limit})
	}
	return all
}

// rises is what a million actors may take: a GiB in all, and three times as long
// for a message as two actors.
func rises(impls ...string) (all []aim) {
	const million = 1_000_000
	for _, impl := range impls {
		for _, w := range []string{"pairs", "ring"} {
			all = append(all,
				aim{w + "/actors=1000000", impl, "ns/op", w + "/actors=2", 3},
				aim{w + "/actors=1000000", impl, "B/actor", "", (1 << 30) / million})
		}
	}
	return all
}

// TestReadmeAims holds the README's table of aims to the results files that it
// names. With -update it writes it.
func TestReadmeAims(t *testing.T) {
	hold(t, "README.md", readmeAims, "ReadmeAims", func(root, files string) []byte { return aimsTable(t, root, strings.Fields(files)) })
}

// aimsTable renders what the README quotes.
func aimsTable(t *testing.T, root string, files []string) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- aims: begin %s -->\n", strings.Join(files, " "))
	compared := map[string]*lab.Comparison{}
	compare := func(file, base string) *lab.Comparison {
		c, ok := compared[file+" "+base]
		if !ok {
			var err error
			if c, err = lab.Compare([]string{filepath.Join(root, filepath.FromSlash(file))}, lab.CompareOptions{Base: base}); err != nil {
				t.Fatal(err)
			}
			compared[file+" "+base] = c
		}
		return c
	}
	for i, file := range files {
		c := compare(file, "")
		if i == 0 {
			fmt.Fprintf(&b, "Machine: %s, %s cores, %s, %s. Files:", setting(c.Files[0], "cpu-model"), setting(c.Files[0], "cores"), setting(c.Files[0], "kernel"), setting(c.Files[0], "toolchain"))
		}
		fmt.Fprintf(&b, " [%.8s, %d blocks](%s)", setting(c.Files[0], "commit"), c.Files[0].Blocks, file)
	}
	b.WriteString(".\n\n| workload | implementation | unit | base | aim | measured (interval) | |\n|---|---|---|---|---:|---:|---|\n")
	// find returns the cell of a workload and column in the first file that has it.
	find := func(workload, col, unit, base string) *lab.Cell {
		for _, file := range files {
			for _, tab := range compare(file, base).Tables {
				i := slices.IndexFunc(tab.Cols, func(c lab.Column) bool { return c.Name == col })
				if tab.Unit != unit || i < 0 {
					continue
				}
				for _, r := range tab.Rows {
					if strings.HasPrefix(r.Name, "Actor/workload="+workload+"-") && r.Cells[i].N > 0 {
						return &r.Cells[i]
					}
				}
			}
		}
		return nil
	}
	for _, a := range aims {
		base, limit := "", digits3(a.limit)
		if strings.Contains(a.base, "/") {
			base = a.base
		} else if a.base != "" {
			base, limit = "`"+a.base+"`", fmt.Sprintf("%.2f", a.limit)
		}
		measured, verdict := "not measured", "open"
		colBase := a.base
		if strings.Contains(a.base, "/") {
			colBase = ""
		}
		if cell := find(a.row, a.impl, a.unit, colBase); cell != nil {
			ratio, lo, hi := cell.Center, cell.Lo, cell.Hi
			switch {
			case colBase != "" && cell.Vs != nil:
				ratio, lo, hi = cell.Vs.Ratio, cell.Vs.Lo, cell.Vs.Hi
				measured = fmt.Sprintf("%.2f (%.2f to %.2f)", ratio, lo, hi)
			case colBase != "":
				ratio = math.NaN()
			case a.base != "": // another row: of medians of one run, without an interval
				from := find(a.base, a.impl, a.unit, "")
				if from == nil {
					ratio = math.NaN()
					break
				}
				ratio, hi = ratio/from.Center, math.NaN()
				measured = fmt.Sprintf("%.1f", ratio)
			case math.IsInf(hi, 0): // too few blocks for an interval
				measured, hi = digits3(ratio), math.NaN()
			default:
				measured = fmt.Sprintf("%s (%s to %s)", digits3(ratio), digits3(lo), digits3(hi))
			}
			switch {
			case math.IsNaN(ratio):
			case ratio > a.limit:
				verdict = "**missed**"
			case math.IsNaN(hi):
				verdict = "met, but without an interval"
			case hi > a.limit:
				verdict = "met, the interval reaches beyond"
			default:
				verdict = "met"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | ≤ %s | %s | %s |\n", a.row, a.impl, a.unit, base, limit, measured, verdict)
	}
	b.WriteString("<!-- aims: end -->")
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
