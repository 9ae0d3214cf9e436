package workloads

import (
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
)

// What a dispatcher cannot do wrong, because it is the core's to do: restarts,
// suspensions, timers and dead letters. The harm is done between the core and the
// workload's actors, or to what the workload asks the core for.

// A harm is done to every message of a run, or to some.
type harm func(next actor.ReceiveFunc, ctx *actor.Context, msg any) error

// once returns a harm that is done to the nth message of type M only, or if n is 0
// to all of them.
func once[M any](n int64, do func(next actor.ReceiveFunc, ctx *actor.Context, m M) error) func() harm {
	return func() harm {
		var seen atomic.Int64
		return func(next actor.ReceiveFunc, ctx *actor.Context, msg any) error {
			m, ok := msg.(M)
			if !ok || seen.Add(1) != n && n != 0 {
				return next(ctx, msg)
			}
			return do(next, ctx, m)
		}
	}
}

func lose[M any](n int64) func() harm {
	return once(n, func(actor.ReceiveFunc, *actor.Context, M) error { return nil })
}

func double[M any](n int64) func() harm {
	return once(n, func(next actor.ReceiveFunc, ctx *actor.Context, m M) error {
		if err := next(ctx, m); err != nil {
			return err
		}
		return next(ctx, m)
	})
}

// resumeAtOnce ends every suspension that an actor asks for when it handles M.
func resumeAtOnce[M any]() func() harm {
	return once(0, func(next actor.ReceiveFunc, ctx *actor.Context, m M) error {
		err := next(ctx, m)
		ctx.Resume(ctx.Self())
		return err
	})
}

// amongTicks does something to the first tick that fits of the owner who has
// handled its nth M.
func amongTicks[M any](n int64, fits func(t *tick) bool, do func(next actor.ReceiveFunc, ctx *actor.Context, t *tick) error) func() harm {
	return once(n, func(next actor.ReceiveFunc, ctx *actor.Context, m M) error {
		if err := next(ctx, m); err != nil {
			return err
		}
		var o *timerOwner
		switch m := any(m).(type) {
		case *armNote:
			o = m.from
		case *disarmNote:
			o = m.from
		}
		i := slices.IndexFunc(o.ticks, func(t tick) bool { return fits(&t) })
		return do(next, ctx, &o.ticks[i])
	})
}

// deliver has the actor handle a tick.
func deliver(next actor.ReceiveFunc, ctx *actor.Context, t *tick) error { return next(ctx, t) }

// liar is a timer that does not stop.
type liar struct{ says bool }

func (l liar) Stop() bool { return l.says }

// with is what makes another timer of a tick's.
func with(timer interface{ Stop() bool }) func(actor.ReceiveFunc, *actor.Context, *tick) error {
	return func(_ actor.ReceiveFunc, _ *actor.Context, t *tick) error {
		t.timer = timer
		return nil
	}
}

func isStopped(t *tick) bool { return t.state == tickStopped }
func isArmed(t *tick) bool   { return t.state == tickArmed }
func isLater(t *tick) bool   { return t.state == tickArmed && t.later }

// restarting is a preparation of a restart workload that has been tampered with.
func restarting(tamper func(r *restartRun)) func(st Setting) Run {
	return func(st Setting) Run {
		r := newRestartRun(st)
		tamper(r)
		r.open(st)
		return r
	}
}

// mishear is a preparation whose dead letters of type M are not all booked as
// they are: one is booked as often as given.
func mishear[M any](times int) func(st Setting) Run {
	return restarting(func(r *restartRun) {
		right := r.letter
		var done atomic.Bool
		r.letter = func(l actor.DeadLetter) bool {
			if _, ok := l.Msg.(M); !ok || done.Swap(true) {
				return right(l)
			}
			for range times {
				right(l)
			}
			return true
		}
	})
}

