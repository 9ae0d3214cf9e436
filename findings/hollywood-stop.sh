#!/usr/bin/env bash
# Guess:   Stop ends an actor at once, its waiting messages unread; Poison lets it read what was sent before.
# Version: github.com/anthdm/hollywood v1.0.5.
# Seen:    both are messages in the queue. Under Stop too the actor reads what was sent before; they
#          differ in what was sent after: Poison has it read that as well, if it is there by then.
. "$(dirname "$0")/lib.sh"
modules github.com/anthdm/hollywood@v1.0.5
cat >main.go <<'E'
package main

import (
	"context"
	"fmt"

	"github.com/anthdm/hollywood/actor"
)

func main() {
	e, err := actor.NewEngine(actor.NewEngineConfig())
	if err != nil {
		panic(err)
	}
	for name, end := range map[string]func(*actor.PID) context.Context{"stop": e.Stop, "poison": e.Poison} {
		begun, gate := make(chan bool), make(chan bool)
		got := name + ":"
		pid := e.SpawnFunc(func(c *actor.Context) {
			if n, ok := c.Message().(int); ok {
				if n == 0 {
					close(begun)
					<-gate
				}
				got += fmt.Sprint(" ", n)
			}
		}, name)
		e.Send(pid, 0)
		<-begun
		e.Send(pid, 1)
		e.Send(pid, 2)
		ended := end(pid)
		e.Send(pid, 3)
		close(gate)
		<-ended.Done()
		fmt.Println(got)
	}
}
E
go mod tidy >tidy.log 2>&1 || skip "cannot be fetched"
go run . 2>run.log | sort >got
same <<'E'
poison: 0 1 2 3
stop: 0 1 2
E
