package natslink_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/natslink"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/lockbased"
)

func start(tb testing.TB, o natslink.Options) *natslink.Bus {
	tb.Helper()
	o.Client = append([]nats.Option{nats.Timeout(time.Hour)}, o.Client...) // not what a stalled machine exceeds
	b, err := natslink.Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Close)
	return b
}

// The clauses of remote actors, over a server in this process that two clients
// reach over loopback.
func TestClauses(t *testing.T) {
	near := start(t, natslink.Options{Listen: "127.0.0.1:0"})
	far := start(t, natslink.Options{URL: near.URL()})
	remotetest.Run(t, remotetest.Link{Name: "nats", Pair: func(tb testing.TB) (dialed, accepted remote.Wire) {
		x, y, err := natslink.Pair(near, far)
		if err != nil {
			tb.Fatal(err)
		}
		return x, y
	}})
}

// Two systems that know each other's names only.
func TestDial(t *testing.T) {
	bus := start(t, natslink.Options{})
	a := remotetest.NewHost(t, "a", lockbased.Impl.NewDispatcher(), remote.Config{})
	b := remotetest.NewHost(t, "b *.>", lockbased.Impl.NewDispatcher(), remote.Config{})
	if err := bus.Serve(b.Node, b.Sys.Name()); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context()) // the client wants one that can end
	defer end()
	peer, err := bus.Dial(ctx, a.Node, b.Sys.Name())
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan any)
	b.Spawn("shop", remotetest.Func(func(_ *actor.Context, msg any) error { got <- msg; return nil }))
	shop, err := peer.Find(ctx, "/user/shop")
	if err != nil {
		t.Fatal(err)
	}
	if err := shop.Tell(remotetest.Text("hello")); err != nil {
		t.Fatal(err)
	}
	if m := <-got; m != remotetest.Text("hello") {
		t.Errorf("got %v", m)
	}
	if _, err := bus.Dial(ctx, a.Node, "absent"); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a system that no process serves: %v", err)
	}
}

// Who has no credentials gets nowhere.
func TestCredentials(t *testing.T) {
	near := start(t, natslink.Options{
		Listen: "127.0.0.1:0",
		Client: []nats.Option{nats.UserInfo("ann", "secret")},
		Server: func(o *server.Options) { o.Username, o.Password, o.AuthTimeout = "ann", "secret", 3600 },
	})
	if _, err := natslink.Start(natslink.Options{URL: near.URL(), Client: []nats.Option{nats.Timeout(time.Hour)}}); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without credentials: %v", err)
	}
	start(t, natslink.Options{URL: near.URL(), Client: []nats.Option{nats.UserInfo("ann", "secret")}})
}

// held is a wire whose reader can be held.
type held struct {
	remote.Wire
	mu sync.Mutex // who has it holds the reader before its next frame
}

func (h *held) ReadFrame() ([]byte, error) {
	h.mu.Lock()
	w := h.Wire
	h.mu.Unlock()
	return w.ReadFrame()
}

// What the client drops because no goroutine reads is resent: no message is lost.
func TestGap(t *testing.T) {
	bus := start(t, natslink.Options{})
	x, y, err := natslink.Pair(bus, bus)
	if err != nil {
		t.Fatal(err)
	}
	reader := &held{Wire: y}
	a := remotetest.NewHost(t, "a", lockbased.Impl.NewDispatcher(), remote.Config{Batch: 1})
	b := remotetest.NewHost(t, "b", lockbased.Impl.NewDispatcher(), remote.Config{Batch: 1})
	remotetest.Join(t, remotetest.Link{Pair: func(testing.TB) (remote.Wire, remote.Wire) { return x, reader }}, a, b)
	natslink.Limit(y, 16) // so many frames may wait
	var next atomic.Uint64
	done := make(chan struct{})
	const n = 5_000
	in := b.SpawnFunc(func(_ *actor.Context, msg any) error {
		if i := next.Add(1) - 1; msg != remotetest.Count(i) {
			t.Errorf("message %d is %v", i, msg)
		} else if i == n-1 {
			close(done)
		}
		return nil
	})
	r := a.Abroad(in)
	reader.mu.Lock()
	for i := range n {
		if i == 1000 { // as many as there is credit for, and the reader takes one at most
			for natslink.Dropped(y) == 0 {
				runtime.Gosched()
			}
			reader.mu.Unlock()
		}
		if err := r.Tell(remotetest.Count(i)); err != nil {
			t.Fatal(err)
		}
	}
	<-done
}
