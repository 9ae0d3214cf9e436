#!/usr/bin/env bash
# Guess:   an actor with SetReceiveTimeout(20 ms) that gets no message is told ReceiveTimeout every 20 ms, as
#          in Akka.
# Version: github.com/asynkron/protoactor-go v0.0.0-20240822202345-3c0e61ca19c9.
# Seen:    once for all. Messages do not set it anew: it has to be set again.
. "$(dirname "$0")/lib.sh"
modules github.com/asynkron/protoactor-go@v0.0.0-20240822202345-3c0e61ca19c9
cat >main.go <<'E'
package main

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

func main() {
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}))
	n := 0
	pid := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch c.Message().(type) {
		case *actor.Started:
			c.SetReceiveTimeout(20 * time.Millisecond)
		case *actor.ReceiveTimeout:
			n++
		}
	}))
	time.Sleep(500 * time.Millisecond)
	system.Root.Send(pid, "message")
	time.Sleep(500 * time.Millisecond)
	if err := system.Root.PoisonFuture(pid).Wait(); err != nil {
		panic(err)
	}
	fmt.Println("told in two silences:", n)
}
E
go mod tidy >tidy.log 2>&1 || skip "cannot be fetched"
go run . >got
same <<'E'
told in two silences: 1
E
