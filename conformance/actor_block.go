package conformance

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
)

// blocking returns the props of an actor with a mailbox that makes senders
// wait.
func (d *diary) blocking(capacity int, prio func(any) int) actor.Props {
	return actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: actor.Block, Capacity: capacity, Priority: prio}}
}

// telling is a call of TellContext on a goroutine of its own.
func (w *world) telling(ctx context.Context, to actor.Ref, msg any) *call[error] {
	return start(w.e, "Tell to a full mailbox", func() error { return to.TellContext(ctx, msg) })
}

// FR-020: the policy Block.
var blockClauses = []Clause{
	{
		Name: "actor/block-waits", Rule: "FR-020", Needs: overlapEager,
		Why: "with Block a sender waits while Capacity messages wait, goes on when there is room, and its message comes after those",
		Check: actors(func(w *world) {
			for _, capacity := range capacities {
				for _, prio := range []func(any) int{nil, samePriority} {
					d := &diary{}
					r, g := w.hold(d.blocking(capacity, prio))
					for i := range capacity {
						w.tell(r, i+1)
					}
					c := w.telling(context.Background(), r, capacity+1)
					c.blocks("the mailbox is full")
					g.open()
					w.e.same("what Tell returned", finished(w, c), nil)
					w.reads(d, numbers(1, capacity+1)...)
				}
			}
		}),
	},
	{
		Name: "actor/block-one-for-one", Rule: "FR-020", Needs: overlapEager,
		Why: "each message that is handled makes room for one sender that waits, no more and no less",
		Check: actors(func(w *world) {
			const waiting = 4
			d := &diary{}
			r, g := w.hold(d.blocking(1, nil))
			var gates [waiting + 1]*gate
			var orders [waiting + 1]*order
			for i := range gates {
				gates[i] = w.e.gate()
				orders[i] = &order{func(*actor.Context) error {
					gates[i].pass()
					d.note(i)
					return nil
				}}
			}
			w.tell(r, orders[0])
			var returned atomic.Int32
			var calls [waiting]*call[error]
			for i := range calls {
				calls[i] = start(w.e, "Tell to a full mailbox", func() error {
					defer returned.Add(1)
					return r.Tell(orders[i+1])
				})
				if w.e.Exact {
					calls[i].blocks("the mailbox is full")
				}
			}
			g.open()
			// In which order senders are served nobody promises, so any message
			// may be the next.
			for n := range waiting {
				w.until("a waiting sender to go on", func() bool { return int(returned.Load()) > n })
				if w.e.Exact {
					w.e.require(int(returned.Load()) == n+1, int(returned.Load()), " waiting senders have gone on after ", n+1, " messages left the mailbox")
				}
				w.until("the next message to be handled", func() bool {
					for _, g := range gates {
						select {
						case <-g.arrived:
							g.open()
							return true
						default:
						}
					}
					return false
				})
			}
			for _, g := range gates {
				g.open()
			}
			for _, c := range calls {
				w.e.same("what Tell returned", finished(w, c), nil)
			}
			w.until("all messages to be handled", func() bool { return len(d.read()) == waiting+1 })
		}),
	},
	{
		Name: "actor/block-context", Rule: "FR-020", Needs: overlapEager,
		Why: "a sender that waits gives up with its context and has its message back; the message is not handled as well, and leaves no hole",
		Check: actors(func(w *world) {
			for _, prio := range []func(any) int{nil, samePriority} {
				d := &diary{}
				r, g := w.hold(d.blocking(2, prio))
				w.tell(r, 1, 2)
				w.returned(w.telling(ended(errStop), r, 3).get(), r, 3, context.Canceled)
				ctx, cancel := context.WithCancel(context.Background())
				given := w.telling(ctx, r, 4)
				kept := w.telling(context.Background(), r, 5)
				also := w.telling(ctx, r, 6)
				for _, c := range []*call[error]{given, kept, also} {
					c.blocks("the mailbox is full")
				}
				cancel()
				w.returned(finished(w, given), r, 4, context.Canceled)
				w.returned(finished(w, also), r, 6, context.Canceled)
				kept.blocks("the mailbox is full")
				g.open()
				w.e.same("what Tell returned", finished(w, kept), nil)
				w.reads(d, "1", "2", "5")
				w.tell(r, 7)
				w.reads(d, "1", "2", "5", "7")
			}
		}),
	},
	{
		Name: "actor/block-stop", Rule: "FR-020", Needs: overlapEager,
		Why: "senders that wait are released when the actor stops, with their messages; what waits in the mailbox is a dead letter",
		Check: actors(func(w *world) {
			for _, prio := range []func(any) int{nil, samePriority} {
				d := &diary{}
				r, g := w.hold(d.blocking(2, prio))
				from := w.spawnPuppet()
				w.tell(r, 1, 2)
				calls := []*call[error]{w.telling(context.Background(), r, 3), w.telling(context.Background(), r, 3)}
				inTurn := w.e.gate()
				w.ask(from, func(ctx *actor.Context) {
					inTurn.open()
					w.returned(ctx.Tell(r, 4), r, 4, actor.ErrStopped)
					d.note("given back")
				})
				inTurn.pass()
				for _, c := range calls {
					c.blocks("the mailbox is full")
				}
				w.s.Stop(r)
				calls[0].blocks("the actor has not heard of its stop")
				g.open()
				for _, c := range calls {
					w.returned(finished(w, c), r, 3, actor.ErrStopped)
				}
				w.undelivered(r, actor.ErrStopped, 1, 2)
				w.reads(d, "given back")
			}
		}),
	},
	{
		Name: "actor/block-progress", Rule: "FR-020",
		Why: "senders that wait and a receiver that works get all messages through the smallest mailbox, in order",
		Check: actors(func(w *world) {
			for _, capacity := range []int{1, 3} {
				d := &diary{}
				r := w.spawn(d.blocking(capacity, nil))
				c := start(w.e, "a loop of Tell", func() error {
					for i := range 200 {
						if err := r.Tell(i + 1); err != nil {
							return err
						}
					}
					return nil
				})
				w.e.same("what the sender saw", finished(w, c), nil)
				w.reads(d, numbers(1, 200)...)
			}
		}),
	},
	{
		Name: "actor/block-within-a-turn", Rule: "FR-020",
		Why: "a worker that waits in a turn is replaced: more waiting actors than workers do not keep the one from running that makes room",
		Check: actors(func(w *world) {
			const each = 20
			senders := 2*runtime.GOMAXPROCS(0) + 3
			d := &diary{}
			var total, most atomic.Int32
			next := make([]int, senders)
			type item struct{ from, n int }
			r := w.spawn(actor.Props{
				Mailbox: actor.MailboxConfig{Policy: actor.Block, Capacity: 1},
				New: making(actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
					m := msg.(item)
					w.e.require(m.n == next[m.from], "message ", m.n, " of sender ", m.from, " was handled, next is ", next[m.from])
					next[m.from]++
					total.Add(1)
					return nil
				})),
			})
			var refs []actor.Ref
			for range senders {
				refs = append(refs, w.spawnPuppet())
			}
			for s, from := range refs {
				w.ask(from, func(ctx *actor.Context) {
					for n := range each {
						w.tells(ctx, r, item{s, n})
					}
					most.Add(1)
				})
			}
			w.until("all senders to get through", func() bool { return int(most.Load()) == senders })
			w.until("all messages to be handled", func() bool { return int(total.Load()) == senders*each })
			w.reads(d)
		}),
	},
	{
		Name: "actor/block-self", Rule: "FR-020",
		Why: "an actor that fills its own mailbox is told so: it would wait for itself",
		Check: actors(func(w *world) {
			for _, capacity := range capacities {
				w.fill(actor.Block, capacity, nil, func(_ *diary, ctx *actor.Context) {
					for i := range capacity {
						w.tells(ctx, ctx.Self(), i+1)
					}
					w.returned(ctx.Tell(ctx.Self(), 0), ctx.Self(), 0, actor.ErrFull)
					w.returned(ctx.TellContext(context.Background(), ctx.Self(), 0), ctx.Self(), 0, actor.ErrFull)
				}, numbers(1, capacity)...)
			}
		}),
	},
	{
		Name: "actor/block-ring", Rule: "FR-020", Needs: overlapEager,
		Why: "actors that wait for each other in a ring are released by their contexts, and then nothing is lost",
		Check: actors(func(w *world) {
			d := &diary{}
			a, b := w.spawn(d.blocking(1, nil)), w.spawn(d.blocking(1, nil))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			both := w.e.gate()
			var waiting, back atomic.Int32
			for _, x := range []struct{ from, to actor.Ref }{{a, b}, {b, a}} {
				w.ask(x.from, func(c *actor.Context) {
					w.tells(c, x.from, "own")
					both.pass()
					waiting.Add(1)
					if err := c.TellContext(ctx, x.to, "x"); err != nil {
						w.returned(err, x.to, "x", context.Canceled)
						back.Add(1)
					}
					waiting.Add(-1)
				})
			}
			w.reached(both, 2)
			both.open()
			w.until("both to send", func() bool { return waiting.Load() == 2 })
			w.e.require(back.Load() == 0, "an actor that waits for another one has given up by itself")
			cancel()
			w.until("both to give up", func() bool { return waiting.Load() == 0 })
			// The first to give up makes room for the other one.
			w.until("all messages to be handled", func() bool { return len(d.read()) == 4-int(back.Load()) })
			w.e.require(back.Load() > 0, "nobody gave up, and yet nobody waits")
		}),
	},
	{
		Name: "actor/block-deadlock", Rule: "FR-020",
		Why: "where actors run one inside the other's wait, one that would wait for ever is told so instead of hanging; elsewhere it waits until its context ends",
		Check: actors(func(w *world) {
			d := &diary{}
			a, b := w.spawn(d.blocking(1, nil)), w.spawn(d.blocking(1, nil))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			reason := context.Canceled
			if w.s.Synchronous() {
				reason = actor.ErrDeadlock
			}
			begun, goOn := w.e.gate(), w.e.gate()
			begun.open()
			var back atomic.Bool
			waits := &order{func(c *actor.Context) error {
				begun.pass()
				w.returned(c.TellContext(ctx, a, "lost"), a, "lost", reason)
				back.Store(true)
				return nil
			}}
			w.ask(a, func(c *actor.Context) {
				w.tells(c, a, "own") // full from now on
				w.tells(c, b, waits)
				if !w.s.Synchronous() {
					goOn.pass()
				}
				w.tells(c, b, "y") // where there is one goroutine b runs in here
			})
			if !w.s.Synchronous() {
				w.reached(begun, 1)
				w.idle()
				w.e.require(!back.Load(), "an actor has given up, though its context has not ended")
				cancel()
				w.until("the context to be heeded", back.Load)
				goOn.open()
			}
			w.until("both to be through", func() bool { return len(d.read()) == 2 })
			w.e.require(back.Load(), "the actor that waited for another one has not been told anything")
		}),
	},
	{
		Name: "actor/block-races", Rule: "FR-020", Kind: Stochastic,
		Why: "whatever comes together – room, the end of a context, a stop – a waiting sender's message is handled, comes back or becomes a dead letter, once",
		Check: check(func(e *Env) {
			rng := e.random()
			for range e.rounds() {
				blockRaces(e, rng)
			}
		}),
	},
}

