package actor_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
)

// implsUnderTest are those that the core is tested on: one that runs actors in
// parallel and one that runs them in a known order.
var implsUnderTest = []dyno.Impl{lockbased.Impl, serial.Impl}

// runner is testing.T or testing.B.
type runner[T any] interface {
	testing.TB
	Run(name string, f func(T)) bool
}

func forEach[T runner[T]](tb T, f func(T, dyno.Impl)) {
	for _, impl := range implsUnderTest {
		tb.Run("impl="+impl.Name, func(tb T) { f(tb, impl) })
	}
}

// bubbles runs f with every implementation in a bubble of its own.
func bubbles(t *testing.T, f func(t *testing.T, h *host)) {
	t.Helper()
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, impl)
			h.bubble = true
			f(t, h)
		})
	})
}

// host is a system whose user guardian does what it is told.
type host struct {
	testing.TB
	sys    *actor.System
	bubble bool

	mu       sync.Mutex
	letters  []actor.DeadLetter
	failures []actor.Failure
}

func newHost(tb testing.TB, impl dyno.Impl) *host {
	return newHostOn(tb, impl.NewDispatcher())
}

func newHostOn(tb testing.TB, d actor.Dispatcher) *host {
	tb.Helper()
	return newHostWith(tb, actor.Config{Dispatcher: d})
}

// newHostWith makes a host of a system as c says, but for what the host needs.
func newHostWith(tb testing.TB, c actor.Config) *host {
	tb.Helper()
	h := &host{TB: tb}
	c.Guardian = props(func(ctx *actor.Context, msg any) error {
		msg.(func(*actor.Context))(ctx)
		return nil
	})
	c.DeadLetters = func(l actor.DeadLetter) {
		if l.Returned {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.letters = append(h.letters, l)
	}
	c.Failures = func(f actor.Failure) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.failures = append(h.failures, f)
	}
	sys, err := actor.NewSystem(c)
	must(tb, err)
	h.sys = sys
	tb.Cleanup(func() { must(tb, sys.Shutdown(context.Background())) })
	return h
}

// drive runs the actors of a synchronous system, on a goroutine of its own: an
// actor may end it with Goexit.
func (h *host) drive() {
	if h.sys.Synchronous() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.sys.RunUntilIdle()
		}()
		<-done
	}
}

// settle returns when everything that can happen has happened. In a bubble
// that includes what happens within a second.
func (h *host) settle() {
	h.drive()
	if h.bubble {
		time.Sleep(time.Second)
		synctest.Wait()
		h.drive()
	}
}

// do runs f in the user guardian's turn, waits for that and then settles.
func (h *host) do(f func(ctx *actor.Context)) {
	h.Helper()
	done := make(chan struct{})
	must(h, h.sys.UserGuardian().Tell(func(ctx *actor.Context) {
		defer close(done)
		f(ctx)
	}))
	h.drive()
	<-done
	h.settle()
}

// spawn makes a child of the user guardian.
func (h *host) spawn(p actor.Props) (r actor.Ref) {
	h.Helper()
	h.do(func(ctx *actor.Context) {
		var err error
		r, err = ctx.Spawn(p)
		must(h, err)
	})
	return r
}

func (h *host) spawnFunc(f actor.ReceiveFunc) actor.Ref {
	h.Helper()
	return h.spawn(props(f))
}

// supervised spawns an actor with that supervisor, and children of it.
func (h *host) supervised(s *actor.Supervisor, children ...actor.Props) (parent actor.Ref, refs []actor.Ref) {
	h.Helper()
	parent = h.spawn(actor.Props{Supervisor: s, New: func() actor.Actor {
		return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
			return msg.(func(*actor.Context) error)(ctx)
		})
	}})
	h.tell(parent, func(ctx *actor.Context) error {
		for _, p := range children {
			r, err := ctx.Spawn(p)
			must(h, err)
			refs = append(refs, r)
		}
		return nil
	})
	h.settle()
	return parent, refs
}

func (h *host) tell(r actor.Ref, msgs ...any) {
	h.Helper()
	for _, m := range msgs {
		must(h, r.Tell(m))
	}
}

// dead returns the messages of the dead letters so far, and forgets them.
func (h *host) dead() []any {
	h.mu.Lock()
	defer h.mu.Unlock()
	var msgs []any
	for _, l := range h.letters {
		msgs = append(msgs, l.Msg)
	}
	h.letters = nil
	return msgs
}

// props are those of an actor that is a function.
func props(f actor.ReceiveFunc) actor.Props {
	return actor.Props{New: func() actor.Actor { return f }}
}

// journal is a list that any goroutine may write.
type journal struct {
	mu   sync.Mutex
	list []any
}

func (j *journal) add(x any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, x)
}

func (j *journal) got() []any {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}

// want fails the test unless the journal holds exactly these, in this order.
func (j *journal) want(tb testing.TB, want ...any) {
	tb.Helper()
	wantAll(tb, j.got(), want...)
}

func wantAll(tb testing.TB, got []any, want ...any) {
	tb.Helper()
	if !slices.Equal(got, want) {
		tb.Errorf("got %v, want %v", got, want)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Error(err)
	}
}

// wantBack fails the test unless err gives msg back for that reason.
func wantBack(tb testing.TB, err error, msg any, to actor.Ref, reason error) {
	tb.Helper()
	var e *actor.SendError
	if !errors.As(err, &e) || e.Msg != msg || e.To != to || !errors.Is(err, reason) {
		tb.Errorf("got the error %v, want a *SendError with the message %v for %v and the reason %v", err, msg, to, reason)
	}
}

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

// rounds returns how often a random experiment is repeated: n times, or as many
// times more as DYNO_SOAK says.
func rounds(tb testing.TB, n int) int {
	tb.Helper()
	if testing.Short() {
		n = max(1, n/10)
	}
	if s := os.Getenv("DYNO_SOAK"); s != "" {
		k, err := strconv.Atoi(s)
		must(tb, err)
		n *= k
	}
	return n
}
