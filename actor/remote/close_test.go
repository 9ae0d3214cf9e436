package remote_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
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

// TestCloseWaits: a node that is closed at once waits until what it has sent is
// confirmed, for the word that it leaves may be quicker than what was sent before.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := remote.Config{Batch: 1} // a frame for each message
		a := remotetest.NewHost(t, "a", lockbased.Impl.NewDispatcher(), config)
		b := remotetest.NewHost(t, "b", lockbased.Impl.NewDispatcher(), config)
		remotetest.Join(t, lossyLink(1, lossy.Faults{Delay: 1, MaxDelay: 20 * time.Millisecond}), a, b)
		got := 0
		r := a.Abroad(b.SpawnFunc(func(*actor.Context, any) error { got++; return nil }))
		const n = 100
		for i := range n {
			if err := r.Tell(remotetest.Count(i)); err != nil {
				t.Fatal(err)
			}
		}
		a.Node.Close()
		synctest.Wait()
		if letters := a.Letters(); got != n || len(letters) > 0 {
			t.Errorf("%d of %d messages have arrived, and %d are dead letters", got, n, len(letters))
		}
	})
}

// lingering is a wire that has sent a frame, and takes a while to return.
type lingering struct {
	remote.Wire
	t *testing.T
}

func (w lingering) WriteFrame(b []byte) error {
	was := bytes.Clone(b)
	err := w.Wire.WriteFrame(b)
	time.Sleep(100 * time.Millisecond) // of the bubble's time
	if !bytes.Equal(b, was) {
		w.t.Error("a frame has changed while it was being written")
	}
	return err
}

// TestFrameIsLeftAlone: a frame whose confirmation is quicker than the return from its
// write is used again after that only.
func TestFrameIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := remotetest.NewHost(t, "a", lockbased.Impl.NewDispatcher(), remote.Config{})
		b := remotetest.NewHost(t, "b", lockbased.Impl.NewDispatcher(), remote.Config{})
		remotetest.Join(t, remotetest.Link{Pair: func(testing.TB) (x, y remote.Wire) {
			x, y = lossy.Pair(1, lossy.Faults{})
			return lingering{x, t}, y
		}}, a, b)
		r := a.Abroad(b.SpawnFunc(func(*actor.Context, any) error { return nil }))
		for i := range 20 {
			go func() {
				if err := r.Tell(remotetest.Count(i)); err != nil {
					t.Error(err)
				}
			}()
			time.Sleep(60 * time.Millisecond) // one is confirmed, and being written, when the next one comes
		}
		a.Node.Close() // first, for this wire returns from a write in its own time only
	})
}
