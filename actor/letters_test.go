package actor_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
)

// TestEveryDeadLetterIsRecorded: whatever the way in which a message is not
// handled, the store, the callback and the stream have it, the same and once.
func TestEveryDeadLetterIsRecorded(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var told []actor.DeadLetter
		begun := time.Now()
		actor.SubscribeFunc(h.sys.Events(), func(l actor.DeadLetter) {
			h.mu.Lock()
			defer h.mu.Unlock()
			told = append(told, l)
		})
		var want []actor.DeadLetter
		expect := func(msg any, to actor.Ref, reason error, returned bool) {
			want = append(want, actor.DeadLetter{Msg: msg, To: to, Reason: reason, Returned: returned})
		}

		newest := newGated(h, actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1})
		oldest := newGated(h, actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 1})
		wait := newGated(h, actor.MailboxConfig{Policy: actor.Block, Capacity: 1})
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		h.do(func(ctx *actor.Context) {
			must(t, ctx.Tell(newest.ref, "stays"))
			wantBack(t, ctx.Tell(newest.ref, "full"), "full", newest.ref, actor.ErrFull)
			expect("full", newest.ref, actor.ErrFull, true)
			wantBack(t, newest.ref.Tell("full too"), "full too", newest.ref, actor.ErrFull)
			expect("full too", newest.ref, actor.ErrFull, true)
			ctx.Forward(newest.ref, "forwarded")
			expect("forwarded", newest.ref, actor.ErrFull, false)

			must(t, ctx.Tell(oldest.ref, "dropped"))
			must(t, ctx.Tell(oldest.ref, "left"))
			expect("dropped", oldest.ref, actor.ErrDropped, false)

			must(t, ctx.Tell(wait.ref, "stays too"))
			wantBack(t, ctx.TellContext(ended, wait.ref, "gave up"), "gave up", wait.ref, context.Canceled)
			expect("gave up", wait.ref, context.Canceled, true)

			wantBack(t, ctx.Tell(actor.Ref{}, "for nobody"), "for nobody", actor.Ref{}, actor.ErrNobody)
			expect("for nobody", actor.Ref{}, actor.ErrNobody, true)
			ctx.Forward(actor.Ref{}, "for nobody either")
			expect("for nobody either", actor.Ref{}, actor.ErrNobody, false)
			h.sys.Stop(oldest.ref)
		})
		oldest.open(h)
		expect("left", oldest.ref, actor.ErrStopped, false)
		wantBack(t, oldest.ref.Tell("late"), "late", oldest.ref, actor.ErrStopped)
		expect("late", oldest.ref, actor.ErrStopped, true)

		same := func(what string, got []actor.DeadLetter) {
			t.Helper()
			for i := range got {
				if when := got[i].Time; when.Before(begun) || when.After(time.Now()) {
					t.Errorf("%s: %v has the time %v", what, got[i].Msg, when)
				}
				got[i].Time = time.Time{}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", what, got, want)
			}
		}
		kept := h.sys.DeadLetters()
		if len(kept) != len(told) {
			t.Fatalf("the stream told of %d, %d are kept", len(told), len(kept))
		}
		for i := range kept {
			if !kept[i].Time.Equal(told[i].Time) {
				t.Errorf("%v is of %v and of %v", kept[i].Msg, kept[i].Time, told[i].Time)
			}
		}
		same("kept", kept)
		same("stream", told)
		if st := h.sys.Stats(); st.Returned != 5 || st.DeadLetters != 4 || st.Dropped != 1 {
			t.Errorf("%+v, want 5 returned and 4 undelivered, one of them dropped", st)
		}
		wantAll(t, h.dead(), "forwarded", "dropped", "for nobody either", "left")
		newest.open(h)
		wait.open(h)
	})
}

