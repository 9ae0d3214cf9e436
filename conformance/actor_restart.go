package conformance

import (
	"errors"
	"time"

	"github.com/dynolab/dyno/actor"
)

// V1, V8: what a restart does and what it leaves.
var restartClauses = []Clause{
	{
		Name: "actor/restart-hooks", Rule: "V1",
		Why: "a restart calls PreRestart on the old value and PostRestart on the new one, with the cause, and PostStop and PreStart where there are none; PostStop still comes at the end, once",
		Check: actors(func(w *world) {
			for _, how := range failures(w.e) {
				d := &diary{}
				var a, boss actor.Ref
				var causes []error
				hook := func(ctx *actor.Context, cause error) error {
					how.is(w.e, cause)
					w.e.require(ctx.Self() == a && ctx.Parent() == boss, "in a hook of a restart Self is ", ctx.Self().Path(), " and Parent ", ctx.Parent().Path())
					causes = append(causes, cause)
					return nil
				}
				boss, refs := w.boss(&actor.Supervisor{}, d.reborn("a", fate{end: hook, begin: hook}))
				a = refs[0]
				w.tell(a, how.order(), 1)
				f := w.failed(a)
				w.forgive()
				w.reads(d, "a1-starts", "a1-ends", "a2-begins", "a2:1")
				w.e.require(len(causes) == 2 && causes[0] == f.Err && causes[1] == f.Err, "the cause given to the hooks is not the failure")
				w.stop(a)
				w.reads(d, "a1-starts", "a1-ends", "a2-begins", "a2:1", "a2-stops")

				d = &diary{}
				_, refs = w.boss(&actor.Supervisor{}, d.mortal("a", fate{}))
				w.tell(refs[0], how.order(), 1)
				w.reads(d, "a1-starts", "a1-stops", "a2-starts", "a2:1")
				w.forgive()
				w.stop(refs[0])
				w.reads(d, "a1-starts", "a1-stops", "a2-starts", "a2:1", "a2-stops")

				made := 0 // by the actor's turns
				_, refs = w.boss(&actor.Supervisor{}, actor.Props{New: func() actor.Actor { made++; return w.puppet() }})
				w.tell(refs[0], how.order())
				w.in(refs[0], func(*actor.Context) {
					w.e.require(made == 2, "New was called ", made, " times for an actor that was restarted once")
				})
				w.forgive()
			}
		}),
	},
	{
		Name: "actor/restart-end-fails", Rule: "V1",
		Why: "a PreRestart, or the PostStop in its place, that fails is reported, and the actor is restarted all the same",
		Check: actors(func(w *world) {
			for _, how := range failures(w.e) {
				d := &diary{}
				fails := fate{
					end:  func(*actor.Context, error) error { return how.fail() },
					stop: func(*actor.Context) error { return how.fail() },
				}
				_, refs := w.boss(&actor.Supervisor{}, d.reborn("a", fails), d.mortal("b", fails))
				w.readsAll(d, "a1-starts", "b1-starts")
				w.tell(refs[0], failA(), 1)
				w.until("the first to be restarted", func() bool { return len(d.read()) == 5 })
				w.tell(refs[1], failA(), 2)
				w.until("the second to be restarted", func() bool { return len(d.read()) == 8 })
				w.idle()
				got := d.read()[2:]
				for i, want := range []string{"a1-ends", "a2-begins", "a2:1", "b1-stops", "b2-starts", "b2:2"} {
					w.e.require(len(got) == 6 && got[i] == want, "the diary says “", quote(got), "”, want ", want, " in place ", i+1)
				}
				n := w.forgive()
				w.e.require(n == 4, n, " failures are reported, want that of the message and of the hook for each of two")
				w.s.Stop(refs[0])
				w.s.Stop(refs[1])
				w.gone(refs...)
				w.forgive()
			}
		}),
	},
	{
		Name: "actor/restart-hooks-may", Rule: "V1",
		Why: "in the hooks of a restart an actor may send and watch: what the old value sends to itself the new one is given, after what waits",
		Check: actors(func(w *world) {
			d := &diary{}
			x := w.spawnNamed("x", actor.Props{New: w.puppet})
			other := &diary{}
			to := w.spawn(actor.Props{New: hearing(other)})
			_, refs := w.boss(&actor.Supervisor{}, d.reborn("a", fate{
				end: func(ctx *actor.Context, _ error) error {
					w.tells(ctx, ctx.Self(), "legacy")
					w.tells(ctx, to, "bye")
					ctx.Watch(x)
					return nil
				},
				begin: func(ctx *actor.Context, _ error) error {
					w.tells(ctx, ctx.Self(), "hope")
					w.tells(ctx, to, "hello")
					return nil
				},
			}))
			w.tell(refs[0], &order{func(ctx *actor.Context) error {
				w.tells(ctx, ctx.Self(), 1)
				return errA
			}})
			w.reads(d, "a1-starts", "a1-ends", "a2-begins", "a2:1", "a2:legacy", "a2:hope")
			w.reads(other, "bye", "hello")
			w.forgive()
			w.stop(x)
			w.reads(d, "a1-starts", "a1-ends", "a2-begins", "a2:1", "a2:legacy", "a2:hope", "a2:x-gone")
		}),
	},
	{
		Name: "actor/restart-keeps-messages", Rule: "V8",
		Why: "a restart keeps the mailbox: what waits is handled by the new value in its order, whatever the mailbox, and what is sent meanwhile after that",
		Check: actors(func(w *world) {
			for _, m := range mailboxes {
				for _, how := range failures(w.e) {
					d := &diary{}
					p := d.mortal("a", fate{})
					p.Mailbox = m
					_, refs := w.boss(&actor.Supervisor{}, p)
					w.tell(refs[0], &order{func(ctx *actor.Context) error {
						w.tells(ctx, ctx.Self(), 1, 2, 3)
						return how.fail()
					}})
					w.failed(refs[0])
					w.reads(d, "a1-starts", "a1-stops", "a2-starts", "a2:1", "a2:2", "a2:3")
					w.tell(refs[0], 4)
					w.reads(d, "a1-starts", "a1-stops", "a2-starts", "a2:1", "a2:2", "a2:3", "a2:4")
					w.forgive()
				}
			}
		}),
	},
	{
		Name: "actor/restart-keeps-identity", Rule: "V8",
		Why: "an actor that is restarted is the same actor: its Ref, PID, name, path, parent and place among the children, and whom it watches and who watches it",
		Check: actors(func(w *world) {
			d, seen := &diary{}, &diary{}
			boss, _ := w.boss(&actor.Supervisor{})
			watcher := w.spawn(seen.mortal("w", fate{}))
			watched := w.spawnNamed("x", actor.Props{New: w.puppet})
			var a actor.Ref
			w.in(boss, func(ctx *actor.Context) { a = w.born(ctx.SpawnNamed("a", d.mortal("a", fate{}))) })
			w.in(watcher, func(ctx *actor.Context) { ctx.Watch(a) })
			w.in(a, func(ctx *actor.Context) { ctx.Watch(watched) })
			pid, path := a.PID(), a.Path()
			w.tell(a, failA(), 1)
			w.failed(a)
			w.forgive()
			w.reads(d, "a1-starts", "a1-stops", "a2-starts", "a2:1")
			w.e.require(a.PID() == pid && a.Path() == path, "an actor that was ", path, " is ", a.String(), " after a restart")
			for _, r := range []func() (actor.Ref, bool){
				func() (actor.Ref, bool) { return w.s.Lookup(pid) },
				func() (actor.Ref, bool) { return w.s.Find(path) },
			} {
				got, ok := r()
				w.e.require(ok && got == a, path, " is not found after a restart")
			}
			w.in(boss, func(ctx *actor.Context) {
				r, ok := ctx.Child("a")
				w.e.require(ok && r == a, "a child that was restarted is not found by its name")
				n := 0
				for r := range ctx.Children() {
					w.e.require(r == a, r.Path(), " is a child, and should not be")
					n++
				}
				w.e.require(n == 1, "an actor has ", n, " children after its only child was restarted")
				_, err := ctx.SpawnNamed("a", actor.Props{New: w.puppet})
				w.e.same("what SpawnNamed of the name of a child that was restarted returned", err, actor.ErrNameTaken)
			})
			w.in(a, func(ctx *actor.Context) {
				w.e.require(ctx.Self() == a && ctx.Parent() == boss, "after a restart Self is ", ctx.Self().Path(), " and Parent ", ctx.Parent().Path())
			})
			w.stop(watched)
			w.reads(d, "a1-starts", "a1-stops", "a2-starts", "a2:1", "a2:x-gone")
			w.reads(seen, "w1-starts")
			w.stop(a)
			w.reads(seen, "w1-starts", "w1:a-gone")
		}),
	},
	{
		Name: "actor/restart-resets", Rule: "V8",
		Why: "what the old value had set up goes with it: behaviours, timers, the receive timeout and children; stashed messages come first for the new one",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d, below := &diary{}, &diary{}
			_, refs := w.boss(&actor.Supervisor{}, d.mortal("a", fate{}))
			a := refs[0]
			w.tell(a, &order{func(ctx *actor.Context) error {
				w.born(ctx.Spawn(below.mortal("b", fate{})))
				ctx.StartTimer(time.Hour, "late")
				ctx.StartPeriodic(time.Hour, "often")
				ctx.SetReceiveTimeout(time.Hour)
				ctx.Stash("stashed")
				ctx.Stash("too")
				ctx.Become(func(*actor.Context, any) error { return errA })
				ctx.Become(func(*actor.Context, any) error { return errA })
				return nil
			}}, 1, 2)
			w.failed(a)
			w.lapsed(a, errA, 1)
			want := []string{"a1-starts", "a1-stops", "a2-starts", "a2:stashed", "a2:too", "a2:2"}
			w.reads(d, want...)
			w.reads(below, "b1-starts", "b1-stops")
			w.pass(clock, 10*time.Hour)
			w.in(a, func(ctx *actor.Context) {
				w.e.require(ctx.Stashed() == 0, ctx.Stashed(), " messages are stashed after a restart")
				w.e.require(!ctx.Unbecome(), "there is a behaviour to undo after a restart")
				for r := range ctx.Children() {
					w.e.fail(r.Path(), " is a child of an actor that was restarted")
				}
			})
			w.reads(d, want...)
		}),
	},
	{
		Name: "actor/restart-ends-suspension", Rule: "V8",
		Why: "a restart ends a suspension that somebody asked for, and a resume after a failure does not: that decides about the failure",
		Check: actors(func(w *world) {
			for _, decide := range []actor.Directive{actor.Restart, actor.Resume} {
				d := &diary{}
				_, refs := w.boss(&actor.Supervisor{Decide: always(decide)}, d.mortal("a", fate{}))
				w.tell(refs[0], &order{func(ctx *actor.Context) error {
					ctx.Suspend(actor.Suspension{Reason: "tired"})
					return errA
				}}, 1)
				w.failed(refs[0])
				w.lapsed(refs[0], errA, w.lastLapse())
				if decide == actor.Restart {
					w.reads(d, "a1-starts", "a1-stops", "a2-starts", "a2:1")
					continue
				}
				w.reads(d, "a1-starts")
				w.s.Resume(refs[0])
				w.reads(d, "a1-starts", "a1:1")
			}
		}),
	},
	{
		Name: "actor/restart-children-first", Rule: "V8",
		Why: "the children of an actor that is restarted stop first, all below them before that, and their names are free for the new value",
		Check: actors(func(w *world) {
			d := &diary{}
			var old actor.Ref
			_, refs := w.boss(&actor.Supervisor{}, d.reborn("a", fate{
				end: func(ctx *actor.Context, _ error) error {
					for r := range ctx.Children() {
						w.e.fail(r.Path(), " is there in PreRestart")
					}
					w.e.require(!w.alive(old), "a child is found in PreRestart")
					return nil
				},
				begin: func(ctx *actor.Context, _ error) error {
					r := w.born(ctx.SpawnNamed("b", d.mortal("B", fate{})))
					w.e.require(r != old, "the new child has the Ref of the old one")
					return nil
				},
			}))
			a := refs[0]
			w.in(a, func(ctx *actor.Context) { old = w.born(ctx.SpawnNamed("b", d.mortal("b", fate{}))) })
			c := w.below(old, d.mortal("c", fate{}))[0]
			w.reads(d, "a1-starts", "b1-starts", "c1-starts")
			w.tell(a, failA())
			w.reads(d, "a1-starts", "b1-starts", "c1-starts", "c1-stops", "b1-stops", "a1-ends", "a2-begins", "B1-starts")
			w.failed(a)
			w.forgive()
			w.gone(c)
		}),
	},
	{
		Name: "actor/restart-waits-for-children", Rule: "V8", Needs: overlapEager,
		Why: "while a child has not stopped its parent's restart waits: no hook, no message; what is sent meanwhile waits as well",
		Check: actors(func(w *world) {
			d := &diary{}
			_, refs := w.boss(&actor.Supervisor{}, d.reborn("a", fate{}))
			a := refs[0]
			kids := w.below(a, actor.Props{New: w.puppet}, actor.Props{New: w.puppet})
			g := w.e.gate()
			w.ask(kids[0], func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			w.tell(a, failA(), 1)
			w.failed(a)
			w.gone(kids[1])
			w.tell(a, 2)
			w.reads(d, "a1-starts")
			g.open()
			w.reads(d, "a1-starts", "a1-ends", "a2-begins", "a2:1", "a2:2")
			w.forgive()
		}),
	},
	{
		Name: "actor/restart-retries", Rule: "V8",
		Why: "with Retry the message that failed is handled again, first, after a restart and after a resume, as often as it takes; it is a dead letter only if the actor is stopped for it",
		Check: actors(func(w *world) {
			for _, decide := range []actor.Directive{actor.Restart, actor.Resume} {
				for _, how := range failures(w.e) {
					d := &diary{}
					_, refs := w.boss(&actor.Supervisor{Retry: true, MaxRestarts: 3, Decide: always(decide)}, d.reborn("", fate{}))
					a := refs[0]
					tries := 0
					w.tell(a, 1, &order{func(ctx *actor.Context) error {
						if tries++; tries < 4 {
							return how.fail()
						}
						d.note("at-last")
						return nil
					}}, 2, 3)
					if decide == actor.Restart {
						w.reads(d, "1-starts", "1:1", "1-ends", "2-begins", "2-ends", "3-begins", "3-ends", "4-begins", "at-last", "4:2", "4:3")
					} else {
						w.reads(d, "1-starts", "1:1", "at-last", "1:2", "1:3")
					}
					w.lapsed(a, nil)
					n := w.forgive()
					w.e.require(n == 3, n, " failures are reported of a message that failed three times")
					if decide == actor.Resume {
						continue
					}
					bad := how.order()
					w.tell(a, bad)
					w.gone(a)
					f := w.failed(a)
					w.lapsed(a, f.Err, bad)
				}
			}
		}),
	},
	{
		Name: "actor/restart-retries-first", Rule: "V8",
		Why: "the message that is retried comes before what had been stashed, and both before all that waits",
		Check: actors(func(w *world) {
			d := &diary{}
			_, refs := w.boss(&actor.Supervisor{Retry: true}, d.mortal("a", fate{}))
			tries := 0
			w.tell(refs[0], &order{func(ctx *actor.Context) error {
				if tries++; tries > 1 {
					d.note("again")
					return nil
				}
				w.tells(ctx, ctx.Self(), 3)
				ctx.Stash(1)
				ctx.Stash(2)
				return errA
			}})
			w.reads(d, "a1-starts", "a1-stops", "a2-starts", "again", "a2:1", "a2:2", "a2:3")
			w.forgive()
		}),
	},
	{
		Name: "actor/restart-of-a-start", Rule: "V1",
		Why: "an actor whose PreStart failed is started anew if it is to be restarted, or resumed, for it has nothing to go on with; what never started is not stopped, and messages wait for the start",
		Check: actors(func(w *world) {
			for _, decide := range []actor.Directive{actor.Restart, actor.Resume} {
				for _, how := range failures(w.e) {
					d := &diary{}
					tries := 0
					_, refs := w.boss(&actor.Supervisor{Decide: always(decide)}, d.mortal("a", fate{start: func(ctx *actor.Context) error {
						if tries++; tries == 1 {
							w.tells(ctx, ctx.Self(), 1)
						}
						if tries < 3 {
							return how.fail()
						}
						return nil
					}}))
					w.reads(d, "a1-starts", "a2-starts", "a3-starts", "a3:1")
					w.lapsed(refs[0], nil)
					n := w.forgive()
					w.e.require(n == 2, n, " failures are reported, want 2")
					w.stop(refs[0])
					w.reads(d, "a1-starts", "a2-starts", "a3-starts", "a3:1", "a3-stops")
				}
			}
		}),
	},
	{
		Name: "actor/restart-begin-fails", Rule: "V8",
		Why: "a PostRestart that fails, or a New that makes nothing or panics in a restart, is another failure: the actor is restarted again, within the same limit, and no message is lost meanwhile",
		Check: actors(func(w *world) {
			for _, how := range failures(w.e) {
				d := &diary{}
				tries := 0
				_, refs := w.boss(&actor.Supervisor{MaxRestarts: 3}, d.reborn("a", fate{begin: func(*actor.Context, error) error {
					if tries++; tries < 3 {
						return how.fail()
					}
					return nil
				}}))
				w.tell(refs[0], failA(), 1)
				w.reads(d, "a1-starts", "a1-ends", "a2-begins", "a3-begins", "a4-begins", "a4:1")
				n := w.forgive()
				w.e.require(n == 3, n, " failures are reported, want 3")
				w.tell(refs[0], failA())
				w.gone(refs[0])
				w.forgive()

				d = &diary{}
				p := d.reborn("b", fate{})
				made, make := 0, p.New
				p.New = func() actor.Actor {
					a := make()
					switch made++; made {
					case 2:
						if how.fail() != nil {
							return nil
						}
					case 3:
						return nil
					}
					return a
				}
				_, refs = w.boss(&actor.Supervisor{}, p)
				w.tell(refs[0], failA(), 1)
				w.reads(d, "b1-starts", "b1-ends", "b4-begins", "b4:1")
				n = w.forgive()
				w.e.require(n == 3, n, " failures are reported, want 3")
			}
		}),
	},
	{
		Name: "actor/restart-limit", Rule: "V8",
		Why: "there are as many restarts within the window as the supervisor says: the failure beyond stops the actor, with its messages to the dead letters and an event that says so; restarts that are older do not count",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			events := actor.Subscribe[actor.Supervised](w.s.Events(), 100)
			d := &diary{}
			boss, refs := w.boss(&actor.Supervisor{MaxRestarts: 2, Window: time.Minute}, d.mortal("", fate{}))
			a := refs[0]
			fail := func(after time.Duration, restarts int) {
				w.pass(clock, after)
				bad := failA()
				w.tell(a, bad)
				w.failed(a)
				w.lapsed(a, errA, bad)
				if restarts == 0 {
					w.gone(a)
				}
				ev, ok := events.TryNext()
				w.e.require(ok && ev.Actor == a && ev.Parent == boss && ev.Cause == errA && ev.Time.Equal(clock.Now()), "the event of a decision is missing or wrong")
				if restarts == 0 {
					w.e.require(ev.Exhausted && ev.Directive == actor.Stop, "after too many restarts the directive is ", ev.Directive.String(), ", exhausted: ", ev.Exhausted)
				} else {
					w.e.require(!ev.Exhausted && ev.Directive == actor.Restart && ev.Restarts == restarts,
						"the directive is ", ev.Directive.String(), ", exhausted: ", ev.Exhausted, ", with restart ", ev.Restarts, " of the window; want restart ", restarts)
				}
			}
			fail(0, 1)
			fail(40*time.Second, 2)
			fail(20*time.Second+1, 2) // the first is a minute and a nanosecond old
			fail(40*time.Second, 2)   // the second is
			fail(20*time.Second, 0)   // the third and the fourth are not: a minute is not more than a minute
			w.returned(a.Tell(1), a, 1, actor.ErrStopped)
			w.reads(d, "1-starts", "1-stops", "2-starts", "2-stops", "3-starts", "3-stops", "4-starts", "4-stops", "5-starts", "5-stops")
			w.in(boss, func(*actor.Context) {})

			// Who comes after it begins with nothing on its account.
			a = w.below(boss, d.mortal("", fate{}))[0]
			fail(0, 1)
			fail(0, 2)
			bad := failA()
			w.tell(a, &order{func(ctx *actor.Context) error {
				w.tells(ctx, ctx.Self(), bad, 1, 2)
				return nil
			}})
			w.undelivered(a, actor.ErrStopped, 1, 2)
			w.gone(a)
			w.failed(a)
			w.lapsed(a, errA, bad)
		}),
	},
	{
		Name: "actor/restart-limits", Rule: "V8",
		Why: "the default limit is ten restarts in ten seconds; a negative limit is none, and a negative window is for ever",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			for _, t := range []struct {
				s       actor.Supervisor
				apart   time.Duration
				survive int // of 30 failures
			}{
				{actor.Supervisor{}, 0, 10},
				{actor.Supervisor{}, time.Second, 10},
				{actor.Supervisor{}, time.Second + 1, 30}, // the eleventh comes later than ten seconds after the first
				{actor.Supervisor{MaxRestarts: -1}, 0, 30},
				{actor.Supervisor{MaxRestarts: 3, Window: -1}, 1000 * time.Hour, 3},
				{actor.Supervisor{MaxRestarts: 2, Window: time.Hour}, 30 * time.Minute, 2}, // the first is an hour old, and not older
				{actor.Supervisor{MaxRestarts: 2, Window: time.Hour}, 31 * time.Minute, 30},
			} {
				_, refs := w.boss(&t.s, actor.Props{New: w.puppet})
				a, n := refs[0], 0
				for n < 30 {
					w.tell(a, failA())
					w.failed(a)
					w.idle()
					if _, ok := w.s.Lookup(a.PID()); !ok {
						break
					}
					n++
					w.pass(clock, t.apart)
				}
				w.forgive()
				w.e.require(n == t.survive, "an actor survived ", n, " failures with a limit of ", t.s.MaxRestarts, " in ", int64(t.s.Window/time.Second), " s, which were ",
					int64(t.apart/time.Second), " s apart; want ", t.survive)
			}
		}),
	},
	{
		Name: "actor/restart-backoff", Rule: "V8",
		Why: "with a backoff the restart waits, longer each time up to the longest: the old value has been let go, messages wait, and nothing happens before the time is up; after a quiet window it begins anew",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			events := actor.Subscribe[actor.Supervised](w.s.Events(), 100)
			d := &diary{}
			_, refs := w.boss(&actor.Supervisor{
				MaxRestarts: -1, Window: time.Hour,
				Backoff: actor.Backoff{Min: 10 * time.Second, Max: 100 * time.Second, Factor: 3},
			}, d.reborn("", fate{}))
			a := refs[0]
			want := []string{"1-starts"}
			for i, seconds := range []time.Duration{10, 30, 90, 100, 100, 10} {
				if i == 5 {
					w.pass(clock, time.Hour+1)
				}
				w.tell(a, failA(), i)
				w.failed(a)
				w.forgive()
				want = append(want, text(i+1, "-ends"))
				w.reads(d, want...)
				ev, ok := events.TryNext()
				w.e.require(ok && ev.Delay == seconds*time.Second, "the delay before restart ", i+1, " is said to be ", int64(ev.Delay/time.Second), " s, want ", int64(seconds))
				w.pass(clock, seconds*time.Second-1)
				w.reads(d, want...)
				w.pass(clock, 1)
				want = append(want, text(i+2, "-begins"), text(i+2, ":", i))
				w.reads(d, want...)
			}
		}),
	},
	{
		Name: "actor/restart-backoff-stopped", Rule: "V8",
		Why: "an actor that waits for its restart can be stopped: it was let go already, so that no hook is called, what waits is a dead letter, and when the time is up nothing comes back",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			for _, whole := range []bool{false, true} {
				d := &diary{}
				boss, refs := w.boss(&actor.Supervisor{Backoff: actor.Backoff{Min: time.Minute}}, d.mortal("a", fate{}))
				a := refs[0]
				w.tell(a, failA(), 1, 2)
				w.failed(a)
				w.forgive()
				w.reads(d, "a1-starts", "a1-stops")
				if whole {
					w.stop(boss)
				} else {
					w.stop(a)
				}
				w.undelivered(a, actor.ErrStopped, 1, 2)
				w.pass(clock, time.Hour)
				w.reads(d, "a1-starts", "a1-stops")
			}
		}),
	},
	{
		Name: "actor/restart-jitter", Rule: "V8",
		Why: "the part of a backoff that is left to chance is as large as the supervisor says, and comes from its seed: equal seeds give equal delays, and others do not",
		Check: check(func(e *Env) {
			rng := e.random()
			one, other := rng.Uint64(), rng.Uint64()
			delays := func(seed uint64, jitter float64) (all []time.Duration) {
				clock := actor.NewManualClock(time.Unix(1_000_000_000, 0))
				w := e.world(actor.Config{Clock: clock})
				defer w.abandon()
				events := actor.Subscribe[actor.Supervised](w.s.Events(), 10)
				_, refs := w.boss(&actor.Supervisor{
					MaxRestarts: -1, Window: -1, Backoff: actor.Backoff{Min: time.Hour, Factor: 1, Jitter: jitter, Seed: seed},
				}, actor.Props{New: w.puppet}, actor.Props{New: w.puppet})
				for range 4 {
					for _, r := range refs {
						w.tell(r, failA())
						w.failed(r)
						w.idle()
						ev, ok := events.TryNext()
						e.require(ok, "there is no event of a restart")
						all = append(all, ev.Delay)
						least := time.Hour - time.Duration(jitter*float64(time.Hour))
						e.require(least <= ev.Delay && ev.Delay <= time.Hour, "the delay is ", int64(ev.Delay/time.Millisecond), " ms, want from ", int64(least/time.Millisecond), " ms to an hour")
						w.pass(clock, ev.Delay)
						w.in(r, func(*actor.Context) {}) // it has been restarted
					}
				}
				w.forgive()
				w.end()
				return all
			}
			spread := func(all []time.Duration) int {
				seen := map[time.Duration]bool{}
				for _, d := range all {
					seen[d] = true
				}
				return len(seen)
			}
			first, again, elsewise, none := delays(one, 0.5), delays(one, 0.5), delays(other, 0.5), delays(one, 0)
			same := 0
			for i := range first {
				e.require(first[i] == again[i], "equal seeds give different delays: ", int64(first[i]), " and ", int64(again[i]), " ns")
				if first[i] == elsewise[i] {
					same++
				}
			}
			e.require(same == 0, same, " of ", len(first), " delays are equal although the seeds are not")
			e.require(spread(first) == len(first), "of ", len(first), " delays with jitter only ", spread(first), " differ")
			e.require(spread(none) == 1, "delays without jitter differ")
		}),
	},
}

