package conformance

import (
	"context"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/group"
)

// What some implementations promise beyond the contract.
var promiseClauses = []Clause{
	{
		Name: "group/promise-overlap", Rule: "G2", Kind: Promised, Needs: dyno.Promises{Overlap: true},
		Why: "Overlap is promised: tasks of one group are in progress at once, so one may wait for another",
		Check: check(func(e *Env) {
			for _, limit := range []int{0, 2, 5} {
				p := e.open(group.WithMaxConcurrency(limit))
				here := make(chan int)
				n := max(2, limit)
				for i := range n - 1 {
					p.run(func(context.Context) (int, error) {
						here <- i
						return 0, nil
					})
				}
				p.run(func(context.Context) (v int, err error) {
					for range n - 1 {
						v += 1 << <-here
					}
					return v, nil
				})
				e.same("what Wait returned", p.wait().get(), nil)
				sum := 0
				for range n {
					sum += p.take().Value
				}
				e.require(sum == 1<<(n-1)-1, n, " tasks of which one waits for the others exchanged ", sum)
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/promise-eager", Rule: "G2", Kind: Promised, Needs: eager,
		Why: "Eager is promised: an accepted task runs although no goroutine is in Next or Wait",
		Check: oneGroup(func(e *Env, p *probe) {
			for i := range 3 {
				ran := e.gate()
				ran.open()
				p.run(gated(ran, i, nil))
				e.reached(ran, 1)
			}
			p.takesAll(3)
		}),
	},
	{
		Name: "group/promise-start-order", Rule: "G2", Kind: Promised, Needs: dyno.Promises{StartOrder: true},
		Why: "StartOrder is promised: with a limit of one, tasks that one goroutine submits start in that order",
		Check: check(func(e *Env) {
			const n = 40
			p := e.open(group.WithMaxConcurrency(1))
			var order []int // tasks run one at a time
			c := p.submitAll(n, func(i int) group.TaskFunc[int] {
				return func(context.Context) (int, error) {
					order = append(order, i)
					return i, nil
				}
			})
			var got []int
			for range n {
				got = append(got, p.take().Value)
			}
			e.same("what Go returned", c.get(), nil)
			p.finish(nil)
			for i := range n {
				e.require(order[i] == i && got[i] == i, "the tasks started in order ", order, " and their results came in order ", got)
			}
		}),
	},
	{
		Name: "group/promise-deterministic", Rule: "G2", Kind: Promised, Needs: dyno.Promises{Deterministic: true},
		Why: "Deterministic is promised: the same calls in the same order give the same results in the same order",
		Check: check(func(e *Env) {
			run := func() (order []int) {
				g := e.Impl.NewGroup(context.Background())
				for i := range 20 {
					err := g.Go(func(context.Context) (int, error) {
						order = append(order, i)
						if i%3 == 0 { // tasks that submit tasks
							return i, g.Go(func(context.Context) (int, error) {
								order = append(order, 100+i)
								return 100 + i, nil
							})
						}
						return i, nil
					})
					e.same("what Go returned", err, nil)
				}
				for range 10 {
					r, _, _ := g.Next(context.Background())
					order = append(order, 1000+r.Value)
				}
				e.same("what Wait returned", g.Wait(), nil)
				g.Close()
				for r := range group.Results(context.Background(), g) {
					order = append(order, 1000+r.Value)
				}
				return order
			}
			first := start(e, "a run of a group", run).get()
			for range 10 {
				again := start(e, "a run of a group", run).get()
				e.require(len(again) == len(first), "two runs did ", len(first), " and ", len(again), " things")
				for i := range first {
					e.require(again[i] == first[i], "two runs did things in order ", first, " and ", again)
				}
			}
		}),
	},
}
