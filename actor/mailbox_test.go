package actor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
)

// gated is an actor that handles its first message only when told to, so that
// a test can fill its mailbox.
type gated struct {
	journal
	ref  actor.Ref
	gate chan struct{}
	held bool
}

func newGated(h *host, cfg actor.MailboxConfig) *gated {
	g := &gated{gate: make(chan struct{})}
	p := props(func(ctx *actor.Context, msg any) error {
		if !g.held {
			g.held = true
			if h.sys.Synchronous() {
				// Nobody can open the gate meanwhile; nobody needs to: actors
				// run only when they are driven.
				return nil
			}
			<-g.gate
			return nil
		}
		g.add(msg)
		return nil
	})
	p.Mailbox = cfg
	g.ref = h.spawn(p)
	must(h, g.ref.Tell("hold"))
	h.settle()
	return g
}

// open lets the actor go on.
func (g *gated) open(h *host) {
	close(g.gate)
	h.settle()
}

func byNumber(msg any) int { return msg.(int) / 10 }

func TestUnbounded(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		g := newGated(h, actor.MailboxConfig{})
		var want []any
		for i := range 5000 {
			must(t, g.ref.Tell(i))
			want = append(want, i)
		}
		g.open(h)
		g.want(t, want...)
	})
}

func TestDropNewest(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		g := newGated(h, actor.MailboxConfig{Capacity: 2, Policy: actor.DropNewest})
		h.do(func(ctx *actor.Context) {
			must(t, ctx.Tell(g.ref, 1))
			must(t, g.ref.Tell(2))
			wantBack(t, g.ref.Tell(3), 3, g.ref, actor.ErrFull)
			wantBack(t, ctx.Tell(g.ref, 4), 4, g.ref, actor.ErrFull)
		})
		g.open(h)
		g.want(t, 1, 2)
		must(t, g.ref.Tell(6))
		h.settle()
		g.want(t, 1, 2, 6)
		wantAll(t, h.dead())
		if st := h.sys.Stats(); st.Returned != 2 || st.Dropped != 0 {
			t.Errorf("%+v, want the two refused as Returned", st)
		}
	})
}

func TestDropOldest(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		g := newGated(h, actor.MailboxConfig{Capacity: 2, Policy: actor.DropOldest})
		for i := range 5 {
			must(t, g.ref.Tell(i))
		}
		for i, l := range h.letters {
			if l.Msg != i || l.Reason != actor.ErrDropped || l.To != g.ref {
				t.Errorf("dead letter %+v, want %d, dropped", l, i)
			}
		}
		if st := h.sys.Stats(); st.Dropped != 3 || st.DeadLetters != 3 {
			t.Errorf("%+v, want 3 dropped", st)
		}
		g.open(h)
		g.want(t, 3, 4)
	})
}

func TestGrow(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		for _, prio := range []func(any) int{nil, byNumber} {
			g := newGated(h, actor.MailboxConfig{Capacity: 2, Policy: actor.Grow, Priority: func(m any) int {
				if n, ok := m.(int); ok && prio != nil {
					return prio(n)
				}
				return 0
			}})
			var want []any
			for i := range 100 {
				must(t, g.ref.Tell(i))
				want = append(want, i)
			}
			g.open(h)
			g.want(t, want...)
		}
		wantAll(t, h.dead())
	})
}

// Smallest number first; equals in the order of arrival.
func TestPriority(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		prio := func(msg any) int {
			if n, ok := msg.(int); ok {
				return byNumber(n)
			}
			return -1
		}
		g := newGated(h, actor.MailboxConfig{Priority: prio})
		for _, m := range []int{31, 12, 25, 11, 32, 13, 21, -5, -15, 33} {
			must(t, g.ref.Tell(m))
		}
		g.open(h)
		g.want(t, -15, -5, 12, 11, 13, 25, 21, 31, 32, 33)

		// DropOldest drops the oldest of the least important.
		g = newGated(h, actor.MailboxConfig{Priority: prio, Capacity: 3, Policy: actor.DropOldest})
		for _, m := range []int{21, 31, 32} {
			must(t, g.ref.Tell(m))
		}
		must(t, g.ref.Tell(33))
		wantAll(t, h.dead(), 31)
		must(t, g.ref.Tell(41)) // less important than all that wait
		wantAll(t, h.dead(), 41)
		must(t, g.ref.Tell(11))
		must(t, g.ref.Tell(12))
		must(t, g.ref.Tell(13))
		wantAll(t, h.dead(), 32, 33, 21)
		must(t, g.ref.Tell(14))
		wantAll(t, h.dead(), 11)
		g.open(h)
		g.want(t, 12, 13, 14)

		// And all the others keep to it as well.
		g = newGated(h, actor.MailboxConfig{Priority: prio, Capacity: 3, Policy: actor.DropNewest})
		for _, m := range []int{21, 31, 11} {
			must(t, g.ref.Tell(m))
		}
		wantBack(t, g.ref.Tell(1), 1, g.ref, actor.ErrFull)
		g.open(h)
		g.want(t, 11, 21, 31)
	})
}

