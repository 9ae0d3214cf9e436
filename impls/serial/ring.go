package serial

// ring is a FIFO queue in a circular slice that grows by doubling.
// The zero value is empty. It is not safe for concurrent use.
type ring[E any] struct {
	buf  []E // the length is zero or a power of two
	head int // index of the oldest element
	n    int
}

func (q *ring[E]) len() int { return q.n }

// reserve makes room for n elements.
func (q *ring[E]) reserve(n int) {
	if n <= len(q.buf) {
		return
	}
	size := max(8, len(q.buf))
	for size < n {
		size *= 2
	}
	buf := make([]E, size)
	for i := range q.n {
		buf[i] = q.buf[(q.head+i)&(len(q.buf)-1)]
	}
	q.buf, q.head = buf, 0
}

func (q *ring[E]) push(e E) {
	if q.n == len(q.buf) {
		q.reserve(q.n + 1)
	}
	q.buf[(q.head+q.n)&(len(q.buf)-1)] = e
	q.n++
}

// pop removes and returns the oldest element; the ring must not be empty.
func (q *ring[E]) pop() E {
	e := q.buf[q.head]
	var zero E
	q.buf[q.head] = zero // or the slot would keep what it held alive
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
	return e
}

// at returns the i-th oldest element.
func (q *ring[E]) at(i int) E { return q.buf[(q.head+i)&(len(q.buf)-1)] }

// remove removes and returns the i-th oldest element. The others keep their order.
func (q *ring[E]) remove(i int) E {
	mask := len(q.buf) - 1
	e := q.buf[(q.head+i)&mask]
	if i > q.n/2 { // move those behind it forward, or those before it back: the fewer
		for ; i < q.n-1; i++ {
			q.buf[(q.head+i)&mask] = q.buf[(q.head+i+1)&mask]
		}
		var zero E
		q.buf[(q.head+i)&mask] = zero
		q.n--
		return e
	}
	for ; i > 0; i-- {
		q.buf[(q.head+i)&mask] = q.buf[(q.head+i-1)&mask]
	}
	q.pop()
	return e
}
