package conformtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/conformance"
)

// What a long life consists of: things that begin and end, over and over. None of
// them may leave anything behind, as long as system and actors live.

// cycling is a system in which something is repeated. Its clock stands still
// unless it is moved.
type cycling struct {
	*actortest.System
	clock *actor.ManualClock
	count atomic.Int64 // what the actors of the cycle count
}

// cycle is something that begins and ends. prepare makes the actors it needs and
// returns a function that repeats it n times; by its end everything has ended.
type cycle struct {
	name    string
	part    int // of the cycles asked for: one in so many; 0: a million, for S5 says so
	prepare func(c *cycling) (repeat func(n int) error)
}

var cycles = []cycle{
	{"suspend and resume", 0, cycleSuspend},
	{"suspend for a time", 1, cycleSuspendFor},
	{"suspend for room that does not come", 1, cycleSuspendRoom},
	{"ask and answer", 1, func(c *cycling) func(int) error { return cycleAsk(c, true) }},
	{"ask in vain", 1, func(c *cycling) func(int) error { return cycleAsk(c, false) }},
	{"timers started and stopped", 1, cycleTimersStopped},
	{"timers started and due", 1, cycleTimersDue},
	{"restart", 10, cycleRestart},
	{"spawn, restart, stop", 10, cycleSpawnRestart},
	{"watch and unwatch", 10, cycleWatch},
	{"watch until it stops", 10, cycleWatchStop},
	{"stop while watching", 10, cycleStopWatching},
	{"stash and unstash", 1, cycleStash},
	{"subscribe and unsubscribe", 10, cycleSubscribe},
}

// checkCycles repeats each of the cycles in a system of its own.
func checkCycles(_ *testing.T, s *suite) outcome {
	var notes []string
	for _, cy := range cycles {
		n := s.set.million
		if cy.part > 0 {
			n = max(leastCycles, s.set.cycles/cy.part)
		}
		grown, err := s.checkCycle(cy, n)
		if err != nil {
			return outcome{err: fmt.Errorf("%s: %w", cy.name, err), seed: s.set.seed, notes: notes}
		}
		notes = append(notes, fmt.Sprintf("conform-metric: clause=actor/cycles-leak-nothing cycle=%q cycles=%d value=%d unit=B", cy.name, n, grown))
	}
	return outcome{seed: s.set.seed, notes: notes}
}

// checkCycle repeats a cycle n times and returns by how much the heap has grown.
func (s *suite) checkCycle(cy cycle, n int) (grown int64, err error) {
	limit := s.limit + leakRounds*time.Duration(n)*100*time.Microsecond
	return grown, outside(limit, s.env(s.set.seed), func(e *conformance.Env) error {
		c := &cycling{clock: actor.NewManualClock(time.Unix(0, 0))}
		c.System = s.hosted(e, actor.Config{Clock: c.clock})
		c.Wait = c.wait
		repeat := cy.prepare(c)
		for range 2 { // what is made once, or by the second use, is made now
			if err := repeat(min(n, cycleBatch*4)); err != nil {
				return err
			}
			e.Settle()
		}
		// A million cycles that leave a byte each are beyond the bound.
		var err error
		grown, err = leavesNothing(e, int64(320<<10+n/4), cycleSlack, func() error { return repeat(n) })
		if err != nil {
			return fmt.Errorf("after %d cycles: %w", n, err)
		}
		return c.Shutdown(context.Background())
	})
}

const (
	cycleBatch  = 256 // cycles between two waits
	leastCycles = 2 * cycleBatch
	cycleSlack  = 16 // goroutines: workers that an implementation has started meanwhile
)

// batches calls f with the size of each batch of n cycles.
func batches(n int, f func(size int)) {
	for ; n > 0; n -= cycleBatch {
		f(min(n, cycleBatch))
	}
}

// inBatches is a cycle that does not look at more than that it ends.
func inBatches(f func(size int)) func(int) error {
	return func(n int) error {
		batches(n, f)
		return nil
	}
}

// wait is quicker than that of other host clauses: something happens all the time.
func (c *cycling) wait(_ string, cond func() bool) {
	for !cond() {
		if c.Synchronous() {
			c.RunUntilIdle()
		}
		runtime.Gosched()
	}
}

// counts waits until the actors have counted n since the last call.
func (c *cycling) counts(n int) {
	c.Wait("the cycles to end", func() bool { return c.count.Load() >= int64(n) })
	c.count.Add(int64(-n))
}

// counter makes an actor that carries out functions and counts everything else.
func (c *cycling) counter() actor.Props {
	return actortest.Func(func(ctx *actor.Context, msg any) error {
		if msg == 1 {
			c.count.Add(1)
			return nil
		}
		if _, gone := msg.(actor.Terminated); gone {
			c.count.Add(1)
			return nil
		}
		return actortest.CarryOut(ctx, msg)
	})
}

