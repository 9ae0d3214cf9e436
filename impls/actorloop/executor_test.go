package actorloop

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

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
			if x.orders.top.Load() != &x.orders.asleep {
				t.Error("there is a manager, and nothing for it to do")
			}
			cancel()
			synctest.Wait()
		}
		if r := recordOf(h); !r.waits.Empty() {
			t.Error("a wait that was given up is remembered")
		}
		close(gate)
		if err := h.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if x.orders.top.Load() != &x.orders.asleep {
			t.Error("there is a manager in the end")
		}
	})
}

// No order is lost between the manager's last look and its end.
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

// Who finds its context ended as the task ends is told of the task.
func TestVerdictOfATaskThatIsOver(t *testing.T) {
	x := NewExecutor()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := task.Start(x, func(context.Context) error { return nil })
	if err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.verdict(ctx, h); err != nil {
		t.Errorf("a task that is over, and a context too: %v, want nil", err)
	}
}

// The manager decides what came first, the end or the giving up, and no goroutine waits
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
		if !recordOf(h).waits.Empty() {
			t.Error("a goroutine waits for a task that is over")
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
