package actor_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
)

// frail is an actor with every hook, which does what messages that are
// functions say, and counts its lives.
type frail struct {
	*journal
	name string
	life int
	on   frailHooks
}

type frailHooks struct {
	preStart, postStop func(*actor.Context) error
	preRestart         func(*actor.Context, error) error
	postRestart        func(*actor.Context, error) error
	noRestartHooks     bool
}

func (a *frail) say(what string) { a.add(fmt.Sprintf("%s%d %s", a.name, a.life, what)) }

func (a *frail) Receive(ctx *actor.Context, msg any) error {
	if f, ok := msg.(func(*actor.Context) error); ok {
		return f(ctx)
	}
	a.say(fmt.Sprint("gets ", msg))
	return nil
}

func (a *frail) PreStart(ctx *actor.Context) error {
	a.say("starts")
	if a.on.preStart != nil {
		return a.on.preStart(ctx)
	}
	return nil
}

func (a *frail) PostStop(ctx *actor.Context) error {
	a.say("stops")
	if a.on.postStop != nil {
		return a.on.postStop(ctx)
	}
	return nil
}

// frailer has restart hooks as well.
type frailer struct{ frail }

func (a *frailer) PreRestart(ctx *actor.Context, cause error) error {
	a.say("ends for " + cause.Error())
	if a.on.preRestart != nil {
		return a.on.preRestart(ctx, cause)
	}
	return nil
}

func (a *frailer) PostRestart(ctx *actor.Context, cause error) error {
	a.say("begins for " + cause.Error())
	if a.on.postRestart != nil {
		return a.on.postRestart(ctx, cause)
	}
	return nil
}

// lives returns props whose values count how many there were.
func lives(j *journal, name string, on frailHooks) actor.Props {
	n := 0
	return actor.Props{New: func() actor.Actor {
		n++
		a := frail{journal: j, name: name, life: n, on: on}
		if on.noRestartHooks {
			return &a
		}
		return &frailer{a}
	}}
}

// supervised spawns an actor with that supervisor, and children of it.
func (h *host) supervised(s *actor.Supervisor, children ...actor.Props) (boss actor.Ref, refs []actor.Ref) {
	h.Helper()
	boss = h.spawn(actor.Props{Supervisor: s, New: func() actor.Actor {
		return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
			return msg.(func(*actor.Context) error)(ctx)
		})
	}})
	h.tell(boss, func(ctx *actor.Context) error {
		for _, p := range children {
			r, err := ctx.Spawn(p)
			must(h, err)
			refs = append(refs, r)
		}
		return nil
	})
	h.settle()
	return boss, refs
}

func (h *host) tell(r actor.Ref, msgs ...any) {
	h.Helper()
	for _, m := range msgs {
		must(h, r.Tell(m))
	}
}

// failing returns a message that makes its receiver fail.
func failing(err error) func(*actor.Context) error {
	return func(*actor.Context) error { return err }
}

var errBoom = errors.New("boom")

func TestDirectives(t *testing.T) {
	restart := []any{"a1 starts", "a1 gets 1", "a1 ends for boom", "a2 begins for boom", "a2 gets 2"}
	tests := []struct {
		name string
		s    actor.Supervisor
		on   frailHooks
		err  error
		want []any
		dead int // letters
	}{
		{"restart by default", actor.Supervisor{}, frailHooks{}, errBoom, restart, 1},
		{
			"restart without hooks of its own",
			actor.Supervisor{},
			frailHooks{noRestartHooks: true},
			errBoom,
			[]any{"a1 starts", "a1 gets 1", "a1 stops", "a2 starts", "a2 gets 2"},
			1,
		},
		{"resume", actor.Supervisor{Decide: always(actor.Resume)}, frailHooks{}, errBoom, []any{"a1 starts", "a1 gets 1", "a1 gets 2"}, 1},
		{"stop", actor.Supervisor{Decide: always(actor.Stop)}, frailHooks{}, errBoom, []any{"a1 starts", "a1 gets 1", "a1 stops"}, 2},
		{"nonsense stops", actor.Supervisor{Decide: always(17)}, frailHooks{}, errBoom, []any{"a1 starts", "a1 gets 1", "a1 stops"}, 2},
		{
			"fatal stops, whatever is decided",
			actor.Supervisor{Decide: always(actor.Resume)},
			frailHooks{},
			actor.Fatal(errBoom),
			[]any{"a1 starts", "a1 gets 1", "a1 stops"},
			2,
		},
		{
			"a failing PreRestart changes nothing",
			actor.Supervisor{},
			frailHooks{preRestart: func(*actor.Context, error) error { return errTest }},
			errBoom, restart, 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j journal
				boss, refs := h.supervised(&tt.s, lives(&j, "a", tt.on))
				a := refs[0]
				h.tell(a, 1, failing(tt.err), 2)
				h.settle()
				j.want(t, tt.want...)
				h.mu.Lock()
				n := len(h.letters)
				if n == 0 || h.letters[0].Reason != actor.ErrFailed || h.letters[0].To != a || !errors.Is(h.letters[0].Cause, errBoom) {
					t.Errorf("the message it failed on is not a dead letter: %v", h.letters)
				}
				h.letters = nil
				h.mu.Unlock()
				if n != tt.dead {
					t.Errorf("%d dead letters, want %d", n, tt.dead)
				}
				if _, ok := h.sys.Lookup(boss.PID()); !ok {
					t.Error("the supervisor has stopped")
				}
			})
		})
	}
}

