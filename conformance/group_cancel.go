package conformance

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
)

// G6: Cancel.
var cancelClauses = []Clause{
	{
		Name: "group/cancel-reaches-tasks", Rule: "G6",
		Why: "Cancel ends the context of the tasks, with the cause: that is how they learn that they should stop, and why",
		Check: oneGroup(func(e *Env, p *probe) {
			started := e.gate()
			started.open()
			p.run(func(ctx context.Context) (int, error) {
				started.pass()
				<-ctx.Done()
				return 1, context.Cause(ctx)
			})
			n := p.next(context.Background())
			e.reached(started, 1)
			n.blocks("the task waits for its context")
			p.cancel(errA)
			n.gives(1, errA)
			p.finish(errA)
		}),
	},
	{
		Name: "group/cancel-at-once", Rule: "G6",
		Why: "when Cancel has returned, the group's context has ended: the caller may rely on it",
		Check: check(func(e *Env) {
			for range 16 {
				p := e.open()
				ctx := p.context()
				// On one goroutine, so that nothing runs in between that need not.
				err := start(e, "Cancel", func() error {
					p.g.Cancel(errA)
					return context.Cause(ctx)
				}).get()
				e.same("the cause that the caller of Cancel finds", err, errA)
				p.finish(errA)
			}
		}),
	},
	{
		Name: "group/cancel-first-cause", Rule: "G6",
		Why: "the first cause wins, for the tasks and for Wait: it is the reason, the later ones are echoes; nil means context.Canceled",
		Check: check(func(e *Env) {
			for _, cause := range []error{errA, context.Canceled} {
				p := e.open()
				ctx := p.context()
				if cause == errA {
					p.cancel(errA)
				}
				p.cancel(nil)
				p.cancel(errB)
				p.endedBy(ctx, cause)
				p.waits(cause)
				p.finish(cause)
			}
		}),
	},
	{
		Name: "group/cancel-races-cancel", Rule: "G6", Kind: Stochastic,
		Why: "of causes given at the same time one wins, and tasks and Wait agree on which",
		Check: check(func(e *Env) {
			for range e.rounds() {
				p := e.open()
				ctx := p.context()
				var calls [4]*call[struct{}]
				for i := range calls {
					cause := errA
					if i%2 == 1 {
						cause = errB
					}
					calls[i] = start(e, "Cancel", func() struct{} { p.g.Cancel(cause); return struct{}{} })
				}
				for _, c := range calls {
					c.get()
				}
				cause := context.Cause(ctx)
				e.require(cause == errA || cause == errB, "the cause is ", cause, ", want ", errA, " or ", errB)
				p.finish(cause)
				p.endedBy(ctx, cause)
			}
		}),
	},
}

// G6: fail-fast.
var failFastClauses = []Clause{
	{
		Name: "group/failfast-cancels", Rule: "G6",
		Why: "with fail-fast, which is the default, the first task error cancels the group with that error as the cause, and success cancels nothing",
		Check: check(func(e *Env) {
			for _, opts := range [][]group.Option{nil, {group.WithFailFast(true)}} {
				p := e.open(opts...)
				ctx := p.context()
				p.run(value(0))
				p.takes(0)
				p.alive(ctx, "no task has failed")
				p.run(failing(0, errA))
				p.takesError(0, errA)
				p.endedBy(ctx, errA)
				p.run(func(ctx context.Context) (int, error) {
					if context.Cause(ctx) != errA {
						return 0, nil
					}
					return 1, nil
				})
				p.takes(1)
				p.finish(errA)
			}
		}),
	},
	{
		Name: "group/failfast-error-is-first", Rule: "G6", Needs: overlapEager, Kind: Stochastic,
		Why: "the error that cancels is the first one, for Next and for Wait: tasks that fail because of it come after it",
		Check: check(func(e *Env) {
			for range e.rounds() {
				const others = 4
				p, hold := e.open(), e.gate()
				for range others {
					p.run(func(ctx context.Context) (int, error) {
						hold.pass()
						<-ctx.Done()
						return 0, ctx.Err()
					})
				}
				hold.open()
				p.run(failing(1, errA))
				p.takesError(1, errA)
				for range others {
					p.takesError(0, context.Canceled)
				}
				p.finish(errA)
			}
		}),
	},
	{
		Name: "group/failfast-off", Rule: "G6",
		Why: "without fail-fast an error cancels nothing: the other tasks' work is wanted all the same; and nil options are ignored",
		Check: check(func(e *Env) {
			p := e.open(nil, group.WithFailFast(false), nil)
			ctx := p.context()
			p.run(failing(0, errA))
			p.takesError(0, errA)
			p.run(panicking(errB))
			isPanic(e, p.take(), errB)
			p.alive(ctx, "fail-fast is off")
			p.run(func(ctx context.Context) (int, error) { return 1, ctx.Err() })
			p.takes(1)
			p.finish(errA)
		}),
	},
	{
		Name: "group/failfast-before-result", Rule: "G6", Kind: Stochastic,
		Why: "a consumer that has seen the failed result finds the context ended already: otherwise it submits work that is meant to be called off",
		Check: check(func(e *Env) {
			for range e.rounds() {
				// A consumer that waits, and one that looks all the time.
				for _, poll := range []bool{false, true} {
					p := e.open()
					ctx := p.context()
					over := ended(errStop)
					n := start(e, "Next and a look at the context", func() error {
						for {
							look := context.Background()
							if poll {
								look = over
							}
							if _, ok, err := p.g.Next(look); ok {
								return ctx.Err()
							} else if err == nil {
								return errStop
							}
							runtime.Gosched()
						}
					})
					if !poll {
						n.blocks("there is no result")
					}
					// No Settle from here on: one who looks all the time never settles.
					e.same("what Go returned", p.submit(failing(0, errA)).await(), nil)
					w := p.wait() // drives an implementation that is not eager
					err := n.await()
					e.require(err != nil, "Next returned the failed result while the group's context was alive")
					e.same("what the consumer saw", err, context.Canceled)
					e.same("what Wait returned", w.get(), errA)
					p.endedBy(ctx, errA)
					p.finish(errA)
				}
			}
		}),
	},
	{
		Name: "group/failfast-keeps-tasks", Rule: "G6",
		Why: "fail-fast drops nothing: tasks accepted before and after it run and yield their results",
		Check: oneGroup(func(e *Env, p *probe) {
			const n = 50
			hold := e.gate()
			var ran atomic.Int32
			p.run(func(context.Context) (int, error) {
				hold.pass()
				return n, errA
			})
			task := func(i int) group.TaskFunc[int] {
				return func(context.Context) (int, error) {
					ran.Add(1)
					return i, nil
				}
			}
			for i := range n / 2 {
				p.run(task(i))
			}
			hold.open()
			for i := n / 2; i < n; i++ {
				p.run(task(i))
			}
			seen := make([]bool, n+1)
			for range n + 1 {
				r := p.take()
				e.require(r.Value >= 0 && r.Value <= n && !seen[r.Value] && (r.Err != nil) == (r.Value == n), "a result is ", r)
				seen[r.Value] = true
			}
			e.require(ran.Load() == n, int(ran.Load()), " of ", n, " tasks ran")
			p.finish(errA)
		}),
	},
}

// yield lets others run.
func yield() { runtime.Gosched() }
