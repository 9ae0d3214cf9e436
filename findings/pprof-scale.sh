#!/usr/bin/env bash
# Guess:   Profile.ScaleN with the factors 1 and 0.001 divides the second values by 1,000, and keeps all
#          samples, since the first values are as they were; Scale(0.4) of 1,000 samples of 1 adds up to 400.
# Version: github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe.
# Seen:    a sample is dropped if its scaled values are all 0, whatever those with the factor 1 are. Each
#          value is rounded for itself: of 1,000 samples of 1 nothing is left.
. "$(dirname "$0")/lib.sh"
modules github.com/google/pprof@v0.0.0-20260906184651-6331bc6350fe
cat >main.go <<'E2'
package main

import (
	"fmt"

	"github.com/google/pprof/profile"
)

// of returns a profile of n samples, each with these values.
func of(n int, values ...int64) *profile.Profile {
	p := new(profile.Profile)
	for range values {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: "x", Unit: "count"})
	}
	for range n {
		p.Sample = append(p.Sample, &profile.Sample{Value: append([]int64(nil), values...)})
	}
	return p
}

func main() {
	p := of(2, 10, 100)
	p.Sample[1].Value[1] = 5000
	fmt.Println(p.ScaleN([]float64{1, 0.001}), "samples:", len(p.Sample), "values:", p.Sample[0].Value)
	p = of(1000, 1)
	p.Scale(0.4)
	fmt.Println("samples of 1:", len(p.Sample))
}
E2
go run . >got
same <<'E2'
<nil> samples: 1 values: [10 5]
samples of 1: 0
E2
