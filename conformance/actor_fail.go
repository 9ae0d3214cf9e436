package conformance

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// FR-018: failures.
var failureClauses = []Clause{
	{
		Name: "actor/failure-many", Rule: "FR-018",
		Why: "no failure costs the system a worker: after many, in every way, everything still runs",
		Check: actors(func(w *world) {
			ways := failureKinds(w.e)
			n := 8 * runtime.GOMAXPROCS(0) * len(ways)
			refs := w.spawns(n)
			for i, r := range refs {
				w.tell(r, ways[i%len(ways)].order())
			}
			w.Gone(refs...)
			count := w.resetFailures()
			w.e.require(count == n, count, " failures are reported of ", n)
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d)})
			for i := range 20 {
				w.In(w.Spawn(actortest.Scripted()), func(ctx *actor.Context) { w.tells(ctx, r, i+1) })
			}
			w.wantLog(d, numbers(1, 20)...)
			w.shutdown()
			st := w.Stats()
			w.e.require(st.Failures == uint64(n), "Stats.Failures is ", st.Failures, ", want ", n)
		}),
	},
}

// FR-009: nothing is lost.
var accountClauses = []Clause{
	{
		Name: "actor/account-stop", Rule: "FR-009", Kind: Stochastic,
		Why:   "handled + returned to the sender + undelivered = sent, and each message is in one of these places, also when sends race with stops",
		Check: races(stopRace),
	},
	{
		Name: "actor/account-one-caller", Rule: "X9", Kind: Stochastic,
		Why:   "one caller, and so one order where the dispatcher has it from a seed: messages of one sender to one actor stay in order, none is handled twice, and each is accounted for, whatever stops and fails",
		Check: races(oneCaller),
	},
	{
		Name: "actor/everything-at-once", Rule: "FR-009", Kind: Stochastic,
		Why:   "whatever actors do at the same time – spawn, send, forward, become, fail, stop, each in any order, and the system is shut down in between – every message is accounted for, and every actor stops",
		Check: races(actorStorm),
	},
}

// incarnation is one of the actors that follow each other, and its number.
type incarnation struct {
	actor.Ref
	no int
}

// stopRace lets goroutines and actors send to actors that are stopped and
// spawned again: none is given a message for another one.
func stopRace(e *Env, w *world, rng *rand.Rand) {
	const senders, each, lives = 4, 100, 12
	all := parcels(2 * senders * each)
	var now atomic.Pointer[incarnation]
	stopAt := rng.IntN(40)
	spawn := func(no int) {
		count := 0
		r := w.Spawn(actor.Props{Mailbox: mailboxes[rng.IntN(len(mailboxes))], Throughput: rng.IntN(8), New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
			p := msg.(*parcel)
			w.e.require(p.to == no, "incarnation ", no, " was given a message for ", p.to)
			p.handled.Add(1)
			if count++; count == stopAt {
				ctx.StopSelf()
			}
			return nil
		}))})
		now.Store(&incarnation{r, no})
	}
	spawn(0)
	var done atomic.Int32
	for s := range senders {
		n, rng := 0, sub(rng)
		w.repeats(w.Spawn(actortest.Scripted()), func(ctx *actor.Context) (more bool) {
			for range 1 + rng.IntN(10) {
				if n == each {
					done.Add(1)
					return false
				}
				p := &all[(senders+s)*each+n]
				n++
				to := now.Load()
				p.to = to.no
				switch rng.IntN(3) {
				case 0:
					ctx.Forward(to.Ref, p)
				default:
					p.sent(ctx.Tell(to.Ref, p))
				}
			}
			return true
		})
	}
	calls := w.callers(senders, rng, func(s int, rng *rand.Rand) {
		for i := range each {
			p, to := &all[s*each+i], now.Load()
			p.to = to.no
			p.sent(to.Tell(p))
			if rng.IntN(8) == 0 {
				yield()
			}
		}
	})
	for no := range lives {
		for range rng.IntN(20) {
			yield()
		}
		old := now.Load()
		w.Stop(old.Ref)
		spawn(no + 1)
	}
	w.succeed(calls)
	w.until("the sending actors to be through", func() bool { return done.Load() == senders })
	w.end()
	w.counted(w.accounted(all))
}

