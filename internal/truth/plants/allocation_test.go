package plants

import (
	"fmt"
	"runtime/debug"
	"testing"
)

// A cell is 64 bytes of live heap that the collector has to follow.
type cell struct {
	next *cell
	_    [7]uint64
}

// Allocation makes one more allocation in an operation of about a microsecond: of a size,
// beside a live heap of so many MiB, with a GOGC.
func BenchmarkAllocationN(b *testing.B) {
	for _, c := range []struct{ size, heap, gogc int }{
		{32, 0, 100},
		{256, 0, 100},
		{1024, 0, 100},
		{4096, 0, 100},
		{1024, 0, 400},
		{256, 8, 100},
		{1024, 8, 100},
		{1024, 8, 400},
		{256, 32, 100},
		{1024, 32, 400},
	} {
		b.Run(fmt.Sprintf("size=%d/heap=%d/gogc=%d", c.size, c.heap, c.gogc), func(b *testing.B) {
			heap := liveHeap(c.heap)
			defer debug.SetGCPercent(debug.SetGCPercent(c.gogc))
			b.ResetTimer()
			for range b.N {
				sink = spin(sink, 500)
				bytesSink = make([]byte, 64)
				if planted == 1 {
					bytesSink = make([]byte, c.size)
				}
			}
			b.StopTimer()
			if c.heap > 0 && heap.next == nil {
				b.Error("the heap is gone")
			}
		})
	}
}

// heaps are live heaps by their size in MiB: a process makes each once.
var heaps = make(map[int]*cell)

// liveHeap is a ring of cells that take mib MiB.
func liveHeap(mib int) *cell {
	if mib == 0 || heaps[mib] != nil {
		return heaps[mib]
	}
	clear(heaps)
	first := new(cell)
	last := first
	for range mib << 20 / 64 {
		last.next = new(cell)
		last = last.next
	}
	last.next = first
	heaps[mib] = first
	return first
}
