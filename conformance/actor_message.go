package conformance

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// V3: from tell to receive.
var messageClauses = []Clause{
	{
		Name: "actor/tell-identity", Rule: "FR-011",
		Why: "what arrives is the very value that was sent, nil included: messages are untyped, and neither copied nor wrapped",
		Check: actors(func(w *world) {
			p := &parcel{}
			sent := []any{nil, 0, "x", p, w, 1.5, struct{}{}, [2]int{1, 2}, errA, w.UserGuardian(), order{}.Do == nil}
			var got []any
			var n atomic.Int32
			r := w.Spawn(actortest.Func(func(_ *actor.Context, msg any) error {
				got = append(got, msg)
				n.Add(1)
				return nil
			}))
			w.tell(r, sent...)
			w.until("all messages to be handled", func() bool { return int(n.Load()) == len(sent) })
			for i := range sent {
				w.e.require(got[i] == sent[i], "message ", i+1, " arrived as ", got[i], ", want ", sent[i])
			}
		}),
	},
	{
		Name: "actor/tell-forged", Rule: "FR-033",
		Why: "user code cannot make a system message: whatever value it sends is a user message like any other, in its place in the order, and no actor stops or fails of it; what the runtime tells actors by a message arrives as actor.Forged if it was sent",
		Check: actors(func(w *world) {
			forged := []any{
				actor.StateStopping, actor.StateStopped, actor.Stopped, actor.Suspended, actor.Closed,
				actor.ErrStopped, actor.ErrStopping, actor.ErrGoexit, actor.ErrDropped,
				actor.Failure{Err: errA},
				&actor.Failure{Err: errA},
				actor.DeadLetter{},
				&actor.SendError{Reason: errA},
				&actor.PanicError{}, &actor.ShutdownError{},
				actor.Ref{},
				w.UserGuardian(),
				actor.PID{},
				w.UserGuardian().PID(),
				actor.MailboxConfig{}.Policy,
				actor.Stats{},
				"stop", "kill", nil, w.System.System,
				actor.Terminated{Actor: w.UserGuardian(), Err: errA},
				actor.Terminated{},
				actor.ReceiveTimeout{},
			}
			for _, m := range mailboxes {
				if m.Capacity > 0 {
					m.Capacity = len(forged)
				}
				var got []any
				var n atomic.Int32
				r := w.Spawn(actor.Props{Mailbox: m, New: making(actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					if o, ok := msg.(*order); ok {
						return o.Do(ctx)
					}
					got = append(got, msg)
					n.Add(1)
					return nil
				}))})
				w.In(r, func(ctx *actor.Context) { w.tells(ctx, r, forged...) })
				w.until("all messages to be handled", func() bool { return int(n.Load()) == len(forged) },
					func() string { return text("only ", int(n.Load()), " of ", len(forged), " messages were handled") })
				for i, want := range forged {
					switch want.(type) {
					case actor.Terminated, actor.ReceiveTimeout:
						want = actor.Forged{Msg: want}
					}
					w.e.require(got[i] == want, "message ", i+1, " arrived as ", got[i], ", want ", want)
				}
				w.e.require(w.Alive(r), "an actor has stopped because of a user message")
				w.End(r)
			}
		}),
	},
	{
		Name: "actor/tell-only-queues", Rule: "FR-004",
		Why: "to send queues and schedules and never runs the receiver: a sender can send with a lock held",
		Check: actors(func(w *world) {
			d := &eventLog{}
			g := w.e.gate()
			r := w.Spawn(actortest.Func(func(_ *actor.Context, msg any) error {
				g.pass()
				d.note(msg)
				return nil
			}))
			w.tell(r, 1) // hangs if the handler runs inside
			g.open()
			w.wantLog(d, "1")
			from := w.Spawn(actortest.Scripted())
			g2 := w.e.gate()
			r2 := w.Spawn(actortest.Func(func(_ *actor.Context, msg any) error {
				g2.pass()
				d.note(msg)
				return nil
			}))
			w.In(from, func(ctx *actor.Context) {
				w.tells(ctx, r2, 2)
				g2.open()
			})
			w.wantLog(d, "1", "2")
		}),
	},
	{
		Name: "actor/tell-wakes-race", Rule: "V3", Kind: Stochastic, Needs: dyno.Promises{Eager: true},
		Why: "a message that comes just as its receiver goes idle is found: otherwise an answer never comes, once in a million",
		Check: races(func(e *Env, w *world, rng *rand.Rand) {
			m := mailboxes[rng.IntN(len(mailboxes))]
			heard := make(chan any, 1)
			r := w.Spawn(actor.Props{Mailbox: m, New: making(actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
				heard <- msg
				return nil
			}))})
			w.succeed(w.callers(1, rng, func(_ int, rng *rand.Rand) {
				for i := range 500 {
					e.same("what Tell returned", r.Tell(i), nil)
					for range rng.IntN(3) {
						yield()
					}
					if got := <-heard; got != i {
						e.fail("the answer to ", i, " is ", got)
					}
				}
			}))
		}),
	},
	{
		Name: "actor/tell-many-to-one", Rule: "V3", Kind: Stochastic,
		Why:   "with any number of senders, each one's messages arrive once and in the order of sending, and the receiver's state needs no lock",
		Check: races(manyToOne),
	},
	{
		Name: "actor/one-at-a-time", Rule: "V1", Needs: overlapEager,
		Why: "an actor handles one message at a time, whatever is sent to it, stops or wakes it meanwhile: its state is its own",
		Check: actors(func(w *world) {
			r, g := w.hold(actortest.Scripted())
			inside := w.e.gate()
			inside.open()
			other := w.Spawn(actortest.Scripted())
			count := 0
			for i := range 20 {
				o := &order{Do: func(*actor.Context) error {
					inside.pass()
					count++
					return nil
				}}
				if i%2 == 0 {
					w.tell(r, o)
				} else {
					w.In(other, func(ctx *actor.Context) { w.tells(ctx, r, o) })
				}
			}
			w.idle()
			w.e.require(len(inside.arrived) == 0, len(inside.arrived), " messages were handled while another one was")
			g.open()
			w.reached(inside, 20)
			g2 := w.e.gate()
			w.ask(r, func(*actor.Context) { g2.pass() })
			w.reached(g2, 1)
			w.e.require(count == 20, count, " messages were handled, want 20")
			w.ask(r, func(*actor.Context) { inside.pass() })
			w.Stop(r) // a system message is no turn either
			w.idle()
			w.e.require(len(inside.arrived) == 0 && w.Alive(r), "a stop had a turn while a message was being handled")
			g2.open()
			w.Gone(r)
			takeAll(w, &w.letters, 1, "dead letters")
		}),
	},
}

