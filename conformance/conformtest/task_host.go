package conformtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/task"
)

// taskHostClauses are the clauses of package task that need a host, in the order
// in which they run.
var taskHostClauses = []hostClause{
	{conformance.Clause{
		Name: "task/linearizable", Rule: "X2", Kind: conformance.Stochastic,
		Why: "a task's beginning and end, and concurrent calls of Status, Cancel and Value, take effect as if each happened at one moment, in an order that the contract allows",
	}, checkTaskLinearizable},
	{conformance.Clause{
		Name: "task/deep-joins", Rule: "X6",
		Why: "a task waits for one that waits for one …, as deep as memory goes: no stack overflows, and no pool of workers runs dry",
	}, checkDeepJoins},
	{conformance.Clause{
		Name: "task/waiters-forgotten", Rule: "X2", On: conformance.Platform{Heap: true},
		Why: "who has given up waiting is forgotten, while the task goes on: a task that takes for ever must not collect those who once waited for it",
	}, checkWaitersForgotten},
	{conformance.Clause{
		Name: "task/futures-collected", Rule: "X3", On: conformance.Platform{Heap: true},
		Why: "futures without waiters, and executors that are closed, leave no memory and no goroutine, however many there were",
	}, checkFuturesCollected},
	{conformance.Clause{
		Name: "task/blocked-for-real", Rule: "X7", Needs: dyno.Promises{Overlap: true, Eager: true},
		Why: "tasks that sleep, lock, wait or sit in a system call, more of them than there are workers, do not stop the others",
	}, checkTasksBlockedForReal},
	{conformance.Clause{
		Name: "task/waits-are-idle", Rule: "X7", Needs: dyno.Promises{Overlap: true, Eager: true},
		Why: "who waits for a task, in a task or not, and a worker without work, is parked: it neither spins nor polls, and the processor is free for others",
	}, checkTaskWaitsAreIdle},
}

// errLost is for what cannot be.
var errLost = errors.New("the answer is wrong")

// checkDeepJoins nests waits in three ways: each task starts the next one; all
// were started before, the one that waits first; and the one that is waited for
// first.
func checkDeepJoins(_ *testing.T, s *suite) outcome {
	n := s.set.depth
	return s.noting(s.limit, func(*conformance.Env) (notes []string, err error) {
		for _, how := range []string{"recursion", "chain from its end", "chain from its beginning"} {
			x := s.impl.NewExecutor()
			var before runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			begun := time.Now()
			var most int64
			v := 0
			if how == "recursion" {
				v, err = task.Call(x, func(ctx context.Context, n int) (int, error) {
					return deep(ctx, n, func() { most = footprint() - int64(before.HeapAlloc+before.StackInuse) })
				}, n).Value(context.Background())
			} else {
				v, err = chain(x, n, how == "chain from its end")
			}
			if err != nil || v != n {
				return notes, fmt.Errorf("%s: %d waits inside each other gave (%d, %w)", how, n, v, errors.Join(err, errLost))
			}
			note := fmt.Sprintf("conform-metric: clause=task/deep-joins how=%q depth=%d ns/level=%d", how, n, time.Since(begun).Nanoseconds()/int64(n))
			if how == "recursion" {
				note += fmt.Sprintf(" B/level=%d", most/int64(n))
			}
			notes = append(notes, note)
			x.Close()
		}
		return notes, nil
	})
}

// deep starts a task that does the same one level deeper, and waits for it. It
// calls bottom at the deepest.
func deep(ctx context.Context, n int, bottom func()) (int, error) {
	if n == 0 {
		bottom()
		return 0, nil
	}
	v, err := task.Fork(ctx, func(ctx context.Context) (int, error) { return deep(ctx, n-1, bottom) }).Value(ctx)
	return v + 1, err
}

