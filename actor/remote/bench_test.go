package remote_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/workstealing"
)

// conns are the two ends of a connection over loopback.
func conns(b *testing.B) (x, y net.Conn) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if x, err = net.Dial("tcp", l.Addr().String()); err != nil {
		b.Fatal(err)
	}
	if y, err = l.Accept(); err != nil {
		b.Fatal(err)
	}
	return x, y
}

// nodes are two systems that are connected over TCP.
func nodes(b *testing.B, c remote.Config) (x, y *remotetest.Host) {
	b.Helper()
	x = remotetest.NewHost(b, "x", workstealing.Impl.NewDispatcher(), c)
	y = remotetest.NewHost(b, "y", workstealing.Impl.NewDispatcher(), c)
	remotetest.Join(b, remotetest.Link{Pair: tcpPair}, x, y)
	return x, y
}

// BenchmarkPingPong is a message there and back; an op is both. The reference is
// two goroutines that send each other frames of the same size.
func BenchmarkPingPong(b *testing.B) {
	b.Run("impl=ref-tcp", func(b *testing.B) {
		const size = 64 // about what a frame of one message has
		x, y := conns(b)
		go func() {
			r, buf := bufio.NewReader(y), make([]byte, size)
			for {
				if _, err := io.ReadFull(r, buf); err != nil {
					return
				}
				if _, err := y.Write(buf); err != nil {
					return
				}
			}
		}()
		r, buf := bufio.NewReader(x), make([]byte, size)
		for b.Loop() {
			if _, err := x.Write(buf); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(r, buf); err != nil {
				b.Fatal(err)
			}
		}
		_ = x.Close()
		_ = y.Close()
	})
	b.Run("impl=remote", func(b *testing.B) {
		x, y := nodes(b, remote.Config{})
		var home actor.Ref
		done := make(chan struct{})
		left := b.N
		ping := x.SpawnFunc(func(ctx *actor.Context, msg any) error {
			if left--; left == 0 {
				close(done)
				return nil
			}
			return ctx.Tell(home, msg)
		})
		back := y.Abroad(ping)
		home = x.Abroad(y.SpawnFunc(func(ctx *actor.Context, msg any) error { return ctx.Tell(back, msg) }))
		b.ResetTimer()
		if err := home.Tell(remotetest.Count(7)); err != nil {
			b.Fatal(err)
		}
		<-done
	})
}

