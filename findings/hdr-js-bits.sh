#!/usr/bin/env bash
# Guess:   a histogram with bitBucketSize 8 or 16 refuses, or keeps at the highest, a count that does not fit.
# Version: hdr-histogram-js 3.0.1 (npm).
# Seen:    the count begins again at 0 and nobody is told, while the total goes on: of 70,000 values of 7 and
#          one of 900, the median is 0, and the 99th percentile too.
. "$(dirname "$0")/lib.sh"
npm_packages hdr-histogram-js@3.0.1
cat >x.js <<'E'
const hdr = require('hdr-histogram-js');
for (const bitBucketSize of [8, 16, 32]) {
  const h = hdr.build({ bitBucketSize });
  for (let i = 0; i < 70000; i++) h.recordValue(7);
  h.recordValue(900);
  console.log(bitBucketSize, 'total', h.totalCount, 'median', h.getValueAtPercentile(50), '99 %', h.getValueAtPercentile(99));
}
E
node x.js >got
same <<'E'
8 total 70001 median 0 99 % 0
16 total 70001 median 0 99 % 0
32 total 70001 median 7 99 % 7
E
