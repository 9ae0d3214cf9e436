package conformance

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
)

// Join: rules X1 to X5, for what a task divides.
var joinClauses = []Clause{
	{
		Name: "task/join", Rule: "X1", Kind: Stochastic,
		Why: "Join calls the function with both arguments, once each, and returns the values in their order, whatever other goroutines start meanwhile, and leaves no part Pending",
		Check: tasks(func(r *runner) {
			for range r.e.rounds() {
				const depth = 6
				var runs, left atomic.Int32
				f := r.spawn(func(ctx context.Context) (int, error) { return halve(ctx, span{0, 1 << depth}, &runs, &left) })
				r.gives(f, 1<<depth)
				r.e.require(runs.Load() == 1<<depth, "of ", 1<<depth, " parts ", int(runs.Load()), " were called")
				r.drive()
				r.until("the tasks that parts have started to be over", func() bool { return r.x.Pending() == 0 })
				r.e.require(left.Load() == 1<<depth/8, "of ", 1<<depth/8, " tasks that parts have started ", int(left.Load()), " have run")
			}
		}),
	},
	{
		Name: "task/join-in-parts", Rule: "X1",
		Why: "a part may do what a task may: start others, wait for them, yield, and divide its work again",
		Check: tasks(func(r *runner) {
			for _, taken := range r.takings() {
				part := func(ctx context.Context) (int, error) {
					ctx, stop := context.WithCancel(ctx) // one made of the part's is as good
					defer stop()
					f, g := task.ForkCall(ctx, fibonacci, 6), task.ForkCall(ctx, fibonacciByJoin, 7)
					if err := task.Yield(ctx); err != nil {
						return 0, err
					}
					v, err := f.Value(ctx)
					if err != nil {
						return 0, err
					}
					w, err := fibonacciByJoin(ctx, 5)
					if err != nil {
						return 0, err
					}
					last, err := g.Value(ctx)
					return v + w + last, err
				}
				f := r.spawn(func(ctx context.Context) (int, error) {
					x, y, err := parts(ctx, taken, part, part)
					return x + y, err
				})
				r.gives(f, 2*(8+5+13))
			}
		}),
	},
	{
		Name: "task/join-waits", Rule: "X1", Kind: Promised, Needs: overlapEager,
		Why: "Join returns, or panics as its first part did, when both parts are over, also if the task is canceled: what the second one uses is the task's, on whose stack it may be",
		Check: tasks(func(r *runner) {
			for _, first := range []func(context.Context) (int, error){returns(1), panicking(errA)} {
				for _, cancel := range []bool{false, true} {
					hold := r.e.gate()
					joined := make(chan struct{})
					f := r.spawn(func(ctx context.Context) (x int, err error) {
						defer close(joined)
						over, y := false, 0
						v := recovered(func() {
							x, y, err = parts(ctx, true, first, func(context.Context) (int, error) { hold.pass(); over = true; return 2, nil })
						})
						r.e.require(over && (x == 1) == (v == nil), "Join returned ", x, " and ", y, " or panicked with ", text(v), ", and that the second part was over is ", over)
						return 3, err
					})
					r.reached(hold, 1)
					if cancel {
						r.cancel(f)
					}
					c := start(r.e, "Join", func() struct{} { return <-joined })
					c.blocks("a part is unfinished")
					hold.open()
					done(r, c)
					if cancel {
						r.off(f)
					} else {
						r.gives(f, 3)
					}
				}
			}
		}),
	},
	{
		Name: "task/join-error", Rule: "X4",
		Why: "both parts are called, also if the first returns an error: Join returns that one, or else the second one's, as it is, and no values",
		Check: tasks(func(r *runner) {
			for _, taken := range r.takings() {
				for _, c := range []struct{ first, second, want error }{{errA, nil, errA}, {nil, errB, errB}, {errA, errB, errA}} {
					called := 0
					f := r.spawn(func(ctx context.Context) (int, error) {
						x, y, err := parts(ctx, taken, raises(1, c.first), func(context.Context) (int, error) { called++; return 2, c.second })
						r.e.same("what Join returned", err, c.want)
						r.e.require(x == 0 && y == 0, "beside an error Join returned ", x, " and ", y)
						return called, nil
					})
					r.gives(f, 1)
				}
			}
		}),
	},
	{
		Name: "task/join-panic", Rule: "X4",
		Why: "a panic of a part is one of Join with the same value, no matter who has taken it: who recovers it can go on, and else the task fails of it",
		Check: tasks(func(r *runner) {
			for _, taken := range r.takings() {
				for _, c := range [][2]func(context.Context) (int, error){
					{panicking(errA), returns(1)},
					{returns(1), panicking(errA)},
					{panicking(errA), panicking(errB)},
				} {
					f := r.spawn(func(ctx context.Context) (int, error) {
						v := recovered(func() { _, _, _ = parts(ctx, taken, c[0], c[1]) })
						r.e.require(v == any(errA), "Join panicked with ", text(v), ", want ", errA)
						return fibonacciByJoin(ctx, 6)
					})
					r.gives(f, 8)
					r.fails(r.spawn(func(ctx context.Context) (int, error) {
						_, _, err := parts(ctx, taken, c[0], c[1])
						return 0, err
					}), errA)
				}
			}
		}),
	},
	{
		Name: "task/join-goexit", Rule: "X4", On: Platform{Goexit: true},
		Why: "runtime.Goexit in a part ends the task's goroutine, as in a call: the deferred functions of the task run, and it has failed with ErrGoexit",
		Check: tasks(func(r *runner) {
			for _, taken := range r.takings() {
				for _, c := range [][2]func(context.Context) (int, error){{exiting, returns(1)}, {returns(1), exiting}, {exiting, exiting}} {
					deferred := false
					f := r.spawn(func(ctx context.Context) (int, error) {
						defer func() { deferred = true }()
						_, _, err := parts(ctx, taken, c[0], c[1])
						r.e.fail("Join returned ", err, " although a part has called Goexit")
						return 0, nil
					})
					r.fails(f, task.ErrGoexit)
					r.e.require(deferred, "the deferred function of the task has not run")
					r.gives(r.spawn(func(ctx context.Context) (int, error) { return fibonacciByJoin(ctx, 6) }), 8)
				}
			}
		}),
	},
	{
		Name: "task/join-context", Rule: "X5",
		Why: "both parts are the task's: their context has what the one has that Join was called with, ends with the task, and knows it",
		Check: tasks(func(r *runner) {
			type valueOfJoin struct{}
			for _, taken := range r.takings() {
				for _, made := range []bool{false, true} {
					f := r.spawn(func(ctx context.Context) (int, error) {
						self := task.Current(ctx)
						if made {
							ctx = context.WithValue(ctx, valueOfJoin{}, 1)
						}
						look := func(ctx context.Context, canceled bool) {
							is, err := task.Canceled(ctx)
							r.e.require(is == canceled && err == nil, "in a part Canceled returned ", is, " and ", err, ", want ", canceled)
							r.e.require((ctx.Err() != nil) == canceled, "in a part of a task that was canceled (", canceled, ") the context's Err is ", ctx.Err())
							r.e.require(came(ctx.Done()) == canceled, "in a part of a task that was canceled (", canceled, ") the context's Done is not as that")
							r.e.require(task.Current(ctx) == self, "a part belongs to another task than the one that called Join")
							r.e.require((ctx.Value(valueOfJoin{}) != nil) == made, "the context of a part has not the values of Join's")
							r.e.require(task.Current(task.Detached(ctx)) == nil, "a part's context is the task's though it was detached")
						}
						sees := func(ctx context.Context) (int, error) { look(ctx, false); return 1, nil }
						part := func(ctx context.Context) (int, error) {
							_, _, err := parts(ctx, taken, sees, sees)
							return 1, err
						}
						if _, _, err := parts(ctx, taken, part, part); err != nil {
							return 0, err
						}
						_, _, err := parts(ctx, taken, sees,
							func(ctx context.Context) (int, error) { task.Current(ctx).Cancel(); look(ctx, true); return 1, nil })
						look(ctx, true)
						return 1, err
					})
					r.mine(r.answer(f).err)
					r.off(f)
				}
			}
		}),
	},
	{
		Name: "task/join-cycle", Rule: "X6", Lacks: overlapEager,
		Why: "a part that waits for the task it belongs to closes a circle, which is an error as any circle is, and not a hang",
		Check: tasks(func(r *runner) {
			var f *task.Future[int]
			var over atomic.Bool
			f = r.spawn(func(ctx context.Context) (int, error) {
				_, _, err := parts(ctx, false,
					func(ctx context.Context) (int, error) { return 1, task.Yield(ctx) }, // the second part begins, as a rule
					func(ctx context.Context) (int, error) {
						defer over.Store(true)
						return f.Value(ctx)
					})
				var ce *task.CycleError
				r.e.require(errors.As(err, &ce), "Join returned ", err, ", want a *task.CycleError")
				return 7, nil
			})
			r.gives(f, 7)
			r.drive()
			r.until("the part to be over", func() bool { return over.Load() && r.x.Pending() == 0 })
		}),
	},
	{
		Name: "task/join-not-retained", Rule: "X3", On: Platform{Heap: true},
		Why: "when Join is over, a task that goes on keeps neither the arguments of its parts nor their values",
		Check: tasks(func(r *runner) {
			const n, size = 32, 64 << 10
			base := heap()
			hold := r.e.gate()
			f := r.spawn(func(ctx context.Context) (int, error) {
				x, _, err := parts(ctx, false, func(ctx context.Context) (int, error) {
					value, err := burdened(ctx, burden{make([]byte, size), n})
					hold.pass()
					return len(value), err
				}, returns(0))
				return x, err
			})
			r.reached(hold, 1)
			kept := r.e.kept(base, n*size/8, r.idle)
			r.e.require(kept == 0, "after ", n, " nested calls of Join ", kept>>10, " KiB of the ", 4*n*size>>10, " KiB that their parts held are still reachable")
			hold.open()
			r.gives(f, size)
		}),
	},
}

