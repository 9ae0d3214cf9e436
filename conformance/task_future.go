package conformance

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
)

// X3: futures of futures.
var futureClauses = []Clause{
	{
		Name: "task/future-failure-to-all", Rule: "X3",
		Why: "the failure of a future is raised to every caller, in a task or not: the same *task.Error, so that it can be told apart",
		Check: tasks(func(r *runner) {
			for _, body := range []func(context.Context) (int, error){
				raises(1, errA),
				panicking(errA),
			} {
				f, hold := r.held(body)
				first := r.value(f, context.Background())
				in := several(3, func(int) *task.Future[int] { return r.spawn(f.Value) })
				hold.open()
				a := done(r, first)
				r.e.require(a.v == 0 && errors.Is(a.err, errA), "Value returned ", a.String())
				_, is := a.err.(*task.Error)
				r.e.require(is, "the failure is ", a.err, ", want a *task.Error")
				for _, g := range in {
					b := r.answer(g)
					var te *task.Error
					r.e.require(errors.As(b.err, &te) && te.Cause == a.err, "a task that returned the failure of another one failed with ", b.err, ", whose cause is not that failure")
				}
				for range 3 {
					b := r.value(f, context.Background()).get()
					r.e.require(b == a, "Value returned ", b.String(), " and ", a.String(), " before")
					r.e.same("what Wait returned", f.Handle().Wait(nil), a.err)
				}
			}
		}),
	},
	{
		Name: "task/future-diamond", Rule: "X6",
		Why: "two tasks that wait for a third, and one that waits for both: the shared one runs once and stops no task",
		Check: tasks(func(r *runner) {
			const wide = 12
			var runs atomic.Int32
			f := r.spawn(func(ctx context.Context) (int, error) {
				below := task.Fork(ctx, func(ctx context.Context) (int, error) {
					runs.Add(1)
					return 1, task.Yield(ctx)
				})
				// A row of pairs, each of which waits for both of the row before.
				a, b := below, below
				for range wide {
					both := func(l, r *task.Future[int]) func(context.Context) (int, error) {
						return func(ctx context.Context) (int, error) {
							v, err := l.Value(ctx)
							if err != nil {
								return 0, err
							}
							w, err := r.Value(ctx)
							return v + w, err
						}
					}
					a, b = task.Fork(ctx, both(a, b)), task.Fork(ctx, both(b, a))
				}
				return a.Value(ctx)
			})
			r.gives(f, 1<<wide)
			r.e.require(runs.Load() == 1, "the shared task ran ", int(runs.Load()), " times")
		}),
	},
	{
		Name: "task/future-tree", Rule: "X3",
		Why: "tasks fork and join like a recursion, hundreds deep as well: every one is counted once, and it must neither stop nor overflow",
		Check: tasks(func(r *runner) {
			if r.e.Platform.Heap {
				r.gives(r.spawn(func(ctx context.Context) (int, error) { return descend(ctx, 1000) }), 1000)
				r.gives(r.spawn(func(ctx context.Context) (int, error) { return descend(ctx, 300) }), 300)
			}
			r.gives(r.spawn(func(ctx context.Context) (int, error) { return fibonacci(ctx, 13) }), 233)
		}),
	},
	{
		Name: "task/future-joins-in-any-order", Rule: "X3", Kind: Stochastic,
		Why: "a task waits for those that it started in any order, oldest or newest first: what it waits for runs",
		Check: tasks(func(r *runner) {
			rng := r.e.random()
			for range r.e.rounds() {
				const n = 64
				order := rng.Perm(n)
				f := r.spawn(func(ctx context.Context) (int, error) {
					var all [n]*task.Future[int]
					for i := range all {
						all[i] = task.Fork(ctx, func(ctx context.Context) (int, error) {
							if i%5 == 0 {
								v, err := task.Fork(ctx, returns(i)).Value(ctx)
								return v, err
							}
							if i%7 == 0 {
								return i, task.Yield(ctx)
							}
							return i, nil
						})
					}
					sum := 0
					for _, i := range order {
						v, err := all[i].Value(ctx)
						r.e.require(v == i && err == nil, "the value of task ", i, " is ", answer{v, err}.String())
						sum += v
					}
					return sum, nil
				})
				r.gives(f, n*(n-1)/2)
			}
		}),
	},
}

