package mailboxes

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// throughput is how many messages a turn takes at most, as in the dispatcher.
const throughput = 300

// window is how many messages a producer may be ahead of the turns.
const window = 4096

// BenchmarkMailbox compares the kinds. One op is one message, or one mailbox
// for work=spawn.
func BenchmarkMailbox(b *testing.B) {
	works := []struct {
		name string
		run  func(b *testing.B, k Kind)
	}{
		{"alone", benchAlone},
		{"handoff", benchHandoff},
		{"burst", func(b *testing.B, k Kind) { benchBurst(b, k, 64) }},
		{"batch", func(b *testing.B, k Kind) { benchBurst(b, k, throughput) }},
		{"stream/producers=1", func(b *testing.B, k Kind) { benchStream(b, k, 1, 0, 0) }},
		{"stream/producers=1/gap=10", func(b *testing.B, k Kind) { benchStream(b, k, 1, 10, 0) }},
		{"stream/producers=1/gap=100", func(b *testing.B, k Kind) { benchStream(b, k, 1, 100, 0) }},
		{"stream/producers=1/gap=10/linger=300", func(b *testing.B, k Kind) { benchStream(b, k, 1, 10, 300) }},
		{"stream/producers=2", func(b *testing.B, k Kind) { benchStream(b, k, 2, 0, 0) }},
		{"stream/producers=8", func(b *testing.B, k Kind) { benchStream(b, k, 8, 0, 0) }},
		{"spawn", benchSpawn},
	}
	for _, w := range works {
		b.Run("work="+w.name, func(b *testing.B) {
			for _, k := range Kinds() {
				b.Run("box="+k.Name, func(b *testing.B) { w.run(b, k) })
			}
		})
	}
}

// payload is what a message points to: who sent it and its number modulo the
// length of the sender's list, so that the receiver can check the order.
type payload struct{ producer, number int }

const payloads = 1024

func makePayloads(producer int) []any {
	msgs := make([]any, payloads)
	for i := range msgs {
		msgs[i] = &payload{producer, i}
	}
	return msgs
}

// checker handles messages: it looks at each and checks its producer's order.
type checker struct {
	next   [8]int
	wrong  int
	counts int
}

func (c *checker) handle(msg any) {
	p := msg.(*payload)
	if p.number != c.next[p.producer] {
		c.wrong++
	}
	c.next[p.producer] = (p.number + 1) % payloads
	c.counts++
}

func (c *checker) check(b *testing.B) {
	if c.counts != b.N || c.wrong != 0 {
		b.Fatalf("%d of %d messages came, %d of them out of order", c.counts, b.N, c.wrong)
	}
}

// measure runs f between two looks at the clock and the allocator.
func measure(b *testing.B, f func()) {
	if b.N == 1 { // later it would be in the middle of the result's line
		fmt.Println("Unit allocs/msg better=lower")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	f()
	b.StopTimer()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N), "allocs/msg")
}

// steps works for n steps, of which each needs the one before, on an x that is not
// zero and never becomes so.
func steps(n int, x uint64) uint64 {
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		panic("steps: zero")
	}
	return x
}

// benchAlone pushes and pops on one worker, in a turn that never ends.
func benchAlone(b *testing.B, k Kind) {
	w, box, msgs := NewWorker(new(Depot)), k.New(), makePayloads(0)
	var c checker
	box.Push(msgs[0], w)
	box.Pop(w)
	measure(b, func() {
		for i := range b.N {
			box.Push(msgs[i%payloads], w)
			if msg, ok := box.Pop(w); ok {
				c.handle(msg)
			}
		}
	})
	c.check(b)
}

// benchHandoff is one message after the other to an actor that waits for it, on
// one worker: each schedules it, and each turn makes it idle.
func benchHandoff(b *testing.B, k Kind) {
	w, box, msgs := NewWorker(new(Depot)), k.New(), makePayloads(0)
	var c checker
	measure(b, func() {
		for i := range b.N {
			if !box.Push(msgs[i%payloads], w) {
				b.Fatal("the box was not idle")
			}
			if msg, ok := box.Pop(w); ok {
				c.handle(msg)
			}
			if !box.Rest(w) {
				b.Fatal("the box did not go idle")
			}
		}
	})
	c.check(b)
}

