package actorloop

import (
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// Who sends and handles by turns does with two blocks, whose nodes keep nothing alive.
func TestNodesAreUsedAgain(t *testing.T) {
	w := &worker{nodes: new(nodes)}
	blocks := map[*block]bool{}
	for i := range 10 * blockLen {
		n := nodeFor(i, w)
		if n.msg.msg != i || n.next != nil {
			t.Fatalf("node %d has message %v, and is linked to %p", i, n.msg.msg, n.next)
		}
		blocks[n.msg.of] = true
		n.next = n
		if w.nodes.put(n); n.next != nil || n.msg.msg != nil {
			t.Fatalf("node %d keeps %v and %p alive", i, n.msg.msg, n.next)
		}
	}
	if len(blocks) != 2 {
		t.Errorf("%d blocks for one message at a time, want 2", len(blocks))
	}
}

// A block is used again when all its messages have been taken or discarded, and not before; one
// that its goroutine has no use for others get.
func TestBlockWithAMessageIsKept(t *testing.T) {
	for name, last := range map[string]func(s *nodes, n *node[letter]){
		"taken": func(s *nodes, n *node[letter]) {
			s.put(n)
			s.count()
		},
		"discarded": func(_ *nodes, n *node[letter]) { discard(n) },
	} {
		s := new(nodes)
		waits := s.get()
		b := waits.msg.of
		waits.msg.msg = "waits"
		for range 10*blockLen - 1 {
			n := s.get()
			if n == waits {
				t.Fatalf("%s: a node is used while its message waits", name)
			}
			s.put(n)
		}
		s.count()
		if n := b.waits.Load(); n != 1 || s.spare == b || waits.msg.msg != "waits" {
			t.Fatalf("%s: %d messages of a block wait, want 1; it is used again: %v", name, n, s.spare == b)
		}
		s.spare = nil
		last(s, waits)
		if n := b.waits.Load(); n != 0 || waits.msg.msg != nil {
			t.Errorf("%s: %d messages of a block wait after the last", name, n)
		}
		if name == "taken" && s.spare != b {
			t.Errorf("%s: a block of which no message waits is not used again", name)
		}
	}
}

// What actors say to one another, to actors that have stopped, and what they are told from outside,
// takes no memory in the long run.
func TestSendsAllocateNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("a sync.Pool forgets at random under -race")
	}
	d := NewDispatcher()
	w, asleep, gone := &worker{d: d, nodes: new(nodes)}, newBox(d, actor.MailboxConfig{}), newBox(d, actor.MailboxConfig{})
	asleep.in.wake()
	gone.in.wake()
	gone.in.close(&closed)
	var msg any = t
	for name, send := range map[string]func(){
		"from a worker":            func() { asleep.Send(msg, w) },
		"from outside":             func() { asleep.Send(msg, nil) },
		"to an actor that is gone": func() { gone.Send(msg, nil) },
		"as the actor is going": func() {
			n := nodeFor(msg, w)
			if gone.in.offer(n, &closed) == resting {
				t.Error("it sleeps")
			}
			discard(n)
		},
	} {
		n := testing.AllocsPerRun(100*blockLen, func() {
			send()
			asleep.pop(w)
		})
		if n != 0 {
			t.Errorf("%s: a message takes %v allocations", name, n)
		}
	}
}
