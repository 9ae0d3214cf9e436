// Package lockbased is the readable baseline: shared state behind one mutex,
// and queues of those who wait for it to change. Task groups come first here,
// actors after them, and executors last.
//
// # Idea
//
// Every call locks the mutex, looks at the state, and either is done or puts
// itself into a FIFO wait queue with a place for its answer. The goroutine that changes
// the state so that a waiter's wish comes true fills in the answer, takes the
// waiter out of the queue and wakes it: hand-over instead of wake-and-retry,
// so that no goroutine wakes for nothing and none is overtaken.
//
// A task costs a goroutine, unless the group is full: then the goroutine whose
// task ends takes the oldest blocked submission with its slot and runs that
// one too.
//
// # Invariants (checked under -race and the build tag dynocheck)
//
//  1. 0 ≤ inflight, and inflight ≤ MaxConcurrency where there is one.
//  2. A submission waits only if the group is open and full.
//  3. A consumer waits only if no result is queued and the group is not drained.
//  4. A Wait waits only if a task is in flight.
//  5. settled implies closed and no task in flight.
//
// # Shutdown
//
// There is nothing to shut down: a group owns no goroutine but those that run
// tasks. The last completion after Close (or Close itself, if nothing is in
// flight) settles the group under the mutex: it fixes the answer of Wait,
// releases the context, and answers every waiting consumer. A Go that races
// with it either got its slot before, and then it is not the last one, or
// finds closed set. A consumer that gives up races with the one who answers
// it; the mutex decides, and a consumer that was answered first keeps the
// result although its context ended.
//
// # Rejected
//
//   - One sync.Cond for everything: a completion then wakes all consumers for
//     one result, a wait cannot end with a context, and sync.Cond allocates a
//     waiter per Wait on TinyGo.
//   - Two mutexes, for state and for results: a completion needs both, and on
//     the measured workloads the second lock costs more than it frees.
//   - A fixed set of workers: that is workstealing's idea, and a blocked task
//     would stop the others.
//
// # Actors: idea
//
// Each actor has a mailbox with a mutex; all actors of a [Dispatcher] share one
// ready queue, and its idle workers one list, behind a second mutex. A sender
// puts the message into the mailbox and, if the actor was idle, the actor
// into the ready queue. A worker takes the actor that is ready longest and runs
// its turn. There are as many workers as processors.
//
// A turn takes everything that has arrived at once: it exchanges the queue that
// senders append to for the empty one it has used up. So a turn locks the
// mailbox once for a batch and not for each message. Only a mailbox with a
// capacity or with priorities gives its messages out one by one, because what
// comes meanwhile matters there.
//
// A worker that makes an actor ready in a turn wakes no worker for it: it is going
// to take that actor itself, and waking another worker costs more than most
// turns. It wakes one if a second actor is ready, or if so many messages wait
// for the first that the turn seems not to end (nudge).
//
// # Actors: handlers that block
//
// A worker that waits in a send is counted out, and another one is started in
// its place at once. Anything else that blocks (a lock, a sleep, a system
// call) Go does not report. While actors are ready a timer looks every millisecond
// whether any was taken meanwhile; if not, all workers are taken for stuck, and
// one more is brought in for each actor that is ready, at most as many as there
// are processors, and at most 10,000 in all. When they find nothing to do,
// workers beyond the usual number end. So a handler that blocks costs those behind
// it a millisecond or two, and a goroutine as long as it lasts.
//
// # Actors: invariants (checked under -race and the build tag dynocheck)
//
//  1. An actor is in the ready queue, or in a turn, or on the way from one to
//     the other, or stopped, exactly when its phase is scheduled; so never twice.
//  2. An actor is idle only if no message waits, and suspended only if no
//     system message does. The sender queues, then looks at the phase; the end
//     of a turn sets the phase, then looks at the queues; user messages and the
//     phase are behind one mutex, and a system message is queued before Wake
//     takes it.
//  3. If an actor is ready, a worker is on its way to the queue, or the timer is
//     set.
//  4. When the last worker leaves no actor is ready.
//
// # Actors: shutdown
//
//  1. The core stops the actors; the root is the last. Inside its last turn it
//     calls Stop, which marks the dispatcher and wakes all idle workers.
//  2. A worker leaves when it finds the mark and nothing ready. The one that runs
//     the root's turn comes to that point after the turn, so the last to leave
//     comes after Stop, and calls done.
//  3. A send that races with its actor's end takes the mailbox's mutex before
//     Close, and Close hands the message to the dead letters; or after it, and
//     it is refused. Calls that wait for room are answered by Close.
//  4. A Wake that races with the end finds the phase scheduled, and the turn
//     under way looks at the system messages once more, or was the last one.
//  5. The timer may fire while the last worker leaves; it finds the mark.
//  6. An actor that calls runtime.Goexit ends its worker's goroutine. The deferred
//     function acts on the verdict and starts another goroutine as the same
//     worker. The number of workers does not fall meanwhile, so no other goroutine takes
//     itself for the last to leave.
//
// # Actors: rejected
//
//   - One mutex for everything: then two senders to two actors wait for each
//     other.
//   - Waking a worker for every actor that becomes ready: a hop between two
//     actors then costs a park and a wake-up, several times the rest.
//   - Giving a large queue's memory back when the actor goes idle: in a stream
//     of messages the receiver goes idle all the time. It goes to a pool.
//   - A lock at the end of every turn: under a flood of senders an actor may wait
//     for its own mailbox longer than the turn took.
//
// # Executor: idea
//
// All there is to know of the tasks is behind one mutex: their states, who waits
// for each, and the slots. A task needs a slot to be in progress, and there are
// four for each processor; those that find none wait in a FIFO line, which runs
// through the handles. A slot is a goroutine as long as it goes from a task that is
// over to one that has not begun: many short tasks share a few goroutines.
//
// A task that waits for another one gives its slot away, and needs one again to go
// on. So any number of tasks may wait, each on its goroutine, and there is always a
// slot for one that does not. Who comes back has precedence over who has not
// begun, and a task that has not begun gets the slot of the first that waits for
// it: so of a tree of tasks a few branches are in progress, and not whole levels.
// Both only so many times in a row (patience); then it is the line's turn. A task
// that waits for another one costs its goroutine: in a chain of 100,000 tasks 4.1 KB
// of stack and 1.3 KB of everything else for each.
//
// A part of task.Join waits in the line as a task does. If it is still there when the first
// part is over, its task takes it out and calls it: then two calls have locked the mutex twice,
// and no goroutine has waited. Beside a task for each second part fib and tree took 0.15 and
// 0.14 of the time (results/intel-xeon-2c-linux-amd64/20261128-005712-ab-ac223546-476c5981.bench).
//
// What blocks a task in any other way Go does not report. While a task needs a
// slot a timer looks every millisecond whether any has changed hands; if not, there
// are as many slots more, until no task needs one. So the tasks behind some that
// block wait for a millisecond, and the number of slots is no limit on which the
// meaning of a program depends.
//
// Fairness: a task that was accepted begins, whatever others do; before it, at most
// patience slots go to those that precede it for each place in the line.
//
// # Executor: invariants (checked under -race and the build tag dynocheck)
//
//  1. pending ≥ 0, taken ≥ 0.
//  2. A task waits for a slot only if all are taken, and the timer is set.
//  3. A task in the line is Pending and has not begun: Cancel takes it out.
//
// and not checked:
//
//  4. A state changes under the mutex, together with pending. Status reads it
//     without: what it says was true, and every goroutine that asks later finds it so.
//  5. taken is the number of tasks in the phase working.
//
// # Executor: shutdown
//
// There is nothing to shut down: goroutines end when their slot goes to another task
// or to none. The timer may be left, for a millisecond. A task that calls
// runtime.Goexit ends its goroutine; the deferred function makes it Failed, and what
// gets the slot then runs on a new one. A wait that its context ends races with
// the end of the task that it waits for: the mutex decides, and either way the
// waiting task gets its slot back first.
//
// # Executor: rejected
//
//   - A mutex for each handle: the end of a task needs its waiters and a slot, so
//     it would take two, and the one of the slots is as contended as before.
//   - A goroutine for each task that then waits for a slot: a hundred thousand
//     that are started at once are 250 MB of stacks.
//   - Running the awaited task on the goroutine that waits: workstealing's idea.
//   - A fixed number of slots: tasks that wait for each other through channels, and
//     are more than that, would wait for ever.
//   - The line alone, in order: fib by futures then is half done in all its levels
//     before the first task is over.
package lockbased
