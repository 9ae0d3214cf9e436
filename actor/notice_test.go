package actor_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
)

func TestWatch(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		nothing := func(*actor.Context, any) error { return nil }
		a, b, c := h.spawnFunc(nothing), h.spawnFunc(nothing), h.spawnFunc(nothing)
		h.sys.Stop(c)
		h.settle()
		w := h.spawn(lives(&j, "w", frailHooks{}))
		other := h.spawn(lives(&j, "x", frailHooks{}))
		h.tell(w, func(ctx *actor.Context) error {
			ctx.Watch(a)
			ctx.Watch(a) // once is enough
			ctx.Watch(b)
			ctx.Unwatch(b)
			ctx.Watch(c) // it has stopped already
			ctx.Watch(ctx.Self())
			ctx.Watch(actor.Ref{})
			ctx.Unwatch(actor.Ref{})
			ctx.Unwatch(other)
			return nil
		})
		h.settle()
		for _, r := range []actor.Ref{a, b, c} {
			h.sys.Stop(r)
		}
		h.settle()
		j.want(t, "w1 starts", "x1 starts", fmt.Sprint("w1 gets ", actor.Terminated{Actor: c}), fmt.Sprint("w1 gets ", actor.Terminated{Actor: a}))
		h.tell(w, func(ctx *actor.Context) error { ctx.Watch(other); return nil })
		h.settle()
		h.sys.Stop(w) // who watched is forgotten
		h.settle()
		h.sys.Stop(other)
		h.settle()
	})
}

// Of several who watch each is told, but for those that have thought better of
// it, even if it has stopped by then; and by what it has failed with.
func TestManyWatch(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		a := h.spawnFunc(func(*actor.Context, any) error { return errTest })
		var refs []actor.Ref
		for i := range 4 {
			refs = append(refs, h.spawnFunc(func(ctx *actor.Context, msg any) error {
				switch msg := msg.(type) {
				case actor.Terminated:
					if msg.Actor != a || msg.Err != errTest && i != 2 { // 2 watches again what has stopped
						t.Errorf("watcher %d got %+v", i, msg)
					}
					j.add(i)
				case string:
					ctx.Watch(a)
				case int:
					ctx.Unwatch(a)
				}
				return nil
			}))
			h.tell(refs[i], "watch")
			h.settle()
		}
		h.tell(refs[0], 0)
		h.settle()
		h.sys.Suspend(refs[2], actor.Suspension{})
		h.settle()
		h.tell(a, "fail")
		h.settle()
		if got := fmt.Sprint(sorted(j.got())); got != "[1 3]" {
			t.Errorf("%v were told, want 1 and 3: 2 is suspended", got)
		}
		h.tell(refs[2], "watch", 2) // what comes first is the notice
		h.sys.Resume(refs[2])
		h.settle()
		if got := fmt.Sprint(sorted(j.got())); got != "[1 2 2 3]" { // it had watched once more
			t.Errorf("%v were told", got)
		}
		h.dead()
	})
}

// A failure that the actor was helped with is not what it stops for.
func TestTerminatedAfterRecovery(t *testing.T) {
	for _, d := range []actor.Directive{actor.Restart, actor.Resume} {
		bubbles(t, func(t *testing.T, h *host) {
			var j journal
			_, refs := h.supervised(&actor.Supervisor{Decide: always(d)}, lives(&journal{}, "a", frailHooks{}))
			w := h.spawnFunc(func(ctx *actor.Context, msg any) error {
				if msg == "watch" {
					ctx.Watch(refs[0])
				} else {
					j.add(msg)
				}
				return nil
			})
			h.tell(w, "watch")
			h.tell(refs[0], failing(errBoom))
			h.settle()
			h.sys.Stop(refs[0])
			h.settle()
			j.want(t, actor.Terminated{Actor: refs[0]})
			h.dead()
		})
	}
}

