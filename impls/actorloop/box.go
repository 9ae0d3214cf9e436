package actorloop

import (
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
)

// box is an actor with its mailbox: its [actor.Port].
//
// A plain mailbox is an inbox, as the scheduler's is: the actor is the receiver, and what
// says whether it looks also says whether the scheduler has to be told of a message.
type box struct {
	cell actor.Cell // ends with what the turn writes

	// The turn's.
	out     *node[letter] // what it has taken, the oldest first
	left    int32         // messages in it
	counted int32         // so many of what it has taken are in waiting; left, between turns

	_ [32]byte // what senders touch, for every message as well, begins a cache line: 192

	d       *Dispatcher
	bounded *bounded // the messages of a mailbox that is not a plain one; else nil

	// in is asleep while the actor has nothing to do: who wakes it, or sends it a message then,
	// owns the actor and schedules it. Of a mailbox that is not a plain one it is that switch only.
	in inbox[letter]

	// waiting is how many messages wait in a plain mailbox. It is too low while a sender has still
	// to count its message, which the turn may have taken already.
	waiting atomic.Int32

	// suspended is set by the end of a turn, instead of having in sleep, and cleared by
	// who wakes the actor for a system message, and then schedules it.
	suspended atomic.Bool

	event node[event] // says that the actor is ready; sent by who has woken it
}

// closed is what a plain mailbox has in place of messages when its actor has stopped.
var closed node[letter]

func newBox(d *Dispatcher, cfg actor.MailboxConfig) *box {
	b := &box{d: d}
	b.event.msg.box = b // its kind is ready, the zero one
	b.in.init()
	if !mailbox.Plain(cfg) {
		b.bounded = &bounded{queue: mailbox.New(cfg)}
	}
	return b
}

func (b *box) Cell() *actor.Cell { return &b.cell }

func (b *box) Send(msg any, from actor.Worker) actor.SendResult {
	if b.bounded != nil {
		return b.sendBounded(msg, from)
	}
	var n *node[letter]
	if s := nodesOf(from); s != nil {
		n = s.get()
	} else {
		n = foreign()
	}
	n.msg.msg = msg
	was := b.in.offer(n, &closed)
	if was == gone {
		discard(n)
		return actor.Closed
	}
	b.waiting.Add(1)
	if was == resting {
		b.d.schedule(b, from)
	}
	return actor.Sent
}

// Wake schedules the actor for a system message if it sleeps or is suspended.
func (b *box) Wake(from actor.Worker) {
	if b.in.wake() || b.resume() {
		b.d.schedule(b, from)
	}
}

// resume is in.wake for an actor that is suspended.
func (b *box) resume() bool {
	if !b.suspended.Load() {
		return false
	}
	invariants.Window() // another one may resume it, and schedule it
	return b.suspended.CompareAndSwap(true, false)
}

func (b *box) Close() {
	came, n := b.in.close(&closed)
	b.waiting.Add(int32(-n) - b.counted)
	left := b.out
	b.out, b.left, b.counted = nil, 0, 0
	b.refuse(left)
	b.refuse(came)
	if b.bounded != nil {
		for _, msg := range b.bounded.close() {
			b.cell.Undelivered(msg, actor.ErrStopped)
		}
	}
}

func (b *box) refuse(n *node[letter]) {
	for n != nil {
		next := n.next
		b.cell.Undelivered(n.msg.msg, actor.ErrStopped)
		discard(n)
		n = next
	}
}

// Len implements [actor.Port]. What a turn has taken counts, but for the first, until it takes
// more or is over.
func (b *box) Len() int {
	if b.bounded != nil {
		return b.bounded.len()
	}
	return int(max(b.waiting.Load(), 0))
}

// turn runs a turn of the actor on w. It keeps the message that is being handled in
// handled, for the deferred function that deals with a turn that does not return.
func (b *box) turn(w *worker, handled *any) actor.Verdict {
	if b.cell.BeginTurn(w) {
		if b.bounded != nil {
			b.handleBounded(handled)
		} else {
			b.handle(w, handled)
		}
		*handled = nil
	}
	return b.cell.EndTurn(&w.tally)
}

// handle handles messages of a plain mailbox, and handleBounded those of another one, as long as
// there are any and the turn lasts.
func (b *box) handle(w *worker, handled *any) {
	for b.left > 0 || b.refill() {
		n := b.next()
		msg := n.msg.msg
		w.nodes.took(clearNode(n))
		*handled = msg
		if !b.cell.Invoke(msg) {
			return
		}
	}
}

// next takes the next node of out. There must be one.
func (b *box) next() *node[letter] {
	n := b.out
	b.out = n.next
	b.left--
	return n
}

// refill takes all messages that have reached a plain mailbox, and reports whether there are any.
func (b *box) refill() bool {
	if b.in.empty() {
		return false
	}
	taken, n := b.in.take()
	b.waiting.Add(-b.counted - 1) // what was taken before, and the first of these, which is about to be handled
	b.out, b.left, b.counted = taken, int32(n), int32(n)-1
	return true
}

// rest acts on the verdict of a turn and reports whether the actor has to be
// scheduled again, which is up to the caller then.
func (b *box) rest(v actor.Verdict) (again bool) {
	invariants.Window() // what comes now is left to the looks below
	if invariants.Enabled && (b.in.isAsleep() || b.suspended.Load()) {
		invariants.Violated("actorloop", "an actor in a turn is scheduled")
	}
	if b.counted != b.left {
		b.waiting.Add(b.left - b.counted)
		b.counted = b.left
	}
	switch v {
	case actor.Yield:
		return true
	case actor.Suspended:
		b.suspended.Store(true)
		return b.cell.Pending() && b.resume()
	case actor.Continue:
		if invariants.Enabled && b.left > 0 {
			invariants.Violated("actorloop", "a turn that continues has handled all it took")
		}
		if !b.in.sleep() {
			return true
		}
		// A system message, or one for a bounded queue, may have come while in was awake; its
		// sender has then left it to this look.
		return (b.cell.Pending() || b.bounded != nil && b.bounded.len() > 0) && b.in.wake()
	}
	return false // it has stopped: in is closed, and nothing wakes the actor again
}
