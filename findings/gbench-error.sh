#!/usr/bin/env bash
# Guess:   Google Benchmark's JSON has no time for a benchmark that called SkipWithError.
# Version: Google Benchmark 1.7.1 (Debian package libbenchmark-dev 1.7.1-1, and g++).
# Seen:    it has real_time 0 and all the iterations of its threads, as if the fastest of all;
#          only error_occurred says that nothing was measured. Repetitions of it have no
#          aggregate rows. The exit status is 0.
. "$(dirname "$0")/lib.sh"
debian libbenchmark-dev 1.7.1-1
command -v g++ >/dev/null || skip "g++ is not installed"
cat >x.cc <<'E'
#include <benchmark/benchmark.h>
static void half(benchmark::State &s) {
  int n = 0;
  for (auto _ : s)
    if (s.thread_index() == 0 && n++ == 2) {
      s.SkipWithError("half");
      break;
    }
}
BENCHMARK(half)->Iterations(5)->Threads(2)->Repetitions(2);
BENCHMARK_MAIN();
E
g++ x.cc -o x -lbenchmark -lpthread
./x --benchmark_format=json >x.json 2>/dev/null && echo "exit 0" >got
grep -E '"(run_type|error_occurred|iterations|real_time)"' x.json | sed 's/^ *//' >>got
same <<'E'
exit 0
"run_type": "iteration",
"error_occurred": true,
"iterations": 10,
"real_time": 0.0000000000000000e+00,
"run_type": "iteration",
"error_occurred": true,
"iterations": 10,
"real_time": 0.0000000000000000e+00,
E
