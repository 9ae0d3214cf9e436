#!/usr/bin/env bash
# Guess:   benchmath.AssumeNormal says that samples differ if its t-test does; and six times 1 differ
#          from six times 2.
# Version: golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da.
# Seen:    its comparisons have no Alpha, so FormatDelta compares p with 0 and prints "~" for any p
#          above it. Samples without any spread are "the same", p = 1, with a warning. AssumeNothing,
#          which the command uses, has its Alpha.
. "$(dirname "$0")/lib.sh"
modules golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da
cat >main.go <<'E'
package main

import (
	"fmt"

	"golang.org/x/perf/benchmath"
)

func main() {
	for _, s := range [][2][]float64{{{100, 101, 102, 103}, {200, 201, 202, 203}}, {{1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}}} {
		a, b := benchmath.NewSample(s[0], &benchmath.DefaultThresholds), benchmath.NewSample(s[1], &benchmath.DefaultThresholds)
		for _, as := range []benchmath.Assumption{benchmath.AssumeNothing, benchmath.AssumeNormal} {
			c := as.Compare(a, b)
			fmt.Printf("%v p<=0.05:%v alpha=%v %q %v\n", as.SummaryLabel(), c.P <= 0.05, c.Alpha, c.FormatDelta(1, 2), c.Warnings)
		}
	}
}
E
go run . >got
same <<'E'
median p<=0.05:true alpha=0.05 "+100.00%" []
mean p<=0.05:true alpha=0 "~" []
median p<=0.05:true alpha=0.05 "+100.00%" []
mean p<=0.05:false alpha=0 "~" [sample has zero variance]
E
