package workloads

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// fibMost is the largest number that is asked for. It takes 57,313 calls: enough
// that it makes no difference how long the first task takes to be noticed, and
// few enough that all of them may have a goroutine at once.
const fibMost = 22

// fibCalls is how many calls that takes, each a task.
const fibCalls = 57_313

// taskFib is the program that joins are usually measured with. There is no cutoff, which every
// real program has, since then it would measure the other calls.
func taskFib() []Workload {
	return []Workload{
		fib("", "Fibonacci numbers with a task for every call, down to the smallest: what it costs to start a task and wait for it", fibTask,
			valueRef(refErrgroup, "an errgroup for the two calls of every call", fibJob, fibOnErrgroup),
			valueRef(refGoroutines, "two goroutines and a WaitGroup for every call", fibJob, sure(fibOnGoroutines)),
			valueRef(refBuffered, "a goroutine and a channel for the one value of every call", fibJob, sure(func(n int) int { return <-fibOnChannels(n) }))),
		fib("by=join", "the same with task.Join: one of the two calls of every call is for another worker to take: what it costs to divide work", fibByJoin,
			valueRef(refErrgroup, "an errgroup for one of the two calls of every call", fibJob, fibHalfOnErrgroup),
			valueRef(refGoroutines, "a goroutine and a WaitGroup for one of the two calls of every call", fibJob, sure(fibHalfOnGoroutines)),
			valueRef(refBuffered, "a goroutine and a channel for one of the two calls of every call", fibJob, sure(fibHalfOnChannels))),
	}
}

func fib(variant, doc string, fn func(context.Context, int) (int, error), refs ...Ref) Workload {
	return Workload{
		Name:    "fib",
		Variant: variant,
		Doc:     doc,
		Op:      "a call",
		Checked: "the number, to which every call's value belongs",
		Slicing: Slicing{Unit: fibCalls},
		Prepare: onTask(fibJob, fn),
		Refs:    append(refs, valueRef(refFloor, "calls of a function, on one goroutine", fibJob, sure(fibOnFloor))),
	}
}

// fibJob asks for the largest Fibonacci numbers that n calls are enough for.
func fibJob(ask asking[int, int]) taskJob {
	calls, want := make([]int, fibMost+1), make([]int, fibMost+1)
	for i := range calls {
		if calls[i], want[i] = 1, 1; i > 1 {
			calls[i], want[i] = 1+calls[i-1]+calls[i-2], want[i-1]+want[i-2]
		}
	}
	return largest(calls, func(i int) error { return ask(i, want[i]) })
}

// fibTask returns the Fibonacci number n. They begin with 1, 1 here, so that no
// value is the zero of a task that has not run.
func fibTask(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return 1, nil
	}
	a := task.ForkCall(ctx, fibTask, n-1)
	b := task.ForkCall(ctx, fibTask, n-2)
	x, err := a.Value(ctx)
	if err != nil {
		return 0, err
	}
	y, err := b.Value(ctx)
	return x + y, err
}

func fibByJoin(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return 1, nil
	}
	x, y, err := task.Join(ctx, fibByJoin, n-1, n-2)
	return x + y, err
}

func fibOnErrgroup(n int) (int, error) {
	if n < 2 {
		return 1, nil
	}
	var (
		eg   errgroup.Group
		x, y int
	)
	eg.Go(func() (err error) {
		x, err = fibOnErrgroup(n - 1)
		return err
	})
	eg.Go(func() (err error) {
		y, err = fibOnErrgroup(n - 2)
		return err
	})
	err := eg.Wait()
	return x + y, err
}

func fibOnGoroutines(n int) int {
	if n < 2 {
		return 1
	}
	var (
		wg   sync.WaitGroup
		x, y int
	)
	wg.Add(2)
	go func() {
		defer wg.Done()
		x = fibOnGoroutines(n - 1)
	}()
	go func() {
		defer wg.Done()
		y = fibOnGoroutines(n - 2)
	}()
	wg.Wait()
	return x + y
}

func fibOnChannels(n int) <-chan int {
	value := make(chan int, 1)
	go func() {
		if n < 2 {
			value <- 1
			return
		}
		x, y := fibOnChannels(n-1), fibOnChannels(n-2)
		value <- <-x + <-y
	}()
	return value
}

func fibHalfOnErrgroup(n int) (int, error) {
	if n < 2 {
		return 1, nil
	}
	var (
		eg errgroup.Group
		y  int
	)
	eg.Go(func() (err error) {
		y, err = fibHalfOnErrgroup(n - 2)
		return err
	})
	x, err := fibHalfOnErrgroup(n - 1)
	if also := eg.Wait(); err == nil {
		err = also
	}
	return x + y, err
}

func fibHalfOnGoroutines(n int) int {
	if n < 2 {
		return 1
	}
	var (
		wg sync.WaitGroup
		y  int
	)
	wg.Add(1)
	go func() {
		defer wg.Done()
		y = fibHalfOnGoroutines(n - 2)
	}()
	x := fibHalfOnGoroutines(n - 1)
	wg.Wait()
	return x + y
}

func fibHalfOnChannels(n int) int {
	if n < 2 {
		return 1
	}
	value := make(chan int, 1)
	go func() { value <- fibHalfOnChannels(n - 2) }()
	return fibHalfOnChannels(n-1) + <-value
}

func fibOnFloor(n int) int {
	if n < 2 {
		return 1
	}
	return fibOnFloor(n-1) + fibOnFloor(n-2)
}
