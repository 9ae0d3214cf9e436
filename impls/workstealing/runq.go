package workstealing

import (
	"sync/atomic"

	"github.com/dynolab/dyno/internal/invariants"
)

// litter is how many tasks are waited for between two times that those that were
// claimed are looked for in the queue.
const litter = 64

// smallest is the number of places of a queue that has its first job.
const smallest = 8

// The flags of a queue's word.
const (
	// flagForks says that thieves take one job at a time: of tasks that divide a
	// problem the oldest is worth as much as all the others together.
	flagForks = 1 << iota

	// flagUrgent says that a job waits for which another worker is always woken:
	// any but an actor that was made ready in a turn.
	flagUrgent

	// flagLocked keeps thieves out, while the owner exchanges the places or another thief
	// takes what it has claimed out of those before head, which are not the owner's until then.
	flagLocked
)

// runq is a worker's own queue. The owner appends, and takes the oldest job or,
// of forks, the newest; thieves take the oldest. It is that of tokio's scheduler
// (runtime/scheduler/multi_thread/queue.rs) with the owner's end of Chase and
// Lev's deque (SPAA 2005) added.
//
// All that owner and thieves agree on is one word, changed by compare-and-swap
// alone, and no goroutine reads a place before a swap has made it theirs. So there is
// nothing to read twice, and a word that comes back (ABA) does no harm: equal words
// mean the same jobs for the taking. A job is four words of plain memory.
type runq struct {
	// word packs flags, head and tail, see span. The jobs from head to tail wait. A thief
	// raises head and sets flagLocked to claim, reads, and clears the flag, which hands the
	// places back to the owner. Raising tail hands what is in the places from the owner to
	// who takes it. (With 64 bits each look at it takes a processor of 32 bits a call, or it
	// has to disable interrupts.)
	word  atomic.Uint32
	slots atomic.Pointer[places] // replaced by the owner, under flagLocked

	// Of the owner.
	own   places  // what slots points to
	forks int     // how many of the newest jobs were forks, at least
	last  *future // the newest of them, or nil: not known
	drops uint32  // how often drop was called
	floor uint32  // a thief may still read places from here on, up to head
	limit int     // the most jobs
	fits  int     // how many of them the places there are may hold

	busy atomic.Bool // the owner is in a method; only in builds that check
}

// enter and leave find out that two goroutines own the queue, which destroys
// it: one of them uses the context of a task that is in progress on the other. leave is
// not deferred: with TinyGo that costs 50 instructions a call, though nothing is checked.
func (q *runq) enter() {
	if invariants.Enabled && q.busy.Swap(true) {
		invariants.Violated("workstealing", "a task's context is used by the task's own goroutine only")
	}
}

func (q *runq) leave() {
	if invariants.Enabled {
		q.busy.Store(false)
	}
}

// places is a power of two of places for jobs, at most maxQueue.
type places []job

func (p places) at(i uint32) *job { return &p[int(i)&(len(p)-1)] }

// The parts of a queue's word.
const (
	indexBits = 14
	indices   = 1<<indexBits - 1
	flagBits  = 32 - 2*indexBits

	// maxQueue is the most jobs of a queue, in a power of two of places. As many as there are
	// indices would look like none.
	maxQueue = 1 << (indexBits - 1)
)

// span is a queue's word, unpacked. Indices count modulo 1 << indexBits.
type span struct{ flags, head, tail uint32 }

func unpack(v uint32) span {
	return span{v & (1<<flagBits - 1), v >> flagBits & indices, v >> (flagBits + indexBits)}
}

func (s span) pack() uint32 {
	return s.flags | s.head&indices<<flagBits | s.tail<<(flagBits+indexBits)
}

func (s span) len() int { return int((s.tail - s.head) & indices) }

// len returns how many jobs wait.
func (q *runq) len() int { return unpack(q.word.Load()).len() }

// spare returns for how many jobs more there are places, behind those of s, which is q's word.
// Owner only.
func (q *runq) spare(s span) int {
	if s.flags&flagLocked == 0 {
		q.floor = s.head
	}
	return q.fits - int((s.tail-q.floor)&indices)
}

// room returns the places with room for n more jobs from index tail on, or nil
// if the queue must not become so long. Owner only.
func (q *runq) room(n int) (slots places, tail uint32) {
	for {
		v := q.word.Load()
		s := unpack(v)
		slots = q.own
		if q.spare(s) >= n {
			return slots, s.tail
		}
		if s.len()+n > q.limit || s.flags&flagLocked != 0 {
			return nil, 0 // too long, or a thief is at it: then it is full for now
		}
		grown := s
		grown.flags |= flagLocked
		if !q.word.CompareAndSwap(v, grown.pack()) {
			continue // a thief came first
		}
		invariants.Window()
		// No thief comes now, and so no other goroutine uses the places.
		size := max(smallest, 2*len(slots))
		for size < s.len()+n {
			size *= 2
		}
		bigger := make(places, size)
		for i := range uint32(s.len()) {
			*bigger.at(s.head + i) = *slots.at(s.head + i)
		}
		q.own, q.fits = bigger, min(size, q.limit)
		q.slots.Store(&bigger)
		q.word.Store(s.pack()) // hands the new places to thieves
	}
}