// oneCaller lets one goroutine send to actors that send to one another, stop and
// fail, and runs them in between. All that is random comes from rng, and from
// sources of each actor's own.
func oneCaller(e *Env, w *world, rng *rand.Rand) {
	const peers, messages = 5, 150
	all := parcels(messages)
	type stamp struct{ sender, n int } // of a parcel, by its id
	var stamps [messages]stamp
	var next, lives atomic.Int32
	var refs [peers]atomic.Pointer[actor.Ref]
	take := func(sender int, n *int) *parcel {
		i := int(next.Add(1)) - 1
		if i >= messages {
			return nil
		}
		*n++
		stamps[i] = stamp{sender, *n}
		return &all[i]
	}
	gone := ended(errStop)
	ways := failureKinds(e)
	spawn := func(at int) {
		rng, me, n := sub(rng), int(lives.Add(1)), 0
		last := map[int]int{}
		m := mailboxes[rng.IntN(len(mailboxes))]
		r := w.Spawn(actor.Props{Mailbox: m, Throughput: rng.IntN(4), New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
			p := msg.(*parcel)
			w.e.require(p.handled.Add(1) == 1, "message ", p.id, " was handled twice")
			from := stamps[p.id]
			w.e.require(last[from.sender] < from.n, "message ", from.n, " of sender ", from.sender, " was handled after its message ", last[from.sender])
			last[from.sender] = from.n
			to := *refs[rng.IntN(peers)].Load()
			switch do := rng.IntN(32); {
			case do < 14:
				if q := take(me, &n); q != nil {
					q.sent(ctx.TellContext(gone, to, q))
				}
			case do < 16:
				if q := take(me, &n); q != nil {
					q.sent(ctx.Tell(ctx.Self(), q))
				}
			case do < 17:
				return ways[rng.IntN(len(ways))].fail()
			case do < 18:
				ctx.Stop(to)
			}
			return nil
		}))})
		refs[at].Store(&r)
	}
	for i := range peers {
		spawn(i)
	}
	n := 0
	for p := take(0, &n); p != nil; p = take(0, &n) {
		at := rng.IntN(peers)
		p.sent((*refs[at].Load()).TellContext(gone, p))
		switch rng.IntN(24) {
		case 0:
			w.Stop(*refs[at].Load())
		case 1, 2, 3:
			w.Drive()
		case 4:
			spawn(at)
		}
	}
	w.shutdown()
	w.counted(w.accounted(all))
	w.resetFailures()
}

// actorStorm lets a tree of actors do anything.
func actorStorm(e *Env, w *world, rng *rand.Rand) {
	const messages, senders = 1500, 3
	all := parcels(messages)
	var next atomic.Int32 // parcels sent so far
	var sent [messages]atomic.Bool
	take := func() *parcel {
		if i := int(next.Add(1)) - 1; i < messages {
			sent[i].Store(true)
			return &all[i]
		}
		return nil
	}
	ways := failureKinds(e)
	gone := ended(errStop)
	var known [64]atomic.Pointer[actor.Ref] // which all know
	var stops, starts atomic.Int32
	var props func(rng *rand.Rand) actor.Props
	props = func(rng *rand.Rand) actor.Props {
		rng = sub(rng)
		var receive actor.ReceiveFunc
		receive = func(ctx *actor.Context, msg any) error {
			msg.(*parcel).handled.Add(1)
			for range rng.IntN(4) {
				to := known[rng.IntN(len(known))].Load()
				switch do := rng.IntN(40); {
				case do < 20:
					if p := take(); p != nil && to != nil {
						p.sent(ctx.TellContext(gone, *to, p))
					} else if p != nil {
						p.handled.Add(1)
					}
				case do < 24:
					if p := take(); p != nil {
						p.sent(ctx.Tell(ctx.Self(), p))
					}
				case do < 30:
					if r, err := ctx.Spawn(props(rng)); err == nil {
						starts.Add(1)
						known[rng.IntN(len(known))].Store(&r)
					}
				case do < 32:
					ctx.Become(receive)
				case do < 33:
					ctx.Unbecome()
				case do < 34:
					if to != nil {
						ctx.Stop(*to)
					}
				case do < 35:
					ctx.StopSelf()
				case do < 36:
					return ways[rng.IntN(len(ways))].fail()
				case do < 38:
					yield()
				case do < 39:
					for r := range ctx.Children() {
						ctx.Stop(r)
						break
					}
				}
			}
			return nil
		}
		return actor.Props{
			Mailbox: mailboxes[rng.IntN(len(mailboxes))], Throughput: rng.IntN(6),
			New: making(&staged{receive: receive, stop: func(*actor.Context) error {
				stops.Add(1)
				return nil
			}}),
		}
	}
	for i := range 16 {
		starts.Add(1)
		r := w.Spawn(props(rng))
		known[i].Store(&r)
	}
	shutAt := rng.IntN(2 * messages)
	calls := w.callers(senders, rng, func(_ int, rng *rand.Rand) {
		for p := take(); p != nil; p = take() {
			to := known[rng.IntN(len(known))].Load()
			if to == nil {
				p.handled.Add(1)
				continue
			}
			p.sent(to.TellContext(gone, p))
			if p.id >= shutAt {
				_ = w.Shutdown(gone)
			}
			if rng.IntN(4) == 0 {
				yield()
			}
		}
	})
	w.succeed(calls)
	w.shutdown()
	for i := range all {
		if !sent[i].Load() {
			all[i].handled.Add(1)
		}
	}
	w.accounted(all)
	w.resetFailures()
	e.require(starts.Load() == stops.Load(), int(starts.Load()), " actors were spawned and ", int(stops.Load()), " PostStops were called")
}

