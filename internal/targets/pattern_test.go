package targets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
)

// The pattern chooses what targets of hosts need, the base beside it, and nothing else.
func TestPattern(t *testing.T) {
	required, all := targets.Pattern(false), targets.Pattern(true)
	for _, pattern := range []string{required, all} {
		if err := record.CheckPattern(pattern); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, target := range targets.All() {
		impl := "an-implementation"
		if len(target.Impls) > 0 {
			impl = target.Impls[0]
		}
		for _, workload := range []string{target.Workload, target.BaseWorkload} {
			for _, col := range []string{impl, target.Base} {
				name := "Benchmark" + target.Bench + "/workload=" + workload + "/impl=" + col
				want := target.Where&targets.Host != 0 && workload != "" && col != ""
				if got := record.Matches(all, name); want && !got || want && target.Required && !record.Matches(required, name) {
					t.Errorf("%s: %s is not chosen", target.ID, name)
				}
				kind := fmt.Sprint(target.Bench, target.Impls == nil, col == target.Base)
				if !want || seen[kind] {
					continue
				}
				seen[kind] = true
				// Names are whole, but for those of implementations where every one is meant.
				near := []string{strings.Replace(name, "/", "x/", 1), "x" + name, strings.Replace(name, "=", "=x", 1), strings.Replace(name, "/workload", "/xworkload", 1), strings.Replace(name, "/impl=", "x/impl=", 1), strings.Replace(name, "impl=", "ximpl=", 1)}
				every := strings.TrimSuffix(name, col) + "an-implementation"
				if col == target.Base || !record.Matches(all, every) {
					near = append(near, name+"x")
				}
				for _, other := range near {
					if record.Matches(all, other) {
						t.Errorf("%s: %s is chosen", target.ID, other)
					}
				}
			}
		}
	}
	for _, name := range []string{"BenchmarkActor/workload=none/impl=x", "BenchmarkActor/workload=pingpong/impl=ref-none", "BenchmarkBoard/case=image"} {
		if record.Matches(all, name) {
			t.Errorf("%s is chosen", name)
		}
	}
	if name := "BenchmarkTask/workload=fib/impl="; !record.Matches(all, name+"workstealing") || record.Matches(all, name+"serial") {
		t.Error("an implementation is chosen of which nothing is promised")
	}
	if !strings.HasPrefix(all, "^Benchmark") || len(required) >= len(all) || strings.Contains(all, "Board") || strings.Contains(all, "ref[^-]|[^r]") {
		t.Errorf("%q of all, and of the required ones %q", all, required)
	}
}

// TestMeasured: what has a figure, if anything has.
func TestMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"a figure": {[]string{"BenchmarkActor/workload=count/impl=x 1 10 ns/op"}, 1},
		"none":     {[]string{"BenchmarkActor/workload=none/impl=x 1 10 ns/op"}, 0},
	} {
		d, err := compare.Read([]string{resultsFile(t, "x.bench", c.lines...)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		card, err := targets.Measured(d, compare.Options{Alpha: 0.2})
		if err != nil || (card == nil) != (c.want == 0) || card != nil && (len(card.Scores) != c.want || card.Alpha != 0.2) {
			t.Errorf("%s: %+v, %v", name, card, err)
		}
		if _, err := targets.Measured(d, compare.Options{Filter: "("}); err == nil {
			t.Errorf("%s: a filter that is none is no error", name)
		}
	}
}

// What is not passed is said once for all implementations that share it.
func TestUnmet(t *testing.T) {
	score := func(id, impl string, required bool, outcome targets.Outcome) targets.Score {
		return targets.Score{Target: targets.Target{ID: id, Says: "fast", Required: required}, Impl: impl, Outcome: outcome, Why: "no figure"}
	}
	onBoard := score("B", "x", true, targets.Miss)
	onBoard.Board = "pico"
	card := &targets.Scorecard{Scores: []targets.Score{
		score("A", "x", true, targets.Miss), score("A", "y", true, targets.NotMeasured), score("A", "z", true, targets.Miss),
		score("aim/A", "x", false, targets.Miss), score("C", "x", true, targets.Pass), score("E", "x", true, targets.Skip), score("D", "", true, targets.NotMeasured), onBoard,
	}}
	want := []string{"fast (A): missed (x, z)", "fast (A): not measured: no figure (y)", "fast (D): not measured: no figure", "fast (B): missed (" + onBoard.Subject() + ")"}
	if got := card.Unmet(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
