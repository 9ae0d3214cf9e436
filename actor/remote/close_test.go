package remote_test

import (
	"errors"
	"testing"

	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/lossy"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/lockbased"
)

// late is a wire that returns from the write of a bye after the association is lost.
type late struct {
	remote.Wire
	lost chan struct{}
}

func (w *late) WriteFrame(b []byte) error {
	err := w.Wire.WriteFrame(b)
	if b[4] == 4 {
		<-w.lost
	}
	return err
}

// TestClosedFirst: who ends an association is told that, also if the other end has
// broken the wire before it knows that its bye is written.
func TestClosedFirst(t *testing.T) {
	a := remotetest.NewHost(t, "a", lockbased.Impl.NewDispatcher(), remote.Config{})
	b := remotetest.NewHost(t, "b", lockbased.Impl.NewDispatcher(), remote.Config{})
	w := &late{lost: make(chan struct{})}
	peer, _ := remotetest.Join(t, remotetest.Link{Pair: func(testing.TB) (x, y remote.Wire) {
		w.Wire, y = lossy.Pair(1, lossy.Faults{})
		return w, y
	}}, a, b)
	go func() {
		<-peer.Done()
		close(w.lost)
	}()
	peer.Close()
	if err := peer.Err(); !errors.Is(err, remote.ErrClosed) {
		t.Errorf("it is lost for %v", err)
	}
}
