package mailboxes

import "sync/atomic"

// packedBox is [wordBox] without the distance between what producers write and
// what the turn reads: the fields stand as one would write them first. It is
// kept to measure what that costs.
type packedBox struct {
	word  atomic.Uint32
	any   bool
	large bool
	in    []any
	first any
	out   []any
	begun int
}

var _ Box = (*packedBox)(nil)

// Push implements [Box].
func (b *packedBox) Push(msg any, _ *Worker) bool {
	v := b.word.Load()
	if v == 0 && b.word.CompareAndSwap(0, bitScheduled) {
		pause()
		b.first, b.any = msg, true
		return true
	}
	if v&bitLocked != 0 || !b.word.CompareAndSwap(v, v|bitLocked) {
		v = lockSlow(&b.word)
	}
	pause()
	b.in = append(b.in, msg)
	b.word.Store(v | bitWaiting | bitScheduled) // hands in to whoever locks next
	return v&bitScheduled == 0
}

// Pop implements [Box].
func (b *packedBox) Pop(*Worker) (any, bool) {
	if b.begun < len(b.out) {
		msg := b.out[b.begun]
		b.out[b.begun] = nil
		b.begun++
		return msg, true
	}
	if b.any {
		msg := b.first
		b.first, b.any = nil, false
		return msg, true
	}
	v := b.word.Load()
	if v&bitWaiting == 0 {
		return nil, false
	}
	b.large = b.large || cap(b.out) > keep
	if v&bitLocked != 0 || !b.word.CompareAndSwap(v, v|bitLocked) {
		v = lockSlow(&b.word)
	}
	b.in, b.out, b.begun = b.out[:0], b.in, 1
	pause()
	b.word.Store(v &^ bitWaiting)
	msg := b.out[0]
	b.out[0] = nil
	return msg, true
}

// Rest implements [Box].
func (b *packedBox) Rest(*Worker) bool {
	if b.any || b.begun < len(b.out) {
		return false
	}
	if cap(b.out) > keep {
		b.out, b.begun = nil, 0
	}
	if b.large {
		return b.shrink()
	}
	pause()
	// If anything else is in the word, a message has come or is coming.
	return b.word.CompareAndSwap(bitScheduled, 0)
}

// shrink is Rest for a box whose in may be too large to be kept.
func (b *packedBox) shrink() bool {
	v := lockSlow(&b.word)
	if v&bitWaiting != 0 {
		b.word.Store(v)
		return false
	}
	b.in, b.large = nil, false
	b.word.Store(0)
	return true
}
