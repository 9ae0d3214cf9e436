#!/usr/bin/env bash
# Guess:   an aggregate row has aggregate_unit for its unit, no iterations, and a percentage is one.
# Version: Google Benchmark 1.7.1 (Debian package libbenchmark-dev 1.7.1-1, and g++).
# Seen:    the row cv has aggregate_unit "percentage" and time_unit "ms" at once, and its value is a
#          fraction: neither. Its iterations are the number of repetitions.
. "$(dirname "$0")/lib.sh"
debian libbenchmark-dev 1.7.1-1
command -v g++ >/dev/null || skip "g++ is not installed"
cat >x.cc <<'E'
#include <benchmark/benchmark.h>
static void manual(benchmark::State &s) {
  static int n = 0;
  double took = ++n % 2 ? 1 : 3;
  for (auto _ : s)
    s.SetIterationTime(took);
}
BENCHMARK(manual)->Iterations(5)->Repetitions(4)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
E
g++ x.cc -o x -lbenchmark -lpthread
# Times of 1 and 3 s twice: the mean is 2, the standard deviation 1.1547, and their ratio 57.7 %.
./x --benchmark_format=json --benchmark_report_aggregates_only 2>/dev/null |
	sed -n '/"aggregate_name": "cv"/,/}/p' | grep -E 'unit|iterations|real_time' | sed 's/^ *//; s/\(e-01\)/\1/; s/\(5\.77\)[0-9]*/\1/' >got
same <<'E'
"aggregate_unit": "percentage",
"iterations": 4,
"real_time": 5.77e-01,
"time_unit": "ms"
E
