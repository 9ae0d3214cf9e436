package typed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/typed"
	"github.com/dynolab/dyno/impls"
)

// order is a message of three words that knows whether it is whole.
type order struct{ who, n, sum int }

func newOrder(who, n int) order { return order{who, n, who*31 + n*7 + 1} }

func (o order) whole() bool { return o == newOrder(o.who, o.n) }

// collector returns an actor that writes down its messages, and a function
// that waits until there are n and returns them.
func collector[M any](h *host) (typed.Ref[M], func(n int) []M) {
	h.Helper()
	got := make(chan M, 1000)
	r := spawn(h, props(func(_ *typed.Context[M], m M) error {
		got <- m
		return nil
	}))
	return r, func(n int) (list []M) {
		h.Drive()
		for range n {
			list = append(list, <-got)
		}
		return list
	}
}

func TestSends(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		to, wait := collector[order](h)
		must(t, to.Tell(newOrder(0, 1)))
		must(t, to.TellContext(context.Background(), newOrder(0, 2)))
		h.do(func(ctx *typed.Context[any]) {
			must(t, typed.Tell(ctx, to, newOrder(0, 3)))
			must(t, typed.TellContext(ctx, context.Background(), to, newOrder(0, 4)))
			typed.Forward(ctx, to, newOrder(0, 5))
			must(t, ctx.Untyped().Tell(to.Untyped(), newOrder(0, 6))) // a value of the right type
		})
		must(t, to.Untyped().Tell(newOrder(0, 7)))
		for i, o := range wait(7) {
			if o != newOrder(0, i+1) {
				t.Errorf("message %d is %v", i+1, o)
			}
		}
		if typed.Of[order](to.Untyped()) != to || to.IsZero() || to.String() != to.Untyped().String() {
			t.Errorf("%v is not its own view", to)
		}
		js, err := json.Marshal(to)
		want, _ := json.Marshal(to.Untyped())
		if err != nil || string(js) != string(want) {
			t.Errorf("as JSON the Ref is %s, %v, want %s", js, err, want)
		}
		bin, err := to.MarshalBinary()
		if r, err2 := h.ResolveBinary(bin); err != nil || err2 != nil || typed.Of[order](r) != to {
			t.Errorf("the Ref comes back as %v, %v, %v", r, err, err2)
		}
		if d, f := h.dead(), h.Failures(); len(d)+len(f) != 0 {
			t.Errorf("dead letters %v, failures %v", d, f)
		}
	})
}

func kinds[M comparable](t *testing.T, h *host, msgs ...M) {
	t.Helper()
	r, wait := collector[M](h)
	for _, m := range msgs {
		must(t, r.Tell(m))
		must(t, r.Untyped().Tell(m))
	}
	got := wait(2 * len(msgs))
	for i, m := range msgs {
		if got[2*i] != m || got[2*i+1] != m {
			t.Errorf("%T: got %v and %v, want %v", m, got[2*i], got[2*i+1], m)
		}
	}
}

func TestKinds(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		kinds(t, h, 0, 1, 1<<30)
		kinds(t, h, "", "a", "b")
		kinds(t, h, true, false)
		kinds(t, h, struct{}{})
		kinds(t, h, nil, new(int))
		kinds[error](t, h, nil, actor.ErrFull)
		kinds[any](t, h, nil, 5, "x")
		kinds(t, h, [8]int{1, 2, 3}, [8]int{})
		kinds(t, h, h.UserGuardian(), actor.Ref{})
	})
}

// An untyped actor is sent the value itself.
func TestViewsOfUntypedActors(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		got := make(chan any, 10)
		var r actor.Ref
		h.do(func(ctx *typed.Context[any]) {
			var err error
			r, err = ctx.Untyped().Spawn(actor.Props{New: func() actor.Actor {
				return actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
					got <- msg
					return nil
				})
			}})
			must(t, err)
		})
		must(t, typed.Of[order](r).Tell(newOrder(1, 1)))
		must(t, typed.Of[int](r).TellContext(context.Background(), 1000))
		h.do(func(ctx *typed.Context[any]) {
			must(t, typed.Tell(ctx, typed.Of[string](r), "x"))
			must(t, typed.TellContext(ctx, nil, typed.Of[string](r), "y")) //nolint:staticcheck // nil means Background
			typed.Forward(ctx, typed.Of[string](r), "z")
		})
		for _, want := range []any{newOrder(1, 1), 1000, "x", "y", "z"} {
			if m := <-got; m != want {
				t.Errorf("got %v, want %v", m, want)
			}
		}
	})
}

