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
		Name: "actor/letters-account", Rule: "SC-004", Kind: Stochastic,
		Why:   "whatever happens to a message – handled, given back, dropped, stashed and left, left in a mailbox, failed on – it is recorded on the event stream exactly once if it was not handled",
		Check: atRandom(lettersRace),
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
type crate struct{ in any }

// Unbox implements actor.Boxed.
func (c crate) Unbox() any { return c.in }

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
	calls := w.callers(senders, rng, func(s int, rng *rand.Rand) {
		for i := range each {
			p := &all[s*each+i]
			p.sent(to[rng.IntN(receivers)].Load().Tell(p))
			for range rng.IntN(2) {
				yield()
			}
		}
	})
	w.succeed(calls)
	w.idle()
	w.shutdown()
	w.idle()
	for _, l := range w.bookFailed() {
		e.require(l.Cause == errA, "a message was failed on, and its cause is ", l.Cause)
	}
	w.counted(w.accounted(all))
	for i := range all {
		want := 1 - all[i].handled.Load()
		e.require(published[i].Load() == want, "message ", i, " was published as a dead letter ", int(published[i].Load()), " times, want ", int(want))
	}
}
