package queue

// List is a queue from whose middle one can leave: who waits gives up when its
// context ends, and a queue that only skipped it later would grow with every wait
// that ends so. It is a circle, so a list is one pointer. The zero value is empty.
type List[T any] struct {
	oldest *Node[T]
}

// Node is an element of a List, and in one at a time. It is part of the memory of
// the waiter, so that a list allocates nothing.
type Node[T any] struct {
	Value      T
	prev, next *Node[T] // neighbours in the circle
}

// ListFrom returns the list whose oldest node is n, or an empty one if that is
// nil. It is for who keeps the node and not the list.
func ListFrom[T any](n *Node[T]) List[T] { return List[T]{n} }

// Empty reports whether there is no node.
func (l *List[T]) Empty() bool { return l.oldest == nil }

// Oldest returns the first node, or nil.
func (l *List[T]) Oldest() *Node[T] { return l.oldest }

// Newest returns the last node; there must be one.
func (l *List[T]) Newest() *Node[T] { return l.oldest.prev }

// Push adds n behind all others.
func (l *List[T]) Push(n *Node[T]) {
	if l.oldest == nil {
		l.oldest, n.prev = n, n
	}
	n.prev, n.next = l.oldest.prev, l.oldest
	n.prev.next, n.next.prev = n, n
}

// PushFront adds n before all others.
func (l *List[T]) PushFront(n *Node[T]) {
	l.Push(n)
	l.oldest = n // the list is a circle: it has come round to the front
}

// Pop removes and returns the oldest node; there must be one.
func (l *List[T]) Pop() *Node[T] {
	n := l.oldest
	l.Remove(n)
	return n
}

// Remove takes n out, which must be in the list.
func (l *List[T]) Remove(n *Node[T]) {
	if n.next == n {
		l.oldest = nil
	} else {
		n.prev.next, n.next.prev = n.next, n.prev
		if l.oldest == n {
			l.oldest = n.next
		}
	}
	n.prev, n.next = nil, nil
}
