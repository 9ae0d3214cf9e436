package actor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
)

// hooked is an actor that writes down what happens to it.
type hooked struct {
	*journal
	name      string
	preStart  func(*actor.Context) error
	postStop  func(*actor.Context) error
	onMessage func(*actor.Context, any) error
}

func (a *hooked) PreStart(ctx *actor.Context) error {
	a.add(a.name + " starts")
	if a.preStart != nil {
		return a.preStart(ctx)
	}
	return nil
}

func (a *hooked) Receive(ctx *actor.Context, msg any) error {
	a.add(fmt.Sprint(a.name, " gets ", msg))
	if a.onMessage != nil {
		return a.onMessage(ctx, msg)
	}
	return nil
}

func (a *hooked) PostStop(ctx *actor.Context) error {
	a.add(a.name + " stops")
	if a.postStop != nil {
		return a.postStop(ctx)
	}
	return nil
}

func (a *hooked) props() actor.Props { return actor.Props{New: func() actor.Actor { return a }} }

var errTest = errors.New("test")

func TestHooks(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		a := &hooked{journal: &j, name: "a"}
		r := h.spawn(a.props())
		h.settle()
		j.want(t, "a starts") // without any message
		must(t, r.Tell(1))
		h.settle()
		h.sys.Stop(r)
		h.sys.Stop(r)
		h.settle()
		j.want(t, "a starts", "a gets 1", "a stops")
		wantBack(t, r.Tell(2), 2, r, actor.ErrStopped)
		h.sys.Stop(r)
		h.settle()
		j.want(t, "a starts", "a gets 1", "a stops")
	})
}

// A message sent before PreStart is over waits for it.
func TestPreStartComesFirst(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		a := &hooked{journal: &j, name: "a"}
		h.do(func(ctx *actor.Context) {
			r, err := ctx.Spawn(a.props())
			must(t, err)
			must(t, ctx.Tell(r, 1))
		})
		j.want(t, "a starts", "a gets 1")
	})
}

func TestChildrenStopBeforeParents(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		names := []string{"", "1", "12", "121", "122", "13"}
		var top actor.Ref
		var spawn func(ctx *actor.Context, name string) actor.Ref
		spawn = func(ctx *actor.Context, name string) actor.Ref {
			a := &hooked{journal: &j, name: name}
			a.preStart = func(ctx *actor.Context) error {
				for _, n := range names {
					if len(n) == len(name)+1 && n[:len(name)] == name {
						spawn(ctx, n)
					}
				}
				return nil
			}
			r, err := ctx.Spawn(a.props())
			must(t, err)
			return r
		}
		h.do(func(ctx *actor.Context) { top = spawn(ctx, "") })
		h.sys.Stop(top)
		h.settle()
		var stops []string
		for _, e := range j.got() {
			if name, ok := strings.CutSuffix(e.(string), " stops"); ok {
				stops = append(stops, name)
			}
		}
		if len(stops) != len(names) {
			t.Fatalf("stopped: %q, want all of %q", stops, names)
		}
		for i, a := range stops {
			for _, b := range stops[i+1:] {
				if len(b) > len(a) && b[:len(a)] == a {
					t.Errorf("%q stopped before its descendant %q", a, b)
				}
			}
		}
		if live := h.sys.Stats().Actors; live != 3 {
			t.Errorf("%d actors are left, want the three guardians", live)
		}
	})
}

// What an actor is handling when it is stopped is its last message, also if
// more of them wait in what its turn has taken from the mailbox already.
func TestStopLeavesMessages(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		var r actor.Ref
		a := &hooked{journal: &j, name: "a"}
		a.onMessage = func(ctx *actor.Context, msg any) error {
			switch msg {
			case 1:
				ctx.StopSelf()
			case 0:
				for i := 1; i <= 4; i++ {
					must(t, ctx.Tell(r, i))
				}
			}
			return nil
		}
		r = h.spawn(a.props())
		must(t, r.Tell(0))
		h.settle()
		j.want(t, "a starts", "a gets 0", "a gets 1", "a stops")
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.letters) != 3 {
			t.Fatalf("dead letters: %v, want 2, 3 and 4", h.letters)
		}
		for i, l := range h.letters {
			if l.Msg != i+2 || l.To != r || l.Reason != actor.ErrStopped || !l.Time.Equal(time.Now().Add(-time.Second)) {
				t.Errorf("dead letter %+v, want the message %d for %v, %v, now", l, i+2, r, actor.ErrStopped)
			}
		}
		if n := h.sys.Stats().DeadLetters; n != 3 {
			t.Errorf("Stats.DeadLetters = %d, want 3", n)
		}
	})
}

