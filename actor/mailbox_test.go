package actor_test

import (
	"os"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor"
)

// Each policy has a name of its own, and a row in the page about mailboxes.
func TestPolicies(t *testing.T) {
	page, err := os.ReadFile("../docs/mailboxes.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, policy := range actor.Policies() {
		name := policy.String()
		if name == "" || seen[name] {
			t.Errorf("policy %d has the name %q, which is none or another one's", policy, name)
			continue
		}
		seen[name] = true
		var constant strings.Builder
		for word := range strings.SplitSeq(name, "-") {
			constant.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		if !strings.Contains(string(page), "\n| `"+constant.String()+"` | ") {
			t.Errorf("docs/mailboxes.md has no row of %s", constant.String())
		}
	}
	if got := actor.Policy(99).String(); got != "Policy(99)" {
		t.Errorf("what is not a policy is called %q", got)
	}
}