// A message of another type is a failure that says so, boxed there or not.
func TestWrongType(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		for name, send := range map[string]func(actor.Ref) error{
			"a string": func(r actor.Ref) error { return r.Tell("x") },
			"nil":      func(r actor.Ref) error { return r.Tell(nil) },
			"a view":   func(r actor.Ref) error { return typed.Of[string](r).Tell("x") },
			"an alike": func(r actor.Ref) error { return typed.Of[struct{ who, n, sum int }](r).Tell(newOrder(1, 1)) },
		} {
			r := spawn(h, props(func(_ *typed.Context[order], m order) error {
				t.Errorf("%s was received as %v", name, m)
				return nil
			}))
			must(t, send(r.Untyped()))
			h.Gone(r.Untyped())
			f := h.Failures()
			if len(f) != 1 || f[0].Err != typed.ErrType || f[0].Actor != r.Untyped() || name != "nil" && f[0].Msg == nil {
				t.Errorf("%s: the failures are %v", name, f)
			}
		}
	})
}

// What a send gives back is the message, not its box.
func TestRefusals(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		check := func(err error, o order, to typed.Ref[order], reason error) {
			t.Helper()
			var e *actor.SendError
			if !errors.As(err, &e) || e.Msg != any(o) || e.To != to.Untyped() || !errors.Is(err, reason) {
				t.Errorf("got %v, want %v back because of %v", err, o, reason)
			}
			if got, ok := typed.Returned[order](err); !ok || got != o {
				t.Errorf("Returned = %v, %v, want %v", got, ok, o)
			}
			if got, ok := typed.Returned[string](err); ok {
				t.Errorf("Returned of another type = %q", got)
			}
		}
		refused := func(to typed.Ref[order], reason error) {
			t.Helper()
			check(to.Tell(newOrder(0, 1)), newOrder(0, 1), to, reason)
			check(to.TellContext(context.Background(), newOrder(0, 2)), newOrder(0, 2), to, reason)
			h.do(func(ctx *typed.Context[any]) {
				check(typed.Tell(ctx, to, newOrder(0, 3)), newOrder(0, 3), to, reason)
				check(typed.TellContext(ctx, context.Background(), to, newOrder(0, 4)), newOrder(0, 4), to, reason)
				typed.Forward(ctx, to, newOrder(0, 5))
			})
			if d := h.dead(); len(d) != 1 || d[0].Msg != any(newOrder(0, 5)) || d[0].Reason != reason {
				t.Errorf("the dead letters are %v", d)
			}
		}
		refused(typed.Ref[order]{}, actor.ErrZeroRef)
		if _, ok := typed.Returned[order](nil); ok {
			t.Error("Returned of no error")
		}
		gone := spawn(h, props(func(*typed.Context[order], order) error { return nil }))
		h.End(gone.Untyped())
		refused(gone, actor.ErrStopped)

		p := props(func(ctx *typed.Context[order], o order) error {
			for n := range 2 { // its own mailbox has room for one
				if err := typed.Tell(ctx, ctx.Self(), newOrder(1, n)); n == 1 {
					check(err, newOrder(1, 1), ctx.Self(), actor.ErrFull)
				}
			}
			ctx.StopSelf()
			return nil
		})
		p.Mailbox = actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}
		full := spawn(h, p)
		must(t, full.Tell(newOrder(0, 0)))
		h.Gone(full.Untyped())
		if d := h.dead(); len(d) != 1 || d[0].Msg != any(newOrder(1, 0)) {
			t.Errorf("the dead letters are %v", d)
		}
	})
}

// keeping is an actor with all hooks.
type keeping struct {
	got   chan string
	after error
}

func (k *keeping) PreStart(ctx *typed.Context[order]) error {
	k.got <- "start " + ctx.Self().Untyped().Name()
	return k.after
}

func (k *keeping) Receive(_ *typed.Context[order], o order) error {
	k.got <- fmt.Sprint("order ", o.n)
	return nil
}

func (k *keeping) PostStop(*typed.Context[order]) error {
	k.got <- "stop"
	return nil
}

