package workstealing

import "github.com/dynolab/dyno/task"

// wait is the wait of a task, in progress on a worker, for another one. It needs no channel
// of its own: a worker waits for one task at a time. What is in it is guarded
// by the pool's waits, and so are the rooms that it is about.
//
// The waiting task has the worker as its Own, and the awaited one has, as its Link,
// the task that began to wait for it last; the others follow by behind.
type wait struct {
	from, of *task.Handle
	behind   *worker
	done     chan struct{} // what from had as its Own, or nil
	over     chan struct{} // capacity 1; a token ends the wait
}

// mark sets a bit in the word of a task that is not over, and reports whether it did.
func mark(r *task.Room, bit uint32) bool {
	for {
		v := r.Word.Load()
		if v&status != 0 {
			return false
		}
		if v&bit != 0 || r.Word.CompareAndSwap(v, v|bit) {
			return true
		}
	}
}

// join waits on the worker's goroutine until h is over, or from is, the task in
// progress there.
func (w *worker) join(h, from *task.Handle) {
	p, r, own := w.pool, h.Room(), from.Room()
	p.waits.Lock()
	if !mark(r, awaited) || !mark(own, waits) {
		p.waits.Unlock()
		return
	}
	done, _ := own.Own.(chan struct{})
	w.wait.from, w.wait.of, w.wait.done = from, h, done
	if r.Link != nil {
		w.wait.behind = r.Link.Room().Own.(*worker)
	}
	r.Link, own.Own = from, w
	if w.wait.over == nil {
		w.wait.over = make(chan struct{}, 1)
	}
	p.waits.Unlock()
	<-w.wait.over
}

// release ends the waits for h, which is over, and its own.
func (p *Pool) release(h *task.Handle) {
	r := h.Room()
	p.waits.Lock()
	canceled, _ := r.Own.(*worker)
	if canceled != nil {
		canceled.wait.leave()
	}
	var first *worker
	if r.Link != nil {
		first = r.Link.Room().Own.(*worker)
		r.Link = nil
	}
	for w := first; w != nil; w = w.wait.behind {
		w.wait.end()
	}
	done, _ := r.Own.(chan struct{})
	p.waits.Unlock()
	if done != nil {
		close(done)
	}
	if canceled != nil {
		canceled.wait.over <- struct{}{}
	}
	for w := first; w != nil; {
		next := w.wait.behind
		w.wait.behind = nil // before the token: then the worker may wait for another one
		w.wait.over <- struct{}{}
		w = next
	}
}

// leave takes the wait out of those for the same task, and ends it.
func (t *wait) leave() {
	r := t.of.Room()
	if r.Link == t.from {
		r.Link = nil
		if t.behind != nil {
			r.Link = t.behind.wait.from
		}
	} else {
		before := r.Link.Room().Own.(*worker)
		for before.wait.behind.wait.from != t.from {
			before = before.wait.behind
		}
		before.wait.behind = t.behind
	}
	t.behind = nil
	t.end()
}

// end gives the waiting task its Own back.
func (t *wait) end() {
	if t.done != nil {
		t.from.Room().Own = t.done
	} else {
		t.from.Room().Own = nil
	}
	t.from, t.of, t.done = nil, nil, nil
}
