package channel

import (
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// Dispatcher runs every actor on a goroutine of its own. Make one with
// [NewDispatcher].
type Dispatcher struct {
	// registry, of capacity one, holds what is known of all actors together,
	// between those who look something up or enter it.
	registry chan *registry

	started chan struct{} // of capacity one, full once Start was called
}

// registry belongs to the goroutine that received it.
type registry struct {
	newest *box        // the actors that have a goroutine, linked through older and newer
	actors int         // their number
	gone   actor.Stats // what those counted that have stopped
	done   func()      // to be called by the last one, once Stop has been called
}

// NewDispatcher returns a dispatcher.
func NewDispatcher() *Dispatcher {
	d := &Dispatcher{registry: make(chan *registry, 1), started: make(chan struct{}, 1)}
	d.registry <- &registry{}
	return d
}

// Start implements [actor.Dispatcher].
func (d *Dispatcher) Start() error {
	select {
	case d.started <- struct{}{}:
		return nil
	default:
		return actor.ErrStarted
	}
}

// Attach implements [actor.Dispatcher].
func (d *Dispatcher) Attach(cfg actor.MailboxConfig) actor.Port {
	b := newBox(d, cfg)
	if b.calm == nil { // or the first sender starts the goroutine
		d.enter(b)
		go b.live()
	}
	return b
}

// enter puts an actor whose goroutine is about to start into the registry.
func (d *Dispatcher) enter(b *box) {
	k := <-d.registry
	b.older = k.newest
	if b.older != nil {
		b.older.newer = b
	}
	k.newest = b
	k.actors++
	d.registry <- k
}

// leave takes an actor whose goroutine is about to end out of the registry.
func (d *Dispatcher) leave(b *box) {
	b.tally.Publish()
	k := <-d.registry
	b.count(&k.gone)
	if b.newer == nil {
		k.newest = b.older
	} else {
		b.newer.older = b.older
	}
	if b.older != nil {
		b.older.newer = b.newer
	}
	b.older, b.newer = nil, nil
	b.tally = actor.Tally{} // the next goroutine counts anew
	k.actors--
	var done func()
	if k.actors == 0 {
		done = k.done
	}
	d.registry <- k
	if done != nil {
		done()
	}
}

// Stop implements [actor.Dispatcher]. The root's goroutine, in whose turn it is
// called, is still in the registry, so a goroutine is left to call done.
func (d *Dispatcher) Stop(done func()) {
	k := <-d.registry
	if invariants.Enabled && k.actors == 0 {
		invariants.Violated("channel", "the actor in whose turn Stop is called has a goroutine")
	}
	k.done = done
	d.registry <- k
}

// AddStats implements [actor.Dispatcher].
func (d *Dispatcher) AddStats(s *actor.Stats) {
	k := <-d.registry
	s.Messages += k.gone.Messages
	s.Turns += k.gone.Turns
	s.Parks += k.gone.Parks
	s.Wakes += k.gone.Wakes
	s.Workers += k.actors
	for b := k.newest; b != nil; b = b.older {
		b.count(s)
	}
	d.registry <- k
}
