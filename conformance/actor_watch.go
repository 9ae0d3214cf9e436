package conformance

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
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
	return w.spawn(plain(n.receive)), n
}

func (n *ends) receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case *order:
		return msg.do(ctx)
	case actor.Terminated:
		n.told[msg.Actor]++
		n.cause[msg.Actor] = msg.Err
	}
	return nil
}

// watches has an actor that carries out orders watch others.
func (w *world) watches(who actor.Ref, refs ...actor.Ref) {
	w.in(who, func(ctx *actor.Context) {
		for _, r := range refs {
			ctx.Watch(r)
		}
	})
}

// told demands that the watcher comes to be told of r's end n times, no more,
// and the last time because of err.
func (w *world) told(who actor.Ref, ends *ends, r actor.Ref, n int, err error) {
	w.idle()
	got, cause := 0, error(nil)
	w.until(text(n, " messages about the end of ", r.Path()), func() bool {
		w.in(who, func(*actor.Context) { got, cause = ends.told[r], ends.cause[r] })
		return got >= n
	}, func() string {
		return text("the watcher was told of the end of ", r.Path(), " ", got, " times, want ", n)
	})
	w.e.require(got == n, "the watcher was told of the end of ", r.Path(), " ", got, " times, want ", n)
	w.e.same("the reason of the end of "+r.Path(), cause, err)
}

