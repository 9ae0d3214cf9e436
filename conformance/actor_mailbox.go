package conformance

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// V2, FR-020: mailboxes. An actor that is in a turn fills its own mailbox, so
// that it is known what waits.
var mailboxClauses = []Clause{
	{
		Name: "actor/mailbox-unbounded", Rule: "V2",
		Why: "an unbounded mailbox takes whatever comes, in order; memory is its only bound",
		Check: actors(func(w *world) {
			const n = 20_000
			next := 0
			var done atomic.Bool
			r := w.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
				if o, ok := msg.(*order); ok {
					return o.Do(ctx)
				}
				w.e.require(msg == next, "message ", msg, " was handled, next is ", next)
				next++
				done.Store(next == n)
				return nil
			}))
			w.In(r, func(ctx *actor.Context) {
				for i := range n {
					w.tells(ctx, r, i)
				}
			})
			w.until("all messages to be handled", done.Load)
		}),
	},
	{
		Name: "actor/mailbox-drop-newest", Rule: "FR-020",
		Why: "with DropNewest a full mailbox refuses: exactly Capacity messages wait, beside the one being handled, and the sender has the others back",
		Check: actors(func(w *world) {
			for _, capacity := range capacities {
				w.fill(actor.DropNewest, capacity, nil, func(d *eventLog, ctx *actor.Context) {
					r := ctx.Self()
					for i := range 2 * capacity {
						err := ctx.Tell(r, i+1)
						if i < capacity {
							w.e.require(err == nil, "message ", i+1, " to a mailbox for ", capacity, " was refused: ", err)
							continue
						}
						w.returned(err, r, i+1, actor.ErrFull)
					}
				}, numbers(1, capacity)...)
			}
		}),
	},
	{
		Name: "actor/mailbox-drop-oldest", Rule: "FR-020",
		Why: "with DropOldest a full mailbox takes the new message and drops the one that has waited longest, which becomes a dead letter: nothing goes silently",
		Check: actors(func(w *world) {
			for _, capacity := range capacities {
				var dropped []any
				r := w.fill(actor.DropOldest, capacity, nil, func(_ *eventLog, ctx *actor.Context) {
					for i := range 3 * capacity {
						w.tells(ctx, ctx.Self(), i+1)
						if i < 2*capacity {
							dropped = append(dropped, i+1)
						}
					}
				}, numbers(2*capacity+1, 3*capacity)...)
				w.undelivered(r, actor.ErrDropped, dropped...)
			}
			st := w.Stats()
			w.e.require(st.Dropped == st.DeadLetters && st.Dropped > 0, "Stats counts ", st.Dropped, " dropped and ", st.DeadLetters, " dead letters, want the same")
		}),
	},
	{
		Name: "actor/mailbox-grow", Rule: "FR-020",
		Why: "with Grow the capacity is room made in advance and no bound: everything is accepted, in order",
		Check: actors(func(w *world) {
			for _, capacity := range capacities {
				w.fill(actor.Grow, capacity, nil, func(_ *eventLog, ctx *actor.Context) {
					for i := range 10 * capacity {
						w.tells(ctx, ctx.Self(), i+1)
					}
				}, numbers(1, 10*capacity)...)
			}
		}),
	},
	{
		Name: "actor/mailbox-room-again", Rule: "FR-020",
		Why: "a bounded mailbox that was full has room again for every message that was handled: a slot that is lost once is lost for ever",
		Check: actors(func(w *world) {
			for _, policy := range []actor.Policy{actor.DropNewest, actor.DropOldest, actor.Block} {
				for _, prio := range []func(any) int{nil, samePriority} {
					const capacity = 3
					d := &eventLog{}
					r := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: policy, Capacity: capacity, Priority: prio}})
					for round := range 20 {
						w.In(r, func(ctx *actor.Context) {
							for i := range capacity {
								w.tells(ctx, r, capacity*round+i+1)
							}
							if policy != actor.DropOldest {
								w.returned(ctx.Tell(r, 0), r, 0, actor.ErrFull)
							}
						})
						w.wantLog(d, numbers(1, capacity*(round+1))...)
					}
				}
			}
		}),
	},
}

// capacities of bounded mailboxes: the smallest, a small odd one, and one
// beyond what a queue starts with.
var capacities = []int{1, 5, 64}

// fill spawns an actor with such a mailbox, calls put in its turn, and demands
// that it then handles want.
func (w *world) fill(policy actor.Policy, capacity int, prio func(any) int, put func(d *eventLog, ctx *actor.Context), want ...string) actor.Ref {
	d := &eventLog{}
	r := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Policy: policy, Capacity: capacity, Priority: prio}})
	w.In(r, func(ctx *actor.Context) { put(d, ctx) })
	w.wantLog(d, want...)
	return r
}

// ranked is a message with a priority.
type ranked struct{ prio, n int }

func (m ranked) text() string { return text(m.prio, ".", m.n) }