// TestNewestDeadLettersAreKept: as many as the configuration says, until the
// system is over.
func TestNewestDeadLettersAreKept(t *testing.T) {
	for _, tt := range []struct{ keep, want int }{{0, 64}, {3, 3}, {1, 1}, {-1, 0}, {100, 70}} {
		told := 0
		sys, err := actor.NewSystem(actor.Config{
			Dispatcher:      serial.NewDispatcher(),
			KeepDeadLetters: tt.keep,
			DeadLetters:     func(actor.DeadLetter) { told++ }, // whether they are kept or not
			Guardian: props(func(ctx *actor.Context, msg any) error {
				ctx.Forward(actor.Ref{}, msg)
				return nil
			}),
		})
		must(t, err)
		if got := sys.DeadLetters(); got != nil {
			t.Errorf("there are dead letters %v in the beginning", got)
		}
		for i := range 70 {
			must(t, sys.UserGuardian().Tell(i))
		}
		sys.RunUntilIdle()
		got := sys.DeadLetters()
		for i, l := range got {
			if want := 70 - tt.want + i; l.Msg != want {
				t.Errorf("of %d: dead letter %d is %v, want %d", tt.keep, i, l.Msg, want)
			}
		}
		if len(got) != tt.want {
			t.Errorf("of %d: %d dead letters, want %d", tt.keep, len(got), tt.want)
		}
		must(t, sys.Shutdown(context.Background()))
		_ = sys.UserGuardian().Tell("late")
		if got := sys.DeadLetters(); got != nil {
			t.Errorf("of %d: there are dead letters %v in the end", tt.keep, got)
		}
		if st := sys.Stats(); st.DeadLetters != 70 || st.Returned != 1 || told != 71 {
			t.Errorf("of %d: told of %d, %+v, want 70 dead letters and one returned", tt.keep, told, st)
		}
	}
}

func TestResend(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		g := newGated(h, actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1})
		h.do(func(ctx *actor.Context) {
			must(t, ctx.Tell(g.ref, 1))
			ctx.Forward(g.ref, 2)
			l := h.sys.DeadLetters()[0]
			wantBack(t, l.Resend(), 2, g.ref, actor.ErrFull) // there is no room yet
		})
		letters := h.sys.DeadLetters()
		if len(letters) != 2 || letters[1].Msg != 2 || !letters[1].Returned {
			t.Fatalf("dead letters %+v, want a second one about message 2", letters)
		}
		g.open(h)
		must(t, letters[0].Resend())
		h.settle()
		g.want(t, 1, 2)
		wantBack(t, actor.DeadLetter{Msg: 3}.Resend(), 3, actor.Ref{}, actor.ErrNobody)
	})
}

// box is a message that carries another one.
type box struct {
	value  any
	opened int
}

func (b *box) Unbox() any {
	b.opened++
	return b.value
}

func TestBoxedDeadLetters(t *testing.T) {
	h := newHostOn(t, lockbased.NewDispatcher())
	b := &box{value: 7}
	h.do(func(ctx *actor.Context) {
		ctx.Forward(actor.Ref{}, b)
		wantBack(t, ctx.Tell(actor.Ref{}, b), b, actor.Ref{}, actor.ErrNobody) // the sender has its own back
	})
	for _, l := range h.sys.DeadLetters() {
		if l.Msg != 7 {
			t.Errorf("the dead letter is %v, want 7", l.Msg)
		}
	}
	wantAll(t, h.dead(), 7)

	q := newQuietHost(t, serial.NewDispatcher(), -1)
	b = &box{value: 8}
	q.do(func(ctx *actor.Context) { ctx.Forward(actor.Ref{}, b) })
	if b.opened != 0 || q.sys.Stats().DeadLetters != 1 {
		t.Errorf("the box was opened %d times for nobody", b.opened)
	}
}

// TestDeadLettersArePassedOn: a callback that sends every dead letter to an actor
// is not called of those that this fails for.
func TestDeadLettersArePassedOn(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		var sys *actor.System
		var calls journal
		sys, err := actor.NewSystem(actor.Config{
			Dispatcher: impl.NewDispatcher(),
			Guardian:   props(func(*actor.Context, any) error { return nil }),
			DeadLetters: func(l actor.DeadLetter) {
				calls.add(l.Msg)
				wantBack(t, sys.UserGuardian().Tell(l), l, sys.UserGuardian(), actor.ErrStopped)
			},
		})
		must(t, err)
		must(t, sys.Shutdown(context.Background()))
		wantBack(t, sys.UserGuardian().Tell(1), 1, sys.UserGuardian(), actor.ErrStopped)
		calls.want(t, 1)
		if n := sys.Stats().Returned; n != 2 {
			t.Errorf("%d messages returned, want 2", n)
		}
	})
}
