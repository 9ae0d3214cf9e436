package actorloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// Who asks a system that is over what it has counted leaves nothing behind.
func TestStatsOfTheEnd(t *testing.T) {
	d := NewDispatcher()
	sys := actortest.New(actor.Config{Dispatcher: d}, func(err error) { t.Fatal(err) })
	if err := sys.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-d.over
	want := sys.Stats()
	if got := sys.Stats(); got != want || got.Turns == 0 {
		t.Errorf("of a system that is over: %+v, and then %+v", want, got)
	}
	if most := 2 * want.Turns; want.Wakes == 0 || want.Wakes > most || want.Parks == 0 || want.Parks > most || want.Workers != 0 {
		t.Errorf("%+v, want some parks and wakes, few more than turns, and no worker", want)
	}
	if !d.inbox.empty() {
		t.Error("an event waits for a scheduler that has ended")
	}
}

// TestStandInsEnd: of the workers that stood in for blocked ones as many are left as run at a time.
func TestStandInsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcher()
		s := actortest.New(actor.Config{Dispatcher: d}, func(err error) { t.Error(err) })
		gate := make(chan struct{})
		for range 20 {
			s.Send(s.Spawn(actortest.Func(func(*actor.Context, any) error { <-gate; return nil })), 0)
		}
		time.Sleep(time.Second)
		if n := s.Stats().Workers; n < 20 {
			t.Errorf("%d workers while 20 handlers block", n)
		}
		close(gate)
		synctest.Wait()
		if n := s.Stats().Workers; n > d.target {
			t.Errorf("%d workers are left, want at most %d", n, d.target)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
