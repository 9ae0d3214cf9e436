package workstealing

import "sync"

// The sizes of chunks, in messages. A chain begins with a small one and goes on with
// larger ones; what is idle keeps none that is large.
const (
	small  = 8
	medium = 64
	large  = 512 // 8 KiB
)

// chunk is a stretch of a chain.
type chunk struct {
	next *chunk
	msgs []any
	twin *chunk // the other one of a lane
}

// larges keeps large chunks between two floods, when they belong to no mailbox.
var larges = sync.Pool{New: func() any {
	s := new(struct {
		chunk
		buf [large]any
	})
	s.msgs = s.buf[:]
	return &s.chunk
}}

func newChunk(size int) *chunk {
	if size == large {
		return larges.Get().(*chunk)
	}
	return &chunk{msgs: make([]any, size)}
}

// free gives back a chunk whose messages have all been taken out.
func (s *chunk) free() {
	if len(s.msgs) == large {
		s.next = nil
		larges.Put(s)
	}
}

// messages is a queue of messages that grows by chunks and copies nothing. All
// chunks but the newest are full.
type messages struct {
	fill int32  // how many messages the newest chunk has
	n    int32  // how many there are
	tail *chunk // the newest chunk, or nil
	head *chunk // the oldest
	size int32  // of the chunk that was made last
}

func (q *messages) push(msg any) {
	if q.tail == nil || int(q.fill) == len(q.tail.msgs) {
		q.grow()
	}
	q.tail.msgs[q.fill] = msg
	q.fill++
	q.n++
}

// reserve makes room for n messages in an empty chain.
func (q *messages) reserve(n int) {
	if n == 0 {
		return
	}
	q.tail = newChunk(n)
	q.head, q.size = q.tail, int32(min(n, large))
}

// grow adds a chunk: larger than the one before it, or, if there is none, as large as
// the last one was.
func (q *messages) grow() {
	switch {
	case q.size == 0:
		q.size = small
	case q.tail == nil:
	case q.size < medium:
		q.size = medium
	default:
		q.size = large
	}
	q.link(newChunk(int(q.size)))
}

// link appends a chunk, which is empty, behind those there are, which are full.
func (q *messages) link(s *chunk) {
	if q.tail == nil {
		q.head = s
	} else {
		q.tail.next = s
	}
	q.tail, q.fill = s, 0
}

// cut makes the newest chunk a full one: as short as it is filled.
func (q *messages) cut() {
	if q.n == 0 {
		q.head, q.tail, q.fill = nil, nil, 0
	} else if int(q.fill) < len(q.tail.msgs) {
		q.tail.msgs = q.tail.msgs[:q.fill]
	}
}

// take takes all messages: n in the chunks from head on, last of them in the
// last one. The chain goes on with used, which is empty, or nil.
func (q *messages) take(used *chunk) (head *chunk, last, n int32) {
	head, last, n = q.head, q.fill, q.n
	if n <= medium {
		q.size = min(q.size, medium)
	}
	q.head, q.tail, q.fill, q.n = used, used, 0, 0
	return head, last, n
}

// taken is the messages that a turn has taken and not handled.
type taken struct {
	out   *chunk // the chunk with the next one, or the last one used
	begun int32  // from here
	end   int32  // to here in it
	last  int32  // and so many in the last chunk
	later int32  // how many there are in the chunks behind out
}

// begin makes the n messages of a chain, of which last are in the last chunk, those of
// the turn.
func (t *taken) begin(head *chunk, last, n int32) {
	*t = taken{out: head, last: last, later: n}
	t.enter()
}

// enter comes to the chunk out.
func (t *taken) enter() {
	t.begun, t.end = 0, t.last
	if t.out != nil && t.out.next != nil {
		t.end = int32(len(t.out.msgs))
	}
	t.later -= t.end
}

// len returns how many messages there are.
func (t *taken) len() int32 { return t.end - t.begun + t.later }

// next takes the next message; there is one.
func (t *taken) next() any {
	if t.begun == t.end {
		used := t.out
		t.out = used.next
		used.free()
		t.enter()
	}
	return t.here()
}

// here takes the next message, which is in the chunk out.
func (t *taken) here() any {
	place := &t.out.msgs[t.begun]
	msg := *place
	*place = nil
	t.begun++
	return msg
}

// used returns the last chunk for a chain to go on with, or nil; there is no
// message.
func (t *taken) used() *chunk {
	s := t.out
	t.out = nil
	if s != nil && len(s.msgs) >= large {
		s.free()
		return nil
	}
	return s
}
