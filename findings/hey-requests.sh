#!/usr/bin/env bash
# Guess:   hey -n 10 -c 3 makes ten requests, and gives all percentiles it has lines for.
# Version: hey 0.1.4-2+b4 (Debian).
# Seen:    nine: each worker makes a third, rounded down. From 90 % on it says "0% in 0.0000 secs".
. "$(dirname "$0")/lib.sh"
debian hey 0.1.4-2+b4
command -v node >/dev/null || skip "node is not installed"
cat >server.mjs <<'E'
import { createServer } from 'http';
import { execFile } from 'child_process';
let n = 0;
const server = createServer((_, res) => res.end(`${++n}`)).listen(0, '127.0.0.1', () =>
  execFile('hey', ['-n', '10', '-c', '3', `http://127.0.0.1:${server.address().port}`], (_, out) => {
    console.log('requests:', n, 'percentiles:', out.match(/\d+% in/g).join(', '));
    process.exit();
  }));
E
timeout 30 node server.mjs >got
same <<'E'
requests: 9 percentiles: 10% in, 25% in, 50% in, 75% in, 0% in, 0% in, 0% in
E
