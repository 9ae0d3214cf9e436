package session

import (
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// The two sides of a benchmark have the same name, so only the side key tells
// them apart: they are columns by default, old first, whatever ran first.
func TestSidesAreColumns(t *testing.T) {
	path := fakeRun(t, recordtest.Sides(2, 3), 4)
	c, err := compare.Compare([]string{path}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Col != record.SideKey || len(c.Tables) != 1 || len(c.Tables[0].Cols) != 2 || c.Tables[0].Cols[0].Name != "old" || c.Tables[0].Cols[1].Name != "new" {
		t.Fatalf("by %q: %+v", c.Col, c.Tables)
	}
	rows := c.Tables[0].Rows
	if len(rows) != 2 || rows[0].Cells[0].N != 3 || rows[0].Cells[1].N != 3 {
		t.Fatalf("rows %+v", rows)
	}
	// Case 4 is the new side of the second benchmark; it fails in each block.
	if rows[1].Cells[0].Verdict != compare.Base || rows[1].Cells[1].Verdict != compare.Missing {
		t.Errorf("verdicts %q and %q", rows[1].Cells[0].Verdict, rows[1].Cells[1].Verdict)
	}
	of := func(h record.Hole) string { return h.Case + " of " + record.SubjectID(h.Pkg, h.Side) }
	if holes := c.Files[0].Holes; len(holes) < 2 || of(holes[len(holes)-1]) != "BenchmarkBz-2 of example.com/a new" {
		t.Errorf("holes %+v", holes)
	}
}

// A run that goes on says again which side comes next, as each part does, once.
func TestSidesAreResumed(t *testing.T) {
	path := fakeRun(t, recordtest.Sides(2, 3), 0)
	r := interrupted(t, path)
	last := r.Plan.Order(3)[len(r.Plan.Order(3))-1]
	said := func() int {
		data := readFile(t, path)
		return strings.Count(string(data), "\nside: ")
	}
	before := said()
	store := resume(t, r)
	store.Single(record.Record{Step: last.Step, Printed: last.Step.FullName() + " 1 1 ns/op", Driven: record.ModeProcess}, r.Plan)
	if err := store.Close(); err != nil || said() != before+1 {
		t.Errorf("the file is at side %q, which is said again: %d and %d times (%v)", last.Step.Case.Side, before, said(), err)
	}
}