// The children of an actor that waits for them to stop cannot keep it from
// refusing messages.
func TestStoppingRefuses(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		if h.sys.Synchronous() {
			t.Skip("a handler that blocks blocks everything")
		}
		gate := make(chan struct{})
		var child actor.Ref
		var spawnErr error
		parent := h.spawn(actor.Props{New: func() actor.Actor {
			return &hooked{
				journal: &journal{},
				preStart: func(ctx *actor.Context) (err error) {
					child, err = ctx.Spawn(props(func(*actor.Context, any) error { <-gate; return nil }))
					return err
				},
				postStop: func(ctx *actor.Context) error {
					_, spawnErr = ctx.Spawn(props(nil))
					return nil
				},
			}
		}})
		h.settle()
		must(t, child.Tell(1))
		h.settle()
		h.sys.Stop(parent)
		h.settle()
		wantBack(t, parent.Tell(1), 1, parent, actor.ErrStopped)
		must(t, child.Tell(2)) // it does not know yet
		if _, ok := h.sys.Lookup(parent.PID()); !ok {
			t.Error("the parent has stopped before its child")
		}
		close(gate)
		h.settle()
		if _, ok := h.sys.Lookup(parent.PID()); ok {
			t.Error("the parent has not stopped after its child")
		}
		wantAll(t, h.dead(), 2)
		if spawnErr != actor.ErrStopping {
			t.Errorf("Spawn in PostStop: %v, want %v", spawnErr, actor.ErrStopping)
		}
	})
}

func TestFailure(t *testing.T) {
	boom := func() error { panic(errTest) }
	tests := []struct {
		name     string
		fail     func() error
		isPanic  bool
		want     error
		inHook   string
		messages int // that the actor is given
		trace    []any
	}{
		{name: "error", fail: func() error { return errTest }, want: errTest, trace: []any{"a starts", "a gets 1", "a stops"}},
		{name: "panic", fail: boom, isPanic: true, want: errTest, trace: []any{"a starts", "a gets 1", "a stops"}},
		{name: "goexit", fail: func() error { runtime.Goexit(); return nil }, want: actor.ErrGoexit, trace: []any{"a starts", "a gets 1", "a stops"}},
		{name: "PreStart error", inHook: "pre", fail: func() error { return errTest }, want: errTest, trace: []any{"a starts"}},
		{name: "PreStart panic", inHook: "pre", fail: boom, isPanic: true, want: errTest, trace: []any{"a starts"}},
		{name: "PreStart goexit", inHook: "pre", fail: func() error { runtime.Goexit(); return nil }, want: actor.ErrGoexit, trace: []any{"a starts"}},
		{name: "PostStop error", inHook: "post", fail: func() error { return errTest }, want: errTest, trace: []any{"a starts", "a gets 1", "a gets 2", "a stops"}},
		{name: "PostStop panic", inHook: "post", fail: boom, isPanic: true, want: errTest, trace: []any{"a starts", "a gets 1", "a gets 2", "a stops"}},
		{name: "PostStop goexit", inHook: "post", fail: func() error { runtime.Goexit(); return nil }, want: actor.ErrGoexit, trace: []any{"a starts", "a gets 1", "a gets 2", "a stops"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j journal
				a := &hooked{journal: &j, name: "a"}
				fail := func(*actor.Context) error { return tt.fail() }
				switch tt.inHook {
				case "":
					a.onMessage = func(*actor.Context, any) error { return tt.fail() }
				case "pre":
					a.preStart = fail
				case "post":
					a.postStop = fail
				}
				var r, other actor.Ref
				h.do(func(ctx *actor.Context) {
					var err error
					r, err = ctx.SpawnNamed("a", a.props())
					must(t, err)
					other, err = ctx.Spawn(props(func(_ *actor.Context, msg any) error { j.add(msg); return nil }))
					must(t, err)
					must(t, ctx.Tell(r, 1))
					must(t, ctx.Tell(r, 2))
				})
				if tt.inHook == "post" {
					h.sys.Stop(r)
					h.settle()
				}
				j.want(t, tt.trace...)
				var msg any
				lost := []any{}
				switch tt.inHook {
				case "":
					msg, lost = 1, []any{1, 2}
				case "pre":
					lost = []any{1, 2}
				}
				wantAll(t, h.dead(), lost...)
				fs := h.failed()
				if len(fs) != 1 || fs[0].Actor != r || fs[0].Msg != msg || !errors.Is(fs[0].Err, tt.want) {
					t.Fatalf("failures: %v, want one of %v with %v on %v", fs, r, tt.want, msg)
				}
				var p *actor.PanicError
				if errors.As(fs[0].Err, &p) != tt.isPanic || tt.isPanic && !strings.Contains(string(p.Stack), "TestFailure") {
					t.Errorf("the failure %v is a panic with the place in its stack: want %v", fs[0].Err, tt.isPanic)
				}
				if n := h.sys.Stats().Failures; n != 1 {
					t.Errorf("Stats.Failures = %d, want 1", n)
				}
				if _, ok := h.sys.Find("/user/a"); ok {
					t.Error("the actor that failed has not stopped")
				}
				must(t, other.Tell("still here"))
				h.settle()
				j.want(t, append(tt.trace, "still here")...)
			})
		})
	}
}

