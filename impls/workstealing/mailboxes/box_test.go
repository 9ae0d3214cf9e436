package mailboxes

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/anishathalye/porcupine"
)

// each runs f as a subtest for every kind.
func each(t *testing.T, f func(t *testing.T, k Kind)) {
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) { f(t, k) })
	}
}

// seeds calls f with a few seeds, or with the one in DYNO_SEED, and reports the
// command that repeats a failure.
func seeds(t *testing.T, n int, f func(t *testing.T, seed uint64)) {
	if s := os.Getenv("DYNO_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		f(t, seed)
		return
	}
	if testing.Short() {
		n = (n + 9) / 10
	}
	for range n {
		seed := rand.Uint64()
		f(t, seed)
		if t.Failed() {
			t.Fatalf("repeat with: DYNO_SEED=%d go test -run '%s' ./impls/workstealing/mailboxes", seed, t.Name())
		}
	}
}

// One goroutine calls in random order, and a slice says what should come of it.
func TestBoxIsAQueue(t *testing.T) {
	each(t, func(t *testing.T, k Kind) {
		seeds(t, 50, func(t *testing.T, seed uint64) {
			rng := rand.New(rand.NewPCG(seed, 0))
			depot := new(Depot)
			from, w := NewWorker(depot), NewWorker(depot)
			box := k.New()
			var want []int
			next, scheduled := 0, false
			for range 40 {
				pushes, pops := rng.IntN(120), rng.IntN(120)
				if rng.IntN(20) == 0 {
					pushes, pops = 3*keep, 4*keep // grows beyond what is kept, and shrinks
				}
				for range pushes {
					if idle := box.Push(next, from); idle == scheduled {
						t.Fatalf("Push of message %d, scheduled = %v: idle = %v", next, scheduled, idle)
					}
					scheduled = true
					want = append(want, next)
					next++
				}
				for range pops {
					if !scheduled {
						break
					}
					got, ok := box.Pop(w)
					if ok != (len(want) > 0) || ok && got != want[0] {
						t.Fatalf("Pop() = %v, %v, want the first of %d waiting: %v", got, ok, len(want), want[:min(1, len(want))])
					}
					if !ok {
						break
					}
					want = want[1:]
				}
				if scheduled && rng.IntN(2) == 0 {
					if idle := box.Rest(w); idle != (len(want) == 0) {
						t.Fatalf("Rest() = %v with %d messages waiting", idle, len(want))
					}
					scheduled = len(want) > 0
				}
			}
		})
	})
}

// A turn that ends without having popped does not make a box idle that holds a
// message, however it came there.
func TestBoxRestsOnlyWhenEmpty(t *testing.T) {
	each(t, func(t *testing.T, k Kind) {
		w := NewWorker(new(Depot))
		for n := 1; n <= 3; n++ {
			box := k.New()
			for i := range n {
				box.Push(i, w)
			}
			for i := range n {
				if box.Rest(w) {
					t.Fatalf("%d messages, %d popped: the box went idle", n, i)
				}
				if msg, ok := box.Pop(w); !ok || msg != i {
					t.Fatalf("Pop() = %v, %v, want %d", msg, ok, i)
				}
			}
			if !box.Rest(w) {
				t.Fatalf("%d messages, all popped: the box did not go idle", n)
			}
		}
	})
}

// crowd is a box with producers and workers that run its turns.
type crowd struct {
	t        *testing.T
	box      Box
	depot    Depot
	ready    chan struct{} // holds one token while the box is scheduled and in no turn
	inTurn   atomic.Bool
	received []int // per producer; the turn's
	order    string
}

// message is the number-th of one producer.
type message struct{ producer, number int }

// schedule makes the box ready to be run.
func (c *crowd) schedule() {
	select {
	case c.ready <- struct{}{}:
	default:
		c.t.Error("the box was made scheduled twice")
	}
}

