package onemutex

import (
	"context"
	"slices"
	"sync"

	"github.com/dynolab/dyno/actor"
)

// Dispatcher implements [actor.Dispatcher]: the same idea as the group. One
// mutex guards all mailboxes, and every turn is a goroutine. There is no ready
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
	b := &box{d: d, policy: cfg.Policy, capacity: cfg.Capacity, priority: cfg.Priority}
	if cfg.Policy == actor.Grow {
		b.list = make([]entry, 0, cfg.Capacity)
	}
	return b
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
	idle      phase = iota // whoever sends it something schedules it
	scheduled              // it has a turn, or will
	suspended              // only Wake schedules it
	finished               // nobody schedules it
)

// box implements [actor.Port].
type box struct {
	cell     actor.Cell
	d        *Dispatcher
	policy   actor.Policy
	capacity int
	priority func(any) int

	phase   phase
	shut    bool
	list    []entry // what waits, in the order of arrival
	senders []*sender
}

type entry struct {
	prio int
	msg  any
}

// sender is a call of SendWait that waits.
type sender struct {
	entry
	answer chan error // has room for it
}

// Cell implements [actor.Port].
func (b *box) Cell() *actor.Cell { return &b.cell }

// Len implements [actor.Port].
func (b *box) Len() int {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return len(b.list)
}

// entry asks for the priority of a message: before the mutex is taken, since
// that is the user's code.
func (b *box) entry(msg any) entry {
	if b.priority == nil {
		return entry{0, msg}
	}
	return entry{b.priority(msg), msg}
}

// Send implements [actor.Port].
func (b *box) Send(msg any, _ actor.Worker) actor.SendResult {
	e := b.entry(msg)
	b.d.mu.Lock()
	res, dropped := b.offer(e)
	b.d.mu.Unlock()
	for _, e := range dropped {
		b.cell.Undelivered(e.msg, actor.ErrDropped)
	}
	return res
}

// offer queues a message, if it may, and returns what had to make room for it.
// mu is held, as in all that follow but for what the core calls.
func (b *box) offer(e entry) (res actor.SendResult, dropped []entry) {
	if b.shut {
		return actor.Closed, nil
	}
	if b.capacity > 0 && len(b.list) >= b.capacity {
		switch b.policy {
		case actor.DropNewest:
			return actor.Full, nil
		case actor.Block:
			return actor.MustWait, nil
		case actor.DropOldest:
			i := b.least()
			if b.list[i].prio < e.prio {
				return actor.Sent, []entry{e} // what waits matters more
			}
			dropped = []entry{b.take(i)}
		}
	}
	b.list = append(b.list, e)
	if b.phase == idle {
		b.schedule()
	}
	return actor.Sent, dropped
}

// SendWait implements [actor.Port].
func (b *box) SendWait(ctx context.Context, msg any, _ actor.Worker) error {
	s := &sender{b.entry(msg), make(chan error, 1)}
	b.d.mu.Lock()
	switch res, _ := b.offer(s.entry); {
	case res == actor.Sent:
		b.d.mu.Unlock()
		return nil
	case res == actor.Closed:
		b.d.mu.Unlock()
		return actor.ErrStopped
	case ctx.Err() != nil:
		b.d.mu.Unlock()
		return ctx.Err()
	}
	b.senders = append(b.senders, s)
	b.d.mu.Unlock()
	select {
	case err := <-s.answer:
		return err
	case <-ctx.Done():
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	i := slices.Index(b.senders, s)
	if i < 0 {
		return <-s.answer // that came first
	}
	b.senders = slices.Delete(b.senders, i, i+1)
	return ctx.Err()
}

// Wake implements [actor.Port].
func (b *box) Wake(actor.Worker) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if b.phase == idle || b.phase == suspended {
		b.schedule()
	}
}

// Close implements [actor.Port].
func (b *box) Close() {
	b.d.mu.Lock()
	b.shut = true
	for _, s := range b.senders {
		s.answer <- actor.ErrStopped
	}
	b.senders = nil
	var rest []entry
	for len(b.list) > 0 {
		rest = append(rest, b.take(b.most()))
	}
	b.d.mu.Unlock()
	for _, e := range rest {
		b.cell.Undelivered(e.msg, actor.ErrStopped)
	}
}

// pop takes the message to handle next, and lets in who has waited longest for
// its place.
func (b *box) pop() (any, bool) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if len(b.list) == 0 {
		return nil, false
	}
	e := b.take(b.most())
	if len(b.senders) > 0 {
		s := b.senders[0]
		b.senders = slices.Delete(b.senders, 0, 1)
		b.list = append(b.list, s.entry)
		s.answer <- nil
	}
	return e.msg, true
}

// most returns the index of the message to handle next, least that of the one
// to drop first: of equals, the one that came first.
func (b *box) most() (i int) {
	if b.priority != nil {
		for k := range b.list {
			if b.list[k].prio < b.list[i].prio {
				i = k
			}
		}
	}
	return i
}

func (b *box) least() (i int) {
	for k := range b.list {
		if b.list[k].prio > b.list[i].prio {
			i = k
		}
	}
	return i
}

func (b *box) take(i int) entry {
	e := b.list[i]
	if i == 0 { // nothing is moved in a queue without priorities
		b.list[0] = entry{} // or the array would keep the message alive
		b.list = b.list[1:]
	} else {
		b.list = slices.Delete(b.list, i, i+1)
	}
	if len(b.list) == 0 && cap(b.list) > 1024 {
		b.list = nil // a flood is over
	}
	return e
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
		again = again || len(b.list) > 0
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
