#!/usr/bin/env bash
# Guess:   a history that cannot be, one client with two operations at a time or a return before its
#          call, is refused as such.
# Version: github.com/anishathalye/porcupine v1.3.1.
# Seen:    clients are for pictures only: overlapping operations of one are as those of two, so a
#          history can be called linearizable that no such client can have seen. A return before its call
#          makes the history not linearizable: a clock that jumps looks like a bug of what is tested.
. "$(dirname "$0")/lib.sh"
modules github.com/anishathalye/porcupine@v1.3.1
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// A register: a number is written, "r" reads.
var register = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, in, out any) (bool, any) {
		if v, ok := in.(int); ok {
			return true, v
		}
		return out == state, state
	},
}

func main() {
	check := func(what string, ops ...porcupine.Operation) { fmt.Println(what, porcupine.CheckOperations(register, ops)) }
	check("one client writes from 0 to 10, and from 5 to 20 reads what was before:",
		porcupine.Operation{ClientId: 0, Input: 1, Call: 0, Return: 10}, porcupine.Operation{ClientId: 0, Input: "r", Call: 5, Output: 0, Return: 20})
	check("a write, from 0 to 10:", porcupine.Operation{Input: 1, Call: 0, Return: 10})
	check("a write, from 10 to 0:", porcupine.Operation{Input: 1, Call: 10, Return: 0})
}
E
go run . >got
same <<'E'
one client writes from 0 to 10, and from 5 to 20 reads what was before: true
a write, from 0 to 10: true
a write, from 10 to 0: false
E
