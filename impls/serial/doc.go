// Package serial runs tasks and actors one at a time, on demand, in an order
// that is the same every time: the oracle, the test scheduler, and the board's
// runner. Task groups come first here, actors after them.
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
// # Actors: idea
//
// Sending only queues. RunUntilIdle takes the actor that has been ready longest,
// runs its turn on the goroutine of the caller, and goes on until none is
// ready. There is no worker and no goroutine; a board with one stack can run
// any number of actors. With [Seeded] the next actor is any of those that are
// ready, and a turn is one message: every order in which the messages can be
// handled comes up with some seed, and with that seed every time.
//
// # Actors: waiting
//
// On one goroutine nobody else can make room in a full mailbox while a sender
// waits for it. So the sender runs other actors until there is room: inside its
// own turn, nested, if it is an actor. An actor that is in a turn further out is
// not run again, of course; if nobody else is ready and there is still no room
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
//  3. Nobody runs actors only if none is ready, or nobody has asked for it since.
//
// # Actors: shutdown
//
//  1. The core asks the root to stop and calls RunUntilIdle, on the caller's
//     goroutine, or on another one if the caller has a time limit.
//  2. If another goroutine runs actors already, that call returns at once. Whoever
//     holds the mutex when it finds nothing ready stops running actors before it
//     lets go of it, so the stop is either found by the one who runs, or made
//     ready when nobody does.
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
package serial
