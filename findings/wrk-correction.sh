#!/usr/bin/env bash
# Guess:   the latencies of wrk are those of the answers it got, uncorrected for coordinated omission: that
#          is what wrk2 was made for.
# Version: wrk 4.1.0-3+b2 (Debian).
# Seen:    of dozens of answers one took a second; the 75th percentile is above 100 ms. For each slow
#          answer wrk adds those that would have waited at the mean rate, in all its figures; nothing says so.
. "$(dirname "$0")/lib.sh"
debian wrk 4.1.0-3+b2
command -v node >/dev/null || skip "node is not installed"
cat >server.mjs <<'E'
import { createServer } from 'http';
import { spawn } from 'child_process';
let n = 0;
const server = createServer((_, res) => {
  setTimeout(() => res.end(), ++n === 20 ? 1000 : 0);
}).listen(0, '127.0.0.1', () => {
  const wrk = spawn('wrk', ['-t1', '-c1', '-d2s', '--latency', `http://127.0.0.1:${server.address().port}`]);
  let out = '';
  wrk.stdout.on('data', (s) => (out += s));
  wrk.on('close', () => {
    const ms = out.match(/75% +([0-9.]+)ms/);
    console.log('requests above 20:', n > 20, '75 % above 100 ms:', ms && ms[1] > 100);
    process.exit();
  });
});
E
timeout 30 node server.mjs >got
same <<'E'
requests above 20: true 75 % above 100 ms: true
E
