package conformance

import (
	"context"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/group"
)

var (
	// overlapEager is what tasks need that are all held up at once while the
	// check does something else.
	overlapEager = dyno.Promises{Overlap: true, Eager: true}
	// eager is what a task needs that is to run, or to be held up, while
	// no goroutine is in Next or Wait.
	eager = dyno.Promises{Eager: true}
)

// G4: Next, as one consumer sees it.
var nextClauses = []Clause{
	{
		Name: "group/next-completion-order", Rule: "G4", Needs: overlapEager,
		Why: "results come in the order in which the tasks complete, not in which they were submitted: the first to finish is the first to be used",
		Check: check(func(e *Env) {
			const n = 6
			for _, order := range [][]int{{5, 4, 3, 2, 1, 0}, {2, 0, 5, 1, 4, 3}, e.random().Perm(n)} {
				p := e.open()
				var gates [n]*gate
				for i := range gates {
					gates[i] = e.gate()
					p.run(gated(gates[i], i, nil))
				}
				// One completes after the other. Where Settle is exact all do so
				// before the first result is taken; elsewhere nothing tells that
				// a result is queued but taking it.
				var got []int
				for _, i := range order {
					gates[i].open()
					e.Settle()
					if !e.Exact {
						got = append(got, p.take().Value)
					}
				}
				for len(got) < n {
					got = append(got, p.take().Value)
				}
				for i := range order {
					e.require(got[i] == order[i], "the tasks completed in order ", order, ", their results came in order ", got)
				}
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/next-oldest-first", Rule: "G4",
		Why: "of the results that are queued, the one of the task that completed first comes first; none of them keeps a slot",
		Check: check(func(e *Env) {
			for _, limit := range []int{0, 1} {
				p := e.open(group.WithMaxConcurrency(limit))
				for i := range 20 { // beyond the room that a small queue starts with
					p.run(value(i))
					p.waits(nil) // so that one completes before the other starts
					if i == 5 {
						p.takes(0, 1)
					}
				}
				for i := 2; i < 20; i++ {
					p.takes(i)
				}
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/next-nil-context", Rule: "G4",
		Why: "a nil context means context.Background, for a result that is there, for one to come and for the end",
		Check: oneGroup(func(e *Env, p *probe) {
			p.run(value(1))
			p.waits(nil)
			p.next(nil).gives(1, nil) //nolint:staticcheck // nil is what is tested
			n := p.next(nil)          //nolint:staticcheck // nil is what is tested
			n.blocks("the group is open")
			p.run(value(2))
			n.gives(2, nil)
			p.close()
			p.next(nil).drains() //nolint:staticcheck // nil is what is tested
		}),
	},
	{
		Name: "group/next-queued-beats-context", Rule: "G4",
		Why: "a queued result, and the end of a drained group, win over a context that has ended: a consumer that is told to stop can still take what is there",
		Check: oneGroup(func(e *Env, p *probe) {
			late, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
			defer cancel()
			for range 16 { // a choice at random between the two is right once in 2^16 times
				p.run(value(1))
				p.waits(nil)
				for _, ctx := range []context.Context{ended(errA), late} {
					p.next(ctx).gives(1, nil)
					p.run(value(1))
					p.waits(nil)
				}
				p.takes(1)
			}
			p.close()
			for range 16 {
				p.next(ended(errA)).drains()
			}
		}),
	},
	{
		Name: "group/next-ended-context", Rule: "G4",
		Why: "without a result, an ended context makes Next return that context's Err, not its cause and nothing else",
		Check: oneGroup(func(e *Env, p *probe) {
			late, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
			defer cancel()
			strange := &foreign{Context: context.Background(), done: make(chan struct{})}
			close(strange.done)
			for _, c := range []struct {
				ctx  context.Context
				want error
			}{{ended(errA), context.Canceled}, {late, context.DeadlineExceeded}, {strange, errStop}} {
				p.next(c.ctx).givesUp(c.want)
			}
		}),
	},
	{
		Name: "group/next-context-ends-waiting", Rule: "G4",
		Why: "a context that ends releases the Next that waits, with its Err, and touches neither the group nor later results",
		Check: oneGroup(func(e *Env, p *probe) {
			gctx := p.context()
			for _, want := range []error{context.Canceled, errStop} {
				var ctx context.Context
				var end func()
				if want == errStop {
					f := &foreign{Context: context.Background(), done: make(chan struct{})}
					ctx, end = f, func() { close(f.done) }
				} else {
					c, cancel := context.WithCancelCause(context.Background())
					ctx, end = c, func() { cancel(errB) }
				}
				n := p.next(ctx)
				n.blocks("the group is open")
				end()
				n.givesUp(want)
				p.alive(gctx, "a context of Next bounds only that call")
				p.run(value(1))
				p.takes(1)
			}
		}),
	},
	{
		Name: "group/next-outlives-cancel", Rule: "G4",
		Why: "the group's own end does not end Next: the results of the cancelled tasks are still to come",
		Check: check(func(e *Env) {
			parent, cancel := context.WithCancelCause(context.Background())
			p, hold := e.group(parent), e.gate()
			p.run(gated(hold, 1, errA))
			n := p.next(context.Background())
			n.blocks("a task is in flight")
			cancel(errB)
			p.cancel(errB)
			n.blocks("the group is cancelled, but a task is in flight")
			hold.open()
			n.gives(1, errA)
			n = p.next(context.Background())
			n.blocks("the group is cancelled, but open")
			p.close()
			n.drains()
			p.finish(errA)
		}),
	},
	{
		Name: "group/next-result-once", Rule: "G4",
		Why: "a result is delivered once, and without one Next waits on an open group: counts and sums would be wrong by every second delivery",
		Check: oneGroup(func(e *Env, p *probe) {
			// Taken from the queue, and handed to one who waits.
			p.run(value(1))
			p.waits(nil)
			p.takes(1)
			p.empty("the one result was taken")
			n := p.next(context.Background())
			n.blocks("the group is open")
			p.run(value(2))
			e.require(n.get().r.Value == 2, "Next did not return value 2")
			p.empty("both results were taken")
		}),
	},
	{
		Name: "group/drain-at-once", Rule: "G4", Kind: Stochastic,
		Why: "a task whose result was taken is over: the closed group is then drained and settled at once, not a little later",
		Check: check(func(e *Env) {
			over := ended(errStop)
			for i := range 40 * e.rounds() {
				p := e.open()
				// On one goroutine, so that nothing runs in between that need not.
				start(e, "a loop of Go, Next and Close, Next, Cancel, Wait", func() struct{} {
					e.same("what Go returned", p.g.Go(value(1)), nil)
					if i%2 == 0 {
						p.g.Close()
					}
					var a, b taken
					a.r, a.ok, a.err = p.g.Next(context.Background())
					if i%2 == 1 {
						p.g.Close()
					}
					b.r, b.ok, b.err = p.g.Next(over)
					e.require(a == taken{r: group.Result[int]{Value: 1}, ok: true}, "Next returned ", a, ", want value 1")
					e.require(b == taken{}, "after Close and the last result, Next with an ended context returned ", b, ", want (zero, false, nil)")
					p.g.Cancel(errA)
					e.same("what Wait returned after Cancel of the drained group", p.g.Wait(), nil)
					return struct{}{}
				}).get()
			}
		}),
	},
}
