package channel

import (
	"context"
	"errors"
	"math"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
)

// A rig is a system under test, of a test in a bubble.
type rig struct {
	*actortest.System
	t *testing.T
	d *Dispatcher
}

func newRig(t *testing.T) *rig {
	t.Helper()
	d := NewDispatcher()
	r := &rig{actortest.New(actor.Config{Dispatcher: d}, func(err error) { t.Error(err) }), t, d}
	r.do(func(*actor.Context) {})
	r.do(func(*actor.Context) {}) // from now on the guardian's goroutine stays
	return r
}

// do runs f in the guardian's turn, and waits until nothing happens any more.
func (r *rig) do(f func(*actor.Context)) {
	r.Send(r.UserGuardian(), f)
	synctest.Wait()
}

// spawn makes a child of the guardian, and waits until nothing happens any more.
func (r *rig) spawn(p actor.Props) (ref actor.Ref) {
	ref = r.Spawn(p)
	synctest.Wait()
	return ref
}

func (r *rig) shutdown() {
	r.t.Helper()
	if err := r.Shutdown(context.Background()); err != nil {
		r.t.Error(err)
	}
	if n := r.Stats().Workers; n != 0 {
		r.t.Errorf("%d workers after the end", n)
	}
}

// latest returns the box whose goroutine started last.
func (r *rig) latest() *box {
	k := <-r.d.registry
	b := k.newest
	r.d.registry <- k
	return b
}

// modeOf looks at a queue.
func modeOf(b *box) mode {
	q := b.take()
	defer b.put(q)
	return q.mode
}

// gated is an actor that waits at a gate in each message, and its box.
type gated struct {
	ref  actor.Ref
	box  *box
	gate chan struct{}
	got  []any
}

// gated spawns an actor whose goroutine is there to stay. It is in a handler,
// waiting at the gate, having got the message "busy".
func (r *rig) gated(m actor.MailboxConfig) *gated {
	r.t.Helper()
	g := &gated{gate: make(chan struct{})}
	p := actortest.Func(func(_ *actor.Context, msg any) error {
		if msg == "fail" {
			return errors.New("told to")
		}
		<-g.gate
		g.got = append(g.got, msg)
		return nil
	})
	p.Mailbox = m
	g.ref = r.spawn(p)
	for range 2 {
		r.Send(g.ref, "hello")
		synctest.Wait()
		g.box = r.latest()
		g.gate <- struct{}{}
		synctest.Wait()
	}
	g.got = nil
	r.Send(g.ref, "busy")
	synctest.Wait()
	return g
}

func (r *rig) wantGot(g *gated, want ...any) {
	r.t.Helper()
	if !slices.Equal(g.got, want) {
		r.t.Errorf("handled %v, want %v", g.got, want)
	}
}

func (r *rig) wantLetters(want ...any) {
	r.t.Helper()
	var got []any
	for _, l := range r.Letters() {
		got = append(got, l.Msg)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("dead letters %v, want %v", got, want)
	}
}

func (r *rig) wantBacklog(g *gated, want int) {
	r.t.Helper()
	if n := g.ref.Backlog(); n != want {
		r.t.Errorf("a backlog of %d, want %d", n, want)
	}
}

func numbers(from, to int) (list []any) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// TestGoroutines: an actor has none before its first message and none after
// it; from the second on it keeps one; and what has ended is still counted.
func TestGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		base := r.Stats()
		handled := 0
		ref := r.spawn(actortest.Func(func(*actor.Context, any) error { handled++; return nil }))
		idle := r.spawn(actortest.Func(func(*actor.Context, any) error { return nil }))
		for i, want := range []int{0, 0, 1, 1, 1} {
			if i > 0 {
				r.Send(ref, i)
				synctest.Wait()
			}
			if n := r.Stats().Workers - base.Workers; n != want {
				t.Errorf("%d goroutines after message %d, want %d", n, i, want)
			}
		}
		// Two turns of the guardian for the spawns, and the four above.
		st := r.Stats()
		if n := st.Messages - base.Messages; n != 6 || handled != 4 {
			t.Errorf("%d messages counted, want 6; %d handled, want 4", n, handled)
		}
		for name, n := range map[string]uint64{"turns": st.Turns - base.Turns, "parks": st.Parks - base.Parks, "wakes": st.Wakes - base.Wakes} {
			if n != 6 {
				t.Errorf("%d %s counted, want 6", n, name)
			}
		}
		r.Stop(idle) // it has never had a goroutine
		synctest.Wait()
		if n := r.Stats().Actors - base.Actors; n != 1 {
			t.Errorf("%d actors are left, want 1", n)
		}
		r.shutdown()
	})
}