func always(d actor.Directive) func(actor.Failure) actor.Directive {
	return func(actor.Failure) actor.Directive { return d }
}

func TestPanicAndGoexitAreFailures(t *testing.T) {
	for name, f := range map[string]func(*actor.Context) error{
		"panic":  func(*actor.Context) error { panic("oh") },
		"goexit": func(*actor.Context) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j journal
				_, refs := h.supervised(&actor.Supervisor{Retry: true}, lives(&j, "a", frailHooks{noRestartHooks: true}))
				first := true
				h.tell(refs[0], 1, func(ctx *actor.Context) error {
					if first {
						first = false
						return f(ctx)
					}
					j.add("again")
					return nil
				}, 2)
				h.settle()
				j.want(t, "a1 starts", "a1 gets 1", "a1 stops", "a2 starts", "again", "a2 gets 2")
				wantAll(t, h.dead())
			})
		})
	}
}

func TestAllForOne(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		_, refs := h.supervised(&actor.Supervisor{Strategy: actor.AllForOne, MaxRestarts: 1},
			lives(&j, "a", frailHooks{noRestartHooks: true}), lives(&j, "b", frailHooks{noRestartHooks: true}))
		h.tell(refs[1], failing(errBoom))
		h.settle()
		h.tell(refs[0], 1)
		h.tell(refs[1], 2)
		h.settle()
		got := fmt.Sprint(sorted(j.got()))
		if want := fmt.Sprint(sorted([]any{"a1 starts", "b1 starts", "a1 stops", "b1 stops", "a2 starts", "b2 starts", "a2 gets 1", "b2 gets 2"})); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		// The budget is that of all together.
		h.tell(refs[0], failing(errBoom))
		h.settle()
		for _, r := range refs {
			if _, ok := h.sys.Lookup(r.PID()); ok {
				t.Errorf("%v is alive after the second failure", r)
			}
		}
		h.dead()
	})
}

func sorted(list []any) []string {
	var s []string
	for _, x := range list {
		s = append(s, fmt.Sprint(x))
	}
	slices.Sort(s)
	return s
}

func TestRestartLimitAndWindow(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		_, refs := h.supervised(&actor.Supervisor{MaxRestarts: 2, Window: time.Minute}, lives(&j, "a", frailHooks{noRestartHooks: true}))
		a := refs[0]
		events := actor.Subscribe[actor.Supervised](h.sys.Events(), 10)
		for range 2 {
			h.tell(a, failing(errBoom))
			h.settle()
		}
		time.Sleep(time.Minute) // the first two do not count any more
		for range 3 {
			if err := a.Tell(failing(errBoom)); err != nil {
				t.Fatalf("stopped too early: %v", err)
			}
			h.settle()
		}
		wantBack(t, a.Tell(1), 1, a, actor.ErrStopped)
		for i, want := range []bool{false, false, false, false, true} {
			e, ok := events.TryNext()
			if !ok || e.Exhausted != want || (e.Directive == actor.Stop) != want || e.Actor != a || e.Cause != errBoom {
				t.Errorf("event %d is %+v", i, e)
			}
		}
		if n := h.sys.Stats().Restarts; n != 4 {
			t.Errorf("%d restarts, want 4", n)
		}
		h.dead()
	})
}

