package conformance

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// blocking returns the props of an actor with a mailbox that makes senders
// wait.
func (d *eventLog) blocking(capacity int) actor.Props {
	return actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: actor.Block, Capacity: capacity}}
}

// telling is a call of TellContext on a goroutine of its own.
func (w *world) telling(ctx context.Context, to actor.Ref, msg any) *call[error] {
	return start(w.e, "Tell to a full mailbox", func() error { return to.TellContext(ctx, msg) })
}

// FR-020: the policy Block.
var blockClauses = []Clause{
	{
		Name: "actor/block-one-for-one", Rule: "FR-020", Needs: overlapEager,
		Why: "each message that is handled makes room for one sender that waits, no more and no less",
		Check: actors(func(w *world) {
			const waiting = 4
			d := &eventLog{}
			r, g := w.hold(d.blocking(1))
			var gates [waiting + 1]*gate
			var orders [waiting + 1]*order
			for i := range gates {
				gates[i] = w.e.gate()
				orders[i] = &order{Do: func(*actor.Context) error {
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
			// Outside a bubble it is not known who came first, so any message may
			// be the next; block-first-served is about the order.
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
			w.succeed(calls[:])
			w.until("all messages to be handled", func() bool { return len(d.read()) == waiting+1 })
		}),
	},
	{
		Name: "actor/block-within-a-turn", Rule: "FR-020",
		Why: "a worker that waits in a turn is replaced: more waiting actors than workers do not keep the one from running that makes room",
		Check: actors(func(w *world) {
			const each = 20
			senders := 2*runtime.GOMAXPROCS(0) + 3
			d := &eventLog{}
			var total, most atomic.Int32
			next := make([]int, senders)
			type item struct{ from, n int }
			r := w.Spawn(actor.Props{
				Mailbox: actor.MailboxConfig{Policy: actor.Block, Capacity: 1},
				New: making(actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
					m := msg.(item)
					w.e.require(m.n == next[m.from], "message ", m.n, " of sender ", m.from, " was handled, next is ", next[m.from])
					next[m.from]++
					total.Add(1)
					return nil
				})),
			})
			refs := w.spawns(senders)
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
			w.wantLog(d)
		}),
	},
	{
		Name: "actor/block-deadlock", Rule: "FR-020",
		Why: "where actors run one inside the other's wait, one that would wait for ever is told so instead of hanging; elsewhere it waits until its context ends",
		Check: actors(func(w *world) {
			d := &eventLog{}
			a, b := w.Spawn(d.blocking(1)), w.Spawn(d.blocking(1))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			reason := context.Canceled
			if w.Synchronous() {
				reason = actor.ErrDeadlock
			}
			begun, goOn := w.e.gate(), w.e.gate()
			begun.open()
			var back atomic.Bool
			waits := &order{Do: func(c *actor.Context) error {
				begun.pass()
				w.returned(c.TellContext(ctx, a, "lost"), a, "lost", reason)
				back.Store(true)
				return nil
			}}
			w.ask(a, func(c *actor.Context) {
				w.tells(c, a, "own") // full from now on
				w.tells(c, b, waits)
				if !w.Synchronous() {
					goOn.pass()
				}
				w.tells(c, b, "y") // where there is one goroutine b runs in here
			})
			if !w.Synchronous() {
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
		Why:   "whatever comes together – room, the end of a context, a stop – a waiting sender's message is handled, comes back or becomes a dead letter, once",
		Check: races(blockRaces),
	},
}

// blockRaces lets senders with contexts of their own wait for one actor, which
// may be stopped.
func blockRaces(e *Env, w *world, rng *rand.Rand) {
	const senders, each = 4, 60
	all := parcels(senders * each)
	m := actor.MailboxConfig{Policy: actor.Block, Capacity: 1 + rng.IntN(3)}
	if rng.IntN(2) == 0 {
		m.Priority = func(msg any) int { return msg.(*parcel).id % 3 }
	}
	pause := rng.IntN(3)
	r := w.Spawn(actor.Props{Mailbox: m, Throughput: 1 + rng.IntN(4), New: making(actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
		for range pause {
			yield()
		}
		msg.(*parcel).handled.Add(1)
		return nil
	}))})
	stopAfter := rng.IntN(2 * each)
	calls := w.callers(senders, rng, func(s int, rng *rand.Rand) {
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
				w.Stop(r)
			}
		}
	})
	w.succeed(calls)
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
				r := w.Spawn(actor.Props{Throughput: throughput, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					if o, ok := msg.(*order); ok {
						return o.Do(ctx)
					}
					count.Add(1)
					return nil
				}))})
				w.In(r, func(ctx *actor.Context) {
					for i := range n {
						w.tells(ctx, r, i)
					}
				})
				w.until("all messages to be handled", func() bool { return count.Load() == n })
				w.end()
				if throughput == 0 {
					throughput = 300
				}
				turns := w.Stats().Turns
				w.e.require(turns >= uint64(n/throughput), n, " messages were handled in ", turns, " turns, but a turn is ", throughput, " messages")
			}
		}),
	},
	{
		Name: "actor/turn-others", Rule: "FR-028", Kind: Promised, Needs: fair,
		Why: "Fair is promised: neither an actor that always has messages, nor two that keep each other busy, nor a flood to one keep others from running, whoever tells them something; after a turn one is behind the others, and the shortcut from sender to receiver has an end",
		Check: check(func(e *Env) {
			e.starved(crowd{who: "an actor that feeds itself", busy: 1, throughput: 10, alone: true})
			e.starved(crowd{who: "a pair of actors that feed each other", busy: 2, throughput: 10})
			e.starved(crowd{who: "a flooded actor", busy: 1, throughput: 10, alone: true, backlog: 1000, outside: true})
		}),
	},
	{
		Name: "actor/turn-others-at-all", Rule: "V5", Kind: Stochastic,
		Why: "whatever others do, an actor that is ready has its turn some time: also where that is left to Go's scheduler, and Fair is not promised",
		Check: check(func(e *Env) {
			most := 100_000 * e.rounds()
			e.starved(crowd{who: "a pair of actors that feed each other", busy: 2, throughput: 10, most: most})
			e.starved(crowd{who: "a flooded actor", busy: 1, throughput: 10, alone: true, backlog: 1000, outside: true, most: most})
		}),
	},
}

