package conformance_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor/scenario"
	"github.com/dynolab/dyno/conformance"
)

// TestClauses holds the list to what its users rely on: names are stable keys
// for patterns, and a failure has something to print.
func TestClauses(t *testing.T) {
	wellFormed := regexp.MustCompile(`^(group|actor|task)/[a-z]+(-[a-z]+)*$`)
	rules := map[string]int{}
	seen := map[string]bool{}
	for _, c := range slices.Concat(conformance.Group(), conformance.Actor(), conformance.Core(), conformance.Task()) {
		if !wellFormed.MatchString(c.Name) {
			t.Errorf("%q is no name for a -run pattern", c.Name)
		}
		if seen[c.Name] {
			t.Errorf("%s is in the list twice", c.Name)
		}
		seen[c.Name] = true
		if strings.HasPrefix(c.Name, "group/") {
			rules[c.Rule]++
		}
		if len(c.Why) < 30 || strings.HasSuffix(c.Why, ".") || strings.Contains(c.Why, "\n") {
			t.Errorf("%s: Why is to be one sentence on one line, without a full stop: %q", c.Name, c.Why)
		}
		if c.Check == nil {
			t.Errorf("%s has no check", c.Name)
		}
		if promised := c.Kind == conformance.Promised; promised && c.Needs == (dyno.Promises{}) {
			t.Errorf("%s checks a promise and does not say which", c.Name)
		}
	}
	// G9 is about the inside of one implementation, whose own tests check it.
	for _, rule := range []string{"G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8"} {
		if rules[rule] == 0 {
			t.Errorf("no clause checks rule %s", rule)
		}
		delete(rules, rule)
	}
	for rule := range rules {
		t.Errorf("there are clauses of rule %q, which there is not", rule)
	}
}

// lines are the lines of the requirements about actors, and how each is checked:
// by the clauses of its own rule, by those of another rule that says the same, or,
// where no clause can see it, by what why says.
var lines = []struct{ rule, same, why string }{
	{rule: "V1"},
	{rule: "V2"},
	{rule: "V3"},
	{rule: "V4"},
	{rule: "V5"},
	{rule: "V6"},
	{rule: "V7"},
	{rule: "V8"},
	{rule: "V9", why: "a reference to another process is an actor's like any other: package actor tests it over a link in memory"},
	{rule: "V10", why: "the examples have tests of their own"},
	{rule: "V11"},
	{rule: "S1"},
	{rule: "S2"},
	{rule: "S3"},
	{rule: "S4"},
	{rule: "S5"},
	{rule: "FR-001"},
	{rule: "FR-002"},
	{rule: "FR-003"},
	{rule: "FR-004"},
	{rule: "FR-005"},
	{rule: "FR-006", same: "V8"},
	{rule: "FR-007"},
	{rule: "FR-008"},
	{rule: "FR-009"},
	{rule: "FR-010"},
	{rule: "FR-011"},
	{rule: "FR-012"},
	{rule: "FR-013"},
	{rule: "FR-014", same: "FR-013"}, // the time on a host is a target, the memory one of a board's
	{rule: "FR-015"},
	{rule: "FR-016"},
	{rule: "FR-017", why: "allocations are counted by the tests and benchmarks of the packages: a clause shares its heap with others"},
	{rule: "FR-018"},
	{rule: "FR-019", same: "FR-004"},
	{rule: "FR-020"},
	{rule: "FR-021", same: "S3"},
	{rule: "FR-022"},
	{rule: "FR-023"},
	{rule: "FR-024", same: "FR-001"},
	{rule: "FR-025"},
	{rule: "FR-026"},
	{rule: "FR-027"},
	{rule: "FR-028"},
	{rule: "FR-029"},
	{rule: "FR-030"},
	{rule: "FR-031", same: "FR-001"},
	{rule: "FR-032"},
	{rule: "FR-033"},
	{rule: "FR-034"},
	{rule: "SC-001", why: "a time: benchmarks measure it, and targets compare it with the limit"},
	{rule: "SC-002"},
	{rule: "SC-003"},
	{rule: "SC-004"},
	{rule: "SC-005", why: "the same as FR-017"},
	{rule: "SC-007", why: "notes on design; what hooks they need is tested where the hooks are"},
	{rule: "X9"},
}

