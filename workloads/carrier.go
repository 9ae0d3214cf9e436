package workloads

import (
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/workloads/internal/condbox"
)

// A protocol is the part of a workload that does not know who carries its messages: what n
// operations are, and what is known in the end.
type protocol interface {
	// deal prepares a Do of n operations: [score.begin] and whatever goes with it.
	deal(n int)

	// check looks after the last Do whether everything is accounted for.
	check() error
}

// An actorsRun is a protocol carried by the actors of an implementation.
type actorsRun struct {
	*stage
	protocol
	begun func(ctx *actor.Context) error // begins a Do in the guardian's turn
}

// Do implements [Run].
func (r *actorsRun) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.deal(n)
	return r.play(r.begun)
}

// Check implements [Run].
func (r *actorsRun) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	return r.check()
}

// A crewRun is a protocol carried by the goroutines of a reference.
type crewRun struct {
	*crew
	protocol
	begun func() // begins a Do
}

// Do implements [Run].
func (r *crewRun) Do(n int) error {
	r.deal(n)
	r.begun()
	return r.wait()
}

// Check implements [Run].
func (r *crewRun) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	return r.check()
}

// A carrier brings messages to nodes, which are numbered from 0. A node's messages are
// handled one after the other, in the order in which any one goroutine has sent them.
type carrier[M any] func(to int, m M)

// onChannels makes a goroutine and a channel for each of n nodes, with so much room.
// It also says how the crew is let go.
func onChannels[M any](c *crew, n int, room func(at int) int, handle func(at int, m M) error) carrier[M] {
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

// roomOf is the room of channels that are all alike.
func roomOf(room int) func(at int) int { return func(int) int { return room } }

// onBoxes makes a goroutine and a locked mailbox for each of n nodes, in which at most
// room messages wait, or any number if that is 0.
func onBoxes[M any](c *crew, n, room int, handle func(at int, m M) error) carrier[M] {
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
func onGoroutines[M any](c *crew, handle func(at int, m M) error) carrier[M] {
	c.let = func() {}
	return func(to int, m M) {
		c.launch(func() {
			if err := handle(to, m); err != nil {
				c.fail(err)
			}
		})
	}
}
