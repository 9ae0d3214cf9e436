#!/usr/bin/env bash
# Guess:   rapid draws from a small range evenly, and checks a property 100 times, also with -short.
# Version: pgregory.net/rapid v1.3.0.
# Seen:    0 of 0 to 9 comes more than half as often again as one in ten, and of floats from 0 to 1 three of four are
#          below one half, and one in ten is exactly 1: right for finding bugs, wrong for a load or a
#          sample. With -short there are 20 checks.
. "$(dirname "$0")/lib.sh"
modules pgregory.net/rapid@v1.3.0
cat >x_test.go <<'E'
package finding

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func Test(t *testing.T) {
	checks, draws := 0, 0
	var zero, low, one float64
	rapid.Check(t, func(t *rapid.T) {
		checks++
		for range 500 {
			draws++
			if rapid.IntRange(0, 9).Draw(t, "i") == 0 {
				zero++
			}
			switch f := rapid.Float64Range(0, 1).Draw(t, "f"); {
			case f == 1:
				one++
			case f < 0.5:
				low++
			}
		}
	})
	n := float64(draws)
	fmt.Println("checks:", checks, "0 above 14 %:", zero/n > 0.14, "below one half above 70 %:", low/n > 0.7, "exactly 1 above 7 %:", one/n > 0.07)
}
E
for short in '' -short; do
	go test -run Test $short -rapid.seed 1 . -v | grep checks:
done >got
same <<'E'
checks: 100 0 above 14 %: true below one half above 70 %: true exactly 1 above 7 %: true
checks: 20 0 above 14 %: true below one half above 70 %: true exactly 1 above 7 %: true
E
