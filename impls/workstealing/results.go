package workstealing

import (
	"runtime"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
)

// minPage is the number of results of a group's first page, unless it reserved
// room for more. Each further page makes the total four times as large, up to
// maxPage a page: pages are few, and small groups small.
const (
	minPage = 16
	maxPage = 1024
)

// results is the queue of a group's results, in the order in which the tasks
// completed. Completing a task is claiming a slot, one fetch-and-add, so the
// number of slots claimed is also the number of tasks completed: there is no
// second counter that workers would have to share.
//
// The queue is the inject queue's, with slots that hold a result, pages that grow,
// and consumers that take one result at a time.
type results[T any] struct {
	tail atomic.Pointer[page[T]] // where workers claim; may lag behind the last page
	_    [56 * apart]byte
	head atomic.Pointer[page[T]] // where consumers take; may lag behind the first page with results
	_    [56 * apart]byte
}

// page is a stretch of the queue. Its slots are written once and taken once.
type page[T any] struct {
	claimed atomic.Uint32    // by workers; may exceed len(slots)
	_       [60 * apart]byte // workers write claimed, consumers write taken: a line each
	taken   atomic.Uint32    // by consumers, in order
	first   uint64           // how many slots the pages before this one have
	slots   []resultSlot[T]
	next    atomic.Pointer[page[T]]
}

type resultSlot[T any] struct {
	res group.Result[T]
	// full is set by the worker after it wrote res, and hands res to the
	// consumer that takes the slot.
	full atomic.Bool
}

func (q *results[T]) init(reserve int) {
	p := &page[T]{slots: make([]resultSlot[T], max(minPage, reserve))}
	q.tail.Store(p)
	q.head.Store(p)
}

// push appends r and returns how many results have been pushed so far,
// including this one. The count is what linearizes a completion.
func (q *results[T]) push(r group.Result[T]) uint64 {
	for {
		p := q.tail.Load()
		size := uint32(len(p.slots))
		if i := p.claimed.Add(1) - 1; i < size {
			p.slots[i].res = r
			p.slots[i].full.Store(true) // hands res to the consumer; pairs with pop's Load
			invariants.Window()         // it may be taken now
			return p.first + uint64(i) + 1
		}
		next := p.next.Load()
		if next == nil {
			total := p.first + uint64(size)
			n := &page[T]{first: total, slots: make([]resultSlot[T], min(3*total, maxPage))}
			n.claimed.Store(1)
			n.slots[0].res = r
			n.slots[0].full.Store(true)
			invariants.Window() // another worker may come first
			if p.next.CompareAndSwap(nil, n) {
				q.tail.CompareAndSwap(p, n) // losing means another worker helped
				return n.first + 1
			}
			next = p.next.Load()
		}
		q.tail.CompareAndSwap(p, next)
	}
}

// pushed returns how many results have been pushed.
func (q *results[T]) pushed() uint64 {
	p := q.tail.Load()
	for {
		n := p.claimed.Load()
		size := uint32(len(p.slots))
		if n < size {
			return p.first + uint64(n)
		}
		next := p.next.Load()
		if next == nil {
			return p.first + uint64(size)
		}
		p = next
	}
}

// pop takes the oldest result. It reports false if every result that has been
// pushed was taken, at some moment of the call. Any goroutine may call it.
func (q *results[T]) pop() (group.Result[T], bool) {
	for {
		p := q.head.Load()
		i := p.taken.Load()
		size := uint32(len(p.slots))
		if i == size {
			next := p.next.Load()
			if next == nil {
				return group.Result[T]{}, false
			}
			q.head.CompareAndSwap(p, next)
			continue
		}
		s := &p.slots[i]
		if !s.full.Load() {
			if p.claimed.Load() <= i {
				return group.Result[T]{}, false
			}
			// A worker is between its claim and its store. The result exists;
			// saying otherwise would be a lie to those who counted the claim.
			runtime.Gosched()
			continue
		}
		if p.taken.CompareAndSwap(i, i+1) {
			r := s.res
			s.res = group.Result[T]{}
			return r, true
		}
	}
}