func TestBackoffKeepsMailboxAndCanBeStopped(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		s := &actor.Supervisor{MaxRestarts: -1, Window: -1, Backoff: actor.Backoff{Min: 10 * time.Second, Max: 35 * time.Second}}
		_, refs := h.supervised(s, lives(&j, "a", frailHooks{noRestartHooks: true}))
		a := refs[0]
		for _, d := range []time.Duration{10, 20, 35, 35} {
			h.tell(a, failing(errBoom), 1)
			start := time.Now()
			n := len(j.got())
			for h.sys.Stats().Restarts*3 != uint64(n+2) {
				h.settle()
			}
			if took := time.Since(start); took < d*time.Second || took > (d+2)*time.Second {
				t.Errorf("the restart came after %v, want %v s", took, d)
			}
		}
		j.want(t, "a1 starts", "a1 stops", "a2 starts", "a2 gets 1", "a2 stops", "a3 starts", "a3 gets 1", "a3 stops",
			"a4 starts", "a4 gets 1", "a4 stops", "a5 starts", "a5 gets 1")
		h.dead()
		h.tell(a, failing(errBoom), 2)
		h.settle()
		h.sys.Stop(a)
		h.settle()
		wantAll(t, h.dead()[1:], 2)
		if _, ok := h.sys.Lookup(a.PID()); ok {
			t.Error("it cannot be stopped while it waits for its restart")
		}
	})
}

func TestEscalate(t *testing.T) {
	for _, tt := range []struct {
		d    actor.Directive
		want []any
	}{
		{actor.Resume, []any{"a1 starts", "a1 gets 1"}},
		{actor.Restart, []any{"a1 starts", "a1 stops"}},
		{actor.Stop, []any{"a1 starts", "a1 stops"}},
	} {
		t.Run(tt.d.String(), func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j journal
				var a, mid actor.Ref
				_, refs := h.supervised(&actor.Supervisor{Decide: always(tt.d)}, actor.Props{
					Supervisor: &actor.Supervisor{Decide: always(actor.Escalate)},
					New: func() actor.Actor {
						return actor.ReceiveFunc(func(ctx *actor.Context, msg any) (err error) {
							a, err = ctx.Spawn(msg.(actor.Props))
							return err
						})
					},
				})
				mid = refs[0]
				h.tell(mid, lives(&j, "a", frailHooks{noRestartHooks: true}))
				h.settle()
				h.tell(a, failing(errBoom))
				_ = a.Tell(1) // if it is not to go on it may have stopped already
				h.settle()
				j.want(t, tt.want...)
				_, alive := h.sys.Lookup(mid.PID())
				if alive != (tt.d != actor.Stop) {
					t.Errorf("the actor in the middle is alive: %v", alive)
				}
				fs := h.failed()
				if len(fs) != 2 || fs[0].Actor != a || fs[1].Actor != mid || fs[1].Err != errBoom {
					t.Errorf("failures: %v", fs)
				}
				h.dead()
			})
		})
	}
}

func TestEscalationEndsSystem(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		synctest.Test(t, func(t *testing.T) {
			p := props(func(ctx *actor.Context, _ any) error {
				r, err := ctx.Spawn(props(func(*actor.Context, any) error { return errBoom }))
				must(t, err)
				return ctx.Tell(r, 1)
			})
			p.Supervisor = &actor.Supervisor{Decide: always(actor.Escalate)}
			s, err := actor.NewSystem(actor.Config{Dispatcher: impl.NewDispatcher(), Guardian: p})
			must(t, err)
			must(t, s.UserGuardian().Tell(1))
			if s.Synchronous() {
				s.RunUntilIdle()
			}
			<-s.Done()
			if s.Err() != errBoom {
				t.Errorf("Err = %v, want %v", s.Err(), errBoom)
			}
		})
	})
}

// A start that fails is tried again; what has not started is not stopped.
func TestPreStartIsRestarted(t *testing.T) {
	for _, d := range []actor.Directive{actor.Restart, actor.Resume} {
		t.Run(d.String(), func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j journal
				n := 0
				on := frailHooks{noRestartHooks: true, preStart: func(*actor.Context) error {
					if n++; n < 3 {
						return errBoom
					}
					return nil
				}}
				_, refs := h.supervised(&actor.Supervisor{Decide: always(d)}, lives(&j, "a", on))
				h.tell(refs[0], 1)
				h.settle()
				j.want(t, "a1 starts", "a2 starts", "a3 starts", "a3 gets 1")
			})
		})
	}
}

// A child that a hook spawns on the way out does not keep the restart waiting,
// and is not the new value's.
func TestRestartStopsChildrenOfItsHook(t *testing.T) {
	for _, backoff := range []time.Duration{0, time.Millisecond} {
		t.Run(backoff.String(), func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j, k journal
				on := frailHooks{preRestart: func(ctx *actor.Context, _ error) error {
					_, err := ctx.Spawn(lives(&k, "c", frailHooks{}))
					return err
				}}
				_, refs := h.supervised(&actor.Supervisor{Backoff: actor.Backoff{Min: backoff}}, lives(&j, "a", on))
				h.tell(refs[0], failing(errBoom), 1)
				h.settle()
				h.settle()
				j.want(t, "a1 starts", "a1 ends for boom", "a2 begins for boom", "a2 gets 1")
				k.want(t, "c1 starts", "c1 stops")
				h.dead()
			})
		})
	}
}

