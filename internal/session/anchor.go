package session

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// Anchor returns how fast the machine is: the nanoseconds that a step of two loops takes,
// with a space between, as [record.AnchorKey] has them. The first does nothing but
// arithmetic, each step of which waits for the one before; the second follows pointers
// through a megabyte. They never change, so a machine on which they take another time than
// they did is another machine, whatever it is called. It takes about twenty milliseconds.
func Anchor() string {
	next := walk()
	return formatAnchor(leastTime(arithmetic)) + " " + formatAnchor(leastTime(func() uint64 { return follow(next) }))
}

// anchorSteps is how many steps each loop has: about a millisecond.
const anchorSteps = 300_000

// leastTime returns the time of a step of loop in nanoseconds, the least of several: what
// disturbs it only makes it longer.
func leastTime(loop func() uint64) float64 {
	sum := loop() // with cold caches
	least := time.Duration(1<<63 - 1)
	for range 7 {
		start := time.Now()
		sum += loop()
		least = min(least, time.Since(start))
	}
	runtime.KeepAlive(sum) // so that no loop is left out
	return float64(least.Nanoseconds()) / anchorSteps
}

func formatAnchor(ns float64) string { return strconv.FormatFloat(ns, 'f', 3, 64) }

// arithmetic is Marsaglia's xorshift, whose steps cannot overlap.
func arithmetic() uint64 {
	x := uint64(88172645463325252)
	for range anchorSteps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// follow goes along a cycle.
func follow(next []uint32) uint64 {
	at := uint32(0)
	for range anchorSteps {
		at = next[at]
	}
	return uint64(at)
}

// walk is a cycle through all of a megabyte, always the same (Sattolo's algorithm).
var walk = sync.OnceValue(func() []uint32 {
	next := make([]uint32, 1<<18)
	for i := range next {
		next[i] = uint32(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := len(next) - 1; i > 0; i-- {
		k := random.IntN(i)
		next[i], next[k] = next[k], next[i]
	}
	return next
})
