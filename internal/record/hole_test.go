package record

import (
	"testing"

	"github.com/dynolab/dyno/internal/failure"
)

// A hole is read as it was written, with its kind whatever the reason says. In a file from
// before kinds the reason says it.
func TestHoleKinds(t *testing.T) {
	for _, kind := range []failure.Kind{failure.Crash, failure.Hang, "too big"} {
		h := Hole{Case: "BenchmarkX", Block: "3", Kind: kind, Reason: "failed: lost"}
		if got, err := parseHole(h.Line()[len(HoleMark):], false); err != nil || got != h {
			t.Errorf("%+v is read as %+v: %v", h, got, err)
		}
	}
	for _, c := range []struct {
		reason string
		skip   bool
		kind   failure.Kind
		detail string
	}{
		{"crashed: panic: oh", false, failure.Crash, "panic: oh"},
		{ListingFailed + "crashed: panic: oh", false, failure.Crash, "panic: oh"},
		{"failed: x_test.go:7: boom", false, failure.Fail, "x_test.go:7: boom"},
		{"skipped: no", false, failure.Skip, "no"},
		{NoOperations, false, failure.Crash, NoOperations},
		{"no answer after 1m0s: hangs, or needs a longer --timeout (x.go:3)", false, failure.Hang, "no answer after 1m0s: hangs, or needs a longer --timeout (x.go:3)"},
		{"crashed", false, "", "crashed"},
		{"crashed: no", true, failure.Skip, "crashed: no"},
		{OnlyIn(SideOld), true, failure.Gone, OnlyIn(SideOld)},
		{OnlyIn(SideOld), false, "", OnlyIn(SideOld)},
		{sameCode, true, failure.Unchanged, sameCode},
	} {
		h, err := parseHole(Hole{Case: "BenchmarkX", Reason: c.reason}.Line()[len(HoleMark):], c.skip)
		if err != nil || h.Kind != c.kind || h.Detail() != c.detail {
			t.Errorf("%q is a %q with %q, want %q with %q: %v", c.reason, h.Kind, h.Detail(), c.kind, c.detail, err)
		}
	}
}
