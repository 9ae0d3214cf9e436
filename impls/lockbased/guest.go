package lockbased

import "github.com/dynolab/dyno/actor"

var _ actor.Host = (*Dispatcher)(nil)

// guest is the [actor.Guest]: a worker for single turns, on the goroutine of who sends as it. It is no
// worker of the dispatcher's: it takes nothing out of the ready queue, and is not
// counted when another one is to be woken.
//
// Between turns it is the guest that sends, and in a turn the worker in it: so a send
// knows which of the two it is.
type guest struct {
	worker
	of   actor.Lender
	next *box // what a send has made ready, for Run
}

// NewGuest implements [actor.Host].
func (d *Dispatcher) NewGuest(l actor.Lender) actor.Guest {
	g := &guest{worker: worker{d: d}, of: l}
	g.guest = g
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[&g.worker] = struct{}{}
	return g
}

// keep makes b what Run is to run, and reports false if there is something already.
func (g *guest) keep(b *box) bool {
	if g.next != nil {
		return false
	}
	g.next = b
	return true
}

func (g *guest) Run() {
	b := g.next
	if b == nil {
		return
	}
	g.next = nil
	var msg any
	var v actor.Verdict
	returned := false
	defer func() {
		if !returned {
			v = b.cell.Caught(&g.tally, msg, recover())
		}
		g.tally.Publish()
		if b.rest(v) {
			g.d.schedule(b, nil)
		}
	}()
	v = b.turn(&g.worker, &msg)
	returned = true
}

func (g *guest) Leave() {
	if b := g.next; b != nil {
		g.d.schedule(b, nil)
	}
	g.d.mu.Lock()
	defer g.d.mu.Unlock()
	delete(g.d.all, &g.worker)
	g.tally.AddTo(&g.d.gone)
}
