// Counter shows the beginning and the end: how to start a system of actors,
// spawn some, send to them, get a reply, and shut down.
//
// Ten clickers send increments to one counter. There is no lock and no atomic
// operation: the counter's number is its own, and it handles one message at a
// time.
//
//	go run ./examples/counter
//	go run ./examples/counter -impl serial
//
//	/user (guardian)
//	├── /user/counter
//	└── /user/anon-5 … /user/anon-14 (clickers)
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/examples/internal/cli"
)

const (
	clickers = 10
	clicks   = 100 // of each clicker
)

// What the counter understands, and what it replies. Messages are plain values;
// who receives one tells them apart with a type switch.
type (
	// increment adds one.
	increment struct{}
	// read asks for the number. A receiver does not know the sender of a message unless it
	// says so: the reply goes to the Ref in it.
	read struct{ replyTo actor.Ref }
	// total is the reply to read.
	total int
)

// counter is an actor. Its fields need no protection: only its own turns touch
// them, one after the other.
type counter struct{ n int }

func (c *counter) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case increment:
		c.n++
	case read:
		return ctx.Tell(msg.replyTo, total(c.n))
	default:
		return fmt.Errorf("counter: unexpected message %T", msg) // a failure: the actor is stopped
	}
	return nil
}

// clicker does all it has to do before its first message: it increments, and
// asks the counter to tell the guardian what came of it.
type clicker struct{ counter actor.Ref }

func (c *clicker) PreStart(ctx *actor.Context) error {
	for range clicks {
		if err := ctx.Tell(c.counter, increment{}); err != nil {
			return err
		}
	}
	return ctx.Tell(c.counter, read{replyTo: ctx.Parent()})
}

func (*clicker) Receive(*actor.Context, any) error { return nil }

// guardian is the one actor that there is from the start. It spawns all others
// and waits for the counter's replies.
type guardian struct {
	replies int
	result  chan<- total
	ref     chan<- actor.Ref // the counter's, for run
}

func (g *guardian) PreStart(ctx *actor.Context) error {
	c, err := ctx.SpawnNamed("counter", actor.Props{New: func() actor.Actor { return new(counter) }})
	if err != nil {
		return err
	}
	g.ref <- c
	for range clickers {
		if _, err := ctx.Spawn(actor.Props{New: func() actor.Actor { return &clicker{counter: c} }}); err != nil {
			return err
		}
	}
	return nil
}

func (g *guardian) Receive(_ *actor.Context, msg any) error {
	// What one clicker sends to the counter is handled in the order in which it
	// was sent: its increments, then its read. Between clickers there is no
	// order, so the early replies say this or that. But the last one was given
	// when all ten reads had come, and so all increments before them.
	if n, ok := msg.(total); ok {
		if g.replies++; g.replies == clickers {
			g.result <- n
		}
	}
	return nil
}

func main() { cli.Main(run) }

// run is the program, with the actors run by d.
func run(w io.Writer, d actor.Dispatcher) error {
	// Buffered, so that the guardian's turn never waits for this goroutine.
	result, ref := make(chan total, 1), make(chan actor.Ref, 1)
	failed := make(chan error, 1)
	sys, err := actor.NewSystem(actor.Config{
		Name:       "counter",
		Dispatcher: d,
		Guardian:   actor.Props{New: func() actor.Actor { return &guardian{result: result, ref: ref} }},
		Failures: func(f actor.Failure) { // of any actor; without it failures are not reported
			select {
			case failed <- fmt.Errorf("%s: %w", f.Actor.Path(), f.Err):
			default: // the first one is enough
			}
		},
	})
	if err != nil {
		return err
	}
	if sys.Synchronous() {
		sys.RunUntilIdle() // serial has no goroutine of its own; this one runs its actors
	}
	select {
	case n := <-result:
		if _, err := fmt.Fprintf(w, "%d clickers, %d clicks each: %d\n", clickers, clicks, n); err != nil {
			return err
		}
	case err := <-failed:
		return err
	}

	// Children stop before their parents. Shutdown returns when all have, or
	// says who has not in time.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := sys.Shutdown(ctx); err != nil {
		return err
	}

	// A Ref outlives its actor. A message that cannot be delivered comes back.
	err = (<-ref).Tell(increment{})
	var back *actor.SendError
	if !errors.As(err, &back) {
		return fmt.Errorf("a stopped counter has accepted a message: %v", err)
	}
	_, err = fmt.Fprintf(w, "%T to %s came back: %v\n", back.Msg, back.To.Path(), back.Reason)
	return err
}
