package actor_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls"
)

// direct is a link that hands messages over as they are.
type direct struct {
	to  *actor.System
	err error
}

func (l *direct) Send(ctx context.Context, to actor.Ref, msg any) error {
	if l.err != nil {
		return l.err
	}
	return l.to.Deliver(ctx, to.Address(), msg)
}

// control is a link that carries everything.
type control struct {
	direct
	line     atomic.Pointer[actor.Line]
	observer *actor.Observer
	watches  atomic.Int64 // Watch less Unwatch

	mu   sync.Mutex // guards what follows
	full bool       // there is no room
	wait []func()
}

// connect connects from to to over a link that carries everything.
func connect(from, to *actor.System) *control {
	l := &control{direct: direct{to: to}}
	l.observer = to.NewObserver(func(t actor.Terminated) {
		a := t.Actor.Address()
		go l.line.Load().Terminated(a.Path, a.PID, t.Err) // it may come of Watch, with that one's lock
	})
	l.line.Store(from.Connect(to.Name(), to.Boot(), l))
	return l
}

func (l *control) Stop(to actor.Ref) { l.at(to, l.to.Stop) }

func (l *control) Watch(to actor.Ref) {
	l.watches.Add(1)
	a := to.Address()
	if r, err := l.to.ResolveAddress(a); err == nil {
		l.observer.Watch(r)
	} else {
		go l.line.Load().Terminated(a.Path, a.PID, nil)
	}
}

func (l *control) Unwatch(to actor.Ref) {
	l.watches.Add(-1)
	l.at(to, l.observer.Unwatch)
}

func (l *control) at(to actor.Ref, f func(actor.Ref)) {
	if r, err := l.to.ResolveAddress(to.Address()); err == nil {
		f(r)
	}
}

func (l *control) Backlog() int { return 7 }

func (l *control) Room(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full {
		l.wait = append(l.wait, f)
	} else {
		go f()
	}
}

// onAll runs f with two systems, "a" and "b", on every implementation.
func onAll(t *testing.T, f func(t *testing.T, a, b *host)) {
	t.Helper()
	for _, impl := range impls.All() {
		t.Run("impl="+impl.Name, func(t *testing.T) {
			f(t, newHostWith(t, actor.Config{Name: "a", Dispatcher: impl.NewDispatcher()}),
				newHostWith(t, actor.Config{Name: "b", Dispatcher: impl.NewDispatcher()}))
		})
	}
}

// abroad returns sys's Ref for an actor of another system.
func abroad(tb testing.TB, sys *actor.System, r actor.Ref) actor.Ref {
	tb.Helper()
	got, err := sys.ResolveAddress(r.Address())
	if err != nil {
		tb.Error(err)
	}
	return got
}

// both drives two systems until done is closed.
func both(a, b *host, done <-chan struct{}) {
	for a.System.Synchronous() {
		a.Drive()
		b.Drive()
		select {
		case <-done:
			return
		default:
			runtime.Gosched()
		}
	}
	<-done
}

var errLink = errors.New("the link is broken")