func TestBlock(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		if h.sys.Synchronous() {
			t.Skip("who waits runs actors meanwhile: TestBlockSynchronous")
		}
		g := newGated(h, actor.MailboxConfig{Capacity: 2, Policy: actor.Block})
		must(t, g.ref.Tell(1))
		must(t, g.ref.Tell(2))
		if n := h.sys.Stats().Returned; n != 0 {
			t.Errorf("%d returned", n)
		}
		// A context ends the wait.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		wantBack(t, g.ref.TellContext(ctx, 3), 3, g.ref, context.DeadlineExceeded)
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("TellContext returned after %v, want a minute", d)
		}
		wantBack(t, g.ref.TellContext(ctx, 3), 3, g.ref, context.DeadlineExceeded) // it had ended already
		// So does room, in order of arrival, for senders inside and outside.
		var sent journal
		for i := 4; i < 10; i++ {
			go func() {
				if i%2 == 0 {
					must(t, g.ref.Tell(i))
				} else {
					must(t, g.ref.TellContext(context.TODO(), i))
				}
				sent.add(i)
			}()
			synctest.Wait()
		}
		must(t, h.sys.UserGuardian().Tell(func(ctx *actor.Context) {
			must(t, ctx.Tell(g.ref, 10))
			must(t, ctx.TellContext(t.Context(), g.ref, 11))
		}))
		h.settle()
		sent.want(t)
		g.open(h)
		g.want(t, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11)
		if got := sent.got(); len(got) != 6 {
			t.Errorf("%v have been sent, want 6", got)
		}
		// With room, a context that has ended is not looked at.
		must(t, g.ref.TellContext(ctx, 12))
	})
}

// Whoever waits for room is told when the actor stops, and the message is
// theirs again.
func TestBlockEndsWithActor(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		if h.sys.Synchronous() {
			t.Skip("who waits runs actors meanwhile: TestBlockSynchronous")
		}
		g := newGated(h, actor.MailboxConfig{Capacity: 1, Policy: actor.Block})
		must(t, g.ref.Tell(1))
		var told journal
		for i := 2; i < 5; i++ {
			go func() {
				wantBack(t, g.ref.Tell(i), i, g.ref, actor.ErrStopped)
				told.add(i)
			}()
			synctest.Wait()
		}
		h.sys.Stop(g.ref)
		g.open(h)
		if n := len(told.got()); n != 3 {
			t.Errorf("%d of 3 senders were told", n)
		}
		g.want(t)
		wantAll(t, h.dead(), 1)
	})
}

// An actor that fills its own mailbox would wait for itself.
func TestBlockOnItself(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		p := props(func(ctx *actor.Context, msg any) error {
			if msg == 0 {
				must(t, ctx.Tell(ctx.Self(), 1))
				wantBack(t, ctx.Tell(ctx.Self(), 2), 2, ctx.Self(), actor.ErrFull)
				wantBack(t, ctx.TellContext(t.Context(), ctx.Self(), 3), 3, ctx.Self(), actor.ErrFull)
			}
			return nil
		})
		p.Mailbox = actor.MailboxConfig{Capacity: 1, Policy: actor.Block}
		r := h.spawn(p)
		must(t, r.Tell(0))
		h.settle()
	})
}

