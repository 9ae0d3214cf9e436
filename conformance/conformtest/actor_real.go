package conformtest

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/conformance"
)

// Clauses that need the real world: handlers that block in ways that a bubble
// cannot see or that take real time, processors that burn, and a flood on all of
// them.

// blocker is a way for a handler to block until it is let go.
type blocker struct {
	name    string
	block   func()
	release func()
}

// blockers returns ways to block for n handlers at a time: in Go's scheduler,
// with a timer, and in the operating system, where a thread blocks as well.
func blockers(n int) ([]blocker, error) {
	wait := make(chan struct{})
	var lock sync.Mutex
	lock.Lock()
	var awake atomic.Bool
	r, w, err := blockingPipe()
	if err != nil {
		return nil, err
	}
	return []blocker{
		{"a channel", func() { <-wait }, func() { close(wait) }},
		{"a mutex", func() {
			lock.Lock()
			defer lock.Unlock()
		}, lock.Unlock},
		{"sleep", func() {
			for !awake.Load() {
				time.Sleep(2 * time.Millisecond)
			}
		}, func() { awake.Store(true) }},
		{"a system call", func() { _, _ = io.ReadFull(r, make([]byte, 1)) }, func() {
			_, _ = w.Write(make([]byte, n))
		}},
	}, nil
}

// checkBlockedForReal has more handlers block than there can be workers to begin
// with, and demands that others have turns all the while.
func checkBlockedForReal(_ *testing.T, s *suite) outcome {
	return s.blockedForReal("actor/blocked-for-real", "handlers", s.blockForReal)
}

// blockedForReal has more of them block than there can be workers to begin with, in every
// way; block returns how long others took at most meanwhile.
func (s *suite) blockedForReal(clause, them string, block func(e *conformance.Env, how blocker, n int) (time.Duration, error)) outcome {
	return s.noting(s.limit, func(e *conformance.Env) (notes []string, err error) {
		n := 4*runtime.GOMAXPROCS(0) + 2
		all, err := blockers(n)
		if err != nil {
			return nil, err
		}
		for _, how := range all {
			worst, err := block(e, how, n)
			if err != nil {
				return notes, fmt.Errorf("while %d %s blocked in %s: %w", n, them, how.name, err)
			}
			notes = append(notes, fmt.Sprintf("conform-metric: clause=%s how=%q %s=%d value=%d unit=us", clause, how.name, them, n, worst.Microseconds()))
		}
		return notes, nil
	})
}

// blockForReal returns how long an actor took at most to answer while others
// blocked. It returns when all is over, and fails if that does not come.
func (s *suite) blockForReal(e *conformance.Env, how blocker, n int) (worst time.Duration, err error) {
	h := s.hosted(e, actor.Config{})
	var refs []actor.Ref
	for range n + 1 {
		refs = append(refs, h.Spawn(actortest.Scripted()))
	}
	last := refs[n]
	var blocked, over atomic.Int32
	// One after the other, from outside and from a turn in which the sender
	// then blocks itself, so that what it has sent waits on its worker.
	for i, r := range refs[:n] {
		heard := make(chan struct{})
		begun := time.Now()
		if err := r.Tell(func(ctx *actor.Context) {
			blocked.Add(1) // before anybody hears of it
			_ = ctx.Tell(last, func(*actor.Context) { close(heard) })
			how.block()
			over.Add(1)
		}); err != nil {
			return 0, err
		}
		<-heard
		e.Met()
		if i > 0 { // the first time pays for the workers' goroutines
			worst = max(worst, time.Since(begun))
		}
	}
	answers := make(chan struct{})
	for range 100 {
		if err := last.Tell(func(*actor.Context) { answers <- struct{}{} }); err != nil {
			return 0, err
		}
		<-answers
		e.Met()
	}
	if b, o := blocked.Load(), over.Load(); b != int32(n) || o != 0 {
		return 0, fmt.Errorf("%d handlers have begun and %d are over, want %d and 0", b, o, n)
	}
	how.release()
	h.Wait("all to be over", func() bool { return over.Load() == int32(n) })
	return worst, h.Shutdown(nil) //nolint:staticcheck // nil means Background
}

// checkOverlapForReal is actor/overlap-together in ways that a bubble has no time for, or cannot see.
func checkOverlapForReal(_ *testing.T, s *suite) outcome {
	r, w, err := blockingPipe()
	if err != nil {
		return outcome{err: err}
	}
	// A dispatcher that does not keep the clause is left with bodies that nothing releases: what
	// computes would do so beside the tests that follow.
	var ended atomic.Bool
	defer ended.Store(true)
	return s.outside(s.limit, conformance.Overlaps([]conformance.Way{
		{Name: "computes", New: func(*conformance.Env, int) (wait, release func()) {
			var done atomic.Bool
			return func() {
				for !done.Load() && !ended.Load() {
				}
			}, func() { done.Store(true) }
		}},
		{Name: "sits in a system call", New: func(_ *conformance.Env, n int) (wait, release func()) {
			return func() { _, _ = io.ReadFull(r, make([]byte, 1)) }, func() { _, _ = w.Write(make([]byte, n)) }
		}},
	}, 1))
}

