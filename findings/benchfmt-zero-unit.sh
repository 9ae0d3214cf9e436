#!/usr/bin/env bash
# Guess:   benchfmt turns MB/s into B/s and ns/op into sec/op, always, so that values of one unit meet.
# Version: golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da.
# Seen:    a zero keeps its unit: times a factor it is the same, and then nothing is converted. So
#          `0.00 MB/s`, which slow benchmarks do print, is not among the B/s of its own benchmark, and
#          benchstat shows a table for each. Infinity does the same.
. "$(dirname "$0")/lib.sh"
modules golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
cat >x.txt <<'E'
BenchmarkA 1 5 ns/op 0.00 MB/s
BenchmarkA 1 6 ns/op 0.01 MB/s
E
go run golang.org/x/perf/cmd/benchstat -format csv x.txt 2>/dev/null | grep '^,' | grep -v x.txt >got
same <<'E'
,sec/op,CI
,MB/s,CI
,B/s,CI
E