// blockRaces lets senders with contexts of their own wait for one actor, which
// may be stopped.
func blockRaces(e *Env, rng *rand.Rand) {
	const senders, each = 4, 60
	w := e.world(actor.Config{})
	defer w.abandon()
	all := parcels(senders * each)
	m := actor.MailboxConfig{Policy: actor.Block, Capacity: 1 + rng.IntN(3)}
	if rng.IntN(2) == 0 {
		m.Priority = func(msg any) int { return msg.(*parcel).id % 3 }
	}
	pause := rng.IntN(3)
	r := w.spawn(actor.Props{Mailbox: m, Throughput: 1 + rng.IntN(4), New: making(actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
		for range pause {
			yield()
		}
		msg.(*parcel).handled.Add(1)
		return nil
	}))})
	stopAfter := rng.IntN(2 * each)
	var calls []*call[error]
	for s := range senders {
		rng := sub(rng)
		calls = append(calls, start(e, "a loop of Tell", func() error {
			for i := range each {
				p := &all[s*each+i]
				ctx, cancel := context.WithCancel(context.Background())
				wait := rng.IntN(4)
				if wait < 3 {
					go func() {
						for range wait {
							yield()
						}
						cancel()
					}()
				}
				p.sent(r.TellContext(ctx, p))
				cancel()
				if s == 0 && i == stopAfter {
					w.s.Stop(r)
				}
			}
			return nil
		}))
	}
	for _, c := range calls {
		e.same("what a sender saw", finished(w, c), nil)
	}
	w.end()
	w.counted(w.accounted(all))
}

