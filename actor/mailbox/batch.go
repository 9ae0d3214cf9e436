package mailbox

import "sync"

// This file is for an implementation whose plain mailbox is not a Queue but a
// batch: a slice to which senders append, and which a turn takes as a whole in
// exchange for an empty one.

// Keep is the capacity up to which an actor that goes to sleep keeps the memory
// of an empty batch. What is larger goes to a pool, from where the next flood
// gets it: a flood should not be remembered for ever by every actor that saw
// one, but a stream of messages, which finds the actor asleep often, should not
// have the batch grow again every time.
const Keep = 1 << 10

// batches has large empty batches. It is safe for concurrent use.
var batches sync.Pool // of *batch

type batch struct{ msgs []any }

// Append returns msgs, a batch, with msg behind them. It is append, but for the
// memory of large batches.
func Append(msgs []any, msg any) []any {
	if len(msgs) == cap(msgs) && len(msgs) >= Keep {
		msgs = grow(msgs)
	}
	return append(msgs, msg)
}

// grow returns msgs with more capacity.
func grow(msgs []any) []any {
	if b, _ := batches.Get().(*batch); b != nil && cap(b.msgs) > cap(msgs) {
		return append(b.msgs, msgs...)
	}
	return append(make([]any, 0, 2*cap(msgs)), msgs...)
}

// Discard takes the memory of an empty batch, of which every element is nil, if an
// actor that sleeps should not keep it, and returns what it keeps.
func Discard(msgs []any) []any {
	if cap(msgs) <= Keep {
		return msgs
	}
	batches.Put(&batch{msgs[:0]})
	return nil
}
