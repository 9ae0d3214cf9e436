package natslink_test

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/natslink"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/workstealing"
)

// BenchmarkPingPong is a message there and back through a server that two clients
// reach over loopback; an op is both. The reference is two subscriptions that
// publish to each other.
func BenchmarkPingPong(b *testing.B) {
	near := start(b, natslink.Options{Listen: "127.0.0.1:0"})
	b.Run("impl=ref-nats", func(b *testing.B) {
		connect := func() *nats.Conn {
			c, err := nats.Connect(near.URL())
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(c.Close)
			return c
		}
		x, y := connect(), connect()
		if _, err := y.Subscribe("ping", func(m *nats.Msg) { _ = y.Publish("pong", m.Data) }); err != nil {
			b.Fatal(err)
		}
		back, err := x.SubscribeSync("pong")
		if err != nil {
			b.Fatal(err)
		}
		if err := y.Flush(); err != nil {
			b.Fatal(err)
		}
		ctx, msg := b.Context(), make([]byte, 64)
		for b.Loop() {
			if err := x.Publish("ping", msg); err != nil {
				b.Fatal(err)
			}
			if _, err := back.NextMsgWithContext(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=remote-nats", func(b *testing.B) {
		far := start(b, natslink.Options{URL: near.URL()})
		x := remotetest.NewHost(b, "x", workstealing.Impl.NewDispatcher(), remote.Config{})
		y := remotetest.NewHost(b, "y", workstealing.Impl.NewDispatcher(), remote.Config{})
		remotetest.Join(b, remotetest.Link{Pair: func(tb testing.TB) (dialed, accepted remote.Wire) {
			d, a, err := natslink.Pair(near, far)
			if err != nil {
				tb.Fatal(err)
			}
			return d, a
		}}, x, y)
		var home actor.Ref
		done, left := make(chan struct{}), b.N
		back := y.Abroad(x.SpawnFunc(func(ctx *actor.Context, msg any) error {
			if left--; left == 0 {
				close(done)
				return nil
			}
			return ctx.Tell(home, msg)
		}))
		home = x.Abroad(y.SpawnFunc(func(ctx *actor.Context, msg any) error { return ctx.Tell(back, msg) }))
		b.ResetTimer()
		if err := home.Tell(remotetest.Count(7)); err != nil {
			b.Fatal(err)
		}
		<-done
	})
}
