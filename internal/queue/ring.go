// Package queue has the sequential containers that implementations keep their
// state in: [Ring], a queue, and [List], a queue from whose middle one can leave.
// Who may use one when is up to its owner: there is no lock here and no atomic,
// so that implementations that share these share no mechanism.
package queue

// Ring is a first-in-first-out queue in a circular slice that grows by doubling.
// The zero value is empty.
type Ring[E any] struct {
	buf  []E // the length is zero or a power of two
	head int // index of the oldest element
	n    int
}

// Len returns the number of elements.
func (q *Ring[E]) Len() int { return q.n }

// Cap returns the number of elements for which there is memory.
func (q *Ring[E]) Cap() int { return len(q.buf) }

// Reserve makes memory for at least n elements.
func (q *Ring[E]) Reserve(n int) {
	if n <= len(q.buf) {
		return
	}
	size := max(2, len(q.buf))
	for size < n {
		size *= 2
	}
	buf := make([]E, size)
	for i := range q.n {
		buf[i] = q.At(i)
	}
	q.buf, q.head = buf, 0
}

// Replace gives an empty ring the memory buf, whose first n elements are its
// content from now on, and returns the memory that it had. The length of buf must
// be a power of two.
func (q *Ring[E]) Replace(buf []E, n int) []E {
	old := q.buf
	q.buf, q.head, q.n = buf, 0, n
	return old
}

// Push adds e behind all others.
func (q *Ring[E]) Push(e E) {
	if q.n == len(q.buf) {
		q.Reserve(q.n + 1)
	}
	q.buf[(q.head+q.n)&(len(q.buf)-1)] = e
	q.n++
}

// Pop removes and returns the oldest element; there must be one.
func (q *Ring[E]) Pop() E {
	e := q.buf[q.head]
	var zero E
	q.buf[q.head] = zero // or the slot would keep what it held alive
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
	return e
}

// At returns the i-th oldest element, counted from 0.
func (q *Ring[E]) At(i int) E { return q.buf[(q.head+i)&(len(q.buf)-1)] }

// Remove removes and returns the i-th oldest element. The others keep their
// order.
func (q *Ring[E]) Remove(i int) E {
	mask := len(q.buf) - 1
	e := q.At(i)
	if i > q.n/2 { // move those behind it forward, or those before it back: the fewer
		for ; i < q.n-1; i++ {
			q.buf[(q.head+i)&mask] = q.At(i + 1)
		}
		var zero E
		q.buf[(q.head+i)&mask] = zero
		q.n--
		return e
	}
	for ; i > 0; i-- {
		q.buf[(q.head+i)&mask] = q.At(i - 1)
	}
	q.Pop()
	return e
}