func TestHooks(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		k := &keeping{got: make(chan string, 10)}
		p := typed.Props[order]{New: func() typed.Actor[order] { return k }}
		var r typed.Ref[order]
		h.do(func(ctx *typed.Context[any]) {
			var err error
			r, err = typed.SpawnNamed(ctx, "keeper", p)
			must(t, err)
			if _, err := typed.SpawnNamed(ctx, "keeper", p); err != actor.ErrNameTaken {
				t.Errorf("the name is given twice: %v", err)
			}
		})
		must(t, r.Tell(newOrder(0, 1)))
		h.Drive()
		var got []string
		for range 2 {
			got = append(got, <-k.got)
		}
		h.do(func(ctx *typed.Context[any]) { ctx.Stop(r.Untyped()) })
		h.Gone(r.Untyped())
		got = append(got, <-k.got)
		if want := []string{"start keeper", "order 1", "stop"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		k.after = errors.New("test")
		r = spawn(h, p)
		h.Gone(r.Untyped())
		if f := h.Failures(); len(f) != 1 || f[0].Err != k.after || len(k.got) != 1 {
			t.Errorf("a failed PreStart: %v, and %d calls", f, len(k.got))
		}
	})
}

func TestBecome(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		got := make(chan string, 10)
		r := spawn(h, props(func(ctx *typed.Context[order], o order) error {
			got <- fmt.Sprint("first ", o.n)
			if ctx.System() != h.System.System {
				t.Error("another system")
			}
			ctx.Become(func(ctx *typed.Context[order], o order) error {
				if !o.whole() {
					t.Errorf("got %v", o)
				}
				got <- fmt.Sprint("second ", o.n)
				if !ctx.Unbecome() || ctx.Unbecome() {
					t.Error("there was one behaviour to go back by")
				}
				return nil
			})
			return nil
		}))
		for n := range 4 {
			must(t, r.Tell(newOrder(0, n)))
		}
		h.Drive()
		for _, want := range []string{"first 0", "second 1", "first 2", "second 3"} {
			if s := <-got; s != want {
				t.Errorf("got %q, want %q", s, want)
			}
		}
	})
}

// Messages that no actor handles, and those that were failed on, stay what they
// are, whatever is sent afterwards: their boxes are not used again.
func TestLostMessagesStay(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		var mu sync.Mutex
		var raw []any // as the core has them
		keep := func(msg any) {
			mu.Lock()
			defer mu.Unlock()
			raw = append(raw, msg)
		}
		sys, err := actor.NewSystem(actor.Config{
			Guardian: props(func(ctx *typed.Context[int], n int) error {
				p := props(func(ctx *typed.Context[order], o order) error {
					for n := range 4 {
						must(t, typed.Tell(ctx, ctx.Self(), newOrder(o.who, n+1)))
					}
					return errors.New("test")
				})
				p.Mailbox = actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 2}
				r, err := typed.Spawn(ctx, p)
				must(t, err)
				return typed.Tell(ctx, r, newOrder(n, 0))
			}).Untyped(),
			Dispatcher:  impls.All()[0].NewDispatcher(),
			DeadLetters: func(l actor.DeadLetter) { keep(l.Msg) },
		})
		must(t, err)
		const actors = 20
		guardian := typed.Of[int](sys.UserGuardian())
		for n := range actors {
			must(t, guardian.Tell(n))
		}
		for sys.Stats().Actors > 3 || sys.Stats().Spawned < 3+actors {
			runtime.Gosched()
		}
		other, wait := collector[order](h)
		for n := range 100 {
			must(t, other.Tell(newOrder(-1, n)))
		}
		wait(100)
		must(t, sys.Shutdown(context.Background()))
		seen := map[order]int{}
		for _, m := range raw {
			seen[unbox(m).(order)]++
		}
		for who := range actors {
			for n := range 5 {
				if k := seen[newOrder(who, n)]; k != 1 {
					t.Errorf("message %d of %d is seen %d times", n, who, k)
				}
			}
		}
	})
}