var supervisedSabotages = []struct {
	name    string
	prepare func(st Setting) Run
	harm    func() harm // nil: what prepare does is enough
	says    string
}{
	{"restart: another policy stops", restarting(func(r *restartRun) {
		r.policy.Decide = func(actor.Failure) actor.Directive { return actor.Stop }
	}), nil, "dead letter"},
	{"restart: all are restarted for one", restarting(func(r *restartRun) {
		r.policy.Strategy = actor.AllForOne
	}), nil, "there is to be one new one for each"},
	{"restart: there is a limit", restarting(func(r *restartRun) { r.policy.MaxRestarts = 20 }), nil, "dead letter"},
	{"restart: the message is tried again", restarting(func(r *restartRun) {
		r.policy.Retry = true
	}), nil, "out of turn, or again"},
	{"restart: a dead letter is found twice", mishear[*fault](2), nil, "found 2 times"},
	{"restart: a message left behind is found twice", mishear[*undelivered](2), nil, "found 2 times"},
	{"restart: an actor fails that should not", restartOnActors, once(70, func(actor.ReceiveFunc, *actor.Context, *request) error {
		return errFault
	}), "a failure on purpose"},
	{"restart: a fault is lost", restartOnActors, lose[*fault](70), "out of turn"},
	{"restart: the next message is lost", restartOnActors, lose[*request](70), "out of turn"},
	{"restart: the next message comes twice", restartOnActors, double[*request](70), "out of turn, or again"},

	{"suspend: a suspension is none", suspendOnActors, resumeAtOnce[*numbered](), "was to be suspended"},
	{"suspend: an actor is not resumed", suspendOnActors, lose[*reminder](70), "one was lost"},
	{"suspend: a message is lost on resuming", suspendOnActors, lose[*numbered](70), "one was lost"},
	{"suspend: a message comes twice on resuming", suspendOnActors, double[*numbered](70), "out of turn, or again"},

	{"timers: a timer's message is lost", timersOnActors, lose[*tick](70), "one was lost"},
	{"timers: a timer's message comes twice", timersOnActors, double[*tick](70), "came twice"},
	{"timers: a timer is late", timersOnActors, amongTicks[*armNote](70, isArmed, func(next actor.ReceiveFunc, ctx *actor.Context, t *tick) error {
		t.timer.Stop()
		t.timer = ctx.StartTimer(timerSpan*time.Millisecond+1, t)
		return nil
	}), "one was lost"},
	{"timers: a timer is early", timersOnActors, amongTicks[*armNote](70, isArmed, deliver), "before it was due"},
	{"timers: a timer's message goes to another actor", timersOnActors, once(70, func(next actor.ReceiveFunc, ctx *actor.Context, t *tick) error {
		return next(ctx, &t.owner.board.owners[(t.owner.index+1)%timerOwners].ticks[0])
	}), "went to another actor"},
	{"timers: a stopped timer's message comes at once", timersOnActors, amongTicks[*armNote](70, isStopped, deliver), "had been stopped"},
	{"timers: a stopped timer's message comes later", timersOnActors, amongTicks[*disarmNote](70, isStopped, deliver), "had been stopped"},
	{"timers: a timer does not stop", timersOnActors, amongTicks[*armNote](70, isLater, with(liar{true})), "had been stopped"},
	{"timers: a timer that runs says it does not", timersOnActors, amongTicks[*armNote](70, isLater, with(liar{false})), "nothing to stop"},
}

func TestSupervisedSabotageIsNoticed(t *testing.T) {
	const n = 8000 // 8 timers for each owner: some are stopped later
	for _, sab := range supervisedSabotages {
		for _, impl := range []dyno.Impl{lockbased.Impl, serial.Impl} {
			t.Run(sab.name+"/impl="+impl.Name, func(t *testing.T) {
				// A message that is lost is noticed after ten seconds of silence.
				synctest.Test(t, func(t *testing.T) {
					st := Setting{Impl: impl}
					if sab.harm != nil {
						do := sab.harm()
						st.middleware = []actor.Middleware{func(next actor.ReceiveFunc) actor.ReceiveFunc {
							return func(ctx *actor.Context, msg any) error { return do(next, ctx, msg) }
						}}
					}
					run := sab.prepare(st)
					err := run.Do(n)
					if err == nil {
						err = run.Check()
					}
					run.Close()
					switch {
					case err == nil:
						t.Error("not noticed")
					case !strings.Contains(err.Error(), sab.says):
						t.Errorf("noticed, but not said: %v; want %q", err, sab.says)
					}
				})
			})
		}
	}
}

