#!/usr/bin/env bash
# Guess:   Min and Max of a histogram of hdrhistogram-go are the least and the greatest value that were recorded.
# Version: github.com/HdrHistogram/hdrhistogram-go v1.4.0.
# Seen:    they are the bounds of those values' buckets: with three digits 1,000,003 alone has the minimum
#          999,936 and the maximum 1,000,447, which nothing took.
. "$(dirname "$0")/lib.sh"
modules github.com/HdrHistogram/hdrhistogram-go@v1.4.0
cat >main.go <<'E'
package main

import (
	"fmt"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func main() {
	h := hdr.New(1, 1_000_000_000, 3)
	h.RecordValue(1_000_003)
	fmt.Println(h.Min(), h.Max(), h.ValueAtPercentile(100))
}
E
go run . >got
same <<'E'
999936 1000447 1000447
E
