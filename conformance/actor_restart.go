package conformance

import (
	"errors"
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
				_, refs := w.supervised(&actor.Supervisor{
					MaxRestarts: -1, Window: -1, Backoff: actor.Backoff{Min: time.Hour, Factor: 1, Jitter: jitter, Seed: seed},
				}, actortest.Scripted(), actortest.Scripted())
				for range 4 {
					for _, r := range refs {
						w.tell(r, failA())
						w.failed(r)
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

// FR-010, FR-026: what stands before an actor.
var middlewareClauses = []Clause{
	{
		Name: "actor/middleware-order", Rule: "FR-026", Core: true,
		Why: "every message passes the system's middleware, then the actor's, each the first first, then the invoker, and comes back the other way round",
		Check: check(func(e *Env) {
			d := &eventLog{}
			layer := func(name string) actor.Middleware {
				return func(next actor.ReceiveFunc) actor.ReceiveFunc {
					return func(ctx *actor.Context, msg any) error {
						if msg != 1 && msg != 2 {
							return next(ctx, msg)
						}
						d.note(name, "-in")
						err := next(ctx, msg)
						d.note(name, "-out")
						return err
					}
				}
			}
			w := e.world(actor.Config{Middleware: []actor.Middleware{layer("A"), layer("B")}})
			defer w.abandon()
			p := d.logged("")
			p.Middleware = []actor.Middleware{layer("c"), layer("d")}
			p.Invoker = invoker(func(ctx *actor.Context, a actor.Actor, msg any) error {
				d.note("i")
				return a.Receive(ctx, msg)
			})
			r := w.Spawn(p)
			w.tell(r, 1)
			want := []string{"1-starts", "A-in", "B-in", "c-in", "d-in", "i", "1:1", "d-out", "c-out", "B-out", "A-out"}
			w.wantLog(d, want...)
			other := &eventLog{} // the actor's own is its own
			w.tell(w.Spawn(actor.Props{New: hearing(other)}), 2)
			w.wantLog(d, append(want, "A-in", "B-in", "B-out", "A-out")...)
			w.wantLog(other, "2")
			w.End(r)
			w.wantLog(d, append(want, "A-in", "B-in", "B-out", "A-out", "1-stops")...)
			w.end()
		}),
	},
	{
		Name: "actor/middleware-everything", Rule: "FR-026", Core: true,
		Why: "the chain is made once for each actor and serves for its life, after Become and after a restart; messages of timers, of those it watches and after a stash pass it, hooks do not",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d, seen := &eventLog{}, &eventLog{}
			chains := 0
			p := d.logged("a")
			p.Middleware = []actor.Middleware{func(next actor.ReceiveFunc) actor.ReceiveFunc {
				chains++
				return func(ctx *actor.Context, msg any) error {
					switch msg := msg.(type) {
					case *order:
					case actor.Terminated:
						seen.note("terminated")
					case actor.ReceiveTimeout:
						seen.note("timeout")
						return nil
					default:
						seen.note(msg)
					}
					return next(ctx, msg)
				}
			}}
			_, refs := w.supervised(&actor.Supervisor{Retry: true}, p)
			a := refs[0]
			x := w.SpawnNamed("x", actortest.Scripted())
			w.In(a, func(ctx *actor.Context) {
				ctx.Watch(x)
				ctx.StartTimer(time.Minute, "tick")
				ctx.SetReceiveTimeout(time.Hour)
				ctx.Stash("stashed")
				ctx.UnstashAll()
			})
			w.wantLog(seen, "stashed")
			w.End(x)
			w.wantLog(seen, "stashed", "terminated")
			w.pass(clock, time.Minute)
			w.wantLog(seen, "stashed", "terminated", "tick")
			w.pass(clock, 90*time.Minute) // less than two timeouts, whenever the first is handled
			w.until("the receive timeout", func() bool { return len(seen.read()) >= 4 })
			w.In(a, func(ctx *actor.Context) {
				ctx.SetReceiveTimeout(0)
				ctx.Become(func(ctx *actor.Context, msg any) error {
					d.note("b:", msg)
					if msg == "fail" && ctx.Unbecome() {
						return errA
					}
					return nil
				})
			})
			w.tell(a, 1, "fail")
			w.failed(a)
			w.tell(a, 2)
			w.wantLog(seen, "stashed", "terminated", "tick", "timeout", "1", "fail", "fail", "2")
			w.wantLog(d, "a1-starts", "a1:stashed", "a1:x-gone", "a1:tick", "b:1", "b:fail", "a1-stops", "a2-starts", "a2:fail", "a2:2")
			w.In(a, func(*actor.Context) {
				w.e.require(chains == 1, "the chain was made ", chains, " times for one actor")
			})
		}),
	},
	{
		Name: "actor/middleware-decides", Rule: "FR-026", Core: true,
		Why: "what the outermost middleware returns is what the actor has returned: it may change the message, keep it, fail for the actor, and forgive it",
		Check: actors(func(w *world) {
			d := &eventLog{}
			p := d.logged("a")
			p.Middleware = []actor.Middleware{func(next actor.ReceiveFunc) actor.ReceiveFunc {
				return func(ctx *actor.Context, msg any) error {
					switch msg {
					case "keep":
						return nil
					case "fail":
						return errB
					case "panic":
						panic(errB)
					case "change":
						return next(ctx, "changed")
					case "forgive":
						w.e.same("what the actor returned", next(ctx, failA()), errA)
						return nil
					}
					return next(ctx, msg)
				}
			}}
			parent, refs := w.supervised(&actor.Supervisor{Decide: always(actor.Resume)}, p)
			a := refs[0]
			w.tell(a, "keep", "change", "forgive", 1)
			w.wantLog(d, "a1-starts", "a1:changed", "a1:1")
			w.wantFailedLetters(a, nil)
			for _, msg := range []string{"fail", "panic"} {
				w.tell(a, msg)
				f := w.failed(a)
				w.e.require(errors.Is(f.Err, errB) && f.Msg == msg, "the failure of a middleware is ", f.Err, ", want ", errB)
				w.wantFailedLetters(a, f.Err, msg)
			}
			w.tell(a, 2)
			w.wantLog(d, "a1-starts", "a1:changed", "a1:1", "a1:2")
			w.In(parent, func(*actor.Context) {})
		}),
	},
	{
		Name: "actor/invoker", Rule: "FR-005", Core: true,
		Why: "an invoker of one's own judges every message: it is given the behaviour in force, decides whether and how often that is called, and what is an error",
		Check: actors(func(w *world) {
			d := &eventLog{}
			p := d.logged("a")
			p.Invoker = invoker(func(ctx *actor.Context, a actor.Actor, msg any) error {
				switch msg {
				case "never":
					return nil
				case "twice":
					if err := a.Receive(ctx, msg); err != nil {
						return err
					}
				case "fail":
					return errB
				}
				return a.Receive(ctx, msg)
			})
			_, refs := w.supervised(&actor.Supervisor{}, p)
			a := refs[0]
			w.tell(a, "never", "twice", 1)
			w.wantLog(d, "a1-starts", "a1:twice", "a1:twice", "a1:1")
			w.In(a, func(ctx *actor.Context) {
				ctx.Become(func(_ *actor.Context, msg any) error {
					d.note("b:", msg)
					return nil
				})
			})
			w.tell(a, "twice", "fail", "twice", "never")
			w.failed(a)
			w.wantFailedLetters(a, errB, "fail")
			w.wantLog(d, "a1-starts", "a1:twice", "a1:twice", "a1:1", "b:twice", "b:twice", "a1-stops", "a2-starts", "a2:twice", "a2:twice")
		}),
	},
	{
		Name: "actor/restart-throughput", Rule: "FR-028", Core: true,
		Why: "a message that is retried and those that were stashed count as messages of a turn: an actor that is restarted does not keep others from running",
		Check: actors(func(w *world) {
			d := &eventLog{}
			const n = 60 // many more than all other turns
			p := d.logged("a")
			p.Throughput = 1
			_, refs := w.supervised(&actor.Supervisor{}, p)
			a := refs[0]
			w.tell(a, &order{Do: func(ctx *actor.Context) error {
				for i := range n {
					ctx.Stash(i)
				}
				return errA
			}})
			want := []string{"a1-starts", "a1-stops", "a2-starts"}
			for i := range n {
				want = append(want, text("a2:", i))
			}
			w.wantLog(d, want...)
			w.failed(a)
			w.resetFailures()
			w.shutdown() // then the turns are counted exactly
			turns := int(w.Stats().Turns)
			w.e.require(turns >= n, n, " messages that were stashed were handled in ", turns, " turns of one message each")
		}),
	},
}

// invoker is an actor.Invoker that is only a function.
type invoker func(ctx *actor.Context, a actor.Actor, msg any) error

func (f invoker) Invoke(ctx *actor.Context, a actor.Actor, msg any) error { return f(ctx, a, msg) }