// turns runs turns, of at most throughput messages, until ready is closed.
func (c *crowd) turns(rng *rand.Rand, w *Worker, throughput int) {
	for range c.ready {
		for idle := false; !idle; {
			if !c.inTurn.CompareAndSwap(false, true) {
				c.t.Error("two turns at once")
				return
			}
			for range throughput {
				msg, ok := c.box.Pop(w)
				if !ok {
					break
				}
				m := msg.(message)
				if want := c.received[m.producer]; m.number != want && c.order == "" {
					c.order = fmt.Sprintf("message %d of producer %d came where %d was due", m.number, m.producer, want)
				}
				c.received[m.producer] = m.number + 1
			}
			c.inTurn.Store(false) // the turn's end is in Rest, which nobody can enter before it
			if rng.IntN(8) == 0 {
				runtime.Gosched()
			}
			if idle = c.box.Rest(w); !idle {
				runtime.Gosched() // as a worker that goes on with another actor
			}
		}
	}
}

// Many producers and several workers: every message comes, once, in its
// producer's order, in one turn at a time, and none is left in an idle box.
func TestBoxUnderCrowd(t *testing.T) {
	const messages = 400
	each(t, func(t *testing.T, k Kind) {
		seeds(t, 30, func(t *testing.T, seed uint64) {
			rng := rand.New(rand.NewPCG(seed, 0))
			producers, throughput := 1+rng.IntN(8), 1+rng.IntN(100)
			haste := 1 + rng.IntN(64) // a producer rests every so many messages
			c := &crowd{t: t, box: k.New(), ready: make(chan struct{}, 1), received: make([]int, producers)}
			var sending, working sync.WaitGroup
			for i := range 3 {
				working.Add(1)
				go func() {
					defer working.Done()
					c.turns(rand.New(rand.NewPCG(seed, uint64(100+i))), NewWorker(&c.depot), throughput)
				}()
			}
			for p := range producers {
				rng := rand.New(rand.NewPCG(seed, uint64(1+p)))
				sending.Add(1)
				go func() {
					defer sending.Done()
					w := NewWorker(&c.depot)
					for i := range messages {
						if c.box.Push(message{p, i}, w) {
							c.schedule()
						}
						if rng.IntN(haste) == 0 {
							runtime.Gosched()
						}
					}
				}()
			}
			sending.Wait()
			close(c.ready) // whoever has made it scheduled has said so
			working.Wait()
			if c.order != "" {
				t.Error(c.order)
			}
			for p, n := range c.received {
				if n != messages {
					t.Errorf("%d of %d messages of producer %d were handled when the box went idle", n, messages, p)
				}
			}
		})
	})
}

// op is an operation of a history: what was called, and what it returned.
type op struct {
	name string // push, pop, rest
	msg  int    // pushed, or popped; 0 if none
	idle bool
}

// boxState is the contract's state: the messages that wait, in order.
type boxState struct {
	queue     [16]int8
	n         int
	scheduled bool
}

