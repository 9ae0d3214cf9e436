package plants

import (
	"sync"
	"testing"
)

// LockHeld does a part of its work within the lock that used to be done outside of it.
func BenchmarkLockHeldN(b *testing.B) {
	for range b.N {
		contend(100, 300+400*planted, 900-400*planted)
	}
}

// LockHeld with b.Loop.
func BenchmarkLockHeldLoop(b *testing.B) {
	for b.Loop() {
		contend(100, 300+400*planted, 900-400*planted)
	}
}

// LockShared has all processors work, by b.RunParallel, with more of it
// within a lock.
func BenchmarkLockSharedN(b *testing.B) {
	var mu sync.Mutex
	total := uint64(0)
	b.RunParallel(func(pb *testing.PB) {
		x := uint64(1)
		for pb.Next() {
			mu.Lock()
			total = spin(total, 500+800*planted)
			mu.Unlock()
			x = spin(x, 1500-800*planted)
		}
		mu.Lock()
		sink += total + x
		mu.Unlock()
	})
}
