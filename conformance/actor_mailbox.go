package conformance

import (
	"cmp"
	"context"
	"errors"
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
		Name: "actor/priority-asks", Rule: "V2",
		Why:   "a priority function may ask how much waits in the mailbox: it is the user's, and no lock is held when it is called",
		Check: actors(priorityAsks),
	},
}

// priorityAsks is the check of actor/priority-asks.
func priorityAsks(w *world) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, policy := range actor.Policies() {
		d := &eventLog{}
		m := actor.MailboxConfig{Policy: policy}
		if policy != actor.Unbounded {
			m.Capacity = 1
		}
		var r actor.Ref
		asked := 0
		m.Priority = func(any) int {
			asked += r.Backlog() + 1
			return 0
		}
		r = w.Spawn(actor.Props{New: hearing(d), Mailbox: m})
		w.suspend(r, actor.Suspension{})
		w.tell(r, 1)
		if policy == actor.Block {
			err := r.TellContext(ended, 2)
			w.e.require(errors.Is(err, context.Canceled) && asked > 1, "a sender to a full mailbox whose context has ended got ", err, ", and the mailbox was asked about ", asked, " times")
		}
		w.Resume(r)
		w.wantLog(d, "1")
		w.e.require(asked > 0, "no message was given a priority")
	}
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