// On a synchronous dispatcher a sender that waits runs others; when none is
// left to run it says so.
func TestBlockSynchronous(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		if !h.sys.Synchronous() {
			t.Skip("for synchronous dispatchers")
		}
		var j journal
		blocking := func(next *actor.Ref) actor.Props {
			p := props(func(ctx *actor.Context, msg any) error {
				j.add(msg)
				if next == nil || msg.(int) >= 100 {
					return nil
				}
				for i := range 3 {
					if err := ctx.Tell(*next, msg.(int)*10+i); err != nil {
						j.add(err.(*actor.SendError).Reason)
					}
				}
				return nil
			})
			p.Mailbox = actor.MailboxConfig{Capacity: 1, Policy: actor.Block}
			return p
		}
		// From outside: the sender drives.
		sink := h.spawn(blocking(nil))
		for i := range 5 {
			must(t, sink.Tell(i))
		}
		wantAll(t, j.got(), 0, 1, 2, 3)
		h.settle()
		j.want(t, 0, 1, 2, 3, 4)
		// From inside, two deep.
		j = journal{}
		middle := h.spawn(blocking(&sink))
		first := h.spawn(blocking(&middle))
		must(t, first.Tell(1))
		h.settle()
		j.want(t, 1, 10, 100, 101, 11, 102, 110, 111, 112, 12, 120, 121, 122)
		// In a circle: nobody can make room.
		j = journal{}
		var back actor.Ref
		there := h.spawn(blocking(&back))
		back = h.spawn(blocking(&there))
		must(t, there.Tell(1))
		h.settle()
		seen := false
		for _, x := range j.got() {
			seen = seen || x == any(actor.ErrDeadlock)
		}
		if !seen {
			t.Errorf("two actors that wait for each other: %v, want an ErrDeadlock among it", j.got())
		}
		if errors.Is(actor.ErrDeadlock, actor.ErrFull) {
			t.Error("ErrDeadlock is ErrFull")
		}
	})
}

// After its throughput an actor lets others have a turn.
func TestThroughput(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		if !h.sys.Synchronous() {
			t.Skip("needs a known order")
		}
		var j journal
		var refs []actor.Ref
		for _, name := range []string{"a", "b"} {
			p := props(func(*actor.Context, any) error { j.add(name); return nil })
			p.Throughput = 3
			r := h.spawn(p)
			refs = append(refs, r)
		}
		for range 7 {
			for _, r := range refs {
				must(t, r.Tell(1))
			}
		}
		h.settle()
		var s strings.Builder
		for _, x := range j.got() {
			s.WriteString(x.(string))
		}
		if s.String() != "aaabbbaaabbbab" {
			t.Errorf("with a throughput of 3: %s", s.String())
		}
	})
}

func TestDefaultThroughput(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		if !h.sys.Synchronous() {
			t.Skip("needs a known order")
		}
		before, n := 0, 0
		busy := h.spawnFunc(func(*actor.Context, any) error { n++; return nil })
		quiet := h.spawnFunc(func(*actor.Context, any) error { before = n; return nil })
		for range 1000 {
			must(t, busy.Tell(1))
		}
		must(t, quiet.Tell(1))
		h.settle()
		if before != 300 {
			t.Errorf("the other one waited for %d messages, want 300", before)
		}
	})
}

// System messages overtake user messages, also those in a turn that has begun.
func TestSystemMessagesComeFirst(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		var parent actor.Ref
		h.do(func(ctx *actor.Context) {
			var err error
			parent, err = ctx.Spawn(props(func(ctx *actor.Context, msg any) error {
				j.add(msg)
				if msg == 1 {
					ctx.StopSelf()
				}
				return nil
			}))
			must(t, err)
			for i := range 3 {
				must(t, ctx.Tell(parent, i))
			}
		})
		j.want(t, 0, 1)
		wantAll(t, h.dead(), 2)
	})
}

func TestLen(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		for _, cfg := range []actor.MailboxConfig{{}, {Capacity: 10, Policy: actor.DropNewest}, {Priority: func(any) int { return 0 }}} {
			g := newGated(h, cfg)
			for i := range 7 {
				if n := g.ref.Backlog(); n != i {
					t.Errorf("%+v: Backlog = %d, want %d", cfg, n, i)
				}
				must(t, g.ref.Tell(i))
			}
			g.open(h)
			if n := g.ref.Backlog(); n != 0 {
				t.Errorf("%+v: Backlog = %d at the end", cfg, n)
			}
			must(t, g.ref.Tell(8))
			h.sys.Stop(g.ref)
			h.settle()
			if n := g.ref.Backlog(); n != 0 {
				t.Errorf("%+v: Backlog = %d of a stopped actor", cfg, n)
			}
		}
		if n := (actor.Ref{}).Backlog(); n != 0 {
			t.Errorf("nobody's Backlog = %d", n)
		}
	})
}
