// Package channel is pure CSP: channels only, no mutex, no atomic operation.
//
// # Idea
//
// State is shared by communicating it. A group's state is one value that
// travels: whoever has received it from the channel turn owns it, and sends it
// back when done. The channel has capacity one, so the state is either there
// or in one pair of hands. Waiting for something the state does not say yet is
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
// has a result in its hands that it has not asked for. A task is a goroutine:
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
//  4. firstErr, once set, never changes.
//  5. settled implies closed and nothing in flight.
//
// # Shutdown
//
//  1. Close takes the state, sets closed and closes shut, which releases the
//     calls of Go that wait for a slot.
//  2. A Go that got its slot while Close was under way finds closed in the
//     state, gives the slot back and is refused.
//  3. Whoever leaves a closed group with nothing in flight settles it and sends
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
package channel
