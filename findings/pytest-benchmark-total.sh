#!/usr/bin/env bash
# Guess:   stats.total is how long the measurement took, and options.warmup whether there was a warm-up.
# Version: pytest-benchmark 3.2.2 (Debian package python3-pytest-benchmark 3.2.2-3).
# Seen:    total is the sum of the rounds' times, each already divided by its iterations: of 20 calls of
#          5 ms in 4 rounds it has 20 ms, not 100. warmup is what the command line said: false although
#          two rounds of warm-up ran, and once more the function was called for its result.
. "$(dirname "$0")/lib.sh"
debian python3-pytest-benchmark 3.2.2-3
cat >test_x.py <<'E'
import time

calls = []

def test_x(benchmark):
    benchmark.pedantic(lambda: (calls.append(1), time.sleep(0.005)), rounds=4, iterations=5, warmup_rounds=2)
    benchmark.extra_info["calls"] = len(calls)
E
/usr/bin/python3 -m pytest -q -p no:cacheprovider --benchmark-json=x.json test_x.py >/dev/null 2>&1
/usr/bin/python3 - >got <<'E'
import json
b = json.load(open("x.json"))["benchmarks"][0]
s = b["stats"]
print("calls", b["extra_info"]["calls"], "timed", s["rounds"] * s["iterations"])
print("total is the rounds' sum:", abs(s["total"] - sum(s["data"])) < 1e-9, "less than 80 ms:", s["total"] < 0.08)
print("warmup", b["options"]["warmup"])
E
same <<'E'
calls 31 timed 20
total is the rounds' sum: True less than 80 ms: True
warmup False
E
