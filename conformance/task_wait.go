package conformance

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
)

// X2: the states of a task.
var handleClauses = []Clause{
	{
		Name: "task/done-same", Rule: "X2",
		Why: "Done returns the same channel whenever it is called, and by whomever: a select in a loop relies on it",
		Check: tasks(func(r *runner) {
			f, hold := r.held(returns(1))
			first := f.Done()
			for range 4 {
				got := atOnce(r, "Done", f.Done)
				r.e.require(got == first, "Done returned another channel")
			}
			hold.open()
			r.gives(f, 1)
			r.e.require(f.Done() == first, "Done returned another channel when the task was over")
			g := r.spawn(returns(2))
			r.gives(g, 2)
			late := g.Done()
			r.e.require(g.Done() == late, "Done returned another channel after the end")
		}),
	},
	{
		Name: "task/value-visible", Rule: "X2", Kind: Stochastic,
		Why: "who has seen that a task is over, by Wait, Done or Status, sees all that it did, and its value",
		Check: tasks(func(r *runner) {
			for i := range 20 * r.e.rounds() {
				seen := 0 // without a lock: the race detector looks
				f := task.Go(r.x, func(context.Context) (int, error) { seen = i; return i, nil })
				a := start(r.e, "Value after Done or Status", func() answer {
					if i%2 == 0 && r.e.Impl.Promises.Eager {
						<-f.Done()
					}
					v, err := f.Value(context.Background())
					return answer{v + seen, err}
				}).get()
				r.e.require(a == answer{v: 2 * i}, "Value and what the task wrote are ", a.String(), ", want ", 2*i)
			}
		}),
	},
}

