package actor_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
)

// note is an event: the n-th of a publisher.
type note struct{ from, n int }

// rest fetches what is there.
func rest[E any](s *actor.Subscription[E]) (got []any) {
	for {
		ev, ok := s.TryNext()
		if !ok {
			return got
		}
		got = append(got, ev)
	}
}

// lateEnd is a context that ends when it is asked for its channel, after an event
// has come: Next has seen that there is none then, and finds both.
type lateEnd struct {
	context.Context
	publish func()
}

func (c lateEnd) Done() <-chan struct{} {
	c.publish()
	return c.Context.Done()
}

// TestEventWinsOverContext: what was published before the context ended is
// returned, even if the waiter finds both.
func TestEventWinsOverContext(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var e actor.EventStream
	s := actor.Subscribe[int](&e, 1)
	for i := range 100 { // select takes one or the other
		if n, err := s.Next(lateEnd{ended, func() { e.Publish(i) }}); n != i || err != nil {
			t.Fatalf("Next returned %d, %v, want %d", n, err, i)
		}
	}
}

// TestSeveralWait: no goroutine goes on waiting while there is an event.
func TestSeveralWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e actor.EventStream
		s := actor.Subscribe[int](&e, 100)
		var got, over atomic.Int64
		for range 8 {
			go func() {
				if _, err := s.Next(context.Background()); err == nil {
					got.Add(1)
				} else {
					over.Add(1)
				}
			}()
		}
		synctest.Wait()
		for i := range 5 { // at once: who waits is told of several at a time
			e.Publish(i)
		}
		synctest.Wait()
		if got.Load() != 5 {
			t.Errorf("%d of 8 that wait have got one of 5 events", got.Load())
		}
		s.Unsubscribe()
		synctest.Wait()
		if over.Load() != 3 {
			t.Errorf("%d of the other 3 have ended", over.Load())
		}
	})
}

// TestSubscribersComeAndGo: what is published between a Subscribe and an
// Unsubscribe comes, what is published after it does not, and others notice
// nothing.
func TestSubscribersComeAndGo(t *testing.T) {
	var e actor.EventStream
	const publishers, each = 2, 3000
	stays := actor.Subscribe[note](&e, publishers*each)
	var wg sync.WaitGroup
	for from := range publishers {
		wg.Go(func() {
			for n := range each {
				e.Publish(note{from, n})
			}
		})
	}
	for i := range 4 {
		wg.Go(func() {
			for range 500 {
				s := actor.Subscribe[any](&e, 2)
				f := actor.SubscribeFunc(&e, func(int) {})
				e.Publish(i + 1)
				wg := sync.WaitGroup{}
				wg.Go(s.Unsubscribe)
				f.Unsubscribe()
				s.Unsubscribe()
				wg.Wait()
				n, lost := len(rest(s)), s.Lost()
				if n == 0 {
					t.Error("an event that was published after Subscribe has not come")
				}
				e.Publish(-i)
				if len(rest(s)) != 0 || s.Lost() != lost {
					t.Error("an event has come after Unsubscribe")
				}
			}
		})
	}
	wg.Wait()
	if n, lost := len(rest(stays)), stays.Lost(); n != publishers*each || lost != 0 {
		t.Errorf("who stays has got %d events and lost %d of %d", n, lost, publishers*each)
	}
}

// TestUnsubscribedWhilePublishing: the listener called first ends the others, which
// are not told any more.
func TestUnsubscribedWhilePublishing(t *testing.T) {
	var e actor.EventStream
	var s *actor.Subscription[int]
	var f *actor.Listener
	actor.SubscribeFunc(&e, func(int) {
		s.Unsubscribe()
		f.Unsubscribe()
	})
	s = actor.Subscribe[int](&e, 10)
	f = actor.SubscribeFunc(&e, func(int) { t.Error("the function was called after Unsubscribe") })
	e.Publish(1)
	if got := rest(s); got != nil {
		t.Errorf("%v has come after Unsubscribe", got)
	}
}

