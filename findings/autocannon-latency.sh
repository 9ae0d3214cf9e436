#!/usr/bin/env bash
# Guess:   latency.totalCount of autocannon's result is the number of answers, and of answers that take 55 ms
#          each no latency is below 55 ms, with a rate set or without.
# Version: autocannon 9.0.0 (npm).
# Seen:    with a rate its correction for coordinated omission, on unless turned off, takes the requests to be
#          1 ms apart whatever the rate (1/rate is in seconds, rounded up): there are 50 times as many
#          latencies as answers, a tenth and more of them below 40 ms, and the mean is about halved.
. "$(dirname "$0")/lib.sh"
npm_packages autocannon@9.0.0
cat >x.mjs <<'E'
import { createServer } from 'http';
import autocannon from 'autocannon';
const server = createServer((_, res) => setTimeout(() => res.end(), 55));
server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  for (const ignoreCoordinatedOmission of [false, true]) {
    const { latency, requests } = await autocannon({ url, connections: 1, overallRate: 10, duration: 2, ignoreCoordinatedOmission });
    console.log('ignored:', ignoreCoordinatedOmission, '10 % below 40 ms:', latency.p10 < 40, 'latencies for each answer:',
      latency.totalCount < requests.total * 1.2 ? 'one' : latency.totalCount > requests.total * 40 ? 'above 40' : 'else');
  }
  process.exit();
});
E
timeout 60 node x.mjs >got 2>log
same <<'E'
ignored: false 10 % below 40 ms: true latencies for each answer: above 40
ignored: true 10 % below 40 ms: false latencies for each answer: one
E
