// Package ants is github.com/panjf2000/ants/v2: a pool of goroutines that are used again, the
// one that has rested last first.
//
// The idiom of its README (https://github.com/panjf2000/ants): a pool for the program, made by
// NewPool with how many goroutines there may be, Submit, and a WaitGroup for each job. Errors
// and contexts are the program's. A panic is logged, and no Wait tells of it.
package ants

import (
	"context"

	"github.com/panjf2000/ants/v2"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/peers/peer"
)

// Peer is ants.
var Peer = peer.Group{
	Name: "ants",
	Idea: "an ants pool that is kept, with a WaitGroup and a channel of results for each group",
	Open: func() peer.Opened {
		pools := peer.NewPerLimit(newPool)
		return peer.Opened{
			New: func(ctx context.Context, cfg group.Config) peer.Tasks {
				pool := pools.Get(cfg.MaxConcurrency)
				return peer.NewCounted(ctx, cfg, func(f func()) {
					if err := pool.Submit(f); err != nil {
						panic(err) // a closed pool: the group outlived its program
					}
				}, nil)
			},
			Close: func() { pools.Each((*ants.Pool).Release) },
		}
	},
}

// newPool makes a pool. A limit of 0 is none, as ants has it.
func newPool(limit int) *ants.Pool {
	p, err := ants.NewPool(limit)
	if err != nil {
		panic(err) // an option that ants does not take
	}
	return p
}
