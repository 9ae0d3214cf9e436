// Package targetstest has targets of all kinds, and results by which they are evaluated, for the
// tests of those who evaluate and of those who show what came of it.
package targetstest

import (
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets"
)

// Sample are of all kinds, for the results in internal/report/testdata/targets.bench.
var Sample = []targets.Target{
	{ID: "SC-005", Says: "no allocation per message", Bench: "Actor", Workload: "pingpong", Metric: "allocs/msg", Limit: 0.01, Required: true, Where: targets.Anywhere},
	{ID: "FR-014", Says: "1,000 messages back and forth within 100 µs", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", Times: 1000, Unit: "ns", Limit: 1e5, Required: true, Where: targets.Anywhere, Note: "derived: 1,000 × ns/op"},
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

// EvaluateFiles reads files and evaluates them.
func EvaluateFiles(all []targets.Target, paths []string, o targets.EvaluateOptions) (*targets.Scorecard, error) {
	d, err := compare.Read(paths, nil)
	if err != nil {
		return nil, err
	}
	return targets.Evaluate(all, d, o)
}

// Evaluate is EvaluateFiles of files that can be read.
func Evaluate(t *testing.T, all []targets.Target, paths ...string) *targets.Scorecard {
	t.Helper()
	card, err := EvaluateFiles(all, paths, targets.EvaluateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return card
}
