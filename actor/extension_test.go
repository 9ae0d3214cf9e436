package actor_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// What docs/extending.md says of persistence and of tracing is done here.

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

// tracer records the handling of each message as a span, which knows the span
// that the message was sent in.
type tracer struct {
	mu      sync.Mutex
	spans   []span
	current map[*actor.Context]int // which span an actor is in
}

type span struct {
	actor  string
	msg    any
	err    error
	parent int // 0: none; else the index of a span, from 1
}

// traced is a message with the span that it was sent in.
type traced struct {
	msg  any
	span int
}

// Unbox implements [actor.Boxed]: a dead letter shows the message.
func (b traced) Unbox() any { return b.msg }

// middleware is for Config.Middleware.
func (tr *tracer) middleware(next actor.ReceiveFunc) actor.ReceiveFunc {
	return func(ctx *actor.Context, msg any) error {
		s := span{actor: ctx.Self().Name(), msg: msg}
		if b, ok := msg.(traced); ok {
			s.msg, s.parent = b.msg, b.span
		}
		tr.mu.Lock()
		tr.spans = append(tr.spans, s)
		id := len(tr.spans)
		tr.current[ctx] = id
		tr.mu.Unlock()
		err := errors.New("panicked")
		defer func() { // also if the actor panics
			tr.mu.Lock()
			defer tr.mu.Unlock()
			delete(tr.current, ctx)
			tr.spans[id-1].err = err
		}()
		err = next(ctx, s.msg)
		return err
	}
}

// tell is what actors call instead of ctx.Tell.
func (tr *tracer) tell(ctx *actor.Context, to actor.Ref, msg any) error {
	tr.mu.Lock()
	id := tr.current[ctx]
	tr.mu.Unlock()
	return ctx.Tell(to, traced{msg, id})
}

func TestExtensionTracing(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		synctest.Test(t, func(t *testing.T) {
			tr := &tracer{current: make(map[*actor.Context]int)}
			var gone actor.Ref
			// Each of the chain passes on to the next; the last one fails.
			link := func(next *actor.Ref) actor.Props {
				return actortest.Func(func(ctx *actor.Context, msg any) error {
					switch {
					case msg == "tick" || next == nil:
						return nil
					case next.IsZero():
						return errBoom
					}
					return tr.tell(ctx, *next, msg)
				})
			}
			var b, c, nobody actor.Ref
			h := newHostWith(t, actor.Config{
				Dispatcher: impl.NewDispatcher(),
				Middleware: []actor.Middleware{tr.middleware},
				Guardian: actor.Props{New: func() actor.Actor {
					return actor.ReceiveFunc(func(ctx *actor.Context, msg any) (err error) {
						switch msg {
						case "begin":
							c, err = ctx.SpawnNamed("c", link(&nobody))
							must(t, err)
							b, err = ctx.SpawnNamed("b", link(&c))
							must(t, err)
							gone, err = ctx.SpawnNamed("gone", link(nil))
							must(t, err)
							ctx.Stop(gone)
							ctx.StartTimer(time.Second, "tick")
							return tr.tell(ctx, b, "hello")
						case "tick":
							if err := tr.tell(ctx, gone, "lost"); err == nil {
								t.Error("an actor that has stopped was sent a message")
							}
							return tr.tell(ctx, b, "tick")
						}
						return nil
					})
				}},
			})
			h.bubble = true
			h.Send(h.UserGuardian(), "begin")
			h.settle()
			h.settle() // the timer is due
			wantSpans := []span{
				{"user", "begin", nil, 0},
				{"b", "hello", nil, 1},
				{"c", "hello", errBoom, 2},
				{"user", "tick", nil, 0}, // a timer's: it begins a trace
				{"b", "tick", nil, 4},
			}
			if !slices.Equal(tr.spans, wantSpans) {
				t.Errorf("got  %v\nwant %v", tr.spans, wantSpans)
			}
			var lost []any
			for _, l := range h.DeadLetters() {
				lost = append(lost, l.Msg)
			}
			wantAll(t, lost, "hello", "lost") // what c failed on, and what nobody got; both without the box
		})
	})
}
