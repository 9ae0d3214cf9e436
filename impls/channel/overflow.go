package channel

import (
	"runtime"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
)

// overflow is the messages that the channel of an unbounded mailbox has no room
// for, and what is
// to be known of its actor. It belongs to the goroutine that received it, and no goroutine that
// has it waits for anything.
type overflow struct {
	msgs []any
	held int  // messages that a turn has taken from here and not handled
	mode mode // of the actor
	rung bool // the mark is in the channel, or the actor has just received it
	born bool // the actor has had a goroutine
	idle bool // the mark asks the goroutine to end if there is nothing to do
}

// mode says where an actor is, for those who send to it.
type mode uint8

const (
	// resting: it has no goroutine. A sender that has something for it starts one.
	resting mode = iota
	// young: its first goroutine is running. All messages go to the overflow, in
	// which it looks before it ends.
	young
	// calm: the overflow is empty and the channel is to be used. Only then the
	// queue is in calm.
	calm
	// flood: all messages go to the overflow, in which the actor looks before it
	// goes to sleep, unless it is suspended.
	flood
	// closed: no message is accepted.
	closed
)

// take receives the queue.
//
// The queue is away for the time of an append. Who waited for it in a blocking
// select would be handed it before it runs again, all others would find it
// missing until then and wait as well, and from there on every message would
// cost two switches of goroutines. Who finds it missing stays away for longer and longer,
// up to some microseconds: with two that look again at once each message goes through
// both processors' caches. Who finds it missing for longer than that waits in the
// select after all: the goroutine that has it was interrupted, and may have no
// processor because others look.
func (b *box) take() *overflow {
	pause := 64 // steps of about half a nanosecond
	for try := 1; try < looks; try++ {
		select {
		case q := <-b.spill: // alone in a select with default it is cheap
			return q
		default:
		}
		select {
		case q := <-b.calm:
			return q
		default:
		}
		for range pause {
		}
		pause = min(2*pause, 4096)
		if try%8 == 0 {
			runtime.Gosched()
		}
	}
	return b.takeTurn()
}

// looks is how often a sender looks for the queue before it waits in line: for some 50
// microseconds, what it takes to run on another processor.
const looks = 32

// takeTurn waits in line for the queue.
func (b *box) takeTurn() *overflow {
	select {
	case q := <-b.spill:
		return q
	case q := <-b.calm:
		return q
	}
}

// hold is take for the actor itself, which might never be as quick as a sender
// in a loop. There is one actor, so its waiting delays no other for long.
func (b *box) hold() *overflow {
	select {
	case q := <-b.spill:
		return q
	default:
	}
	return b.takeTurn()
}

// put gives the queue back.
func (b *box) put(q *overflow) {
	if invariants.Enabled && q.mode == calm && len(q.msgs)+q.held > 0 {
		invariants.Violated("channel", "an overflow that is not used is empty")
	}
	if q.mode == calm {
		b.calm <- q
	} else {
		b.spill <- q
	}
}

// sendSpill is Send for a mailbox whose channel is full or not to be used.
func (b *box) sendSpill(msg any) actor.SendResult {
	q := b.take()
	switch q.mode {
	case calm: // so the channel was full
		select {
		case b.in <- msg:
			b.put(q)
			return actor.Sent
		default:
		}
		// The channel is full, so the actor is not asleep, and before it goes
		// to sleep it finds calm empty: that it is came first.
		q.mode = flood
	case resting:
		b.first, b.woken = msg, true
		b.start(q)
		return actor.Sent
	case closed:
		b.put(q)
		return actor.Closed
	}
	q.msgs = mailbox.Append(q.msgs, msg)
	n := len(q.msgs)
	b.put(q)
	if n%patience == 0 {
		// A channel would make the sender wait. Sends do not wait, but before
		// the overflow outgrows what an actor keeps the receiver should have
		// its chance.
		runtime.Gosched()
	}
	return actor.Sent
}

// patience is for how many messages in the overflow a sender yields once.
const patience = 1 << 10

// start gives back the queue of an actor that rests and starts its goroutine.
func (b *box) start(q *overflow) {
	q.mode = flood
	if b.known {
		for range cap(b.in) {
			<-b.in // see plug
		}
	}
	if !q.born {
		q.born = true
		q.mode = young
		b.young = true
	}
	b.put(q)
	b.d.enter(b)
	go b.live()
}

// wakeByMark wakes an actor with an overflow, or makes it look once more for system
// messages before it goes to sleep.
//
// A select of two channels costs half as much again as a plain receive, so such
// an actor waits for messages only, and is woken by the mark among them. It
// takes part in no bound there.
func (b *box) wakeByMark() {
	q := b.take()
	switch {
	case q.mode == resting:
		if b.cell.Pending() {
			b.start(q)
			return
		}
		// The caller was overtaken: a turn has handled what it had queued, and
		// the actor has gone to rest since. A goroutine would find nothing and
		// go to sleep at the channel, while messages go to the overflow.
	case q.mode != young && !q.rung:
		select {
		case b.in <- theMark:
			q.rung = true
		default: // the actor is not asleep, and looks before it goes to sleep
		}
	}
	b.put(q)
}

// unring says that the mark has been received. After that the actor must look
// at what it may be about.
func (b *box) unring() {
	if b.calm == nil {
		return
	}
	q := b.hold()
	q.rung = false
	if q.idle {
		q.idle, b.young = false, true
	}
	b.put(q)
}

