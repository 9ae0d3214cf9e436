package serial

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
)

// DispatcherConfig is what makes a dispatcher of this implementation different
// from the one that [NewDispatcher] makes. The zero value is that one.
type DispatcherConfig struct {
	// Schedule is the order in which actors have their turn. With FIFO an actor handles as many messages as its
	// throughput allows; with the others it handles one. So every order of handling
	// that the mailboxes allow comes up with some seed.
	Schedule Schedule
}

// Dispatcher runs actors one at a time on the goroutine that asks for it.
// Make one with [NewDispatcher] or [NewDispatcherWith]. It implements
// [actor.Synchronous].
type Dispatcher struct {
	single  bool        // a turn is one message
	tally   actor.Tally // of the goroutine that runs actors
	current current     // likewise: the innermost turn
	drove   bool        // likewise: the innermost drive has ended

	mu      sync.Mutex       // guards everything below, and every box
	sched   *scheduler       // nil: first in, first out
	ready   queue.Ring[*box] // scheduled actors
	boxes   uint32           // actors so far, if there is a schedule
	running bool             // a goroutine runs actors
	asked   bool             // RunUntilIdle was called meanwhile
	parked  int              // senders that wait for room while another goroutine runs actors
	started bool
}

// NewDispatcher returns a dispatcher that runs actors in the order in which
// they became ready.
func NewDispatcher() *Dispatcher { return NewDispatcherWith(DispatcherConfig{}) }

// NewDispatcherWith returns a dispatcher that follows c.
func NewDispatcherWith(c DispatcherConfig) *Dispatcher {
	s := newScheduler(c.Schedule)
	return &Dispatcher{sched: s, single: s.fine()}
}

// Start implements [actor.Dispatcher].
func (d *Dispatcher) Start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started {
		return actor.ErrStarted
	}
	d.started = true
	return nil
}

// Attach implements [actor.Dispatcher].
func (d *Dispatcher) Attach(cfg actor.MailboxConfig) actor.Port {
	b := &box{d: d, mail: mailbox.New(cfg)}
	if d.sched != nil {
		d.mu.Lock()
		d.boxes++
		b.number = d.boxes
		d.mu.Unlock()
	}
	return b
}

// Stop implements [actor.Dispatcher]: there is nothing to stop.
func (d *Dispatcher) Stop(done func()) {
	d.tally.Publish() // this is the last turn, and done tells
	done()
}

// AddStats implements [actor.Dispatcher].
func (d *Dispatcher) AddStats(s *actor.Stats) { d.tally.AddTo(s) }

// Dispatcher implements [actor.Worker]: the one who runs actors needs no other
// description.
func (d *Dispatcher) Dispatcher() actor.Dispatcher { return d }

// RunUntilIdle implements [actor.Synchronous]. If an actor calls
// runtime.Goexit the rest is still run before the calling goroutine ends.
func (d *Dispatcher) RunUntilIdle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running {
		d.asked = true
		return
	}
	d.run(context.Background(), nil)
}

// run makes the calling goroutine the one that runs actors, until none is ready
// or s, if it is not nil, needs no more and no other goroutine does: neither a sender
// that waits nor a caller of RunUntilIdle who was told that a goroutine runs them.
// mu is held, and no goroutine runs actors.
func (d *Dispatcher) run(ctx context.Context, s *mailbox.Sender) {
	d.running, d.asked = true, false
	defer d.rested()
	d.drive(ctx, s)
	if d.parked > 0 || d.asked {
		d.drive(ctx, nil)
	}
}

func (d *Dispatcher) rested() { d.running = false }

// drive runs turns until none is ready or, if s is not nil, s is answered or
// ctx has ended. mu is held, but not during turns.
func (d *Dispatcher) drive(ctx context.Context, s *mailbox.Sender) {
	defer d.driven(ctx, d.drove, d.current)
	d.drove, d.current = false, current{}
	for d.ready.Len() > 0 && (s == nil || s.Waiting() && ctx.Err() == nil) {
		b := d.next()
		d.mu.Unlock()
		b.turn()
	}
	d.tally.Publish()
	d.drove = true
}

// driven is deferred by drive. drove and outer are those of the drive and the turn that
// this drive is nested in.
func (d *Dispatcher) driven(ctx context.Context, drove bool, outer current) {
	if !d.drove { // an actor has called Goexit
		d.drive(ctx, nil)
	}
	d.drove, d.current = drove, outer
}

// next takes the next actor out of the ready queue. mu is held.
func (d *Dispatcher) next() *box {
	if d.sched == nil {
		return d.ready.Pop()
	}
	return d.ready.Remove(d.sched.choose((*turns)(d)))
}

// turns is what the schedule of a dispatcher chooses from.
type turns Dispatcher

func (t *turns) len() int { return t.ready.Len() }

func (t *turns) numbers(each func(int, uint64)) {
	for i := range t.ready.Len() {
		each(i, uint64(t.ready.At(i).number))
	}
}

func (t *turns) who(i int) string { return named("actor", uint64(t.ready.At(i).number)) }