// burnShare is the part of one processor that a system in which all wait may
// burn, one in so many: one that spins burns all of it, and those that park,
// with what else the process has to do, less than a hundredth. One that polls
// with a timer is found only where timers are quick: about a twentieth where one
// takes 50 µs, nothing to speak of where it takes a millisecond.
const burnShare = 40

// burnStretch is how long a process is watched, several times, and burnLimit what
// it may burn in that time.
const (
	burnStretch = 30 * time.Millisecond
	burnLimit   = burnStretch / burnShare
)

// leastBurnt returns the processor time of a process in which no goroutine can go on, and
// a note of it for the clause: the least of several stretches, since what else
// there is in the process, such as a collection, comes and goes.
func leastBurnt(e *conformance.Env, clause string) (least time.Duration, note string) {
	// Memory that earlier clauses have used is given back now: the runtime would do
	// so meanwhile, and may take a hundredth of every GOMAXPROCS for it.
	debug.FreeOSMemory()
	for i := range 8 {
		e.Settle()
		before := processorTime()
		time.Sleep(burnStretch)
		if burnt := processorTime() - before; i == 0 || burnt < least {
			least = burnt
		}
	}
	return least, fmt.Sprintf("conform-metric: clause=%s value=%d unit=us/s", clause, least*time.Second/burnStretch/time.Microsecond)
}

// burning is the error of a process that has burnt too much.
func burning(least time.Duration) error {
	return fmt.Errorf("in %v in which no goroutine could go on the process burnt at least %v of processor time, want at most %v", burnStretch, least, burnLimit)
}

// checkWaitsAreIdle measures the processor time of a process in which senders
// wait for room, a handler blocks, and workers have nothing to do.
func checkWaitsAreIdle(_ *testing.T, s *suite) outcome {
	if !canTellBurnt {
		return outcome{skip: "needs a system that tells the processor time of a process"}
	}
	return s.noting(s.limit, func(e *conformance.Env) (notes []string, err error) {
		h := s.hosted(e, actor.Config{})
		full := h.Spawn(actor.Props{New: actortest.Scripted().New, Mailbox: actor.MailboxConfig{Policy: actor.Block, Capacity: 1}})
		inside, goOn := make(chan struct{}), make(chan struct{})
		if err := full.Tell(func(*actor.Context) {
			close(inside)
			<-goOn
		}); err != nil {
			return nil, err
		}
		<-inside
		const senders = 4
		sent := make(chan error, senders)
		for range senders + 1 { // one has room
			go func() { sent <- full.Tell(func(*actor.Context) {}) }()
		}
		if err := <-sent; err != nil {
			return nil, err
		}
		least, note := leastBurnt(e, "actor/waits-are-idle")
		notes = append(notes, note)
		close(goOn)
		for range senders {
			if err := <-sent; err != nil {
				return nil, err
			}
		}
		if least > burnLimit {
			return notes, burning(least)
		}
		return notes, h.Shutdown(nil) //nolint:staticcheck // nil means Background
	})
}

// checkFloodOfAMillion has producers flood an actor, with all processors, while
// another one is told something now and then. It demands that nothing is lost
// and reports how long the quiet one's messages took; the bound in turns is what
// actor/flood is about.
func checkFloodOfAMillion(_ *testing.T, s *suite) outcome {
	return s.noting(s.limit, func(e *conformance.Env) ([]string, error) {
		h := s.hosted(e, actor.Config{})
		count := 0 // the flooded actor's
		answers := make(chan struct{}, 1)
		flooded := h.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
			if msg != nil {
				return actortest.CarryOut(ctx, msg)
			}
			count++
			return nil
		}))
		quiet := h.Spawn(actortest.Func(func(*actor.Context, any) error {
			answers <- struct{}{}
			return nil
		}))
		n := s.set.flood
		var producers sync.WaitGroup
		const parts = 2
		for range parts {
			producers.Go(func() {
				for range n / parts {
					_ = flooded.Tell(nil)
				}
			})
		}
		flooding := make(chan struct{})
		go func() {
			producers.Wait()
			close(flooding)
		}()
		var took []time.Duration
		for over := false; !over; {
			begun := time.Now()
			if err := quiet.Tell(0); err != nil {
				return nil, err
			}
			h.Drive()
			<-answers
			took = append(took, time.Since(begun))
			select {
			case <-flooding:
				over = flooded.Backlog() == 0
			default:
			}
			runtime.Gosched()
		}
		handled := 0
		h.In(flooded, func(*actor.Context) { handled = count })
		if handled != n/parts*parts {
			return nil, fmt.Errorf("%d messages of a flood of %d were handled", handled, n)
		}
		slices.Sort(took)
		notes := []string{fmt.Sprintf("conform-metric: clause=actor/flood-of-a-million messages=%d quiet=%d p50-us=%d p99-us=%d max-us=%d", n, len(took),
			took[len(took)/2].Microseconds(), took[len(took)*99/100].Microseconds(), took[len(took)-1].Microseconds())}
		return notes, h.Shutdown(nil) //nolint:staticcheck // nil means Background
	})
}

