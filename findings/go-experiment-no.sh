#!/usr/bin/env bash
# Guess:   an unknown GOEXPERIMENT is named in the error, and go version with an experiment says so.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    of a name that begins with "no" the rest is called unknown: that prefix turns one off. go
#          version and go env GOVERSION do not say that an experiment is on; a binary built so does.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
printf 'module x\n\ngo 1.24\n' >go.mod
printf 'package main\n\nfunc main() {}\n' >main.go
for release in go1.26.8 go1.27.4; do
	export GOTOOLCHAIN=$release
	go version 2>/dev/null | grep -q "$release" || skip "cannot be fetched: $release"
	GOEXPERIMENT=nosuch go env GOVERSION 2>&1 || true
	GOEXPERIMENT=nogreenteagc go env GOVERSION
	GOEXPERIMENT=nogreenteagc go build -o x . && go version x | sed 's/^x: //'
done >got
same <<'E'
go: unknown GOEXPERIMENT such
go1.26.8
go1.26.8-X:nogreenteagc
go: unknown GOEXPERIMENT such
go1.27.4
go1.27.4-X:nogreenteagc
E
