package channel

import (
	"context"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
)

// Impl is this implementation for suites, workloads and boards.
var Impl = dyno.Impl{
	Name:     "channel",
	Idea:     "the state travels through channels; a goroutine per task",
	Promises: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, ExactPending: true, Parks: true},
	NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return NewGroup[int](ctx, opts...)
	},
	NewDispatcher: func() actor.Dispatcher { return NewDispatcher() },
	NewExecutor:   func() task.Executor { return NewExecutor() },
}
