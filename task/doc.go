// Package task is the contract of an executor: a task goes in, and a handle
// comes back at once, by which anybody can wait for the task, ask how it stands,
// and cancel it.
//
//	f := task.Go(ex, func(ctx context.Context) (int, error) { return answer(ctx) })
//	…
//	n, err := f.Value(ctx)
//
// A [*Future] is the typed face, for a task with a value, and a [*Handle] what is
// behind it, and all there is of a task without one. Both have the same states:
//
//	         Start                  the task returned
//	─────────────────► Pending ──────────────────────────► Resolved
//	                      │  └─ it returned an error, ────► Failed
//	                      │     panicked or called Goexit
//	                      └──── Cancel ───────────────────► Canceled
//
// The first step out of Pending wins, whatever races, and is final: every caller that
// waits, then or later, gets the same answer. A task that is canceled before it
// starts never runs. One that is canceled in progress is over as far as others
// can see, its context ends, and what it returns is dropped.
//
// The package holds the contract only. Implementations of [Executor] are in the
// folders below impls/. What every method answers in every state is one table,
// docs/semantics-tasks.md; the rules named X1 to X9 there are the clauses that
// package conformance checks.
//
// # Inside a task
//
// The context that a task gets knows the task. With it the task starts others
// ([Fork], [ForkCall], [Handle.Wait]): the executor then knows which of its
// workers it is on, and what a task waits for. [Join] divides work in two, for less
// than a task costs, and [For] a loop in as many parts as others want. [Yield] lets others run, and [Canceled] tells whether the task
// should go on. Outside a task they return [ErrOutside]. A context that was made of a
// task's, say with a deadline, does as well.
//
// All of these are for the task's own goroutine, or that of a part of Join: what
// waits with a task's context is taken for the task. A goroutine that a task starts
// itself uses a [Detached] one.
//
// The task's context ends when the task is canceled and when it is over. It has
// no deadline and no values but what it needs itself.
package task
