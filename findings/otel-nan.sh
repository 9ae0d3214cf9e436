#!/usr/bin/env bash
# Guess:   both histograms of OpenTelemetry leave out NaN and infinities; 1 to 1,000 fit in 160 buckets of scale 4
#          (159.5 of them).
# Version: go.opentelemetry.io/otel/sdk/metric v1.47.0.
# Seen:    only the exponential one does. With explicit bounds NaN counts in the last bucket, the sum is
#          NaN from then on, and the maximum infinite. 1 lies on a bound and belongs to the bucket below: the
#          scale is 3, with 81 buckets, twice as coarse.
. "$(dirname "$0")/lib.sh"
modules go.opentelemetry.io/otel/sdk/metric@v1.47.0
cat >main.go <<'E'
package main

import (
	"context"
	"fmt"
	"math"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func main() {
	ctx := context.Background()
	for _, a := range []metric.Aggregation{
		metric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20},
		metric.AggregationExplicitBucketHistogram{Boundaries: []float64{10, 100}},
	} {
		for _, values := range [][]float64{{1, 1000}, {1.001, 1000}, {50, math.NaN(), math.Inf(1)}} {
			r := metric.NewManualReader(metric.WithAggregationSelector(func(metric.InstrumentKind) metric.Aggregation { return a }))
			h, err := metric.NewMeterProvider(metric.WithReader(r)).Meter("").Float64Histogram("h")
			if err != nil {
				panic(err)
			}
			for _, v := range values {
				h.Record(ctx, v)
			}
			var got metricdata.ResourceMetrics
			if err := r.Collect(ctx, &got); err != nil {
				panic(err)
			}
			switch d := got.ScopeMetrics[0].Metrics[0].Data.(type) {
			case metricdata.ExponentialHistogram[float64]:
				p := d.DataPoints[0]
				fmt.Println("exponential", values, "count", p.Count, "sum", p.Sum, "scale", p.Scale, "buckets", len(p.PositiveBucket.Counts))
			case metricdata.Histogram[float64]:
				p := d.DataPoints[0]
				most, _ := p.Max.Value()
				fmt.Println("explicit", values, "count", p.Count, "sum", p.Sum, p.BucketCounts, "maximum", most)
			}
		}
	}
}
E
go mod tidy >tidy.log 2>&1 || skip "cannot be fetched"
go run . >got
same <<'E'
exponential [1 1000] count 2 sum 1001 scale 3 buckets 81
exponential [1.001 1000] count 2 sum 1001.001 scale 4 buckets 160
exponential [50 NaN +Inf] count 1 sum 50 scale 20 buckets 1
explicit [1 1000] count 2 sum 1001 [1 0 1] maximum 1000
explicit [1.001 1000] count 2 sum 1001.001 [1 0 1] maximum 1000
explicit [50 NaN +Inf] count 3 sum NaN [0 1 2] maximum +Inf
E
