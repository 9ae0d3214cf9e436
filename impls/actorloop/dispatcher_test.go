package actorloop

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// Who asks a system that is over what it has counted leaves nothing behind.
func TestStatsOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcher()
		sys := actortest.New(actor.Config{Dispatcher: d}, func(err error) { t.Error(err) })
		sys.Send(sys.UserGuardian(), func(*actor.Context) {})
		synctest.Wait() // a worker has come, and parked
		if err := sys.Shutdown(t.Context()); err != nil {
			t.Error(err)
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
	})
}

// TestLookIsNotPutOff: actors that become ready more often than the scheduler looks do not have it
// believe that workers make progress.
func TestLookIsNotPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcher()
		s := actortest.New(actor.Config{Dispatcher: d}, func(err error) { t.Error(err) })
		gate := make(chan struct{})
		var handled atomic.Int32
		var blocks, others []actor.Ref
		for range 10 {
			blocks = append(blocks, s.Spawn(actortest.Func(func(*actor.Context, any) error { <-gate; return nil })))
			others = append(others, s.Spawn(actortest.Func(func(*actor.Context, any) error { handled.Add(1); return nil })))
		}
		for _, r := range blocks {
			s.Send(r, 0)
		}
		time.Sleep(time.Second) // until there is a worker for each, and no other one
		for _, r := range others {
			s.Send(r, 0)
			time.Sleep(period / 2)
		}
		if n := handled.Load(); n < 5 {
			t.Errorf("%d messages were handled in five periods behind handlers that block, want that a look finds these", n)
		}
		close(gate)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
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
