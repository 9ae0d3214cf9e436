package conformance_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
)

// TestClauses holds the list to what its users rely on: names are stable keys
// for patterns, and a failure has something to print.
func TestClauses(t *testing.T) {
	wellFormed := regexp.MustCompile(`^(group|actor|task)/[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for _, c := range slices.Concat(conformance.Group(), conformance.Actor(), conformance.Core(), conformance.Task()) {
		if !wellFormed.MatchString(c.Name) {
			t.Errorf("%q is no name for a -run pattern", c.Name)
		}
		if seen[c.Name] {
			t.Errorf("%s is in the list twice", c.Name)
		}
		seen[c.Name] = true
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
	demands := regexp.MustCompile(`(?m)(^|\] |; )(log|events|failed|dead|gone|alive|stat|backlog|over|reply|ended|woken|expect|fetch|lost|await|at-once|letters|kept)\b`)
	for _, c := range slices.Concat(conformance.Actor(), conformance.Core()) {
		if c.Script != "" && !demands.MatchString(c.Script) {
			t.Errorf("%s demands nothing", c.Name)
		}
	}
}
