package conformance

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// FR-026, FR-005, FR-015: what stands around an actor, and what it can bring of
// its own: middleware, an invoker, a mailbox.
var wrapClauses = []Clause{
	{
		Name: "actor/own-mailbox-account", Rule: "FR-009", Kind: Stochastic,
		Why:   "a mailbox of one's own, whatever it refuses, drops and reorders, is called by one at a time, and every message is accounted for when sends race with suspensions, failures and stops",
		Check: races(pileRace),
	},
}

// pile is a mailbox of one's own: the newest message is the next. If it has a
// bound it refuses what comes when that many wait, or drops the newest.
type pile struct {
	list   []any
	fifo   bool // the oldest message is the next
	bound  int
	drops  bool
	inside atomic.Int32
	wrong  *atomic.Bool // set when it is called by two at a time
}

func (p *pile) enter() func() {
	if p.inside.Add(1) != 1 && p.wrong != nil {
		p.wrong.Store(true)
	}
	return func() { p.inside.Add(-1) }
}

// Enqueue implements actor.Mailbox.
func (p *pile) Enqueue(msg any, drop func(any)) actor.SendResult {
	defer p.enter()()
	if p.bound > 0 && len(p.list) == p.bound {
		if !p.drops {
			return actor.Full
		}
		drop(p.list[p.bound-1])
		p.list = p.list[:p.bound-1]
	}
	p.list = append(p.list, msg)
	return actor.Sent
}

// Dequeue implements actor.Mailbox.
func (p *pile) Dequeue() (any, bool) {
	defer p.enter()()
	n := len(p.list)
	if n == 0 {
		return nil, false
	}
	next := n - 1
	if p.fifo {
		next = 0
	}
	msg := p.list[next]
	p.list = slices.Delete(p.list, next, next+1)
	return msg, true
}

// Len implements actor.Mailbox.
func (p *pile) Len() int {
	defer p.enter()()
	return len(p.list)
}

// pileRace sends to an actor with a mailbox of its own, which fails, suspends
// itself and is stopped in the end.
func pileRace(e *Env, w *world, rng *rand.Rand) {
	const senders, each = 4, 80
	all := parcels(senders * each)
	var wrong atomic.Bool
	bound, drops := rng.IntN(4), rng.IntN(2) == 0
	moods, ways := sub(rng), failureKinds(e)
	var r actor.Ref
	parent := w.Spawn(actor.Props{New: actortest.Scripted().New, Supervisor: &actor.Supervisor{MaxRestarts: -1}})
	w.In(parent, func(ctx *actor.Context) {
		r = w.born(ctx.Spawn(actor.Props{
			Throughput: rng.IntN(5),
			Mailbox:    actor.MailboxConfig{New: func() actor.Mailbox { return &pile{bound: bound, drops: drops, wrong: &wrong} }},
			New: func() actor.Actor {
				return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					switch moods.IntN(20) {
					case 0:
						return ways[moods.IntN(len(ways))].fail()
					case 1:
						ctx.Suspend(actor.Suspension{})
						ctx.Resume(ctx.Self())
					case 2:
						_ = r.Backlog()
					}
					msg.(*parcel).handled.Add(1)
					return nil
				})
			},
		}))
	})
	stopAfter := rng.IntN(2 * each)
	calls := w.callers(senders, rng, func(s int, rng *rand.Rand) {
		for i := range each {
			p := &all[s*each+i]
			p.sent(r.Tell(p))
			for range rng.IntN(3) {
				yield()
			}
			if s == 0 && i == stopAfter {
				w.Stop(r)
			}
		}
	})
	w.succeed(calls)
	accounted := func() (n int) {
		for i := range all {
			n += int(all[i].handled.Load() + all[i].returned.Load() + all[i].undelivered.Load())
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return n + len(w.failedLetters)
	}
	w.until("every message to be accounted for", func() bool { return accounted() == len(all) },
		func() string {
			return text("only ", accounted(), " of ", len(all), " messages are accounted for, ", r.Backlog(), " wait")
		})
	w.shutdown()
	w.idle()
	w.bookFailed()
	w.accounted(all)
	e.require(!wrong.Load(), "the mailbox was called by two at a time")
}
