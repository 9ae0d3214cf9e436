package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets"
)

// sampleTargets are of all kinds, for the results in testdata/targets.bench.
var sampleTargets = []targets.Target{
	{ID: "SC-005", Says: "no allocation per message", Bench: "Actor", Workload: "pingpong", Metric: "allocs/msg", Limit: 0.01, Required: true, Where: targets.Anywhere},
	{ID: "FR-014", Says: "1,000 messages to and fro within 100 µs", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", Times: 1000, Unit: "ns", Limit: 1e5, Required: true, Where: targets.Anywhere, Note: "derived: 1,000 × ns/op"},
	{ID: "V11/rate", Says: "a million messages a second", Bench: "Actor", Workload: "count", Metric: "ns/op", PerSecond: true, Unit: "msgs/s", Limit: 1e6, Bound: targets.AtLeast, Required: true, Where: targets.Host},
	{ID: "V11/memory", Says: "an idle actor takes less than 1 KiB", Bench: "Actor", Workload: "spawn", Metric: "B/actor", Limit: 1024, Required: true, Where: targets.Host},
	{ID: "SC-002", Says: "no more than 10 wait", Bench: "Actor", Workload: "latency1k", Metric: "backlog", Unit: "waiting", Limit: 10, Required: true, Where: targets.Host},
	{ID: "SC-003", Says: "95 of 100 failures are recovered from", Bench: "Actor", Workload: "restart", Metric: "recovered-%", Unit: "%", Limit: 95, Bound: targets.AtLeast, Statistic: targets.Worst, Required: true, Where: targets.Anywhere},
	{ID: "S5/cycle", Says: "suspend and resume within 1 ms at p99", Bench: "Actor", Workload: "suspend", Metric: "cycle-p99-ns", Limit: 1e6, Required: true, Where: targets.Host},
	{ID: "SC-001/board", Says: "within 20 ms", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", Limit: 1, Required: true, Where: targets.Board},
	{ID: "X/none", Says: "of a workload that is not there", Bench: "Actor", Workload: "nothing", Metric: "ns/op", Limit: 1, Required: true, Where: targets.Host},
	{ID: "X/group", Says: "of a contract that is not there", Bench: "Group", Workload: "short", Metric: "ns/op", Limit: 1, Required: true, Where: targets.Host},
	{ID: "aim/pingpong/fast", Says: "time over that of ref-chan", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", Base: "ref-chan", Limit: 0.31, Impls: []string{"fast"}, Where: targets.Host},
	{ID: "aim/pingpong/slow", Says: "time over that of ref-chan", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", Base: "ref-chan", Limit: 1.3, Impls: []string{"slow"}, Where: targets.Host},
	{ID: "aim/count/fast", Says: "time over that of ref-other", Bench: "Actor", Workload: "count", Metric: "ns/op", Base: "ref-other", Limit: 1, Impls: []string{"fast"}, Where: targets.Host},
	{ID: "aim/ring/fast", Says: "time over that of two", Bench: "Actor", Workload: "ring/actors=1000", Metric: "ns/op", BaseWorkload: "ring/actors=2", Limit: 3, Impls: []string{"fast"}, Where: targets.Host},
	{ID: "aim/ring/slow", Says: "time over that of two", Bench: "Actor", Workload: "ring/actors=1000", Metric: "ns/op", BaseWorkload: "ring/actors=2", Limit: 3, Impls: []string{"slow"}, Where: targets.Host},
}

// judgeFiles reads files and judges them.
func judgeFiles(all []targets.Target, paths []string, o targets.JudgeOptions) (*targets.Scorecard, error) {
	d, err := compare.Read(paths, nil)
	if err != nil {
		return nil, err
	}
	return targets.Judge(all, d, o)
}

func judge(t *testing.T, all []targets.Target, paths ...string) *targets.Scorecard {
	t.Helper()
	card, err := judgeFiles(all, paths, targets.JudgeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return card
}

func TestScorecardGolden(t *testing.T) {
	card := judge(t, sampleTargets, "testdata/targets.bench")
	golden(t, "targets.txt", render(t, func(w io.Writer) error { return Scorecard(card).Text(w, TextOptions{}) }))
	golden(t, "targets.json", render(t, func(w io.Writer) error { return ScorecardJSON(w, card) }))
	golden(t, "targets.md", render(t, func(w io.Writer) error {
		return Comparison(compared(t, "testdata/targets.bench"), Document, Extra{Card: card}).Markdown(w, MarkdownOptions{})
	}))
}

// bench writes a results file of one implementation's pingpong.
func bench(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The JSON of a comparison has the same scores as the card's own.
func TestScoresInComparison(t *testing.T) {
	card := judge(t, sampleTargets, "testdata/targets.bench")
	c := compared(t, "testdata/targets.bench")
	var inComparison, alone struct {
		Schema          string
		Targets, Scores []map[string]any
	}
	for data, into := range map[string]any{
		string(render(t, func(w io.Writer) error { return JSON(w, c, card) })):       &inComparison,
		string(render(t, func(w io.Writer) error { return ScorecardJSON(w, card) })): &alone,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := fmt.Sprint(inComparison.Targets), fmt.Sprint(alone.Scores); got != want || len(alone.Scores) != len(card.Scores) {
		t.Errorf("the comparison has\n%s\nthe card\n%s", got, want)
	}
	text := string(render(t, func(w io.Writer) error { return Comparison(c, Terminal, Extra{Card: card}).Text(w, TextOptions{}) }))
	if _, section, ok := strings.Cut(text, "\nTargets\n\n"); !ok || !strings.HasPrefix(section, "fast (required: ") {
		t.Errorf("no section on targets in\n%s", text)
	}
	if without := render(t, func(w io.Writer) error { return JSON(w, c, nil) }); bytes.Contains(without, []byte(`"targets"`)) {
		t.Error("targets in a comparison that has none")
	}
}

func TestScorecardColor(t *testing.T) {
	card := judge(t, sampleTargets, "testdata/targets.bench")
	text := string(render(t, func(w io.Writer) error { return Scorecard(card).Text(w, TextOptions{Color: true}) }))
	for _, want := range []string{"\x1b[32mpass\x1b[0m", "\x1b[31mMISS\x1b[0m", "\x1b[33mnot measured\x1b[0m", "\x1b[2mskipped\x1b[0m"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
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
		{targets.Target{Metric: "ns/op", PerSecond: true, Unit: "msgs/s", Limit: 1e6, Bound: targets.AtLeast}, "≥ 1000000 msgs/s"},
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