// TestYieldsAreNoParks: a turn that ends because the actor has had its share is
// not followed by sleep.
func TestYieldsAreNoParks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		p := actortest.Func(func(*actor.Context, any) error { return nil })
		p.Throughput = 1
		ref := r.spawn(p)
		base := r.Stats()
		r.do(func(ctx *actor.Context) {
			for i := range 10 {
				if err := ctx.Tell(ref, i); err != nil {
					t.Error(err)
				}
			}
		})
		st := r.Stats()
		turns, parks := st.Turns-base.Turns, st.Parks-base.Parks
		if turns < 11 || parks > turns-9 || parks < 2 { // two: the guardian, and the actor in the end
			t.Errorf("%d turns and %d parks: the actor had ten turns and went to sleep in few of them", turns, parks)
		}
		r.shutdown()
	})
}

// TestRegistry: a goroutine that ends leaves the others in the registry, wherever it
// stands there.
func TestRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		base := r.Stats().Workers
		var refs [3]actor.Ref
		for i := range refs {
			refs[i] = r.spawn(actortest.Func(func(*actor.Context, any) error { return nil }))
			for range 2 {
				r.Send(refs[i], i)
				synctest.Wait()
			}
		}
		for i, k := range []int{1, 2, 0} { // from the middle, the newest, the last
			r.Stop(refs[k])
			synctest.Wait()
			if n, want := r.Stats().Workers-base, 2-i; n != want {
				t.Errorf("%d goroutines after %d stops, want %d", n, i+1, want)
			}
			n := 0
			for b := r.latest(); b != nil; b = b.older {
				if b.older != nil && b.older.newer != b {
					t.Error("the registry's links do not agree")
				}
				n++
			}
			if want := base + 2 - i; n != want {
				t.Errorf("%d boxes in the registry, want %d", n, want)
			}
		}
		r.shutdown()
	})
}

// TestFlood: what finds the channel full goes to the overflow, all that comes
// later as well, in order and counted; the actor ends the flood when it has
// handled everything, and forgets a large one.
func TestFlood(t *testing.T) {
	for _, n := range []int{room, room + 1, room + 2, 5 * mailbox.Keep, 5*mailbox.Keep + 1} {
		more := n%2 == 1 // comes later; the slices change places once more then
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			g := r.gated(actor.MailboxConfig{})
			if m := modeOf(g.box); m != calm {
				t.Errorf("mode %d before the flood, want calm", m)
			}
			for i := range n {
				r.Send(g.ref, i)
			}
			want := flood
			if n <= room {
				want = calm
			}
			if m := modeOf(g.box); m != want {
				t.Errorf("mode %d after %d messages, want %d", m, n, want)
			}
			r.wantBacklog(g, n)
			if more {
				for range room + 2 { // until it has taken what is in the overflow
					g.gate <- struct{}{}
				}
				synctest.Wait()
				if n > room+1 { // and is in the turn with it
					r.wantBacklog(g, n-room)
				}
				r.Send(g.ref, n)
				n++
			}
			close(g.gate)
			synctest.Wait()
			r.wantGot(g, append([]any{"busy"}, numbers(0, n)...)...)
			r.wantBacklog(g, 0)
			if m := modeOf(g.box); m != calm {
				t.Errorf("mode %d after the flood, want calm", m)
			}
			if c := max(cap(g.box.out), cap(g.box.overflow.msgs)); c > mailbox.Keep {
				t.Errorf("room for %d messages is kept", c)
			}
			r.shutdown()
		})
	}
}

// TestGrowKeeps: a mailbox that grows keeps the room that was asked for.
func TestGrowKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4 * mailbox.Keep
		r := newRig(t)
		g := r.gated(actor.MailboxConfig{Policy: actor.Grow, Capacity: n})
		for i := range n {
			r.Send(g.ref, i)
		}
		close(g.gate)
		synctest.Wait()
		if c := max(cap(g.box.out), cap(g.box.overflow.msgs)); c < n-room {
			t.Errorf("room for %d messages is left, of %d", c, n-room)
		}
		r.shutdown()
	})
}