// fair is what clauses need that count the turns of others.
var fair = dyno.Promises{Fair: true}

// fairTurns is the number that the promise Fair states: of turns that any other
// actor has before one that is ready has its own.
const fairTurns = 128

// crowd is a number of actors that are busy all the time.
type crowd struct {
	who        string
	busy       int // how many
	throughput int
	alone      bool // each feeds itself, else they hand on one message in a ring
	backlog    int  // messages that wait for each, if alone; at least 1
	outside    bool // who is quiet is told from outside, as far as its Port can tell
	most       int  // messages of a round, if the check only asks whether the round ends
}

// per returns how many messages a turn of one of them has.
func (c crowd) per() int {
	if c.alone {
		return c.throughput
	}
	return 1
}

// starved finds out how many turns a crowd has from the moment at which another
// actor is ready until that one has its turn. It counts messages, of which a
// turn has a known number, and not time, of which a busy machine may take any.
//
// Several workers would hide an unfair order, so there is one processor. The
// operating system may still hold up a worker, and have a dispatcher believe
// that it is stuck, so the median of the rounds is what counts; who is unfair
// is so in nearly all of them. What the worst round took is reported.
func (e *Env) starved(c crowd) {
	rounds, bound := 11, fairTurns*c.busy*c.per()
	limit := 2 * bound // of a round that is lost
	if c.most > 0 {
		rounds, bound, limit = 2*e.rounds(), c.most-1, c.most
	}
	var got []int
	oneProcessor(func() {
		w := e.world(actor.Config{})
		defer w.abandon()
		var (
			mu    sync.Mutex // guards what follows
			told  bool
			seen  bool
			count int
			lost  int
			quiet actor.Ref
		)
		var over atomic.Bool
		// next counts one more message of the crowd, and reports whether quiet
		// is to be told something.
		next := func() bool {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case !told:
				told, seen, count = true, false, 0
				return true
			case seen || count == limit:
				got = append(got, count)
				told = false
				if !seen {
					lost++
				}
				enough := len(got) == rounds || lost > rounds/2
				if c.most > 0 {
					enough = enough && lost == len(got) || seen // once is enough
				}
				over.Store(enough)
			default:
				count++
			}
			return false
		}
		refs := make([]actor.Ref, c.busy)
		for i := range refs {
			to := (i + 1) % c.busy
			if c.alone {
				to = i
			}
			refs[i] = w.Spawn(actor.Props{Throughput: c.throughput, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				if over.Load() {
					return nil
				}
				if next() {
					mu.Lock()
					round := len(got)
					mu.Unlock()
					if c.outside {
						w.tell(quiet, round)
					} else {
						w.tells(ctx, quiet, round)
					}
				}
				w.tells(ctx, refs[to], msg)
				return nil
			}))})
		}
		quiet = w.Spawn(actortest.Func(func(_ *actor.Context, msg any) error {
			mu.Lock()
			seen = seen || msg == len(got) // or it is too late
			mu.Unlock()
			return nil
		}))
		w.In(w.UserGuardian(), func(ctx *actor.Context) {
			for i := range refs {
				if i > 0 && !c.alone {
					break
				}
				for range max(1, c.backlog) {
					w.tells(ctx, refs[i], "go")
				}
			}
		})
		w.until("the rounds to be over", over.Load)
		w.end()
	})
	slices.Sort(got)
	middle := got[len(got)/2]
	if c.most > 0 {
		middle = got[0]
	}
	e.require(middle <= bound, c.who, " handled ", middle, " messages before another one that was ready had its turn, want at most ", bound)
	e.measured((got[len(got)-1]+c.per()-1)/c.per(), "turns")
}

