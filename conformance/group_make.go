package conformance

import (
	"context"
	"time"

	"github.com/dynolab/dyno/group"
)

// G1: making a group, its options, the context it is made with.
var makeClauses = []Clause{
	{
		Name: "group/nil-context", Rule: "G1",
		Why: "a nil context means context.Background: the tasks' context is usable, has not ended and never ends by itself",
		Check: check(func(e *Env) {
			p := e.group(nil) //nolint:staticcheck // nil is what is tested
			ctx := p.context()
			p.alive(ctx, "it was not cancelled")
			_, limited := ctx.Deadline()
			e.require(!limited, "the tasks' context has a deadline")
			p.finish(nil)
		}),
	},
	{
		Name: "group/last-option-wins", Rule: "G1", Needs: eager,
		Why: "options are applied in their order, so that a caller can overrule defaults of its own",
		Check: check(func(e *Env) {
			p := e.open(group.WithFailFast(true), group.WithMaxConcurrency(1), group.WithMaxConcurrency(2), group.WithFailFast(false))
			ctx := p.context()
			hold := e.gate()
			p.run(gated(hold, 1, errA), gated(hold, 2, errA))
			third := p.submit(value(3))
			third.blocks("the limit is 2")
			hold.open()
			w := p.wait()
			e.same("what Go returned", third.get(), nil)
			w.get()
			sum := 0
			for range 3 {
				sum += p.take().Value
			}
			e.require(sum == 6, "the values of the three results add up to ", sum, ", want 6")
			p.alive(ctx, "fail-fast is off")
			p.finish(errA)
		}),
	},
	{
		Name: "group/buffer-is-a-hint", Rule: "G1",
		Why: "a result buffer saves growing and bounds nothing: tasks finish although results are not taken",
		Check: check(func(e *Env) {
			for _, room := range []int{0, 1, 7, 64} {
				p := e.open(group.WithResultBuffer(room))
				for i := range 33 {
					p.run(value(i))
				}
				p.waits(nil)
				p.takesAll(33)
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/parent", Rule: "G1",
		Why: "tasks get a context derived from the group's parent, with its values and deadline, its end and its cause; the group is open all the same",
		Check: check(func(e *Env) {
			type key struct{}
			far := time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)
			parent, cancel := context.WithDeadline(context.WithValue(context.Background(), key{}, errA), far)
			defer cancel()
			p := e.group(parent)
			ctx := p.context()
			e.require(ctx.Value(key{}) == errA, "the tasks' context lacks a value of the parent")
			d, ok := ctx.Deadline()
			e.require(ok && d.Equal(far), "the tasks' context lacks the parent's deadline")
			p.finish(nil)
			for _, before := range []bool{false, true} {
				parent, end := context.WithCancelCause(context.Background())
				if before {
					end(errA)
				}
				p := e.group(parent)
				ctx := p.context()
				end(errA)
				e.Settle()
				p.endedBy(ctx, errA)
				p.waits(errA)
				p.run(value(1))
				p.takes(1)
				p.finish(errA)
			}
		}),
	},
	{
		Name: "group/groups-are-apart", Rule: "G1",
		Why: "two groups share nothing: neither results nor errors nor cancellation nor Close",
		Check: check(func(e *Env) {
			p, q := e.open(group.WithMaxConcurrency(1)), e.open(group.WithMaxConcurrency(1))
			qctx := q.context()
			hold := p.held(1, errA)
			q.run(value(2)) // p is full, q is not
			q.waits(nil)
			p.close()
			p.cancel(errB)
			hold.open()
			p.takesError(1, errA)
			p.finish(errA)
			q.alive(qctx, "only the other group was cancelled")
			q.run(value(3))
			q.takes(2, 3)
			q.finish(nil)
		}),
	},
	{
		Name: "group/nested", Rule: "G1",
		Why: "a task may make groups of its own and wait for them: that is how trees of work are written",
		Check: check(func(e *Env) {
			var tree func(depth int) group.TaskFunc[int]
			tree = func(depth int) group.TaskFunc[int] {
				return func(ctx context.Context) (int, error) {
					if depth == 0 {
						return 1, nil
					}
					g := e.Impl.NewGroup(ctx)
					for range 2 {
						if err := g.Go(tree(depth - 1)); err != nil {
							return 0, err
						}
					}
					g.Close()
					if err := g.Wait(); err != nil {
						return 0, err
					}
					sum := 0
					for r := range group.Results(ctx, g) {
						sum += r.Value
					}
					return sum, nil
				}
			}
			p := e.open()
			p.run(tree(4))
			p.takes(16)
			p.finish(nil)
		}),
	},
}

// foreign is a context that package context knows nothing about.
type foreign struct {
	context.Context
	done chan struct{}
}

func (c *foreign) Done() <-chan struct{} { return c.done }

func (c *foreign) Err() error {
	select {
	case <-c.done:
		return errStop
	default:
		return nil
	}
}

// Value hides everything, or context.Cause would look through to the parent.
func (c *foreign) Value(any) any { return nil }
