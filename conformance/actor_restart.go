package conformance

import (
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// V1, V8: what a restart does and what it leaves.
var restartClauses = []Clause{
	{
		Name: "actor/restart-jitter", Rule: "V8", Core: true,
		Why: "the part of a backoff that is left to chance is as large as the supervisor says, and comes from its seed: equal seeds give equal delays, and others do not",
		Check: check(func(e *Env) {
			rng := e.random()
			one, other := rng.Uint64(), rng.Uint64()
			delays := func(seed uint64, jitter float64) (all []time.Duration) {
				clock := actor.NewManualClock(time.Unix(1_000_000_000, 0))
				w := e.world(actor.Config{Clock: clock})
				defer w.abandon()
				events := actor.Subscribe[actor.Supervised](w.Events(), 10)
				refs := w.supervised(&actor.Supervisor{
					MaxRestarts: -1, Window: -1, Backoff: actor.Backoff{Min: time.Hour, Factor: 1, Jitter: jitter, Seed: seed},
				}, actortest.Scripted(), actortest.Scripted())
				for range 4 {
					for _, r := range refs {
						w.tell(r, failA())
						w.takeFailure(r)
						w.idle()
						ev, ok := events.TryNext()
						e.require(ok, "there is no event of a restart")
						all = append(all, ev.Delay)
						least := time.Hour - time.Duration(jitter*float64(time.Hour))
						e.require(least <= ev.Delay && ev.Delay <= time.Hour, "the delay is ", int64(ev.Delay/time.Millisecond), " ms, want from ", int64(least/time.Millisecond), " ms to an hour")
						w.pass(clock, ev.Delay)
						w.In(r, func(*actor.Context) {}) // it has been restarted
					}
				}
				w.resetFailures()
				w.end()
				return all
			}
			spread := func(all []time.Duration) int {
				seen := map[time.Duration]bool{}
				for _, d := range all {
					seen[d] = true
				}
				return len(seen)
			}
			first, again, elsewise, none := delays(one, 0.5), delays(one, 0.5), delays(other, 0.5), delays(one, 0)
			same := 0
			for i := range first {
				e.require(first[i] == again[i], "equal seeds give different delays: ", int64(first[i]), " and ", int64(again[i]), " ns")
				if first[i] == elsewise[i] {
					same++
				}
			}
			e.require(same == 0, same, " of ", len(first), " delays are equal although the seeds are not")
			e.require(spread(first) == len(first), "of ", len(first), " delays with jitter only ", spread(first), " differ")
			e.require(spread(none) == 1, "delays without jitter differ")
		}),
	},
}

// invoker is an actor.Invoker that is only a function.
type invoker func(ctx *actor.Context, a actor.Actor, msg any) error

func (f invoker) Invoke(ctx *actor.Context, a actor.Actor, msg any) error { return f(ctx, a, msg) }
