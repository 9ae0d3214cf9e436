package workstealing

import (
	"sync"

	"github.com/dynolab/dyno/actor"
)

var _ actor.Host = (*Dispatcher)(nil)

// guest is the [actor.Guest]: a worker for single turns, on the goroutine of who sends as it. It
// has no place in the pool, so no goroutine steals from it, and it keeps nothing: what a
// turn makes ready goes to the inject queue.
//
// Between turns it is the guest that sends, and in a turn the worker in it: so a send
// knows which of the two it is.
type guest struct {
	worker
	of    actor.Lender
	count tally
	ready *box // what a send has made ready, for Run
}

// guests are those of a dispatcher: whom to count beside the tallies of workers.
type guests struct {
	mu   sync.Mutex // guards what follows
	all  map[*guest]struct{}
	left actor.Stats // what those have counted that have left
}

// placeless is the id of a worker that has no place: it takes no lanes.
const placeless = 1<<16 - 1

// NewGuest implements [actor.Host].
func (d *Dispatcher) NewGuest(l actor.Lender) actor.Guest {
	g := &guest{of: l}
	g.guest, g.id = g, placeless
	g.pool, g.d, g.tally = d.pool, d, &g.count
	d.guests.CompareAndSwap(nil, &guests{all: make(map[*guest]struct{})})
	gs := d.guests.Load()
	gs.mu.Lock()
	defer gs.mu.Unlock()
	gs.all[g] = struct{}{}
	return g
}

// addTo adds what guests have counted to s.
func (gs *guests) addTo(s *actor.Stats) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	s.Turns += gs.left.Turns
	s.Messages += gs.left.Messages
	for g := range gs.all {
		g.count.AddTo(s)
	}
}

// keep makes b what Run is to run, and reports false if there is something already.
func (g *guest) keep(b *box) bool {
	if g.ready != nil {
		return false
	}
	g.ready = b
	return true
}

func (g *guest) Run() {
	b := g.ready
	if b == nil {
		return
	}
	g.ready = nil
	returned := false
	defer func() {
		if !returned {
			b.caught(&g.worker, recover())
		}
		g.count.Publish()
	}()
	b.run(&g.worker, nil)
	returned = true
}

func (g *guest) Leave() {
	d := g.d
	if b := g.ready; b != nil {
		g.ready = nil
		d.schedule(b, nil)
	}
	gs := d.guests.Load()
	gs.mu.Lock()
	defer gs.mu.Unlock()
	delete(gs.all, g)
	g.count.AddTo(&gs.left)
}