// An actor that has failed keeps what is sent to it until its parent, which is
// busy, has decided; it handles none of it.
func TestFailedWaitsForParent(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		if h.sys.Synchronous() {
			t.Skip("a handler that blocks blocks everything")
		}
		var j journal
		gate := make(chan struct{})
		a := &hooked{journal: &j, name: "a", onMessage: func(*actor.Context, any) error { return errTest }}
		r := h.spawn(a.props())
		must(t, h.sys.UserGuardian().Tell(func(*actor.Context) { <-gate }))
		must(t, r.Tell(1))
		h.settle()
		must(t, r.Tell(2))
		h.settle()
		j.want(t, "a starts", "a gets 1")
		wantAll(t, h.dead())
		close(gate)
		h.settle()
		j.want(t, "a starts", "a gets 1", "a stops")
		wantAll(t, h.dead(), 1, 2)
	})
}

func TestGuardianFailureEndsSystem(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		synctest.Test(t, func(t *testing.T) {
			s, err := actor.NewSystem(actor.Config{
				Dispatcher: impl.NewDispatcher(),
				Guardian: props(func(ctx *actor.Context, msg any) error {
					_, err := ctx.Spawn(props(nil))
					must(t, err)
					return errTest
				}),
			})
			must(t, err)
			must(t, s.UserGuardian().Tell(1))
			if s.Err() != nil {
				select {
				case <-s.Done(): // it may have ended already
				default:
					t.Error("Err before Done")
				}
			}
			if s.Synchronous() {
				s.RunUntilIdle()
			}
			<-s.Done()
			if !errors.Is(s.Err(), errTest) {
				t.Errorf("Err = %v, want %v", s.Err(), errTest)
			}
			must(t, s.Shutdown(t.Context()))
			if st := s.Stats(); st.Actors != 0 || st.Spawned != 4 || st.Messages != 1 || st.Workers != 0 {
				t.Errorf("afterwards: %+v", st)
			}
		})
	})
}

