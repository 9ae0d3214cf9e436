package lockbased_test

import (
	"context"
	"testing"
	"unsafe"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/lockbased"
)

type ball struct{ left int }

func start(tb testing.TB, d actor.Dispatcher, f actor.ReceiveFunc) *actor.System {
	tb.Helper()
	s, err := actor.NewSystem(actor.Config{
		Dispatcher: d,
		Guardian:   actor.Props{New: func() actor.Actor { return f }},
		DeadLetters: func(l actor.DeadLetter) {
			tb.Errorf("dead letter %v for %v: %v", l.Msg, l.To, l.Reason)
		},
		Failures: func(f actor.Failure) { tb.Errorf("%v failed: %v", f.Actor, f.Err) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return s
}

type pinger struct {
	peer actor.Ref
	done chan struct{}
}

func (p *pinger) Receive(ctx *actor.Context, msg any) error {
	switch m := msg.(type) {
	case *ball:
		if m.left--; m.left <= 0 {
			p.done <- struct{}{}
			return nil
		}
		return ctx.Tell(p.peer, m)
	case actor.Ref:
		p.peer = m
	}
	return nil
}

// ringOf makes n actors in a ring and returns one.
func ringOf(tb testing.TB, d actor.Dispatcher, n int, done chan struct{}) actor.Ref {
	ready := make(chan actor.Ref)
	s := start(tb, d, func(ctx *actor.Context, msg any) error {
		var first, last actor.Ref
		for range n {
			r, err := ctx.Spawn(actor.Props{New: func() actor.Actor { return &pinger{done: done} }})
			if err != nil {
				return err
			}
			if last.IsZero() {
				first = r
			} else if err := ctx.Tell(r, last); err != nil {
				return err
			}
			last = r
		}
		ready <- first
		return ctx.Tell(first, last)
	})
	if err := s.UserGuardian().Tell("go"); err != nil {
		tb.Fatal(err)
	}
	return <-ready
}

func TestRing(t *testing.T) {
	t.Log("box", unsafe.Sizeof(actor.Cell{}))
	done := make(chan struct{}, 1)
	r := ringOf(t, lockbased.NewDispatcher(), 100, done)
	r.Tell(&ball{10_000})
	<-done
}

func BenchmarkScratchRing(b *testing.B) {
	for _, n := range []int{2, 100} {
		b.Run(map[int]string{2: "pingpong", 100: "ring"}[n], func(b *testing.B) {
			done := make(chan struct{}, 1)
			r := ringOf(b, lockbased.NewDispatcher(), n, done)
			b.ReportAllocs()
			b.ResetTimer()
			r.Tell(&ball{b.N})
			<-done
		})
	}
	b.Run("ref-chan", func(b *testing.B) {
		x, y := make(chan *ball, 1), make(chan *ball, 1)
		f := func(in, out chan *ball) {
			for m := range in {
				m.left--
				out <- m
			}
			close(out)
		}
		go f(x, y)
		b.ResetTimer()
		m := &ball{b.N}
		x <- m
		for m := range y {
			if m.left--; m.left <= 0 {
				break
			}
			x <- m
		}
		close(x)
	})
}
