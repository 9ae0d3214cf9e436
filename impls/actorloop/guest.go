package actorloop

import "github.com/dynolab/dyno/actor"

var _ actor.Host = (*Dispatcher)(nil)

// guest is the [actor.Guest]: a worker for single turns, on the goroutine of who sends as it. The
// scheduler knows of it for its counts only: it takes nothing out of the outbox, and
// what a turn makes ready the scheduler is told.
//
// Between turns it is the guest that sends, and in a turn the worker in it: so a send
// knows which of the two it is.
type guest struct {
	worker
	of    actor.Lender
	ready *box // what a send has made ready, for Run
}

// NewGuest implements [actor.Host].
func (d *Dispatcher) NewGuest(l actor.Lender) actor.Guest {
	g := &guest{of: l}
	g.begin(d)
	g.guest = g
	d.send(newEvent(event{kind: came, of: g}))
	return g
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
	var msg any
	returned := false
	defer func() {
		if !returned {
			g.settle(b, b.cell.Caught(&g.tally, msg, recover()))
		}
		g.tally.Publish()
	}()
	g.settle(b, b.turn(&g.worker, &msg))
	returned = true
}

func (g *guest) Leave() {
	if g.ready != nil {
		g.d.schedule(g.ready, nil)
	}
	g.end()
	g.d.send(newEvent(event{kind: went, of: g}))
}
