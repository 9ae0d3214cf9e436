#!/usr/bin/env bash
# Guess:   Take(2) ends the subscription to what is before it, which makes no more than two or three
#          elements, as with RxJS and Go's iterators.
# Version: github.com/samber/ro v0.3.0, rxjs 7.8.2 (npm).
# Seen:    Range makes all 1,000, and Map is called for each; the result comes then. RxJS stops after two.
. "$(dirname "$0")/lib.sh"
modules github.com/samber/ro@v0.3.0
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/samber/ro"
)

func main() {
	n := 0
	got, err := ro.Collect(ro.Pipe2(ro.Range(0, 1000),
		ro.Map(func(x int64) int64 { n++; return x }), ro.Take[int64](2)))
	fmt.Println(got, err, "calls:", n)
}
E
go run . >got
npm_packages rxjs@7.8.2
cat >x.mjs <<'E'
import { range, map, take } from 'rxjs';
let n = 0;
range(0, 1000).pipe(map((x) => (n++, x)), take(2)).subscribe();
console.log('calls:', n);
E
node x.mjs >>got
same <<'E'
[0 1] <nil> calls: 1000
calls: 2
E
