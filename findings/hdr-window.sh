#!/usr/bin/env bash
# Guess:   WindowedHistogram.Merge gives a histogram of what was recorded so far, to keep; and a value
#          above the highest trackable one is an error.
# Version: github.com/HdrHistogram/hdrhistogram-go v1.4.0.
# Seen:    it is the same histogram each time: what was kept has the next figures when Merge is
#          called again. Of a histogram up to 1,000 values up to 2,047 are recorded without an error.
. "$(dirname "$0")/lib.sh"
modules github.com/HdrHistogram/hdrhistogram-go@v1.4.0
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func main() {
	w := hdrhistogram.NewWindowed(3, 1, 1000, 3)
	_ = w.Current.RecordValue(5)
	before := w.Merge()
	fmt.Println("before:", before.TotalCount(), before.Max())
	w.Rotate()
	_ = w.Current.RecordValue(900)
	w.Merge()
	fmt.Println("the same, later:", before.TotalCount(), before.Max())
	h := hdrhistogram.New(1, 1000, 3)
	fmt.Println(h.RecordValue(1001), h.RecordValue(2047), h.RecordValue(2048), h.Max())
}
E
go run . >got
same <<'E'
before: 1 5
the same, later: 2 900
<nil> <nil> value 2048 is too large to be recorded 2047
E