func TestStash(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		open := false
		r := h.spawnFunc(func(ctx *actor.Context, msg any) error {
			switch {
			case msg == "open":
				open = true
				if n := ctx.Stashed(); n != 500 {
					t.Errorf("%d messages are stashed", n)
				}
				ctx.UnstashAll()
				ctx.UnstashAll() // nothing
			case msg == "close":
				open = false
			case !open:
				ctx.Stash(msg)
			default:
				j.add(msg)
			}
			return nil
		})
		var want []any
		for i := range 500 { // more than a turn's share
			h.tell(r, i)
			want = append(want, i)
		}
		h.do(func(ctx *actor.Context) { must(t, ctx.Tell(r, "open")); must(t, ctx.Tell(r, "after")) })
		h.settle()
		j.want(t, append(want, "after")...)
		h.tell(r, "close", 1, 2)
		h.settle()
		h.sys.Stop(r)
		h.settle()
		wantAll(t, h.dead(), 1, 2)
	})
}

// What is unstashed and not handled any more is a dead letter; what was stashed
// in PostStop as well.
func TestStashAndStop(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		p := lives(&journal{}, "a", frailHooks{postStop: func(ctx *actor.Context) error { ctx.Stash("late"); return nil }})
		r := h.spawn(p)
		h.tell(r, func(ctx *actor.Context) error {
			ctx.Stash(1)
			ctx.UnstashAll()
			ctx.Stash(2)
			ctx.StopSelf()
			return nil
		}, 3)
		h.settle()
		wantAll(t, h.dead(), 1, 2, 3, "late")
	})
}

func TestTimer(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		r := h.spawn(lives(&j, "a", frailHooks{}))
		var once, stopped, fired, tick *actor.Timer
		h.tell(r, func(ctx *actor.Context) error {
			once = ctx.StartTimer(time.Minute, "once")
			stopped = ctx.StartTimer(time.Minute, "stopped")
			fired = ctx.StartTimer(2*time.Minute, "fired")
			tick = ctx.StartPeriodic(3*time.Minute, "tick")
			return nil
		})
		h.settle()
		h.tell(r, func(*actor.Context) error {
			if !stopped.Stop() || stopped.Stop() {
				t.Error("Stop does not say whether the message was to come")
			}
			return nil
		})
		h.settle()
		time.Sleep(time.Minute)
		h.settle()
		j.want(t, "a1 starts", "a1 gets once")
		h.sys.Suspend(r, actor.Suspension{})
		h.settle()
		time.Sleep(time.Minute)
		h.settle() // fired is a notice by now
		h.sys.Resume(r)
		h.tell(r, func(*actor.Context) error {
			if once.Stop() {
				t.Error("a timer whose message was handled had one to come")
			}
			return nil
		})
		h.settle()
		j.want(t, "a1 starts", "a1 gets once", "a1 gets fired")
		_ = fired
		// A tick that is stopped after it has fired does not come.
		h.tell(r, func(ctx *actor.Context) error { ctx.Suspend(actor.Suspension{After: time.Hour}); return nil })
		h.settle()
		time.Sleep(30 * time.Minute)
		h.settle()
		n := h.sys.Stats().Messages
		time.Sleep(40 * time.Minute) // it goes on, with one tick for all that it missed
		h.settle()
		got := j.got()
		if len(got) < 4 || len(got) > 9 || h.sys.Stats().Messages-n > 6 {
			t.Errorf("after the suspension: %v", got)
		}
		h.tell(r, func(ctx *actor.Context) error { tick.Stop(); return nil })
		h.settle()
		k := len(j.got())
		time.Sleep(time.Hour)
		h.settle()
		if len(j.got()) != k {
			t.Errorf("it ticks after its end: %v", j.got()[k:])
		}
		h.do(func(ctx *actor.Context) {
			defer func() {
				if recover() == nil {
					t.Error("a period of 0 did not panic")
				}
			}()
			ctx.StartPeriodic(0, 1)
		})
	})
}

