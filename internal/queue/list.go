package queue

// List is a queue from whose middle one can leave: who waits gives up when its
// context ends, and a queue that only skipped it later would grow with every wait
// that ends so. The zero value is empty.
type List[T any] struct {
	oldest, newest *Node[T]
}

// Node is an element of a List, and in one at a time. It is part of the memory of
// whoever waits, so that a list allocates nothing.
type Node[T any] struct {
	Value      T
	prev, next *Node[T]
}

// Next returns the node behind n, or nil.
func (n *Node[T]) Next() *Node[T] { return n.next }

// Empty reports whether there is no node.
func (l *List[T]) Empty() bool { return l.oldest == nil }

// Oldest returns the first node, or nil.
func (l *List[T]) Oldest() *Node[T] { return l.oldest }

// Push adds n behind all others.
func (l *List[T]) Push(n *Node[T]) {
	n.prev = l.newest
	if n.prev == nil {
		l.oldest = n
	} else {
		n.prev.next = n
	}
	l.newest = n
}

// Pop removes and returns the oldest node; there must be one.
func (l *List[T]) Pop() *Node[T] {
	n := l.oldest
	l.Remove(n)
	return n
}

// Remove takes n out, which must be in the list.
func (l *List[T]) Remove(n *Node[T]) {
	if n.prev == nil {
		l.oldest = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.newest = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
}
