package typed_test

import (
	"runtime"
	"testing"
)

// TestMessagesDoNotAllocate counts what messages of several sizes allocate when
// queues and pools have grown to their size: nothing.
func TestMessagesDoNotAllocate(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		for name, prep := range map[string]func(*host) func(int){
			"8 bytes":    pingpong[m8],
			"16 bytes":   pingpong[m16],
			"24 bytes":   pingpong[m24],
			"64 bytes":   pingpong[m64],
			"a pointer":  pingpong[*m24p],
			"in a flood": flood[m24],
		} {
			const n = 50_000
			run := prep(h)
			run(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run(n)
			runtime.ReadMemStats(&after)
			got := after.Mallocs - before.Mallocs
			t.Logf("%s: %d allocations for %d messages", name, got, n)
			limit := uint64(n / 100)
			if poolsDrop {
				continue
			}
			if got > limit {
				t.Errorf("%s: %d allocations for %d messages", name, got, n)
			}
		}
	})
}
