package conformance

import (
	"context"
	"math/rand/v2"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// FR-032: the event stream.
var eventClauses = []Clause{
	{
		Name: "actor/events-race", Rule: "FR-032", Core: true, Kind: Stochastic,
		Why:   "however many publish at the same time, a subscriber gets each publisher's events in order, and what it has fetched and what is counted as lost is what has come",
		Check: races(eventsRace),
	},
}

// published is an event of a publisher.
type published struct{ from, n int }

// eventsRace publishes from actors and from outside, to subscribers that come and
// go and fetch more or less quickly.
func eventsRace(e *Env, w *world, rng *rand.Rand) {
	const publishers, each, subscribers = 4, 100, 3
	stream := w.Events()
	var done atomic.Int32
	type outcome struct {
		fetched, lost int
		what          string
	}
	var subs []*call[outcome]
	for range subscribers {
		sub := actor.Subscribe[published](stream, 1+rng.IntN(8))
		subs = append(subs, start(e, "a loop of Next", func() (o outcome) {
			var next [publishers]int
			for {
				ev, err := sub.Next(context.Background())
				if err != nil {
					o.lost = int(sub.Lost())
					return o
				}
				if ev.n < next[ev.from] {
					o.what = text("event ", ev.n, " of publisher ", ev.from, " came after ", next[ev.from]-1)
				}
				next[ev.from] = ev.n + 1
				o.fetched++
			}
		}))
	}
	var calls []*call[error]
	for p := range publishers {
		rng := sub(rng)
		if p%2 == 0 {
			calls = append(calls, start(e, "a loop of Publish", func() error {
				for i := range each {
					stream.Publish(published{p, i})
					for range rng.IntN(2) {
						yield()
					}
				}
				done.Add(1)
				return nil
			}))
			continue
		}
		n := 0
		w.repeats(w.Spawn(actortest.Scripted()), func(*actor.Context) (more bool) {
			for range 1 + rng.IntN(9) {
				if n < each {
					stream.Publish(published{p, n})
					n++
				}
			}
			if n == each {
				done.Add(1)
			}
			return n < each
		})
	}
	for range 20 { // others come and go
		s := actor.Subscribe[published](stream, 1)
		yield()
		s.Unsubscribe()
	}
	w.succeed(calls)
	w.until("all to have published", func() bool { return done.Load() == publishers })
	w.end()
	for _, c := range subs {
		o := c.await()
		e.require(o.what == "", o.what)
		e.require(o.fetched+o.lost == publishers*each, "a subscriber has fetched ", o.fetched, " events and lost ", o.lost, ", want ", publishers*each, " in all")
	}
}
