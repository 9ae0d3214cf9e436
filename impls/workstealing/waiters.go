package workstealing

import "github.com/dynolab/dyno/group"

// consumer is a call of Next that waits for a result.
type consumer[T any] struct {
	ready chan struct{} // capacity 1; a token means the answer is there

	// Written under the group's mutex by whoever answers; read after receiving
	// from ready or, by a caller that gives up, under the mutex.
	answered bool
	res      group.Result[T]
	ok       bool

	prev, next *consumer[T] // neighbours while it is queued
}

// answer ends the wait of c, which has been taken out of the queue. The
// group's mutex is held.
func (c *consumer[T]) answer(r group.Result[T], ok bool) {
	c.res, c.ok, c.answered = r, ok, true
	c.ready <- struct{}{}
}

// consumers is a FIFO queue from whose middle one can leave: consumers give up
// when their context ends, and a queue that only skipped them later would grow
// with every call that timed out on a quiet group.
type consumers[T any] struct {
	oldest, newest *consumer[T]
}

func (q *consumers[T]) empty() bool { return q.oldest == nil }

func (q *consumers[T]) push(c *consumer[T]) {
	c.prev = q.newest
	if c.prev == nil {
		q.oldest = c
	} else {
		c.prev.next = c
	}
	q.newest = c
}

// pop removes and returns the one who has waited longest.
func (q *consumers[T]) pop() *consumer[T] {
	c := q.oldest
	q.remove(c)
	return c
}

func (q *consumers[T]) remove(c *consumer[T]) {
	if c.prev == nil {
		q.oldest = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		q.newest = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}
