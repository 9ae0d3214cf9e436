package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
)

// TestDispatchersFigures holds the page on dispatchers to the results file that
// it names, as TestReadmeFigures does with the README. For other figures name
// another file in the page and run it with -update.
func TestDispatchersFigures(t *testing.T) {
	hold(t, "docs/dispatchers.md", readmeFigures, "DispatchersFigures", func(root, files string) []byte { return dispatcherFigures(t, root, files) })
}

// dispatcherFigures renders what the page quotes of a results file: times
// relative to buffered channels, and the bytes of an idle actor.
func dispatcherFigures(t *testing.T, root, file string) []byte {
	t.Helper()
	const base = "ref-chan-buffered"
	c, err := compare.Compare([]string{filepath.Join(root, filepath.FromSlash(file))}, compare.Options{Base: base})
	if err != nil {
		t.Fatal(err)
	}
	table := func(unit string) compare.Table {
		i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return t.Unit == unit })
		if i < 0 {
			t.Fatalf("%s has no values in %s", file, unit)
		}
		return c.Tables[i]
	}
	// cells returns those of the base and the implementations, in that order.
	cells := func(tab compare.Table, r compare.Row) (names []string, cells []compare.Cell) {
		for i, col := range tab.Cols {
			if col.Name == base {
				names, cells = slices.Insert(names, 0, col.Name), slices.Insert(cells, 0, r.Cells[i])
			} else if !col.Ref {
				names, cells = append(names, col.Name), append(cells, r.Cells[i])
			}
		}
		return names, cells
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- figures: begin %s -->\n", file)
	fmt.Fprintf(&b, "Time per operation relative to `%s`, less is better; **bold** where the difference is proven. An operation is a message;\nwith `ask` it is a request with its reply, with `spawn` an actor with its first message.\n", base)
	fmt.Fprintf(&b, "Machine: %s, %s cores, %s; commit %.8s, %d blocks ([raw file](../%s)).\n\n",
		setting(c.Files[0], "cpu-model"), setting(c.Files[0], "cores"), setting(c.Files[0], "toolchain"), setting(c.Files[0], "commit"), c.Files[0].Blocks, file)
	times := table("ns/op")
	for i, r := range times.Rows {
		names, cells := cells(times, r)
		if i == 0 {
			b.WriteString("| workload | " + strings.Join(names, " | ") + " |\n|---|" + strings.Repeat("---:|", len(names)) + "\n")
		}
		fmt.Fprintf(&b, "| %s |", strings.TrimPrefix(workloadName(r), "Actor/workload="))
		for i, cell := range cells {
			switch vs := cell.Vs; {
			case i == 0 && cell.N > 0:
				fmt.Fprintf(&b, " %s |", nanoseconds(cell.Center))
			case vs == nil:
				b.WriteString(" |")
			default:
				b.WriteString(quotedRatio(cell))
			}
		}
		b.WriteString("\n")
	}
	bytesEach := table("B/actor")
	for _, r := range bytesEach.Rows {
		_, cells := cells(bytesEach, r)
		b.WriteString("| bytes of an idle actor |")
		for _, cell := range cells {
			fmt.Fprintf(&b, " %.0f |", cell.Center)
		}
		b.WriteString("\n")
	}
	b.WriteString("<!-- figures: end -->")
	return b.Bytes()
}
