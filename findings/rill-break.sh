#!/usr/bin/env bash
# Guess:   ForEach that ends with an error, and a loop over ToSeq2 that is left, stop the stages before
#          them; Batch leaves an error where it was among the values.
# Version: github.com/destel/rill v0.7.0.
# Seen:    the stages before go on in the background until their source ends: all 1,000 calls are made,
#          after ForEach returned. Batch passes an error on before the values that preceded it.
. "$(dirname "$0")/lib.sh"
modules github.com/destel/rill@v0.7.0
cat >main.go <<'E'
package main

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/destel/rill"
)

// calls returns how many elements are mapped in all if the result is used so.
func calls(use func(rill.Stream[int])) int {
	var n atomic.Int32
	end := make(chan bool)
	use(rill.Map(rill.FromSeq(func(yield func(int) bool) {
		defer close(end)
		for i := range 1000 {
			if !yield(i) {
				return
			}
		}
	}, nil), 1, func(i int) (int, error) {
		n.Add(1)
		return i, nil
	}))
	<-end
	return int(n.Load()) // The last few may be still under way.
}

func main() {
	fmt.Println(calls(func(in rill.Stream[int]) {
		fmt.Println(rill.ForEach(in, 1, func(int) error { return errors.New("first") }))
	}) >= 900)
	fmt.Println(calls(func(in rill.Stream[int]) {
		for range rill.ToSeq2(in) {
			break
		}
	}) >= 900)
	in := make(chan rill.Try[int], 3)
	in <- rill.Wrap(1, nil)
	in <- rill.Wrap(0, errors.New("second"))
	in <- rill.Wrap(3, nil)
	close(in)
	for batch := range rill.Batch(in, 2, -1) {
		fmt.Println(batch)
	}
}
E
go run . >got
same <<'E'
first
true
true
{[] second}
{[1 3] <nil>}
E
