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
	limit := s.limit + time.Duration(n)*100*time.Microsecond
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
		goroutines, bytes := runtime.NumGoroutine(), heapInUse()
		if err := repeat(n); err != nil {
			return err
		}
		// The constant is for workers that an implementation has started meanwhile. A
		// million cycles that leave a byte each are beyond the bound.
		bound := int64(320<<10 + n/4)
		for range 20 {
			e.Settle()
			if grown = heapInUse() - bytes; grown <= bound {
				break
			}
		}
		if grown > bound {
			return fmt.Errorf("the heap grew by %d KiB in %d cycles, %.1f bytes each", grown>>10, n, float64(grown)/float64(n))
		}
		more := 0
		for range 200 {
			if more = runtime.NumGoroutine() - goroutines; more <= cycleSlack {
				break
			}
			e.Settle()
		}
		if more > cycleSlack {
			return fmt.Errorf("%d goroutines more after %d cycles:\n%s", more, n, head(allStacks(), 4<<10))
		}
		return c.Shutdown(context.Background())
	})
}

const (
	cycleBatch  = 256 // cycles between two waits
	leastCycles = 2 * cycleBatch
	cycleSlack  = 16 // goroutines: workers that an implementation has started meanwhile
)

// batches calls f for every i below n, and after a batch of them wait, which is
// told how many calls there were in all.
func batches(n int, f func(i int) error, wait func(done int)) error {
	for i := range n {
		if err := f(i); err != nil {
			return err
		}
		if (i+1)%cycleBatch == 0 || i == n-1 {
			wait(i + 1)
		}
	}
	return nil
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
		waited := 0
		err := batches(n, func(int) error {
			c.Suspend(r, actor.Suspension{Reason: "cycle"})
			err := r.Tell(1)
			c.Resume(r)
			return err
		}, func(done int) {
			c.counts(done - waited)
			waited = done
		})
		st := c.Stats()
		if a, b := st.Suspends-before.Suspends, st.Resumes-before.Resumes; err == nil && (a != uint64(n) || b != uint64(n)) {
			return fmt.Errorf("of %d suspensions %d are counted, and %d ends", n, a, b)
		}
		return err
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
	return func(n int) error {
		return c.suspendAll(refs, n, actor.Suspension{After: time.Second})
	}
}

