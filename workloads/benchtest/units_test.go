package benchtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// TestUnits: every unit that a benchmark reports is told of in the documents, and which
// way it is better the output says before the first line that has it: a report would call
// its changes lower and higher only. Package testing's own all readers know.
func TestUnits(t *testing.T) {
	page, err := os.ReadFile("../../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
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
		told := make(map[string]int) // how many times
		r := benchfmt.NewReader(strings.NewReader(out), "output")
		for r.Scan() {
			switch r := r.Result().(type) {
			case *benchfmt.UnitMetadata:
				if r.Key == "better" && (r.Value == "lower" || r.Value == "higher") {
					told[r.OrigUnit]++
				}
			case *benchfmt.SyntaxError:
				t.Error(r)
			case *benchfmt.Result:
				for _, u := range units(r) {
					if u == "ns/op" {
						continue
					}
					seen[u] = true
					if (told[u] == 0) != slices.Contains(neither, u) {
						t.Errorf("%s: %s: nothing says which way it is better, or what is neither way better is told", r.Name, u)
					}
					if !strings.Contains(string(page), "`"+u+"`") {
						t.Errorf("docs/workloads.md does not tell of %s", u)
					}
				}
			}
		}
		for line := range told {
			if n := strings.Count(out, "\nUnit "+line+" "); n > 1 {
				t.Errorf("%s is told %d times", line, n)
			}
		}
	}
	if len(seen) != 24 {
		t.Errorf("%d units: %v", len(seen), seen)
	}
}
