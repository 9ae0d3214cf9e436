package workstealing

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
)

// Dispatcher runs the actors of a system on a [Pool]. Make one with [NewDispatcher].
type Dispatcher struct {
	pool    *Pool
	own     *Config // of the pool, which is this one's alone; nil: others use it as well
	started atomic.Bool
	stopped atomic.Bool // on a pool that others use: its workers are no longer this one's

	tallies records[tally]

	guests atomic.Pointer[guests] // made for the first

	// crowd hands the right to wait for a mailbox's lock bit from one goroutine to
	// the next, see box.lockSlow. Who has a lock bit does not take it.
	crowd sync.Mutex
}

// tally is what a worker counts for a dispatcher.
type tally struct {
	actor.Tally
	_ [48 * apart]byte // the next worker's must not share the line
}

// NewDispatcher returns a dispatcher for one system, on a pool of its own with the
// default [Config].
func NewDispatcher() *Dispatcher { return NewDispatcherWith(Config{}) }

// NewDispatcherWith returns a dispatcher for one system, on a pool of its own. If cfg
// cannot be used, Start, and with it actor.NewSystem, returns a [*ConfigError].
func NewDispatcherWith(cfg Config) *Dispatcher { return &Dispatcher{own: &cfg} }

// NewDispatcherOn returns a dispatcher for one system, on p. When the system is done a worker
// may still have to publish what it has counted for it: it does so within some
// milliseconds, or when the job that it has begun meanwhile is over.
func NewDispatcherOn(p *Pool) *Dispatcher { return &Dispatcher{pool: p} }

var _ actor.Dispatcher = (*Dispatcher)(nil)

// Start implements [actor.Dispatcher].
func (d *Dispatcher) Start() (err error) {
	if d.started.Swap(true) {
		return errors.New("workstealing: a dispatcher serves one system, once")
	}
	if d.own != nil {
		if d.pool, err = NewPool(*d.own); err == nil {
			d.pool.rests = true
		}
	}
	return err
}

// Attach implements [actor.Dispatcher].
func (d *Dispatcher) Attach(cfg actor.MailboxConfig) actor.Port {
	b := &box{d: d}
	switch {
	case cfg.Policy == actor.Grow && cfg.Priority == nil:
		b.in.reserve(cfg.Capacity)
	case !mailbox.Plain(cfg):
		b.bounded = &bounded{queue: mailbox.New(cfg)}
	}
	return b
}

// Stop implements [actor.Dispatcher]. On a pool that others use there is nothing to
// end: no actor of this one is ready, and none will be.
func (d *Dispatcher) Stop(done func()) {
	if d.own != nil {
		d.pool.close(done)
	} else {
		d.stopped.Store(true)
		done()
	}
}

// AddStats implements [actor.Dispatcher]. Workers that serve several dispatchers
// count for each of them.
func (d *Dispatcher) AddStats(s *actor.Stats) {
	d.tallies.each(func(t *tally) { t.AddTo(s) })
	if g := d.guests.Load(); g != nil {
		g.addTo(s)
	}
	if d.pool != nil && !d.stopped.Load() {
		s.Workers += int(d.pool.active.Load())
	}
}

// enter makes d the dispatcher for which w counts.
func (d *Dispatcher) enter(w *worker) {
	if w.tally != nil {
		w.tally.Publish()
	}
	w.d, w.tally = d, d.tallies.of(w)
	w.then = w.tally.Turns
	w.tally.Parks += w.early[parks]
	w.tally.Wakes += w.early[wakes]
	w.tally.Steals += w.early[steals]
	w.early = [events]uint64{}
}

// quit undoes enter, when d is stopped.
func (d *Dispatcher) quit(w *worker) {
	w.forget()
	w.tally.Publish()
	w.d, w.tally = nil, nil
}

// schedule makes b, which the caller has set to scheduled, ready to run: next
// on the worker from, if it is not nil.
func (d *Dispatcher) schedule(b *box, from actor.Worker) {
	p := d.pool
	w, inside := from.(*worker)
	switch {
	case inside && w.keeps == p:
		old := w.next.Swap(b)
		switch {
		case p.cfg.Strategy == WorkConserving:
			w.show()
			p.standBy()
		case !p.armed.Load():
			p.armNow() // should the sender's handler block, b waits here, and so may old
		}
		if old != nil {
			w.enqueue(old)
		}
	case !inside && from != nil && from.(*guest).keep(b):
	default:
		p.share(b, inside && w.pool == p && w.guest == nil)
	}
}
