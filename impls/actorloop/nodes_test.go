package actorloop

import (
	"runtime"
	"sync"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/internal/invariants"
)

// Who sends and handles by turns does with two blocks, whose nodes keep nothing alive.
func TestNodesAreUsedAgain(t *testing.T) {
	w := &worker{nodes: new(nodes)}
	blocks := map[*block]bool{}
	for i := range 10 * blockLen {
		n := nodesOf(w).get()
		if n.msg.msg != nil || n.next != nil {
			t.Fatalf("node %d has message %v, and is linked to %p", i, n.msg.msg, n.next)
		}
		n.msg.msg = i
		blocks[n.msg.of] = true
		n.next = n
		if w.nodes.took(clearNode(n)); n.next != nil || n.msg.msg != nil {
			t.Fatalf("node %d keeps %v and %p alive", i, n.msg.msg, n.next)
		}
	}
	if len(blocks) != 2 {
		t.Errorf("%d blocks for one message at a time, want 2", len(blocks))
	}
}

// A worker that has ended, or a guest that has left, has no nodes: another one may.
func TestWorkerGivesNodesBack(t *testing.T) {
	var w worker
	w.begin(NewDispatcher())
	if nodesOf(&w) == nil {
		t.Error("a worker has no nodes")
	}
	if w.end(); nodesOf(&w) != nil {
		t.Error("a worker that has ended has nodes")
	}
}

// A block is used again when all its messages have been taken or discarded, and not before; one
// that its goroutine has no use for others get.
func TestBlockWithAMessageIsKept(t *testing.T) {
	for name, last := range map[string]func(s *nodes, n *node[letter]){
		"taken": func(s *nodes, n *node[letter]) {
			s.took(clearNode(n))
			s.count(nil)
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
			s.took(clearNode(n))
		}
		s.count(nil)
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
	w, other := &worker{d: d, nodes: new(nodes)}, &worker{d: d, nodes: new(nodes)}
	awake, stopped := newBox(d, actor.MailboxConfig{}), newBox(d, actor.MailboxConfig{})
	awake.in.wake()
	stopped.in.wake()
	stopped.in.close(&closed)
	const messages = 3 * blockLen
	var msg any = t
	for name, c := range map[string]struct {
		to   *box
		from actor.Worker
		want actor.SendResult
	}{
		"handled by its sender's worker": {awake, w, actor.Sent},
		"handled by another worker":      {awake, other, actor.Sent},
		"from outside":                   {awake, nil, actor.Sent},
		"to an actor that has stopped":   {stopped, w, actor.Closed},
	} {
		n := testing.AllocsPerRun(100, func() {
			for range messages {
				if c.to.Send(msg, c.from) != c.want {
					t.Fatalf("%s: want %v", name, c.want)
				}
				if c.want == actor.Sent {
					awake.refill()
					w.nodes.took(clearNode(awake.next()))
				}
			}
		})
		if n != 0 {
			t.Errorf("%s: %d messages take %v allocations", name, messages, n)
		}
	}
}

// Any number of goroutines send to an inbox until it is closed: what it has accepted is received
// once, and each sender's in its order.
func TestInboxOfManySenders(t *testing.T) {
	const senders = 4
	for range 50 {
		var (
			in       inbox[[2]int]
			mark     node[[2]int]
			all      sync.WaitGroup
			accepted [senders]int
		)
		for i := range senders {
			all.Go(func() {
				for n := 0; in.offer(&node[[2]int]{msg: [2]int{i, n}}, &mark) != gone; n++ {
					accepted[i] = n + 1
					runtime.Gosched() // else a slice of time brings thousands
				}
			})
		}
		var received [senders]int
		handle := func(n *node[[2]int], count int) {
			for ; n != nil; n = n.next {
				if i := n.msg[0]; n.msg[1] != received[i] {
					t.Fatalf("message %d of sender %d comes instead of %d", n.msg[1], i, received[i])
				}
				received[n.msg[0]]++
				count--
			}
			if count != 0 {
				t.Fatalf("there are %d messages fewer than it says", count)
			}
		}
		for received[0] < 100 {
			handle(in.take())
		}
		handle(in.close(&mark))
		all.Wait()
		if received != accepted {
			t.Fatalf("%v messages were received, and %v accepted", received, accepted)
		}
	}
}

// What has been sent and handled, or refused, does not count any more, whatever is sent meanwhile.
func TestLenOfManySenders(t *testing.T) {
	const senders, each = 4, 20_000
	d := NewDispatcher()
	w, b := &worker{d: d, nodes: new(nodes)}, newBox(d, actor.MailboxConfig{})
	b.in.wake()
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			for n := range each {
				b.Send(n, nil)
			}
		})
	}
	for n := 0; n < senders*each; {
		if b.left > 0 || b.refill() {
			w.nodes.took(clearNode(b.next()))
			if n++; n%16 == 0 {
				b.rest(actor.Yield) // it has had its turn
			}
		}
	}
	all.Wait()
	b.rest(actor.Yield) // the turn is over
	if n := b.Len(); n != 0 || b.waiting.Load() != 0 {
		t.Errorf("%d messages wait, want none", n)
	}
	b.left, b.counted = 1, 1 // as a turn leaves it that had enough
	b.waiting.Store(1)
	b.Close()
	if b.rest(actor.Stopped); b.Len() != 0 || b.left != 0 || b.waiting.Load() != 0 {
		t.Errorf("%d messages wait for an actor that has stopped", b.waiting.Load())
	}
}

// Any goroutine may take messages of a block: they are counted, and the one that takes the last has it.
func TestBlockOfManyTakers(t *testing.T) {
	for range 2000 {
		var (
			all   sync.WaitGroup
			start = make(chan struct{})
			s     nodes
			mine  [3][]*node[letter]
		)
		for i := range blockLen {
			mine[i%3] = append(mine[i%3], s.get())
		}
		b := s.now
		for _, of := range mine {
			all.Go(func() {
				var s nodes
				<-start
				for i, n := range of {
					if i%2 == 0 {
						discard(n)
						continue
					}
					s.took(clearNode(n))
					s.count(nil)
				}
			})
		}
		close(start)
		all.Wait()
		if n := b.waits.Load(); n != 0 {
			t.Fatalf("%d messages of a block wait, of which all were taken", n)
		}
	}
}

// Nothing counts that was sent while an actor stopped.
func TestLenOfAnActorThatStops(t *testing.T) {
	s := actortest.New(actor.Config{Dispatcher: NewDispatcher()}, func(err error) { t.Error(err) })
	for range 200 {
		r := s.Spawn(actortest.Func(func(*actor.Context, any) error { return nil }))
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				for n := range 50 {
					_ = r.Tell(n) // it may have stopped
				}
			})
		}
		s.End(r)
		all.Wait()
		if n := r.Backlog(); n != 0 {
			t.Fatalf("%d messages wait for an actor that has stopped", n)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Of two who wake a suspended actor one schedules it.
func TestTwoResumeAnActor(t *testing.T) {
	windowed(t)
	b := newBox(nil, actor.MailboxConfig{})
	b.suspended.Store(true)
	defer invariants.Within(func() { b.suspended.Store(false) })() // as the other one does
	if b.resume() {
		t.Error("both schedule it")
	}
}
