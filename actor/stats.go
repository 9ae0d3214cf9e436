package actor

import (
	"strconv"
	"sync/atomic"
	"time"
)

// Stats is what a system has counted. Counters that workers keep are published
// when a worker goes idle and at least every few hundred turns, so in a running
// system they are a little behind, and in an idle or stopped one exact.
type Stats struct {
	Messages uint64 // calls of Receive: those with a timer's message, a Terminated or an unstashed message included
	Turns    uint64 // turns: visits of a worker to an actor
	Steals   uint64 // actors that a worker took from another worker
	Parks    uint64 // times a worker went to sleep for lack of work
	Wakes    uint64 // times a sleeping worker was woken, or one started
	Workers  int    // workers there are now, parked or not

	Actors      int    // actors that have not stopped, with the three guardians
	Spawned     uint64 // actors ever spawned, with the three guardians
	DeadLetters uint64 // messages accepted and not handled, those dropped included
	Dropped     uint64 // messages dropped by DropOldest
	Returned    uint64 // messages given back with a *SendError
	Failures    uint64 // errors and panics of actors
	Failed      uint64 // those of them in which Receive was handling a message that was sent

	Restarts    uint64        // new values made for actors that failed, or whose sibling did
	Suspends    uint64        // suspensions that were asked for
	Resumes     uint64        // those that have ended otherwise than by a restart or a stop
	ResumeTotal time.Duration // from being asked to resume until the actor went on: the sum
	ResumeMax   time.Duration // and the longest
}

// counter counts what any number of goroutines do. It hands over nothing but the number.
type counter struct{ n atomic.Uint64 }

func (c *counter) add(n uint64) { c.n.Add(n) }

func (c *counter) load() uint64 { return c.n.Load() }

// Tally is the count of one worker: plain counters that only the worker
// writes, and what of them has been published. Writing an atomic costs 5 ns,
// and a hop between two actors should cost 40 in all.
type Tally struct {
	Turns, Messages, Steals, Parks, Wakes uint64 // the owner's

	published [5]atomic.Uint64
}

// Publish makes the counters visible to others. Only the owner calls it. It
// writes only those that have changed: to see that costs next to nothing. For the turns it
// writes how many messages more there were, since that changes rarely where each turn
// handles one.
//
//go:noinline
func (t *Tally) Publish() {
	t.publish(0, t.Messages-t.Turns)
	t.publish(1, t.Messages)
	t.publish(2, t.Steals)
	t.publish(3, t.Parks)
	t.publish(4, t.Wakes)
}

func (t *Tally) publish(i int, v uint64) {
	if p := &t.published[i]; p.Load() != v {
		p.Store(v)
	}
}

// AddTo adds the published counters to s. Any goroutine may call it.
func (t *Tally) AddTo(s *Stats) {
	messages := t.published[1].Load()
	s.Messages += messages
	s.Turns += messages - t.published[0].Load()
	s.Steals += t.published[2].Load()
	s.Parks += t.published[3].Load()
	s.Wakes += t.published[4].Load()
}

// publishEvery is how many turns a busy worker goes without publishing, a power
// of two: five atomic stores in so many turns cost a turn a tenth of a
// nanosecond.
const publishEvery = 256

// turn counts a turn in which n messages were handled.
func (t *Tally) turn(n int32) {
	t.Turns++
	t.Messages += uint64(n)
	if t.Turns%publishEvery == 0 {
		t.Publish()
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