// Middleware that does nothing does no harm, and neither does it to make a run
// that can be tampered with.
func TestNoSupervisedSabotage(t *testing.T) {
	seen := make(map[string]bool)
	for _, sab := range supervisedSabotages {
		name, _, _ := strings.Cut(sab.name, ":")
		if seen[name] || sab.harm == nil {
			continue
		}
		seen[name] = true
		for _, impl := range []dyno.Impl{lockbased.Impl, serial.Impl} {
			run := sab.prepare(Setting{Impl: impl, middleware: []actor.Middleware{
				func(next actor.ReceiveFunc) actor.ReceiveFunc { return next },
			}})
			if err := run.Do(8000); err != nil {
				t.Errorf("%s, %s: Do: %v", name, impl.Name, err)
			}
			if err := run.Check(); err != nil {
				t.Errorf("%s, %s: Check: %v", name, impl.Name, err)
			}
			run.Close()
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d kinds of runs", len(seen))
	}
}

// The references of Timers are checked as the implementations are, as far as a
// goroutine without patience can: what is lost it waits for.
func TestTimerRefsAreChecked(t *testing.T) {
	// The harm is done when the owners have nothing to do but to wait for it.
	never := func(_ *timersByHand, t *tick, _ time.Duration) { t.timer = liar{true} }
	first := func(times int, fits func(t *tick) bool) func(r *timersByHand, _ int64) {
		return func(r *timersByHand, _ int64) {
			o := &r.board.owners[0]
			i := slices.IndexFunc(o.ticks, func(t tick) bool { return fits(&t) })
			for range times {
				r.in[0] <- &o.ticks[i]
			}
		}
	}
	for _, c := range []struct {
		name string
		run  *timersByHand
		says string
	}{
		{"a timer is early", newTimersByHand(never, first(1, func(t *tick) bool { return isArmed(t) && t.at > timerHalf })), "before it was due"},
		{"a timer's message comes twice", newTimersByHand(never, first(2, func(t *tick) bool { return isArmed(t) && t.at <= timerHalf })), "came twice"},
		{"a timer does not stop", newTimersByHand(never, first(1, isStopped)), "had been stopped"},
	} {
		err := c.run.Do(8000)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.says)
		}
		g := c.run.timersSide.(*goroutines)
		g.let()
		g.wg.Wait()
	}
}

// A Meter is told of every cycle, and that resuming is a part of it.
func TestTimings(t *testing.T) {
	m := new(fakeMeter)
	run := suspendOnActors(Setting{Impl: serial.Impl, Meter: m})
	defer run.Close()
	for range 3 {
		if err := run.Do(100); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.timings) != 2 || len(m.timings[suspendCycle]) != 300 || len(m.timings[suspendResume]) != 300 {
		t.Fatalf("timings %v, want 300 of two kinds", m.timings)
	}
	// A look at the clock makes a microsecond pass: the suspendedActor when it asks to
	// be suspended, the resumer when it resumes it, and the suspendedActor again.
	for i := range 300 {
		if c, r := m.timings[suspendCycle][i], m.timings[suspendResume][i]; c != 2000 || r != 1000 {
			t.Fatalf("cycle %d took %d ns, and resuming %d; want 2,000 and 1,000", i, c, r)
		}
	}
}

// A Meter is told how many failures and dead letters there were, of how many: fewer than
// all, if some actors went on with the value that had failed, or letters were not found.
func TestShares(t *testing.T) {
	const asked, left = 300, 3 * 18 // failures, and messages left behind
	resumed := restarting(func(r *restartRun) {
		n := 0
		r.policy.Decide = func(f actor.Failure) actor.Directive {
			if n++; n%100 == 1 {
				return actor.Resume
			}
			return decide(f)
		}
	})
	for _, c := range []struct {
		name             string
		prepare          func(st Setting) Run
		recovered        int64
		letters, missing int64
	}{
		{"plain", restartOnActors, asked, asked + left, 0},
		{"three in a hundred are not restarted", resumed, asked - 3, asked + left, 0},
		{"a dead letter is not found", mishear[*fault](0), asked, asked + left, 1},
		{"a message left behind is not found", mishear[*undelivered](0), asked, asked + left, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := new(fakeMeter)
			run := c.prepare(Setting{Impl: serial.Impl, Meter: m})
			defer run.Close()
			for range 3 {
				if err := run.Do(asked / 3); err != nil {
					t.Fatal(err)
				}
			}
			if err := run.Check(); err != nil {
				t.Fatal(err)
			}
			want := map[string][2]int64{"recovered": {c.recovered, asked}, "undelivered-found": {c.letters - c.missing, c.letters}}
			if !reflect.DeepEqual(m.shares, want) {
				t.Errorf("shares %v, want %v", m.shares, want)
			}
		})
	}
}