// X2: Wait and Value.
var taskWaitClauses = []Clause{
	{
		Name: "task/wait-same-for-ever", Rule: "X2",
		Why: "Value and Wait answer the same whenever they are asked, however often, and the task has run once; a nil context means context.Background",
		Check: tasks(func(r *runner) {
			var runs atomic.Int32
			for _, c := range []struct {
				v   int
				err error
			}{{v: 1}, {err: errA}} {
				runs.Store(0)
				f := r.spawn(func(context.Context) (int, error) { runs.Add(1); return c.v, c.err })
				first := r.answer(f)
				r.e.require(first.v == c.v && errors.Is(first.err, c.err), "Value returned ", first.String())
				for range 5 {
					a := r.value(f, nil).get()
					r.e.require(a == first, "Value returned ", a.String(), " and ", first.String(), " before")
					r.e.same("what Wait returned", f.Handle().Wait(nil), first.err)
				}
				r.e.require(runs.Load() == 1, "the task ran ", int(runs.Load()), " times")
			}
		}),
	},
	{
		Name: "task/wait-context-ends", Rule: "X2",
		Why: "when the context of one who waits ends, that wait ends with the context's error, and nothing else: the task goes on and others wait on",
		Check: tasks(func(r *runner) {
			f, hold := r.held(func(ctx context.Context) (int, error) { return 1, ctx.Err() })
			ctx, cancel := context.WithCancel(context.Background())
			patient, quitter := r.value(f, context.Background()), r.value(f, ctx)
			patient.blocks("the task is unfinished")
			quitter.blocks("the task is unfinished, and the context alive")
			cancel()
			a := quitter.get()
			r.e.require(a == answer{err: context.Canceled}, "Value returned ", a.String(), ", want ", context.Canceled)
			patient.blocks("it was another one's context that ended")
			r.is(f, task.Pending)
			hold.open()
			r.e.require(done(r, patient) == answer{v: 1}, "who waited on did not get the value")
			r.gives(f, 1)
		}),
	},
	{
		Name: "task/wait-context-has-ended", Rule: "X2",
		Why: "a wait with a context that has ended returns at once, with the context's own error, if the task is not over",
		Check: tasks(func(r *runner) {
			f, hold := r.held(returns(1))
			a := r.value(f, ended(errStop)).get()
			r.e.require(a == answer{err: context.Canceled}, "Value returned ", a.String(), ", want ", context.Canceled)
			late, cancel := context.WithDeadline(context.Background(), long)
			defer cancel()
			a = r.value(f, late).get()
			r.e.require(a == answer{err: context.DeadlineExceeded}, "Value returned ", a.String(), ", want ", context.DeadlineExceeded)
			if !r.e.Impl.Promises.Overlap {
				g := r.spawn(returns(2)) // which cannot begin
				a = r.value(g, ended(errStop)).get()
				r.e.require(a == answer{err: context.Canceled}, "Value of a task that has not begun returned ", a.String())
			}
			hold.open()
			r.gives(f, 1)
		}),
	},
	{
		Name: "task/wait-result-beats-context", Rule: "X2",
		Why: "a task that is over answers also with a context that has ended: the result is there, so there is no wait",
		Check: tasks(func(r *runner) {
			for _, c := range []struct {
				v   int
				err error
			}{{v: 1}, {err: errA}} {
				f := r.spawn(raises(c.v, c.err))
				first := r.answer(f)
				for range 10 {
					a := r.value(f, ended(errStop)).get()
					r.e.require(a == first, "Value with an ended context returned ", a.String(), ", want ", first.String())
				}
			}
			f, hold := r.held(returns(1))
			r.cancel(f)
			r.is(f, task.Cancelled)
			hold.open()
			a := r.value(f, ended(errStop)).get()
			var te *task.Error
			r.e.require(errors.As(a.err, &te), "Value of a canceled task with an ended context returned ", a.String(), ", want a *task.Error")
		}),
	},
	{
		Name: "task/wait-by-many", Rule: "X3", Kind: Stochastic,
		Why: "any number of goroutines may wait for one task: all are released by its end and get the same answer, and it runs once",
		Check: tasks(func(r *runner) {
			rng := r.e.random()
			for i := range r.e.rounds() {
				const n = 12
				var runs atomic.Int32
				f, hold := r.held(func(context.Context) (int, error) {
					runs.Add(1)
					if i%2 == 0 {
						return 7, nil
					}
					return 0, errA
				})
				var calls [n]*call[answer]
				for c := range calls {
					early := rng.IntN(2) == 0
					calls[c] = start(r.e, "Value", func() (a answer) {
						if !early {
							hold.open()
						}
						a.v, a.err = f.Value(context.Background())
						return a
					})
				}
				hold.open()
				first := done(r, calls[0])
				for _, c := range calls {
					a := done(r, c)
					r.e.require(a == first, "two of those who waited got ", a.String(), " and ", first.String())
				}
				r.e.require(runs.Load() == 1, "the task ran ", int(runs.Load()), " times")
			}
		}),
	},
	{
		Name: "task/wait-gives-up-as-result-comes", Rule: "X2", Kind: Stochastic,
		Why: "who gives up as the task ends gets the result or the context's error, and the others get the result in any case",
		Check: tasks(func(r *runner) {
			for range 4 * r.e.rounds() {
				f, hold := r.held(returns(3))
				ctx, cancel := context.WithCancel(context.Background())
				patient, quitter := r.value(f, context.Background()), r.value(f, ctx)
				let := start(r.e, "the end of a context", func() struct{} { cancel(); return struct{}{} })
				hold.open()
				let.await()
				a := done(r, quitter)
				r.e.require(a == answer{v: 3} || a == answer{err: context.Canceled}, "who gave up got ", a.String())
				a = done(r, patient)
				r.e.require(a == answer{v: 3}, "who waited got ", a.String(), ", want 3")
			}
		}),
	},
	{
		Name: "task/wait-in-a-task-gives-up", Rule: "X2", Needs: overlapEager,
		Why: "a task that waits with its own context stops waiting when it is canceled, and what it waited for goes on",
		Check: tasks(func(r *runner) {
			f, hold := r.held(func(ctx context.Context) (int, error) { return 1, ctx.Err() })
			waits := r.e.gate()
			waits.open()
			seen := make(chan error, 1)
			g := r.spawn(func(ctx context.Context) (int, error) {
				waits.pass()
				_, err := f.Value(ctx)
				seen <- err
				return 0, err
			})
			r.reached(waits, 1)
			r.idle()
			r.e.require(r.cancel(g), "a task that waits could not be canceled")
			c := start(r.e, "Value in a canceled task", func() error { return <-seen })
			r.e.same("what Value returned in a canceled task", done(r, c), context.Canceled)
			r.off(g)
			hold.open()
			r.gives(f, 1)
		}),
	},
	{
		Name: "task/wait-made-context", Rule: "X2",
		Why: "a task that waits with a context it has made gives up when that one ends: what is pending then stays pending",
		Check: tasks(func(r *runner) {
			var stop atomic.Bool
			turns := func(ctx context.Context) (int, error) { // is never over while others wait for it
				for !stop.Load() {
					if err := task.Yield(ctx); err != nil {
						return 0, err
					}
				}
				return 5, nil
			}
			f := task.Go(r.x, turns) // no Settle from here on: it turns all the time
			g := task.Go(r.x, func(ctx context.Context) (int, error) {
				defer stop.Store(true)
				made, cancel := context.WithCancel(ctx)
				cancel()
				_, err := f.Value(made)
				return 0, err
			})
			a := r.answer(g)
			r.e.require(errors.Is(a.err, context.Canceled), "a task waited with an ended context and got ", a.String())
			r.gives(f, 5)
		}),
	},
	{
		Name: "task/wait-detached", Rule: "X2", Needs: overlapEager,
		Why: "goroutines that a task starts wait with a detached context, which belongs to no task: it ends with the task's, and what they wait for runs meanwhile",
		Check: tasks(func(r *runner) {
			f := r.spawn(func(ctx context.Context) (int, error) {
				a, b := task.Fork(ctx, returns(20)), task.Fork(ctx, returns(22))
				sum := make(chan int)
				for _, g := range []*task.Future[int]{a, b} {
					go func() {
						v, _ := g.Value(task.Detached(ctx))
						sum <- v
					}()
				}
				return <-sum + <-sum, nil
			})
			r.gives(f, 42)
		}),
	},
}
