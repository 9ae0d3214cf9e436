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
	"github.com/dynolab/dyno/actor/actortest"
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

// host is a system under test, of a test.
type host struct {
	testing.TB
	*actortest.System
	bubble bool
}

func newHost(tb testing.TB, impl dyno.Impl) *host {
	return newHostOn(tb, impl.NewDispatcher())
}

func newHostOn(tb testing.TB, d actor.Dispatcher) *host {
	tb.Helper()
	return newHostWith(tb, actor.Config{Dispatcher: d})
}

// newHostWith makes a host of a system as c says.
func newHostWith(tb testing.TB, c actor.Config) *host {
	tb.Helper()
	return newHostOf(tb, actortest.New(c, func(err error) { tb.Fatal(err) }))
}

func newHostOf(tb testing.TB, s *actortest.System) *host {
	h := &host{TB: tb, System: s}
	h.Idle = h.settle
	tb.Cleanup(func() { must(tb, s.Shutdown(context.Background())) })
	return h
}

// settle returns when everything that can happen has happened. In a bubble
// that includes what happens within a second.
func (h *host) settle() {
	h.Drive()
	if h.bubble {
		time.Sleep(time.Second)
		synctest.Wait()
		h.Drive()
	}
}

// do runs f in the user guardian's turn, waits for that and then settles.
func (h *host) do(f func(ctx *actor.Context)) {
	done := make(chan struct{})
	h.Send(h.UserGuardian(), func(ctx *actor.Context) {
		defer close(done)
		f(ctx)
	})
	h.Drive()
	<-done // and no polling: f may wait for an hour of a bubble's time
	h.settle()
}

// spawn makes a child of the user guardian, and settles.
func (h *host) spawn(p actor.Props) actor.Ref {
	r := h.Spawn(p)
	h.settle()
	return r
}

// supervised spawns an actor with that supervisor, and children of it.
func (h *host) supervised(s *actor.Supervisor, children ...actor.Props) (parent actor.Ref, refs []actor.Ref) {
	parent = h.spawn(actor.Props{Supervisor: s, New: actortest.Scripted().New})
	for i, p := range children {
		refs = append(refs, h.SpawnUnder(parent, strconv.Itoa(i), p))
	}
	h.settle()
	return parent, refs
}

// dead returns the messages of the dead letters so far, and forgets them.
func (h *host) dead() (msgs []any) {
	for _, l := range h.Letters() {
		msgs = append(msgs, l.Msg)
	}
	return msgs
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
	p := actortest.Func(func(ctx *actor.Context, msg any) error {
		if !g.held {
			g.held = true
			if h.System.Synchronous() {
				// No goroutine can open the gate meanwhile; none needs to: actors
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
