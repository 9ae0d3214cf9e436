package channel

// fifo is a queue of two slices: one is filled, the other emptied, and they
// change places when the latter is empty. The zero value is empty.
type fifo[E any] struct {
	in, out []E
	taken   int // elements of out that have been popped
}

func newFIFO[E any](capacity int) fifo[E] {
	return fifo[E]{in: make([]E, 0, capacity)}
}

func (q *fifo[E]) len() int { return len(q.in) + len(q.out) - q.taken }

func (q *fifo[E]) push(e E) { q.in = append(q.in, e) }

// pop removes and returns the oldest element; the queue must not be empty.
func (q *fifo[E]) pop() E {
	if q.taken == len(q.out) {
		q.in, q.out, q.taken = q.out[:0], q.in, 0
	}
	e := q.out[q.taken]
	var zero E
	q.out[q.taken] = zero // or the slice would keep what it held alive
	q.taken++
	return e
}
