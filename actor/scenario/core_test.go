package scenario_test

import (
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/scenario"
	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
)

// TestCore runs what only the core can break: the scenarios, and those clauses about
// actors that cannot be told as one. It is not in package actor, whose tests reach into
// it: Go would compile all that the suite stands on for them alone once more.
func TestCore(t *testing.T) {
	for _, impl := range []dyno.Impl{lockbased.Impl, serial.Impl} {
		t.Run("impl="+impl.Name, func(t *testing.T) { conformtest.RunCore(t, impl) })
	}
}

// Of each policy of mailboxes a scenario says what it does.
func TestPoliciesHaveScenarios(t *testing.T) {
	var scripts strings.Builder
	for s := range scenario.Turns {
		scripts.WriteString(s.Script)
	}
	for _, policy := range actor.Policies()[1:] { // behind Unbounded, the default
		if !strings.Contains(scripts.String(), "mailbox "+policy.String()+" ") {
			t.Errorf("no scenario has a mailbox of the policy %v", policy)
		}
	}
}
