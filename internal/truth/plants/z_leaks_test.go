package plants

import (
	"sync"
	"sync/atomic"
	"testing"
)

// The benchmarks of this file leave something behind in the process, and go test
// runs a package's benchmarks in the order of its files: so this is the last one.

// archive is what Retained keeps, for as long as the process lives.
var archive []byte

var archived sync.Once

// Retained keeps 100 MiB for as long as the process lives: the memory grows, and
// since it does, there are fewer collections.
func BenchmarkRetainedN(b *testing.B) {
	if planted == 1 {
		archived.Do(func() { archive = make([]byte, 100<<20) })
		for i := 0; i < len(archive); i += 4 << 10 {
			archive[i] = 1 // what is not touched is not there
		}
	}
	w := new(window)
	b.ResetTimer()
	for range b.N {
		w.allocate(1 << 10)
		sink = spin(sink, 1000)
	}
}

// refreshed is how often the background goroutine has refreshed its table.
var refreshed atomic.Uint64

var refreshing sync.Once

// refresh is started once and never stopped, which is the change.
func refresh() {
	if planted == 1 {
		refreshing.Do(func() {
			go func() {
				for x := uint64(1); ; {
					x = spin(x, 1000)
					refreshed.Add(x & 1)
				}
			}()
		})
	}
}

// BackgroundSerial starts a goroutine that works all the time beside a benchmark that
// needs one processor: another one pays, if there is one.
func BenchmarkBackgroundSerialN(b *testing.B) {
	refresh()
	b.ResetTimer()
	for range b.N {
		sink = spin(sink, 1000)
	}
}

// BackgroundSerial with b.Loop.
func BenchmarkBackgroundSerialLoop(b *testing.B) {
	refresh()
	for b.Loop() {
		sink = spin(sink, 1000)
	}
}

// BackgroundParallel starts a goroutine that works all the time beside a benchmark
// that needs all processors.
func BenchmarkBackgroundParallelN(b *testing.B) {
	refresh()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		x := uint64(1)
		for pb.Next() {
			x = spin(x, 1000)
		}
		refreshed.Add(x & 1)
	})
}
