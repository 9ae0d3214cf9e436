package actor_test

import (
	"runtime"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
)

// TestMessagesDoNotAllocate counts what a message between actors allocates
// when queues have grown to their size: nothing.
func TestMessagesDoNotAllocate(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		h := newHost(t, impl)
		done := make(chan struct{}, 1)
		var ring actor.Ref
		h.do(func(ctx *actor.Context) {
			var err error
			ring, err = newRing(ctx, 10, done)
			must(t, err)
		})
		run := func(n int) {
			must(t, ring.Tell(&ball{n}))
			h.Drive()
			<-done
		}
		run(1000)
		const n = 100_000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run(n)
		runtime.ReadMemStats(&after)
		// Some dozens for starting the run, a timer or a worker; none per message.
		if got := after.Mallocs - before.Mallocs; got > n/100 {
			t.Errorf("%d allocations for %d messages", got, n)
		}
	})
}
