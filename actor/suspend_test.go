package actor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
)

// suspends returns a message that suspends its receiver.
func suspends(s actor.Suspension) func(*actor.Context) error {
	return func(ctx *actor.Context) error { ctx.Suspend(s); return nil }
}

func TestSuspend(t *testing.T) {
	for name, resume := range map[string]func(h *host, r actor.Ref){
		"from outside": func(h *host, r actor.Ref) { h.sys.Resume(r) },
		"by an actor":  func(h *host, r actor.Ref) { h.do(func(ctx *actor.Context) { ctx.Resume(r) }) },
		"by time":      func(h *host, r actor.Ref) { time.Sleep(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j journal
				r := h.spawn(lives(&j, "a", frailHooks{}))
				events := actor.Subscribe[any](h.sys.Events(), 10)
				s := actor.Suspension{Reason: "test"}
				if name == "by time" {
					s.After = time.Minute
				}
				h.tell(r, suspends(s), 1, 2)
				h.settle()
				j.want(t, "a1 starts")
				if n := r.Backlog(); n != 2 {
					t.Errorf("%d messages wait, want 2", n)
				}
				resume(h, r)
				h.settle()
				j.want(t, "a1 starts", "a1 gets 1", "a1 gets 2")
				if st := h.sys.Stats(); st.Suspends != 1 || st.Resumes != 1 || st.ResumeTotal < 0 || st.ResumeMax != st.ResumeTotal {
					t.Errorf("%+v", st)
				}
				if e, _ := events.TryNext(); e.(actor.ActorSuspended).Suspension != s || e.(actor.ActorSuspended).Actor != r {
					t.Errorf("the first event is %+v", e)
				}
				if e, _ := events.TryNext(); e.(actor.ActorResumed).Actor != r {
					t.Errorf("the second event is %+v", e)
				}
				h.sys.Resume(r) // nothing
				h.settle()
			})
		})
	}
}

// A resume that belongs to an earlier suspension does not end this one.
func TestSuspendAnew(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		r := h.spawn(lives(&j, "a", frailHooks{}))
		h.sys.Suspend(r, actor.Suspension{After: time.Minute})
		h.settle()
		h.sys.Suspend(r, actor.Suspension{After: time.Hour})
		h.settle()
		h.tell(r, 1)
		time.Sleep(30 * time.Minute)
		h.settle()
		j.want(t, "a1 starts")
		time.Sleep(30 * time.Minute)
		h.settle()
		j.want(t, "a1 starts", "a1 gets 1")
	})
}

func TestSuspendedActorCanStop(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		r := h.spawn(lives(&j, "a", frailHooks{}))
		h.tell(r, suspends(actor.Suspension{After: time.Hour}), 1)
		h.settle()
		h.sys.Stop(r)
		h.settle()
		j.want(t, "a1 starts", "a1 stops")
		wantAll(t, h.dead(), 1)
	})
}

// A failure and a suspension are independent: both must end.
func TestSuspendedAndFailed(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		_, refs := h.supervised(&actor.Supervisor{Decide: always(actor.Resume)}, lives(&j, "a", frailHooks{}))
		h.tell(refs[0], func(ctx *actor.Context) error {
			ctx.Suspend(actor.Suspension{})
			return errBoom
		}, 1)
		h.settle()
		j.want(t, "a1 starts")
		h.sys.Resume(refs[0])
		h.settle()
		j.want(t, "a1 starts", "a1 gets 1")
		h.dead()
	})
}

func TestSuspendUntilCapacity(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		slow := h.spawn(actor.Props{
			Mailbox: actor.MailboxConfig{Capacity: 2, Policy: actor.DropNewest},
			New:     lives(&j, "slow", frailHooks{}).New,
		})
		h.sys.Suspend(slow, actor.Suspension{})
		h.settle()
		var producers []actor.Ref
		for _, name := range []string{"p", "q"} {
			p := h.spawnFunc(func(ctx *actor.Context, msg any) error {
				if err := ctx.Tell(slow, msg); errors.Is(err, actor.ErrFull) {
					j.add(name + " waits")
					ctx.Stash(msg)
					ctx.UnstashAll()
					ctx.Suspend(actor.Suspension{Reason: "backpressure", Capacity: slow})
				}
				return nil
			})
			producers = append(producers, p)
		}
		h.tell(producers[0], 1, 2, 3)
		h.settle()
		h.tell(producers[1], 4)
		h.settle()
		j.want(t, "slow1 starts", "p waits", "q waits")
		h.sys.Resume(slow)
		h.settle()
		// There is room for both at once, and nothing says which of the two is first.
		want := []any{"slow1 starts", "p waits", "q waits", "slow1 gets 1", "slow1 gets 2", "slow1 gets 3", "slow1 gets 4"}
		if got := j.got(); len(got) == len(want) && got[5] == want[6] {
			want[5], want[6] = want[6], want[5]
		}
		j.want(t, want...)
		// Who waits for an actor that stops, or has stopped, goes on.
		h.sys.Suspend(slow, actor.Suspension{})
		h.settle()
		h.tell(slow, 5, 6)
		h.tell(producers[0], 7)
		h.settle()
		h.sys.Stop(slow)
		h.settle()
		wantAll(t, h.dead(), 5, 6)
		if st := h.sys.Stats(); st.Suspends != 5 || st.Resumes != 4 { // slow's second is not resumed
			t.Errorf("%+v", st)
		}
	})
}

// Room that the first in line does not take is for the next one, and who has left
// the line is not kept in it.
func TestSuspendLeavesTheLine(t *testing.T) {
	for name, leave := range map[string]func(h *host, first actor.Ref){
		"resumed":        func(h *host, first actor.Ref) { h.sys.Resume(first) },
		"stopped":        func(h *host, first actor.Ref) { h.sys.Stop(first) },
		"suspended anew": func(h *host, first actor.Ref) { h.sys.Suspend(first, actor.Suspension{}) },
		"silent":         func(*host, actor.Ref) {},
	} {
		t.Run(name, func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				var j journal
				full := h.spawn(actor.Props{
					Mailbox: actor.MailboxConfig{Capacity: 1, Policy: actor.DropNewest},
					New:     lives(&j, "full", frailHooks{}).New,
				})
				h.sys.Suspend(full, actor.Suspension{})
				h.settle()
				h.tell(full, 0)
				first, second := h.spawn(lives(&j, "first", frailHooks{})), h.spawn(lives(&j, "second", frailHooks{}))
				for _, r := range []actor.Ref{first, second} {
					h.tell(r, suspends(actor.Suspension{Capacity: full}))
					h.settle()
				}
				h.tell(second, 1)
				leave(h, first)
				h.settle()
				h.sys.Resume(full)
				h.settle()
				want := []any{"full1 starts", "first1 starts", "second1 starts", "full1 gets 0", "second1 gets 1"}
				if name == "stopped" {
					want = []any{"full1 starts", "first1 starts", "second1 starts", "first1 stops", "full1 gets 0", "second1 gets 1"}
				}
				j.want(t, want...)
			})
		})
	}
}
