package conformance

import (
	"context"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
)

// G3: Close.
var closeClauses = []Clause{
	{
		Name: "group/close-does-not-cancel", Rule: "G3",
		Why: "Close only refuses later tasks: it returns at once, and those accepted run on with a living context",
		Check: oneGroup(func(e *Env, p *probe) {
			hold := e.gate()
			for range 3 {
				p.run(func(ctx context.Context) (int, error) {
					hold.pass()
					return 1, ctx.Err()
				})
			}
			p.close()
			e.Settle()
			hold.open()
			p.takes(1, 1, 1)
		}),
	},
	{
		Name: "group/close-keeps-results", Rule: "G3",
		Why: "results queued before Close, and those of tasks that end after it, can still be taken",
		Check: oneGroup(func(e *Env, p *probe) {
			hold := e.gate()
			p.run(value(1))
			p.waits(nil)
			p.run(gated(hold, 2, nil))
			p.close()
			p.takes(1)
			hold.open()
			p.takes(2)
		}),
	},
	{
		Name: "group/close-races-go", Rule: "G3", Kind: Stochastic,
		Why: "a Go that races with Close is either accepted and yields its result, or refused and never runs; nothing in between",
		Check: check(func(e *Env) {
			for range e.rounds() {
				const callers, each = 4, 8
				p := e.open()
				var ran, accepted atomic.Int32
				var calls [callers]*call[error]
				for i := range calls {
					calls[i] = start(e, "a loop of Go", func() error {
						for range each {
							err := p.g.Go(func(context.Context) (int, error) {
								ran.Add(1)
								return 1, nil
							})
							if err != nil {
								return err
							}
							accepted.Add(1)
						}
						return nil
					})
				}
				p.close()
				for _, c := range calls {
					if err := c.get(); err != nil && err != group.ErrGroupClosed {
						e.fail("Go returned ", err, ", want nil or ", group.ErrGroupClosed)
					}
				}
				results := 0
				for t := p.next(nil).get(); t.ok; t = p.next(nil).get() { //nolint:staticcheck // nil means Background
					results++
				}
				p.finish(nil)
				e.Settle()
				e.require(results == int(accepted.Load()) && results == int(ran.Load()),
					int(accepted.Load()), " tasks were accepted, ", int(ran.Load()), " ran, ", results, " results came")
			}
		}),
	},
}
