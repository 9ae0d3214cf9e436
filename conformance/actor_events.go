package conformance

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// FR-032: the event stream.
var eventClauses = []Clause{
	{
		Name: "actor/events-by-type", Rule: "FR-032", Core: true,
		Why: "who subscribes to a type gets the events of that type, of an interface those that implement it, and nothing else, in the order of publishing",
		Check: actors(func(w *world) {
			e := w.Events()
			ints, errs, all := actor.Subscribe[int](e, 8), actor.Subscribe[error](e, 8), actor.Subscribe[any](e, 8)
			never := actor.Subscribe[*order](e, 1)
			w.In(w.Spawn(actortest.Scripted()), func(*actor.Context) {}) // its start is an event
			w.idle()
			for {
				if _, ok := all.TryNext(); !ok {
					break
				}
			}
			for _, ev := range []any{1, errA, "text", 2, errB} {
				e.Publish(ev)
			}
			events(w, ints, 1, 2)
			events(w, errs, errA, errB)
			events[any](w, all, 1, errA, "text", 2, errB)
			events(w, never)
		}),
	},
	{
		Name: "actor/events-unsubscribe", Rule: "FR-032", Core: true,
		Why: "after Unsubscribe nothing more comes, what had come can still be fetched, and waiting callers return; the others go on",
		Check: actors(func(w *world) {
			e := w.Events()
			sub, other := actor.Subscribe[int](e, 8), actor.Subscribe[int](e, 8)
			e.Publish(1)
			sub.Unsubscribe()
			e.Publish(2)
			sub.Unsubscribe()
			ev, err := sub.Next(ended(errStop))
			w.e.require(ev == 1 && err == nil, "Next returned ", ev, ", ", err, ", want 1: it had come before the end")
			for range 2 {
				_, err = sub.Next(context.Background())
				w.e.same("what Next returned after the end", err, actor.ErrUnsubscribed)
			}
			events(w, other, 1, 2)
			waits := start(w.e, "Next", func() error { _, err := other.Next(context.Background()); return err })
			waits.blocks("no event has come")
			other.Unsubscribe()
			w.e.same("what Next returned", waits.get(), actor.ErrUnsubscribed)
		}),
	},
	{
		Name: "actor/events-over", Rule: "FR-032", Core: true,
		Why: "when the system is over every subscription has ended, once the last event is fetched, so that no caller waits for ever; a later one has ended from the start",
		Check: actors(func(w *world) {
			r := w.Spawn(actortest.Scripted())
			sub := actor.Subscribe[actor.ActorStopped](w.Events(), 16)
			waits := start(w.e, "Next", func() error {
				stopped := false
				for {
					ev, err := sub.Next(nil) //nolint:staticcheck // nil is allowed, and means context.Background
					if err != nil {
						if !stopped {
							w.e.fail("Next did not return that ", r.String(), " has stopped")
						}
						return err
					}
					stopped = stopped || ev.Actor == r
				}
			})
			waits.blocks("nothing has stopped")
			w.shutdown()
			w.e.same("what Next returned", waits.get(), actor.ErrUnsubscribed)
			late := actor.Subscribe[any](w.Events(), 1)
			w.Events().Publish(1)
			_, err := late.Next(context.Background())
			w.e.same("what Next returned of a subscription to a system that is over", err, actor.ErrUnsubscribed)
		}),
	},
	{
		Name: "actor/events-next", Rule: "FR-032", Core: true,
		Why: "Next waits for an event until its context ends, and an event that is there wins over a context that has ended: giving up loses nothing",
		Check: actors(func(w *world) {
			e := w.Events()
			sub := actor.Subscribe[int](e, 8)
			_, err := sub.Next(ended(errStop))
			w.e.same("what Next returned", err, context.Canceled)
			waits := start(w.e, "Next", func() int { ev, _ := sub.Next(context.Background()); return ev })
			waits.blocks("no event has come")
			e.Publish(1)
			w.e.require(waits.get() == 1, "Next returned another event than the one published")
			ctx, cancel := context.WithCancel(context.Background())
			gives := start(w.e, "Next", func() error { _, err := sub.Next(ctx); return err })
			gives.blocks("no event has come")
			cancel()
			w.e.same("what Next returned", gives.get(), context.Canceled)
			e.Publish(2)
			ev, err := sub.Next(ctx)
			w.e.require(ev == 2 && err == nil, "Next returned ", ev, ", ", err, ", want 2, which was there")
		}),
	},
	{
		Name: "actor/events-slow", Rule: "FR-032", Core: true,
		Why: "a subscriber that does not fetch loses the oldest of its own events, and they are counted; no other subscriber loses any, and publishing does not wait",
		Check: actors(func(w *world) {
			e := w.Events()
			slow, quick := actor.Subscribe[int](e, 3), actor.Subscribe[int](e, 64)
			const n = 20
			r := w.Spawn(actortest.Scripted())
			w.In(r, func(ctx *actor.Context) {
				for i := range n {
					ctx.System().Events().Publish(i)
				}
			})
			w.e.require(slow.Lost() == n-3, "a subscriber for 3 events has lost ", slow.Lost(), " of ", n, ", want ", n-3)
			w.e.require(quick.Lost() == 0, "a subscriber that has room has lost ", quick.Lost())
			events(w, slow, n-3, n-2, n-1)
			for i := range n {
				ev, ok := quick.TryNext()
				w.e.require(ok && ev == i, "event ", i, " did not reach the subscriber that has room")
			}
			e.Publish(n)
			events(w, slow, n)
			w.e.require(slow.Lost() == n-3, "a subscriber that has room again has lost ", slow.Lost(), ", want ", n-3)
		}),
	},
	{
		Name: "actor/events-func", Rule: "FR-032", Core: true,
		Why: "a function that has subscribed is called by who publishes; one that panics is counted, and hurts neither the publisher nor other subscribers",
		Check: actors(func(w *world) {
			e := w.Events()
			sum := 0
			bad := actor.SubscribeFunc(e, func(n int) { panic(errA) })
			good := actor.SubscribeFunc(e, func(n int) { sum += n })
			r := w.Spawn(actortest.Scripted())
			w.In(r, func(ctx *actor.Context) {
				e.Publish(1)
				e.Publish("no number")
				w.e.require(sum == 1, "the function was not called by who published")
				e.Publish(2)
			})
			w.e.require(sum == 3, "the events add up to ", sum, ", want 3")
			w.e.require(bad.Lost() == 2 && good.Lost() == 0, "lost are ", bad.Lost(), " and ", good.Lost(), ", want 2 and 0")
			good.Unsubscribe()
			good.Unsubscribe()
			e.Publish(4)
			w.e.require(sum == 3, "the function was called after Unsubscribe")
			w.e.require(bad.Lost() == 3, "lost are ", bad.Lost(), ", want 3")
		}),
	},
	{
		Name: "actor/events-actor", Rule: "FR-032", Core: true,
		Why: "an actor that has subscribed is sent the events as messages, as many as it lets wait; those beyond are lost and counted, publishers do not wait for it, and it ends when it stops",
		Check: actors(func(w *world) {
			for _, m := range []actor.MailboxConfig{{}, {Policy: actor.Block, Capacity: 3}, {Policy: actor.DropNewest, Capacity: 3}} {
				d := &eventLog{}
				r := w.Spawn(actor.Props{New: hearing(d), Mailbox: m})
				l := actor.SubscribeActor[int](w.Events(), r, 3)
				w.Events().Publish(1)
				w.Events().Publish("no number")
				w.wantLog(d, "1")
				w.suspend(r, actor.Suspension{})
				for i := range 5 {
					w.Events().Publish(2 + i)
				}
				w.e.require(l.Lost() == 2, "an actor for which 3 events may wait has lost ", l.Lost(), " of 5, want 2")
				w.Resume(r)
				w.wantLog(d, "1", "2", "3", "4")
				l.Unsubscribe()
				w.Events().Publish(9)
				w.wantLog(d, "1", "2", "3", "4")
				actor.SubscribeActor[int](w.Events(), r, 3)
				w.End(r)
				w.Events().Publish(10)
				w.idle()
			}
			st := w.Stats()
			w.e.require(st.DeadLetters == 0 && st.Returned == 0, "what an actor's subscription loses is counted there, and ", st.DeadLetters, " are dead letters, ", st.Returned, " returned")
		}),
	},
	{
		Name: "actor/events-life", Rule: "FR-007", Core: true,
		Why: "an actor's life is on the event stream: its start, its failures, what was decided, its restarts and its end, in that order, with who and when",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			sub := actor.Subscribe[any](w.Events(), 64)
			d := actor.Restart
			parent := w.SpawnNamed("parent", actor.Props{New: actortest.Scripted().New, Supervisor: &actor.Supervisor{Decide: func(actor.Failure) actor.Directive { return d }}})
			clock.Advance(time.Second)
			var r actor.Ref
			w.In(parent, func(ctx *actor.Context) {
				r = w.born(ctx.SpawnNamed("child", actor.Props{New: func() actor.Actor {
					return &staged{start: func(*actor.Context) error { return nil }, receive: (&eventLog{}).hear}
				}}))
			})
			w.In(r, func(*actor.Context) {})
			fails := func() {
				w.tell(r, &order{Do: func(*actor.Context) error { return errA }})
				w.failed(r)
				w.idle()
				clock.Advance(time.Second)
			}
			clock.Advance(time.Second)
			fails()
			fails()
			w.In(parent, func(*actor.Context) { d = actor.Resume })
			fails()
			w.In(parent, func(*actor.Context) { d = actor.Stop })
			fails()
			w.Gone(r)
			at := func(s int) time.Time { return genesis.Add(time.Duration(s) * time.Second) }
			supervised := func(s int, d actor.Directive, n int) actor.Supervised {
				return actor.Supervised{Actor: r, Parent: parent, Directive: d, Cause: errA, Restarts: n, Time: at(s)}
			}
			want := []any{
				actor.ActorStarted{Actor: r, Time: at(1)},
				failed{r, at(2)},
				supervised(2, actor.Restart, 1),
				actor.ActorRestarted{Actor: r, Cause: errA, Restarts: 1, Time: at(2)},
				failed{r, at(3)},
				supervised(3, actor.Restart, 2),
				actor.ActorRestarted{Actor: r, Cause: errA, Restarts: 2, Time: at(3)},
				failed{r, at(4)},
				supervised(4, actor.Resume, 0),
				failed{r, at(5)},
				supervised(5, actor.Stop, 0),
				actor.ActorStopped{Actor: r, Time: at(5)},
			}
			w.idle()
			var got []any
			for {
				ev, ok := sub.TryNext()
				if !ok {
					break
				}
				switch f := ev.(type) {
				case actor.DeadLetter:
					continue // has clauses of its own
				case actor.ActorStarted:
					if f.Actor == parent {
						continue
					}
				case actor.Failure:
					w.e.same("the error of a Failure", f.Err, errA)
					ev = failed{f.Actor, f.Time}
				}
				got = append(got, ev)
			}
			w.e.require(len(got) == len(want), len(got), " events of an actor's life, want ", len(want))
			for i := range want {
				w.e.require(got[i] == want[i], "event ", i, " of an actor's life is not what it should be")
			}
		}),
	},
	{
		Name: "actor/events-behaviour", Rule: "FR-007", Core: true,
		Why: "a change of behaviour is an event, which says how many Unbecome can undo",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			sub := actor.Subscribe[actor.BehaviorChanged](w.Events(), 16)
			r := w.Spawn(actortest.Scripted())
			w.In(r, func(ctx *actor.Context) {
				ctx.Become(actortest.Scripted().New().Receive)
				ctx.Become(actortest.Scripted().New().Receive)
				ctx.Unbecome()
				ctx.Unbecome()
				ctx.Unbecome() // nothing to undo
			})
			var want []actor.BehaviorChanged
			for _, depth := range []int{1, 2, 1, 0} {
				want = append(want, actor.BehaviorChanged{Actor: r, Depth: depth, Time: genesis})
			}
			events(w, sub, want...)
		}),
	},
	{
		Name: "actor/events-log", Rule: "FR-022", Core: true,
		Why: "what an actor logs is an event with its level, its actor and the time, for whichever logger has subscribed; without one it costs nothing and goes nowhere",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			r := w.Spawn(actortest.Scripted())
			w.In(r, func(ctx *actor.Context) { ctx.Log(actor.LevelError, "without a listener") })
			sub := actor.Subscribe[actor.LogEvent](w.Events(), 16)
			w.In(r, func(ctx *actor.Context) {
				ctx.Log(actor.LevelWarn, "hot")
				ctx.Log(actor.LevelDebug, "cold")
			})
			events(
				w, sub,
				actor.LogEvent{Level: actor.LevelWarn, Actor: r, Text: "hot", Time: genesis},
				actor.LogEvent{Level: actor.LevelDebug, Actor: r, Text: "cold", Time: genesis},
			)
		}),
	},
	{
		Name: "actor/watermark", Rule: "FR-027",
		Why: "a mailbox that fills to its watermark says so, once, and once that it has emptied to half of it: a warning for each message would be a flood of its own",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			for _, m := range []actor.MailboxConfig{
				{},
				{Policy: actor.Grow, Capacity: 2},
				{Policy: actor.DropOldest, Capacity: 12},
				{Policy: actor.Block, Capacity: 12},
				{Priority: samePriority},
				{New: func() actor.Mailbox { return &pile{fifo: true} }},
			} {
				const mark = 8
				m.Watermark = mark
				d := &eventLog{}
				r := w.Spawn(actor.Props{New: hearing(d), Mailbox: m})
				high, low := actor.Subscribe[actor.MailboxHigh](w.Events(), 64), actor.Subscribe[actor.MailboxLow](w.Events(), 64)
				next := 1
				fill := func(n int) {
					w.suspend(r, actor.Suspension{})
					for range n {
						w.tell(r, next)
						next++
					}
				}
				empty := func() {
					w.Resume(r)
					w.wantLog(d, numbers(1, next-1)...)
				}
				fill(mark - 1)
				events(w, high)
				w.tell(r, next)
				next++
				events(w, high, actor.MailboxHigh{Actor: r, Len: mark, Time: genesis})
				w.tell(r, next, next+1)
				next += 2
				events(w, high)
				events(w, low)
				empty()
				fill(1) // a send finds that the mailbox is empty
				events(w, low, actor.MailboxLow{Actor: r, Len: 1, Time: genesis})
				for range mark - 1 {
					w.tell(r, next)
					next++
				}
				events(w, high, actor.MailboxHigh{Actor: r, Len: mark, Time: genesis})
				events(w, low)
				empty()
				high.Unsubscribe()
				low.Unsubscribe()
			}
		}),
	},
	{
		Name: "actor/watermark-hysteresis", Rule: "FR-027",
		Why: "between half of the watermark and the whole nothing is said: a mailbox that swings about its watermark does not flood the stream",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			const mark = 8
			d := &eventLog{}
			n := 0
			// Its turns are of one message, after which it is suspended: so the check
			// says how many are handled.
			r := w.Spawn(actor.Props{Throughput: 1, Mailbox: actor.MailboxConfig{Watermark: mark}, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				ctx.Suspend(actor.Suspension{})
				d.note(msg)
				return nil
			}))})
			high, low := actor.Subscribe[actor.MailboxHigh](w.Events(), 64), actor.Subscribe[actor.MailboxLow](w.Events(), 64)
			w.suspend(r, actor.Suspension{})
			send := func() {
				w.tell(r, n)
				n++
			}
			handle := func() {
				s := w.Stats().Suspends
				w.Resume(r)
				w.suspends(s + 1)
			}
			for range mark {
				send()
			}
			events(w, high, actor.MailboxHigh{Actor: r, Len: mark, Time: genesis})
			for range 5 { // between mark-4 and mark: above half
				for range 4 {
					handle()
				}
				for range 4 {
					send()
				}
			}
			events(w, high)
			events(w, low)
			for range mark/2 + 2 {
				handle()
			}
			send()
			events(w, low, actor.MailboxLow{Actor: r, Len: mark/2 - 1, Time: genesis})
			for range mark {
				send()
			}
			events(w, high, actor.MailboxHigh{Actor: r, Len: mark, Time: genesis})
			for range 2 * mark {
				if r.Backlog() > 0 {
					handle()
				}
			}
			w.Resume(r)
		}),
	},
	{
		Name: "actor/events-race", Rule: "FR-032", Core: true, Kind: Stochastic,
		Why: "however many publish at the same time, a subscriber gets each publisher's events in order, and what it has fetched and what is counted as lost is what has come",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				eventsRace(e, rng)
			}
		}),
	},
}