// descend starts a task that does the same one step deeper, and waits for it.
func descend(ctx context.Context, depth int) (int, error) {
	if depth == 0 {
		return 0, nil
	}
	v, err := task.ForkCall(ctx, descend, depth-1).Value(ctx)
	return v + 1, err
}

// fibonacci is as it is in every textbook, with a task for one of the two.
func fibonacci(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	f := task.ForkCall(ctx, fibonacci, n-1)
	v, err := fibonacci(ctx, n-2)
	if err != nil {
		return 0, err
	}
	w, err := f.Value(ctx)
	return v + w, err
}

// X4: what a failure looks like.
var taskErrorClauses = []Clause{
	{
		Name: "task/error", Rule: "X4",
		Why: "an error that a task returns, even beside a value, becomes a *task.Error with it as the cause, and no value, which errors.Is and errors.As see through",
		Check: tasks(func(r *runner) {
			want := &coded{code: 42}
			f := r.spawn(raises(7, want))
			te := r.fails(f, want)
			var c *coded
			r.e.require(errors.Is(te, want) && errors.As(error(te), &c) && c == want, "errors.Is or errors.As does not find the cause in ", te)
			r.e.require(te.Panic == nil && len(te.Stack) == 0, "a task that returned an error is said to have panicked")
			r.e.require(te.Message != "" && contains(te.Error(), te.Message) && contains(te.Error(), want.Error()), "the error says “", te.Error(), "”, want message and cause")
			h := r.start(func(context.Context) error { return want })
			err := done(r, start(r.e, "Wait", func() error { return h.Wait(nil) }))
			r.e.require(errors.As(err, &te) && te.Cause == want, "Wait returned ", err)
		}),
	},
	{
		Name: "task/panic", Rule: "X4",
		Why: "a panic of a task, also a run-time error's, is its failure, with the stack and what it panicked with, which errors.Is and errors.As find if it is an error; neither a worker nor the process ends",
		Check: tasks(func(r *runner) {
			want := &coded{code: 42}
			for _, v := range []any{"boom", 7, want} {
				cause, _ := v.(error)
				te := r.fails(r.spawn(panicking(v)), cause)
				r.e.require(te.Panic == v, "the value that the task panicked with is lost: ", te.Error())
				r.e.require(cause != nil || contains(te.Error(), text(v)), "the error says “", te.Error(), "”, and not what the task panicked with")
				r.e.require(!r.e.Platform.Stacks || contains(string(te.Stack), "conformance.explode"), "the stack does not show the function that panicked:\n", string(te.Stack))
				var c *coded
				r.e.require(v != any(want) || errors.Is(te, want) && errors.As(error(te), &c), "the error does not carry the one that the task panicked with: ", te)
			}
			if r.e.Platform.RuntimePanics {
				var none []int
				a := r.answer(r.spawn(func(context.Context) (int, error) { return none[r.e.Seed%7], nil }))
				var re runtime.Error
				r.e.require(errors.As(a.err, &re), "the failure is ", a.err, ", want one that unwraps to a runtime.Error")
			}
			r.gives(r.spawn(returns(1)), 1)
		}),
	},
}

