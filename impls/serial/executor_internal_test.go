package serial

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/task"
)

// What tasks have left behind is used again, or forgotten.
func TestExecutorKeepsLittle(t *testing.T) {
	x := NewExecutor()
	var down func(ctx context.Context, n int) (int, error)
	down = func(ctx context.Context, n int) (int, error) {
		if n == 0 {
			return 0, nil
		}
		return task.ForkCall(ctx, down, n-1).Value(ctx)
	}
	a := task.Call(x, down, 500)
	b := task.Go(x, func(ctx context.Context) (int, error) {
		_, err := a.Value(ctx)
		if x.idles > maxIdle || x.frees > maxFree { // it has the baton: no other goroutine is here
			t.Errorf("500 tasks that were over have left %d coroutines and %d jobs", x.idles, x.frees)
		}
		return 0, err
	})
	if _, err := b.Value(t.Context()); err != nil {
		t.Error(err)
	}
	if x.idle != nil || x.idles != 0 || !x.polled.Empty() || len(x.patrons) != 0 || x.ready.Len() != 0 {
		t.Errorf("at rest there are %d idle coroutines, some that wait: %v, %d outside, %d ready", x.idles, !x.polled.Empty(), len(x.patrons), x.ready.Len())
	}
}

// A wait that has ended leaves nothing on the task that it was for.
func TestWaitLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		gate := make(chan struct{})
		busy := task.Start(x, func(context.Context) error { <-gate; return nil })
		h := task.Start(x, func(context.Context) error { return nil })
		for range 3 {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			if err := h.Wait(ctx); err != context.DeadlineExceeded || h.Status() != task.Pending {
				t.Errorf("Wait: %v", err)
			}
			stop()
		}
		if h.Room().Own != nil {
			t.Error("the task has not begun, no goroutine waits for it, and there is something in its Room")
		}
		if !h.Cancel() || h.Room().Link != nil || h.Room().Place != nil {
			t.Error("a canceled task is still in the queue")
		}
		close(gate)
		if err := busy.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Who waits outside for a task that another one cancels goes on after the turn of
// that one; or when its own context ends, and then as well with the task's end.
func TestCanceledByATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		gate := make(chan struct{})
		var h *task.Handle
		now := make(chan struct{})
		task.Start(x, func(context.Context) error { <-now; h.Cancel(); <-gate; return nil })
		h = task.Start(x, func(context.Context) error { return nil })
		ctx, stop := context.WithCancel(t.Context())
		var first, second bool
		go func() { _ = h.Wait(t.Context()); first = true }()
		go func() {
			if err := h.Wait(ctx); err == context.Canceled || err == nil {
				t.Errorf("Wait: %v", err)
			}
			second = true
		}()
		synctest.Wait()
		close(now)
		synctest.Wait()
		if first || second {
			t.Error("a goroutine outside has gone on while a task is in its turn")
		}
		stop()
		synctest.Wait()
		if first || !second {
			t.Error("a wait has not ended with its context, or another one has")
		}
		close(gate)
		synctest.Wait()
		if !first {
			t.Error("a wait was forgotten")
		}
		if len(x.late) != 0 {
			t.Error("a waiter is still to be answered")
		}
	})
}
