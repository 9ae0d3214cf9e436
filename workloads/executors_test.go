package workloads_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads"
)

// plain is the simplest executor that keeps the contract: a goroutine for each
// task, and one mutex. The tests of the workloads need one that is right.
type plain struct {
	mu      sync.Mutex
	pending int
	closed  bool
}

func newPlain() task.Executor { return new(plain) }

func (x *plain) Start(h, _ *task.Handle) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return task.ErrClosed
	}
	x.pending++
	h.Room().Own = make(chan struct{})
	go func() {
		if x.Status(h) != task.Pending {
			return
		}
		s := task.Failed // if Run does not return
		defer func() { x.end(h, s) }()
		s = h.Run()
	}()
	return nil
}

func (x *plain) end(h *task.Handle, s task.Status) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if task.Status(h.Room().Word.Load()) != task.Pending {
		return false
	}
	x.pending--
	h.Room().Word.Store(uint64(s))
	close(h.Room().Own.(chan struct{}))
	return true
}

func (x *plain) Status(h *task.Handle) task.Status { return task.Status(h.Room().Word.Load()) }

func (x *plain) Wait(ctx context.Context, h, _ *task.Handle) error {
	select {
	case <-x.Done(h):
		return nil
	default:
	}
	select {
	case <-x.Done(h):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *plain) Done(h *task.Handle) <-chan struct{} { return h.Room().Own.(chan struct{}) }
func (x *plain) Cancel(h *task.Handle) bool          { return x.end(h, task.Cancelled) }
func (x *plain) Yield(*task.Handle)                  { runtime.Gosched() }
func (x *plain) Flush(int) int                       { return 0 }

func (x *plain) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.pending
}

func (x *plain) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
}

// executors are the simplest one and all that there are.
func executors() []dyno.Impl {
	list := []dyno.Impl{{Name: "plain", NewExecutor: newPlain, Promises: dyno.Promises{Overlap: true, Eager: true, Parks: true}}}
	for _, impl := range impls.All() {
		if impl.NewExecutor != nil {
			list = append(list, impl)
		}
	}
	return list
}

// taskScale returns which numbers of operations to use for a workload. The race
// detector is slow, and allows a process no more than 8,128 goroutines.
func taskScale(w workloads.Task) []int {
	switch {
	case w.Name == "quicksort":
		return []int{1, 2, 3, 7, 256, 257} // tasks that do something
	case w.Name == "matmul":
		return []int{1, 2, 3, 7, 64, 65}
	case raceEnabled:
		return []int{1, 2, 3, 16, 17, 65, 257, 1025, 4097}
	}
	counts := []int{1, 2, 3, 4, 5, 15, 16, 17, 33, 63, 64, 65, 255, 256, 257, 1000, 1023, 1024, 1025, 2057, 4095, 4097}
	switch w.Name {
	case "fib", "queens", "spawnawait", "tree":
		counts = append(counts, 100_001) // a problem of full size, and part of one
	}
	return counts
}

func TestTasks(t *testing.T) {
	for _, w := range workloads.Tasks() {
		for _, impl := range executors() {
			t.Run(w.Path()+"/impl="+impl.Name, func(t *testing.T) {
				if lacks := impl.Promises.Lacks(w.Needs); len(lacks) > 0 {
					t.Skip("needs ", strings.Join(lacks, ", "))
				}
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exercise(t, taskScale(w), func() workloads.Run { return w.Prepare(impl.NewExecutor) })
			})
		}
	}
}

func TestTaskRefs(t *testing.T) {
	for _, w := range workloads.Tasks() {
		for _, ref := range w.Refs {
			t.Run(w.Path()+"/impl="+ref.Name, func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exercise(t, taskScale(w), ref.Prepare)
			})
		}
	}
}

// A run that was prepared and never used leaves nothing behind either.
func TestUnusedTaskRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, w := range workloads.Tasks() {
		for _, ref := range w.Refs {
			ref.Prepare().Close()
		}
		for _, impl := range executors() {
			w.Prepare(impl.NewExecutor).Close()
		}
	}
}

// counting counts the tasks that it is given.
type counting struct {
	task.Executor
	mu     sync.Mutex
	n      int
	yields int
}

func (c *counting) Start(h, from *task.Handle) error {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return c.Executor.Start(h, from)
}

func (c *counting) Yield(h *task.Handle) {
	c.mu.Lock()
	c.yields++
	c.mu.Unlock()
	c.Executor.Yield(h)
}

// One operation is one task, but for those that are the frame of a job.
func TestTasksMade(t *testing.T) {
	const n = 5000
	want := map[string]int{
		"workload=cancel":                  n + 5*3,  // the one that starts the others, and two that cancel
		"workload=fib":                     n,        //
		"workload=matmul":                  n,        //
		"workload=pipeline":                n + 2,    // the one that starts the others
		"workload=queens":                  n,        //
		"workload=queens/board=8":          n,        //
		"workload=quicksort":               n,        //
		"workload=shared":                  n + 79*2, // the one that starts the others, and the one that they wait for
		"workload=spawnawait":              n + 1,    // the one that starts the others
		"workload=spawnawait/from=outside": n,        //
		"workload=tree":                    n,        //
		"workload=yield":                   3,        // and as many yields as operations
	}
	for _, w := range workloads.Tasks() {
		c := &counting{Executor: newPlain()}
		run := w.Prepare(func() task.Executor { return c })
		if err := run.Do(n); err != nil {
			t.Fatalf("%s: %v", w.Path(), err)
		}
		run.Close()
		if c.n != want[w.Path()] {
			t.Errorf("%s: %d tasks for %d operations, want %d", w.Path(), c.n, n, want[w.Path()])
		}
		if w.Name == "yield" && c.yields != n {
			t.Errorf("%s: %d yields for %d operations", w.Path(), c.yields, n)
		}
	}
}

func TestTasksDoOfNothingPanics(t *testing.T) {
	for _, w := range workloads.Tasks() {
		for _, n := range []int{0, -1} {
			func() {
				run := w.Prepare(newPlain)
				defer run.Close()
				defer func() {
					if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "workloads: ") {
						t.Errorf("%s: Do(%d): panicked with %s, want a message of this package", w.Path(), n, v)
					}
				}()
				run.Do(n)
			}()
		}
	}
}

func TestTaskFields(t *testing.T) { checkFields(t, describedTasks(), "ref-errgroup") }

func TestTaskDocumentIsCurrent(t *testing.T) { checkDocument(t, describedTasks(), "Executors") }
