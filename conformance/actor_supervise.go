package conformance

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
)

// The vocabulary for what is survived.

// mortal is an actor that writes down what happens to it, with its name and
// which of its lives it is: "a1-starts", "a1:hello". It carries out orders.
type mortal struct {
	d    *diary
	name string
	life int
	do   fate
}

// fate is what a mortal does besides writing; nil is nothing.
type fate struct {
	start, stop func(ctx *actor.Context) error
	end, begin  func(ctx *actor.Context, cause error) error // of a reborn only
}

func (a *mortal) PreStart(ctx *actor.Context) error {
	a.d.note(a.name, a.life, "-starts")
	if a.do.start == nil {
		return nil
	}
	return a.do.start(ctx)
}

func (a *mortal) PostStop(ctx *actor.Context) error {
	a.d.note(a.name, a.life, "-stops")
	if a.do.stop == nil {
		return nil
	}
	return a.do.stop(ctx)
}

func (a *mortal) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case *order:
		return msg.do(ctx)
	case actor.Terminated:
		a.d.note(a.name, a.life, ":", msg.Actor.Name(), "-gone")
	default:
		a.d.note(a.name, a.life, ":", msg)
	}
	return nil
}

// reborn is a mortal with hooks for restarts.
type reborn struct{ mortal }

func (a *reborn) PreRestart(ctx *actor.Context, cause error) error {
	a.d.note(a.name, a.life, "-ends")
	if a.do.end == nil {
		return nil
	}
	return a.do.end(ctx, cause)
}

func (a *reborn) PostRestart(ctx *actor.Context, cause error) error {
	a.d.note(a.name, a.life, "-begins")
	if a.do.begin == nil {
		return nil
	}
	return a.do.begin(ctx, cause)
}

// mortal returns the props of a mortal.
func (d *diary) mortal(name string, do fate) actor.Props {
	lives := 0
	return actor.Props{New: func() actor.Actor {
		lives++
		return &mortal{d, name, lives, do}
	}}
}

// reborn returns the props of a reborn.
func (d *diary) reborn(name string, do fate) actor.Props {
	lives := 0
	return actor.Props{New: func() actor.Actor {
		lives++
		return &reborn{mortal{d, name, lives, do}}
	}}
}

// boss spawns an actor that carries out orders, with that supervisor, and
// children of it.
func (w *world) boss(s *actor.Supervisor, children ...actor.Props) (boss actor.Ref, refs []actor.Ref) {
	boss = w.spawn(actor.Props{New: w.puppet, Supervisor: s})
	return boss, w.below(boss, children...)
}

// below spawns children of an actor that carries out orders.
func (w *world) below(parent actor.Ref, children ...actor.Props) (refs []actor.Ref) {
	w.in(parent, func(ctx *actor.Context) {
		for _, p := range children {
			refs = append(refs, w.born(ctx.Spawn(p)))
		}
	})
	return refs
}

// always decides the same of every failure.
func always(d actor.Directive) func(actor.Failure) actor.Directive {
	return func(actor.Failure) actor.Directive { return d }
}

// failing returns an order to fail.
func (m misfortune) order() *order { return &order{func(*actor.Context) error { return m.fail() }} }

// failA is an order to fail with errA.
func failA() *order { return &order{func(*actor.Context) error { return errA }} }

// lapsed demands that actors have failed on these messages of to, and on no
// others, and that each is a dead letter which says why; and forgets them.
func (w *world) lapsed(to actor.Ref, cause error, msgs ...any) {
	count := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.lapses)
	}
	w.until(text(len(msgs), " messages that failed to be dead letters"), func() bool { return count() >= len(msgs) },
		func() string { return text(count(), " messages that failed are dead letters, want ", len(msgs)) })
	w.idle()
	w.mu.Lock()
	lapses := w.lapses
	w.lapses = nil
	w.mu.Unlock()
	w.e.require(len(lapses) == len(msgs), len(lapses), " messages that failed are dead letters, want ", len(msgs))
	for i, l := range lapses {
		w.e.require(l.Msg == msgs[i], "dead letter ", i+1, " is not the message that failed")
		w.e.require(l.To == to, "a message that failed is said to be for ", l.To.String(), ", want ", to.String())
		w.e.same("the cause of the dead letter", l.Cause, cause)
		w.e.require(!l.Time.IsZero(), "the dead letter has no time")
	}
}

// forgive forgets all failures and what became of their messages, and returns
// how many failures there were.
func (w *world) forgive() int {
	w.idle()
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.failures)
	w.failures, w.lapses = nil, nil
	return n
}