// V5, FR-028: turns.
var turnClauses = []Clause{
	{
		Name: "actor/turn-bound", Rule: "FR-028",
		Why: "a turn ends after Throughput messages, so that others get theirs; the default is 300",
		Check: actors(func(w *world) {
			for _, throughput := range []int{1, 7, 100, 0} {
				const n = 12_000 // 40 turns of the longest
				w := w.e.world(actor.Config{})
				defer w.abandon()
				var count atomic.Int32
				r := w.spawn(actor.Props{Throughput: throughput, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					if o, ok := msg.(*order); ok {
						return o.do(ctx)
					}
					count.Add(1)
					return nil
				}))})
				w.in(r, func(ctx *actor.Context) {
					for i := range n {
						w.tells(ctx, r, i)
					}
				})
				w.until("all messages to be handled", func() bool { return count.Load() == n })
				w.end()
				if throughput == 0 {
					throughput = 300
				}
				turns := w.s.Stats().Turns
				w.e.require(turns >= uint64(n/throughput), n, " messages were handled in ", turns, " turns, but a turn is ", throughput, " messages")
			}
		}),
	},
	{
		Name: "actor/turn-others", Rule: "FR-028",
		Why: "an actor that always has messages does not keep others from running: after its turn it is behind them",
		Check: check(func(e *Env) {
			const throughput = 10
			e.starved("an actor that feeds itself", throughput, 1, starvation)
		}),
	},
	{
		Name: "actor/turn-others-pair", Rule: "V5",
		Why:   "two actors that keep each other busy do not keep a third from running: the shortcut from sender to receiver has an end",
		Check: check(func(e *Env) { e.starved("a pair of actors that feed each other", 10, 2, starvation) }),
	},
	{
		Name: "actor/turn-others-many", Rule: "V5",
		Why:   "many busy actors do not keep one more from running",
		Check: check(func(e *Env) { e.starved("a ring of 50 actors that feed each other", 10, 50, starvation) }),
	},
	{
		Name: "actor/flood", Rule: "V5", Needs: eager,
		Why: "a flood of messages to one actor does not starve a quiet one, which gets its message within a bound",
		Check: check(func(e *Env) {
			oneProcessor(func() {
				w := e.world(actor.Config{})
				defer w.abandon()
				const (
					most  = 2_000_000 // messages of a flood that nobody ends
					bound = starvation
				)
				var over atomic.Bool
				var count, inFlight atomic.Int64
				flood := w.spawn(plain(func(ctx *actor.Context, msg any) error {
					if o, ok := msg.(*order); ok {
						return o.do(ctx)
					}
					if count.Add(1) < most && !over.Load() {
						w.tells(ctx, ctx.Self(), msg)
						return nil
					}
					inFlight.Add(-1)
					return nil
				}))
				heard := make(chan int64, 1)
				quiet := w.spawn(plain(func(_ *actor.Context, msg any) error {
					heard <- count.Load()
					return nil
				}))
				w.ask(flood, func(ctx *actor.Context) {
					for range 1000 {
						inFlight.Add(1)
						w.tells(ctx, flood, 0)
					}
				})
				c := start(e, "a loop of Tell to a quiet actor", func() int {
					defer over.Store(true)
					for count.Load() < 1000 { // it has begun
						yield()
					}
					best := int64(most)
					for range 8 { // the best counts: the machine may be busy with something else
						before := count.Load()
						if err := quiet.Tell(1); err != nil {
							e.fail("Tell returned ", err)
						}
						after := <-heard
						if after >= most {
							break // the flood was over first
						}
						best = min(best, after-before)
					}
					return int(best)
				})
				best := c.await() // without Settle: in a flood nothing settles
				w.until("the flood to end", func() bool { return inFlight.Load() == 0 })
				w.end()
				e.require(best <= bound, "a flooded actor handled ", best, " messages at least before a quiet one got its, want at most ", bound)
			})
		}),
	},
	{
		Name: "actor/suspended-waits", Rule: "S3", Needs: overlapEager,
		Why: "an actor that has failed handles nothing until its parent has decided; it takes messages meanwhile, and these do not make it run",
		Check: actors(func(w *world) {
			const n = 50
			d := &diary{}
			r := w.spawn(actor.Props{New: hearing(d)})
			g := w.e.gate()
			w.ask(w.guardian(), func(*actor.Context) { g.pass() }) // the parent decides later
			w.reached(g, 1)
			w.tell(r, &order{func(*actor.Context) error { return errA }})
			w.failed(r)
			var msgs []any
			for i := range n {
				w.tell(r, i)
				msgs = append(msgs, i)
				w.idle()
			}
			w.reads(d)
			w.e.require(w.alive(r), "the actor has stopped although its parent has not decided")
			g.open()
			w.undelivered(r, actor.ErrStopped, msgs...)
			w.gone(r)
			w.shutdown()
			turns := w.s.Stats().Turns
			w.e.require(!w.e.Exact || turns < n, turns, " turns: every message to the suspended actor seems to have caused one")
		}),
	},
}