// TestChannelBeforeOverflow: a sender that had looked at calm before the flood
// may fill the channel during it. What it sent may be older than what is in the
// overflow, from the same sender, so it is handled first.
func TestChannelBeforeOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := r.gated(actor.MailboxConfig{})
		for i := range room + 2 {
			r.Send(g.ref, i)
		}
		q := g.box.take() // the actor waits for it with an empty channel
		close(g.gate)
		synctest.Wait()
		g.box.in <- "late"
		g.box.in <- theMark
		q.rung = true
		g.box.put(q)
		synctest.Wait()
		want := append([]any{"busy"}, numbers(0, room)...)
		r.wantGot(g, append(want, "late", room, room+1)...)
		if q := g.box.take(); q.rung {
			t.Error("the mark has been received, and the queue says that it is in the channel")
		} else {
			g.box.put(q)
		}
		r.shutdown()
	})
}

// TestMark: there is one mark, which is not counted as a message, and needs no
// room in a full channel.
func TestMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := r.gated(actor.MailboxConfig{})
		b := g.box
		b.Wake(b) // it looks after its turn
		if n := len(b.in); n != 0 {
			t.Errorf("%d marks for an actor that wakes itself", n)
		}
		for range 3 {
			b.Wake(nil)
		}
		if n := len(b.in); n != 1 {
			t.Errorf("%d marks in the channel, want 1", n)
		}
		r.wantBacklog(g, 0)
		r.Send(g.ref, 1)
		r.wantBacklog(g, 1)
		g.gate <- struct{}{}
		g.gate <- struct{}{}
		synctest.Wait()
		r.wantGot(g, "busy", 1)
		r.Send(g.ref, 2)
		synctest.Wait()
		for i := range room {
			r.Send(g.ref, i)
		}
		b.Wake(nil)
		r.wantBacklog(g, room)
		if q := b.take(); q.rung {
			t.Error("the mark found room in a full channel")
		} else {
			b.put(q)
		}
		close(g.gate)
		synctest.Wait()
		b.Wake(nil) // a wake-up without a reason does no harm
		synctest.Wait()
		if n := len(b.in); n != 0 {
			t.Errorf("%d marks are left", n)
		}
		r.shutdown()
	})
}

// TestSuspended: the messages of an actor that waits for its parent's decision
// are counted, those of senders that were about to use the channel, too, and
// they are undelivered in order.
func TestSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := r.gated(actor.MailboxConfig{})
		for _, msg := range []any{"fail", 1, 2} {
			r.Send(g.ref, msg)
		}
		parent := make(chan struct{})
		r.do(func(*actor.Context) { <-parent })
		g.gate <- struct{}{}
		synctest.Wait()
		r.wantBacklog(g, 2)
		g.box.in <- 3
		synctest.Wait()
		r.Send(g.ref, 4)
		g.box.in <- 5 // from another sender than 4
		synctest.Wait()
		r.wantBacklog(g, 5)
		close(parent)
		synctest.Wait()
		r.wantLetters("fail", 1, 2, 3, 5, 4)
		r.shutdown()
	})
}

// TestSuspendedFirst: so are those of an actor whose first goroutine it is.
func TestSuspendedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		gate := make(chan struct{})
		ref := r.spawn(actortest.Func(func(*actor.Context, any) error { <-gate; return errors.New("told to") }))
		for i := range 3 {
			r.Send(ref, i)
		}
		parent := make(chan struct{})
		r.do(func(*actor.Context) { <-parent })
		close(gate)
		synctest.Wait()
		r.Send(ref, 3)
		if n := ref.Backlog(); n != 3 {
			t.Errorf("a backlog of %d, want 3", n)
		}
		close(parent)
		synctest.Wait()
		r.wantLetters(0, 1, 2, 3)
		r.shutdown()
	})
}

