package onemutex

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
)

// Dispatcher implements [actor.Dispatcher]: the same idea as the group. One
// mutex guards all mailboxes, of which package mailbox knows what they mean, and
// every turn is a goroutine. There is no ready
// queue and no pool of workers: who is next is up to Go's scheduler. Make one
// with [NewDispatcher].
type Dispatcher struct {
	mu      sync.Mutex // guards what follows, and all of every box but its cell
	started bool
	turns   int       // that have been started and have not ended
	free    []*worker // those whose turn is over
	all     []*worker // all there ever were: as many as there were turns at once
	done    func()    // called when the last turn ends, once it is set
}

// worker is what the core wants a turn to have. It belongs to one turn at a time.
type worker struct {
	d     *Dispatcher
	tally actor.Tally
}

// Dispatcher implements [actor.Worker].
func (w *worker) Dispatcher() actor.Dispatcher { return w.d }

// NewDispatcher returns a dispatcher for one system.
func NewDispatcher() *Dispatcher { return &Dispatcher{} }

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
	return &box{d: d, queue: mailbox.New(cfg)}
}

// Stop implements [actor.Dispatcher]. It is called in the last actor's last
// turn, so there is a turn to end after it.
func (d *Dispatcher) Stop(done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = done
}

// AddStats implements [actor.Dispatcher].
func (d *Dispatcher) AddStats(s *actor.Stats) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Workers += d.turns
	for _, w := range d.all {
		w.tally.AddTo(s)
	}
}

// phase is where an actor is in the schedule.
type phase uint8

const (
	idle      phase = iota // a send schedules it
	scheduled              // it has a turn, or will
	suspended              // only Wake schedules it
	finished               // never scheduled again
)

// box implements [actor.Port].
type box struct {
	cell actor.Cell
	d    *Dispatcher

	phase phase
	queue mailbox.Queue
}

// Cell implements [actor.Port].
func (b *box) Cell() *actor.Cell { return &b.cell }

// Len implements [actor.Port].
func (b *box) Len() int {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return b.queue.Len()
}

// Send implements [actor.Port].
func (b *box) Send(msg any, _ actor.Worker) actor.SendResult {
	prio := b.queue.Priority(msg) // before the mutex is taken: it is the user's code
	b.d.mu.Lock()
	res, dropped, drop := b.queue.Push(msg, prio)
	if res == actor.Sent {
		b.wake(idle)
	}
	b.d.mu.Unlock()
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	return res
}

// SendWait implements [actor.Port].
func (b *box) SendWait(ctx context.Context, msg any, _ actor.Worker) error {
	prio, ended := b.queue.Priority(msg), ctx.Err()
	b.d.mu.Lock()
	s, err := b.queue.PushOrWait(msg, prio, ended)
	if s == nil && err == nil {
		b.wake(idle)
	}
	b.d.mu.Unlock()
	if s == nil {
		return err
	}
	return s.Await(ctx, func() bool {
		b.d.mu.Lock()
		defer b.d.mu.Unlock()
		return b.queue.Leave(s)
	})
}

// Wake implements [actor.Port].
func (b *box) Wake(actor.Worker) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.wake(idle)
	b.wake(suspended)
}

// wake schedules the actor if its phase is from. mu is held, as in all that follow but for
// what the core calls.
func (b *box) wake(from phase) {
	if b.phase == from {
		b.schedule()
	}
}

// Close implements [actor.Port].
func (b *box) Close() {
	b.d.mu.Lock()
	left := b.queue.Close()
	b.d.mu.Unlock()
	for _, msg := range left {
		b.cell.Undelivered(msg, actor.ErrStopped)
	}
}

// pop takes the message to handle next.
func (b *box) pop() (any, bool) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return b.queue.Pop()
}

// schedule starts a turn.
func (b *box) schedule() {
	d := b.d
	b.phase = scheduled
	d.turns++
	var w *worker
	if n := len(d.free); n > 0 {
		w = d.free[n-1]
		d.free = d.free[:n-1]
	} else {
		w = &worker{d: d}
		d.all = append(d.all, w)
	}
	go b.turn(w)
}

// turn is a turn of the actor, and a goroutine's life. So it makes no
// difference whether the actor returns, panics, or ends the goroutine.
func (b *box) turn(w *worker) {
	var (
		msg      any
		v        actor.Verdict
		returned bool
	)
	defer func() {
		if !returned {
			v = b.cell.Caught(&w.tally, msg, recover())
		}
		b.rest(v, w)
	}()
	if b.cell.BeginTurn(w) {
		for ok := true; ok; ok = b.cell.Invoke(msg) {
			if msg, ok = b.pop(); !ok {
				break
			}
		}
	}
	v = b.cell.EndTurn(&w.tally)
	returned = true
}

// rest does what the core says at the end of a turn.
func (b *box) rest(v actor.Verdict, w *worker) {
	d := b.d
	w.tally.Publish()
	d.mu.Lock()
	d.turns--
	d.free = append(d.free, w)
	again := b.cell.Pending()
	switch v {
	case actor.Continue:
		b.phase = idle
		again = again || b.queue.Len() > 0
	case actor.Yield:
		again = true
	case actor.Suspended:
		b.phase = suspended
	case actor.Stopped:
		b.phase = finished
		again = false
	}
	if again {
		b.schedule()
	}
	done := d.done
	if d.turns > 0 {
		done = nil
	}
	d.mu.Unlock()
	if done != nil {
		done()
	}
}
