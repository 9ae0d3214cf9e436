// Package peers lists what other people have built, for its benchmarks to lay beside dyno's
// implementations: the same workloads, inputs and checks, in the same rounds. It is a module of
// its own, so that users of dyno download none of it. peers/README.md is its page.
package peers

import (
	"github.com/dynolab/dyno/peers/ants"
	"github.com/dynolab/dyno/peers/conc"
	"github.com/dynolab/dyno/peers/errgroup"
	"github.com/dynolab/dyno/peers/goroutines"
	"github.com/dynolab/dyno/peers/peer"
	"github.com/dynolab/dyno/peers/pond"
	"github.com/dynolab/dyno/peers/protoactor"
)

// Groups returns the peers that run groups of tasks.
func Groups() []peer.Group {
	return []peer.Group{
		errgroup.Peer,
		conc.Peer,
		pond.Peer,
		ants.Peer,
		goroutines.Peer,
	}
}

// Actors returns the peers that run actors.
func Actors() []peer.Actors {
	return []peer.Actors{
		protoactor.Peer,
	}
}
