// Package serial runs tasks and actors one at a time, on demand, in an order
// that is the same every time: the oracle, the test scheduler, and the board's
// runner. Task groups come first here, executors and actors after them, and the
// order that a [Schedule] chooses at the end.
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
//
// # Executors: idea
//
// Start only queues. Flush, and a call of Wait or Value outside tasks, are a
// demand, as Next is for a group: while there is one, tasks have their turn, one
// after the other. Each task that has begun is a coroutine: a goroutine that goes
// on only while it has the baton. Who yields, waits or ends chooses the next task
// and hands the baton to its coroutine directly; no goroutine stands in between. A task
// that has not begun is run by the coroutine that has just ended one, so that
// tasks which do not yield cost no switch at all.
//
// Those who wait outside never run anything. They are on a list, and parked; so
// there is none that drives and none that would have to take over when it leaves.
// The one who has the baton looks at the list between two turns, puts the baton
// down if no goroutine is on it, and picks it up again on the goroutine of the next one
// who comes. Both happen under the mutex.
//
// # Executors: order
//
//  1. A task that is started, or yields, goes to the end of the queue.
//  2. A task that waits for one that has not begun has it run next, ahead of the
//     queue. One that has begun, and yielded or waits itself, keeps its place.
//  3. When a task is over, those that wait for it are next, in the order in which
//     they began to wait: so inline, at any depth, is what it looks like.
//  4. A wait that ends because its context does goes to the end of the queue. It is
//     noticed between two turns, and only then, so that it happens in the same
//     place every time. Two of those that wait are asked each time.
//  5. Who waits outside is told between two turns, if another task cancels the one
//     it waits for: or both would go on at once. If what is canceled is in progress
//     itself, it is told at once.
//
// With another [Schedule] 1 to 3 say which one has index 0.
//
// # Executors: waiting
//
// A task waits for one thing at a time, so the waits are a forest, and before a task
// is added to it the way from the awaited one to its root is gone: if the task is
// on it that is a circle, and the error names it. So whatever is Pending waits, in
// the end, for one that is ready or in progress, and there is no deadlock left for
// task.ErrDeadlock to tell of: an invariant. What other goroutines outside may
// still start or cancel does not matter.
//
// A task that waits in any other way – for a channel, for a task with a context that
// is not its own, for one of another executor – keeps the baton meanwhile, and
// everything stops. That is outside what serial promises (dyno.Promises.Overlap), and
// is reported as in a group: ExecutorConfig.StallAfter.
//
// A task that has begun and is not over costs a goroutine. 100,000 that wait for each
// other in a chain took 2.2 KB of stack and 1.1 KB of heap each, future included,
// and 5 to 10 µs (2 processors, linux/amd64): a hundred thousand levels deep
// nothing recurses.
//
// # Executors: invariants (checked under -race and the build tag dynocheck)
//
//  1. At most one coroutine has the baton, and only its task makes progress.
//  2. If there is a demand, a coroutine has the baton.
//  3. If nothing is ready and no goroutine has the baton, nothing is waited for.
//  4. A task that is Pending and has not begun is in the queue.
//  5. A task waits for one thing at a time.
//
// # Executors: shutdown
//
//  1. Close makes Start refuse, under the mutex: a Start that races with it is
//     accepted before or refused after.
//  2. What was accepted runs on demand, as before.
//  3. Who finds no demand, or nothing ready, puts the baton down, wakes the idle
//     coroutines, which end, and ends itself if its task is over. So whether it is
//     closed or not, an executor that no goroutine uses has the goroutines of those tasks
//     only that are in the middle: each is left when it is over.
//  4. A task that calls runtime.Goexit ends its goroutine, whose deferred function
//     makes it Failed and hands the baton on.
//
// # Executors: rejected
//
//   - Running tasks on the goroutine of who waits: a Goexit would end it, and a caller
//     whose context ends could not get away.
//   - A goroutine in the middle that resumes one task after the other: two switches
//     a turn where there is one.
//   - Running the awaited task on top of the stack of the one that waits: it costs no
//     goroutine, but then who yields on top keeps who is below from going on, and
//     the order depends on who lies on whom. A Goexit would take all of them along.
//   - Watching the context of a wait on a goroutine, or with context.AfterFunc: when it
//     ends would be noticed at another turn each time.
//
// # Actors: idea
//
// Sending only queues. RunUntilIdle takes the actor that has been ready longest,
// runs its turn on the goroutine of the caller, and goes on until none is
// ready. There is no worker and no goroutine; a board with one stack can run
// any number of actors. With another [Schedule] a turn is one message: every order
// in which the messages can be handled comes up with some seed of [Seeded], and
// with that seed every time.
//
// # Actors: waiting
//
// On one goroutine nothing else can make room in a full mailbox while a sender
// waits for it. So the sender runs other actors until there is room: inside its
// own turn, nested, if it is an actor. An actor that is in a turn further out is
// not run again, of course; if no other actor is ready and there is still no room
// the send fails with actor.ErrDeadlock. Where several goroutines use a system
// one of them runs actors, and the others wait for it.
//
// That everything is on one stack has a price: a turn goes on only when those
// nested in it are over. Say a worker waits for room at its sink, and meanwhile
// the source is run and waits for room at that worker. The sink makes room, and
// the worker could go on if the source's turn did not lie on top of its own. That,
// too, is actor.ErrDeadlock. It does not happen if the source, having begun, stays
// in its turn: then the worker's lies on top.
//
// A handler that waits in any other way stops everything, which is why this
// implementation does not promise Overlap. A handler must send with its
// Context, which tells that it is on the goroutine that runs actors; with
// Ref.Tell to a full mailbox it would wait for itself.
//
// # Actors: invariants (checked under -race and the build tag dynocheck)
//
//  1. At most one turn makes progress; those it is nested in wait for it.
//  2. An actor's phase is scheduled exactly when it is in the ready queue or in
//     a turn.
//  3. No goroutine runs actors only if none is ready, or no call has asked for it since.
//
// # Actors: shutdown
//
//  1. The core asks the root to stop and calls RunUntilIdle, on the caller's
//     goroutine, or on another one if the caller has a time limit.
//  2. If another goroutine runs actors already, that call returns at once. The goroutine that
//     holds the mutex when it finds nothing ready stops running actors before it
//     lets go of it, so the stop is either found by the one who runs, or made
//     ready when no goroutine does.
//  3. The last turn is the root's; it calls Stop, and there is nothing to stop.
//  4. If the time limit passes while a handler does not return, the goroutine
//     that runs it stays until it does. It is the only one that this
//     implementation ever leaves behind.
//  5. A handler that calls runtime.Goexit ends the goroutine that runs actors;
//     what is ready is run in its deferred functions before that.
//  6. A send on another goroutine that races with its actor's end takes the mutex
//     before Close, and Close hands the message to the dead letters; or after it,
//     and it is refused. Calls that wait for room are answered by Close.
//
// # Actors: rejected
//
//   - Running the receiver inside the send: it recurses as deep as messages
//     cause messages, and a sender must not find its own state changed.
//   - A lock for each actor: one lock is taken once for a send and the schedule
//     together, and a second processor has nothing to do here.
//
// # Schedules
//
// Groups, executors and dispatchers ask the same scheduler who is next, under their
// mutex, and tell it who is ready in the order that FIFO would take. It keeps what a
// seed means apart from what runs: random numbers are those of a PCG, which
// math/rand/v2 specifies, of the seed and nothing else, and no map, clock or pointer
// has a say. A priority of PCT is a function of the seed and the number of the task
// or actor, so that it costs an idle actor nothing. Choosing leaves the order of
// the others alone: in a list of choices each may be set to 0, or be left out at
// the end, and what the others mean changes as little as it can. That is what
// shrinking a failed schedule needs.
package serial
