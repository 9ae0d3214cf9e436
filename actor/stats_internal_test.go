package actor

import (
	"sync"
	"testing"
	"time"
)

// TestCounterLosesNothing has several goroutines count the same thing.
func TestCounterLosesNothing(t *testing.T) {
	const goroutines, each = 4, 500_000
	var c counter
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				c.add(1)
			}
		})
	}
	all.Wait()
	if n := c.load(); n != goroutines*each {
		t.Errorf("%d are counted, want %d", n, goroutines*each)
	}
}

// TestBackoffDiffersByIncarnation: of the actors that have had the same place each waits for a
// time of its own, as those in different places do, and after each failure.
func TestBackoffDiffersByIncarnation(t *testing.T) {
	b := Backoff{Min: 1 << 40, Max: 1 << 40, Jitter: 1}
	seen := map[int64]string{}
	note := func(what string, p PID, n int) {
		d := int64(b.delay(p, n))
		if other := seen[d]; other != "" {
			t.Errorf("%s waits as long as %s", what, other)
		}
		seen[d] = what
	}
	note("the first", PID{slot: 1, gen: 1}, 1)
	note("the second in its place", PID{slot: 1, gen: 2}, 1)
	note("one in another place", PID{slot: 2, gen: 1}, 1)
	note("the first at its second failure", PID{slot: 1, gen: 1}, 2)
}

// TestBackoffDoublesByDefault: what has no Factor doubles from failure to failure, up to a minute.
func TestBackoffDoublesByDefault(t *testing.T) {
	b := Backoff{Min: 20 * time.Second}
	for i, want := range []time.Duration{20 * time.Second, 40 * time.Second, time.Minute, time.Minute} {
		if got := b.delay(PID{}, i+1); got != want {
			t.Errorf("failure %d is followed by %v, want %v", i+1, got, want)
		}
	}
}
