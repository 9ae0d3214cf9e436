package mailbox

import "sync"

// Keep is the number of messages for which an actor that has none keeps memory.
// What is larger goes to a pool, from where the next flood gets it: a flood should
// not be remembered for ever by every actor that saw one, but a stream of
// messages, which often finds the actor idle, should not have its memory grow
// again every time.
const Keep = 1 << 10

// swell is the number of messages from which on memory that a flood left is used to grow
// into, which is sooner than it is given back: what doubles its way up to Keep each time
// leaves as much behind as the flood itself holds.
const swell = 64

// floods has the memory of large slices that are empty. It is safe for concurrent
// use, so all mailboxes share one.
type floods[E any] struct {
	pool sync.Pool // of *[]E
}

// grow returns s, which is full, with more capacity, unless it is so small that an append
// had better find the memory.
func (f *floods[E]) grow(s []E) []E {
	if len(s) < swell {
		return s
	}
	if large, _ := f.pool.Get().(*[]E); large != nil && cap(*large) > cap(s) {
		return append((*large)[:0], s...)
	}
	return append(make([]E, 0, 2*cap(s)), s...)
}

// give takes the memory of s, of which every element is zero. Inlined, it would keep
// Discard from being inlined.
//
//go:noinline
func (f *floods[E]) give(s []E) { f.pool.Put(&s) }

var (
	batches floods[any]
	heaps   floods[item]
)

// Append returns msgs with msg behind them. It is for an implementation whose
// plain mailbox is not a Queue but a batch: a slice to which senders append, and
// which a turn takes as a whole in exchange for an empty one. It and Discard are inlined, since
// they are called for every message that finds an actor idle.
func Append(msgs []any, msg any) []any {
	if len(msgs) == cap(msgs) {
		msgs = batches.grow(msgs)
	}
	return append(msgs, msg)
}

// Discard takes away the memory of a used batch, of which every element is nil, if it is too
// large for an actor that sleeps.
func Discard(msgs *[]any) {
	if cap(*msgs) > Keep {
		batches.give(*msgs)
		*msgs = nil
	}
}
