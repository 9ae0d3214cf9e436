// Package idle tells when a program is at rest: no goroutine runs or could
// run but those that ask. It is for checks that something does not happen,
// where there is no synctest bubble to say so exactly.
package idle

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// calm is how often in a row the scheduler has to say that nothing is runnable: its
// counts are of several processors, and not of one moment.
const calm = 4

// Patience bounds [Wait] in real time. Where goroutines get to rest that takes
// microseconds. On a machine that is busy with other things it takes as long as the
// system keeps a thread from running that is running a goroutine, which may be
// seconds; so the bound is for what never rests.
const Patience = 30 * time.Second

// pause is how long the processor is left to another thread that runs a goroutine, or
// looks for one.
const pause = 100 * time.Microsecond

// waiting is how many goroutines are in wait and not asleep there: they run, or could,
// and count as at rest. It hands nothing over; a count that is a moment old costs another
// look.
var waiting atomic.Int64

// Wait returns true when nothing is runnable but those that wait here, as far as the
// scheduler's own counts tell, and false if that was not so for [Patience]. Goroutines
// that wait in system calls or for timers are at rest. Any goroutine may call it, several
// at once too.
func Wait() bool {
	deadline := time.Now().Add(Patience)
	return WaitUnless(func() bool { return time.Now().After(deadline) })
}

// polls is how often [Now] looks. A timer that rings has another thread look for work, which
// counts as running: who looks once when a timer has rung finds that thread each time.
const polls = 4

// Now reports whether nothing is runnable at this moment but what waits in this package. It
// takes a millisecond at most on a machine that is not busy.
func Now() bool {
	looks := 0
	return WaitUnless(func() bool {
		looks++
		return looks == polls
	})
}

// WaitUnless is [Wait] with another end: it returns false when enough reports true while
// something is runnable. It calls enough again and again.
func WaitUnless(enough func() bool) bool {
	waiting.Add(1)
	defer waiting.Add(-1)
	samples := [...]metrics.Sample{
		{Name: "/sched/goroutines/runnable:goroutines"},
		{Name: "/sched/goroutines/running:goroutines"},
	}
	runtime.Gosched()
	for quiet := 0; quiet < calm; {
		before := waiting.Load()
		metrics.Read(samples[:])
		runnable, running := int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
		switch {
		case runnable+running <= min(before, waiting.Load()): // goroutines that came or left meanwhile were busy
			quiet++
			continue
		case enough():
			return false
		case runnable > 0:
			runtime.Gosched()
		default:
			// Not Gosched: it has another thread wake and look for work, which counts
			// as running, and on a busy machine does for long.
			waiting.Add(-1)
			time.Sleep(pause)
			waiting.Add(1)
		}
		quiet = 0
	}
	return true
}
