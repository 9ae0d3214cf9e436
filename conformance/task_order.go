package conformance

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/task"
)

// X6: executors that run tasks only on demand.
var onDemandClauses = []Clause{
	{
		Name: "task/order-trace", Rule: "X6", Needs: startOrder, Lacks: overlapEager,
		Why: "two tasks that write A, B and 1, 2 and yield in between write A1B2: one that yields waits until all that were ready have had their turn",
		Check: tasks(func(r *runner) {
			t := &tape{}
			twice := func(first, second string) func(context.Context) error {
				return func(ctx context.Context) error {
					t.note(first)
					if err := task.Yield(ctx); err != nil {
						return err
					}
					t.note(second)
					return nil
				}
			}
			r.start(twice("A", "B"))
			r.start(twice("1", "2"))
			n := r.flushes(0)
			r.e.require(t.text() == "A1B2", "the trace is “", t.text(), "”, want “A1B2”")
			r.e.require(n == 4, "Flush took ", n, " steps, want 4")
		}),
	},
	{
		Name: "task/order-start", Rule: "X6", Needs: startOrder, Lacks: overlapEager,
		Why: "tasks start in the order in which they were accepted: who knows the program knows what happens",
		Check: tasks(func(r *runner) {
			const n = 100
			var order []int
			for i := range n {
				r.start(func(ctx context.Context) error {
					order = append(order, i)
					if i%10 == 0 {
						task.Fork(ctx, func(context.Context) (int, error) {
							order = append(order, n+i/10)
							return 0, nil
						})
					}
					return nil
				})
			}
			steps := r.flushes(0)
			r.e.require(steps == n+n/10, "Flush took ", steps, " steps, want ", n+n/10)
			for i, v := range order {
				r.e.require(v == i, "the tasks ran in order ", order)
			}
		}),
	},
	{
		Name: "task/order-awaited-first", Rule: "X6", Needs: startOrder, Lacks: overlapEager,
		Why: "what a task waits for runs next, inside the wait and ahead of all that are ready: a wait is like a call",
		Check: tasks(func(r *runner) {
			t := &tape{}
			var last *task.Future[int]
			f := r.spawn(func(ctx context.Context) (int, error) {
				t.note("(")
				v, err := last.Value(ctx)
				t.note(")")
				return v, err
			})
			r.spawn(func(context.Context) (int, error) { t.note("x"); return 0, nil })
			last = r.spawn(func(ctx context.Context) (int, error) {
				t.note("[")
				v, err := task.Fork(ctx, func(context.Context) (int, error) { t.note("7"); return 7, nil }).Value(ctx)
				t.note("]")
				return v, err
			})
			r.gives(f, 7)
			r.e.require(t.text() == "([7])", "the trace is “", t.text(), "”, want “([7])”: Value runs what it needs, and no more")
			r.flushes(0)
			r.e.require(t.text() == "([7])x", "the trace is “", t.text(), "”, want “([7])x”")
		}),
	},
	{
		Name: "task/flush-counts-steps", Rule: "X6", Lacks: eager,
		Why: "tasks run in Flush, Wait and Value only, and Flush returns how many steps it took, a step being what a task does up to where it yields or returns, and less than the limit only if no task was ready",
		Check: tasks(func(r *runner) {
			r.e.require(r.flushes(0) == 0, "Flush took steps, and there is no task")
			var ran atomic.Bool
			f := r.spawn(func(context.Context) (int, error) { ran.Store(true); return 1, nil })
			r.is(f, task.Pending)
			r.e.Settle()
			r.e.require(!ran.Load(), "a task ran although no goroutine was in Flush, Wait or Value")
			g := r.spawn(returns(2))
			r.e.require(r.cancel(g), "a task that has not begun could not be canceled")
			r.off(g)
			r.pending(1, "one of two was canceled")
			r.e.require(r.flushes(0) == 1 && ran.Load(), "Flush has not taken the one step that there was")
			r.gives(f, 1)
			three := func(ctx context.Context) error {
				for range 2 {
					if err := task.Yield(ctx); err != nil {
						return err
					}
				}
				return nil
			}
			for range 4 {
				r.start(three)
			}
			for _, c := range []struct{ limit, want int }{{1, 1}, {5, 5}, {2, 2}, {10, 4}, {10, 0}} {
				n := r.flushes(c.limit)
				r.e.require(n == c.want, "Flush(", c.limit, ") returned ", n, ", want ", c.want)
			}
			r.pending(0, "every task has had its steps")
		}),
	},
	{
		Name: "task/flush-budget", Rule: "X6", Lacks: eager,
		Why: "a Flush without a limit has a budget of 1,024 steps: tasks that yield for ever do not keep its caller",
		Check: tasks(func(r *runner) {
			stop := false
			f := r.spawn(func(ctx context.Context) (int, error) {
				for !stop {
					if err := task.Yield(ctx); err != nil {
						return 0, err
					}
				}
				return 1, nil
			})
			for _, limit := range []int{0, -1, task.FlushLimit} {
				n := r.flushes(limit)
				r.e.require(n == task.FlushLimit, "Flush(", limit, ") returned ", n, ", want ", task.FlushLimit)
			}
			stop = true
			n := r.flushes(0)
			r.e.require(n == 1, "Flush returned ", n, ", want the last step of a task")
			r.gives(f, 1)
		}),
	},
	{
		Name: "task/flush-in-a-task", Rule: "X6", Lacks: eager,
		Why: "Flush inside a task, or while another goroutine runs tasks, runs none and returns 0: one task runs at a time",
		Check: tasks(func(r *runner) {
			hold := r.e.gate()
			ran := false
			f := r.spawn(func(context.Context) (int, error) {
				before := ran
				n := r.x.Flush(0)
				r.e.require(n == 0 && ran == before, "Flush inside a task took ", n, " steps")
				hold.pass()
				return 1, nil
			})
			g := r.spawn(func(context.Context) (int, error) { ran = true; return 2, nil })
			r.reached(hold, 1)
			n := atOnce(r, "Flush", func() int { return r.x.Flush(0) })
			r.e.require(n == 0, "Flush took ", n, " steps while another goroutine ran tasks")
			hold.open()
			r.gives(f, 1)
			r.gives(g, 2)
		}),
	},
	{
		Name: "task/one-at-a-time", Rule: "X6", Kind: Stochastic, Lacks: overlapEager,
		Why: "without Overlap one task is in progress at a time, however many goroutines ask for tasks to run",
		Check: tasks(func(r *runner) {
			for range r.e.rounds() {
				var inside atomic.Int32
				step := func() {
					r.e.require(inside.Add(1) == 1, "two tasks are in progress at once")
					yield()
					inside.Add(-1)
				}
				var all [24]*task.Future[int]
				for i := range all {
					all[i] = r.spawn(func(ctx context.Context) (int, error) {
						step()
						if err := task.Yield(ctx); err != nil {
							return 0, err
						}
						step()
						if i > 0 && i%3 == 0 {
							_, err := all[i-1].Value(ctx)
							step()
							return i, err
						}
						return i, nil
					})
				}
				calls := several(6, func(i int) *call[answer] { return r.value(all[len(all)-1-i*3], context.Background()) })
				flush := start(r.e, "Flush", func() int { return r.x.Flush(0) })
				for _, c := range calls {
					a := c.get()
					r.mine(a.err)
					r.e.require(a.err == nil, "Value returned ", a.String())
				}
				flush.get()
				r.givesAll(all[:])
			}
		}),
	},
	{
		Name: "task/waiters-take-over", Rule: "X6", Kind: Stochastic, Lacks: eager,
		Why: "when the one who runs tasks has what it wants another one who waits goes on in its place, and so does one whose runner gives up: none is forgotten",
		Check: tasks(func(r *runner) {
			rng := r.e.random()
			for range r.e.rounds() {
				const n = 8
				var all [n]*task.Future[int]
				for i := range all {
					turns := rng.IntN(4)
					all[i] = r.spawn(func(ctx context.Context) (int, error) {
						for range turns {
							yield()
							if err := task.Yield(ctx); err != nil {
								return 0, err
							}
						}
						return i, nil
					})
				}
				var calls [n]*call[answer]
				for i, k := range rng.Perm(n) {
					calls[i] = start(r.e, "Value", func() (a answer) {
						a.v, a.err = all[k].Value(context.Background())
						a.v -= k
						return a
					})
				}
				for _, c := range calls {
					a := c.get()
					r.e.require(a == answer{}, "Value returned ", a.err)
				}
			}
		}),
	},
	{
		Name: "task/cycle", Rule: "X6", Lacks: overlapEager,
		Why: "a circle of tasks that wait for each other is an error that names it, to the one that closes it, and not a hang",
		Check: tasks(func(r *runner) {
			before := 0 // tasks that were started
			for n := 1; n <= 5; n++ {
				var all []*task.Future[int]
				var found *task.CycleError
				errs, closer := 0, 0
				for i := range n {
					all = append(all, r.spawn(func(ctx context.Context) (int, error) {
						_, err := all[(i+1)%n].Value(ctx)
						var ce *task.CycleError
						if errors.As(err, &ce) {
							errs++
							found, closer = ce, i
							return i, nil // the one that closes the circle goes on
						}
						return i, err
					}))
				}
				r.givesAll(all)
				r.e.require(errs == 1, errs, " of ", n, " tasks were told that they wait for each other, want 1")
				r.e.require(len(found.Tasks) == n, "a circle of ", n, " tasks is said to have ", len(found.Tasks))
				for i, got := range found.Tasks {
					want := before + 1 + (closer+i)%n
					r.e.require(got == uint64(want), "a circle of the tasks from ", before+1, " to ", before+n, " is said to be “", found.Error(), "”")
				}
				before += n
			}
		}),
	},
	{
		Name: "task/no-cycle", Rule: "X6", Lacks: eager,
		Why: "waits that look like a circle and are none go well: a task that was waited for before, that waits for one that is over, or for one that it has canceled",
		Check: tasks(func(r *runner) {
			var f, g *task.Future[int]
			f = r.spawn(func(ctx context.Context) (int, error) {
				v, err := g.Value(ctx)
				return v + 1, err
			})
			g = r.spawn(func(ctx context.Context) (int, error) {
				h := task.Fork(ctx, func(ctx context.Context) (int, error) {
					if err := task.Yield(ctx); err != nil {
						return 0, err
					}
					return 1, nil
				})
				v, err := h.Value(ctx)
				if err != nil {
					return 0, err
				}
				w, err := h.Value(ctx)
				return v + w, err
			})
			r.gives(f, 3)
			k := r.spawn(func(ctx context.Context) (int, error) { return f.Value(ctx) })
			r.gives(k, 3)
			f = r.spawn(func(ctx context.Context) (int, error) {
				_, err := g.Value(ctx)
				return 1, err
			})
			g = r.spawn(func(ctx context.Context) (int, error) {
				f.Cancel()
				_, err := f.Value(ctx)
				r.e.require(errors.Is(err, context.Canceled), "Value of a canceled task returned ", err)
				return 2, nil
			})
			r.drive()
			r.gives(g, 2)
			r.off(f)
		}),
	},
}

