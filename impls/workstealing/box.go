package workstealing

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// box is an actor's mailbox and its place in the schedule: the [actor.Port].
//
// Both are in one word, so that a send is one step: it queues the message and
// learns whether the actor has to be scheduled, and a turn that ends makes the
// actor idle only if no message has come. There is nothing to look at twice.
//
// An idle actor's message does not go through the queue at all. The sender that
// makes the actor scheduled owns the place first until it has put the actor
// into a ready queue, and the turn owns it from then on. So a message from one
// actor to another that waits for it costs two compare-and-swaps of this word,
// one to schedule and one to go idle.
//
// Messages for an actor that is not idle are appended to a chain of chunks, under
// the word's lock bit; the turn takes the whole chain at once. The lock
// is held for the time of an append, which copies nothing: a chain that grows
// gets another chunk.
type box struct {
	// word packs phase, locked, waiting and shut, and of a lane side, count and owner.
	// Setting phase to scheduled hands first from the sender to the turn; clearing
	// locked hands in, the chain, from each goroutine that had it to the next; raising count
	// hands a message from the owner of the lane to who takes the chain.
	word atomic.Uint32

	in messages // guarded by locked; on the line of the word
	d  *Dispatcher

	bounded *bounded // the queue of a mailbox with a capacity or priorities; else nil

	// What the turn looks at for every message begins here, on another line than the word
	// that senders write: with any on the word's line both sides missed their caches for
	// every message, and fan-in on two processors took 140 ns a message and not 23.
	first any   // see above
	any   bool  // first holds a message; its owner's, like first
	lent  bool  // the last chunk of out is a lane's; the turn's
	slow  bool  // a look of the watchdog came in its last turn: this one is timed; the turn's
	out   taken // the turn's

	// left is how many messages of first and out the last turn left for the next one,
	// for Len; known is what the turn has written to it.
	left  atomic.Int32
	known int32

	cell actor.Cell // last: what senders read most is at its beginning
}

// The bits of box.word.
const (
	phaseMask      = 3
	phaseIdle      = 0 // no goroutine runs it, no message waits
	phaseScheduled = 1 // it is in a ready queue, or in its turn
	phaseSuspended = 2 // no goroutine runs it; only a system message schedules it
	phaseGone      = 3 // it has stopped

	bitLocked  = 1 << 2 // a goroutine has in
	bitWaiting = 1 << 3 // in is not empty
	bitShut    = 1 << 4 // Close was called: in takes no more

	lowBits = phaseMask | bitLocked | bitWaiting | bitShut
)

var _ actor.Port = (*box)(nil)

func (b *box) Cell() *actor.Cell { return &b.cell }

// Send implements [actor.Port]. It reads the word before it writes to it: a
// compare-and-swap that fails costs as much as one that succeeds.
func (b *box) Send(msg any, from actor.Worker) actor.SendResult {
	if b.bounded != nil {
		return b.sendBounded(msg, from)
	}
	v := b.word.Load()
	if v&lowBits == phaseIdle && b.word.CompareAndSwap(v, v|phaseScheduled) {
		if invariants.Enabled && b.any {
			invariants.Violated("workstealing", "first holds a message only while the actor is scheduled")
		}
		b.first, b.any = msg, true
		b.d.schedule(b, from)
		return actor.Sent
	}
	w, _ := from.(*worker)
	if lanes && w != nil {
		if w.lane.box == b {
			if w.lane.push(w, v, msg) {
				return actor.Sent
			}
		} else if w.sends(b) && w.takeLane(b, msg) {
			return actor.Sent
		}
	}
	if v&bitLocked != 0 || !b.word.CompareAndSwap(v, v|bitLocked) {
		v = b.lock()
	}
	if v&(bitShut|phaseMask) != phaseScheduled || lanes && v >= laneOwner {
		return b.sendSlow(v, msg, from)
	}
	b.in.push(msg)
	n := b.in.n
	b.word.Store(v | bitWaiting) // hands b.in over; the actor has been scheduled
	if n&(n-1) == 0 && w != nil {
		w.offer(b, int(n))
	}
	return actor.Sent
}

