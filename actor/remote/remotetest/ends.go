package remotetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
)

// ends are the clauses about how associations begin and end.
var ends = []clause{
	{
		name: "lost",
		why:  "when the association is lost, what was not confirmed is in the dead letters, behind everything that arrived; later sends go back; and no message is anywhere else",
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			const n = 3_000
			accepted := 0
			for i := range n {
				if i == n/2 {
					go func() { _ = w.wires[1].Close() }()
				}
				if err := r.Tell(Count(i)); err != nil {
					if !errors.Is(err, actor.ErrUnreachable) && !errors.Is(err, actor.ErrNoLink) {
						w.Errorf("got %v", err)
					}
					break
				}
				accepted++
			}
			<-w.ab.Done()
			<-w.ba.Done()
			w.back(r.Tell(Count(n)), Count(n), actor.ErrNoLink)
			var dead []any
			for _, l := range w.a.Letters() {
				if l.Reason != actor.ErrUnreachable {
					w.Errorf("%v is a dead letter for %v", l.Msg, l.Reason)
				}
				dead = append(dead, l.Msg)
			}
			confirmed := accepted - len(dead)
			in.wait(confirmed)
			w.b.Node.Close()
			in.do(func(*actor.Context) {}) // everything before it has been handled
			got := in.all()
			w.inOrder(got, len(got))
			if len(got) < confirmed || len(got) > accepted {
				w.Errorf("%d of %d accepted messages arrived, %d were confirmed", len(got), accepted, confirmed)
			}
			w.inOrder(got[:confirmed], confirmed)
			for i, m := range dead {
				if m != Count(confirmed+i) {
					w.Fatalf("dead letter %d is %v, want %d", i, m, confirmed+i)
				}
			}
		},
	},
	{
		name: "lost-is-told",
		why:  "that an association is lost is an event at both ends, once: with whom it was, why, and how many messages were not confirmed",
		check: func(w *world) {
			told := make(chan remote.Lost, 4)
			for _, h := range []*Host{w.a, w.b} {
				defer actor.SubscribeFunc(h.Sys.Events(), func(l remote.Lost) { told <- l }).Unsubscribe()
			}
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			for _, x := range w.wires {
				x.mute()
			}
			for i := range 3 {
				w.must(r.Tell(Count(i)))
			}
			w.cut() // the events come before Done
			close(told)
			lost := map[string]remote.Lost{}
			for l := range told {
				lost[l.System] = l
			}
			for _, want := range []remote.Lost{
				{System: "a", Boot: w.a.Sys.Boot(), Err: w.ba.Err()},
				{System: "b", Boot: w.b.Sys.Boot(), Err: w.ab.Err(), Unconfirmed: 3},
			} {
				got := lost[want.System]
				if want.Time = got.Time; got.Time.IsZero() || got != want {
					w.Errorf("the event is %+v, want %+v", got, want)
				}
			}
		},
	},
	{
		name: "silent",
		why:  "a peer from which nothing comes for Config.Timeout is lost, at both ends, and who watches is told; before that silence is no reason",
		config: remote.Config{
			Heartbeat: 100 * time.Millisecond, Timeout: 3 * time.Second, // in which a wire may lose many hellos
		},
		timed: true,
		check: func(w *world) {
			in := w.inbox(w.a)
			far := w.a.Abroad(w.b.Sys.UserGuardian())
			in.do(func(ctx *actor.Context) { ctx.Watch(far) })
			time.Sleep(3 * w.config.Timeout) // heartbeats
			if err := w.ab.Err(); err != nil {
				w.Fatalf("lost without a reason: %v", err)
			}
			for _, x := range w.wires {
				x.mute()
			}
			<-w.ab.Done()
			<-w.ba.Done()
			// Who notices first closes the wire, which the other may notice.
			if x, y := w.ab.Err(), w.ba.Err(); !errors.Is(x, remote.ErrSilent) && !errors.Is(y, remote.ErrSilent) {
				w.Errorf("lost for %v and %v", x, y)
			}
			in.want(actor.Terminated{Actor: far, Err: actor.ErrUnreachable})
		},
	},
	{
		name:  "silent-by-default",
		why:   "who watches an actor of a node that dies without a word is told within six seconds",
		timed: true,
		check: func(w *world) {
			in := w.inbox(w.a)
			far := w.a.Abroad(w.b.Sys.UserGuardian())
			in.do(func(ctx *actor.Context) { ctx.Watch(far) })
			time.Sleep(time.Minute + 300*time.Millisecond) // heartbeats, and a moment between two
			begin := time.Now()
			for _, x := range w.wires {
				x.mute()
			}
			in.want(actor.Terminated{Actor: far, Err: actor.ErrUnreachable})
			if took := time.Since(begin); took > 6*time.Second {
				w.Errorf("it takes %v", took)
			}
		},
	},
	{
		name: "close",
		why:  "a node that is closed says so, after what was sent",
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			for i := range 100 {
				w.must(r.Tell(Count(i)))
			}
			w.until("confirmation", func() bool { return r.Backlog() == 0 })
			w.a.Node.Close()
			<-w.ba.Done()
			if err := w.ab.Err(); !errors.Is(err, remote.ErrClosed) {
				w.Errorf("here it is lost for %v", err)
			}
			w.inOrder(in.wait(100), 100)
		},
	},
	{
		name: "restart",
		why:  "a system that was restarted is another one: its actors are not taken for the old ones, who watched those is told, and what is sent to them goes back",
		check: func(w *world) {
			in, watcher := w.inbox(w.b), w.inbox(w.a)
			old := w.a.Abroad(in.ref)
			watcher.do(func(ctx *actor.Context) { ctx.Watch(old) })
			for _, x := range w.wires {
				x.mute() // it dies without a word, and is there again before that is noticed
			}
			again := NewHost(w.T, "b", dispatcher("lockbased"), w.config)
			Join(w.T, w.link, w.a, again)
			watcher.want(actor.Terminated{Actor: old, Err: actor.ErrUnreachable})
			w.back(old.Tell(Count(1)), Count(1), actor.ErrStopped)
			if _, err := w.a.Sys.ResolveAddress(in.ref.Address()); !errors.Is(err, actor.ErrStopped) {
				w.Errorf("the old address: %v", err)
			}
			next := &inbox{w: w}
			next.ref = again.SpawnFunc(next.receive) // in the same place, with the same PID
			w.must(w.a.Abroad(next.ref).Tell(Count(2)))
			next.want(Count(2))
			if len(in.all()) != 0 {
				w.Error("the old actor was told something")
			}
		},
	},
	{
		name: "twins",
		why:  "two nodes that connect to each other at the same time end up with one association",
		check: func(w *world) {
			a := NewHost(w.T, "left", dispatcher("lockbased"), w.config)
			b := NewHost(w.T, "right", dispatcher("lockbased"), w.config)
			x1, y1 := w.link.Pair(w.T)
			y2, x2 := w.link.Pair(w.T)
			ctx := context.Background()
			var all sync.WaitGroup
			for _, f := range []func() (*remote.Peer, error){
				func() (*remote.Peer, error) { return a.Node.Connect(ctx, x1) },
				func() (*remote.Peer, error) { return b.Node.Accept(ctx, y1) },
				func() (*remote.Peer, error) { return b.Node.Connect(ctx, y2) },
				func() (*remote.Peer, error) { return a.Node.Accept(ctx, x2) },
			} {
				all.Add(1)
				go func() {
					defer all.Done()
					_, _ = f() // of one of the two the ends are told it was replaced, or get the other
				}()
			}
			all.Wait()
			in := &inbox{w: w}
			in.ref = b.SpawnFunc(in.receive)
			w.until("one association", func() bool {
				r, err := a.Sys.ResolveAddress(in.ref.Address())
				return err == nil && r.Tell(Text("hello")) == nil
			})
			in.want(Text("hello"))
		},
	},
}
