#!/usr/bin/env bash
# Guess:   a pool that was made smaller than what runs has no room: Free is 0. -1 is said of a pool without a limit.
# Version: github.com/panjf2000/ants/v2 v2.12.1.
# Seen:    Free is the new limit less what runs: with 4 tasks and Tune(3) it is -1, which the documentation
#          gives as the mark of a pool without a limit; with Tune(1) it is -3.
. "$(dirname "$0")/lib.sh"
modules github.com/panjf2000/ants/v2@v2.12.1
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/panjf2000/ants/v2"
)

func main() {
	unlimited, _ := ants.NewPool(-1)
	fmt.Println("no limit:", unlimited.Free())
	pool, _ := ants.NewPool(4)
	stop := make(chan struct{})
	for range 4 {
		pool.Submit(func() { <-stop })
	}
	fmt.Println("limit 4:", pool.Free())
	for _, limit := range []int{3, 1} {
		pool.Tune(limit)
		fmt.Printf("limit %d: %d\n", pool.Cap(), pool.Free())
	}
	close(stop)
}
E
go mod tidy >tidy.log 2>&1 || skip "cannot be fetched"
go run . >got
same <<'E'
no limit: -1
limit 4: 0
limit 3: -1
limit 1: -3
E
