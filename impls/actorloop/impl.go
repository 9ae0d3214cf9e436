package actorloop

import (
	"context"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
)

// Impl is this implementation for suites, workloads and boards.
var Impl = dyno.Impl{
	Name:     "actorloop",
	Idea:     "one manager goroutine owns the state, errgroup runs the tasks",
	Promises: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Fair: true, ExactPending: true, Parks: true},
	NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return NewGroup[int](ctx, opts...)
	},
	NewDispatcher: func() actor.Dispatcher { return NewDispatcher() },
	NewExecutor:   func() task.Executor { return NewExecutor() },
}
