#!/usr/bin/env bash
# Guess:   a benchmark's own metric is printed with four significant digits, whatever its size, as
#          a time is.
# Version: Go 1.26.8 and 1.27.4.
# Seen:    below 0.001 there are seven decimals: 1.23456789e-7 becomes 0.0000001, one digit, wrong by a
#          fifth; 4.2e-8 becomes 0 without a word. Seconds per operation cannot be reported.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
cat >go.mod <<'E'
module finding

go 1.26
E
cat >x_test.go <<'E'
package finding

import "testing"

func BenchmarkX(b *testing.B) {
	for b.Loop() {
	}
	b.ReportMetric(1.23456789e-7, "a")
	b.ReportMetric(4.2e-8, "b")
	b.ReportMetric(0.0123456, "c")
	b.ReportMetric(0, "ns/op")
}
E
for v in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$v go version >/dev/null 2>&1 || skip "$v cannot be fetched"
	GOTOOLCHAIN=$v go test -run '^$' -bench . -benchtime 3x . | awk -v v=$v '/^Benchmark/ {print v, $3, $4, $5, $6, $7, $8}'
done >got
same <<'E'
go1.26.8 0.0000001 a 0.0000000 b 0.01235 c
go1.27.4 0.0000001 a 0.0000000 b 0.01235 c
E
