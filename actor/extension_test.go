package actor_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
)

// What docs/extending.md says of persistence is done here.

// eventLog is where events are written, by entity. It outlives systems.
type eventLog struct {
	mu     sync.Mutex
	events map[string][]any
	broken int // how many writes are going to fail
}

var errDiskFull = errors.New("disk full")

// write adds events to an entity's, all or none.
func (l *eventLog) write(id string, events []any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken > 0 && len(events) > 0 {
		l.broken--
		return errDiskFull
	}
	if l.events == nil {
		l.events = make(map[string][]any)
	}
	l.events[id] = append(l.events[id], events...)
	return nil
}

// breaks has the next n writes fail.
func (l *eventLog) breaks(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = n
}

func (l *eventLog) read(id string) []any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events[id])
}

// sourced is an actor whose state is what its events have made of it: Receive
// answers a command by raising events, and changes the state for events only.
type sourced interface {
	actor.Actor
	raised() []any // since it was called last
}

// sourcing is the invoker of such an actor: it writes events before the actor
// has them, so that what is not written has not happened.
type sourcing struct {
	log *eventLog
	id  string
}

func (s sourcing) Invoke(ctx *actor.Context, a actor.Actor, msg any) error {
	if err := a.Receive(ctx, msg); err != nil {
		return err
	}
	events := a.(sourced).raised()
	if err := s.log.write(s.id, events); err != nil {
		return err
	}
	for _, ev := range events {
		if err := a.Receive(ctx, ev); err != nil {
			return err
		}
	}
	return nil
}

// account is a sourced actor.
type account struct {
	log     *eventLog
	id      string
	balance int
	events  []any
}

type (
	// Commands.
	deposit  struct{ sum int }
	withdraw struct{ sum int }
	balance  struct{ replyTo actor.ReplyTo }
	crash    struct{}
	// Events.
	deposited struct{ sum int }
	withdrawn struct{ sum int }
)

// PreStart runs before the first message, also of an actor that was restarted.
func (a *account) PreStart(ctx *actor.Context) error {
	for _, ev := range a.log.read(a.id) {
		if err := a.Receive(ctx, ev); err != nil {
			return err
		}
	}
	return nil
}

func (a *account) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case deposit:
		a.events = append(a.events, deposited(msg))
	case withdraw:
		if msg.sum <= a.balance {
			a.events = append(a.events, withdrawn(msg))
		}
	case balance:
		return ctx.Reply(msg.replyTo, a.balance)
	case crash:
		a.balance = -1 // it goes wrong for good
		panic("crash")
	case deposited:
		a.balance += msg.sum
	case withdrawn:
		a.balance -= msg.sum
	}
	return nil
}

func (a *account) raised() []any {
	events := a.events
	a.events = nil
	return events
}

func accountProps(l *eventLog, id string) actor.Props {
	return actor.Props{
		New:     func() actor.Actor { return &account{log: l, id: id} },
		Invoker: sourcing{l, id},
	}
}

// wantBalance fails the test unless the account answers that.
func (h *host) wantBalance(r actor.Ref, want int) {
	h.Helper()
	f := h.System.Ask(r, time.Minute, func(to actor.ReplyTo) any { return balance{to} })
	h.settle()
	if got, err := f.Wait(context.Background()); err != nil || got != any(want) {
		h.Errorf("the balance is %v (%v), want %d", got, err, want)
	}
}

func TestExtensionPersistence(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var l eventLog
		_, refs := h.supervised(&actor.Supervisor{Retry: false}, accountProps(&l, "ann"), accountProps(&l, "bob"))
		ann, bob := refs[0], refs[1]
		h.Send(ann, deposit{10}, withdraw{3}, withdraw{8})
		h.Send(bob, deposit{1})
		h.settle()
		h.wantBalance(ann, 7) // the second withdrawal was more than there was

		// A restart replays, in the place of the state that went wrong.
		h.Send(ann, crash{}, deposit{5})
		h.settle()
		h.wantBalance(ann, 12)
		wantAll(t, h.dead(), crash{})

		// What cannot be written has not happened: the command is a dead letter.
		l.breaks(1)
		h.Send(ann, deposit{100}, deposit{1})
		h.settle()
		h.wantBalance(ann, 13)
		wantAll(t, h.dead(), deposit{100})

		// Another actor takes over from where the first one has stopped.
		h.System.Stop(ann)
		h.settle()
		h.wantBalance(h.spawn(accountProps(&l, "ann")), 13)
		wantAll(t, l.read("ann"), deposited{10}, withdrawn{3}, deposited{5}, deposited{1})
		wantAll(t, l.read("bob"), deposited{1})
	})
}

// With Retry a command whose events could not be written is tried again, and
// written once.
func TestExtensionPersistenceRetries(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		const times = 3
		l := eventLog{broken: times}
		s := &actor.Supervisor{Retry: true, Backoff: actor.Backoff{Min: time.Millisecond}}
		_, refs := h.supervised(s, accountProps(&l, "ann"))
		h.Send(refs[0], deposit{10}, withdraw{10})
		for range times {
			h.settle() // a backoff each
		}
		h.wantBalance(refs[0], 0)
		wantAll(t, l.read("ann"), deposited{10}, withdrawn{10})
		wantAll(t, h.dead())
		if n := h.System.Stats().Restarts; n != times {
			t.Errorf("%d restarts, want %d", n, times)
		}
	})
}
