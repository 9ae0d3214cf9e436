package channel

import (
	"context"
	"runtime"
	"testing"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
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

// TestACrowdIsNotStartedAllAtOnce starts tasks on one processor, where none begins unless the
// goroutine that starts them lets it.
func TestACrowdIsNotStartedAllAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const crowd = 64 * inARow
	nothing := func(context.Context) (int, error) { return 0, nil }
	x := NewExecutor()
	for range crowd {
		task.Go(x, nothing)
	}
	if n := x.Pending(); n > crowd/2 {
		t.Errorf("from outside: %d of %d tasks are not over when the last one is started", n, crowd)
	}
	n, err := task.Go(x, func(ctx context.Context) (int, error) {
		before := x.Pending()
		for range crowd {
			task.Fork(ctx, nothing)
		}
		return x.Pending() - before, nil
	}).Value(context.Background())
	if err != nil || n > crowd/2 {
		t.Errorf("by a task: %d of %d tasks are not over when the last one is started (%v)", n, crowd, err)
	}
}
