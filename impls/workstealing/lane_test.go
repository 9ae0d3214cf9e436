package workstealing

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/dynolab/dyno/actor"
)

// scheduled returns the box of an actor that is in its turn, and workers that send to it and
// take a lane at once.
func scheduled(workers int) (b *box, all []*worker) {
	p := newPool()
	p.cfg.MaxWorkers = 0 // none is to be woken
	b = &box{d: NewDispatcherOn(p)}
	b.word.Store(phaseScheduled)
	for i := range workers {
		w := newWorker(p, uint64(i+1))
		w.id, w.patient = i, 1
		all = append(all, w)
	}
	return b, all
}

// from is w as who sends, without the type if it is nil.
func from(w *worker) actor.Worker {
	if w == nil {
		return nil
	}
	return w
}

// Any sender, with a lane or without: messages are taken in the order in which they
// were sent, and counted.
func TestLanesKeepTheOrder(t *testing.T) {
	seeds := uint64(50)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		b, workers := scheduled(2)
		senders := append(workers, nil)
		sent, taken, lanes := 0, 0, 0
		pop := func() {
			msg, ok := b.pop()
			if ok != (taken < sent) || ok && msg != any(taken) {
				t.Fatalf("seed %d: took %v, %v as message %d of %d", seed, msg, ok, taken, sent)
			}
			if ok {
				taken++
			}
		}
		for range 300 {
			switch w := senders[r.IntN(3)]; r.IntN(8) {
			case 0, 1, 2, 3:
				for range 1 << r.IntN(11) {
					if b.Send(sent, from(w)) != actor.Sent {
						t.Fatalf("seed %d: message %d was refused", seed, sent)
					}
					sent++
				}
				if w != nil {
					w.patient = 1 + r.IntN(20)
					if w.lane.box == b {
						lanes++
					}
				}
			case 4:
				if w != nil {
					w.leaveLane()
				}
			default:
				for range 1 << r.IntN(11) {
					pop()
				}
				if got, want := b.Len()+int(b.out.len()), sent-taken; got != want {
					t.Fatalf("seed %d: %d messages wait, want %d", seed, got, want)
				}
			}
		}
		for taken < sent {
			pop()
		}
		pop()
		if lanes < 10 {
			t.Errorf("seed %d: a sender had a lane %d times", seed, lanes)
		}
	}
}

// Workers and one from outside send at the same time, take lanes and end each other's.
func TestLanesOfSeveralSenders(t *testing.T) {
	each := 100_000
	if testing.Short() {
		each = 10_000
	}
	b, workers := scheduled(2)
	type note struct{ sender, n int }
	var wg sync.WaitGroup
	lanes := make([]int, 3)
	for i, w := range append(workers, nil) {
		wg.Go(func() {
			for n := range each {
				b.Send(note{i, n}, from(w))
				if w != nil {
					w.patient = 8 // not more and more
					if w.lane.box == b {
						lanes[i]++
					}
				}
				if n%500 == 100*i {
					runtime.Gosched()
				}
			}
			if w != nil {
				w.leaveLane()
			}
		})
	}
	var next [3]int
	for total := 0; total < 3*each; {
		msg, ok := b.pop()
		if !ok {
			runtime.Gosched()
			continue
		}
		m := msg.(note)
		if m.n != next[m.sender] {
			t.Fatalf("sender %d: message %d, want %d", m.sender, m.n, next[m.sender])
		}
		next[m.sender]++
		total++
	}
	wg.Wait()
	if _, ok := b.pop(); ok || lanes[0] == 0 || lanes[1] == 0 {
		t.Errorf("a message more is %v; so many were sent with a lane: %v", ok, lanes)
	}
}