// V4: handlers that block.
var blockingClauses = []Clause{
	{
		Name: "actor/blocked-handlers", Rule: "V4", Needs: overlapEager,
		Why: "a handler may sleep, lock or wait: however many do, others go on, since workers that block are replaced",
		Check: actors(func(w *world) {
			n := 4*runtime.GOMAXPROCS(0) + 8
			g := w.e.gate()
			refs := w.spawns(n)
			for _, r := range refs {
				w.ask(r, func(*actor.Context) { g.pass() })
			}
			w.reached(g, n)
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d)})
			w.tell(r, 1)
			w.In(w.Spawn(actortest.Scripted()), func(ctx *actor.Context) { w.tells(ctx, r, 2) })
			w.wantLog(d, "1", "2")
			g.open()
			for _, r := range refs {
				w.In(r, func(*actor.Context) {})
			}
		}),
	},
	{
		Name: "actor/blocked-again", Rule: "V4", Needs: overlapEager,
		Why: "workers that were replaced and come back are used again, and their number does not grow with every time",
		Check: actors(func(w *world) {
			n := 2*runtime.GOMAXPROCS(0) + 3
			refs := w.spawns(n)
			block := func() {
				g := w.e.gate()
				for _, r := range refs {
					w.ask(r, func(*actor.Context) { g.pass() })
				}
				w.reached(g, n)
				g.open()
				for _, r := range refs {
					w.In(r, func(*actor.Context) {})
				}
			}
			block()
			if !w.e.Platform.Goroutines {
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
		Name: "actor/overlap-together", Rule: "V4", Needs: overlapEager,
		Why:   "Overlap is promised: of actors that are told something together each has its turn, whichever of the others' handlers wait for it",
		Check: Overlaps(waits, 5),
	},
}
