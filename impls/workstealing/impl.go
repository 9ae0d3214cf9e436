package workstealing

import (
	"context"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
)

// Impl is this implementation for suites, workloads and boards. Its groups
// share one pool; each executor and each dispatcher has its own. A runtime is a pool
// for all three.
var Impl = dyno.Impl{
	Name:     "workstealing",
	Idea:     "one pool of workers with a queue each, thieves, an inject queue; no goroutine per task",
	Promises: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Fair: true, Parks: true},
	NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return NewGroup[int](ctx, opts...)
	},
	NewDispatcher: func() actor.Dispatcher { return NewDispatcher() },
	NewExecutor:   func() task.Executor { return NewExecutor() },
	NewRuntime: func() dyno.Runtime {
		p := newPool()
		return dyno.Runtime{
			NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
				return NewGroupOn[int](p, ctx, opts...)
			},
			NewDispatcher: func() actor.Dispatcher { return NewDispatcherOn(p) },
			NewExecutor:   func() task.Executor { return NewExecutorOn(p) },
		}
	},
}
