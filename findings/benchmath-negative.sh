#!/usr/bin/env bash
# Guess:   of values below zero (a drift, a temperature, what was saved) benchmath gives no percentages,
#          or such whose sign says which way they went.
# Version: golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da.
# Seen:    the range of seven values from -7 to -1 about -4 is -75%, and about -7 it is 0%, as if
#          all were equal; a rise from -2 to -1 is -50.00%.
. "$(dirname "$0")/lib.sh"
modules golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da
cat >main.go <<'E'
package main

import (
	"fmt"

	"golang.org/x/perf/benchmath"
)

func main() {
	s := benchmath.NewSample([]float64{-1, -2, -3, -4, -5, -6, -7}, &benchmath.DefaultThresholds)
	for _, as := range []benchmath.Assumption{benchmath.AssumeNothing, benchmath.AssumeExact} {
		fmt.Println(as.SummaryLabel(), as.Summary(s, 0.95).PctRangeString())
	}
	fmt.Println(benchmath.Comparison{Alpha: 0.05}.FormatDelta(-2, -1))
}
E
go run . >got
same <<'E'
median -75%
exact 0%
-50.00%
E
