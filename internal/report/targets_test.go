package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/targets"
	"github.com/dynolab/dyno/internal/targets/targetstest"
)

func TestScorecardGolden(t *testing.T) {
	card := targetstest.Evaluate(t, targetstest.Sample, "testdata/targets.bench")
	golden(t, "targets.txt", plainText(t, Scorecard(card)))
	golden(t, "targets.json", render(t, func(w io.Writer) error { return ScorecardJSON(w, card) }))
}

// bench writes a results file of one implementation's pingpong.
func bench(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeFixture(t, path, []byte(strings.Join(lines, "\n")+"\n"))
	return path
}

// The JSON of a comparison has the same scores as the card's own.
func TestScoresInComparison(t *testing.T) {
	card := targetstest.Evaluate(t, targetstest.Sample, "testdata/targets.bench")
	c := compared(t, "testdata/targets.bench")
	var inComparison, alone struct {
		Schema          string
		Targets, Scores []map[string]any
	}
	for data, into := range map[string]any{
		jsonOf(t, c, card): &inComparison,
		string(render(t, func(w io.Writer) error { return ScorecardJSON(w, card) })): &alone,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := fmt.Sprint(inComparison.Targets), fmt.Sprint(alone.Scores); got != want || len(alone.Scores) != len(card.Scores) {
		t.Errorf("the comparison has\n%s\nthe card\n%s", got, want)
	}
	text := plainText(t, Comparison(c, Terminal, Extra{Card: card}))
	if _, section, ok := strings.Cut(text, "\nTargets\n\n"); !ok || !strings.HasPrefix(section, "fast (required: ") {
		t.Errorf("no section on targets in\n%s", text)
	}
	if without := []byte(jsonOf(t, c, nil)); bytes.Contains(without, []byte(`"targets"`)) {
		t.Error("targets in a comparison that has none")
	}
}

func TestScorecardColor(t *testing.T) {
	card := targetstest.Evaluate(t, targetstest.Sample, "testdata/targets.bench")
	text := textOf(t, Scorecard(card), TextOptions{Color: true})
	mentions(t, text, "\x1b[32mpass\x1b[0m", "\x1b[31mMISS\x1b[0m", "\x1b[33mnot measured\x1b[0m", "\x1b[2mskipped\x1b[0m")
}

func TestFormatLimit(t *testing.T) {
	for _, c := range []struct {
		target targets.Target
		want   string
	}{
		{targets.Target{Metric: "p99-ns", Limit: 5e6}, "≤ 5 ms"},
		{targets.Target{Metric: "p99-ns", Limit: 2.5e6}, "≤ 2.5 ms"},
		{targets.Target{Metric: "ns/op", Limit: 800}, "≤ 800 ns"},
		{targets.Target{Metric: "ns/op", Times: 1000, Unit: "ns", Limit: 1e9}, "≤ 1 s"},
		{targets.Target{Metric: "ns/op", PerSecond: true, Unit: "msgs/s", Limit: 1e6, Bound: targets.AtLeast}, "≥ 1M msgs/s"},
		{targets.Target{Metric: "allocs/msg", Limit: 0.01}, "≤ 0.01 allocs/msg"},
		{targets.Target{Metric: "ns/op", Base: "ref-a", Limit: 1.3}, "≤ ×1.3"},
	} {
		if got := formatLimit(c.target); got != c.want {
			t.Errorf("%+v: %q, want %q", c.target, got, c.want)
		}
	}
}

// The least and the greatest of the values, of blocks' medians where a block has
// several.
func TestExtremes(t *testing.T) {
	c := compared(t, bench(t, "x.bench", "block: 1", "BenchmarkA/impl=x 1 10 ns/op", "BenchmarkA/impl=x 1 30 ns/op",
		"block: 2", "BenchmarkA/impl=x 1 90 ns/op", "block: 3", "BenchmarkA/impl=x 1 15 ns/op"))
	if cell := c.Tables[0].Rows[0].Cells[0]; cell.Min != 15 || cell.Max != 90 {
		t.Errorf("%v to %v, want 15 to 90", cell.Min, cell.Max)
	}
}
