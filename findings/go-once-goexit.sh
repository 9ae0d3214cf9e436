#!/usr/bin/env bash
# Guess:   sync.OnceValue around a function that ends by runtime.Goexit, as t.Skip and t.Fatal do, ends the
#          goroutine of the caller, as without it.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    it panics: "panic called with nil argument", the first caller and all later ones. sync.Once
#          lets Goexit through, and later callers return as if it had been done.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.26\n' >go.mod
cat >main.go <<'E'
package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

func main() {
	var once sync.Once
	value := sync.OnceValue(func() int {
		runtime.Goexit()
		return 1
	})
	for name, f := range map[string]func(){"Once": func() { once.Do(runtime.Goexit) }, "OnceValue": func() { value() }} {
		for _, call := range []string{"first", "second"} {
			ended := make(chan string)
			go func() {
				how := "Goexit"
				defer func() {
					if err := recover(); err != nil {
						how = fmt.Sprint("panics: ", strings.TrimPrefix(fmt.Sprint(err), "runtime error: "))
					}
					ended <- how
				}()
				f()
				how = "returns"
			}()
			fmt.Println(name, call, <-ended)
		}
	}
}
E
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go build -o x . 2>/dev/null || skip "$release cannot be fetched"
	./x | sort | sed "s/^/$release: /"
done >got
same <<'E'
go1.26.8: Once first Goexit
go1.26.8: Once second returns
go1.26.8: OnceValue first panics: panic called with nil argument
go1.26.8: OnceValue second panics: panic called with nil argument
go1.27.4: Once first Goexit
go1.27.4: Once second returns
go1.27.4: OnceValue first panics: panic called with nil argument
go1.27.4: OnceValue second panics: panic called with nil argument
E
