#!/usr/bin/env bash
# Guess:   the difference in benchstat's row of geomeans is that of the two geomeans beside it; that of 0
#          to 1, proven, is shown as infinite.
# Version: golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da.
# Seen:    it is that of the benchmarks which both files have, the geomeans are of all: 1.012µ and 112.5n, a
#          ninth, is +9.76 %. In CSV nothing in the table says so. From 0 to 1 is "?".
. "$(dirname "$0")/lib.sh"
modules golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da
for i in 0 1 2 3 4 5; do
	echo "BenchmarkA 1 10$i ns/op 0 allocs/op"
	echo "BenchmarkB 1 10000 ns/op 2 allocs/op"
done >old
grep A old | sed 's/ 10/ 11/; s/ 0 a/ 1 a/' >new
go mod download golang.org/x/perf 2>/dev/null || skip "cannot be fetched"
go run golang.org/x/perf/cmd/benchstat old new >table
go run golang.org/x/perf/cmd/benchstat -format csv old new 2>log | grep geomean | head -1 >csv
grep -E '^(A|geo)' table | sed 's/ *$//' >got
cat csv >>got
same <<'E'
A         102.5n ± 2%   112.5n ± 2%  +9.76% (p=0.002 n=6)
geomean   1.012µ        112.5n       +9.76%               ¹
A         0.000 ± 0%     1.000 ± 0%  ? (p=0.002 n=6)
geomean              ¹   1.000       ?               ²
geomean,1.0124228365658297e-06,,1.1249999999999997e-07,,+9.76%,
E
