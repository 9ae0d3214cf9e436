package actorloop

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

// Whoever finds a task over also finds it counted, and the other way round.
func TestOverIsCounted(t *testing.T) {
	for range 200 {
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

// Pending never counts a task that is over together with one that began later.
func TestPendingIsExact(t *testing.T) {
	x := NewExecutor()
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
}

// A task that is over wins over a context that has ended, also if the context was
// first to wake the one that waits.
func TestOverWins(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // who is woken does not run at once
	won := 0
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			x := NewExecutor()
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
}

// A task that was accepted while Close was called runs, and one that was refused
// does not.
func TestCloseWhileStarting(t *testing.T) {
	for range 200 {
		x := NewExecutor()
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
}

// There is a manager only while there are orders.
func TestManagerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		gate := make(chan struct{})
		h := task.Start(x, func(context.Context) error { <-gate; return nil })
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _ = h.Wait(ctx) }()
			synctest.Wait()
			if x.desk.top.Load() != &x.desk.asleep {
				t.Error("there is a manager, and nothing for it to do")
			}
			cancel()
			synctest.Wait()
		}
		if r := recordOf(h); r.waits != nil {
			t.Error("a wait that was given up is remembered")
		}
		close(gate)
		if err := h.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if x.desk.top.Load() != &x.desk.asleep {
			t.Error("there is a manager in the end")
		}
	})
}

// No order is lost between the last look at the desk and the manager's end.
func TestNoOrderIsLost(t *testing.T) {
	x := NewExecutor()
	var askers sync.WaitGroup
	for i := range 3 {
		askers.Go(func() {
			for n := range 10_000 {
				x.Pending()
				if n%(i+2) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	askers.Wait()
}

// The manager decides what came first, the end or the giving up, and nobody waits
// in vain or is answered twice.
func TestForgo(t *testing.T) {
	x := NewExecutor()
	for range 500 {
		gate := make(chan struct{})
		h := task.Start(x, func(context.Context) error { <-gate; return nil })
		var waiters sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 8 {
			waiters.Go(func() {
				c := ctx
				if i%2 == 0 {
					c = t.Context()
				}
				if err := h.Wait(c); err != nil && (i%2 == 0 || err != ctx.Err()) {
					t.Errorf("Wait: %v", err)
				}
			})
		}
		waiters.Go(cancel)
		waiters.Go(func() { close(gate) })
		waiters.Wait()
		if recordOf(h).waits != nil {
			t.Error("somebody waits for a task that is over")
		}
	}
	if x.Pending() != 0 {
		t.Errorf("%d tasks are pending", x.Pending())
	}
}

func TestExecutorInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	const (
		loops    = "only the manager loop changes the states"
		returned = "a task returns once, and only if it was accepted"
		over     = "what has returned is over, and what is over was accepted"
	)
	for _, c := range []struct {
		rule    string
		breakIt func(x *Executor)
	}{
		{loops, func(x *Executor) { x.manager.loops.Add(1) }},
		{returned, func(x *Executor) { x.manager.returned = 1 }},
		{over, func(x *Executor) { x.manager.over = 1 }},
		{over, func(x *Executor) { x.door.Store(1); x.manager.returned = 1 }},
	} {
		x := NewExecutor()
		x.manager.loops.Store(1)
		c.breakIt(x)
		func() {
			defer func() {
				want := "actorloop: invariant violated: " + c.rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			x.check()
		}()
	}
}
