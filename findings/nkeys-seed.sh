#!/usr/bin/env bash
# Guess:   KeyPair.Seed gives a copy, as FromSeed takes one: wiping it after use leaves the pair whole.
# Version: github.com/nats-io/nkeys v0.4.16.
# Seen:    it is the pair's own memory. Who zeroes the seed after writing it, as one does with
#          secrets, has a pair that signs no more. FromSeed does copy.
. "$(dirname "$0")/lib.sh"
modules github.com/nats-io/nkeys@v0.4.16
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/nats-io/nkeys"
)

func main() {
	first, _ := nkeys.CreateUser()
	seed, _ := first.Seed()
	second, _ := nkeys.FromSeed(seed)
	clear(seed)
	_, err := first.Sign([]byte("x"))
	fmt.Println("first signs:", err == nil)
	_, err = second.Sign([]byte("x"))
	fmt.Println("second signs:", err == nil)
}
E
go run . >got
same <<'E'
first signs: false
second signs: true
E
