package actorloop

// queue is a FIFO queue in a slice that moves its elements to the front when
// more than half of it has been popped. The zero value is empty.
type queue[E any] struct {
	buf   []E
	first int // index of the oldest element
}

func (q *queue[E]) len() int { return len(q.buf) - q.first }

func (q *queue[E]) push(e E) { q.buf = append(q.buf, e) }

// pop removes and returns the oldest element; the queue must not be empty.
func (q *queue[E]) pop() E {
	e := q.buf[q.first]
	var zero E
	q.buf[q.first] = zero // or the slice would keep what it held alive
	q.first++
	if q.first > len(q.buf)/2 {
		n := copy(q.buf, q.buf[q.first:])
		clear(q.buf[n:])
		q.buf, q.first = q.buf[:n], 0
	}
	return e
}
