# What the scripts of this folder share. Each begins with: . "$(dirname "$0")/lib.sh"
# shellcheck shell=bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export GOFLAGS=-mod=mod GOWORK=off

# skip WHY ends the script as skipped.
skip() {
	echo "skipped: $1"
	exit 77
}

# need PROGRAM VERSION PACKAGE skips unless PROGRAM is there and `PROGRAM --version` has VERSION.
need() {
	command -v "$1" >/dev/null || skip "$1 is not installed (Debian: $3)"
	case $("$1" --version 2>&1) in
	*"$2"*) ;;
	*) skip "this is another version of $1 than $2" ;;
	esac
}

# debian PACKAGE VERSION skips unless that package is installed in that version.
debian() {
	command -v dpkg-query >/dev/null || skip "no dpkg-query here: the Debian package $1 $2 is needed"
	have=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null) || have=none
	[ "$have" = "$2" ] || skip "the Debian package $1 $2 is needed, here is: $have"
}

# modules MODULE@VERSION... makes a module of the current folder that requires these.
modules() {
	command -v go >/dev/null || skip "go is not installed"
	go mod init finding >/dev/null 2>&1
	go get "$@" >get.log 2>&1 || skip "cannot be fetched: $*"
}

# npm_packages PACKAGE@VERSION... installs these into the current folder.
npm_packages() {
	command -v npm >/dev/null || skip "npm is not installed"
	npm install --silent --no-audit --no-fund --ignore-scripts "$@" >npm.log 2>&1 || skip "cannot be fetched: $*"
}

# object_store CONFIG runs Go statements from standard input with the object store o of NATS, which has
# this configuration, and a context ctx; what they print goes to the file got.
object_store() {
	modules github.com/nats-io/nats-server/v2@v2.15.2 github.com/nats-io/nats.go@v1.55.0
	cat >main.go <<E
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true})
	if err != nil {
		panic(err)
	}
	s.Start()
	defer s.Shutdown()
	s.ReadyForConnections(10 * time.Second)
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		panic(err)
	}
	js, _ := jetstream.New(nc)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	o, err := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "b", $1})
	if err != nil {
		panic(err)
	}
$(cat)
}
E
	go run . >got
}

# same compares the file got with standard input, which is what was seen when the script was written.
same() {
	if diff -u --label "seen before" --label "seen now" - got; then
		cat got
	else
		echo "the behaviour changed"
		exit 1
	fi
}
