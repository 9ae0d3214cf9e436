#!/usr/bin/env bash
# Guess:   slices of 0 to 100 elements from rapid have all lengths, and one in ten has 90 or more.
# Version: pgregory.net/rapid v1.3.0.
# Seen:    they have 5 elements in the mean, and of a thousand fewer than ten have 50: what breaks with many
#          elements alone is not found. A drawn length, and SliceOfN of just that, has more.
. "$(dirname "$0")/lib.sh"
modules pgregory.net/rapid@v1.3.0
cat >main.go <<'E'
package main

import (
	"fmt"

	"pgregory.net/rapid"
)

func main() {
	g := rapid.SliceOfN(rapid.Int(), 0, 100)
	drawn := rapid.Custom(func(t *rapid.T) []int {
		n := rapid.IntRange(0, 100).Draw(t, "n")
		return rapid.SliceOfN(rapid.Int(), n, n).Draw(t, "all")
	})
	sum, long, more := 0, 0, 0
	for seed := range 1000 {
		n := len(g.Example(seed))
		sum += n
		if n >= 50 {
			long++
		}
		if len(drawn.Example(seed)) >= 50 {
			more++
		}
	}
	fmt.Println("below 10 in the mean:", sum < 10_000, "fewer than 1 % of 50:", long < 10, "with a drawn length more than 10 %:", more > 100)
}
E
go run . >got
same <<'E'
below 10 in the mean: true fewer than 1 % of 50: true with a drawn length more than 10 %: true
E
