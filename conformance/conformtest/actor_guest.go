package conformtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/conformance"
)

// goroutine returns the number of the goroutine that calls it.
func goroutine() string {
	b := make([]byte, 32)
	return string(bytes.Fields(b[:runtime.Stack(b, false)])[1])
}

// guestTest is a system with a guest, whose turns the goroutine of the check runs.
type guestTest struct {
	*actortest.System
	e     *conformance.Env
	guest actor.Guest
	waits int // calls of TurnWaits
}

// TurnWaits implements [actor.Lender].
func (g *guestTest) TurnWaits() { g.waits++ }

// checkGuests checks a dispatcher that has guests, each time in a system of its own.
func checkGuests(t *testing.T, s *suite) outcome {
	if _, ok := s.impl.NewDispatcher().(actor.Host); !ok {
		return outcome{skip: "the dispatcher is no actor.Host"}
	}
	for _, check := range []func(*guestTest) error{guestRuns, guestCounts, guestSurvives, guestWaits} {
		err := s.try(t, func(e *conformance.Env) error {
			g := &guestTest{System: s.hosted(e, actor.Config{}), e: e}
			g.guest = g.NewGuest(g)
			return errors.Join(check(g), g.Shutdown(context.Background()))
		}, s.set.seed)
		if err != nil {
			return outcome{err: err, seed: s.set.seed}
		}
	}
	return outcome{seed: s.set.seed}
}

// actors returns actors that have begun and are idle.
func (g *guestTest) actors(n int, p actor.Props) (refs []actor.Ref) {
	for range n {
		refs = append(refs, g.Spawn(p))
	}
	g.e.Settle()
	return refs
}

// offer sends as the guest.
func (g *guestTest) offer(to actor.Ref, do func(*actor.Context)) error {
	if res := to.Offer(do, g.guest); res != actor.Sent {
		return fmt.Errorf("a guest's send was answered by %v, want %v", res, actor.Sent)
	}
	return nil
}

// guestRuns sends as a guest to two idle actors, and the turn of the first sends to a third.
func guestRuns(g *guestTest) error {
	me, refs := goroutine(), g.actors(3, actortest.Scripted())
	where := make(chan string, 1)
	note := func(*actor.Context) { where <- goroutine() }
	var ran string
	g.guest.Run() // for nothing
	if err := errors.Join(
		g.offer(refs[0], func(ctx *actor.Context) {
			ran = goroutine()
			_ = ctx.Tell(refs[2], note)
		}),
		g.offer(refs[1], note),
	); err != nil {
		return err
	}
	if <-where == me { // it needs no Run
		return errors.New("the second actor that a guest has sent to ran on the guest's goroutine, want a worker's")
	}
	g.guest.Run()
	if ran != me {
		return fmt.Errorf("when Run returned the turn had run on goroutine %q, want that of Run, %s", ran, me)
	}
	if <-where == me {
		return errors.New("what a guest's turn has made ready ran on the guest's goroutine, want a worker's")
	}
	return nil
}

// guestCounts has two guests run turns, and one leave.
func guestCounts(g *guestTest) error {
	const n = 100
	one := g.actors(1, actortest.Scripted())[0]
	stays := g.NewGuest(g)
	defer stays.Leave()
	before := g.Stats()
	for i := range 2 * n {
		if i == n {
			g.guest.Leave()
			g.guest = stays
		}
		if err := g.offer(one, func(*actor.Context) {}); err != nil {
			return err
		}
		g.guest.Run()
	}
	after := g.Stats()
	if m, t := after.Messages-before.Messages, after.Turns-before.Turns; m != 2*n || t != 2*n {
		return fmt.Errorf("%d messages in %d turns are counted, want %d: a guest has run half of them and left, and another one the others", m, t, 2*n)
	}
	return nil
}

// guestSurvives has the turns of a guest panic, end its goroutine, and leave messages, and
// has it leave without a turn.
func guestSurvives(g *guestTest) error {
	p := actortest.Scripted()
	p.Throughput = 1
	refs := g.actors(4, p)
	if err := g.offer(refs[0], func(*actor.Context) { panic("on purpose") }); err != nil {
		return err
	}
	g.guest.Run()

	ended := make(chan error)
	go func() {
		err := errors.New("Run returned though the actor has called runtime.Goexit")
		defer func() { ended <- err }()
		if failed := g.offer(refs[1], func(*actor.Context) {
			err = nil
			runtime.Goexit()
		}); failed != nil {
			err = failed
			return
		}
		g.guest.Run()
		err = errors.New("Run returned though the actor has called runtime.Goexit")
	}()
	if err := <-ended; err != nil {
		return err
	}
	g.e.Settle()
	if n := g.Stats().Failures; n != 2 {
		return fmt.Errorf("%d failures are counted, want 2: a turn of a guest has panicked, and one has called runtime.Goexit", n)
	}

	done := make(chan struct{})
	if err := g.offer(refs[2], func(ctx *actor.Context) { _ = ctx.Tell(ctx.Self(), func(*actor.Context) { close(done) }) }); err != nil {
		return err
	}
	g.guest.Run()
	<-done

	ran := make(chan struct{})
	if err := g.offer(refs[3], func(*actor.Context) { close(ran) }); err != nil {
		return err
	}
	g.guest.Leave()
	<-ran
	return nil
}

// guestWaits has a turn of a guest wait for room.
func guestWaits(g *guestTest) error {
	p := actortest.Scripted()
	p.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 1}
	full, sender := g.actors(1, p)[0], g.actors(1, actortest.Scripted())[0]
	nothing := func(*actor.Context) {}
	held, hold := make(chan struct{}), make(chan struct{})
	g.Send(full, func(*actor.Context) { close(held); <-hold })
	<-held
	g.Send(full, nothing)
	var got error
	if err := g.offer(sender, func(ctx *actor.Context) {
		c, end := context.WithTimeout(context.Background(), time.Millisecond)
		defer end()
		got = ctx.TellContext(c, full, nothing)
	}); err != nil {
		return err
	}
	g.guest.Run()
	close(hold)
	g.guest.Leave()
	if !errors.Is(got, context.DeadlineExceeded) || g.waits != 1 {
		return fmt.Errorf("a full mailbox answered %v, and the lender was told of %d waits, want %v and 1", got, g.waits, context.DeadlineExceeded)
	}
	return nil
}
