package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// FR-001, FR-024, FR-031: one call makes a system.
var systemClauses = []Clause{
	{
		Name: "actor/system-guardian", Rule: "FR-001", Core: true,
		Why: "a new system has its three guardians and nothing else; the user guardian is there, alone at the top, and handles messages",
		Check: actors(func(w *world) {
			g := w.UserGuardian()
			w.e.require(g.Path() == "/user" && g.Name() == "user", "the user guardian is ", g.Path(), ", named ", g.Name(), ", want /user")
			w.In(g, func(ctx *actor.Context) {
				w.e.require(ctx.Self() == g, "the guardian's Self is not UserGuardian")
				w.e.require(ctx.Parent().IsZero(), "the guardian's Parent is ", ctx.Parent().String(), ", want none")
				w.e.require(ctx.System() == w.System.System, "Context.System is not the system")
				for r := range ctx.Children() {
					w.e.fail("the new guardian has a child: ", r.String())
				}
			})
			st := w.Stats()
			w.e.require(st.Actors == 3 && st.Spawned == 3, "a new system counts ", st.Actors, " actors and ", st.Spawned, " spawned, want the three guardians")
			w.e.require(w.Err() == nil, "Err of a running system is ", w.Err())
			w.e.require(!came(w.Done()), "Done is closed while the system runs")
		}),
	},
	{
		Name: "actor/guardian-props", Rule: "FR-001", Core: true,
		Why: "the user guardian is made from its props like any other actor, once: its hooks run, its mailbox has the bound they say, and it may spawn from the first moment",
		Check: check(func(e *Env) {
			d, made := &eventLog{}, 0
			var child actor.Ref
			w := e.world(actor.Config{Guardian: actor.Props{
				Mailbox: actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 2},
				New: func() actor.Actor {
					made++
					return &staged{
						receive: d.hear,
						start: func(ctx *actor.Context) (err error) {
							d.note("starts")
							child, err = ctx.SpawnNamed("child", d.staged("child"))
							return err
						},
						stop: func(*actor.Context) error {
							d.note("stops")
							return nil
						},
					}
				},
			}})
			defer w.abandon()
			w.wantLog(d, "starts", "child-starts")
			w.e.require(made == 1, "Props.New of the guardian was called ", made, " times")
			w.e.require(child.Path() == "/user/child", "the guardian's child is ", child.Path())
			w.In(w.UserGuardian(), func(ctx *actor.Context) {
				w.tells(ctx, ctx.Self(), 1, 2)
				w.returned(ctx.Tell(ctx.Self(), 3), ctx.Self(), 3, actor.ErrFull)
			})
			w.wantLog(d, "starts", "child-starts", "1", "2")
			w.end()
			w.wantLog(d, "starts", "child-starts", "1", "2", "child-stops", "stops")
		}),
	},
	{
		Name: "actor/stats-idle", Rule: "V5", Exact: true,
		Why: "what a system has counted is exact whenever it is idle, and not only at the end: metrics are for looking at it while it lives",
		Check: actors(func(w *world) {
			r, from := w.Spawn(actortest.Scripted()), w.Spawn(actortest.Scripted())
			w.idle()
			before := w.Stats()
			const n = 10
			for range n {
				w.In(from, func(ctx *actor.Context) { w.tells(ctx, r, &order{Do: func(*actor.Context) error { return nil }}) })
			}
			w.until("the messages to be counted", func() bool { return w.Stats().Messages == before.Messages+2*n },
				func() string {
					return text(2*n, " messages were handled, and Stats counts ", w.Stats().Messages-before.Messages)
				})
			after := w.Stats()
			turns := after.Turns - before.Turns
			w.e.require(turns >= n && turns <= 2*n, 2*n, " messages one after the other are ", turns, " turns, want from ", n, " to ", 2*n)
			w.idle()
			w.e.require(w.Stats() == after, "the Stats of an idle system change")
		}),
	},
	{
		Name: "actor/system-rejects", Rule: "FR-001", Core: true,
		Why: "what cannot work is refused when the system is made, with the field's name, and not when the first message comes",
		Check: check(func(e *Env) {
			ok := making(actor.ReceiveFunc(func(*actor.Context, any) error { return nil }))
			for i, c := range []actor.Config{
				{Guardian: actor.Props{New: ok}},
				{Dispatcher: e.Impl.NewDispatcher()},
				{Dispatcher: e.Impl.NewDispatcher(), Guardian: actor.Props{New: making(nil)}},
				{Dispatcher: e.Impl.NewDispatcher(), Guardian: actor.Props{New: ok, Throughput: -1}},
				{Dispatcher: e.Impl.NewDispatcher(), Guardian: actor.Props{New: ok, Mailbox: actor.MailboxConfig{Capacity: 1}}},
			} {
				s, err := actor.NewSystem(c)
				var p *actor.PropsError
				e.require(s == nil && errors.As(err, &p) && p.Field != "" && p.Rule != "",
					"NewSystem with wrong configuration ", i+1, " returned error ", err, ", want no system and a *PropsError")
			}
		}),
	},
	{
		Name: "actor/dispatcher-serves-one", Rule: "FR-005",
		Why: "a dispatcher serves one system, once: given to a second one it refuses, and the first goes on",
		Check: check(func(e *Env) {
			d := e.Impl.NewDispatcher()
			w := e.world(actor.Config{Dispatcher: d})
			defer w.abandon()
			again := func() {
				s, err := actor.NewSystem(actor.Config{Dispatcher: d, Guardian: actortest.Scripted()})
				e.require(s == nil && err != nil, "NewSystem with a dispatcher that serves another system returned error ", err, ", want no system and an error")
			}
			again()
			w.In(w.UserGuardian(), func(*actor.Context) {})
			w.end()
			again()
		}),
	},
	{
		Name: "actor/systems-talk", Rule: "FR-001", Core: true,
		Why: "actors of two systems may tell each other, and one system's end is not the other's",
		Check: actors(func(w *world) {
			other := w.e.world(actor.Config{Name: "other"})
			defer other.abandon()
			w.e.require(w.Name() == "dyno" && other.Name() == "other", "the systems are called ", w.Name(), " and ", other.System.System.Name(), ", want dyno and other")
			d, far := &eventLog{}, &eventLog{}
			here, there := w.Spawn(actor.Props{New: hearing(d)}), other.Spawn(actor.Props{New: hearing(far)})
			began := time.Now()
			w.In(here, func(ctx *actor.Context) {
				w.tells(ctx, there, 1)
				ctx.Forward(there, 2)
				w.e.same("what TellContext returned", ctx.TellContext(context.Background(), there, 3), nil)
			})
			other.wantLog(far, "1", "2", "3")
			took := time.Since(began)
			w.e.require(!w.e.Exact || took == 0, "the other system, which had nothing to do, took up its messages after ", took.String(), ", want at once")
			other.In(there, func(ctx *actor.Context) { w.tells(ctx, here, 4, 5) })
			w.wantLog(d, "4", "5")
			w.In(here, func(ctx *actor.Context) { ctx.Stop(there) })
			other.Gone(there)
			w.returned(there.Tell(6), there, 6, actor.ErrStopped)
			other.end()
			w.returned(there.Tell(6), there, 6, actor.ErrStopped)
			w.tell(here, 7)
			w.wantLog(d, "4", "5", "7")
		}),
	},
	{
		Name: "actor/stats", Rule: "V5",
		Why: "what a system has counted is exact when it is done: messages, actors, dead letters, what was returned and what failed, and no worker is left then; a dispatcher that was not started has counted nothing",
		Check: actors(func(w *world) {
			var none actor.Stats
			w.e.Impl.NewDispatcher().AddStats(&none)
			w.e.require(none == actor.Stats{}, "a dispatcher that was not started has counted something")
			const n = 100
			d := &eventLog{}
			r := w.Spawn(actor.Props{New: hearing(d)})
			full := w.Spawn(actor.Props{New: actortest.Scripted().New, Mailbox: actor.MailboxConfig{Capacity: 1, Policy: actor.DropOldest}})
			for i := range n {
				w.tell(r, i+1)
			}
			w.wantLog(d, numbers(1, n)...)
			nothing := &order{Do: func(*actor.Context) error { return nil }}
			lost := []any{"a", "b", "c"}
			w.In(full, func(ctx *actor.Context) { w.tells(ctx, full, append(lost, nothing)...) })
			w.undelivered(full, actor.ErrDropped, lost...)
			w.ask(r, func(ctx *actor.Context) {
				w.tells(ctx, r, "x")
				ctx.StopSelf()
			})
			w.undelivered(r, actor.ErrStopped, "x")
			w.returned(r.Tell("y"), r, "y", actor.ErrStopped)
			w.tell(full, &order{Do: func(*actor.Context) error { return errA }})
			w.takeFailure(full)
			w.shutdown()
			st := w.Stats()
			// The guardian's two spawns, n, the order to fill and the one that
			// was left in, the order to stop, the order to fail.
			const messages = 2 + n + 2 + 1 + 1
			w.e.require(st.Messages == messages, "Stats.Messages is ", st.Messages, ", want ", messages)
			w.e.require(st.Turns > 0, "Stats.Turns is 0 after ", messages, " messages")
			w.e.require(st.Spawned == 5 && st.Actors == 0, "Stats counts ", st.Spawned, " actors spawned and ", st.Actors, " left, want 5 and 0")
			w.e.require(st.DeadLetters == 5 && st.Dropped == 3 && st.Failed == 1, "Stats counts ", st.DeadLetters, " dead letters, ", st.Dropped,
				" of them dropped and ", st.Failed, " that failed; want 5, 3 and 1")
			w.e.require(st.Workers == 0, "Stats counts ", st.Workers, " workers when Done is closed")
			w.e.require(st.Returned == 1, "Stats.Returned is ", st.Returned, ", want 1")
			w.e.require(st.Failures == 1, "Stats.Failures is ", st.Failures, ", want 1")
		}),
	},
}

