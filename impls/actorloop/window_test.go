package actorloop

import (
	"context"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// These tests have something happen between a look and what relies on it: what the scheduler
// does not look for once more would wait for ever.

// stopped returns the scheduler of a dispatcher, which no goroutine runs.
func stopped(t *testing.T) *scheduler {
	t.Helper()
	if !invariants.Enabled {
		t.Skip("windows are nothing in this build: -race or -tags dynocheck")
	}
	d := NewDispatcher()
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	d.Stop(func() { close(ended) })
	<-ended
	<-d.over
	d.target = 0 // no worker is started: the boxes have no actors
	d.outbox = make(chan *box, outboxActors)
	s := &scheduler{d: d, workers: map[*worker]struct{}{}}
	s.tick.msg.kind = tick
	t.Cleanup(func() {
		if s.timer != nil {
			s.timer.Stop()
		}
	})
	return s
}

// The outbox is full, and workers have emptied it before they know that room is wanted.
func TestRoomThatCameBeforeItWasWanted(t *testing.T) {
	s := stopped(t)
	for range outboxActors + 1 {
		s.push(&newBox(s.d, actor.MailboxConfig{}).event)
	}
	defer invariants.Within(func() {
		for len(s.d.outbox) > 0 {
			<-s.d.outbox
			s.d.wantRoom.tell(s.d)
		}
	})()
	s.deliver()
	if s.oldest != nil && len(s.d.outbox) == 0 {
		t.Error("an actor waits for room, of which there is plenty, and no worker will say so")
	}
}

// A worker keeps an actor before it knows that the scheduler wants to be told.
func TestKeptBeforeItWasWanted(t *testing.T) {
	s := stopped(t)
	w := &worker{d: s.d}
	s.workers[w] = struct{}{}
	defer invariants.Within(func() {
		w.next.Store(newBox(s.d, actor.MailboxConfig{}))
		s.d.wantKept.tell(s.d)
	})()
	s.d.wantKept.drop()
	s.watchdog()
	if told := s.d.wantKept.state.Load() == told; !s.ticking && !told {
		t.Error("a worker has kept an actor, and nothing will look whether it comes to it")
	}
}

// A closed group refuses without asking only when it has settled: who is refused and then cancels
// is too late.
func TestRefusedWhenSettled(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("windows are nothing in this build: -race or -tags dynocheck")
	}
	g := NewGroup[int](context.Background())
	windows := 0
	end := invariants.Within(func() {
		windows++
		if g.credit.Load() == withdrawn && !g.outcome.Settled() {
			t.Error("a call of Go is refused before the group has settled")
		}
	})
	g.close() // as the manager does, which does not run
	end()
	if windows != 1 || g.credit.Load() != withdrawn || !g.outcome.Settled() {
		t.Errorf("after %d windows, want one, the credit is %d, and the group has settled: %v", windows, g.credit.Load(), g.outcome.Settled())
	}
}
