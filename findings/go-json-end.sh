#!/usr/bin/env bash
# Guess:   `go test -json` says of each benchmark when it has ended, and what came of it, as of each test.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    of one that passes it does not: there is an event that it runs, and output.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.26\n' >go.mod
cat >x_test.go <<'E2'
package finding

import "testing"

func BenchmarkPasses(b *testing.B) {
	for b.Loop() {
	}
}

func BenchmarkLogs(b *testing.B) {
	b.Log("x")
	for b.Loop() {
	}
}

func BenchmarkSkips(b *testing.B) { b.Skip() }

func BenchmarkFails(b *testing.B) { b.Fail() }
E2
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go version >/dev/null 2>&1 || skip "$release cannot be fetched"
	for name in Passes Logs Skips Fails; do
		events=$(GOTOOLCHAIN=$release go test -json -run '^$' -bench "Benchmark$name\$" -benchtime 3x . | grep '"Test"' | grep -o '"Action":"[a-z]*"' | cut -d '"' -f 4 | grep -v output | xargs || true)
		echo "$release $name: $events"
	done
done >got
same <<'E2'
go1.26.8 Passes: run
go1.26.8 Logs: run
go1.26.8 Skips: run skip
go1.26.8 Fails: run fail
go1.27.4 Passes: run
go1.27.4 Logs: run
go1.27.4 Skips: run skip
go1.27.4 Fails: run fail
E2
