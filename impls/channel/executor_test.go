package channel

import (
	"testing"

	"github.com/dynolab/dyno/internal/invariants"
)

func TestExecutorInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	x := NewExecutor()
	<-x.ledger
	x.ledger <- 1
	defer func() {
		const want = "channel: invariant violated: no more tasks are over than were accepted"
		if got := recover(); got != want {
			t.Errorf("Pending said %v, want %q", got, want)
		}
	}()
	x.Pending()
}
