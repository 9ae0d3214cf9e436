package workloads

import (
	"errors"

	"github.com/dynolab/dyno/actor"
)

// The programs after Savina, the benchmark suite of actors by Imam and Sarkar (2014), each in
// a file actor_savina_<name>.go: its comments, constants and fields of the Workload are the
// specification, also for peers. They are not the originals, whose figures say nothing of these:
// sizes, numbers and checks are dyno's. Actors are made before the clock starts and stopped after
// it; random numbers are SplitMix64's, whose seed is the number of the teller or worker, or the
// size. Left out are those that others stand for (trapezoid, piprecision, recmatmul, radixsort,
// bitonicsort, filterbank, sor, nqueenk, fjcreate), that model nothing (cigsmok), or whose
// generator decides what is measured (facloc).

// A savinaProgram is a program of nodes, which are numbered from 0 and send one another
// messages of type M, a pointer.
type savinaProgram[M any] interface {
	protocol

	// fail ends the run: that of [progress].
	fail(err error)

	// size is how many nodes there are.
	size() int

	// start sends what begins a Do.
	start(send func(to int, m M) error) error

	// handle handles a message to a node. What follows it sends.
	handle(at int, m M, send carrier[M]) error
}

// savinaRoom is how many messages a channel of the reference has room for: more than are
// ever under way to a node.
const savinaRoom = 1024

// savina returns the workload of a program, whose operations are made of so many messages.
func savina[M any](w Workload, newProgram func(s *progress) savinaProgram[M]) []Workload {
	newNetwork := func(s *progress) network[M] { return newSavinaNetwork(newProgram(s)) }
	w.Name, w.Variant = "savina", "program="+w.Name
	w.TooBig = "the sizes are Savina's, for machines with an operating system"
	w.Prepare = func(st Setting) Run { return byActors(st, newNetwork) }
	w.On = func(_ Setting, f Framework) Run { return networkOn(f, newNetwork) }
	w.Refs = []Ref{
		{refBuffered, "a goroutine and a channel each, with room for all that is ever under way", func(Setting) Run { return byHand(channelsOf[M](savinaRoom), newNetwork) }},
		{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", func(Setting) Run { return byHand(boxesOf[M](0), newNetwork) }},
	}
	return []Workload{w}
}

// savinaNetwork is a program as a [network].
type savinaNetwork[M any] struct {
	savinaProgram[M]
	all []savinaNode[M]
}

func newSavinaNetwork[M any](p savinaProgram[M]) *savinaNetwork[M] {
	n := &savinaNetwork[M]{savinaProgram: p, all: make([]savinaNode[M], p.size())}
	for i := range n.all {
		node := &n.all[i]
		node.network, node.at = n, i
		node.send = func(to int, m M) {
			if err := node.turn.Tell(n.all[to].self, m); err != nil {
				n.fail(err) // at once, before others miss the message
			}
		}
	}
	return n
}

func (n *savinaNetwork[M]) nodes(f func(a actor.Actor, self *actor.Ref)) {
	for i := range n.all {
		f(&n.all[i], &n.all[i].self)
	}
}

// A savinaNode is an actor. Those of big, chameneos and hot are written out: by these a message
// takes 3 to 6 ns more, 3 to 7 %, and an actor of hot 170 bytes.
type savinaNode[M any] struct {
	network *savinaNetwork[M]
	at      int
	self    actor.Ref
	turn    *actor.Context // of the message that is being handled
	send    carrier[M]     // made once, or each message would allocate it
	_       [64]byte       // nodes are worked on by different processors
}

func (n *savinaNode[M]) Receive(ctx *actor.Context, msg any) error {
	m, ok := msg.(M)
	if !ok {
		return errStray()
	}
	n.turn = ctx
	return n.network.handle(n.at, m, n.send)
}

// A rota shares the operations of a Do out among several who carry them out. Who gets the odd
// ones changes from Do to Do.
type rota struct {
	*progress
	give   func(at, ops int) // gives one its operations of a Do
	asked  []int             // operations of each in all
	first  int               // who gets the first of the next odd operations
	busy   int               // how many have any in this Do
	begins bool              // node 0 has not been told to begin this Do
}

func newRota(s *progress, of int, give func(at, ops int)) rota {
	return rota{progress: s, give: give, asked: make([]int, of)}
}

func (r *rota) deal(n int) {
	of := len(r.asked)
	r.busy, r.begins = min(n, of), true
	r.begin(n, r.busy)
	for i := range of {
		at, ops := (r.first+i)%of, share(n, i, of)
		r.give(at, ops)
		r.asked[at] += ops
	}
}

// told books that a node was told to begin, which is node 0 where one is told.
func (r *rota) told(at int) error {
	if at != 0 || !r.begins {
		return errors.New("workloads: node 0 was told twice to begin, or another was")
	}
	r.begins = false
	return nil
}

// each calls f for all that have operations in this Do, until it returns an error. The next
// Do begins with another one.
func (r *rota) each(f func(at int) error) error {
	first := r.first
	r.first = (first + r.busy) % len(r.asked)
	for i := range r.busy {
		if err := f((first + i) % len(r.asked)); err != nil {
			return err
		}
	}
	return nil
}

// A splitMix is the generator SplitMix64: its state, which is the seed to begin with.
type splitMix uint64

// next returns the next number.
func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number below n, each as probable as another as far as 32 bits can be shared out.
func (s *splitMix) below(n int) int { return int(s.next() >> 32 * uint64(n) >> 32) }
