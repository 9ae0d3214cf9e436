#!/usr/bin/env bash
# Guess:   a DDSketch that was written and read again has the sum, the minimum and the maximum it had; they
#          are exact, in JavaScript and in Go.
# Version: @datadog/sketches-js 2.1.1 (npm), github.com/DataDog/sketches-go v1.4.8.
# Seen:    the format has only the buckets. In JavaScript the sum is then 0, with a count of 100, the minimum
#          Infinity; what is merged with it has half the mean. In Go they are always those of the
#          buckets: 1 to 100 is 1.01 to 100.49.
. "$(dirname "$0")/lib.sh"
npm_packages @datadog/sketches-js@2.1.1 protobufjs@7
modules github.com/DataDog/sketches-go@v1.4.8
cat >x.js <<'E'
const { DDSketch } = require('@datadog/sketches-js');
const one = new DDSketch();
for (let i = 1; i <= 100; i++) one.accept(i);
const read = DDSketch.fromProto(one.toProto());
const show = (name, s) => console.log(name, 'count', s.count, 'sum', s.sum, 'from', s.min, 'to', s.max, 'median', s.getValueAtQuantile(0.5).toFixed(2));
show('made', one);
show('read', read);
read.merge(one);
show('merged', read);
E
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/DataDog/sketches-go/ddsketch"
)

func main() {
	s, err := ddsketch.NewDefaultDDSketch(0.01)
	if err != nil {
		panic(err)
	}
	for i := 1; i <= 100; i++ {
		if err := s.Add(float64(i)); err != nil {
			panic(err)
		}
	}
	least, _ := s.GetMinValue()
	most, _ := s.GetMaxValue()
	fmt.Printf("Go count %v sum %.2f from %.2f to %.2f\n", s.GetCount(), s.GetSum(), least, most)
}
E
node x.js >got
go mod tidy >tidy.log 2>&1 || skip "cannot be fetched"
go run . >>got
same <<'E'
made count 100 sum 5050 from 1 to 100 median 49.90
read count 100 sum 0 from Infinity to -Infinity median 49.90
merged count 200 sum 5050 from 1 to 100 median 49.90
Go count 100 sum 5049.63 from 1.01 to 100.49
E
