// Package pond is github.com/alitto/pond/v2: a pool with a queue without bounds, whose workers
// come and go with the load, and groups of tasks on it.
//
// The idiom of its README (https://github.com/alitto/pond): a pool for the program, made by
// NewPool with how many tasks may run at once, and a group for each job: NewGroupContext,
// SubmitErr, Wait. A group skips what has not begun when a task fails, so groups that are to
// go on take tasks without an error, by Submit.
package pond

import (
	"context"
	"sync"

	"github.com/alitto/pond/v2"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/peers/peer"
)

// Peer is pond.
var Peer = peer.Group{
	Name: "pond",
	Idea: "a pond task group on a pool that is kept, with a channel of results",
	Open: func() peer.Opened {
		pools := peer.NewPerLimit(func(limit int) pond.Pool { return pond.NewPool(limit) })
		return peer.Opened{
			New: func(ctx context.Context, cfg group.Config) peer.Tasks {
				g := pools.Get(cfg.MaxConcurrency).NewGroupContext(ctx)
				if cfg.FailFast {
					return failFast{g}
				}
				return &toTheEnd{tasks: g, ctx: g.Context()}
			},
			Close: func() { pools.Each(func(p pond.Pool) { p.StopAndWait() }) },
		}
	},
	Without: map[string]string{
		"workload=cancel":            "tasks that have not begun when the context ends do not run, so they have no results",
		"workload=short/failfast=on": "tasks that have not begun when one fails do not run, so they have no results",
	},
}

// failFast is a group as pond has it.
type failFast struct{ pond.TaskGroup }

func (t failFast) Go(fn group.TaskFunc[int], results chan<- group.Result[int]) {
	t.SubmitErr(func() error { return peer.Run(t.Context(), fn, results) })
}

// toTheEnd is a group whose tasks all run.
type toTheEnd struct {
	tasks pond.TaskGroup
	ctx   context.Context // that of tasks

	once  sync.Once // the first task that fails writes first; Wait reads it after all are done
	first error
}

func (t *toTheEnd) Go(fn group.TaskFunc[int], results chan<- group.Result[int]) {
	t.tasks.Submit(func() {
		if err := peer.Run(t.ctx, fn, results); err != nil {
			t.fail(err)
		}
	})
}

// fail books an error. It is apart from the task, for whose stack a goroutine of pond has little
// room before it must grow.
//
//go:noinline
func (t *toTheEnd) fail(err error) { t.once.Do(func() { t.first = err }) }

func (t *toTheEnd) Wait() error {
	if err := t.tasks.Wait(); err != nil {
		return err
	}
	return t.first
}
