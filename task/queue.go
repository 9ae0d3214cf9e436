package task

// Queue is tasks that wait, the oldest first, linked through their rooms: Link is
// the younger neighbour, and Place the older one. So it allocates nothing, and a
// task in the middle can leave. It is for executors; its owner's lock guards it.
// The zero value is empty.
type Queue struct {
	oldest, newest *Handle
	n              int
}

// Len returns the number of tasks.
func (q *Queue) Len() int { return q.n }

// Oldest returns the first task, or nil. The next one is in the Link of its room.
func (q *Queue) Oldest() *Handle { return q.oldest }

// Push adds h behind all others.
func (q *Queue) Push(h *Handle) {
	if q.newest == nil {
		q.oldest = h
	} else {
		q.newest.Room().Link = h
		h.Room().Place = q.newest
	}
	q.newest = h
	q.n++
}

// PushFront adds h before all others.
func (q *Queue) PushFront(h *Handle) {
	if q.oldest == nil {
		q.newest = h
	} else {
		q.oldest.Room().Place = h
		h.Room().Link = q.oldest
	}
	q.oldest = h
	q.n++
}

// Remove takes h out, which must be in the queue.
func (q *Queue) Remove(h *Handle) {
	r := h.Room()
	older, _ := r.Place.(*Handle)
	younger := r.Link
	r.Place, r.Link = nil, nil
	if older == nil {
		q.oldest = younger
	} else {
		older.Room().Link = younger
	}
	switch {
	case younger == nil:
		q.newest = older
	case older == nil:
		younger.Room().Place = nil // and not a nil *Handle
	default:
		younger.Room().Place = older
	}
	q.n--
}
