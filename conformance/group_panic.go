package conformance

import (
	"context"
	"errors"
	"runtime"

	"github.com/dynolab/dyno/group"
)

// G7: panics.
var panicClauses = []Clause{
	{
		Name: "group/panic-is-an-error", Rule: "G7",
		Why: "a panic, also a run-time error's, becomes the *PanicError of that task's result, with the value, the stack and no result value, and others go on; with fail-fast it cancels like any error; errors.Is and errors.As see through it to the error it carried",
		Check: check(func(e *Env) {
			for _, failFast := range []bool{false, true} {
				p := e.open(group.WithFailFast(failFast))
				ctx := p.context()
				p.run(panicking("boom"))
				r := p.take()
				isPanic(e, r, "boom")
				if failFast {
					p.endedBy(ctx, r.Err)
				}
				var pe *group.PanicError
				e.require(!e.Platform.Stacks || errors.As(r.Err, &pe) && contains(string(pe.Stack), "conformance.explode"),
					"the stack does not show the function that panicked: ", r.Err)
				p.waits(r.Err)
				want := &coded{code: 42}
				p.run(panicking(want))
				err := p.take().Err
				var c *coded
				e.require(errors.As(err, &c) && c == want && errors.Is(err, want), "errors.As or errors.Is does not find the error that the task panicked with in ", err)
				if e.Platform.RuntimePanics {
					var none []int
					p.run(func(context.Context) (int, error) { return none[e.Seed%7], nil })
					err := p.take().Err
					var re runtime.Error
					e.require(errors.As(err, &re), "the error is ", err, ", want one that unwraps to a runtime.Error")
				}
				p.run(value(1))
				p.takes(1)
				p.finish(r.Err)
			}
		}),
	},
}

// G7: runtime.Goexit.
var goexitClauses = []Clause{
	{
		Name: "group/goexit-is-an-error", Rule: "G7", On: Platform{Goexit: true},
		Why: "a task that calls runtime.Goexit, as FailNow of a test does, yields ErrGoexit, a task error as any other; without it its consumer waits for ever",
		Check: check(func(e *Env) {
			for _, toError := range []bool{true, false} {
				p := e.open(group.WithPanicToError(toError), group.WithFailFast(toError))
				ctx := p.context()
				p.run(exiting)
				p.takesError(0, group.ErrGoexit)
				p.waits(group.ErrGoexit)
				e.require((ctx.Err() != nil) == toError, "after a Goexit the error of the tasks' context is ", ctx.Err())
				if toError {
					p.run(panicking(nil))
					r := p.take()
					e.require(r.Err != nil && r.Value == 0, "after a panic with nil the result is ", r, ", want an error and no value")
				}
				p.run(value(1))
				p.takes(1)
				p.finish(group.ErrGoexit)
			}
		}),
	},
	{
		Name: "group/goexit-slot-back", Rule: "G7", Needs: eager, On: Platform{Goexit: true},
		Why: "a task that calls Goexit gives its slot to the Go that waits for it",
		Check: check(func(e *Env) {
			for _, toError := range []bool{true, false} {
				p, hold := e.open(group.WithMaxConcurrency(1), group.WithFailFast(false), group.WithPanicToError(toError)), e.gate()
				p.run(func(ctx context.Context) (int, error) {
					hold.pass()
					return exiting(ctx)
				})
				calls := []*call[error]{p.submit(exiting), p.submit(exiting), p.submit(exiting)}
				calls[0].blocks("the one slot is taken")
				hold.open()
				for range 4 {
					p.takesError(0, group.ErrGoexit)
				}
				e.returned(nil, calls...)
				p.run(value(1))
				p.takes(1)
				p.finish(group.ErrGoexit)
			}
		}),
	},
}

// coded is an error with data.
type coded struct{ code int }

func (c *coded) Error() string { return text("code ", c.code) }

// explode panics. It is a function of its own so that stacks can be looked
// through for it.
//
//go:noinline
func explode(v any) int { panic(v) }

// panicking is a task that panics with v.
func panicking(v any) group.TaskFunc[int] {
	return func(context.Context) (int, error) { return explode(v), nil }
}

// exiting is a task that ends its goroutine.
func exiting(context.Context) (int, error) {
	runtime.Goexit()
	return 1, nil
}

// isPanic demands that r is the result of a task that panicked with v.
func isPanic(e *Env, r group.Result[int], v any) {
	var pe *group.PanicError
	e.require(errors.As(r.Err, &pe) && pe.Value == v && r.Value == 0,
		"the result is ", r, ", want no value and a *group.PanicError with value ", v)
}

// contains reports whether s contains sub, without package strings.
func contains(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		if s[i:i+len(sub)] == sub {
			return true
		}
	}
	return false
}
