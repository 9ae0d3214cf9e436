#!/usr/bin/env bash
# Guess:   `go test -json` gives the bytes that a test writes to standard output, whatever the release.
# Version: Go 1.26.8 and 1.27.4.
# Seen:    1.27 drops the escape byte of what a test prints, and keeps the rest of the colour's sequence
#          as text; what it logs with t.Log keeps the byte. 1.26 keeps both.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
cat >go.mod <<'E'
module finding

go 1.26
E
cat >x_test.go <<'E'
package finding

import (
	"fmt"
	"testing"
)

func TestX(t *testing.T) {
	fmt.Print("print \x1b[31mred\x1b[0m\n")
	t.Log("log \x1b[31mred\x1b[0m")
}
E
for v in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$v go version >/dev/null 2>&1 || skip "$v cannot be fetched"
	GOTOOLCHAIN=$v go test -json -count=1 . | grep -o '\(print\|log\) .*red.*n"' | sed "s/^/$v /"
done >got
same <<'E'
go1.26.8 print \u001b[31mred\u001b[0m\n"
go1.26.8 log \u001b[31mred\u001b[0m\n"
go1.27.4 print [31mred[0m\n"
go1.27.4 log \u001b[31mred\u001b[0m\n"
E
