#!/usr/bin/env bash
# Guess:   /sched/goroutines:goroutines is runtime.NumGoroutine().
# Version: Go 1.25.9, 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    up to 1.25. From 1.26 on the metric has the runtime's own goroutines too: 6 for 1, and others for each
#          processor once it has collected garbage.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.25\n' >go.mod
cat >main.go <<'E'
package main

import (
	"fmt"
	"runtime"
	"runtime/metrics"
)

func main() {
	s := []metrics.Sample{{Name: "/sched/goroutines:goroutines"}}
	metrics.Read(s)
	fmt.Println("equal:", uint64(runtime.NumGoroutine()) == s[0].Value.Uint64())
}
E
for release in go1.25.9 go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go build -o x . 2>/dev/null || skip "$release cannot be fetched"
	echo "$release: $(./x)"
done >got
same <<'E'
go1.25.9: equal: true
go1.26.8: equal: false
go1.27.4: equal: false
E
