package mailboxes

import (
	"runtime"
	"sync/atomic"
)

// ringBox is an array of places that never ends: a Push claims the next place by
// a fetch-and-add and fills it, and the turn empties places in the same order.
// Places come in segments that are linked; those that were emptied go to the end
// again, so the array is a ring that grows.
//
// The word that is added to also counts the messages that the turn has not yet
// accounted for, so that the same fetch-and-add tells a Push whether it has to
// schedule, and one more, by the turn, makes the box idle.
//
// A Push may sleep between reading where a segment is and using it. Meanwhile it
// may have been emptied and come into use for later places. This is noticed,
// because a segment says which places it holds, and those of a segment in which
// the Push has a claim cannot change before it has filled its place: the turn
// waits for that one before it goes on. So a segment that says it is the right
// one is.
type ringBox struct {
	// word is claims<<32 | pending: how many places were ever claimed, and how
	// many messages were pushed less those accounted for. The claims overflow.
	word atomic.Uint64

	last  atomic.Pointer[segment] // the newest, or one before it for a moment
	spare atomic.Pointer[segment] // the first of those that were emptied, up to head

	_ [line]byte

	// head is where the turn is. Only it writes it; a Push that has lost its way
	// reads it.
	head atomic.Pointer[segment]

	// The turn's, and until it begins the one's who made the box scheduled.
	any     bool // first holds a message
	first   any
	begun   uint32 // the next place in head
	taken   uint32 // messages not accounted for
	emptied int    // segments, since the spare ones were last looked at
}

// segmentLen is how many messages a segment holds: few, as an idle mailbox keeps
// one, and enough that what is done once a segment does not matter.
const segmentLen = 32

// segment is a piece of the array.
type segment struct {
	base  atomic.Uint64 // the number of its first place
	next  atomic.Pointer[segment]
	place [segmentLen]place
}

// place holds a message if full is its number plus one: so nobody has to clear
// it.
type place struct {
	full atomic.Uint64
	msg  any // written by its claimant before, read by the turn after full is set
}

var _ Box = (*ringBox)(nil)

// Push implements [Box].
func (b *ringBox) Push(msg any, _ *Worker) bool {
	if v := b.word.Load(); uint32(v) == 0 && b.word.CompareAndSwap(v, v+1) {
		pause()
		b.first, b.any = msg, true
		return true
	}
	v := b.word.Add(1<<32 + 1)
	pause()
	number := uint32(v>>32) - 1
	s, i := b.find(number)
	p := &s.place[i]
	p.msg = msg
	p.full.Store(s.base.Load() + uint64(i) + 1)
	return uint32(v) == 1
}

// find returns where the place with this number is, which the caller has claimed
// and not yet filled.
func (b *ringBox) find(number uint32) (*segment, uint32) {
	s := b.last.Load()
	for spins := 1; ; spins++ {
		if s == nil {
			if number == 0 {
				return b.extend(nil, 0), 0
			}
			s = b.last.Load()
		} else {
			// The difference is right, also if the numbers have overflowed, while
			// fewer than 1<<31 messages wait.
			d := int32(number - uint32(s.base.Load()))
			if 0 <= d && d < segmentLen {
				return s, uint32(d)
			}
			if d < 0 {
				s = b.head.Load() // it has been put to later use
				continue
			}
			if next := s.next.Load(); next != nil {
				s = next
				continue
			}
			// One of those who wait for the next segment puts it there: no two
			// segments can be made for the same places, and those who make
			// successive ones come after one another.
			if d == segmentLen {
				return b.extend(s, s.base.Load()+segmentLen), 0
			}
		}
		if spins%16 == 0 {
			runtime.Gosched()
		}
	}
}

// extend puts a segment behind last. Its caller has claimed the first place in
// it.
func (b *ringBox) extend(last *segment, base uint64) *segment {
	s := b.recycle()
	pause()
	s.base.Store(base)
	pause()
	if last == nil {
		b.spare.Store(s)
		b.head.Store(s)
	} else {
		last.next.Store(s)
	}
	b.last.Store(s)
	return s
}

// recycle takes a segment that has been emptied or makes a new one. It is called
// from extend only, so by one at a time.
func (b *ringBox) recycle() *segment {
	for {
		s := b.spare.Load()
		if s == nil || s == b.head.Load() {
			return new(segment)
		}
		if b.spare.CompareAndSwap(s, s.next.Load()) {
			s.next.Store(nil)
			return s
		}
	}
}

// Pop implements [Box].
func (b *ringBox) Pop(*Worker) (any, bool) {
	if b.any {
		msg := b.first
		b.first, b.any = nil, false
		b.taken++
		return msg, true
	}
	s := b.head.Load()
	if s == nil {
		return nil, false
	}
	if b.begun == segmentLen {
		next := s.next.Load()
		if next == nil {
			return nil, false
		}
		// The first place of next is claimed, so what is pending stays above
		// nothing; a box that never rests would otherwise count too far.
		b.word.Add(-uint64(b.taken))
		b.taken, b.begun = 0, 0
		b.emptied++
		b.head.Store(next) // s may be recycled from now on
		s = next
	}
	p := &s.place[b.begun]
	if p.full.Load() != s.base.Load()+uint64(b.begun)+1 {
		return nil, false
	}
	msg := p.msg
	p.msg = nil
	b.begun++
	b.taken++
	return msg, true
}

// Rest implements [Box]. What was not popped, first too, is pending.
func (b *ringBox) Rest(*Worker) bool {
	if b.emptied*segmentLen > keep {
		b.trim()
	}
	taken := b.taken
	b.taken = 0 // before the addition, after which it is not the turn's
	pause()
	return uint32(b.word.Add(-uint64(taken))) == 0
}

// trim gives up the spare segments if they are too many. For the turn only.
func (b *ringBox) trim() {
	b.emptied = 0
	head := b.head.Load()
	first := b.spare.Load()
	n := 0
	for s := first; s != head; s = s.next.Load() {
		if s == nil {
			return // recycled meanwhile: they are in use
		}
		n++
	}
	if n*segmentLen > keep {
		// If spare is still first, nothing was taken: only the turn empties
		// segments, so first cannot have been in use between.
		b.spare.CompareAndSwap(first, head)
	}
}
