package conformance

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
)

// X1: a task is started.
var startClauses = []Clause{
	{
		Name: "task/start-once", Rule: "X1",
		Why: "each of many tasks runs once, waited for or not, also thousands that one task starts, or work is lost or done twice",
		Check: tasks(func(r *runner) {
			const n = 500
			var runs [n]atomic.Int32
			var all [n]*task.Future[int]
			for i := range all {
				all[i] = task.Go(r.x, func(context.Context) (int, error) {
					runs[i].Add(1)
					return i, nil
				})
			}
			for i := 0; i < n; i += 2 {
				r.gives(all[i], i)
			}
			r.drive()
			r.until("tasks without waiters to be over", func() bool { return r.x.Pending() == 0 })
			for i := range runs {
				r.e.require(runs[i].Load() == 1, "task ", i, " of ", n, " ran ", int(runs[i].Load()), " times")
			}
			const forks = 3000
			r.gives(r.spawn(func(ctx context.Context) (int, error) {
				all := make([]*task.Future[int], forks)
				for i := range all {
					all[i] = task.ForkCall(ctx, func(_ context.Context, i int) (int, error) { return i, nil }, i)
				}
				sum := 0
				for _, f := range all {
					v, err := f.Value(ctx)
					if err != nil {
						return 0, err
					}
					sum += v
				}
				return sum, nil
			}), forks*(forks-1)/2)
		}),
	},
	{
		Name: "task/start-from-another-executor", Rule: "X1",
		Why: "a task may start tasks on another executor, and wait for them: libraries bring executors of their own",
		Check: tasks(func(r *runner) {
			other := r.e.runner()
			f := r.spawn(func(ctx context.Context) (int, error) {
				g := task.Go(other.x, func(ctx context.Context) (int, error) {
					h := task.Fork(ctx, returns(20))
					r.e.require(h.Handle().Executor() == other.x, "Fork started a task on an executor that is not that of the calling task")
					v, err := h.Value(ctx)
					return v + 1, err
				})
				v, err := g.Value(ctx)
				return 2 * v, err
			})
			r.gives(f, 42)
			other.end()
		}),
	},
	{
		Name: "task/start-nil", Rule: "X1",
		Why: "a nil function is a mistake of the caller: it panics at once, where the mistake is, and not in a worker",
		Check: tasks(func(r *runner) {
			for _, f := range []func(){
				func() { task.Start(r.x, nil) },
				func() { task.Go[int](r.x, nil) },
				func() { task.Call[int, int](r.x, nil, 1) },
			} {
				panicked := atOnce(r, "a start of nil", func() any { return recovered(f) })
				r.e.require(panicked != nil, "a nil function was accepted")
			}
			r.pending(0, "a nil function is no task")
		}),
	},
}

// X1: a task starts others.
var forkClauses = []Clause{
	{
		Name: "task/fork-with-made-context", Rule: "X1",
		Why: "a context that was made of the task's, say with a deadline, is the task's as well; the one of a new task has nothing of it",
		Check: tasks(func(r *runner) {
			empty := func(ctx context.Context) {
				_, has := ctx.Deadline()
				r.e.require(!has && ctx.Err() == nil && ctx.Value(keyOf{}) == nil, "the context of a task has a deadline, an end or a value of another one")
			}
			f := r.spawn(func(ctx context.Context) (int, error) {
				empty(ctx)
				made, cancel := context.WithCancel(context.WithValue(ctx, keyOf{}, 1))
				defer cancel()
				over, end := context.WithDeadline(made, long)
				defer end()
				v, err := task.Fork(over, func(ctx context.Context) (int, error) { empty(ctx); return 1, nil }).Value(made)
				r.e.require(v == 1 && err == nil, "a task that was started with a context made of the task's returned ", answer{v, err}.String())
				r.e.same("what Yield returned", task.Yield(made), nil)
				canceled, err := task.Canceled(made)
				r.e.require(!canceled && err == nil, "Canceled returned (", canceled, ", ", err, ")")
				return 2, nil
			})
			r.gives(f, 2)
		}),
	},
	{
		Name: "task/fork-outlives-parent", Rule: "X1",
		Why: "a task that another one started is on its own: it is not canceled with it, and need not be waited for",
		Check: tasks(func(r *runner) {
			children := make(chan *task.Future[int], 1)
			f := r.spawn(func(ctx context.Context) (int, error) {
				children <- task.Fork(ctx, func(ctx context.Context) (int, error) {
					err := task.Yield(ctx)
					return 7, errors.Join(err, ctx.Err())
				})
				task.Current(ctx).Cancel()
				return 1, nil
			})
			_ = r.answer(f)
			r.off(f)
			r.gives(<-children, 7)
		}),
	},
}

