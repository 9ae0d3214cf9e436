package conformance

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// FR-009, SC-004: dead letters. The clock stands still, so that a letter is
// known to the last field.
var letterClauses = []Clause{
	{
		Name: "actor/letter-returned", Rule: "SC-004", Core: true,
		Why: "a message that is given back is recorded as well, with its receiver, the reason and who waits for a reply: to find what went wrong the sender need not be asked",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			gone := w.Spawn(actortest.Scripted())
			w.End(gone)
			full := w.Spawn(actor.Props{New: hearing(&eventLog{}), Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}})
			w.suspend(full, actor.Suspension{})
			w.tell(full, 0)
			own := w.Spawn(actor.Props{New: actortest.Scripted().New, Mailbox: actor.MailboxConfig{Policy: actor.Block, Capacity: 1}})
			from := w.Spawn(actortest.Scripted())
			m := petition{1, from.ReplyTo()}
			w.returned(gone.Tell(m), gone, m, actor.ErrStopped)
			p.brings(p.returned(m, gone, actor.ErrStopped))
			w.returned(full.Tell(m), full, m, actor.ErrFull)
			p.brings(p.returned(m, full, actor.ErrFull))
			w.returned(w.Tell(gone.PID(), m), actor.Ref{}, m, actor.ErrUnknown)
			p.brings(p.returned(m, actor.Ref{}, actor.ErrUnknown))
			w.returned(w.Tell(actor.PID{}, m), actor.Ref{}, m, actor.ErrUnknown)
			p.brings(p.returned(m, actor.Ref{}, actor.ErrUnknown))
			w.In(from, func(ctx *actor.Context) {
				w.returned(ctx.Tell(actor.Ref{}, m), actor.Ref{}, m, actor.ErrNobody)
				w.returned(ctx.Tell(gone, m), gone, m, actor.ErrStopped)
			})
			p.brings(p.returned(m, actor.Ref{}, actor.ErrNobody), p.returned(m, gone, actor.ErrStopped))
			w.In(own, func(ctx *actor.Context) {
				w.tells(ctx, own, &order{Do: func(*actor.Context) error { return nil }})
				w.returned(ctx.Tell(own, m), own, m, actor.ErrFull)
			})
			p.brings(p.returned(m, own, actor.ErrFull))
			w.Resume(full)
			w.idle()
			p.brings()
		}),
	},
	{
		Name: "actor/tell-pid", Rule: "FR-003", Core: true,
		Why: "a message can be sent to a PID: it arrives while the actor is there, and comes back, as one for an unknown actor, when it is not",
		Check: actors(func(w *world) {
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d)})
			w.e.same("what System.Tell returned", w.Tell(r.PID(), 1), nil)
			w.wantLog(d, "1")
			w.End(r)
			w.returned(w.Tell(r.PID(), 2), actor.Ref{}, 2, actor.ErrUnknown)
			w.Spawn(actor.Props{New: hearing(d)}) // perhaps in its place
			w.returned(w.Tell(r.PID(), 3), actor.Ref{}, 3, actor.ErrUnknown)
			w.wantLog(d, "1")
		}),
	},
	{
		Name: "actor/letter-dropped", Rule: "FR-020", Core: true,
		Why: "what DropOldest drops is recorded, every message of it, with who waits for a reply: a policy that drops is no excuse for silence",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			for _, prio := range []func(any) int{nil, samePriority} {
				const capacity, n = 2, 6
				r := w.Spawn(actor.Props{New: hearing(&eventLog{}), Mailbox: actor.MailboxConfig{Policy: actor.DropOldest, Capacity: capacity, Priority: prio}})
				w.suspend(r, actor.Suspension{})
				var want []actor.DeadLetter
				for i := range n {
					m := petition{i, w.UserGuardian().ReplyTo()}
					w.tell(r, m)
					if i < n-capacity {
						want = append(want, p.letter(m, r, actor.ErrDropped))
					}
				}
				p.brings(want...)
				w.Resume(r)
				w.idle()
			}
		}),
	},
	{
		Name: "actor/letter-left", Rule: "SC-004", Core: true,
		Why: "what an actor has taken and not handled when it stops is recorded, all of it: what it has unstashed, what it has stashed, and what waits in its mailbox",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			for _, m := range mailboxes {
				r := w.Spawn(actor.Props{Mailbox: m, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					if o, ok := msg.(*order); ok {
						return o.Do(ctx)
					}
					ctx.Stash(msg)
					return nil
				}))})
				var all []petition
				for i := range 5 {
					all = append(all, petition{i, r.ReplyTo()})
				}
				w.tell(r, all[0], all[1])
				w.In(r, func(*actor.Context) {}) // they are stashed
				w.tell(r, all[2])
				w.In(r, func(ctx *actor.Context) {
					ctx.UnstashAll()
					ctx.StopSelf()
					w.tells(ctx, r, all[3], all[4])
				})
				var want []actor.DeadLetter
				for _, m := range all {
					want = append(want, p.letter(m, r, actor.ErrStopped))
				}
				p.brings(want...)
			}
		}),
	},
	{
		Name: "actor/letter-stashed", Rule: "SC-004", Core: true,
		Why: "what an actor still has stashed when it stops is recorded, in the order in which it came, and before what waits in its mailbox",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			r := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
				if o, ok := msg.(*order); ok {
					return o.Do(ctx)
				}
				ctx.Stash(msg)
				return nil
			}))
			w.tell(r, 1, 2, 3)
			w.In(r, func(ctx *actor.Context) {
				w.e.require(ctx.Stashed() == 3, ctx.Stashed(), " messages are stashed, want 3")
			})
			w.suspend(r, actor.Suspension{})
			w.tell(r, 4)
			p.brings()
			w.Stop(r)
			p.brings(p.letter(1, r, actor.ErrStopped), p.letter(2, r, actor.ErrStopped), p.letter(3, r, actor.ErrStopped), p.letter(4, r, actor.ErrStopped))
		}),
	},
	{
		Name: "actor/letter-failed", Rule: "FR-018", Core: true,
		Why: "a message on which an actor fails is recorded with what it failed with, once it is decided what becomes of the actor, whatever is decided; one that succeeds when it is tried again is not",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			for _, d := range []actor.Directive{actor.Restart, actor.Resume, actor.Stop} {
				for _, retry := range []bool{false, true} {
					var tries atomic.Int32
					var r actor.Ref
					parent := w.Spawn(actor.Props{New: actortest.Scripted().New, Supervisor: &actor.Supervisor{Retry: retry, Decide: func(actor.Failure) actor.Directive { return d }}})
					w.In(parent, func(ctx *actor.Context) {
						r = w.born(ctx.Spawn(actor.Props{New: func() actor.Actor {
							return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
								if m, ok := msg.(petition); ok && m.n == 1 {
									if tries.Add(1) == 1 {
										return errA
									}
								}
								return nil
							})
						}}))
					})
					m := petition{1, parent.ReplyTo()}
					w.tell(r, m)
					w.failed(r)
					l := p.letter(m, r, actor.ErrFailed)
					l.Cause = errA
					switch {
					case retry && d != actor.Stop:
						w.until("the message to be tried again", func() bool { return tries.Load() == 2 })
						p.brings()
					default:
						p.brings(l)
						w.e.require(tries.Load() == 1, "the message was tried ", int(tries.Load()), " times, want once")
					}
				}
			}
		}),
	},
	{
		Name: "actor/letter-forwarded", Rule: "FR-009", Core: true,
		Why: "what cannot be forwarded is recorded with the reason for which it could not be sent, and the one who waits for the reply",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			gone, from := w.Spawn(actortest.Scripted()), w.Spawn(actortest.Scripted())
			w.End(gone)
			m := petition{1, from.ReplyTo()}
			w.In(from, func(ctx *actor.Context) {
				ctx.Forward(gone, m)
				ctx.Forward(actor.Ref{}, m)
			})
			p.brings(p.letter(m, gone, actor.ErrStopped), p.letter(m, actor.Ref{}, actor.ErrNobody))
		}),
	},
	{
		Name: "actor/letter-shutdown", Rule: "SC-004", Core: true,
		Why: "what waits when the system is shut down is recorded, and so is what is sent during that: the last messages are lost no more silently than others",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			const n = 5
			p := w.post()
			first := w.Spawn(actor.Props{New: hearing(&eventLog{})})
			w.In(w.UserGuardian(), func(ctx *actor.Context) { ctx.Watch(first) })
			r := w.Spawn(actor.Props{New: making(&staged{
				receive: hearing(&eventLog{})().Receive,
				stop: func(ctx *actor.Context) error {
					w.returned(ctx.Tell(ctx.Parent(), "late"), ctx.Parent(), "late", actor.ErrStopped)
					ctx.Forward(ctx.Self(), "later")
					return nil
				},
			})})
			w.suspend(r, actor.Suspension{})
			for i := range n {
				w.tell(r, i)
			}
			w.idle()
			w.shutdown()
			w.returned(r.Tell("last"), r, "last", actor.ErrStopped)
			var got []actor.DeadLetter
			for {
				l, ok := p.sub.TryNext()
				if !ok {
					break
				}
				got = append(got, l)
			}
			var want []actor.DeadLetter
			for i := range n {
				want = append(want, p.letter(i, r, actor.ErrStopped))
			}
			want = append(want, p.returned("late", w.UserGuardian(), actor.ErrStopped), p.letter("later", r, actor.ErrStopped))
			w.e.require(len(got) == len(want), len(got), " dead letters of a shutdown, want ", len(want))
			for i := range want {
				p.equal(got[i], want[i])
			}
			st := w.Stats()
			w.e.require(st.DeadLetters == n+1 && st.Returned == 2, "Stats counts ", st.DeadLetters, " dead letters and ", st.Returned, " returned, want ", n+1, " and 2")
			w.e.require(len(w.DeadLetters()) == 0, "a system that is over still keeps dead letters")
			w.mu.Lock()
			w.letters = nil
			w.mu.Unlock()
		}),
	},
	{
		Name: "actor/letter-boxed", Rule: "FR-012", Core: true,
		Why: "a dead letter shows what was sent, not the box in which the typed layer carries it",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			gone := w.Spawn(actortest.Scripted())
			w.End(gone)
			m := petition{7, gone.ReplyTo()}
			w.returned(gone.Tell(crate{m}), gone, crate{m}, actor.ErrStopped)
			p.brings(p.returned(m, gone, actor.ErrStopped))
		}),
	},
	{
		Name: "actor/letter-resend", Rule: "FR-009", Core: true,
		Why: "a dead letter can be sent again: it is handled if the actor can now, and is a dead letter once more if not",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			d := &eventLog{}
			p := w.post()
			r := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 1}})
			w.suspend(r, actor.Suspension{})
			w.tell(r, 1, 2)
			p.brings(p.letter(1, r, actor.ErrDropped))
			w.Resume(r)
			w.wantLog(d, "2")
			letters := w.DeadLetters()
			w.e.require(len(letters) == 1, len(letters), " dead letters are kept, want 1")
			w.e.same("what Resend returned", letters[0].Resend(), nil)
			w.wantLog(d, "2", "1")
			p.brings()
			w.End(r)
			w.returned(letters[0].Resend(), r, 1, actor.ErrStopped)
			p.brings(p.returned(1, r, actor.ErrStopped))
		}),
	},
	{
		Name: "actor/letters-kept", Rule: "FR-009", Core: true,
		Why: "the system keeps as many of the newest dead letters as it was told to, the oldest of them first; all are counted and published",
		Check: check(func(e *Env) {
			for _, c := range []struct{ config, keep int }{{3, 3}, {1, 1}, {0, 64}, {-1, 0}} {
				w := e.world(actor.Config{KeepDeadLetters: c.config})
				defer w.abandon()
				gone := w.Spawn(actortest.Scripted())
				w.End(gone)
				const n = 70
				sub := actor.Subscribe[actor.DeadLetter](w.Events(), 2*n)
				for i := range n {
					w.returned(gone.Tell(i), gone, i, actor.ErrStopped)
					kept := w.DeadLetters()
					e.require(len(kept) == min(i+1, c.keep), len(kept), " dead letters are kept of ", i+1, ", want ", min(i+1, c.keep))
					for j, l := range kept {
						e.require(l.Msg == i+1-len(kept)+j, "dead letter ", j, " of those kept is ", l.Msg, ", want ", i+1-len(kept)+j)
					}
				}
				for i := range n {
					l, ok := sub.TryNext()
					e.require(ok && l.Msg == i, "dead letter ", i, " was not published")
				}
				st := w.Stats()
				e.require(st.Returned == n, "Stats.Returned is ", st.Returned, ", want ", n)
				w.end()
			}
		}),
	},
	{
		Name: "actor/letters-passed-on", Rule: "FR-009", Core: true,
		Why: "dead letters can be passed on to an actor, also one that does not keep up or has stopped: what becomes of them is counted, and makes no further ones without end",
		Check: actors(func(w *world) {
			gone := w.Spawn(actortest.Scripted())
			w.End(gone)
			var handled atomic.Int32
			receiver := w.Spawn(actor.Props{Mailbox: actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 2}, New: making(actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
				if _, ok := msg.(actor.DeadLetter); ok {
					handled.Add(1)
				}
				return nil
			}))})
			var published atomic.Int32
			actor.SubscribeFunc(w.Events(), func(l actor.DeadLetter) {
				published.Add(1)
				_ = receiver.Tell(l)
			})
			w.suspend(receiver, actor.Suspension{})
			for i := range 5 {
				w.returned(gone.Tell(i), gone, i, actor.ErrStopped)
			}
			w.idle()
			w.e.require(published.Load() == 5, int(published.Load()), " dead letters were published of 5, and those about which an actor could not be told")
			st := w.Stats()
			w.e.require(st.Dropped == 3, "Stats.Dropped is ", st.Dropped, ", want 3: dead letters that an actor was told of are messages")
			w.Resume(receiver)
			w.until("the dead letters to arrive", func() bool { return handled.Load() == 2 })
			w.End(receiver)
			w.returned(gone.Tell(6), gone, 6, actor.ErrStopped)
			w.idle()
			w.e.require(published.Load() == 6, int(published.Load()), " dead letters were published of 6")
		}),
	},
	{
		Name: "actor/letters-account", Rule: "SC-004", Kind: Stochastic,
		Why: "whatever happens to a message – handled, given back, dropped, stashed and left, left in a mailbox, failed on – it is recorded on the event stream exactly once if it was not handled",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				lettersRace(e, rng)
			}
		}),
	},
}

