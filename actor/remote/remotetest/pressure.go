package remotetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
)

// pressure are the clauses about receivers that are slower than senders.
var pressure = []clause{
	{
		name:   "slow-receiver-full",
		why:    "a node that sends to a slow actor faster than it handles messages is told ErrFull when the window is used up, and not before; nothing it was told is sent gets lost, and later it can send again",
		config: remote.Config{Policy: actor.DropNewest, Window: 64, Backlog: 32},
		check: func(w *world) {
			for _, box := range []actor.MailboxConfig{{}, {Policy: actor.Block, Capacity: 2}, {Policy: actor.Grow, Capacity: 4}} {
				p, hold, release := w.held()
				in := &inbox{w: w}
				p.Mailbox = box
				p.New = after(p.New, in.receive)
				r := w.a.Abroad(w.b.Spawn("", p))
				w.must(r.Tell(Count(0)))
				<-hold
				// lookEvery messages pass between two looks at the mailbox.
				n, most := 1, 1+64+32+32+box.Capacity
				// The window is used up for good when even after a while, in which
				// all that the actor's node can take has been taken, there is none.
				for full := 0; full < 100 && n <= most; {
					err := r.Tell(Count(n))
					if err == nil {
						n, full = n+1, 0
						continue
					}
					w.back(err, Count(n), actor.ErrFull)
					full++
					time.Sleep(5 * time.Millisecond)
				}
				w.until("the window to be used up", func() bool { // if it was not yet after all
					if n <= most && r.Tell(Count(n)) == nil {
						n++
					}
					return n > most || r.Backlog() == 64
				})
				if n < 64 || n > most {
					close(release)
					w.Fatalf("%d messages were accepted, want from 64 to %d", n, most)
				}
				close(release)
				w.inOrder(in.wait(n), n)
				w.until("room", func() bool { return r.Tell(Count(n)) == nil })
				w.inOrder(in.wait(n+1), n+1)
			}
		},
	},
	{
		name:   "slow-receiver-block",
		why:    "with the policy Block the sender waits, as long as its context allows, and goes on when there is room",
		config: remote.Config{Window: 16, Backlog: 8},
		check: func(w *world) {
			p, hold, release := w.held()
			in := &inbox{w: w}
			p.New = after(p.New, in.receive)
			r := w.a.Abroad(w.b.Spawn("", p))
			w.must(r.Tell(Count(0)))
			<-hold
			n := 1
			for {
				ctx, end := context.WithTimeout(context.Background(), 300*time.Millisecond)
				err := r.TellContext(ctx, Count(n))
				end()
				if err != nil {
					w.back(err, Count(n), context.DeadlineExceeded)
					break
				}
				n++
			}
			waiting := make(chan error)
			go func() {
				for ; n < 1000; n++ {
					if err := r.Tell(Count(n)); err != nil {
						waiting <- err
						return
					}
				}
				close(waiting)
			}()
			suspended := w.inbox(w.a)
			suspended.do(func(ctx *actor.Context) { ctx.Suspend(actor.Suspension{Capacity: r}) })
			w.must(suspended.ref.Tell(Text("there is room")))
			close(release)
			w.must(<-waiting)
			w.inOrder(in.wait(1000), 1000)
			suspended.want(Text("there is room"))
		},
	},
	{
		name:   "slow-receiver-catches-up",
		why:    "an actor that is behind time and again is given everything in the end, whatever has waited for it, and wherever",
		config: remote.Config{Window: 256, Backlog: 256},
		check: func(w *world) {
			const n = 20_000
			in := w.inbox(w.b)
			sum := 0
			r := w.a.Abroad(w.b.SpawnFunc(func(ctx *actor.Context, msg any) error {
				for i := range 3000 { // some time, and none of the clock's
					sum += i
				}
				return in.receive(ctx, msg)
			}))
			for i := range n {
				ctx, end := context.WithTimeout(context.Background(), patience)
				w.must(r.TellContext(ctx, Count(i)))
				end()
				if w.Failed() {
					return
				}
			}
			w.inOrder(in.wait(n), n)
		},
	},
	{
		name:   "larger-than-the-window",
		why:    "a message that is larger than all the credit there is goes alone, and arrives",
		config: remote.Config{WindowBytes: 1000},
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			ctx, end := context.WithTimeout(context.Background(), patience)
			defer end()
			var want []any
			for _, c := range []string{"a", "b", "c"} {
				want = append(want, Text(strings.Repeat(c, 5000)), Text(c))
			}
			for _, m := range want {
				w.must(r.TellContext(ctx, m))
			}
			in.want(want...)
		},
	},
	{
		name:   "dead-letters-give-credit-back",
		why:    "what becomes a dead letter at the other node takes none of the sender's credit for good, whatever the reason: a sender to an actor that has stopped goes on for ever",
		config: remote.Config{Window: 16},
		check:  func(w *world) { w.deadLetters(8 * 16) },
	},
	{
		name:   "dead-letters-give-bytes-back",
		why:    "nor does it take any of the bytes",
		config: remote.Config{WindowBytes: 1000},
		check:  func(w *world) { w.deadLetters(8 * 1000 / 32) },
	},
	{
		name:   "block-ends-with-the-association",
		why:    "who waits for room is let go when the association is lost, a sender as well as a suspended actor",
		config: remote.Config{Window: 4, Backlog: 4},
		check: func(w *world) {
			p, hold, release := w.held()
			defer close(release)
			r := w.a.Abroad(w.b.Spawn("", p))
			w.must(r.Tell(Count(0)))
			<-hold
			result := make(chan error)
			go func() {
				for i := 1; ; i++ {
					if err := r.Tell(Count(i)); err != nil {
						result <- err
						return
					}
				}
			}()
			w.until("the window to be used up", func() bool { return r.Backlog() == 4 })
			suspended := w.inbox(w.a)
			suspended.do(func(ctx *actor.Context) { ctx.Suspend(actor.Suspension{Capacity: r}) })
			w.must(suspended.ref.Tell(Text("let go")))
			w.cut()
			suspended.want(Text("let go"))
			if err := <-result; !errors.Is(err, actor.ErrUnreachable) && !errors.Is(err, actor.ErrNoLink) {
				w.Errorf("got %v", err)
			}
		},
	},
	{
		name: "other-actors-go-on",
		why:  "one slow actor does not keep messages from others as long as there is credit",
		config: remote.Config{
			Window: 64, Backlog: 8,
		},
		check: func(w *world) {
			p, hold, release := w.held()
			p.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 1}
			slow := w.a.Abroad(w.b.Spawn("", p))
			quick := w.inbox(w.b)
			far := w.a.Abroad(quick.ref)
			w.must(slow.Tell(Count(0)))
			<-hold
			for range 20 {
				w.must(slow.Tell(Count(1)))
			}
			for i := range 500 {
				w.must(far.Tell(Count(i)))
			}
			w.inOrder(quick.wait(500), 500)
			close(release)
		},
	},
}

