#!/usr/bin/env bash
# Guess:   Get with a context that ends leaves the future as it is: who asks again, or waits with Join,
#          has the value.
# Version: github.com/reugn/async v0.10.0.
# Seen:    the first who asks decides for all. Its timeout becomes the result of the future, though the
#          promise is then kept. A Join that began first makes Get wait past the end of its context.
. "$(dirname "$0")/lib.sh"
modules github.com/reugn/async@v0.10.0
cat >main.go <<'E'
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reugn/async"
)

func main() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	p := async.NewPromise[int]()
	fmt.Println(p.Future().Get(over))
	p.Success(7)
	fmt.Println(p.Future().Join())

	p = async.NewPromise[int]()
	go p.Future().Join()
	time.Sleep(100 * time.Millisecond)
	time.AfterFunc(200*time.Millisecond, func() { p.Success(7) })
	fmt.Println(p.Future().Get(over))
}
E
go run . >got
same <<'E'
0 context canceled
0 context canceled
7 <nil>
E