// chronicle writes down what the event stream says, by the actors' names; but
// not of actors without one.
func (w *world) chronicle() *diary {
	d := &diary{}
	note := func(r actor.Ref, t time.Time, what ...any) {
		if name := r.Name(); len(name) == 1 {
			if t.IsZero() {
				what = append(what, "-without-time")
			}
			d.note(name, text(what...))
		}
	}
	actor.SubscribeFunc(w.s.Events(), func(ev any) {
		switch ev := ev.(type) {
		case actor.ActorStarted:
			note(ev.Actor, ev.Time, "-started")
		case actor.ActorStopped:
			note(ev.Actor, ev.Time, "-stopped")
		case actor.ActorRestarted:
			note(ev.Actor, ev.Time, "-restarted-", ev.Restarts)
		case actor.Failure:
			note(ev.Actor, ev.Time, "-failed")
		case actor.Supervised:
			note(ev.Actor, ev.Time, "-", ev.Directive.String(), "-by-", ev.Parent.Name())
		case actor.BehaviorChanged:
			note(ev.Actor, ev.Time, "-depth-", ev.Depth)
		}
	})
	return d
}

// clocked is actors with a clock that only the check moves.
func clocked(body func(w *world, clock *actor.ManualClock)) func(e *Env) error {
	return check(func(e *Env) {
		clock := actor.NewManualClock(time.Unix(1_000_000_000, 0))
		w := e.world(actor.Config{Clock: clock})
		defer w.abandon()
		body(w, clock)
		w.end()
	})
}

// pass lets time pass when everything that can run has run.
func (w *world) pass(clock *actor.ManualClock, d time.Duration) {
	w.idle()
	clock.Advance(d)
	w.idle()
}

