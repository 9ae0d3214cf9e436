package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// V6, FR-008: asking. A server puts the ReplyTo of what it is asked where the
// check finds it, and the check answers; or it answers by itself.
var askClauses = []Clause{
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
			w.returned(actor.ReplyTo{}.Tell(3), actor.Ref{}, 3, actor.ErrZeroRef)
			w.In(other, func(ctx *actor.Context) {
				w.returned(ctx.Reply(actor.ReplyTo{}, 4), actor.Ref{}, 4, actor.ErrZeroRef)
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
		Name: "actor/ask-of-stopping", Rule: "V6", Needs: overlapEager,
		Why: "a child that waits, in its turn, for a reply of its parent goes on when the parent stops with the question in its mailbox: else neither of the two would ever stop",
		Check: actors(func(w *world) {
			d := &eventLog{}
			parent := w.Spawn(actortest.Scripted())
			var child actor.Ref
			w.In(parent, func(ctx *actor.Context) { child = w.born(ctx.Spawn(actortest.Scripted())) })
			g := w.e.gate()
			w.ask(parent, func(ctx *actor.Context) {
				g.pass()
				ctx.StopSelf()
			})
			w.reached(g, 1)
			asked := make(chan petition)
			w.ask(child, func(ctx *actor.Context) {
				f := ctx.Ask(parent, 0, func(re actor.ReplyTo) any { return petition{1, re} })
				asked <- petition{1, f.ReplyTo()}
				_, err := f.Wait(context.Background())
				d.note(text(err))
			})
			question := <-asked
			g.open()
			w.wantLog(d, text(actor.ErrStopped))
			w.undelivered(parent, actor.ErrStopped, question)
			w.until("both to stop", func() bool {
				_, a := w.Lookup(child.PID())
				_, b := w.Lookup(parent.PID())
				return !a && !b
			})
		}),
	},
	{
		Name: "actor/ask-race", Rule: "V6", Kind: Stochastic, Needs: dyno.Promises{Eager: true},
		Why:   "replies, deadlines, second replies and discards race, and each future ends exactly once: what was accepted is taken or recorded, what was not is refused and recorded",
		Check: atRandom(askRace),
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

// tooLate demands that err refuses a reply that came too late, and gives it back.
func (w *world) tooLate(err error, msg any) { w.returned(err, actor.Ref{}, msg, actor.ErrLate) }

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
	calls := w.callers(askers, rng, func(a int, rng *rand.Rand) {
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
			default:
				e.same("the error of Wait", err, actor.ErrTimeout)
			}
		}
	})
	for range 50 {
		clock.Advance(time.Duration(rng.IntN(300)) * time.Millisecond)
		yield()
	}
	running := func(c *call[error]) bool { return !came(c.over) }
	w.until("all loops to end", func() bool { clock.Advance(time.Second); return !slices.ContainsFunc(calls, running) })
	w.succeed(calls)
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
