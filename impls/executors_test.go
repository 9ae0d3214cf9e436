package impls_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/task"
)

// eachExecutor runs a test with every executor that runs tasks by itself: what
// follows are races between a task's end and what others see of it, which the
// clauses do not look for as closely. Executors that do not promise what it needs
// are left out.
func eachExecutor(t *testing.T, needs dyno.Promises, test func(t *testing.T, newExecutor func() task.Executor)) {
	needs.Eager = true
	n := 0
	for _, impl := range impls.All() {
		if impl.NewExecutor == nil || len(impl.Promises.Lacks(needs)) > 0 {
			continue
		}
		n++
		t.Run(impl.Name, func(t *testing.T) { test(t, impl.NewExecutor) })
	}
	if n == 0 {
		t.Fatal("there is no such executor")
	}
}

// The goroutine that finds a task over finds it counted no more.
func TestOverIsCounted(t *testing.T) {
	eachExecutor(t, dyno.Promises{}, func(t *testing.T, newExecutor func() task.Executor) {
		for range 50 {
			x := newExecutor()
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
	})
}

// Pending never counts a task that is over together with one that began later.
func TestPendingIsExact(t *testing.T) {
	eachExecutor(t, dyno.Promises{ExactPending: true}, func(t *testing.T, newExecutor func() task.Executor) {
		x := newExecutor()
		var left atomic.Int32
		left.Store(2)
		for range 2 {
			go func() {
				defer left.Add(-1)
				for range 10_000 {
					if n := x.Pending(); n > 1 {
						t.Errorf("%d tasks are pending, and there is never more than one", n)
					}
				}
			}()
		}
		for left.Load() > 0 {
			if err := task.Start(x, func(context.Context) error { return nil }).Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// A task that is over wins over a context that has ended, also if the context was
// first to wake the one that waits.
func TestOverWins(t *testing.T) {
	eachExecutor(t, dyno.Promises{}, func(t *testing.T, newExecutor func() task.Executor) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // who is woken does not run at once
		won := 0
		for range 100 {
			synctest.Test(t, func(t *testing.T) {
				x := newExecutor()
				gate := make(chan struct{})
				h := task.Start(x, func(context.Context) error { <-gate; return nil })
				ctx, cancel := context.WithCancel(t.Context())
				var err error
				go func() { err = h.Wait(ctx) }()
				synctest.Wait()
				cancel()
				h.Cancel()
				synctest.Wait()
				if errors.As(err, new(*task.Error)) {
					won++
				}
				close(gate)
			})
		}
		if won == 0 {
			t.Error("in 100 rounds no wait has found the task over that was over")
		}
	})
}

// A task that was accepted while Close was called runs, and one that was refused
// does not.
func TestCloseWhileStarting(t *testing.T) {
	eachExecutor(t, dyno.Promises{}, func(t *testing.T, newExecutor func() task.Executor) {
		for range 50 {
			x := newExecutor()
			var ran, refused atomic.Int32
			var starters sync.WaitGroup
			for range 4 {
				starters.Go(func() {
					for range 10 {
						h := task.Start(x, func(context.Context) error { ran.Add(1); return nil })
						if h.Wait(t.Context()) != nil {
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
	})
}
