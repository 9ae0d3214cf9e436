#!/usr/bin/env bash
# Guess:   in `go test -json -bench`, each result has the name of its benchmark in the field Test.
# Version: Go 1.26.8 and 1.27.4.
# Seen:    with -cpu 1,2 the results of the first number have it. The second number's have no Test at
#          all: they look like output of the package.
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
}
E
for v in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$v go version >/dev/null 2>&1 || skip "$v cannot be fetched"
	GOTOOLCHAIN=$v go test -json -run '^$' -bench . -benchtime 3x -cpu 1,2 . >"$v.json"
	for name in 'BenchmarkX ' 'BenchmarkX-2 '; do
		line=$(grep "\"Output\":\"$name" "$v.json")
		case $line in
		*'"Test":"BenchmarkX"'*) echo "$v $name has Test" ;;
		*) echo "$v $name has no Test" ;;
		esac
	done
done >got
same <<'E'
go1.26.8 BenchmarkX  has Test
go1.26.8 BenchmarkX-2  has no Test
go1.27.4 BenchmarkX  has Test
go1.27.4 BenchmarkX-2  has no Test
E
