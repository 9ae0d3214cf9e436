package conformance

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/task"
)

// long is a time that is over.
var long = time.Unix(0, 0)

// X2: Cancel.
var taskCancelClauses = []Clause{
	{
		Name: "task/cancel-before-start", Rule: "X2", Kind: Stochastic,
		Why: "a task that was canceled before it has begun never runs: the caller may have taken away what it needs",
		Check: tasks(func(r *runner) {
			const n = 60
			tried, late := 0, new(atomic.Int32)
			for range r.e.rounds() {
				var canceled [n]atomic.Bool
				for i := range n {
					f := task.Go(r.x, func(context.Context) (int, error) {
						if canceled[i].Load() {
							late.Add(1) // it began when Cancel had returned
						}
						return 1, nil
					})
					if f.Cancel() {
						canceled[i].Store(true)
					}
				}
				tried += n
				r.drive()
				r.until("no task to be Pending", func() bool { return r.x.Pending() == 0 })
				r.idle()
			}
			r.late(int(late.Load()), tried)
		}),
	},
	{
		Name: "task/cancel-in-progress", Rule: "X2",
		Why: "a task that is canceled in progress is over at once as far as others can see, and what it returns is dropped; Cancel says whether it ended the task, and ends no other",
		Check: tasks(func(r *runner) {
			for _, body := range []func(context.Context) (int, error){
				returns(1), raises(0, errA),
				panicking("boom"),
			} {
				f, hold := r.held(body)
				stay := r.e.gate()
				other := r.spawn(func(ctx context.Context) (int, error) {
					stay.pass()
					return 2, ctx.Err()
				})
				r.e.require(r.cancel(f), "a task in progress could not be canceled")
				r.off(f)
				r.is(other, task.Pending)
				r.e.require(!r.cancel(f), "a task was canceled twice")
				hold.open()
				stay.open()
				r.gives(other, 2)
				r.idle()
				r.off(f)
				r.e.require(!r.cancel(f), "a task was canceled twice")
				g := r.spawn(body)
				_ = r.answer(g)
				was := g.Status()
				r.e.require(!r.cancel(g), "a task that was over was canceled")
				r.is(g, was)
			}
		}),
	},
	{
		Name: "task/cancel-releases-waiters", Rule: "X2",
		Why: "who waits for a task that is canceled is released at once, although the task takes no notice",
		Check: tasks(func(r *runner) {
			f, hold := r.held(returns(1))
			calls := several(4, func(int) *call[answer] { return r.value(f, context.Background()) })
			calls[0].blocks("the task is unfinished")
			r.cancel(f)
			first := calls[0].get()
			r.e.require(errors.Is(first.err, context.Canceled) && first.v == 0, "Value returned ", first.String())
			for _, c := range calls {
				a := c.get()
				r.e.require(a == first, "two of those who waited got ", a.String(), " and ", first.String())
			}
			hold.open()
		}),
	},
	{
		Name: "task/cancel-ends-context-at-once", Rule: "X2",
		Why: "when Cancel has returned the task's context has ended, also one that was made of it: that is how it learns that it should stop",
		Check: tasks(func(r *runner) {
			for range 8 {
				contexts := make(chan context.Context, 2)
				f, hold := r.held(returns(1))
				hold.open()
				r.gives(f, 1)
				stay := r.e.gate()
				g := r.spawn(func(ctx context.Context) (int, error) {
					made, cancel := context.WithCancel(ctx)
					defer cancel()
					contexts <- ctx
					contexts <- made
					stay.pass()
					return 1, nil
				})
				r.reached(stay, 1)
				ctx, made := <-contexts, <-contexts
				r.e.require(ctx.Err() == nil && made.Err() == nil, "the context of a task in progress has ended")
				both := atOnce(r, "Cancel", func() bool {
					g.Cancel()
					return came(ctx.Done()) && ctx.Err() == context.Canceled && made.Err() == context.Canceled
				})
				r.e.require(both, "Cancel has returned, and the task's context is alive")
				stay.open()
			}
		}),
	},
	{
		Name: "task/cancel-in-a-task", Rule: "X2",
		Why: "a task finds itself Pending; it may cancel itself and go on: then it is Cancelled, and what it returns is dropped",
		Check: tasks(func(r *runner) {
			f := r.spawn(func(ctx context.Context) (int, error) {
				h := task.Current(ctx)
				r.e.require(h.Status() == task.Pending, "a task in progress finds itself ", h.Status().String())
				is, err := task.Canceled(ctx)
				r.e.require(!is && err == nil, "Canceled in a task that was not returned (", is, ", ", err, ")")
				r.e.require(h.Cancel(), "a task could not cancel itself")
				r.e.require(h.Status() == task.Cancelled, "a task that was canceled finds itself ", h.Status().String())
				is, err = task.Canceled(ctx)
				r.e.require(is && err == nil, "Canceled in a task that was canceled returned (", is, ", ", err, ")")
				r.e.require(ctx.Err() == context.Canceled, "the context of a task that has canceled itself is alive")
				return 1, nil
			})
			_ = r.answer(f)
			r.off(f)
		}),
	},
	{
		Name: "task/cancel-yielded", Rule: "X2",
		Why: "a task that is canceled while it has yielded goes on, sees that it was canceled, and can clean up: it is not torn down",
		Check: tasks(func(r *runner) {
			hold := r.e.gate()
			hold.open()
			seen := make(chan error, 1)
			// No Settle: one who yields all the time never settles.
			f := task.Go(r.x, func(ctx context.Context) (int, error) {
				hold.pass()
				for ctx.Err() == nil {
					if err := task.Yield(ctx); err != nil {
						return 0, err
					}
				}
				seen <- task.Yield(ctx) // also after it was canceled
				return 0, nil
			})
			g := task.Go(r.x, func(ctx context.Context) (int, error) {
				for task.Yield(ctx) == nil {
					select {
					case <-hold.arrived:
						f.Cancel()
						return 1, nil
					default:
					}
				}
				return 0, nil
			})
			r.e.waitFor("a task that cancels another one")
			a := r.value(g, context.Background()).await()
			r.e.require(a == answer{v: 1}, "Value returned ", a.String(), ", want 1")
			r.e.waitFor("a canceled task to go on")
			r.drive()
			err := <-seen
			r.e.same("what Yield returned in a canceled task", err, nil)
			r.off(f)
		}),
	},
	{
		Name: "task/context-ends-with-task", Rule: "X2",
		Why: "the context of a task ends when the task is over: what hung onto it is released, and nothing is leaked",
		Check: tasks(func(r *runner) {
			for _, err := range []error{nil, errA} {
				contexts := make(chan context.Context, 2)
				for _, asked := range []bool{true, false} {
					f := r.spawn(func(ctx context.Context) (int, error) {
						if asked {
							_ = ctx.Done()
						}
						contexts <- ctx
						return 1, err
					})
					_ = r.answer(f)
					ctx := <-contexts
					r.e.require(ctx.Err() == context.Canceled, "the context of a task that is over has error ", ctx.Err())
					select {
					case <-ctx.Done():
					default:
						r.e.fail("the context of a task that is over has not ended")
					}
				}
			}
		}),
	},
}

// late demands that as few of n tasks as can be began after they were canceled.
// Between the moment at which an executor makes sure that a task was not canceled
// and the task's first act it may be canceled; but that is a short time, and
// the task has begun then. One that runs tasks one at a time has no such moment.
func (r *runner) late(began, n int) {
	most := 0
	if r.e.Impl.Promises.Overlap {
		most = n / 4
	}
	r.e.require(began <= most, began, " of ", n, " tasks began after they were canceled")
}

// verdict says in a word what became of a task, if state and answer agree.
func verdict(s task.Status, a answer) string {
	te, _ := a.err.(*task.Error)
	switch {
	case s == task.Resolved && a.err == nil:
		return text(a.v)
	case s == task.Failed && te != nil && a.v == 0 && !errors.Is(te, context.Canceled):
		return "failed"
	case s == task.Cancelled && te != nil && a.v == 0 && errors.Is(te, context.Canceled):
		return "canceled"
	}
	return s.String() + " with " + a.String()
}