// petition is a message that says who waits for a reply.
type petition struct {
	n  int
	re actor.ReplyTo
}

// ReplyAddress implements actor.Requester.
func (m petition) ReplyAddress() actor.ReplyTo { return m.re }

// crate is a message that carries another one.
type crate struct{ in petition }

// Unbox implements actor.Boxed.
func (c crate) Unbox() any { return c.in }

// post is where dead letters arrive: on the stream, in the store, in the counts,
// and in the book of the world.
type post struct {
	w   *world
	sub *actor.Subscription[actor.DeadLetter]
	st  actor.Stats
	all int // letters so far
}

func (w *world) post() *post {
	return &post{w: w, sub: actor.Subscribe[actor.DeadLetter](w.Events(), 256), st: w.Stats()}
}

// letter returns what is to be recorded of a message that was accepted.
func (p *post) letter(msg any, to actor.Ref, reason error) actor.DeadLetter {
	l := actor.DeadLetter{Msg: msg, To: to, Reason: reason, Time: genesis}
	if m, ok := msg.(petition); ok {
		l.ReplyTo = m.re
	}
	return l
}

// returned returns what is to be recorded of a message that was given back.
func (p *post) returned(msg any, to actor.Ref, reason error) actor.DeadLetter {
	l := p.letter(msg, to, reason)
	l.Returned = true
	return l
}