// TestSuspendedAwake: an actor that is suspended when a message has just woken it has
// that message waiting, whatever its mailbox is.
func TestSuspendedAwake(t *testing.T) {
	for name, m := range map[string]actor.MailboxConfig{
		"overflow": {},
		"channel":  {Policy: actor.DropNewest, Capacity: 1},
		"ordered":  {Policy: actor.DropNewest, Capacity: 1, Priority: func(any) int { return 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				handled := 0
				p := actortest.Func(func(*actor.Context, any) error { handled++; return nil })
				p.Mailbox = m
				ref := r.spawn(p)
				synctest.Wait() // it sleeps
				base := r.Stats()
				r.Send(ref, 1)
				r.Suspend(ref, actor.Suspension{})
				synctest.Wait()
				if n := ref.Backlog() + handled; n != 1 {
					t.Errorf("of one message %d wait or were handled", n)
				}
				if n := r.Stats().Messages - base.Messages; n != uint64(handled) {
					t.Errorf("%d messages are counted, and %d were handled", n, handled)
				}
				r.Resume(ref)
				synctest.Wait()
				if n := ref.Backlog(); n != 0 || handled != 1 {
					t.Errorf("%d messages wait of 1 that was handled %d times", n, handled)
				}
				r.shutdown()
			})
		})
	}
}

// TestSuspendedStays: an actor that was suspended in its first turn keeps its goroutine, since from
// then on senders use the channel; and what came beside the overflow meanwhile is handled once.
func TestSuspendedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		gate, got := make(chan struct{}), []any(nil)
		ref := r.spawn(actortest.Func(func(_ *actor.Context, msg any) error {
			<-gate
			got = append(got, msg)
			return nil
		}))
		base := r.Stats()
		r.Send(ref, 1)
		synctest.Wait()
		b := r.latest()
		r.Suspend(ref, actor.Suspension{})
		close(gate)
		synctest.Wait()
		if st := r.Stats(); st.Messages-base.Messages != 1 {
			t.Errorf("%d messages of a suspended actor are counted, want 1", st.Messages-base.Messages)
		}
		b.first, b.woken = 2, true // as if it had just been woken by that
		b.in <- 3
		synctest.Wait()
		if n := ref.Backlog(); n != 2 {
			t.Errorf("a backlog of %d, want 2", n)
		}
		r.Resume(ref)
		synctest.Wait()
		if want := []any{1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("handled %v, want %v", got, want)
		}
		if m, n := modeOf(b), r.Stats().Workers-base.Workers; m != calm || n != 1 {
			t.Errorf("mode %d and %d goroutines, want calm and 1", m, n)
		}
		r.shutdown()
	})
}

// TestLateSends: what a sender that was about to use the channel puts there
// while the actor stops is undelivered, and afterwards it does not get it in.
func TestLateSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := r.gated(actor.MailboxConfig{})
		r.Send(g.ref, 1)
		r.Stop(g.ref)
		b := g.box
		q := b.take() // the actor waits for it in Close
		close(g.gate)
		synctest.Wait()
		b.in <- 2
		b.put(q)
		synctest.Wait()
		r.wantGot(g, "busy")
		r.wantLetters(1, 2)
		r.wantBacklog(g, 0) // there are only marks
		select {
		case b.in <- "late":
			t.Error("a message got into the channel of an actor that has stopped")
		default:
		}
		for len(b.in) > 0 {
			if msg := <-b.in; !isMark(msg) {
				t.Errorf("%v was left in the channel", msg)
			}
		}
		b.in <- 3
		b.fillUp() // finds what came between its look and its marks
		r.wantLetters(3)
		for len(b.in) > 0 {
			<-b.in
		}
		b.in <- theMark
		b.in <- 4
		b.seal() // finds both
		r.wantLetters(4)
		if q := b.take(); !q.rung {
			t.Error("a wake-up may put one more mark into the channel")
		} else {
			b.put(q)
		}
		if err := g.ref.Tell(5); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("Tell: %v, want ErrStopped", err)
		}
		b.Wake(nil)
		r.shutdown()
	})
}

// TestOverflowEnds: what an actor that stops has in its overflow is undelivered, and the
// mailbox keeps none of it.
func TestOverflowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := r.gated(actor.MailboxConfig{})
		all := numbers(0, 3*room)
		for _, n := range all {
			r.Send(g.ref, n)
		}
		r.Stop(g.ref)
		close(g.gate)
		synctest.Wait()
		r.wantGot(g, "busy")
		if n := len(r.Letters()); n != len(all) {
			t.Errorf("%d dead letters, want %d", n, len(all))
		}
		r.wantBacklog(g, 0)
		if q := g.box.take(); q.msgs != nil || g.box.out != nil {
			t.Errorf("a mailbox that is closed keeps %d messages", len(q.msgs)+len(g.box.out))
		}
		r.shutdown()
	})
}

