package actorloop

import (
	"testing"

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
	if !d.inbox.empty() {
		t.Error("an event waits for a scheduler that has ended")
	}
}
