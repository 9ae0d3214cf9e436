package workloads

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// cancelStorm is how many tasks are canceled in one go.
const cancelStorm = 1024

// taskCancel is a crowd of tasks that are not wanted any more. Every second task lets others run
// before it ends; each is canceled twice.
//
// How many are over before they are canceled is up to the implementation. That a task was
// canceled at most once, and everything else fits that, is not.
func taskCancel() []Workload {
	return []Workload{{
		Name:    "cancel",
		Doc:     "1,024 tasks are canceled from both ends while they run: what it costs to be rid of tasks, and whether all agree what became of each",
		Checked: "that at most one of the two was told that it has canceled a task, and that the task's state, value and error fit",
		Slicing: Slicing{Unit: cancelStorm},
		Prepare: onExecutor(func(ex task.Executor) taskJob {
			s := &storm{
				tasks: make([]*task.Future[uint32], cancelStorm),
				won:   [2][]bool{make([]bool, cancelStorm), make([]bool, cancelStorm)},
			}
			return atMost(cancelStorm, func(k int) error { return demand(ex, s.round, k, k) })
		}),
		Refs: []Ref{
			taskRef(refErrgroup, "an errgroup, a context for each goroutine, which looks at it at the end, and no answer whether that was in time", func() taskJob { return atMost(cancelStorm, cancelOnErrgroup) }),
			taskRef(refGoroutines, "a goroutine, a state that changes once, and a channel that is closed then, for each task", func() taskJob { return atMost(cancelStorm, cancelOnGoroutines) }),
		},
	}}
}

// storm is a round of tasks.
type storm struct {
	tasks []*task.Future[uint32]
	won   [2][]bool // which tasks each of the two has canceled, as he was told
}

// sweep is what one of the two is to do: to cancel tasks 0 … k-1.
type sweep struct {
	*storm
	k, who int
}

// round starts k tasks and those that cancel them, and returns of how many all is
// well.
func (s *storm) round(ctx context.Context, k int) (int, error) {
	for i := range s.tasks[:k] {
		s.tasks[i] = task.ForkCall(ctx, cancelTask, i)
	}
	up := task.ForkCall(ctx, cancelSweep, sweep{s, k, 0})
	down := task.ForkCall(ctx, cancelSweep, sweep{s, k, 1})
	for _, f := range [...]*task.Future[int]{up, down} {
		n, err := f.Value(ctx)
		if err := checkResult(n, k, err); err != nil {
			return 0, err
		}
	}
	for i, f := range s.tasks[:k] {
		v, err := f.Value(ctx)
		if err := cancelCheck(i, v, err, f.Status(), s.won[0][i], s.won[1][i]); err != nil {
			return 0, err
		}
	}
	clear(s.tasks[:k])
	return k, nil
}

// cancelTask is one of the crowd.
func cancelTask(ctx context.Context, i int) (uint32, error) {
	if i%2 > 0 {
		if err := task.Yield(ctx); err != nil {
			return 0, err
		}
		if over, err := task.Canceled(ctx); over || err != nil {
			return 0, err
		}
	}
	return crowdValue(i), nil
}

// cancelSweep cancels the tasks, and returns how many.
func cancelSweep(_ context.Context, s sweep) (int, error) {
	for n := range s.k {
		i := n
		if s.who == 1 {
			i = s.k - 1 - n
		}
		s.won[s.who][i] = s.tasks[i].Cancel()
	}
	return s.k, nil
}

// cancelCheck says what is wrong with task i, which returned v and err and has the
// given status, if each of the two was told whether he has canceled it.
func cancelCheck(i int, v uint32, err error, s task.Status, up, down bool) error {
	switch {
	case up && down:
		return errors.New("workloads: task " + strconv.Itoa(i) + " was canceled twice")
	case s == task.Cancelled && up != down && v == 0 && errors.Is(err, context.Canceled):
		return nil
	case s == task.Resolved && !up && !down && err == nil && v == crowdValue(i):
		return nil
	}
	who := "neither of two"
	if up || down {
		who = "one of two"
	}
	return errors.New("workloads: task " + strconv.Itoa(i) + ", which " + who + " has canceled, is " + s.String() +
		" with value " + strconv.FormatUint(uint64(v), 10) + " and error " + errText(err))
}

func cancelOnErrgroup(k int) error {
	type one struct {
		ctx    context.Context
		cancel context.CancelFunc
		value  uint32
		err    error
	}
	var crowd, both errgroup.Group
	tasks := make([]one, k)
	for i := range tasks {
		t := &tasks[i]
		t.ctx, t.cancel = context.WithCancel(context.Background())
		crowd.Go(func() error {
			if t.err = t.ctx.Err(); t.err != nil {
				return nil
			}
			if i%2 > 0 {
				runtime.Gosched()
			}
			if t.err = t.ctx.Err(); t.err == nil {
				t.value = crowdValue(i)
			}
			return nil
		})
	}
	both.Go(func() error {
		for i := range tasks {
			tasks[i].cancel()
		}
		return nil
	})
	both.Go(func() error {
		for i := range tasks {
			tasks[k-1-i].cancel()
		}
		return nil
	})
	if err := errors.Join(both.Wait(), crowd.Wait()); err != nil {
		return err
	}
	for i := range tasks {
		t := &tasks[i]
		s := task.Resolved
		if t.err != nil {
			s = task.Cancelled
		}
		if err := cancelCheck(i, t.value, t.err, s, t.err != nil, false); err != nil {
			return err
		}
	}
	return nil
}

// cancelable is a task by hand. It begins with the zero Status, which is Pending.
type cancelable struct {
	status atomic.Uint32
	value  uint32 // of one that is Resolved
	over   chan struct{}
}

// end makes it what s says, unless it is over.
func (t *cancelable) end(s task.Status) bool {
	if !t.status.CompareAndSwap(uint32(task.Pending), uint32(s)) {
		return false
	}
	close(t.over)
	return true
}

// run is what its goroutine does.
func (t *cancelable) run(i int) {
	if t.status.Load() != uint32(task.Pending) {
		return
	}
	if i%2 > 0 {
		runtime.Gosched()
		if t.status.Load() != uint32(task.Pending) {
			return
		}
	}
	t.value = crowdValue(i)
	t.end(task.Resolved)
}

func cancelOnGoroutines(k int) error {
	var (
		crowd, both sync.WaitGroup
		tasks       = make([]cancelable, k)
		won         = [2][]bool{make([]bool, k), make([]bool, k)}
	)
	crowd.Add(k)
	for i := range tasks {
		t := &tasks[i]
		t.over = make(chan struct{})
		go func() {
			defer crowd.Done()
			t.run(i)
		}()
	}
	both.Add(2)
	go func() {
		defer both.Done()
		for i := range tasks {
			won[0][i] = tasks[i].end(task.Cancelled)
		}
	}()
	go func() {
		defer both.Done()
		for n := range tasks {
			i := k - 1 - n
			won[1][i] = tasks[i].end(task.Cancelled)
		}
	}()
	both.Wait()
	for i := range tasks {
		t := &tasks[i]
		<-t.over
		s, v, err := task.Status(t.status.Load()), uint32(0), error(nil)
		if s == task.Cancelled {
			err = context.Canceled
		} else {
			v = t.value
		}
		if err := cancelCheck(i, v, err, s, won[0][i], won[1][i]); err != nil {
			return err
		}
	}
	crowd.Wait()
	return nil
}