// mallocs returns how many allocations f makes; others may add a few.
func mallocs(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// TestPublishDoesNotAllocate: neither without subscribers nor with some.
func TestPublishDoesNotAllocate(t *testing.T) {
	const n = 10_000
	var ev any = note{1, 2}
	var e actor.EventStream
	publish := func() {
		for range n {
			e.Publish(ev)
		}
	}
	if got := mallocs(publish); got > n/100 {
		t.Errorf("%d allocations for %d events without subscribers", got, n)
	}
	s := actor.Subscribe[note](&e, 10)
	f := actor.SubscribeFunc(&e, func(note) {})
	if got := mallocs(publish); got > n/100 {
		t.Errorf("%d allocations for %d events for two", got, n)
	}
	s.Unsubscribe()
	f.Unsubscribe()
	if got := mallocs(publish); got > n/100 {
		t.Errorf("%d allocations for %d events that no subscriber gets any more", got, n)
	}
}

// TestWithoutListeners: a system without a listener makes no events. What a
// refused message costs is its error.
func TestWithoutListeners(t *testing.T) {
	for _, listen := range []bool{false, true} {
		stopped := make(chan actor.Ref)
		sys, err := actor.NewSystem(actor.Config{
			Dispatcher: lockbased.NewDispatcher(), KeepDeadLetters: 1,
			Guardian: actortest.Func(func(ctx *actor.Context, _ any) error {
				r, err := ctx.Spawn(idler)
				ctx.Stop(r)
				stopped <- r
				return err
			}),
		})
		must(t, err)
		must(t, sys.UserGuardian().Tell(1))
		r := <-stopped
		for r.Tell(1) == nil {
			runtime.Gosched()
		}
		const n = 1000
		if listen {
			actor.Subscribe[actor.DeadLetter](sys.Events(), 1)
		}
		got := mallocs(func() {
			for range n {
				_ = r.Tell(1)
			}
		})
		if listen && got < 2*n {
			t.Fatalf("%d allocations for %d events: the test sees nothing", got, n)
		}
		if !listen && got > n+n/10 {
			t.Errorf("%d allocations for %d refused messages", got, n)
		}
		must(t, sys.Shutdown(context.Background()))
	}
}

// TestLetterIsAnswered: who reads dead letters, in the call, may answer a question in the place
// of its actor; what is not answered so has no answer.
func TestLetterIsAnswered(t *testing.T) {
	for _, keep := range []int{0, -1} {
		type question struct{ actor.ReplyTo }
		sys, err := actor.NewSystem(actor.Config{
			Dispatcher: serial.NewDispatcher(), Guardian: idler, KeepDeadLetters: keep,
			DeadLetters: func(l actor.DeadLetter) {
				if _, ok := l.Msg.(question); ok {
					must(t, l.ReplyTo.Tell("found"))
				}
			},
		})
		must(t, err)
		f := sys.Ask(sys.UserGuardian(), 0, func(to actor.ReplyTo) any { return question{to} })
		g := sys.Ask(sys.UserGuardian(), 0, func(to actor.ReplyTo) any { return to })
		must(t, sys.Tell(sys.UserGuardian().PID(), 1))
		sys.Stop(sys.UserGuardian())
		sys.RunUntilIdle()
		if msg, _, err := f.Poll(); msg != "found" || err != nil {
			t.Errorf("a question that was answered for its actor: %v, %v", msg, err)
		}
		if msg, _, err := g.Poll(); msg != nil || err != actor.ErrStopped {
			t.Errorf("one that was not: %v, %v", msg, err)
		}
	}
}

// opened is a message in a box that counts how often it was opened.
type opened struct{ times *int }

func (o opened) Unbox() any { *o.times++; return nil }

// A dead letter is made out when there is a reader for it: a mailbox that drops may drop most of
// what comes.
func TestWithoutReadersOfDeadLetters(t *testing.T) {
	hook := func(actor.DeadLetter) {}
	for _, c := range []struct {
		what   string
		config actor.Config
		listen bool
		want   int
	}{
		{"no reader", actor.Config{KeepDeadLetters: -1}, false, 0},
		{"kept", actor.Config{KeepDeadLetters: 1}, false, 1},
		{"a function", actor.Config{KeepDeadLetters: -1, DeadLetters: hook}, false, 1},
		{"a subscriber", actor.Config{KeepDeadLetters: -1}, true, 1},
	} {
		c.config.Dispatcher, c.config.Guardian = serial.NewDispatcher(), idler
		c.config.Guardian.Mailbox = actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 1}
		sys, err := actor.NewSystem(c.config)
		must(t, err)
		if c.listen {
			actor.Subscribe[actor.DeadLetter](sys.Events(), 1)
		}
		times := 0
		for range 2 { // the second takes the place of the first
			must(t, sys.UserGuardian().Tell(opened{&times}))
		}
		if n := sys.Stats().Dropped; n != 1 {
			t.Errorf("%s: %d messages were dropped, want 1", c.what, n)
		}
		if times != c.want {
			t.Errorf("%s: the message was opened %d times, want %d", c.what, times, c.want)
		}
		must(t, sys.Shutdown(context.Background()))
	}
}

