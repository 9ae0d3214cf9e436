package remotetest

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
)

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

// stranger is a host that knows a message which the others do not.
func (w *world) stranger() *Host {
	w.Helper()
	codecs := Codecs()
	remote.String[Strange](codecs, "test.Strange")
	return NewHost(w.T, "c", dispatcher("lockbased"), remote.Config{Codecs: codecs})
}

// patience bounds how long a clause waits for what has to happen: it is a
// limit for what is broken, and no time that anything is to take.
const patience = 10 * time.Minute

// until waits for something that has to happen.
func (w *world) until(what string, done func() bool) {
	w.Helper()
	pause := time.Millisecond
	for begun := time.Now(); !done(); time.Sleep(pause) {
		switch waited := time.Since(begun); {
		case waited > patience:
			w.Fatalf("waited in vain for %s", what)
		case waited > time.Second:
			pause = 100 * time.Millisecond // what goes wrong in a bubble is told soon, too
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

// exiting is a codec that ends the goroutine that has it decode.
type exiting struct{}

func (exiting) Append(dst []byte, _ any) ([]byte, error) { return dst, nil }

func (exiting) Decode([]byte, actor.ReplyTo) (any, error) {
	runtime.Goexit()
	return nil, nil
}
