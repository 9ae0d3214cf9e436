package serial_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls/serial"
)

// newSystem makes a system whose guardian is f.
func newSystem(t *testing.T, d actor.Dispatcher, f actor.ReceiveFunc) *actortest.System {
	return actortest.New(actor.Config{Dispatcher: d, Guardian: actortest.Func(f)}, func(err error) { t.Fatal(err) })
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
