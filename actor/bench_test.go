package actor_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// A message on its way: how many hops it still has to go.
type ball struct{ left int }

// player passes balls to the next one.
type player struct {
	next actor.Ref
	done chan struct{}
}

func (p *player) Receive(ctx *actor.Context, msg any) error {
	switch m := msg.(type) {
	case *ball:
		if m.left--; m.left < 0 {
			p.done <- struct{}{}
			return nil
		}
		return ctx.Tell(p.next, m)
	case actor.Ref:
		p.next = m
	}
	return nil
}

// newRing makes n players in a ring and returns one of them.
func newRing(ctx *actor.Context, n int, done chan struct{}) (first actor.Ref, err error) {
	var last actor.Ref
	for range n {
		r, err := ctx.Spawn(actor.Props{New: func() actor.Actor { return &player{done: done} }})
		if err != nil {
			return first, err
		}
		if last.IsZero() {
			first = r
		} else if err := ctx.Tell(r, last); err != nil {
			return first, err
		}
		last = r
	}
	return first, ctx.Tell(first, last)
}

// BenchmarkHop is the cost of a message: from actor to actor (pingpong, ring),
// in many such pairs at once (pairs), and in a stream (count).
func BenchmarkHop(b *testing.B) {
	forEach(b, func(b *testing.B, impl dyno.Impl) {
		ring := func(balls, n int) func(*testing.B) {
			return func(b *testing.B) {
				done := make(chan struct{}, balls)
				h := newHost(b, impl)
				var first []actor.Ref
				h.do(func(ctx *actor.Context) {
					for range balls {
						r, err := newRing(ctx, n, done)
						if err != nil {
							b.Error(err)
						}
						first = append(first, r)
					}
				})
				b.ReportAllocs()
				b.ResetTimer()
				for _, r := range first {
					must(b, r.Tell(&ball{b.N / balls}))
				}
				h.Drive()
				for range balls {
					<-done
				}
			}
		}
		b.Run("work=pingpong", ring(1, 2))
		b.Run("work=ring", ring(1, 100))
		b.Run("work=pairs", ring(1000, 2))
		b.Run("work=count", func(b *testing.B) {
			h := newHost(b, impl)
			left, done := b.N, make(chan struct{})
			var counter, producer actor.Ref
			h.do(func(ctx *actor.Context) {
				counter, _ = ctx.Spawn(actortest.Func(func(*actor.Context, any) error {
					if left--; left == 0 {
						close(done)
					}
					return nil
				}))
				producer, _ = ctx.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
					for range b.N {
						if err := ctx.Tell(counter, msg); err != nil {
							return err
						}
					}
					return nil
				}))
			})
			b.ReportAllocs()
			b.ResetTimer()
			must(b, producer.Tell(&ball{}))
			h.Drive()
			<-done
		})
	})
	b.Run("impl=ref-chan-buffered", func(b *testing.B) {
		b.Run("work=pingpong", func(b *testing.B) {
			there, back := make(chan *ball, 1), make(chan *ball, 1)
			go func() {
				for m := range there {
					m.left--
					back <- m
				}
				close(back)
			}()
			there <- &ball{b.N}
			for m := range back {
				if m.left--; m.left <= 0 {
					break
				}
				there <- m
			}
			close(there)
		})
		b.Run("work=count", func(b *testing.B) {
			c := make(chan any, 1024)
			go func() {
				m := &ball{}
				for range b.N {
					c <- m
				}
				close(c)
			}()
			n := 0
			for range c {
				n++
			}
		})
	})
	b.Run("impl=ref-mutex-cond", func(b *testing.B) {
		b.Run("work=count", func(b *testing.B) {
			var (
				mu sync.Mutex
				q  []any
			)
			cond := sync.NewCond(&mu)
			go func() {
				m := &ball{}
				for range b.N {
					mu.Lock()
					q = append(q, m)
					if len(q) == 1 {
						cond.Signal()
					}
					mu.Unlock()
				}
			}()
			var batch []any
			for n := 0; n < b.N; n += len(batch) {
				mu.Lock()
				for len(q) == 0 {
					cond.Wait()
				}
				clear(batch)
				q, batch = batch[:0], q
				mu.Unlock()
			}
		})
	})
}

// BenchmarkSpawn is the cost of an actor, with its first message, and what it
// occupies when idle.
func BenchmarkSpawn(b *testing.B) {
	forEach(b, func(b *testing.B, impl dyno.Impl) {
		if b.N == 1 { // later it would be in the middle of the result's line
			fmt.Println("Unit B/actor better=lower")
		}
		h := newHost(b, impl)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		b.ResetTimer()
		h.do(func(ctx *actor.Context) {
			p := actor.Props{New: func() actor.Actor { return &player{} }}
			for range b.N {
				r, err := ctx.Spawn(p)
				if err != nil {
					b.Error(err)
					return
				}
				if err := ctx.Tell(r, actor.Ref{}); err != nil {
					b.Error(err)
					return
				}
			}
		})
		h.do(func(*actor.Context) {})
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/float64(b.N), "B/actor")
		b.StartTimer()
		must(b, h.System.Shutdown(context.Background()))
	})
}