// V2: priorities.
var priorityClauses = []Clause{
	{
		Name: "actor/priority-order", Rule: "V2",
		Why: "with priorities the waiting message with the smallest number is next, and of equal ones the one that came first",
		Check: actors(func(w *world) {
			rng := w.e.random()
			for _, m := range []actor.MailboxConfig{{}, {Policy: actor.Grow, Capacity: 4}, {Policy: actor.Block, Capacity: 300}, {Policy: actor.DropNewest, Capacity: 300}} {
				var all []ranked
				for n := range 300 {
					all = append(all, ranked{rng.IntN(7) - 3, n})
				}
				w.ranks(m, all, byPriority(all))
			}
		}),
	},
	{
		Name: "actor/priority-stable", Rule: "V2",
		Why: "messages of equal priority stay in the order of sending: without that a priority mailbox breaks the order per sender",
		Check: actors(func(w *world) {
			for _, levels := range []int{1, 2} {
				var all []ranked
				for n := range 100 {
					all = append(all, ranked{n % levels, n})
				}
				w.ranks(actor.MailboxConfig{}, all, byPriority(all))
			}
		}),
	},
	{
		Name: "actor/priority-overtakes", Rule: "V2",
		Why: "an urgent message that comes while others wait overtakes them, from one message to the next",
		Check: actors(func(w *world) {
			var got []ranked
			var done atomic.Bool
			r := w.Spawn(actor.Props{Mailbox: actor.MailboxConfig{Priority: priorityOf}, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				if o, ok := msg.(*order); ok {
					return o.Do(ctx)
				}
				m := msg.(ranked)
				got = append(got, m)
				if m.prio == 9 && m.n < 3 {
					w.tells(ctx, ctx.Self(), ranked{1, m.n})
				}
				done.Store(len(got) == 8)
				return nil
			}))})
			w.In(r, func(ctx *actor.Context) {
				for n := range 5 {
					w.tells(ctx, r, ranked{9, n})
				}
			})
			w.until("8 messages to be handled", done.Load)
			w.idle()
			want := []ranked{{9, 0}, {1, 0}, {9, 1}, {1, 1}, {9, 2}, {1, 2}, {9, 3}, {9, 4}}
			w.e.require(slices.Equal(got, want), "the messages (priority.number) were handled in order ", show(got), ", want ", show(want))
		}),
	},
	{
		Name: "actor/priority-drop-newest", Rule: "V2",
		Why: "a full priority mailbox with DropNewest refuses whatever comes, however urgent",
		Check: actors(func(w *world) {
			w.fill(actor.DropNewest, 2, priorityOf, func(_ *eventLog, ctx *actor.Context) {
				w.tells(ctx, ctx.Self(), 5, 6)
				w.returned(ctx.Tell(ctx.Self(), 1), ctx.Self(), 1, actor.ErrFull)
			}, "5", "6")
		}),
	},
	{
		Name: "actor/priority-drop-oldest", Rule: "V2",
		Why: "a full priority mailbox with DropOldest drops the oldest of the least urgent, which may be the new message: the urgent ones survive",
		Check: actors(func(w *world) {
			a, b, c, d := ranked{1, 0}, ranked{7, 1}, ranked{7, 2}, ranked{3, 3}
			urgent, late := ranked{2, 4}, ranked{8, 5}
			r := w.ranks(actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 4},
				[]ranked{a, b, c, d, urgent, late}, []ranked{a, urgent, d, c})
			w.undelivered(r, actor.ErrDropped, b, late)
			rng := w.e.random()
			var all, keep []ranked
			var dropped []any
			const capacity = 8
			for n := range 100 {
				m := ranked{rng.IntN(5), n}
				all = append(all, m)
				if len(keep) < capacity {
					keep = append(keep, m)
					continue
				}
				out := slices.MaxFunc(keep, func(a, b ranked) int { return cmp.Or(a.prio-b.prio, b.n-a.n) })
				if m.prio > out.prio {
					dropped = append(dropped, m)
					continue
				}
				dropped = append(dropped, out)
				keep = append(slices.DeleteFunc(keep, func(k ranked) bool { return k == out }), m)
			}
			r = w.ranks(actor.MailboxConfig{Policy: actor.DropOldest, Capacity: capacity}, all, byPriority(keep))
			w.undelivered(r, actor.ErrDropped, dropped...)
		}),
	},
	{
		Name: "actor/priority-stop", Rule: "FR-004",
		Why: "a system message overtakes even the most urgent user message",
		Check: actors(func(w *world) {
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d), Mailbox: actor.MailboxConfig{Priority: priorityOf}})
			urgent := []any{ranked{math.MinInt, 1}, ranked{math.MinInt, 2}}
			w.ask(r, func(ctx *actor.Context) {
				w.tells(ctx, r, urgent...)
				ctx.StopSelf()
			})
			w.undelivered(r, actor.ErrStopped, urgent...)
			w.wantLog(d)
		}),
	},
}

// priorityOf is a priority function: that of a ranked message, a number is its
// own, and an order comes first.
func priorityOf(msg any) int {
	switch m := msg.(type) {
	case ranked:
		return m.prio
	case int:
		return m
	}
	return math.MinInt
}

// byPriority returns messages in the order in which they are to be handled.
func byPriority(all []ranked) []ranked {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.prio, b.prio) })
	return all
}

// ranks spawns an actor with such a mailbox and priorities, has it send itself
// all, and demands that it then handles want.
func (w *world) ranks(m actor.MailboxConfig, all, want []ranked) actor.Ref {
	m.Priority = priorityOf
	var got []ranked
	var n atomic.Int32
	r := w.Spawn(actor.Props{Mailbox: m, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
		if o, ok := msg.(*order); ok {
			return o.Do(ctx)
		}
		got = append(got, msg.(ranked))
		n.Add(1)
		return nil
	}))})
	w.In(r, func(ctx *actor.Context) {
		for _, m := range all {
			w.tells(ctx, r, m)
		}
	})
	w.until("all messages to be handled", func() bool { return int(n.Load()) >= len(want) },
		func() string { return text("only ", int(n.Load()), " of ", len(want), " messages were handled") })
	w.idle()
	if !slices.Equal(got, want) {
		w.e.fail("the messages (priority.number) were handled in order ", show(got), ", want ", show(want))
	}
	return r
}

func show(all []ranked) string {
	var s []string
	for _, m := range all {
		s = append(s, m.text())
	}
	return quote(s)
}
