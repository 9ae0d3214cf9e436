package lockbased

import "github.com/dynolab/dyno/task"

// sleeper is a call of Wait that waits, or the channel that Done has returned.
type sleeper struct {
	ready chan struct{} // capacity 1; a token means that the caller goes on
	done  chan struct{} // of Done, else nil

	// The executor's mutex guards what follows.
	from       *task.Handle // the task that waits and has given its slot away, or nil
	answered   bool         // what it waits for is over
	prev, next *sleeper     // neighbours in a crowd
}

// crowd is a FIFO queue from whose middle one can leave: a circle. The zero value
// is empty.
type crowd struct {
	oldest *sleeper
}

// crowdOf returns those who wait for h. It is a copy: see of.
func crowdOf(h *task.Handle) crowd {
	w, _ := h.Room().Own.(*sleeper)
	return crowd{w}
}

// of makes c the crowd of h.
func (c crowd) of(h *task.Handle) {
	if c.oldest == nil {
		h.Room().Own = nil
	} else {
		h.Room().Own = c.oldest
	}
}

func (c *crowd) empty() bool { return c.oldest == nil }

func (c *crowd) push(w *sleeper) {
	if c.oldest == nil {
		w.prev, w.next = w, w
		c.oldest = w
		return
	}
	w.prev, w.next = c.oldest.prev, c.oldest
	w.prev.next, w.next.prev = w, w
}

// pop removes and returns the one who has waited longest.
func (c *crowd) pop() *sleeper {
	w := c.oldest
	c.remove(w)
	return w
}

func (c *crowd) remove(w *sleeper) {
	if w.next == w {
		c.oldest = nil
	} else {
		w.prev.next, w.next.prev = w.next, w.prev
		if c.oldest == w {
			c.oldest = w.next
		}
	}
	w.prev, w.next = nil, nil
}

// line is a FIFO queue of tasks from whose middle one can leave, linked through
// their rooms: Link is the younger neighbour, Place the older one. The zero value
// is empty.
type line struct {
	oldest, newest *task.Handle
}

func (q *line) empty() bool { return q.oldest == nil }

func (q *line) push(h *task.Handle) {
	if q.newest == nil {
		q.oldest = h
	} else {
		q.newest.Room().Link = h
		h.Room().Place = q.newest
	}
	q.newest = h
}

func (q *line) remove(h *task.Handle) {
	r := h.Room()
	older, _ := r.Place.(*task.Handle)
	younger := r.Link
	r.Place, r.Link = nil, nil
	if older == nil {
		q.oldest = younger
	} else {
		older.Room().Link = younger
	}
	if younger == nil {
		q.newest = older
	} else {
		younger.Room().Place = older
	}
}