// TestLateSendsOfChildren: the same while an actor waits for its children.
func TestLateSendsOfChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		gate := make(chan struct{})
		child := actortest.Func(func(*actor.Context, any) error { <-gate; return nil })
		ref := r.spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
			if msg == "spawn" {
				c, err := ctx.Spawn(child)
				if err != nil {
					return err
				}
				return ctx.Tell(c, msg)
			}
			return nil
		}))
		r.Send(ref, 0)
		synctest.Wait()
		r.Send(ref, 1)
		synctest.Wait()
		b := r.latest()
		r.Send(ref, "spawn")
		synctest.Wait()
		r.Stop(ref)
		synctest.Wait()
		b.in <- "late"
		synctest.Wait()
		r.wantLetters("late")
		close(gate)
		synctest.Wait()
		r.wantLetters()
		r.shutdown()
	})
}

// TestSeal: senders that had looked at calm before go on while the actor stops.
// Each of their messages is handled, undelivered, or not accepted.
func TestSeal(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			var handled, accepted atomic.Int64
			ref := r.spawn(actortest.Func(func(*actor.Context, any) error { handled.Add(1); return nil }))
			for range 2 {
				r.Send(ref, 0)
				synctest.Wait()
			}
			accepted.Add(2)
			b := r.latest()
			for range 3 {
				go func() {
					for range 300 {
						select {
						case b.in <- 1:
							accepted.Add(1)
						default:
							runtime.Gosched()
						}
					}
				}()
			}
			r.Stop(ref)
			synctest.Wait()
			if undelivered := int64(len(r.Letters())); handled.Load()+undelivered != accepted.Load() {
				t.Errorf("%d messages accepted, %d handled and %d undelivered", accepted.Load(), handled.Load(), undelivered)
			}
			for len(b.in) > 0 {
				if msg := <-b.in; !isMark(msg) {
					t.Errorf("%v was left in the channel", msg)
				}
			}
			r.shutdown()
		})
	}
}

// TestBirth: messages and wake-ups that race with the start and the end of the
// first goroutine are found, by one goroutine.
func TestBirth(t *testing.T) {
	const senders, each = 3, 3
	for i := range 300 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			base := r.Stats().Workers
			busy, handled, last := atomic.Int32{}, 0, [senders]int{}
			ref := r.spawn(actortest.Func(func(_ *actor.Context, msg any) error {
				if busy.Add(1) != 1 {
					t.Error("two goroutines in one actor")
				}
				m := msg.([2]int)
				if m[1] != last[m[0]]+1 {
					t.Errorf("message %d of sender %d came after %d", m[1], m[0], last[m[0]])
				}
				last[m[0]] = m[1]
				handled++
				busy.Add(-1)
				return nil
			}))
			for s := range senders {
				go func() {
					for k := range each {
						r.Send(ref, [2]int{s, k + 1})
						for range (s + k + i) % 3 {
							runtime.Gosched()
						}
					}
				}()
			}
			synctest.Wait()
			if handled != senders*each {
				t.Errorf("%d messages handled of %d", handled, senders*each)
			}
			if n := r.Stats().Workers - base; n > 1 {
				t.Errorf("%d goroutines for one actor", n)
			}
			go r.Stop(ref)
			r.shutdown()
		})
	}
}

