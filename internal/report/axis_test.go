package report

import (
	"slices"
	"strings"
	"testing"
)

// On a phone the labels of an axis do not touch: 1 stays, then the ends, then what has
// room between them.
func TestAxisLabelsOnAPhone(t *testing.T) {
	for _, test := range []struct {
		ticks []tick
		wide  string
	}{
		{[]tick{{0.1, "0.2"}, {0.4, "0.5"}, {0.7, "1"}, {1, "2"}}, "0.2 1 2"},
		{[]tick{{0, "0.95"}, {0.3, "1"}, {0.6, "1.05"}, {1, "1.1"}}, "1 1.1"},
		{[]tick{{0, "0.1"}, {1, "1"}}, "0.1 1"},
		{[]tick{{0, "−20 %"}, {0.5, "0 %"}, {1, "+20 %"}}, "0 %"},
		{nil, ""},
	} {
		var kept []string
		for i, wide := range wideApart(test.ticks, narrowAxis) {
			if wide {
				kept = append(kept, test.ticks[i].label)
			}
		}
		if got := strings.Join(kept, " "); got != test.wide {
			t.Errorf("of %v a phone shows %q, want %q", test.ticks, got, test.wide)
		}
		body := string(axisBody(test.ticks, tableAxis))
		if n := strings.Count(body, `class="fine"`); n != len(test.ticks)-len(kept) {
			t.Errorf("%d labels are fine, want %d: %s", n, len(test.ticks)-len(kept), body)
		}
	}
	crowded := []tick{{0.04, "−20 %"}, {0.11, "−10 %"}, {0.4, "0 %"}, {0.6, "+50 %"}}
	if body := string(axisBody(crowded, tableAxis)); strings.Contains(body, "−10 %") || !strings.Contains(body, "−20 %") || strings.Count(body, "<line") != len(crowded) {
		t.Errorf("where two labels touch on any screen, the inner one has a tick only: %s", body)
	}
	if css := string(Style()); !slices.Contains(strings.Split(css, "\n"), "  text.fine { display: none; }") || !strings.Contains(css, ".axis text.fine { display: none; }") {
		t.Error("neither a phone nor a printed page leaves out what is fine")
	}
}
