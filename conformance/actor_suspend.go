package conformance

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// S: suspension. The clock is the check's: it stands still unless the check
// moves it, so that it is known what is due.
var suspendClauses = []Clause{
	{
		Name: "actor/suspend-self", Rule: "S3",
		Why: "the message in which an actor suspends itself is the last: it takes what comes, handles none of it, and then all in order, whatever its mailbox",
		Check: actors(func(w *world) {
			for _, m := range mailboxes {
				d := &eventLog{}
				r := w.Spawn(actor.Props{New: hearing(d), Mailbox: m})
				w.In(r, func(ctx *actor.Context) {
					w.tells(ctx, r, 1)
					ctx.Suspend(actor.Suspension{Reason: "test"})
					w.tells(ctx, r, 2)
				})
				w.tell(r, 3)
				w.wantLog(d)
				w.e.require(r.Backlog() == 3, r.Backlog(), " messages wait for a suspended actor, want 3")
				w.Resume(r)
				w.wantLog(d, "1", "2", "3")
			}
		}),
	},
	{
		Name: "actor/suspend-outside", Rule: "S3",
		Why: "another may suspend an actor: an idle one handles nothing more, one in a turn nothing after the message in hand",
		Check: actors(func(w *world) {
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d)})
			other := w.Spawn(actortest.Scripted())
			w.suspend(r, actor.Suspension{})
			w.tell(r, 1)
			w.wantLog(d)
			w.Resume(r)
			w.wantLog(d, "1")
			w.In(r, func(ctx *actor.Context) {
				w.tells(ctx, r, 2)
				w.Suspend(r, actor.Suspension{})
			})
			w.wantLog(d, "1")
			w.Resume(r)
			w.wantLog(d, "1", "2")
			w.In(other, func(ctx *actor.Context) { ctx.System().Suspend(r, actor.Suspension{}) })
			w.suspends(2 + 1)
			w.tell(r, 3)
			w.wantLog(d, "1", "2")
			w.In(other, func(ctx *actor.Context) { ctx.Resume(r) })
			w.wantLog(d, "1", "2", "3")
			w.Suspend(actor.Ref{}, actor.Suspension{}) // no actor
			w.Resume(actor.Ref{})
		}),
	},
	{
		Name: "actor/suspend-spares-others", Rule: "S3",
		Why: "a suspended actor holds up no other: not its children, its parent, nor those on its worker",
		Check: actors(func(w *world) {
			d := &eventLog{}
			var child actor.Ref
			parent := w.Spawn(actortest.Scripted())
			w.In(parent, func(ctx *actor.Context) { child = w.born(ctx.Spawn(actor.Props{New: hearing(d)})) })
			w.suspend(parent, actor.Suspension{})
			w.tell(child, 1)
			w.wantLog(d, "1")
			w.In(w.UserGuardian(), func(*actor.Context) {})
			w.End(child) // whose parent hears of that
			w.Resume(parent)
			w.In(parent, func(ctx *actor.Context) {
				for r := range ctx.Children() {
					w.e.fail(r.String(), " has stopped, and is still a child of an actor that was suspended")
				}
			})
		}),
	},
	{
		Name: "actor/suspend-unregistered", Rule: "S1",
		Why: "a suspended actor is not in the ready queue: messages do not give it turns, however many come, and its end of suspension does",
		Check: actors(func(w *world) {
			const n = 60
			var handled atomic.Int32
			r := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
				if o, ok := msg.(*order); ok {
					return o.Do(ctx)
				}
				handled.Add(1)
				return nil
			}))
			from := w.Spawn(actortest.Scripted())
			w.suspend(r, actor.Suspension{})
			w.idle()
			before := w.Stats().Turns
			for i := range n {
				w.tell(r, i)
				w.idle() // or one turn might be for several
			}
			w.In(from, func(ctx *actor.Context) {
				for i := range n {
					w.tells(ctx, r, i)
				}
			})
			w.idle()
			turns := w.Stats().Turns - before
			w.e.require(handled.Load() == 0, int(handled.Load()), " messages were handled by a suspended actor")
			w.e.require(!w.e.Exact || turns <= 10, turns, " turns while ", 2*n, " messages came to a suspended actor, want only those of the sender")
			w.Resume(r)
			w.until("all messages to be handled", func() bool { return handled.Load() == 2*n })
		}),
	},
	{
		Name: "actor/suspend-policy", Rule: "S3",
		Why: "the mailbox of a suspended actor keeps its policy: it refuses, drops or grows as ever, and nothing is lost silently",
		Check: actors(func(w *world) {
			for _, prio := range []func(any) int{nil, samePriority} {
				for _, policy := range []actor.Policy{actor.DropNewest, actor.DropOldest, actor.Grow} {
					d := &eventLog{}
					r := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: policy, Capacity: 2, Priority: prio}})
					w.suspend(r, actor.Suspension{})
					w.tell(r, 1, 2)
					want := []string{"1", "2"}
					switch policy {
					case actor.DropNewest:
						w.returned(r.Tell(3), r, 3, actor.ErrFull)
					case actor.DropOldest:
						w.tell(r, 3)
						w.undelivered(r, actor.ErrDropped, 1)
						want = []string{"2", "3"}
					case actor.Grow:
						w.tell(r, 3)
						want = []string{"1", "2", "3"}
					}
					w.wantLog(d)
					w.Resume(r)
					w.wantLog(d, want...)
				}
			}
		}),
	},
	{
		Name: "actor/suspend-block", Rule: "S3", Needs: overlapEager,
		Why: "who sends to a full mailbox with Block waits while its owner is suspended, and goes on when that has been resumed",
		Check: actors(func(w *world) {
			for _, prio := range []func(any) int{nil, samePriority} {
				d := &eventLog{}
				r := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: actor.Block, Capacity: 1, Priority: prio}})
				w.suspend(r, actor.Suspension{})
				w.tell(r, 1)
				c := start(w.e, "Tell", func() error { return r.Tell(2) })
				c.blocks("the mailbox is full and its owner suspended")
				w.wantLog(d)
				w.Resume(r)
				w.e.same("what Tell returned", finished(w, c), nil)
				w.wantLog(d, "1", "2")
			}
		}),
	},
	{
		Name: "actor/suspend-after", Rule: "S2",
		Why: "a suspension for a time ends when that has passed on the system's clock, not before, and the one that is due first goes on first",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &eventLog{}
			const n = 8
			order := w.e.random().Perm(n)
			for _, i := range order {
				r := w.Spawn(actor.Props{New: hearing(d)})
				w.suspend(r, actor.Suspension{After: time.Duration(i+1) * time.Minute})
				w.tell(r, i+1)
			}
			w.wantLog(d)
			for i := range n {
				clock.Advance(time.Minute - 1)
				w.wantLog(d, numbers(1, i)...)
				clock.Advance(1)
				w.wantLog(d, numbers(1, i+1)...)
			}
		}),
	},
	{
		Name: "actor/suspend-capacity", Rule: "S2",
		Why: "who waits for room in a full mailbox goes on when there is some, in the order of coming, and every message arrives",
		Check: actors(func(w *world) {
			for _, capacity := range []int{1, 3} {
				for _, policy := range []actor.Policy{actor.DropNewest, actor.Block} {
					const n = 8
					d := &eventLog{}
					slow := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: policy, Capacity: capacity}})
					w.suspend(slow, actor.Suspension{})
					for i := range capacity {
						w.tell(slow, i+1)
					}
					for i := range n {
						r := w.Spawn(actor.Props{New: hearing(d)})
						w.waitsFor(r, slow, func(ctx *actor.Context) { w.tells(ctx, slow, capacity+i+1) })
					}
					w.wantLog(d)
					w.Resume(slow)
					w.until("all messages to arrive", func() bool { return len(d.read()) >= capacity+n },
						func() string {
							return "only “" + quote(d.read()) + "” have arrived, and those who wait are not resumed"
						})
					got := d.read()
					if capacity > 1 { // those who are resumed together may overtake each other
						slices.SortStableFunc(got[capacity:], func(a, b string) int { return len(a) - len(b) })
						slices.SortFunc(got, func(a, b string) int {
							if len(a) != len(b) {
								return len(a) - len(b)
							}
							if a < b {
								return -1
							}
							return 1
						})
					}
					want := numbers(1, capacity+n)
					w.e.require(slices.Equal(got, want), "the messages arrived in order ", quote(got), ", want ", quote(want))
				}
			}
		}),
	},
	{
		Name: "actor/suspend-capacity-bound", Rule: "S2",
		Why: "as many waiters go on as there is room for, and the others go on waiting: who is resumed for room finds some",
		Check: actors(func(w *world) {
			d := &eventLog{}
			slow := w.Spawn(actor.Props{New: hearing(d), Throughput: 1, Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}})
			w.suspend(slow, actor.Suspension{})
			w.tell(slow, &order{Do: func(ctx *actor.Context) error {
				ctx.Suspend(actor.Suspension{})
				return nil
			}})
			for i := range 3 {
				r := w.Spawn(actor.Props{New: hearing(d)})
				w.waitsFor(r, slow, func(ctx *actor.Context) {
					w.tells(ctx, slow, i+1)
					d.note("sends")
				})
			}
			w.Resume(slow) // handles one message, and is suspended again
			w.wantLog(d, "sends")
			w.e.require(slow.Backlog() == 1, slow.Backlog(), " messages wait in a mailbox for 1")
			w.Resume(slow)
			w.until("all to have sent", func() bool { return len(d.read()) == 6 },
				func() string { return "the log says only “" + quote(d.read()) + "”" })
		}),
	},
	{
		Name: "actor/suspend-capacity-at-once", Rule: "S2",
		Why: "who waits for room where there is some, in a mailbox without a bound, or of an actor that has stopped or stops, does not wait: what it waits for would never come",
		Check: actors(func(w *world) {
			d := &eventLog{}
			gone := w.Spawn(actortest.Scripted())
			w.End(gone)
			roomy := w.Spawn(actor.Props{New: actortest.Scripted().New, Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}})
			grows := w.Spawn(actor.Props{New: actortest.Scripted().New, Mailbox: actor.MailboxConfig{Policy: actor.Grow, Capacity: 1}})
			w.suspend(grows, actor.Suspension{})
			for i := range 3 {
				w.tell(grows, &order{Do: func(*actor.Context) error { d.note(4 + i); return nil }})
			}
			for i, target := range []actor.Ref{gone, w.Spawn(actortest.Scripted()), roomy, grows} {
				r := w.Spawn(actor.Props{New: hearing(d)})
				w.waitsFor(r, target, func(*actor.Context) { d.note(i) })
			}
			w.until("all to go on", func() bool { return len(d.read()) == 4 },
				func() string { return "only “" + quote(d.read()) + "” go on" })
			full := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}})
			w.suspend(full, actor.Suspension{})
			w.tell(full, 0)
			for i := range 3 {
				r := w.Spawn(actor.Props{New: hearing(d)})
				w.waitsFor(r, full, func(*actor.Context) { d.note(4 + i) })
			}
			w.e.require(len(d.read()) == 4, "an actor that waits for room in a full mailbox has gone on")
			w.Stop(full)
			w.undelivered(full, actor.ErrStopped, 0)
			w.until("all to go on when the actor stops that they wait for", func() bool { return len(d.read()) == 7 },
				func() string { return "only “" + quote(d.read()) + "” go on" })
			w.Resume(grows)
			w.idle()
		}),
	},
	{
		Name: "actor/suspend-capacity-left", Rule: "S4",
		Why: "room that the first in line does not take is for the next one: who has gone on otherwise, has stopped, or does not send after all, keeps none waiting",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			for how, leave := range map[string]func(first actor.Ref){
				"resumed by a call":  func(r actor.Ref) { w.Resume(r) },
				"resumed by time":    func(actor.Ref) { clock.Advance(time.Hour) },
				"stopped":            func(r actor.Ref) { w.Stop(r) },
				"suspended anew":     func(r actor.Ref) { w.Suspend(r, actor.Suspension{}) },
				"waits for its time": func(r actor.Ref) { w.Suspend(r, actor.Suspension{After: time.Hour}) },
				"there, and silent":  func(actor.Ref) {},
			} {
				d := &eventLog{}
				full := w.Spawn(actor.Props{New: hearing(&eventLog{}), Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}})
				w.suspend(full, actor.Suspension{})
				w.tell(full, 0)
				first, second, third := w.Spawn(actortest.Scripted()), w.Spawn(actortest.Scripted()), w.Spawn(actortest.Scripted())
				n := w.Stats().Suspends
				w.Suspend(first, actor.Suspension{Capacity: full, After: time.Hour})
				w.suspends(n + 1)
				w.idle()
				for i, r := range []actor.Ref{second, third} {
					w.waitsFor(r, full, func(*actor.Context) { d.note(i) })
				}
				leave(first)
				w.idle()
				w.Resume(full)
				w.until("those who wait behind one who is "+how+" to go on", func() bool { return len(d.read()) == 2 },
					func() string { return "only “" + quote(d.read()) + "” go on behind one who is " + how })
				w.Resume(first)
			}
		}),
	},
	{
		Name: "actor/suspend-event", Rule: "S2", Core: true,
		Why: "that an actor is suspended, why, until when, and that it has been resumed is on the event stream, in order, with the time",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			r, other := w.Spawn(actortest.Scripted()), w.Spawn(actortest.Scripted())
			sub := actor.Subscribe[any](w.Events(), 16)
			began := clock.Now()
			s := actor.Suspension{Reason: "too hot", After: time.Minute}
			w.suspend(r, s)
			w.idle()
			clock.Advance(time.Minute)
			w.idle()
			full := w.Spawn(actor.Props{New: hearing(&eventLog{}), Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}})
			w.suspend(full, actor.Suspension{Reason: "full"})
			w.tell(full, 0)
			s2 := actor.Suspension{Reason: "backpressure", Capacity: full}
			w.suspend(other, s2)
			w.idle()
			w.Resume(full)
			w.idle()
			w.shutdown()
			var got []any
			for {
				ev, ok := sub.TryNext()
				if !ok {
					break
				}
				switch ev.(type) {
				case actor.ActorSuspended, actor.ActorResumed:
					got = append(got, ev)
				}
			}
			later := began.Add(time.Minute)
			want := []any{
				actor.ActorSuspended{Actor: r, Suspension: s, Time: began},
				actor.ActorResumed{Actor: r, Time: later},
				actor.ActorSuspended{Actor: full, Suspension: actor.Suspension{Reason: "full"}, Time: later},
				actor.ActorSuspended{Actor: other, Suspension: s2, Time: later},
				actor.ActorResumed{Actor: full, Time: later},
				actor.ActorResumed{Actor: other, Time: later},
			}
			w.e.require(len(got) == len(want), len(got), " events, want ", len(want))
			for i := range want {
				w.e.require(got[i] == want[i], "event ", i, " of the suspensions is another one")
			}
		}),
	},
	{
		Name: "actor/suspend-metrics", Rule: "S5", Core: true,
		Why: "suspensions and their ends are counted, and how long it took from being asked to go on until that: the sum and the longest",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			r := w.Spawn(actortest.Scripted())
			sub := actor.Subscribe[actor.ActorResumed](w.Events(), 8)
			took := []time.Duration{time.Second, 5 * time.Second, 2 * time.Second}
			var sum time.Duration
			for _, t := range took {
				w.In(r, func(ctx *actor.Context) {
					ctx.Suspend(actor.Suspension{})
					ctx.Resume(r)
					clock.Advance(t) // while it is in its turn
				})
				sum += t
			}
			w.idle()
			st := w.Stats()
			w.e.require(st.Suspends == 3 && st.Resumes == 3, "Stats counts ", st.Suspends, " suspends and ", st.Resumes, " resumes, want 3 and 3")
			w.e.require(st.ResumeTotal == sum, "Stats.ResumeTotal is ", st.ResumeTotal.String(), ", want ", sum.String())
			w.e.require(st.ResumeMax == 5*time.Second, "Stats.ResumeMax is ", st.ResumeMax.String(), ", want 5s")
			for i, t := range took {
				ev, ok := sub.TryNext()
				w.e.require(ok && ev.Actor == r && ev.Latency == t, "ActorResumed ", i, " has the latency ", ev.Latency.String(), ", want ", t.String())
			}
			w.suspend(r, actor.Suspension{})
			w.End(r)
			st = w.Stats()
			w.e.require(st.Suspends == 4 && st.Resumes == 3, "a stop ended a suspension, and Stats counts ", st.Suspends, " suspends and ", st.Resumes, " resumes, want 4 and 3")
		}),
	},
	{
		Name: "actor/suspend-cycles", Rule: "S5",
		Why: "an actor can be suspended and resumed any number of times: each time it stops handling messages and goes on with them",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			const n = 1000
			d := &eventLog{}
			count := 0
			r := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
				w.e.require(msg == count, "message ", msg, " was handled, next is ", count)
				count++
				s := actor.Suspension{}
				if count%3 == 1 {
					s.After = time.Second
				}
				ctx.Suspend(s)
				if count == n {
					d.note("done")
				}
				return nil
			}))
			for i := range n {
				w.tell(r, i)
			}
			for i := range n {
				w.suspends(uint64(i + 1))
				if i%3 == 0 {
					clock.Advance(time.Second)
				} else {
					w.Resume(r)
				}
			}
			w.wantLog(d, "done")
			w.idle()
			st := w.Stats()
			w.e.require(st.Suspends == n && st.Resumes == n, "Stats counts ", st.Suspends, " suspends and ", st.Resumes, " resumes, want ", n)
		}),
	},
	{
		Name: "actor/suspend-race", Rule: "S4", Kind: Stochastic,
		Why: "a resume that races with messages, stops and other suspensions loses no wake-up and runs no actor twice at a time: what was accepted is handled, in order",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				suspendRace(e, rng)
			}
		}),
	},
}

