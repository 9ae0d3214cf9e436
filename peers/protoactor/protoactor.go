// Package protoactor is github.com/asynkron/protoactor-go with local actors: a goroutine runs
// an actor's messages from a lock-free mailbox, up to 300 at a time, as the default has it.
//
// The idiom of its documentation (https://proto.actor/docs/golang/): props from a producer, Send
// from a context, Request and Respond for answers, Poison to stop.
package protoactor

import (
	"io"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dynolab/dyno/peers/peer"
	"github.com/dynolab/dyno/workloads"
)

// Peer is protoactor-go.
var Peer = peer.Actors{
	Name: "protoactor",
	Idea: "protoactor-go with its default mailbox and dispatcher",
	Open: func() workloads.Framework {
		return &system{ActorSystem: actor.NewActorSystem(actor.WithLoggerFactory(silent))}
	},
}

// silent is a logger that says nothing: by default it says that a system has been started.
func silent(*actor.ActorSystem) *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

type system struct{ *actor.ActorSystem }

func (s *system) Spawn(receive workloads.Receive) workloads.Address {
	return s.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &node{receive: receive} }))
}

func (s *system) Send(to workloads.Address, m any) { s.Root.Send(to.(*actor.PID), m) }

func (s *system) Stop(all []workloads.Address) {
	ends := make([]*actor.Future, len(all))
	for i, a := range all {
		ends[i] = s.Root.PoisonFuture(a.(*actor.PID))
	}
	for i, end := range ends {
		for end.Wait() != nil { // after ten seconds it gives up, and the actor may be busy still
			end = s.Root.PoisonFuture(all[i].(*actor.PID))
		}
	}
}

func (s *system) Close() { s.Shutdown() }

// node is an actor, and what it has in its turn.
type node struct {
	receive workloads.Receive
	ctx     actor.Context // of the message that is being handled
}

func (n *node) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started, *actor.Stopping, *actor.Stopped:
	default:
		n.ctx = ctx
		n.receive(n, m)
	}
}

func (n *node) Send(to workloads.Address, m any)    { n.ctx.Send(to.(*actor.PID), m) }
func (n *node) Request(to workloads.Address, m any) { n.ctx.Request(to.(*actor.PID), m) }
func (n *node) Reply(m any)                         { n.ctx.Respond(m) }
