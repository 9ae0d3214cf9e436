package actor

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// crowd is how many timers a system has that uses many.
const crowd = 100_000

// BenchmarkTimers is the cost of a timer among a hundred thousand: of one that
// is started and stopped (an ask that is answered), of one that is started
// again (a receive timeout), of one that is started and stopped or due with all
// the others. Beside timers are a binary heap of container/heap with the same lock
// and clock, and what one would write with package time: an AfterFunc for each,
// new each time or, where a stopped one can be reset, used again.
func BenchmarkTimers(b *testing.B) {
	for _, subject := range []struct {
		name string
		make func(n int, due func()) starter
	}{
		{"timers", newOurs},
		{"ref-container-heap", newBinary},
		{"ref-afterfunc", newAfterFuncs},
		{"ref-reset", newResets},
	} {
		b.Run("impl="+subject.name, func(b *testing.B) {
			b.Run("op=startstop", func(b *testing.B) {
				s := subject.make(crowd+1, func() { panic("due") })
				fill(s)
				defer s.close()
				for b.Loop() {
					s.start(crowd, 5*time.Second)
					s.stop(crowd)
				}
			})
			b.Run("op=parallel", func(b *testing.B) { // the same on all processors at once
				s := subject.make(crowd+1000, func() { panic("due") })
				fill(s)
				defer s.close()
				var next atomic.Int32
				b.RunParallel(func(pb *testing.PB) {
					i := crowd + int(next.Add(1))
					for pb.Next() {
						s.start(i, 5*time.Second)
						s.stop(i)
					}
				})
			})
			b.Run("op=again", func(b *testing.B) {
				s := subject.make(crowd, func() { panic("due") })
				fill(s)
				defer s.close()
				rng := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					s.start(rng.IntN(crowd), time.Hour+time.Duration(rng.Int64N(int64(time.Hour))))
				}
			})
			b.Run("op=all", func(b *testing.B) { // one op is one of the crowd: started, and stopped in another order
				s := subject.make(crowd, func() { panic("due") })
				defer s.close()
				order := rand.New(rand.NewPCG(3, 4)).Perm(crowd)
				for left := b.N; left > 0; left -= crowd {
					n := min(left, crowd)
					for i := range n {
						s.start(i, time.Hour+time.Duration(order[i])*time.Millisecond)
					}
					for _, i := range order {
						if i < n {
							s.stop(i)
						}
					}
				}
			})
			if subject.name == "ref-container-heap" {
				return // has no alarm
			}
			b.Run("op=due", func(b *testing.B) { // one op is one of the crowd: started, and rings
				var wg sync.WaitGroup
				s := subject.make(crowd, wg.Done)
				defer s.close()
				order := rand.New(rand.NewPCG(5, 6)).Perm(crowd)
				for left := b.N; left > 0; left -= crowd {
					n := min(left, crowd)
					wg.Add(n)
					for i := range n {
						s.start(i, time.Duration(order[i])*100)
					}
					wg.Wait()
				}
			})
		})
	}
}

// starter is n timers, numbered.
type starter interface {
	start(i int, d time.Duration)
	stop(i int)
	close()
}

// fill starts a crowd that is due in one to two hours.
func fill(s starter) {
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range crowd {
		s.start(i, time.Hour+time.Duration(rng.Int64N(int64(time.Hour))))
	}
}

type ours struct {
	ts timers
	x  []timer
}

func newOurs(n int, due func()) starter {
	s := &ours{x: make([]timer, n)}
	s.ts.init(wallClock{})
	w := told(func(uint64) { due() })
	for i := range s.x {
		s.x[i].waiter = w
	}
	return s
}

func (s *ours) start(i int, d time.Duration) { s.ts.start(&s.x[i], d) }
func (s *ours) stop(i int)                   { s.ts.stop(&s.x[i]) }
func (s *ours) close()                       { s.ts.close() }

// binary is the same with package container/heap and no alarm.
type binary struct {
	mu    sync.Mutex
	clock Clock
	base  time.Time
	seq   uint64
	heap  []timerEntry
	x     []timer
}

func newBinary(n int, _ func()) starter {
	s := &binary{clock: wallClock{}, x: make([]timer, n)}
	s.base = s.clock.Now()
	return s
}

func (s *binary) Len() int           { return len(s.heap) }
func (s *binary) Less(i, j int) bool { return s.heap[i].before(s.heap[j]) }

func (s *binary) Swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.heap[i].x.pos, s.heap[j].x.pos = i+1, j+1
}

func (s *binary) Push(x any) {
	s.heap = append(s.heap, timerEntry{x: x.(*timer)})
	x.(*timer).pos = len(s.heap)
}

func (s *binary) Pop() any {
	n := len(s.heap) - 1
	x := s.heap[n].x
	x.pos = 0
	s.heap[n] = timerEntry{}
	s.heap = s.heap[:n]
	return x
}

func (s *binary) start(i int, d time.Duration) {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &s.x[i]
	s.seq++
	x.seq = s.seq
	when := int64(now.Sub(s.base) + d)
	if x.pos == 0 {
		s.Push(x)
		s.heap[x.pos-1].when = when
		heap.Fix(s, x.pos-1)
	} else {
		s.heap[x.pos-1].when = when
		heap.Fix(s, x.pos-1)
	}
}

func (s *binary) stop(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := &s.x[i]; x.pos > 0 {
		heap.Remove(s, x.pos-1)
	}
}

func (s *binary) close() {}

type afterFuncs struct {
	due func()
	t   []*time.Timer
}

func newAfterFuncs(n int, due func()) starter { return &afterFuncs{due, make([]*time.Timer, n)} }

func (s *afterFuncs) start(i int, d time.Duration) {
	if s.t[i] != nil {
		s.t[i].Stop()
	}
	s.t[i] = time.AfterFunc(d, s.due)
}

func (s *afterFuncs) stop(i int) { s.t[i].Stop() }

func (s *afterFuncs) close() {
	for _, t := range s.t {
		if t != nil {
			t.Stop()
		}
	}
}

type resets struct{ afterFuncs }

func newResets(n int, due func()) starter { return &resets{afterFuncs{due, make([]*time.Timer, n)}} }

func (s *resets) start(i int, d time.Duration) {
	if s.t[i] == nil {
		s.t[i] = time.AfterFunc(d, s.due)
	} else {
		s.t[i].Reset(d)
	}
}
