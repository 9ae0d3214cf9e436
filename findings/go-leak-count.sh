#!/usr/bin/env bash
# Guess:   pprof.Lookup("goroutineleak").Count() looks for goroutines that can never go on, as writing the
#          profile does; and WriteTo with debug 2 writes only those.
# Version: Go 1.27.4 (fetched by the go command).
# Seen:    Count is 0 until the profile is written once, and from then on what that writing found. With debug 2 it
#          writes all goroutines, and marks those that leaked.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.26\n' >go.mod
cat >main.go <<'E'
package main

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"time"
)

var held = make(chan int)

func leak(n int) {
	for range n {
		go func() { <-make(chan int) }()
	}
	time.Sleep(100 * time.Millisecond)
}

func main() {
	leak(2)
	go func() { <-held }()
	p := pprof.Lookup("goroutineleak")
	fmt.Println("count", p.Count())
	for _, debug := range []int{1, 2} {
		var b bytes.Buffer
		if err := p.WriteTo(&b, debug); err != nil {
			panic(err)
		}
		fmt.Println("debug", debug, "count", p.Count(), "the main goroutine is in it", bytes.Contains(b.Bytes(), []byte("main.main()")))
	}
	leak(3)
	fmt.Println("count", p.Count())
}
E
GOTOOLCHAIN=go1.27.4 go build -o x . 2>/dev/null || skip "go1.27.4 cannot be fetched"
./x >got
same <<'E'
count 0
debug 1 count 2 the main goroutine is in it false
debug 2 count 2 the main goroutine is in it true
count 2
E
