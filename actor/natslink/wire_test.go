package natslink

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dynolab/dyno/actor/remote"
)

// TestWire: subjects are below the prefix, a frame of any size crosses, and what is closed is closed
// at both ends and kept nowhere.
func TestWire(t *testing.T) {
	b, err := Start(Options{Prefix: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got := b.subject("\xfb\xff"); got != "p.node.-_8" {
		t.Errorf("a system is dialed at %s", got)
	}
	if (&Bus{}).URL() != "" || b.own.Addr() != nil {
		t.Errorf("a server that is to be of this process alone listens at %v", b.own.Addr())
	}
	w, r, err := Pair(b, b)
	if err != nil {
		t.Fatal(err)
	}
	x, y := w.(*wire), r.(*wire)
	if frames, bytes, err := x.sub.PendingLimits(); !strings.HasPrefix(x.in, "p.wire.") || frames != 1<<16 || bytes != 64<<20 || err != nil {
		t.Errorf("%s keeps %d frames of %d bytes, %v", x.in, frames, bytes, err)
	}
	for _, size := range []int{1, remote.MaxFrame} {
		if err := x.WriteFrame(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if got, err := y.ReadFrame(); len(got) != size || err != nil {
			t.Errorf("a frame of %d bytes has %d, %v", size, len(got), err)
		}
	}
	_, _ = x.Close(), x.Close()
	if _, err := y.ReadFrame(); !errors.Is(err, io.EOF) {
		t.Errorf("of a wire that is closed the other end reads %v", err)
	}
	if _, err := x.ReadFrame(); err == nil || x.WriteFrame([]byte("x")) == nil || x.sub.IsValid() || len(b.wires) != 1 {
		t.Errorf("a wire that is closed goes on: %v, and %d wires are kept", err, len(b.wires))
	}
	// A bus that is being closed begins nothing.
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	before := b.conn.NumSubscriptions()
	if _, err := b.newWire(""); !errors.Is(err, remote.ErrClosed) || b.conn.NumSubscriptions() != before || b.begin() {
		t.Errorf("a bus that is closed makes a wire: %v", err)
	}
	b.serving.Wait()
}

// TestNotDialed: who dials nobody, and what is no request, leaves no wire; a bus that is closed ends
// its wires and what it has begun.
func TestNotDialed(t *testing.T) {
	near, err := Start(Options{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := Start(Options{URL: near.URL()})
	if err != nil {
		t.Fatal(err)
	}
	if o := far.conn.Opts; o.MaxReconnect != -1 || o.ReconnectBufSize != -1 {
		t.Errorf("it connects again %d times, and keeps %d bytes", o.MaxReconnect, o.ReconnectBufSize)
	}
	ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	if _, err := far.Wire(ctx, "nobody"); err == nil || len(far.wires) != 0 {
		t.Errorf("there is nobody, and %d wires: %v", len(far.wires), err)
	}
	if err := near.Serve(nil, "served"); err != nil {
		t.Fatal(err)
	}
	if err := near.conn.Publish(near.subject("served"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	// The next request is answered behind it.
	near.mu.Lock()
	near.closed = true
	near.mu.Unlock()
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := far.Wire(short, "served"); err == nil || len(far.wires) != 0 {
		t.Errorf("what is closed is dialed, with %d wires: %v", len(far.wires), err)
	}
	left := func() int {
		near.mu.Lock()
		defer near.mu.Unlock()
		near.closed = false
		return len(near.wires)
	}
	for left() != 0 { // it may be at it
		if ctx.Err() != nil {
			t.Fatalf("%d wires are left of what was no request", left())
		}
		runtime.Gosched()
	}
	x, _, err := Pair(near, far)
	if err != nil {
		t.Fatal(err)
	}
	if !far.begin() {
		t.Fatal("it is closed")
	}
	closed := make(chan struct{})
	go func() {
		far.Close()
		close(closed)
	}()
	if _, err := x.ReadFrame(); !errors.Is(err, io.EOF) {
		t.Errorf("when the other bus is closed a wire reads %v", err)
	}
	select {
	case <-closed:
		t.Error("a bus is closed before what it has begun has ended")
	default:
	}
	far.serving.Done()
	if <-closed; !far.conn.IsClosed() || !far.closed || len(far.wires) != 0 {
		t.Errorf("a bus that was closed is connected still: %t, with %d wires", !far.conn.IsClosed(), len(far.wires))
	}
}

// TestAway: what is written while there is no connection is lost, as frames may be.
func TestAway(t *testing.T) {
	near, err := Start(Options{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	far, err := Start(Options{URL: near.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	w, err := far.newWire("p.wire.x")
	if err != nil {
		t.Fatal(err)
	}
	away := far.conn.StatusChanged(nats.RECONNECTING)
	near.Close()
	<-away
	if err := w.WriteFrame([]byte("x")); err != nil || far.conn.IsClosed() {
		t.Errorf("written without a connection: %v", err)
	}
}