// benchBurst sends n messages to an idle actor and then gives it a turn, on one
// worker.
func benchBurst(b *testing.B, k Kind, n int) {
	w, box, msgs := NewWorker(new(Depot)), k.New(), makePayloads(0)
	var c checker
	measure(b, func() {
		for i := 0; i < b.N; {
			for range min(n, b.N-i) {
				box.Push(msgs[i%payloads], w)
				i++
			}
			for {
				msg, ok := box.Pop(w)
				if !ok {
					break
				}
				c.handle(msg)
			}
			if !box.Rest(w) {
				b.Fatal("the box did not go idle")
			}
		}
	})
	c.check(b)
}

// benchStream is producers on goroutines of their own and one that runs the
// turns and, while the box is idle, looks for work like a worker before it parks:
// with GOMAXPROCS=2 and one producer, one on each core. Producers wait while they
// are too far ahead.
//
// Before each message a producer works for gap steps, of about a nanosecond each.
// A turn that finds nothing more works for linger steps before it goes idle.
func benchStream(b *testing.B, k Kind, producers, gap, linger int) {
	depot, box := new(Depot), k.New()
	var shared struct {
		_       [line]byte
		ready   atomic.Bool // the box is scheduled and in no turn
		_       [line]byte
		handled atomic.Int64 // per producer, on average; the turn's
		_       [line]byte
	}
	msgs := make([][]any, producers)
	for p := range msgs {
		msgs[p] = makePayloads(p)
	}
	var c checker
	turns, x := 0, uint64(1)
	var sending sync.WaitGroup
	start := make(chan struct{})
	for p := range producers {
		n := b.N / producers
		if p < b.N%producers {
			n++
		}
		msgs := msgs[p]
		sending.Add(1)
		go func() {
			defer sending.Done()
			w := NewWorker(depot)
			<-start
			limit, x := window, uint64(1)
			for i := range n {
				if i == limit {
					for {
						if limit = int(shared.handled.Load())/producers + window; limit > i {
							break
						}
						runtime.Gosched()
					}
				}
				x = steps(gap, x)
				if box.Push(msgs[i%payloads], w) {
					shared.ready.Store(true)
				}
			}
		}()
	}
	w := NewWorker(depot)
	measure(b, func() {
		close(start)
		for c.counts < b.N {
			if !shared.ready.Load() {
				runtime.Gosched()
				continue
			}
			shared.ready.Store(false)
			for idle := false; !idle; {
				turns++
				n := 0
				for ; n < throughput; n++ {
					msg, ok := box.Pop(w)
					if !ok {
						break
					}
					c.handle(msg)
				}
				shared.handled.Store(int64(c.counts))
				if n == throughput {
					continue // it yields: it stays scheduled
				}
				x = steps(linger, x)
				if idle = box.Rest(w); !idle && n == 0 {
					runtime.Gosched() // a Push has not ended
				}
			}
		}
		sending.Wait()
	})
	c.check(b)
	runtime.KeepAlive(x)
	b.ReportMetric(float64(b.N)/float64(turns), "msgs/turn")
}

// benchSpawn makes mailboxes and has one message go through each. Its metrics
// are what a mailbox takes when it is new, when it is idle after one message, 64
// and 1,024; what its lists had is in the depot then, once for all mailboxes.
func benchSpawn(b *testing.B, k Kind) {
	const sample = 512
	depot := new(Depot)
	w := NewWorker(depot)
	var msg any = &payload{}
	through := func(box Box, n int) {
		for range n {
			box.Push(msg, w)
		}
		for range n {
			if _, ok := box.Pop(w); !ok {
				b.Fatal("a message is missing")
			}
		}
		if !box.Rest(w) {
			b.Fatal("the box did not go idle")
		}
	}
	through(k.New(), 2048) // so that the depot has grown
	boxes := make([]Box, sample)
	before := heap()
	for i := range boxes {
		boxes[i] = k.New()
	}
	sizes := []float64{float64(heap() - before)}
	for _, n := range []int{1, 64, 1024} {
		for _, box := range boxes {
			through(box, n)
		}
		sizes = append(sizes, float64(heap()-before))
	}
	b.ResetTimer()
	for i := range b.N {
		box := k.New()
		box.Push(msg, w)
		if _, ok := box.Pop(w); !ok || !box.Rest(w) {
			b.Fatal("the message is missing")
		}
		boxes[i%sample] = box
	}
	b.StopTimer()
	for i, name := range []string{"new", "idle", "idle64", "idle1024"} {
		b.ReportMetric(sizes[i]/sample, "B/"+name)
	}
	runtime.KeepAlive(boxes)
}
