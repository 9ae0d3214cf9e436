#!/usr/bin/env bash
# Guess:   a malformed GOGC ends a program as a malformed GOMEMLIMIT does, and 512MB is a limit.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    GOGC=50% is 100, and nothing says so; GOMEMLIMIT=512MB ends the program before main: it
#          has to be MiB.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module x\n\ngo 1.24\n' >go.mod
cat >main.go <<'G'
package main

import "runtime/debug"

func main() { println(debug.SetGCPercent(1)) }
G
for release in go1.26.8 go1.27.4; do
	export GOTOOLCHAIN=$release
	go version 2>/dev/null | grep -q "$release" || skip "cannot be fetched: $release"
	go build -o x .
	GOGC=50 ./x 2>&1
	GOGC=50% ./x 2>&1
	{ GOMEMLIMIT=512MB ./x 2>&1 || true; } | grep fatal
done >got
same <<'E'
50
100
fatal error: malformed GOMEMLIMIT; see `go doc runtime/debug.SetMemoryLimit`
50
100
fatal error: malformed GOMEMLIMIT; see `go doc runtime/debug.SetMemoryLimit`
E
