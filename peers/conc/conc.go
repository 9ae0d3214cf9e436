// Package conc is github.com/sourcegraph/conc: pools of goroutines that live as long as one
// Wait, tasks handed over by an unbuffered channel, panics that Wait raises again.
//
// The idiom of its README (https://github.com/sourcegraph/conc): a pool for each job, made by
// pool.New().WithContext(ctx) with WithMaxGoroutines and WithCancelOnError, Go, Wait. Its pools
// with results hold them back until all tasks are done, so a channel brings them here.
package conc

import (
	"context"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/peers/peer"
)

// Peer is conc.
var Peer = peer.Group{
	Name: "conc",
	Idea: "a conc ContextPool for each group, with a channel of results",
	Open: func() peer.Opened { return peer.Opened{New: newTasks} },
	Without: map[string]string{
		"workload=short/failfast=on": "it cancels the context without the error as its cause",
	},
}

func newTasks(ctx context.Context, cfg group.Config) peer.Tasks {
	p := pool.New().WithContext(ctx).WithFirstError()
	if cfg.FailFast {
		p = p.WithCancelOnError()
	}
	if cfg.MaxConcurrency > 0 {
		p = p.WithMaxGoroutines(cfg.MaxConcurrency)
	}
	return &tasks{ContextPool: p}
}

type tasks struct {
	*pool.ContextPool
	once   sync.Once // a second Wait panics; the first writes answer
	answer error
}

func (t *tasks) Wait() error {
	t.once.Do(func() { t.answer = t.ContextPool.Wait() })
	return t.answer
}

func (t *tasks) Go(fn group.TaskFunc[int], results chan<- group.Result[int]) {
	t.ContextPool.Go(func(ctx context.Context) error { return peer.Run(ctx, fn, results) })
}
