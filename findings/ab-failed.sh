#!/usr/bin/env bash
# Guess:   "Failed requests" of ab are those with a status of 4xx or 5xx, or without an answer.
# Version: ApacheBench 2.3 (Debian apache2-utils 2.4.71).
# Seen:    ten answers of 500 are no failure (a line of their own counts them, and their times are in all
#          figures); an answer of 200 whose body has another length than the first one's is one.
. "$(dirname "$0")/lib.sh"
command -v ab >/dev/null || skip "ab is not installed (Debian: apache2-utils)"
case $(ab -V) in *"Version 2.3 "*) ;; *) skip "this is another version of ab than 2.3" ;; esac
command -v node >/dev/null || skip "node is not installed"
cat >server.mjs <<'E'
import { createServer } from 'http';
import { execFile } from 'child_process';
import { promisify } from 'util';
let n = 0;
const server = createServer((req, res) => {
  if (req.url === '/500') res.statusCode = 500;
  res.end(req.url === '/grows' ? 'x'.repeat(++n) : 'x');
}).listen(0, '127.0.0.1', async () => {
  for (const path of ['500', 'grows']) {
    const { stdout } = await promisify(execFile)('ab', ['-q', '-n', '10', `http://127.0.0.1:${server.address().port}/${path}`]);
    console.log(path, stdout.match(/(Failed requests|Non-2xx responses): +\d+/g).join(', '));
  }
  process.exit();
});
E
timeout 30 node server.mjs >got
same <<'E'
500 Failed requests:        0, Non-2xx responses:      10
grows Failed requests:        9
E