func TestSubscribeFunc(t *testing.T) {
	var e actor.EventStream
	var before, got, after journal
	actor.SubscribeFunc(&e, func(ev any) { before.add(ev) })
	var l *actor.Listener
	l = actor.SubscribeFunc(&e, func(n int) {
		got.add(n)
		switch n {
		case 1:
			panic(errTest)
		case 2:
			panic(nil)
		case 3:
			runtime.Goexit()
		case 4:
			e.Publish("from inside")
			l.Unsubscribe()
			actor.SubscribeFunc(&e, func(n int) { after.add(n) })
		}
	})
	actor.SubscribeFunc(&e, func(ev any) { after.add(ev) })
	e.Publish(0)
	e.Publish(1) // not a panic of this goroutine
	e.Publish(2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Publish(3) // who calls Goexit ends the publisher, and that is all
	}()
	<-done
	if n := l.Lost(); n != 3 {
		t.Errorf("Lost is %d, want 3", n)
	}
	e.Publish(4)
	e.Publish(5)
	got.want(t, 0, 1, 2, 3, 4)
	before.want(t, 0, 1, 2, 3, 4, "from inside", 5)
	after.want(t, 0, 1, 2, "from inside", 4, 5, 5)
	if n := l.Lost(); n != 3 {
		t.Errorf("Lost is %d, want 3", n)
	}
}

// TestSubscribedActorIsFull: events that an actor has no room for are lost,
// whatever its policy, and who publishes does not wait.
func TestSubscribedActorIsFull(t *testing.T) {
	for _, tt := range []struct {
		mailbox actor.MailboxConfig
		backlog int
		got     []any
		lost    uint64
		dead    []any
	}{
		{actor.MailboxConfig{}, 2, []any{0, 1}, 3, nil},
		{actor.MailboxConfig{Policy: actor.Grow, Capacity: 1}, 2, []any{0, 1}, 3, nil},
		{actor.MailboxConfig{Policy: actor.Block, Capacity: 2}, 9, []any{0, 1}, 3, nil},
		{actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 2}, 9, []any{0, 1}, 3, nil},
		{actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 2}, 2, []any{0, 1}, 3, nil},
		{actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 2}, 9, []any{3, 4}, 0, []any{0, 1, 2}},
	} {
		t.Run(fmt.Sprint(tt.mailbox.Policy, " ", tt.backlog), func(t *testing.T) {
			bubbles(t, func(t *testing.T, h *host) {
				g := newGated(h, tt.mailbox)
				l := actor.SubscribeActor[int](h.System.Events(), g.ref, tt.backlog)
				h.do(func(*actor.Context) { // in a turn, or a synchronous system makes room
					for i := range 5 {
						h.System.Events().Publish(i)
					}
				})
				if n := l.Lost(); n != tt.lost {
					t.Errorf("Lost is %d, want %d", n, tt.lost)
				}
				wantAll(t, h.dead(), tt.dead...)
				g.open(h)
				g.want(t, tt.got...)
			})
		})
	}
}

