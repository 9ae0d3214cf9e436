#!/usr/bin/env bash
# Guess:   a sub-benchmark n=-5 has n -5 for benchstat's `-row /n`, and another row than n=-6.
# Version: golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da, results of Go 1.26.8.
# Seen:    with one processor package testing adds no -N, and -5 is taken for it: both have an empty n
#          and become one row, in which two benchmarks are mixed; with two processors they are apart.
. "$(dirname "$0")/lib.sh"
modules golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
cat >x_test.go <<'E'
package finding

import (
	"fmt"
	"testing"
)

func BenchmarkF(b *testing.B) {
	for _, n := range []int{-5, -6} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for b.Loop() {
			}
		})
	}
}
E
export GOTOOLCHAIN=go1.26.8
go version >/dev/null 2>&1 || skip "$GOTOOLCHAIN cannot be fetched"
for cpu in 1 2; do
	go test -run '^$' -bench . -benchtime 3x -cpu $cpu . >$cpu.txt
	echo "$cpu: $(go run golang.org/x/perf/cmd/benchstat -format csv -row /n $cpu.txt 2>/dev/null | awk -F, '/∞|[0-9]e-/ && !/geomean/ {printf "[%s]", $1}')"
done >got
same <<'E'
1: []
2: [-5][-6]
E
