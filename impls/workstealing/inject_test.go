package workstealing

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/dynolab/dyno/internal/invariants"
)

func TestInjectIsFIFOAndLosesNothing(t *testing.T) {
	const producers, each = 4, 5000
	var q inject
	q.init()
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range each {
				q.push(job{arg: p*each + i})
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
					v := b.claim(i).arg.(int)
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
func TestInjectReusesBlocks(t *testing.T) {
	var q inject
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
	var q inject
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

// first is not 0 while there is a job to take, and not more than a segment has.
func TestFirstOfInject(t *testing.T) {
	var q inject
	q.init()
	want := func(when string, n uint32) {
		t.Helper()
		if got := q.first(); got != n {
			t.Errorf("%s: up to %d jobs may be there, want %d", when, got, n)
		}
	}
	want("nothing was pushed", 0)
	const pushed = blockSize + 3
	for i := range uint32(pushed) {
		q.push(job{arg: i})
		want("pushed one more", min(i+1, blockSize))
	}
	for i := range uint32(blockSize - 1) {
		q.pop()
		want("took one more", blockSize-1-i)
	}
	q.pop()
	want("it is not known of the next segment", blockSize)
	q.pop()
	want("took the first of the next segment", 2)
	for range 2 {
		q.pop()
	}
	want("all are taken", 0)
	q.head.Load().claimed.Store(2 * blockSize) // producers that found it full
	for range blockSize - 3 {
		q.head.Load().taken.Add(1)
	}
	want("the segment is used up", 0)
}

// A worker takes its share of what comes from outside, and where most workers are surely
// blocked one job at a time; and none that its producer has not put there yet.
func TestReceiveTakesAShare(t *testing.T) {
	for _, c := range []struct{ active, jobs, taken int }{
		{1, 1, 1},
		{1, 12, 12},
		{3, 12, 4},
		{crowd, 2 * crowd, 2},
		{crowd + 1, 2 * crowd, 1},
	} {
		w, _ := busy(t, Config{})
		p := w.pool
		for range c.jobs {
			p.inject.push(job{r: new(box)})
		}
		p.active.Store(int32(c.active))
		if w.receive().none() || 1+w.queue.len() != c.taken {
			t.Errorf("%d workers, %d jobs: one takes %d, want %d", c.active, c.jobs, 1+w.queue.len(), c.taken)
		}
		if c.taken == 1 && w.queue.own != nil {
			t.Errorf("%d workers, %d jobs: there are places for jobs that it does not take", c.active, c.jobs)
		}
		for range c.jobs - c.taken {
			p.inject.pop()
		}
		p.inject.tail.Load().claimed.Add(1)
		if !w.receive().none() {
			t.Error("a job is there that has been promised only")
		}
	}
}

// A producer that makes the next segment, and finds that another one has been faster, queues its
// job behind that one's, and its block is free for the segment after, without the job.
func TestInjectSegmentThatCameTooLate(t *testing.T) {
	needsWindows(t)
	var q inject
	q.init()
	for i := range blockSize {
		q.push(job{arg: i})
	}
	came := false
	end := invariants.Within(func() {
		if !came {
			came = true
			q.push(job{arg: blockSize})
		}
	})
	q.push(job{arg: blockSize + 1})
	end()
	if b := q.spare.Load(); !came || b == nil || b.slots[0].job != (job{}) {
		t.Errorf("the block that was made in vain is not free: %v", b)
	}
	for i := range 3 * blockSize { // also in the block that is used again
		q.push(job{arg: blockSize + 2 + i})
		if j := q.pop(); j.arg != any(i) {
			t.Fatalf("job %v came as number %d", j.arg, i)
		}
	}
}