// V8: what a supervisor decides.
var superviseClauses = []Clause{
	{
		Name: "actor/supervise-directives", Rule: "V8",
		Why: "an actor that has failed, in whatever way, is restarted, resumed or stopped as its supervisor decides; the message it failed on becomes a dead letter with the cause, and nobody else notices",
		Check: actors(func(w *world) {
			restarted := []string{"a1-starts", "a1:1", "a1-stops", "a2-starts", "a2:2", "a2:3"}
			stopped := []string{"a1-starts", "a1:1", "a1-stops"}
			restarts, fails := 0, 0
			for _, t := range []struct {
				s    actor.Supervisor
				want []string
			}{
				{actor.Supervisor{}, restarted},
				{actor.Supervisor{Decide: always(actor.Restart)}, restarted},
				{actor.Supervisor{Decide: always(actor.Resume)}, []string{"a1-starts", "a1:1", "a1:2", "a1:3"}},
				{actor.Supervisor{Decide: always(actor.Stop)}, stopped},
				{actor.Supervisor{Decide: always(17)}, stopped},
			} {
				for _, how := range failures(w.e) {
					d, other := &diary{}, &diary{}
					boss, refs := w.boss(&t.s, d.mortal("a", fate{}), other.mortal("b", fate{}))
					a, b := refs[0], refs[1]
					bad := &order{func(ctx *actor.Context) error {
						w.tells(ctx, ctx.Self(), 2, 3)
						return how.fail()
					}}
					w.tell(a, 1, bad)
					w.reads(d, t.want...)
					f := w.failed(a)
					how.is(w.e, f.Err)
					w.e.require(f.Msg == bad, "the failure is not said to be on the message")
					w.lapsed(a, f.Err, bad)
					fails++
					switch len(t.want) {
					case len(stopped):
						w.undelivered(a, actor.ErrStopped, 2, 3)
						w.gone(a)
					case len(restarted):
						restarts++
					}
					w.tell(b, 4)
					w.reads(other, "b1-starts", "b1:4")
					w.in(boss, func(*actor.Context) {})
				}
			}
			st := w.s.Stats()
			w.e.require(st.Restarts == uint64(restarts), "Stats.Restarts is ", st.Restarts, " after ", restarts, " restarts")
			w.e.require(st.Failures == uint64(fails) && st.Failed == uint64(fails),
				"Stats.Failures is ", st.Failures, " and Failed ", st.Failed, " after ", fails, " failures, each on a message")
		}),
	},
	{
		Name: "actor/supervise-told", Rule: "V8",
		Why: "Decide is asked once for each failure, with the actor, the message and the error, and nobody asks about those who are well",
		Check: actors(func(w *world) {
			var told []actor.Failure // of the supervisor's turns
			s := &actor.Supervisor{MaxRestarts: -1, Decide: func(f actor.Failure) actor.Directive {
				told = append(told, f)
				return actor.Resume
			}}
			boss, refs := w.boss(s, actor.Props{New: w.puppet}, actor.Props{New: w.puppet})
			for i, how := range failures(w.e) {
				bad := how.order()
				r := refs[i%2]
				w.tell(r, bad)
				w.failed(r)
				w.forgive()
				w.in(boss, func(*actor.Context) {
					w.e.require(len(told) == i+1, "Decide was asked ", len(told), " times about ", i+1, " failures")
					f := told[i]
					w.e.require(f.Actor == r && f.Msg == bad && !f.Time.IsZero(), "Decide was asked about another failure than that of ", r.String())
					how.is(w.e, f.Err)
				})
			}
		}),
	},
	{
		Name: "actor/supervise-waits", Rule: "V8", Needs: overlapEager,
		Why: "an actor that has failed handles nothing until its parent has had a turn to decide, and then goes on where it was",
		Check: actors(func(w *world) {
			d := &diary{}
			boss, refs := w.boss(&actor.Supervisor{}, d.mortal("a", fate{}))
			g := w.e.gate()
			w.ask(boss, func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			w.tell(refs[0], failA(), 1, 2)
			w.failed(refs[0])
			w.tell(refs[0], 3)
			w.reads(d, "a1-starts")
			g.open()
			w.reads(d, "a1-starts", "a1-stops", "a2-starts", "a2:1", "a2:2", "a2:3")
		}),
	},
	{
		Name: "actor/supervise-fatal", Rule: "FR-018",
		Why: "after a fatal error, returned or panicked with, wrapped or not, the actor is stopped and nobody is asked: its message is a dead letter, and the stop an event",
		Check: actors(func(w *world) {
			for _, fail := range []func() error{
				func() error { return actor.Fatal(errA) },
				func() error { return errors.Join(errB, actor.Fatal(errA)) },
				func() error { panic(actor.Fatal(errA)) },
			} {
				d := &diary{}
				asked := false
				events := actor.Subscribe[actor.Supervised](w.s.Events(), 10)
				s := &actor.Supervisor{Decide: func(actor.Failure) actor.Directive { asked = true; return actor.Resume }}
				boss, refs := w.boss(s, d.mortal("a", fate{}))
				a := refs[0]
				bad := &order{func(ctx *actor.Context) error {
					w.tells(ctx, ctx.Self(), 1)
					return fail()
				}}
				w.tell(a, bad)
				w.undelivered(a, actor.ErrStopped, 1)
				w.gone(a)
				f := w.failed(a)
				var fatal *actor.FatalError
				w.e.require(errors.As(f.Err, &fatal) && errors.Is(f.Err, errA), "the failure is ", f.Err, ", want a *FatalError of ", errA)
				w.lapsed(a, f.Err, bad)
				w.reads(d, "a1-starts", "a1-stops")
				w.in(boss, func(*actor.Context) {
					w.e.require(!asked, "Decide was asked about a fatal error")
				})
				ev, ok := events.TryNext()
				w.e.require(ok && ev.Actor == a && ev.Parent == boss && ev.Directive == actor.Stop && ev.Cause == f.Err && !ev.Exhausted,
					"the event of the stop after a fatal error is missing or wrong")
				events.Unsubscribe()
			}
		}),
	},
	{
		Name: "actor/supervise-undecided", Rule: "V8",
		Why: "a Decide that panics stops the child, and the panic is the supervisor's own failure, which its parent decides about",
		Check: actors(func(w *world) {
			d, above := &diary{}, &diary{}
			p := above.mortal("m", fate{})
			p.Supervisor = &actor.Supervisor{Decide: func(actor.Failure) actor.Directive { panic(errB) }}
			_, refs := w.boss(&actor.Supervisor{Decide: always(actor.Resume)}, p)
			mid := refs[0]
			a := w.below(mid, d.mortal("a", fate{}))[0]
			w.tell(a, failA())
			w.gone(a)
			w.idle()
			w.mu.Lock()
			all := w.failures
			w.mu.Unlock()
			w.e.require(len(all) == 2 && all[0].Actor == a && all[1].Actor == mid && errors.Is(all[1].Err, errB) && all[1].Msg == nil,
				"there are ", len(all), " failures, want that of the child and that of the supervisor")
			w.forgive()
			w.reads(d, "a1-starts", "a1-stops")
			w.tell(mid, 1)
			w.reads(above, "m1-starts", "m1:1")
		}),
	},
	{
		Name: "actor/supervise-one-for-one", Rule: "V8",
		Why: "with one-for-one only the child that failed is concerned, and each has restarts of its own",
		Check: actors(func(w *world) {
			d := [3]diary{}
			events := actor.Subscribe[actor.Supervised](w.s.Events(), 10)
			_, refs := w.boss(&actor.Supervisor{MaxRestarts: 1}, d[0].mortal("a", fate{}), d[1].mortal("b", fate{}), d[2].mortal("c", fate{}))
			a, b, c := refs[0], refs[1], refs[2]
			for _, r := range []actor.Ref{a, b, a} {
				w.tell(r, failA())
				w.failed(r)
				w.forgive()
			}
			w.gone(a)
			for i, r := range []actor.Ref{a, b, a} {
				ev, ok := events.TryNext()
				w.e.require(ok && ev.Actor == r && ev.Exhausted == (i == 2), "event ", i+1, " of the supervisor is missing or wrong")
				w.e.require(i == 2 || ev.Restarts == 1, "the first restart of ", r.Path(), " is said to be number ", ev.Restarts)
			}
			w.tell(b, 1)
			w.tell(c, 1)
			w.reads(&d[0], "a1-starts", "a1-stops", "a2-starts", "a2-stops")
			w.reads(&d[1], "b1-starts", "b1-stops", "b2-starts", "b2:1")
			w.reads(&d[2], "c1-starts", "c1:1")
		}),
	},
	{
		Name: "actor/supervise-all-for-one", Rule: "V8",
		Why: "with all-for-one a restart or stop is that of all children, with the failure of the one as the cause, and their messages are kept; a resume concerns the one",
		Check: actors(func(w *world) {
			for _, t := range []struct {
				decide      actor.Directive
				want, wants []string // of who failed, and of its siblings
			}{
				{actor.Restart, []string{"1-starts", "1-ends", "2-begins", "2:x"}, []string{"1-starts", "1-ends", "2-begins", "2:x"}},
				{actor.Resume, []string{"1-starts", "1:x"}, []string{"1-starts", "1:x"}},
				{actor.Stop, []string{"1-starts", "1-stops"}, []string{"1-starts", "1-stops"}},
			} {
				cause := func(_ *actor.Context, cause error) error {
					w.e.same("the cause of the restart", cause, errA)
					return nil
				}
				var d [4]diary
				var kids []actor.Props
				for i := range d {
					kids = append(kids, d[i].reborn("", fate{end: cause, begin: cause}))
				}
				other := &diary{}
				uncle := w.spawn(other.mortal("", fate{}))
				boss, refs := w.boss(&actor.Supervisor{Strategy: actor.AllForOne, Decide: always(t.decide)}, kids...)
				w.tell(refs[1], failA())
				w.failed(refs[1])
				w.forgive()
				if t.decide == actor.Stop {
					w.gone(refs...)
				} else {
					for _, r := range refs {
						w.tell(r, "x")
					}
				}
				for i := range d {
					want := t.wants
					if i == 1 {
						want = t.want
					}
					w.reads(&d[i], want...)
				}
				w.tell(uncle, "x")
				w.reads(other, "1-starts", "1:x")
				w.in(boss, func(*actor.Context) {})
			}
		}),
	},
	{
		Name: "actor/supervise-all-limit", Rule: "V8",
		Why: "with all-for-one the restarts of all children count together: the failure beyond the limit stops every one",
		Check: actors(func(w *world) {
			events := actor.Subscribe[actor.Supervised](w.s.Events(), 10)
			var d [3]diary
			_, refs := w.boss(&actor.Supervisor{Strategy: actor.AllForOne, MaxRestarts: 2},
				d[0].mortal("", fate{}), d[1].mortal("", fate{}), d[2].mortal("", fate{}))
			for i, r := range refs {
				w.tell(r, failA())
				w.failed(r)
				w.forgive()
				ev, ok := events.TryNext()
				w.e.require(ok && ev.Actor == r && ev.Exhausted == (i == 2), "after ", i+1, " failures the event is missing or wrong")
			}
			w.gone(refs...)
			for i := range d {
				w.reads(&d[i], "1-starts", "1-stops", "2-starts", "2-stops", "3-starts", "3-stops")
			}
		}),
	},
	{
		Name: "actor/supervise-all-fail", Rule: "V8", Needs: overlapEager,
		Why: "children that fail before the supervisor has decided about the first are restarted like it, and lose no message that waits",
		Check: actors(func(w *world) {
			var d [3]diary
			boss, refs := w.boss(&actor.Supervisor{Strategy: actor.AllForOne, MaxRestarts: -1},
				d[0].mortal("", fate{}), d[1].mortal("", fate{}), d[2].mortal("", fate{}))
			g := w.e.gate()
			w.ask(boss, func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			for _, r := range refs {
				w.tell(r, failA(), "x", "y")
			}
			w.until("all to have failed", func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				return len(w.failures) == len(refs)
			})
			w.idle()
			g.open()
			for i := range d {
				w.until("messages that waited to be handled", func() bool { return len(heard(&d[i])) == 2 },
					func() string {
						return text("an actor that was restarted has heard “", quote(heard(&d[i])), "”, want x and y")
					})
				w.idle()
				got := heard(&d[i])
				w.e.require(slices.Equal(got, []string{"x", "y"}), "an actor that was restarted has heard “", quote(got), "”, want “x y”")
				w.e.require(w.alive(refs[i]), "an actor that failed with others was stopped")
			}
			n := w.forgive()
			w.e.require(n == len(refs), n, " failures are reported, want ", len(refs))
		}),
	},
	{
		Name: "actor/supervise-escalate", Rule: "V8",
		Why: "escalating makes the failure that of the parent, level by level, each reported, until somebody decides; then all who waited share the fate: resumed, or stopped below the one that is restarted or stopped",
		Check: actors(func(w *world) {
			up := &actor.Supervisor{Decide: always(actor.Escalate)}
			for _, t := range []struct {
				decide actor.Directive
				want   []string
			}{
				{actor.Resume, []string{"k1-starts", "l1-starts", "m1-starts", "m1:1", "k1:2", "l1:2", "m1:2"}},
				{actor.Restart, []string{"k1-starts", "l1-starts", "m1-starts", "m1-stops", "l1-stops", "k1-stops", "k2-starts", "k2:2"}},
				{actor.Stop, []string{"k1-starts", "l1-starts", "m1-starts", "m1-stops", "l1-stops", "k1-stops"}},
			} {
				for _, how := range failures(w.e) {
					d := &diary{}
					with := func(p actor.Props) actor.Props { p.Supervisor = up; return p }
					boss, refs := w.boss(&actor.Supervisor{Decide: always(t.decide)}, with(d.mortal("k", fate{})))
					k := refs[0]
					l := w.below(k, with(d.mortal("l", fate{})))[0]
					m := w.below(l, d.mortal("m", fate{}))[0]
					w.reads(d, "k1-starts", "l1-starts", "m1-starts")
					w.tell(m, &order{func(ctx *actor.Context) error {
						w.tells(ctx, ctx.Self(), 1)
						return how.fail()
					}})
					all := func() []actor.Failure {
						w.mu.Lock()
						defer w.mu.Unlock()
						return w.failures
					}
					w.until("three failures", func() bool { return len(all()) >= 3 }, func() string { return text("there are ", len(all()), " failures, want three") })
					w.idle()
					fs := all()
					w.e.require(len(fs) == 3, "a failure that climbs two levels is reported ", len(fs), " times, want 3")
					for i, who := range []actor.Ref{m, l, k} {
						w.e.require(fs[i].Actor == who, "failure ", i+1, " is that of ", fs[i].Actor.Path(), ", want ", who.Path())
						how.is(w.e, fs[i].Err)
						w.e.require((fs[i].Msg == nil) == (i > 0), "failure ", i+1, " has the message of somebody else, or none")
					}
					w.forgive()
					switch t.decide {
					case actor.Resume:
						for _, r := range []actor.Ref{k, l, m} {
							w.until("1 to be handled", func() bool { return len(d.read()) >= 4 })
							w.tell(r, 2)
							w.idle()
						}
					case actor.Restart:
						w.undelivered(m, actor.ErrStopped, 1)
						w.gone(m, l)
						w.tell(k, 2)
					case actor.Stop:
						w.undelivered(m, actor.ErrStopped, 1)
						w.gone(m, l, k)
					}
					w.reads(d, t.want...)
					w.in(boss, func(*actor.Context) {})
				}
			}
		}),
	},
	{
		Name: "actor/supervise-escalate-start", Rule: "V8",
		Why: "an actor whose PreStart failed has nothing to go on with, also if it was escalated and resumed with its parent: it is started anew",
		Check: actors(func(w *world) {
			for _, how := range failures(w.e) {
				d := &diary{}
				p := actor.Props{New: w.puppet, Supervisor: &actor.Supervisor{Decide: always(actor.Escalate)}}
				_, refs := w.boss(&actor.Supervisor{Decide: always(actor.Resume)}, p)
				tries := 0
				a := w.below(refs[0], d.mortal("a", fate{start: func(*actor.Context) error {
					if tries++; tries < 3 {
						return how.fail()
					}
					return nil
				}}))[0]
				w.tell(a, 1)
				w.reads(d, "a1-starts", "a2-starts", "a3-starts", "a3:1")
				n := w.forgive()
				w.e.require(n == 4, n, " failures are reported, want two of the actor and two of its parent")
			}
		}),
	},
	{
		Name: "actor/supervise-to-the-end", Rule: "V8",
		Why: "a failure that climbs to the root ends the system, children before parents, and System.Err is the error",
		Check: check(func(e *Env) {
			up := &actor.Supervisor{Decide: always(actor.Escalate)}
			for levels := range 4 {
				for _, how := range failures(e) {
					w := e.world(actor.Config{Guardian: actor.Props{Supervisor: up}})
					defer w.abandon()
					d := &diary{}
					var want []string
					r := w.guardian()
					for i := range levels {
						p := d.mortal(text(i, "."), fate{})
						p.Supervisor = up
						r = w.below(r, p)[0]
						want = append(want, text(i, ".1-starts"))
					}
					for i := range levels {
						want = append(want, text(levels-1-i, ".1-stops"))
					}
					w.tell(r, how.order())
					w.until("Done to be closed", func() bool {
						select {
						case <-w.s.Done():
							return true
						default:
							return false
						}
					})
					w.over = true
					how.is(e, w.s.Err())
					w.reads(d, want...)
					n := w.forgive()
					e.require(n == levels+1, n, " failures are reported, want one of each level: ", levels+1)
					w.end()
				}
			}
		}),
	},
	{
		Name: "actor/supervise-events", Rule: "FR-007",
		Why: "the event stream tells an actor's life in order: started when it has started, failed, what was decided by whom, restarted, stopped, and children before their parents; each event with a time",
		Check: actors(func(w *world) {
			events := w.chronicle()
			d := &diary{}
			p := d.mortal("", fate{})
			p.Supervisor = &actor.Supervisor{MaxRestarts: 2}
			b := w.spawnNamed("b", p)
			var a actor.Ref
			tries := 0
			w.in(b, func(ctx *actor.Context) {
				a = w.born(ctx.SpawnNamed("a", d.mortal("", fate{start: func(*actor.Context) error {
					if tries++; tries == 1 {
						return errB
					}
					return nil
				}})))
			})
			w.reads(events, "b-started", "a-failed", "a-restart-by-b", "a-restarted-1")
			w.in(a, func(ctx *actor.Context) {
				ctx.Become(d.hear)
				ctx.Unbecome()
			})
			w.tell(a, failA())
			want := []string{
				"b-started", "a-failed", "a-restart-by-b", "a-restarted-1",
				"a-depth-1", "a-depth-0", "a-failed", "a-restart-by-b", "a-restarted-2",
			}
			w.reads(events, want...)
			w.tell(a, failA())
			w.gone(a)
			w.forgive()
			want = append(want, "a-failed", "a-stop-by-b", "a-stopped")
			w.reads(events, want...)
			w.in(b, func(ctx *actor.Context) { a = w.born(ctx.SpawnNamed("a", d.mortal("", fate{}))) })
			w.reads(events, append(want, "a-started")...)
			w.stop(b)
			w.reads(events, append(want, "a-started", "a-stopped", "b-stopped")...)
		}),
	},
	{
		Name: "actor/supervise-events-true", Rule: "FR-007",
		Why: "what an event says is so when it comes: who has started or was restarted is found by its path below its parent, who has stopped is not, its name is free and all below it are gone",
		Check: actors(func(w *world) {
			var mu sync.Mutex // guards what follows: events come in any actor's turn
			var wrong []string
			counts := map[string]int{}
			event := func(what string, r actor.Ref, alive bool) {
				found, ok := w.s.Find(r.Path())
				known, there := w.s.Lookup(r.PID())
				mu.Lock()
				defer mu.Unlock()
				counts[what]++
				if ok != alive || there != alive || alive && (found != r || known != r) {
					wrong = append(wrong, text(r.Path(), " ", what, ", and by its path it is found: ", ok, ", by its PID: ", there))
				}
			}
			actor.SubscribeFunc(w.s.Events(), func(ev actor.ActorStarted) { event("has started", ev.Actor, true) })
			actor.SubscribeFunc(w.s.Events(), func(ev actor.ActorRestarted) { event("was restarted", ev.Actor, true) })
			actor.SubscribeFunc(w.s.Events(), func(ev actor.ActorStopped) { event("has stopped", ev.Actor, false) })
			d := &diary{}
			boss, refs := w.boss(&actor.Supervisor{}, d.mortal("a", fate{}))
			w.in(refs[0], func(ctx *actor.Context) {
				w.born(ctx.SpawnNamed("b", d.mortal("b", fate{})))
				w.born(ctx.Spawn(actor.Props{New: w.puppet}))
			})
			w.reads(d, "a1-starts", "b1-starts")
			w.tell(refs[0], failA())
			w.reads(d, "a1-starts", "b1-starts", "b1-stops", "a1-stops", "a2-starts")
			w.forgive()
			w.stop(boss)
			w.idle()
			mu.Lock()
			defer mu.Unlock()
			for _, what := range wrong {
				w.e.fail(what)
			}
			for what, want := range map[string]int{"has started": 4, "was restarted": 1, "has stopped": 4} {
				w.e.require(counts[what] == want, "there are ", counts[what], " events that an actor ", what, ", want ", want)
			}
		}),
	},
	{
		Name: "actor/supervise-rejects", Rule: "FR-010",
		Why: "a supervisor that cannot be, and middleware that is nil, are refused by Spawn, which names the field",
		Check: actors(func(w *world) {
			w.in(w.guardian(), func(ctx *actor.Context) {
				for _, t := range []struct {
					field string
					p     actor.Props
				}{
					{"Supervisor.Strategy", actor.Props{Supervisor: &actor.Supervisor{Strategy: actor.AllForOne + 1}}},
					{"Supervisor.Backoff", actor.Props{Supervisor: &actor.Supervisor{Backoff: actor.Backoff{Min: -1}}}},
					{"Supervisor.Backoff", actor.Props{Supervisor: &actor.Supervisor{Backoff: actor.Backoff{Max: -1}}}},
					{"Supervisor.Backoff.Max", actor.Props{Supervisor: &actor.Supervisor{Backoff: actor.Backoff{Min: 2, Max: 1}}}},
					{"Supervisor.Backoff.Factor", actor.Props{Supervisor: &actor.Supervisor{Backoff: actor.Backoff{Factor: 0.5}}}},
					{"Supervisor.Backoff.Jitter", actor.Props{Supervisor: &actor.Supervisor{Backoff: actor.Backoff{Jitter: 1.5}}}},
					{"Supervisor.Backoff.Jitter", actor.Props{Supervisor: &actor.Supervisor{Backoff: actor.Backoff{Jitter: -0.5}}}},
					{"Props.Middleware", actor.Props{Middleware: []actor.Middleware{nil}}},
				} {
					t.p.New = w.puppet
					r, err := ctx.Spawn(t.p)
					var p *actor.PropsError
					w.e.require(r.IsZero() && errors.As(err, &p) && p.Field == t.field, "Spawn returned ", err, ", want a *PropsError about ", t.field)
				}
			})
		}),
	},
	{
		Name: "actor/supervise-hundred", Rule: "SC-003",
		Why: "of a hundred failures, in every way and at every place, all are recovered by the policy, and the system goes on: no message but those that failed is lost",
		Check: actors(func(w *world) {
			const actors, fails = 10, 100
			rng := w.e.random()
			s := &actor.Supervisor{MaxRestarts: -1, Decide: func(f actor.Failure) actor.Directive {
				if errors.Is(f.Err, errB) { // some of each
					return actor.Resume
				}
				return actor.Restart
			}}
			var sum [actors]atomic.Int32
			var kids []actor.Props
			for i := range actors {
				kids = append(kids, actor.Props{Throughput: 1 + rng.IntN(4), New: func() actor.Actor {
					return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
						if o, ok := msg.(*order); ok {
							return o.do(ctx)
						}
						sum[i].Add(1)
						return nil
					})
				}})
			}
			_, refs := w.boss(s, kids...)
			ways := failures(w.e)
			for i := range fails {
				r := refs[rng.IntN(actors)]
				w.tell(r, ways[i%len(ways)].order())
				for _, r := range refs {
					w.tell(r, i)
				}
			}
			for i := range sum {
				w.until(text(fails, " messages to be handled"), func() bool { return sum[i].Load() == fails },
					func() string { return text("an actor has handled ", int(sum[i].Load()), " of ", fails, " messages") })
			}
			w.idle()
			n := w.forgive()
			w.e.require(n == fails, n, " failures are reported, want ", fails)
			for _, r := range refs {
				w.e.require(w.alive(r), r.Path(), " has not survived")
			}
		}),
	},
	{
		Name: "actor/supervise-stopped-meanwhile", Rule: "V7", Needs: overlapEager,
		Why: "an actor that is told to stop while it waits for its parent's decision, or for its children in a restart, stops: what it failed on and what waits are dead letters, and what is decided later is not carried out",
		Check: actors(func(w *world) {
			// Its parent has not decided.
			d := &diary{}
			boss, refs := w.boss(&actor.Supervisor{}, d.mortal("a", fate{}))
			a := refs[0]
			g := w.e.gate()
			w.ask(boss, func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			bad := failA()
			w.tell(a, bad, 1)
			w.failed(a)
			w.s.Stop(a)
			w.gone(a)
			w.lapsed(a, errA, bad)
			w.undelivered(a, actor.ErrStopped, 1)
			g.open()
			w.in(boss, func(*actor.Context) {})
			w.reads(d, "a1-starts", "a1-stops")

			// A child holds up the restart.
			d = &diary{}
			boss, refs = w.boss(&actor.Supervisor{}, d.mortal("a", fate{}))
			a = refs[0]
			child := w.below(a, actor.Props{New: w.puppet})[0]
			g = w.e.gate()
			w.ask(child, func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			bad = failA()
			w.tell(a, bad, 1)
			w.failed(a)
			w.lapsed(a, errA, bad)
			w.s.Stop(a)
			w.undelivered(a, actor.ErrStopped, 1)
			w.reads(d, "a1-starts")
			g.open()
			w.gone(child, a)
			w.reads(d, "a1-starts", "a1-stops")
			w.in(boss, func(*actor.Context) {})

			// It is stopping, and a child holds that up, when the decision comes.
			d = &diary{}
			boss, refs = w.boss(&actor.Supervisor{}, d.mortal("a", fate{}))
			a = refs[0]
			child = w.below(a, actor.Props{New: w.puppet})[0]
			decide := w.e.gate()
			w.ask(boss, func(*actor.Context) { decide.pass() })
			w.reached(decide, 1)
			g = w.e.gate()
			w.ask(child, func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			bad = failA()
			w.tell(a, bad, 1)
			w.failed(a)
			w.s.Stop(a)
			w.undelivered(a, actor.ErrStopped, 1)
			decide.open()
			w.in(boss, func(*actor.Context) {})
			w.idle()
			g.open()
			w.gone(child, a)
			w.lapsed(a, errA, bad)
			w.reads(d, "a1-starts", "a1-stops")

			// It is stopping when a sibling's failure restarts all.
			d = &diary{}
			_, refs = w.boss(&actor.Supervisor{Strategy: actor.AllForOne}, d.mortal("a", fate{}), actor.Props{New: w.puppet})
			a = refs[0]
			child = w.below(a, actor.Props{New: w.puppet})[0]
			g = w.e.gate()
			w.ask(child, func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			w.s.Stop(a)
			w.idle()
			w.tell(refs[1], failA())
			w.in(refs[1], func(*actor.Context) {}) // it has been restarted
			w.forgive()
			g.open()
			w.gone(child, a)
			w.reads(d, "a1-starts", "a1-stops")
		}),
	},
	{
		Name: "actor/supervise-storm", Rule: "FR-018", Kind: Stochastic,
		Why: "whatever fails, is restarted, resumed, escalated, retried, delayed and stopped at the same time: every message is handled, comes back or is a dead letter, once, and the system ends",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				superviseStorm(e, rng)
			}
		}),
	},
}

