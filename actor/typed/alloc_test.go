package typed_test

import (
	"runtime"
	"testing"
)

// TestMessagesDoNotAllocate counts what messages of several sizes allocate when
// queues and pools have grown to their size: nothing.
func TestMessagesDoNotAllocate(t *testing.T) {
	if poolsDrop {
		t.Skip("with -race a sync.Pool drops some of what it is given, at random")
	}
	const n = 50_000
	onAll(t, func(t *testing.T, h *host) {
		for _, v := range []struct {
			name string
			prep func(*host) func(int)
			most uint64 // some dozens for starting the run, a timer or a worker
		}{
			{"8 bytes", pingpong[m8], n / 500},
			{"16 bytes", pingpong[m16], n / 500},
			{"24 bytes", pingpong[m24], n / 500},
			{"64 bytes", pingpong[m64], n / 500},
			{"a pointer", pingpong[*m24p], n / 500},
			// Here a sender that waits for room allocates, once in 256 messages.
			{"24 bytes in a flood", flood[m24], n / 20},
		} {
			run := v.prep(h)
			run(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run(n)
			runtime.ReadMemStats(&after)
			if got := after.Mallocs - before.Mallocs; got > v.most {
				t.Errorf("%s: %d allocations for %d messages", v.name, got, n)
			}
		}
	})
}