// nudge asks the goroutine to end if it sleeps in its receive.
func (b *box) nudge() {
	q := b.take()
	if q.mode == calm && !q.rung {
		select {
		case b.in <- theMark:
			q.rung, q.idle = true, true
		default:
		}
	}
	b.put(q)
}

// lenSpill is Len for a mailbox with an overflow.
func (b *box) lenSpill() int {
	q := b.take()
	n := 0
	if q.mode != closed && q.mode != resting {
		n = len(b.in) + len(q.msgs) + q.held
		if q.rung {
			n--
		}
	}
	b.put(q)
	return max(n, 0)
}

// unspill takes all messages of the overflow into out, which is used up, and
// reports whether there were any. If not, the channel is to be used again.
func (b *box) unspill() bool {
	invariants.Window() // a sender may fill the channel now
	q := b.hold()
	out := b.out[:0]
	// A sender may have filled the channel and gone on to the overflow since
	// the channel was found empty. With the queue in hand that is over.
	for len(b.in) > 0 {
		if msg := <-b.in; isMark(msg) {
			q.rung = false
		} else {
			out = append(out, msg)
		}
	}
	if len(out) == 0 {
		out, q.msgs = q.msgs, out
	} else {
		out = append(out, q.msgs...)
		clear(q.msgs)
		q.msgs = q.msgs[:0]
	}
	b.out, b.pos = out, 0
	switch {
	case len(out) == 0:
		b.settle(q)
	case q.mode != calm:
		q.held = len(out)
	default:
		// The overflow is not used: a sender had the queue when the actor found
		// it away, and has put its message into the channel since.
	}
	b.put(q)
	return len(out) > 0
}

// settle ends a flood. The overflow is empty and in hand.
func (b *box) settle(q *overflow) {
	q.held = 0
	if cap(b.out) > b.keep {
		b.out, b.pos = b.out[:0], 0
		mailbox.Discard(&b.out)
	}
	if cap(q.msgs) > b.keep {
		mailbox.Discard(&q.msgs)
	}
	if q.mode == flood {
		q.mode = calm
		b.known = true
	}
}

// retire ends the actor's goroutine if there is nothing to do, and reports
// whether it has. Then the goroutine that takes the queue next may start another one.
func (b *box) retire() bool {
	if b.cell.Pending() {
		return false
	}
	b.d.leave(b)
	invariants.Window()
	q := b.hold()
	b.young = false
	if len(q.msgs) > 0 || b.cell.Pending() || b.known && !b.plug(q) {
		q.mode = flood
		b.put(q)
		b.d.enter(b)
		return false
	}
	b.verdict = actor.Continue
	q.mode = resting
	if cap(b.out) > b.keep {
		b.out, b.pos = nil, 0
	}
	if cap(q.msgs) > b.keep {
		q.msgs = nil
	}
	b.put(q)
	return true
}

// plug fills the channel with marks, so that a sender that has looked at calm before finds it
// full, and goes on to the queue, which is in hand. It reports false if something came first: a
// message, which is in out then, or a mark.
func (b *box) plug(q *overflow) bool {
	for marks := 0; ; marks++ {
		select {
		case b.in <- theMark:
			continue
		default:
		}
		if marks == cap(b.in) {
			return true
		}
		break
	}
	b.out, b.pos = b.out[:0], 0
	for len(b.in) > 0 {
		if msg := <-b.in; !isMark(msg) {
			b.out = append(b.out, msg)
		}
	}
	q.rung, q.idle = false, false
	b.tell(q)
	return false
}

// awaitMark is awaitSignal with an overflow. User messages wait there, but for
// those whose senders were about to use the channel.
func (b *box) awaitMark() {
	q := b.hold()
	if q.mode != closed {
		q.mode = flood
		b.young = false
	}
	b.tell(q)
	b.put(q)
	b.tally.Publish()
	for !b.cell.Pending() {
		invariants.Window()
		msg := <-b.in
		switch {
		case isMark(msg):
			b.unring()
		case b.ended:
			b.refuse(msg)
		default:
			if b.pos == len(b.out) {
				b.out, b.pos = b.out[:0], 0
			}
			if b.woken { // it came before msg
				b.out = append(b.out, b.first)
				b.first, b.woken = nil, false
			}
			b.out = append(b.out, msg)
			q := b.hold()
			b.tell(q)
			b.put(q)
		}
	}
}

// tell tells the queue, which is in hand, how much of what was taken from it is
// left.
func (b *box) tell(q *overflow) {
	q.held = len(b.out) - b.pos
	if b.woken {
		q.held++
	}
}

// closeSpill is Close for a mailbox with an overflow.
func (b *box) closeSpill() {
	q := b.hold()
	msgs := q.msgs
	q.msgs = nil
	q.mode = closed
	b.put(q)
	b.refuseRest()
	for _, msg := range msgs {
		b.refuse(msg)
	}
	// Sends that were about to use the channel may still come; awaitMark and
	// seal find them.
}

// seal is the end of a closed mailbox with an overflow: if there are senders
// that may still be about to use the channel, they find it full.
func (b *box) seal() {
	if !b.known {
		return
	}
	q := b.hold()
	q.rung = true // so no sender rings any more
	b.put(q)
	for len(b.in) > 0 {
		if msg := <-b.in; !isMark(msg) {
			b.refuse(msg)
		}
	}
	b.fillUp()
}