// The chunks of a lane are not used elsewhere while its owner may write to them.
func TestChunksOfALaneAreNotShared(t *testing.T) {
	b, workers := scheduled(2)
	w := workers[0]
	for n := range 10 {
		b.Send(n, w)
	}
	if w.lane.box != b {
		t.Fatal("there is no lane")
	}
	mine := w.lane.chunks
	b.Send("of another one", workers[1])
	for {
		if _, ok := b.pop(); !ok {
			break
		}
	}
	b.used()
	for range 10 {
		if got := (*[large]any)(newChunk(large).msgs); got == mine[0] || got == mine[1] {
			t.Fatal("a chunk of a lane that another sender has ended is used again")
		}
	}
}

// The word of a lane may change between what its owner has read and the push: then nothing was
// pushed, nothing is kept, and who sends it again sends it once.
func TestLaneEndsBeforeAPush(t *testing.T) {
	b, workers := scheduled(2)
	w := workers[0]
	sent := 0
	for ; sent < 10; sent++ {
		b.Send(sent, w)
	}
	if w.lane.box != b {
		t.Fatal("there is no lane")
	}
	read := b.word.Load()
	b.Send(sent, workers[1])
	sent++
	if w.lane.push(w, read, "lost") {
		t.Error("a message was pushed into a lane that another sender has ended")
	}
	for _, chunk := range w.lane.chunks {
		for _, msg := range chunk {
			if msg == "lost" {
				t.Error("the lane keeps a message that was not pushed")
			}
		}
	}
	b.Send(sent, w)
	sent++
	for want := range sent {
		if msg, ok := b.pop(); !ok || msg != any(want) {
			t.Fatalf("took %v, %v as message %d", msg, ok, want)
		}
	}
	if msg, ok := b.pop(); ok {
		t.Errorf("%v was not sent", msg)
	}
}

// A closed mailbox refuses what comes through a lane, and a parked worker has none.
func TestLanesEnd(t *testing.T) {
	b, workers := scheduled(1)
	w := workers[0]
	for n := range 10 {
		b.Send(n, w)
	}
	for {
		if _, ok := b.pop(); !ok {
			break
		}
	}
	b.Close()
	if b.Send(11, w) != actor.Closed {
		t.Error("a closed mailbox has accepted a message")
	}
	b.word.Store(phaseScheduled)
	others := []*worker{w, newWorker(b.d.pool, 2)}
	others[1].id, others[1].patient = 1, 1
	for _, w := range others { // the second one ends the first one's lane
		w.takeLane(b, 1)
	}
	if w.leaveLane(); b.word.Load()/laneOwner != 2 {
		t.Error("who has lost its lane has ended another one's")
	}
	if others[1].leaveLane(); b.word.Load() >= laneOwner || b.Len() != 2 {
		t.Errorf("there is a lane, which its owner has left, or %d messages wait, want 2", b.Len())
	}
	other := &box{d: b.d}
	other.word.Store(phaseScheduled)
	w.patient = 4
	w.takeLane(other, 1)
	if w.takeLane(b, 1); other.word.Load() >= laneOwner || w.patient != 16 {
		t.Errorf("a worker has two lanes, or takes the next after %d messages, want 16", w.patient)
	}
	b.d.pool.park(w, false)
	if w.lane != (lane{}) || w.stream != nil {
		t.Error("a parked worker holds on to an actor")
	}
}

// Nor does a guest, which has no place, nor who finds the actor's turn over.
func TestNoLaneForAGuest(t *testing.T) {
	b, all := scheduled(1)
	g := b.d.NewGuest(nil).(*guest)
	if g.takeLane(b, 1) || b.Len() != 0 {
		t.Error("a guest has a lane")
	}
	b.word.Store(phaseIdle)
	if all[0].takeLane(b, 1) || b.Len() != 0 {
		t.Error("there is a lane to an actor that is idle")
	}
}

// Tags are a pool's own: a worker of another one takes no lane.
func TestNoLaneFromAnotherPool(t *testing.T) {
	b, _ := scheduled(1)
	_, strangers := scheduled(1)
	for n := range 100 {
		b.Send(n, strangers[0])
	}
	if strangers[0].lane.box != nil {
		t.Error("a worker of another pool has a lane")
	}
}
