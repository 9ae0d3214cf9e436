package remotetest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
)

// messages are the clauses about what is sent: order, bytes, addresses, and what becomes of what cannot be handed over.
var messages = []clause{
	{
		name:  "tell-in-order",
		why:   "what one node sends to an actor of another arrives in the order of sending, and once",
		check: func(w *world) { w.tellInOrder(20_000) },
	},
	{
		name:   "tell-one-a-frame",
		why:    "the same if each message is a frame of its own",
		config: remote.Config{Batch: 1},
		check:  func(w *world) { w.tellInOrder(5_000) },
	},
	{
		name: "tell-many",
		why:  "each of many actors is told what it was sent, by whichever goroutine, more of them than an association remembers",
		check: func(w *world) {
			const actors, each, senders = 5_000, 4, 4
			var mu sync.Mutex
			next := make([]Count, actors)
			left := actors * each
			var refs []actor.Ref
			for i := range actors {
				refs = append(refs, w.a.Abroad(w.b.SpawnFunc(func(_ *actor.Context, msg any) error {
					mu.Lock()
					defer mu.Unlock()
					if msg != next[i] {
						w.Errorf("actor %d got %v, want %v", i, msg, next[i])
					}
					next[i]++
					left--
					return nil
				})))
			}
			var all sync.WaitGroup
			for s := range senders {
				all.Add(1)
				go func() {
					defer all.Done()
					for k := range each {
						for i := s; i < actors; i += senders {
							w.must(refs[i].Tell(Count(k)))
						}
					}
				}()
			}
			all.Wait()
			w.until("all messages", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return left == 0
			})
		},
	},
	{
		name: "messages-as-they-were",
		why:  "messages arrive as what they were sent as, from nothing to the largest, an error as its text",
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			large := Text(make([]byte, remote.MaxMessage))
			for _, m := range []any{Text(""), Count(0), large, Text("ü"), actor.ErrStopped} {
				w.must(r.Tell(m))
			}
			in.want(Text(""), Count(0), large, Text("ü"), actor.ErrStopped)
			w.back(r.Tell(large+"!"), large+"!", remote.ErrTooLarge)
			w.must(r.Tell(errTest))
			if e, ok := in.wait(6)[5].(*remote.Error); !ok || e.Text != errTest.Error() {
				w.Errorf("an error arrived as %v", in.all()[5])
			}
		},
	},
	{
		name: "unregistered",
		why:  "a message of a type without a codec goes back to its sender",
		check: func(w *world) {
			in := w.inbox(w.b)
			var e *remote.UnregisteredError
			if err := w.a.Abroad(in.ref).Tell(unregistered{}); !errors.As(err, &e) {
				w.Errorf("got %v", err)
			}
			for _, forged := range []any{actor.Terminated{}, actor.ReceiveTimeout{}, actor.Failed{}} {
				if err := w.a.Abroad(in.ref).Tell(forged); !errors.As(err, &e) {
					w.Errorf("%T: %v", forged, err)
				}
			}
		},
	},
	{
		name: "find",
		why:  "an actor is found by its path, and no other is",
		check: func(w *world) {
			r := w.b.Spawn("shop", Func(func(*actor.Context, any) error { return nil }))
			ctx := context.Background()
			if got, err := w.ab.Find(ctx, "/user/shop"); err != nil || got != w.a.Abroad(r) {
				w.Errorf("found %v, %v, want %v", got, err, r)
			}
			for _, path := range []string{"/user/absent", "", "shop"} {
				if got, err := w.ab.Find(ctx, path); !errors.Is(err, remote.ErrNotFound) {
					w.Errorf("%q is %v, %v", path, got, err)
				}
			}
			for _, x := range w.wires {
				x.mute() // so that who asks now waits until the association is lost
			}
			ctx, end := context.WithTimeout(ctx, patience)
			defer end()
			waiting := make(chan error)
			go func() {
				_, err := w.ab.Find(ctx, "/user/shop")
				waiting <- err
			}()
			time.Sleep(time.Millisecond) // until it waits, as a rule; it may come later as well
			w.cut()
			if err := <-waiting; !errors.Is(err, actor.ErrUnreachable) {
				w.Errorf("when the association is lost: %v", err)
			}
			if _, err := w.ab.Find(ctx, "/user/shop"); !errors.Is(err, actor.ErrUnreachable) {
				w.Errorf("over a lost association: %v", err)
			}
		},
	},
	{
		name: "dead-letters",
		why:  "what was accepted and finds no actor or no room is a dead letter at the node of the receiver",
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			w.must(r.Tell(Count(0))) // so that the association knows the actor
			in.wait(1)
			w.b.Sys.Stop(in.ref)
			w.until("the actor to stop", func() bool { _, ok := w.b.Sys.Lookup(in.ref.PID()); return !ok })
			w.must(r.Tell(Count(1)))
			w.letters(w.b, 1, actor.ErrStopped)
			other := in.ref.Address()
			other.Path += "x"
			absent, err := w.a.Sys.ResolveAddress(other)
			w.must(err)
			w.must(absent.Tell(Count(2)))
			w.letters(w.b, 1, actor.ErrUnknown)

			p, hold, release := w.held()
			p.Mailbox = actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 3}
			r = w.a.Abroad(w.b.Spawn("", p))
			w.must(r.Tell(Count(0)))
			<-hold
			for i := range 5 {
				w.must(r.Tell(Count(i + 1)))
			}
			if msgs := w.letters(w.b, 2, actor.ErrFull); !slices.Equal(msgs, []any{Count(4), Count(5)}) {
				w.Errorf("the mailbox had no room for %v", msgs)
			}
			close(release)
		},
	},
	{
		name: "undecodable",
		why:  "what the receiver cannot read is a dead letter there, with its bytes, and no harm to the association",
		check: func(w *world) {
			c := w.stranger()
			Join(w.T, w.link, c, w.b)
			in := w.inbox(w.b)
			r := c.Abroad(in.ref)
			w.must(r.Tell(Strange("x")))
			msgs := w.letters(w.b, 1, remote.ErrNoCodec)
			if u, ok := msgs[0].(*remote.Undecoded); !ok || u.Type != "test.Strange" || string(u.Bytes) != "x" {
				w.Errorf("the dead letter is %v", msgs[0])
			}
			w.must(r.Tell(Count(1)))
			in.want(Count(1))
		},
	},
	{
		name: "codec-ends-its-goroutine",
		why:  "a codec that calls runtime.Goexit ends the association, both ends are told, and the message is accounted for",
		check: func(w *world) {
			c := w.stranger()
			codecs := Codecs()
			codecs.Register("test.Strange", Strange(""), exiting{})
			d := NewHost(w.T, "d", dispatcher("lockbased"), remote.Config{Codecs: codecs})
			cd, dc := Join(w.T, w.link, c, d)
			w.must(c.Abroad(w.inbox(d).ref).Tell(Strange("x")))
			<-cd.Done()
			<-dc.Done()
			if msgs := w.letters(c, 1, actor.ErrUnreachable); msgs[0] != Strange("x") {
				w.Errorf("the dead letter is %v", msgs[0])
			}
			Join(w.T, w.link, c, d)
		},
	},
	{
		name: "mailbox-ends-a-goroutine",
		why:  "a function of a mailbox's that calls runtime.Goexit over a message that waited for room makes a dead letter of that message, fails the actor in whose turn it did, and what waits behind it is accounted for",
		check: func(w *world) {
			p, hold, release := w.held()
			in := &inbox{w: w}
			p.New = after(p.New, in.receive)
			p.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 1, Priority: func(msg any) int {
				if msg == Text("end") {
					runtime.Goexit()
				}
				return 0
			}}
			r := w.a.Abroad(w.b.Spawn("", p))
			w.must(r.Tell(Count(0)))
			<-hold
			all := []any{Count(0), Count(1), Count(2), Text("end"), Count(3), Count(4)}
			for _, m := range all[1:] {
				w.must(r.Tell(m))
			}
			w.until("the others to wait", func() bool { return r.Backlog() == 4 })
			close(release)
			var letters []any
			w.until("each message to be delivered or a dead letter", func() bool {
				for _, l := range w.b.Letters() {
					if (l.Msg == Text("end")) != errors.Is(l.Reason, remote.ErrMailbox) {
						w.Errorf("%v is a dead letter for %v", l.Msg, l.Reason)
					}
					letters = append(letters, l.Msg)
				}
				return len(letters)+len(in.all()) >= len(all)
			})
			for _, m := range all {
				if slices.Contains(letters, m) == slices.Contains(in.all(), m) {
					w.Errorf("%v is delivered and a dead letter, or neither: %v, %v", m, in.all(), letters)
				}
			}
			if err := w.ab.Err(); err != nil {
				w.Errorf("the association is lost: %v", err)
			}
		},
	},
	{
		name: "handler-waits",
		why:  "a handler may take its time, and wait for what comes after its message from the same node: for another actor's message, for room in a mailbox, for credit",
		config: remote.Config{
			Window: 16,
		},
		check: func(w *world) {
			for _, h := range []struct{ from, to *Host }{{w.a, w.b}, {w.b, w.a}} {
				told, over := make(chan struct{}), make(chan struct{})
				defer close(over)
				door := h.from.Abroad(h.to.SpawnFunc(func(*actor.Context, any) error {
					select {
					case told <- struct{}{}:
					default:
					}
					return nil
				}))
				slow := h.to.Spawn("", actor.Props{
					Mailbox: actor.MailboxConfig{Policy: actor.Block, Capacity: 1},
					New: Func(func(*actor.Context, any) error {
						select {
						case <-told:
						case <-over:
						}
						return nil
					}).New,
				})
				back := h.to.Abroad(w.inbox(h.from).ref)
				for what, wait := range map[string]func(*actor.Context) error{
					"another actor's message": func(*actor.Context) error {
						<-told
						return nil
					},
					"room":   func(ctx *actor.Context) error { return many(3, ctx, slow) },
					"credit": func(ctx *actor.Context) error { return many(100, ctx, back) },
				} {
					began, done := make(chan struct{}), make(chan error, 1)
					r := h.from.Abroad(h.to.SpawnFunc(func(ctx *actor.Context, _ any) error {
						close(began)
						done <- wait(ctx)
						return nil
					}))
					w.must(r.Tell(Count(0)))
					<-began
					w.until(what, func() bool {
						ctx, end := context.WithTimeout(context.Background(), time.Second)
						defer end()
						_ = door.TellContext(ctx, Count(1)) // as far as there is credit
						select {
						case err := <-done:
							w.must(err)
							return true
						default:
							return false
						}
					})
				}
			}
		},
	},
	{
		name: "handler-ends-its-goroutine",
		why:  "a handler that calls runtime.Goexit fails its actor, and nothing else: what comes after it from the same node is read",
		check: func(w *world) {
			for _, h := range []struct{ from, to *Host }{{w.a, w.b}, {w.b, w.a}} {
				in := w.inbox(h.to)
				far := h.from.Abroad(in.ref)
				for i := range 100 {
					bad := h.from.Abroad(h.to.SpawnFunc(func(*actor.Context, any) error {
						runtime.Goexit()
						return nil
					}))
					w.must(bad.Tell(Count(0)))
					w.must(far.Tell(Count(i)))
					w.inOrder(in.wait(i+1), i+1)
				}
				if n := h.to.Sys.Stats().Failures; n != 100 {
					w.Errorf("%d actors have failed, want 100", n)
				}
			}
		},
	},
	{
		name: "long-path",
		why:  "an address with a path that no frame has room for, whichever system made it up, reaches no actor and does the association no harm",
		check: func(w *world) {
			in, known := w.inbox(w.a), w.inbox(w.b)
			at := known.ref.Address()
			at.Path += "/" + strings.Repeat("x", 5000)
			r, err := w.a.Sys.ResolveAddress(at)
			w.must(err)
			in.do(func(ctx *actor.Context) {
				ctx.Watch(r)
				ctx.Stop(r)
			})
			in.want(actor.Terminated{Actor: r, Err: remote.ErrTooLarge})
			w.back(r.Tell(Count(1)), Count(1), remote.ErrTooLarge)
			w.must(w.a.Abroad(known.ref).Tell(Count(2)))
			known.want(Count(2))
			if err := w.ab.Err(); err != nil {
				w.Errorf("the association is lost: %v", err)
			}
		},
	},
	{
		name: "mailbox-panics",
		why:  "a message over which a function of the mailbox's panics is a dead letter at the receiver, who asked is told, and neither process nor association is harmed",
		check: func(w *world) {
			in := &inbox{w: w}
			p := Func(in.receive)
			p.Mailbox.Priority = func(msg any) int { return int(msg.(Count)) }
			in.ref = w.b.Spawn("", p)
			r := w.a.Abroad(in.ref)
			w.must(r.Tell(Text("no number")))
			w.letters(w.b, 1, remote.ErrMailbox)
			_, err := w.a.Sys.Ask(r, 0, func(to actor.ReplyTo) any { return Question{ReplyTo: to} }).Wait(context.Background())
			var e *remote.Error
			if !errors.As(err, &e) {
				w.Errorf("who asked is told %v", err)
			}
			w.must(r.Tell(Count(1)))
			in.want(Count(1))
		},
	},
}

// many tells to so many messages.
func many(n int, ctx *actor.Context, to actor.Ref) error {
	for i := range n {
		if err := ctx.Tell(to, Count(i)); err != nil {
			return err
		}
	}
	return nil
}
