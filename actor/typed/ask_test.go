package typed_test

import (
	"context"
	"errors"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/typed"
)

// question asks for the double of n.
type question struct {
	n  int
	to typed.ReplyTo[int]
}

func TestAsk(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		refusal := errors.New("odd")
		r := spawn(h, props(func(ctx *typed.Context[question], q question) error {
			switch {
			case q.n < 0:
				return ctx.Untyped().Reply(q.to.Untyped(), "not a number")
			case q.n%2 == 1:
				return q.to.Fail(refusal)
			}
			return typed.Reply(ctx, q.to, 2*q.n)
		}))
		ask := func(n int) typed.Future[int] {
			return typed.Ask(h.System.System, r, 0, func(to typed.ReplyTo[int]) question { return question{n, to} })
		}
		if n, err := ask(4).Wait(context.Background()); n != 8 || err != nil {
			t.Errorf("Wait = %v, %v, want 8", n, err)
		}
		if _, err := ask(3).Wait(context.Background()); err != refusal {
			t.Errorf("Wait = %v, want %v", err, refusal)
		}
		if _, err := ask(-1).Wait(context.Background()); err != typed.ErrType {
			t.Errorf("Wait of a reply of another type = %v", err)
		}
		f := ask(6)
		f.Discard()
		if _, done, err := f.Poll(); !done || err != actor.ErrTaken {
			t.Errorf("Poll of what was discarded = %v, %v", done, err)
		}
		h.End(r.Untyped())
		var e *actor.SendError
		if _, done, err := ask(2).Poll(); !done || !errors.As(err, &e) || e.Reason != actor.ErrStopped {
			t.Errorf("asking an actor that has stopped: %v, %v", done, err)
		}
		h.dead() // the reply that was discarded, if it was in time
	})
}

// life is an actor that writes down its hooks.
type life struct{ say func(string) }

func (a life) PreStart(*typed.Context[int]) error { a.say("starts"); return nil }
func (a life) PostStop(*typed.Context[int]) error { a.say("stops"); return nil }
func (a life) Receive(ctx *typed.Context[int], n int) error {
	if n < 0 {
		return errors.New("negative")
	}
	a.say("gets")
	ctx.StopSelf()
	return nil
}

// renewed has restart hooks of its own.
type renewed struct{ life }

func (a renewed) PreRestart(*typed.Context[int], error) error  { a.say("ends"); return nil }
func (a renewed) PostRestart(*typed.Context[int], error) error { a.say("begins"); return nil }

func TestRestartHooksAndSignals(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		for name, want := range map[string]string{
			"own":  "starts ends begins gets stops signal",
			"none": "starts stops starts gets stops signal",
		} {
			var said string
			done := make(chan struct{})
			p := props(func(ctx *typed.Context[int], _ int) error {
				r, err := typed.Spawn(ctx, typed.Props[int]{New: func() typed.Actor[int] {
					a := life{func(s string) { said += s + " " }} // one after the other: the messages order them
					if name == "own" {
						return renewed{a}
					}
					return a
				}})
				must(t, err)
				ctx.Untyped().Watch(r.Untyped())
				ctx.Become(func(*typed.Context[int], int) error { return nil })
				must(t, typed.Tell(ctx, r, -1))
				return typed.Tell(ctx, r, 1)
			})
			p.Supervisor = &actor.Supervisor{}
			p.Signal = func(ctx *typed.Context[int], s any) error {
				if _, ok := s.(actor.Terminated); ok {
					said += "signal"
					close(done)
				}
				return nil
			}
			parent := spawn(h, p)
			must(t, parent.Tell(1))
			h.Drive()
			<-done
			if said != want {
				t.Errorf("%s: %q, want %q", name, said, want)
			}
			h.End(parent.Untyped())
			h.dead()
			h.Failures()
		}
	})
}

func TestReplyToOf(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		f := h.NewFuture(0)
		to := typed.ReplyToOf[int](f.ReplyTo())
		must(t, to.Tell(3))
		if got, err := f.Wait(context.Background()); got != 3 || err != nil || to.Untyped() != f.ReplyTo() {
			t.Errorf("the Future has %v, %v", got, err)
		}
	})
}
