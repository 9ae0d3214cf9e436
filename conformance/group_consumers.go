package conformance

import (
	"context"

	"github.com/dynolab/dyno/group"
)

// G4: Next, as several consumers see it.
var consumerClauses = []Clause{
	{
		Name: "group/waiters-released-by-last-task", Rule: "G4",
		Why: "when the last task of a closed group ends, every consumer that no result can reach any more is told so",
		Check: oneGroup(func(e *Env, p *probe) {
			const n = 5
			hold := p.held(1, nil)
			calls := several(n, func(int) awaited { return p.next(context.Background()) })
			p.close()
			for _, c := range calls {
				c.blocks("a task is in flight")
			}
			hold.open()
			results := 0
			for _, c := range calls {
				switch t := c.get(); t {
				case taken{r: group.Result[int]{Value: 1}, ok: true}:
					results++
				case taken{}:
				default:
					e.fail("a waiting Next returned ", t, ", want value 1 or (zero, false, nil)")
				}
			}
			e.require(results == 1, results, " consumers got the one result")
		}),
	},
	{
		Name: "group/waiters-released-by-close", Rule: "G4",
		Why: "closing an idle group drains it, which releases every consumer that waits",
		Check: check(func(e *Env) {
			for _, tasks := range []int{0, 3} {
				p := e.open()
				for i := range tasks {
					p.run(value(i))
				}
				for range tasks {
					p.take()
				}
				calls := several(5, func(int) awaited { return p.next(context.Background()) })
				for _, c := range calls {
					c.blocks("the group is open")
				}
				p.close()
				for _, c := range calls {
					c.drains()
				}
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/context-uses-group", Rule: "G4",
		Why: "a context is anybody's type: its methods may use the group when Next asks it",
		Check: oneGroup(func(_ *Env, p *probe) {
			p.run(value(1))
			p.close()
			ctx := usingContext{context.Background(), p.g.Close}
			p.next(ctx).gives(1, nil)
			p.next(ctx).drains()
		}),
	},
	{
		Name: "group/waiter-gives-up", Rule: "G4",
		Why: "a consumer that gave up takes no result with it: the next result goes to one who still waits, or is queued",
		Check: check(func(e *Env) {
			for _, quitter := range []int{0, 1, 2} { // the oldest, one in the middle, the newest
				p := e.open()
				ctx, cancel := context.WithCancel(context.Background())
				var calls [3]awaited
				for i := range calls {
					if i == quitter {
						calls[i] = p.next(ctx)
					} else {
						calls[i] = p.next(context.Background())
					}
					calls[i].blocks("there is no result")
				}
				cancel()
				calls[quitter].givesUp(context.Canceled)
				p.run(value(0), value(1), value(2))
				sum := 0
				for i, c := range calls {
					if i != quitter {
						sum += 1 << c.get().r.Value
					}
				}
				sum += 1 << p.take().Value
				e.require(sum == 1<<3-1, "after one of three consumers gave up, a result is lost or came twice")
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/waiter-gives-up-as-result-comes", Rule: "G4",
		Why: "a result that meets a consumer whose context ends in the same moment goes to it or stays queued, never nowhere",
		Check: check(func(e *Env) {
			// The task ends the context as its last act, so that both are ready
			// when the consumer wakes. A choice at random is wrong half the time.
			for i := range 64 {
				p := e.open()
				ctx, cancel := context.WithCancel(context.Background())
				n := p.next(ctx)
				n.blocks("there is no result")
				p.run(func(context.Context) (int, error) {
					cancel()
					return i, nil
				})
				switch t := n.get(); t {
				case taken{r: group.Result[int]{Value: i}, ok: true}:
				case taken{err: context.Canceled}:
					p.takes(i)
				default:
					e.fail("Next returned ", t, ", want value ", i, " or (zero, false, ", context.Canceled, ")")
				}
				p.finish(nil)
			}
		}),
	},
}

// usingContext is a context that never ends and whose methods call use.
type usingContext struct {
	context.Context
	use func()
}

func (c usingContext) Done() <-chan struct{} {
	c.use()
	return nil
}

func (c usingContext) Err() error {
	c.use()
	return nil
}