// lastLapse returns the message of the only dead letter of a failure; nil if
// there is none yet, which is for who asks then to say.
func (w *world) lastLapse() any {
	w.idle()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lapses) == 0 {
		return nil
	}
	return w.lapses[len(w.lapses)-1].Msg
}

// FR-010, FR-026: what stands before an actor.
var middlewareClauses = []Clause{
	{
		Name: "actor/middleware-order", Rule: "FR-026",
		Why: "every message passes the system's middleware, then the actor's, each the first first, then the invoker, and comes back the other way round",
		Check: check(func(e *Env) {
			d := &diary{}
			layer := func(name string) actor.Middleware {
				return func(next actor.ReceiveFunc) actor.ReceiveFunc {
					return func(ctx *actor.Context, msg any) error {
						if msg != 1 && msg != 2 {
							return next(ctx, msg)
						}
						d.note(name, "-in")
						err := next(ctx, msg)
						d.note(name, "-out")
						return err
					}
				}
			}
			w := e.world(actor.Config{Middleware: []actor.Middleware{layer("A"), layer("B")}})
			defer w.abandon()
			p := d.mortal("", fate{})
			p.Middleware = []actor.Middleware{layer("c"), layer("d")}
			p.Invoker = invoker(func(ctx *actor.Context, a actor.Actor, msg any) error {
				d.note("i")
				return a.Receive(ctx, msg)
			})
			r := w.spawn(p)
			w.tell(r, 1)
			want := []string{"1-starts", "A-in", "B-in", "c-in", "d-in", "i", "1:1", "d-out", "c-out", "B-out", "A-out"}
			w.reads(d, want...)
			other := &diary{} // the actor's own is its own
			w.tell(w.spawn(actor.Props{New: hearing(other)}), 2)
			w.reads(d, append(want, "A-in", "B-in", "B-out", "A-out")...)
			w.reads(other, "2")
			w.stop(r)
			w.reads(d, append(want, "A-in", "B-in", "B-out", "A-out", "1-stops")...)
			w.end()
		}),
	},
	{
		Name: "actor/middleware-everything", Rule: "FR-026",
		Why: "the chain is made once for each actor and serves for its life, after Become and after a restart; messages of timers, of those it watches and after a stash pass it, hooks do not",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d, seen := &diary{}, &diary{}
			chains := 0
			p := d.mortal("a", fate{})
			p.Middleware = []actor.Middleware{func(next actor.ReceiveFunc) actor.ReceiveFunc {
				chains++
				return func(ctx *actor.Context, msg any) error {
					switch msg := msg.(type) {
					case *order:
					case actor.Terminated:
						seen.note("terminated")
					case actor.ReceiveTimeout:
						seen.note("timeout")
						return nil
					default:
						seen.note(msg)
					}
					return next(ctx, msg)
				}
			}}
			_, refs := w.boss(&actor.Supervisor{Retry: true}, p)
			a := refs[0]
			x := w.spawnNamed("x", actor.Props{New: w.puppet})
			w.in(a, func(ctx *actor.Context) {
				ctx.Watch(x)
				ctx.StartTimer(time.Minute, "tick")
				ctx.SetReceiveTimeout(time.Hour)
				ctx.Stash("stashed")
				ctx.UnstashAll()
			})
			w.reads(seen, "stashed")
			w.stop(x)
			w.reads(seen, "stashed", "terminated")
			w.pass(clock, time.Minute)
			w.reads(seen, "stashed", "terminated", "tick")
			w.pass(clock, 90*time.Minute) // less than two timeouts, whenever the first is handled
			w.until("the receive timeout", func() bool { return len(seen.read()) >= 4 })
			w.in(a, func(ctx *actor.Context) {
				ctx.SetReceiveTimeout(0)
				ctx.Become(func(ctx *actor.Context, msg any) error {
					d.note("b:", msg)
					if msg == "fail" && ctx.Unbecome() {
						return errA
					}
					return nil
				})
			})
			w.tell(a, 1, "fail")
			w.failed(a)
			w.tell(a, 2)
			w.reads(seen, "stashed", "terminated", "tick", "timeout", "1", "fail", "fail", "2")
			w.reads(d, "a1-starts", "a1:stashed", "a1:x-gone", "a1:tick", "b:1", "b:fail", "a1-stops", "a2-starts", "a2:fail", "a2:2")
			w.in(a, func(*actor.Context) {
				w.e.require(chains == 1, "the chain was made ", chains, " times for one actor")
			})
		}),
	},
	{
		Name: "actor/middleware-decides", Rule: "FR-026",
		Why: "what the outermost middleware returns is what the actor has returned: it may change the message, keep it, fail for the actor, and forgive it",
		Check: actors(func(w *world) {
			d := &diary{}
			p := d.mortal("a", fate{})
			p.Middleware = []actor.Middleware{func(next actor.ReceiveFunc) actor.ReceiveFunc {
				return func(ctx *actor.Context, msg any) error {
					switch msg {
					case "keep":
						return nil
					case "fail":
						return errB
					case "panic":
						panic(errB)
					case "change":
						return next(ctx, "changed")
					case "forgive":
						w.e.same("what the actor returned", next(ctx, failA()), errA)
						return nil
					}
					return next(ctx, msg)
				}
			}}
			boss, refs := w.boss(&actor.Supervisor{Decide: always(actor.Resume)}, p)
			a := refs[0]
			w.tell(a, "keep", "change", "forgive", 1)
			w.reads(d, "a1-starts", "a1:changed", "a1:1")
			w.lapsed(a, nil)
			for _, msg := range []string{"fail", "panic"} {
				w.tell(a, msg)
				f := w.failed(a)
				w.e.require(errors.Is(f.Err, errB) && f.Msg == msg, "the failure of a middleware is ", f.Err, ", want ", errB)
				w.lapsed(a, f.Err, msg)
			}
			w.tell(a, 2)
			w.reads(d, "a1-starts", "a1:changed", "a1:1", "a1:2")
			w.in(boss, func(*actor.Context) {})
		}),
	},
	{
		Name: "actor/invoker", Rule: "FR-005",
		Why: "an invoker of one's own judges every message: it is given the behaviour in force, decides whether and how often that is called, and what is an error",
		Check: actors(func(w *world) {
			d := &diary{}
			p := d.mortal("a", fate{})
			p.Invoker = invoker(func(ctx *actor.Context, a actor.Actor, msg any) error {
				switch msg {
				case "never":
					return nil
				case "twice":
					if err := a.Receive(ctx, msg); err != nil {
						return err
					}
				case "fail":
					return errB
				}
				return a.Receive(ctx, msg)
			})
			_, refs := w.boss(&actor.Supervisor{}, p)
			a := refs[0]
			w.tell(a, "never", "twice", 1)
			w.reads(d, "a1-starts", "a1:twice", "a1:twice", "a1:1")
			w.in(a, func(ctx *actor.Context) {
				ctx.Become(func(_ *actor.Context, msg any) error {
					d.note("b:", msg)
					return nil
				})
			})
			w.tell(a, "twice", "fail", "twice", "never")
			w.failed(a)
			w.lapsed(a, errB, "fail")
			w.reads(d, "a1-starts", "a1:twice", "a1:twice", "a1:1", "b:twice", "b:twice", "a1-stops", "a2-starts", "a2:twice", "a2:twice")
		}),
	},
	{
		Name: "actor/restart-throughput", Rule: "FR-028",
		Why: "a message that is retried and those that were stashed count as messages of a turn: an actor that is restarted does not keep others from running",
		Check: actors(func(w *world) {
			d := &diary{}
			const n = 60 // many more than all other turns
			p := d.mortal("a", fate{})
			p.Throughput = 1
			_, refs := w.boss(&actor.Supervisor{}, p)
			a := refs[0]
			w.tell(a, &order{func(ctx *actor.Context) error {
				for i := range n {
					ctx.Stash(i)
				}
				return errA
			}})
			want := []string{"a1-starts", "a1-stops", "a2-starts"}
			for i := range n {
				want = append(want, text("a2:", i))
			}
			w.reads(d, want...)
			w.failed(a)
			w.forgive()
			w.shutdown() // then the turns are counted exactly
			turns := int(w.s.Stats().Turns)
			w.e.require(turns >= n, n, " messages that were stashed were handled in ", turns, " turns of one message each")
		}),
	},
}

// invoker is an actor.Invoker that is only a function.
type invoker func(ctx *actor.Context, a actor.Actor, msg any) error

func (f invoker) Invoke(ctx *actor.Context, a actor.Actor, msg any) error { return f(ctx, a, msg) }

// readsAll is reads for entries whose order does not matter.
func (w *world) readsAll(d *diary, want ...string) {
	w.until(text(len(want), " entries in the diary"), func() bool { return len(d.read()) >= len(want) })
	w.idle()
	for _, entry := range want {
		found := false
		for _, got := range d.read() {
			found = found || got == entry
		}
		w.e.require(found && len(d.read()) == len(want), "the diary says “", quote(d.read()), "”, want “", quote(want), "” in any order")
	}
}