// starvation is how many messages others may handle before an actor that is
// ready has its turn. A dispatcher's own order needs a few turns; but where
// goroutines are what is scheduled, those that wake one another share a time
// slice of Go's scheduler, which is 10 ms, and so do a flood and the goroutine
// that sends to a quiet actor. Who is unfair handles any number.
const starvation = 300_000

// starved finds out how many messages busy actors, which hand on messages to
// each other without end, handle from the moment at which another one is ready
// until that one has its turn.
//
// Several workers would hide an unfair order, so there is one processor. The
// operating system may still hold up a worker for as long as it likes, so only
// the best of many rounds counts; who is unfair is so in all of them.
func (e *Env) starved(who string, throughput, busy, bound int) {
	oneProcessor(func() {
		const rounds = 10
		w := e.world(actor.Config{})
		defer w.abandon()
		limit := 2 * bound // of a round that is lost
		var quiet actor.Ref
		var seen, over atomic.Bool
		var round atomic.Int32
		best, count := limit, 0
		refs := make([]actor.Ref, busy)
		for i := range refs {
			refs[i] = w.spawn(actor.Props{Throughput: throughput, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				if over.Load() {
					return nil
				}
				// One message is under way, so what follows is one actor's at a
				// time, and each sees what the one before has done.
				switch {
				case round.Load() == 0:
					round.Store(1)
					w.tells(ctx, quiet, 1)
				case seen.Swap(false) || count == limit:
					best = min(best, count)
					count = 0
					if round.Load() == rounds {
						over.Store(true)
						return nil
					}
					w.tells(ctx, quiet, int(round.Add(1)))
				default:
					count++
				}
				w.tells(ctx, refs[(i+1)%busy], msg)
				return nil
			}))})
		}
		quiet = w.spawn(plain(func(_ *actor.Context, msg any) error {
			if msg == int(round.Load()) { // or it is too late
				seen.Store(true)
			}
			return nil
		}))
		w.tell(refs[0], "go")
		w.until("the rounds to be over", over.Load)
		w.end()
		e.require(best <= bound, who, " handled ", best, " messages at least before another one that was ready had its turn, want at most ", bound)
	})
}