func TestDecideThatPanics(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		boss, refs := h.supervised(&actor.Supervisor{Decide: func(actor.Failure) actor.Directive { panic("undecided") }}, lives(&j, "a", frailHooks{}))
		h.tell(refs[0], failing(errBoom))
		h.settle()
		for _, r := range []actor.Ref{boss, refs[0]} {
			if _, ok := h.sys.Lookup(r.PID()); ok {
				t.Errorf("%v is alive", r)
			}
		}
		if fs := h.failed(); len(fs) != 2 || fs[1].Actor != boss {
			t.Errorf("failures: %v", fs)
		}
		h.dead()
	})
}

// What an actor has set up goes with the restart; who it is stays.
func TestRestartResets(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		_, refs := h.supervised(&actor.Supervisor{}, lives(&j, "a", frailHooks{noRestartHooks: true}))
		a := refs[0]
		var child, watched actor.Ref
		watched = h.spawnFunc(func(*actor.Context, any) error { return nil })
		h.tell(a, func(ctx *actor.Context) (err error) {
			child, err = ctx.SpawnNamed("c", props(func(*actor.Context, any) error { return nil }))
			must(t, err)
			ctx.Watch(watched)
			ctx.StartTimer(time.Hour, "late")
			ctx.StartPeriodic(time.Hour, "often")
			ctx.SetReceiveTimeout(time.Hour)
			ctx.Stash("stashed")
			ctx.Become(func(*actor.Context, any) error { return errBoom })
			return nil
		}, 1, 2)
		h.settle()
		j.want(t, "a1 starts", "a1 stops", "a2 starts", "a2 gets stashed", "a2 gets 2")
		if _, ok := h.sys.Lookup(child.PID()); ok {
			t.Error("a child has survived the restart of its parent")
		}
		time.Sleep(10 * time.Hour)
		h.sys.Stop(watched)
		h.settle()
		j.want(t, "a1 starts", "a1 stops", "a2 starts", "a2 gets stashed", "a2 gets 2", fmt.Sprint("a2 gets ", actor.Terminated{Actor: watched}))
		wantAll(t, h.dead(), 1)
	})
}

func TestSupervisorIsChecked(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		for field, s := range map[string]actor.Supervisor{
			"Supervisor.Strategy":       {Strategy: 9},
			"Supervisor.Backoff":        {Backoff: actor.Backoff{Min: -1}},
			"Supervisor.Backoff.Max":    {Backoff: actor.Backoff{Min: 2, Max: 1}},
			"Supervisor.Backoff.Factor": {Backoff: actor.Backoff{Factor: 0.5}},
			"Supervisor.Backoff.Jitter": {Backoff: actor.Backoff{Jitter: 1.5}},
		} {
			h.do(func(ctx *actor.Context) {
				p := props(func(*actor.Context, any) error { return nil })
				p.Supervisor = &s
				_, err := ctx.Spawn(p)
				var e *actor.PropsError
				if !errors.As(err, &e) || e.Field != field {
					t.Errorf("%s: got %v", field, err)
				}
			})
		}
	})
}

func TestBackoffJitterIsSeeded(t *testing.T) {
	delays := func(seed uint64) (ds []time.Duration) {
		bubbles(t, func(t *testing.T, h *host) {
			if !h.sys.Synchronous() {
				return
			}
			var j journal
			s := &actor.Supervisor{MaxRestarts: -1, Backoff: actor.Backoff{Min: time.Second, Factor: 1, Jitter: 0.5, Seed: seed}}
			_, refs := h.supervised(s, lives(&j, "a", frailHooks{}))
			events := actor.Subscribe[actor.Supervised](h.sys.Events(), 10)
			for range 5 {
				h.tell(refs[0], failing(errBoom))
				h.settle()
				e, _ := events.TryNext()
				if e.Delay < time.Second/2 || e.Delay > time.Second {
					t.Errorf("a delay of %v, want half a second to one", e.Delay)
				}
				ds = append(ds, e.Delay)
				h.settle()
			}
			h.dead()
		})
		return ds
	}
	a, b, c := delays(1), delays(1), delays(2)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("seed 1 gives %v and %v, seed 2 %v", a, b, c)
	}
}
