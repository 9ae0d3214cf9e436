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
// read it, if the dispatcher has guests; but not the thousand after a turn that took long.
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
				got := make(chan bool)
				r := a.Abroad(b.SpawnFunc(func(_ *actor.Context, msg any) error {
					got <- onReader()
					if msg == remotetest.Text("long") {
						time.Sleep(time.Millisecond)
					}
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
				tell(remotetest.Text("long"), hosts)
				for range 1000 {
					tell(remotetest.Text("short"), false)
				}
				tell(remotetest.Text("short"), hosts)
			})
		})
	}
}