// V4: handlers that block.
var blockingClauses = []Clause{
	{
		Name: "actor/blocked-handlers", Rule: "V4", Needs: overlapEager,
		Why: "a handler may sleep, lock or wait: however many do, others go on, since workers that block are replaced",
		Check: actors(func(w *world) {
			n := 4*runtime.GOMAXPROCS(0) + 8
			g := w.e.gate()
			var refs []actor.Ref
			for range n {
				refs = append(refs, w.spawnPuppet())
			}
			for _, r := range refs {
				w.ask(r, func(*actor.Context) { g.pass() })
			}
			w.reached(g, n)
			d := &diary{}
			r := w.spawn(actor.Props{New: hearing(d)})
			w.tell(r, 1)
			w.in(w.spawnPuppet(), func(ctx *actor.Context) { w.tells(ctx, r, 2) })
			w.reads(d, "1", "2")
			g.open()
			for _, r := range refs {
				w.in(r, func(*actor.Context) {})
			}
		}),
	},
	{
		Name: "actor/blocked-again", Rule: "V4", Needs: overlapEager,
		Why: "workers that were replaced and come back are used again, and their number does not grow with every time",
		Check: actors(func(w *world) {
			n := 2*runtime.GOMAXPROCS(0) + 3
			var refs []actor.Ref
			for range n {
				refs = append(refs, w.spawnPuppet())
			}
			block := func() {
				g := w.e.gate()
				for _, r := range refs {
					w.ask(r, func(*actor.Context) { g.pass() })
				}
				w.reached(g, n)
				g.open()
				for _, r := range refs {
					w.in(r, func(*actor.Context) {})
				}
			}
			block()
			if w.e.Goroutines == nil {
				return
			}
			base := w.e.goroutines()
			for range 10 {
				block()
			}
			more := w.e.moreThan(base, n)
			w.e.require(more == 0, more, " goroutines more after ", n, " actors have blocked ten times")
		}),
	},
	{
		Name: "actor/blocked-order", Rule: "V4", Needs: overlapEager,
		Why: "messages to an actor whose handler blocks wait in order, and are handled when it goes on",
		Check: actors(func(w *world) {
			d := &diary{}
			r, g := w.hold(actor.Props{New: hearing(d)})
			for i := range 50 {
				w.tell(r, i+1)
			}
			w.reads(d)
			g.open()
			w.reads(d, numbers(1, 50)...)
		}),
	},
	{
		Name: "actor/overlap", Rule: "V4", Needs: dyno.Promises{Overlap: true, Eager: true},
		Why: "Overlap is promised: two actors are in a turn at once, so that one may wait for the other",
		Check: actors(func(w *world) {
			here, there := make(chan int), make(chan int)
			a, b := w.spawnPuppet(), w.spawnPuppet()
			d := &diary{}
			w.ask(a, func(*actor.Context) {
				here <- 1
				d.note(<-there)
			})
			w.ask(b, func(*actor.Context) { there <- 1 + <-here })
			w.reads(d, "2")
		}),
	},
}
