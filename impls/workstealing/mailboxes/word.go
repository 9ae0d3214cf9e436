package mailboxes

import (
	"runtime"
	"sync/atomic"
)

// wordBox is a locked swap whose lock is a bit in the word that holds the place
// in the schedule, so that unlocking and becoming scheduled are one step.
//
// The message that finds the box idle goes to first and not through the queue:
// who makes the box scheduled owns the turn's part until the turn does.
type wordBox struct {
	word atomic.Uint32
	in   []any // guarded by bitLocked

	_ [line]byte

	// The turn's, and until it begins the one's who made the box scheduled.
	any   bool // first holds a message
	first any
	out   []any // a batch that was taken, handled up to begun
	begun int
	large bool // a buffer larger than what is kept has become in
}

// The bits of wordBox.word.
const (
	bitScheduled = 1 << iota
	bitLocked    // somebody has in
	bitWaiting   // in is not empty
)

var _ Box = (*wordBox)(nil)

// Push implements [Box].
func (b *wordBox) Push(msg any, _ *Worker) bool {
	v := b.word.Load() // a compare-and-swap that fails costs as much as one that does not
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
func (b *wordBox) Pop(*Worker) (any, bool) {
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
func (b *wordBox) Rest(*Worker) bool {
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
func (b *wordBox) shrink() bool {
	v := lockSlow(&b.word)
	if v&bitWaiting != 0 {
		b.word.Store(v)
		return false
	}
	b.in, b.large = nil, false
	b.word.Store(0)
	return true
}

// lockSlow sets the lock bit of w and returns the word without it, for the
// caller to store, changed or not, to unlock.
func lockSlow(w *atomic.Uint32) uint32 {
	for spins := 1; ; spins++ {
		v := w.Load()
		if v&bitLocked == 0 && w.CompareAndSwap(v, v|bitLocked) {
			return v
		}
		if spins%16 == 0 {
			runtime.Gosched() // whoever has it may have lost its processor
		}
	}
}
