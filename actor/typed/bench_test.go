package typed_test

import (
	"sync"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/typed"
	"github.com/dynolab/dyno/impls"
)

// Messages of so many bytes.
type (
	m8  struct{ a int64 }
	m16 struct {
		a int64
		_ [1]int64
	}
	m24 struct {
		a int64
		_ [2]int64
	}
	m64 struct {
		a int64
		_ [7]int64
	}
)

func (m m8) left() int64       { return m.a }
func (m m16) left() int64      { return m.a }
func (m m24) left() int64      { return m.a }
func (m m64) left() int64      { return m.a }
func (m *m24p) left() int64    { return m.a }
func (m m8) less() m8          { m.a--; return m }
func (m m16) less() m16        { m.a--; return m }
func (m m24) less() m24        { m.a--; return m }
func (m m64) less() m64        { m.a--; return m }
func (m *m24p) less() *m24p    { m.a--; return m }
func (m m8) with(n int) m8     { m.a = int64(n); return m }
func (m m16) with(n int) m16   { m.a = int64(n); return m }
func (m m24) with(n int) m24   { m.a = int64(n); return m }
func (m m64) with(n int) m64   { m.a = int64(n); return m }
func (*m24p) with(n int) *m24p { return &m24p{m24{a: int64(n)}} }

// m24p is sent as a pointer.
type m24p struct{ m24 }

type ball[M any] interface {
	left() int64
	less() M
	with(n int) M
}

// pingpong returns a function that has two actors send each other n messages.
func pingpong[M ball[M]](h *host) func(n int) {
	done := make(chan struct{}, 1)
	var first typed.Ref[M]
	h.do(func(ctx *typed.Context[any]) {
		var next [2]typed.Ref[M]
		for i := range next {
			var err error
			next[i], err = typed.Spawn(ctx, props(func(ctx *typed.Context[M], m M) error {
				if m.left() == 0 {
					done <- struct{}{}
					return nil
				}
				return typed.Tell(ctx, next[1-i], m.less())
			}))
			must(h, err)
		}
		first = next[0]
	})
	return func(n int) {
		var m M
		must(h, first.Tell(m.with(n)))
		h.Drive()
		<-done
	}
}

// flood returns a function that has one actor send n messages to another, and
// then the other say that it has them.
func flood[M ball[M]](h *host) func(n int) {
	done := make(chan struct{}, 1)
	var from typed.Ref[int]
	h.do(func(ctx *typed.Context[any]) {
		p := props(func(_ *typed.Context[M], m M) error {
			if m.left() == 0 {
				done <- struct{}{}
			}
			return nil
		})
		// As many boxes as ever wait are made, and a bound says how many.
		p.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 256}
		sink, err := typed.Spawn(ctx, p)
		must(h, err)
		from, err = typed.Spawn(ctx, props(func(ctx *typed.Context[int], n int) error {
			var m M
			m = m.with(n)
			for ; n > 0; n-- {
				if err := typed.Tell(ctx, sink, m); err != nil {
					return err
				}
			}
			return typed.Tell(ctx, sink, m.with(0))
		}))
		must(h, err)
	})
	return func(n int) {
		must(h, from.Tell(n))
		h.Drive()
		<-done
	}
}

// untyped is pingpong with package actor alone.
func untyped[M ball[M]](h *host) func(n int) {
	done := make(chan struct{}, 1)
	var first actor.Ref
	h.do(func(ctx *typed.Context[any]) {
		var next [2]actor.Ref
		for i := range next {
			var err error
			next[i], err = ctx.Untyped().Spawn(actor.Props{New: func() actor.Actor {
				return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					m := msg.(M)
					if m.left() == 0 {
						done <- struct{}{}
						return nil
					}
					return ctx.Tell(next[1-i], m.less())
				})
			}})
			must(h, err)
		}
		first = next[0]
	})
	return func(n int) {
		var m M
		must(h, first.Tell(m.with(n)))
		h.Drive()
		<-done
	}
}

func BenchmarkPingPong(b *testing.B) {
	for _, impl := range impls.All() {
		b.Run("impl="+impl.Name, func(b *testing.B) {
			for _, v := range []struct {
				name string
				prep func(*host) func(int)
			}{
				{"layer=typed/msg=8", pingpong[m8]},
				{"layer=typed/msg=16", pingpong[m16]},
				{"layer=typed/msg=24", pingpong[m24]},
				{"layer=typed/msg=64", pingpong[m64]},
				{"layer=typed/msg=pointer", pingpong[*m24p]},
				{"layer=untyped/msg=24", untyped[m24]},
				{"layer=untyped/msg=64", untyped[m64]},
				{"layer=untyped/msg=pointer", untyped[*m24p]},
				{"layer=flood/msg=24", flood[m24]},
				{"layer=flood/msg=pointer", flood[*m24p]},
			} {
				b.Run(v.name, func(b *testing.B) {
					run := v.prep(newHost(b, impl))
					run(1000)
					b.ReportAllocs()
					b.ResetTimer()
					run(b.N)
				})
			}
		})
	}
}

// parcel is what a box is, for the comparison of ways to keep boxes.
type parcel struct {
	next *parcel
	msg  m24
}

type keeper interface {
	get() *parcel
	put(*parcel)
}

type fresh struct{}

func (fresh) get() *parcel { return new(parcel) }
func (fresh) put(*parcel)  {}

type pooled struct{ p sync.Pool }

func (k *pooled) get() *parcel {
	if x, ok := k.p.Get().(*parcel); ok {
		return x
	}
	return new(parcel)
}
func (k *pooled) put(x *parcel) { k.p.Put(x) }

// listed is a list for all. It has a lock: one without would have to tell a
// parcel that is back from one that was never away.
type listed struct {
	mu  sync.Mutex
	top *parcel
}

func (k *listed) get() *parcel {
	k.mu.Lock()
	x := k.top
	if x == nil {
		k.mu.Unlock()
		return new(parcel)
	}
	k.top = x.next
	k.mu.Unlock()
	return x
}

func (k *listed) put(x *parcel) {
	k.mu.Lock()
	x.next = k.top
	k.top = x
	k.mu.Unlock()
}

// BenchmarkKeepers compares ways to keep boxes: "own", every goroutine gives
// back what it took; "passed", what one took another one gives back, 64 at a time.
func BenchmarkKeepers(b *testing.B) {
	for _, v := range []struct {
		name string
		make func() keeper
	}{
		{"new", func() keeper { return fresh{} }},
		{"sync.Pool", func() keeper { return &pooled{} }},
		{"list", func() keeper { return &listed{} }},
	} {
		b.Run("use=own/keeper="+v.name, func(b *testing.B) {
			k := v.make()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					x := k.get()
					x.msg.a++
					k.put(x)
				}
			})
		})
		b.Run("use=passed/keeper="+v.name, func(b *testing.B) {
			k := v.make()
			const batch = 64
			full, empty := make(chan []*parcel, 16), make(chan []*parcel, 16)
			for range cap(empty) {
				empty <- make([]*parcel, 0, batch)
			}
			b.ReportAllocs()
			go func() {
				defer close(full)
				for i := 0; i < b.N; i += batch {
					list := <-empty
					for range batch {
						x := k.get()
						x.msg.a++
						list = append(list, x)
					}
					full <- list
				}
			}()
			for list := range full {
				for _, x := range list {
					k.put(x)
				}
				clear(list)
				empty <- list[:0]
			}
		})
	}
}
