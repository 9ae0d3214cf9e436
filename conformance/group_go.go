package conformance

import (
	"context"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
)

// G2: Go, without a limit.
var goClauses = []Clause{
	{
		Name: "group/go-nil-task", Rule: "G2",
		Why: "a nil task is refused with ErrNilTask in every state, and leaves no trace: no result, nothing to wait for",
		Check: check(func(e *Env) {
			p := e.open(group.WithMaxConcurrency(1))
			refuses := func(state string) {
				if err := p.submit(nil).get(); err != group.ErrNilTask {
					e.fail("Go(nil) on ", state, " group returned ", err, ", want ", group.ErrNilTask)
				}
			}
			refuses("an open")
			p.waits(nil)
			p.empty("a nil task has no result")
			hold := p.held(1, nil)
			refuses("a full")
			p.cancel(errA)
			refuses("a full, cancelled")
			p.close()
			refuses("a closed")
			hold.open()
			p.takes(1)
			p.drained()
			refuses("a drained")
			p.finish(errA)
		}),
	},
	{
		Name: "group/go-after-close", Rule: "G2",
		Why: "a closed group refuses tasks with ErrGroupClosed, whatever else it is, and never runs what it refused; once drained it stays so, whatever is called",
		Check: oneGroup(func(e *Env, p *probe) {
			hold := p.held(1, nil)
			p.close()
			var ran atomic.Bool
			refuses := func(state string) {
				err := p.submit(func(context.Context) (int, error) {
					ran.Store(true)
					return 2, nil
				}).get()
				if err != group.ErrGroupClosed {
					e.fail("Go on ", state, " group returned ", err, ", want ", group.ErrGroupClosed)
				}
			}
			refuses("a closed, busy")
			p.cancel(errA)
			refuses("a closed, cancelled")
			hold.open()
			p.takes(1)
			p.drained()
			refuses("a drained")
			p.cancel(errB)
			p.close()
			p.drained()
			p.finish(errA)
			e.Settle()
			e.require(!ran.Load(), "a task that was refused has run")
		}),
	},
	{
		Name: "group/go-once", Rule: "G2",
		Why: "an accepted task runs exactly once and yields exactly one result, even if the group is cancelled before it has started: less loses work, more does it twice",
		Check: check(func(e *Env) {
			for _, cause := range []error{nil, errA} {
				p, hold := e.open(), e.gate()
				var runs [200]atomic.Int32
				for i := range runs {
					p.run(func(ctx context.Context) (int, error) {
						hold.pass()
						runs[i].Add(1)
						if context.Cause(ctx) != cause {
							return i, errB
						}
						return i, nil
					})
				}
				if cause != nil {
					p.cancel(cause)
				}
				hold.open()
				p.waits(cause)
				p.takesAll(len(runs))
				p.finish(cause)
				for i := range runs {
					e.require(runs[i].Load() == 1, "task ", i, " ran ", int(runs[i].Load()), " times")
				}
			}
		}),
	},
	{
		Name: "group/go-after-cancel", Rule: "G2",
		Why: "a cancelled group is open: it accepts tasks, runs them with the ended context and yields their results",
		Check: oneGroup(func(e *Env, p *probe) {
			p.cancel(errA)
			for range 3 {
				p.run(func(ctx context.Context) (int, error) {
					if ctx.Err() == nil {
						return 0, errB
					}
					return 1, context.Cause(ctx)
				})
			}
			for range 3 {
				p.takesError(1, errA)
			}
			p.finish(errA)
		}),
	},
	{
		Name: "group/calls-within-a-task", Rule: "G2",
		Why: "a task may call Go, Next, Cancel and Close of its own group, as a producer does that was the last: nothing of the group is locked while it runs, and Wait and the drain cover what it has submitted",
		Check: oneGroup(func(e *Env, p *probe) {
			hold := e.gate()
			p.run(value(1))
			p.waits(nil)
			p.run(func(ctx context.Context) (int, error) {
				r, ok, err := p.g.Next(context.Background()) // the result of the first task is queued
				if !ok || err != nil || p.g.Go(gated(hold, 2, nil)) != nil {
					return 0, errB
				}
				p.g.Cancel(errA)
				p.g.Close()
				if p.g.Go(value(3)) != group.ErrGroupClosed || context.Cause(ctx) != errA {
					return 0, errB
				}
				return 10 * r.Value, nil
			})
			w := p.wait() // not Next: it could take the first result
			w.blocks("the task has submitted another one, which is held up")
			hold.open()
			e.same("what Wait returned", w.get(), errA)
			sum := p.take().Value + p.take().Value
			e.require(sum == 12, "the values of the two results add up to ", sum, ", want 12")
			p.finish(errA)
		}),
	},
	{
		Name: "group/go-happens-before", Rule: "G2",
		Why: "what was written before Go is seen by the task, and what the task wrote is seen after Next or Wait (run with -race)",
		Check: oneGroup(func(e *Env, p *probe) {
			// Plain variables: only the group orders the accesses.
			in := make([]int, 8)
			out := make([]int, 8)
			for i := range in {
				in[i] = i + 1
				p.run(func(context.Context) (int, error) {
					out[i] = 10 * in[i]
					return i, nil
				})
			}
			r := p.take()
			e.require(out[r.Value] == 10*(r.Value+1), "after Next, a write of the task is missing")
			p.waits(nil)
			for i := range out {
				e.require(out[i] == 10*(i+1), "after Wait, a write of task ", i, " is missing")
			}
			for range len(out) - 1 {
				p.take()
			}
		}),
	},
}