// manyToOne lets goroutines and actors send to one actor.
func manyToOne(e *Env, w *world, rng *rand.Rand) {
	const each = 100
	outside, inside := 1+rng.IntN(4), 1+rng.IntN(4)
	// No other function may have a type of this name: TinyGo takes those of one package
	// for the same.
	type note struct{ sender, n int }
	m := mailboxes[rng.IntN(len(mailboxes))]
	if m.Policy == actor.DropNewest || m.Policy == actor.DropOldest {
		m.Policy = actor.Grow
	}
	next := make([]int, outside+inside) // the receiver's state, without a lock
	total := 0
	var done atomic.Bool
	pause := rng.IntN(3)
	r := w.Spawn(actor.Props{Mailbox: m, Throughput: rng.IntN(10), New: making(actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
		i := msg.(note)
		e.require(i.n == next[i.sender], "message ", i.n, " of sender ", i.sender, " was handled, next is ", next[i.sender])
		for range pause {
			yield()
		}
		next[i.sender]++
		total++
		if total == (outside+inside)*each {
			done.Store(true)
		}
		return nil
	}))})
	for s := range inside {
		n := 0
		w.repeats(w.Spawn(actortest.Scripted()), func(ctx *actor.Context) (more bool) {
			for range 7 {
				if n == each {
					return false
				}
				w.tells(ctx, r, note{outside + s, n})
				n++
			}
			return true
		})
	}
	calls := w.callers(outside, rng, func(s int, rng *rand.Rand) {
		for n := range each {
			e.same("what Tell returned", r.Tell(note{s, n}), nil)
			if rng.IntN(16) == 0 {
				yield()
			}
		}
	})
	w.succeed(calls)
	w.until("all messages to be handled", done.Load)
	w.end()
	e.require(total == (outside+inside)*each, total, " messages were handled, want ", (outside+inside)*each)
}
