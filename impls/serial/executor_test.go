package serial_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

// A task that blocks is reported to those who wait outside, and the executor goes
// on when it ends after all.
func TestExecutorStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := serial.NewExecutorWith(serial.ExecutorConfig{StallAfter: time.Second})
		var b *task.Handle
		a := task.Start(x, func(context.Context) error { return b.Wait(context.Background()) }) // not with its own
		b = task.Start(x, func(context.Context) error { return nil })
		var stall *serial.StallError
		if err := a.Wait(t.Context()); !errors.As(err, &stall) || *stall != (serial.StallError{Task: 1, Waiting: 1, After: time.Second}) {
			t.Errorf("Wait: %v", err)
		}
		synctest.Wait() // its own wait has been given up, too
		if err := a.Wait(t.Context()); !errors.As(err, &stall) {
			t.Errorf("Wait: %v", err)
		}
		if err := b.Wait(t.Context()); err != nil {
			t.Errorf("Wait: %v", err)
		}
		// Long is not stalled.
		c := task.Start(x, func(context.Context) error { time.Sleep(time.Hour); return nil })
		if err := c.Wait(t.Context()); err != nil {
			t.Errorf("Wait: %v", err)
		}
		// Nor are many that are short, one after the other; but then it is looked at again.
		for range 5 {
			task.Start(x, func(context.Context) error { time.Sleep(700 * time.Millisecond); return nil })
		}
		gate := make(chan struct{})
		d := task.Start(x, func(context.Context) error { <-gate; return nil })
		e := task.Start(x, func(context.Context) error { return nil })
		if err := e.Wait(t.Context()); !errors.As(err, &stall) || stall.Task != uint64(d.Room().ID) {
			t.Errorf("Wait: %v", err)
		}
		close(gate)
		synctest.Wait()
		if n := x.Flush(0); n != 1 {
			t.Errorf("after the stall: %d steps", n)
		}
	})
}

// A task that is ready because another one has canceled what it waited for is kept waiting, too.
func TestStallAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := serial.NewExecutor()
		gate := make(chan struct{})
		h := task.Start(x, func(ctx context.Context) error {
			var awaited *task.Future[int]
			blocks := task.Fork(ctx, func(context.Context) (int, error) {
				time.Sleep(time.Hour) // no other is ready: nothing is measured
				awaited.Cancel()
				<-gate
				return 0, nil
			})
			awaited = task.Fork(ctx, blocks.Value)
			_, err := awaited.Value(ctx)
			return err
		})
		var stall *serial.StallError
		if err := h.Wait(t.Context()); !errors.As(err, &stall) {
			t.Errorf("Wait: %v", err)
		}
		close(gate)
		synctest.Wait()
		x.Flush(0)
	})
}
