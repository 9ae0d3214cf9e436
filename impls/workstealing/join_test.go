package workstealing

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/task"
)

// Tasks of two executors wait for one, some are canceled, in any order, and the others are told
// when it is over. Who asked for the channel of one that waits is told of its own end only.
func TestJoin(t *testing.T) {
	const waiters = 5
	for first := range waiters {
		for second := range waiters {
			synctest.Test(t, func(t *testing.T) { joinAndCancel(t, waiters, first, second) })
		}
	}
}

func joinAndCancel(t *testing.T, waiters, first, second int) {
	x := NewExecutor()
	other := NewExecutorOn(x.pool)
	gate := make(chan struct{})
	one := task.Go(x, func(context.Context) (int, error) { <-gate; return 7, nil })
	synctest.Wait()
	got := make([]error, waiters)
	fs := make([]*task.Future[int], waiters)
	before := make([]<-chan struct{}, waiters)
	start := make(chan struct{})
	for i := range fs {
		ex := x
		if i%2 == 1 {
			ex = other
		}
		fs[i] = task.Go(ex, func(ctx context.Context) (int, error) {
			<-start
			v, err := one.Value(ctx)
			got[i] = err
			return v, err
		})
		if i%3 == 0 {
			before[i] = fs[i].Done()
		}
	}
	synctest.Wait()
	close(start)
	synctest.Wait() // all wait
	ended := func(i int) bool {
		select {
		case <-fs[i].Done():
			return true
		default:
			return false
		}
	}
	for _, i := range []int{first, second} {
		fs[i].Cancel()
		synctest.Wait()
		if got[i] != context.Canceled || !ended(i) {
			t.Errorf("the wait of task %d, canceled, ended with %v", i, got[i])
		}
	}
	for i := range fs {
		if i != first && i != second && (ended(i) || got[i] != nil) {
			t.Errorf("task %d is over with %v, and what it waits for is not", i, got[i])
		}
		if before[i] != nil && before[i] != fs[i].Done() {
			t.Errorf("task %d has two channels", i)
		}
	}
	close(gate)
	synctest.Wait()
	for i, f := range fs {
		if !ended(i) {
			t.Fatalf("task %d was not told that what it waits for is over", i)
		}
		if v, _ := f.Value(context.Background()); i != first && i != second && v != 7 {
			t.Errorf("task %d got %d, want 7", i, v)
		}
	}
	x.pool.each(func(w *worker) {
		if w.wait.over = nil; w.wait != (wait{}) {
			t.Errorf("a wait that is over holds on to %+v", w.wait)
		}
	})
	if x.Pending()+other.Pending() != 0 {
		t.Errorf("%d and %d tasks are pending", x.Pending(), other.Pending())
	}
	quiet(t, x)
}

// Who asks for the channel of a task after it is over, and before who ended it has released
// it, gets a closed one, which release leaves alone.
func TestDoneBetweenEndAndRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		gate := make(chan struct{})
		one := task.Go(x, func(context.Context) (int, error) { <-gate; return 7, nil })
		waiter := task.Go(x, func(ctx context.Context) (int, error) { return one.Value(ctx) })
		synctest.Wait()
		h := waiter.Handle()
		x.canceled.Add(1) // as end does
		h.Room().Word.Swap(claimed | uint32(task.Cancelled))
		first := x.Done(h)
		x.pool.release(h)
		for _, done := range []<-chan struct{}{first, x.Done(h)} {
			select {
			case <-done:
			default:
				t.Error("the channel of a task that is over is open")
			}
		}
		close(gate)
		quiet(t, x)
	})
}