// publish makes n jobs, which the owner has put into the places behind tail,
// visible.
func (q *runq) publish(n int, flags uint32) {
	for {
		v := q.word.Load()
		s := unpack(v)
		if s.head == s.tail {
			s.flags &= flagLocked
			q.forget()
		}
		s.flags |= flags
		s.tail += uint32(n)
		if q.word.CompareAndSwap(v, s.pack()) {
			break
		}
	}
	if flags&flagForks != 0 {
		q.forks += n
	} else {
		q.forget()
	}
}

// forget books that the newest job is no fork. One that a thief has taken must not
// live on in last.
func (q *runq) forget() { q.forks, q.last = 0, nil }

// push appends j and reports whether there was room. Owner only.
func (q *runq) push(j job, flags uint32) bool {
	q.enter()
	v := q.word.Load()
	s := unpack(v)
	if s.head != s.tail && q.spare(s) > 0 { // as a rule: what room and publish would do
		*q.own.at(s.tail) = j
		s.flags |= flags
		s.tail++
		if q.word.CompareAndSwap(v, s.pack()) {
			if q.forks++; flags&flagForks == 0 {
				q.forget()
			}
			q.leave()
			return true
		}
	}
	pushed := q.pushSlow(j, flags)
	q.leave()
	return pushed
}

// pushSlow is push for an empty queue, and for one that is to grow.
func (q *runq) pushSlow(j job, flags uint32) bool {
	slots, tail := q.room(1)
	if slots == nil {
		return false
	}
	*slots.at(tail) = j
	q.publish(1, flags)
	return true
}

// pop takes the newest job if it is a fork, else the oldest, or none. Owner only.
func (q *runq) pop() job { return q.take(q.forks > 0) }

// newest takes the newest job, or none. Owner only.
func (q *runq) newest() job { return q.take(true) }

// oldest takes the oldest job, or none. Owner only.
func (q *runq) oldest() job { return q.take(false) }

func (q *runq) take(newest bool) (j job) {
	q.enter()
	for {
		v := q.word.Load()
		s := unpack(v)
		if s.head == s.tail {
			q.forget()
			break
		}
		i := s.head
		if newest {
			s.tail--
			i = s.tail
		} else {
			s.head++
		}
		if q.word.CompareAndSwap(v, s.pack()) {
			if newest {
				q.forks--
				q.last = nil
			}
			j = q.clear(i)
			break
		}
	}
	q.leave()
	return j
}

// clear takes the job out of place i, which is the owner's: what it holds must not
// live on there.
func (q *runq) clear(i uint32) job {
	place := q.own.at(i)
	j := *place
	*place = job{}
	return j
}

// steal moves half of the queue, the larger one if it is odd, to the queue of the
// caller, who owns it, and returns the oldest; of forks it takes one, and for a caller
// who has jobs. One that is extra takes one too, and no fork.
func (q *runq) steal(to *runq, extra bool) job {
	var s span
	var room places
	var tail uint32
	n := 0
	for {
		v := q.word.Load()
		s = unpack(v)
		if n = s.len(); n == 0 || s.flags&flagLocked != 0 || extra && s.flags&flagForks != 0 {
			return job{}
		}
		if n -= n / 2; s.flags&flagForks != 0 || extra || to.len() > 0 {
			n = 1
		}
		for n > 1 {
			if room, tail = to.room(n - 1); room != nil {
				break
			}
			n = (n + 1) / 2
		}
		invariants.Window()
		claimed := s
		claimed.flags |= flagLocked
		claimed.head += uint32(n)
		if q.word.CompareAndSwap(v, claimed.pack()) {
			break
		}
	}
	slots := *q.slots.Load() // no goroutine replaces them under flagLocked
	first := *slots.at(s.head)
	*slots.at(s.head) = job{}
	for i := range uint32(n - 1) {
		from := slots.at(s.head + 1 + i)
		*room.at(tail + i) = *from
		*from = job{}
	}
	q.word.Add(^uint32(flagLocked - 1)) // hands the places back, and those of jobs the owner has taken meanwhile
	if n > 1 {
		to.publish(n-1, s.flags&flagUrgent)
	}
	return first
}

// drop takes f, which was claimed, out of the queue if it is the newest, as it is as a
// rule when what is divided is joined. Elsewhere it stays until its turn comes; now and
// then those at the new end are dropped, so that they do not gather where each task
// waits for the older one of two. Owner only.
func (q *runq) drop(f *future) {
	q.drops++
	thorough := q.drops%litter == 0
	if q.forks == 0 || !thorough && q.last != nil && q.last != f {
		return
	}
	for {
		j := q.newest()
		if j.none() {
			return
		}
		newest, isFuture := j.r.(*future)
		if !isFuture || newest.waits() {
			q.restore(j)
			return
		}
		if q.forks == 0 || !thorough && newest == f {
			return
		}
	}
}

// restore puts j back, which newest has taken and which was a fork.
func (q *runq) restore(j job) {
	q.push(j, flagForks|flagUrgent) // there is room: this was its place
	q.last, _ = j.r.(*future)
}

// withdraw takes f out of the queue if it is the newest, and reports whether it did. Owner only.
func (q *runq) withdraw(f *future) bool {
	if q.forks == 0 || q.last != nil && q.last != f {
		return false
	}
	j := q.newest()
	if j.r == runnable(f) {
		return true
	}
	if !j.none() {
		q.restore(j)
	}
	return false
}
