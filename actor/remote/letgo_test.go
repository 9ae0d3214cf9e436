package remote_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/lossy"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/lockbased"
)

// ownWire is a wire of which a test can tell whether anybody still has it.
type ownWire struct{ remote.Wire }

// TestLostLeavesNothing: an actor that was watched over an association which is lost, and
// lives on, keeps nothing of it. Else each return of a peer would cost memory until the
// actor ends.
func TestLostLeavesNothing(t *testing.T) {
	a := remotetest.NewHost(t, "a", lockbased.NewDispatcher(), remote.Config{})
	b := remotetest.NewHost(t, "b", lockbased.NewDispatcher(), remote.Config{})
	told := make(chan any)
	keep := func(_ *actor.Context, msg any) error { told <- msg; return nil }
	watched := b.SpawnFunc(keep)
	watcher := a.SpawnFunc(func(ctx *actor.Context, msg any) error {
		if r, ok := msg.(actor.Ref); ok {
			ctx.Watch(r)
			return ctx.Tell(r, remotetest.Text("watched"))
		}
		return keep(ctx, msg)
	})
	lose := func() weak.Pointer[ownWire] {
		x, y := lossy.Pair(1, lossy.Faults{})
		wire := &ownWire{y}
		_, peer := remotetest.Join(t, remotetest.Link{Pair: func(testing.TB) (_, _ remote.Wire) { return x, wire }}, a, b)
		if err := watcher.Tell(a.Abroad(watched)); err != nil {
			t.Fatal(err)
		}
		<-told // by who is watched
		_ = x.Close()
		<-told // by the watcher: of the loss
		<-peer.Done()
		return weak.Make(wire)
	}
	wire := lose()
	for range 500 { // its goroutines may take a moment to end
		if runtime.GC(); wire.Value() == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if wire.Value() != nil {
		t.Error("something keeps the wire of the lost association")
	}
	runtime.KeepAlive(watched)
}
