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

var errTest = errors.New("test")

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
			synctest.Wait() // it hangs by then, if it runs by itself
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
			if root, ok := h.System.Lookup(e.Running[0].PID); ok {
				t.Errorf("Lookup gives away the root: %v", root)
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
	if !r.IsZero() || !r.PID().IsZero() || r.Name() != "" || r.Path() != "" || r.String() != "the zero Ref" || r.Backlog() != 0 {
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

// TestNewSystem: a system has what it is made of, and is not made of what cannot be used.
func TestNewSystem(t *testing.T) {
	clock := actor.NewManualClock(time.Unix(0, 0))
	if _, sys, _, _ := newManualWith(t, actor.Config{Clock: clock}, nil, actortest.Func(nothing)); sys.Clock() != clock {
		t.Error("the system has another clock")
	}
	used := serial.NewDispatcher()
	must(t, used.Start())
	for what, c := range map[string]actor.Config{
		"a dispatcher that has been started": {Dispatcher: used},
		"a middleware that is nil":           {Dispatcher: &manual{}, Middleware: []actor.Middleware{nil}},
	} {
		c.Guardian = actortest.Func(nothing)
		if _, err := actor.NewSystem(c); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

// TestNothingStashed: an actor that has stashed nothing may ask for it.
func TestNothingStashed(t *testing.T) {
	n := -1
	_, _, r, b := newManual(t, actortest.Func(func(ctx *actor.Context, _ any) error {
		ctx.UnstashAll()
		n = ctx.Stashed()
		return nil
	}))
	must(t, r.Tell(1))
	wantVerdict(t, b.turn(), actor.Continue)
	if n != 0 {
		t.Errorf("%d messages are stashed", n)
	}
}

// TestWatermark has sends find some numbers of messages, the first of them after it has waited for
// room. Each publishes the number if that is high, and the negative number if it is low again.
func TestWatermark(t *testing.T) {
	for _, tt := range []struct {
		mark       int
		lens, want []int
	}{
		{1, []int{1, 2}, []int{1, 0}},
		{4, []int{4, 5, 2, 1, 3, 4}, []int{4, 0, 0, -1, 0, 4}},
		{5, []int{5, 3, 2, 4, 5}, []int{5, 0, -2, 0, 5}},
	} {
		p := actortest.Func(nothing)
		p.Mailbox.Watermark = tt.mark
		_, sys, r, b := newManual(t, p)
		high := actor.Subscribe[actor.MailboxHigh](sys.Events(), 1)
		low := actor.Subscribe[actor.MailboxLow](sys.Events(), 1)
		for i, n := range tt.lens {
			b.queue, b.full = make([]any, n-1), i == 0
			must(t, r.Tell(1))
			got := 0
			if e, ok := high.TryNext(); ok {
				got = e.Len
			}
			if e, ok := low.TryNext(); ok {
				got = -e.Len
			}
			if got != tt.want[i] {
				t.Errorf("watermark %d, lengths %v: %d is published, want %d", tt.mark, tt.lens[:i+1], got, tt.want[i])
			}
		}
	}
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
