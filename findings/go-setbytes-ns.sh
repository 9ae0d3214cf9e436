#!/usr/bin/env bash
# Guess:   where a benchmark reports an ns/op of its own, its MB/s is of that.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    it is of the measured time, so that the two contradict each other.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.26\n' >go.mod
cat >x_test.go <<'E2'
package finding

import (
	"testing"
	"time"
)

func BenchmarkX(b *testing.B) {
	b.SetBytes(1000)
	for b.Loop() {
		time.Sleep(10 * time.Millisecond)
	}
	b.ReportMetric(1000, "ns/op")
}
E2
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go test -c -o x . 2>/dev/null || skip "$release cannot be fetched"
	echo "$release: $(./x -test.bench . -test.benchtime 3x -test.cpu 1 | grep ns/op | tr -s ' \t' ' ' | sed 's/0\.[0-9]* MB/below 1 MB/')"
done >got
same <<'E2'
go1.26.8: BenchmarkX 3 1000 ns/op below 1 MB/s
go1.27.4: BenchmarkX 3 1000 ns/op below 1 MB/s
E2
