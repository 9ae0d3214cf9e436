package workloads

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Every 8th task waits, for 200 µs, unless the context ends.
func TestMixedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for i, task := range mixedBatch().tasks {
			begin := time.Now()
			v, err := task(t.Context())
			want := time.Duration(0)
			if i%8 == 0 {
				want = 200 * time.Microsecond
			}
			if took := time.Since(begin); v != i || err != nil || took != want {
				t.Errorf("task %d returned %d, %v after %v, want %v", i, v, err, took, want)
			}
			begin = time.Now()
			v, err = task(ended)
			if took := time.Since(begin); v != i || err != context.Canceled || took != 0 {
				t.Errorf("task %d, cancelled, returned %d, %v after %v", i, v, err, took)
			}
		}
	})
}

// No task of cancel ends before its group is cancelled.
func TestCancelTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		over := make(chan error, 1)
		go func() {
			_, err := cancelBatch().tasks[7](ctx)
			over <- err
		}()
		synctest.Wait()
		if len(over) > 0 {
			t.Errorf("the task ended by itself, with %v", <-over)
		}
		cancel(errStop)
		if err := <-over; err != errStop {
			t.Errorf("the task ended with %v, want the cause", err)
		}
	})
}
