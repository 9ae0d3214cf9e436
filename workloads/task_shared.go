package workloads

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

const (
	sharedWaiters = 64

	// sharedPatience is how often the task that is waited for lets others run
	// while not all have come. A hundred times are enough for those who have a
	// processor; a million last longer than another program may keep that from
	// them, and are an end where yielding does nothing.
	sharedPatience = 1_000_000
)

// taskShared is one value that many wait for. It is not there before all of them have come.
func taskShared() []Workload {
	return []Workload{{
		Name:    "shared",
		Doc:     "64 tasks wait for a single other one, again and again: what it costs to wait where all do, and to wake all",
		Op:      "such a wait",
		Checked: "each waiter's value, which is another one every time",
		Slicing: Slicing{Unit: sharedWaiters},
		Prepare: onExecutor(func(ex task.Executor) taskJob {
			s := new(sharedOnTasks)
			return sharedJob(&s.shared, func(k int) error { return demand(ex, s.round, k, k) })
		}),
		Refs: []Ref{
			taskRef(refErrgroup, "an errgroup, and a channel that is closed when the value is there", func() taskJob {
				s := new(shared)
				return sharedJob(s, func(k int) error {
					var (
						eg    errgroup.Group
						value uint32
					)
					there := make(chan struct{})
					eg.Go(func() error {
						defer close(there)
						value = s.compute(k, runtime.Gosched)
						return nil
					})
					for range k {
						eg.Go(func() error {
							s.come()
							<-there
							return s.check(value, nil)
						})
					}
					return eg.Wait()
				})
			}),
			taskRef(refGoroutines, "goroutines, and two WaitGroups: for the value, and for those who wait for it", func() taskJob {
				s := new(shared)
				return sharedJob(s, func(k int) error {
					var (
						there, over sync.WaitGroup
						value       uint32
					)
					errs := make([]error, k)
					there.Add(1)
					go func() {
						defer there.Done()
						value = s.compute(k, runtime.Gosched)
					}()
					over.Add(k)
					for i := range errs {
						go func() {
							defer over.Done()
							s.come()
							there.Wait()
							errs[i] = s.check(value, nil)
						}()
					}
					over.Wait()
					return errors.Join(errs...)
				})
			}),
		},
	}}
}

// shared is what a job's tasks know.
type shared struct {
	value uint32       // another one in each job
	here  atomic.Int32 // who have come
}

// sharedJob is n waits, at most 64 at once.
func sharedJob(s *shared, round func(k int) error) taskJob {
	return atMost(sharedWaiters, func(k int) error {
		s.value = fill(s.value+1, 2) | 1
		s.here.Store(0)
		return round(k)
	})
}

// come says that one who waits is there.
func (s *shared) come() { s.here.Add(1) }

// compute returns the value when k have come.
func (s *shared) compute(k int, yield func()) uint32 {
	for tries := 0; int(s.here.Load()) < k && tries < sharedPatience; tries++ {
		yield()
	}
	return s.value
}

// check says what is wrong with the value that a waiter got.
func (s *shared) check(v uint32, err error) error { return checkResult(v, s.value, err) }

// sharedOnTasks is a round of tasks.
type sharedOnTasks struct {
	shared
	one     *task.Future[uint32]
	waiters [sharedWaiters]*task.Future[int]
}

// round starts the one and k tasks that wait for it, and returns how many of
// them have got its value.
func (s *sharedOnTasks) round(ctx context.Context, k int) (int, error) {
	s.one = task.ForkCall(ctx, s.produce, k)
	for i := range s.waiters[:k] {
		s.waiters[i] = task.ForkCall(ctx, sharedWait, s)
	}
	n := 0
	for _, w := range s.waiters[:k] {
		got, err := w.Value(ctx)
		if err != nil {
			return 0, err
		}
		n += got
	}
	return n, nil
}

func (s *sharedOnTasks) produce(ctx context.Context, k int) (uint32, error) {
	var err error
	v := s.compute(k, func() {
		if e := task.Yield(ctx); e != nil {
			err = e
		}
	})
	return v, err
}

func sharedWait(ctx context.Context, s *sharedOnTasks) (int, error) {
	s.come()
	v, err := s.one.Value(ctx)
	if err := s.check(v, err); err != nil {
		return 0, err
	}
	return 1, nil
}
