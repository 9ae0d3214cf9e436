package remote_test

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/internal/invariants"
)

// allocations returns how many allocations each of n things takes that run does, when it
// has done them before. Others of the process can only add to it: the least of some tries
// counts.
func allocations(n int, run func()) float64 {
	run()
	least := math.Inf(1)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/float64(n))
	}
	return least
}

// wantAllocations fails the test unless got is that number, give or take what a run has of its own.
func wantAllocations(t *testing.T, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.1 {
		t.Errorf("%.2f allocations, want %v", got, want)
	}
}

// TestMessageAllocates counts what a message to another node allocates at both ends, one
// at a time and many in a frame: the value that is decoded, as an interface.
func TestMessageAllocates(t *testing.T) {
	if invariants.Enabled {
		t.Skip("under -race sync.Pool drops at random")
	}
	const n = 2000
	for name, burst := range map[string]int{"one": 1, "many": 100} {
		t.Run(name, func(t *testing.T) {
			a := remotetest.NewHost(t, "a", lockbased.NewDispatcher(), remote.Config{})
			b := remotetest.NewHost(t, "b", lockbased.NewDispatcher(), remote.Config{})
			remotetest.Join(t, remotetest.Link{Pair: tcpPair}, a, b)
			left, done := 0, make(chan struct{}, 1)
			r := a.Abroad(b.SpawnFunc(func(*actor.Context, any) error {
				if left--; left == 0 {
					done <- struct{}{}
				}
				return nil
			}))
			wantAllocations(t, allocations(n, func() {
				for range n / burst {
					left = burst
					for range burst {
						if err := r.Tell(large); err != nil {
							t.Fatal(err)
						}
					}
					<-done
				}
			}), 1)
		})
	}
}

// large is a message that an interface does not hold without an allocation.
var large any = remotetest.Count(1 << 40)

// TestAnswerBeforeTheReturn: a frame that is confirmed before the system call which wrote
// it returns, as it may be where the answer comes at once, is used again as well.
func TestAnswerBeforeTheReturn(t *testing.T) {
	if invariants.Enabled {
		t.Skip("under -race sync.Pool drops at random")
	}
	const n = 1000
	wire := &lagging{answered: make(chan struct{}), returned: make(chan struct{}, 1)}
	a := remotetest.NewHost(t, "a", lockbased.NewDispatcher(), remote.Config{})
	b := remotetest.NewHost(t, "b", lockbased.NewDispatcher(), remote.Config{})
	remotetest.Join(t, remotetest.Link{Pair: func(tb testing.TB) (x, y remote.Wire) {
		x, y = tcpPair(tb)
		wire.Wire = x
		return wire, y
	}}, a, b)
	home := b.Abroad(a.SpawnFunc(func(*actor.Context, any) error {
		wire.answered <- struct{}{}
		return nil
	}))
	far := a.Abroad(b.SpawnFunc(func(ctx *actor.Context, msg any) error { return ctx.Tell(home, msg) }))
	wantAllocations(t, allocations(n, func() {
		for range n {
			wire.waits.Store(true)
			if err := far.Tell(large); err != nil {
				t.Fatal(err)
			}
			<-wire.returned
		}
	}), 2) // two messages
}

// lagging is a Wire which returns from a write that is waited for when the answer is there.
type lagging struct {
	remote.Wire
	waits              atomic.Bool
	answered, returned chan struct{}
}

func (w *lagging) WriteFrame(b []byte) error {
	err := w.Wire.WriteFrame(b)
	const typeOfFrame, data = 4, 2
	if b[typeOfFrame] == data && w.waits.Swap(false) {
		<-w.answered
		w.returned <- struct{}{}
	}
	return err
}
