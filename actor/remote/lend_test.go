package remote_test

import (
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/lossy"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/lockbased"
)

// onReader reports whether the goroutine that calls it reads from a wire.
func onReader() bool { return strings.Contains(string(debug.Stack()), "association).read") }

// TestReaderRunsTheTurn: a message that is alone is handled by the goroutine that has
// read it, if the dispatcher has guests; but not the thousand after a turn that took long, be
// it found by measuring or by the guard, and no request.
func TestReaderRunsTheTurn(t *testing.T) {
	for _, impl := range impls.All() {
		d := impl.NewDispatcher()
		if _, ok := d.(actor.Synchronous); ok {
			continue
		}
		_, hosts := d.(actor.Host)
		t.Run(impl.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := remotetest.NewHost(t, "a", lockbased.NewDispatcher(), remote.Config{})
				b := remotetest.NewHost(t, "b", d, remote.Config{})
				remotetest.Join(t, lossyLink(1, lossy.Faults{}), a, b)
				// The first turn is measured; one of half a second ends without the duty to read,
				// which the guard has given to another goroutine by then.
				takes := map[any]time.Duration{remotetest.Text("long"): time.Millisecond, remotetest.Text("endless"): time.Second / 2}
				got := make(chan bool)
				r := a.Abroad(b.SpawnFunc(func(_ *actor.Context, msg any) error {
					got <- onReader()
					time.Sleep(takes[msg])
					return nil
				}))
				tell := func(msg any, want bool) {
					t.Helper()
					if err := r.Tell(msg); err != nil {
						t.Fatal(err)
					}
					if lent := <-got; lent != want {
						t.Fatalf("on the reader: %v, want %v", lent, want)
					}
					time.Sleep(time.Second) // in which the turn ends and the message is confirmed
				}
				for _, turn := range []remotetest.Text{"long", "endless"} {
					tell(turn, hosts)
					for range 1000 {
						tell(remotetest.Text("short"), false)
					}
				}
				tell(remotetest.Text("short"), hosts)
				a.Sys.Ask(r, time.Second, func(to actor.ReplyTo) any { return remotetest.Question{ReplyTo: to} })
				if <-got {
					t.Error("a request is handled on the reader")
				}
			})
		})
	}
}

// TestWaitingTurnLeavesTheWire: a turn on the goroutine that reads, which waits for credit,
// has another one read at once, for it is the reader that hears of credit. It does not
// wait for the guard, which looks after 20 ms.
func TestWaitingTurnLeavesTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := remote.Config{Window: 1}
		a := remotetest.NewHost(t, "a", lockbased.NewDispatcher(), config)
		b := remotetest.NewHost(t, "b", lockbased.NewDispatcher(), config)
		remotetest.Join(t, lossyLink(1, lossy.Faults{}), a, b)
		home := b.Abroad(a.SpawnFunc(func(*actor.Context, any) error { return nil }))
		waited := make(chan time.Duration, 1)
		r := a.Abroad(b.SpawnFunc(func(ctx *actor.Context, _ any) error {
			if !onReader() {
				t.Error("the turn is not on the reader, so this shows nothing")
			}
			begun := time.Now()
			for i := range 3 { // there is credit for one
				if err := ctx.Tell(home, remotetest.Count(i)); err != nil {
					t.Error(err)
				}
			}
			waited <- time.Since(begun)
			return nil
		}))
		time.Sleep(time.Second) // what the nodes had to say to each other has been said
		if err := r.Tell(remotetest.Text("go")); err != nil {
			t.Fatal(err)
		}
		if d := <-waited; d > 10*time.Millisecond { // of the bubble's time
			t.Errorf("the turn waits for %v", d)
		}
	})
}
