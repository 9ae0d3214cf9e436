#!/usr/bin/env bash
# Guess:   a program that valgrind runs sees the processor's features, but AVX-512.
# Version: valgrind 3.19.0, golang.org/x/sys v0.49.0, amd64.
# Seen:    nor has it ADX, by which math/big chooses how to multiply: what is counted is code that does not
#          run otherwise. AVX2 is there.
. "$(dirname "$0")/lib.sh"
need valgrind 3.19.0 valgrind
grep -qw adx /proc/cpuinfo || skip "the processor has no ADX"
modules golang.org/x/sys@v0.49.0
cat >main.go <<'E2'
package main

import (
	"fmt"

	"golang.org/x/sys/cpu"
)

func main() { fmt.Println("AVX2", cpu.X86.HasAVX2, "ADX", cpu.X86.HasADX) }
E2
go build -o x .
{ ./x && valgrind --tool=none -q ./x; } >got
same <<'E2'
AVX2 true ADX true
AVX2 true ADX false
E2
