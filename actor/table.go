package actor

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

// table finds an actor by its PID. It is an array of slots in segments that
// double in size and never move, so that a look-up takes no lock. A slot is
// used again after its actor stopped; its generation tells the users apart.
type table struct {
	segments [27]atomic.Pointer[[]slot] // segment k has firstSegment<<k slots

	mu      sync.Mutex // guards what follows, and free and gen of all slots
	used    uint32     // slots ever used
	free    uint32     // index+1 of the last slot given back, 0 if there is none
	live    int
	spawned uint64
}

// firstSegment is the size of the first segment: enough for a small system,
// and 512 bytes on a board.
const firstSegment = 32

type slot struct {
	cell atomic.Pointer[Cell] // nil if the slot is free
	gen  uint32               // of the present or, if there is none, the next user
	free uint32               // index+1 of the slot given back before this one
}

// at returns the slot with the given index, which must have been used.
func (t *table) at(i uint32) *slot {
	k := bits.Len32(i/firstSegment+1) - 1
	seg := t.segments[k].Load()
	return &(*seg)[i-(firstSegment<<k-firstSegment)]
}

// add gives c a PID and makes it visible.
func (t *table) add(c *Cell) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s *slot
	i := t.free
	if i != 0 {
		i--
		s = t.at(i)
		t.free = s.free
	} else {
		i = t.used
		k := bits.Len32(i/firstSegment+1) - 1
		if t.segments[k].Load() == nil {
			seg := make([]slot, firstSegment<<k)
			t.segments[k].Store(&seg)
		}
		t.used++
		s = t.at(i)
	}
	t.live++
	t.spawned++
	c.pid = PID{slot: i + 1, gen: s.gen}
	s.cell.Store(c)
}

// remove takes c out. Its slot gets a new generation, or none when the
// generations are used up.
func (t *table) remove(c *Cell) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := c.pid.slot - 1
	s := t.at(i)
	s.cell.Store(nil)
	t.live--
	if s.gen == math.MaxUint32 {
		return // 16 bytes lost for ever, after four thousand million actors
	}
	s.gen++
	s.free = t.free
	t.free = i + 1
}

// find returns the actor with that PID, or nil.
func (t *table) find(p PID) *Cell {
	if p.slot == 0 || p.slot >= firstSegment<<len(t.segments)-firstSegment {
		return nil
	}
	i := p.slot - 1
	k := bits.Len32(i/firstSegment+1) - 1
	if t.segments[k].Load() == nil {
		return nil
	}
	c := t.at(i).cell.Load()
	if c == nil || c.pid != p {
		return nil
	}
	return c
}

// all returns the actors in the order of their slots.
func (t *table) all() []*Cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	cells := make([]*Cell, 0, t.live)
	for i := range t.used {
		if c := t.at(i).cell.Load(); c != nil {
			cells = append(cells, c)
		}
	}
	return cells
}

// clear lets go of the slots when all actors have stopped: a Ref that a program
// keeps keeps the system.
func (t *table) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k := range t.segments {
		t.segments[k].Store(nil)
	}
	t.used, t.free = 0, 0
}

// count returns how many actors there are and how many there have been.
func (t *table) count() (live int, spawned uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live, t.spawned
}
