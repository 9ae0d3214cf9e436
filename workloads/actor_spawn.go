package workloads

import (
	"errors"
	"strconv"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/workloads/internal/condbox"
)

// spawnMost is how many actors are alive at once.
const spawnMost = 100_000

// actorSpawn is how actors are made: many at once, and one after the other.
func actorSpawn() []Workload { return []Workload{spawnCrowd(), spawnRate()} }

// spawnCrowd is what an actor costs that does next to nothing. The [Meter] learns of the actors
// while they have nothing to do, and when they are to stop.
func spawnCrowd() Workload {
	return Workload{
		Name:    "spawn",
		Doc:     "100,000 actors at a time are made and sent a message each: what an actor costs that hardly lives",
		Op:      opSpawn,
		Checked: "each gets its own first message, once; all of them stop",
		TooBig:  "100,000 actors at a time; spawn/rate=1000 and Board/case=actor-memory are there",
		// A round of 100,000 actors takes some tenths of a second, keeps up to
		// hundreds of megabytes, and ends with collections that are not measured.
		Slicing: Slicing{Whole: tooMany},
		Prepare: spawnOnActors,
		On:      spawnOnFramework,
		Refs: []Ref{
			{refBuffered, "a goroutine and a channel of 16 each", func(st Setting) Run { return spawnOnChannels(st, 16) }},
			{refUnbuffered, "a goroutine and an unbuffered channel each", func(st Setting) Run { return spawnOnChannels(st, 0) }},
			{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", func(st Setting) Run { return spawnOnBoxes(st) }},
		},
	}
}

// opSpawn is what an operation of both is.
const opSpawn = "such an actor"

// spawnRate is how long a new actor is waited for in a quiet system: an open loop as
// [actorLatency] is. What is due is sent to an actor, the parent, which makes another one and
// passes it on, and latency is up to the moment at which that one begins to handle it.
func spawnRate() Workload {
	a := bareSpawnRate()
	a.Op = opSpawn
	a.Refs = []Ref{
		{refBuffered, "a goroutine and a channel of 16 each", func(st Setting) Run { return spawnRateOnChannels(st, 16) }},
		{refUnbuffered, "a goroutine and an unbuffered channel each", func(st Setting) Run { return spawnRateOnChannels(st, 0) }},
		{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", spawnRateOnBoxes},
	}
	return a
}

// bareSpawnRate is spawnRate without references.
func bareSpawnRate() Workload {
	return Workload{
		Name:    "spawn",
		Variant: "rate=1000",
		Doc:     "1,000 times a second, at fixed times, an actor is made and sent a message: how long until it handles that",
		Open:    true,
		Slicing: Slicing{Whole: byTheClock},
		Prepare: spawnRateOnActors,
	}
}

// hello is the first message of an actor.
type hello struct {
	id   int
	roll *spawnRoll
}

// A spawned is an actor. It is as small as one can be that checks what it gets.
type spawned struct {
	id    int
	greet bool // it has had its message
}

// take books the actor's message.
func (a *spawned) take(h *hello) error {
	if a.greet || a.id != h.id {
		return errors.New("workloads: the first message of actor " + strconv.Itoa(h.id) + " came twice or to another actor")
	}
	a.greet = true
	h.roll.part()
	return nil
}

func (a *spawned) Receive(_ *actor.Context, msg any) error {
	h, ok := msg.(*hello)
	if !ok {
		return errStray()
	}
	return a.take(h)
}

// spawnRoll is what runs in all ways have in common.
type spawnRoll struct {
	*progress
	meter  Meter
	hellos []hello // a round's
}

func newSpawnRoll(s *progress, st Setting) *spawnRoll {
	most := spawnMost
	if st.Ops > 0 {
		most = min(most, st.Ops)
	}
	r := &spawnRoll{progress: s, meter: st.Meter, hellos: make([]hello, most)}
	for i := range r.hellos {
		r.hellos[i] = hello{i, r}
	}
	return r
}

// do makes n actors in rounds: round makes k of them and waits until they have
// had their messages, and stop stops them.
func (r *spawnRoll) do(n int, round func(k int) error, stop func()) error {
	return inRounds(n, len(r.hellos), func(k int) error {
		r.begin(k, k)
		if err := round(k); err != nil {
			return err
		}
		if r.meter != nil {
			r.meter.Idle(k, stop)
		} else {
			stop()
		}
		return r.err()
	})
}

// spawnRun is spawnCrowd run by an implementation.
type spawnRun struct {
	*system
	roll   *spawnRoll
	k      int // actors of this round
	parent actor.Ref

	made  int // actors of this round so far
	props actor.Props
}

func spawnOnActors(st Setting) Run {
	r := &spawnRun{system: new(system)}
	r.roll = newSpawnRoll(&r.progress, st)
	r.props.New = func() actor.Actor {
		r.made++
		return &spawned{id: r.made - 1}
	}
	r.raise(st, func(*system, *actor.Context) error { return nil })
	return &run{r.system, func(n int) error { return r.roll.do(n, r.round, r.dismiss) }, func() error { return nil }}
}

// roundParent is the parent of a round's actors, with which they stop.
type roundParent struct{ *spawnRun }

func (r roundParent) Receive(ctx *actor.Context, msg any) error {
	if msg != nil {
		return errStray()
	}
	for i := range r.k {
		child, err := ctx.Spawn(r.props)
		if err != nil {
			return err
		}
		if err := ctx.Tell(child, &r.roll.hellos[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r roundParent) PostStop(*actor.Context) error {
	r.part()
	return nil
}

func (r *spawnRun) round(k int) error {
	r.k, r.made = k, 0
	return r.play(func(ctx *actor.Context) (err error) {
		if r.parent, err = r.spawn(ctx, roundParent{r}); err != nil {
			return err
		}
		return ctx.Tell(r.parent, nil)
	})
}

// dismiss stops the actors of a round.
func (r *spawnRun) dismiss() {
	r.parts.Store(1) // the parent's end
	_ = r.play(func(ctx *actor.Context) error {
		ctx.Stop(r.parent)
		return nil
	})
}

// newSpawnByHand makes what a reference needs. No goroutine is there between two Dos.
func newSpawnByHand(st Setting) (*spawnRoll, *goroutines) {
	g := newGoroutines()
	g.let = func() {}
	return newSpawnRoll(&g.progress, st), g
}

// byHand is spawnCrowd run by a reference: round makes k goroutines and sends them their
// messages, and dismiss has them end.
func (r *spawnRoll) byHand(g *goroutines, round, dismiss func(k int)) Run {
	return &run{g, func(n int) error {
		k := 0
		return r.do(n,
			func(now int) error {
				k = now
				g.wg.Add(k)
				round(k)
				return g.wait()
			},
			func() {
				dismiss(k)
				g.wg.Wait()
			})
	}, func() error { return nil }}
}

// spawnOnChannels makes a goroutine and a channel for each actor.
func spawnOnChannels(st Setting, room int) Run {
	r, g := newSpawnByHand(st)
	in := make([]chan *hello, len(r.hellos))
	serve := func(a *spawned, own <-chan *hello) {
		defer g.wg.Done()
		for h := range own {
			if err := a.take(h); err != nil {
				g.fail(err)
			}
		}
	}
	return r.byHand(g,
		func(k int) {
			for i := range k {
				in[i] = make(chan *hello, room)
				go serve(&spawned{id: i}, in[i])
				in[i] <- &r.hellos[i]
			}
		},
		func(k int) {
			for i := range k {
				close(in[i])
				in[i] = nil
			}
		})
}

// spawnOnBoxes makes a goroutine and a locked mailbox for each actor.
func spawnOnBoxes(st Setting) Run {
	r, g := newSpawnByHand(st)
	in := make([]*condbox.Box[*hello], len(r.hellos))
	serve := func(a *spawned, own *condbox.Box[*hello]) {
		defer g.wg.Done()
		var batch []*hello
		for {
			if batch = own.TakeAll(batch); len(batch) == 0 {
				return
			}
			for _, h := range batch {
				if err := a.take(h); err != nil {
					g.fail(err)
				}
			}
		}
	}
	return r.byHand(g,
		func(k int) {
			for i := range k {
				in[i] = condbox.New[*hello](0)
				go serve(&spawned{id: i}, in[i])
				in[i].Put(&r.hellos[i])
			}
		},
		func(k int) {
			for i := range k {
				in[i].Close()
				in[i] = nil
			}
		})
}

// spawnInterval is the time between two actors of spawnRate, in nanoseconds.
const spawnInterval = 1_000_000

// A handledMsg is the first message of an actor of spawnRate, on its way back to
// where it is booked. It is one pointer, which an interface holds without
// allocating.
type handledMsg struct{ *handledNote }

// A handledNote says what a new actor has had, and when.
type handledNote struct {
	msg     *timed
	handled int64
}

// take notes that m was handled now. It is the actor's only message.
func (n *handledNote) take(meter Meter, m *timed) error {
	if n.msg != nil {
		return errors.New("workloads: the first message of an actor came twice")
	}
	n.msg = m
	if meter != nil {
		n.handled = meter.Now()
	}
	return nil
}

// newSpawnLoop makes the loop of a run. Two actors that are made at the same time
// may handle their messages in any order, so none is used again.
func newSpawnLoop(s *progress, st Setting) *openLoop {
	return newRinglessLoop(s, st, spawnInterval)
}

// book books what a new actor has noted.
func (l *openLoop) book(n *handledNote) {
	if l.meter != nil {
		l.meter.Latency(n.handled - n.msg.due)
	}
	l.count(n.msg)
}

// spawnParent makes an actor for each message, and books it.
type spawnParent struct {
	loop *openLoop
	self actor.Ref
	made int64
}

func (r *spawnParent) Receive(ctx *actor.Context, msg any) error {
	switch m := msg.(type) {
	case *timed:
		if m.seq != r.made {
			return errors.New("workloads: actor " + strconv.FormatInt(m.seq, 10) + " was due instead of actor " + strconv.FormatInt(r.made, 10))
		}
		r.made++
		child, err := ctx.Spawn(actor.Props{New: func() actor.Actor { return &shortLived{parent: r, due: m} }})
		if err != nil {
			return err
		}
		return ctx.Tell(child, firstWord{m})
	case handledMsg:
		r.loop.book(m.handledNote)
		return nil
	}
	return errStray()
}

// A firstWord is the message of a new actor, as that of its parent is not. It is
// one pointer, too.
type firstWord struct{ *timed }

// A shortLived is an actor that lives for one message.
type shortLived struct {
	handledNote
	parent *spawnParent
	due    *timed
}

func (a *shortLived) Receive(ctx *actor.Context, msg any) error {
	m, ok := msg.(firstWord)
	if !ok || m.timed != a.due {
		return errStray()
	}
	if err := a.take(a.parent.loop.meter, m.timed); err != nil {
		return err
	}
	ctx.StopSelf()
	return ctx.Tell(a.parent.self, handledMsg{&a.handledNote})
}

func spawnRateOnActors(st Setting) Run {
	s := new(system)
	parent := &spawnParent{loop: newSpawnLoop(&s.progress, st)}
	return parent.loop.onActor(st, s, parent, &parent.self)
}

// spawnRateByHand is spawnRate run by a reference: spawn makes a goroutine and sends
// it the message, and the goroutine sends what it noted to the one that books.
func spawnRateByHand(st Setting, spawn func(g *goroutines, booked chan<- *handledNote, m *timed)) Run {
	g := newGoroutines()
	l := newSpawnLoop(&g.progress, st)
	booked := make(chan *handledNote, window)
	g.launch(func() {
		for n := range booked {
			l.book(n)
		}
	})
	g.let = func() { close(booked) } // all have been booked
	return l.byHand(g, func(m *timed) error {
		spawn(g, booked, m)
		return nil
	})
}

func spawnRateOnChannels(st Setting, room int) Run {
	return spawnRateByHand(st, func(g *goroutines, booked chan<- *handledNote, m *timed) {
		in := make(chan *timed, room)
		g.launch(func() {
			n := new(handledNote)
			_ = n.take(st.Meter, <-in) // there is one
			booked <- n
		})
		in <- m
	})
}

func spawnRateOnBoxes(st Setting) Run {
	return spawnRateByHand(st, func(g *goroutines, booked chan<- *handledNote, m *timed) {
		in := condbox.New[*timed](0)
		g.launch(func() {
			n := new(handledNote)
			for _, m := range in.TakeAll(nil) {
				_ = n.take(st.Meter, m) // there is one
			}
			booked <- n
		})
		in.Put(m)
	})
}
