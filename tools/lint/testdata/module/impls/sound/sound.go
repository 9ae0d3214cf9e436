// Package sound is what nothing is to be said against.
package sound

import (
	"bufio"
	"slices"

	"example.com/m/contract"
	"example.com/m/host"
	"other.org/allowed/sub"
)

var _, _ = (*bufio.Reader).ReadByte, host.Print

type local int

func f(x float64) float64 {
	type local string
	type alias = int
	return max(1.5, 2) * x
}

func g[T ~int | ~string](a, b T) T {
	type alias = string
	min := func(a, b float64) float64 { return a }
	min(1, 2)
	slices.Max([]int{1})
	return max(a, b, a)
}

var _, _ = min(1, len("x")), local(1)

func h(contract.T, sub.T) {}
