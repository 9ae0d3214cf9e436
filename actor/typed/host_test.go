package typed_test

import (
	"context"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/actor/typed"
	"github.com/dynolab/dyno/impls"
)

// props are those of an actor that is a function.
func props[M any](f typed.Behavior[M]) typed.Props[M] {
	return typed.Props[M]{New: func() typed.Actor[M] { return f }}
}

// host is a system under test, of a test.
type host struct {
	testing.TB
	*actortest.System
}

func newHost(tb testing.TB, impl dyno.Impl) *host {
	tb.Helper()
	h := &host{tb, actortest.New(actor.Config{Dispatcher: impl.NewDispatcher()}, func(err error) { tb.Fatal(err) })}
	tb.Cleanup(func() { must(tb, h.Shutdown(context.Background())) })
	return h
}

// do runs f in the user guardian's turn and waits for that.
func (h *host) do(f func(ctx *typed.Context[any])) {
	h.In(h.UserGuardian(), func(ctx *actor.Context) { f(typed.In(ctx)) })
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

// dead returns the dead letters so far, without boxes, and forgets them.
func (h *host) dead() []actor.DeadLetter {
	all := h.Letters()
	for i := range all {
		all[i].Msg = unbox(all[i].Msg)
	}
	return all
}

func unbox(msg any) any {
	if b, ok := msg.(interface{ Unbox() any }); ok {
		return b.Unbox()
	}
	return msg
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
