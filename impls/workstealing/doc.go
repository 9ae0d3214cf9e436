// Package workstealing runs the tasks of many groups on few goroutines.
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
package workstealing
