package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// V6, FR-008: asking. A server puts the ReplyTo of what it is asked where the
// check finds it, and the check answers; or it answers by itself.
var askClauses = []Clause{
	{
		Name: "actor/ask-from-actor", Rule: "V6", Core: true,
		Why: "an actor can ask, too: it polls for the reply in later turns, and gives its own ReplyTo where it wants the reply as a message",
		Check: actors(func(w *world) {
			d := &eventLog{}
			server := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
				q := msg.(petition)
				return ctx.Reply(q.re, q.n*q.n)
			}))
			client := w.Spawn(actor.Props{New: hearing(d)})
			var f actor.Future
			w.In(client, func(ctx *actor.Context) {
				f = ctx.Ask(server, 0, func(re actor.ReplyTo) any { return petition{5, re} })
				w.tells(ctx, server, petition{6, ctx.Self().ReplyTo()})
			})
			w.idle()
			w.In(client, func(*actor.Context) {
				msg, done, err := f.Poll()
				w.e.require(done && err == nil && msg == 25, "Poll returned ", msg, ", ", done, ", ", err, ", want 25, true, nil")
			})
			w.wantLog(d, "36")
		}),
	},
	{
		Name: "actor/reply-to", Rule: "FR-030", Core: true,
		Why: "where a reply goes is a plain value in the message: an actor's, a future's, or zero, to be compared, copied and passed on; an actor is told the reply like any message",
		Check: actors(func(w *world) {
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d)})
			other := w.Spawn(actortest.Scripted())
			re := r.ReplyTo()
			w.e.require(re == r.ReplyTo() && re != other.ReplyTo() && !re.IsZero(), "ReplyTo values of actors do not compare as the actors do")
			w.e.same("what ReplyTo.Tell returned", re.Tell(1), nil)
			w.In(other, func(ctx *actor.Context) { w.e.same("what Reply returned", ctx.Reply(re, 2), nil) })
			w.e.same("what Fail returned", re.Fail(errA), nil) // told as a message
			w.wantLog(d, "1", "2", text(errA))
			w.e.require(actor.ReplyTo{}.IsZero(), "the zero ReplyTo is not zero")
			w.returned(actor.ReplyTo{}.Tell(3), actor.Ref{}, 3, actor.ErrNobody)
			w.In(other, func(ctx *actor.Context) {
				w.returned(ctx.Reply(actor.ReplyTo{}, 4), actor.Ref{}, 4, actor.ErrNobody)
			})
			w.End(r)
			w.returned(re.Tell(5), r, 5, actor.ErrStopped)
			f, g := w.NewFuture(0), w.NewFuture(0)
			again := f.ReplyTo()
			w.e.require(f.ReplyTo() == again && f.ReplyTo() != g.ReplyTo(), "ReplyTo values of futures do not compare as the futures do")
			f.Discard()
			g.Discard()
		}),
	},
	{
		Name: "actor/ask-refused", Rule: "V6", Core: true,
		Why: "a question that is not accepted is answered at once, by the error of sending: no caller waits for a reply that cannot come",
		Check: actors(func(w *world) {
			gone, full := w.Spawn(actortest.Scripted()), w.Spawn(actor.Props{New: hearing(&eventLog{}), Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}})
			w.End(gone)
			w.suspend(full, actor.Suspension{})
			w.tell(full, 0)
			from := w.Spawn(actortest.Scripted())
			for _, c := range []struct {
				to     actor.Ref
				reason error
			}{{gone, actor.ErrStopped}, {full, actor.ErrFull}, {actor.Ref{}, actor.ErrNobody}} {
				for _, inside := range []bool{false, true} {
					var f actor.Future
					var q petition
					ask := func(re actor.ReplyTo) any { q = petition{1, re}; return q }
					if inside {
						w.In(from, func(ctx *actor.Context) { f = ctx.Ask(c.to, time.Hour, ask) })
					} else {
						f = w.Ask(c.to, time.Hour, ask)
					}
					_, done, err := f.Poll()
					w.e.require(done, "a question was refused, and its future has not ended")
					w.returned(err, c.to, q, c.reason)
					w.late(q.re.Tell("late"), "late")
				}
			}
			st := w.Stats()
			w.e.require(st.Returned == 6, "Stats.Returned is ", st.Returned, ", want 6")
			late := make([]any, 6)
			for i := range late {
				late[i] = "late"
			}
			w.undelivered(actor.Ref{}, actor.ErrLate, late...)
			w.Resume(full)
			w.idle()
		}),
	},
	{
		Name: "actor/ask-left", Rule: "V6", Core: true,
		Why: "a question that its actor leaves behind is a dead letter which says who waits: the future itself goes on until its deadline, and a reader of the letter may answer",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			r := w.Spawn(actor.Props{New: hearing(&eventLog{})})
			w.suspend(r, actor.Suspension{})
			f, g := w.inquire(r, 1, time.Minute), w.inquire(r, 2, time.Minute)
			w.Stop(r)
			w.Gone(r)
			w.until("two dead letters", func() bool { return len(w.DeadLetters()) == 2 })
			letters := w.DeadLetters()
			w.e.require(letters[0].ReplyTo == f.ReplyTo() && letters[1].ReplyTo == g.ReplyTo(), "the dead letters do not say who waits for replies")
			w.e.same("what ReplyTo.Tell returned", letters[0].ReplyTo.Tell("found"), nil)
			w.answered(f, "found")
			w.unanswered(g)
			clock.Advance(time.Minute)
			w.failedWith(g, actor.ErrTimeout)
			w.mu.Lock()
			w.letters = nil
			w.mu.Unlock()
		}),
	},
	{
		Name: "actor/ask-poll", Rule: "FR-008", Core: true,
		Why: "Poll never waits: it says that there is no reply yet, delivers it once, and says then that it has been taken",
		Check: actors(func(w *world) {
			f := w.NewFuture(0)
			twin := f
			for range 3 {
				w.unanswered(f)
			}
			w.e.same("what ReplyTo.Tell returned", f.ReplyTo().Tell(nil), nil) // nil is an answer, too
			msg, done, err := f.Poll()
			w.e.require(msg == nil && done && err == nil, "Poll returned ", msg, ", ", done, ", ", err, ", want nil, true, nil")
			for _, g := range []actor.Future{f, twin, {}} {
				w.failedWith(g, actor.ErrTaken)
				_, err := g.Wait(ended(errStop))
				w.e.same("what Wait returned", err, actor.ErrTaken)
				g.Discard()
			}
		}),
	},
	{
		Name: "actor/ask-wait", Rule: "FR-008", Core: true, Needs: overlapEager,
		Why: "Wait waits until there is a reply; of several who wait one gets it, and the others are told that it has been taken",
		Check: actors(func(w *world) {
			f := w.NewFuture(0)
			const n = 5
			var calls []*call[error]
			var got atomic.Int32
			for range n {
				calls = append(calls, start(w.e, "Wait", func() error {
					msg, err := f.Wait(context.Background())
					if err == nil && msg != "reply" {
						w.e.fail("Wait returned ", msg, ", want the reply")
					}
					if err == nil {
						got.Add(1)
					}
					return err
				}))
			}
			for _, c := range calls {
				c.blocks("there is no reply")
			}
			w.e.same("what ReplyTo.Tell returned", f.ReplyTo().Tell("reply"), nil)
			for _, c := range calls {
				err := c.get()
				w.e.require(err == nil || err == actor.ErrTaken, "Wait returned ", err, ", want nil or ", actor.ErrTaken)
			}
			w.e.require(got.Load() == 1, int(got.Load()), " of those who wait have got the reply, want one")
		}),
	},
	{
		Name: "actor/ask-context", Rule: "FR-008", Core: true,
		Why: "a Wait that is given up loses nothing: the future is as it was, the reply is found later, and one that is there wins over a context that has ended",
		Check: actors(func(w *world) {
			f := w.NewFuture(0)
			_, err := f.Wait(ended(errStop))
			w.e.same("what Wait returned", err, context.Canceled)
			ctx, cancel := context.WithCancel(context.Background())
			c := start(w.e, "Wait", func() error { _, err := f.Wait(ctx); return err })
			c.blocks("there is no reply")
			cancel()
			w.e.same("what Wait returned", c.get(), context.Canceled)
			w.e.same("what ReplyTo.Tell returned", f.ReplyTo().Tell("reply"), nil)
			msg, err := f.Wait(ctx)
			w.e.require(msg == "reply" && err == nil, "Wait returned ", msg, ", ", err, ", want the reply, which is there")
		}),
	},
	{
		Name: "actor/ask-late", Rule: "SC-004", Core: true,
		Why: "only the first reply is one: every other, however late, is refused and recorded, and never reaches another question that uses the same place",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			letter := func(msg any) actor.DeadLetter { return p.letter(msg, actor.Ref{}, actor.ErrLate) }
			var old []actor.ReplyTo
			for i := range 20 {
				f := w.NewFuture(time.Hour)
				for j, re := range old {
					w.late(re.Tell(-j), -j)
					p.brings(letter(-j))
				}
				w.unanswered(f)
				w.e.same("what ReplyTo.Tell returned", f.ReplyTo().Tell(i), nil)
				w.late(f.ReplyTo().Tell("twice"), "twice")
				w.answered(f, i)
				w.late(f.ReplyTo().Tell("after"), "after")
				p.brings(letter("twice"), letter("after"))
				old = append(old, f.ReplyTo())
			}
		}),
	},
	{
		Name: "actor/ask-drives", Rule: "FR-034", Core: true,
		Why: "where actors run only on demand, Wait runs them: a board asks and has the answer, without a goroutine",
		Check: actors(func(w *world) {
			server := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
				q := msg.(petition)
				return ctx.Reply(q.re, q.n+1)
			}))
			f := w.inquire(server, 1, 0)
			c := start(w.e, "Wait", func() any { msg, _ := f.Wait(context.Background()); return msg })
			w.e.require(c.get() == 2, "Wait did not return the reply")
		}),
	},
	{
		Name: "actor/ask-race", Rule: "V6", Kind: Stochastic, Needs: dyno.Promises{Eager: true},
		Why: "replies, deadlines, second replies and discards race, and each future ends exactly once: what was accepted is taken or recorded, what was not is refused and recorded",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				askRace(e, rng)
			}
		}),
	},
}