// cycleSuspendRoom has the clock end suspensions that wait for room in a mailbox
// that is full and stays so.
func cycleSuspendRoom(c *cycling) func(int) error {
	refs := c.many(c.counter())
	full := c.full()
	return func(n int) error {
		return c.suspendAll(refs, n, actor.Suspension{After: time.Second, Capacity: full})
	}
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

// suspendAll suspends actors n times in all, and lets the time pass.
func (c *cycling) suspendAll(refs []actor.Ref, n int, s actor.Suspension) error {
	begun := c.Stats()
	waited := 0
	return batches(n, func(i int) error {
		r := refs[i%len(refs)]
		c.Suspend(r, s)
		return r.Tell(1)
	}, func(done int) {
		c.Wait("the cycles to end", func() bool { return c.Stats().Suspends == begun.Suspends+uint64(done) })
		c.Wait("the cycles to end", func() bool { // the last may have been counted, and not have started its timer
			c.clock.Advance(time.Second)
			return c.Stats().Resumes == begun.Resumes+uint64(done)
		})
		c.counts(done - waited)
		waited = done
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
	return func(n int) error {
		futures := make([]actor.Future, 0, cycleBatch)
		waited := 0
		var wrong error
		err := batches(n, func(i int) error {
			futures = append(futures, c.Ask(r, time.Second, func(to actor.ReplyTo) any { return to }))
			if !answered && i%2 == 0 {
				futures[len(futures)-1].Discard()
			}
			return nil
		}, func(done int) {
			c.counts(done - waited)
			waited = done
			if !answered {
				c.clock.Advance(time.Second)
			}
			for i, f := range futures {
				want := error(nil)
				switch {
				case !answered && i%2 == 0:
					want = actor.ErrTaken
				case !answered:
					want = actor.ErrTimeout
				}
				if _, err := f.Wait(context.Background()); err != want {
					wrong = fmt.Errorf("the result of an ask is the error %w, want %w", err, want)
				}
			}
			futures = futures[:0]
		})
		return errors.Join(err, wrong)
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
	return func(n int) error {
		for left := n; left > 0; left -= cycleBatch {
			for _, r := range refs[:min(left, cycleBatch)] {
				if err := r.Tell(func(ctx *actor.Context) {
					ctx.StartTimer(time.Second, 1)
					c.count.Add(1)
				}); err != nil {
					return err
				}
			}
			c.counts(min(left, cycleBatch)) // after its timer has started
			c.clock.Advance(time.Second)
			c.counts(min(left, cycleBatch))
		}
		return nil
	}
}

var errCycle = errors.New("a failure of the cycle's")

// family makes a supervisor with as many children, which fail on everything
// but what they can carry out, and count their restarts.
func (c *cycling) family(s *actor.Supervisor, children int) (up actor.Ref, refs []actor.Ref) {
	p := c.counter()
	p.Supervisor = s
	up = c.Spawn(p)
	for i := range children {
		refs = append(refs, c.SpawnUnder(up, strconv.Itoa(i), c.failing()))
	}
	return up, refs
}

type cycleFrail struct{ c *cycling }

func (c *cycling) failing() actor.Props {
	return actor.Props{New: func() actor.Actor { return &cycleFrail{c} }}
}

func (a *cycleFrail) Receive(ctx *actor.Context, msg any) error {
	if _, fails := msg.(int); !fails {
		return actortest.CarryOut(ctx, msg)
	}
	ctx.StartTimer(time.Hour, 1)
	ctx.Become(a.Receive)
	return errCycle
}

func (a *cycleFrail) PostRestart(*actor.Context, error) error {
	a.c.count.Add(1)
	return nil
}

func cycleRestart(c *cycling) func(int) error {
	s := &actor.Supervisor{MaxRestarts: -1, Backoff: actor.Backoff{Min: time.Second, Max: time.Second}}
	_, refs := c.family(s, cycleBatch)
	return func(n int) error {
		waited := 0
		return batches(n, func(i int) error { return refs[i%len(refs)].Tell(1) }, func(done int) {
			c.Wait("the cycles to end", func() bool {
				c.clock.Advance(time.Second)
				return c.count.Load() >= int64(done-waited)
			})
			c.counts(done - waited)
			waited = done
		})
	}
}

func cycleSpawnRestart(c *cycling) func(int) error {
	up, _ := c.family(&actor.Supervisor{MaxRestarts: 1, Strategy: actor.OneForOne}, 0)
	return func(n int) error {
		for left := n; left > 0; left -= cycleBatch {
			batch := min(left, cycleBatch)
			c.In(up, func(ctx *actor.Context) {
				for range batch {
					r, _ := ctx.Spawn(c.failing()) // who is not there is not counted
					_ = ctx.Tell(r, 1)             // is restarted
					_ = ctx.Tell(r, 2)             // and stopped, for that was the last restart
				}
			})
			c.counts(batch)
			c.Wait("the cycles to end", func() bool { return c.Stats().Actors == 4 })
		}
		return nil
	}
}

func cycleWatch(c *cycling) func(int) error {
	refs := c.many(c.counter())
	return func(n int) error {
		c.In(refs[0], func(ctx *actor.Context) {
			for i := range n {
				ctx.Watch(refs[i%len(refs)])
				ctx.Unwatch(refs[i%len(refs)])
			}
		})
		return nil
	}
}

// cycleWatchStop has an actor watch others, which stop.
func cycleWatchStop(c *cycling) func(int) error {
	up := c.Spawn(c.counter())
	return func(n int) error {
		for left := n; left > 0; left -= cycleBatch {
			batch := min(left, cycleBatch)
			c.In(up, func(ctx *actor.Context) {
				for range batch {
					r, _ := ctx.Spawn(c.counter())
					ctx.Watch(r)
					ctx.Stop(r)
				}
			})
			c.counts(batch)
		}
		return nil
	}
}

// cycleStopWatching has actors watch one that goes on, and stop while they wait
// for room in its mailbox.
func cycleStopWatching(c *cycling) func(int) error {
	up := c.Spawn(c.counter())
	r := c.full()
	return func(n int) error {
		for left := n; left > 0; left -= cycleBatch {
			c.In(up, func(ctx *actor.Context) {
				for range min(left, cycleBatch) {
					w, _ := ctx.Spawn(c.counter())
					_ = ctx.Tell(w, func(ctx *actor.Context) {
						ctx.Watch(r)
						ctx.Suspend(actor.Suspension{Capacity: r, After: time.Hour})
						ctx.StopSelf()
						c.count.Add(1)
					})
				}
			})
			c.counts(min(left, cycleBatch))
			c.Wait("the cycles to end", func() bool { return c.Stats().Actors == 5 })
		}
		return nil
	}
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
	return func(n int) error {
		waited := 0
		return batches(n, func(int) error { return r.Tell(1) }, func(done int) {
			c.In(r, func(ctx *actor.Context) { ctx.UnstashAll() })
			c.counts(done - waited)
			waited = done
			stashing = true // the actor is idle
		})
	}
}

func cycleSubscribe(c *cycling) func(int) error {
	return func(n int) error {
		for range n {
			s := actor.Subscribe[actor.Failure](c.Events(), 4)
			t := actor.SubscribeFunc(c.Events(), func(actor.DeadLetter) {})
			c.Events().Publish(actor.Failure{})
			s.Unsubscribe()
			t.Unsubscribe()
		}
		return nil
	}
}