// chain starts n tasks, each of which waits for the next one, or for the one
// before, and asks for the last of them in that order.
func chain(x task.Executor, n int, forward bool) (int, error) {
	all := make([]*task.Future[int], n)
	made := make(chan struct{})
	for i := range all {
		all[i] = task.Go(x, func(ctx context.Context) (int, error) {
			if !forward {
				if i == 0 {
					return 1, nil
				}
				v, err := all[i-1].Value(ctx)
				return v + 1, err
			}
			<-made
			if i == n-1 {
				return 1, nil
			}
			v, err := all[i+1].Value(ctx)
			return v + 1, err
		})
	}
	close(made)
	if forward {
		return all[0].Value(context.Background())
	}
	return all[n-1].Value(context.Background())
}

// checkWaitersForgotten has many give up on one task, before they wait and while
// they do.
func checkWaitersForgotten(_ *testing.T, s *suite) outcome {
	n := s.set.futures
	limit := s.limit + leakRounds*time.Duration(n)*100*time.Microsecond
	return s.outside(limit, func(e *conformance.Env) error {
		x := s.impl.NewExecutor()
		inside, hold := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(hold) })
		defer release() // what has been left behind ends with the task
		f := task.Go(x, func(context.Context) (int, error) {
			close(inside)
			<-hold
			return 1, nil
		})
		go x.Flush(0)
		<-inside
		over, end := context.WithCancel(context.Background())
		end()
		round := func(n int) error {
			const batch = 50
			for range n / batch / 2 {
				for range batch {
					if _, err := f.Value(over); err != context.Canceled {
						return fmt.Errorf("Value with an ended context returned %w", errors.Join(err, errLost))
					}
				}
				ctx, cancel := context.WithCancel(context.Background())
				var all sync.WaitGroup
				var wrong atomic.Int32
				for range batch {
					all.Go(func() {
						if _, err := f.Value(ctx); err != context.Canceled {
							wrong.Add(1)
						}
					})
				}
				for range 4 {
					runtime.Gosched()
				}
				cancel()
				all.Wait()
				if wrong.Load() > 0 {
					return fmt.Errorf("%d of %d who gave up were not told so", wrong.Load(), batch)
				}
			}
			return nil
		}
		if err := round(2000); err != nil {
			return err
		}
		_, err := leavesNothing(e, int64(64<<10+2*n), 16, func() error { return round(n) }) // less than a word each
		if err != nil {
			return fmt.Errorf("after %d waits that were given up: %w", n, err)
		}
		release()
		if v, err := f.Value(nil); v != 1 || err != nil { //nolint:staticcheck // nil means Background
			return fmt.Errorf("Value returned (%d, %w)", v, errors.Join(err, errLost))
		}
		x.Close()
		return nil
	})
}

// checkFuturesCollected starts many tasks on one executor and drops the futures,
// and makes many executors, uses and closes them.
func checkFuturesCollected(_ *testing.T, s *suite) outcome {
	n := s.set.futures
	limit := s.limit + leakRounds*time.Duration(n)*200*time.Microsecond
	return s.outside(limit, func(e *conformance.Env) error {
		x := s.impl.NewExecutor()
		drop := func(x task.Executor, n int) {
			for i := range n {
				f := task.Go(x, func(ctx context.Context) (int, error) {
					switch i % 8 {
					case 1:
						_ = ctx.Done()
					case 2:
						return 0, errTask
					case 3:
						_, err := task.Fork(ctx, func(context.Context) (int, error) { return 1, nil }).Value(ctx)
						return 1, err
					case 4:
						task.Fork(ctx, func(context.Context) (int, error) { return 1, nil })
					case 5:
						return 1, task.Yield(ctx)
					}
					return 1, nil
				})
				switch i % 16 {
				case 6:
					_ = f.Done()
				case 7, 15:
					f.Cancel()
				}
				for i%512 == 511 && x.Pending() > 0 { // or they fill the memory first
					x.Flush(0)
					runtime.Gosched()
				}
			}
			for x.Pending() > 0 {
				x.Flush(0)
				runtime.Gosched()
			}
		}
		executors := func(n int) {
			for range n {
				x := s.impl.NewExecutor()
				drop(x, 16)
				x.Close()
			}
		}
		drop(x, 4096)
		executors(64)
		bound := int64(256<<10 + 2*n)
		if _, err := leavesNothing(e, bound, 16, func() error { drop(x, n); return nil }); err != nil {
			return fmt.Errorf("after %d futures without waiters: %w", n, err)
		}
		if _, err := leavesNothing(e, bound, 16, func() error { executors(n / 100); return nil }); err != nil {
			return fmt.Errorf("after %d executors that were closed: %w", n/100, err)
		}
		x.Close()
		return nil
	})
}