// A timer that has fired and is then stopped, in the very turn that it is going
// to be delivered in, is not delivered.
func TestStoppedTimerIsNotDelivered(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		var second *actor.Timer
		r := h.spawnFunc(func(ctx *actor.Context, msg any) error {
			j.add(msg)
			switch msg {
			case "start":
				ctx.StartTimer(time.Minute, "first")
				second = ctx.StartTimer(time.Minute, "second")
				ctx.Suspend(actor.Suspension{After: time.Hour}) // both are notices by then
			case "first":
				if !second.Stop() {
					t.Error("the second had nothing to come")
				}
			}
			return nil
		})
		h.tell(r, "start")
		h.settle()
		time.Sleep(2 * time.Hour)
		h.settle()
		j.want(t, "start", "first")
	})
}

func TestReceiveTimeout(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		r := h.spawnFunc(func(ctx *actor.Context, msg any) error {
			switch msg := msg.(type) {
			case time.Duration:
				ctx.SetReceiveTimeout(msg)
			case actor.ReceiveTimeout:
				j.add("timeout")
			default:
				j.add(msg)
			}
			return nil
		})
		h.tell(r, time.Hour)
		h.settle()
		for i := range 3 {
			time.Sleep(50 * time.Minute)
			h.tell(r, i)
			h.settle()
		}
		j.want(t, 0, 1, 2)
		time.Sleep(50 * time.Minute)
		h.settle()
		j.want(t, 0, 1, 2)
		time.Sleep(11 * time.Minute)
		h.settle()
		j.want(t, 0, 1, 2, "timeout")
		time.Sleep(61 * time.Minute)
		h.settle()
		j.want(t, 0, 1, 2, "timeout", "timeout")
		h.tell(r, time.Minute, time.Duration(0))
		h.settle()
		time.Sleep(10 * time.Hour)
		h.settle()
		j.want(t, 0, 1, 2, "timeout", "timeout")
	})
}

// tagged returns middleware that writes a tag before and after.
func tagged(j *journal, tag string) actor.Middleware {
	return func(next actor.ReceiveFunc) actor.ReceiveFunc {
		return func(ctx *actor.Context, msg any) error {
			j.add("<" + tag)
			defer j.add(tag + ">")
			return next(ctx, msg)
		}
	}
}

// twice is an Invoker that has integers handled two times.
type twice struct{}

func (twice) Invoke(ctx *actor.Context, a actor.Actor, msg any) error {
	if _, ok := msg.(int); ok {
		if err := a.Receive(ctx, msg); err != nil {
			return err
		}
	}
	return a.Receive(ctx, msg)
}

func TestMiddlewareAndInvoker(t *testing.T) {
	forHosts(t, func(t *testing.T, h *host, j *journal) {
		p := lives(j, "a", frailHooks{noRestartHooks: true})
		p.Middleware = []actor.Middleware{tagged(j, "m"), tagged(j, "n")}
		p.Invoker = twice{}
		_, refs := h.supervised(&actor.Supervisor{}, p)
		mark := len(j.got())
		h.tell(refs[0], 1)
		h.settle()
		wantAll(t, j.got()[mark:], "<s", "<m", "<n", "a1 gets 1", "a1 gets 1", "n>", "m>", "s>")
		// The chain stays after Become and a restart, and a behaviour goes with it.
		mark = len(j.got())
		h.tell(refs[0], func(ctx *actor.Context) error {
			ctx.Become(func(*actor.Context, any) error { j.add("other"); return errTest })
			return nil
		}, "x", "y")
		h.settle()
		wantAll(t, j.got()[mark:], "<s", "<m", "<n", "n>", "m>", "s>", "<s", "<m", "<n", "other", "n>", "m>", "s>",
			"a1 stops", "a2 starts", "<s", "<m", "<n", "a2 gets y", "n>", "m>", "s>")
		h.tell(refs[0], func(ctx *actor.Context) error {
			ctx.Become(func(ctx *actor.Context, _ any) error {
				if !ctx.Unbecome() || ctx.Unbecome() {
					t.Error("Unbecome does not say whether there was a behaviour")
				}
				return nil
			})
			return nil
		}, "x", "y")
		h.settle()
		h.sys.Stop(refs[0])
		h.settle()
		h.dead()
	})
}

