package conformance

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
)

// Timers, receive timeouts and stashes: messages that an actor has of itself.
var timerClauses = []Clause{
	{
		Name: "actor/timer-once", Rule: "V1",
		Why: "a timer's message comes when its time has passed on the system's clock, not before and once, whoever is due first before the others",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			r := w.spawn(actor.Props{New: hearing(d)})
			w.in(r, func(ctx *actor.Context) {
				ctx.StartTimer(3*time.Second, 3)
				ctx.StartTimer(time.Second, 1)
				ctx.StartTimer(2*time.Second, 2)
				ctx.StartTimer(2*time.Second, "2b")
				ctx.StartTimer(0, 0)
			})
			clock.Advance(0)
			w.reads(d, "0")
			clock.Advance(time.Second - 1)
			w.reads(d, "0")
			clock.Advance(1)
			w.reads(d, "0", "1")
			clock.Advance(time.Second)
			w.reads(d, "0", "1", "2", "2b")
			clock.Advance(time.Hour)
			w.reads(d, "0", "1", "2", "2b", "3")
			st := w.s.Stats()
			w.e.require(st.DeadLetters == 0, st.DeadLetters, " dead letters of timers")
		}),
	},
	{
		Name: "actor/timer-order", Rule: "V1", Kind: Stochastic,
		Why: "any number of timers, started and stopped in any order, come in the order of their times, each in its time, and those that were stopped do not",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				timerStorm(e, rng)
			}
		}),
	},
	{
		Name: "actor/timer-ahead", Rule: "FR-004",
		Why: "a timer's message comes ahead of the mailbox and takes no room in it, as a system message does: it is neither late nor lost because an actor is behind",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			for _, m := range mailboxes {
				d := &diary{}
				r := w.spawn(actor.Props{New: hearing(d), Mailbox: m})
				w.in(r, func(ctx *actor.Context) {
					ctx.StartTimer(time.Second, "tick")
					w.tells(ctx, r, 1, 2)
					clock.Advance(time.Second)
				})
				w.reads(d, "tick", "1", "2")
			}
		}),
	},
	{
		Name: "actor/timer-periodic", Rule: "V1",
		Why: "a periodic timer comes after each period, and keeps to its times although its messages are handled late",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			r := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				if o, ok := msg.(*order); ok {
					return o.do(ctx)
				}
				now := clock.Now().Sub(genesis)
				d.note(int(now / time.Millisecond))
				if now == time.Second {
					clock.Advance(1300 * time.Millisecond) // which it takes to handle
				} else {
					clock.Advance(50 * time.Millisecond)
				}
				return nil
			}))
			var t *actor.Timer
			w.in(r, func(ctx *actor.Context) { t = ctx.StartPeriodic(time.Second, 0) })
			clock.Advance(999 * time.Millisecond)
			w.reads(d)
			clock.Advance(time.Millisecond)
			w.reads(d, "1000", "2300") // the second is late; it is 2350
			clock.Advance(649 * time.Millisecond)
			w.reads(d, "1000", "2300")
			clock.Advance(time.Millisecond)
			w.reads(d, "1000", "2300", "3000")
			clock.Advance(950 * time.Millisecond)
			w.reads(d, "1000", "2300", "3000", "4000")
			w.in(r, func(*actor.Context) { w.e.require(t.Stop(), "Stop of a periodic timer said that nothing was to come") })
			clock.Advance(time.Hour)
			w.reads(d, "1000", "2300", "3000", "4000")
		}),
	},
	{
		Name: "actor/timer-coalesced", Rule: "V1",
		Why: "an actor that is behind has one message of a periodic timer waiting, however many periods pass: to be slow must not make it slower",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			r := w.spawn(actor.Props{New: hearing(d)})
			w.in(r, func(ctx *actor.Context) { ctx.StartPeriodic(time.Second, "tick") })
			w.suspend(r, actor.Suspension{})
			for range 5 {
				clock.Advance(time.Second)
				w.idle()
			}
			clock.Advance(5*time.Second + 500*time.Millisecond)
			w.reads(d)
			w.s.Resume(r)
			w.reads(d, "tick")
			clock.Advance(499 * time.Millisecond)
			w.reads(d, "tick")
			clock.Advance(time.Millisecond) // the eleventh second
			w.reads(d, "tick", "tick")
		}),
	},
	{
		Name: "actor/timer-stop", Rule: "V1",
		Why: "a timer that was stopped does not come, not even if its time was up already, and Stop says whether there was anything to come",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			r := w.spawn(actor.Props{New: hearing(d)})
			var done *actor.Timer
			w.in(r, func(ctx *actor.Context) {
				done = ctx.StartTimer(time.Second, "done")
				for _, t := range []*actor.Timer{ctx.StartTimer(time.Second, "stopped"), ctx.StartPeriodic(time.Second, "stopped")} {
					w.e.require(t.Stop(), "Stop of a timer that had not come said that nothing was to come")
					w.e.require(!t.Stop(), "the second Stop of a timer said that something was to come")
				}
			})
			clock.Advance(time.Second)
			w.reads(d, "done")
			w.in(r, func(ctx *actor.Context) {
				w.e.require(!done.Stop(), "Stop of a timer that has come said that something was to come")
				once, often := ctx.StartTimer(time.Second, "once"), ctx.StartPeriodic(time.Second, "often")
				clock.Advance(time.Second) // both are due, and wait for this turn to end
				w.e.require(once.Stop() && often.Stop(), "Stop of a timer that is due said that nothing was to come")
			})
			clock.Advance(time.Hour)
			w.reads(d, "done")
			// Both have become due and been queued: the first to come stops the other.
			w.in(r, func(ctx *actor.Context) {
				var second *actor.Timer
				ctx.StartTimer(time.Second, &order{func(*actor.Context) error {
					d.note("first")
					w.e.require(second.Stop(), "Stop of a timer that is next said that nothing was to come")
					return nil
				}})
				second = ctx.StartTimer(time.Second, "second")
				clock.Advance(time.Second)
			})
			w.reads(d, "done", "first")
		}),
	},
	{
		Name: "actor/timer-suspended", Rule: "S3",
		Why: "while an actor is suspended its timers' messages wait, in order, and come before its mailbox when it goes on",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			r := w.spawn(actor.Props{New: hearing(d)})
			w.in(r, func(ctx *actor.Context) {
				ctx.StartTimer(2*time.Second, "late")
				ctx.StartTimer(time.Second, "early")
			})
			w.suspend(r, actor.Suspension{})
			w.tell(r, 1)
			clock.Advance(time.Minute)
			w.reads(d)
			w.s.Resume(r)
			w.reads(d, "early", "late", "1")
		}),
	},
	{
		Name: "actor/timer-ends", Rule: "V1",
		Why: "when an actor stops or is restarted its timers are gone, those that were due as well, and are nobody's dead letters",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			var r actor.Ref
			parent := w.spawn(actor.Props{New: w.puppet, Supervisor: &actor.Supervisor{}})
			w.in(parent, func(ctx *actor.Context) { r = w.born(ctx.Spawn(actor.Props{New: hearing(d)})) })
			begins := func(ctx *actor.Context) {
				ctx.StartTimer(time.Second, "once")
				ctx.StartPeriodic(time.Second, "often")
				ctx.SetReceiveTimeout(time.Second)
			}
			w.tell(r, &order{func(ctx *actor.Context) error {
				begins(ctx)
				clock.Advance(time.Second)
				return errA
			}})
			w.failed(r)
			clock.Advance(time.Hour)
			w.reads(d)
			w.in(r, func(ctx *actor.Context) {
				begins(ctx)
				clock.Advance(time.Second)
				ctx.StopSelf()
			})
			w.gone(r)
			clock.Advance(time.Hour)
			w.reads(d)
			st := w.s.Stats()
			w.e.require(st.DeadLetters == 1 && st.Returned == 0, "Stats counts ", st.DeadLetters, " dead letters and ", st.Returned, " returned, want 1, the message that failed, and 0")
		}),
	},
	{
		Name: "actor/receive-timeout", Rule: "V1",
		Why: "an actor is told that nothing has come for a while, neither before that nor if something has, again after each such while, and not after it has ended that",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			r := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				if _, ok := msg.(actor.ReceiveTimeout); ok {
					msg = "silence"
				}
				return d.hear(ctx, msg)
			}))
			w.in(r, func(ctx *actor.Context) { ctx.SetReceiveTimeout(10 * time.Second) })
			clock.Advance(6 * time.Second)
			w.tell(r, 1)
			w.reads(d, "1")
			clock.Advance(9 * time.Second)
			w.reads(d, "1")
			clock.Advance(time.Second)
			w.reads(d, "1", "silence")
			clock.Advance(9 * time.Second)
			w.reads(d, "1", "silence")
			clock.Advance(time.Second)
			w.reads(d, "1", "silence", "silence")
			w.in(r, func(ctx *actor.Context) { ctx.SetReceiveTimeout(time.Second) }) // another one
			clock.Advance(time.Second)
			w.reads(d, "1", "silence", "silence", "silence")
			w.in(r, func(ctx *actor.Context) { ctx.SetReceiveTimeout(0) })
			clock.Advance(time.Hour)
			w.reads(d, "1", "silence", "silence", "silence")
		}),
	},
	{
		Name: "actor/receive-timeout-suspended", Rule: "S3",
		Why: "a suspended actor that nothing was told is told so when it goes on, once",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			r := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				if _, ok := msg.(actor.ReceiveTimeout); ok {
					msg = "silence"
				}
				return d.hear(ctx, msg)
			}))
			w.in(r, func(ctx *actor.Context) { ctx.SetReceiveTimeout(time.Second) })
			w.suspend(r, actor.Suspension{})
			for range 5 {
				clock.Advance(time.Second)
				w.idle()
			}
			w.reads(d)
			w.s.Resume(r)
			w.reads(d, "silence")
		}),
	},
	{
		Name: "actor/steady-rate", Rule: "SC-002",
		Why: "at 1,000 messages a second an actor that has nothing else to do keeps its backlog at 10 or less, and drops nothing",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			const n = 300
			var handled atomic.Int32
			r := w.spawn(actor.Props{Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 10}, New: making(actor.ReceiveFunc(func(*actor.Context, any) error {
				handled.Add(1)
				return nil
			}))})
			source := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				if o, ok := msg.(*order); ok {
					return o.do(ctx)
				}
				w.tells(ctx, r, msg)
				return nil
			}))
			w.in(source, func(ctx *actor.Context) { ctx.StartPeriodic(time.Millisecond, 1) })
			most := 0
			for i := range n {
				clock.Advance(time.Millisecond)
				most = max(most, r.Backlog())
				w.until("the messages to be handled", func() bool { return int(handled.Load()) == i+1 })
			}
			w.e.require(most <= 10, most, " messages were waiting, want at most 10")
			st := w.s.Stats()
			w.e.require(st.DeadLetters == 0 && st.Returned == 0, st.DeadLetters, " messages were dropped and ", st.Returned, " returned")
			w.e.measured(most, "messages")
		}),
	},
	{
		Name: "actor/ping-pong", Rule: "FR-013",
		Why: "two actors that answer each other hand a thousand messages back and forth, the sample that has to run on a board",
		Check: actors(func(w *world) {
			const n = 1000
			var done atomic.Bool
			pong := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				q := msg.(petition)
				return ctx.Reply(q.re, q.n+1)
			}))
			ping := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				if o, ok := msg.(*order); ok {
					return o.do(ctx)
				}
				i := msg.(int)
				if i == n {
					done.Store(true)
					return nil
				}
				return ctx.Tell(pong, petition{i, ctx.Self().ReplyTo()})
			}))
			w.tell(ping, 0)
			w.until("a thousand messages to be handed back and forth", done.Load)
		}),
	},
	{
		Name: "actor/stash-order", Rule: "FR-002",
		Why: "what an actor has stashed comes next when it is unstashed, in the order in which it came and before all that waits, whatever the mailbox",
		Check: actors(func(w *world) {
			for _, m := range mailboxes {
				d := &diary{}
				open := false
				r := w.spawn(actor.Props{Mailbox: m, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					if _, ok := msg.(int); ok && !open {
						ctx.Stash(msg)
						return nil
					}
					return d.hear(ctx, msg)
				}))})
				w.tell(r, 1)
				w.tell(r, 2)
				w.in(r, func(ctx *actor.Context) {
					w.e.require(ctx.Stashed() == 2, ctx.Stashed(), " messages are stashed, want 2")
				})
				w.in(r, func(ctx *actor.Context) {
					w.tells(ctx, r, 3, 4)
					open = true
					ctx.UnstashAll()
					w.e.require(ctx.Stashed() == 0, ctx.Stashed(), " messages are stashed after UnstashAll")
					ctx.UnstashAll() // nothing
				})
				w.reads(d, "1", "2", "3", "4")
			}
		}),
	},
	{
		Name: "actor/stash-again", Rule: "FR-002",
		Why: "a message may be stashed again when it has been unstashed: it waits until the next time, and others keep their order",
		Check: actors(func(w *world) {
			d := &diary{}
			want := 0
			r := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				n, ok := msg.(int)
				switch {
				case !ok:
					return msg.(*order).do(ctx)
				case n != want:
					ctx.Stash(msg)
				default:
					d.note(msg)
					want++
					ctx.UnstashAll()
				}
				return nil
			}))
			const n = 12
			for _, i := range w.e.random().Perm(n) {
				w.tell(r, i)
			}
			w.reads(d, numbers(0, n-1)...)
			w.in(r, func(ctx *actor.Context) { w.e.require(ctx.Stashed() == 0, ctx.Stashed(), " messages are left stashed") })
		}),
	},
	{
		Name: "actor/stash-restart", Rule: "FR-002",
		Why: "a restart unstashes: the new value has all that the old one put off, after what it is to try again, and before what waits",
		Check: actors(func(w *world) {
			for _, retry := range []bool{false, true} {
				d := &diary{}
				values := 0
				var r actor.Ref
				parent := w.spawn(actor.Props{New: w.puppet, Supervisor: &actor.Supervisor{Retry: retry}})
				w.in(parent, func(ctx *actor.Context) {
					r = w.born(ctx.Spawn(actor.Props{New: func() actor.Actor {
						values++
						first := values == 1
						return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
							switch {
							case msg == "fail" && first:
								w.tells(ctx, ctx.Self(), 3)
								return errA
							case first:
								ctx.Stash(msg)
								return nil
							}
							return d.hear(ctx, msg)
						})
					}}))
				})
				w.tell(r, 1, 2, "fail")
				w.failed(r)
				if retry {
					w.reads(d, "fail", "1", "2", "3")
				} else {
					w.reads(d, "1", "2", "3")
				}
			}
		}),
	},
}

