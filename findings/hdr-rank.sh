#!/usr/bin/env bash
# Guess:   hdrhistogram-go gives the least value that at least so many percent of the values do not
#          exceed, as its documentation and the Java original have it.
# Version: github.com/HdrHistogram/hdrhistogram-go v1.4.0.
# Seen:    the rank is rounded to the nearest: of 160 values the 99th percentile is the 158th, which
#          98.75 % do not exceed, and of three values 34 % is the first.
. "$(dirname "$0")/lib.sh"
modules github.com/HdrHistogram/hdrhistogram-go@v1.4.0
cat >main.go <<'E'
package main

import (
	"fmt"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func main() {
	for _, c := range []struct {
		n int64
		p float64
	}{{160, 99}, {3, 34}} {
		h := hdr.New(1, 1000, 3)
		for i := int64(1); i <= c.n; i++ {
			h.RecordValue(i)
		}
		fmt.Println(c.n, c.p, h.ValueAtPercentile(c.p))
	}
}
E
go run . >got
same <<'E'
160 99 158
3 34 1
E
