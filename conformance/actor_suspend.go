package conformance

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// S: suspension. The clock is the check's: it stands still unless the check
// moves it, so that it is known what is due.
var suspendClauses = []Clause{
	{
		Name: "actor/suspend-capacity", Rule: "S2",
		Why: "who waits for room in a full mailbox goes on when there is some, in the order of coming, and every message arrives",
		Check: actors(func(w *world) {
			for _, capacity := range []int{1, 3} {
				for _, policy := range []actor.Policy{actor.DropNewest, actor.Block} {
					const n = 8
					d := &eventLog{}
					slow := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: policy, Capacity: capacity}})
					w.suspend(slow, actor.Suspension{})
					for i := range capacity {
						w.tell(slow, i+1)
					}
					for i := range n {
						r := w.Spawn(actor.Props{New: hearing(d)})
						w.waitsFor(r, slow, func(ctx *actor.Context) { w.tells(ctx, slow, capacity+i+1) })
					}
					w.wantLog(d)
					w.Resume(slow)
					w.until("all messages to arrive", func() bool { return len(d.read()) >= capacity+n },
						func() string {
							return "only “" + quote(d.read()) + "” have arrived, and those who wait are not resumed"
						})
					got := d.read()
					if capacity > 1 { // those who are resumed together may overtake each other
						slices.SortStableFunc(got[capacity:], func(a, b string) int { return len(a) - len(b) })
						slices.SortFunc(got, func(a, b string) int {
							if len(a) != len(b) {
								return len(a) - len(b)
							}
							if a < b {
								return -1
							}
							return 1
						})
					}
					want := numbers(1, capacity+n)
					w.e.require(slices.Equal(got, want), "the messages arrived in order ", quote(got), ", want ", quote(want))
				}
			}
		}),
	},
	{
		Name: "actor/suspend-stream", Rule: "S3",
		Why: "a suspended actor loses nothing of what another one sends it in one turn, however much that is",
		Check: actors(func(w *world) {
			const n = 300 // after so many a sender may have a way of its own into the mailbox
			d := &eventLog{}
			r, from := w.Spawn(actor.Props{New: hearing(d)}), w.Spawn(actortest.Scripted())
			w.suspend(r, actor.Suspension{})
			w.In(from, func(ctx *actor.Context) {
				for i := range n {
					w.tells(ctx, r, i+1)
				}
			})
			w.wantLog(d)
			w.Resume(r)
			w.wantLog(d, numbers(1, n)...)
		}),
	},
	{
		Name: "actor/suspend-race", Rule: "S4", Kind: Stochastic,
		Why:   "a resume that races with messages, stops and other suspensions loses no wake-up and runs no actor twice at a time: what was accepted is handled, in order",
		Check: atRandom(suspendRace),
	},
}

// genesis is when the clocks of checks begin.
var genesis = time.Unix(1_000_000_000, 0)

// suspends waits until there have been n suspensions in all.
func (w *world) suspends(n uint64) {
	w.until(text("suspension ", n, " to begin"), func() bool { return w.Stats().Suspends >= n })
}

// suspend suspends r from outside, and waits until it is.
func (w *world) suspend(r actor.Ref, s actor.Suspension) {
	n := w.Stats().Suspends
	w.Suspend(r, s)
	w.suspends(n + 1)
}

// waitsFor has r, which carries out orders, wait for room in to's mailbox, and
// then do something.
func (w *world) waitsFor(r, to actor.Ref, then func(ctx *actor.Context)) {
	n := w.Stats().Suspends
	w.ask(r, func(ctx *actor.Context) { ctx.Suspend(actor.Suspension{Reason: "room", Capacity: to}) })
	w.suspends(n + 1)
	w.idle() // so that to knows
	w.ask(r, then)
}

// suspendRace suspends and resumes actors, in every way and on several
// goroutines, while messages are sent to them. Each suspension has its end:
// a goroutine that resumes the actor after having suspended it, or a time. So in the
// end none is suspended, and a message that is still there was overlooked.
func suspendRace(e *Env, rng *rand.Rand) {
	const senders, each, cycles = 3, 60, 20
	clock := actor.NewManualClock(genesis)
	w := e.world(actor.Config{Clock: clock})
	defer w.abandon()
	all := parcels(2 * senders * each)
	m := mailboxes[rng.IntN(len(mailboxes))]
	if m.Policy == actor.Block && w.Synchronous() {
		m = actor.MailboxConfig{} // who waits there for a suspended actor learns that no room will be made
	}
	var inside, handled atomic.Int32
	waker := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
		ctx.Resume(msg.(actor.Ref))
		return nil
	}))
	next := make([]int, 2*senders) // of each sender, the number that it is not below
	moods := sub(rng)
	r := w.Spawn(actor.Props{Mailbox: m, Throughput: rng.IntN(5), New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
		w.e.require(inside.Add(1) == 1, "two turns of an actor at once")
		defer inside.Add(-1)
		p := msg.(*parcel)
		from, n := p.id/each, p.id%each
		w.e.require(n >= next[from], "message ", n, " of sender ", from, " was handled late: ", next[from], " was next")
		next[from] = n + 1
		p.handled.Add(1)
		handled.Add(1)
		switch moods.IntN(8) {
		case 0:
			ctx.Suspend(actor.Suspension{})
			w.tells(ctx, waker, ctx.Self())
		case 1:
			ctx.Suspend(actor.Suspension{After: time.Duration(1 + moods.IntN(5))})
		case 2:
			ctx.Suspend(actor.Suspension{})
			ctx.Resume(ctx.Self())
		}
		return nil
	}))})
	var calls []*call[error]
	for s := range senders {
		rng, turns := sub(rng), sub(rng)
		calls = append(calls, start(e, "a loop of Tell", func() error {
			for i := range each {
				p := &all[s*each+i]
				p.sent(r.Tell(p))
				for range rng.IntN(3) {
					yield()
				}
			}
			return nil
		}))
		n := 0
		w.repeats(w.Spawn(actortest.Scripted()), func(ctx *actor.Context) (more bool) {
			for range 1 + turns.IntN(5) {
				if n < each {
					p := &all[(senders+s)*each+n]
					p.sent(ctx.Tell(r, p))
					n++
				}
			}
			return n < each
		})
	}
	for range 2 {
		rng := sub(rng)
		calls = append(calls, start(e, "a loop of Suspend and Resume", func() error {
			for range cycles {
				w.Suspend(r, actor.Suspension{After: time.Duration(rng.IntN(3)) * time.Hour})
				for range rng.IntN(3) {
					yield()
				}
				w.Resume(r)
				clock.Advance(1)
			}
			return nil
		}))
	}
	count := func() (h, out int) {
		for i := range all {
			h += int(all[i].handled.Load())
			out += int(all[i].returned.Load() + all[i].undelivered.Load())
		}
		return h, out
	}
	w.until("every message that was accepted to be handled", func() bool {
		clock.Advance(10)
		h, out := count()
		return h+out == len(all)
	}, func() string {
		h, out := count()
		return text(h, " of ", len(all), " messages were handled, ", out, " refused or dropped; ", r.Backlog(), " wait, for an actor that was resumed")
	})
	w.succeed(calls)
	w.end()
	b := w.accounted(all)
	w.counted(b)
	switch m.Policy {
	case actor.Unbounded, actor.Grow, actor.Block:
		e.require(b.handled == len(all), b.handled, " of ", len(all), " messages were handled")
	}
}