// timerStorm starts many timers, some of them for the same time, stops some, and
// moves the clock in steps of any size.
func timerStorm(e *Env, rng *rand.Rand) {
	const n = 120
	clock := actor.NewManualClock(genesis)
	w := e.world(actor.Config{Clock: clock})
	defer w.abandon()
	type alarm struct {
		timer         *actor.Timer
		due           time.Time
		came, stopped bool
	}
	var alarms []*alarm // all of it is for the actor's turns
	last := -1          // the one that came last
	r := w.spawn(plain(func(ctx *actor.Context, msg any) error {
		if o, ok := msg.(*order); ok {
			return o.do(ctx)
		}
		i := msg.(int)
		a := alarms[i]
		e.require(!a.came, "timer ", i, " came twice")
		e.require(!a.stopped, "timer ", i, " came although it was stopped")
		e.require(!a.due.After(clock.Now()), "timer ", i, " came before its time")
		if last >= 0 {
			l := alarms[last].due
			e.require(l.Before(a.due) || l.Equal(a.due) && last < i, "timer ", i, " came after timer ", last, ", which was due later")
		}
		a.came = true
		last = i
		return nil
	}))
	left := n
	for left > 0 {
		w.in(r, func(ctx *actor.Context) {
			for range min(n-len(alarms), 1+rng.IntN(20)) {
				// At least a millisecond: what is due at once comes when others that
				// are due now have come.
				d := time.Duration(1+rng.IntN(1000)) * time.Millisecond
				a := &alarm{due: clock.Now().Add(d)}
				a.timer = ctx.StartTimer(d, len(alarms))
				alarms = append(alarms, a)
			}
			for range rng.IntN(6) {
				i := rng.IntN(len(alarms))
				a := alarms[i]
				had := a.timer.Stop()
				e.require(had == (!a.came && !a.stopped), "Stop of timer ", i, ", which came: ", a.came, ", was stopped: ", a.stopped, ", said ", had)
				a.stopped = a.stopped || had
			}
		})
		clock.Advance(time.Duration(rng.IntN(300)) * time.Millisecond)
		// Whoever is between two messages now has looked for system messages
		// already: what is sent after the advance could still come before them.
		w.idle()
		w.in(r, func(*actor.Context) {
			left = n - len(alarms)
			for i, a := range alarms {
				switch {
				case a.came || a.stopped:
				case a.due.After(clock.Now()):
					left++
				default:
					e.fail("timer ", i, " has not come although it was due")
				}
			}
		})
	}
	w.end()
}
