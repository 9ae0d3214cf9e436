package actorloop

import (
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
)

// A message of a plain mailbox travels in a node, and no send allocates one in the long run.
// Nodes are made, and used again, in blocks. Who sends fills one block after the other, in the order
// of its memory, and a block whose messages have all been taken is used again by whoever needs one. So
// a flood of messages is read in the order in which it was written, as an array is. Nodes
// that were used again one by one came to lie in any order, and a flood of a million then took
// four times as long.

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
	now  *block // the block that it fills; nil: none
	next int    // and the place of the next message there

	// The block of the message that was taken last, and how many before it were from there:
	// they are counted together.
	from  *block
	taken int32

	spare *block // one that can be used again, or nil
}

// nodeFor returns a node with msg, for the goroutine that sends it as from.
func nodeFor(msg any, from actor.Worker) (n *node[letter]) {
	switch w := from.(type) {
	case *worker:
		n = w.nodes.get()
	case *guest:
		n = w.nodes.get()
	default:
		s := stocks.Get().(*nodes)
		n = s.get()
		stocks.Put(s)
	}
	n.msg.msg = msg
	return n
}

// get returns the node for the next message.
func (s *nodes) get() *node[letter] {
	if s.now == nil {
		s.fetch()
	}
	n := &s.now.nodes[s.next]
	if s.next++; s.next == blockLen {
		s.now = nil
	}
	return n
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
	s.now, s.next = b, 0
}

// put is told that the message of n has been taken.
func (s *nodes) put(n *node[letter]) {
	b := clearNode(n)
	if b != s.from {
		s.count()
		s.from = b
	}
	s.taken++
}

// count counts what has been taken from one block.
func (s *nodes) count() {
	b, n := s.from, s.taken
	s.from, s.taken = nil, 0
	switch {
	case b == nil || b.waits.Add(-n) > 0:
	case s.spare == nil:
		s.spare = b
	default:
		free.Put(b)
	}
}

// discard is put for a goroutine that has no nodes at hand.
func discard(n *node[letter]) {
	if b := clearNode(n); b.waits.Add(-1) == 0 {
		free.Put(b)
	}
}

// clearNode has n keep nothing alive, as its block would for as long as any of its messages waits,
// and returns the block.
func clearNode(n *node[letter]) *block {
	n.next, n.msg.msg = nil, nil
	return n.msg.of
}
