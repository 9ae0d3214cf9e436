package typed_test

import (
	"runtime"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/typed"
)

// TestMessagesDoNotAllocate counts what messages of several sizes allocate when
// queues and pools have grown to their size: nothing.
func TestMessagesDoNotAllocate(t *testing.T) {
	if poolsDrop {
		t.Skip("with -race a sync.Pool drops some of what it is given, at random")
	}
	const n = 50_000
	onAll(t, func(t *testing.T, h *host) {
		for _, v := range []struct {
			name string
			prep func(*host) func(int)
			most uint64 // some dozens for starting the run, a timer or a worker
		}{
			{"8 bytes", pingpong[m8], n / 500},
			{"16 bytes", pingpong[m16], n / 500},
			{"24 bytes", pingpong[m24], n / 500},
			{"64 bytes", pingpong[m64], n / 500},
			{"a pointer", pingpong[*m24p], n / 500},
			// Here a sender that waits for room allocates, once in 256 messages.
			{"24 bytes in a flood", flood[m24], n / 20},
		} {
			run := v.prep(h)
			run(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run(n)
			runtime.ReadMemStats(&after)
			if got := after.Mallocs - before.Mallocs; got > v.most {
				t.Errorf("%s: %d allocations for %d messages", v.name, got, n)
			}
		}
	})
}

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
