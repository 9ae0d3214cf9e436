package workstealing

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// Between two turns Len counts what a turn took and did not handle.
func TestLenCountsWhatATurnLeft(t *testing.T) {
	for throughput, want := range map[int][]int{
		// The message that made the actor ready is not in the queue (see Len), so
		// the first look is not compared.
		2: {8, 6, 4, 2, 0},
		3: {7, 4, 1, 0}, // the last turn ends because there is no message
	} {
		synctest.Test(t, func(t *testing.T) {
			var busy, watcher actor.Ref
			var saw []int
			s := system(t, actor.Config{Dispatcher: NewDispatcherWith(Config{Parallelism: 1, MaxWorkers: 1})}, func(ctx *actor.Context) {
				p := actortest.Func(func(*actor.Context, any) error { return nil })
				p.Throughput = throughput
				busy = spawn(t, ctx, p)
				p = actortest.Func(func(ctx *actor.Context, m any) error {
					saw = append(saw, busy.Backlog())
					if saw[len(saw)-1] > 0 && len(saw) < 20 {
						return ctx.Tell(watcher, m)
					}
					return nil
				})
				p.Throughput = 1
				watcher = spawn(t, ctx, p)
				for range 10 {
					if err := ctx.Tell(busy, "work"); err != nil {
						t.Error(err)
					}
				}
				if err := ctx.Tell(watcher, "look"); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
			shutdown(t, s)
			if got := saw[max(0, len(saw)-len(want)):]; !slices.Equal(got, want) {
				t.Errorf("%d messages a turn: looks saw %v, want %v at the end", throughput, saw, want)
			}
		})
	}
}

// An actor is made idle in one step only if nothing else is to be done for it.
func TestIdles(t *testing.T) {
	for name, tt := range map[string]struct {
		word   uint32
		change func(b *box)
		want   bool
	}{
		"nothing":               {phaseScheduled, func(*box) {}, true},
		"a small chunk":         {phaseScheduled, func(b *box) { b.out.out = newChunk(small) }, true},
		"another one's lane":    {phaseScheduled | laneOwner, func(*box) {}, true},
		"a large chunk":         {phaseScheduled, func(b *box) { b.out.out = newChunk(large) }, false},
		"Len is to be told":     {phaseScheduled, func(b *box) { b.known = 1 }, false},
		"a message waits":       {phaseScheduled | bitWaiting, func(*box) {}, false},
		"a sender has the lock": {phaseScheduled | bitLocked, func(*box) {}, false},
	} {
		b, all := scheduled(1)
		b.word.Store(tt.word)
		tt.change(b)
		want := tt.word
		if tt.want {
			want = tt.word&^phaseMask | phaseIdle
		}
		if got, word := b.idles(all[0]), b.word.Load(); got != tt.want || word != want {
			t.Errorf("%s: idle is %v, the word %b; want %v, %b", name, got, word, tt.want, want)
		}
	}
}

// An actor that has had very many messages waiting keeps none of its large chunks.
func TestIdleMailboxGivesMemoryBack(t *testing.T) {
	const n = 1 << 18 // 4 MiB a buffer
	inUse := func() uint64 {
		var m runtime.MemStats
		for range 3 { // a sync.Pool keeps what it has for two
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var burst, sink actor.Ref
	gone := make(chan struct{}, 1)
	seen := 0
	s := system(t, actor.Config{Dispatcher: NewDispatcherWith(Config{Parallelism: 1, MaxWorkers: 1})}, func(ctx *actor.Context) {
		sink = spawn(t, ctx, actortest.Func(func(ctx *actor.Context, m any) error {
			if seen++; seen == n/2 { // the other buffer grows as well
				return ctx.Tell(burst, n/2)
			}
			if seen == n/2*3 {
				gone <- struct{}{}
			}
			return nil
		}))
		burst = spawn(t, ctx, actortest.Func(func(ctx *actor.Context, m any) error {
			for range m.(int) {
				if err := ctx.Tell(sink, "x"); err != nil {
					return err
				}
			}
			return nil
		}))
	})
	before := inUse()
	if err := burst.Tell(n); err != nil {
		t.Fatal(err)
	}
	<-gone
	for range 3 { // the turn has ended when the actor has had others
		seen = n/2*3 - 1
		if err := sink.Tell("y"); err != nil {
			t.Fatal(err)
		}
		<-gone
	}
	if after := inUse(); after > before+1<<20 {
		t.Errorf("%d bytes more in use after %d messages had waited", after-before, n)
	}
	runtime.KeepAlive(s)
	shutdown(t, s)
}

// Senders that find the lock taken for long come in when it is free, and wait in line
// meanwhile: the line is what one of them has and the others sleep for.
func TestSendersWaitInLine(t *testing.T) {
	b, _ := scheduled(0)
	v := b.lock()
	const senders = 8
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			if b.Send(i, nil) != actor.Sent {
				t.Error("a message was refused")
			}
		})
	}
	for b.d.crowd.TryLock() {
		b.d.crowd.Unlock()
		runtime.Gosched()
	}
	b.word.Store(v)
	wg.Wait()
	if got := b.Len(); got != senders {
		t.Errorf("%d messages wait, want %d", got, senders)
	}
	if !b.d.crowd.TryLock() {
		t.Error("the line is taken and no one waits")
	}
}

// A chain begins with a small chunk and goes on with larger ones. What is taken with few messages
// leaves no large one to begin with, and nothing that was taken is held.
func TestChunksOfAChain(t *testing.T) {
	var q messages
	for _, round := range []struct {
		n    int
		want []int
	}{
		{8 + 64 + 512 + 1, []int{8, 64, 512, 512}},
		{65, []int{512}}, // a flood may come again
		{64, []int{512}}, // it did not
		{65, []int{64, 512}},
		{1, []int{512}},
		{1, []int{64}},
	} {
		for i := range round.n {
			q.push(i)
		}
		var sizes []int
		for s := q.head; s != nil; s = s.next {
			sizes = append(sizes, len(s.msgs))
		}
		if !slices.Equal(sizes, round.want) {
			t.Errorf("%d messages are in chunks of %v, want %v", round.n, sizes, round.want)
		}
		var out taken
		out.begin(q.take(nil))
		for i := range round.n {
			if int(out.len()) != round.n-i {
				t.Fatalf("%d messages are left, want %d", out.len(), round.n-i)
			}
			if got := out.next(); got != any(i) {
				t.Fatalf("message %v came as number %d", got, i)
			}
		}
		if s := out.used(); s != nil && len(s.msgs) >= large {
			t.Error("a large chunk is used for the next chain")
		}
	}
	s := newChunk(large)
	s.next = s
	if s.free(); s.next != nil {
		t.Error("a chunk that is given back holds on to another one")
	}
}
