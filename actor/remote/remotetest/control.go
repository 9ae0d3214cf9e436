package remotetest

import (
	"context"
	"errors"
	"time"

	"github.com/dynolab/dyno/actor"
)

// control are the clauses about Ask, Forward, Watch and Stop.
var control = []clause{
	{
		name: "ask",
		why:  "a Future has the reply from another node, or its error, or its timeout; and the error why the request was not delivered",
		check: func(w *world) {
			r := w.b.SpawnFunc(func(ctx *actor.Context, msg any) error {
				q := msg.(Question)
				switch q.N {
				case 0:
					return nil
				case 1:
					return q.ReplyTo.Fail(actor.ErrFailed)
				}
				return ctx.Reply(q.ReplyTo, Count(q.N*q.N))
			})
			far := w.a.Abroad(r)
			ask := func(n uint64, timeout time.Duration) actor.Future {
				return w.a.Sys.Ask(far, timeout, func(to actor.ReplyTo) any { return Question{n, to} })
			}
			want := func(f actor.Future, want any, reason error) {
				w.Helper()
				if got, err := f.Wait(context.Background()); got != want || !errors.Is(err, reason) {
					w.Errorf("got %v, %v, want %v, %v", got, err, want, reason)
				}
			}
			var fs []actor.Future
			for n := range uint64(500) {
				fs = append(fs, ask(n+2, 0))
			}
			for i, f := range fs {
				want(f, Count((i+2)*(i+2)), nil)
			}
			want(ask(1, 0), nil, actor.ErrFailed)
			want(ask(0, 30*time.Millisecond), nil, actor.ErrTimeout)
			silent := w.inbox(w.b)
			pending := w.a.Sys.Ask(w.a.Abroad(silent.ref), 0, func(to actor.ReplyTo) any { return Question{0, to} })
			silent.wait(1)
			w.b.Sys.Stop(r)
			w.until("the actor to stop", func() bool { _, ok := w.b.Sys.Lookup(r.PID()); return !ok })
			if _, err := ask(2, 0).Wait(context.Background()); !errors.Is(err, actor.ErrStopped) && !errors.Is(err, actor.ErrUnknown) {
				w.Errorf("the request to a stopped actor ends with %v", err)
			}
			w.cut()
			want(pending, nil, actor.ErrUnreachable)
		},
	},
	{
		name: "reply-to-actor",
		why:  "the ReplyTo of an actor crosses as well, there and back",
		check: func(w *world) {
			in := w.inbox(w.a)
			r := w.b.SpawnFunc(func(ctx *actor.Context, msg any) error { return ctx.Reply(msg.(Question).ReplyTo, Count(7)) })
			w.must(w.a.Abroad(r).Tell(Question{1, in.ref.ReplyTo()}))
			in.want(Count(7))
		},
	},
	{
		name: "forward",
		why:  "a request that is passed on is answered to who asked",
		check: func(w *world) {
			home := w.a.SpawnFunc(func(ctx *actor.Context, msg any) error { return ctx.Reply(msg.(Question).ReplyTo, Count(9)) })
			back := w.b.Abroad(home)
			r := w.b.SpawnFunc(func(ctx *actor.Context, msg any) error { ctx.Forward(back, msg); return nil })
			f := w.a.Sys.Ask(w.a.Abroad(r), 0, func(to actor.ReplyTo) any { return Question{1, to} })
			if got, err := f.Wait(context.Background()); got != Count(9) || err != nil {
				w.Errorf("got %v, %v", got, err)
			}
		},
	},
	{
		name: "watch",
		why:  "who watches an actor of another node is told of its end once, with its failure; also if it has ended before",
		check: func(w *world) {
			in := w.inbox(w.a)
			ends := func(cause error) (far actor.Ref) {
				r := w.b.SpawnFunc(func(ctx *actor.Context, msg any) error {
					if cause == nil {
						ctx.StopSelf()
					}
					return cause
				})
				far = w.a.Abroad(r)
				in.do(func(ctx *actor.Context) { ctx.Watch(far); ctx.Watch(far) })
				w.must(far.Tell(Text("end")))
				return far
			}
			stopped := ends(nil)
			in.want(actor.Terminated{Actor: stopped})
			failed := ends(actor.ErrDeadlock)
			in.want(actor.Terminated{Actor: stopped}, actor.Terminated{Actor: failed, Err: actor.ErrDeadlock})
			in.do(func(ctx *actor.Context) { ctx.Watch(stopped) })
			in.wait(3)
			w.cut() // it is not told again
			in.do(func(ctx *actor.Context) {})
			in.want(actor.Terminated{Actor: stopped}, actor.Terminated{Actor: failed, Err: actor.ErrDeadlock}, actor.Terminated{Actor: stopped})
		},
	},
	{
		name: "watch-lost",
		why:  "who watches an actor whose node cannot be reached any more is told so once; who has ceased to watch is not",
		check: func(w *world) {
			kept, left := w.inbox(w.b), w.inbox(w.b)
			k, l := w.a.Abroad(kept.ref), w.a.Abroad(left.ref)
			var ins []*inbox
			for range 20 {
				in := w.inbox(w.a)
				in.do(func(ctx *actor.Context) { ctx.Watch(k); ctx.Watch(l) })
				in.do(func(ctx *actor.Context) { ctx.Unwatch(l) })
				ins = append(ins, in)
			}
			w.cut()
			for _, in := range ins {
				in.want(actor.Terminated{Actor: k, Err: actor.ErrUnreachable})
			}
			// Without a link it is told at once; with a new one it is watched again.
			ins[0].do(func(ctx *actor.Context) { ctx.Watch(k) })
			ins[0].wait(2)
			w.join()
			ins[0].do(func(ctx *actor.Context) { ctx.Watch(k) })
			w.b.Sys.Stop(kept.ref)
			lost := actor.Terminated{Actor: k, Err: actor.ErrUnreachable}
			ins[0].want(lost, lost, actor.Terminated{Actor: k})
		},
	},
	{
		name: "stop",
		why:  "Stop of an actor of another node stops it; a guardian it does not stop",
		check: func(w *world) {
			in := w.inbox(w.b)
			far := w.a.Abroad(w.b.Sys.UserGuardian())
			w.a.Sys.Stop(far)
			w.a.Sys.Stop(w.a.Abroad(in.ref))
			w.until("the actor to stop", func() bool { _, ok := w.b.Sys.Lookup(in.ref.PID()); return !ok })
			if _, ok := w.b.Sys.Lookup(w.b.Sys.UserGuardian().PID()); !ok {
				w.Error("a peer has stopped the user guardian")
			}
		},
	},
}