// X4: runtime.Goexit.
var taskGoexitClauses = []Clause{
	{
		Name: "task/goexit", Rule: "X4", On: Platform{Goexit: true},
		Why: "a task that calls runtime.Goexit, as FailNow of a test does, has failed with ErrGoexit; without it those who wait do so for ever",
		Check: tasks(func(r *runner) {
			r.fails(r.spawn(exiting), task.ErrGoexit)
			a := r.answer(r.spawn(panicking(nil)))
			r.e.require(a.err != nil && a.v == 0, "after a panic with nil Value returned ", a.String())
			f, hold := r.held(exiting)
			w := r.value(f, context.Background())
			w.blocks("the task is unfinished")
			hold.open()
			a = done(r, w)
			r.e.require(errors.Is(a.err, task.ErrGoexit), "Value returned ", a.String())
			r.gives(r.spawn(returns(1)), 1)
			r.pending(0, "all are over")
		}),
	},
	{
		Name: "task/goexit-nested", Rule: "X4", On: Platform{Goexit: true},
		Why: "if a task that another one waits for calls Goexit, the other one learns it, or fails with ErrGoexit too where it ran inside it; nothing hangs",
		Check: tasks(func(r *runner) {
			f := r.spawn(func(ctx context.Context) (int, error) {
				_, err := task.Fork(ctx, exiting).Value(ctx)
				r.e.require(errors.Is(err, task.ErrGoexit), "Value returned ", err, ", want ", task.ErrGoexit)
				return 1, nil
			})
			outside := r.value(f, context.Background())
			a := r.answer(f)
			r.e.require(a == answer{v: 1} || errors.Is(a.err, task.ErrGoexit) && a.v == 0, "Value returned ", a.String())
			r.e.require(done(r, outside) == a, "two of those who waited got different answers")
			r.until("no task to be Pending", func() bool { return r.x.Pending() == 0 })
			r.gives(r.spawn(returns(1)), 1)
		}),
	},
}

// X5: inside a task.
var insideClauses = []Clause{
	{
		Name: "task/outside", Rule: "X5",
		Why: "Yield and Canceled outside a task are ErrOutside, not a silent false: who calls them there is mistaken",
		Check: tasks(func(r *runner) {
			look := func(what string, ctx context.Context) {
				r.e.same("what Yield returned with "+what, task.Yield(ctx), task.ErrOutside)
				canceled, err := task.Canceled(ctx)
				r.e.require(!canceled && err == task.ErrOutside, "Canceled with ", what, " returned (", canceled, ", ", err, "), want (false, ", task.ErrOutside, ")")
				r.e.require(task.Current(ctx) == nil, "there is a task in ", what)
			}
			look("a background context", context.Background())
			look("an ended context", ended(errStop))
			f := r.spawn(func(ctx context.Context) (int, error) {
				look("a detached context", task.Detached(ctx))
				return 1, nil
			})
			r.gives(f, 1)
		}),
	},
	{
		Name: "task/yield-lets-others-run", Rule: "X7",
		Why: "a task that yields until another one has done something gets there: every task that is ready runs some time",
		Check: tasks(func(r *runner) {
			for range 8 {
				var here, there atomic.Int32
				const turns = 20
				play := func(mine, other *atomic.Int32) func(context.Context) (int, error) {
					return func(ctx context.Context) (int, error) {
						for i := range int32(turns) {
							mine.Store(i + 1)
							for other.Load() <= i {
								if err := task.Yield(ctx); err != nil {
									return 0, err
								}
							}
						}
						return int(mine.Load()), nil
					}
				}
				f, g := task.Go(r.x, play(&here, &there)), task.Go(r.x, play(&there, &here))
				r.gives(f, turns)
				r.gives(g, turns)
			}
		}),
	},
	{
		Name: "task/current", Rule: "X5",
		Why: "the context of a task knows that task, after others have run inside its waits as well",
		Check: tasks(func(r *runner) {
			var self atomic.Pointer[task.Handle]
			ready := r.e.gate()
			f := r.spawn(func(ctx context.Context) (int, error) {
				<-ready.opened
				r.e.require(task.Current(ctx) == self.Load(), "the context of a task knows another one")
				v, err := task.Fork(ctx, func(inner context.Context) (int, error) {
					r.e.require(task.Current(inner) != self.Load(), "the context of a task is that of the one who started it")
					return 1, task.Yield(inner)
				}).Value(ctx)
				r.e.require(task.Current(ctx) == self.Load(), "the context of a task knows another one after a wait")
				return v, err
			})
			self.Store(f.Handle())
			ready.open()
			r.gives(f, 1)
		}),
	},
}
