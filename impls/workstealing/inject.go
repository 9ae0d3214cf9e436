package workstealing

import (
	"sync/atomic"

	"github.com/dynolab/dyno/internal/invariants"
)

// blockSize is the number of jobs of a block: 128 in 5 KiB, and with TinyGo 8 in 168 bytes.
const blockSize = 8 << (4 * apart)

// block holds jobs. A slot is written once and taken once in each of the
// block's lives; when the last of its jobs has been taken, the block begins
// another life in a later segment.
type block struct {
	// left counts the jobs that were not taken. It hands the whole block
	// from those who took the jobs to the goroutine that makes the next segment.
	left atomic.Int32

	// life numbers the lives. It is written between two of them.
	life uint32

	slots [blockSize]slot
}

// slot is a place for one job.
type slot struct {
	job
	// full is set to the block's life by the producer after it wrote the task,
	// and hands the task over to the goroutine that takes the slot. Being a number and
	// not a flag it need not be reset.
	full atomic.Uint32
}

// segment is a link of the inject queue. Segments are never reused: that
// spares their indices an ABA problem. They are apart from the blocks, which are
// used again.
type segment struct {
	// claimed counts the slots promised to producers; it may exceed
	// blockSize, by one for each producer that found the block full.
	claimed atomic.Uint32
	_       [60 * apart]byte // producers write claimed, workers write taken: a line each

	// taken counts the slots that workers have taken, in order.
	taken atomic.Uint32

	block *block // set, like life, when the segment is made
	life  uint32 // a producer or taker that is late by a life must not believe the block's
	next  atomic.Pointer[segment]
}

// inject is the queue through which jobs enter the pool: first in, first
// out, unbounded, for any number of producers and takers, none of whom ever
// waits for another. Producers claim a slot with one fetch-and-add; takers
// advance over a batch of full slots with one compare-and-swap. A producer that
// stops between claiming and filling its slot hides the tasks behind it until
// it goes on; it counts them when it does (see Pool.search), so none is forgotten.
//
// The claim-by-fetch-and-add array is that of the FAA array queue (Ramalhete
// and Correia, 2016), without its consumers, who there claim empty slots too.
type inject struct {
	tail atomic.Pointer[segment] // where producers claim; may lag behind the last segment
	_    [56 * apart]byte
	head atomic.Pointer[segment] // where workers take; may lag behind the first segment with tasks
	_    [56 * apart]byte

	// spare is a block between two lives, or nil. One is enough to run a
	// steady stream of tasks without allocating blocks.
	spare atomic.Pointer[block]
}

// newSegment returns a segment that no other goroutine knows.
func (q *inject) newSegment() *segment {
	b := q.spare.Swap(nil)
	if b == nil {
		b = new(block)
	}
	b.life++
	b.left.Store(blockSize)
	return &segment{block: b, life: b.life}
}

// started books that n jobs of b were taken out of it, or will never be.
func (q *inject) started(b *block, n int32) {
	if b.left.Add(-n) == 0 {
		q.spare.Store(b)
	}
}

func (q *inject) init() {
	s := q.newSegment()
	q.tail.Store(s)
	q.head.Store(s)
}

// push appends t. Any goroutine may call it.
func (q *inject) push(t job) {
	for {
		s := q.tail.Load()
		if i := s.claimed.Add(1) - 1; i < blockSize {
			s.fill(i, t)
			return
		}
		next := s.next.Load()
		if next == nil {
			// The first slot of a new block is filled before any other goroutine
			// can see the segment, so this producer is done if it wins.
			n := q.newSegment()
			n.claimed.Store(1)
			n.fill(0, t)
			invariants.Window() // another producer may come first
			if s.next.CompareAndSwap(nil, n) {
				q.tail.CompareAndSwap(s, n) // losing means another producer helped
				return
			}
			// Another goroutine made the next segment. The block goes back, whole.
			n.block.slots[0].job = job{}
			q.spare.Store(n.block)
			next = s.next.Load()
		}
		q.tail.CompareAndSwap(s, next)
	}
}

// fill writes t to slot i, which the caller has claimed.
func (s *segment) fill(i uint32, t job) {
	sl := &s.block.slots[i]
	sl.job = t
	sl.full.Store(s.life) // hands the slot to takers; pairs with the Load in full
}

// claims returns how many slots are promised to producers.
func (s *segment) claims() uint32 { return min(s.claimed.Load(), blockSize) }

// full reports whether slot i can be taken.
func (s *segment) full(i uint32) bool {
	return s.block.slots[i].full.Load() == s.life
}

// claim takes the job out of slot i, which belongs to the caller: a block may live
// for long, what it held must not.
func (b *block) claim(i uint32) job {
	j := b.slots[i].job
	b.slots[i].job = job{}
	return j
}

// pop takes the oldest job, or none. Any goroutine may call it.
func (q *inject) pop() job {
	b, i, end := q.take(1, 1)
	if i == end {
		return job{}
	}
	j := b.claim(i)
	q.started(b, 1)
	return j
}

// take takes a batch of tasks: at least one if there is any, at most limit, and
// not more than a share-th of what the first segment holds, so that share
// takers find equal parts. The slots lo ≤ i < hi of the returned block then
// belong to the caller. Any goroutine may call it.
func (q *inject) take(share, limit uint32) (b *block, lo, hi uint32) {
	for {
		s := q.head.Load()
		lo := s.taken.Load()
		if lo == blockSize {
			next := s.next.Load()
			if next == nil {
				return nil, 0, 0
			}
			q.head.CompareAndSwap(s, next)
			continue
		}
		have := s.claims() - lo
		want := min((have+share-1)/share, limit)
		n := uint32(0)
		for n < want && s.full(lo+n) {
			n++
		}
		if n == 0 {
			if s.taken.Load() != lo {
				continue // others took everything meanwhile, and the block may be in its next life
			}
			return nil, 0, 0
		}
		if s.taken.CompareAndSwap(lo, lo+n) {
			return s.block, lo, lo + n
		}
	}
}

// first returns how many jobs there may be to take at once: those of the first segment, with
// some that are not there yet. (Workers look by it and by empty, which asks for a full slot: each
// is inlined, and one for both would be too long for that.)
func (q *inject) first() uint32 {
	s := q.head.Load()
	lo := s.taken.Load()
	if lo < blockSize {
		return s.claims() - lo
	}
	if s.next.Load() == nil {
		return 0
	}
	return blockSize
}

// empty reports whether there was nothing to take at some moment of the call.
func (q *inject) empty() bool {
	s := q.head.Load()
	lo := s.taken.Load()
	if lo == blockSize {
		return s.next.Load() == nil // a linked segment has its first slot full
	}
	return !s.full(lo)
}
