#!/usr/bin/env bash
# Guess:   monitorEventLoopDelay of an idle event loop says about 0: nothing waits.
# Version: Node.js 20.
# Seen:    it says how long its own timer took, the interval in it: with a resolution of 20 ms values are
#          20 ms and more, and the delay is what is above.
. "$(dirname "$0")/lib.sh"
need node v20. nodejs
cat >x.mjs <<'E'
import { monitorEventLoopDelay } from 'perf_hooks';
const delay = monitorEventLoopDelay({ resolution: 20 });
delay.enable();
setTimeout(() => console.log('idle loop, median above 15 ms:', delay.percentile(50) > 15e6), 500);
E
node x.mjs >got
same <<'E'
idle loop, median above 15 ms: true
E