// forHosts is bubbles with middleware for the whole system.
func forHosts(t *testing.T, f func(t *testing.T, h *host, j *journal)) {
	bubblesWith(t, func() (actor.Config, *journal) {
		var j journal
		return actor.Config{Middleware: []actor.Middleware{tagged(&j, "s")}}, &j
	}, f)
}

// stack is a mailbox that hands out the newest message first, and holds three.
type stack struct{ list []any }

func (s *stack) Enqueue(msg any, drop func(any)) actor.SendResult {
	switch {
	case msg == "refused":
		return actor.Full
	case len(s.list) == 3:
		drop(s.list[0])
		s.list = s.list[1:]
	}
	s.list = append(s.list, msg)
	return actor.Sent
}

func (s *stack) Dequeue() (any, bool) {
	if len(s.list) == 0 {
		return nil, false
	}
	msg := s.list[len(s.list)-1]
	s.list = s.list[:len(s.list)-1]
	return msg, true
}

func (s *stack) Len() int { return len(s.list) }

func TestOwnMailbox(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		p := lives(&j, "a", frailHooks{})
		p.Throughput = 2
		p.Mailbox = actor.MailboxConfig{New: func() actor.Mailbox { return &stack{} }}
		_, refs := h.supervised(&actor.Supervisor{}, p)
		a := refs[0]
		h.sys.Suspend(a, actor.Suspension{})
		h.settle()
		h.tell(a, 1, 2, 3, 4)
		if n := a.Backlog(); n != 3 {
			t.Errorf("Backlog = %d, want 3", n)
		}
		wantBack(t, a.Tell("refused"), "refused", a, actor.ErrFull)
		h.sys.Resume(a)
		h.settle()
		j.want(t, "a1 starts", "a1 gets 4", "a1 gets 3", "a1 gets 2")
		wantAll(t, h.dead(), 1)
		h.do(func(ctx *actor.Context) { must(t, ctx.Tell(a, 5)) })
		h.tell(a, failing(errBoom))
		h.settle()
		h.tell(a, func(*actor.Context) error { panic("oh") })
		h.settle()
		h.tell(a, func(*actor.Context) error { runtime.Goexit(); return nil })
		h.settle()
		h.tell(a, 6)
		h.settle()
		if got := j.got(); got[len(got)-1] != "a4 gets 6" || len(h.dead()) != 3 {
			t.Errorf("after three failures: %v", got)
		}
		h.sys.Suspend(a, actor.Suspension{})
		h.settle()
		h.tell(a, 7, 8)
		h.sys.Stop(a)
		h.settle()
		wantAll(t, h.dead(), 8, 7)
		wantBack(t, a.Tell(9), 9, a, actor.ErrStopped)
	})
}

func TestWatermark(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		for _, m := range []actor.MailboxConfig{
			{Watermark: 4},
			{Watermark: 4, Capacity: 6, Policy: actor.Block},
			{Watermark: 4, New: func() actor.Mailbox { return &deep{} }},
		} {
			if m.Policy == actor.Block && h.sys.Synchronous() {
				continue // the sender would run the actor
			}
			events := actor.Subscribe[any](h.sys.Events(), 10)
			want := func(high bool, n int) {
				t.Helper()
				e, _ := events.TryNext()
				switch e := e.(type) {
				case actor.MailboxHigh:
					if !high || e.Len != n {
						t.Errorf("got %+v", e)
					}
				case actor.MailboxLow:
					if high || e.Len != n {
						t.Errorf("got %+v", e)
					}
				default:
					t.Errorf("got %v, want a watermark of %d", e, n)
				}
			}
			r := h.spawn(actor.Props{Mailbox: m, New: func() actor.Actor {
				return actor.ReceiveFunc(func(*actor.Context, any) error { return nil })
			}})
			h.sys.Suspend(r, actor.Suspension{})
			h.settle()
			for _, ok := events.TryNext(); ok; _, ok = events.TryNext() { // its start and its suspension
			}
			h.tell(r, 1, 2, 3)
			if e, ok := events.TryNext(); ok {
				t.Errorf("got %v below the mark", e)
			}
			h.tell(r, 4, 5)
			want(true, 4)
			if m.Policy == actor.Block {
				h.tell(r, 6)
				done := make(chan error)
				go func() { done <- r.Tell(7) }()
				time.Sleep(time.Second)
				h.sys.Resume(r)
				h.settle()
				must(t, <-done)
			} else {
				h.sys.Resume(r)
				h.settle()
			}
			for _, ok := events.TryNext(); ok; _, ok = events.TryNext() {
			}
			if m.Policy != actor.Block { // there the sender that waited has seen it already
				h.tell(r, 8)
				want(false, 1)
			}
			h.settle()
			events.Unsubscribe()
		}
	})
}

