#!/usr/bin/env bash
# Guess:   after a goroutine waited 20 ms for a lock, the metric /sync/mutex/wait/total has 20 ms more.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    0 or 160 ms: one state change in eight of a goroutine is timed, and counts eight times. Of many
#          waits the sum is right, of a few it says nothing.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.26\n' >go.mod
cat >main.go <<'E2'
package main

import (
	"fmt"
	"runtime/metrics"
	"sync"
	"time"
)

func waited() float64 {
	s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}

func main() {
	var lock sync.Mutex
	none, one, more := 0, 0, 0
	for range 100 {
		before := waited()
		lock.Lock()
		var done sync.WaitGroup
		done.Go(func() {
			lock.Lock()
			lock.Unlock()
		})
		time.Sleep(20 * time.Millisecond)
		lock.Unlock()
		done.Wait()
		switch took := waited() - before; {
		case took < 0.001:
			none++
		case took < 0.1:
			one++
		default:
			more++
		}
	}
	fmt.Println("most have nothing:", none > 60, "some more than 100 ms:", more > 0, "between:", one)
}
E2
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go build -o x . 2>/dev/null || skip "$release cannot be fetched"
	echo "$release: $(./x)"
done >got
same <<'E2'
go1.26.8: most have nothing: true some more than 100 ms: true between: 0
go1.27.4: most have nothing: true some more than 100 ms: true between: 0
E2
