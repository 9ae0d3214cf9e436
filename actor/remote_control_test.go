package actor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// told drives both systems until a journal has n entries.
func told(a, b *host, j *journal, n int) []any {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for len(j.got()) < n {
			time.Sleep(100 * time.Microsecond)
		}
	}()
	both(a, b, done)
	return j.got()
}

// watcher is an actor that writes down whose end it is told of, and for what.
func watcher(j *journal) actor.ReceiveFunc {
	return func(ctx *actor.Context, msg any) error {
		switch msg := msg.(type) {
		case func(*actor.Context):
			msg(ctx)
		default:
			j.add(msg)
		}
		return nil
	}
}

var errFar = errors.New("far away")

// Watch of an actor in another system yields one Terminated, whatever happens.
func TestRemoteWatch(t *testing.T) {
	onAll(t, func(t *testing.T, a, b *host) {
		var j journal
		w := a.spawn(actortest.Func(watcher(&j)))
		in := func(f func(ctx *actor.Context)) {
			t.Helper()
			done := make(chan struct{})
			must(t, w.Tell(func(ctx *actor.Context) { f(ctx); close(done) }))
			both(a, b, done)
		}
		far := func() (here, there actor.Ref) {
			there = b.spawn(actortest.Func(func(_ *actor.Context, msg any) error {
				err, _ := msg.(error)
				return err
			}))
			return abroad(t, a.System.System, there), there
		}
		want := func(n int, r actor.Ref, reason error) {
			t.Helper()
			got := told(a, b, &j, n)
			if m, ok := got[n-1].(actor.Terminated); !ok || len(got) != n || m.Actor != r || m.Err != reason {
				t.Errorf("the watcher got %v, want as number %d the end of %v for %v", got, n, r, reason)
			}
		}
		link := connect(a.System.System, b.System.System)

		r, there := far()
		in(func(ctx *actor.Context) { ctx.Watch(r); ctx.Watch(r) })
		b.System.Stop(there)
		want(1, r, nil)
		in(func(ctx *actor.Context) { ctx.Watch(r) }) // it has stopped
		want(2, r, nil)

		r, there = far()
		in(func(ctx *actor.Context) { ctx.Watch(r) })
		must(t, there.Tell(errFar))
		want(3, r, errFar)

		kept, _ := far()
		r, there = far()
		in(func(ctx *actor.Context) { ctx.Watch(kept); ctx.Watch(r); ctx.Unwatch(r) })
		b.System.Stop(there)
		link.line.Load().End()
		want(4, kept, actor.ErrUnreachable)
		in(func(ctx *actor.Context) { ctx.Watch(r) }) // there is no link
		want(5, r, actor.ErrUnreachable)

		again := connect(a.System.System, b.System.System)
		in(func(ctx *actor.Context) { ctx.Watch(kept) })
		a.System.Stop(w) // it forgets what it watched
		for again.watches.Load() != 0 {
			a.Drive()
			time.Sleep(100 * time.Microsecond)
		}

		// Another incarnation takes the name.
		w = a.spawn(actortest.Func(watcher(&j)))
		in(func(ctx *actor.Context) { ctx.Watch(kept) })
		old := kept.Address()
		a.System.Connect("b", b.System.Boot()+1, &direct{to: b.System.System})
		want(6, kept, actor.ErrUnreachable)
		wantBack(t, kept.Tell(1), 1, kept, actor.ErrStopped)
		if _, err := a.System.ResolveAddress(old); err != actor.ErrStopped {
			t.Errorf("the address of an actor before the restart: %v", err)
		}
		old.Boot += 2
		if _, err := a.System.ResolveAddress(old); err != actor.ErrNoLink {
			t.Errorf("the address of an actor of an unknown incarnation: %v", err)
		}

		// A link that carries messages only.
		r = abroad(t, a.System.System, actorOf(t, a.System.System, "b", b.System.Boot()+1))
		in(func(ctx *actor.Context) { ctx.Watch(r) })
		want(7, r, actor.ErrUnreachable)
	})
}

// actorOf returns some Ref of another system.
func actorOf(t *testing.T, s *actor.System, name string, boot uint64) actor.Ref {
	r, err := s.ResolveAddress(actor.Address{System: name, Boot: boot, Path: "/user/x", PID: pid(t, "9")})
	must(t, err)
	return r
}