// failed stands for a Failure in a list of events that are compared.
type failed struct {
	who actor.Ref
	at  time.Time
}

// events demands that these events have come, in that order, and no others.
func events[E comparable](w *world, sub *actor.Subscription[E], want ...E) {
	w.idle()
	for i := range want {
		ev, ok := sub.TryNext()
		w.e.require(ok, "only ", i, " of ", len(want), " events have come")
		w.e.require(ev == want[i], "event ", i, " is ", any(ev), ", want ", any(want[i]))
	}
	ev, ok := sub.TryNext()
	w.e.require(!ok, "there is an event more than ", len(want), ": ", any(ev))
}

// published is an event of a publisher.
type published struct{ from, n int }

// eventsRace publishes from actors and from outside, to subscribers that come and
// go and fetch more or less quickly.
func eventsRace(e *Env, rng *rand.Rand) {
	const publishers, each, subscribers = 4, 100, 3
	w := e.world(actor.Config{})
	defer w.abandon()
	stream := w.Events()
	var done atomic.Int32
	type outcome struct {
		fetched, lost int
		what          string
	}
	var subs []*call[outcome]
	for range subscribers {
		sub := actor.Subscribe[published](stream, 1+rng.IntN(8))
		subs = append(subs, start(e, "a loop of Next", func() (o outcome) {
			var next [publishers]int
			for {
				ev, err := sub.Next(context.Background())
				if err != nil {
					o.lost = int(sub.Lost())
					return o
				}
				if ev.n < next[ev.from] {
					o.what = text("event ", ev.n, " of publisher ", ev.from, " came after ", next[ev.from]-1)
				}
				next[ev.from] = ev.n + 1
				o.fetched++
			}
		}))
	}
	var calls []*call[error]
	for p := range publishers {
		rng := sub(rng)
		if p%2 == 0 {
			calls = append(calls, start(e, "a loop of Publish", func() error {
				for i := range each {
					stream.Publish(published{p, i})
					for range rng.IntN(2) {
						yield()
					}
				}
				done.Add(1)
				return nil
			}))
			continue
		}
		from := w.Spawn(actortest.Scripted())
		n := 0
		var publish *order
		publish = &order{Do: func(ctx *actor.Context) error {
			for range 1 + rng.IntN(9) {
				if n < each {
					stream.Publish(published{p, n})
					n++
				}
			}
			if n < each {
				w.tells(ctx, ctx.Self(), publish)
			} else {
				done.Add(1)
			}
			return nil
		}}
		w.tell(from, publish)
	}
	for range 20 { // others come and go
		s := actor.Subscribe[published](stream, 1)
		yield()
		s.Unsubscribe()
	}
	for _, c := range calls {
		e.same("what a loop of Publish returned", finished(w, c), nil)
	}
	w.until("all to have published", func() bool { return done.Load() == publishers })
	w.end()
	for _, c := range subs {
		o := c.await()
		e.require(o.what == "", o.what)
		e.require(o.fetched+o.lost == publishers*each, "a subscriber has fetched ", o.fetched, " events and lost ", o.lost, ", want ", publishers*each, " in all")
	}
}
