package remotetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
)

// A clause is a rule that two nodes keep over any wire.
type clause struct {
	name string
	why  string
	// config is that of both nodes.
	config remote.Config
	// timed says that it is about time limits: it is run in bubbles only, where
	// the time is nobody's but the clause's.
	timed bool
	check func(w *world)
}

// Run runs the clauses over a link.
func Run(t *testing.T, l Link) {
	for _, c := range clauses {
		t.Run(c.name, func(t *testing.T) {
			check := func(t *testing.T) {
				defer func() {
					if t.Failed() {
						t.Log("the rule:", c.why)
					}
				}()
				w := &world{T: t, link: l, config: c.config}
				w.a = NewHost(t, "a", dispatcher("lockbased"), c.config)
				w.b = NewHost(t, "b", dispatcher("workstealing"), c.config)
				w.join()
				c.check(w)
			}
			switch {
			case l.Bubble:
				synctest.Test(t, check)
			case c.timed:
				t.Skip("it is about time, which here is the machine's: it is run over wires in memory")
			default:
				check(t)
			}
		})
	}
}

// world is two hosts that are connected.
type world struct {
	*testing.T
	link   Link
	config remote.Config
	a, b   *Host
	ab, ba *remote.Peer
	wires  []*switched
}

// join connects the hosts, over wires that can be silenced.
func (w *world) join() {
	w.Helper()
	l := w.link
	pair := l.Pair
	l.Pair = func(tb testing.TB) (remote.Wire, remote.Wire) {
		x, y := pair(tb)
		sx, sy := &switched{Wire: x}, &switched{Wire: y}
		w.wires = []*switched{sx, sy}
		return sx, sy
	}
	w.ab, w.ba = Join(w.T, l, w.a, w.b)
}

// switched is a wire that can be made to swallow what is written.
type switched struct {
	remote.Wire
	mu    sync.Mutex
	muted bool
}

func (s *switched) WriteFrame(b []byte) error {
	s.mu.Lock()
	muted := s.muted
	s.mu.Unlock()
	if muted {
		return nil
	}
	return s.Wire.WriteFrame(b)
}

func (s *switched) mute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muted = true
}

// patience bounds how long a clause waits for what has to happen: it is a
// limit for what is broken, and no time that anything is to take.
const patience = 10 * time.Minute

// until waits for something that has to happen.
func (w *world) until(what string, done func() bool) {
	w.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("waited in vain for %s", what)
		}
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Error(err)
	}
}

// inbox is an actor that keeps what it is given.
type inbox struct {
	w   *world
	ref actor.Ref

	mu  sync.Mutex
	got []any
}

func (w *world) inbox(h *Host) *inbox {
	w.Helper()
	in := &inbox{w: w}
	in.ref = h.SpawnFunc(in.receive)
	return in
}

func (in *inbox) receive(ctx *actor.Context, msg any) error {
	if f, ok := msg.(func(*actor.Context)); ok {
		f(ctx)
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.got = append(in.got, msg)
	return nil
}

// do runs f in the actor's turn.
func (in *inbox) do(f func(*actor.Context)) {
	in.w.Helper()
	done := make(chan struct{})
	in.w.must(in.ref.Tell(func(ctx *actor.Context) { f(ctx); close(done) }))
	<-done
}

func (in *inbox) all() []any {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.got)
}

// wait returns what has come when that is n messages, in the order of arrival.
func (in *inbox) wait(n int) []any {
	in.w.Helper()
	in.w.until("messages", func() bool { return len(in.all()) >= n })
	return in.all()
}

func (in *inbox) want(want ...any) {
	in.w.Helper()
	if got := in.wait(len(want)); !slices.Equal(got, want) {
		in.w.Errorf("got %v, want %v", got, want)
	}
}

// tellInOrder tells an actor of the other node the Counts from 0 to n-1, and fails unless
// they arrive so.
func (w *world) tellInOrder(n int) {
	w.Helper()
	in := w.inbox(w.b)
	r := w.a.Abroad(in.ref)
	for i := range n {
		w.must(r.Tell(Count(i)))
	}
	w.inOrder(in.wait(n), n)
}