func TestRemoteCapacity(t *testing.T) {
	onAll(t, func(t *testing.T, a, b *host) {
		link := connect(a.System.System, b.System.System)
		link.full = true
		r := abroad(t, a.System.System, b.System.UserGuardian())
		if r.Backlog() != 7 {
			t.Errorf("Backlog = %d, want what the link says", r.Backlog())
		}
		var j journal
		w := a.spawn(actortest.Func(watcher(&j)))
		must(t, w.Tell(func(ctx *actor.Context) { ctx.Suspend(actor.Suspension{Capacity: r}) }))
		must(t, w.Tell("later"))
		a.Drive()
		var wait []func()
		for len(wait) == 0 {
			a.Drive()
			link.mu.Lock()
			wait = link.wait
			link.mu.Unlock()
		}
		j.want(t)
		wait[0]()
		wantAll(t, told(a, b, &j, 1), "later")
	})
}

// A Future's ReplyTo has an address, which is good for one reply.
func TestReplyAddress(t *testing.T) {
	onAll(t, func(t *testing.T, a, b *host) {
		line := a.System.Connect("b", b.System.Boot(), &direct{to: b.System.System})
		b.System.Connect("a", a.System.Boot(), &direct{to: a.System.System})
		export := func(f actor.Future) (actor.Address, actor.ReplyTo) {
			to := line.ReplyAddress(f.ReplyTo())
			r, err := b.System.ResolveReply(to)
			must(t, err)
			return to, r
		}
		wait := func(f actor.Future, want any, reason error) {
			t.Helper()
			if got, err := f.Wait(context.Background()); got != want || !errors.Is(err, reason) {
				t.Errorf("the Future ends with %v, %v, want %v, %v", got, err, want, reason)
			}
		}
		f := a.System.NewFuture(0)
		to, r := export(f)
		if back, err := a.System.ResolveReply(to); err != nil || back != f.ReplyTo() {
			t.Errorf("at home the address is that of %v, %v", back, err)
		}
		must(t, r.Tell("yes"))
		wait(f, "yes", nil)
		must(t, r.Tell("no"))
		if d := a.System.Stats().DeadLetters; d != 1 {
			t.Errorf("%d dead letters, want 1 for the second reply", d)
		}
		f = a.System.NewFuture(0)
		_, r = export(f)
		must(t, r.Fail(errFar))
		wait(f, nil, errFar)

		// What is not answered does not pile up: this is a test of nothing but
		// that it goes on; the memory is bounded by what export takes out.
		for range 1000 {
			f := a.System.NewFuture(0)
			export(f)
			f.Discard()
		}
		f = a.System.NewFuture(0)
		_, r = export(f)
		line.End()
		wait(f, nil, actor.ErrUnreachable)
		must(t, r.Tell("late"))
	})
}

func TestObserver(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		o := h.System.NewObserver(func(m actor.Terminated) { j.add(m) })
		r, left := h.spawn(actortest.Func(nothing)), h.spawn(actortest.Func(nothing))
		o.Watch(actor.Ref{})
		o.Watch(r)
		o.Watch(r)
		o.Watch(left)
		o.Unwatch(left)
		h.settle()
		h.System.Stop(r)
		h.System.Stop(left)
		h.settle()
		j.want(t, actor.Terminated{Actor: r})
		o.Watch(r)
		j.want(t, actor.Terminated{Actor: r}, actor.Terminated{Actor: r})
	})
}

// drainer is a Drainer that is a function.
type drainer func()

func (d drainer) Drained() { d() }

func TestWhenBelowAndOffer(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		p := actortest.Func(func(_ *actor.Context, msg any) error { j.add(msg); return nil })
		p.Throughput = 1
		p.Mailbox = actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 4}
		r := h.spawn(p)
		h.System.Suspend(r, actor.Suspension{})
		h.settle()
		for i := range 4 {
			if res := r.Offer(i, nil); res != actor.Sent {
				t.Errorf("Offer: %v", res)
			}
		}
		if res := r.Offer(4, nil); res != actor.Full {
			t.Errorf("Offer to a full mailbox: %v", res)
		}
		h.System.WhenBelow(r, 2, drainer(func() { j.add("below 2") }))
		h.System.WhenBelow(r, 9, drainer(func() { j.add("below 9") }))
		h.settle()
		h.System.Resume(r)
		h.settle()
		j.want(t, "below 9", 0, 1, 2, "below 2", 3)
		h.System.WhenBelow(r, 0, drainer(func() { j.add("at the end") }))
		h.settle()
		h.System.Stop(r)
		h.settle()
		if h.System.WhenBelow(r, 1, nil) || r.Offer(1, nil) != actor.Closed || (actor.Ref{}).Offer(1, nil) != actor.Closed {
			t.Error("an actor that has stopped is taken for one that has not")
		}
		if got := j.got(); got[len(got)-1] != "at the end" {
			t.Errorf("got %v", got)
		}
	})
}