// boxModel is what the operations may return. Pop may miss a message whose Push
// is under way, which it cannot be asked to know of; Rest may not.
var boxModel = porcupine.Model{
	Init: func() any { return boxState{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(boxState), input.(op), output.(op)
		switch in.name {
		case "push":
			ok := out.idle == !s.scheduled
			s.queue[s.n] = int8(in.msg)
			s.n++
			s.scheduled = true
			return ok, s
		case "pop":
			if out.msg == 0 {
				return s.scheduled, s
			}
			ok := s.scheduled && s.n > 0 && int(s.queue[0]) == out.msg
			copy(s.queue[:], s.queue[1:])
			s.queue[15] = 0
			s.n = max(0, s.n-1)
			return ok, s
		default:
			ok := s.scheduled && out.idle == (s.n == 0)
			s.scheduled = !out.idle
			return ok, s
		}
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(op), output.(op)
		return fmt.Sprintf("%s(%d) = %d, %v", in.name, in.msg, out.msg, out.idle)
	},
}

// Short histories of a few producers and the turns have an order in which each
// call takes effect at one moment and all that they returned is right.
func TestBoxIsLinearizable(t *testing.T) {
	each(t, func(t *testing.T, k Kind) {
		seeds(t, 300, func(t *testing.T, seed uint64) {
			checkHistory(t, k, seed)
		})
	})
}

func checkHistory(t *testing.T, k Kind, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	producers := 1 + rng.IntN(3)
	each := 1 + rng.IntN(5)
	throughput := 1 + rng.IntN(4)
	var clock atomic.Int64
	var depot Depot
	box := k.New()
	ready := make(chan struct{}, 1)
	histories := make([][]porcupine.Operation, producers+1)
	call := func(client int, in op, f func() op) op {
		begin := clock.Add(1)
		out := f()
		histories[client] = append(histories[client], porcupine.Operation{
			ClientId: client, Input: in, Call: begin, Output: out, Return: clock.Add(1),
		})
		return out
	}
	var sending sync.WaitGroup
	for p := range producers {
		rng := rand.New(rand.NewPCG(seed, uint64(1+p)))
		sending.Add(1)
		go func() {
			defer sending.Done()
			w := NewWorker(&depot)
			for i := range each {
				in := op{name: "push", msg: 1 + p*each + i}
				if call(p, in, func() op { return op{idle: box.Push(in.msg, w)} }).idle {
					select {
					case ready <- struct{}{}:
					default:
						t.Error("the box was made scheduled twice")
					}
				}
				if rng.IntN(3) == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w := NewWorker(&depot)
		for range ready {
			for idle := false; !idle; {
				for range throughput {
					if call(producers, op{name: "pop"}, func() op {
						msg, ok := box.Pop(w)
						if !ok {
							return op{}
						}
						return op{msg: msg.(int)}
					}).msg == 0 {
						break
					}
				}
				idle = call(producers, op{name: "rest"}, func() op { return op{idle: box.Rest(w)} }).idle
				if !idle {
					runtime.Gosched()
				}
			}
		}
	}()
	sending.Wait()
	close(ready)
	<-done
	var all []porcupine.Operation
	popped := 0
	for _, h := range histories {
		for _, o := range h {
			// What says nothing would only make the search long.
			if in, out := o.Input.(op), o.Output.(op); in.name == "pop" && out.msg == 0 {
				continue
			} else if in.name == "pop" {
				popped++
			}
			all = append(all, o)
		}
	}
	if popped != producers*each {
		t.Errorf("%d of %d messages were handled when the box went idle", popped, producers*each)
	}
	if !porcupine.CheckOperations(boxModel, all) {
		for _, o := range all {
			t.Logf("%d: %d–%d %s", o.ClientId, o.Call, o.Return, boxModel.DescribeOperation(o.Input, o.Output))
		}
		t.Error("the history is not linearizable")
	}
}

// What was popped is the collector's, also while the box, which may be idle for
// long, and the workers live on.
func TestBoxLetsGo(t *testing.T) {
	each(t, func(t *testing.T, k Kind) {
		depot := new(Depot)
		w := NewWorker(depot)
		box := k.New()
		const n = 200
		var weaks [n]weak.Pointer[[64]byte]
		for round := range 2 {
			for i := range n {
				msg := new([64]byte)
				weaks[i] = weak.Make(msg)
				box.Push(msg, w)
			}
			for {
				if _, ok := box.Pop(w); !ok {
					break
				}
			}
			if !box.Rest(w) {
				t.Fatal("a box from which all was popped did not go idle")
			}
			runtime.GC()
			for i, p := range weaks {
				if p.Value() != nil {
					t.Fatalf("round %d: message %d of %d is kept", round, i, n)
				}
			}
		}
		runtime.KeepAlive(box)
		runtime.KeepAlive(w)
	})
}

// After a flood an idle box is small again, whichever of its buffers were grown:
// a turn that begins in the middle exchanges them. The list nodes are the
// depot's, not the box's.
func TestBoxShrinks(t *testing.T) {
	each(t, func(t *testing.T, k Kind) {
		const flood, limit = 1 << 17, 64 << 10
		depot := new(Depot)
		w := NewWorker(depot)
		box := k.New()
		before := heap()
		for _, begin := range []int{flood, flood / 2, flood - 10} {
			for i := range flood {
				box.Push(message{}, w)
				if i == begin {
					box.Pop(w) // maybe the one that found the box idle
					box.Pop(w)
				}
			}
			for {
				if _, ok := box.Pop(w); !ok {
					break
				}
			}
			if !box.Rest(w) {
				t.Fatal("a box from which all was popped did not go idle")
			}
			*w, *depot = Worker{depot: depot}, Depot{}
			if after := heap(); after > before+limit {
				t.Errorf("a turn from message %d of %d on: the idle box has %d bytes, want at most %d", begin, flood, after-before, limit)
			}
		}
		runtime.KeepAlive(box)
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// In steady state a message costs no allocation, whether it finds the box idle
// or others wait, and on one worker or from one to another.
func TestBoxDoesNotAllocate(t *testing.T) {
	each(t, func(t *testing.T, k Kind) {
		depot := new(Depot)
		from, w := NewWorker(depot), NewWorker(depot)
		box := k.New()
		var msg any = new(int)
		for _, n := range []int{1, 64, 900} {
			allocs := testing.AllocsPerRun(5, func() {
				for range 300 { // one node that is lost each time adds up to some chains
					for range n {
						box.Push(msg, from)
					}
					for range n {
						box.Pop(w)
					}
					box.Rest(w)
				}
			})
			if allocs != 0 {
				t.Errorf("%d messages: %v allocations", n, allocs)
			}
		}
	})
}

// Workers and their depot have as many nodes as they say, each once, however
// nodes wander from one worker to the other.
func TestWorkerCountsItsNodes(t *testing.T) {
	seeds(t, 20, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		depot := new(Depot)
		ws := []*Worker{NewWorker(depot), NewWorker(depot)}
		var out []*node
		for range 60 {
			w := ws[rng.IntN(2)]
			if n := rng.IntN(3 * chainLen); rng.IntN(2) == 0 {
				for range n {
					out = append(out, w.get())
				}
			} else {
				for ; n > 0 && len(out) > 0; n-- {
					w.put(out[len(out)-1])
					out = out[:len(out)-1]
				}
			}
			seen := map[*node]bool{}
			count := func(where string, chain *node, want int) {
				n := 0
				for ; chain != nil; chain = chain.next {
					if seen[chain] {
						t.Fatalf("%s: a node is there twice", where)
					}
					seen[chain] = true
					n++
				}
				if n != want {
					t.Fatalf("%s: %d nodes, want %d", where, n, want)
				}
			}
			for _, n := range out {
				count("taken", n, 1)
			}
			for _, w := range ws {
				count("free", w.free, w.n)
				if w.spare != nil {
					count("spare", w.spare, chainLen)
				}
			}
			for _, c := range depot.chains {
				count("depot", c, chainLen)
			}
			if len(seen)%chainLen != 0 {
				t.Fatalf("%d nodes in all: some are lost", len(seen))
			}
		}
	})
}

// The numbers of the ring's places overflow, in the word before the bases.
func TestRingNumbersOverflow(t *testing.T) {
	b := new(ringBox)
	w := NewWorker(new(Depot))
	const start = 1<<32 - 4*segmentLen
	s := new(segment)
	s.base.Store(start)
	b.word.Store(start << 32)
	b.head.Store(s)
	b.last.Store(s)
	b.spare.Store(s)
	want := 0
	for i := range 20 * segmentLen {
		if idle := b.Push(i, w); idle != (i == 0) {
			t.Fatalf("Push of message %d: idle = %v", i, idle)
		}
		if i%3 == 0 {
			continue
		}
		if got, ok := b.Pop(w); !ok || got != want {
			t.Fatalf("Pop() = %v, %v, want %d", got, ok, want)
		}
		want++
	}
	for ; want < 20*segmentLen; want++ {
		if got, ok := b.Pop(w); !ok || got != want {
			t.Fatalf("Pop() = %v, %v, want %d", got, ok, want)
		}
	}
	if !b.Rest(w) {
		t.Fatal("a box from which all was popped did not go idle")
	}
}

// A box that never rests does not count what it has handled for ever.
func TestRingAccountsWithoutRest(t *testing.T) {
	b := new(ringBox)
	w := NewWorker(new(Depot))
	b.Push(0, w)
	for i := range 100 * segmentLen {
		b.Push(i, w)
		if _, ok := b.Pop(w); !ok {
			t.Fatal("a message is missing")
		}
		if n := uint32(b.word.Load()); n > segmentLen+2 {
			t.Fatalf("%d messages count as pending, 1 is", n)
		}
	}
}
