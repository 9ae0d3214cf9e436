package serial

import (
	"context"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
)

// Impl is this implementation for suites, workloads and boards: first in, first
// out.
var Impl = dyno.Impl{
	Name:     "serial",
	Idea:     "one task or actor at a time, on demand, in a repeatable order",
	Promises: dyno.Promises{StartOrder: true, Fair: true, Deterministic: true, ExactPending: true, Parks: true},
	NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return NewGroup[int](ctx, opts...)
	},
	NewDispatcher: func() actor.Dispatcher { return NewDispatcher() },
	NewExecutor:   func() task.Executor { return NewExecutor() },
}