// FR-001, FR-007, FR-010: actors make actors.
var spawnClauses = []Clause{
	{
		Name: "actor/spawn-rejects", Rule: "FR-010", Core: true,
		Why: "props that cannot work are refused with the field's name, and no actor is made",
		Check: actors(func(w *world) {
			own := func() actor.Mailbox { return &pile{} }
			box := func(m actor.MailboxConfig) actor.Props { return actor.Props{New: actortest.Scripted().New, Mailbox: m} }
			super := func(s actor.Supervisor) actor.Props {
				return actor.Props{New: actortest.Scripted().New, Supervisor: &s}
			}
			backoff := func(b actor.Backoff) actor.Props { return super(actor.Supervisor{Backoff: b}) }
			w.In(w.UserGuardian(), func(ctx *actor.Context) {
				for _, t := range []struct {
					field string
					p     actor.Props
				}{
					{"Props.New", actor.Props{}},
					{"Props.New", actor.Props{New: making(nil)}},
					{"Props.Throughput", actor.Props{New: actortest.Scripted().New, Throughput: -1}},
					{"Props.Throughput", actor.Props{New: actortest.Scripted().New, Throughput: 1<<30 + 1}},
					{"Props.Priority", actor.Props{New: actortest.Scripted().New, Priority: actor.High + 1}},
					{"Props.Priority", actor.Props{New: actortest.Scripted().New, Priority: actor.Low - 1}},
					{"Props.Middleware", actor.Props{New: actortest.Scripted().New, Middleware: []actor.Middleware{nil}}},
					{"Mailbox.Capacity", box(actor.MailboxConfig{Capacity: -1})},
					{"Mailbox.Capacity", box(actor.MailboxConfig{Capacity: 1})},
					{"Mailbox.Capacity", box(actor.MailboxConfig{Policy: actor.DropNewest})},
					{"Mailbox.Capacity", box(actor.MailboxConfig{Policy: actor.DropOldest})},
					{"Mailbox.Capacity", box(actor.MailboxConfig{Policy: actor.Grow})},
					{"Mailbox.Capacity", box(actor.MailboxConfig{Policy: actor.Block})},
					{"Mailbox.Capacity", box(actor.MailboxConfig{Policy: actor.Block, Capacity: -1})},
					{"Mailbox.Policy", box(actor.MailboxConfig{Policy: actor.Policy(len(actor.Policies())), Capacity: 1})},
					{"Mailbox.Watermark", box(actor.MailboxConfig{Watermark: -1})},
					{"Mailbox.New", box(actor.MailboxConfig{New: own, Policy: actor.Grow})},
					{"Mailbox.New", box(actor.MailboxConfig{New: own, Capacity: 1})},
					{"Mailbox.New", box(actor.MailboxConfig{New: own, Priority: samePriority})},
					{"Supervisor.Strategy", super(actor.Supervisor{Strategy: actor.AllForOne + 1})},
					{"Supervisor.Backoff", backoff(actor.Backoff{Min: -1})},
					{"Supervisor.Backoff", backoff(actor.Backoff{Max: -1})},
					{"Supervisor.Backoff.Max", backoff(actor.Backoff{Min: 2, Max: 1})},
					{"Supervisor.Backoff.Factor", backoff(actor.Backoff{Factor: 0.5})},
					{"Supervisor.Backoff.Jitter", backoff(actor.Backoff{Jitter: 1.5})},
					{"Supervisor.Backoff.Jitter", backoff(actor.Backoff{Jitter: -0.5})},
				} {
					for _, name := range []string{"", "x"} {
						var r actor.Ref
						var err error
						if name == "" {
							r, err = ctx.Spawn(t.p)
						} else {
							r, err = ctx.SpawnNamed(name, t.p)
						}
						var pe *actor.PropsError
						w.e.require(r.IsZero() && errors.As(err, &pe) && pe.Field == t.field && pe.Rule != "",
							"Spawn with a wrong ", t.field, " returned ", r.String(), " and ", err, ", want none and a *PropsError that names it")
					}
				}
				for r := range ctx.Children() {
					w.e.fail("Spawn with wrong props made ", r.String())
				}
				w.born(ctx.SpawnNamed("x", actortest.Scripted())) // the name was not taken
			})
			st := w.Stats()
			w.e.require(st.Spawned == 4, "Stats.Spawned is ", st.Spawned, ", want 4, the guardians and x")
			for _, p := range []actor.Props{ // the last that can work
				{New: actortest.Scripted().New, Throughput: 1 << 30},
				{New: actortest.Scripted().New, Priority: actor.Low},
				{New: actortest.Scripted().New, Priority: actor.High},
				backoff(actor.Backoff{Min: 1, Max: 1, Factor: 1, Jitter: 1}),
			} {
				w.Spawn(p)
			}
		}),
	},
}

