package conformance

import (
	"math/rand/v2"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// ends is what an actor has been told of others' ends.
type ends struct {
	told  map[actor.Ref]int
	cause map[actor.Ref]error // of the last time
}

// watcher spawns an actor that carries out orders and counts the ends it is
// told of. The counts are its turns': ask it for them.
func (w *world) watcher() (actor.Ref, *ends) {
	n := &ends{map[actor.Ref]int{}, map[actor.Ref]error{}}
	return w.Spawn(actortest.Func(n.receive)), n
}

func (n *ends) receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case *order:
		return msg.Do(ctx)
	case actor.Terminated:
		n.told[msg.Actor]++
		n.cause[msg.Actor] = msg.Err
	}
	return nil
}

// watches has an actor that carries out orders watch others.
func (w *world) watches(who actor.Ref, refs ...actor.Ref) {
	w.In(who, func(ctx *actor.Context) {
		for _, r := range refs {
			ctx.Watch(r)
		}
	})
}

// told demands that the watcher comes to be told of r's end n times, no more,
// and each time for a stop without an error.
func (w *world) told(who actor.Ref, ends *ends, r actor.Ref, n int) {
	w.idle()
	got, cause := 0, error(nil)
	w.until(text(n, " messages about the end of ", r.Path()), func() bool {
		w.In(who, func(*actor.Context) { got, cause = ends.told[r], ends.cause[r] })
		return got >= n
	}, func() string {
		return text("the watcher was told of the end of ", r.Path(), " ", got, " times, want ", n)
	})
	w.e.require(got == n, "the watcher was told of the end of ", r.Path(), " ", got, " times, want ", n)
	w.e.same("the reason of the end of "+r.Path(), cause, nil)
}

// FR-023: who watches another actor.
var watchClauses = []Clause{
	{
		Name: "actor/watch-each-other", Rule: "FR-023", Core: true,
		Why: "actors that watch each other, their parents and their children stop like all others: none learns of a stop that came before, and the system ends",
		Check: actors(func(w *world) {
			t := w.family(w.e.random(), 40)
			for _, r := range t.refs {
				w.In(r, func(ctx *actor.Context) {
					for _, other := range t.refs {
						ctx.Watch(other)
					}
				})
			}
			w.idle()
			w.shutdown()
			t.inOrder(len(t.refs))
			st := w.Stats()
			w.e.require(st.DeadLetters == 0, st.DeadLetters, " dead letters although nothing was sent")
		}),
	},
	{
		Name: "actor/watch-other-system", Rule: "FR-023", Core: true,
		Why: "an actor of another system may be watched: its end is told across, also if its whole system ends",
		Check: actors(func(w *world) {
			other := w.e.world(actor.Config{})
			defer other.abandon()
			who, ends := w.watcher()
			far, dead, last := other.Spawn(actortest.Scripted()), other.Spawn(actortest.Scripted()), other.Spawn(actortest.Scripted())
			other.End(dead)
			w.watches(who, far, dead, last)
			w.told(who, ends, dead, 1)
			other.idle()
			other.End(far)
			w.told(who, ends, far, 1)
			w.told(who, ends, last, 0)
			other.end()
			w.told(who, ends, last, 1)
		}),
	},
	{
		Name: "actor/watch-storm", Rule: "FR-023", Kind: Stochastic,
		Why:   "watching and unwatching race with stops and restarts, and still each watch that is not undone is answered exactly once, and no other",
		Check: races(watchStorm),
	},
}

// watchStorm has actors watch and unwatch others that stop and are restarted.
func watchStorm(e *Env, w *world, rng *rand.Rand) {
	const watchers, targets, steps = 6, 40, 60
	parent := w.Spawn(actor.Props{New: actortest.Scripted().New, Supervisor: &actor.Supervisor{MaxRestarts: -1, Decide: func(f actor.Failure) actor.Directive {
		if f.Err == errB {
			return actor.Stop
		}
		return actor.Restart
	}}})
	var kids []actor.Props
	for range targets {
		kids = append(kids, actortest.Scripted())
	}
	refs := w.below(parent, kids...)
	var open [watchers]map[actor.Ref]bool // watched, and not told yet; of the watcher's turns
	var who [watchers]actor.Ref
	for i := range watchers {
		open[i] = map[actor.Ref]bool{}
		rng := sub(rng)
		left := steps
		receive := func(ctx *actor.Context, msg any) error {
			switch msg := msg.(type) {
			case *order:
				return msg.Do(ctx)
			case actor.Terminated:
				if !open[i][msg.Actor] {
					e.fail("the end of ", msg.Actor.Path(), " was reported to an actor that does not watch it, or for the second time")
				}
				delete(open[i], msg.Actor)
				if w.Alive(msg.Actor) {
					e.fail("the end of ", msg.Actor.Path(), " was told while it is there")
				}
			}
			return nil
		}
		who[i] = w.born(w.Spawn(actor.Props{New: making(actor.ReceiveFunc(receive)), Throughput: 1 + rng.IntN(4)}), nil)
		w.repeats(who[i], func(ctx *actor.Context) (more bool) {
			for range 1 + rng.IntN(4) {
				r := refs[rng.IntN(targets)]
				if rng.IntN(3) == 0 {
					ctx.Unwatch(r)
					delete(open[i], r)
				} else {
					ctx.Watch(r)
					open[i][r] = true
				}
			}
			left--
			return left > 0
		})
	}
	for _, at := range rng.Perm(targets) {
		for range rng.IntN(6) {
			yield()
		}
		if w.Synchronous() && rng.IntN(2) == 0 {
			w.Drive()
		}
		r := refs[at]
		_ = r.Tell(failA()) // restarts it
		switch rng.IntN(3) {
		case 0:
			w.Stop(r)
		case 1:
			_ = r.Tell(&order{Do: func(*actor.Context) error { return errB }})
		case 2:
			_ = r.Tell(&order{Do: func(ctx *actor.Context) error { ctx.StopSelf(); return nil }})
		}
	}
	w.Gone(refs...)
	w.idle()
	for i := range watchers {
		left := 1
		w.until("every watch to be answered", func() bool {
			w.In(who[i], func(*actor.Context) { left = len(open[i]) })
			return left == 0
		}, func() string { return text(left, " watches of actors that have stopped are not answered") })
	}
	w.mu.Lock()
	w.failures, w.letters, w.failedLetters = nil, nil, nil
	w.mu.Unlock()
}
