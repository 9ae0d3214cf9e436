package natslink_test

import (
	"context"
	"errors"
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
	ctx, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	peer, err := bus.Dial(ctx, a.Node, b.Sys.Name())
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan any)
	b.Spawn("desk", remotetest.Func(func(_ *actor.Context, msg any) error { got <- msg; return nil }))
	desk, err := peer.Find(ctx, "/user/desk")
	if err != nil {
		t.Fatal(err)
	}
	if err := desk.Tell(remotetest.Text("hello")); err != nil {
		t.Fatal(err)
	}
	if m := <-got; m != remotetest.Text("hello") {
		t.Errorf("got %v", m)
	}
	if _, err := bus.Dial(ctx, a.Node, "nobody"); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a system that nobody serves: %v", err)
	}
}

// Who has no credentials gets nowhere.
func TestCredentials(t *testing.T) {
	near := start(t, natslink.Options{
		Listen: "127.0.0.1:0",
		Client: []nats.Option{nats.UserInfo("ann", "secret")},
		Server: func(o *server.Options) { o.Username, o.Password = "ann", "secret" },
	})
	if _, err := natslink.Start(natslink.Options{URL: near.URL()}); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without credentials: %v", err)
	}
	start(t, natslink.Options{URL: near.URL(), Client: []nats.Option{nats.UserInfo("ann", "secret")}})
}

// What the client drops because nobody reads is resent: no message is lost.
func TestGap(t *testing.T) {
	bus := start(t, natslink.Options{})
	x, y, err := natslink.Pair(bus, bus)
	if err != nil {
		t.Fatal(err)
	}
	a := remotetest.NewHost(t, "a", lockbased.Impl.NewDispatcher(), remote.Config{Batch: 1})
	b := remotetest.NewHost(t, "b", lockbased.Impl.NewDispatcher(), remote.Config{Batch: 1})
	remotetest.Join(t, remotetest.Link{Pair: func(testing.TB) (remote.Wire, remote.Wire) { return x, y }}, a, b)
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
	for i := range n {
		if err := r.Tell(remotetest.Count(i)); err != nil {
			t.Fatal(err)
		}
	}
	<-done
	if natslink.Dropped(y) == 0 {
		t.Error("nothing was dropped: this test has tested nothing")
	}
}
