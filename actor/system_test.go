package actor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls/serial"
)

var (
	errTest = errors.New("test")
	errBoom = errors.New("boom")
)

var noContext context.Context // stands for Background

func nothing(*actor.Context, any) error { return nil }

func TestShutdown(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, impl)
			h.bubble = true
			gate := make(chan struct{})
			r := h.spawn(actortest.Func(func(*actor.Context, any) error { <-gate; return nil }))
			other := h.spawn(actortest.Func(func(*actor.Context, any) error { return nil }))
			must(t, r.Tell(1))
			must(t, r.Tell(2))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begin := time.Now()
			err := h.System.Shutdown(ctx)
			var e *actor.ShutdownError
			if !errors.As(err, &e) || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("Shutdown with an actor that hangs: %v", err)
			}
			if d := time.Since(begin); d != time.Minute {
				t.Errorf("Shutdown returned after %v, want a minute", d)
			}
			var paths []string
			for _, s := range e.Running {
				paths = append(paths, s.Path+" "+s.State.String())
			}
			want := []string{"/ stopping", "/system running", "/user stopping", r.Path() + " running"}
			left := []any{2}
			if h.System.Synchronous() { // the one that hangs was asked first
				want = []string{"/ running", "/system running", "/user running", r.Path() + " running", other.Path() + " running"}
				left = nil
			}
			if !slices.Equal(paths, want) {
				t.Errorf("still running: %q, want %q", paths, want)
			}
			if !strings.Contains(err.Error(), r.Path()) {
				t.Errorf("the error %q does not name %s", err, r.Path())
			}
			select {
			case <-h.System.Done():
				t.Error("Done, with an actor that hangs")
			default:
			}
			close(gate)
			must(t, h.System.Shutdown(t.Context()))
			<-h.System.Done()
			wantAll(t, h.dead(), left...)
			wantBack(t, r.Tell(3), 3, r, actor.ErrStopped)
			u := h.System.UserGuardian()
			wantBack(t, u.Tell(3), 3, u, actor.ErrStopped)
			cancel()
			for range 20 {
				must(t, h.System.Shutdown(ctx)) // over is over, also for a context that has ended
			}
			must(t, h.System.Shutdown(noContext))
			h.System.Stop(r)
			if st := h.System.Stats(); st.Actors != 0 || st.Workers != 0 || h.System.Err() != nil {
				t.Errorf("afterwards: %+v, %v", st, h.System.Err())
			}
		})
	})
}

// What no program does on purpose panics.
func TestMisuse(t *testing.T) {
	h := newHost(t, serial.Impl)
	_, other, r, b := newManual(t, actortest.Func(nothing))
	b.full = true
	must(t, r.TellContext(noContext, 1)) // waits without an end
	h.do(func(ctx *actor.Context) {
		for what, f := range map[string]func(){
			"Become(nil)":               func() { ctx.Become(nil) },
			"StartPeriodic without end": func() { ctx.StartPeriodic(0, 1) },
			"RunUntilIdle":              func() { other.RunUntilIdle() },
			"Fail(nil)":                 func() { _ = ctx.System().NewFuture(0).ReplyTo().Fail(nil) },
		} {
			func() {
				defer func() {
					if v, _ := recover().(string); !strings.HasPrefix(v, "actor: ") {
						t.Errorf("%s: recovered %q", what, v)
					}
				}()
				f()
			}()
		}
	})
}

func TestZeroRef(t *testing.T) {
	var r actor.Ref
	if !r.IsZero() || !r.PID().IsZero() || r.Name() != "" || r.Path() != "" || r.String() != "nobody" || r.Backlog() != 0 {
		t.Errorf("the zero Ref is %v, %v, %q, %q", r, r.PID(), r.Name(), r.Path())
	}
}

func FuzzParsePID(f *testing.F) {
	for _, s := range []string{"", "1", "1.2", "4294967295.4294967295", "4294967296", "1.", ".1", "01", "1.02", "1.0", "+1", "-1", "0", "1.2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, ok := actor.ParsePID(s)
		if ok && p.String() != s {
			t.Errorf("ParsePID(%q) = %v", s, p)
		}
		if !ok && strings.Trim(s, "0123456789") == "" && len(s) > 0 && len(s) < 10 && s[0] != '0' {
			t.Errorf("ParsePID(%q) failed", s)
		}
	})
}

// Who brings the stream hears of the guardian's start.
func TestOwnEventStream(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		events := &actor.EventStream{}
		started := actor.Subscribe[actor.ActorStarted](events, 1)
		h := newHostWith(t, actor.Config{Events: events, Dispatcher: impl.NewDispatcher()})
		if h.System.Events() != events {
			t.Error("the system has another stream")
		}
		if e, ok := started.TryNext(); !ok || e.Actor != h.System.UserGuardian() {
			t.Errorf("the first event is %v, %v, want the guardian's start", e, ok)
		}
	})
}

func TestDefaultThroughput(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		if !h.System.Synchronous() {
			t.Skip("needs a known order")
		}
		before, n := 0, 0
		busy := h.spawn(actortest.Func(func(*actor.Context, any) error { n++; return nil }))
		quiet := h.spawn(actortest.Func(func(*actor.Context, any) error { before = n; return nil }))
		for range 1000 {
			must(t, busy.Tell(1))
		}
		must(t, quiet.Tell(1))
		h.settle()
		if before != 300 {
			t.Errorf("the other one waited for %d messages, want 300", before)
		}
	})
}