func cycleSuspend(c *cycling) func(int) error {
	r := c.Spawn(c.counter())
	return func(n int) error {
		before := c.Stats()
		batches(n, func(size int) {
			for range size {
				c.Suspend(r, actor.Suspension{Reason: "cycle"})
				c.Send(r, 1)
				c.Resume(r)
			}
			c.counts(size)
		})
		st := c.Stats()
		if a, b := st.Suspends-before.Suspends, st.Resumes-before.Resumes; a != uint64(n) || b != uint64(n) {
			return fmt.Errorf("of %d suspensions %d are counted, and %d ends", n, a, b)
		}
		return nil
	}
}

// many makes a batch of actors.
func (c *cycling) many(p actor.Props) (refs []actor.Ref) {
	for range cycleBatch {
		refs = append(refs, c.Spawn(p))
	}
	return refs
}

// cycleSuspendFor has the clock end suspensions.
func cycleSuspendFor(c *cycling) func(int) error {
	refs := c.many(c.counter())
	return inBatches(func(size int) { c.suspendAll(refs[:size], actor.Suspension{After: time.Second}) })
}

// cycleSuspendRoom has the clock end suspensions that wait for room in a mailbox
// that is full and stays so.
func cycleSuspendRoom(c *cycling) func(int) error {
	refs := c.many(c.counter())
	full := c.full()
	return inBatches(func(size int) { c.suspendAll(refs[:size], actor.Suspension{After: time.Second, Capacity: full}) })
}

// full makes an actor whose mailbox is full and stays so.
func (c *cycling) full() actor.Ref {
	p := c.counter()
	p.Mailbox = actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}
	r := c.Spawn(p)
	c.Suspend(r, actor.Suspension{})
	c.Wait("it to be suspended", func() bool { return c.Stats().Suspends == 1 })
	c.Send(r, 1)
	return r
}

// suspendAll suspends actors, and lets the time pass.
func (c *cycling) suspendAll(refs []actor.Ref, s actor.Suspension) {
	begun, n := c.Stats(), len(refs)
	for _, r := range refs {
		c.Suspend(r, s)
		c.Send(r, 1)
	}
	c.Wait("the cycles to end", func() bool { return c.Stats().Suspends == begun.Suspends+uint64(n) })
	// The last may have been counted, and not have started its timer.
	c.ticks(func() bool { return c.Stats().Resumes == begun.Resumes+uint64(n) })
	c.counts(n)
}

// ticks moves the clock by seconds until cond holds.
func (c *cycling) ticks(cond func() bool) {
	c.Wait("the cycles to end", func() bool {
		c.clock.Advance(time.Second)
		return cond()
	})
}

func cycleAsk(c *cycling, answered bool) func(int) error {
	r := c.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
		c.count.Add(1)
		if answered {
			return ctx.Reply(msg.(actor.ReplyTo), 1)
		}
		return nil
	}))
	return func(n int) (err error) {
		futures := make([]actor.Future, cycleBatch)
		batches(n, func(size int) {
			for i := range size {
				futures[i] = c.Ask(r, time.Second, func(to actor.ReplyTo) any { return to })
				if !answered && i%2 == 0 {
					futures[i].Discard()
				}
			}
			c.counts(size)
			if !answered {
				c.clock.Advance(time.Second)
			}
			for i, f := range futures[:size] {
				want := error(nil)
				switch {
				case !answered && i%2 == 0:
					want = actor.ErrTaken
				case !answered:
					want = actor.ErrTimeout
				}
				if _, got := f.Wait(context.Background()); got != want {
					err = fmt.Errorf("the result of an ask is the error %w, want %w", got, want)
				}
			}
		})
		return err
	}
}

func cycleTimersStopped(c *cycling) func(int) error {
	r := c.Spawn(c.counter())
	return func(n int) error {
		stopped := 0
		c.In(r, func(ctx *actor.Context) {
			for i := range n {
				t := ctx.StartTimer(time.Hour, 1)
				u := ctx.StartPeriodic(time.Hour, 1)
				ctx.SetReceiveTimeout(time.Hour * time.Duration(i%2))
				if t.Stop() && u.Stop() {
					stopped++
				}
			}
			ctx.SetReceiveTimeout(0)
		})
		if stopped != n {
			return fmt.Errorf("of %d timers %d could be stopped before they were due", n, stopped)
		}
		return nil
	}
}

func cycleTimersDue(c *cycling) func(int) error {
	refs := c.many(c.counter())
	return inBatches(func(size int) {
		for _, r := range refs[:size] {
			c.Send(r, func(ctx *actor.Context) {
				ctx.StartTimer(time.Second, 1)
				c.count.Add(1)
			})
		}
		c.counts(size) // after its timer has started
		c.clock.Advance(time.Second)
		c.counts(size)
	})
}

