package serial

import (
	"math/rand/v2"
	"strconv"
)

// Order is how the next one of those that are ready is chosen.
type Order int

const (
	// FIFO takes the one that has been ready longest.
	FIFO Order = iota

	// Seeded takes any, each with the same probability: a random walk.
	Seeded

	// PCT gives each a random priority, when it is started, and takes the one
	// with the highest, but for Schedule.Depth-1 steps, chosen at random among the
	// first Schedule.Steps: before such a step the one that would be next falls
	// behind all others. This finds a bug that needs d events in the right order,
	// in a program of n tasks and k steps, with a probability of at least
	// 1/(n·k^(d-1)) a seed, where a random walk may need exponentially many.
	// (S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte: A Randomized
	// Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010.)
	//
	// After Schedule.Steps steps nothing is left of that guarantee, and the order
	// is that of Seeded: so a task that yields until another one has done its part
	// comes to an end some time, whatever its priority.
	PCT

	// Replay follows Schedule.Choices.
	Replay
)

// Schedule says in which order tasks and actors have their turn. It is one
// language for groups, executors and dispatchers; each follows its own copy. The
// zero value is FIFO.
//
// With every order but FIFO what runs is interrupted wherever others could
// notice: an actor handles one message a turn, and a task of an executor can be
// interrupted when it starts another one, in addition to where it yields and
// waits. One schedule is one interleaving, every time and on every machine, of a
// program that does the same if it is interleaved in the same way: it must not
// ask the clock, range over maps, or use goroutines of its own.
type Schedule struct {
	Order Order

	// Seed is for Seeded and PCT. 0 is a seed like any other.
	Seed uint64

	// Depth is for PCT: how many events must be in the right order for the bug that
	// is looked for. 0 means 3, which few bugs exceed. With 1 only the order of
	// the priorities is random.
	Depth int

	// Steps is for PCT: how many steps the program is expected to take, as counted
	// by Record. 0 means 100, the size of a small test. More than there are makes
	// bugs rarer, and with fewer what happens later is only found by luck.
	Steps int

	// Choices is for Replay: the indexes that Record has been told in another run.
	// They may be edited: where the list is over, and where it names one that is
	// not there, the index is 0.
	Choices []int

	// Record, if it is not nil, is told every choice before it is made, also when
	// only one is ready. It is called with locks held, by one goroutine at a time,
	// and must not call what it is told about.
	Record func(Choice)
}

// Choice is what was decided at one step: who has the next turn.
type Choice struct {
	Step  int    // counted from 0
	Ready int    // how many could have been chosen
	Index int    // which one was: 0 is the one whose turn it is with FIFO
	Who   string // "task 3" or "actor 3", counted from 1 in the order of starting or spawning
}

// String returns c as one line of a trace, such as "12 3 1 task 7".
func (c Choice) String() string {
	return strconv.Itoa(c.Step) + " " + strconv.Itoa(c.Ready) + " " + strconv.Itoa(c.Index) + " " + c.Who
}

// line is what a scheduler chooses from: those that are ready, in the order in
// which they have their turn with FIFO. There is at least one.
type line interface {
	len() int
	// numbers passes the number of each.
	numbers(each func(i int, number uint64))
	// who names the i-th one.
	who(i int) string
}

// named is the name of what has that number.
func named(kind string, number uint64) string { return kind + " " + strconv.FormatUint(number, 10) }

// scheduler makes the choices of one schedule, for one group, dispatcher or
// executor, whose mutex guards it.
type scheduler struct {
	Schedule
	rng     *rand.Rand // for Seeded and PCT
	step    int        // choices made so far
	changes []int      // for PCT: before step changes[i] who would be next gets priority i
	fallen  []fall     // for PCT: whom that has hit, in this order
}

// fall is a change of priority.
type fall struct {
	number   uint64
	priority uint64
}

// newScheduler returns nil if s needs no scheduler: first in, first out, and
// not observed.
func newScheduler(s Schedule) *scheduler {
	c := &scheduler{Schedule: s}
	switch s.Order {
	case FIFO:
		if s.Record == nil {
			return nil
		}
	case Seeded:
		c.rng = rand.New(rand.NewPCG(s.Seed, 0))
	case PCT:
		c.rng = rand.New(rand.NewPCG(s.Seed, 0))
		if c.Depth <= 0 {
			c.Depth = 3
		}
		if c.Steps <= 0 {
			c.Steps = 100
		}
		c.changes = make([]int, c.Depth-1)
		for i := range c.changes {
			c.changes[i] = c.rng.IntN(c.Steps)
		}
	case Replay:
	default:
		panic("serial: unknown Schedule.Order " + strconv.Itoa(int(s.Order)))
	}
	return c
}

// fine reports whether what runs is to be interrupted wherever it can be.
func (c *scheduler) fine() bool { return c != nil && c.Order != FIFO }

// choose returns the index of the one in l that is next.
func (c *scheduler) choose(l line) int {
	i, n := 0, l.len()
	switch {
	case c.Order == Seeded || c.Order == PCT && c.step >= c.Steps:
		i = c.rng.IntN(n)
	case c.Order == PCT:
		for p, at := range c.changes {
			if at == c.step {
				_, number := c.highest(l)
				c.fallen = append(c.fallen, fall{number, uint64(p)})
			}
		}
		i, _ = c.highest(l)
	case c.Order == Replay:
		if c.step < len(c.Choices) && uint(c.Choices[c.step]) < uint(n) {
			i = c.Choices[c.step]
		}
	}
	if c.Record != nil {
		c.Record(Choice{Step: c.step, Ready: n, Index: i, Who: l.who(i)})
	}
	c.step++
	return i
}

// highest returns the one in l that has the highest priority.
func (c *scheduler) highest(l line) (index int, number uint64) {
	var top uint64
	l.numbers(func(i int, n uint64) {
		if p := c.priority(n); p >= top {
			index, number, top = i, n, p
		}
	})
	return index, number
}

// priority returns the priority of the one with that number. It is a function of
// the seed and the number, so that no one has to keep it.
func (c *scheduler) priority(number uint64) uint64 {
	for i := len(c.fallen) - 1; i >= 0; i-- {
		if c.fallen[i].number == number {
			return c.fallen[i].priority
		}
	}
	return rand.NewPCG(c.Seed, number).Uint64() | 1<<63 // above those who fell
}
