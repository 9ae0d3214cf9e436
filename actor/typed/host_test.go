package typed_test

import (
	"context"
	"sync"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/typed"
	"github.com/dynolab/dyno/impls"
)

// props are those of an actor that is a function.
func props[M any](f typed.Behavior[M]) typed.Props[M] {
	return typed.Props[M]{New: func() typed.Actor[M] { return f }}
}

// host is a system whose user guardian does what it is told.
type host struct {
	testing.TB
	sys *actor.System

	mu       sync.Mutex
	letters  []actor.DeadLetter
	failures []actor.Failure
}

func newHost(tb testing.TB, impl dyno.Impl) *host {
	tb.Helper()
	h := &host{TB: tb}
	sys, err := actor.NewSystem(actor.Config{
		Guardian: props(func(ctx *typed.Context[func(*typed.Context[any])], f func(*typed.Context[any])) error {
			f(typed.In(ctx.Untyped()))
			return nil
		}).Untyped(),
		Dispatcher: impl.NewDispatcher(),
		DeadLetters: func(l actor.DeadLetter) {
			if l.Returned {
				return
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			l.Msg = unbox(l.Msg) // while it is ours: Msg may be a box
			h.letters = append(h.letters, l)
		},
		Failures: func(f actor.Failure) {
			h.mu.Lock()
			defer h.mu.Unlock()
			f.Msg = unbox(f.Msg)
			h.failures = append(h.failures, f)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	h.sys = sys
	tb.Cleanup(func() { must(tb, sys.Shutdown(context.Background())) })
	return h
}

func unbox(msg any) any {
	if b, ok := msg.(interface{ Unbox() any }); ok {
		return b.Unbox()
	}
	return msg
}

// drive runs the actors of a synchronous system.
func (h *host) drive() {
	if h.sys.Synchronous() {
		h.sys.RunUntilIdle()
	}
}

// do runs f in the user guardian's turn and waits for that.
func (h *host) do(f func(ctx *typed.Context[any])) {
	h.Helper()
	done := make(chan struct{})
	must(h, typed.Of[func(*typed.Context[any])](h.sys.UserGuardian()).Tell(func(ctx *typed.Context[any]) {
		defer close(done)
		f(ctx)
	}))
	h.drive()
	<-done
}

func spawn[M any](h *host, p typed.Props[M]) (r typed.Ref[M]) {
	h.Helper()
	h.do(func(ctx *typed.Context[any]) {
		var err error
		r, err = typed.Spawn(ctx, p)
		must(h, err)
	})
	return r
}

// stop stops an actor and waits until nothing is left of it.
func (h *host) stop(r actor.Ref) {
	h.sys.Stop(r)
	h.gone(r)
}

// gone waits until nothing is left of an actor.
func (h *host) gone(r actor.Ref) {
	for {
		h.drive()
		if _, ok := h.sys.Lookup(r.PID()); !ok {
			return
		}
		h.do(func(*typed.Context[any]) {})
	}
}

func (h *host) dead() []actor.DeadLetter {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.letters
	h.letters = nil
	return l
}

func (h *host) failed() []actor.Failure {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.failures
	h.failures = nil
	return f
}

func onAll(t *testing.T, f func(t *testing.T, h *host)) {
	t.Helper()
	for _, impl := range impls.All() {
		t.Run("impl="+impl.Name, func(t *testing.T) { f(t, newHost(t, impl)) })
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Error(err)
	}
}
