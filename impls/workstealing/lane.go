package workstealing

import "github.com/dynolab/dyno/internal/invariants"

// The bits of box.word that say how far a lane is filled, and whose it is.
const (
	laneSide  = 1 << 5  // which of the lane's two chunks its owner fills
	laneCount = 1 << 6  // the lowest bit of how many messages are in it, at most large
	laneOwner = 1 << 16 // the lowest bit of the owner's tag; 0: there is no lane

	laneCounts = laneOwner - laneCount
	laneBits   = ^uint32(lowBits)
)

const (
	// streak is how many messages more than to all others a worker has sent to a mailbox
	// in which others wait when it takes a lane there. Each lane that it takes
	// doubles the number until it parks, up to longest: a lane costs two chunks,
	// which are lost if another sender ends it.
	streak  = 64
	longest = 1 << 16
)

// lanes says that there are any. TinyGo's programs have one processor, for which a locked instruction
// is nothing, and a lane's two chunks are an eighth of a small board's memory.
const lanes = apart > 0

// lane is a worker's own way into the mailbox that it sends and sends to. The lock is a
// locked instruction before the message is written and one after it. With a lane it is
// one: the newest chunk is the worker's, which writes the message and then raises the count
// in the word. Only it writes to that chunk, so a message that it has written and
// not counted, because the word had changed meanwhile, is in no one else's way.
//
// There are two chunks. Who takes the chain takes the one that is being filled, and
// the owner goes on with the other one, which has been read by then. None of them may be
// used elsewhere before the owner knows that it has no lane any more; where another
// sender ends it they are left to the garbage collector.
type lane struct {
	box    *box
	open   uint32 // box.word without side, count and waiting when the owner may fill the lane
	chunks [2]*[large]any
}

// push appends msg to the mailbox, whose word was v, and reports whether it did.
func (l *lane) push(w *worker, v uint32, msg any) bool {
	n := v & laneCounts / laneCount
	if v&^(laneCounts|laneSide|bitWaiting) != l.open || n >= large {
		return false
	}
	place := &l.chunks[v/laneSide%2][n]
	*place = msg
	// Hands the message to who takes the chain. That it was not taken since the word was read:
	// count and side come back only after this worker has sent.
	if !l.box.word.CompareAndSwap(v, v|bitWaiting+laneCount) {
		*place = nil
		return false
	}
	if n&(n-1) == 0 {
		w.offer(l.box, int(n))
	}
	return true
}

// sends books that the worker sends to b, which is not idle, and reports whether it is to
// take a lane there. What it finds so is the majority (Boyer and Moore, 1981), if there
// is one: a funnel's end tells its senders now and then that they may go on.
func (w *worker) sends(b *box) bool {
	switch {
	case w.stream == b:
		w.streak++
	case w.streak > 0:
		w.streak--
	default:
		w.stream = b
	}
	return w.streak > w.patient && w.stream == b
}

// takeLane makes the worker the owner of a lane to b, with msg in it, and reports whether
// it did.
func (w *worker) takeLane(b *box, msg any) bool {
	w.streak = 0
	tag := uint32(w.id+1) * laneOwner
	if w.id >= 1<<16-1 || b.d.pool != w.pool {
		return false
	}
	w.patient = min(2*w.patient, longest)
	w.leaveLane() // before b is locked: its owner may be about to lock this one
	v := b.lock()
	if v&(bitShut|phaseMask) != phaseScheduled {
		b.word.Store(v)
		return false
	}
	if v >= laneOwner {
		v = b.in.endLane(v)
	}
	b.in.cut()
	one, other := newChunk(large), newChunk(large)
	one.twin, other.twin = other, one
	b.in.link(one)
	w.lane = lane{b, tag | phaseScheduled, [2]*[large]any{(*[large]any)(one.msgs), (*[large]any)(other.msgs)}}
	one.msgs[0] = msg
	b.word.Store(v | bitWaiting | tag | laneCount) // hands b.in over, with the lane
	return true
}

// leaveLane ends the lane that the worker has.
func (w *worker) leaveLane() {
	b := w.lane.box
	if b == nil {
		return
	}
	open := w.lane.open
	w.lane = lane{}
	v := b.lock()
	if v/laneOwner == open/laneOwner {
		v = b.in.endLane(v)
	}
	b.word.Store(v)
}

// forget lets go of the mailboxes that the worker has sent to.
func (w *worker) forget() {
	w.leaveLane()
	w.stream, w.streak, w.patient = nil, 0, streak
}

// pushLane appends msg to a mailbox with a lane, whose word was v and is locked, and
// returns what it is to be. That ends the lane if it is not the sender's.
func (b *box) pushLane(v uint32, msg any, w *worker) uint32 {
	if w == nil || w.lane.box != b || v/laneOwner != w.lane.open/laneOwner {
		v = b.in.endLane(v)
		b.in.push(msg)
		return v
	}
	n := v & laneCounts / laneCount
	side := v / laneSide % 2
	if n == large {
		full, next := b.in.tail, newChunk(large)
		next.twin, full.twin.twin, full.twin = full.twin, next, nil
		w.lane.chunks[side] = (*[large]any)(next.msgs)
		b.in.n += large
		b.in.link(next)
		v &^= laneCounts
		n = 0
	}
	w.lane.chunks[side][n] = msg
	return v + laneCount
}

// endLane makes the chunk that was being filled one like others, but that nothing is
// appended to it: the owner may be about to write there. The word was v, is locked, and
// is to be what is returned.
func (q *messages) endLane(v uint32) uint32 {
	q.fill = int32(v & laneCounts / laneCount)
	q.n += q.fill
	q.cut()
	return v & lowBits
}

// takeLane takes all messages, as take does, from a mailbox with a lane, whose word was v.
func (q *messages) takeLane(v uint32) (head *chunk, last, n int32) {
	last = int32(v & laneCounts / laneCount)
	if invariants.Enabled && last == 0 {
		invariants.Violated("workstealing", "a lane in which messages wait has one in its newest chunk")
	}
	head, n = q.head, q.n+last
	q.head, q.tail, q.n = q.tail.twin, q.tail.twin, 0
	return head, last, n
}
