package mailbox

import "sync"

// Keep is the number of messages for which an actor that has none keeps memory.
// What is larger goes to a pool, from where the next flood gets it: a flood should
// not be remembered for ever by every actor that saw one, but a stream of
// messages, which finds the actor asleep often, should not have its memory grow
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

// append returns s with e behind it.
func (f *floods[E]) append(s []E, e E) []E {
	if len(s) == cap(s) && len(s) >= swell {
		s = f.grow(s)
	}
	return append(s, e)
}

// grow returns s with more capacity.
func (f *floods[E]) grow(s []E) []E {
	if large, _ := f.pool.Get().(*[]E); large != nil && cap(*large) > cap(s) {
		return append(*large, s...)
	}
	return append(make([]E, 0, 2*cap(s)), s...)
}

// discard takes the memory of s, of which every element is zero, if it is for more
// than keep elements, and returns what is left.
func (f *floods[E]) discard(s []E, keep int) []E {
	if cap(s) <= keep {
		return s
	}
	f.give(s)
	return nil
}

// give is apart from discard, which is inlined.
func (f *floods[E]) give(s []E) {
	s = s[:0]
	f.pool.Put(&s)
}

var (
	batches floods[any]
	heaps   floods[item]
)

// Append returns msgs with msg behind them. It is for an implementation whose
// plain mailbox is not a Queue but a batch: a slice to which senders append, and
// which a turn takes as a whole in exchange for an empty one.
func Append(msgs []any, msg any) []any { return batches.append(msgs, msg) }

// Discard takes the memory of an empty batch, of which every element is nil, if it
// is too large for an actor that sleeps, and returns what that keeps.
func Discard(msgs []any) []any { return batches.discard(msgs, Keep) }
