// Package serial runs tasks one at a time, on demand, in an order that is the
// same every time: the oracle, the test scheduler, and the board's runner.
//
// # Idea
//
// Go only queues. A call of Next that finds no result, and a call of Wait, are
// a demand: tasks are run, one after the other, until the demand is met, and
// then none is run until the next one. Which task is next is decided by the
// order of submission or by a seed, never by a scheduler. A goroutine that
// submits and then drains a group therefore sees the same results in the same
// order in every run.
//
// # One at a time
//
// A task that cannot finish before another task of its group has run never
// finishes here: that other task will not be started. This is outside what
// serial promises (dyno.Promises.Overlap), and it is reported: a task that is
// in progress for longer than Config.StallAfter while others wait for their turn
// makes the calls that wait for it return a [*StallError].
//
// # Why a goroutine
//
// Tasks run on a goroutine that lives as long as the demand, not on that of the
// caller: a task that calls runtime.Goexit must end neither Next nor Wait, and
// a caller whose context ends must get away from a task that does not return.
// At any moment at most one such goroutine exists.
//
// # Invariants (checked under -race and the build tag dynocheck)
//
//  1. At most one task is in progress.
//  2. A consumer waits only if no result is queued and the group is not drained.
//  3. If there is a demand and a task is queued, a task is in progress.
//  4. settled implies closed, no task queued and none in progress.
//
// # Shutdown
//
// As in lockbased there is nothing to shut down: without demand there is no
// goroutine. The completion of the last task after Close, or Close itself,
// settles the group under the mutex.
//
// # Rejected
//
//   - Running tasks on the caller's goroutine: see above. It also makes the
//     stack of the caller the limit of recursion for groups within groups.
//   - Coroutines (iter.Pull): a Goexit in one ends the goroutine that resumed it.
//   - Detecting a stalled task exactly: the runtime does not tell a blocked
//     goroutine from one that waits for a timer or the network.
package serial