// FR-023: who watches another actor.
var watchClauses = []Clause{
	{
		Name: "actor/watch-told-once", Rule: "FR-023",
		Why: "who watches an actor is told that it has stopped, once, however often it watches it and whoever stops it",
		Check: actors(func(w *world) {
			who, ends := w.watcher()
			for _, stop := range []func(r actor.Ref){
				func(r actor.Ref) { w.s.Stop(r) },
				func(r actor.Ref) { w.in(r, func(ctx *actor.Context) { ctx.StopSelf() }) },
				func(r actor.Ref) { w.in(w.guardian(), func(ctx *actor.Context) { ctx.Stop(r) }) },
				func(r actor.Ref) { w.in(who, func(ctx *actor.Context) { ctx.Stop(r) }) },
			} {
				for times := range 3 {
					r := w.spawnPuppet()
					for range times {
						w.watches(who, r, r)
					}
					w.told(who, ends, r, 0, nil)
					stop(r)
					w.gone(r)
					w.told(who, ends, r, min(times, 1), nil)
				}
			}
		}),
	},
	{
		Name: "actor/watch-reason", Rule: "FR-023",
		Why: "who watches an actor learns what it has failed with, if that is why it has stopped, and that nothing has if it was told to stop, also if it had failed and recovered before",
		Check: actors(func(w *world) {
			who, ends := w.watcher()
			for _, how := range failures(w.e) {
				r := w.spawnPuppet()
				w.watches(who, r)
				w.tell(r, how.order())
				w.gone(r)
				f := w.failed(r)
				w.told(who, ends, r, 1, f.Err)
			}
			w.forgive()
			_, refs := w.boss(&actor.Supervisor{MaxRestarts: 1}, actor.Props{New: w.puppet})
			r := refs[0]
			w.watches(who, r)
			w.tell(r, failA())
			w.failed(r)
			w.told(who, ends, r, 0, nil)
			w.tell(r, failA())
			w.gone(r)
			w.told(who, ends, r, 1, errA)
			w.forgive()
		}),
	},
	{
		Name: "actor/watch-the-dead", Rule: "FR-023",
		Why: "who watches an actor that has stopped already is told at once, and again each time it watches it again",
		Check: actors(func(w *world) {
			who, ends := w.watcher()
			r := w.spawnPuppet()
			w.stop(r)
			for i := range 3 {
				w.watches(who, r, r)
				w.told(who, ends, r, i+1, nil)
			}
			r = w.spawnPuppet()
			w.watches(who, r)
			w.stop(r)
			w.told(who, ends, r, 1, nil)
			w.watches(who, r)
			w.told(who, ends, r, 2, nil)
		}),
	},
	{
		Name: "actor/watch-the-dying", Rule: "FR-023", Needs: overlapEager,
		Why: "who watches an actor that is stopping, since before or from then on, is told when it has stopped, not before, and once",
		Check: actors(func(w *world) {
			who, ends := w.watcher()
			before, ends2 := w.watcher()
			r := w.spawnPuppet()
			w.watches(before, r)
			child := w.below(r, actor.Props{New: w.puppet})[0]
			g := w.e.gate()
			w.ask(child, func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			w.s.Stop(r)
			w.idle()
			w.watches(who, r)
			w.told(who, ends, r, 0, nil)
			w.told(before, ends2, r, 0, nil)
			g.open()
			w.gone(r)
			w.told(who, ends, r, 1, nil)
			w.told(before, ends2, r, 1, nil)
		}),
	},
	{
		Name: "actor/watch-the-last-moment", Rule: "FR-023", Needs: overlapEager,
		Why: "who begins to watch an actor that is in its PostStop, after which it looks at nothing any more, is told all the same, once; who unwatches it then is not told",
		Check: actors(func(w *world) {
			who, ends := w.watcher()
			other, none := w.watcher()
			g := w.e.gate()
			r := w.spawn(actor.Props{New: making(&staged{receive: (&diary{}).hear, stop: func(*actor.Context) error {
				g.pass()
				return nil
			}})})
			w.watches(other, r)
			w.idle()
			w.s.Stop(r)
			w.reached(g, 1)
			w.watches(who, r)
			w.in(other, func(ctx *actor.Context) { ctx.Unwatch(r) })
			w.told(who, ends, r, 0, nil)
			g.open()
			w.gone(r)
			w.told(who, ends, r, 1, nil)
			w.told(other, none, r, 0, nil)
		}),
	},
	{
		Name: "actor/watch-nobody", Rule: "FR-023",
		Why: "to watch or unwatch nobody, oneself, or somebody who is not watched does nothing",
		Check: actors(func(w *world) {
			who, ends := w.watcher()
			r := w.spawnPuppet()
			w.in(who, func(ctx *actor.Context) {
				ctx.Unwatch(r)
				ctx.Watch(actor.Ref{})
				ctx.Unwatch(actor.Ref{})
				ctx.Watch(ctx.Self())
				ctx.Unwatch(ctx.Self())
				ctx.Unwatch(r)
			})
			w.stop(r)
			w.told(who, ends, r, 0, nil)
			w.told(who, ends, actor.Ref{}, 0, nil)
			w.stop(who)
			w.e.require(ends.told[who] == 0, "an actor was told of its own end")
		}),
	},
	{
		Name: "actor/unwatch", Rule: "FR-023",
		Why: "after Unwatch nobody is told, whether the actor is alive, has stopped, or its end is on its way; and who watches it again is told once",
		Check: actors(func(w *world) {
			who, ends := w.watcher()
			r := w.spawnPuppet()
			w.in(who, func(ctx *actor.Context) {
				ctx.Watch(r)
				ctx.Unwatch(r)
			})
			w.stop(r)
			w.told(who, ends, r, 0, nil)
			w.in(who, func(ctx *actor.Context) { // its end is on its way
				ctx.Watch(r)
				ctx.Unwatch(r)
			})
			w.told(who, ends, r, 0, nil)
			w.in(who, func(ctx *actor.Context) {
				ctx.Watch(r)
				ctx.Unwatch(r)
				ctx.Watch(r)
			})
			w.told(who, ends, r, 1, nil)
			w.in(who, func(ctx *actor.Context) { ctx.Unwatch(r) })
			w.told(who, ends, r, 1, nil)
			r = w.spawnPuppet()
			w.watches(who, r)
			w.in(who, func(ctx *actor.Context) {
				ctx.Unwatch(r)
				ctx.Watch(r)
			})
			w.stop(r)
			w.told(who, ends, r, 1, nil)
		}),
	},
	{
		Name: "actor/unwatch-the-next", Rule: "FR-023",
		Why: "who is told of one end, and then unwatches another actor, is not told of that one, although the messages about both were there",
		Check: actors(func(w *world) {
			p, q := w.spawnPuppet(), w.spawnPuppet()
			w.stop(p)
			w.stop(q)
			n := &ends{map[actor.Ref]int{}, map[actor.Ref]error{}}
			who := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				if msg == (actor.Terminated{Actor: p}) {
					ctx.Unwatch(q)
				}
				return n.receive(ctx, msg)
			}))
			w.watches(who, p, q)
			w.told(who, n, p, 1, nil)
			w.told(who, n, q, 0, nil)
			w.watches(who, q)
			w.told(who, n, q, 1, nil)
		}),
	},
	{
		Name: "actor/unwatch-after-the-end", Rule: "FR-023", Needs: overlapEager,
		Why: "an actor that stops while who watches it is in a turn is not heard of if that turn ends with Unwatch: no message about it is in the way",
		Check: actors(func(w *world) {
			who, n := w.watcher()
			r, other := w.spawnPuppet(), w.spawnPuppet()
			w.watches(who, r, other)
			g := w.e.gate()
			w.ask(who, func(ctx *actor.Context) {
				g.pass()
				ctx.Unwatch(r)
			})
			w.reached(g, 1)
			w.stop(r)
			w.stop(other)
			g.open()
			w.told(who, n, other, 1, nil)
			w.told(who, n, r, 0, nil)
		}),
	},
	{
		Name: "actor/watch-apart", Rule: "FR-023",
		Why: "each of those who watch an actor is told for itself: who unwatches, has stopped, or watches twice takes nothing from the others",
		Check: actors(func(w *world) {
			r := w.spawnPuppet()
			const n = 7
			var who [n]actor.Ref
			var all [n]*ends
			for i := range n {
				who[i], all[i] = w.watcher()
				w.watches(who[i], r)
			}
			for _, i := range []int{0, 3} {
				w.in(who[i], func(ctx *actor.Context) { ctx.Unwatch(r) })
			}
			w.stop(who[5])
			w.watches(who[1], r)
			w.idle()
			w.stop(r)
			for i, want := range [n]int{0, 1, 1, 0, 1, 0, 1} {
				if i != 5 {
					w.told(who[i], all[i], r, want, nil)
				}
			}
			w.e.require(all[5].told[r] == 0, "an actor that has stopped was told of an end")
		}),
	},
	{
		Name: "actor/watch-many", Rule: "FR-023",
		Why: "one actor may watch any number, and any number one: each end is told once to each",
		Check: actors(func(w *world) {
			const n = 300
			who, ends := w.watcher()
			var refs []actor.Ref
			w.in(w.guardian(), func(ctx *actor.Context) {
				for range n {
					refs = append(refs, w.born(ctx.Spawn(actor.Props{New: w.puppet})))
				}
			})
			w.watches(who, refs...)
			one := w.spawnPuppet()
			var told [n]atomic.Int32
			w.in(w.guardian(), func(ctx *actor.Context) {
				for i := range n {
					r := w.born(ctx.Spawn(plain(func(ctx *actor.Context, msg any) error {
						if o, ok := msg.(*order); ok {
							return o.do(ctx)
						}
						w.e.require(msg == actor.Terminated{Actor: one}, "a watcher was given something else than the end of the one it watches")
						told[i].Add(1)
						return nil
					})))
					w.ask(r, func(ctx *actor.Context) { ctx.Watch(one) })
				}
			})
			w.idle()
			for _, r := range refs {
				w.s.Stop(r)
			}
			w.s.Stop(one)
			w.gone(refs...)
			w.gone(one)
			for _, r := range refs {
				w.told(who, ends, r, 1, nil)
			}
			for i := range told {
				w.until("every watcher to be told", func() bool { return told[i].Load() > 0 })
			}
			w.idle()
			for i := range told {
				n := int(told[i].Load())
				w.e.require(n == 1, "a watcher of an actor that many watch was told ", n, " times")
			}
		}),
	},
	{
		Name: "actor/watch-restart", Rule: "FR-023",
		Why: "a restart is no end, neither of what the actor watches nor of who watches it; and what it is told of while it is being restarted waits for the new value",
		Check: clocked(func(w *world, clock *actor.ManualClock) {
			d := &diary{}
			who, ends := w.watcher()
			_, refs := w.boss(&actor.Supervisor{Backoff: actor.Backoff{Min: 1}}, d.mortal("a", fate{}))
			a := refs[0]
			x, y, z := w.spawnNamed("x", actor.Props{New: w.puppet}), w.spawnNamed("y", actor.Props{New: w.puppet}), w.spawnNamed("z", actor.Props{New: w.puppet})
			w.watches(a, x, y, z)
			w.watches(who, a)
			w.tell(a, failA(), 1)
			w.failed(a)
			w.forgive()
			w.reads(d, "a1-starts", "a1-stops")
			w.stop(x) // while a waits
			w.told(who, ends, a, 0, nil)
			w.reads(d, "a1-starts", "a1-stops")
			w.pass(clock, 1)
			want := []string{"a1-starts", "a1-stops", "a2-starts", "a2:x-gone", "a2:1"}
			w.reads(d, want...)
			w.in(a, func(ctx *actor.Context) { ctx.Unwatch(z) })
			w.stop(y)
			w.stop(z)
			w.reads(d, append(want, "a2:y-gone")...)
			w.told(who, ends, a, 0, nil)
			w.stop(a)
			w.told(who, ends, a, 1, nil)
		}),
	},
	{
		Name: "actor/watch-name-free", Rule: "FR-023",
		Why: "when an actor's end is told its name is free and its PID unknown: whoever hears of it can have its place taken",
		Check: actors(func(w *world) {
			const lives = 20
			d := &diary{}
			var done atomic.Int32
			var r actor.Ref
			var spawn func(ctx *actor.Context)
			boss := w.spawn(plain(func(ctx *actor.Context, msg any) error {
				switch msg := msg.(type) {
				case *order:
					return msg.do(ctx)
				case actor.Terminated:
					w.e.require(msg.Actor == r, "the end of ", msg.Actor.Path(), " is told, want that of ", r.Path())
					_, found := w.s.Find(r.Path())
					_, known := w.s.Lookup(r.PID())
					_, child := ctx.Child("phoenix")
					w.e.require(!found && !known && !child, "an actor whose end was told is still found")
					if done.Add(1) < lives {
						spawn(ctx)
					}
				}
				return nil
			}))
			spawn = func(ctx *actor.Context) {
				r = w.born(ctx.SpawnNamed("phoenix", d.mortal("", fate{stop: func(*actor.Context) error {
					yield()
					return nil
				}})))
				ctx.Watch(r)
				ctx.Stop(r)
			}
			w.in(boss, spawn)
			w.until(text(lives, " lives to be over"), func() bool { return done.Load() == lives },
				func() string { return text("only ", int(done.Load()), " ends of ", lives, " were told") })
		}),
	},
	{
		Name: "actor/watch-ahead", Rule: "FR-023",
		Why: "an end is told ahead of the mailbox and takes no room in it, whatever the mailbox, full or not",
		Check: actors(func(w *world) {
			for _, m := range mailboxes {
				d := &diary{}
				p := d.mortal("a", fate{})
				p.Mailbox = m
				a := w.spawn(p)
				x := w.spawnNamed("x", actor.Props{New: w.puppet})
				w.stop(x)
				w.in(a, func(ctx *actor.Context) {
					w.tells(ctx, ctx.Self(), 1, 2, 3)
					ctx.Watch(x)
				})
				w.reads(d, "a1-starts", "a1:x-gone", "a1:1", "a1:2", "a1:3")
			}
		}),
	},
	{
		Name: "actor/watch-behaviour", Rule: "FR-023",
		Why: "an end is handled by the behaviour in force, as a message like any other: a failure on it is the actor's failure, and there is nobody's message to account for",
		Check: actors(func(w *world) {
			for _, how := range failures(w.e) {
				d := &diary{}
				_, refs := w.boss(&actor.Supervisor{}, d.mortal("a", fate{}))
				a := refs[0]
				x := w.spawnNamed("x", actor.Props{New: w.puppet})
				w.watches(a, x)
				w.in(a, func(ctx *actor.Context) {
					ctx.Become(func(_ *actor.Context, msg any) error {
						w.e.require(msg == actor.Terminated{Actor: x}, "the behaviour was given another message than the end of the actor that is watched")
						d.note("told")
						return how.fail()
					})
				})
				w.stop(x)
				w.until("the end to be told", func() bool { return len(d.read()) >= 2 })
				w.tell(a, 1)
				f := w.failed(a)
				how.is(w.e, f.Err)
				w.e.require(f.Msg == actor.Terminated{Actor: x}, "the failure is not said to be on the message of the end")
				w.lapsed(a, nil)
				w.reads(d, "a1-starts", "told", "a1-stops", "a2-starts", "a2:1")
			}
		}),
	},
	{
		Name: "actor/watch-each-other", Rule: "FR-023",
		Why: "actors that watch each other, their parents and their children stop like all others: nobody is told who has stopped before, and the system ends",
		Check: actors(func(w *world) {
			t := w.family(w.e.random(), 40)
			for _, r := range t.refs {
				w.in(r, func(ctx *actor.Context) {
					for _, other := range t.refs {
						ctx.Watch(other)
					}
				})
			}
			w.idle()
			w.shutdown()
			t.inOrder(len(t.refs))
			st := w.s.Stats()
			w.e.require(st.DeadLetters == 0, st.DeadLetters, " dead letters although nobody has sent anything")
		}),
	},
	{
		Name: "actor/watch-other-system", Rule: "FR-023",
		Why: "an actor of another system may be watched: its end is told across, also if its whole system ends",
		Check: actors(func(w *world) {
			other := w.e.world(actor.Config{})
			defer other.abandon()
			who, ends := w.watcher()
			far, dead, last := other.spawnPuppet(), other.spawnPuppet(), other.spawnPuppet()
			other.stop(dead)
			w.watches(who, far, dead, last)
			w.told(who, ends, dead, 1, nil)
			other.idle()
			other.stop(far)
			w.told(who, ends, far, 1, nil)
			w.told(who, ends, last, 0, nil)
			other.end()
			w.told(who, ends, last, 1, nil)
		}),
	},
	{
		Name: "actor/watch-children", Rule: "FR-023",
		Why: "a parent can learn all of its children: that one failed from its supervisor, that it was restarted from an event, that it has stopped by watching it; and Child and Children know who is left",
		Check: actors(func(w *world) {
			events := w.chronicle()
			asked := 0 // in the parent's turns
			n := &ends{map[actor.Ref]int{}, map[actor.Ref]error{}}
			boss := w.spawn(actor.Props{
				New: making(actor.ReceiveFunc(n.receive)),
				Supervisor: &actor.Supervisor{MaxRestarts: 1, Decide: func(actor.Failure) actor.Directive {
					asked++
					return actor.Restart
				}},
			})
			var a, b actor.Ref
			w.in(boss, func(ctx *actor.Context) {
				a = w.born(ctx.SpawnNamed("a", actor.Props{New: w.puppet}))
				b = w.born(ctx.SpawnNamed("b", actor.Props{New: w.puppet}))
				ctx.Watch(a)
				ctx.Watch(b)
			})
			w.tell(a, failA())
			w.until("the restart", func() bool { return len(events.read()) >= 5 })
			w.tell(a, failA())
			w.gone(a)
			w.forgive()
			w.told(boss, n, a, 1, errA)
			w.told(boss, n, b, 0, nil)
			w.in(boss, func(ctx *actor.Context) {
				w.e.require(asked == 2, "the supervisor was asked ", asked, " times about 2 failures")
				_, ok := ctx.Child("a")
				w.e.require(!ok, "a child that has stopped is found by its name")
				r, ok := ctx.Child("b")
				w.e.require(ok && r == b, "a child is not found by its name")
				for r := range ctx.Children() {
					w.e.require(r == b, r.Path(), " is a child, and should have stopped")
				}
			})
			got := quote(events.read())
			by := text("-by-", boss.Name())
			want := quote([]string{"a-started", "b-started", "a-failed", "a-restart" + by, "a-restarted-1", "a-failed", "a-stop" + by, "a-stopped"})
			w.e.require(got == want, "the events are “", got, "”, want “", want, "”")
		}),
	},
	{
		Name: "actor/watch-storm", Rule: "FR-023", Kind: Stochastic,
		Why: "watching and unwatching race with stops and restarts, and still each watch that is not undone is answered exactly once, and no other",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				watchStorm(e, rng)
			}
		}),
	},
}

