package workstealing_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls/workstealing"
	"github.com/dynolab/dyno/task"
)

func TestConformance(t *testing.T) { conformtest.Run(t, workstealing.Impl) }

// byBulk submits each task by itself as a bulk.
type byBulk struct{ *workstealing.Group[int] }

func (g byBulk) Go(fn group.TaskFunc[int]) error {
	if fn == nil {
		return group.ErrNilTask
	}
	_, err := g.GoBulk(1, func(ctx context.Context, _ int) (int, error) { return fn(ctx) })
	return err
}

// Tasks of a bulk keep the contract as all others do.
func TestConformanceOfBulks(t *testing.T) {
	withTwoProcessors(t)
	impl := workstealing.Impl
	impl.NewGroup = func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return byBulk{workstealing.NewGroup[int](ctx, opts...)}
	}
	impl.NewExecutor, impl.NewDispatcher, impl.NewRuntime = nil, nil, nil
	conformtest.Run(t, impl)
}

// Groups and executors on a runtime keep the contract as well. Each has a runtime of its own
// here, for one cannot be used inside and outside of a test's bubble. For actors there is
// TestOnePoolRunsAll: the suite counts what a system that is done has handled, and
// the workers of others go on counting.
func TestConformanceOfRuntimes(t *testing.T) {
	withTwoProcessors(t)
	impl := workstealing.Impl
	impl.NewGroup = func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return workstealing.Impl.Joined().NewGroup(ctx, opts...)
	}
	impl.NewExecutor = func() task.Executor { return workstealing.Impl.Joined().NewExecutor() }
	impl.NewDispatcher = nil
	conformtest.Run(t, impl)
}

// strategies is the implementation once for each strategy but the default one,
// without groups and tasks, to which strategies mean nothing.
func strategies() []dyno.Impl {
	var all []dyno.Impl
	for _, s := range []workstealing.Strategy{workstealing.Priority, workstealing.WorkConserving} {
		impl := workstealing.Impl
		impl.Name += "-" + s.String()
		impl.NewGroup = nil
		impl.NewExecutor = nil
		impl.NewDispatcher = func() actor.Dispatcher {
			return workstealing.NewDispatcherWith(workstealing.Config{Strategy: s})
		}
		all = append(all, impl)
	}
	return all
}

// withTwoProcessors skips a test with other numbers of processors in the short form. By day one
// is enough for what no other package uses: under -race the three of TestConformance take a
// quarter of a stage. make procs has all of them.
func withTwoProcessors(t *testing.T) {
	t.Helper()
	if testing.Short() && runtime.GOMAXPROCS(0) != 2 {
		t.Skip("short: with two processors only")
	}
}

func TestConformanceOfStrategies(t *testing.T) {
	withTwoProcessors(t)
	for _, impl := range strategies() {
		t.Run(impl.Name, func(t *testing.T) { conformtest.Run(t, impl) })
	}
}