// sendSlow is the rest of Send for an actor that is not scheduled, or to which there is a
// lane. The word, which was v, is locked.
func (b *box) sendSlow(v uint32, msg any, from actor.Worker) actor.SendResult {
	w, _ := from.(*worker)
	switch {
	case v&bitShut != 0:
		b.word.Store(v)
		return actor.Closed
	case lanes && v >= laneOwner:
		v = b.pushLane(v, msg, w)
	default:
		b.in.push(msg)
	}
	n := b.in.n
	switch v & phaseMask {
	case phaseIdle:
		b.word.Store(v | bitWaiting | phaseScheduled)
		b.d.schedule(b, from)
	case phaseScheduled:
		b.word.Store(v | bitWaiting)
		if w != nil && n >= many {
			w.offer(b, int(n))
		}
	default:
		b.word.Store(v | bitWaiting) // it must not be scheduled
	}
	return actor.Sent
}

// lock sets the lock bit and returns the word without it, for the caller to
// store, changed or not, to unlock. Who does not get it stays away from the word for
// longer and longer, up to a microsecond, in which another goroutine appends some fifty
// messages in its own cache: two that look again at once send each message
// through both caches, and take several times as long.
func (b *box) lock() uint32 {
	for pause := 64; pause <= 2048; pause *= 2 {
		if v, ok := b.tryLock(); ok {
			return v
		}
		for range pause { // half a nanosecond each
		}
	}
	return b.lockSlow()
}

func (b *box) tryLock() (v uint32, ok bool) {
	v = b.word.Load()
	return v, v&bitLocked == 0 && b.word.CompareAndSwap(v, v|bitLocked)
}

// lockSlow is lock for a word that has been locked for long: the one that has it has
// lost its processor. One goroutine at a time yields until it is unlocked, the others
// sleep, so that it gets one.
func (b *box) lockSlow() uint32 {
	b.d.crowd.Lock()
	defer b.d.crowd.Unlock()
	for {
		if v, ok := b.tryLock(); ok {
			return v
		}
		runtime.Gosched()
	}
}

func (b *box) Wake(from actor.Worker) {
	for {
		v := b.word.Load()
		switch {
		case v&bitLocked != 0:
			runtime.Gosched()
		case v&phaseMask == phaseScheduled || v&phaseMask == phaseGone:
			return // the end of its turn looks at Pending
		case b.word.CompareAndSwap(v, v&^phaseMask|phaseScheduled):
			b.d.schedule(b, from)
			return
		}
	}
}

func (b *box) Close() {
	v := b.lock()
	if lanes && v >= laneOwner {
		v = b.in.endLane(v)
	}
	head, last, n := b.in.take(nil)
	b.word.Store(v&^bitWaiting | bitShut)
	if b.any {
		b.cell.Undelivered(b.first, actor.ErrStopped)
		b.first, b.any = nil, false
	}
	for b.out.len() > 0 {
		b.cell.Undelivered(b.out.next(), actor.ErrStopped)
	}
	b.used()
	for b.out.begin(head, last, n); b.out.len() > 0; {
		b.cell.Undelivered(b.out.next(), actor.ErrStopped)
	}
	b.used()
	if b.bounded != nil {
		b.bounded.close(b)
	}
}

// Len implements [actor.Port]. It does not count the message that has made the
// actor ready, and what a turn in progress took it counts as of the turn before.
func (b *box) Len() int {
	if b.bounded != nil {
		return b.bounded.len()
	}
	v := b.lock()
	n := uint32(b.in.n) + v&laneCounts/laneCount
	b.word.Store(v)
	return int(n) + int(b.left.Load())
}

// pop takes the next message. Only the turn calls it.
func (b *box) pop() (any, bool) {
	if b.any {
		msg := b.first
		b.first, b.any = nil, false
		return msg, true
	}
	if b.out.len() == 0 {
		if b.bounded != nil {
			return b.bounded.pop()
		}
		if b.word.Load()&bitWaiting == 0 {
			return nil, false
		}
		b.refill()
	}
	return b.out.next(), true
}

// used returns the last chunk that the turn has used up, for the chain to go on with, or
// nil if there is none, or it must not.
func (b *box) used() *chunk {
	if b.lent {
		b.lent, b.out.out = false, nil
		return nil
	}
	return b.out.used()
}

// refill takes all messages that wait; there are some.
func (b *box) refill() {
	used := b.used()
	v := b.lock()
	if !lanes || v < laneOwner {
		head, last, n := b.in.take(used)
		b.word.Store(v &^ bitWaiting)
		b.out.begin(head, last, n)
		return
	}
	head, last, n := b.in.takeLane(v)
	b.word.Store(v&^(bitWaiting|laneCounts) ^ laneSide) // hands the other chunk to the owner of the lane
	b.out.begin(head, last, n)
	b.lent = true
}