// BenchmarkCount is one actor that sends to another one. batch=1 has each message
// in a frame of its own. The reference writes numbers of eight bytes with a length
// through a buffer of 64 KiB.
func BenchmarkCount(b *testing.B) {
	b.Run("impl=ref-tcp", func(b *testing.B) {
		x, y := conns(b)
		done := make(chan uint64)
		go func() {
			r := bufio.NewReaderSize(y, 64<<10)
			var n uint64
			var head [4]byte
			buf := make([]byte, 8)
			for {
				if _, err := io.ReadFull(r, head[:]); err != nil {
					done <- n
					return
				}
				if _, err := io.ReadFull(r, buf[:binary.BigEndian.Uint32(head[:])]); err == nil {
					n++
				}
			}
		}()
		w, buf := bufio.NewWriterSize(x, 64<<10), make([]byte, 12)
		buf[3] = 8
		for b.Loop() {
			if _, err := w.Write(buf); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		_ = x.Close()
		if n := <-done; n != uint64(b.N) {
			b.Errorf("%d of %d arrived", n, b.N)
		}
		_ = y.Close()
	})
	for _, batch := range []int{64 << 10, 1} {
		name := "impl=remote"
		if batch == 1 {
			name += "/batch=1"
		}
		b.Run(name, func(b *testing.B) {
			x, y := nodes(b, remote.Config{Batch: batch})
			count(b, x, y, 1)
		})
	}
}

// BenchmarkFanIn is eight actors that send to one.
func BenchmarkFanIn(b *testing.B) {
	b.Run("impl=remote", func(b *testing.B) {
		x, y := nodes(b, remote.Config{})
		count(b, x, y, 8)
	})
}

func count(b *testing.B, x, y *remotetest.Host, senders int) {
	done := make(chan struct{})
	left := (b.N + senders - 1) / senders * senders
	each := left / senders
	far := x.Abroad(y.SpawnFunc(func(*actor.Context, any) error {
		if left--; left == 0 {
			close(done)
		}
		return nil
	}))
	var refs []actor.Ref
	for range senders {
		refs = append(refs, x.SpawnFunc(func(ctx *actor.Context, _ any) error {
			for i := range each {
				if err := ctx.Tell(far, remotetest.Count(i&127)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	b.ResetTimer()
	for _, r := range refs {
		if err := r.Tell("go"); err != nil {
			b.Fatal(err)
		}
	}
	<-done
}

// BenchmarkAsk is a question and its answer.
func BenchmarkAsk(b *testing.B) {
	b.Run("impl=remote", func(b *testing.B) {
		x, y := nodes(b, remote.Config{})
		far := x.Abroad(y.SpawnFunc(func(ctx *actor.Context, msg any) error {
			q := msg.(remotetest.Question)
			return ctx.Reply(q.ReplyTo, remotetest.Count(q.N))
		}))
		for b.Loop() {
			f := x.Sys.Ask(far, 0, func(to actor.ReplyTo) any { return remotetest.Question{N: 1, ReplyTo: to} })
			if m, err := f.Wait(context.Background()); err != nil || m != remotetest.Count(1) {
				b.Fatal(m, err)
			}
		}
	})
}

// BenchmarkSlowReceiver is an actor that handles a message a microsecond, at the other
// end of senders that send as fast as they may. An op is a message handled; most
// is how many were accepted and not handled at once, which a window and a backlog
// bound.
func BenchmarkSlowReceiver(b *testing.B) {
	b.Run("impl=remote", func(b *testing.B) {
		c := remote.Config{Window: 256, Backlog: 256}
		x, y := nodes(b, c)
		var accepted, handled atomic.Int64
		done := make(chan struct{})
		far := x.Abroad(y.SpawnFunc(func(*actor.Context, any) error {
			for t := time.Now(); time.Since(t) < time.Microsecond; {
			}
			if handled.Add(1) == int64(b.N) {
				close(done)
			}
			return nil
		}))
		b.ResetTimer()
		most := int64(0)
		for range b.N {
			if err := far.Tell(remotetest.Count(1)); err != nil {
				b.Fatal(err)
			}
			most = max(most, accepted.Add(1)-handled.Load())
		}
		<-done
		b.ReportMetric(float64(most), "most")
		// Between two looks at the mailbox 32 come, and a turn may have picked up 300.
		if bound := int64(c.Window + c.Backlog + 32 + 300 + 1); most > bound {
			b.Errorf("%d messages were accepted and not handled, of at most %d", most, bound)
		}
	})
}

// BenchmarkWatchStorm is 10,000 watched actors whose node is cut off: the time
// until the last watcher knows. An op is an actor.
func BenchmarkWatchStorm(b *testing.B) {
	b.Run("impl=remote", func(b *testing.B) {
		const n = 10_000
		for i := 0; i < b.N; i += n {
			b.StopTimer()
			x := remotetest.NewHost(b, "x", workstealing.Impl.NewDispatcher(), remote.Config{})
			y := remotetest.NewHost(b, "y", workstealing.Impl.NewDispatcher(), remote.Config{})
			ab, _ := remotetest.Join(b, remotetest.Link{Pair: tcpPair}, x, y)
			var refs []actor.Ref
			for range n {
				refs = append(refs, x.Abroad(y.SpawnFunc(func(*actor.Context, any) error { return nil })))
			}
			ready, told := make(chan struct{}), make(chan struct{})
			left := n
			w := x.SpawnFunc(func(ctx *actor.Context, msg any) error {
				if _, ok := msg.(actor.Terminated); ok {
					if left--; left == 0 {
						close(told)
					}
					return nil
				}
				for _, r := range refs {
					ctx.Watch(r)
				}
				close(ready)
				return nil
			})
			if err := w.Tell("watch"); err != nil {
				b.Fatal(err)
			}
			<-ready
			b.StartTimer()
			ab.Close()
			<-told
		}
	})
}