// checkFloodsInTurn floods some actors, and when those have handled everything some others. While
// the others' messages wait the earlier ones get some more: memory of which two have kept a part
// has them in each other's place. They get some twice, since a mailbox may have two parts,
// and each sends to itself as much as it gets, so that its flood lies in the other part at the end.
// An actor that is given memory from somewhere may get only what was left on its own processor,
// or by more than one there, so there are several, and some turns.
func checkFloodsInTurn(t *testing.T, s *suite) outcome {
	err := s.try(t, func(e *conformance.Env) error {
		const turns, flood, more = 8, 1100, 10 // a flood is more than any mailbox keeps memory for
		priority := actor.MailboxConfig{Priority: func(any) int { return 0 }}
		for _, cfg := range []actor.MailboxConfig{{}, priority} {
			h := s.hosted(e, actor.Config{})
			crowds := [2]*crowd{newCrowd(h, cfg, "even"), newCrowd(h, cfg, "odd")}
			for turn := range turns {
				flooded, earlier := crowds[turn%2], crowds[1-turn%2]
				flooded.suspend()
				flooded.send(flood)
				for range 2 {
					earlier.send(more)
					earlier.wait()
					e.Settle() // so that they go idle
				}
				flooded.resume()
				flooded.wait()
				e.Settle()
				if err := errors.Join(flooded.err(), earlier.err()); err != nil {
					return err
				}
			}
			if err := h.Shutdown(nil); err != nil { //nolint:staticcheck // nil means Background
				return err
			}
		}
		return nil
	}, s.set.seed)
	return outcome{err: err, seed: s.set.seed}
}

// crowd is some actors that get numbered messages, each its own and in their order, and send
// one more to themselves with each.
type crowd struct {
	host   *actortest.System
	name   string
	actors [4]actor.Ref
	sent   [4]int
	heard  [4]atomic.Int64
	wrong  atomic.Pointer[string] // what the first one said that got another message than the next
}

// numbered is a message to an actor of a crowd.
type numbered struct {
	crowd         string
	actor, number int
}

func newCrowd(h *actortest.System, cfg actor.MailboxConfig, name string) *crowd {
	c := &crowd{host: h, name: name}
	type again struct{} // what an actor sends to itself
	for i := range c.actors {
		c.actors[i] = h.Spawn(actor.Props{Mailbox: cfg, New: actortest.Func(func(ctx *actor.Context, msg any) error {
			if msg == (again{}) {
				return nil
			}
			if next := (numbered{name, i, int(c.heard[i].Load())}); msg != next {
				said := fmt.Sprintf("an actor got %+v where %+v is next", msg, next)
				c.wrong.CompareAndSwap(nil, &said)
			}
			_ = ctx.Self().Tell(again{})
			c.heard[i].Add(1)
			return nil
		}).New})
	}
	return c
}

// send sends n messages to each of them.
func (c *crowd) send(n int) {
	for i, a := range c.actors {
		for range n {
			_ = a.Tell(numbered{c.name, i, c.sent[i]})
			c.sent[i]++
		}
	}
}

// wait waits until each has handled what it was sent, or one has got something else.
func (c *crowd) wait() {
	for i := range c.actors {
		c.host.Wait("a flood to be handled", func() bool { return c.heard[i].Load() >= int64(c.sent[i]) || c.wrong.Load() != nil })
	}
}

func (c *crowd) suspend() {
	before := c.host.Stats().Suspends
	for _, a := range c.actors {
		c.host.Suspend(a, actor.Suspension{})
	}
	c.host.Wait("the suspensions", func() bool { return c.host.Stats().Suspends >= before+uint64(len(c.actors)) })
}

func (c *crowd) resume() {
	for _, a := range c.actors {
		c.host.Resume(a)
	}
}

func (c *crowd) err() error {
	if said := c.wrong.Load(); said != nil {
		return errors.New(*said)
	}
	return nil
}
