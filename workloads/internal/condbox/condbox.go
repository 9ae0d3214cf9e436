// Package condbox is the mailbox of the references called mutex-cond: the
// mutex, condition variable and slice that a careful engineer writes who finds
// channels too slow.
//
// It is apart from package workloads because boards' code does without
// sync.Cond, which allocates there; this is the one place where it is the
// subject.
package condbox

import "sync"

// Box is a queue for any number of senders and one receiver. Make one with
// [New].
type Box[T any] struct {
	mu       sync.Mutex
	some     sync.Cond // there are items, or the box is closed
	room     sync.Cond // there are fewer than capacity
	capacity int       // 0: unbounded
	items    []T
	closed   bool
}

// New returns an empty box in which at most capacity items wait, or any number
// if that is 0.
func New[T any](capacity int) *Box[T] {
	b := &Box[T]{capacity: capacity}
	b.some.L = &b.mu
	b.room.L = &b.mu
	return b
}

// Put adds an item. It waits for room. The box must not be closed.
func (b *Box[T]) Put(item T) {
	b.mu.Lock()
	for b.capacity > 0 && len(b.items) >= b.capacity {
		b.room.Wait()
	}
	b.items = append(b.items, item)
	b.mu.Unlock()
	b.some.Signal()
}

// TakeAll waits until there are items and returns all of them, oldest first. It
// gives the box the memory of used, which the receiver has done with, to fill
// next. After Close it returns nothing when nothing is left.
func (b *Box[T]) TakeAll(used []T) []T {
	b.mu.Lock()
	for len(b.items) == 0 && !b.closed {
		b.some.Wait()
	}
	items := b.items
	b.items = used[:0]
	b.mu.Unlock()
	if b.capacity > 0 {
		b.room.Broadcast()
	}
	return items
}

// Close lets the receiver go when the box is empty.
func (b *Box[T]) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.some.Signal()
}

// Slot is a place for one item, which one goroutine sets and one gets. Make one
// with [NewSlot].
type Slot[T any] struct {
	mu   sync.Mutex
	cond sync.Cond
	item T
	set  bool
}

// NewSlot returns an empty slot.
func NewSlot[T any]() *Slot[T] {
	s := new(Slot[T])
	s.cond.L = &s.mu
	return s
}

// Set puts the item into the slot, once.
func (s *Slot[T]) Set(item T) {
	s.mu.Lock()
	s.item, s.set = item, true
	s.mu.Unlock()
	s.cond.Signal()
}

// Get waits for the item and returns it.
func (s *Slot[T]) Get() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.set {
		s.cond.Wait()
	}
	return s.item
}

// Levels is a queue with priorities, from which one goroutine takes. Make one
// with [NewLevels].
type Levels[T any] struct {
	mu     sync.Mutex
	some   sync.Cond
	levels []fifo[T]
}

// fifo is a queue that is a slice; it begins anew when it is empty.
type fifo[T any] struct {
	items []T
	head  int
}

// NewLevels returns an empty queue with n levels, of which 0 is the first.
func NewLevels[T any](n int) *Levels[T] {
	l := &Levels[T]{levels: make([]fifo[T], n)}
	l.some.L = &l.mu
	return l
}

// Put adds an item to a level.
func (l *Levels[T]) Put(level int, item T) {
	l.mu.Lock()
	q := &l.levels[level]
	q.items = append(q.items, item)
	l.mu.Unlock()
	l.some.Signal()
}

// Take waits until there is an item and removes the oldest one of the first
// level that has any.
func (l *Levels[T]) Take() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for i := range l.levels {
			q := &l.levels[i]
			if len(q.items) == 0 {
				continue
			}
			item := q.items[q.head]
			if q.head++; q.head == len(q.items) {
				q.items, q.head = q.items[:0], 0
			}
			return item
		}
		l.some.Wait()
	}
}