// deadLetters sends n messages to each of the other node's actors that give none a place in a
// mailbox.
func (w *world) deadLetters(n int) {
	stopped := w.inbox(w.b).ref
	w.b.Sys.Stop(stopped)
	w.until("the actor to stop", func() bool { _, ok := w.b.Sys.Lookup(stopped.PID()); return !ok })
	p, hold, release := w.held()
	defer close(release)
	p.Mailbox = actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}
	full := w.b.Spawn("", p)
	w.must(full.Tell(Count(0)))
	<-hold
	w.must(full.Tell(Count(0)))
	panics := w.b.Spawn("", actor.Props{
		New:     Func(func(*actor.Context, any) error { return nil }).New,
		Mailbox: actor.MailboxConfig{Priority: func(any) int { panic("for a test") }},
	})
	c := w.stranger()
	Join(w.T, w.link, c, w.b)
	unknown := stopped.Address()
	unknown.Path = "/user/none"
	none, err := w.a.Sys.ResolveAddress(unknown)
	w.must(err)
	for _, x := range []struct {
		from   string
		to     actor.Ref
		msg    any
		reason error
	}{
		{"stopped", w.a.Abroad(stopped), Count(1), actor.ErrUnknown},
		{"none of that name", none, Count(1), actor.ErrUnknown},
		{"full", w.a.Abroad(full), Count(1), actor.ErrFull},
		{"a mailbox that panics", w.a.Abroad(panics), Count(1), remote.ErrMailbox},
		{"no codec", c.Abroad(w.inbox(w.b).ref), Strange("x"), remote.ErrNoCodec},
	} {
		for i := range n {
			ctx, end := context.WithTimeout(context.Background(), patience/2)
			err := x.to.TellContext(ctx, x.msg)
			end()
			if err != nil {
				w.Fatalf("%s: message %d of %d: %v", x.from, i+1, n, err)
			}
		}
		w.letters(w.b, n, x.reason)
	}
}