// Who brings the stream hears of the guardian's start.
func TestOwnEventStream(t *testing.T) {
	var events actor.EventStream
	started := actor.Subscribe[actor.ActorStarted](&events, 1)
	bubblesWith(t, func() (actor.Config, *journal) {
		events = actor.EventStream{}
		started = actor.Subscribe[actor.ActorStarted](&events, 1)
		return actor.Config{Events: &events}, nil
	}, func(t *testing.T, h *host, _ *journal) {
		if h.sys.Events() != &events {
			t.Error("the system has another stream")
		}
		h.settle()
		if e, ok := started.TryNext(); !ok || e.Actor != h.sys.UserGuardian() {
			t.Errorf("the first event is %v, %v, want the guardian's start", e, ok)
		}
	})
}

// deep is a mailbox without a limit.
type deep struct{ stack }

func (s *deep) Enqueue(msg any, _ func(any)) actor.SendResult {
	s.list = append(s.list, msg)
	return actor.Sent
}

func TestTellByPID(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		r := h.spawn(lives(&j, "a", frailHooks{}))
		must(t, h.sys.Tell(r.PID(), 1))
		h.settle()
		h.sys.Stop(r)
		h.settle()
		err := h.sys.Tell(r.PID(), 2)
		if !errors.Is(err, actor.ErrUnknown) {
			t.Errorf("got %v, want ErrUnknown", err)
		}
		if l := h.sys.DeadLetters(); len(l) != 1 || l[0].Msg != 2 || l[0].Reason != actor.ErrUnknown || !l[0].Returned {
			t.Errorf("the dead letters are %v", l)
		}
		j.want(t, "a1 starts", "a1 gets 1", "a1 stops")
	})
}

func TestLogAndLifecycleEvents(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		_, refs := h.supervised(&actor.Supervisor{})
		_ = refs
		events := actor.Subscribe[any](h.sys.Events(), 30)
		boss, refs := h.supervised(&actor.Supervisor{}, lives(&j, "a", frailHooks{}))
		a := refs[0]
		h.tell(a, func(ctx *actor.Context) error {
			ctx.Log(actor.LevelWarn, "watch out")
			ctx.Become(func(ctx *actor.Context, _ any) error { ctx.Unbecome(); return errBoom })
			return nil
		}, 1)
		h.settle()
		h.sys.Stop(a)
		h.settle()
		var got []any
		for e, ok := events.TryNext(); ok; e, ok = events.TryNext() {
			switch e := e.(type) {
			case actor.ActorStarted:
				got = append(got, "started", e.Actor)
			case actor.LogEvent:
				got = append(got, e.Text, e.Actor)
			case actor.BehaviorChanged:
				got = append(got, e.Depth, e.Actor)
			case actor.Failure:
				got = append(got, "failed", e.Actor)
			case actor.Supervised:
				got = append(got, e.Directive, e.Parent)
			case actor.DeadLetter:
				got = append(got, "letter", e.To)
			case actor.ActorRestarted:
				got = append(got, "restarted", e.Actor)
			case actor.ActorStopped:
				got = append(got, "stopped", e.Actor)
			}
		}
		wantAll(t, got, "started", boss, "started", a, "watch out", a, 1, a, 0, a, "failed", a, actor.Restart, boss,
			"letter", a, "restarted", a, "stopped", a)
		h.dead()
	})
}
