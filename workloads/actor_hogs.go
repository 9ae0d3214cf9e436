package workloads

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
)

const (
	// hogBurst is how many messages a hog has at once.
	hogBurst = 20

	// hogRounds of the filler function are a message of some 5 ms.
	hogRounds = 2_800_000
)

// actorHogs is handlers that compute for long, and a neighbour that is told something from outside
// now and then, and has next to nothing to do. Latency counts from the moment at which the sender has
// a processor and sends, as in idlewake: when that is Go's scheduler decides. Who computes sends itself
// what to do next: if the sender did, the neighbour would be told something at the same moment, and
// the figure be about which of the two a scheduler runs first.
func actorHogs() []Workload {
	return []Workload{
		hogs{2, "", "2 actors compute, 20 messages of some 5 ms each: how long a message from outside to another waits"}.workload(),
		hogs{8, "handlers=8", "8 actors compute, 20 messages of some 5 ms each: how long a message from outside to another waits"}.workload(),
	}
}

type hogs struct {
	handlers     int
	variant, doc string
}

func (k hogs) workload() Workload {
	return Workload{
		Name:    "hogs",
		Variant: k.variant,
		Doc:     k.doc,
		Op:      "a message to the neighbour",
		Checked: "messages in order, none missing, none twice; their sum",
		TooBig:  "a neighbour of handlers that compute waits for them where one goroutine does everything",
		Needs:   dyno.Promises{Overlap: true},
		Open:    true,
		Slicing: Slicing{Whole: byTheClock},
		Prepare: k.onActors,
		On:      k.onFramework,
		Refs: []Ref{
			{refBuffered, "a goroutine and a buffered channel each", func(st Setting) Run { return k.byHand(st, channelsOf[any](window)) }},
			{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", func(st Setting) Run { return k.byHand(st, boxesOf[any](0)) }},
		},
	}
}

// A chore is a message to a hog, which computes for it.
type chore struct {
	at  int
	seq int64
}

// A hog is an actor that computes. It is its own while a Do goes on.
type hog struct {
	*hogRun
	index       int
	chores      []chore // a burst
	sent, taken int64
	sum         uint32
	_           [64]byte // hogs are worked on by different processors
}

// hogRun is what runs in all ways have in common: node 0 is the neighbour.
type hogRun struct {
	*openLoop
	rounds uint32
	hogs   []hog
	quiet  atomic.Bool // the last message to the neighbour is on its way: hogs stop
}

func newHogs(s *progress, st Setting, k hogs) *hogRun {
	r := &hogRun{openLoop: newOpenLoop(s, st, pace{interval: int64(time.Millisecond), asleep: true}), rounds: hogRounds, hogs: make([]hog, k.handlers)}
	burst := hogBurst
	if st.Meter == nil || st.Ops > 0 {
		r.rounds, burst = 1, 2 // there is to be no figure
	}
	for i := range r.hogs {
		h := &r.hogs[i]
		h.hogRun, h.index, h.chores = r, i, make([]chore, burst)
	}
	return r
}

// do sends n messages to the neighbour, while hogs compute.
func (r *hogRun) do(n int, send func(to int, m any) error) error {
	r.beside = func() error {
		r.quiet.Store(false)
		r.parts.Add(int64(len(r.hogs)))
		for i := range r.hogs {
			if err := r.hogs[i].feed(send); err != nil {
				return err
			}
		}
		return nil
	}
	defer r.quiet.Store(true)
	return r.openLoop.do(n, func(m *timed) error { return send(0, m) })
}

// feed sends the hog, which has nothing to do, a burst.
func (h *hog) feed(send func(to int, m any) error) error {
	for i := range h.chores {
		c := &h.chores[i]
		c.at, c.seq = h.index, h.sent
		h.sent++
		if err := send(1+h.index, c); err != nil {
			return err
		}
	}
	return nil
}

// take handles a chore, and goes on with another burst by send.
func (h *hog) take(c *chore, send func(to int, m any) error) error {
	if c.at != h.index || c.seq != h.taken {
		return errors.New("workloads: a chore came twice, out of order, or to an actor that it was not sent to")
	}
	h.taken++
	if !h.quiet.Load() {
		h.sum += fill(uint32(c.seq), h.rounds)
	}
	switch {
	case h.taken%int64(len(h.chores)) != 0: // not the last of the burst, before which sent is its sender's
		return nil
	case h.quiet.Load():
		h.part()
		return nil
	}
	return h.feed(send)
}

func (r *hogRun) check() error {
	for i := range r.hogs {
		if err := countCheck(r.hogs[i].sent, r.hogs[i].taken); err != nil {
			return err
		}
	}
	return r.openLoop.check()
}

// handle handles a message to a node.
func (r *hogRun) handle(at int, m any, send func(to int, m any) error) error {
	if c, ok := m.(*chore); ok && at > 0 {
		return r.hogs[at-1].take(c, send)
	}
	if t, ok := m.(*timed); ok && at == 0 {
		return r.take(t)
	}
	return errStray()
}

// A hogNode is an actor.
type hogNode struct {
	*hogRun
	at   int
	refs []actor.Ref
}

func (n hogNode) Receive(ctx *actor.Context, msg any) error {
	return n.handle(n.at, msg, func(to int, m any) error { return ctx.Tell(n.refs[to], m) })
}

func (k hogs) onActors(st Setting) Run {
	s := new(system)
	r := newHogs(&s.progress, st, k)
	refs := make([]actor.Ref, 1+k.handlers)
	s.raise(st, func(s *system, ctx *actor.Context) (err error) {
		for i := 0; i < len(refs) && err == nil; i++ {
			refs[i], err = s.spawn(ctx, hogNode{r, i, refs})
		}
		return err
	})
	return &run{s, func(n int) error {
		if err := r.do(n, func(to int, m any) error { return refs[to].Tell(m) }); err != nil {
			s.fail(err)
			return s.err() // why the actor has stopped, if that is why
		}
		return s.wait()
	}, r.check}
}

// byHand is hogs run by a reference.
func (k hogs) byHand(st Setting, carry carrying[any]) Run {
	g := newGoroutines()
	r := newHogs(&g.progress, st, k)
	var send func(to int, m any) error
	carried := carry(g, 1+k.handlers, func(at int, m any) error { return r.handle(at, m, send) })
	send = func(to int, m any) error {
		carried(to, m)
		return nil
	}
	return r.onGoroutines(g, send)
}

// onFramework runs hogs by a framework.
func (k hogs) onFramework(st Setting, f Framework) Run {
	g := newGoroutines()
	g.let = f.Close
	r := newHogs(&g.progress, st, k)
	nodes := make([]Address, 1+k.handlers)
	for i := range nodes {
		nodes[i] = f.Spawn(func(t Turn, m any) {
			err := r.handle(i, m, func(to int, m any) error {
				t.Send(nodes[to], m)
				return nil
			})
			if err != nil {
				g.fail(err)
			}
		})
	}
	return r.onGoroutines(g, func(to int, m any) error {
		f.Send(nodes[to], m)
		return nil
	})
}

func (r *hogRun) onGoroutines(g *goroutines, send func(to int, m any) error) Run {
	return &run{g, func(n int) error {
		_ = r.do(n, send)
		return g.wait()
	}, r.check}
}
