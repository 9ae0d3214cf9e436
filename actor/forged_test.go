package actor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// heap is a mailbox of one's own.
type heap struct{ list []any }

func (h *heap) Enqueue(msg any, _ func(any)) actor.SendResult {
	h.list = append(h.list, msg)
	return actor.Sent
}

func (h *heap) Dequeue() (any, bool) {
	if len(h.list) == 0 {
		return nil, false
	}
	msg := h.list[0]
	h.list = h.list[1:]
	return msg, true
}

func (h *heap) Len() int { return len(h.list) }

// What a user has sent never comes as what the runtime says: not through a
// mailbox of one's own, not from the stash, and not when it is tried again.
func TestForged(t *testing.T) {
	boxes := map[string]actor.MailboxConfig{"own": {New: func() actor.Mailbox { return &heap{} }}, "ordinary": {}}
	for name, box := range boxes {
		t.Run("mailbox="+name, func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j journal
				fails := 0
				p := actortest.Func(func(ctx *actor.Context, msg any) error {
					j.add(msg)
					switch fails++; fails {
					case 1:
						ctx.Stash(msg)
						ctx.UnstashAll()
					case 3:
						panic("once")
					case 4:
						return errors.New("and once more")
					}
					return nil
				})
				p.Mailbox = box
				var r actor.Ref
				h.do(func(ctx *actor.Context) {
					var err error
					r, err = ctx.Spawn(actor.Props{
						New: func() actor.Actor {
							return &fatherOf{p: p, told: func(c actor.Ref) { r = c }}
						},
						Supervisor: &actor.Supervisor{Decide: func(actor.Failure) actor.Directive { return actor.Restart }, Retry: true},
					})
					must(t, err)
				})
				for _, msg := range []any{actor.Terminated{Actor: r}, actor.ReceiveTimeout{}} {
					must(t, r.Tell(msg))
					h.settle()
				}
				first, second := actor.Forged{Msg: actor.Terminated{Actor: r}}, actor.Forged{Msg: actor.ReceiveTimeout{}}
				j.want(t, first, first, second, second, second)
			})
		})
	}
}

// Nor through a timer, although what a timer says comes ahead of the mailbox, as what
// the runtime says does.
func TestForgedByTimer(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		h.do(func(ctx *actor.Context) {
			_, err := ctx.Spawn(actor.Props{New: func() actor.Actor { return &forger{j: &j} }})
			must(t, err)
		})
		for range 6 {
			time.Sleep(2500 * time.Millisecond)
			h.settle()
		}
		j.want(t, actor.Forged{Msg: actor.Terminated{}}, actor.Forged{Msg: actor.ReceiveTimeout{}}, actor.ReceiveTimeout{})
	})
}

// forger has timers that say what only the runtime says, and a real timeout.
type forger struct {
	j        *journal
	periodic *actor.Timer
}

func (f *forger) PreStart(ctx *actor.Context) error {
	ctx.StartTimer(time.Second, actor.Terminated{})
	f.periodic = ctx.StartPeriodic(2*time.Second, actor.ReceiveTimeout{})
	return nil
}

func (f *forger) Receive(ctx *actor.Context, msg any) error {
	f.j.add(msg)
	if (msg == actor.Forged{Msg: actor.ReceiveTimeout{}}) {
		f.periodic.Stop()
		ctx.SetReceiveTimeout(10 * time.Second)
		ctx.Become(func(ctx *actor.Context, msg any) error {
			ctx.SetReceiveTimeout(0)
			f.j.add(msg)
			return nil
		})
	}
	return nil
}

// fatherOf spawns one child.
type fatherOf struct {
	p    actor.Props
	told func(actor.Ref)
}

func (f *fatherOf) PreStart(ctx *actor.Context) error {
	c, err := ctx.Spawn(f.p)
	f.told(c)
	return err
}

func (f *fatherOf) Receive(*actor.Context, any) error { return nil }
