#!/usr/bin/env bash
# Guess:   the p-value that benchstat prints is a probability, between 0 and 1.
# Version: golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da.
# Seen:    where values of the two samples are equal and the samples lie in the middle of one another,
#          benchmath doubles a tail that holds more than half: p=1.013, in the table and in the CSV. Who
#          corrects such values for many comparisons, or wants p <= 1 of them, is surprised. dyno takes the
#          smaller of it and 1.
. "$(dirname "$0")/lib.sh"
modules golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
printf 'BenchmarkA 1 %d ns/op\n' 100 101 102 103 99 98 >old.txt
printf 'BenchmarkA 1 %d ns/op\n' 101 102 103 99 98 >new.txt
go run golang.org/x/perf/cmd/benchstat -format csv old.txt new.txt 2>/dev/null | grep -o 'p=[0-9.]* n=.*' >got
same <<'W'
p=1.013 n=6+5
W