// checkTasksBlockedForReal has more tasks block than there can be workers to begin
// with, and demands that others run all the while.
func checkTasksBlockedForReal(_ *testing.T, s *suite) outcome {
	return s.blockedForReal("task/blocked-for-real", "tasks", s.blockTasks)
}

// blockTasks returns how long a task took at most to run while others blocked.
func (s *suite) blockTasks(e *conformance.Env, how blocker, n int) (worst time.Duration, err error) {
	x := s.impl.NewExecutor()
	var blocked, over atomic.Int32
	var all []*task.Future[int]
	// One after the other, from outside; and each starts one and then blocks
	// itself, so that what it has started waits on its worker.
	for i := range n {
		heard := make(chan struct{})
		begun := time.Now()
		all = append(all, task.Go(x, func(ctx context.Context) (int, error) {
			blocked.Add(1) // before anybody hears of it
			task.Fork(ctx, func(context.Context) (int, error) { close(heard); return 0, nil })
			how.block()
			over.Add(1)
			return i, nil
		}))
		<-heard
		e.Met()
		if i > 0 { // the first time pays for the workers' goroutines
			worst = max(worst, time.Since(begun))
		}
	}
	for range 100 {
		if v, err := task.Call(x, fib, 8).Value(context.Background()); v != 21 || err != nil {
			return 0, fmt.Errorf("other tasks gave (%d, %w)", v, errors.Join(err, errLost))
		}
		e.Met()
	}
	if b, o := blocked.Load(), over.Load(); b != int32(n) || o != 0 {
		return 0, fmt.Errorf("%d tasks have begun and %d are over, want %d and 0", b, o, n)
	}
	how.release()
	for i, f := range all {
		if v, err := f.Value(context.Background()); v != i || err != nil {
			return 0, fmt.Errorf("a task that was blocked gave (%d, %w)", v, errors.Join(err, errLost))
		}
		e.Met()
	}
	x.Close()
	return worst, nil
}

// fib is Fibonacci's function with a task for one of two calls.
func fib(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	f := task.ForkCall(ctx, fib, n-1)
	v, err := fib(ctx, n-2)
	if err != nil {
		return 0, err
	}
	w, err := f.Value(ctx)
	return v + w, err
}

// checkTaskWaitsAreIdle measures the processor time of a process in which tasks and
// others wait, and workers have nothing to do.
func checkTaskWaitsAreIdle(_ *testing.T, s *suite) outcome {
	if !canTellBurnt {
		return outcome{skip: "needs a system that tells the processor time of a process"}
	}
	return s.noting(s.limit, func(e *conformance.Env) (notes []string, err error) {
		x := s.impl.NewExecutor()
		hold := make(chan struct{})
		release := sync.OnceFunc(func() { close(hold) })
		defer release() // so that a failure leaves nothing behind
		f := task.Go(x, func(context.Context) (int, error) {
			<-hold
			return 1, nil
		})
		const n = 6
		sums := make(chan int, 2*n)
		for range n {
			task.Go(x, func(ctx context.Context) (int, error) {
				v, err := f.Value(ctx)
				sums <- v
				return v, err
			})
			go func() {
				v, _ := f.Value(context.Background())
				sums <- v
			}()
		}
		if v, err := task.Call(x, fib, 10).Value(context.Background()); v != 55 || err != nil {
			return nil, errors.Join(err, errLost)
		}
		least, note := leastBurnt(e, "task/waits-are-idle")
		notes = append(notes, note)
		release()
		for range 2 * n {
			if <-sums != 1 {
				return nil, errLost
			}
		}
		x.Close()
		if least > burnLimit {
			return notes, burning(least)
		}
		return notes, nil
	})
}
