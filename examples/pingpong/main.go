// Pingpong is the least program of actors: two of them send one message back and
// forth, a thousand times, and it prints how long that took. It is one program for a
// host and for a microcontroller: it imports nothing that boards do not have, and
// prints by println, which is a board's serial line and a process's standard error.
//
//	go run ./examples/pingpong
//	tinygo run -target=cortex-m-qemu ./examples/pingpong
//
//	/user (guardian)
//	├── /user/ping
//	└── /user/pong
package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/serial"
)

// messages is how many times the ball is sent, and limit how long that may take, on
// 64 KiB of memory as well.
const (
	messages = 1000
	limit    = time.Second
)

// ball is the one message. It travels by its pointer, so that no hop allocates.
type ball struct {
	hops int // times that it has been received
	from actor.Ref
}

// player is an actor that sends the ball back to where it came from.
type player struct {
	over chan<- struct{}
}

func (p *player) Receive(ctx *actor.Context, msg any) error {
	b, ok := msg.(*ball)
	if !ok {
		return errors.New("a player received what is no ball")
	}
	if b.hops++; b.hops == messages {
		p.over <- struct{}{}
		return nil
	}
	to := b.from
	b.from = ctx.Self()
	return ctx.Tell(to, b)
}

// guardian has the two players, and brings the ball into play.
type guardian struct{ player *player }

func (g *guardian) PreStart(ctx *actor.Context) error {
	props := actor.Props{New: func() actor.Actor { return g.player }} // it has no state of its own
	ping, err := ctx.SpawnNamed("ping", props)
	if err != nil {
		return err
	}
	pong, err := ctx.SpawnNamed("pong", props)
	if err != nil {
		return err
	}
	return ctx.Tell(pong, &ball{from: ping})
}

func (*guardian) Receive(*actor.Context, any) error { return nil }

// play has the actors run by d, and returns how long it took from the start of the
// system to the last message.
func play(d actor.Dispatcher) (time.Duration, error) {
	over := make(chan struct{}, 1) // so that the last turn never waits
	failed := make(chan error, 1)
	begun := time.Now()
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: d,
		Guardian:   actor.Props{New: func() actor.Actor { return &guardian{&player{over}} }},
		Failures: func(f actor.Failure) {
			select {
			case failed <- f.Err:
			default: // the first one is enough
			}
		},
	})
	if err != nil {
		return 0, err
	}
	if sys.Synchronous() {
		sys.RunUntilIdle() // a serial dispatcher has no goroutine: this one runs the actors
	}
	select {
	case <-over:
	case err = <-failed:
	}
	took := time.Since(begun)
	return took, errors.Join(err, sys.Shutdown(context.Background()))
}

// figure says what was measured.
func figure(took time.Duration) string {
	verdict := "within "
	if took > limit {
		verdict = "longer than "
	}
	return strconv.Itoa(messages) + " messages back and forth took " + took.String() + ": " + verdict + limit.String()
}

func main() {
	took, err := play(serial.NewDispatcher())
	if err != nil {
		panic(err) // with a status or a halt, where a board has no other way to say it
	}
	println(figure(took))
}