// genesis is when the clocks of checks begin.
var genesis = time.Unix(1_000_000_000, 0)

// suspends waits until there have been n suspensions in all.
func (w *world) suspends(n uint64) {
	w.until(text("suspension ", n, " to begin"), func() bool { return w.Stats().Suspends >= n })
}

// suspend suspends r from outside, and waits until it is.
func (w *world) suspend(r actor.Ref, s actor.Suspension) {
	n := w.Stats().Suspends
	w.Suspend(r, s)
	w.suspends(n + 1)
}

// waitsFor has r, which carries out orders, wait for room in to's mailbox, and
// then do something.
func (w *world) waitsFor(r, to actor.Ref, then func(ctx *actor.Context)) {
	n := w.Stats().Suspends
	w.ask(r, func(ctx *actor.Context) { ctx.Suspend(actor.Suspension{Reason: "room", Capacity: to}) })
	w.suspends(n + 1)
	w.idle() // so that to knows
	w.ask(r, then)
}

// suspendRace suspends and resumes actors, in every way and on several
// goroutines, while messages are sent to them. Each suspension has its end:
// a goroutine that resumes the actor after having suspended it, or a time. So in the
// end none is suspended, and a message that is still there was overlooked.
func suspendRace(e *Env, rng *rand.Rand) {
	const senders, each, cycles = 3, 60, 20
	clock := actor.NewManualClock(genesis)
	w := e.world(actor.Config{Clock: clock})
	defer w.abandon()
	all := parcels(2 * senders * each)
	m := mailboxes[rng.IntN(len(mailboxes))]
	if m.Policy == actor.Block && w.Synchronous() {
		m = actor.MailboxConfig{} // who waits there for a suspended actor learns that no room will be made
	}
	var inside, handled atomic.Int32
	waker := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
		ctx.Resume(msg.(actor.Ref))
		return nil
	}))
	next := make([]int, 2*senders) // of each sender, the number that it is not below
	moods := sub(rng)
	r := w.Spawn(actor.Props{Mailbox: m, Throughput: rng.IntN(5), New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
		w.e.require(inside.Add(1) == 1, "two turns of an actor at once")
		defer inside.Add(-1)
		p := msg.(*parcel)
		from, n := p.id/each, p.id%each
		w.e.require(n >= next[from], "message ", n, " of sender ", from, " was handled late: ", next[from], " was next")
		next[from] = n + 1
		p.handled.Add(1)
		handled.Add(1)
		switch moods.IntN(8) {
		case 0:
			ctx.Suspend(actor.Suspension{})
			w.tells(ctx, waker, ctx.Self())
		case 1:
			ctx.Suspend(actor.Suspension{After: time.Duration(1 + moods.IntN(5))})
		case 2:
			ctx.Suspend(actor.Suspension{})
			ctx.Resume(ctx.Self())
		}
		return nil
	}))})
	var calls []*call[error]
	for s := range senders {
		rng, turns := sub(rng), sub(rng)
		calls = append(calls, start(e, "a loop of Tell", func() error {
			for i := range each {
				p := &all[s*each+i]
				p.sent(r.Tell(p))
				for range rng.IntN(3) {
					yield()
				}
			}
			return nil
		}))
		from := w.Spawn(actortest.Scripted())
		n := 0
		var send *order
		send = &order{Do: func(ctx *actor.Context) error {
			for range 1 + turns.IntN(5) {
				if n < each {
					p := &all[(senders+s)*each+n]
					p.sent(ctx.Tell(r, p))
					n++
				}
			}
			if n < each {
				w.tells(ctx, ctx.Self(), send)
			}
			return nil
		}}
		w.tell(from, send)
	}
	for range 2 {
		rng := sub(rng)
		calls = append(calls, start(e, "a loop of Suspend and Resume", func() error {
			for range cycles {
				w.Suspend(r, actor.Suspension{After: time.Duration(rng.IntN(3)) * time.Hour})
				for range rng.IntN(3) {
					yield()
				}
				w.Resume(r)
				clock.Advance(1)
			}
			return nil
		}))
	}
	count := func() (h, out int) {
		for i := range all {
			h += int(all[i].handled.Load())
			out += int(all[i].returned.Load() + all[i].undelivered.Load())
		}
		return h, out
	}
	w.until("every message that was accepted to be handled", func() bool {
		clock.Advance(10)
		h, out := count()
		return h+out == len(all)
	}, func() string {
		h, out := count()
		return text(h, " of ", len(all), " messages were handled, ", out, " refused or dropped; ", r.Backlog(), " wait, for an actor that was resumed")
	})
	for _, c := range calls {
		e.same("what a loop returned", finished(w, c), nil)
	}
	w.end()
	b := w.accounted(all)
	w.counted(b)
	switch m.Policy {
	case actor.Unbounded, actor.Grow, actor.Block:
		e.require(b.handled == len(all), b.handled, " of ", len(all), " messages were handled")
	}
}
