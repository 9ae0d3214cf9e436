package workloads

import (
	"context"
	"runtime"
	"sync"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// taskYield is two tasks that do nothing but let each other run. Where tasks run on goroutines a
// yield is a hint, and the other one may well run at the same time, so what is measured is the
// price of the hint; only where one task runs at a time is it that of the step from one to the
// other.
func taskYield() []Workload {
	return []Workload{{
		Name:    "yield",
		Doc:     "two tasks that let each other run, again and again: what it costs to ask whether another task wants to run",
		Op:      "a yield",
		Checked: "how often they did",
		Prepare: onTask(yieldJob, yieldBoth),
		Refs: []Ref{
			valueRef(refErrgroup, "an errgroup of two goroutines that call runtime.Gosched", yieldJob, yieldOnErrgroup),
			valueRef(refGoroutines, "two goroutines that call runtime.Gosched, and a WaitGroup", yieldJob, sure(yieldOnGoroutines)),
			valueRef(refUnbuffered, "two goroutines that pass the turn on through an unbuffered channel: a step to the other one that is no hint", yieldJob, sure(yieldOnChannel)),
		},
	}}
}

func yieldJob(do asking[int, int]) taskJob {
	return func(n int) (int, error) { return n, do(n, n) }
}

// yieldBy calls yield n times and returns how often that was.
func yieldBy(n int, yield func()) int {
	count := 0
	for range n {
		yield()
		count++
	}
	return count
}

// yieldBoth starts two tasks that yield n times together, and returns how often
// they did.
func yieldBoth(ctx context.Context, n int) (int, error) {
	a := task.ForkCall(ctx, yieldTask, n/2)
	b := task.ForkCall(ctx, yieldTask, (n+1)/2)
	x, err := a.Value(ctx)
	if err != nil {
		return 0, err
	}
	y, err := b.Value(ctx)
	return x + y, err
}

func yieldTask(ctx context.Context, n int) (count int, err error) {
	for range n {
		if err := task.Yield(ctx); err != nil {
			return 0, err
		}
		count++
	}
	return count, nil
}

func yieldOnErrgroup(n int) (int, error) {
	var (
		eg     errgroup.Group
		counts [2]int
	)
	for i := range counts {
		eg.Go(func() error {
			counts[i] = yieldBy((n+i)/2, runtime.Gosched)
			return nil
		})
	}
	err := eg.Wait()
	return counts[0] + counts[1], err
}

func yieldOnGoroutines(n int) int {
	var (
		wg     sync.WaitGroup
		counts [2]int
	)
	wg.Add(len(counts))
	for i := range counts {
		go func() {
			defer wg.Done()
			counts[i] = yieldBy((n+i)/2, runtime.Gosched)
		}()
	}
	wg.Wait()
	return counts[0] + counts[1]
}

// yieldOnChannel passes a turn n times between two goroutines. The turn is how
// often it has been passed.
func yieldOnChannel(n int) int {
	turn := make(chan int)
	go func() {
		count := 0
		for count < n {
			count++
			turn <- count
			if count == n {
				return
			}
			count = <-turn
		}
	}()
	count := 0
	for count < n {
		if count = <-turn; count == n {
			break
		}
		count++
		turn <- count
	}
	return count
}
