package hw

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// TestRunAll: without names all implementations are run. One that is too big is skipped,
// which the results say, and is no failure; asked for by name, or if nothing else ran, it
// is one.
func TestRunAll(t *testing.T) {
	checkout := checkoutOf(t, map[string]string{"go.mod": smallTree["go.mod"], "impls/huge/impl.go": "", "impls/serial/impl.go": ""})
	runCases := func(t *testing.T, cases string, impls ...string) (*Summary, string) {
		o := deskOptions()
		o.Checkout, o.Impls, o.Parts, o.Case = checkout, impls, []string{"bench"}, regexp.MustCompile(cases)
		o.Out = filepath.Join(t.TempDir(), "toy.bench")
		s, err := run(t.Context(), o, newWorld(true).deps())
		if err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(o.Out)
		return s, string(data)
	}
	const hole, skip = "# hole: pkg=" + module + `/impls/huge reason="too big: it does not fit" kind="too big"`, "# skip: pkg=" + module + `/impls/huge reason="does not fit: it does not fit" kind="too big"`
	for _, tt := range []struct {
		name, cases string
		impls       []string
		worst       Outcome
		said        string // in the results
	}{
		{"not asked for", "good", nil, OK, skip},
		{"what fails is a failure", "good|wrong", nil, WrongResult, skip},
		{"asked for", "good", []string{"huge", "serial"}, TooBig, hole},
		{"nothing passed", "skipped", nil, TooBig, skip},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, text := runCases(t, tt.cases, tt.impls...)
			if s.Worst != tt.worst || !strings.Contains(text, "\n"+tt.said+"\n") || strings.Contains(text, hole) && strings.Contains(text, skip) {
				t.Errorf("the worst is %v, want %v, and the results are to have %s:\n%s", s.Worst, tt.worst, tt.said, text)
			}
			i := slices.IndexFunc(s.Results, func(c CaseResult) bool { return c.Impl == "huge" })
			if i < 0 || s.Results[i].Outcome != TooBig || (s.Results[i].Skip != "") != (tt.said == skip) {
				t.Errorf("%+v", s.Results)
			}
		})
	}
	// The file says the same.
	o := deskOptions()
	o.Checkout, o.Impls, o.Parts, o.Case = checkout, nil, []string{"bench"}, regexp.MustCompile("good")
	o.Out = filepath.Join(t.TempDir(), "toy.bench")
	s, err := run(t.Context(), o, newWorld(true).deps())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := ReadKept(o.Out)
	if err != nil || !strings.HasPrefix(kept.Results[0].Skip, "does not fit") || worst(kept.Results, true) != s.Worst {
		t.Errorf("kept: %+v, %v", kept, err)
	}
	from, err := record.ReadInterruptedBoard(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	then, err := PlanOf(from.Plan)
	if err != nil {
		t.Fatal(err)
	}
	var same record.Settings
	for key, value := range from.Config {
		same.Add(key, value)
	}
	r := &deviceRun{o: o, plan: then, here: &record.Circumstances{Fixed: same.List}}
	if diffs := r.differences(from, Plan{Impls: then.Impls, Parts: then.Parts, Case: "good", Silence: then.Silence}); !slices.Equal(diffs, []string{"impl: all (huge,serial) → huge,serial"}) {
		t.Errorf("%q", diffs)
	}
}

// TestRunAllOutOfMemory: a case that runs out of memory is a hole, and a failure of the
// run if its implementation was asked for or nothing has passed.
func TestRunAllOutOfMemory(t *testing.T) {
	o := fakeBench(t, "")
	tree := maps.Clone(smallTree)
	maps.DeleteFunc(tree, func(name, _ string) bool {
		return strings.HasPrefix(name, "impls/") && name != "impls/serial/impl.go"
	})
	o.Checkout = checkoutOf(t, tree)
	for _, tt := range []struct {
		cases string
		impls []string
		worst Outcome
	}{
		{"good|greedy", nil, OK},
		{"good|greedy|crashes", nil, Crashed},
		{"good|greedy", []string{"serial"}, OutOfMemory},
		{"greedy", nil, OutOfMemory},
	} {
		o.Impls, o.Out, o.Case = tt.impls, filepath.Join(t.TempDir(), "toy.bench"), regexp.MustCompile(tt.cases)
		s, text := runs(t, o)
		if s.Worst != tt.worst {
			t.Errorf("%s of %q: %v, want %v", tt.cases, tt.impls, s.Worst, tt.worst)
		}
		if !strings.Contains(text, "\n# hole: case=BenchmarkToy/workload=greedy/impl=serial block=1 reason=\"out of memory: ") {
			t.Errorf("the results lack the hole:\n%s", text)
		}
	}
}
