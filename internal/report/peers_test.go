package report

import (
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
)

// What docs/peers.md says of figures is made here.

// peers has a table for each file: of each workload the time of the first design, and of each
// peer the ratio to it and the processor time of an operation.
func (q *quote) peers(files []string) {
	for _, file := range files {
		c := q.compare(file, compare.Options{})
		t, used := tableOf(c, "ns/op"), tableOf(c, "cpu-ns/op")
		cols := slices.DeleteFunc(designs(t), func(i int) bool { return !t.Cols[i].Peer })
		base := t.Rows[0].Base
		q.Head("l"+strings.Repeat("r", len(cols)+1), append([]string{"time, and processor time, of an operation", t.Cols[base].Name}, names(t, cols)...)...)
		for _, r := range t.Rows {
			row := []string{rowName(r), nanoseconds(r.Cells[base].Center) + cpuTime(used, r.Name, t.Cols[base].Name)}
			for _, i := range cols {
				text := heat(r.Cells[i])
				if text != "" {
					text += cpuTime(used, r.Name, t.Cols[i].Name)
				}
				row = append(row, text)
			}
			q.Row(row...)
		}
		f := c.Files[0]
		q.Sayf("\n%s; commit %.8s, %d blocks: `benchrun compare %s`.\n\n", machine(f), setting(f, "commit"), f.Blocks, file)
	}
}

// cpuTime is the processor time of an operation in a row and column of used, behind a comma.
func cpuTime(used compare.Table, row, col string) string {
	r := slices.IndexFunc(used.Rows, func(r compare.Row) bool { return r.Name == row })
	i := slices.IndexFunc(used.Cols, func(c compare.Column) bool { return c.Name == col })
	if r < 0 || i < 0 || used.Rows[r].Cells[i].N == 0 {
		return ""
	}
	return ", " + nanoseconds(used.Rows[r].Cells[i].Center)
}
