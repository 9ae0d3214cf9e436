package benchtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// TestUnits: docs/workloads.md describes every unit that a benchmark reports, and the output
// says which way it is better before the first line that has it: otherwise a report would
// call its changes lower and higher only. All readers know ns/op.
func TestUnits(t *testing.T) {
	var page []byte
	for _, name := range []string{"../../docs/workloads.md", "../WORKLOADS.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, text...)
	}
	// Neither more nor less is better of what explains other metrics.
	neither := []string{"rounds/op"}
	seen := make(map[string]bool)
	for _, run := range []struct{ pattern, benchtime string }{
		{"^Benchmark(Group|Task|Actor)$", "1x"},
		{"^BenchmarkActor$/workload=(latency100k|spawn|restart|suspend)$/^impl=", "10000x"},
	} {
		out, ok := output(t, "right", run.pattern, run.benchtime)
		if !ok {
			t.Fatalf("failed:\n%s", out)
		}
		described := make(map[string]int) // how many times
		r := benchfmt.NewReader(strings.NewReader(out), "output")
		for r.Scan() {
			switch r := r.Result().(type) {
			case *benchfmt.UnitMetadata:
				if r.Key == "better" && (r.Value == "lower" || r.Value == "higher") {
					described[r.OrigUnit]++
				}
			case *benchfmt.SyntaxError:
				t.Error(r)
			case *benchfmt.Result:
				for _, u := range units(r) {
					if u == "ns/op" {
						continue
					}
					seen[u] = true
					if (described[u] == 0) != slices.Contains(neither, u) {
						t.Errorf("%s: %s: no Unit line says which way it is better, or there is one and neither way is", r.Name, u)
					}
					if !strings.Contains(string(page), "`"+u+"`") {
						t.Errorf("neither docs/workloads.md nor workloads/WORKLOADS.md describes %s", u)
					}
				}
			}
		}
		for line := range described {
			if n := strings.Count(out, "\nUnit "+line+" "); n > 1 {
				t.Errorf("%d Unit lines of %s", n, line)
			}
		}
	}
	if len(seen) != 24 {
		t.Errorf("%d units: %v", len(seen), seen)
	}
}
