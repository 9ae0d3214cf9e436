#!/usr/bin/env bash
# Guess:   stats.Percentile takes a value of the data or the mean of two (of 1 to 4, 25 % is 1), 0 % is
#          the least, and its 25 % is the first quartile.
# Version: github.com/montanaflynn/stats v0.14.0.
# Seen:    it interpolates, as R's type 7 and Excel do, but refuses 0 %; Quartile and Midhinge
#          take medians of halves: two definitions of a quartile in one library.
. "$(dirname "$0")/lib.sh"
modules github.com/montanaflynn/stats@v0.14.0
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/montanaflynn/stats"
)

func main() {
	d := stats.Float64Data{1, 2, 3, 4}
	for _, p := range []float64{0, 25, 100} {
		fmt.Println(stats.Percentile(d, p))
	}
	fmt.Println(stats.Quartile(d))
}
E
go run . >got
same <<'E'
NaN Input is outside of range.
1.75 <nil>
4 <nil>
{1.5 2.5 3.5} <nil>
E
