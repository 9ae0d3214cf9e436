#!/usr/bin/env bash
# Guess:   one run has no standard deviation, and hyperfine's exports agree on that.
# Version: hyperfine 1.15.0 (Debian package hyperfine).
# Seen:    JSON has null, CSV has 0: a reader of the CSV takes one run for a perfectly steady one.
. "$(dirname "$0")/lib.sh"
need hyperfine 1.15.0 hyperfine
hyperfine --runs 1 --export-json x.json --export-csv x.csv 'sleep 0.02' >/dev/null 2>&1
{
	grep -o '"stddev": [^,]*' x.json
	awk -F, 'NR==2 {print $3}' x.csv
} >got
same <<'E'
"stddev": null
0
E