// G2: Go with a concurrency limit.
var limitClauses = []Clause{
	{
		Name: "group/limit-respected", Rule: "G2", Needs: eager,
		Why: "with a limit of n, Go blocks while n tasks are unfinished: that is the back pressure that callers rely on",
		Check: check(func(e *Env) {
			for _, limit := range []int{1, 2, 3, 8} {
				p, hold := e.open(group.WithMaxConcurrency(limit)), e.gate()
				for i := range limit {
					p.run(gated(hold, i, nil))
				}
				more := p.submit(value(limit))
				more.blocks("as many tasks as the limit allows are unfinished")
				hold.open()
				w := p.wait() // a caller must drive an implementation that is not eager
				e.same("what Go returned", more.get(), nil)
				w.get()
				p.takesAll(limit + 1)
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/limit-never-exceeded", Rule: "G2",
		Why: "no more than the limit of tasks are in progress at once, however many are submitted by however many goroutines",
		Check: check(func(e *Env) {
			const limit, callers, each = 3, 4, 25
			p := e.open(group.WithMaxConcurrency(limit))
			var running, most atomic.Int32
			task := func(int) group.TaskFunc[int] {
				return func(context.Context) (int, error) {
					now := running.Add(1)
					for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
					}
					yield() // so that the others come in between, if anything lets them
					running.Add(-1)
					return 0, nil
				}
			}
			calls := several(callers, func(int) *call[error] { return p.submitAll(each, task) })
			for range callers * each {
				p.takes(0)
			}
			e.returned(nil, calls...)
			p.finish(nil)
			e.require(most.Load() <= limit, int(most.Load()), " tasks were in progress at once, the limit is ", limit)
		}),
	},
	{
		Name: "group/limit-slot-back-after-failure", Rule: "G2",
		Why: "a task that fails or panics gives its slot back like any other, or the group locks up bit by bit",
		Check: check(func(e *Env) {
			p := e.open(group.WithMaxConcurrency(1), group.WithFailFast(false))
			for range 3 {
				p.run(failing(0, errA))
				p.takesError(0, errA)
				p.run(panicking("boom"))
				e.require(p.take().Err != nil, "the panic left no error")
			}
			p.finish(errA)
		}),
	},
	{
		Name: "group/limit-close-releases-go", Rule: "G2", Needs: eager,
		Why: "Close makes every blocked Go return ErrGroupClosed, and its task never runs: acceptance is the slot, not the call",
		Check: check(func(e *Env) {
			p, hold := e.open(group.WithMaxConcurrency(1)), e.gate()
			p.run(gated(hold, 1, nil))
			var ran atomic.Int32
			calls := make([]*call[error], 3)
			for i := range calls {
				calls[i] = p.submit(func(context.Context) (int, error) {
					ran.Add(1)
					return 2, nil
				})
			}
			calls[0].blocks("the one slot is taken")
			p.close()
			for _, c := range calls {
				e.same("what the blocked Go returned after Close", c.get(), group.ErrGroupClosed)
			}
			hold.open()
			p.takes(1)
			p.finish(nil)
			e.Settle()
			e.require(ran.Load() == 0, int(ran.Load()), " tasks ran although their Go returned ErrGroupClosed")
		}),
	},
	{
		Name: "group/limit-cancel-keeps-go", Rule: "G2", Needs: eager,
		Why: "Cancel does not release a blocked Go: the slot of a cancelled task does, and the new task runs with the ended context",
		Check: check(func(e *Env) {
			p, hold := e.open(group.WithMaxConcurrency(1)), e.gate()
			p.run(gated(hold, 1, nil))
			c := p.submit(func(ctx context.Context) (int, error) { return 2, context.Cause(ctx) })
			c.blocks("the one slot is taken")
			p.cancel(errA)
			c.blocks("the one slot is taken, and cancelling gives none up by itself")
			hold.open()
			w := p.wait()
			e.same("what Go returned", c.get(), nil)
			w.get()
			p.takes(1)
			p.takesError(2, errA)
			p.finish(errA)
		}),
	},
}