// phase is where an actor is in the schedule.
type phase uint8

const (
	phaseIdle      phase = iota // a send schedules it
	phaseScheduled              // in the ready queue, in a turn, on the way from one to the other, or stopped
	phaseSuspended              // only Wake schedules it
)

// box is an actor with its mailbox: its [actor.Port].
type box struct {
	cell actor.Cell
	d    *Dispatcher

	// Guarded by the dispatcher's mutex.
	mail  mailbox.Queue
	phase phase

	number uint32 // for the schedule: in the order of Attach, counted from 1; never written again
}

func (b *box) Cell() *actor.Cell { return &b.cell }

// Send implements [actor.Port]. It only queues: the goroutine that runs actors runs this
// one too.
func (b *box) Send(msg any, _ actor.Worker) actor.SendResult {
	prio := b.mail.Priority(msg) // before the lock is taken: it is the user's
	b.d.mu.Lock()
	res, dropped, drop := b.mail.Push(msg, prio)
	if res == actor.Sent {
		b.schedule(false)
	}
	b.d.mu.Unlock()
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	return res
}

// schedule makes the actor ready if it is idle or, for system messages,
// suspended. The dispatcher's mutex is held.
func (b *box) schedule(system bool) {
	if b.phase == phaseIdle || system && b.phase == phaseSuspended {
		b.phase = phaseScheduled
		b.d.ready.Push(b)
	}
}

// SendWait implements [actor.Port]. Waiting, on the one goroutine there is,
// means to run other actors until there is room. It returns ErrDeadlock if none
// is ready and there is still no room.
func (b *box) SendWait(ctx context.Context, msg any, from actor.Worker) error {
	d := b.d
	prio := b.mail.Priority(msg)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch res, _, _ := b.mail.Push(msg, prio); res {
	case actor.Sent:
		b.schedule(false)
		return nil
	case actor.Closed:
		return actor.ErrStopped
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var ready chan struct{} // nil if the sender runs actors meanwhile
	if from == nil && d.running {
		ready = make(chan struct{})
	}
	s := b.mail.Wait(msg, prio, ready)
	defer b.mail.Leave(s) // also if an actor that was run meanwhile has called Goexit
	switch {
	case from != nil: // in a turn, so on the goroutine that runs actors
		d.drive(ctx, s)
	case !d.running:
		d.run(ctx, s)
	default:
		d.parked++
		d.mu.Unlock()
		select {
		case <-ready:
		case <-ctx.Done():
		}
		d.mu.Lock()
		d.parked--
	}
	if !s.Waiting() {
		return s.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return actor.ErrDeadlock
}

func (b *box) Wake(actor.Worker) {
	b.d.mu.Lock()
	b.schedule(true)
	b.d.mu.Unlock()
}

func (b *box) Close() {
	b.d.mu.Lock()
	left := b.mail.Close()
	b.d.mu.Unlock()
	for _, msg := range left {
		b.cell.Undelivered(msg, actor.ErrStopped)
	}
}

func (b *box) Len() int {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return b.mail.Len()
}

// turn runs a turn of the actor. mu is not held at the call, and held
// afterwards, also if the actor calls Goexit.
func (b *box) turn() {
	d := b.d
	defer b.end()
	for more := b.cell.BeginTurn(d); more; {
		if d.current.msg, more = b.pop(); more {
			more = b.cell.Invoke(d.current.msg) && !d.single
		}
	}
	d.current.verdict = b.cell.EndTurn(&d.tally)
	d.current.returned = true
}

// current is the state of a turn that its end has to know. It is a field of the
// dispatcher and not variables of turn: those that a deferred function shares
// with the function that defers it cost TinyGo an allocation each, in every turn.
type current struct {
	msg      any
	verdict  actor.Verdict
	returned bool
}

// end is deferred by turn.
func (b *box) end() {
	d := b.d
	v := d.current.verdict
	if !d.current.returned {
		v = b.cell.Caught(&d.tally, d.current.msg, recover())
	}
	d.current = current{} // a message that was handled is not kept
	d.mu.Lock()
	b.rest(v)
}

func (b *box) pop() (msg any, ok bool) {
	b.d.mu.Lock()
	msg, ok = b.mail.Pop()
	b.d.mu.Unlock()
	return msg, ok
}

// rest acts on the verdict of a turn. The dispatcher's mutex is held.
func (b *box) rest(v actor.Verdict) {
	if invariants.Enabled && b.phase != phaseScheduled {
		invariants.Violated("serial", "an actor in a turn is scheduled")
	}
	again := b.cell.Pending()
	switch v {
	case actor.Continue:
		again = again || b.mail.Len() > 0
		b.phase = phaseIdle
	case actor.Yield:
		again = true
	case actor.Suspended:
		b.phase = phaseSuspended
	case actor.Stopped:
		return // scheduled for ever: nothing schedules it again
	}
	if again {
		b.phase = phaseScheduled
		b.d.ready.Push(b)
	}
}
