package actorloop

import (
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
)

// A message of a plain mailbox travels in a node, and no send allocates one in the long run.
// Nodes are made, and used again, in blocks. Who sends fills one block after the other, in the order
// of its memory, and a block whose messages have all been taken is used again by the next sender that needs one. So
// a flood of messages is read in the order in which it was written, as an array is. Nodes
// that were used again one by one came to lie in any order, and a flood of a million then took
// two to four times as long.

// letter is a message on its way.
type letter struct {
	msg any
	of  *block // where its node is; never written again
}

// blockLen is how many messages a block has. With its node a message has 32 bytes.
const blockLen = 63

// block is nodes, for one sender at a time.
type block struct {
	nodes [blockLen]node[letter]

	// waits is how many messages have not been taken. Who lowers it to 0 has the block, for
	// another sender.
	waits atomic.Int32
}

// free has blocks that can be used again. It hands them from the turn that took the last message
// to a sender.
var free sync.Pool // of *block

// stocks has the nodes of workers that have ended, for those that start, and for who sends and
// is no worker.
var stocks = sync.Pool{New: func() any { return new(nodes) }}

// nodes is what a goroutine that sends and handles messages has of them. One uses it at a time.
type nodes struct {
	now  *block // the block that it fills, if there is room left
	room int    // for so many messages

	// The block of the message that was taken last, and how many before it were from there:
	// they are counted together.
	from  *block
	taken int32

	spare *block // one that can be used again, or nil
}

// nodesOf returns the nodes of who sends as from, or nil if that is no worker.
func nodesOf(from actor.Worker) *nodes {
	switch w := from.(type) {
	case *worker:
		return w.nodes
	case *guest:
		return w.nodes
	}
	return nil
}

// foreign returns a node for who is no worker.
func foreign() *node[letter] {
	s := stocks.Get().(*nodes)
	n := s.get()
	stocks.Put(s)
	return n
}

// get returns the node for the next message.
func (s *nodes) get() *node[letter] {
	if s.room == 0 {
		s.fetch()
	}
	s.room--
	return &s.now.nodes[blockLen-1-s.room]
}

// fetch begins another block.
func (s *nodes) fetch() {
	b := s.spare
	if s.spare = nil; b == nil {
		b, _ = free.Get().(*block)
	}
	if b == nil {
		b = new(block)
		for i := range b.nodes {
			b.nodes[i].msg.of = b
		}
	}
	b.waits.Store(blockLen)
	s.now, s.room = b, blockLen
}

// took is told that a message of b has been taken, and its node cleared.
func (s *nodes) took(b *block) {
	if b != s.from {
		s.count(b)
	}
	s.taken++
}

// count counts what has been taken from one block, before what comes from the block next.
func (s *nodes) count(next *block) {
	b, n := s.from, s.taken
	s.from, s.taken = next, 0
	switch {
	case b == nil || b.waits.Add(-n) > 0:
	case s.spare == nil:
		s.spare = b
	default:
		free.Put(b)
	}
}

// discard is took for a goroutine that has no nodes at hand.
func discard(n *node[letter]) {
	if b := clearNode(n); b.waits.Add(-1) == 0 {
		free.Put(b)
	}
}

// clearNode has n keep nothing alive, which it would for as long as any message of its block
// waits, and returns the block.
func clearNode(n *node[letter]) *block {
	n.next, n.msg.msg = nil, nil
	return n.msg.of
}
