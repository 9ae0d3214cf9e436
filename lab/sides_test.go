package lab

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// twoSides is a plan that compares two versions of a package: n benchmarks that
// both have.
func twoSides(n, blocks int) *Plan {
	p := &Plan{
		CPU: []int{2}, Blocks: blocks, Time: "1x", Seed: 7, Timeout: time.Minute,
		Packages: []string{"./..."}, Bench: ".", Subjects: map[string]string{"example.com/a old": "00", "example.com/a new": "11"},
	}
	for i := range n {
		for _, side := range []string{"old", "new"} {
			p.Cases = append(p.Cases, Case{Pkg: "example.com/a", Name: "BenchmarkB" + strings.Repeat("z", i), Side: side})
		}
	}
	return p
}

func TestSidesInThePlan(t *testing.T) {
	p := twoSides(2, 3)
	got, err := decodePlan(p.encode())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Cases, p.Cases) {
		t.Errorf("cases %v became %v", p.Cases, got.Cases)
	}
	if got.ID() != p.ID() {
		t.Errorf("the plan %s became %s", p.ID(), got.ID())
	}
	now := twoSides(2, 3)
	now.Cases = now.Cases[:3]
	now.Subjects["example.com/a new"] = "22"
	want := []string{"benchmark BenchmarkBz of example.com/a new: there → gone", "test binary of example.com/a new: 11 → 22"}
	if diffs := p.Differences(now); !slices.Equal(diffs, want) {
		t.Errorf("differences %q, want %q", diffs, want)
	}
}

// The two sides of a benchmark have the same name, so only the side key tells
// them apart: they are columns by default, old first, whatever ran first.
func TestSidesAreColumns(t *testing.T) {
	path := fakeRun(t, twoSides(2, 3), 4)
	c, err := Compare([]string{path}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Col != SideKey || len(c.Tables) != 1 || len(c.Tables[0].Cols) != 2 || c.Tables[0].Cols[0].Name != "old" || c.Tables[0].Cols[1].Name != "new" {
		t.Fatalf("by %q: %+v", c.Col, c.Tables)
	}
	rows := c.Tables[0].Rows
	if len(rows) != 2 || rows[0].Cells[0].N != 3 || rows[0].Cells[1].N != 3 {
		t.Fatalf("rows %+v", rows)
	}
	// Case 4 is the new side of the second benchmark; it fails in each block.
	if rows[1].Cells[0].Verdict != Base || rows[1].Cells[1].Verdict != Missing {
		t.Errorf("verdicts %q and %q", rows[1].Cells[0].Verdict, rows[1].Cells[1].Verdict)
	}
	of := func(h Hole) string { return h.Case + " of " + subjectID(h.Pkg, h.Side) }
	if holes := c.Files[0].Holes; len(holes) < 2 || of(holes[len(holes)-1]) != "BenchmarkBz-2 of example.com/a new" {
		t.Errorf("holes %+v", holes)
	}
}

// A run that goes on goes on with the side that the file is at.
func TestSidesAreResumed(t *testing.T) {
	path := fakeRun(t, twoSides(2, 3), 0)
	r, err := ReadInterrupted(path)
	if err != nil {
		t.Fatal(err)
	}
	last := r.Plan.Order(3)[len(r.Plan.Order(3))-1]
	if r.side != last.Step.Case.Side {
		t.Errorf("the last line is of side %q, and read as %q", last.Step.Case.Side, r.side)
	}
}

func TestMatchSides(t *testing.T) {
	cases := func(names ...string) (out []Case) {
		for _, n := range names {
			pkg, name, _ := strings.Cut(n, " ")
			out = append(out, Case{Pkg: pkg, Name: name})
		}
		return out
	}
	before := cases("p A", "p Gone", "p B", "p NowFails", "q A", "broken X")
	after := cases("p B", "p Came", "p A", "r A", "p FailedBefore")
	both, alone := MatchSides(before, after, []Hole{
		{Pkg: "p", Case: "NowFails", Side: SideNew, Reason: "crashed"},
		{Pkg: "p", Case: "FailedBefore", Side: SideOld, Reason: "crashed"},
		{Pkg: "p", Case: "Gone", Side: SideOld, Reason: "of the other side"},
		{Pkg: "broken", Side: SideNew, Reason: "listing crashed"},
	})
	var got []string
	for _, c := range both {
		got = append(got, c.Pkg+" "+c.Name+" "+c.Side)
	}
	if want := []string{"p B old", "p B new", "p A old", "p A new"}; !slices.Equal(got, want) {
		t.Errorf("both have %q, want %q", got, want)
	}
	got = nil
	for _, h := range alone {
		if !h.Skipped {
			t.Errorf("%+v was not due", h)
		}
		got = append(got, h.Pkg+" "+h.Case+" "+h.Side+" "+h.Reason)
	}
	want := []string{
		"p Came old only the new version has it", "r A old only the new version has it",
		"p Gone new only the old version has it", "q A new only the old version has it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("alone %q, want %q", got, want)
	}
}
