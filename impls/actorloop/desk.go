package actorloop

import "sync/atomic"

// desk is the queue of orders to the manager of an executor, and its switch. It
// is built like mailbox, for orders: those of a task are part of its record, and
// so a task sends two of them and allocates none.
type desk struct {
	// top is the newest order, nil if there is none, or the asleep mark. It hands
	// orders from senders to the manager, and what the manager owns from one that
	// ends (sleep) to the sender that starts the next one.
	top    atomic.Pointer[order]
	asleep order // only its address matters
}

func (d *desk) init() { d.top.Store(&d.asleep) }

// send adds o and reports whether the caller must start the manager.
func (d *desk) send(o *order) (start bool) {
	for {
		top := d.top.Load()
		start := top == &d.asleep
		o.next = top
		if start {
			o.next = nil
		}
		if d.top.CompareAndSwap(top, o) {
			return start
		}
	}
}

// receive takes all orders, the oldest first, linked by next. It returns nil if
// there is none. Only the manager calls it.
func (d *desk) receive() *order {
	var oldest *order
	for o := d.top.Swap(nil); o != nil; {
		o.next, oldest, o = oldest, o, o.next
	}
	return oldest
}

// sleep ends the manager's duty if there is no order, and reports whether it
// did. Only the manager calls it; after true it is not the manager any more.
func (d *desk) sleep() bool { return d.top.CompareAndSwap(nil, &d.asleep) }