// inquire asks an actor with a petition.
func (w *world) inquire(to actor.Ref, n int, timeout time.Duration) actor.Future {
	return w.Ask(to, timeout, func(re actor.ReplyTo) any { return petition{n, re} })
}

// answered demands that f ends with that reply.
func (w *world) answered(f actor.Future, want any) {
	var msg any
	var err error
	w.until("a reply", func() bool {
		var done bool
		msg, done, err = f.Poll()
		return done
	})
	w.e.require(err == nil, "a future ended with ", err, ", want the reply ", want)
	w.e.require(msg == want, "a reply is ", msg, ", want ", want)
	w.failedWith(f, actor.ErrTaken)
}

// unanswered demands that f has not ended.
func (w *world) unanswered(f actor.Future) {
	msg, done, err := f.Poll()
	w.e.require(msg == nil && !done && err == nil, "Poll returned ", msg, ", ", done, ", ", err, ", want nil, false, nil: there is no reply")
}

// failedWith demands that f has ended, with that error.
func (w *world) failedWith(f actor.Future, want error) {
	msg, done, err := f.Poll()
	w.e.require(done && msg == nil, "Poll returned ", msg, ", ", done, ", ", err, ", want nil, true, ", want)
	w.e.same("the error of a future", err, want)
}

// late demands that err refuses a reply that came too late, and gives it back.
func (w *world) late(err error, msg any) { w.returned(err, actor.Ref{}, msg, actor.ErrLate) }

