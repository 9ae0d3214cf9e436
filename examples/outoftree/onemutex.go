// Package onemutex is an implementation that lives outside dyno's module: one
// mutex, and a goroutine for each task and each turn of an actor.
//
// The group is that of package mine.
//
// The [Dispatcher] runs actors. A mailbox ([Latest]) and an invoker ([Retrier])
// of the module's own go with it, or with any other dispatcher.
package onemutex

import (
	"context"

	"example.com/onemutex/mine"
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
)

// Impl is what dyno's suite and workloads take.
var Impl = dyno.Impl{
	Name:     "onemutex",
	Idea:     "one mutex, and a goroutine for each task and each turn",
	Promises: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Parks: true},
	NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return mine.NewGroup[int](ctx, opts...)
	},

	NewDispatcher: func() actor.Dispatcher { return NewDispatcher() },
}
