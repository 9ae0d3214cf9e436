package serial_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

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

// A sender that waits for room runs actors until there is room, and then further ones only
// for those who rely on it: another sender that waits, or a caller of RunUntilIdle.
func TestSenderRunsOthersOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := serial.NewDispatcher()
		s := newSystem(t, d, actortest.CarryOut)
		meanwhile := func() {}
		handled := 0
		small := func(f actor.ReceiveFunc) actor.Ref {
			p := actortest.Func(f)
			p.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 1}
			return s.Spawn(p)
		}
		tell := func(r actor.Ref) {
			if err := r.Tell(0); err != nil {
				t.Error(err)
			}
		}
		first := small(func(*actor.Context, any) error { meanwhile(); meanwhile = func() {}; return nil })
		other := small(func(*actor.Context, any) error { handled++; return nil })
		for _, c := range []struct {
			name      string
			meanwhile func()
			want      int
		}{
			{"none", func() {}, 0},
			{"a sender", func() { go tell(other); synctest.Wait() }, 2},
			{"none after a sender", func() {}, 0},
			{"RunUntilIdle", d.RunUntilIdle, 1},
			{"none after RunUntilIdle", func() {}, 0},
		} {
			s.Drive()
			synctest.Wait() // a sender that has its answer is no longer counted
			meanwhile, handled = c.meanwhile, 0
			tell(first)
			tell(other)
			tell(first) // waits for room
			if handled != c.want {
				t.Errorf("%s relies on the goroutine that runs actors: another actor has handled %d messages, want %d", c.name, handled, c.want)
			}
		}
		s.Drive()
	})
}