// TestIdleGoroutineEnds: an actor that has had no turn from one sweep to the next has no goroutine
// and keeps no buffers; what comes then is handled, in order, and the goroutine stays again. Those
// that are suspended, or have a mailbox that is a channel, keep theirs. When nothing is left to
// sweep, nothing does.
func TestIdleGoroutineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := r.gated(actor.MailboxConfig{})
		for _, m := range numbers(1, 30) {
			r.Send(g.ref, m)
		}
		time.Sleep(10 * restAfter) // in a turn
		if m := modeOf(g.box); m != flood {
			t.Fatalf("with messages it is in mode %d", m)
		}
		close(g.gate)
		synctest.Wait()
		if m := modeOf(g.box); m != calm {
			t.Fatalf("when it has handled them it is in mode %d", m)
		}
		for again := range 3 {
			time.Sleep(3 * restAfter)
			if m := modeOf(g.box); m != resting || len(g.box.in) != cap(g.box.in) || g.box.out != nil || cap(g.box.overflow.msgs) > 0 {
				t.Fatalf("idle it is in mode %d with %d marks", m, len(g.box.in))
			}
			r.wantBacklog(g, 0)
			if st := r.Stats(); st.Workers != 0 {
				t.Errorf("%d goroutines of an idle system", st.Workers)
			}
			k := <-r.d.registry
			if k.timer != nil {
				t.Error("an idle system looks for idle actors")
			}
			r.d.registry <- k
			g.got = nil
			r.Send(g.ref, again)
			synctest.Wait()
			r.wantGot(g, again)
			if m := modeOf(g.box); m != calm || len(g.box.in) != 0 {
				t.Errorf("after a message it is in mode %d with %d in its channel", m, len(g.box.in))
			}
		}
		r.System.Suspend(g.ref, actor.Suspension{})
		bounded := r.gated(actor.MailboxConfig{Capacity: 3, Policy: actor.Block})
		close(bounded.gate)
		time.Sleep(10 * restAfter)
		if n := r.Stats().Workers; n != 2 {
			t.Errorf("%d goroutines, want that of the suspended actor and that of the bounded one", n)
		}
		r.System.Resume(g.ref)
		time.Sleep(3 * restAfter)
		if m := modeOf(g.box); m != resting {
			t.Errorf("after its suspension it is in mode %d", m)
		}
		r.Stop(g.ref)
		r.shutdown()
	})
}

// TestSweepAtTheEnd: a dispatcher that is stopped while it looks for idle actors says that it is
// done when it has looked.
func TestSweepAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcher()
		b := newBox(d, actor.MailboxConfig{})
		d.enter(b)
		done := false
		k := <-d.registry
		k.timer.Stop()
		k.timer, k.done = time.AfterFunc(0, func() {}), func() { done = true }
		d.registry <- k
		synctest.Wait() // the timer has run, as at the beginning of a sweep
		if d.leave(b); done {
			t.Error("it is done in the middle of a sweep")
		}
		if d.sweep(); !done || k.timer != nil {
			t.Error("it is not done after the sweep")
		}
	})
}

// TestPlug: a message that comes before the channel is full is kept, and so is the goroutine; and
// what an actor that rested does not count are marks.
func TestPlug(t *testing.T) {
	b := newBox(NewDispatcher(), actor.MailboxConfig{})
	q := b.take()
	b.in <- "late"
	if b.plug(q) || !slices.Equal(b.out, []any{"late"}) || q.held != 1 || len(b.in) != 0 {
		t.Errorf("a late message: %v, %d held, %d in the channel", b.out, q.held, len(b.in))
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := r.gated(actor.MailboxConfig{})
		g.gate <- struct{}{}
		time.Sleep(3 * restAfter)
		r.Send(g.ref, "again")
		synctest.Wait()
		r.wantBacklog(g, 0) // it is in the handler
		close(g.gate)
		r.shutdown()
	})
}

// TestRestRaces: messages, wake-ups and a stop that race with an idle actor's rest are found, by
// one goroutine, in order.
func TestRestRaces(t *testing.T) {
	const senders, each = 3, 40
	for i := range 100 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			busy, handled, last := atomic.Int32{}, 0, [senders]int{}
			ref := r.spawn(actortest.Func(func(_ *actor.Context, msg any) error {
				if busy.Add(1) != 1 {
					t.Error("two goroutines in one actor")
				}
				if m, ok := msg.([2]int); ok {
					if m[1] != last[m[0]]+1 {
						t.Errorf("message %d of sender %d came after %d", m[1], m[0], last[m[0]])
					}
					last[m[0]] = m[1]
					handled++
				}
				busy.Add(-1)
				return nil
			}))
			r.Send(ref, "once")
			synctest.Wait()
			r.Send(ref, "twice")
			synctest.Wait()
			b := r.latest()
			stop := make(chan struct{})
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
						b.nudge()
						runtime.Gosched()
					}
				}
			}()
			var sent sync.WaitGroup
			for s := range senders {
				sent.Go(func() {
					for k := range each {
						r.Send(ref, [2]int{s, k + 1})
						for range (s + k + i) % 5 {
							runtime.Gosched()
						}
						if k%7 == s {
							r.System.Resume(ref) // wakes it
						}
					}
				})
			}
			sent.Wait()
			close(stop)
			synctest.Wait()
			if handled != senders*each {
				t.Errorf("%d messages handled of %d, in mode %d", handled, senders*each, modeOf(b))
			}
			go r.Stop(ref)
			r.shutdown()
		})
	}
}

