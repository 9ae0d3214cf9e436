#!/usr/bin/env bash
# Guess:   errors of encoding/json, the v1 API, are the same in Go 1.26 and in 1.27, which has v2 below
#          it: Field and Offset at least, and which struct they name.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    Offset is. Field is the slice in 1.26 and its element in 1.27, C and C.1; Struct is empty in 1.26
#          where the field is of an unnamed struct, and the outer one in 1.27.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module finding\n\ngo 1.25\n' >go.mod
cat >main.go <<'E'
package main

import (
	"encoding/json"
	"errors"
	"fmt"
)

type in struct {
	A struct{ B int }
	C []int
}

func main() {
	for _, text := range []string{`{"C":[1,"x"]}`, `{"A":{"B":"x"}}`} {
		var wrong *json.UnmarshalTypeError
		errors.As(json.Unmarshal([]byte(text), new(in)), &wrong)
		fmt.Printf("offset %d, field %q, struct %q\n", wrong.Offset, wrong.Field, wrong.Struct)
	}
}
E
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go version >/dev/null 2>&1 || skip "$release cannot be fetched"
	echo "$release"
	GOTOOLCHAIN=$release go run .
done >got
same <<'E'
go1.26.8
offset 11, field "C", struct "in"
offset 13, field "A.B", struct ""
go1.27.4
offset 11, field "C.1", struct "in"
offset 13, field "A.B", struct "in"
E
