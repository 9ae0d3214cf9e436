package workstealing

import "sync/atomic"

// deque is a worker's own stock of tasks: a range of slots of one block. The
// tasks stay where the producer wrote them; what is owned, popped and stolen is
// indices. The owner takes from the low end, thieves take the upper half.
//
// A thief reads no task before it owns it: it claims indices, and what it then
// reads nobody else touches. So no torn or stale task is ever looked at, which
// the deques of Chase and Lev (SPAA 2005) and of Go's scheduler must guard
// against, and stealing half of a deque moves nothing but two indices.
type deque struct {
	// span packs generation<<32 | lo<<16 | hi. The owner writes all of it, and
	// changes lo by compare-and-swap; thieves change hi by compare-and-swap.
	// The generation changes whenever block does, so that a thief's swap fails
	// if block is no longer the one it looked at.
	span atomic.Uint64

	// block is what lo and hi are indices of. Written by the owner while the
	// range is empty, read by thieves.
	block atomic.Pointer[block]

	// begun is how many tasks of block the owner has taken since it last told
	// the injector. Owner only.
	begun int32
}

func pack(gen, lo, hi uint32) uint64 {
	return uint64(gen)<<32 | uint64(lo)<<16 | uint64(hi)
}

func unpack(v uint64) (gen, lo, hi uint32) {
	return uint32(v >> 32), uint32(v>>16) & 0xffff, uint32(v) & 0xffff
}

// fill makes the slots lo ≤ i < hi of b the stock. The caller owns the deque,
// which is empty, and those slots.
func (d *deque) fill(b *block, lo, hi uint32) {
	gen, _, _ := unpack(d.span.Load())
	d.block.Store(b)                  // before span: a thief that sees the new span finds this block
	d.span.Store(pack(gen+1, lo, hi)) // hands the range to thieves
}

// pop takes the first task. Only the owner may call it.
func (d *deque) pop() (job, bool) {
	for {
		v := d.span.Load()
		gen, lo, hi := unpack(v)
		if lo >= hi {
			return job{}, false
		}
		if d.span.CompareAndSwap(v, pack(gen, lo+1, hi)) {
			d.begun++
			return d.block.Load().claim(lo), true
		}
	}
}

// steal takes the upper half of the range, the larger one if it is odd.
// Any goroutine may call it. The slots lo ≤ i < hi of b then belong to it.
func (d *deque) steal() (b *block, lo, hi uint32) {
	for {
		v := d.span.Load()
		gen, lo, hi := unpack(v)
		if lo >= hi {
			return nil, 0, 0
		}
		b := d.block.Load()
		mid := lo + (hi-lo)/2
		if d.span.CompareAndSwap(v, pack(gen, lo, mid)) {
			return b, mid, hi
		}
	}
}

// len returns the number of tasks in the range at the moment of the call.
func (d *deque) len() int {
	_, lo, hi := unpack(d.span.Load())
	return int(hi) - int(lo)
}

// empty reports whether the range was empty at the moment of the call.
func (d *deque) empty() bool { return d.len() <= 0 }

// claim returns the task in slot i, which belongs to the caller, and empties
// the slot: a block may live for long, what it held must not.
func (b *block) claim(i uint32) job {
	t := b.slots[i].job
	b.slots[i].job = job{}
	return t
}
