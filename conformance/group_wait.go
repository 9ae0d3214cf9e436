package conformance

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
)

// G5: Wait.
var waitClauses = []Clause{
	{
		Name: "group/wait-for-all", Rule: "G5",
		Why: "Wait returns when no accepted task is unfinished, not before: what follows it may rely on all of them",
		Check: oneGroup(func(e *Env, p *probe) {
			const n = 5
			hold := e.gate()
			var done atomic.Int32
			for i := range n {
				p.run(func(context.Context) (int, error) {
					hold.pass()
					done.Add(1)
					return i, nil
				})
			}
			w := start(e, "Wait", func() int {
				_ = p.g.Wait()
				return int(done.Load())
			})
			w.blocks("tasks are unfinished")
			hold.open()
			at := w.get()
			e.require(at == n, "Wait returned when ", at, " of ", n, " tasks were finished")
			p.takesAll(n)
		}),
	},
	{
		Name: "group/wait-results-visible", Rule: "G5",
		Why: "when Wait has returned, the results of the tasks it waited for are queued: they can be taken without waiting",
		Check: check(func(e *Env) {
			for i := range 32 {
				p, hold := e.open(), e.gate()
				p.run(gated(hold, i, nil))
				over := ended(errA)
				// On one goroutine, so that nothing runs in between that need not.
				c := awaited{start(e, "Wait, then Next", func() (t taken) {
					if t.err = p.g.Wait(); t.err == nil {
						t.r, t.ok, t.err = p.g.Next(over)
					}
					return t
				})}
				c.blocks("the task is unfinished")
				hold.open()
				c.gives(i, nil)
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/wait-covers-later-tasks", Rule: "G5", Needs: overlapEager,
		Why: "Wait waits as long as any accepted task is unfinished, also one accepted while it waits",
		Check: check(func(e *Env) {
			p, first, second := e.open(), e.gate(), e.gate()
			p.run(gated(first, 1, nil))
			w := p.wait()
			w.blocks("the first task is unfinished")
			p.run(gated(second, 2, nil))
			first.open()
			p.takes(1)
			w.blocks("the second task is unfinished")
			second.open()
			e.same("what Wait returned", w.get(), nil)
			p.takes(2)
			p.finish(nil)
		}),
	},
	{
		Name: "group/wait-many-callers", Rule: "G5",
		Why: "any number of goroutines may wait, and all of them get the same answer",
		Check: oneGroup(func(e *Env, p *probe) {
			hold := p.held(1, errA)
			calls := several(8, func(int) *call[error] { return p.wait() })
			for _, c := range calls {
				c.blocks("the task is unfinished")
			}
			hold.open()
			e.returned(errA, calls...)
			p.takesError(1, errA)
			p.finish(errA)
		}),
	},
	{
		Name: "group/wait-all-errors", Rule: "G5",
		Why: "a caller that asks for all errors gets all, those of panics too, and results as ever",
		Check: check(func(e *Env) {
			for _, failFast := range []bool{false, true} {
				p := e.open(group.WithAllErrors(true), group.WithFailFast(failFast))
				p.run(failing(1, errB))
				p.waits(errB)
				p.takesError(1, errB)
				p.run(failing(2, errA))
				p.takesError(2, errA)
				p.run(panicking(errStop))
				isPanic(e, p.take(), errStop)
				p.close()
				err := p.wait().get()
				for _, want := range []error{errB, errA, errStop} {
					e.require(errors.Is(err, want), "Wait returned ", err, ", which is not ", want)
				}
				p.drained()
			}
		}),
	},
	{
		Name: "group/wait-first-by-completion", Rule: "G5", Needs: overlapEager,
		Why: "first means first to complete, not first to be submitted",
		Check: check(func(e *Env) {
			for _, failFast := range []bool{false, true} {
				p, first, second := e.open(group.WithFailFast(failFast)), e.gate(), e.gate()
				p.run(gated(first, 1, errA), gated(second, 2, errB))
				second.open()
				p.takesError(2, errB)
				first.open()
				p.takesError(1, errA)
				p.finish(errB)
			}
		}),
	},
	{
		Name: "group/wait-remembers", Rule: "G5",
		Why: "Wait returns the error of the task that failed first, for ever, whatever is taken, closed, cancelled or submitted in between; later errors are often only its consequences",
		Check: check(func(e *Env) {
			for _, failFast := range []bool{false, true} {
				p := e.open(group.WithFailFast(failFast))
				p.run(value(1))
				p.waits(nil)
				p.run(failing(2, errB))
				p.waits(errB)
				p.run(failing(3, errA))
				p.waits(errB)
				p.takes(1)
				p.takesError(2, errB)
				p.takesError(3, errA)
				p.cancel(errStop)
				p.waits(errB)
				p.run(value(4))
				p.waits(errB)
				p.takes(4)
				p.close()
				p.waits(errB)
				p.drained()
				p.waits(errB)
				p.cancel(errA)
				p.finish(errB)
			}
		}),
	},
	{
		Name: "group/wait-cause", Rule: "G5",
		Why: "without a task error, Wait returns the cause with which the group was cancelled: it was not a success; a task's error comes before it, also if it is later",
		Check: oneGroup(func(e *Env, p *probe) {
			p.run(value(1))
			p.waits(nil)
			p.cancel(errB)
			p.waits(errB) // also on an open group, from then on
			p.takes(1)    // which Cancel has not dropped
			p.run(failing(1, errA))
			p.waits(errA)
			p.takesError(1, errA)
			p.finish(errA)
		}),
	},
	{
		Name: "group/wait-outlives-cancel", Rule: "G5",
		Why: "cancelling does not end Wait: the tasks decide when they are done",
		Check: oneGroup(func(e *Env, p *probe) {
			hold := p.held(1, nil)
			w := p.wait()
			w.blocks("the task is unfinished")
			p.cancel(errA)
			w.blocks("the group is cancelled, but its task is unfinished")
			p.close()
			w.blocks("the group is cancelled and closed, but its task is unfinished")
			hold.open()
			e.same("what Wait returned", w.get(), errA)
			p.takes(1)
			p.finish(errA)
		}),
	},
	{
		Name: "group/wait-settled", Rule: "G5",
		Why: "once a closed group has settled its answer is final: a later Cancel, or end of the parent, does not turn success into failure",
		Check: check(func(e *Env) {
			parent, cancel := context.WithCancelCause(context.Background())
			p := e.group(parent)
			p.run(value(1))
			p.takes(1)
			p.close()
			p.waits(nil)
			p.cancel(errA)
			p.waits(nil)
			cancel(errB)
			e.Settle()
			p.waits(nil)
			p.drained()
			q := e.open()
			q.cancel(errA)
			q.close()
			q.waits(errA)
			q.cancel(errB)
			q.finish(errA)
		}),
	},
}