// TestSecondThoughts: a first goroutine that is about to end goes on if there is
// something to do, although it is out of the registry.
func TestSecondThoughts(t *testing.T) {
	for name, do := range map[string]func(r *rig, ref actor.Ref){
		"message": func(r *rig, ref actor.Ref) { r.Send(ref, "second") },
		"stop":    func(r *rig, ref actor.Ref) { r.Stop(ref) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				base := r.Stats()
				gate := make(chan struct{})
				ref := r.spawn(actortest.Func(func(*actor.Context, any) error { <-gate; return nil }))
				r.Send(ref, "first")
				synctest.Wait()
				k := <-r.d.registry // it waits for them on its way out
				close(gate)
				synctest.Wait()
				do(r, ref)
				r.d.registry <- k
				synctest.Wait()
				st := r.Stats()
				switch name {
				case "message":
					if n := st.Workers - base.Workers; n != 1 || st.Messages-base.Messages != 3 {
						t.Errorf("%d goroutines after it and %d messages, want 1 and 3", n, st.Messages-base.Messages)
					}
				case "stop":
					if st.Actors != base.Actors || st.Workers != base.Workers {
						t.Error("the actor has not stopped")
					}
				}
				r.shutdown()
			})
		})
	}
}

// TestLateWake: who has queued a system message may wake the actor only when that
// was handled and the actor has gone to rest. If a goroutine started for that it
// would sleep at the channel, and the next message be in the overflow for ever.
func TestLateWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		base := r.Stats()
		gate := make(chan struct{})
		ref := r.spawn(actortest.Func(func(*actor.Context, any) error { <-gate; return nil }))
		r.Send(ref, "first")
		synctest.Wait()
		b := r.latest()
		close(gate)
		synctest.Wait()
		if m := modeOf(b); m != resting {
			t.Fatalf("the actor is in mode %d, want that it rests", m)
		}
		b.Wake(nil)
		synctest.Wait()
		if n := r.Stats().Workers - base.Workers; n != 0 {
			t.Errorf("%d goroutines for nothing", n)
		}
		r.Send(ref, "second")
		synctest.Wait()
		if n := ref.Backlog(); n != 0 {
			t.Errorf("%d messages that are not handled", n)
		}
		r.shutdown()
	})
}

// TestBoundedLen: a bounded mailbox knows how much waits, and nothing does when
// it is closed.
func TestBoundedLen(t *testing.T) {
	for name, m := range map[string]actor.MailboxConfig{
		"channel": {Policy: actor.DropNewest, Capacity: 10},
		"ordered": {Policy: actor.DropNewest, Capacity: 10, Priority: func(any) int { return 0 }},
		"large":   {Policy: actor.DropNewest, Capacity: most + 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				g := r.gated(m)
				for i := range 3 {
					r.Send(g.ref, i)
				}
				r.wantBacklog(g, 3)
				r.Stop(g.ref)
				close(g.gate)
				synctest.Wait()
				r.wantBacklog(g, 0)
				r.wantLetters(0, 1, 2)
				r.shutdown()
			})
		})
	}
}

// TestWaitEnds: a wait for room ends with the actor or with its context, and
// does not begin if the context has ended.
func TestWaitEnds(t *testing.T) {
	for name, priority := range map[string]func(any) int{"channel": nil, "ordered": func(any) int { return 0 }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				g := r.gated(actor.MailboxConfig{Policy: actor.Block, Capacity: 1, Priority: priority})
				r.Send(g.ref, 0)
				ended, cancel := context.WithCancel(t.Context())
				answers := make(chan error, 2)
				for _, ctx := range []context.Context{ended, context.Background()} {
					go func() { answers <- g.ref.TellContext(ctx, "waits") }()
				}
				synctest.Wait()
				cancel()
				if err := <-answers; !errors.Is(err, context.Canceled) {
					t.Errorf("TellContext: %v, want Canceled", err)
				}
				if err := g.ref.TellContext(ended, "waits"); !errors.Is(err, context.Canceled) {
					t.Errorf("TellContext: %v, want Canceled", err)
				}
				r.Stop(g.ref)
				close(g.gate)
				if err := <-answers; !errors.Is(err, actor.ErrStopped) {
					t.Errorf("TellContext: %v, want ErrStopped", err)
				}
				synctest.Wait() // as it closes it may take one message more, as a dead letter
				// The answer of a mailbox that closes after it said it was full.
				if err := g.box.SendWait(t.Context(), "late", nil); !errors.Is(err, actor.ErrStopped) {
					t.Errorf("SendWait: %v, want ErrStopped", err)
				}
				r.wantLetters(0)
				r.shutdown()
			})
		})
	}
}

