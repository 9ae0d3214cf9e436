package actor

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"
)

func TestTable(t *testing.T) {
	var tab table
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[PID]bool{}
	var live []*Cell
	for range 100_000 {
		if len(live) > 0 && rng.IntN(5) < 2 {
			i := rng.IntN(len(live))
			c := live[i]
			tab.remove(c)
			if tab.find(c.pid) != nil {
				t.Fatalf("%v is found after it was removed", c.pid)
			}
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		c := new(Cell)
		tab.add(c)
		if seen[c.pid] || c.pid.IsZero() {
			t.Fatalf("%v was given out twice, or belongs to no actor", c.pid)
		}
		seen[c.pid] = true
		live = append(live, c)
	}
	for _, c := range live {
		if tab.find(c.pid) != c {
			t.Fatalf("%v is not found", c.pid)
		}
	}
	n, spawned := tab.count()
	if n != len(live) || spawned != uint64(len(seen)) || len(tab.all()) != n {
		t.Errorf("count = %d, %d, and %d in all; want %d, %d", n, spawned, len(tab.all()), len(live), len(seen))
	}
	if int(tab.used) >= len(seen) {
		t.Errorf("%d slots for %d actors: none was used again", tab.used, len(seen))
	}
	for _, p := range []PID{{}, {slot: tab.used + 1}, {slot: math.MaxUint32}, {slot: math.MaxUint32, gen: 1}, {slot: 1, gen: 99999}, {gen: 1}} {
		if tab.find(p) != nil {
			t.Errorf("find(%v) found an actor", p)
		}
	}
	tab.clear()
	if tab.find(live[0].pid) != nil || len(tab.all()) != 0 {
		t.Error("found in a table that was cleared")
	}
	if tab.add(live[0]); tab.find(live[0].pid) != live[0] {
		t.Error("not found in a table that was cleared before")
	}
}

// A slot whose generations are used up is not used again.
func TestTableEndOfGenerations(t *testing.T) {
	var tab table
	a := new(Cell)
	tab.add(a)
	tab.at(0).gen = math.MaxUint32
	a.pid.gen = math.MaxUint32
	tab.remove(a)
	b := new(Cell)
	tab.add(b)
	if b.pid.slot == a.pid.slot {
		t.Errorf("the slot of %v was given to %v", a.pid, b.pid)
	}
	if tab.find(a.pid) != nil {
		t.Errorf("%v is found after it was removed", a.pid)
	}
}

// Look-ups take no lock and may go on while actors come and go.
func TestTableConcurrently(t *testing.T) {
	var tab table
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for i := uint32(1); ; i++ {
				select {
				case <-done:
					return
				default:
				}
				p := PID{slot: i % 5000, gen: i % 7}
				if c := tab.find(p); c != nil && c.pid != p {
					t.Errorf("find(%v) found %v", p, c.pid)
					return
				}
			}
		})
	}
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for range 3 {
				var mine []*Cell
				for range 1000 {
					c := new(Cell)
					tab.add(c)
					mine = append(mine, c)
				}
				for _, c := range mine {
					if tab.find(c.pid) != c {
						t.Errorf("%v is not found", c.pid)
					}
					tab.remove(c)
				}
			}
		})
	}
	workers.Wait()
	close(done)
	wg.Wait()
}

// An actor should cost few hundred bytes, and senders and turns should not
// write the same cache lines.
func TestCellLayout(t *testing.T) {
	var c Cell
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("figures are for 64-bit machines")
	}
	if n := unsafe.Sizeof(c); n > 144 {
		t.Errorf("a Cell has %d bytes, want at most 144: an implementation adds its mailbox, and 256 are four cache lines", n)
	}
	if off := unsafe.Offsetof(c.actor); off != 64 {
		t.Errorf("what the turn writes begins at %d, want 64: senders read what stands before it", off)
	}
}

func TestSignals(t *testing.T) {
	var q signals
	if q.pending() || q.take() != nil {
		t.Error("the zero queue has signals")
	}
	const n = 100
	var wg sync.WaitGroup
	cells := make([]Cell, 4)
	for i := range cells {
		wg.Go(func() {
			for k := range n {
				if !q.push(&signal{kind: signalKind(k), arg: &cells[i]}) {
					t.Error("an open queue refused")
				}
			}
		})
	}
	wg.Wait()
	last := map[any]int{}
	got := 0
	for s := q.take(); s != nil; s = s.next {
		if int(s.kind) != last[s.arg] {
			t.Fatalf("signal %d of a sender came as number %d", s.kind, last[s.arg])
		}
		last[s.arg]++
		got++
	}
	if got != n*len(cells) || q.pending() {
		t.Errorf("took %d signals of %d", got, n*len(cells))
	}
	q.push(&signal{})
	q.close()
	if q.push(&signal{}) {
		t.Error("a closed queue accepted")
	}
}

// What was taken and is put back comes before what others push meanwhile, and
// those who watch or wait are answered in the order in which they came.
func TestSignalsPutBack(t *testing.T) {
	var q signals
	q.putBack(nil)
	const n = 1000
	for i := range n {
		q.push(&signal{epoch: uint32(i)})
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range n {
			q.push(&signal{epoch: uint32(n + i)})
		}
	})
	for range 100 {
		q.putBack(q.take())
	}
	wg.Wait()
	q.putBack(q.take())
	next := uint32(0)
	for s := q.close(); s != nil; s = s.next {
		if s.epoch != next {
			t.Fatalf("signal %d came when %d was next", s.epoch, next)
		}
		next++
	}
	if next != 2*n {
		t.Errorf("%d signals are left of %d", next, 2*n)
	}
}
