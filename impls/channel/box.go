package channel

import (
	"context"
	"runtime"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// box is an actor with its mailbox and its goroutine, which is its worker.
//
// A mailbox is one of three things: a channel with an overflow, if it has no
// bound (calm is not nil); a channel, if what a full channel does is its policy;
// or a shelf. The fields that a mailbox does not use are nil.
type box struct {
	cell actor.Cell
	d    *Dispatcher

	in   chan any      // user messages; with an overflow also the mark
	bell chan struct{} // capacity one; see knock

	// The overflow. Its queue is in calm when it is empty and in spill when it
	// is not, or with whoever received it. calm is closed with the mailbox.
	calm, spill chan *queue

	shut  chan struct{} // closed with a mailbox that has no overflow
	block bool          // the policy is Block
	shelf *shelf

	// What follows belongs to the turn, down to tally.

	first any  // the message that woke the actor, if that is what has
	woken bool // first is one
	out   []any
	pos   int // of the next message in out
	said  int // messages left in out, as the overflow's queue knows
	keep  int // the capacity up to which an empty overflow keeps its memory
	ended bool
	// verdict is how the last turn ended. It outlives the goroutine if an actor
	// calls Goexit.
	verdict actor.Verdict
	tally   actor.Tally // the counts of the goroutine

	older, newer *box // belong to the books
}

// queue is what an overflow consists of. It belongs to whoever received it.
type queue struct {
	msgs []any
	held int // messages that a turn has taken from here and not handled
}

// mark is what comes out of a channel of messages and is none. In a mailbox
// with an overflow the one mark wakes the actor; in a closed mailbox marks
// fill the channel so that nothing else fits.
type mark struct{ _ byte }

var theMark any = new(mark)

const (
	// room is the capacity of the channel of an unbounded mailbox.
	room = 64

	// most is the largest capacity for which a mailbox is a channel of that
	// capacity. A channel's memory is there from the start: here a mebibyte.
	most = 1 << 16

	// keep is the capacity up to which an empty mailbox keeps its memory: a
	// flood should not be remembered for ever, and less is soon needed again.
	keep = 1 << 10
)

func newBox(d *Dispatcher, cfg actor.MailboxConfig) *box {
	b := &box{
		d:     d,
		bell:  make(chan struct{}, 1),
		block: cfg.Policy == actor.Block,
	}
	grows := cfg.Policy == actor.Unbounded || cfg.Policy == actor.Grow
	switch {
	case grows && cfg.Priority == nil:
		b.in = make(chan any, room)
		b.calm, b.spill = make(chan *queue, 1), make(chan *queue, 1)
		q := &queue{}
		b.keep = max(keep, cfg.Capacity)
		if cfg.Capacity > room {
			q.msgs = make([]any, 0, cfg.Capacity-room)
		}
		b.calm <- q
		b.bell <- struct{}{}
	case cfg.Priority == nil && cfg.Policy != actor.DropOldest && cfg.Capacity <= most:
		b.in = make(chan any, cfg.Capacity)
		b.shut = make(chan struct{})
	default:
		b.shelf = newShelf(cfg)
		b.shut = make(chan struct{})
	}
	return b
}

// Cell implements [actor.Port].
func (b *box) Cell() *actor.Cell { return &b.cell }

// Dispatcher implements [actor.Worker].
func (b *box) Dispatcher() actor.Dispatcher { return b.d }

// Send implements [actor.Port].
func (b *box) Send(msg any, _ actor.Worker) actor.SendResult {
	if b.calm == nil {
		return b.sendBounded(msg)
	}
	// Has this sender anything in the overflow? When it put it there calm was
	// empty, and calm is empty until the actor has taken it out, after which
	// nothing can overtake it. What others do meanwhile may make the answer
	// wrong, but then the sender has nothing there.
	for try := 0; len(b.calm) > 0; try++ {
		select {
		case b.in <- msg:
			return actor.Sent
		default:
		}
		if try > 0 {
			break
		}
		// A channel would make the sender wait here. Sends do not wait, but
		// one that lets others run, its receiver among them, mostly finds room.
		runtime.Gosched()
	}
	q := b.take()
	if q == nil {
		return actor.Closed
	}
	q.msgs = append(q.msgs, msg)
	n := len(q.msgs)
	b.put(q)
	b.knock()
	if n%room == 0 {
		runtime.Gosched()
	}
	return actor.Sent
}

// take receives the overflow's queue; nil means that the mailbox is closed.
//
// The queue is away for the time of an append. Who waited for it in a blocking
// select would be handed it before it runs again, all others would find it
// missing until then and wait as well, and from there on every message would
// cost two switches of goroutines.
func (b *box) take() *queue {
	for try := 1; ; try++ {
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
		if try%16 == 0 {
			runtime.Gosched()
		}
	}
}

// put gives the overflow's queue back. All but the actor itself have to knock
// afterwards: it may have looked for the queue when it was away.
func (b *box) put(q *queue) {
	if len(q.msgs) > 0 {
		b.spill <- q
	} else {
		b.calm <- q
	}
}

// knock wakes the actor, or makes it look once more before it goes to sleep.
//
// An actor without an overflow waits for its bell beside its messages. A select
// of two costs half as much again as a plain receive, so an actor with an
// overflow waits for messages only, and is woken by the mark among them. It
// takes part in no bound there. There is one mark: it is in the bell, in the
// channel, or with someone who is in this function or has received it.
func (b *box) knock() {
	if b.calm == nil {
		select {
		case b.bell <- struct{}{}:
		default:
		}
		return
	}
	for {
		select {
		case <-b.bell:
		default:
			return // whoever has the mark gives it back and then looks
		}
		select {
		case b.in <- theMark:
			return
		default:
		}
		b.bell <- struct{}{}
		// The channel is full: the actor is not asleep, and looks when it has
		// received what is in it. But it may not be full any more, and others
		// may have relied on the mark meanwhile.
		if len(b.in) == cap(b.in) {
			return
		}
	}
}

// Wake implements [actor.Port].
func (b *box) Wake(actor.Worker) { b.knock() }

// sendBounded is Send for a mailbox without an overflow.
func (b *box) sendBounded(msg any) actor.SendResult {
	if b.shelf != nil {
		return b.sendShelf(msg)
	}
	select {
	case b.in <- msg:
		return actor.Sent
	default:
	}
	return b.refusal()
}

// refusal says why a bounded mailbox takes no message.
func (b *box) refusal() actor.SendResult {
	select {
	case <-b.shut:
		return actor.Closed
	default:
	}
	if b.block {
		return actor.MustWait
	}
	return actor.Full
}

// SendWait implements [actor.Port].
func (b *box) SendWait(ctx context.Context, msg any, _ actor.Worker) error {
	switch b.sendBounded(msg) {
	case actor.Sent:
		return nil
	case actor.Closed:
		return actor.ErrStopped
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.shelf != nil {
		return b.waitShelf(ctx, msg)
	}
	select {
	case b.in <- msg:
		return nil
	case <-b.shut:
		return actor.ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Len implements [actor.Port].
func (b *box) Len() int {
	if b.shelf != nil {
		return b.shelf.len()
	}
	if b.calm == nil {
		select {
		case <-b.shut:
			return 0
		default:
			return len(b.in)
		}
	}
	q := b.take()
	if q == nil {
		return 0
	}
	n := len(b.in) + len(q.msgs) + q.held
	if len(b.bell) == 0 {
		n-- // the mark
	}
	b.put(q)
	b.knock()
	return max(n, 0)
}

// Close implements [actor.Port]. It is called in the actor's turn, like
// everything below.
func (b *box) Close() {
	b.ended = true
	switch {
	case b.shelf != nil:
		close(b.shut)
		b.closeShelf()
	case b.calm == nil:
		close(b.shut) // releases those in SendWait before there is room
		b.refuseRest()
		b.entomb()
	default:
		q := b.hold()
		close(b.calm)
		b.refuseRest()
		for _, msg := range q.msgs {
			b.refuse(msg)
		}
		// Sends that saw calm before may still come; await and entomb find them.
	}
}

// refuse hands over a message that is not going to be handled.
func (b *box) refuse(msg any) { b.cell.Undelivered(msg, actor.ErrStopped) }

// refuseRest hands over what the turn has taken, and what is in the channel.
func (b *box) refuseRest() {
	if b.woken {
		b.refuse(b.first)
		b.first, b.woken = nil, false
	}
	for _, msg := range b.out[b.pos:] {
		b.refuse(msg)
	}
	b.out, b.pos = nil, 0
	for {
		msg, ok := b.try()
		if !ok {
			return
		}
		b.refuse(msg)
	}
}

// try receives a message if there is one.
func (b *box) try() (msg any, ok bool) {
	for {
		select {
		case msg = <-b.in:
			if b.isMark(msg) {
				continue
			}
			return msg, true
		default:
			return nil, false
		}
	}
}

// isMark reports whether msg is the mark that wakes, and if so puts it back
// into the bell. After that the actor must look at what it may be about.
func (b *box) isMark(msg any) bool {
	if _, is := msg.(*mark); !is {
		return false
	}
	b.bell <- struct{}{}
	return true
}

// entomb fills the channel with marks, so that no send succeeds any more, and
// hands over what a send that was under way has put between them. Receiving is
// the only way to make room, and nobody else receives: so a message either is
// found here or has not been accepted. Nobody can knock at a mailbox with an
// overflow afterwards.
func (b *box) entomb() {
	for mine := b.calm == nil; !mine; { // or the mark that wakes would be counted
		select {
		case <-b.bell:
			mine = true
		case msg := <-b.in:
			if _, mine = msg.(*mark); !mine {
				b.refuse(msg)
			}
		}
	}
	for marks := 0; marks < cap(b.in); {
		select {
		case b.in <- theMark:
			marks++
			continue
		default:
		}
		msg := <-b.in
		if _, is := msg.(*mark); is {
			marks--
		} else {
			b.refuse(msg)
		}
	}
}

// live is the life of the actor's goroutine.
func (b *box) live() {
	returned := false
	defer func() {
		if !returned && b.verdict != actor.Stopped {
			go b.live() // the actor has called Goexit; another goroutine goes on
			return
		}
		if b.calm != nil {
			b.entomb()
		}
		b.d.leave(b)
	}()
	for b.verdict != actor.Stopped {
		b.serve()
	}
	returned = true
}

// serve runs turns until the actor has stopped or a turn does not return.
func (b *box) serve() {
	var msg any
	returned := false
	defer func() {
		if !returned {
			b.caught(msg, recover())
		}
	}()
	v := b.verdict
	for v != actor.Stopped {
		switch v {
		case actor.Continue:
			b.await()
		case actor.Yield:
			runtime.Gosched()
		case actor.Suspended:
			b.awaitSignal()
		}
		if b.cell.BeginTurn(b) {
			for {
				var ok bool
				if msg, ok = b.pop(); !ok {
					break
				}
				if !b.cell.Invoke(msg) {
					break
				}
			}
			msg = nil // it must not stay alive while the actor sleeps
		}
		v = b.cell.EndTurn(&b.tally)
	}
	b.verdict = v
	returned = true
}

// caught ends a turn that has not returned. If the actor calls Goexit in its
// last hook, this does not return either.
func (b *box) caught(msg, recovered any) {
	returned := false
	defer func() {
		if !returned {
			b.verdict = b.cell.Caught(&b.tally, nil, recover())
		}
	}()
	b.verdict = b.cell.Caught(&b.tally, msg, recovered)
	returned = true
}

// pop returns the next message, if there is one.
func (b *box) pop() (msg any, ok bool) {
	switch {
	case b.woken:
		msg, b.first, b.woken = b.first, nil, false
		return msg, true
	case b.shelf != nil:
		return b.popShelf()
	case b.pos < len(b.out):
		return b.popOut(), true
	}
	if msg, ok = b.try(); ok || b.calm == nil {
		return msg, ok
	}
	// Only now: what is in the channel is older than what is in the overflow.
	if len(b.calm) > 0 {
		return nil, false // should it change now: whoever changes it knocks
	}
	q := b.hold()
	if len(q.msgs) == 0 {
		b.calm <- q
		return nil, false
	}
	b.unspill(q)
	return b.popOut(), true
}

// hold is take for the actor itself, which might never be as quick as a sender
// in a loop. There is one actor, so its waiting delays nobody for long.
func (b *box) hold() *queue {
	select {
	case q := <-b.spill:
		return q
	case q := <-b.calm:
		return q
	}
}

// popOut returns the next message of out, which must not be used up.
func (b *box) popOut() any {
	msg := b.out[b.pos]
	b.out[b.pos] = nil // or the slot would keep what it held alive
	b.pos++
	return msg
}

// unspill takes all messages of the overflow into out, which is used up.
func (b *box) unspill(q *queue) {
	if invariants.Enabled && len(q.msgs) == 0 {
		invariants.Violated("channel", "the queue in spill is not empty")
	}
	// A sender may have filled the channel and gone on to the overflow since
	// the channel was found empty. With the queue in hand that is over.
	out := b.out[:0]
	for {
		msg, ok := b.try()
		if !ok {
			break
		}
		out = append(out, msg)
	}
	if len(out) == 0 {
		out, q.msgs = q.msgs, out
	} else {
		out = append(out, q.msgs...)
		clear(q.msgs)
		q.msgs = q.msgs[:0]
	}
	b.out, b.pos = out, 0
	q.held = len(out)
	b.said = q.held
	b.put(q)
}

// report tells the overflow's queue, which is in hand, how much of what was
// taken from it is left.
func (b *box) report(q *queue) {
	b.said = len(b.out) - b.pos
	q.held = b.said
}

// rest reports before the actor goes to sleep, with everything handled, and
// gives memory back.
func (b *box) rest() {
	if b.said == 0 {
		return
	}
	select {
	case q := <-b.calm:
		b.report(q)
		if cap(b.out) > b.keep {
			b.out, b.pos = nil, 0
		}
		if cap(q.msgs) > b.keep {
			q.msgs = nil
		}
		b.calm <- q
	default: // whoever has it knocks, and await comes here again
	}
}

// await waits until there is something to do.
func (b *box) await() {
	b.rest()
	if b.cell.Pending() {
		return
	}
	b.tally.Parks++
	b.tally.Publish()
	if b.calm == nil {
		select {
		case b.first = <-b.in:
			b.woken = true
		case <-b.bell:
		}
	} else {
		b.first = <-b.in
		b.woken = !b.isMark(b.first)
	}
	b.tally.Wakes++
}

// awaitSignal waits until there is a system message.
func (b *box) awaitSignal() {
	b.tally.Publish()
	if b.calm == nil {
		for !b.cell.Pending() {
			<-b.bell
		}
		return
	}
	if !b.ended && b.said != len(b.out)-b.pos {
		q := b.hold()
		b.report(q)
		b.put(q)
	}
	for !b.cell.Pending() {
		msg := <-b.in // to find the mark; the rest waits
		switch {
		case b.isMark(msg):
		case b.ended:
			b.refuse(msg) // from a send that was under way in Close
		default:
			if b.pos == len(b.out) {
				b.out, b.pos = b.out[:0], 0
			}
			b.out = append(b.out, msg)
			q := b.hold()
			b.report(q)
			b.put(q)
		}
	}
}