// X7 and X8: what some executors promise beyond the contract.
var taskPromiseClauses = []Clause{
	{
		Name: "task/promise-eager", Rule: "X7", Kind: Promised, Needs: eager,
		Why: "Eager is promised: an accepted task runs although no goroutine is in Flush, Wait or Value",
		Check: tasks(func(r *runner) {
			for i := range 3 {
				ran := r.e.gate()
				ran.open()
				f := r.spawn(func(context.Context) (int, error) { ran.pass(); return i, nil })
				r.reached(ran, 1)
				<-f.Done()
				r.gives(f, i)
			}
		}),
	},
	{
		Name: "task/promise-overlap-forks", Rule: "X7", Kind: Promised, Needs: overlapEager,
		Why: "Overlap is promised: the tasks that one starts run although it waits for something else, and so may what they are to open for it",
		Check: tasks(func(r *runner) {
			for range 4 {
				f := r.spawn(func(ctx context.Context) (int, error) {
					done := make(chan int)
					const n = 5
					for i := range n {
						task.Fork(ctx, func(context.Context) (int, error) {
							done <- i
							return 0, nil
						})
					}
					sum := 0
					for range n {
						sum += <-done
					}
					return sum, nil
				})
				r.gives(f, 10)
			}
		}),
	},
	{
		Name: "task/flush-of-eager", Rule: "X7", Kind: Promised, Needs: eager,
		Why: "Flush of an executor whose tasks run by themselves does nothing and returns 0: programs that call it run on both kinds",
		Check: tasks(func(r *runner) {
			f, hold := r.held(returns(1))
			for _, limit := range []int{0, 1, -1, 5000} {
				n := atOnce(r, "Flush", func() int { return r.x.Flush(limit) })
				r.e.require(n == 0, "Flush(", limit, ") returned ", n, ", want 0")
			}
			hold.open()
			r.gives(f, 1)
			g := r.spawn(func(context.Context) (int, error) { return r.x.Flush(0), nil })
			r.gives(g, 0)
		}),
	},
	{
		Name: "task/promise-deterministic", Rule: "X6", Kind: Promised, Needs: dyno.Promises{Deterministic: true},
		Why: "Deterministic is promised: the same calls in the same order have the same tasks do the same things in the same order",
		Check: check(func(e *Env) {
			run := func() []string {
				r := e.runner()
				defer r.abandon()
				t := &tape{}
				var all []*task.Future[int]
				for i := range 12 {
					all = append(all, task.Go(r.x, func(ctx context.Context) (int, error) {
						t.note("s", i, " ")
						g := task.Fork(ctx, func(ctx context.Context) (int, error) {
							t.note("f", i, " ")
							err := task.Yield(ctx)
							t.note("g", i, " ")
							return i, err
						})
						if i%3 == 0 {
							_, _ = g.Value(ctx)
							t.note("v", i, " ")
						}
						if i%4 == 1 {
							_, _ = all[i-1].Value(ctx)
							t.note("w", i, " ")
						}
						if i == 5 {
							all[7].Cancel()
						}
						err := task.Yield(ctx)
						t.note("e", i, " ")
						return i, err
					}))
				}
				t.note(r.x.Flush(5), " ")
				_, _ = all[9].Value(context.Background())
				t.note("| ")
				t.note(r.x.Flush(0))
				r.e.require(r.x.Pending() == 0, r.x.Pending(), " tasks are Pending after Flush")
				return t.read()
			}
			first := start(e, "a run of an executor", run).get()
			for range 10 {
				again := start(e, "a run of an executor", run).get()
				e.require(slices.Equal(first, again), "two runs did “", quote(first), "” and “", quote(again), "”")
			}
		}),
	},
}
