package natslink_test

import (
	"context"
	"sync"
	"testing"

	"github.com/dynolab/dyno/actor/natslink"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/lockbased"
)

// TestCloseWhileDialed has a bus closed while systems dial its node: an association
// that is begun meanwhile is waited for, or is not begun. (It is the race detector that
// sees what is neither.)
func TestCloseWhileDialed(t *testing.T) {
	near := start(t, natslink.Options{Listen: "127.0.0.1:0"})
	host := remotetest.NewHost(t, "served", lockbased.Impl.NewDispatcher(), remote.Config{})
	for range 50 {
		bus, err := natslink.Start(natslink.Options{URL: near.URL()})
		if err != nil {
			t.Fatal(err)
		}
		if err := bus.Serve(host.Node, "served"); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		var dialing sync.WaitGroup
		first := make(chan struct{})
		var once sync.Once
		for range 4 {
			dialing.Add(1)
			go func() {
				defer dialing.Done()
				for ctx.Err() == nil {
					w, err := near.Wire(ctx, "served")
					if err == nil {
						_ = w.Close()
					}
					once.Do(func() { close(first) })
				}
			}()
		}
		<-first
		bus.Close()
		end()
		dialing.Wait()
	}
}
