package impls_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls"
)

// goroutine returns the number of the goroutine that calls it.
func goroutine() string {
	b := make([]byte, 32)
	return string(bytes.Fields(b[:runtime.Stack(b, false)])[1])
}

// guestTest is a system with a guest, and actors that are functions.
type guestTest struct {
	*testing.T
	sys   *actortest.System
	guest actor.Guest
	waits chan struct{}
}

// eachHost runs check with each implementation that has guests.
func eachHost(t *testing.T, check func(g *guestTest)) {
	hosts := 0
	for _, impl := range impls.All() {
		d := impl.NewDispatcher()
		if _, ok := d.(actor.Host); !ok {
			continue
		}
		hosts++
		t.Run(impl.Name, func(t *testing.T) {
			sys := actortest.New(actor.Config{Name: "guests", Dispatcher: d}, func(err error) { t.Fatal(err) })
			g := &guestTest{T: t, sys: sys, waits: make(chan struct{}, 1)}
			g.guest = sys.NewGuest(g)
			check(g)
			if err := sys.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	if hosts < 3 {
		t.Errorf("%d implementations have guests, want 3", hosts)
	}
}

// TurnWaits implements actor.Lender.
func (g *guestTest) TurnWaits() { g.waits <- struct{}{} }

func (g *guestTest) spawn(p actor.Props) actor.Ref {
	g.Helper()
	r := g.sys.Spawn(p)
	// The first turn, in which the actor begins, is over when it has answered.
	begun := make(chan struct{})
	if err := r.Tell(func(*actor.Context) error { close(begun); return nil }); err != nil {
		g.Fatal(err)
	}
	<-begun
	g.rests(r)
	return r
}

// rests returns when an actor that has handled a message is not in its turn any more: a
// guest's send would find it awake and leave it to its worker.
func (g *guestTest) rests(r actor.Ref) {
	for ran := false; !ran; {
		done := make(chan struct{})
		me := goroutine()
		g.offer(r, func(*actor.Context) error {
			ran = goroutine() == me
			close(done)
			return nil
		})
		g.guest.Run()
		<-done
	}
}

func (g *guestTest) offer(r actor.Ref, f func(*actor.Context) error) {
	g.Helper()
	if res := r.Offer(f, g.guest); res != actor.Sent {
		g.Fatalf("the offer was answered by %v", res)
	}
}

func doing(mailbox actor.MailboxConfig) actor.Props {
	return actor.Props{Mailbox: mailbox, New: func() actor.Actor {
		return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error { return msg.(func(*actor.Context) error)(ctx) })
	}}
}

// TestGuestRunsTheTurn: what a guest makes ready Run runs on the caller's goroutine, one
// actor; what that makes ready, and a second actor, the dispatcher's own workers run;
// messages and turns are counted, also after Leave.
func TestGuestRunsTheTurn(t *testing.T) {
	eachHost(t, func(g *guestTest) {
		me := goroutine()
		one, two, three := g.spawn(doing(actor.MailboxConfig{})), g.spawn(doing(actor.MailboxConfig{})), g.spawn(doing(actor.MailboxConfig{}))
		where := make(chan string, 4)
		note := func(*actor.Context) error {
			where <- goroutine()
			return nil
		}
		g.guest.Run() // for nothing
		g.offer(one, func(ctx *actor.Context) error {
			if got := goroutine(); got != me {
				g.Errorf("the turn ran on goroutine %s, want that of Run, %s", got, me)
			}
			return ctx.Tell(three, note)
		})
		g.offer(two, note)
		if got := <-where; got == me { // it needs no Run
			g.Error("the second actor ran on the guest's goroutine")
		}
		g.guest.Run()
		if got := <-where; got == me {
			g.Error("what the turn has made ready ran on the guest's goroutine")
		}
		g.rests(one)
		const n = 1000
		before := g.sys.Stats()
		for range n {
			g.offer(one, func(*actor.Context) error { return nil })
			g.guest.Run()
		}
		for _, left := range []bool{false, true} {
			if left {
				g.guest.Leave()
			}
			if after := g.sys.Stats(); after.Messages-before.Messages < n || after.Turns-before.Turns < n {
				g.Errorf("%d messages in %d turns are counted, want %d at least; the guest has left: %v", after.Messages-before.Messages, after.Turns-before.Turns, n, left)
			}
		}
	})
}

// TestGuestSurvives: a panic in the turn is the actor's failure, Goexit ends the goroutine
// and not the guest, and a turn that has left messages goes on on a worker.
func TestGuestSurvives(t *testing.T) {
	eachHost(t, func(g *guestTest) {
		failed := g.spawn(doing(actor.MailboxConfig{}))
		g.offer(failed, func(*actor.Context) error { panic("on purpose") })
		g.guest.Run()

		exits := g.spawn(doing(actor.MailboxConfig{}))
		ended := make(chan bool)
		go func() {
			returned := false
			defer func() { ended <- returned }()
			g.offer(exits, func(*actor.Context) error {
				runtime.Goexit()
				return nil
			})
			g.guest.Run()
			returned = true
		}()
		if <-ended {
			g.Error("Run returned though the actor has called Goexit")
		}
		if n := g.sys.Stats().Failures; n != 2 {
			g.Errorf("%d actors have failed, want 2", n)
		}

		p := doing(actor.MailboxConfig{})
		p.Throughput = 1
		busy := g.spawn(p)
		done := make(chan struct{})
		g.offer(busy, func(ctx *actor.Context) error {
			return ctx.Tell(ctx.Self(), func(*actor.Context) error { close(done); return nil })
		})
		g.guest.Run()
		<-done

		left := g.spawn(doing(actor.MailboxConfig{}))
		ran := make(chan struct{})
		g.offer(left, func(*actor.Context) error { close(ran); return nil })
		g.guest.Leave()
		<-ran
	})
}

// TestGuestWaits: who uses the guest is told when its turn is about to wait for room.
func TestGuestWaits(t *testing.T) {
	eachHost(t, func(g *guestTest) {
		hold := make(chan struct{})
		full := g.spawn(doing(actor.MailboxConfig{Policy: actor.Block, Capacity: 1}))
		nothing := func(*actor.Context) error { return nil }
		held := make(chan struct{})
		if err := full.Tell(func(*actor.Context) error { close(held); <-hold; return nil }); err != nil {
			g.Fatal(err)
		}
		<-held
		if err := full.Tell(nothing); err != nil {
			g.Fatal(err)
		}
		sender := g.spawn(doing(actor.MailboxConfig{}))
		g.offer(sender, func(ctx *actor.Context) error {
			c, end := context.WithTimeout(context.Background(), time.Millisecond)
			defer end()
			if err := ctx.TellContext(c, full, nothing); !errors.Is(err, context.DeadlineExceeded) {
				g.Errorf("got %v from a mailbox that is full", err)
			}
			return nil
		})
		g.guest.Run()
		select {
		case <-g.waits:
		default:
			g.Error("it was not said that the turn waits")
		}
		close(hold)
		g.guest.Leave()
	})
}
