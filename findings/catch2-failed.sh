#!/usr/bin/env bash
# Guess:   a benchmark of Catch2 that throws fails its test case, and the exit status says so.
# Version: Catch2 2.13.10-1 (Debian).
# Seen:    "Benchmark failed" stands where its times would, and then "All tests passed", with exit status 0. In
#          XML it has <failed>, and its test case success="true".
. "$(dirname "$0")/lib.sh"
debian catch2 2.13.10-1
command -v g++ >/dev/null || skip "g++ is not installed"
cat >x.cpp <<'E'
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <stdexcept>

TEST_CASE("a case") {
  BENCHMARK("throws") { throw std::runtime_error("boom"); };
  CHECK(true);
}
E
g++ -o x x.cpp
./x >out && echo "exit status 0" >got
grep -oE "Benchmark failed.*|All tests passed" out | sed 's/ *$//' >>got
./x -r xml | grep -oE "<failed.*|<OverallResult .*" >>got
same <<'E'
exit status 0
Benchmark failed (boom)
All tests passed
<failed message="boom"/>
<OverallResult success="true"/>
E
