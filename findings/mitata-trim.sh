#!/usr/bin/env bash
# Guess:   stats.max of mitata's results is the slowest sample, and samples are in the order in which
#          they were taken.
# Version: mitata 1.0.34 (npm).
# Seen:    samples are sorted, and of more than twelve the two fastest and the two slowest are
#          dropped before max, avg and all else are computed: a call of 300 ms among others of 1 ms
#          is in no figure, and a drift cannot be seen. Nothing in the result says that.
. "$(dirname "$0")/lib.sh"
npm_packages mitata@1.0.34
cat >x.mjs <<'E'
import { bench, run } from 'mitata';
let calls = 0, worst = 0;
bench('x', () => {
  const end = performance.now() + (++calls === 60 ? 300 : 1), start = performance.now();
  while (performance.now() < end);
  worst = Math.max(worst, performance.now() - start);
});
const { stats } = (await run({ format: 'quiet' })).benchmarks[0].runs[0];
console.log('a call of 300 ms:', worst >= 300, 'max shows it:', stats.max >= 300e6);
console.log('sorted:', stats.samples.every((v, i, all) => i === 0 || all[i - 1] <= v));
E
node x.mjs >got
same <<'E'
a call of 300 ms: true max shows it: false
sorted: true
E
