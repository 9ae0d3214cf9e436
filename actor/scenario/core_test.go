package scenario_test

import (
	"testing"

	"github.com/dynolab/dyno"
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