// inOrder fails unless the messages are the Counts from 0 to n-1.
func (w *world) inOrder(got []any, n int) {
	w.Helper()
	if len(got) != n {
		w.Errorf("%d messages arrived, of %d", len(got), n)
	}
	for i, m := range got {
		if m != Count(i) {
			w.Fatalf("message %d arrived as %v", i, m)
		}
	}
}

// back fails unless err gives msg back for that reason.
func (w *world) back(err error, msg any, reason error) {
	w.Helper()
	var e *actor.SendError
	if !errors.As(err, &e) || e.Msg != msg || !errors.Is(err, reason) {
		w.Errorf("got the error %v, want a *SendError with %v for %v", err, msg, reason)
	}
}

// letters waits for n dead letters at h and fails unless they have that reason.
func (w *world) letters(h *Host, n int, reason error) (msgs []any) {
	w.Helper()
	w.until("dead letters", func() bool {
		for _, l := range h.Letters() {
			if !errors.Is(l.Reason, reason) {
				w.Errorf("%v is a dead letter for %v, want %v", l.Msg, l.Reason, reason)
			}
			msgs = append(msgs, l.Msg)
		}
		return len(msgs) >= n
	})
	if len(msgs) != n {
		w.Errorf("%d dead letters, want %d", len(msgs), n)
	}
	return msgs
}

// cut ends the association at one end, without a word to the other.
func (w *world) cut() {
	_ = w.wires[0].Close()
	<-w.ab.Done()
	<-w.ba.Done()
}

// unregistered is a type without a codec.
type unregistered struct{}

var errTest = errors.New("for a test")

