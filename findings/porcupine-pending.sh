#!/usr/bin/env bash
# Guess:   a history of events in which a call has no return, as of a client that was cut off, is judged as if
#          that call may have taken effect, or not.
# Version: github.com/anishathalye/porcupine v1.3.1.
# Seen:    it is never linearizable, and nothing says why. With a return at the end, and a model that takes
#          any output of it, it is judged.
. "$(dirname "$0")/lib.sh"
modules github.com/anishathalye/porcupine@v1.3.1
cat >main.go <<'E2'
package main

import (
	"fmt"

	. "github.com/anishathalye/porcupine"
)

// A register: a number is written, "r" reads.
var register = Model{
	Init: func() any { return 0 },
	Step: func(state, in, out any) (bool, any) {
		if v, ok := in.(int); ok {
			return true, v
		}
		return out == state, state
	},
}

func main() {
	write, read := Event{Kind: CallEvent, Id: 0, Value: 1}, Event{Kind: CallEvent, Id: 1, Value: "r"}
	for seen := range 2 {
		events := []Event{write, read, {Kind: ReturnEvent, Id: 1, Value: seen}}
		fmt.Println("a write is cut off, read", seen, CheckEvents(register, events))
		fmt.Println("it returns in the end, read", seen, CheckEvents(register, append(events, Event{Kind: ReturnEvent, Id: 0})))
	}
}
E2
go run . >got
same <<'E2'
a write is cut off, read 0 false
it returns in the end, read 0 true
a write is cut off, read 1 false
it returns in the end, read 1 true
E2
