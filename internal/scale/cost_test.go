package scale

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// cell is a word with a cache line of its own, and with the one beside it, which processors
// fetch along.
type cell struct {
	_ [128]byte
	v atomic.Uint64
	_ [120]byte
}

// BenchmarkCost measures what the model takes for granted of a machine. With one processor
// there is nothing to hand over, so two of them need more.
func BenchmarkCost(b *testing.B) {
	b.Run("of=line", costOfLine)
	b.Run("of=handover", costOfHandover)
	b.Run("of=wake", costOfWake)
}

// costOfLine is all processors adding to one word: an operation is the time between two
// additions, of whichever processors.
func costOfLine(b *testing.B) {
	var c cell
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			for range 100 { // what pb.Next costs is a hundredth of it
				c.v.Add(1)
			}
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(c.v.Load()), "add-ns")
}

// costOfHandover is a word that two processors write in turn, each waiting for the other's
// value: an operation is a line's way from one to the other.
func costOfHandover(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("with one processor there is no other")
	}
	var c cell
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := uint64(1); i < uint64(b.N); i += 2 {
			await(&c, i)
			c.v.Store(i + 1)
		}
	}()
	for i := uint64(0); i < uint64(b.N); i += 2 {
		await(&c, i)
		c.v.Store(i + 1)
	}
	<-done
}

// await waits until the word is v. It gives way now and then, for the other processor may have
// been taken away.
func await(c *cell, v uint64) {
	for spins := 1; c.v.Load() != v; spins++ {
		if spins%10_000 == 0 {
			runtime.Gosched()
		}
	}
}

// costOfWake is the time from starting a goroutine until it runs on a processor that was asleep.
func costOfWake(b *testing.B) {
	if b.N == 1 {
		fmt.Println("Unit wake-ns better=lower")
		fmt.Println("Unit add-ns better=lower")
	}
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("with one processor there is no other")
	}
	var total time.Duration
	for range b.N {
		busy(500 * time.Microsecond) // idle threads look for work for a while before they sleep
		var c cell
		begun := time.Now()
		go func() { c.v.Store(1) }()
		for c.v.Load() == 0 {
		}
		total += time.Since(begun)
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "wake-ns")
}

// busy keeps the processor busy.
func busy(d time.Duration) {
	for begun := time.Now(); time.Since(begun) < d; {
	}
}