// Any number of senders, receivers that pass on, refuse and drop: no message
// is changed or seen twice.
func TestStorm(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		const senders, each = 4, 3000
		var mu sync.Mutex
		seen := make([][each]int, senders)
		count := 0
		see := func(o order) {
			mu.Lock()
			defer mu.Unlock()
			if !o.whole() {
				t.Errorf("a message has become %v", o)
				return
			}
			seen[o.who][o.n]++
			count++
		}
		p := props(func(_ *typed.Context[order], o order) error {
			see(o)
			return nil
		})
		p.Mailbox = actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 50}
		last := spawn(h, p)
		first := spawn(h, props(func(ctx *typed.Context[order], o order) error {
			if err := typed.Tell(ctx, last, o); err != nil {
				back, ok := typed.Returned[order](err)
				if !ok || back != o {
					t.Errorf("got %v back for %v", back, o)
				}
				see(back)
			}
			return nil
		}))
		var wg sync.WaitGroup
		for who := range senders {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for n := range each {
					must(t, first.Tell(newOrder(who, n)))
				}
			}()
		}
		wg.Wait()
		for {
			h.Drive()
			mu.Lock()
			n := count
			mu.Unlock()
			if n >= senders*each {
				break
			}
			runtime.Gosched()
		}
		for who := range seen {
			for n, k := range seen[who] {
				if k != 1 {
					t.Fatalf("message %d of %d is seen %d times", n, who, k)
				}
			}
		}
	})
}

func TestRank(t *testing.T) {
	onAll(t, func(t *testing.T, h *host) {
		done := make(chan []int, 1)
		var got []int
		p := props(func(ctx *typed.Context[order], o order) error {
			got = append(got, o.n)
			switch o.n {
			case 9:
				for _, n := range []int{3, 1, 4, 2} {
					must(t, typed.Tell(ctx, ctx.Self(), newOrder(0, n)))
				}
				must(t, ctx.Untyped().Tell(ctx.Self().Untyped(), newOrder(0, 0)))
			case 4:
				done <- got
			}
			return nil
		})
		p.Rank = func(o order) int { return o.n }
		r := spawn(h, p)
		must(t, r.Tell(newOrder(0, 9)))
		h.Drive()
		if got := <-done; !slices.Equal(got, []int{9, 0, 1, 2, 3, 4}) {
			t.Errorf("handled in the order %v", got)
		}
		must(t, r.Untyped().Tell("x")) // ranks as 0, and fails
		h.Gone(r.Untyped())
		if f := h.Failures(); len(f) != 1 || f[0].Err != typed.ErrType {
			t.Errorf("the failures are %v", f)
		}
	})
}

func TestMisuse(t *testing.T) {
	h := newHost(t, impls.All()[0])
	panics := func(name string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s does not panic", name)
			}
		}()
		f()
	}
	p := props(func(*typed.Context[int], int) error { return nil })
	q := p
	q.Props.New = func() actor.Actor { return nil }
	panics("an untyped New", func() { q.Untyped() })
	q = p
	q.Mailbox.Priority = func(any) int { return 0 }
	panics("an untyped Priority", func() { q.Untyped() })
	h.do(func(ctx *typed.Context[any]) {
		panics("Become(nil)", func() { ctx.Become(nil) })
		for _, p := range []typed.Props[int]{{}, {New: func() typed.Actor[int] { return nil }}} {
			var e *actor.PropsError
			if r, err := typed.Spawn(ctx, p); !errors.As(err, &e) || e.Field != "Props.New" || !r.IsZero() {
				t.Errorf("no actor: %v, %v", r, err)
			}
		}
	})
}

// link writes down what it is to carry.
type link struct{ got chan any }

func (l link) Send(_ context.Context, _ actor.Ref, msg any) error {
	l.got <- msg
	return nil
}

// A box does not leave the process.
func TestLinksSeeNoBoxes(t *testing.T) {
	h := newHost(t, impls.All()[0])
	l := link{make(chan any, 1)}
	h.Connect("b", 1, l)
	r, err := h.Resolve("dyno://b@1/user/x#7")
	must(t, err)
	must(t, typed.Of[order](r).Tell(newOrder(1, 2)))
	if m := <-l.got; m != any(newOrder(1, 2)) {
		t.Errorf("the link got %v", m)
	}
	must(t, r.Tell(parcelOf(5))) // one that was kept and is passed on
	if m := <-l.got; m != 5 {
		t.Errorf("the link got %v", m)
	}
}

// parcelOf is a box.
type parcelOf int

func (p parcelOf) Unbox() any { return int(p) }
