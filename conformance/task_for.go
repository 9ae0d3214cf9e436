package conformance

import (
	"context"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
)

// For: rules X1 to X5, for the loop of a task.
var forClauses = []Clause{
	{
		Name: "task/for", Rule: "X1", Kind: Stochastic,
		Why: "For calls its function once for each index, however many workers take part, and returns when all calls are over; the function may divide work in turn",
		Check: tasks(func(r *runner) {
			for range r.e.rounds() {
				const n, inner = 200, 20
				var times [n]atomic.Int32
				var parts atomic.Int32
				f := r.spawn(func(ctx context.Context) (int, error) {
					err := task.For(ctx, n, func(ctx context.Context, i int) error {
						times[i].Add(1)
						if i%8 > 0 {
							return nil
						}
						x, err := fibonacciByJoin(ctx, 5)
						r.e.require(x == 5, "Join in a call of For gave ", x, ", want 5")
						if err != nil {
							return err
						}
						return task.For(ctx, inner, func(context.Context, int) error { parts.Add(1); return nil })
					})
					for i := range times {
						got := int(times[i].Load())
						r.e.require(got == 1, "of ", n, " indexes ", i, " was done ", got, " times when For was over")
					}
					return int(parts.Load()), err
				})
				r.gives(f, n/8*inner)
				r.drive()
				r.until("the parts to be over", func() bool { return r.x.Pending() == 0 })
			}
		}),
	},
	{
		Name: "task/for-overlaps", Rule: "X7", Kind: Promised, Needs: overlapEager,
		Why: "another worker takes part of what is left while a call goes on, or is blocked: else nothing is gained by it",
		Check: tasks(func(r *runner) {
			for _, n := range []int{2, 3, 64} {
				last := make(chan int, 1)
				f := r.spawn(func(ctx context.Context) (int, error) {
					err := task.For(ctx, n, func(_ context.Context, i int) error {
						switch i {
						case 0:
							last <- <-last // goes on when the last one is done
						case n - 1:
							last <- n
						}
						return nil
					})
					return <-last, err
				})
				r.gives(f, n)
			}
		}),
	},
	{
		Name: "task/for-panic", Rule: "X4",
		Why: "a panic of a call is one of For with the same value, whichever worker made the call: a task that recovers it can go on, nothing of the loop does, and else the task fails of it",
		Check: tasks(func(r *runner) {
			for _, at := range []int{0, 33, 63} {
				body := func(in *atomic.Int32) func(context.Context, int) error {
					return func(_ context.Context, i int) error {
						in.Add(1)
						defer in.Add(-1)
						if i == at {
							panic(errA)
						}
						return nil
					}
				}
				f := r.spawn(func(ctx context.Context) (int, error) {
					var in atomic.Int32
					v := recovered(func() { _ = task.For(ctx, 64, body(&in)) })
					r.e.require(v == any(errA), "For panicked with ", text(v), ", want ", errA)
					r.e.require(in.Load() == 0, int(in.Load()), " calls go on after For has panicked")
					return fibonacciByJoin(ctx, 6)
				})
				r.gives(f, 8)
				r.fails(r.spawn(func(ctx context.Context) (int, error) { return 0, task.For(ctx, 64, body(new(atomic.Int32))) }), errA)
			}
		}),
	},
}