// after does what the verdict v of a turn asks for.
func (b *box) after(w *worker, v actor.Verdict) {
	rest := b.out.len()
	if b.any {
		rest++
	}
	if rest != b.known {
		b.known = rest
		b.left.Store(rest)
	}
	switch v {
	case actor.Continue:
		b.rest(w, phaseIdle)
	case actor.Yield:
		w.push(b)
	case actor.Suspended:
		b.rest(w, phaseSuspended)
	case actor.Stopped:
		b.word.Store(phaseGone | bitShut)
	}
}

// run implements runnable: it runs a turn. It keeps the message that is being handled in
// w.handled, for a turn that does not return.
func (b *box) run(w *worker, _ any) {
	if invariants.Enabled && b.word.Load()&phaseMask != phaseScheduled {
		invariants.Violated("workstealing", "an actor has a turn only if it is scheduled")
	}
	if w.d != b.d {
		b.d.enter(w)
	}
	drained := false // no message is left
	if b.cell.BeginTurn(w) {
		if b.slow {
			w.turnBegan, w.turnMessages = time.Now(), 0
		}
	messages:
		for {
			var msg any
			switch { // what pop would do
			case b.any: // of an actor that was idle
				msg = b.first
				b.first, b.any = nil, false
			case b.out.begun != b.out.end: // in a stream nearly always
				msg = b.out.here()
			default:
				if drained = b.out.later == 0 && b.bounded == nil && b.word.Load()&bitWaiting == 0; drained {
					break messages
				}
				var ok bool
				if msg, ok = b.pop(); !ok {
					break messages
				}
			}
			w.handled = msg
			if !b.cell.Invoke(msg) {
				break
			}
			if (b.slow || w.asked.Load()) && b.over(w) {
				break
			}
		}
		w.handled = nil // it must not stay alive while the worker sleeps
	}
	v := b.cell.EndTurn(&w.tally.Tally)
	if !drained || !b.idles(w) { // who has drained its mailbox could have gone on: v is Continue
		b.after(w, v)
	}
}

// quick is the time in which a message takes so little that its turn needs no clock.
const quick = 4 * time.Microsecond

// over reports, after a message, whether the turn has taken its time, a period, so that others have
// theirs. To look at the clock takes longer than many a message. So as a rule the watchdog does,
// while anything waits: a turn ends at the first of its looks. After that an actor's turns are
// timed, message by message, until those take little: where all processors compute, Go has the
// watchdog wait for the end of a slice.
//
//go:noinline
func (b *box) over(w *worker) bool {
	if w.asked.Load() {
		b.slow = true
		return true
	}
	took := time.Since(w.turnBegan)
	if w.turnMessages++; took < time.Duration(w.turnMessages)*quick {
		b.slow = false
	}
	return took >= period
}

func (b *box) recovers() bool { return true }

func (b *box) caught(w *worker, recovered any) {
	v := b.cell.Caught(&w.tally.Tally, w.handled, recovered)
	w.handled = nil
	b.after(w, v)
}

// idles is after for an actor that has handled all that it was told, as a rule. It reports
// whether the actor is idle.
func (b *box) idles(w *worker) bool {
	if s := b.out.out; b.known != 0 || s != nil && len(s.msgs) >= large {
		return false
	}
	v := b.word.Load()
	if v&(bitLocked|bitWaiting) != 0 || !b.word.CompareAndSwap(v, v&^phaseMask) {
		return false
	}
	if b.cell.Pending() { // it may have come while the word said scheduled, see rest
		b.Wake(w)
	}
	return true
}

// rest ends the actor's time in the schedule: phase is idle or suspended. If
// there is something to do after all it is scheduled again.
func (b *box) rest(w *worker, phase uint32) {
	if s := b.out.out; s != nil && b.out.len() == 0 && len(s.msgs) >= large {
		b.used() // an idle mailbox keeps no large chunk
	}
	if b.bounded != nil {
		invariants.Window() // what comes now is left to the looks below
	}
	for {
		v := b.word.Load()
		switch {
		case v&bitLocked != 0:
			runtime.Gosched()
			continue
		case phase == phaseIdle && (v&bitWaiting != 0 || b.any || b.out.len() > 0):
			w.push(b)
			return
		case !b.word.CompareAndSwap(v, v&^phaseMask|phase):
			continue
		}
		break
	}
	// A system message, or one for a bounded queue, may have come while the
	// word said scheduled; its sender has then left it to this look.
	if b.cell.Pending() || phase == phaseIdle && b.bounded != nil && b.bounded.len() > 0 {
		b.Wake(w)
	}
}
