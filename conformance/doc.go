// Package conformance holds the contracts' clauses: for every sentence that an
// implementation must keep a function that finds out whether it does.
//
// A [Clause] has a name for patterns, the rule it belongs to, the reason why
// the rule matters (a failure prints it), and a check of a [dyno.Impl] that
// returns an error. [Group] lists the clauses of package group, [Task] those of
// package task, [Actor] those of package actor that an implementation can break, and
// [Core] those that only the actor core can, and package actor/scenario tells
// most of both as scripts; they are plain data, so that a board's firmware can run them as
// well as a test on a host.
// On the host, package conformtest is the adapter:
//
//	func TestConformance(t *testing.T) { conformtest.Run(t, lockbased.Impl) }
//
// # How a check finds out
//
// A check never sleeps, and what clock it has stands still unless the check moves
// it. Its tasks stop at gates that the check
// opens, so that it knows what is in progress; then it asks [Env.Settle] to
// let everything run that can run, and looks at what has returned and what has
// not. Where Settle is exact (under testing/synctest it is) a call that has
// not returned then never will, and the check says so. Elsewhere the check
// waits for what must happen, and its runner bounds the time; what must
// *not* happen may then go unseen, but is never seen wrongly.
//
// Actors and executors differ in one thing: a worker that a handler or a task
// blocks is replaced when that shows, which may take a timer. So where Settle is
// exact, and time is the bubble's, their checks let it pass before they say that
// nothing more happens.
//
// Clauses ask for as little as they can. Those that need tasks to overlap, or
// to run while no goroutine is in Next or Wait, say so in [Clause.Needs], those about
// executors that run tasks on demand in [Clause.Lacks], and so on: they are skipped,
// with the reason, for an implementation that they are not for. A check that returns
// without having demanded anything of what it has seen fails.
//
// Some sentences of the contracts are not here, because a check cannot return
// from them or because they need more than a board has: that a panic ends the
// process if it is not made an error, that a million groups leave no memory
// behind, that recorded histories are linearizable, that what has stopped is
// collected. Package conformtest has those.
//
// The package is board-safe: it imports neither testing nor fmt, and text is
// built by hand.
package conformance
