// Package goroutines is what one writes without a library: a goroutine for each task, a
// channel as a semaphore where there is a limit, a WaitGroup, and a channel of results.
//
// The idiom is that of the Go blog's "Go Concurrency Patterns: Pipelines and cancellation"
// (https://go.dev/blog/pipelines).
package goroutines

import (
	"context"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/peers/peer"
)

// Peer is goroutines and channels.
var Peer = peer.Group{
	Name: "goroutines",
	Idea: "a goroutine each, a semaphore channel, a WaitGroup and a channel of results",
	Open: func() peer.Opened { return peer.Opened{New: newTasks} },
}

func newTasks(ctx context.Context, cfg group.Config) peer.Tasks {
	if cfg.MaxConcurrency == 0 {
		return peer.NewCounted(ctx, cfg, func(f func()) { go f() }, nil)
	}
	places := make(chan struct{}, cfg.MaxConcurrency)
	return peer.NewCounted(ctx, cfg, func(f func()) {
		places <- struct{}{}
		go f()
	}, func() { <-places })
}
