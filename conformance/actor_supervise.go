package conformance

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// The vocabulary for what is survived.

// supervised spawns an actor that carries out orders, with that supervisor, and
// returns children of it.
func (w *world) supervised(s *actor.Supervisor, children ...actor.Props) []actor.Ref {
	parent := w.Spawn(actor.Props{New: actortest.Scripted().New, Supervisor: s})
	return w.below(parent, children...)
}

// below spawns children of an actor that carries out orders.
func (w *world) below(parent actor.Ref, children ...actor.Props) (refs []actor.Ref) {
	w.In(parent, func(ctx *actor.Context) {
		for _, p := range children {
			refs = append(refs, w.born(ctx.Spawn(p)))
		}
	})
	return refs
}

// failing returns an order to fail.
func (m failureKind) order() *order {
	return &order{Do: func(*actor.Context) error { return m.fail() }}
}

// failA is an order to fail with errA.
func failA() *order { return &order{Do: func(*actor.Context) error { return errA }} }

// resetFailures forgets all failures and what became of their messages, and returns
// how many failures there were.
func (w *world) resetFailures() int {
	w.idle()
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.failures)
	w.failures, w.failedLetters = nil, nil
	return n
}

// clocked is actors with a clock that only the check moves.
func clocked(body func(w *world, clock *actor.ManualClock)) func(e *Env) error {
	return check(func(e *Env) {
		clock := actor.NewManualClock(time.Unix(1_000_000_000, 0))
		w := e.world(actor.Config{Clock: clock})
		defer w.abandon()
		body(w, clock)
		e.hasChecked() // before end does
		w.end()
	})
}

// pass lets time pass when everything that can run has run.
func (w *world) pass(clock *actor.ManualClock, d time.Duration) {
	w.idle()
	clock.Advance(d)
	w.idle()
}

// V8: what a supervisor decides.
var superviseClauses = []Clause{
	{
		Name: "actor/supervise-storm", Rule: "FR-018", Kind: Stochastic,
		Why:   "whatever fails, is restarted, resumed, escalated, retried, delayed and stopped at the same time: every message is handled, comes back or is a dead letter, once, and the system ends",
		Check: races(superviseStorm),
	},
}

// superviseStorm lets a tree of supervisors fail, be stopped and be shut down
// while it is sent to.
func superviseStorm(e *Env, w *world, rng *rand.Rand) {
	const messages, senders, most = 600, 3, 48
	all := parcels(messages)
	ways := failureKinds(e)
	gone := ended(errStop)
	var next atomic.Int32
	var known [most]atomic.Pointer[actor.Ref]
	var count atomic.Int32
	supervisor := func(rng *rand.Rand) *actor.Supervisor {
		if rng.IntN(6) == 0 {
			return nil
		}
		rng = sub(rng)
		s := &actor.Supervisor{
			Strategy: actor.Strategy(rng.IntN(2)), Retry: rng.IntN(2) == 0,
			MaxRestarts: []int{-1, 0, 1, 3}[rng.IntN(4)],
			Decide: func(actor.Failure) actor.Directive {
				return []actor.Directive{actor.Restart, actor.Restart, actor.Restart, actor.Resume, actor.Resume, actor.Escalate, actor.Stop}[rng.IntN(7)]
			},
		}
		if rng.IntN(4) == 0 {
			s.Backoff = actor.Backoff{Min: time.Microsecond, Max: time.Millisecond, Jitter: 0.5, Seed: rng.Uint64()}
		}
		return s
	}
	var props func(rng *rand.Rand) actor.Props
	props = func(rng *rand.Rand) actor.Props {
		rng = sub(rng)
		hook := func(ctx *actor.Context) error {
			if rng.IntN(20) == 0 {
				return ways[rng.IntN(len(ways))].fail()
			}
			return nil
		}
		h := hooks{
			start: hook, stop: hook,
			end:   func(ctx *actor.Context, _ error) error { return hook(ctx) },
			begin: func(ctx *actor.Context, _ error) error { return hook(ctx) },
		}
		receive := func(ctx *actor.Context, msg any) error {
			p := msg.(*parcel)
			if rng.IntN(10) == 0 {
				return ways[rng.IntN(len(ways))].fail() // not handled yet, and perhaps never
			}
			if p.handled.Add(1) != 1 {
				w.e.fail("message ", p.id, " was handled twice")
			}
			switch rng.IntN(24) {
			case 0, 1:
				if at := int(count.Add(1)); at < most {
					if r, err := ctx.Spawn(props(rng)); err == nil {
						known[at].Store(&r)
					}
				}
			case 2:
				if r := known[rng.IntN(most)].Load(); r != nil {
					ctx.Stop(*r)
				}
			case 3:
				yield()
			}
			return nil
		}
		return actor.Props{
			Supervisor: supervisor(rng), Mailbox: mailboxes[rng.IntN(len(mailboxes))], Throughput: rng.IntN(6),
			New: func() actor.Actor { return &stormy{hooks: h, receive: receive} },
		}
	}
	// Not directly below the guardian, whom an escalation would end, and the system with it.
	parent := w.Spawn(actor.Props{New: actortest.Scripted().New, Supervisor: &actor.Supervisor{MaxRestarts: -1}})
	w.In(parent, func(ctx *actor.Context) {
		for i := range 8 {
			r := w.born(ctx.Spawn(props(rng)))
			known[i].Store(&r)
		}
	})
	count.Store(8)
	shutAt := messages/2 + rng.IntN(messages)
	calls := w.callers(senders, rng, func(_ int, rng *rand.Rand) {
		for i := int(next.Add(1)) - 1; i < messages; i = int(next.Add(1)) - 1 {
			r := known[rng.IntN(most)].Load()
			if r == nil {
				r = known[rng.IntN(8)].Load()
			}
			all[i].sent(r.TellContext(gone, &all[i]))
			if i >= shutAt {
				_ = w.Shutdown(gone)
			}
			if rng.IntN(4) == 0 {
				yield()
			}
		}
	})
	w.succeed(calls)
	w.shutdown()
	for _, l := range w.bookFailed() {
		e.require(l.Cause != nil, "a message that failed is a dead letter without a cause")
	}
	w.counted(w.accounted(all))
}

// hooks are what an actor does beside handling messages.
type hooks struct {
	start, stop func(ctx *actor.Context) error
	end, begin  func(ctx *actor.Context, cause error) error
}

// stormy is an actor with every hook.
type stormy struct {
	hooks
	receive actor.ReceiveFunc
}

func (a *stormy) PreStart(ctx *actor.Context) error                 { return a.start(ctx) }
func (a *stormy) PostStop(ctx *actor.Context) error                 { return a.stop(ctx) }
func (a *stormy) PreRestart(ctx *actor.Context, cause error) error  { return a.end(ctx, cause) }
func (a *stormy) PostRestart(ctx *actor.Context, cause error) error { return a.begin(ctx, cause) }

func (a *stormy) Receive(ctx *actor.Context, msg any) error { return a.receive(ctx, msg) }