// TestDeadLettersAsMessages: an actor that is told of dead letters, and has no
// room for them, makes no dead letters without end, nor do two of them.
func TestDeadLettersAsMessages(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		full := actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 2}
		a, b := newGated(h, full), newGated(h, full)
		all := actor.Subscribe[actor.DeadLetter](h.System.Events(), 100)
		la := actor.SubscribeActor[actor.DeadLetter](h.System.Events(), a.ref, 100)
		lb := actor.SubscribeActor[any](h.System.Events(), b.ref, 100)
		h.do(func(ctx *actor.Context) {
			for i := range 3 {
				must(t, ctx.Tell(a.ref, i)) // the third drops 0
			}
			must(t, ctx.Tell(b.ref, 3)) // has dead letter 0 already
			must(t, ctx.Tell(b.ref, 4)) // drops it, which is not reported
			must(t, ctx.Tell(b.ref, 5)) // drops 3, of which a hears and drops 1, of which b hears and drops 4, and so on
		})
		var about []any
		for _, l := range rest(all) {
			about = append(about, l.(actor.DeadLetter).Msg)
		}
		wantAll(t, about, 0, 3, 1, 4, 2, 5)
		if st := h.System.Stats(); st.DeadLetters != 8 {
			t.Errorf("%d dead letters, want 8: six, and two about dead letters", st.DeadLetters)
		}
		if la.Lost()+lb.Lost() != 0 {
			t.Errorf("%d and %d are lost, want none: the mailboxes accepted them", la.Lost(), lb.Lost())
		}
		a.open(h)
		b.open(h)
	})
}

// TestSubscribedActorStops: its subscription ends with it, and the events that
// it has not handled are dead letters, of which it is not told.
func TestSubscribedActorStops(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		g := newGated(h, actor.MailboxConfig{})
		l := actor.SubscribeActor[any](h.System.Events(), g.ref, 10)
		h.do(func(*actor.Context) {
			h.System.Events().Publish(1)
			h.System.Stop(g.ref)
		})
		g.open(h)
		wantAll(t, h.dead(), 1)
		h.System.Events().Publish(2)
		h.System.Events().Publish(3)
		if n := l.Lost(); n != 1 {
			t.Errorf("Lost is %d, want 1: the one that found out", n)
		}
		l.Unsubscribe()
		h.settle()
		wantAll(t, h.dead())
	})
}

func TestLevelsAreThoseOfSlog(t *testing.T) {
	for l := actor.Level(-9); l < 15; l++ {
		if got, want := l.String(), slog.Level(l).String(); got != want {
			t.Errorf("level %d is %s, want %s", l, got, want)
		}
	}
	if actor.LevelDebug != actor.Level(slog.LevelDebug) || actor.LevelInfo != actor.Level(slog.LevelInfo) ||
		actor.LevelWarn != actor.Level(slog.LevelWarn) || actor.LevelError != actor.Level(slog.LevelError) {
		t.Error("the levels are not those of slog")
	}
}

func TestMisuseOfEvents(t *testing.T) {
	var e actor.EventStream
	h := newHostOn(t, serial.NewDispatcher())
	for name, f := range map[string]func(){
		"capacity 0":     func() { actor.Subscribe[int](&e, 0) },
		"nil function":   func() { actor.SubscribeFunc[int](&e, nil) },
		"zero Ref":       func() { actor.SubscribeActor[int](&e, actor.Ref{}, 1) },
		"a backlog of 0": func() { actor.SubscribeActor[int](&e, h.System.UserGuardian(), 0) },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || len(text) < 7 || text[:7] != "actor: " {
					t.Errorf("%s: panicked with %q", name, text)
				}
			}()
			f()
		}()
	}
}