// askRace asks, and has two replies, the deadline and a discard race
// for each future.
func askRace(e *Env, rng *rand.Rand) {
	const askers, each = 3, 60
	clock := actor.NewManualClock(genesis)
	w := e.world(actor.Config{Clock: clock, KeepDeadLetters: -1})
	defer w.abandon()
	all := parcels(2 * askers * each) // the replies
	settle := func(p *parcel, err error) {
		var s *actor.SendError
		switch {
		case err == nil: // the future has it, or it is a letter
		case !errors.As(err, &s) || s.Msg != p || s.Reason != actor.ErrLate:
			p.wrong.Store(true)
		default: // refused, and a letter
		}
	}
	moods := sub(rng)
	second := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
		m := msg.(petition)
		p := &all[m.n]
		settle(p, ctx.Reply(m.re, p))
		return nil
	}))
	server := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
		m := msg.(petition)
		later := petition{2*m.n + 1, m.re}
		w.tells(ctx, second, later)
		p := &all[2*m.n]
		if moods.IntN(4) == 0 {
			w.tells(ctx, second, petition{2 * m.n, m.re})
			return nil
		}
		settle(p, ctx.Reply(m.re, p))
		return nil
	}))
	var calls []*call[error]
	for a := range askers {
		rng := sub(rng)
		calls = append(calls, start(e, "a loop of Ask and Wait", func() error {
			for i := range each {
				n := a*each + i
				f := w.inquire(server, n, time.Duration(1+rng.IntN(3))*time.Second)
				for range rng.IntN(3) {
					yield()
				}
				ctx := context.Background()
				switch rng.IntN(4) {
				case 0:
					f.Discard()
					continue
				case 1:
					ctx = ended(errStop)
				}
				msg, err := f.Wait(ctx)
				switch {
				case err == nil:
					p := msg.(*parcel)
					if p.id/2 != n {
						e.fail("the reply to question ", n, " was that to ", p.id/2)
					}
					p.handled.Add(1)
				case err == context.Canceled:
					f.Discard()
				case err != actor.ErrTimeout:
					return err
				}
			}
			return nil
		}))
	}
	for range 50 {
		clock.Advance(time.Duration(rng.IntN(300)) * time.Millisecond)
		yield()
	}
	over := func() bool {
		for _, c := range calls {
			select {
			case <-c.over:
			default:
				return false
			}
		}
		return true
	}
	w.until("all loops to end", func() bool { clock.Advance(time.Second); return over() })
	for _, c := range calls {
		e.same("what a loop of Ask returned", c.await(), nil)
	}
	w.until("every reply to have come", func() bool {
		for i := range all {
			if all[i].handled.Load()+all[i].undelivered.Load() == 0 {
				return false
			}
		}
		return true
	})
	w.end()
	w.accounted(all)
}