func TestShutdown(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, impl)
			h.bubble = true
			gate := make(chan struct{})
			r := h.spawnFunc(func(*actor.Context, any) error { <-gate; return nil })
			other := h.spawnFunc(func(*actor.Context, any) error { return nil })
			must(t, r.Tell(1))
			must(t, r.Tell(2))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begin := time.Now()
			err := h.sys.Shutdown(ctx)
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
			if h.sys.Synchronous() { // the one that hangs was asked first
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
			case <-h.sys.Done():
				t.Error("Done, with an actor that hangs")
			default:
			}
			close(gate)
			must(t, h.sys.Shutdown(t.Context()))
			<-h.sys.Done()
			wantAll(t, h.dead(), left...)
			wantBack(t, r.Tell(3), 3, r, actor.ErrStopped)
			u := h.sys.UserGuardian()
			wantBack(t, u.Tell(3), 3, u, actor.ErrStopped)
			must(t, h.sys.Shutdown(context.Background()))
			h.sys.Stop(r)
			if st := h.sys.Stats(); st.Actors != 0 || st.Workers != 0 || h.sys.Err() != nil {
				t.Errorf("afterwards: %+v, %v", st, h.sys.Err())
			}
		})
	})
}

// Many may call Shutdown; all of them wait for the end.
func TestShutdownTwiceAtOnce(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		for range 3 {
			go func() {
				must(t, h.sys.Shutdown(context.Background()))
				select {
				case <-h.sys.Done():
				default:
					t.Error("Shutdown returned before Done")
				}
			}()
		}
		synctest.Wait()
	})
}

func TestGuardianStops(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		h.spawnFunc(func(*actor.Context, any) error { return nil })
		must(t, h.sys.UserGuardian().Tell(func(ctx *actor.Context) { ctx.StopSelf() }))
		h.settle()
		<-h.sys.Done()
		must(t, h.sys.Err())
	})
}

func TestNewSystemErrors(t *testing.T) {
	ok := props(func(*actor.Context, any) error { return nil })
	used := serial.NewDispatcher()
	must(t, used.Start())
	tests := []struct {
		name  string
		c     actor.Config
		field string // "" if the error is another one
	}{
		{"no dispatcher", actor.Config{Guardian: ok}, "Config.Dispatcher"},
		{"no guardian", actor.Config{Dispatcher: serial.NewDispatcher()}, "Props.New"},
		{"nil guardian", actor.Config{Dispatcher: serial.NewDispatcher(), Guardian: actor.Props{New: func() actor.Actor { return nil }}}, "Props.New"},
		{"mailbox", actor.Config{Dispatcher: serial.NewDispatcher(), Guardian: actor.Props{New: ok.New, Mailbox: actor.MailboxConfig{Capacity: 1}}}, "Mailbox.Capacity"},
		{"used dispatcher", actor.Config{Dispatcher: used, Guardian: ok}, ""},
	}
	for _, tt := range tests {
		s, err := actor.NewSystem(tt.c)
		var e *actor.PropsError
		switch {
		case s != nil || err == nil:
			t.Errorf("%s: got a system and the error %v", tt.name, err)
		case tt.field != "" && (!errors.As(err, &e) || e.Field != tt.field || !strings.Contains(err.Error(), tt.field)):
			t.Errorf("%s: the error %v does not complain about %s", tt.name, err, tt.field)
		}
	}
	d := lockbased.NewDispatcher()
	must(t, d.Start())
	if d.Start() == nil {
		t.Error("lockbased: Start twice")
	}
}

func TestRunUntilIdleNeedsSynchronous(t *testing.T) {
	h := newHost(t, lockbased.Impl)
	defer func() {
		if recover() == nil {
			t.Error("RunUntilIdle on a dispatcher with workers did not panic")
		}
	}()
	h.sys.RunUntilIdle()
}

// A child that has stopped on its own leaves its parent at peace, and a stop
// that comes before the start means that there is none.
func TestStopBeforeStart(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		a := &hooked{journal: &j, name: "a"}
		h.do(func(ctx *actor.Context) {
			r, err := ctx.Spawn(a.props())
			must(t, err)
			ctx.Stop(r)
			ctx.Stop(actor.Ref{})
		})
		h.settle()
		// The start was asked for first, so there was one.
		j.want(t, "a starts", "a stops")
		h.do(func(ctx *actor.Context) {
			for c := range ctx.Children() {
				t.Errorf("%v is still a child", c)
			}
		})
	})
}
