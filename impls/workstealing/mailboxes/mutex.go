package mailboxes

import "sync"

// mutexBox is a locked swap with a sync.Mutex: producers append to in, and the
// turn takes all that has come by exchanging in and out, so that it locks once a
// batch.
type mutexBox struct {
	mu        sync.Mutex
	scheduled bool  // guarded by mu
	in        []any // guarded by mu

	_ [line]byte

	out   []any // the turn's: a batch that was taken, handled up to begun
	begun int
}

var _ Box = (*mutexBox)(nil)

// Push implements [Box].
func (b *mutexBox) Push(msg any, _ *Worker) bool {
	b.mu.Lock()
	b.in = append(b.in, msg)
	idle := !b.scheduled
	b.scheduled = true
	b.mu.Unlock()
	return idle
}

// Pop implements [Box].
func (b *mutexBox) Pop(*Worker) (any, bool) {
	if b.begun == len(b.out) {
		b.mu.Lock()
		b.in, b.out, b.begun = b.out[:0], b.in, 0
		b.mu.Unlock()
		if len(b.out) == 0 {
			return nil, false
		}
	}
	msg := b.out[b.begun]
	b.out[b.begun] = nil
	b.begun++
	return msg, true
}

// Rest implements [Box].
func (b *mutexBox) Rest(*Worker) bool {
	if b.begun < len(b.out) {
		return false
	}
	if cap(b.out) > keep {
		b.out, b.begun = nil, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.in) > 0 {
		return false
	}
	if cap(b.in) > keep {
		b.in = nil
	}
	b.scheduled = false
	return true
}
