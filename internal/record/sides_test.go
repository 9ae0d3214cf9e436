package record_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

func TestSidesInThePlan(t *testing.T) {
	p := recordtest.Sides(2, 3)
	got, err := DecodePlan(p.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Cases, p.Cases) {
		t.Errorf("cases %v became %v", p.Cases, got.Cases)
	}
	if got.ID() != p.ID() {
		t.Errorf("the plan %s became %s", p.ID(), got.ID())
	}
	now := recordtest.Sides(2, 3)
	now.Cases = now.Cases[:3]
	now.Subjects["example.com/a new"] = "22"
	want := []string{"benchmark BenchmarkBz of example.com/a new: there → gone", "test binary of example.com/a new: 11 → 22"}
	if diffs := p.Differences(now); !slices.Equal(diffs, want) {
		t.Errorf("differences %q, want %q", diffs, want)
	}
}

func TestMatchSides(t *testing.T) {
	type one struct{ pkg, name, side, reason string }
	cases := func(names ...string) (out []Case) {
		for _, n := range names {
			pkg, name, _ := strings.Cut(n, " ")
			out = append(out, Case{Pkg: pkg, Name: name})
		}
		return out
	}
	failed := func(pkg, name, side, reason string) Hole {
		return Hole{Pkg: pkg, Case: name, Side: side, Reason: reason, Skipped: strings.HasPrefix(reason, "skip")}
	}
	const onlyOld, onlyNew = "only the old version has it", "only the new version has it"
	for name, c := range map[string]struct {
		before, after []Case
		failed        []Hole
		both          []string
		absent        []one
	}{
		"the order is the new version's, and what one has alone": {
			before: cases("p A", "p Gone", "p B", "q A"), after: cases("p B", "p Came", "p A", "r A"),
			both: []string{"p B", "p A"},
			absent: []one{
				{"p", "Came", SideOld, onlyNew},
				{"r", "A", SideOld, onlyNew},
				{"p", "Gone", SideNew, onlyOld},
				{"q", "A", SideNew, onlyOld},
			},
		},
		"crashes in new": {
			before: cases("p A", "p B"), after: cases("p B"), failed: []Hole{failed("p", "A", SideNew, "crashed")},
			both: []string{"p B"}, absent: []one{{"p", "A", SideNew, "crashed"}},
		},
		"crashes in old": {
			before: cases("p B"), after: cases("p A", "p B"), failed: []Hole{failed("p", "A", SideOld, "crashed")},
			both: []string{"p B"}, absent: []one{{"p", "A", SideOld, "crashed"}},
		},
		"crashes in both": {
			failed: []Hole{failed("p", "A", SideOld, "crashed"), failed("p", "A", SideNew, "hangs")},
			absent: []one{{"p", "A", SideOld, "crashed"}, {"p", "A", SideNew, "hangs"}},
		},
		"is new, and crashes, where another package has what is beneath": {
			before: cases("q A/x"), after: cases("q A/x"), failed: []Hole{failed("p", "A", SideNew, "crashed")},
			both: []string{"q A/x"}, absent: []one{{"p", "A", SideNew, "crashed"}, {"p", "A", SideOld, onlyNew}},
		},
		"is new, and crashes": {
			failed: []Hole{failed("p", "A", SideNew, "crashed")},
			absent: []one{{"p", "A", SideNew, "crashed"}, {"p", "A", SideOld, onlyNew}},
		},
		"is new, and skips itself": {
			failed: []Hole{failed("p", "A", SideNew, "skip")},
			absent: []one{{"p", "A", SideNew, "skip"}, {"p", "A", SideOld, onlyNew}},
		},
		"crashed, and is gone": {
			failed: []Hole{failed("p", "A", SideOld, "crashed")},
			absent: []one{{"p", "A", SideOld, "crashed"}, {"p", "A", SideNew, onlyOld}},
		},
		"of the same name in another package": {
			before: cases("p A"), after: cases("q A"), failed: []Hole{failed("q", "A", SideOld, "crashed")},
			absent: []one{{"q", "A", SideOld, "crashed"}, {"p", "A", SideNew, onlyOld}},
		},
		"a package cannot be listed": {
			before: cases("p A", "p B"), after: cases("p B", "p C"), failed: []Hole{failed("p", "", SideNew, "crashed")},
			both:   []string{"p B"},
			absent: []one{{"p", "", SideNew, "crashed"}, {"p", "C", SideOld, onlyNew}, {"p", "A", SideNew, "crashed"}},
		},
		"what it is beneath fails": {
			before: cases("p A/x", "p A/y", "p AB"), after: cases("p AB"), failed: []Hole{failed("p", "A", SideNew, "crashed")},
			both:   []string{"p AB"},
			absent: []one{{"p", "A/x", SideNew, "crashed"}, {"p", "A/y", SideNew, "crashed"}},
		},
		"what it is beneath skips itself": {
			before: cases("p A/x"), failed: []Hole{failed("p", "A", SideNew, "skip")},
			absent: []one{{"p", "A/x", SideNew, "skip"}},
		},
		"what it is beneath failed before": {
			after: cases("p A/x"), failed: []Hole{failed("p", "A", SideOld, "crashed")},
			absent: []one{{"p", "A/x", SideOld, "crashed"}},
		},
		"what failing ones are beneath fails": {
			failed: []Hole{failed("p", "A/x", SideOld, "crashed"), failed("p", "A", SideNew, "hangs")},
			absent: []one{{"p", "A/x", SideOld, "crashed"}, {"p", "A/x", SideNew, "hangs"}},
		},
		"all beneath are there, and it fails": {
			before: cases("p A/x"), after: cases("p A/x"), failed: []Hole{failed("p", "A", SideNew, "failed")},
			both: []string{"p A/x"}, absent: []one{{"p", "A", SideNew, "failed"}},
		},
	} {
		both, absent := MatchSides(c.before, c.after, c.failed)
		var got []string
		for i, b := range both {
			if side := sides[i%2]; b.Side != side {
				t.Errorf("%s: %+v is not %s", name, b, side)
			}
			if i%2 == 0 {
				got = append(got, b.Pkg+" "+b.Name)
			}
		}
		if !slices.Equal(got, c.both) {
			t.Errorf("%s: both have %q, want %q", name, got, c.both)
		}
		var lacking []one
		for _, h := range absent {
			lacking = append(lacking, one{h.Pkg, h.Case, h.Side, h.Reason})
			if only := strings.HasPrefix(h.Reason, "only"); h.Gone() != only || h.Skipped != (only || h.Reason == "skip") {
				t.Errorf("%s: %+v, gone: %v", name, h, h.Gone())
			}
		}
		if !slices.Equal(lacking, c.absent) {
			t.Errorf("%s: absent\n%q, want\n%q", name, lacking, c.absent)
		}
	}
}

var sides = [2]string{SideOld, SideNew}