// TestRoomAfterFull: a mailbox that has got room between the two calls takes
// the message at once, and only once.
func TestRoomAfterFull(t *testing.T) {
	for _, priority := range []func(any) int{nil, func(any) int { return 0 }} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			g := r.gated(actor.MailboxConfig{Policy: actor.Block, Capacity: 1, Priority: priority})
			close(g.gate)
			synctest.Wait() // it sleeps
			if err := g.box.SendWait(t.Context(), 1, nil); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			r.wantGot(g, "busy", 1)
			r.shutdown()
		})
	}
}

// TestAnsweredAndEnded: a call that finds its context ended, and that its mailbox has closed first,
// says that.
func TestAnsweredAndEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox(NewDispatcher(), actor.MailboxConfig{Policy: actor.Block, Capacity: 1, Priority: func(any) int { return 0 }})
		b.Send(1, nil)
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error)
		go func() { answer <- b.SendWait(ctx, 2, nil) }()
		synctest.Wait()
		q := <-b.ordered.turn // it waits for that when its context has ended
		cancel()
		synctest.Wait()
		q.Close()
		b.ordered.turn <- q
		if err := <-answer; !errors.Is(err, actor.ErrStopped) {
			t.Errorf("SendWait: %v, want %v", err, actor.ErrStopped)
		}
	})
}

// TestStays: sleep is counted for each turn after which there was some.
func TestStays(t *testing.T) {
	b := newBox(NewDispatcher(), actor.MailboxConfig{})
	for turns, want := range []uint64{0, 1, 2} {
		b.tally.Turns = uint64(turns)
		if b.stay(); b.tally.Parks != want {
			t.Errorf("after %d turns the goroutine has gone on %d times, want %d", turns, b.tally.Parks, want)
		}
	}
}

// TestSendersWaitInLine: who finds the queue away for long lets go of its processor, which
// the goroutine that has the queue may need.
func TestSendersWaitInLine(t *testing.T) {
	b := newBox(NewDispatcher(), actor.MailboxConfig{})
	q := b.take()
	taken := make(chan *overflow)
	go func() { taken <- b.take() }()
	waits := regexp.MustCompile(`\[select\]:\n(?:.+\n)*.*\(\*box\)\.take\(`)
	stacks := make([]byte, 1<<20)
	for end := time.Now().Add(30 * time.Second); !waits.Match(stacks[:runtime.Stack(stacks, true)]); {
		if time.Now().After(end) {
			t.Fatal("after 30 s the goroutine still looks for the queue")
		}
		runtime.Gosched()
	}
	b.put(q)
	if got := <-taken; got != q {
		t.Errorf("took %p, want %p", got, q)
	}
}

// TestDispatcherInvariants: each broken state is reported by its rule, in
// builds that check.
func TestDispatcherInvariants(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	d := NewDispatcher()
	b := newBox(d, actor.MailboxConfig{})
	for rule, breakIt := range map[string]func(){
		"an overflow that is not used is empty":                  func() { b.put(&overflow{mode: calm, held: 1}) },
		"the actor in whose turn Stop is called has a goroutine": func() { d.Stop(func() {}) },
	} {
		func() {
			defer func() {
				want := "channel: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			breakIt()
		}()
	}
}

// A capacity is a bound, and no memory until messages come.
func TestMailboxOfAnyCapacity(t *testing.T) {
	b := NewDispatcher().Attach(actor.MailboxConfig{Policy: actor.Block, Capacity: math.MaxInt}).(*box)
	if n := cap(b.in); n > most {
		t.Errorf("there are %d places for messages, want %d at most", n, most)
	}
}
