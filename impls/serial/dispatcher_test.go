package serial_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls/serial"
)

// newSystem makes a system whose guardian is f.
func newSystem(t *testing.T, d actor.Dispatcher, f actor.ReceiveFunc) *actortest.System {
	return actortest.New(actor.Config{Dispatcher: d, Guardian: actortest.Func(f)}, func(err error) { t.Fatal(err) })
}

// play runs a small program of actors that tell one another and returns the
// order in which things happened.
func play(t *testing.T, c serial.DispatcherConfig) (trace []string) {
	sent := 0
	s := newSystem(t, serial.NewDispatcherWith(c), func(ctx *actor.Context, _ any) error {
		refs := make([]actor.Ref, 5)
		for i := range refs {
			p := actortest.Func(func(ctx *actor.Context, msg any) error {
				n := msg.(int)
				trace = append(trace, fmt.Sprintf("%d:%d", i, n))
				switch {
				case n > 400 && i == 3:
					return fmt.Errorf("enough")
				case n > 300 && i == 2:
					ctx.StopSelf()
				}
				if n < 200 {
					for k := range 2 {
						sent++
						if err := ctx.Tell(refs[(i+k+n)%len(refs)], 2*n+k); err != nil {
							trace = append(trace, fmt.Sprint("back ", err.(*actor.SendError).Msg))
						}
					}
				}
				return nil
			})
			if i%2 == 1 {
				p.Mailbox = actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 3}
			}
			r, err := ctx.Spawn(p)
			if err != nil {
				return err
			}
			refs[i] = r
		}
		for i, r := range refs {
			sent++
			if err := ctx.Tell(r, i+1); err != nil {
				return err
			}
		}
		return nil
	})
	sent++
	if err := s.UserGuardian().Tell(0); err != nil {
		t.Error(err)
	}
	s.RunUntilIdle()
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	var dead []string
	for _, l := range s.Letters() {
		dead = append(dead, fmt.Sprint("dead ", l.Msg))
	}
	st := s.Stats()
	if int(st.Messages+st.Returned+st.DeadLetters) != sent || len(dead) != int(st.DeadLetters) {
		t.Fatalf("%+v: sent %d, %+v", c, sent, st)
	}
	return append(trace, dead...)
}

// One seed is one order, every time; and the seeds are not all the same.
func TestSeeds(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(1000) {
		c := serial.DispatcherConfig{Schedule: serial.Schedule{Order: serial.Seeded, Seed: seed}}
		first := play(t, c)
		if second := play(t, c); !slices.Equal(first, second) {
			t.Fatalf("seed %d: two orders:\n%q\n%q", seed, first, second)
		}
		orders[fmt.Sprint(first)] = true
	}
	if len(orders) < 990 {
		t.Errorf("1,000 seeds gave %d orders", len(orders))
	}
	first := play(t, serial.DispatcherConfig{})
	if second := play(t, serial.DispatcherConfig{}); !slices.Equal(first, second) {
		t.Errorf("first in, first out gave two orders:\n%q\n%q", first, second)
	}
}

// Seeds explore every order in which messages can be handled: here that of
// three actors with two messages each, 90 of them.
func TestSeedsExplore(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(3000) {
		var trace string
		d := serial.NewDispatcherWith(serial.DispatcherConfig{Schedule: serial.Schedule{Order: serial.Seeded, Seed: seed}})
		s := newSystem(t, d, func(ctx *actor.Context, _ any) error {
			for _, name := range []string{"a", "b", "c"} {
				r, err := ctx.Spawn(actortest.Func(func(_ *actor.Context, msg any) error {
					trace += fmt.Sprint(name, msg)
					return nil
				}))
				if err != nil {
					return err
				}
				for i := range 2 {
					if err := ctx.Tell(r, i); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err := s.UserGuardian().Tell(0); err != nil {
			t.Fatal(err)
		}
		s.RunUntilIdle()
		seen[trace] = true
	}
	if len(seen) != 90 {
		t.Errorf("3,000 seeds found %d of 90 orders", len(seen))
	}
}

// Sending runs no actor.
func TestSendOnlyQueues(t *testing.T) {
	ran := false
	s := newSystem(t, serial.NewDispatcher(), func(ctx *actor.Context, _ any) error {
		ran = true
		ctx.System().RunUntilIdle() // in a turn: returns at once
		return nil
	})
	if err := s.UserGuardian().Tell(1); err != nil || ran {
		t.Errorf("Tell: %v; the actor ran: %v", err, ran)
	}
	s.RunUntilIdle()
	if !ran {
		t.Error("the actor did not run")
	}
}

// A handler that has waited for room, and so run other actors, and then panics has failed
// with the message that it was given.
func TestPanicAfterOthersRan(t *testing.T) {
	handled := 0
	s := newSystem(t, serial.NewDispatcher(), actortest.CarryOut)
	count := actortest.Func(func(*actor.Context, any) error { handled++; return nil })
	count.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 1}
	small := s.Spawn(count)
	waits := s.Spawn(actortest.Func(func(ctx *actor.Context, _ any) error {
		for i := range 3 {
			if err := ctx.Tell(small, i); err != nil {
				return err
			}
		}
		if handled == 0 {
			t.Error("no other actor ran while it waited for room")
		}
		panic("it had three to tell")
	}))
	s.Send(waits, "begin")
	s.Drive()
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if failed := s.Failures(); len(failed) != 1 || failed[0].Msg != "begin" {
		t.Errorf("failed with %v, want one failure on begin", failed)
	}
}