var clauses = []clause{
	{
		name:  "tell-in-order",
		why:   "what one node sends to an actor of another arrives in the order of sending, and once",
		check: func(w *world) { w.tellInOrder(20_000) },
	},
	{
		name:   "tell-one-a-frame",
		why:    "the same if each message is a frame of its own",
		config: remote.Config{Batch: 1},
		check:  func(w *world) { w.tellInOrder(5_000) },
	},
	{
		name: "tell-many",
		why:  "each of many actors is told what it was sent, by whichever goroutine, more of them than an association remembers",
		check: func(w *world) {
			const actors, each, senders = 5_000, 4, 4
			var mu sync.Mutex
			next := make([]Count, actors)
			left := actors * each
			var refs []actor.Ref
			for i := range actors {
				refs = append(refs, w.a.Abroad(w.b.SpawnFunc(func(_ *actor.Context, msg any) error {
					mu.Lock()
					defer mu.Unlock()
					if msg != next[i] {
						w.Errorf("actor %d got %v, want %v", i, msg, next[i])
					}
					next[i]++
					left--
					return nil
				})))
			}
			var all sync.WaitGroup
			for s := range senders {
				all.Add(1)
				go func() {
					defer all.Done()
					for k := range each {
						for i := s; i < actors; i += senders {
							w.must(refs[i].Tell(Count(k)))
						}
					}
				}()
			}
			all.Wait()
			w.until("all messages", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return left == 0
			})
		},
	},
	{
		name: "messages-as-they-were",
		why:  "messages arrive as what they were sent as, from nothing to the largest, an error as its text",
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			large := Text(make([]byte, remote.MaxMessage))
			for _, m := range []any{Text(""), Count(0), large, Text("ü"), actor.ErrStopped} {
				w.must(r.Tell(m))
			}
			in.want(Text(""), Count(0), large, Text("ü"), actor.ErrStopped)
			w.back(r.Tell(large+"!"), large+"!", remote.ErrTooLarge)
			w.must(r.Tell(errTest))
			if e, ok := in.wait(6)[5].(*remote.Error); !ok || e.Text != errTest.Error() {
				w.Errorf("an error arrived as %v", in.all()[5])
			}
		},
	},
	{
		name: "unregistered",
		why:  "a message of a type without a codec goes back to its sender",
		check: func(w *world) {
			in := w.inbox(w.b)
			var e *remote.UnregisteredError
			if err := w.a.Abroad(in.ref).Tell(unregistered{}); !errors.As(err, &e) {
				w.Errorf("got %v", err)
			}
			for _, forged := range []any{actor.Terminated{}, actor.ReceiveTimeout{}, actor.Failed{}} {
				if err := w.a.Abroad(in.ref).Tell(forged); !errors.As(err, &e) {
					w.Errorf("%T: %v", forged, err)
				}
			}
		},
	},
	{
		name: "find",
		why:  "an actor is found by its path, and nobody else",
		check: func(w *world) {
			r := w.b.Spawn("desk", Func(func(*actor.Context, any) error { return nil }))
			ctx := context.Background()
			if got, err := w.ab.Find(ctx, "/user/desk"); err != nil || got != w.a.Abroad(r) {
				w.Errorf("found %v, %v, want %v", got, err, r)
			}
			for _, path := range []string{"/user/nobody", "", "desk"} {
				if got, err := w.ab.Find(ctx, path); !errors.Is(err, remote.ErrNotFound) {
					w.Errorf("%q is %v, %v", path, got, err)
				}
			}
			w.cut()
			if _, err := w.ab.Find(ctx, "/user/desk"); !errors.Is(err, actor.ErrUnreachable) {
				w.Errorf("over a lost association: %v", err)
			}
		},
	},
	{
		name: "ask",
		why:  "a Future has the reply from another node, or its error, or its timeout; and the error why the request was not delivered",
		check: func(w *world) {
			r := w.b.SpawnFunc(func(ctx *actor.Context, msg any) error {
				q := msg.(Question)
				switch q.N {
				case 0:
					return nil
				case 1:
					return q.ReplyTo.Fail(actor.ErrFailed)
				}
				return ctx.Reply(q.ReplyTo, Count(q.N*q.N))
			})
			far := w.a.Abroad(r)
			ask := func(n uint64, timeout time.Duration) actor.Future {
				return w.a.Sys.Ask(far, timeout, func(to actor.ReplyTo) any { return Question{n, to} })
			}
			want := func(f actor.Future, want any, reason error) {
				w.Helper()
				if got, err := f.Wait(context.Background()); got != want || !errors.Is(err, reason) {
					w.Errorf("got %v, %v, want %v, %v", got, err, want, reason)
				}
			}
			var fs []actor.Future
			for n := range uint64(500) {
				fs = append(fs, ask(n+2, 0))
			}
			for i, f := range fs {
				want(f, Count((i+2)*(i+2)), nil)
			}
			want(ask(1, 0), nil, actor.ErrFailed)
			want(ask(0, 30*time.Millisecond), nil, actor.ErrTimeout)
			silent := w.inbox(w.b)
			pending := w.a.Sys.Ask(w.a.Abroad(silent.ref), 0, func(to actor.ReplyTo) any { return Question{0, to} })
			silent.wait(1)
			w.b.Sys.Stop(r)
			w.until("the actor to stop", func() bool { _, ok := w.b.Sys.Lookup(r.PID()); return !ok })
			if _, err := ask(2, 0).Wait(context.Background()); !errors.Is(err, actor.ErrStopped) && !errors.Is(err, actor.ErrUnknown) {
				w.Errorf("the request to a stopped actor ends with %v", err)
			}
			w.cut()
			want(pending, nil, actor.ErrUnreachable)
		},
	},
	{
		name: "reply-to-actor",
		why:  "the ReplyTo of an actor crosses as well, there and back",
		check: func(w *world) {
			in := w.inbox(w.a)
			r := w.b.SpawnFunc(func(ctx *actor.Context, msg any) error { return ctx.Reply(msg.(Question).ReplyTo, Count(7)) })
			w.must(w.a.Abroad(r).Tell(Question{1, in.ref.ReplyTo()}))
			in.want(Count(7))
		},
	},
	{
		name: "forward",
		why:  "a request that is passed on is answered to who asked",
		check: func(w *world) {
			home := w.a.SpawnFunc(func(ctx *actor.Context, msg any) error { return ctx.Reply(msg.(Question).ReplyTo, Count(9)) })
			back := w.b.Abroad(home)
			r := w.b.SpawnFunc(func(ctx *actor.Context, msg any) error { ctx.Forward(back, msg); return nil })
			f := w.a.Sys.Ask(w.a.Abroad(r), 0, func(to actor.ReplyTo) any { return Question{1, to} })
			if got, err := f.Wait(context.Background()); got != Count(9) || err != nil {
				w.Errorf("got %v, %v", got, err)
			}
		},
	},
	{
		name: "watch",
		why:  "who watches an actor of another node is told of its end once, with its failure; also if it has ended before",
		check: func(w *world) {
			in := w.inbox(w.a)
			ends := func(cause error) (far actor.Ref) {
				r := w.b.SpawnFunc(func(ctx *actor.Context, msg any) error {
					if cause == nil {
						ctx.StopSelf()
					}
					return cause
				})
				far = w.a.Abroad(r)
				in.do(func(ctx *actor.Context) { ctx.Watch(far); ctx.Watch(far) })
				w.must(far.Tell(Text("end")))
				return far
			}
			stopped := ends(nil)
			in.want(actor.Terminated{Actor: stopped})
			failed := ends(actor.ErrDeadlock)
			in.want(actor.Terminated{Actor: stopped}, actor.Terminated{Actor: failed, Err: actor.ErrDeadlock})
			in.do(func(ctx *actor.Context) { ctx.Watch(stopped) })
			in.wait(3)
			w.cut() // it is not told again
			in.do(func(ctx *actor.Context) {})
			in.want(actor.Terminated{Actor: stopped}, actor.Terminated{Actor: failed, Err: actor.ErrDeadlock}, actor.Terminated{Actor: stopped})
		},
	},
	{
		name: "watch-lost",
		why:  "who watches an actor whose node cannot be reached any more is told so once; who has ceased to watch is not",
		check: func(w *world) {
			kept, left := w.inbox(w.b), w.inbox(w.b)
			k, l := w.a.Abroad(kept.ref), w.a.Abroad(left.ref)
			var ins []*inbox
			for range 20 {
				in := w.inbox(w.a)
				in.do(func(ctx *actor.Context) { ctx.Watch(k); ctx.Watch(l) })
				in.do(func(ctx *actor.Context) { ctx.Unwatch(l) })
				ins = append(ins, in)
			}
			w.cut()
			for _, in := range ins {
				in.want(actor.Terminated{Actor: k, Err: actor.ErrUnreachable})
			}
			// Without a link it is told at once; with a new one it is watched again.
			ins[0].do(func(ctx *actor.Context) { ctx.Watch(k) })
			ins[0].wait(2)
			w.join()
			ins[0].do(func(ctx *actor.Context) { ctx.Watch(k) })
			w.b.Sys.Stop(kept.ref)
			lost := actor.Terminated{Actor: k, Err: actor.ErrUnreachable}
			ins[0].want(lost, lost, actor.Terminated{Actor: k})
		},
	},
	{
		name: "stop",
		why:  "Stop of an actor of another node stops it; a guardian it does not stop",
		check: func(w *world) {
			in := w.inbox(w.b)
			far := w.a.Abroad(w.b.Sys.UserGuardian())
			w.a.Sys.Stop(far)
			w.a.Sys.Stop(w.a.Abroad(in.ref))
			w.until("the actor to stop", func() bool { _, ok := w.b.Sys.Lookup(in.ref.PID()); return !ok })
			if _, ok := w.b.Sys.Lookup(w.b.Sys.UserGuardian().PID()); !ok {
				w.Error("a peer has stopped the user guardian")
			}
		},
	},
	{
		name: "dead-letters",
		why:  "what was accepted and finds no actor or no room is a dead letter at the node of the receiver",
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			w.must(r.Tell(Count(0))) // so that the association knows the actor
			in.wait(1)
			w.b.Sys.Stop(in.ref)
			w.until("the actor to stop", func() bool { _, ok := w.b.Sys.Lookup(in.ref.PID()); return !ok })
			w.must(r.Tell(Count(1)))
			w.letters(w.b, 1, actor.ErrStopped)
			other := in.ref.Address()
			other.Path += "x"
			nobody, err := w.a.Sys.ResolveAddress(other)
			w.must(err)
			w.must(nobody.Tell(Count(2)))
			w.letters(w.b, 1, actor.ErrUnknown)

			p, hold, release := w.held()
			p.Mailbox = actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 3}
			r = w.a.Abroad(w.b.Spawn("", p))
			w.must(r.Tell(Count(0)))
			<-hold
			for i := range 5 {
				w.must(r.Tell(Count(i + 1)))
			}
			if msgs := w.letters(w.b, 2, actor.ErrFull); !slices.Equal(msgs, []any{Count(4), Count(5)}) {
				w.Errorf("the mailbox had no room for %v", msgs)
			}
			close(release)
		},
	},
	{
		name:   "slow-receiver-full",
		why:    "a node that sends to a slow actor faster than it handles messages is told ErrFull when the window is used up, and not before; nothing it was told is sent gets lost, and later it can send again",
		config: remote.Config{Policy: actor.DropNewest, Window: 64, Backlog: 32},
		check: func(w *world) {
			for _, box := range []actor.MailboxConfig{{}, {Policy: actor.Block, Capacity: 2}, {Policy: actor.Grow, Capacity: 4}} {
				p, hold, release := w.held()
				in := &inbox{w: w}
				p.Mailbox = box
				p.New = after(p.New, in.receive)
				r := w.a.Abroad(w.b.Spawn("", p))
				w.must(r.Tell(Count(0)))
				<-hold
				n := 1
				// The window is used up for good when even after a while, in which
				// all that the actor's node can take has been taken, there is none.
				for full := 0; full < 100; {
					err := r.Tell(Count(n))
					if err == nil {
						n, full = n+1, 0
						continue
					}
					w.back(err, Count(n), actor.ErrFull)
					full++
					time.Sleep(5 * time.Millisecond)
				}
				w.until("the window to be used up", func() bool { // if it was not yet after all
					if r.Tell(Count(n)) == nil {
						n++
					}
					return r.Backlog() == 64
				})
				// lookEvery messages pass between two looks at the mailbox.
				if most := 1 + 64 + 32 + 32 + box.Capacity; n < 64 || n > most {
					w.Errorf("%d messages were accepted, want from 64 to %d", n, most)
				}
				close(release)
				w.inOrder(in.wait(n), n)
				w.until("room", func() bool { return r.Tell(Count(n)) == nil })
				w.inOrder(in.wait(n+1), n+1)
			}
		},
	},
	{
		name:   "slow-receiver-block",
		why:    "with the policy Block the sender waits, as long as its context allows, and goes on when there is room",
		config: remote.Config{Window: 16, Backlog: 8},
		check: func(w *world) {
			p, hold, release := w.held()
			in := &inbox{w: w}
			p.New = after(p.New, in.receive)
			r := w.a.Abroad(w.b.Spawn("", p))
			w.must(r.Tell(Count(0)))
			<-hold
			n := 1
			for {
				ctx, end := context.WithTimeout(context.Background(), 300*time.Millisecond)
				err := r.TellContext(ctx, Count(n))
				end()
				if err != nil {
					w.back(err, Count(n), context.DeadlineExceeded)
					break
				}
				n++
			}
			waiting := make(chan error)
			go func() {
				for ; n < 1000; n++ {
					if err := r.Tell(Count(n)); err != nil {
						waiting <- err
						return
					}
				}
				close(waiting)
			}()
			suspended := w.inbox(w.a)
			suspended.do(func(ctx *actor.Context) { ctx.Suspend(actor.Suspension{Capacity: r}) })
			w.must(suspended.ref.Tell(Text("there is room")))
			close(release)
			w.must(<-waiting)
			w.inOrder(in.wait(1000), 1000)
			suspended.want(Text("there is room"))
		},
	},
	{
		name:   "slow-receiver-catches-up",
		why:    "an actor that is behind time and again is given everything in the end, whatever has waited for it, and wherever",
		config: remote.Config{Window: 256, Backlog: 256},
		check: func(w *world) {
			const n = 20_000
			in := w.inbox(w.b)
			sum := 0
			r := w.a.Abroad(w.b.SpawnFunc(func(ctx *actor.Context, msg any) error {
				for i := range 3000 { // some time, and none of the clock's
					sum += i
				}
				return in.receive(ctx, msg)
			}))
			for i := range n {
				ctx, end := context.WithTimeout(context.Background(), patience)
				w.must(r.TellContext(ctx, Count(i)))
				end()
				if w.Failed() {
					return
				}
			}
			w.inOrder(in.wait(n), n)
		},
	},
	{
		name:   "block-ends-with-the-association",
		why:    "who waits for room is let go when the association is lost",
		config: remote.Config{Window: 4, Backlog: 4},
		check: func(w *world) {
			p, hold, release := w.held()
			defer close(release)
			r := w.a.Abroad(w.b.Spawn("", p))
			w.must(r.Tell(Count(0)))
			<-hold
			result := make(chan error)
			go func() {
				for i := 1; ; i++ {
					if err := r.Tell(Count(i)); err != nil {
						result <- err
						return
					}
				}
			}()
			w.until("the window to be used up", func() bool { return r.Backlog() == 4 })
			w.cut()
			if err := <-result; !errors.Is(err, actor.ErrUnreachable) && !errors.Is(err, actor.ErrNoLink) {
				w.Errorf("got %v", err)
			}
		},
	},
	{
		name: "other-actors-go-on",
		why:  "one slow actor does not keep messages from others as long as there is credit",
		config: remote.Config{
			Window: 64, Backlog: 8,
		},
		check: func(w *world) {
			p, hold, release := w.held()
			p.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 1}
			slow := w.a.Abroad(w.b.Spawn("", p))
			quick := w.inbox(w.b)
			far := w.a.Abroad(quick.ref)
			w.must(slow.Tell(Count(0)))
			<-hold
			for range 20 {
				w.must(slow.Tell(Count(1)))
			}
			for i := range 500 {
				w.must(far.Tell(Count(i)))
			}
			w.inOrder(quick.wait(500), 500)
			close(release)
		},
	},
	{
		name: "lost",
		why:  "when the association is lost, what was not confirmed is in the dead letters, behind everything that arrived; later sends go back; and no message is anywhere else",
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			const n = 3_000
			accepted := 0
			for i := range n {
				if i == n/2 {
					go func() { _ = w.wires[1].Close() }()
				}
				if err := r.Tell(Count(i)); err != nil {
					if !errors.Is(err, actor.ErrUnreachable) && !errors.Is(err, actor.ErrNoLink) {
						w.Errorf("got %v", err)
					}
					break
				}
				accepted++
			}
			<-w.ab.Done()
			<-w.ba.Done()
			w.back(r.Tell(Count(n)), Count(n), actor.ErrNoLink)
			var dead []any
			for _, l := range w.a.Letters() {
				if l.Reason != actor.ErrUnreachable {
					w.Errorf("%v is a dead letter for %v", l.Msg, l.Reason)
				}
				dead = append(dead, l.Msg)
			}
			confirmed := accepted - len(dead)
			in.wait(confirmed)
			w.b.Node.Close()
			in.do(func(*actor.Context) {}) // everything before it has been handled
			got := in.all()
			w.inOrder(got, len(got))
			if len(got) < confirmed || len(got) > accepted {
				w.Errorf("%d of %d accepted messages arrived, %d were confirmed", len(got), accepted, confirmed)
			}
			w.inOrder(got[:confirmed], confirmed)
			for i, m := range dead {
				if m != Count(confirmed+i) {
					w.Fatalf("dead letter %d is %v, want %d", i, m, confirmed+i)
				}
			}
		},
	},
	{
		name: "silent",
		why:  "a peer from which nothing comes for Config.Timeout is lost, at both ends, and who watches is told; before that silence is no reason",
		config: remote.Config{
			Heartbeat: 100 * time.Millisecond, Timeout: 3 * time.Second, // in which a wire may lose many hellos
		},
		timed: true,
		check: func(w *world) {
			in := w.inbox(w.a)
			far := w.a.Abroad(w.b.Sys.UserGuardian())
			in.do(func(ctx *actor.Context) { ctx.Watch(far) })
			time.Sleep(3 * w.config.Timeout) // heartbeats
			if err := w.ab.Err(); err != nil {
				w.Fatalf("lost without a reason: %v", err)
			}
			for _, x := range w.wires {
				x.mute()
			}
			<-w.ab.Done()
			<-w.ba.Done()
			// Who notices first closes the wire, which the other may notice.
			if x, y := w.ab.Err(), w.ba.Err(); !errors.Is(x, remote.ErrSilent) && !errors.Is(y, remote.ErrSilent) {
				w.Errorf("lost for %v and %v", x, y)
			}
			in.want(actor.Terminated{Actor: far, Err: actor.ErrUnreachable})
		},
	},
	{
		name: "close",
		why:  "a node that is closed says so, after what was sent",
		check: func(w *world) {
			in := w.inbox(w.b)
			r := w.a.Abroad(in.ref)
			for i := range 100 {
				w.must(r.Tell(Count(i)))
			}
			w.until("confirmation", func() bool { return r.Backlog() == 0 })
			w.a.Node.Close()
			<-w.ba.Done()
			if err := w.ab.Err(); !errors.Is(err, remote.ErrClosed) {
				w.Errorf("here it is lost for %v", err)
			}
			w.inOrder(in.wait(100), 100)
		},
	},
	{
		name: "restart",
		why:  "a system that was restarted is another one: its actors are not taken for the old ones, who watched those is told, and what is sent to them goes back",
		check: func(w *world) {
			in, watcher := w.inbox(w.b), w.inbox(w.a)
			old := w.a.Abroad(in.ref)
			watcher.do(func(ctx *actor.Context) { ctx.Watch(old) })
			for _, x := range w.wires {
				x.mute() // it dies without a word, and is there again before that is noticed
			}
			again := NewHost(w.T, "b", dispatcher("lockbased"), w.config)
			Join(w.T, w.link, w.a, again)
			watcher.want(actor.Terminated{Actor: old, Err: actor.ErrUnreachable})
			w.back(old.Tell(Count(1)), Count(1), actor.ErrStopped)
			if _, err := w.a.Sys.ResolveAddress(in.ref.Address()); !errors.Is(err, actor.ErrStopped) {
				w.Errorf("the old address: %v", err)
			}
			next := &inbox{w: w}
			next.ref = again.SpawnFunc(next.receive) // in the same place, with the same PID
			w.must(w.a.Abroad(next.ref).Tell(Count(2)))
			next.want(Count(2))
			if len(in.all()) != 0 {
				w.Error("the old actor was told something")
			}
		},
	},
	{
		name: "twins",
		why:  "two nodes that connect to each other at the same time end up with one association",
		check: func(w *world) {
			a := NewHost(w.T, "left", dispatcher("lockbased"), w.config)
			b := NewHost(w.T, "right", dispatcher("lockbased"), w.config)
			x1, y1 := w.link.Pair(w.T)
			y2, x2 := w.link.Pair(w.T)
			ctx := context.Background()
			var all sync.WaitGroup
			for _, f := range []func() (*remote.Peer, error){
				func() (*remote.Peer, error) { return a.Node.Connect(ctx, x1) },
				func() (*remote.Peer, error) { return b.Node.Accept(ctx, y1) },
				func() (*remote.Peer, error) { return b.Node.Connect(ctx, y2) },
				func() (*remote.Peer, error) { return a.Node.Accept(ctx, x2) },
			} {
				all.Add(1)
				go func() {
					defer all.Done()
					_, _ = f() // of one of the two the ends are told it was replaced, or get the other
				}()
			}
			all.Wait()
			in := &inbox{w: w}
			in.ref = b.SpawnFunc(in.receive)
			w.until("one association", func() bool {
				r, err := a.Sys.ResolveAddress(in.ref.Address())
				return err == nil && r.Tell(Text("hello")) == nil
			})
			in.want(Text("hello"))
		},
	},
	{
		name: "undecodable",
		why:  "what the receiver cannot read is a dead letter there, with its bytes, and no harm to the association",
		check: func(w *world) {
			codecs := Codecs()
			remote.String[Strange](codecs, "test.Strange")
			c := NewHost(w.T, "c", dispatcher("lockbased"), remote.Config{Codecs: codecs})
			Join(w.T, w.link, c, w.b)
			in := w.inbox(w.b)
			r := c.Abroad(in.ref)
			w.must(r.Tell(Strange("x")))
			msgs := w.letters(w.b, 1, remote.ErrNoCodec)
			if u, ok := msgs[0].(*remote.Undecoded); !ok || u.Type != "test.Strange" || string(u.Bytes) != "x" {
				w.Errorf("the dead letter is %v", msgs[0])
			}
			w.must(r.Tell(Count(1)))
			in.want(Count(1))
		},
	},
	{
		name: "long-path",
		why:  "an address with a path that no frame has room for, whoever made it up, reaches nobody and does the association no harm",
		check: func(w *world) {
			in, known := w.inbox(w.a), w.inbox(w.b)
			at := known.ref.Address()
			at.Path += "/" + strings.Repeat("x", 5000)
			r, err := w.a.Sys.ResolveAddress(at)
			w.must(err)
			in.do(func(ctx *actor.Context) {
				ctx.Watch(r)
				ctx.Stop(r)
			})
			in.want(actor.Terminated{Actor: r, Err: remote.ErrTooLarge})
			w.back(r.Tell(Count(1)), Count(1), remote.ErrTooLarge)
			w.must(w.a.Abroad(known.ref).Tell(Count(2)))
			known.want(Count(2))
			if err := w.ab.Err(); err != nil {
				w.Errorf("the association is lost: %v", err)
			}
		},
	},
	{
		name: "mailbox-panics",
		why:  "a message over which a function of the mailbox's panics is a dead letter at the receiver, who asked is told, and neither process nor association is harmed",
		check: func(w *world) {
			in := &inbox{w: w}
			p := Func(in.receive)
			p.Mailbox.Priority = func(msg any) int { return int(msg.(Count)) }
			in.ref = w.b.Spawn("", p)
			r := w.a.Abroad(in.ref)
			w.must(r.Tell(Text("no number")))
			w.letters(w.b, 1, remote.ErrMailbox)
			_, err := w.a.Sys.Ask(r, 0, func(to actor.ReplyTo) any { return Question{ReplyTo: to} }).Wait(context.Background())
			var e *remote.Error
			if !errors.As(err, &e) {
				w.Errorf("who asked is told %v", err)
			}
			w.must(r.Tell(Count(1)))
			in.want(Count(1))
		},
	},
}

// Strange is a message that only one end knows.
type Strange string

// held returns Props of an actor that says when it handles its first message, and
// holds it until release is closed.
func (w *world) held() (p actor.Props, hold, release chan struct{}) {
	hold, release = make(chan struct{}), make(chan struct{})
	first := true
	return Func(func(*actor.Context, any) error {
		if first {
			first = false
			close(hold)
			<-release
		}
		return nil
	}), hold, release
}

// after returns what makes an actor that does what that of first does, and then f.
func after(first func() actor.Actor, f actor.ReceiveFunc) func() actor.Actor {
	return func() actor.Actor {
		a := first()
		return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
			if err := a.Receive(ctx, msg); err != nil {
				return err
			}
			return f(ctx, msg)
		})
	}
}
