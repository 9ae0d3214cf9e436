#!/usr/bin/env bash
# Guess:   lo.WaitFor asks the condition at once, and again at each heartbeat until the time is over.
# Version: github.com/samber/lo v1.53.0.
# Seen:    it asks at heartbeats only. Of a condition that holds all the time it says that it did not hold,
#          if the time is over before the first.
. "$(dirname "$0")/lib.sh"
modules github.com/samber/lo@v1.53.0
cat >main.go <<'E'
package main

import (
	"fmt"
	"time"

	"github.com/samber/lo"
)

func main() {
	always := func(int) bool { return true }
	for _, timeout := range []time.Duration{100 * time.Millisecond, time.Minute} {
		asked, _, ok := lo.WaitFor(always, timeout, time.Second)
		fmt.Println(timeout, "asked", asked, ok)
	}
}
E
go run . >got
same <<'E'
100ms asked 0 false
1m0s asked 1 true
E
