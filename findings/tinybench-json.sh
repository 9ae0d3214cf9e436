#!/usr/bin/env bash
# Guess:   JSON.stringify(bench.tasks) keeps a run: each task's name, runs and result; samples, where
#          they are retained, are in the order in which they were taken.
# Version: tinybench 6.2.5 (npm).
# Seen:    tasks have private fields only: the JSON is a list of empty objects. bench.results has no
#          names. Samples are sorted, so that a drift cannot be seen.
. "$(dirname "$0")/lib.sh"
npm_packages tinybench@6.2.5
cat >x.mjs <<'E'
import { Bench } from 'tinybench';
const bench = new Bench({ time: 1, iterations: 20, warmup: false, retainSamples: true });
let n = 0;
bench.add('in turns', () => ({ overriddenDuration: ++n % 7 }));
await bench.run();
console.log(JSON.stringify(bench.tasks), 'name' in bench.results[0]);
const { samples } = bench.results[0].latency;
console.log('samples:', samples.length, 'sorted:', samples.every((v, i) => i === 0 || samples[i - 1] <= v));
E
node x.mjs >got
same <<'E'
[{}] false
samples: 20 sorted: true
E
