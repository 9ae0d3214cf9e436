package channel

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// box is an actor with its mailbox and its goroutine: its [actor.Port] and [actor.Worker].
//
// A mailbox is one of three things: a channel with an overflow, if it has no
// bound (calm is not nil); a channel, if what a full channel does is its policy;
// or ordered. The fields that a mailbox does not use are nil.
type box struct {
	cell actor.Cell
	d    *Dispatcher

	in chan any // user messages; with an overflow also the mark

	// The overflow, see overflow.go. Its queue is in calm when the channel is
	// to be used and in spill when it is not, or with the goroutine that received it.
	calm, spill chan *overflow
	overflow    overflow // of the goroutine that received its address

	bell    chan struct{} // capacity one: wakes the actor; without an overflow
	shut    chan struct{} // closed with a mailbox that is a channel
	block   bool          // the policy is Block
	held    atomic.Bool   // first is one, of an actor that is suspended: for Len, in a mailbox that is a channel
	ordered *ordered

	// What follows belongs to the turn, down to tally. With an overflow it is
	// handed on with the queue when the goroutine ends and when one starts.

	first any    // the message that woke the actor, if that is what has; out is used up then
	woken bool   // first is one
	young bool   // the goroutine ends when there is nothing to do: the actor's first, or of one that is idle
	known bool   // the queue has been in calm, so senders may be about to use the channel
	ended bool   // the mailbox is closed
	swept uint32 // belongs to the registry: its turns, their low bits, when it was last looked for idle actors
	out   []any
	pos   int // of the next message in out
	keep  int // the capacity up to which an empty overflow keeps its memory in any case
	// verdict is how the last turn ended. It outlives the goroutine if an actor
	// calls Goexit.
	verdict actor.Verdict
	tally   actor.Tally // the counts of the goroutine, see count

	older, newer *box // belong to the registry
}

// mark is what comes out of a channel of messages and is none. In a mailbox
// with an overflow the one mark wakes the actor; in a closed mailbox marks
// fill the channel so that nothing else fits.
type mark struct{ _ byte }

var theMark any = new(mark)

func isMark(msg any) bool {
	_, is := msg.(*mark)
	return is
}

const (
	// room is the capacity of the channel of an unbounded mailbox. Most mailboxes
	// never hold more than a few messages, and of more the overflow makes less
	// work than a channel. With 16 places an idle actor takes more than the
	// kibibyte that is promised, and no message is faster.
	room = 8

	// most is the largest capacity for which a mailbox is a channel of that
	// capacity. A channel's memory is there from the start: here a mebibyte.
	most = 1 << 16
)

func newBox(d *Dispatcher, cfg actor.MailboxConfig) *box {
	b := &box{d: d, block: cfg.Policy == actor.Block}
	grows := cfg.Policy == actor.Unbounded || cfg.Policy == actor.Grow
	switch {
	case grows && cfg.Priority == nil:
		b.in = make(chan any, room)
		b.calm, b.spill = make(chan *overflow, 1), make(chan *overflow, 1)
		b.keep = cfg.Capacity
		if cfg.Capacity > room {
			b.overflow.msgs = make([]any, 0, cfg.Capacity-room)
		}
		b.spill <- &b.overflow
		return b
	case (b.block || cfg.Policy == actor.DropNewest) && cfg.Priority == nil && cfg.Capacity <= most:
		b.in = make(chan any, cfg.Capacity)
		b.shut = make(chan struct{})
	default:
		b.ordered = newOrdered(cfg)
	}
	b.bell = make(chan struct{}, 1)
	return b
}

func (b *box) Cell() *actor.Cell { return &b.cell }

func (b *box) Dispatcher() actor.Dispatcher { return b.d }

func (b *box) Send(msg any, _ actor.Worker) actor.SendResult {
	if b.calm == nil {
		return b.sendBounded(msg)
	}
	// Has this sender anything in the overflow? When it put it there calm was
	// empty, and calm is empty until the actor has taken it out, after which
	// nothing can overtake it. What others do meanwhile may make the answer
	// wrong, but then the sender has nothing there.
	if len(b.calm) > 0 {
		invariants.Window() // it may be away now
		select {
		case b.in <- msg:
			return actor.Sent
		default:
		}
	}
	return b.sendSpill(msg)
}

func (b *box) Wake(from actor.Worker) {
	switch self, _ := from.(*box); {
	case self == b: // in its own turn, after which it looks
	case b.calm == nil:
		b.ring()
	default:
		b.wakeByMark()
	}
}

