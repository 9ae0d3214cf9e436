package workstealing

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/group"
)

// Tasks that sleep do not stop the others, however many there are, and cost a
// worker each while they do.
func TestPoolGrowsWhenTasksBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool()
		g := NewGroupOn[int](p, t.Context())
		const sleepers = 1000
		for range sleepers {
			_ = g.Go(func(context.Context) (int, error) { time.Sleep(time.Hour); return 0, nil })
		}
		synctest.Wait()
		if got := int(p.active.Load()); got != sleepers {
			t.Errorf("%d workers for %d sleeping tasks", got, sleepers)
		}
		start := time.Now()
		quick := NewGroupOn[int](p, t.Context())
		_ = quick.Go(func(context.Context) (int, error) { return 1, nil })
		if r, ok, err := quick.Next(t.Context()); r.Value != 1 || !ok || err != nil || time.Since(start) > 0 {
			t.Errorf("beside the sleepers: %v, %v, %v after %v", r, ok, err, time.Since(start))
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("they slept %v one after the other, want an hour side by side", took)
		}
		synctest.Wait()
		if got := p.active.Load(); got != 0 {
			t.Errorf("%d workers left without work", got)
		}
		if got, most := len(*p.workers.Load()), 8*runtime.GOMAXPROCS(0); got > most {
			t.Errorf("%d slots kept, want at most %d", got, most)
		}
	})
}

// A pool with processors to itself does not grow while no task blocks, although
// its workers lose the processor now and then.
func TestPoolDoesNotGrowUnderLoad(t *testing.T) {
	p := NewPool()
	g := NewGroupOn[int](p, t.Context(), group.WithMaxConcurrency(1000))
	var stop atomic.Bool
	var hogs sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		hogs.Go(func() {
			for !stop.Load() {
			}
		})
	}
	most := int32(0)
	for range 30_000 {
		_ = g.Go(func(context.Context) (int, error) { return 0, nil })
		most = max(most, p.active.Load())
	}
	stop.Store(true)
	hogs.Wait()
	_ = g.Wait()
	// Exact is runtime.GOMAXPROCS(0); a worker that was about to take its first
	// task when it lost the processor makes the count of those that move too small.
	if limit := int32(4 * crowd); most > limit {
		t.Errorf("%d workers for tasks that never block, want at most %d", most, limit)
	}
}

// Every task is taken exactly once, by workers and thieves together.
func TestDequeHandsEachTaskOutOnce(t *testing.T) {
	const rounds = 300
	for range rounds {
		b := new(block)
		for i := range b.slots {
			b.slots[i].fn = i
		}
		var d, thief deque
		var taken [blockSize]atomic.Int32
		d.fill(b, 10, 74)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for {
					b, lo, hi := d.steal()
					if b == nil {
						return
					}
					for i := lo; i < hi; i++ {
						taken[b.claim(i).fn.(int)].Add(1)
					}
				}
			})
		}
		for {
			task, ok := d.pop()
			if !ok {
				break
			}
			taken[task.fn.(int)].Add(1)
		}
		wg.Wait()
		for i := range taken {
			want := int32(0)
			if 10 <= i && i < 74 {
				want = 1
			}
			if got := taken[i].Load(); got != want {
				t.Fatalf("task %d was taken %d times, want %d", i, got, want)
			}
		}
		if !thief.empty() || !d.empty() {
			t.Fatal("something is left")
		}
	}
}

func TestStealTakesTheUpperHalf(t *testing.T) {
	for _, c := range []struct{ lo, hi, from uint32 }{{0, 1, 0}, {0, 2, 1}, {3, 8, 5}, {0, 256, 128}} {
		var d deque
		b := new(block)
		d.fill(b, c.lo, c.hi)
		got, lo, hi := d.steal()
		if got != b || lo != c.from || hi != c.hi {
			t.Errorf("steal from %d to %d took %d to %d, want %d to %d", c.lo, c.hi, lo, hi, c.from, c.hi)
		}
	}
}

