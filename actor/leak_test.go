package actor_test

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/internal/patience"
)

// collected fails the test unless everything that ps point to is collected.
func collected(t *testing.T, gone map[string]func() bool) {
	t.Helper()
	// A timer that was stopped, or a buffer that a sync.Pool keeps for one more
	// cycle, may hold on for a moment.
	for range 200 {
		runtime.GC()
		left := 0
		for _, f := range gone {
			if !f() {
				left++
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	for name, f := range gone {
		if !f() {
			t.Errorf("%s is not collected", name)
		}
	}
}

func dead[T any](p *T) func() bool {
	w := weak.Make(p)
	return func() bool { return w.Value() == nil }
}

// session is an actor that a registry knows: large enough that nothing else is allocated
// together with it.
type session struct {
	_ [1 << 12]byte
	n int
}

func (s *session) Receive(*actor.Context, any) error { s.n++; return nil }

// A stopped actor's value is kept by an actor that lives and has it in a closure, and
// not by one that has its Ref and watches it: docs/semantics-actors.md has both.
func TestRegistryThatLeaks(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		for _, leaks := range []bool{true, false} {
			h := newHost(t, impl)
			registry := new(registry)
			to := h.spawn(actor.Props{New: func() actor.Actor { return registry }})
			r, gone := register(h, to, leaks)
			h.System.Stop(r)
			patience.Until(t, func() error {
				if h.settle(); registry.over.Load() == 0 {
					return errors.New("the registry has not been told that the session has stopped")
				}
				return nil
			})
			if !leaks {
				collected(t, map[string]func() bool{"a session that a registry has the Ref of": gone})
				continue
			}
			for range 3 {
				runtime.GC()
			}
			if gone() {
				t.Error("the session is collected although the registry has it in a closure: the example in the document is none")
			}
			if n := h.System.Stats().Actors; n > 4 {
				t.Errorf("%d actors live, but what leaks is no actor any more", n)
			}
			runtime.KeepAlive(registry)
		}
	})
}

// register makes a session and has the registry know it, by a closure or by its Ref. It
// returns a function that reports whether the session's value is collected.
func register(h *host, registry actor.Ref, leaks bool) (r actor.Ref, gone func() bool) {
	s := new(session)
	made := s
	r = h.spawn(actor.Props{New: func() actor.Actor { s, made = made, nil; return s }})
	gone = dead(s)
	entry := any(r)
	if leaks {
		keep := s
		entry = func() int { return keep.n }
	}
	s = nil
	h.Send(registry, r, entry)
	return r, gone
}

// registry watches sessions, and forgets their Refs when they stop.
type registry struct {
	counts []func() int
	refs   []actor.Ref
	over   atomic.Int32
}

func (g *registry) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case func() int:
		g.counts = append(g.counts, msg)
	case actor.Ref:
		g.refs = append(g.refs, msg)
		ctx.Watch(msg)
	case actor.Terminated:
		g.refs = slices.DeleteFunc(g.refs, func(r actor.Ref) bool { return r == msg.Actor })
		g.over.Add(1)
	}
	return nil
}

// TestStopEndsTheBackoff: an actor that is stopped while it waits for its restart leaves no
// timer, which would keep it until the backoff is over.
func TestStopEndsTheBackoff(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		s := &actor.Supervisor{Backoff: actor.Backoff{Min: time.Hour, Max: time.Hour}}
		_, refs := h.supervised(s, actortest.Func(func(*actor.Context, any) error { return errors.New("fails") }))
		h.Send(refs[0], 1)
		h.settle()
		if n := h.PendingTimers(); n != 1 {
			t.Fatalf("%d timers are running during a backoff, want 1", n)
		}
		h.Stop(refs[0])
		h.settle()
		if n := h.PendingTimers(); n != 0 {
			t.Errorf("%d timers are left when the actor has stopped", n)
		}
	})
}

// spawner spawns a child when it is about to be restarted.
type spawner struct{ actor.Actor }

func (s spawner) PreRestart(ctx *actor.Context, _ error) error {
	_, err := ctx.Spawn(actortest.Func(func(*actor.Context, any) error { return nil }))
	return err
}

// A child that the hook of a restart has spawned, and which is stopped for that, does not end the
// backoff.
func TestBackoffOutlastsAChild(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		made := 0
		_, refs := h.supervised(&actor.Supervisor{Backoff: actor.Backoff{Min: time.Hour, Max: time.Hour}}, actor.Props{New: func() actor.Actor {
			made++
			return spawner{actor.ReceiveFunc(func(*actor.Context, any) error { return errors.New("fails") })}
		}})
		h.Send(refs[0], 1)
		h.settle()
		if made != 1 || h.PendingTimers() != 1 {
			t.Errorf("in a backoff %d values were made and %d timers are running, want 1 and 1", made, h.PendingTimers())
		}
		time.Sleep(time.Hour)
		h.settle()
		if made != 2 {
			t.Errorf("after the backoff %d values were made, want 2", made)
		}
	})
}

// A timer that is kept when it was stopped keeps none of those that were started before or
// after it. Their period is the shortest there is.
func TestStoppedTimersLetGo(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		type large [1 << 12]byte
		var kept *actor.Timer
		var gone func() bool
		ticks := 0
		var periodic *actor.Timer
		r := h.spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
			switch msg {
			case "start":
				held := new(large)
				gone = dead(held)
				before := ctx.StartTimer(time.Hour, held)
				kept = ctx.StartTimer(time.Hour, "late")
				after := ctx.StartTimer(time.Hour, held)
				for _, x := range []*actor.Timer{kept, before, after} {
					x.Stop()
				}
				periodic = ctx.StartPeriodic(1, "tick")
			case "tick":
				if ticks++; ticks == 3 {
					periodic.Stop()
				}
			}
			return nil
		}))
		h.Send(r, "start")
		for range 3 {
			h.settle()
		}
		if ticks != 3 {
			t.Errorf("%d ticks, want 3", ticks)
		}
		collected(t, map[string]func() bool{"the message of a timer that was stopped": gone})
		runtime.KeepAlive(kept)
	})
}