// X1: the number of tasks.
var pendingClauses = []Clause{
	{
		Name: "task/pending-counts", Rule: "X1",
		Why: "Pending is the number of tasks that were accepted and are not over, whether or not they have begun",
		Check: tasks(func(r *runner) {
			r.pending(0, "nothing was started")
			f, hold := r.held(returns(1))
			r.pending(1, "one task is in progress")
			gates, all := []*gate{hold}, []*task.Future[int]{f}
			for i := range 4 {
				g := r.e.gate()
				gates = append(gates, g)
				all = append(all, r.spawn(func(context.Context) (int, error) {
					g.pass()
					return i + 2, nil
				}))
				r.pending(i+2, "so many were started, and none is over")
			}
			if r.anyOrder() {
				r.e.release()
			}
			for i, g := range gates {
				g.open()
				r.gives(all[i], i+1)
				if !r.anyOrder() {
					r.until("Pending to be "+text(len(all)-i-1), func() bool { return r.x.Pending() == len(all)-i-1 })
				}
			}
		}),
	},
	{
		Name: "task/pending-at-the-end", Rule: "X1", Kind: Stochastic,
		Why: "who has seen the end of the last task finds none Pending: Pending counts states, not workers",
		Check: tasks(func(r *runner) {
			for i := range 20 * r.e.rounds() {
				var f *task.Future[int]
				switch i % 4 {
				case 0:
					f = task.Go(r.x, returns(1))
				case 1:
					f = task.Go(r.x, raises(0, errA))
				case 2:
					f = task.Go(r.x, panicking("boom"))
				case 3:
					f = task.Go(r.x, func(ctx context.Context) (int, error) { return 1, task.Yield(ctx) })
				}
				n := start(r.e, "Value and Pending", func() int {
					_, _ = f.Value(context.Background())
					return r.x.Pending()
				}).get()
				r.e.require(n == 0, n, " tasks are Pending after the only one was over")
			}
		}),
	},
	{
		Name: "task/pending-canceled", Rule: "X1",
		Why: "a task that was canceled is not Pending any more, at once, also while it takes no notice",
		Check: tasks(func(r *runner) {
			f, hold := r.held(returns(1))
			r.pending(1, "one task is in progress")
			r.e.require(r.cancel(f), "a task in progress could not be canceled")
			r.pending(0, "the only task was canceled")
			canceled := 0
			var all []*task.Future[int]
			for range 8 {
				all = append(all, r.spawn(func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 0, nil
				}))
			}
			for _, f := range all {
				canceled++
				r.e.require(r.cancel(f), "a task that cannot end was over")
				r.pending(len(all)-canceled, "so many were not canceled")
			}
			hold.open()
			r.idle()
			r.pending(0, "all tasks are over")
		}),
	},
}

// X1: the end.
var closedClauses = []Clause{
	{
		Name: "task/close-refuses", Rule: "X1",
		Why: "a closed executor refuses tasks: they have failed with ErrClosed and never run, and waiters learn it; a task that has closed it goes on, and starts no more",
		Check: tasks(func(r *runner) {
			r.close()
			var ran atomic.Bool
			f := r.spawn(func(context.Context) (int, error) { ran.Store(true); return 1, nil })
			r.is(f, task.Failed)
			r.fails(f, task.ErrClosed)
			r.e.require(!r.cancel(f), "a task that was refused was canceled")
			h := r.start(func(context.Context) error { ran.Store(true); return nil })
			err := h.Wait(ended(errStop))
			r.e.require(errors.Is(err, task.ErrClosed), "Wait returned ", err, ", want ", task.ErrClosed)
			r.pending(0, "no task was accepted")
			r.drive()
			r.idle()
			r.e.require(!ran.Load(), "a task that was refused ran")
			in := r.e.runner()
			other := in.spawn(returns(2))
			in.gives(in.spawn(func(ctx context.Context) (int, error) {
				in.x.Close()
				_, err := task.Fork(ctx, returns(1)).Value(ctx)
				r.e.require(errors.Is(err, task.ErrClosed), "a task that has closed its executor started another one: ", err)
				return other.Value(ctx)
			}), 2)
			in.end()
		}),
	},
	{
		Name: "task/close-runs-on", Rule: "X1",
		Why: "tasks that were accepted before Close run to their end, and divide their work as before: Close waits for nothing, cancels nothing and drops nothing, nor does a second one",
		Check: tasks(func(r *runner) {
			f, hold := r.held(func(ctx context.Context) (int, error) {
				v, err := fibonacciByJoin(ctx, 10)
				return v, errors.Join(err, ctx.Err())
			})
			var all []*task.Future[int]
			for i := range 50 {
				all = append(all, r.spawn(func(ctx context.Context) (int, error) { return i, ctx.Err() }))
			}
			r.close()
			r.close()
			r.is(f, task.Pending)
			hold.open()
			r.gives(f, 55)
			r.givesAll(all)
			r.close()
		}),
	},
}

// keyOf is a key for values of contexts.
type keyOf struct{}