// FR-034: without workers.
var synchronousClauses = []Clause{
	{
		Name: "actor/run-until-idle", Rule: "FR-034",
		Why: "a synchronous dispatcher runs actors in RunUntilIdle only, and then until none has anything to do; any other one says that it is none",
		Check: actors(func(w *world) {
			if !w.Synchronous() {
				w.e.require(w.e.Impl.Promises.Eager, w.e.Impl.Name, " does not promise Eager, and its dispatcher is not a Synchronous one")
				defer func() {
					if v, ok := recover().(failure); ok {
						panic(v)
					}
				}()
				w.RunUntilIdle()
				w.e.fail("RunUntilIdle of a system that is not synchronous did not panic")
			}
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d)})
			from := w.Spawn(actortest.Scripted())
			w.tell(r, 1)
			w.ask(from, func(ctx *actor.Context) {
				w.tells(ctx, r, 2)
				w.RunUntilIdle() // within a turn it does nothing
				w.e.require(len(d.read()) <= 1, "RunUntilIdle within a turn has run actors")
				w.tells(ctx, r, 3)
			})
			w.e.Settle()
			w.e.require(len(d.read()) == 0, "an actor ran although RunUntilIdle was not called")
			start(w.e, "RunUntilIdle", func() error {
				w.RunUntilIdle()
				return nil
			}).get()
			got := d.read()
			w.e.require(slices.Equal(got, numbers(1, 3)), "after RunUntilIdle the log says “", quote(got), "”, want “1 2 3”")
			w.Stop(r)
			w.e.require(w.Alive(r), "an actor stopped although RunUntilIdle was not called")
			w.RunUntilIdle()
			w.e.require(!w.Alive(r), "an actor that was told to stop is there after RunUntilIdle")
		}),
	},
	{
		Name: "actor/run-asked-meanwhile", Rule: "FR-034", Lacks: eager,
		Why: "a RunUntilIdle that finds another goroutine running actors returns at once, and that one goes on until all are idle, also if that is a sender that only waited for room",
		Check: actors(func(w *world) {
			d := &eventLog{}
			r, other := w.Spawn(d.blocking(1)), w.Spawn(actor.Props{New: hearing(d)})
			inside, goOn := w.e.gate(), w.e.gate()
			inside.open()
			w.ask(r, func(*actor.Context) { // its mailbox is full
				inside.pass()
				goOn.pass()
			})
			w.tell(other, "other")
			c := w.telling(context.Background(), r, "r") // runs r until there is room
			w.e.waitFor("the sender to run the receiver")
			<-inside.arrived
			w.RunUntilIdle()
			goOn.open()
			w.e.same("what Tell returned", c.await(), nil)
			got := d.read()
			slices.Sort(got)
			w.e.require(slices.Equal(got, []string{"other", "r"}), "RunUntilIdle was called while a sender ran actors, and when that is through the log says “", quote(got), "”, want “other r”")
		}),
	},
	{
		Name: "actor/run-many-callers", Rule: "FR-034", Kind: Stochastic,
		Why:   "any number of goroutines may send and call RunUntilIdle at once: actors run on one of them, one at a time, and nothing is left over",
		Check: races(runMany),
	},
	{
		Name: "actor/deterministic", Rule: "X9", Kind: Promised, Needs: dyno.Promises{Deterministic: true},
		Why: "Deterministic is promised: the same calls in the same order have the actors handle the same messages in the same order",
		Check: check(func(e *Env) {
			first := trace(e)
			for range 5 {
				again := trace(e)
				e.require(len(first) == len(again), "two runs handled ", len(first), " and ", len(again), " messages")
				for i := range first {
					e.require(first[i] == again[i], "two runs differ in message ", i+1, ": ", first[i], " and ", again[i])
				}
			}
		}),
	},
}

