package channel

import (
	"time"

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
	timer  *time.Timer // of the next sweep, or the one that is under way; nil: there is none
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
	b.swept = 0
	if k.timer == nil && b.calm != nil {
		k.timer = time.AfterFunc(restAfter, d.sweep)
	}
	d.registry <- k
}

// restAfter is how often it is looked for idle actors: one without a turn from one time to the
// next gives up its goroutine. To start another one takes less than a thousandth of that.
const restAfter = time.Second

// sweep asks the goroutines to end of actors that have had no turn since the last sweep. It
// goes on as long as there are any that could; of very many it takes a hundredth of the time.
func (d *Dispatcher) sweep() {
	began := time.Now()
	var idle []*box
	again := false
	k := <-d.registry
	for b := k.newest; b != nil; b = b.older {
		if b.calm == nil {
			continue
		}
		again = true
		var s actor.Stats
		if b.tally.AddTo(&s); b.swept == uint32(s.Turns) {
			idle = append(idle, b)
		}
		b.swept = uint32(s.Turns)
	}
	d.registry <- k
	for _, b := range idle {
		b.nudge()
	}
	pause := max(restAfter, 100*time.Since(began))
	k = <-d.registry
	var done func()
	switch {
	case k.actors == 0:
		k.timer, done = nil, k.done
	case again:
		k.timer = time.AfterFunc(pause, d.sweep)
	default:
		k.timer = nil // the next that enters
	}
	d.registry <- k
	if done != nil {
		done()
	}
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
	if k.actors == 0 && (k.timer == nil || k.timer.Stop()) {
		done, k.timer = k.done, nil
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