// brings demands that these dead letters have come since it was called last, in
// that order, and no others.
func (p *post) brings(want ...actor.DeadLetter) {
	w := p.w
	var got []actor.DeadLetter
	fetch := func() bool {
		for {
			l, ok := p.sub.TryNext()
			if !ok {
				return len(got) >= len(want)
			}
			got = append(got, l)
		}
	}
	w.until(text(len(want), " dead letters on the event stream"), fetch,
		func() string { return text("only ", len(got), " of ", len(want), " dead letters were published") })
	w.idle()
	fetch()
	w.e.require(len(got) == len(want), len(got), " dead letters were published, want ", len(want))
	p.all += len(want)
	kept := w.DeadLetters()
	if have := min(p.all, 64); len(kept) != have {
		w.e.fail(len(kept), " dead letters are kept, want ", have)
	}
	kept = kept[len(kept)-len(got):]
	var returned, letters, dropped uint64
	for i := range want {
		p.equal(got[i], want[i])
		w.e.require(kept[i] == got[i], "dead letter ", i, " in the store is not that of the event stream")
		switch {
		case want[i].Returned:
			returned++
		case want[i].Reason == actor.ErrDropped:
			dropped++
			letters++
		default:
			letters++
		}
	}
	st := w.Stats()
	w.e.require(st.Returned-p.st.Returned == returned, "Stats.Returned has grown by ", st.Returned-p.st.Returned, ", want ", returned)
	w.e.require(st.DeadLetters-p.st.DeadLetters == letters, "Stats.DeadLetters has grown by ", st.DeadLetters-p.st.DeadLetters, ", want ", letters)
	w.e.require(st.Dropped-p.st.Dropped == dropped, "Stats.Dropped has grown by ", st.Dropped-p.st.Dropped, ", want ", dropped)
	p.st = st
	w.mu.Lock()
	called := len(w.letters) + len(w.failedLetters)
	w.letters, w.failedLetters = nil, nil
	w.mu.Unlock()
	w.e.require(called == int(letters), "Config.DeadLetters was called with ", called, " dead letters that were not returned, want ", int(letters))
}