// runMany lets several goroutines send, and call RunUntilIdle if there is one.
func runMany(e *Env, w *world, rng *rand.Rand) {
	const ring, callers, each, hops = 5, 4, 50, 3
	var inside, count atomic.Int32
	refs := make([]actor.Ref, ring)
	for i := range refs {
		refs[i] = w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
			n := inside.Add(1)
			w.e.require(n == 1 || !w.Synchronous(), "two actors of a synchronous system are in a turn at once")
			yield()
			if left := msg.(int); left > 0 {
				w.tells(ctx, refs[(i+1)%ring], left-1)
			}
			inside.Add(-1)
			count.Add(1)
			return nil
		}))
	}
	calls := w.callers(callers, rng, func(_ int, rng *rand.Rand) {
		for range each {
			e.same("what Tell returned", refs[rng.IntN(ring)].Tell(hops), nil)
			if w.Synchronous() {
				w.RunUntilIdle()
			}
		}
	})
	for _, c := range calls {
		e.same("what a caller saw", c.await(), nil)
	}
	const want = callers * each * (hops + 1)
	w.until("all messages to be handled", func() bool { return count.Load() == want })
	w.shutdown()
	e.require(count.Load() == want, int(count.Load()), " messages were handled, want ", want)
}

// trace runs a little world and returns who handled what.
func trace(e *Env) (lines []string) {
	w := e.world(actor.Config{})
	defer w.abandon()
	const peers = 8
	rng := rand.New(rand.NewPCG(1, 1)) // the same calls every time
	refs := make([]actor.Ref, peers)
	for i := range refs {
		refs[i] = w.Spawn(actor.Props{Throughput: 1 + i%3, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
			n := msg.(int)
			lines = append(lines, text(i, " handles ", n))
			if n > 0 {
				for k := range 1 + n%2 {
					if err := ctx.TellContext(context.Background(), refs[(i*3+n+k)%peers], n-1); err != nil {
						return err
					}
				}
			}
			return nil
		}))})
	}
	for range 30 {
		w.tell(refs[rng.IntN(peers)], 5)
	}
	w.idle()
	w.Stop(refs[0])
	w.idle()
	w.end()
	return lines
}

// FR-016: what is left.
var actorLeftoverClauses = []Clause{
	{
		Name: "actor/leaves-no-goroutine", Rule: "FR-016", On: Platform{Goroutines: true},
		Why:   "no goroutine outlives a system, whatever was done with it; workers that outlive one are shared",
		Check: check(func(e *Env) { e.leavesNone("systems", func() { useSystem(e) }) }),
	},
	{
		Name: "actor/stops-leave-no-goroutine", Rule: "FR-016", Kind: Promised, Needs: dyno.Promises{Parks: true}, On: Platform{Goroutines: true},
		Why: "an actor that has stopped leaves no goroutine, while its system goes on",
		Check: actors(func(w *world) {
			round := func() {
				refs := w.spawns(50)
				for _, r := range refs {
					w.In(r, func(*actor.Context) {})
					w.Stop(r)
				}
				w.Gone(refs...)
			}
			round()
			base := w.e.goroutines()
			for range 3 {
				round()
			}
			more := w.e.moreThan(base, 2*runtime.GOMAXPROCS(0)) // workers may come
			w.e.require(more == 0, more, " goroutines more after 150 actors have come and gone")
		}),
	},
}

// useSystem makes a system, works with it and ends it.
func useSystem(e *Env) {
	w := e.world(actor.Config{})
	defer w.abandon()
	t := w.family(rand.New(rand.NewPCG(2, 2)), 10)
	d := &eventLog{}
	r := w.Spawn(d.blocking(1))
	for i, from := range t.refs {
		w.In(from, func(ctx *actor.Context) { w.tells(ctx, r, i) })
		w.until("a message to be handled", func() bool { return len(d.read()) == i+1 })
	}
	w.tell(t.refs[5], &order{Do: func(*actor.Context) error { panic("x") }})
	w.takeFailure(t.refs[5])
	w.end()
}
