package workloads

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// spawnAwaitMost is how many tasks there are at once.
const spawnAwaitMost = 100_000

// taskSpawnAwait is a flat crowd of tasks: of a program that is made of tasks and, with
// from=outside, of one that is not and hands some over.
func taskSpawnAwait() []Workload {
	return []Workload{
		spawnAwait("", "a task starts 100,000 others that do next to nothing, and then waits for each: what a flat crowd of tasks costs",
			func(f *futures) func(k int) error {
				return func(k int) error { return demand(f.ex, f.fromTask, k, 1) }
			}),
		spawnAwait("from=outside", "as spawnawait, by a goroutine that is not a task: what it costs to get tasks into an executor, and their values out",
			func(f *futures) func(k int) error { return f.fromOutside }),
	}
}

func spawnAwait(variant, doc string, do func(f *futures) func(k int) error) Workload {
	return Workload{
		Name:    "spawnawait",
		Variant: variant,
		Doc:     doc,
		Checked: "each task's value",
		Slicing: Slicing{Unit: spawnAwaitMost},
		Prepare: onExecutor(func(ex task.Executor) taskJob {
			return atMost(spawnAwaitMost, do(&futures{ex: ex, all: make([]*task.Future[uint32], spawnAwaitMost)}))
		}),
		Refs: []Ref{
			taskRef(refErrgroup, "an errgroup, and the values in a slice", func() taskJob {
				values := make([]uint32, spawnAwaitMost)
				return atMost(spawnAwaitMost, func(k int) error {
					var eg errgroup.Group
					for i := range values[:k] {
						eg.Go(func() error {
							values[i] = crowdValue(i)
							return nil
						})
					}
					return checkCrowd(values[:k], eg.Wait())
				})
			}),
			taskRef(refGoroutines, "a goroutine each, a WaitGroup, and the values in a slice", func() taskJob {
				values := make([]uint32, spawnAwaitMost)
				return atMost(spawnAwaitMost, func(k int) error {
					var wg sync.WaitGroup
					wg.Add(k)
					for i := range values[:k] {
						go func() {
							defer wg.Done()
							values[i] = crowdValue(i)
						}()
					}
					wg.Wait()
					return checkCrowd(values[:k], nil)
				})
			}),
			taskRef(refBuffered, "a goroutine and a channel for its one value each: the only one of these that can be waited for one at a time", func() taskJob {
				values := make([]chan uint32, spawnAwaitMost)
				return atMost(spawnAwaitMost, func(k int) error {
					for i := range values[:k] {
						value := make(chan uint32, 1)
						values[i] = value
						go func() { value <- crowdValue(i) }()
					}
					for i, value := range values[:k] {
						if err := checkResult(<-value, crowdValue(i), nil); err != nil {
							return err
						}
					}
					clear(values[:k])
					return nil
				})
			}),
		},
	}
}

// crowdValue is what task i returns: never zero, and no other's value.
func crowdValue(i int) uint32 { return fill(uint32(i)+1, 1) | 1 }

func crowdTask(_ context.Context, i int) (uint32, error) { return crowdValue(i), nil }

// checkCrowd checks the values that tasks have left in a slice, and clears it, so
// that none is taken for that of a later task.
func checkCrowd(values []uint32, err error) error {
	for i, v := range values {
		if err := checkResult(v, crowdValue(i), err); err != nil {
			return err
		}
	}
	clear(values)
	return err
}

// futures are the tasks of a job.
type futures struct {
	ex  task.Executor
	all []*task.Future[uint32]
}

// fromTask is the task that starts k others and waits for them.
func (f *futures) fromTask(ctx context.Context, k int) (int, error) {
	for i := range f.all[:k] {
		f.all[i] = task.ForkCall(ctx, crowdTask, i)
	}
	return 1, f.await(ctx, k)
}

func (f *futures) fromOutside(k int) error {
	for i := range f.all[:k] {
		f.all[i] = task.Call(f.ex, crowdTask, i)
	}
	return f.await(context.Background(), k)
}

// await waits for each of k tasks, and forgets them.
func (f *futures) await(ctx context.Context, k int) error {
	for i, one := range f.all[:k] {
		v, err := one.Value(ctx)
		if err = checkResult(v, crowdValue(i), err); err != nil {
			return err
		}
	}
	clear(f.all[:k])
	return nil
}
