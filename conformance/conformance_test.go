package conformance_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
)

// TestClauses holds the list to what its users rely on: names are stable keys
// for patterns, and a failure has something to print.
func TestClauses(t *testing.T) {
	wellFormed := regexp.MustCompile(`^(group|actor)/[a-z]+(-[a-z]+)*$`)
	rules := map[string]int{}
	seen := map[string]bool{}
	for _, c := range append(conformance.Group(), conformance.Actor()...) {
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

func TestSkip(t *testing.T) {
	all := conformance.Platform{Goexit: true, RuntimePanics: true, Stacks: true, Heap: true}
	for _, test := range []struct {
		needs    dyno.Promises
		on, have conformance.Platform
		want     string
	}{
		{want: ""},
		{needs: dyno.Promises{Eager: true}, want: ""},
		{needs: dyno.Promises{Overlap: true}, want: "needs Overlap, which some does not promise"},
		{
			needs: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Parks: true},
			want:  "needs Overlap, StartOrder and Parks, which some does not promise",
		},
		{on: all, have: all, want: ""},
		{on: all, want: "needs Goexit, RuntimePanics, Stacks and Heap, which this platform does not have"},
		{
			on: all, have: conformance.Platform{Goexit: true, RuntimePanics: true, Stacks: true},
			want: "needs Heap, which this platform does not have",
		},
	} {
		c := conformance.Clause{Needs: test.needs, On: test.on}
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