func TestRemoteRefs(t *testing.T) {
	onAll(t, func(t *testing.T, a, b *host) {
		var j journal
		var far actor.Ref
		b.do(func(ctx *actor.Context) {
			var err error
			far, err = ctx.SpawnNamed("x y", actortest.Func(func(_ *actor.Context, msg any) error {
				j.add(msg)
				return nil
			}))
			must(t, err)
		})
		link := &direct{to: b.System.System}
		if _, err := a.System.ResolveAddress(far.Address()); err != actor.ErrNoLink {
			t.Errorf("without a link: %v", err)
		}
		line := a.System.Connect("b", b.System.Boot(), link)
		r := abroad(t, a.System.System, far)
		if again := abroad(t, a.System.System, far); again != r {
			t.Errorf("%v and %v are not equal", r, again)
		}
		other := abroad(t, a.System.System, b.System.UserGuardian())
		text := "dyno://b@" + strconv.FormatUint(b.System.Boot(), 16) + "/user/x%20y#" + far.PID().String()
		if r == other || r == far || r.IsZero() || r.Address() != far.Address() || r.PID() != far.PID() ||
			r.Name() != "x y" || r.Path() != "/user/x y" || r.String() != text || r.Backlog() != 0 || other.Name() != "user" {
			t.Errorf("the remote Ref is %v: %#v, %v, %q, %q, %d", r, r.Address(), r.PID(), r.Name(), r.Path(), r.Backlog())
		}
		if got, err := a.System.Resolve(text); err != nil || got != r {
			t.Errorf("Resolve(%q) = %v, %v", text, got, err)
		}

		// All ways of sending.
		tell := func(msg any, f func(ctx *actor.Context) error) (err error) {
			a.do(func(ctx *actor.Context) { err = f(ctx) })
			return err
		}
		sends := func() (errs [4]error) {
			errs[0] = r.Tell(1)
			var none context.Context // nil means Background
			errs[1] = r.TellContext(none, 2)
			errs[2] = tell(3, func(ctx *actor.Context) error { return ctx.Tell(r, 3) })
			errs[3] = tell(4, func(ctx *actor.Context) error { return ctx.TellContext(context.Background(), r, 4) })
			a.do(func(ctx *actor.Context) { ctx.Forward(r, 5) })
			return errs
		}
		if errs := sends(); errs != [4]error{} {
			t.Errorf("sends: %v", errs)
		}
		wait := func() { // for far to handle all that was sent to it
			done := make(chan struct{})
			must(t, far.Tell(done))
			b.Drive()
			for {
				if g := j.got(); len(g) > 0 && g[len(g)-1] == any(done) {
					return
				}
				runtime.Gosched()
			}
		}
		wait()
		if got := j.got(); len(got) != 6 {
			t.Errorf("got %v", got)
		} else {
			wantAll(t, got[:5], 1, 2, 3, 4, 5)
		}

		// What goes wrong comes back with the reason.
		refused := func(reason error) {
			t.Helper()
			n := a.System.Stats().Returned
			for i, err := range sends() {
				wantBack(t, err, i+1, r, reason)
			}
			if got := a.System.Stats().Returned - n; got != 4 {
				t.Errorf("%d messages are counted as returned, want 4", got)
			}
			l := a.Letters()
			if len(l) != 1 || l[0].Msg != 5 || l[0].To != r || l[0].Reason != reason {
				t.Errorf("the dead letters are %v", l)
			}
		}
		link.err = errLink
		refused(errLink)
		link.err = nil
		line.End()
		refused(actor.ErrNoLink)
		a.System.Connect("b", b.System.Boot(), link)
		line.End() // of a link that is not there any more: nothing
		if abroad(t, a.System.System, far) != r {
			t.Error("the loss of a link has changed a Ref")
		}

		// Stop goes only over links that carry it.
		a.System.Stop(r)
		a.do(func(ctx *actor.Context) { ctx.Stop(r) })
		wait() // it is still there
		connect(a.System.System, b.System.System)
		a.System.Stop(r)
		for {
			b.Drive()
			if _, ok := b.System.Lookup(far.PID()); !ok {
				break
			}
			runtime.Gosched()
		}
		refused(actor.ErrUnknown)
		if got := b.System.Stats(); got.Returned != 0 || got.DeadLetters != 0 {
			t.Errorf("at the other end %d messages are returned and %d undelivered", got.Returned, got.DeadLetters)
		}
	})
}

func TestStopInATurnGoesOverTheLink(t *testing.T) {
	onAll(t, func(t *testing.T, a, b *host) {
		far := b.spawn(actortest.Func(nothing))
		connect(a.System.System, b.System.System)
		r := abroad(t, a.System.System, far)
		a.do(func(ctx *actor.Context) { ctx.Stop(r) })
		for {
			b.Drive()
			if _, ok := b.System.Lookup(far.PID()); !ok {
				return
			}
			runtime.Gosched()
		}
	})
}

// stuck is a link that carries nothing.
type stuck struct{}

func (stuck) Send(ctx context.Context, _ actor.Ref, _ any) error {
	<-ctx.Done()
	return ctx.Err()
}

// The context that TellContext is given reaches the link.
func TestLinkSeesTheContext(t *testing.T) {
	onAll(t, func(t *testing.T, a, b *host) {
		a.System.Connect("b", b.System.Boot(), stuck{})
		r := abroad(t, a.System.System, b.System.UserGuardian())
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		m := new(int)
		wantBack(t, r.TellContext(ctx, m), m, r, context.Canceled)
		a.do(func(x *actor.Context) { wantBack(t, x.TellContext(ctx, r, m), m, r, context.Canceled) })
	})
}

