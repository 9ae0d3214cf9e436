#!/usr/bin/env bash
# Guess:   the metric /cpu/classes/user rises by 0.2 s while a program computes for 0.2 s.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    all /cpu/classes stand still until a collection of garbage ends. Read around something that
#          does not allocate they say 0, and the next reading has it all.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.26\n' >go.mod
cat >main.go <<'E2'
package main

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"
)

func user() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}

func main() {
	runtime.GC()
	before := user()
	for t := time.Now(); time.Since(t) < 200*time.Millisecond; {
	}
	fmt.Print("computed: ", user()-before)
	runtime.GC()
	fmt.Println(", collected: more than 0.1 is", user()-before > 0.1)
}
E2
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go build -o x . 2>/dev/null || skip "$release cannot be fetched"
	echo "$release: $(./x)"
done >got
same <<'E2'
go1.26.8: computed: 0, collected: more than 0.1 is true
go1.27.4: computed: 0, collected: more than 0.1 is true
E2
