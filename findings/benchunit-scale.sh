#!/usr/bin/env bash
# Guess:   benchunit.Scale goes on with p below nano and with P and E above tera.
# Version: golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da.
# Seen:    n and T are the ends: a picosecond is 0.001000n and 1e18 is 1000000.0T; not-a-number gets a
#          prefix, too, NaNn. Of bytes nothing is below one: a nanobyte per operation has ten decimals.
. "$(dirname "$0")/lib.sh"
modules golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da
cat >main.go <<'E'
package main

import (
	"fmt"
	"math"

	"golang.org/x/perf/benchunit"
)

func main() {
	for _, v := range []float64{1e-12, 1e18, math.NaN()} {
		fmt.Println(benchunit.Scale(v, benchunit.Decimal))
	}
	fmt.Println(benchunit.Scale(1e-9, benchunit.Binary))
}
E
go run . >got
same <<'E'
0.001000n
1000000.0T
NaNn
0.0000000010
E