func TestDeliver(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		r := h.spawn(actortest.Func(func(_ *actor.Context, msg any) error {
			j.add(msg)
			return nil
		}))
		a := r.Address()
		must(t, h.System.Deliver(context.Background(), a, 1))
		h.settle()
		j.want(t, 1)
		stranger := actor.Address{System: "else", Boot: 1, Path: a.Path, PID: a.PID}
		for to, want := range map[actor.Address]error{
			stranger: actor.ErrUnknown,
			{}:       actor.ErrUnknown,
			{System: "dyno", Boot: a.Boot, Path: a.Path, PID: pid(t, "99")}: actor.ErrUnknown,
			{System: "dyno", Boot: a.Boot + 1, Path: a.Path, PID: a.PID}:    actor.ErrStopped,
			{System: "dyno"}: actor.ErrBadAddress,
		} {
			if err := h.System.Deliver(context.Background(), to, 2); err != want {
				t.Errorf("Deliver to %v: %v, want %v", to, err, want)
			}
		}
		p := actortest.Func(nothing)
		p.Mailbox = actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}
		held, release := make(chan struct{}), make(chan struct{})
		p.New = func() actor.Actor {
			return actor.ReceiveFunc(func(*actor.Context, any) error {
				if !h.System.Synchronous() {
					close(held)
					<-release
				}
				return actor.ErrFull // it fails, so that it is called once
			})
		}
		full := h.spawn(p)
		must(t, h.System.Deliver(context.Background(), full.Address(), 3))
		if !h.System.Synchronous() {
			<-held
			must(t, h.System.Deliver(context.Background(), full.Address(), 4))
		}
		if err := h.System.Deliver(context.Background(), full.Address(), 5); err != actor.ErrFull {
			t.Errorf("Deliver to a full mailbox: %v", err)
		}
		if st := h.System.Stats(); st.Returned != 0 || st.DeadLetters != 0 {
			t.Errorf("Deliver has counted: %+v", st)
		}
		close(release)
		h.settle()
		h.dead() // what waited for the actor that has failed

		// What a link loses is reported, for any recipient.
		for _, to := range []actor.Address{a, {System: "dyno", Boot: a.Boot, Path: "/user/gone", PID: pid(t, "77.7")}, stranger, {}} {
			h.System.Undeliverable(to, 5, errLink)
			l := h.Letters()
			if len(l) != 1 || l[0].Msg != 5 || l[0].To.Address() != to || l[0].Reason != errLink {
				t.Errorf("the dead letter for %v is %+v", to, l)
				continue
			}
			// It can be sent again, with the answer that is right.
			want := map[actor.Address]error{a: nil, stranger: actor.ErrNoLink, {}: actor.ErrZeroRef}
			w, ok := want[to]
			if !ok {
				w = actor.ErrUnknown
			}
			if err := l[0].To.Tell(6); !errors.Is(err, w) {
				t.Errorf("Tell to %v: %v, want %v", to, err, w)
			}
		}
	})
}

func TestConnectMisuse(t *testing.T) {
	h := newHost(t, implsUnderTest[1])
	for _, x := range []struct {
		name string
		boot uint64
		link actor.Link
	}{{"", 1, &direct{}}, {"dyno", 1, &direct{}}, {"b", 0, &direct{}}, {"b", 1, nil}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Connect(%q, %d, %v) does not panic", x.name, x.boot, x.link)
				}
			}()
			h.System.Connect(x.name, x.boot, x.link)
		}()
	}
}

// TestRemoteRefsAreForgotten: a program that resolves without end does not grow
// without end, and what is used stays equal meanwhile.
func TestRemoteRefsAreForgotten(t *testing.T) {
	h := newHost(t, implsUnderTest[1])
	h.System.Connect("b", 1, &direct{to: h.System.System})
	address := func(i int) actor.Address {
		return actor.Address{System: "b", Boot: 1, Path: "/user/anon-" + strconv.Itoa(i), PID: pid(t, strconv.Itoa(i))}
	}
	resolve := func(i int) actor.Ref {
		r, err := h.System.ResolveAddress(address(i))
		must(t, err)
		return r
	}
	const most = 1 << 14
	kept, used := resolve(1), resolve(2)
	for i := range most - 2 {
		resolve(i + 3)
	}
	if resolve(1) != kept {
		t.Error("a Ref is forgotten although there was room")
	}
	for i := range 5 * most {
		resolve(i + 3 + most)
		if i%(most/2) == 0 && resolve(2) != used {
			t.Fatal("a Ref is forgotten although it is used")
		}
	}
	if resolve(1) == kept {
		t.Error("a Ref is remembered for ever")
	}
	if kept.Address() != address(1) {
		t.Errorf("the address of a forgotten Ref is %v", kept.Address())
	}
}

// TestSystemsAreForgotten: others come under any number of names, and again and again as
// another incarnation, and what is remembered of them is bounded: those to which there are Refs
// without a link for least long.
func TestSystemsAreForgotten(t *testing.T) {
	const most = 1 << 10
	h := newHost(t, implsUnderTest[1])
	link := &direct{to: h.System.System}
	resolve := func(name string, boot uint64) error {
		_, err := h.System.ResolveAddress(actor.Address{System: name, Boot: boot, Path: "/user", PID: pid(t, "5")})
		return err
	}
	kept := h.System.Connect("kept", 1, link)
	must(t, resolve("kept", 1))
	for i := range 3 * most {
		name := strconv.Itoa(i)
		h.System.Connect(name, 1, link)
		h.System.Connect(name, 2, link).End() // of neither was there a Ref
	}
	if n := h.System.Peers(); n != 1 {
		t.Errorf("%d systems are remembered, want the one that is connected", n)
	}
	kept.End()
	for i := range most {
		line := h.System.Connect(strconv.Itoa(i), 1, link)
		must(t, resolve(strconv.Itoa(i), 1))
		if i == most-2 {
			h.System.Connect("kept", 1, link).End() // it was there since the others have left
		}
		line.End()
	}
	if n := h.System.Peers(); n != most {
		t.Errorf("%d systems are remembered, want %d", n, most)
	}
	for name, want := range map[string]error{"kept": actor.ErrStopped, "0": actor.ErrNoLink, "1": actor.ErrStopped} {
		h.System.Connect(name, 2, link) // another incarnation
		if err := resolve(name, 1); err != want {
			t.Errorf("an address of %q as it was: %v, want %v", name, err, want)
		}
	}
}