// heard returns the messages in a mortal's diary.
func heard(d *diary) (msgs []string) {
	for _, entry := range d.read() {
		for i := range len(entry) {
			if entry[i] == ':' {
				msgs = append(msgs, entry[i+1:])
			}
		}
	}
	return msgs
}

// superviseStorm lets a tree of supervisors fail, be stopped and be shut down
// while it is sent to.
func superviseStorm(e *Env, rng *rand.Rand) {
	const messages, senders, most = 600, 3, 48
	w := e.world(actor.Config{})
	defer w.abandon()
	all := parcels(messages)
	ways := failures(e)
	gone := ended(errStop)
	var next atomic.Int32
	var known [most]atomic.Pointer[actor.Ref]
	var count atomic.Int32
	supervisor := func(rng *rand.Rand) *actor.Supervisor {
		if rng.IntN(6) == 0 {
			return nil
		}
		rng = sub(rng)
		s := &actor.Supervisor{
			Strategy: actor.Strategy(rng.IntN(2)), Retry: rng.IntN(2) == 0,
			MaxRestarts: []int{-1, 0, 1, 3}[rng.IntN(4)],
			Decide: func(actor.Failure) actor.Directive {
				return []actor.Directive{actor.Restart, actor.Restart, actor.Restart, actor.Resume, actor.Resume, actor.Escalate, actor.Stop}[rng.IntN(7)]
			},
		}
		if rng.IntN(4) == 0 {
			s.Backoff = actor.Backoff{Min: time.Microsecond, Max: time.Millisecond, Jitter: 0.5, Seed: rng.Uint64()}
		}
		return s
	}
	var props func(rng *rand.Rand) actor.Props
	props = func(rng *rand.Rand) actor.Props {
		rng = sub(rng)
		hook := func(ctx *actor.Context) error {
			if rng.IntN(20) == 0 {
				return ways[rng.IntN(len(ways))].fail()
			}
			return nil
		}
		hooks := fate{
			start: hook, stop: hook,
			end:   func(ctx *actor.Context, _ error) error { return hook(ctx) },
			begin: func(ctx *actor.Context, _ error) error { return hook(ctx) },
		}
		receive := func(ctx *actor.Context, msg any) error {
			p := msg.(*parcel)
			if rng.IntN(10) == 0 {
				return ways[rng.IntN(len(ways))].fail() // not handled yet, and perhaps never
			}
			if p.handled.Add(1) != 1 {
				w.e.fail("message ", p.id, " was handled twice")
			}
			switch rng.IntN(24) {
			case 0, 1:
				if at := int(count.Add(1)); at < most {
					if r, err := ctx.Spawn(props(rng)); err == nil {
						known[at].Store(&r)
					}
				}
			case 2:
				if r := known[rng.IntN(most)].Load(); r != nil {
					ctx.Stop(*r)
				}
			case 3:
				yield()
			}
			return nil
		}
		return actor.Props{
			Supervisor: supervisor(rng), Mailbox: mailboxes[rng.IntN(len(mailboxes))], Throughput: rng.IntN(6),
			New: func() actor.Actor { return &stormy{fate: hooks, receive: receive} },
		}
	}
	// Not directly below the guardian, whom an escalation would end, and the system with it.
	boss := w.spawn(actor.Props{New: w.puppet, Supervisor: &actor.Supervisor{MaxRestarts: -1}})
	w.in(boss, func(ctx *actor.Context) {
		for i := range 8 {
			r := w.born(ctx.Spawn(props(rng)))
			known[i].Store(&r)
		}
	})
	count.Store(8)
	shutAt := messages/2 + rng.IntN(messages)
	var calls []*call[error]
	for range senders {
		rng := sub(rng)
		calls = append(calls, start(e, "a loop of Tell", func() error {
			for i := int(next.Add(1)) - 1; i < messages; i = int(next.Add(1)) - 1 {
				r := known[rng.IntN(most)].Load()
				if r == nil {
					r = known[rng.IntN(8)].Load()
				}
				all[i].sent(r.TellContext(gone, &all[i]))
				if i >= shutAt {
					_ = w.s.Shutdown(gone)
				}
				if rng.IntN(4) == 0 {
					yield()
				}
			}
			return nil
		}))
	}
	for _, c := range calls {
		e.same("what a sender saw", finished(w, c), nil)
	}
	w.shutdown()
	w.mu.Lock()
	lapses := w.lapses
	w.lapses, w.failures = nil, nil
	w.mu.Unlock()
	for _, l := range lapses {
		e.require(l.Cause != nil, "a message that failed is a dead letter without a cause")
		l.Msg.(*parcel).undelivered.Add(1)
	}
	b := w.accounted(all)
	st := w.s.Stats()
	e.require(st.DeadLetters == uint64(b.undelivered), "Stats.DeadLetters is ", st.DeadLetters, ", want ", b.undelivered)
	e.require(st.Returned == uint64(b.returned), "Stats.Returned is ", st.Returned, ", want ", b.returned)
	w.end()
}

// stormy is an actor with every hook.
type stormy struct {
	fate
	receive actor.ReceiveFunc
}

func (a *stormy) PreStart(ctx *actor.Context) error                 { return a.start(ctx) }
func (a *stormy) PostStop(ctx *actor.Context) error                 { return a.stop(ctx) }
func (a *stormy) PreRestart(ctx *actor.Context, cause error) error  { return a.end(ctx, cause) }
func (a *stormy) PostRestart(ctx *actor.Context, cause error) error { return a.begin(ctx, cause) }

func (a *stormy) Receive(ctx *actor.Context, msg any) error { return a.receive(ctx, msg) }
