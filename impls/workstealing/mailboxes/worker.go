package mailboxes

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// node is a message in a list. At any time one party owns it: a Worker's cache,
// the depot, the Push that fills it, the list or the turn. Nobody reads or
// writes a node that it does not own, so nothing goes wrong if one that was
// recycled has the address of an earlier one.
type node struct {
	next *node
	msg  any
}

// link sets n.next for another party to see with linked.
func (n *node) link(next *node) {
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&n.next)), unsafe.Pointer(next))
}

// linked returns what link has set, and what was done before. A next that is
// an atomic type would cost a locked instruction also where one party alone has
// the node.
func (n *node) linked() *node {
	return (*node)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&n.next))))
}

// chainLen is how many nodes move between a worker and the depot at a time. A
// worker holds two chains at most, so that one which sits on the edge between
// giving and taking does not go to the depot each time.
const chainLen = 64

// Worker is what a goroutine that pushes and pops brings along: list nodes that
// nobody else uses, so that getting and giving back one takes no atomic
// operation. A dispatcher has one for each of its workers, and the sender of a
// message knows on which it runs; who sends from elsewhere borrows one from a
// sync.Pool. One goroutine at a time may use it.
type Worker struct {
	depot *Depot
	free  *node // n nodes
	n     int
	spare *node // nil or a full chain
	_     [line]byte
}

// NewWorker returns a worker that takes from d what it lacks and leaves there
// what it has too much of. Workers of boxes in common have a depot in common.
func NewWorker(d *Depot) *Worker { return &Worker{depot: d} }

// get takes a node with nothing in it.
func (w *Worker) get() *node {
	n := w.free
	if n == nil {
		n = w.refill()
	}
	w.free = n.next
	w.n--
	n.next = nil
	return n
}

// put takes n back, whose message has been taken out.
func (w *Worker) put(n *node) {
	if w.n == chainLen {
		w.unload()
	}
	n.next = w.free
	w.free = n
	w.n++
}

// refill makes free a full chain and returns it.
func (w *Worker) refill() *node {
	if w.spare != nil {
		w.free, w.spare = w.spare, nil
	} else {
		w.free = w.depot.take()
	}
	w.n = chainLen
	return w.free
}

// unload empties free, which is full.
func (w *Worker) unload() {
	if w.spare != nil {
		w.depot.give(w.spare)
	}
	w.spare = w.free
	w.free, w.n = nil, 0
}

// Depot holds the chains of nodes that no worker has at hand: in a stream from
// one worker to another all nodes gather at the receiving one and come back
// this way, chainLen for one locked section. The zero value is ready.
type Depot struct {
	mu     sync.Mutex
	chains []*node
}

// depotCap is how many chains a depot keeps for later; the collector gets the
// rest. It is a million messages of backlog that were handled, 24 MiB.
const depotCap = 1 << 20 / chainLen

// take returns a full chain.
func (d *Depot) take() *node {
	d.mu.Lock()
	if last := len(d.chains) - 1; last >= 0 {
		c := d.chains[last]
		d.chains[last] = nil
		d.chains = d.chains[:last]
		d.mu.Unlock()
		return c
	}
	d.mu.Unlock()
	slab := make([]node, chainLen)
	for i := range slab[1:] {
		slab[i].next = &slab[i+1]
	}
	return &slab[0]
}

// give takes back a full chain.
func (d *Depot) give(c *node) {
	d.mu.Lock()
	if len(d.chains) < depotCap {
		d.chains = append(d.chains, c)
	}
	d.mu.Unlock()
}
