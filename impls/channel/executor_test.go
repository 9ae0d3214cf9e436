package channel

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

// Whoever finds a task over also finds it counted, and the other way round.
func TestOverIsCounted(t *testing.T) {
	for range 50 {
		x := NewExecutor()
		const n = 20
		gate := make(chan struct{})
		var all []*task.Handle
		for range n {
			all = append(all, task.Start(x, func(context.Context) error { <-gate; return nil }))
		}
		var watchers sync.WaitGroup
		for range 2 {
			watchers.Go(func() {
				for left := n; left > 0; {
					seen := 0
					for _, h := range all {
						if h.Status() != task.Pending {
							seen++
						}
					}
					left = x.Pending()
					if left > n-seen {
						t.Errorf("%d tasks of %d were seen to be over, and then %d were pending", seen, n, left)
					}
					now := 0
					for _, h := range all {
						if h.Status() != task.Pending {
							now++
						}
					}
					if now < n-left {
						t.Errorf("%d tasks of %d were pending, and then only %d seen to be over", left, n, now)
					}
				}
			})
		}
		close(gate)
		for i, h := range all {
			if i%2 == 0 {
				h.Cancel()
			}
		}
		watchers.Wait()
	}
}

// A task that was accepted while Close was called runs, and one that was refused
// does not.
func TestCloseWhileStarting(t *testing.T) {
	for range 50 {
		x := NewExecutor()
		var ran, refused atomic.Int32
		var starters sync.WaitGroup
		for range 4 {
			starters.Go(func() {
				for range 10 {
					h := task.Start(x, func(context.Context) error { ran.Add(1); return nil })
					if h.Wait(nil) != nil {
						refused.Add(1)
					}
				}
			})
		}
		x.Close()
		starters.Wait()
		if ran.Load()+refused.Load() != 40 || x.Pending() != 0 {
			t.Errorf("%d tasks ran and %d were refused, of 40; %d are pending", ran.Load(), refused.Load(), x.Pending())
		}
	}
}

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
