package serial

import (
	"strconv"

	"github.com/dynolab/dyno/task"
)

// queue is the tasks that wait for their turn, linked by their Rooms: Link is the
// next one, and Place the one before.
type queue struct {
	first, last *task.Handle
	n           int
}

// push adds h behind all others.
func (q *queue) push(h *task.Handle) {
	if q.last == nil {
		q.first = h
	} else {
		q.last.Room().Link = h
		h.Room().Place = q.last
	}
	q.last = h
	q.n++
}

// unshift adds h before all others.
func (q *queue) unshift(h *task.Handle) {
	if q.first == nil {
		q.last = h
	} else {
		q.first.Room().Place = h
		h.Room().Link = q.first
	}
	q.first = h
	q.n++
}

// remove takes h out, which must be in it.
func (q *queue) remove(h *task.Handle) {
	r := h.Room()
	before, _ := r.Place.(*task.Handle)
	after := r.Link
	if before == nil {
		q.first = after
	} else {
		before.Room().Link = after
	}
	if after == nil {
		q.last = before
	} else if before == nil {
		after.Room().Place = nil
	} else {
		after.Room().Place = before
	}
	r.Place, r.Link = nil, nil
	q.n--
}

// len implements line.
func (q *queue) len() int { return q.n }

// numbers implements line.
func (q *queue) numbers(yield func(int, uint64) bool) {
	i := 0
	for h := q.first; h != nil; h = h.Room().Link {
		if !yield(i, h.Room().ID) {
			return
		}
		i++
	}
}

// who implements line.
func (q *queue) who(i int) string {
	h := q.first
	for range i {
		h = h.Room().Link
	}
	return "task " + strconv.FormatUint(h.Room().ID, 10)
}

// jobs is the tasks that wait for another one, as a list.
type jobs struct {
	first, last *job
	n           int
}

func (l *jobs) push(j *job) {
	j.prev = l.last
	if j.prev == nil {
		l.first = j
	} else {
		j.prev.next = j
	}
	l.last = j
	l.n++
}

func (l *jobs) unshift(j *job) {
	j.next = l.first
	if j.next == nil {
		l.last = j
	} else {
		j.next.prev = j
	}
	l.first = j
	l.n++
}

func (l *jobs) remove(j *job) {
	if j.prev == nil {
		l.first = j.next
	} else {
		j.prev.next = j.next
	}
	if j.next == nil {
		l.last = j.prev
	} else {
		j.next.prev = j.prev
	}
	j.prev, j.next = nil, nil
	l.n--
}