// ring wakes an actor without an overflow, or makes it look once more before
// it goes to sleep. Such an actor waits for its bell beside its messages.
func (b *box) ring() {
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

// sendBounded is Send for a mailbox without an overflow.
func (b *box) sendBounded(msg any) actor.SendResult {
	if b.ordered != nil {
		return b.sendOrdered(msg)
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

func (b *box) SendWait(ctx context.Context, msg any, _ actor.Worker) error {
	if b.ordered != nil {
		return b.waitOrdered(ctx, msg)
	}
	switch b.sendBounded(msg) {
	case actor.Sent:
		return nil
	case actor.Closed:
		return actor.ErrStopped
	}
	if err := ctx.Err(); err != nil {
		return err
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

func (b *box) Len() int {
	switch {
	case b.ordered != nil:
		return b.ordered.len()
	case b.calm != nil:
		return b.lenSpill()
	}
	select {
	case <-b.shut:
		return 0
	default:
	}
	n := len(b.in)
	if b.held.Load() {
		n++
	}
	return n
}

// Close implements [actor.Port]. It is called in the actor's turn, like
// everything below.
func (b *box) Close() {
	b.ended = true
	switch {
	case b.ordered != nil:
		for _, msg := range b.ordered.close() {
			b.refuse(msg)
		}
	case b.calm == nil:
		close(b.shut) // releases those in SendWait before there is room
		b.refuseRest()
		b.fillUp()
	default:
		b.closeSpill()
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
	for len(b.in) > 0 { // as a rule there is nothing, and to call next needs more than a young goroutine's stack
		if msg, ok := b.next(); ok {
			b.refuse(msg)
		}
	}
}

// next receives a message if there is one. No other goroutine receives, so what is in
// the channel stays there, and a plain receive is cheaper than one that may
// find nothing.
func (b *box) next() (msg any, ok bool) {
	for len(b.in) > 0 {
		if msg = <-b.in; !isMark(msg) {
			return msg, true
		}
		b.unring()
	}
	return nil, false
}

// fillUp fills the channel with marks, so that no send succeeds any more, and
// hands over what a send that was under way has put between them. Receiving is
// the only way to make room, and no other goroutine receives: so a message either is
// found here or has not been accepted. There must be no mark in the channel,
// and no goroutine that may send one.
func (b *box) fillUp() {
	for marks := 0; marks < cap(b.in); {
		select {
		case b.in <- theMark:
			marks++
			continue
		default:
		}
		if msg := <-b.in; isMark(msg) {
			marks--
		} else {
			b.refuse(msg)
		}
	}
}

// live is the life of the actor's goroutine.
func (b *box) live() {
	rests, returned := false, false
	defer func() {
		switch {
		case rests: // and nothing here is this goroutine's any more
		case !returned && b.verdict != actor.Stopped:
			go b.live() // the actor has called Goexit; another goroutine goes on
		default:
			if b.calm != nil {
				b.seal()
			}
			b.d.leave(b)
		}
	}()
	for !rests && b.verdict != actor.Stopped {
		rests = b.serve()
	}
	returned = true
}

// serve runs turns until the actor has stopped, a turn does not return, or the
// actor rests: then it reports true.
func (b *box) serve() (rests bool) {
	var msg any
	returned := false
	defer func() {
		if !returned {
			b.verdict = b.cell.Caught(&b.tally, msg, recover())
		}
	}()
	v := b.verdict
	for v != actor.Stopped {
		switch v {
		case actor.Continue:
			if b.calm == nil || b.woken || b.young || b.cell.Pending() {
				if b.await() {
					returned = true
					return true
				}
				break
			}
			// Pop has found nothing, nor calm empty; if it is now, the channel
			// has become full meanwhile. The receive is here and not in a
			// function: a goroutine that wakes up finds none of the returns
			// that lead out of it predicted.
			b.tally.Publish()
			invariants.Window()
			if b.first = <-b.in; isMark(b.first) {
				b.unring()
			} else {
				b.woken = true
			}
		case actor.Yield:
			b.tally.Parks++
			runtime.Gosched()
		case actor.Suspended:
			b.awaitSignal()
		}
		if b.cell.BeginTurn(b) {
			if b.held.Load() {
				b.held.Store(false)
			}
			for {
				if b.pos < len(b.out) { // in a flood, nearly always
					msg = b.popOut()
				} else if b.woken {
					msg, b.first, b.woken = b.first, nil, false
				} else {
					var ok bool
					if msg, ok = b.pop(); !ok {
						break
					}
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
	return false
}

// pop returns the next message, if there is one, when first and out have been
// used up.
func (b *box) pop() (msg any, ok bool) {
	if b.ordered != nil {
		return b.ordered.pop()
	}
	if msg, ok = b.next(); ok || b.calm == nil {
		return msg, ok
	}
	// Only now: what is in the channel is older than what is in the overflow.
	if len(b.calm) > 0 {
		return nil, false
	}
	if b.unspill() {
		return b.popOut(), true
	}
	return nil, false
}

// popOut returns the next message of out, which must not be used up.
func (b *box) popOut() any {
	msg := b.out[b.pos]
	b.out[b.pos] = nil // or the slot would keep what it held alive
	b.pos++
	return msg
}

// await waits until there is something to do, unless that is a message in a
// mailbox with an overflow, and reports whether the actor rests instead: then
// nothing here is this goroutine's any more.
func (b *box) await() (rests bool) {
	switch {
	case b.woken: // by the sender that started the goroutine
		return false
	case b.young:
		rests = b.retire()
		if !rests {
			b.stay()
		}
		return rests
	case b.cell.Pending():
		b.stay()
		return false
	}
	b.tally.Publish()
	invariants.Window()
	select {
	case b.first = <-b.in:
		b.woken = true
	case <-b.bell:
	}
	return false
}

// stay counts that the goroutine goes on without having slept, which it can
// only after a turn.
func (b *box) stay() {
	if b.tally.Turns > 0 {
		b.tally.Parks++
	}
}

// count adds what the goroutine has counted to s. A goroutine sleeps after
// nearly every turn, so what its tally has as Parks is how often it did not: it
// costs nothing to publish a counter that has not changed. That it started is
// one of the Wakes, and that it ended one of the Parks.
func (b *box) count(s *actor.Stats) {
	var t actor.Stats
	b.tally.AddTo(&t)
	s.Messages += t.Messages
	s.Turns += t.Turns
	slept := t.Turns - min(t.Turns, t.Parks)
	s.Parks += slept
	s.Wakes += slept
}

// awaitSignal waits until there is a system message.
func (b *box) awaitSignal() {
	if b.calm != nil {
		b.awaitMark()
		return
	}
	// The message that woke the actor cannot go back. It waits beside the channel, so
	// with it one more may wait than the capacity says.
	b.held.Store(b.woken)
	b.tally.Publish()
	for !b.cell.Pending() {
		invariants.Window()
		<-b.bell
	}
}
