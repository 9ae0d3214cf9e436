#!/usr/bin/env bash
# Guess:   a pool of one function is given nil as an argument like any other, and calls the function with it.
# Version: github.com/panjf2000/ants/v2 v2.12.1.
# Seen:    Invoke(nil) says that it took the argument, and the function is never called: inside, nil tells a
#          worker to end. The generic pool calls it.
. "$(dirname "$0")/lib.sh"
modules github.com/panjf2000/ants/v2@v2.12.1
cat >main.go <<'E'
package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"
)

func main() {
	var called atomic.Int32
	one, _ := ants.NewPoolWithFunc(1, func(any) { called.Add(1) })
	fmt.Println("any:", one.Invoke(nil), one.Invoke(1))
	one.ReleaseTimeout(time.Minute)
	fmt.Println("called:", called.Swap(0))
	generic, _ := ants.NewPoolWithFuncGeneric(1, func(*int) { called.Add(1) })
	fmt.Println("generic:", generic.Invoke(nil))
	generic.ReleaseTimeout(time.Minute)
	fmt.Println("called:", called.Load())
}
E
go mod tidy >tidy.log 2>&1 || skip "cannot be fetched"
go run . >got
same <<'E'
any: <nil> <nil>
called: 1
generic: <nil>
called: 1
E
