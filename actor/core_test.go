package actor_test

import (
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance/conformtest"
)

// TestCore runs what only the core can break: the scenarios, and those clauses about
// actors that cannot be told as one.
func TestCore(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) { conformtest.RunCore(t, impl) })
}