// FR-025: names.
var nameClauses = []Clause{
	{
		Name: "actor/name-rejects", Rule: "FR-025", Core: true,
		Why: "names that could not be told from a path or from a made name are refused",
		Check: actors(func(w *world) {
			w.In(w.UserGuardian(), func(ctx *actor.Context) {
				for _, name := range []string{"", "/", "a/b", "/a", "anon-", "anon-7", "anon-x"} {
					r, err := ctx.SpawnNamed(name, actortest.Scripted())
					w.e.require(r.IsZero() && err == actor.ErrBadName, "SpawnNamed(", name, ") returned ", r.String(), " and ", err, ", want none and ", actor.ErrBadName)
				}
				for _, name := range []string{"anon", "ano", "Anon-7", "7", "ä b", "user"} {
					r := w.born(ctx.SpawnNamed(name, actortest.Scripted()))
					w.e.require(r.Name() == name, "the actor ", name, " is called ", r.Name())
				}
			})
		}),
	},
	{
		Name: "actor/name-made", Rule: "FR-025", Core: true,
		Why: "an actor without a name of its own is called anon- and its PID, and is found by that like any other",
		Check: actors(func(w *world) {
			a, b := w.Spawn(actortest.Scripted()), w.Spawn(actortest.Scripted())
			named := w.SpawnNamed("named", actortest.Scripted())
			w.e.require(a.Name() != b.Name(), "two actors are called ", a.Name())
			for _, r := range []actor.Ref{a, b} {
				w.e.require(r.Name() == "anon-"+r.PID().String(), "actor ", r.PID().String(), " is called ", r.Name())
				w.e.require(r.String() == r.Path()+"#"+r.PID().String(), "the text of ", r.Path(), " is ", r.String())
				found, ok := w.Find("/user/" + r.Name())
				w.e.require(ok && found == r, "Find does not find ", r.Path())
			}
			never, ok := actor.ParsePID("4000000")
			w.e.require(ok, "ParsePID does not understand 4000000")
			for _, p := range []actor.PID{{}, never} {
				_, ok := w.Lookup(p)
				w.e.require(!ok, "Lookup finds an actor for PID ", p.String(), ", which was never given out")
			}
			for _, path := range []string{
				"/user/anon-" + named.PID().String(), "/user/anon-0", "/user/anon-", "/user/anon-x", "/system/" + a.Name(), "/" + a.Name(),
				"/user/" + a.Name() + "/", "/user//" + a.Name(), "user/" + a.Name(), "", "/user/named/named",
			} {
				r, ok := w.Find(path)
				w.e.require(!ok && r.IsZero(), "Find(", path, ") finds ", r.String(), ", want none")
			}
			found, ok := w.Find("/user/named")
			w.e.require(ok && found == named, "Find does not find /user/named")
			w.End(a)
			_, ok = w.Find(a.Path())
			w.e.require(!ok, "Find finds ", a.Path(), ", which has stopped")
		}),
	},
}

// FR-003, V6: PIDs and Refs.
var refClauses = []Clause{
	{
		Name: "actor/ref-namesake", Rule: "V6",
		Why: "a Ref to an actor that has stopped never reaches another one of the same name: messages meant for the first would surprise the second",
		Check: actors(func(w *world) {
			var old []actor.Ref
			for life := range 20 {
				d := &eventLog{}
				r := w.SpawnNamed("a", actor.Props{New: hearing(d)})
				for _, o := range old {
					w.e.require(o != r, "the Ref of a stopped actor equals that of its namesake")
					w.returned(o.Tell("old"), o, "old", actor.ErrStopped)
				}
				w.In(w.UserGuardian(), func(ctx *actor.Context) {
					for _, o := range old {
						w.returned(ctx.Tell(o, "old"), o, "old", actor.ErrStopped)
						ctx.Stop(o)
					}
				})
				w.tell(r, life)
				w.wantLog(d, text(life))
				w.End(r)
				old = append(old, r)
			}
		}),
	},
}
