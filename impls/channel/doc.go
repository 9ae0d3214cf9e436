// Package channel is pure CSP: channels only, no mutex, no atomic operation. Task
// groups come first here, actors after them, and executors last.
//
// # Idea
//
// State is shared by communicating it. A group's state is one value that
// travels: the goroutine that has received it from the channel turn owns it, and sends it
// back when done. The channel has capacity one, so the state is either there
// or with one goroutine. Waiting for something the state does not say yet is
// receiving from another channel:
//
//	slots   a token for each slot in use; full means that Go waits
//	offers  a task whose Go waits for a slot, for a goroutine that comes free
//	shut    closed by Close, for those who wait for a slot
//	news    a token when there may be something for a waiting consumer
//	idle    closed when nothing is in flight, for those in Wait
//
// A consumer waits for news and for its context's Done in one select. It leaves
// nothing behind when it gives up but a number, which it takes back, and never
// holds a result that it has not asked for. A task is a goroutine:
// the process of CSP.
//
// The state in a channel of capacity one is from Bryan C. Mills, "Rethinking
// Classical Concurrency Patterns" (GopherCon 2018).
//
// # Invariants (checked under -race and the build tag dynocheck)
//
//  1. The state exists once: in turn, or with one goroutine.
//  2. If consumers wait and there is a result or the end for them, there is a
//     token in news, or a consumer that received one is on its way to the state.
//  3. inflight ≥ 0, and every task in flight has a slot, if there is a limit.
//  4. settled implies closed and nothing in flight.
//
// # Shutdown
//
//  1. Close takes the state, sets closed and closes shut, which releases the
//     calls of Go that wait for a slot.
//  2. A Go that got its slot while Close was under way finds closed in the
//     state and is refused.
//  3. The goroutine that leaves a closed group with nothing in flight settles it and sends
//     news. The consumer that receives it sees the end and sends news on to the
//     next one.
//
// # Rejected
//
//   - Two channels for the state, one for when there is something for consumers
//     and one for when there is not, so that its place wakes the right ones (the
//     queue of the same talk). Prettier, but every other call then receives in a
//     select of two: 800 instead of 600 ns a task on the workload short.
//   - A channel of results. It is bounded: a completion beyond its capacity
//     blocks, and Wait without Next then waits for ever.
//   - A goroutine with an unbounded buffer between two channels: one more hop and
//     one more goroutine for every group, and that goroutine is actorloop's idea.
//   - Relying on select to choose fairly among ready cases: TinyGo's takes the
//     first. Where the order matters there are two selects.
//
// # Actors: idea
//
// An actor is a process: a goroutine that receives messages from a channel and
// sleeps in that receive. A mailbox with a bound is a channel of that capacity,
// and a full channel does what the policy says. An order or a policy that no
// channel has (priorities, DropOldest) is kept in a queue that travels through a
// channel like a group's state (ordered.go).
//
// A mailbox without a bound has a small channel and an overflow: a queue that
// travels, so that the goroutine that has received it may append. It lies in one of two
// channels, and in which of them is what a sender looks at first:
//
//	calm    the overflow is empty: send to the channel
//	spill   the queue itself says what to do: append, start the actor's
//	        goroutine, or give up because the mailbox is closed
//
// A sender that finds the channel full moves the queue from calm to spill, and
// only the actor moves it back, when it has handled everything. So what a sender
// has in the overflow is never overtaken by what it sends to the channel. In a
// flood the actor takes all of the overflow at once, which costs less for each
// message than a receive.
//
// Such an actor sleeps in a plain receive from the one channel, and is woken for
// system messages by a mark among the messages (wakeByMark).
//
// A goroutine starts with the first message and ends when that has been handled
// and nothing else has come: an actor with one message may never have another,
// and a parked goroutine is two kilobytes that each garbage collection scans.
// The second goroutine stays: to start one for every hop costs more than to wake one. It
// ends when the actor has had no turn for a second or two (Dispatcher.sweep), so that an
// idle actor takes less than a kibibyte however many messages it has had.
//
// # Actors: invariants (the first two checked under -race and the build tag dynocheck)
//
//  1. The queue is in calm only if the overflow is empty and no message taken
//     from it waits.
//  2. The actor in whose turn Stop is called has a goroutine.
//  3. The queue exists once, and the goroutine that has it waits for nothing but the
//     processor. So those who want it may look for it, again and again, before they
//     wait.
//  4. Only the actor's goroutine receives from its channel.
//  5. An actor asleep in its receive has calm not empty, or is suspended. For a
//     sender goes to the overflow only if, with the queue in hand, it finds the
//     channel full. The actor then has something to receive, and before it
//     sleeps again it looks at calm, which was emptied before that.
//  6. There is at most one mark in the channel of an open mailbox.
//  7. An actor without a goroutine has its queue in spill, with the mode resting
//     and nothing else in it. Before the queue has been in calm no goroutine sends to the
//     channel, which is empty; afterwards it is full of marks. Who takes the queue then
//     starts the goroutine, and takes the marks out first.
//
// # Actors: how the goroutine of an actor that rests ends
//
//  1. Nothing is left to do: it leaves the registry.
//  2. It takes the queue. If a message is in it, or a system message is pending,
//     it enters the registry again and stays for good. A sender that had the queue
//     before has appended, and a Wake that had it before comes after its system
//     message: both are found now.
//  3. Otherwise it notes in the queue that the actor rests, gives it back and
//     touches nothing of the actor any more. A sender or a Wake that has the
//     queue later finds that note and starts another goroutine, which owns what
//     belongs to the turn because the queue was handed on.
//
// The goroutine of an idle actor is asked to by the mark, and ends like that. But senders may be
// about to use the channel, having found the queue in calm. So with the queue in hand it
// fills the channel with marks (plug): one that comes later finds it full and goes to the
// queue, and a message that came first is found, and keeps the goroutine.
//
// # Actors: shutdown
//
//  1. A stop is a system message, and Wake rings. If the channel is full there
//     is no mark: the actor is not asleep, and looks when it has received
//     something.
//  2. Close takes the queue, notes in it that the mailbox is closed, and gives
//     it back; then it hands what waits to the dead letters. A sender that had
//     the queue before is among them; one that has it later is refused.
//  3. A sender that looked at calm before and has not sent yet may still fill
//     the channel. While the actor waits for its children it refuses what
//     comes.
//  4. Before the goroutine ends it fills the channel with marks (fillUp). Only a
//     receive makes room, and no other goroutine receives, so a late send is found
//     between the marks or fails, and goes on to the queue. If the queue has never
//     been in calm there is no such sender, and this is left out.
//  5. The goroutine leaves the registry. The last one to do so after Stop calls
//     done; the root's own, in whose turn Stop is called, has not left yet.
//
// # Actors: how far from bare channels
//
// Against a goroutine that receives from a buffered channel of pointers, in one
// run on two processors: pingpong 1.3, pairs 1.3, count 1.3, big 1.2, ask 0.9,
// spawn 0.6 to 0.9, ring 1.25 to 1.7 from process to process. The target is 1.3.
//
// Fanin misses it with 1.5 to 1.8. Eight senders overrun one actor, so all
// messages go through the overflow: two channel operations for a sender and next
// to nothing for the actor. On one processor that is as cheap as an operation
// on either side, but two senders on two processors contend for the lock of the
// channel in which the queue lies; half of the samples are in its lock and
// unlock. Bare senders do not, because a full channel puts them to sleep, and a
// Send must not wait. A channel with room for all that can be under way (8,192
// messages, 128 KiB for every actor) still takes 1.4: 31 ns of the reference
// are the send and the receive, and 14 are added by the core's turn and calls.
//
// # Actors: rejected
//
//   - A select over a channel of user messages and one of signals: half as much
//     again as a plain receive, for every message.
//   - Going back to the channel as soon as the overflow has been taken: the
//     actor is behind, the channel is full again at once, and every message
//     pays for both ways (fanin 2.2, count 1.55).
//   - A yield of the sender for every room messages in the overflow: count 1.55
//     instead of 1.3. It yields when the overflow outgrows what it may keep.
//   - Waiting for the queue in a blocking receive: it is handed to the one that
//     waits, who has to be woken first, and meanwhile all others begin to wait. After
//     eight looks, 6 µs, fanin took a hundred times as long. After looks, 50 µs, it is
//     what saves GOMAXPROCS 8 on two processors: 70 to 110 ns there, and 300 to 660 for
//     senders that look until they find the queue.
//   - Backing off for a microsecond when the queue is away: fanin 1.4, but a
//     spinning sender keeps a processor from another goroutine.
//   - Two channels, one filled and one emptied, that change places: a sender
//     that has looked and not sent yet can be overtaken by itself.
//   - A large channel from the start: 16 KiB for an actor of 1,024 messages. One of
//     16 places instead of 8 takes 128 bytes, which is what an idle actor has to spare
//     below a kibibyte, and pairs and ring are as fast with either.
//   - A goroutine from the start that stays: spawn 1.5 to 3 times the reference,
//     most of it in stacks and in scanning them.
//
// # Executor: idea
//
// A task is a process, a goroutine, and its end is an event: a channel that is
// closed. All that waits is a receive from that channel, and Status is one that
// does not wait. How the task ended is written before the channel is closed, and
// read after it was found closed.
//
// Two values travel, each through a channel of capacity one:
//
//	door    what Start and Close need: whether it is closed, how many tasks came in
//	ledger  how many tasks are over
//
// A task is ended with the ledger in hand, so only once: who finds the channel
// open closes it. Two and not one because the goroutine that starts tasks and those that
// end then need not wait for each other.
//
// Fairness: that of Go's scheduler. There is no limit, and a task begins as soon as
// there is a processor: a goroutine that starts many in a row lets others run after each
// 32. Else the stacks of 100,000 that do nothing were all there at the same time on one
// processor, and each took three times as long. A limit by a channel of tokens would have to be given up and taken again
// by every task that waits, and with one that blocks in another way it would stop
// the rest. So a task costs its goroutine from the start: in a chain of 100,000
// tasks that wait for one another 2.3 KB of stack and 1.2 KB of everything else for
// each.
//
// # Executor: invariants (the first checked under -race and the build tag dynocheck)
//
//  1. No more tasks are over than came in. Pending takes the door first.
//  2. The channel of a task is closed while its end is in the ledger's count, and
//     not before or after: so the goroutine that finds a task over also finds it counted.
//
// # Executor: shutdown
//
// There is nothing to shut down: the goroutines are the tasks. One that finds its
// task canceled ends without running it. One that runtime.Goexit ends makes its
// task Failed in a deferred function.
//
// # Executor: rejected
//
//   - A channel of capacity one for each task, into which the first to send puts
//     the verdict: it decides without the ledger, but a second channel is a hundred
//     bytes for every task, and who came second would have to wait until the
//     first has closed the other one, or Status would still say Pending.
//   - A pool of processes that receive tasks from a channel: it is bounded, or it
//     keeps goroutines that are not used, and tasks that wait must leave it.
//   - Looking for the ledger again and again, as actors do for their queue: no
//     better here, since between two ends of a task there is a task.
package channel
