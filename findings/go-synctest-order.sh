#!/usr/bin/env bash
# Guess:   in a bubble of testing/synctest, where time is simulated, functions of time.AfterFunc that
#          are due at one instant run in the order in which they were set, so that a test is repeatable.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    in random order, and so do goroutines whose time.Sleep ends at one instant.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.26\n' >go.mod
cat >x_test.go <<'E2'
package finding

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestOrder(t *testing.T) {
	var functions, sleepers int
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var f, s []int
			for i := range 8 {
				time.AfterFunc(time.Second, func() { mu.Lock(); f = append(f, i); mu.Unlock() })
				go func() { time.Sleep(2 * time.Second); mu.Lock(); s = append(s, i); mu.Unlock() }()
				synctest.Wait()
			}
			time.Sleep(time.Minute)
			if slices.IsSorted(f) {
				functions++
			}
			if slices.IsSorted(s) {
				sleepers++
			}
		})
	}
	fmt.Println("mostly in order: functions", functions > 50, "sleepers", sleepers > 50)
}
E2
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go test -c -o x . 2>/dev/null || skip "$release cannot be fetched"
	echo "$release: $(./x | head -1)"
done >got
same <<'E2'
go1.26.8: mostly in order: functions false sleepers false
go1.27.4: mostly in order: functions false sleepers false
E2
