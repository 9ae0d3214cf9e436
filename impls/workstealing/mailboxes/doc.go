// Package mailboxes holds the ways to build an actor's mailbox that were tried
// for package workstealing, and what compares them. Nothing imports it: it is
// the evidence for the mailbox in use there, and docs/mailboxes.md says what it
// shows.
//
// A mailbox here is the queue together with the actor's place in the schedule
// ([Box]), because that is what a send costs: it queues a message and learns
// whether it has to schedule the actor, and a turn that ends makes the actor idle
// only if nothing has come.
//
//	word    locked swap: producers append under a lock bit, the turn takes all
//	        by exchanging two buffers; lock and place are bits of one word
//	packed  the same, its fields not kept apart by a cache line
//	mutex   the same with a sync.Mutex
//	linked  Vyukov's linked queue: an exchange and a link for each message
//	ring    segments of an array: a fetch-and-add and a flag for each message
//	stack   Treiber's stack, taken as a whole and turned round: one
//	        compare-and-swap for each message
//
// All but mutex give the message that finds the actor idle directly to the turn,
// past the queue: whoever makes an actor scheduled owns the turn's part of the
// mailbox until the turn begins.
//
// # Locked instructions
//
// On amd64 every atomic operation that writes is one, a Store too. For a message:
//
//	        to an idle actor, which goes   in a stream, and
//	        idle after it                  for each batch
//	word    2                              2, 2
//	mutex   6                              2, 2
//	linked  2                              2, 0
//	ring    2                              2, 1 each segmentLen
//	stack   2                              1, 1
//
// # Rejected
//
//   - A lane for each worker, so that producers on different workers do not meet:
//     an actor that moves between workers would have its messages in two lanes,
//     and their order is lost.
//   - Sends kept with the sender's worker until its turn ends: one locked
//     instruction for many messages, but a handler that then waits for the answer
//     in a channel waits for ever.
//   - Nodes from a sync.Pool instead of the worker: its private place holds one
//     node, and beyond that getting and putting are locked instructions each.
//   - Nodes in a free list of the mailbox: the producers would share another word,
//     with a compare-and-swap that has the ABA problem.
//   - Segments of the ring shared by mailboxes: a Push that was delayed would have
//     to find out whose a segment is while that changes.
package mailboxes
