#!/usr/bin/env bash
# Guess:   the log that hdrhistogram-go writes has the start of an interval in milliseconds, as those of Java
#          and JavaScript have, since the histogram has it so; its reader gives it back.
# Version: github.com/HdrHistogram/hdrhistogram-go v1.4.0, hdr-histogram-js 3.0.1 (npm).
# Seen:    it writes the base time in whole seconds: every interval is read up to a second early, by both.
#          Without a base time it is exact.
. "$(dirname "$0")/lib.sh"
modules github.com/HdrHistogram/hdrhistogram-go@v1.4.0
npm_packages hdr-histogram-js@3.0.1
cat >main.go <<'E'
package main

import (
	"bytes"
	"fmt"
	"os"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func main() {
	const start = 1_700_000_000_900
	h := hdr.New(1, 1000, 3)
	h.RecordValue(7)
	for _, based := range []bool{true, false} {
		var log bytes.Buffer
		w := hdr.NewHistogramLogWriter(&log)
		w.OutputLogFormatVersion()
		w.OutputStartTime(start)
		if based {
			w.SetBaseTime(start)
			w.OutputBaseTime(start)
		}
		w.OutputLegend()
		h.SetStartTimeMs(start + 250)
		h.SetEndTimeMs(start + 500)
		w.OutputIntervalHistogram(h)
		os.WriteFile(fmt.Sprint("based-", based), log.Bytes(), 0o644)
		got, err := hdr.NewHistogramLogReader(&log).NextIntervalHistogram()
		if err != nil {
			panic(err)
		}
		fmt.Println("Go, base time:", based, "start off by ms:", got.StartTimeMs()-start-250, "length:", got.EndTimeMs()-got.StartTimeMs())
	}
}
E
cat >x.js <<'E'
const { HistogramLogReader } = require('hdr-histogram-js');
for (const based of [true, false]) {
  const got = new HistogramLogReader(require('fs').readFileSync(`based-${based}`, 'utf8')).nextIntervalHistogram();
  console.log('JavaScript, base time:', based, 'start off by ms:', got.startTimeStampMsec - 1700000001150);
}
E
go run . >got
node x.js >>got
same <<'E'
Go, base time: true start off by ms: -900 length: 250
Go, base time: false start off by ms: 0 length: 250
JavaScript, base time: true start off by ms: -900
JavaScript, base time: false start off by ms: 0
E
