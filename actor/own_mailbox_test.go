package actor_test

import (
	"context"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls/serial"
)

// latestOnly is a mailbox of which each message replaces the one before, and
// which gives nothing out before it has had two.
type latestOnly struct {
	msg any
	had int
}

func (b *latestOnly) Enqueue(msg any, drop func(any)) actor.SendResult {
	if b.msg != nil {
		drop(b.msg)
	}
	b.msg = msg
	b.had++
	return actor.Sent
}

func (b *latestOnly) Dequeue() (any, bool) {
	if b.msg == nil || b.had < 2 {
		return nil, false
	}
	msg := b.msg
	b.msg = nil
	return msg, true
}

func (b *latestOnly) Len() int {
	if b.msg == nil {
		return 0
	}
	return 1
}

// TestOwnMailboxAnnouncedOnce has a turn find a message whose sender has yet to
// announce it, and another sender announce the next ones. The sender is held up
// in the callback for dead letters, which comes between the two.
func TestOwnMailboxAnnouncedOnce(t *testing.T) {
	var (
		j   journal
		ref actor.Ref
		sys *actor.System
	)
	config := actor.Config{
		Dispatcher: serial.NewDispatcher(),
		Guardian: actortest.Func(func(ctx *actor.Context, _ any) error {
			p := actortest.Func(func(_ *actor.Context, msg any) error { j.add(msg); return nil })
			p.Mailbox.New = func() actor.Mailbox { return &latestOnly{} }
			var err error
			ref, err = ctx.Spawn(p)
			return err
		}),
		DeadLetters: func(l actor.DeadLetter) {
			if l.Msg == 1 {
				for i := 3; i <= 4; i++ {
					sys.Resume(ref) // any system message has the actor look into its mailbox
					sys.RunUntilIdle()
					must(t, ref.Tell(i))
				}
			}
		},
	}
	var err error
	sys, err = actor.NewSystem(config)
	must(t, err)
	must(t, sys.UserGuardian().Tell(nil))
	sys.RunUntilIdle()
	for i := 1; i <= 2; i++ {
		must(t, ref.Tell(i)) // the second drops the first
		if i == 1 {
			sys.RunUntilIdle()
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		sys.RunUntilIdle()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatal("the actor's turn does not end: its queue of system messages is a circle")
	}
	j.want(t, 2, 3, 4)
	must(t, sys.Shutdown(context.Background()))
}
