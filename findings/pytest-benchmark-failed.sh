#!/usr/bin/env bash
# Guess:   the JSON has the benchmarks of tests that passed.
# Version: pytest-benchmark 3.2.2 (Debian package python3-pytest-benchmark 3.2.2-3).
# Seen:    a test whose assertion fails after it was timed, the usual check that the result is right, is
#          there like any other, with nothing that says so; so is an expected failure. Only what fails
#          while it is timed is missing. Nothing in the file tells that pytest failed.
. "$(dirname "$0")/lib.sh"
debian python3-pytest-benchmark 3.2.2-3
cat >test_x.py <<'E'
def test_passes(benchmark):
    benchmark(lambda: 1)

def test_wrong_result(benchmark):
    assert benchmark(lambda: 1) == 2

def test_raises(benchmark):
    benchmark(lambda: 1 / 0)
E
/usr/bin/python3 -m pytest -q -p no:cacheprovider --benchmark-max-time=0.01 --benchmark-json=x.json test_x.py >/dev/null 2>&1 || echo "pytest exit $?" >got
/usr/bin/python3 - >>got <<'E'
import json
d = json.load(open("x.json"))
keys = {k for b in d["benchmarks"] for k in b}
print([b["name"] for b in d["benchmarks"]])
print(sorted(keys))
E
same <<'E'
pytest exit 1
['test_passes', 'test_wrong_result']
['extra_info', 'fullname', 'group', 'name', 'options', 'param', 'params', 'stats']
E
