package actorloop

import (
	"context"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

// These tests have something happen between a look and what relies on it: what the scheduler
// does not look for once more would wait for ever.

// windowed skips a test where windows are nothing.
func windowed(t *testing.T) {
	t.Helper()
	if !invariants.Enabled {
		t.Skip("windows are nothing in this build: -race or -tags dynocheck")
	}
}

// The outbox is full, and workers have emptied it before they know that room is wanted.
func TestRoomThatCameBeforeItWasWanted(t *testing.T) {
	windowed(t)
	s := stopped(t, 0)
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
	windowed(t)
	s := stopped(t, 0)
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
	windowed(t)
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

// A worker comes to what it has kept while the scheduler is about to give that to others.
func TestKeptAndComeTo(t *testing.T) {
	windowed(t)
	s, b := stopped(t, 0), newBox(nil, actor.MailboxConfig{})
	w := &worker{d: s.d, seen: b}
	w.next.Store(b)
	s.workers[w] = struct{}{}
	defer invariants.Within(func() { w.next.Store(nil) })()
	if s.watchdog(); s.oldest != nil {
		t.Error("two run an actor: the worker that kept it, and the one that the scheduler gives it to")
	}
}

// A task is accepted, and the executor closed, while another call is about to do so.
func TestDoorWhileItMoves(t *testing.T) {
	windowed(t)
	var h task.Handle
	var x *Executor
	start, shutDoor := func() error { return x.Start(&h, nil) }, func() error { x.Close(); return nil }
	for _, c := range []struct {
		name       string
		do         func() error
		meanwhile  func()
		want       error
		wantAtDoor uint64
	}{
		{"Start while it closes", start, func() { x.door.Store(shut) }, task.ErrClosed, shut},
		{"Close while a task comes", shutDoor, func() { x.door.Store(1) }, nil, shut | 1},
	} {
		x = NewExecutor()
		end := invariants.Within(c.meanwhile)
		err := c.do()
		end()
		if d := x.door.Load(); err != c.want || d != c.wantAtDoor {
			t.Errorf("%s: %v, and the door is %x; want %v and %x", c.name, err, d, c.want, c.wantAtDoor)
		}
	}
}
