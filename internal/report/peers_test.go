package report

import (
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
)

// What results/peers.md says is made here.

// peers has tables for each file and contract: of each workload the time of the design that peers are laid
// beside, and of each peer the ratio to it and the processor time of an operation. Of workloads
// that send at fixed times, of which that says nothing, it has a latency that is rarely exceeded.
func (q *quote) peers(files []string) {
	for _, file := range files {
		c := q.compare(file, compare.Options{Base: "workstealing"})
		used := tableOf(c, "cpu-ns/op")
		late := tableOf(c, "p99-ns")
		ops := tableOf(c, "ns/op")
		ops.Rows = slices.DeleteFunc(slices.Clone(ops.Rows), func(r compare.Row) bool {
			return slices.ContainsFunc(late.Rows, func(l compare.Row) bool { return l.Name == r.Name })
		})
		for len(ops.Rows) > 0 {
			n := slices.IndexFunc(ops.Rows, func(r compare.Row) bool { return contractOf(r) != contractOf(ops.Rows[0]) })
			if n < 0 {
				n = len(ops.Rows)
			}
			same := ops
			same.Rows, ops.Rows = ops.Rows[:n], ops.Rows[n:]
			q.peerTable("time, and processor time, of an operation", same, func(r compare.Row, col string) string { return cpuTime(used, r.Name, col) })
		}
		q.peerTable("99th percentile of the latency", late, func(compare.Row, string) string { return "" })
		f := c.Files[0]
		q.Sayf("%s; commit %.8s, %d blocks: `benchrun compare --base workstealing %s`.\n\n", machine(f), setting(f, "commit"), f.Blocks, file)
	}
}

// contractOf is the first part of a row's name.
func contractOf(r compare.Row) string {
	name, _, _ := strings.Cut(r.Name, "/")
	return name
}

// peerTable is a table of the base and of those that have something to compare with it, with more
// said of each cell. It is left out if there are no rows.
func (q *quote) peerTable(what string, t compare.Table, more func(r compare.Row, col string) string) {
	if len(t.Rows) == 0 {
		return
	}
	base := t.Rows[0].Base
	var cols []int
	for i, c := range t.Cols {
		if (c.Peer || c.Ref) && slices.ContainsFunc(t.Rows, func(r compare.Row) bool { return r.Cells[i].Vs != nil }) {
			cols = append(cols, i)
		}
	}
	q.Head("l"+strings.Repeat("r", len(cols)+1), append([]string{what, t.Cols[base].Name}, names(t, cols)...)...)
	for _, r := range t.Rows {
		row := []string{rowName(r), nanoseconds(r.Cells[base].Center) + more(r, t.Cols[base].Name)}
		for _, i := range cols {
			text := heat(r.Cells[i])
			if text != "" {
				text += more(r, t.Cols[i].Name)
			}
			row = append(row, text)
		}
		q.Row(row...)
	}
	q.Sayf("\n")
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
