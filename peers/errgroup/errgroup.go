// Package errgroup is golang.org/x/sync/errgroup: a goroutine for each task, a limit by a
// semaphore, the first error, and a context that the first error cancels.
//
// The idiom of its documentation (https://pkg.go.dev/golang.org/x/sync/errgroup): WithContext,
// SetLimit, Go, Wait; results go into a channel that has room for them, or into a slice.
package errgroup

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/peers/peer"
)

// Peer is errgroup.
var Peer = peer.Group{
	Name: "errgroup",
	Idea: "errgroup with its limit and a channel of results",
	Open: func() peer.Opened { return peer.Opened{New: newTasks} },
}

type tasks struct {
	*errgroup.Group
	ctx context.Context
}

func newTasks(ctx context.Context, cfg group.Config) peer.Tasks {
	t := tasks{new(errgroup.Group), ctx}
	if cfg.FailFast {
		t.Group, t.ctx = errgroup.WithContext(ctx)
	}
	if cfg.MaxConcurrency > 0 {
		t.SetLimit(cfg.MaxConcurrency)
	}
	return t
}

func (t tasks) Go(fn group.TaskFunc[int], results chan<- group.Result[int]) {
	t.Group.Go(func() error { return peer.Run(t.ctx, fn, results) })
}
