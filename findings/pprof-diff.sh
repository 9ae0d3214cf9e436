#!/usr/bin/env bash
# Guess:   `go tool pprof -top -diff_base old new` gives what became cheaper a negative share, and above it
#          the duration of new, with how much of that was sampled.
# Version: go tool pprof of Go 1.26.8 and 1.27.4 (fetched by the go command).
# Seen:    the value is negative and its share is not. The duration is that of both together, and the
#          samples are those of old alone: of a processor that was always busy it says 50 %.
. "$(dirname "$0")/lib.sh"
modules github.com/google/pprof@v0.0.0-20260906184651-6331bc6350fe
cat >main.go <<'E2'
package main

import (
	"os"

	"github.com/google/pprof/profile"
)

// save writes a profile of a second, all of which is in f and g.
func save(name string, f, g int64) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, DurationNanos: 1e9}
	for i, v := range []int64{f, g} {
		at := &profile.Function{ID: uint64(i + 1), Name: string("fg"[i])}
		in := &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: at, Line: 1}}}
		p.Function, p.Location = append(p.Function, at), append(p.Location, in)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{in}, Value: []int64{v * 1e6}})
	}
	file, err := os.Create(name)
	if err == nil {
		err = p.Write(file)
	}
	if err != nil {
		panic(err)
	}
}

func main() {
	save("old", 800, 200)
	save("new", 500, 500)
}
E2
go run .
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go version >/dev/null 2>&1 || skip "$release cannot be fetched"
	echo "$release"
	GOTOOLCHAIN=$release go tool pprof -top -diff_base old new 2>/dev/null | grep -E 'Duration|  [fg]$' | tr -s ' '
done >got
same <<'E2'
go1.26.8
Duration: 2s, Total samples = 1000ms (50.00%)
 -300ms 30.00% 30.00% -300ms 30.00% f
 300ms 30.00% 0% 300ms 30.00% g
go1.27.4
Duration: 2s, Total samples = 1000ms (50.00%)
 -300ms 30.00% 30.00% -300ms 30.00% f
 300ms 30.00% 0% 300ms 30.00% g
E2
