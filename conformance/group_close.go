package conformance

import "context"

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
}