// A thief that looked at an earlier filling must not succeed, although the
// indices are the same again.
func TestStaleThief(t *testing.T) {
	var d deque
	one, two := new(block), new(block)
	d.fill(one, 0, 4)
	stale := d.span.Load()
	for !d.empty() {
		d.pop()
	}
	d.fill(two, 0, 4)
	if gen, lo, hi := unpack(stale); d.span.CompareAndSwap(stale, pack(gen, lo, hi-2)) {
		t.Error("a thief stole from a filling that is gone")
	}
}

func TestInjectorIsFIFOAndLosesNothing(t *testing.T) {
	const producers, each = 4, 5000
	var q injector
	q.init()
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range each {
				q.push(job{fn: p*each + i})
			}
		})
	}
	var mu sync.Mutex
	seen := make([][]int, producers)
	count := 0
	for range 2 {
		wg.Go(func() {
			for {
				mu.Lock() // so that what is taken in order is recorded in order
				b, lo, hi := q.take(1, batch)
				for i := lo; b != nil && i < hi; i++ {
					v := b.claim(i).fn.(int)
					seen[v/each] = append(seen[v/each], v%each)
					count++
				}
				if b != nil {
					q.started(b, int32(hi-lo))
				}
				all := count == producers*each
				mu.Unlock()
				if all {
					return
				}
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
	for p, got := range seen {
		if len(got) != each || !slices.IsSorted(got) {
			t.Errorf("producer %d: %d tasks, want %d in order", p, len(got), each)
		}
	}
	if !q.empty() {
		t.Error("something is left")
	}
}

// Blocks are used again: a steady stream of tasks allocates next to nothing.
func TestInjectorReusesBlocks(t *testing.T) {
	var q injector
	q.init()
	blocks := map[*block]bool{}
	for range 100 * blockSize {
		q.push(job{})
		b, lo, hi := q.take(1, batch)
		for i := lo; i < hi; i++ {
			b.claim(i)
		}
		q.started(b, int32(hi-lo))
		blocks[b] = true
	}
	if len(blocks) > 2 {
		t.Errorf("100 blocks' worth of tasks went through %d blocks, want 2", len(blocks))
	}
}

// A share leaves the others theirs.
func TestTakeShares(t *testing.T) {
	var q injector
	q.init()
	for range 12 {
		q.push(job{})
	}
	for _, want := range []uint32{4, 3, 2, 1, 1, 1, 0} {
		if _, lo, hi := q.take(3, batch); hi-lo != want {
			t.Errorf("took %d, want %d", hi-lo, want)
		}
	}
}

// Groups of different types share the workers of a pool, and a worker goes from
// one's tasks to the other's.
func TestGroupsShareAPool(t *testing.T) {
	p := NewPool()
	ints := NewGroupOn[int](p, t.Context())
	texts := NewGroupOn[string](p, t.Context())
	const n = 1000
	for i := range n {
		_ = ints.Go(func(context.Context) (int, error) { return i, nil })
		_ = texts.Go(func(context.Context) (string, error) { return "x", nil })
	}
	ints.Close()
	texts.Close()
	sum, length := 0, 0
	for r := range group.Results[int](t.Context(), ints) {
		sum += r.Value
	}
	for r := range group.Results[string](t.Context(), texts) {
		length += len(r.Value)
	}
	if sum != n*(n-1)/2 || length != n {
		t.Errorf("sum %d, length %d", sum, length)
	}
}

// Results come out in the order in which they were pushed, over all page sizes.
func TestResultsOrder(t *testing.T) {
	for _, reserve := range []int{0, 1, minPage + 1, 5000} {
		var q results[int]
		q.init(reserve)
		const n = 4000
		for i := range n {
			if got := q.push(group.Result[int]{Value: i}); got != uint64(i+1) {
				t.Fatalf("reserve %d: push %d counted %d", reserve, i, got)
			}
			if got := q.pushed(); got != uint64(i+1) {
				t.Fatalf("reserve %d: %d pushed, counted %d", reserve, i+1, got)
			}
		}
		for i := range n {
			if r, ok := q.pop(); !ok || r.Value != i {
				t.Fatalf("reserve %d: pop %d: %v, %v", reserve, i, r, ok)
			}
		}
		if r, ok := q.pop(); ok {
			t.Errorf("reserve %d: %v from an empty queue", reserve, r)
		}
	}
}