// watchStorm has actors watch and unwatch others that stop and are restarted.
func watchStorm(e *Env, rng *rand.Rand) {
	const watchers, targets, steps = 6, 40, 60
	w := e.world(actor.Config{})
	defer w.abandon()
	boss := w.spawn(actor.Props{New: w.puppet, Supervisor: &actor.Supervisor{MaxRestarts: -1, Decide: func(f actor.Failure) actor.Directive {
		if f.Err == errB {
			return actor.Stop
		}
		return actor.Restart
	}}})
	var kids []actor.Props
	for range targets {
		kids = append(kids, actor.Props{New: w.puppet})
	}
	refs := w.below(boss, kids...)
	var open [watchers]map[actor.Ref]bool // watched, and not told yet; of the watcher's turns
	var who [watchers]actor.Ref
	for i := range watchers {
		open[i] = map[actor.Ref]bool{}
		rng := sub(rng)
		var self *order
		left := steps
		receive := func(ctx *actor.Context, msg any) error {
			switch msg := msg.(type) {
			case *order:
				return msg.do(ctx)
			case actor.Terminated:
				if !open[i][msg.Actor] {
					e.fail("the end of ", msg.Actor.Path(), " was told to somebody who does not watch it, or has been told")
				}
				delete(open[i], msg.Actor)
				if w.alive(msg.Actor) {
					e.fail("the end of ", msg.Actor.Path(), " was told while it is there")
				}
			}
			return nil
		}
		who[i] = w.born(w.spawn(actor.Props{New: making(actor.ReceiveFunc(receive)), Throughput: 1 + rng.IntN(4)}), nil)
		self = &order{func(ctx *actor.Context) error {
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
			if left--; left > 0 {
				return ctx.Tell(ctx.Self(), self)
			}
			return nil
		}}
		w.tell(who[i], self)
	}
	for _, at := range rng.Perm(targets) {
		for range rng.IntN(6) {
			yield()
		}
		if w.s.Synchronous() && rng.IntN(2) == 0 {
			w.drive()
		}
		r := refs[at]
		_ = r.Tell(failA()) // restarts it
		switch rng.IntN(3) {
		case 0:
			w.s.Stop(r)
		case 1:
			_ = r.Tell(&order{func(*actor.Context) error { return errB }})
		case 2:
			_ = r.Tell(&order{func(ctx *actor.Context) error { ctx.StopSelf(); return nil }})
		}
	}
	w.gone(refs...)
	w.idle()
	for i := range watchers {
		left := 1
		w.until("every watch to be answered", func() bool {
			w.in(who[i], func(*actor.Context) { left = len(open[i]) })
			return left == 0
		}, func() string { return text(left, " watches of actors that have stopped are not answered") })
	}
	w.mu.Lock()
	w.failures, w.letters, w.lapses = nil, nil, nil
	w.mu.Unlock()
	w.end()
}
