package conformance

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// Timers, receive timeouts and stashes: messages that an actor has of itself.
var timerClauses = []Clause{
	{
		Name: "actor/timer-order", Rule: "V1", Core: true, Kind: Stochastic,
		Why:   "any number of timers, started and stopped in any order, come in the order of their times, each in its time, and those that were stopped do not",
		Check: atRandom(timerStorm),
	},
	{
		Name: "actor/steady-rate", Rule: "SC-002",
		Why: "at 1,000 messages a second, due by the clock and not when the one before has been handled, an actor that has nothing else to do has a backlog of 10 or less at the end of each millisecond, and drops nothing",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			const n = 300
			var sent, handled atomic.Int32
			r := w.Spawn(actortest.Func(func(*actor.Context, any) error {
				handled.Add(1)
				return nil
			}))
			source := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
				if o, ok := msg.(*order); ok {
					return o.Do(ctx)
				}
				sent.Add(1)
				w.tells(ctx, r, msg)
				return nil
			}))
			w.In(source, func(ctx *actor.Context) { ctx.StartPeriodic(time.Millisecond, 1) })
			most := 0
			for i := range n {
				clock.Advance(time.Millisecond)
				w.until("a message to be sent in its millisecond", func() bool { return int(sent.Load()) == i+1 })
				w.idle() // a millisecond is longer than anything that can run now takes
				most = max(most, i+1-int(handled.Load()))
				w.e.require(most <= 10, "after ", i+1, " ms ", most, " messages were waiting, want at most 10")
			}
			st := w.Stats()
			w.e.require(st.DeadLetters == 0 && st.Returned == 0, st.DeadLetters, " messages were dropped and ", st.Returned, " returned")
			w.e.measured(most, "messages")
		}),
	},
}

// timerStorm starts many timers, some of them for the same time, stops some, and
// moves the clock in steps of any size.
func timerStorm(e *Env, rng *rand.Rand) {
	const n = 120
	clock := actor.NewManualClock(genesis)
	w := e.world(actor.Config{Clock: clock})
	defer w.abandon()
	type alarm struct {
		timer         *actor.Timer
		due           time.Time
		came, stopped bool
	}
	var alarms []*alarm // all of it is for the actor's turns
	last := -1          // the one that came last
	r := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
		if o, ok := msg.(*order); ok {
			return o.Do(ctx)
		}
		i := msg.(int)
		a := alarms[i]
		e.require(!a.came, "timer ", i, " came twice")
		e.require(!a.stopped, "timer ", i, " came although it was stopped")
		e.require(!a.due.After(clock.Now()), "timer ", i, " came before its time")
		if last >= 0 {
			l := alarms[last].due
			e.require(l.Before(a.due) || l.Equal(a.due) && last < i, "timer ", i, " came after timer ", last, ", which was due later")
		}
		a.came = true
		last = i
		return nil
	}))
	left := n
	for left > 0 {
		w.In(r, func(ctx *actor.Context) {
			for range min(n-len(alarms), 1+rng.IntN(20)) {
				// At least a millisecond: what is due at once comes when others that
				// are due now have come.
				d := time.Duration(1+rng.IntN(1000)) * time.Millisecond
				a := &alarm{due: clock.Now().Add(d)}
				a.timer = ctx.StartTimer(d, len(alarms))
				alarms = append(alarms, a)
			}
			for range rng.IntN(6) {
				i := rng.IntN(len(alarms))
				a := alarms[i]
				had := a.timer.Stop()
				e.require(had == (!a.came && !a.stopped), "Stop of timer ", i, ", which came: ", a.came, ", was stopped: ", a.stopped, ", said ", had)
				a.stopped = a.stopped || had
			}
		})
		clock.Advance(time.Duration(rng.IntN(300)) * time.Millisecond)
		// An actor that is between two messages now has looked for system messages
		// already: what is sent after the advance could still come before them.
		w.idle()
		w.In(r, func(*actor.Context) {
			left = n - len(alarms)
			for i, a := range alarms {
				switch {
				case a.came || a.stopped:
				case a.due.After(clock.Now()):
					left++
				default:
					e.fail("timer ", i, " has not come although it was due")
				}
			}
		})
	}
	w.end()
}
