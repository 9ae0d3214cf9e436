// Package actorloop is the actor style: errgroup executes the tasks, one manager
// loop owns the state, and everything else is a message to it. Task groups come
// first here, actors after them, and executors last.
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
//   - Batches. The inbox gives the manager everything that has arrived at once.
//     Before it ends a round with an empty inbox it yields once, so that the
//     tasks it has started can fill it.
//
// The manager is a goroutine only while there are messages: the sender that puts the
// first one into an empty inbox starts it, with the state as the last one left
// it. So a group that is not called has no goroutine, and none can be leaked by
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
//  6. firstErr is the earliest task error observed, and never changes: that is
//     group.Outcome's, and checked by its tests.
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
//     then on Next learns of the end without asking.
//
// # Rejected
//
//   - Channels for commands and events, as the document draws them: a send and a
//     receive cost 60 ns uncontended, the inbox 15; and the loop gets one
//     message at a time.
//   - A manager that lives as long as the group, as in the original: it is leaked
//     by every group that is not closed, or is closed and not drained.
//   - errgroup's SetLimit: the loop would block in Go when a task has reported its
//     end and its goroutine has not ended yet. The credit keeps the limit.
//
// # Actors: idea
//
// One goroutine, the scheduler, lives as long as the system and owns what there
// is to decide: which actors are ready and in which order, which workers there
// are, and when there must be more. All others tell it, with an event in
// its inbox. It handles all that has arrived, one event after the other, and
// needs no lock for what it owns.
//
// A worker that asked the scheduler for each actor would wait for two switches
// of goroutines each time. As with groups, what can be is given in advance:
//
//   - Outbox. The scheduler keeps a channel filled with the actors that have been
//     ready for longest. Workers receive from it without asking. What does not
//     fit stays in the scheduler's list, and then it wants to be told, once, when
//     the outbox is nearly empty.
//   - Lease. The goroutine that wakes an actor has the right to have it run. A worker may
//     keep that right for one actor at a time, in next, and run that actor after
//     its present turn: so a message from one actor to another does without the
//     scheduler. After so many such turns in a row the worker gives the actor to
//     the scheduler, if others wait.
//
// Mailboxes are not the scheduler's. A plain one is an inbox as well, with the actor as the
// receiver: a send is a compare-and-swap, and an addition for Len; a turn takes everything that has
// come at once; and the inbox is asleep while the actor has nothing to do. So only the message
// that wakes an actor becomes an event. The event is part of the actor, which is why it costs no
// allocation; the nodes in which messages travel are used again (see nodes.go). A mailbox with
// a capacity or priorities has a mutex, since its sender has to know at once what becomes of the
// message; its inbox is the switch only.
//
// # Actors: handlers that block
//
// A worker that is about to wait in a send gives away the actor that it keeps
// and tells the scheduler, which starts another worker if actors wait in the
// outbox. Anything else that blocks (a lock, a sleep, a system call) Go does not
// report. While a worker keeps an actor, or actors wait, the scheduler has a
// timer send it a tick every millisecond. At a tick it takes away what a worker
// has kept since the last one, and if actors wait and no worker has taken any,
// it takes all workers for blocked and starts one for each actor that waits, at
// most as many as there are processors, and at most 10,000 in all. A worker
// that comes to the outbox when as many as processors wait there already ends.
//
// # Actors: invariants
//
// Checked under -race and the build tag dynocheck are the last sentence of 1, and 6.
//
//  1. An actor that neither sleeps nor is suspended is in one place: its event in the scheduler's
//     inbox or list, or the actor in the outbox, in one worker's next, or
//     in a turn. The goroutine that takes it out of one puts it into another. During a turn
//     it neither sleeps nor is suspended.
//  2. An actor is asleep only if no message waits, and suspended only if no system
//     message does, or the goroutine that has queued that is on its way to Wake. A message of a
//     plain mailbox and sleep are exchanges of the same word. Of others the sender
//     queues, then looks whether the actor sleeps; the end of a turn has it sleep, then
//     looks at the queues.
//  3. Only the worker itself fills its next, when that is empty. It empties it by
//     a swap and the scheduler by compare-and-swap, so one of them gets the actor.
//  4. If a worker keeps an actor, the timer is set, or the scheduler wants to be
//     told of the first that is kept, or it is being told. The worker keeps, then
//     looks whether that is wanted; the scheduler wants, then looks what is kept.
//  5. If actors wait in the scheduler's list the outbox is full, or a worker is
//     going to say that it is not: the scheduler wants to be told of room, then
//     tries once more to put actors there; a worker takes, then looks whether
//     that is wanted.
//  6. When every actor has stopped none is in the list or in the outbox.
//
// # Actors: shutdown
//
//  1. The core stops the actors; the root is the last. Inside its last turn it
//     calls Stop, which sends the event stop. What was sent before comes before
//     it, and by rule 6 no actor is left to run.
//  2. The scheduler closes the outbox. A worker that waits there, or comes there
//     after its turn, as the one that runs the root's does, finds it closed, sends
//     that it leaves, and ends.
//  3. The scheduler stops the timer. If that was about to fire, its tick is on the
//     way, and the scheduler waits for it.
//  4. When the last worker has left and no tick is on its way, the scheduler closes
//     over, which hands what was counted to AddStats, calls done, and ends. A
//     call of AddStats that comes too late for an answer finds over closed.
//  5. A send that races with its actor's end comes before Close, which exchanges all messages for
//     a mark and hands them to the dead letters; or after it, finds the mark, and
//     is refused. Calls that wait for room are answered by Close. A Wake
//     that races with it finds that the actor does not sleep, and nothing to do.
//  6. An actor that calls runtime.Goexit ends its worker's goroutine. What the
//     deferred functions do is what the worker would have done with the verdict;
//     then another goroutine goes on as that worker. The scheduler hears nothing
//     of it.
//
// # Actors: rejected
//
//   - Messages as events, or among what the scheduler owns whether an actor sleeps: then every
//     message would pass through one goroutine, and not only those that wake
//     an actor.
//   - A mutex and two slices as the mailbox, as it was, and as lockbased's is: two implementations
//     with one mailbox are one measurement. With it streams took a tenth less time, floods from many
//     senders less than half, and messages one by one a quarter more (see the changelog).
//   - Nodes that are used again one by one: they end up in any order, and fanin of 64 senders without a
//     limit took 100 to 250 ns a message on two processors, for 50 to 60 in blocks.
//   - Counting only the messages that find the actor awake, for Len: a hop took 53 ns and not 62, but of
//     an actor that waits for its turn one message was not counted.
//   - A scheduler that is a goroutine only while there are events, as a group's
//     manager is: a system has events all the time, and to start a goroutine
//     costs twice a wake-up.
//   - A lease for several actors: that is a queue for each worker, which others
//     would have to steal from, and so workstealing's idea.
//   - Looking after the workers on a goroutine of its own: it would share with the
//     scheduler what the scheduler owns alone. The timer only sends an event.
//
// # Executor: idea
//
// As with groups, errgroup runs the tasks and a manager loop, which is a goroutine
// only while there are orders to it, owns what becomes of them: their states,
// who waits, and how many are over. No other goroutine decides anything. Await, revoke,
// publish and census are commands, and returned is the event; an await that is
// given up is a command as well (forgo), so it is the manager who decides whether
// the end came first.
//
// And as with groups, what can be is given in advance:
//
//   - The door. A counter and a bit say how many tasks were accepted and whether
//     more are. Start and Close change it without asking. The task begins at once,
//     since there is nothing to decide then: Pending is what every handle is from
//     the start. The manager hears of a task when it is over or a goroutine asks.
//   - The state. The manager publishes it in the handle, so that Status, and Wait
//     for what is over, read it without asking.
//   - The event is part of the task's record, and commands are kept for the next
//     call: neither is allocated.
//
// Fairness: that of Go's scheduler for tasks, of which there may be any number; and
// orders are handled in the order in which they came. A task costs its goroutine
// from the start: in a chain of 100,000 tasks that wait for one another 4.1 KB of
// stack and 1.4 KB of everything else for each.
//
// # Executor: invariants (checked under -race and the build tag dynocheck)
//
//  1. Only the manager loop changes a state, once; there is one loop at a time.
//  2. Every task that was accepted returns once.
//  3. returned ≤ over ≤ accepted. What is over and has not returned was canceled.
//
// and not checked:
//
//  4. An await is in its record's list only while the task is Pending.
//  5. Who finds a task over also finds it counted: the state and the count are
//     changed by the same order, and the count is given between orders.
//
// # Executor: shutdown
//
//  1. Close sets the bit. A Start that raced with it has either been counted, and
//     then its task runs, or is refused.
//  2. The event returned is the last thing that a task's goroutine does, in a
//     deferred function, so that runtime.Goexit makes no difference.
//  3. When there is no order the manager ends. No goroutine has to say that it was the
//     last time.
//
// # Executor: rejected
//
//   - A command for the beginning of a task, on which the manager starts it: then
//     every task costs two visits and begins a switch of goroutines later; fib by
//     futures took three times as long.
//   - A table of tasks in the manager: the record hangs from the handle, and both go
//     when no goroutine has the handle any more.
//   - Waiting for errgroup when the last task is over: all goroutines have sent their
//     event by then, and no goroutine is there to be told.
package actorloop
