#!/usr/bin/env bash
# Guess:   each run of a benchmark with .args has a name that says which, and a benchmark that failed
#          ends the process with a status.
# Version: mitata 1.0.34 (npm).
# Seen:    the name has an argument only where it says $n itself: else all runs have one name, and
#          what goes by names mixes them; `args` tells them apart. The status is 0, and the failed
#          run has an error and no stats.
. "$(dirname "$0")/lib.sh"
npm_packages mitata@1.0.34
cat >x.mjs <<'E'
import { bench, run } from 'mitata';
const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
bench('spin', function* (state) { const n = state.get('n'); yield () => spin(n); }).args('n', [60, 90]);
bench('fails', () => { throw new Error('boom'); });
await run({ format: { json: { samples: false, debug: false } }, print: (text) => {
  for (const b of JSON.parse(text).benchmarks)
    for (const r of b.runs) console.log(r.name, JSON.stringify(r.args), 'stats' in r, r.error?.message);
} });
E
node x.mjs >got
echo "status $?" >>got
same <<'E'
spin {"n":60} true undefined
spin {"n":90} true undefined
fails {} false boom
status 0
E
