#!/usr/bin/env bash
# Guess:   what was submitted to a pool is running, waiting or completed; a task of a group that did not run
#          as another failed counts as failed or completed.
# Version: github.com/alitto/pond/v2 v2.7.1.
# Seen:    it leaves no trace: five submitted, one failed, one completed, none waiting.
. "$(dirname "$0")/lib.sh"
modules github.com/alitto/pond/v2@v2.7.1
cat >main.go <<'E'
package main

import (
	"errors"
	"fmt"

	"github.com/alitto/pond/v2"
)

func main() {
	p := pond.NewPool(1)
	g := p.NewGroup()
	gate := make(chan bool)
	ran := 0
	for range 5 {
		g.SubmitErr(func() error {
			ran++
			<-gate
			return errors.New("first")
		})
	}
	close(gate)
	fmt.Println(g.Wait())
	p.StopAndWait()
	fmt.Println("ran", ran, "submitted", p.SubmittedTasks(), "failed", p.FailedTasks(), "successful", p.SuccessfulTasks(),
		"completed", p.CompletedTasks(), "waiting", p.WaitingTasks(), "running", p.RunningWorkers())
}
E
go run . >got
same <<'E'
first
ran 1 submitted 5 failed 1 successful 0 completed 1 waiting 0 running 0
E
