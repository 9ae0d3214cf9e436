package protocodec_test

import (
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/protocodec"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/lossy"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/lockbased"
)

func TestRegister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := func(name string) *remotetest.Host {
			c := remote.NewCodecs()
			protocodec.Register(c, &wrapperspb.StringValue{})
			protocodec.Register(c, &durationpb.Duration{})
			return remotetest.NewHost(t, name, lockbased.Impl.NewDispatcher(), remote.Config{Codecs: c})
		}
		a, b := host("a"), host("b")
		remotetest.Join(t, remotetest.Link{Pair: func(testing.TB) (x, y remote.Wire) { return lossy.Pair(1, lossy.Faults{}) }}, a, b)
		got := make(chan any, 3)
		r := a.Abroad(b.SpawnFunc(func(_ *actor.Context, msg any) error { got <- msg; return nil }))
		for _, m := range []proto.Message{wrapperspb.String("ü"), &durationpb.Duration{Seconds: 1, Nanos: 2}, &durationpb.Duration{}} {
			if err := r.Tell(m); err != nil {
				t.Fatal(err)
			}
			if x, ok := (<-got).(proto.Message); !ok || !proto.Equal(x, m) || x == m {
				t.Errorf("%v arrived as %v", m, x)
			}
		}
		if err := r.Tell(wrapperspb.Bytes(nil)); err == nil {
			t.Error("a message without a codec was sent")
		}
	})
}
