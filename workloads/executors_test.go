package workloads_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

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
	h.Room().Word.Store(uint32(s))
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
		"workload=fib/by=join":             2503,     // of the 6 problems, and for one of the two calls of each call
		"workload=matmul":                  n,        //
		"workload=pipeline":                n + 2,    // the one that starts the others
		"workload=queens":                  n,        //
		"workload=queens/board=8":          n,        //
		"workload=quicksort":               n,        //
		"workload=shared":                  n + 79*2, // the one that starts the others, and the one that they wait for
		"workload=spawnawait":              n + 1,    // the one that starts the others
		"workload=spawnawait/from=outside": n,        //
		"workload=tree":                    n,        //
		"workload=tree/by=join":            n / 2,    // the root, and of each two children one
		"workload=yield":                   3,        // and as many yields as operations
	}
	for path, want := range want {
		w := find(t, workloads.TaskContract, path)
		c := &counting{Executor: newPlain()}
		run := w.Prepare(withExecutor(func() task.Executor { return c }))
		if err := run.Do(n); err != nil {
			t.Fatalf("%s: %v", w.Path(), err)
		}
		run.Close()
		if c.n != want {
			t.Errorf("%s: %d tasks for %d operations, want %d", path, c.n, n, want)
		}
		if w.Name == "yield" && c.yields != n {
			t.Errorf("%s: %d yields for %d operations", w.Path(), c.yields, n)
		}
	}
}