var errCycle = errors.New("a failure of the cycle's")

// cycleFailing is an actor that fails on what it cannot carry out, and counts its restarts.
type cycleFailing struct{ c *cycling }

func (c *cycling) failing() actor.Props {
	return actor.Props{New: func() actor.Actor { return &cycleFailing{c} }}
}

func (a *cycleFailing) Receive(ctx *actor.Context, msg any) error {
	if _, fails := msg.(int); !fails {
		return actortest.CarryOut(ctx, msg)
	}
	ctx.StartTimer(time.Hour, 1)
	ctx.Become(a.Receive)
	return errCycle
}

func (a *cycleFailing) PostRestart(*actor.Context, error) error {
	a.c.count.Add(1)
	return nil
}

func cycleRestart(c *cycling) func(int) error {
	up := c.counter()
	up.Supervisor = &actor.Supervisor{MaxRestarts: -1, Backoff: actor.Backoff{Min: time.Second, Max: time.Second}}
	parent := c.Spawn(up)
	var refs []actor.Ref
	for i := range cycleBatch {
		refs = append(refs, c.SpawnUnder(parent, strconv.Itoa(i), c.failing()))
	}
	return inBatches(func(size int) {
		for _, r := range refs[:size] {
			c.Send(r, 1)
		}
		c.ticks(func() bool { return c.count.Load() >= int64(size) })
		c.counts(size)
	})
}

func cycleSpawnRestart(c *cycling) func(int) error {
	p := c.counter()
	p.Supervisor = &actor.Supervisor{MaxRestarts: 1, Strategy: actor.OneForOne}
	up := c.Spawn(p)
	return inBatches(func(size int) {
		c.In(up, func(ctx *actor.Context) {
			for range size {
				r, _ := ctx.Spawn(c.failing()) // who is not there is not counted
				_ = ctx.Tell(r, 1)             // is restarted
				_ = ctx.Tell(r, 2)             // and stopped, for that was the last restart
			}
		})
		c.counts(size)
		c.Wait("the cycles to end", func() bool { return c.Stats().Actors == 4 })
	})
}

func cycleWatch(c *cycling) func(int) error {
	refs := c.many(c.counter())
	return inBatches(func(size int) {
		c.In(refs[0], func(ctx *actor.Context) {
			for _, r := range refs[:size] {
				ctx.Watch(r)
				ctx.Unwatch(r)
			}
		})
	})
}

// cycleWatchStop has an actor watch others, which stop.
func cycleWatchStop(c *cycling) func(int) error {
	up := c.Spawn(c.counter())
	return inBatches(func(size int) {
		c.In(up, func(ctx *actor.Context) {
			for range size {
				r, _ := ctx.Spawn(c.counter())
				ctx.Watch(r)
				ctx.Stop(r)
			}
		})
		c.counts(size)
	})
}

// cycleStopWatching has actors watch one that goes on, and stop while they wait
// for room in its mailbox.
func cycleStopWatching(c *cycling) func(int) error {
	up := c.Spawn(c.counter())
	r := c.full()
	return inBatches(func(size int) {
		c.In(up, func(ctx *actor.Context) {
			for range size {
				w, _ := ctx.Spawn(c.counter())
				_ = ctx.Tell(w, func(ctx *actor.Context) {
					ctx.Watch(r)
					ctx.Suspend(actor.Suspension{Capacity: r, After: time.Hour})
					ctx.StopSelf()
					c.count.Add(1)
				})
			}
		})
		c.counts(size)
		c.Wait("the cycles to end", func() bool { return c.Stats().Actors == 5 })
	})
}

func cycleStash(c *cycling) func(int) error {
	stashing := true
	r := c.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
		switch {
		case msg != 1:
			stashing = false
			return actortest.CarryOut(ctx, msg)
		case stashing:
			ctx.Stash(msg)
		default:
			c.count.Add(1)
		}
		return nil
	}))
	return inBatches(func(size int) {
		for range size {
			c.Send(r, 1)
		}
		c.In(r, func(ctx *actor.Context) { ctx.UnstashAll() })
		c.counts(size)
		stashing = true // the actor is idle
	})
}

func cycleSubscribe(c *cycling) func(int) error {
	return inBatches(func(size int) {
		for range size {
			s := actor.Subscribe[actor.Failure](c.Events(), 4)
			t := actor.SubscribeFunc(c.Events(), func(actor.DeadLetter) {})
			c.Events().Publish(actor.Failure{})
			s.Unsubscribe()
			t.Unsubscribe()
		}
	})
}