// TestLines demands that each line about actors that a clause can see has one.
func TestLines(t *testing.T) {
	clauses := map[string]int{}
	for _, c := range slices.Concat(conformance.Actor(), conformance.Core()) {
		clauses[c.Rule]++
	}
	known := map[string]bool{}
	for _, l := range lines {
		if known[l.rule] {
			t.Errorf("%s is in the table twice", l.rule)
		}
		known[l.rule] = true
		n := clauses[l.rule]
		switch {
		case l.same != "" && l.why != "":
			t.Errorf("%s is said to be checked elsewhere and not to be", l.rule)
		case l.same != "":
			if clauses[l.same] == 0 {
				t.Errorf("%s is said to be checked by clauses of %s, of which there are none", l.rule, l.same)
			}
		case l.why != "":
			if n > 0 {
				t.Errorf("no clause is said to see %s, and there are %d", l.rule, n)
			}
		case n == 0:
			t.Errorf("no clause checks %s", l.rule)
		}
	}
	for rule := range clauses {
		if !known[rule] {
			t.Errorf("there are clauses of %s, which is not in the table", rule)
		}
	}
}

// TestTaskLines is the same for lines about executors. X8 is the suite itself, and
// X9, the schedules of one seed, is for those who explore them.
func TestTaskLines(t *testing.T) {
	clauses := map[string]int{}
	for _, c := range conformance.Task() {
		clauses[c.Rule]++
	}
	for _, rule := range []string{"X1", "X2", "X3", "X4", "X5", "X6", "X7"} {
		if clauses[rule] == 0 {
			t.Errorf("no clause checks %s", rule)
		}
		delete(clauses, rule)
	}
	for rule := range clauses {
		t.Errorf("there are clauses of %s, which is not in the table", rule)
	}
}

func TestSkip(t *testing.T) {
	all := conformance.Platform{Goexit: true, RuntimePanics: true, Stacks: true, Goroutines: true, Heap: true}
	for _, test := range []struct {
		needs, either, lacks dyno.Promises
		exact                bool
		on, have             conformance.Platform
		want                 string
	}{
		{want: ""},
		{needs: dyno.Promises{Eager: true}, want: ""},
		{needs: dyno.Promises{Overlap: true}, want: "needs Overlap, which some does not promise"},
		{
			needs: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Parks: true},
			want:  "needs Overlap, StartOrder and Parks, which some does not promise",
		},
		{either: dyno.Promises{Eager: true, Overlap: true}, want: ""},
		{either: dyno.Promises{Parks: true, Overlap: true}, want: "needs one of Overlap and Parks, of which some promises none"},
		{lacks: dyno.Promises{Overlap: true}, want: ""},
		{lacks: dyno.Promises{Overlap: true, Eager: true}, want: "is for implementations without Eager, which some promises"},
		{exact: true, want: "needs to know when nothing more happens, which is not known here"},
		{on: all, have: all, want: ""},
		{on: all, want: "needs Goexit, RuntimePanics, Stacks, Goroutines and Heap, which this platform does not have"},
		{
			on: all, have: conformance.Platform{Goexit: true, RuntimePanics: true, Stacks: true, Goroutines: true},
			want: "needs Heap, which this platform does not have",
		},
	} {
		c := conformance.Clause{Needs: test.needs, Either: test.either, Lacks: test.lacks, Exact: test.exact, On: test.on}
		e := &conformance.Env{Impl: dyno.Impl{Name: "some", Promises: dyno.Promises{Eager: true}}, Platform: test.have}
		if got := c.Skip(e); got != test.want {
			t.Errorf("Skip(%+v, %+v) = %q, want %q", test.needs, test.on, got, test.want)
		}
	}
}

func TestKindString(t *testing.T) {
	for kind, want := range map[conformance.Kind]string{
		conformance.Required:   "required",
		conformance.Promised:   "promised",
		conformance.Stochastic: "stochastic",
		7:                      "Kind(7)",
	} {
		if got := kind.String(); got != want {
			t.Errorf("Kind %d is %q, want %q", int(kind), got, want)
		}
	}
}

// TestEveryScenarioDemands: a script that only does something would pass whatever
// happens.
func TestEveryScenarioDemands(t *testing.T) {
	demands := regexp.MustCompile(`(?m)(^|\] |; )(log|events|failed|dead|gone|alive|stat|backlog|over|reply|ended|woken|expect)\b`)
	for _, lists := range [][][]scenario.Scenario{scenario.Life(), scenario.Failures(), scenario.Services()} {
		for _, list := range lists {
			for _, s := range list {
				if !demands.MatchString(s.Script) {
					t.Errorf("%s demands nothing", s.Name)
				}
			}
		}
	}
}
