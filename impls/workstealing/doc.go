// Package workstealing runs actors, the tasks of groups, and futures on few
// goroutines: a [Pool] of workers with a queue each, which steal from one another.
//
// # Idea
//
//	from outside ──► inject queue          rows: which workers have something
//	                  │ batch                        │
//	                  ▼                              ▼
//	worker  [next] [oldest … newest] ◄── half ── a worker without work
//	          ▲                  ▲  │
//	          │ actor told       │  └─ newest first: forks
//	          └── in a turn      └──── push: yields, forks, what next displaced
//
// A worker runs a runnable: an actor's turn, a group's task, a future. What comes
// from outside goes into the inject queue, an array queue in which a producer
// claims its place with one fetch-and-add. Workers take it in batches into a queue of
// their own. An actor that is told in a turn goes into the run-next slot of the worker it
// is told on, and runs there when the turn is over, while what the two share
// is in the processor's cache; no goroutine is parked or woken on the way. A task
// that another one forks goes to the new end of the queue.
//
// # Order
//
// A worker takes what is next, at most 64 times in a row; then, if the newest in its queue is a
// fork, that, and else the oldest. One job in 61 comes from the inject queue, or from
// another worker if a new one waits to be needed, and one from the old end. Thieves take
// half from the old end, but one if they have jobs, and of forks: the oldest is the largest
// part of a problem that is being divided.
//
// A task that waits for one that no worker has begun claims it, by one
// compare-and-swap on the word that is also its state, and runs it there and then,
// as a call. It runs nothing else while it waits: a task that is run on another's
// stack buries it, and may wait for it. (Everything on a stack waits for what is
// above; so what waits for something below closes a circle that would be a deadlock with
// a goroutine a task too.) It blocks its goroutine instead if the awaited task is in
// progress; if the wait can end earlier, by a context; and if there are 16,384 tasks on
// the stack.
//
// Of task.Join the second part is put at the new end of the queue as a fork is. When the first
// part is over the task takes it back, if it is still the newest: one compare-and-swap, after
// which no other worker knows it. So it is called as any function is, its memory is used
// again, and it is counted and has a state only if a thief has begun it. One that lies under a
// task which the first part has started and left is claimed where it lies, as in any wait.
//
// The tasks of a group.GoAll are a range of indexes (lot), one job for all of them. Its worker takes
// one after the other, and has the job in its queue meanwhile: who finds it there takes the upper
// half, as of a loop by task.For. With a limit a worker accepts more when its range is empty, before
// the last task in it begins, so that the caller is woken once and a task may wait for a later one.
//
// # The queue
//
// runq is a ring whose indices are one word. No goroutine reads a place before a
// compare-and-swap of the word has made it theirs, so a job may be four words of
// plain memory, and a word that comes back does no harm.
//
// # The mailbox
//
// An actor's mailbox and its place in the schedule are one word (box), so
// that a send is one step. To an actor that waits for its message it is one
// compare-and-swap, and the end of the turn another one: the message does not go
// through a queue at all. To one that is busy it is two locked instructions,
// which lock a bit, append to a chain of chunks, and unlock; the turn takes the
// whole chain. A chain that grows copies nothing, and its chunks are used again.
// A worker that sends and sends to one mailbox gets a lane into it (lane), which takes
// one locked instruction a message; another sender ends it.
//
// # Waking and parking
//
// LIVENESS.md has the protocol as states and transitions. searching counts the workers that look
// for work or are about to. Who makes a job visible from outside reads it afterwards and starts a
// worker at 0; who stops looking lowers it first and looks once more. One of the two sees the
// other. A worker that leaves jobs behind has a goroutine stand by. None that searches yields.
//
// Work on another processor begins some 5 to 50 µs after the decision to start
// a worker for it, and actors that talk to one another cost twice as much a message
// on two processors as on one. So for actors that were made ready in turns a worker is
// woken only if running them here would take 50 µs or more (worthwhile), their number
// times what a turn took in the last millisecond; and others may have what is next
// only if its sender sends and sends to it (offer). The watchdog finds what was
// guessed wrong. [Config] has other strategies.
//
// A worker that finds nothing parks: it is a place then, with its queue. Of a dispatcher's own pool
// as many goroutines as run at a time rest in a receive until the dispatcher is closed, since to
// ready one takes less than to start one, and those who wait for an actor's answer come sooner.
// Others end: a pool that is shared is without goroutines while it is idle, so there is nothing to
// close, and it can be used inside a testing/synctest bubble, though not inside and outside at the
// same time.
//
// # Jobs that block
//
// Go does not tell a program that a goroutine has blocked; its scheduler acts
// on it, by running the next one. So the pool keeps a next one: whenever visible work
// is left that no worker is searching for, one goroutine stands by: it is
// runnable behind the others. As long as these keep their processors it costs
// nothing. The moment one blocks it runs; it checks that it is not merely its turn in a
// time slice (Pool.await), takes over, and leaves a successor behind if there
// is more. So blocking costs microseconds, and the pool grows by one goroutine a
// blocked job, which is what a goroutine per job costs always. A job from outside does not wait for
// it: where handlers compute it stands behind them for a slice or more.
//
// A task that waits for one in progress says so: it is linked to that one, with its
// worker, and the pool counts the worker as waiting, as it does in a yield. So a new
// worker need not find it out, and a wait allocates nothing.
//
// What is not worth a worker the watchdog looks after, twice a millisecond while actors
// are ready: it marks workers that have ended no job since its last look as stuck, whose
// run-next slot is then for all to take, and starts a worker for actors that have waited
// since. So a job that goes on keeps its neighbours waiting for two looks, or one if there was
// none to come. Where Go rounds timers up to a millisecond that one takes 1.12 ms (see
// ../MISSES.md), and on one processor until Go interrupts the job, after 10 ms. A worker that
// waits for room in a mailbox is marked at once.
//
// # Invariants (1 to 4, 6 and 7 checked under -race and the build tag dynocheck)
//
//  1. An actor is in one of the queues or slots, or in a turn, or on the way from one to
//     the other, exactly when its phase is scheduled; so never twice.
//  2. An actor's first holds a message only while the phase is scheduled.
//  3. A future runs once, by who sets claimed in its word, and is over by who sets
//     ending. Who sees it over finds it counted, and finds what it has left. No future
//     that is Pending is left out of the books.
//  4. Of a group: completed ≤ accepted, and seen ≤ completed; settled implies closed and
//     completed = accepted; the first error is that of the first result with an error.
//  5. An actor is idle only if no message waits. With an unbounded mailbox
//     message and phase change in one compare-and-swap or under the lock bit. For
//     system messages and bounded mailboxes the sender queues and then looks at
//     the phase; the end of a turn sets the phase and then looks at the queues.
//  6. If a job waits a worker is searching, or a goroutine stands by, or the watchdog is armed, or
//     its worker comes to it next.
//  7. A worker's queue has one owner: its goroutine. One that uses the context of a
//     task in progress on another one breaks this.
//
// # Shutdown
//
//  1. The core stops the actors; the root is the last, and calls Stop inside its last turn.
//     No actor is ready then, and none will be. The last goroutine of a dispatcher's own
//     pool to end calls done; timers are stopped and let go of the pool.
//  2. A send that races with its actor's end locks the word before Close, which hands
//     the message to the dead letters, or after it, and is refused: the shut bit
//     is in the same word. One that finds the phase idle and swaps it to scheduled before
//     the actor was stopped has its turn, and then the message is in first, where
//     Close finds it. A Wake finds the phase scheduled, and the end of the turn looks at
//     the system messages once more; or idle, and schedules the actor; or gone.
//  3. Close of a group sets the closed bit in the word that counts acceptances, so that an
//     acceptance is before it or refused, and then a flag. The worker that pushes
//     the last result reads the flags after its push; Close looks at the counters after
//     setting its flag. One of them sees both and settles the group.
//  4. Close of an executor refuses what is started later.
//  5. A job that calls runtime.Goexit ends its goroutine. The deferred function books it
//     and has another goroutine go on as the same worker. Futures that wait on that stack
//     have deferred functions of their own, which make them Failed.
//
// # Rejected
//
//   - A scheduler for each of the three, as there was: one protocol, three times.
//   - Waking a worker for each actor that becomes ready, as Go does for goroutines:
//     count took 1.7 times as long and fanin 1.8 times. WorkConserving does it.
//   - A threshold of messages, or of queued actors, for waking others: any number is
//     wrong for either 10 ns handlers or 10 ms ones.
//   - Counting the time in which a worker was parked into what its turns take, so that after it
//     others are woken sooner: fanin took 1.22 times as long and count 1.07 times, big 0.87
//     times on two processors, and in some processes twice.
//   - Goroutines that are parked and ended by a timer: not usable in a bubble.
//   - Yields of a worker that searches, up to four of them: who has the duty to look stood behind
//     handlers that compute, and no other worker was woken meanwhile. A neighbour of two such handlers
//     waited 10 ms, and of eight 80.
//   - A timer for KeepAlive in every pool that is idle: see Config.MinWorkers.
//   - A watchdog that replaces workers it finds stuck: two periods late, a hundred
//     sleeping handlers cost the others eight times what they cost goroutines.
//   - A buffer that doubles as the mailbox: a flood copied it, under the lock, again and
//     again. Linked nodes, claimed places and stacks were measured too: MAILBOX.md.
//   - Looking at a locked mailbox again and again until it is unlocked: each message then
//     passes through both senders' caches, and a flood took three times as long.
//   - A hop with fewer than four locked instructions, which are 24 of its 39 ns: what is next in
//     plain memory could not be taken from a worker that is stuck, and an actor
//     that stays scheduled after its turn, for the worker that is told it, could not be run
//     by others meanwhile. Each asks for a locked instruction where it is to be taken.
//   - Owner and thieves of actors at different ends, as the source document has it. With
//     the owner at the new end two that talk to each other would keep all others waiting. With
//     thieves there, commit 3cc725d, they take what has waited least, and the owner waits for a
//     thief that reads the places which it is to push into next: measured beside this,
//     big, pairs, fanout, forkjoin and chameneos took 0.98 to 1.04 of the time, and nothing was
//     proven. What shares a cache passes by the queue, through next. Forks have different ends.
//   - A word of 64 bits for a queue, with the index up to which thieves have handed places back
//     beside the other two: where a processor of 32 bits disables interrupts to read it, a
//     Cortex-M3, big took 5 % more instructions.
//   - Running other tasks than the awaited one in a wait, also only those that the
//     task itself has started, or the worker that stole it (leapfrogging: Wagner and Calder, PPoPP
//     1993): futures can be handed to any goroutine.
//   - Running tasks inside a group's Wait: one that calls Goexit would end the caller.
//   - Spinning in Go and Next before parking: short took 1.7 times as long, and with looks
//     that are a quarter of a microsecond apart 1.3 times.
//   - Two channels for each wait of a task, one of them for its own cancellation, and a select:
//     265 bytes a wait with its task, where there are 151, and no faster.
//   - A task that gives its worker back when it waits, and goes on without one: shared took 0.93
//     of the time on one processor, and nothing was proven on two. Each wait then has memory of
//     its own, and a task that starts others afterwards asks for a worker again.
//   - A send to an idle pool that hands its job to the worker it starts, without the inject queue:
//     no difference was proven in latency1k, latency100k and idlewake.
//   - Looking around more than once before parking, where the worker has run no actors and so
//     does not give up its processor in between: short took 1.1 times as long, shared too.
//   - Futures made many at a time, to spare the collector, which has up to 40 % of fib on two
//     processors: one that is kept would keep the values of its neighbours. Eight at a time
//     take 21 ns each for 33 on one processor, and 65 as before on two.
//   - Looking on before parking, for 16 to 40 µs where that has paid: two threads that are
//     awake are in each other's way; latency100k's p99 was 1.5 to 2.9 times as long.
//   - Counting a task before or after it is over, without ending: Pending then counts it
//     twice, or not at all, if Cancel and completion meet.
package workstealing