// equal compares two letters field by field, to say which one differs.
func (p *post) equal(got, want actor.DeadLetter) {
	e := p.w.e
	e.require(got.Msg == want.Msg, "a dead letter is ", got.Msg, ", want ", want.Msg)
	e.require(got.To == want.To, "dead letter ", got.Msg, " is said to be for ", got.To.String(), ", want ", want.To.String())
	e.same(text("the reason of dead letter ", got.Msg), got.Reason, want.Reason)
	e.same(text("the cause of dead letter ", got.Msg), got.Cause, want.Cause)
	e.require(got.ReplyTo == want.ReplyTo, "dead letter ", got.Msg, " does not say who waits for a reply")
	e.require(got.Returned == want.Returned, "dead letter ", got.Msg, " says Returned = ", got.Returned, ", want ", want.Returned)
	e.require(got.Time.Equal(want.Time), "dead letter ", got.Msg, " has another time than the system's clock")
}

// lettersRace has actors stash, fail, suspend themselves and stop while they are
// sent to, and books messages as the event stream has them.
func lettersRace(e *Env, rng *rand.Rand) {
	const senders, each, receivers = 3, 60, 3
	w := e.world(actor.Config{KeepDeadLetters: -1})
	defer w.abandon()
	all := parcels(senders * each)
	published := make([]atomic.Int32, len(all))
	actor.SubscribeFunc(w.Events(), func(l actor.DeadLetter) {
		if p, ok := l.Msg.(*parcel); ok {
			published[p.id].Add(1)
		}
	})
	directives := []actor.Directive{actor.Restart, actor.Resume, actor.Stop}
	decide := sub(rng)
	parent := w.Spawn(actor.Props{New: actortest.Scripted().New, Supervisor: &actor.Supervisor{
		Retry: rng.IntN(2) == 0, MaxRestarts: 3,
		Decide: func(actor.Failure) actor.Directive { return directives[decide.IntN(3)] },
	}})
	var to [receivers]atomic.Pointer[actor.Ref]
	spawn := func(ctx *actor.Context, i int, moods *rand.Rand) {
		m := mailboxes[moods.IntN(len(mailboxes))]
		if m.Policy == actor.Block && w.Synchronous() {
			m = actor.MailboxConfig{}
		}
		r := w.born(ctx.Spawn(actor.Props{Mailbox: m, New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				p := msg.(*parcel)
				switch moods.IntN(12) {
				case 0:
					return errA
				case 1:
					ctx.StopSelf()
				case 2, 3:
					ctx.Stash(msg)
					return nil
				case 4:
					ctx.UnstashAll()
				case 5:
					ctx.Suspend(actor.Suspension{})
					ctx.Resume(ctx.Self())
				}
				p.handled.Add(1)
				return nil
			})
		}}))
		to[i].Store(&r)
	}
	moods := make([]*rand.Rand, receivers)
	for i := range moods {
		moods[i] = sub(rng)
	}
	w.In(parent, func(ctx *actor.Context) {
		for i := range receivers {
			spawn(ctx, i, moods[i])
		}
	})
	var calls []*call[error]
	for s := range senders {
		rng := sub(rng)
		calls = append(calls, start(e, "a loop of Tell", func() error {
			for i := range each {
				p := &all[s*each+i]
				p.sent(to[rng.IntN(receivers)].Load().Tell(p))
				for range rng.IntN(2) {
					yield()
				}
			}
			return nil
		}))
	}
	for _, c := range calls {
		e.same("what a loop of Tell returned", finished(w, c), nil)
	}
	w.idle()
	w.shutdown()
	w.idle()
	w.mu.Lock()
	for _, l := range w.failedLetters {
		l.Msg.(*parcel).undelivered.Add(1)
		e.require(l.Cause == errA, "a message was failed on, and its cause is ", l.Cause)
	}
	w.failures = nil
	w.mu.Unlock()
	b := w.accounted(all)
	st := w.Stats()
	e.require(st.DeadLetters == uint64(b.undelivered), "Stats.DeadLetters is ", st.DeadLetters, ", want ", b.undelivered)
	e.require(st.Returned == uint64(b.returned), "Stats.Returned is ", st.Returned, ", want ", b.returned)
	for i := range all {
		want := 1 - all[i].handled.Load()
		e.require(published[i].Load() == want, "message ", i, " was published as a dead letter ", int(published[i].Load()), " times, want ", int(want))
	}
}
