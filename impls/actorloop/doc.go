// Package actorloop is the actor style: errgroup executes the tasks, one manager
// loop owns the state, and everything else is a message to it.
//
// It builds the design of the source document "Actor-Style Runtime over
// errgroup Execution Engine": the commands submit, close, next, wait and the
// event taskDone, handled one at a time, and the state that only the loop
// touches: closed, inflight, results, next waiters, wait waiters, firstErr.
//
// # Idea
//
// What makes such a design slow is asking: a message there and an answer back
// cost two parks and two wake-ups. So the manager gives in advance what it can.
//
//   - Credit. The manager grants the right to submit, one credit a task, up to
//     the concurrency limit, in a counter. Go spends a credit and sends submit
//     without waiting for an answer; only without credit does it ask and wait.
//     A completion gives the credit back. Close withdraws what is unspent, and
//     so learns how many submits are still to come.
//   - Outbox. The manager puts results into a channel until it is full. Next
//     receives from it without asking; only when it is empty does it ask, which
//     also fills the outbox again.
//   - Batches. The mailbox gives the manager everything that has arrived at once.
//     Before it ends a round with an empty mailbox it yields once, so that the
//     tasks it has started can fill it.
//
// The manager is a goroutine only while there are messages: whoever puts the
// first one into an empty mailbox starts it, with the state as the last one left
// it. So a group that nobody calls has no goroutine, and none can be leaked by
// dropping it.
//
// # Invariants
//
// Those of the document, checked after every message under -race and the build
// tag dynocheck:
//
//  1. inflight ≥ 0.
//  2. Only the manager loop changes the state; there is one at a time.
//  3. A submitted task raises inflight exactly once, before it is dispatched.
//  4. Every accepted task emits exactly one taskDone.
//  5. Every taskDone lowers inflight exactly once.
//  6. firstErr is the earliest task error observed, and never changes.
//  7. The group is drained if and only if it is closed, inflight is 0 and no
//     result is left, in results or in the outbox.
//
// and two of the credit: credit + inflight + submits on their way = the limit,
// and submits never arrive that no credit was spent for.
//
// # Shutdown
//
//  1. Close sends close and waits for the answer. The manager swaps the credit
//     for a value that no Go can spend. The credits that are neither there nor in
//     flight belong to submits still on their way; it waits for those.
//  2. Calls of Go that wait for a slot are answered with ErrGroupClosed.
//  3. The last taskDone settles the group: the answer of Wait is fixed, the
//     context released, and errgroup waited for, so that no goroutine of a task
//     outlives the group.
//  4. When the last result has gone into the outbox the manager closes it: from
//     then on Next learns of the end without asking anybody.
//
// # Rejected
//
//   - Channels for commands and events, as the document draws them: a send and a
//     receive cost 60 ns uncontended, the mailbox 15; and the loop gets one
//     message at a time.
//   - A manager that lives as long as the group, as in the original: it is leaked
//     by every group that is not closed, or is closed and not drained.
//   - errgroup's SetLimit: the loop would block in Go when a task has reported its
//     end and its goroutine has not ended yet. The credit keeps the limit.
package actorloop
