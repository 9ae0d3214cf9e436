#!/usr/bin/env bash
# Guess:   throughput.mean is runs per second, the inverse of latency.mean up to a percent or so; and
#          an error of a task is in the JSON of its result.
# Version: tinybench 6.2.5 (npm).
# Seen:    it is the mean of each run's inverse, which fast runs dominate: of runs of 1 ms and 9 ms in
#          turns, 200 a second, it says more than 500. `error` becomes {} in JSON: what failed, and
#          why, is lost; the state remains.
. "$(dirname "$0")/lib.sh"
npm_packages tinybench@6.2.5
cat >x.mjs <<'E'
import { Bench } from 'tinybench';
const bench = new Bench({ time: 300, warmup: false });
let n = 0;
bench.add('turns', () => {
  const end = performance.now() + (++n % 2 ? 1 : 9);
  while (performance.now() < end);
});
bench.add('fails', () => { throw new Error('boom'); });
await bench.run();
const [turns, fails] = bench.tasks.map((t) => t.result);
console.log('inverse of the mean:', 1000 / turns.latency.mean < 220, 'throughput.mean above 400:', turns.throughput.mean > 400);
const { state, error } = JSON.parse(JSON.stringify(fails));
console.log(state, JSON.stringify(error), fails.error.message);
E
node x.mjs >got
same <<'E'
inverse of the mean: true throughput.mean above 400: true
errored {} boom
E
