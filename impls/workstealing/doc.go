// Package workstealing runs the tasks of many groups, the actors of a system, and
// tasks with futures, on few goroutines. Task groups come first here, then actors,
// then futures.
//
// # Idea
//
// Tasks enter a [Pool] through an injector, a queue that takes one
// fetch-and-add to enter. Workers take them out in batches into a deque of
// their own and steal from one another when they run out. Results leave through
// a queue in which claiming a place and counting a completion are the same
// fetch-and-add. No step between Go and Next waits for a lock, and a task costs
// no goroutine and no allocation: what is allocated is blocks of places for
// tasks and results.
//
// # The deque
//
// A worker's deque is not a buffer but a range of indices into one of the
// injector's blocks: tasks are written once, where the submitter put them, and
// owner and thieves divide the range between them (see deque).
//
// # Tasks that block
//
// Go does not tell a program that a goroutine has blocked; its scheduler acts
// on it, by running the next one. So the pool keeps a next one: whenever tasks
// are left that nobody is looking for, one further worker is started and stays
// runnable behind the others. As long as the running workers keep their
// processors it costs nothing. The moment one blocks, the scheduler runs it; it
// checks that it is not merely its turn in a time slice (Pool.await), takes
// over the work, and leaves a successor behind if there is more. The pool so
// grows by one goroutine a blocked task, which is what a goroutine per task
// costs always.
//
// # Parking
//
// A worker that finds nothing to do gives its slot back and lets its goroutine
// end. Slots are what is parked and kept, with their place among the thieves'
// victims; a goroutine comes from the runtime's free list in about the time in
// which a parked one is woken. In exchange a pool without work is without
// goroutines: there is nothing to close, nothing outlives the groups, and a
// pool can be used inside a testing/synctest bubble. A pool must not be shared
// between a bubble and the outside at the same time; NewGroup's is one pool.
//
// # Invariants (checked under -race and the build tag dynocheck)
//
//  1. completed ≤ accepted, and seen ≤ completed.
//  2. A slot of a block is claimed by one producer, then taken by one worker.
//  3. If there is a task that no worker has begun, a worker is looking, or about
//     to look, or the goroutine that made it so is about to start one (see
//     Pool.watch).
//  4. The first error is that of the first result with an error in the queue.
//  5. settled implies closed and completed = accepted.
//
// # Shutdown
//
//  1. Close sets the closed bit in the word that counts acceptances, so that an
//     acceptance is before it or refused, and then the closed flag.
//  2. The worker that pushes the last result reads the flags after its push;
//     Close looks at the counters after setting the flag. One of them sees both
//     and settles the group, under the mutex; if both do, the second finds it
//     settled.
//  3. Settling fixes the answer of Wait, releases the context, gives results
//     still queued to consumers that wait and answers the others.
//  4. Workers that find no further task lower the count of lookers, look once
//     more, park their slots and end. A submitter that comes in between sees the
//     lowered count and starts a new one.
//
// # Rejected
//
//   - Spinning in Go and Next before parking: measured on two cores, it made the
//     workload short 1.7 times slower. The submitter that gives up its processor
//     at once gives it to the worker it waits for.
//   - Parked goroutines, woken through a channel or a semaphore each: no faster,
//     and somebody has to end them (see Parking).
//   - A timer or a monitor goroutine that looks for stuck workers: its period is
//     the latency of every group that blocks, and an idle Linux timer in Go is
//     good for about a millisecond.
//   - A ring per worker, as in Go's scheduler: tasks are copied twice more, and a
//     task is three words that cannot be read atomically by a thief.
//   - Running tasks inside Wait: a task that calls Goexit would end the caller.
//
// # Actors: idea
//
// A [Dispatcher] has a worker for each processor, and a worker has two places for
// actors that are ready: a next slot for one, and a queue. An actor that sends to
// another one puts it into the next slot of the worker it runs on. It runs
// there as soon as this turn is over, while what the two share is in the
// processor's cache, and no goroutine is parked or woken on the way. What was in
// the slot goes to the end of the queue; what does not fit there, and whoever is
// told from outside, goes to the entrance, which all workers share. A worker
// without work looks at the entrance and takes half of another one's queue, as in
// Go's own scheduler, whose queue this is.
//
// An actor's mailbox and its place in the schedule are one word (see box), so
// that a send is one step. To an actor that waits for its message it is one
// compare-and-swap, and the end of the turn another one: the message does not go
// through the queue at all. To one that is busy it is two locked instructions,
// which lock a bit, append to a slice, and unlock; the turn exchanges the
// slice for the one it has used up and reads it without any.
//
// # Actors: who is woken when
//
// Work on another processor begins some 5 to 50 µs after the decision to wake
// somebody for it, and actors that talk to one another cost twice as much a message
// on two processors as on one. So a worker wakes another one for the actors in its
// queue only if running them here would take 50 µs or more (worthwhile), their
// number times what a turn took in the last millisecond; and lets others have its
// next slot only if it sends and sends to that actor (offer). A patrol looks each
// millisecond for actors that have waited since the last time and wakes somebody
// for them, so a guess that was wrong costs two milliseconds at the most. For
// actors told from outside a worker is always woken, unless one is looking
// around already. [Config] has other strategies.
//
// # Actors: handlers that block
//
// A worker that waits in a send hands what it has to the entrance and is counted
// out, and another one takes its place. Of anything else that blocks Go tells
// nobody: the patrol sets a mark in each worker, which clears it between two turns;
// if it is still there a millisecond later and actors wait, one worker more is
// woken or started, and takes that worker's actors, also from the next slot. Who
// merely waits for a processor looks the same; so a rescuer that had to wait for
// one itself says so, and for several times as long there is no other.
// Workers beyond Parallelism end when they find nothing to do, the others after
// KeepAlive.
//
// # Actors: invariants (1, 2 and 5 checked under -race and the build tag dynocheck)
//
//  1. An actor is in one of the queues or slots, or in a turn, or on the way from one to
//     the other, exactly when its phase is scheduled; so never twice.
//  2. first holds a message only while the phase is scheduled.
//  3. An actor is idle only if no message waits. With an unbounded mailbox
//     message and phase change in one compare-and-swap or under the lock bit. For
//     system messages and bounded mailboxes the sender queues and then looks at
//     the phase; the end of a turn sets the phase and then looks at the queues.
//  4. If an actor is at the entrance, or in a queue where it pays, a worker is
//     looking, or about to look, or all are busy and the patrol is set. Whoever
//     makes it so reads watch afterwards; whoever stops looking lowers watch
//     first and looks once more afterwards. If an actor is in any other place its
//     worker comes to it, or the patrol does.
//  5. No more workers are parked than there are.
//
// # Actors: shutdown
//
//  1. The core stops the actors; the root is the last. Inside its last turn it calls
//     Stop, which sets stopping, stops the timers and wakes all parked
//     workers.
//  2. A worker ends when it finds stopping set: when it was woken, between two looks
//     around, or before it parks, under the mutex. The one in the root's turn comes there
//     after it. The last one to end calls done; it sees stop because both are
//     under the mutex.
//  3. A worker that Stop did not see parked has not taken the mutex yet in park, and finds
//     stopping there.
//  4. The patrol may fire meanwhile: it, and rouse, look at stopping under the
//     mutex and start nobody. So may the reaper, which finds nobody parked. Stop
//     takes the dispatcher away from both, since package time may keep timers
//     that were stopped.
//  5. A send that races with its actor's end locks the word before Close, which hands
//     the message to the dead letters, or after it, and is refused: the shut bit
//     is in the same word. One that finds the phase idle and swaps it to scheduled before
//     the actor was stopped has its turn, and then the message is in first, where
//     Close finds it.
//  6. A Wake that races with the end of a turn finds the phase scheduled, and the
//     end of the turn looks at the system messages once more; or idle, and
//     schedules the actor; or gone, and there is nothing left to do.
//  7. An actor that calls runtime.Goexit ends its worker's goroutine. The deferred
//     function starts another one as the same worker, which acts on the verdict
//     first. The number of workers does not change, so nobody else is the last.
//
// # Actors: rejected
//
//   - Waking a worker for each actor that becomes ready, as Go does for goroutines:
//     count then took 1.7 times as long and fanin 1.8 times. The strategy
//     WorkConserving does it.
//   - A threshold of messages, or of queued actors, for waking others: any number is
//     wrong for either 10 ns handlers or 10 ms ones.
//   - A linked queue (Vyukov's) or a ring of segments as the mailbox: see
//     docs/mailboxes.md, and package mailboxes, which keeps the comparison.
//   - A flag beside the queue that says whether the actor is scheduled: a send is
//     then two locked instructions where it is one, and the end of a turn has
//     to look twice.
//   - A deque with the owner at the end where it pushes: two actors that talk to each
//     other would keep all others waiting. Order is first in, first out; the next
//     slot is the one exception, and its length of stay is limited.
//   - Publishing each turn for the patrol to see: an atomic store is 5 ns, and a
//     hop between two actors 32.
//
// # Futures: idea
//
// An [Executor] has processors, slots for goroutines as those of the pool, each
// with a deque (forks). A task that another one starts goes to the new end of the
// deque of the processor it runs on, and one that is started outside into a queue
// that all share (arrivals). A processor takes the newest of its own; when it has
// none, what has arrived; and then the oldest of another one's, which is the
// largest part of a problem that is being divided.
//
// A task that waits for one that nobody has begun claims it, by one
// compare-and-swap on the word that is also its state, and runs it there and then,
// as a call. If it is not the newest of this processor's it stays where it is
// queued and is dropped when it turns up. So
// what is divided and joined runs depth first on one stack for each processor: a
// task is its own allocation and six locked instructions, and goroutines are
// started for what is stolen.
//
// # Futures: what a task that waits may run
//
// Only what it waits for. A task that is run on another one's stack buries it:
// the one below cannot go on before the one above is over, whatever they have to do
// with each other. If the one above is what the one below waits for, that is so
// already. So everybody on a stack waits for the one above, and one who waits for
// somebody below closes a circle that would be a deadlock with a goroutine a task
// too. With anything else this is not so: let a task P wait for A, which another
// processor has begun, and run its own B meanwhile; B may wait for P. Futures can be
// handed to anybody, so neither "only what I have started myself" nor "only from
// the one who stole what I wait for" (leapfrogging: Wagner and Calder, PPoPP
// 1993) excludes it; they do where each task waits for those it has started and no
// others.
//
// A task that cannot run what it waits for blocks its goroutine, and another one
// takes its place, for this as for every other reason. It does so if the awaited task is in
// progress; if its context is not its own but one made of it, with a deadline
// perhaps, since a wait that is to end before the awaited task cannot lie below it; and
// if there are 16,384 tasks on the stack. So a chain of 100,000 joins needs some seven
// goroutines where nobody steals, and a few hundred where somebody does all the time,
// and no stack more than a part of what Go allows.
//
// The price: a task that is canceled while the awaited one runs in its place
// gets to know when that returns.
//
// # Futures: tasks that block
//
// As in the pool, a processor that is not needed yet stays runnable behind the
// others while there are tasks that nobody has begun, and Go's scheduler runs it
// when one blocks (Executor.await). But a task that joins others may run them on
// its processor for ever and look at nothing else. To such processors a new one
// leaves a time slice for each that there is, and then takes over what
// waits. A processor that is between two tasks looks after the others' itself: each
// 61 tasks at what has arrived and at others' deques, and at the old end of its own.
//
// # Futures: invariants (1, 3 and 5 checked under -race and the build tag dynocheck)
//
//  1. A task runs once, by who sets claimed in its word, which is set in no task that is
//     over. It is over by who sets ending.
//  2. Who sees a task over finds it counted, and finds what it has left. A channel
//     in Own is closed if and only if awaited was set before the final state was
//     swapped in, or by who has put it there.
//  3. A deque has one owner: the goroutine that has the slot. A goroutine that uses the
//     context of a task in progress on another one breaks this.
//  4. If there is a task that nobody has claimed and that is not in anybody's hands,
//     a processor is looking, or about to look, or the goroutine that made it so
//     is about to start one (see Executor.watch). So nobody needs to do anything
//     before he blocks.
//  5. No task's state is Pending that the books leave out.
//  6. A task is in one deque once in its life, at one place.
//
// # Futures: shutdown
//
//  1. Close sets closed. A Start that has read it before is accepted.
//  2. A processor without work gives its slot back and its goroutine ends, closed
//     or not. With the last one all slots but a few are dropped; what they counted
//     is kept, under the mutex that Pending takes.
//  3. A task that calls runtime.Goexit ends its goroutine, and with it all that wait
//     on this stack. Each of them has its own deferred function that makes it Failed and
//     wakes who waits; the last one, below all of them, gives the slot to a new goroutine,
//     with all that is in its deque.
//
// # Futures: rejected
//
//   - Running other tasks than the awaited one in a wait: see above.
//   - Handing the slot over to another goroutine when a task blocks: others can steal
//     from it where it is, and the task would have to take one again when it wakes.
//   - Stealing half of a deque: of tasks that divide a problem the oldest one is worth
//     as much as all the others together. And no task is ever twice in a deque,
//     which would make it unsafe to let go of what was stolen.
//   - Leaving what was claimed in the deque until its turn comes: a task that starts
//     two and waits for the older one first leaves one behind each time. The owner
//     drops such ones when it claims something and before the deque grows.
//   - The lock-free injector of the pool: it copies tasks into blocks, and is worth it
//     where tasks are no objects of their own. These are linked through themselves.
//   - Counting tasks in one place: two processors that write one word for each task
//     cost each other 15 ns and more. accepted is half of a word that is written anyway.
//   - A state without ending, the task being counted before or after: Pending then
//     counts a task twice, or none, if cancel and completion meet.
//   - Emptying each place in a deque when a task is popped: a locked instruction for
//     each task; it is done when 64 have gathered, and when there is nothing to do.
package workstealing
