package workloads

import (
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/workloads/internal/condbox"
)

// A protocol is the part of a workload that does not know who carries its messages: what n
// operations are, and what is known in the end.
type protocol interface {
	// deal prepares a Do of n operations: [progress.begin] and whatever goes with it.
	deal(n int)

	// check looks after the last Do whether everything is accounted for.
	check() error
}

// A network is a protocol of nodes that send one another messages of type M. All that it
// does not say is how they are carried.
type network[M any] interface {
	protocol

	// nodes calls f with each node's actor, and with where the reference to it is kept.
	nodes(f func(a actor.Actor, self *actor.Ref))

	// start sends what begins a Do.
	start(send func(to int, m M) error) error

	// handle handles a message to a node of a reference. What follows it sends.
	handle(at int, m M, send carrier[M]) error
}

// byActors has a network carried by an implementation.
func byActors[M any](st Setting, newNetwork func(s *progress) network[M]) *actorsRun {
	r := newActorsRun()
	n := newNetwork(&r.progress)
	r.protocol = n
	var (
		refs []actor.Ref
		turn *actor.Context // the guardian's
	)
	send := func(to int, m M) error { return turn.Tell(refs[to], m) }
	r.begun = func(ctx *actor.Context) error {
		turn = ctx
		return n.start(send)
	}
	r.raise(st, func(s *system, ctx *actor.Context) (err error) {
		n.nodes(func(a actor.Actor, self *actor.Ref) {
			if err == nil {
				*self, err = s.spawn(ctx, a)
				refs = append(refs, *self)
			}
		})
		return err
	})
	return r
}

// byHand has a network carried by the goroutines that carry makes.
func byHand[M any](carry carrying[M], newNetwork func(s *progress) network[M]) *handRun {
	r := newHandRun()
	n := newNetwork(&r.progress)
	r.protocol = n
	count := 0
	n.nodes(func(actor.Actor, *actor.Ref) { count++ })
	var send carrier[M]
	send = carry(r.goroutines, count, func(at int, m M) error { return n.handle(at, m, send) })
	r.begun = func() {
		_ = n.start(func(to int, m M) error {
			send(to, m)
			return nil
		})
	}
	return r
}

// An actorsRun is the [Run] of a protocol carried by the actors of an implementation.
type actorsRun struct {
	*system
	protocol
	begun func(ctx *actor.Context) error // begins a Do in the guardian's turn
	most  int                            // operations of a round, where a Do has rounds
}

// newActorsRun makes a run without a protocol, whose system is still to be raised.
func newActorsRun() *actorsRun { return &actorsRun{system: new(system)} }

func (r *actorsRun) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	return inRoundsOf(r.most, n, func(n int) error {
		r.deal(n)
		return r.play(r.begun)
	})
}

// inRoundsOf is inRounds, or if most is 0 a single round of any size.
func inRoundsOf(most, n int, round func(k int) error) error {
	if most == 0 {
		return round(n)
	}
	return inRounds(n, most, round)
}

func (r *actorsRun) Check() error {
	return r.finish(r.check)
}

// A handRun is the [Run] of a protocol carried by the goroutines of a reference.
type handRun struct {
	*goroutines
	protocol
	begun func() // begins a Do
	most  int    // operations of a round, where a Do has rounds
}

func newHandRun() *handRun { return &handRun{goroutines: newGoroutines()} }

func newGoroutines() *goroutines {
	g := new(goroutines)
	g.init()
	return g
}

// A run is a [Run] whose workload has a way of its own to do operations, on a system, on the
// goroutines of a reference or on none.
type run struct {
	side
	do    func(n int) error
	check func() error
}

// A side is who carries the messages of a run: *system, *goroutines or the caller.
type side interface {
	err() error
	finish(check func() error) error
	Close()
}

func (r *run) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.do(n)
}

func (r *run) Check() error { return r.finish(r.check) }

// caller is the side of a run that its caller does alone.
type caller struct{}

func (caller) err() error                      { return nil }
func (caller) finish(check func() error) error { return check() }
func (caller) Close()                          {}

// worker makes a goroutine that calls work for each Do.
func (r *handRun) worker(work func() error) {
	begins := make(chan struct{}, 1)
	r.launch(func() {
		for range begins {
			if err := work(); err != nil {
				r.fail(err)
				return
			}
		}
	})
	r.begun = func() { begins <- struct{}{} }
	r.let = func() { close(begins) }
}

func (r *handRun) Do(n int) error {
	return inRoundsOf(r.most, n, func(n int) error {
		r.deal(n)
		r.begun()
		return r.wait()
	})
}

func (r *handRun) Check() error {
	return r.finish(r.check)
}

// A carrier brings messages to nodes, which are numbered from 0. A node's messages are
// handled one after the other, in the order in which any one goroutine has sent them.
type carrier[M any] func(to int, m M)

// carrying makes the goroutines of n nodes, which handle their messages, and says how the
// crew is let go.
type carrying[M any] func(c *goroutines, n int, handle func(at int, m M) error) carrier[M]

// channelsOf is onChannels with so much room for each node.
func channelsOf[M any](room int) carrying[M] {
	return func(c *goroutines, n int, handle func(int, M) error) carrier[M] {
		return onChannels(c, n, func(int) int { return room }, handle)
	}
}

// boxesOf is onBoxes with so much room for each node.
func boxesOf[M any](room int) carrying[M] {
	return func(c *goroutines, n int, handle func(int, M) error) carrier[M] { return onBoxes(c, n, room, handle) }
}

// onChannels makes a goroutine and a channel for each of n nodes, with so much room.
func onChannels[M any](c *goroutines, n int, room func(at int) int, handle func(at int, m M) error) carrier[M] {
	in := make([]chan M, n)
	for i := range in {
		in[i] = make(chan M, room(i))
	}
	for i, own := range in {
		c.launch(func() {
			for m := range own {
				if err := handle(i, m); err != nil {
					c.fail(err) // and go on, or senders would wait for ever
				}
			}
		})
	}
	c.let = func() {
		for _, ch := range in {
			close(ch)
		}
	}
	return func(to int, m M) { in[to] <- m }
}

// onBoxes makes a goroutine and a locked mailbox for each of n nodes, in which at most
// room messages wait, or any number if that is 0.
func onBoxes[M any](c *goroutines, n, room int, handle func(at int, m M) error) carrier[M] {
	in := make([]*condbox.Box[M], n)
	for i := range in {
		in[i] = condbox.New[M](room)
	}
	for i, own := range in {
		c.launch(func() {
			var batch []M
			for {
				if batch = own.TakeAll(batch); len(batch) == 0 {
					return
				}
				for _, m := range batch {
					if err := handle(i, m); err != nil {
						c.fail(err)
					}
				}
			}
		})
	}
	c.let = func() {
		for _, b := range in {
			b.Close()
		}
	}
	return func(to int, m M) { in[to].Put(m) }
}

// onGoroutines starts a goroutine for each message. There is no order: a node whose
// messages may come at the same time is not for it.
func onGoroutines[M any](c *goroutines, _ int, handle func(at int, m M) error) carrier[M] {
	c.let = func() {}
	return func(to int, m M) {
		c.launch(func() {
			if err := handle(to, m); err != nil {
				c.fail(err)
			}
		})
	}
}
