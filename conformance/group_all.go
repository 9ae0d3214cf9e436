package conformance

import (
	"context"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
)

// G2: GoAll, which group.Bulk has an implementation do in its own way.
var allClauses = []Clause{
	{
		Name: "group/all-as-each", Rule: "G2",
		Why: "GoAll is a loop of Go: every element's task runs once and has one result, no more at once than the limit, whatever some of them end with",
		Check: check(func(e *Env) {
			const n, bad = 100, 3
			indexes := make([]int, n)
			for i := range indexes {
				indexes[i] = i
			}
			for _, limit := range []int{0, 1, 3, 32} {
				p := e.open(group.WithMaxConcurrency(limit), group.WithFailFast(false))
				var running, most atomic.Int32
				var runs [n]atomic.Int32
				c := p.submitEach(indexes, func(_ context.Context, i int) (int, error) {
					now := running.Add(1)
					defer running.Add(-1)
					for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
					}
					runs[i].Add(1)
					if i == bad {
						panic(errB)
					}
					return i, nil
				})
				e.require(c.get() == all{n, nil}, "GoAll returned ", c.res.accepted, " and ", c.res.err, ", want ", n, " and no error")
				var sum, failed int
				for range n {
					r := p.take()
					sum += r.Value
					if r.Err != nil {
						failed++
					}
				}
				e.require(sum == n*(n-1)/2-bad && failed == 1, "the values add up to ", sum, ", and ", failed, " tasks failed")
				for i := range runs {
					e.require(runs[i].Load() == 1, "task ", i, " ran ", int(runs[i].Load()), " times")
				}
				e.require(limit == 0 || most.Load() <= int32(limit), int(most.Load()), " tasks were in progress at once, the limit is ", limit)
				e.same("what GoAll of nothing returned", p.submitEach(nil, nil).get().err, group.ErrNilTask)
				p.close()
				refused := p.submitEach(indexes, func(context.Context, int) (int, error) { return 0, nil }).get()
				e.require(refused == all{0, group.ErrGroupClosed}, "GoAll on a closed group accepted ", refused.accepted, " and returned ", refused.err)
				p.drained()
				e.require(p.wait().get() != nil, "Wait does not know of the panic")
			}
		}),
	},
	{
		Name: "group/all-wait-for-each-other", Rule: "G2", Needs: overlapEager,
		Why: "tasks of one GoAll may wait for those behind them, as far as the limit lets these begin: none is held back behind one that waits",
		Check: check(func(e *Env) {
			const n = 12
			for _, limit := range []int{0, n, 4} {
				p := e.open(group.WithMaxConcurrency(limit))
				var begun atomic.Int32
				hold := e.gate()
				// With the limit of 4 three wait, and all others go one by one through the slot that is left.
				c := p.submitEach(make([]int, n), func(context.Context, int) (int, error) {
					at := begun.Add(1)
					if at == n {
						hold.open()
					}
					if at%4 != 1 && (limit != 4 || at <= 4) {
						hold.pass()
					}
					return 0, nil
				})
				e.require(c.get() == all{n, nil}, "GoAll returned ", c.res.accepted, " and ", c.res.err, ", want ", n, " and no error")
				for range n {
					p.takes(0)
				}
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/all-close", Rule: "G2", Needs: eager,
		Why: "Close has a GoAll that waits for a slot return ErrGroupClosed and how many were accepted, and the others never run",
		Check: check(func(e *Env) {
			p, hold := e.open(group.WithMaxConcurrency(2)), e.gate()
			var ran atomic.Int32
			c := p.submitEach(make([]int, 5), func(context.Context, int) (int, error) {
				ran.Add(1)
				hold.pass()
				return 1, nil
			})
			c.blocks("both slots are taken")
			p.close()
			e.require(c.get() == all{2, group.ErrGroupClosed}, "GoAll returned ", c.res.accepted, " and ", c.res.err, " after Close, want 2 and ", group.ErrGroupClosed)
			hold.open()
			p.takes(1, 1)
			p.finish(nil)
			e.Settle()
			e.require(ran.Load() == 2, int(ran.Load()), " tasks ran")
		}),
	},
}

// all is what GoAll returns.
type all struct {
	accepted int
	err      error
}

// submitEach calls GoAll, which may block.
func (p *probe) submitEach(args []int, fn func(context.Context, int) (int, error)) *call[all] {
	return start(p.e, "GoAll", func() all {
		n, err := group.GoAll(p.g, args, fn)
		return all{n, err}
	})
}