// parts calls Join for first and second. If taken, first waits until second has begun, which
// another worker must have taken then.
func parts(ctx context.Context, taken bool, first, second func(context.Context) (int, error)) (x, y int, err error) {
	began := make(chan struct{})
	return task.Join(ctx, func(ctx context.Context, i int) (int, error) {
		if i == 1 {
			close(began)
			return second(ctx)
		}
		if taken {
			<-began
		}
		return first(ctx)
	}, 0, 1)
}

// takings returns the values that taken can have.
func (r *runner) takings() []bool {
	if p := r.e.Impl.Promises; p.Overlap && p.Eager {
		return []bool{false, true}
	}
	return []bool{false}
}

// recovered returns what f panicked with, or nil.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// fibonacciByJoin is fibonacci with one of the two for others to take.
func fibonacciByJoin(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	x, y, err := task.Join(ctx, fibonacciByJoin, n-2, n-1)
	return x + y, err
}

// burden is an argument that weighs something, and how often it is divided.
type burden struct {
	load  []byte
	depth int
}

// burdened divides b into two as heavy ones, of which the first is divided on, and returns what
// weighs as much.
func burdened(ctx context.Context, b burden) ([]byte, error) {
	size := len(b.load)
	if b.depth > 0 {
		_, _, err := task.Join(ctx, burdened, burden{make([]byte, size), b.depth - 1}, burden{make([]byte, size), 0})
		if err != nil {
			return nil, err
		}
	}
	b.load[0]++
	return make([]byte, size), nil
}

// span is the numbers from lo to before hi.
type span struct{ lo, hi int }

// halve divides s until parts are of one number, of which every eighth starts a task and does
// not wait for it, and returns how many there were.
func halve(ctx context.Context, s span, runs, left *atomic.Int32) (int, error) {
	if s.hi-s.lo == 1 {
		runs.Add(1)
		if s.lo%8 == 0 {
			task.Fork(ctx, func(context.Context) (int, error) { left.Add(1); return 0, nil })
		}
		return 1, nil
	}
	middle := (s.lo + s.hi) / 2
	x, y, err := task.Join(ctx, func(ctx context.Context, s span) (int, error) {
		n, err := halve(ctx, s, runs, left)
		if err == nil && n != s.hi-s.lo {
			err = errors.New("conformance: a part has the value of another one")
		}
		return n, err
	}, span{s.lo, middle}, span{middle, s.hi})
	return x + y, err
}
