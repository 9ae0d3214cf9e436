#!/usr/bin/env bash
# Guess:   in the body of `for b.Loop()` no call is optimized away, so that
#          `if _, err := f(x); err != nil { b.Fatal(err) }` measures f.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command), amd64.
# Seen:    statements are kept, also in nested blocks: `_, err := f(x)` on a line of its own does. What
#          is in the head of an if or a switch is not: of an f that is inlined only the part that finds
#          the error stays. Nor is a call in a function literal.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
[ "$(go env GOARCH)" = amd64 ] || skip "it looks for instructions of amd64"
printf 'module finding\n\ngo 1.26\n' >go.mod
cat >x_test.go <<'E2'
package finding

import (
	"errors"
	"testing"
)

var (
	in     = 3
	errNeg = errors.New("negative")
)

func f(x int) (int, error) {
	if x < 0 {
		return 0, errNeg
	}
	return x * 1000003, nil
}

func BenchmarkLine(b *testing.B) {
	for b.Loop() {
		_, err := f(in)
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNested(b *testing.B) {
	for b.Loop() {
		for range 3 {
			_, _ = f(in)
		}
	}
}

func BenchmarkIf(b *testing.B) {
	for b.Loop() {
		if _, err := f(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSwitch(b *testing.B) {
	for b.Loop() {
		switch _, err := f(in); err {
		case errNeg:
			b.Fatal(err)
		}
	}
}

func BenchmarkLiteral(b *testing.B) {
	for b.Loop() {
		func() { _, _ = f(in) }()
	}
}
E2
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go test -c -o x . 2>/dev/null || skip "$release cannot be fetched"
	for name in Line Nested If Switch Literal; do
		multiplies=$(GOTOOLCHAIN=$release go tool objdump -s "^finding.Benchmark$name(.func1)?\$" x | grep -c IMUL || true)
		echo "$release $name: $multiplies"
	done
done >got
same <<'E2'
go1.26.8 Line: 1
go1.26.8 Nested: 1
go1.26.8 If: 0
go1.26.8 Switch: 0
go1.26.8 Literal: 0
go1.27.4 Line: 1
go1.27.4 Nested: 1
go1.27.4 If: 0
go1.27.4 Switch: 0
go1.27.4 Literal: 0
E2
