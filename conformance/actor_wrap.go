package conformance

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// FR-026, FR-005, FR-015: what stands around an actor, and what it can bring of
// its own: middleware, an invoker, a mailbox.
var wrapClauses = []Clause{
	{
		Name: "actor/middleware-fails", Rule: "FR-026", Core: true,
		Why: "middleware that panics or ends its goroutine is a failure of the actor, like one of its own, and of no other",
		Check: actors(func(w *world) {
			for _, how := range failureKinds(w.e) {
				r := w.Spawn(actor.Props{New: actortest.Scripted().New, Middleware: []actor.Middleware{func(next actor.ReceiveFunc) actor.ReceiveFunc {
					return func(ctx *actor.Context, msg any) error {
						if msg == "fail" {
							return how.fail()
						}
						return next(ctx, msg)
					}
				}}})
				w.tell(r, "fail")
				f := w.failed(r)
				how.is(w.e, f.Err)
				w.e.require(f.Msg == "fail", "the failure is said to be on message ", f.Msg)
				w.Gone(r)
			}
			w.In(w.Spawn(actortest.Scripted()), func(*actor.Context) {})
		}),
	},
	{
		Name: "actor/invoker-inside", Rule: "FR-015", Core: true,
		Why: "an actor may bring its own invoker: it is given the behaviour in force and the message, inside all middleware, and decides whether, how often and with what the actor is called",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &eventLog{}
			r := w.Spawn(actor.Props{
				New: hearing(d), Middleware: []actor.Middleware{around(d, "m")},
				Invoker: invoker(func(ctx *actor.Context, a actor.Actor, msg any) error {
					switch msg {
					case "no":
						d.note("not-called")
						return nil
					case "retry":
						for try := range 3 {
							if err := a.Receive(ctx, try); err != nil {
								return err
							}
						}
						return nil
					case "fail":
						return errA
					}
					return a.Receive(ctx, msg)
				}),
			})
			w.tell(r, "no", "retry")
			w.wantLog(d, "m(", "not-called", ")m", "m(", "0", "1", "2", ")m")
			w.In(r, func(ctx *actor.Context) {
				ctx.StartTimer(time.Second, "no")
				ctx.Become(func(ctx *actor.Context, msg any) error {
					d.note("became")
					return d.hear(ctx, msg)
				})
			})
			d.clear()
			clock.Advance(time.Second)
			w.wantLog(d, "m(", "not-called", ")m")
			w.tell(r, 5)
			w.wantLog(d, "m(", "not-called", ")m", "m(", "became", "5", ")m")
			w.tell(r, "fail")
			f := w.failed(r)
			w.e.same("the failure", f.Err, errA)
			w.Gone(r)
		}),
	},
	{
		Name: "actor/own-mailbox", Rule: "FR-005", Core: true,
		Why: "an actor may bring its own mailbox, and is given messages in the order of that: here the newest first; system messages pass it by",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{New: func() actor.Mailbox { return &pile{} }}})
			w.In(r, func(ctx *actor.Context) {
				w.tells(ctx, r, 1, 2, 3)
				ctx.StartTimer(time.Second, "tick")
				clock.Advance(time.Second)
			})
			w.wantLog(d, "tick", "3", "2", "1")
			d.clear()
			w.suspend(r, actor.Suspension{})
			w.tell(r, 4, 5)
			w.e.require(r.Backlog() == 2, r.Backlog(), " messages wait, want 2")
			w.wantLog(d)
			w.Resume(r)
			w.wantLog(d, "5", "4")
			w.suspend(r, actor.Suspension{})
			w.tell(r, 6, 7)
			w.Stop(r)
			w.undelivered(r, actor.ErrStopped, 7, 6)
			w.Gone(r)
			w.returned(r.Tell(8), r, 8, actor.ErrStopped)
		}),
	},
	{
		Name: "actor/own-mailbox-full", Rule: "FR-005", Core: true,
		Why: "what a mailbox of one's own refuses goes back to its sender, and what it drops is a dead letter: it can lose nothing silently",
		Check: clocked(func(w *world, _ *actor.ManualClock) {
			p := w.post()
			d := &eventLog{}
			refuses := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{New: func() actor.Mailbox { return &pile{bound: 2} }}})
			drops := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{New: func() actor.Mailbox { return &pile{bound: 2, drops: true} }}})
			for _, r := range []actor.Ref{refuses, drops} {
				w.suspend(r, actor.Suspension{})
				w.tell(r, 1, 2)
			}
			w.returned(refuses.Tell(3), refuses, 3, actor.ErrFull)
			p.brings(p.returned(3, refuses, actor.ErrFull))
			w.tell(drops, 3)
			p.brings(p.letter(2, drops, actor.ErrDropped))
			w.Resume(refuses)
			w.wantLog(d, "2", "1")
			w.Resume(drops)
			w.wantLog(d, "2", "1", "3", "1")
		}),
	},
	{
		Name: "actor/own-mailbox-turns", Rule: "FR-028", Core: true,
		Why: "an actor with a mailbox of its own has turns like any other: at most its throughput, and then others have theirs",
		Check: actors(func(w *world) {
			const n = 50
			var handled atomic.Int32
			r := w.Spawn(actor.Props{
				Throughput: 4, Mailbox: actor.MailboxConfig{New: func() actor.Mailbox { return &pile{} }},
				New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					if o, ok := msg.(*order); ok {
						return o.Do(ctx)
					}
					handled.Add(1)
					return nil
				})),
			})
			w.suspend(r, actor.Suspension{})
			for i := range n {
				w.tell(r, i)
			}
			w.idle()
			before := w.Stats().Turns
			w.Resume(r)
			w.until("all messages to be handled", func() bool { return handled.Load() == n })
			w.idle()
			turns := w.Stats().Turns - before
			w.e.require(!w.e.Exact || turns >= n/4, turns, " turns for ", n, " messages with a throughput of 4")
		}),
	},
	{
		Name: "actor/own-mailbox-account", Rule: "FR-009", Kind: Stochastic,
		Why: "a mailbox of one's own, whatever it refuses, drops and reorders, is called by one at a time, and every message is accounted for when sends race with suspensions, failures and stops",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				pileRace(e, rng)
			}
		}),
	},
}

// around is middleware that notes when a message comes and goes. Orders it passes
// on without a word.
func around(d *eventLog, name string) actor.Middleware {
	return func(next actor.ReceiveFunc) actor.ReceiveFunc {
		return func(ctx *actor.Context, msg any) error {
			if _, ok := msg.(*order); ok {
				return next(ctx, msg)
			}
			d.note(name, "(")
			defer d.note(")", name)
			return next(ctx, msg)
		}
	}
}

// clear forgets what is in the log.
func (d *eventLog) clear() {
	d.mu.Lock()
	d.entries = nil
	d.mu.Unlock()
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
func pileRace(e *Env, rng *rand.Rand) {
	const senders, each = 4, 80
	w := e.world(actor.Config{})
	defer w.abandon()
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
	var calls []*call[error]
	for s := range senders {
		rng := sub(rng)
		calls = append(calls, start(e, "a loop of Tell", func() error {
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
			return nil
		}))
	}
	for _, c := range calls {
		e.same("what a loop of Tell returned", finished(w, c), nil)
	}
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
	w.mu.Lock()
	for _, l := range w.failedLetters {
		l.Msg.(*parcel).undelivered.Add(1)
	}
	w.failures = nil
	w.mu.Unlock()
	w.accounted(all)
	e.require(!wrong.Load(), "the mailbox was called by two at a time")
}
