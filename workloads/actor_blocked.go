package workloads

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
)

const (
	blockedActors = 1000
	blockedEvery  = 10 // one handler of so many blocks
	blockedFree   = blockedActors - blockedActors/blockedEvery
	blockedFor    = time.Millisecond
)

// actorBlocked is handlers that block in Go, as those do that wait for a lock or a connection. The
// time is that of the others: waiting for those that sleep is no part of it, where the [Meter] says
// so.
func actorBlocked() []Workload {
	return []Workload{blockedBy("blocked", "100 of 1,000 actors sleep for 1 ms in their handler: how long the 900 others wait for them",
		func(Setting) func(time.Duration) { return time.Sleep })}
}

// blockedBy is a workload whose handlers block by a function of the setting.
func blockedBy(name, doc string, by func(Setting) func(time.Duration)) Workload {
	byHand := func(carry carrying[*nap]) func(Setting) Run {
		return func(st Setting) Run { return blockedByHand(st, by(st), carry) }
	}
	return Workload{
		Name:    name,
		Doc:     doc,
		Op:      "a message that is handled without blocking",
		Checked: "each message once and by whom it was sent to; how many there were",
		TooBig:  "1,000 actors, and handlers that sleep stop a machine that has one goroutine",
		Slicing: Slicing{Unit: blockedFree},
		Prepare: func(st Setting) Run { return blockedOnActors(st, by(st)) },
		Refs: []Ref{
			{refBuffered, "a goroutine and a buffered channel each", byHand(channelsOf[*nap](1))},
			{refUnbuffered, "a goroutine and an unbuffered channel each", byHand(channelsOf[*nap](0))},
			{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", byHand(boxesOf[*nap](0))},
			{refGoroutines, "a goroutine for each message: what one starts who knows that handlers may block", byHand(onGoroutines[*nap])},
		},
	}
}

// A nap is a message to one of the actors, the same in every round.
type nap struct {
	at    int
	round int64 // that it was sent in
}

// A blockedNode is an actor.
type blockedNode struct {
	*blocked
	index int
	round int64 // of its last message
	self  actor.Ref
	_     [64]byte // nodes are worked on by different processors
}

// blocked is what runs in all ways have in common.
type blocked struct {
	*progress
	meter Meter
	sit   func(time.Duration) // blocks
	nodes []blockedNode
	naps  []nap

	round   int64
	busy    int          // actors that have a message in this round
	asleep  atomic.Int64 // those that sleep, or will, and one for the Do
	asked   int64
	handled atomic.Int64
}

func newBlocked(s *progress, st Setting, sit func(time.Duration)) *blocked {
	b := &blocked{progress: s, meter: st.Meter, sit: sit, nodes: make([]blockedNode, blockedActors), naps: make([]nap, blockedActors)}
	for i := range b.nodes {
		b.nodes[i].blocked, b.nodes[i].index = b, i
		b.naps[i].at = i
	}
	return b
}

// sleeps reports whether the handler of node i blocks.
func sleeps(i int) bool { return i%blockedEvery == 0 }

// do performs n operations in rounds, which begin calls once each; it waits until what
// does not block has been handled. wait waits for the rest.
func (b *blocked) do(n int, begin, wait func() error) error {
	return inRounds(n, blockedFree, func(k int) error {
		b.round++
		b.asked += int64(k)
		// Every tenth sleeps, from the first on, so some sleep before any other.
		asleep := (k + blockedEvery - 2) / (blockedEvery - 1)
		b.busy = k + asleep
		b.asleep.Store(int64(asleep) + 1)
		b.begin(k, k)
		for i := range b.busy {
			b.naps[i].round = b.round
		}
		if err := begin(); err != nil {
			return err
		}
		var err error
		rest := func() {
			b.parts.Store(1)
			b.rested()
			err = wait()
		}
		if b.meter != nil {
			b.meter.Pause(rest)
		} else {
			rest()
		}
		return err
	})
}

// rested books that one who sleeps does so no more, or that the Do waits for them.
func (b *blocked) rested() {
	if b.asleep.Add(-1) == 0 {
		b.part()
	}
}

// take handles a message.
func (n *blockedNode) take(m *nap) error {
	if m.at != n.index || m.round == n.round {
		return errors.New("workloads: a message came twice, or to an actor that it was not sent to")
	}
	n.round = m.round
	if sleeps(n.index) {
		n.sit(blockedFor)
		n.rested()
		return nil
	}
	n.handled.Add(1)
	n.part()
	return nil
}

func (b *blocked) check() error { return countCheck(b.asked, b.handled.Load()) }

func (n *blockedNode) Receive(_ *actor.Context, msg any) error {
	m, ok := msg.(*nap)
	if !ok {
		return errStray()
	}
	return n.take(m)
}

func blockedOnActors(st Setting, sit func(time.Duration)) Run {
	s := new(system)
	b := newBlocked(&s.progress, st, sit)
	s.raise(st, func(s *system, ctx *actor.Context) (err error) {
		for i := 0; i < len(b.nodes) && err == nil; i++ {
			b.nodes[i].self, err = s.spawn(ctx, &b.nodes[i])
		}
		return err
	})
	begun := func(ctx *actor.Context) error {
		for i := range b.busy {
			if err := ctx.Tell(b.nodes[i].self, &b.naps[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return &run{s, func(n int) error {
		return b.do(n, func() error { return s.play(begun) }, s.wait)
	}, b.check}
}

// blockedByHand is Blocked run by a reference.
func blockedByHand(st Setting, sit func(time.Duration), carry carrying[*nap]) Run {
	g := newGoroutines()
	b := newBlocked(&g.progress, st, sit)
	send := carry(g, blockedActors, func(at int, m *nap) error { return b.nodes[at].take(m) })
	return &run{g, func(n int) error {
		return b.do(n, func() error {
			for i := range b.busy {
				send(i, &b.naps[i])
			}
			return g.wait()
		}, g.wait)
	}, b.check}
}
