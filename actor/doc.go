// Package actor is the contract of an actor runtime and its core: private
// state, one message at a time, and a tree of actors that start and stop each
// other.
//
// The core is written once. Where messages wait, and who runs an actor when, is
// left to implementations (spi.go); they are in the folders below impls/. What
// every call answers in every state of an actor is one table,
// docs/semantics-actors.md.
//
// What happens to a message:
//
//  1. Tell asks the receiver's [Port] to queue it. The port is the
//     implementation's: mailbox and place in the schedule in one. If the
//     receiver was idle it is scheduled now.
//  2. A worker of the implementation begins a turn of the receiver with
//     [Cell.BeginTurn], which handles system messages: start, stop, suspend,
//     resume, a child has stopped or failed, a supervisor's decision; and then
//     what comes ahead of the mailbox, such as a timer's message.
//  3. It takes user messages out of the mailbox and has them handled with
//     [Cell.Invoke], until there are none, the actor has had its share, or
//     Invoke says that it is enough.
//  4. It ends the turn with [Cell.EndTurn]. The core decides – continue, yield,
//     suspended, stopped – and the implementation schedules accordingly.
//
// Where the parts are that the source document on suspension names: see [Suspension].
//
// Every message sent is handled, returned to its sender with a [*SendError], or
// reported as a dead letter, exactly once. A message that an actor fails on is
// not handled: what becomes of it is the supervisor's decision.
//
// What an actor can do besides receiving is in its [Context]: spawn and stop, tell
// and ask, watch, suspend itself, stash, start timers, change its behaviour. What
// becomes of failures says [Supervisor]; what happens to actors is published on
// the [EventStream]; what is called around a message are [Middleware] and
// [Invoker]; other systems are reached over a [Link]. Package typed, below this
// one, has the compiler check messages.
//
// Documents: docs/supervision.md, docs/mailboxes.md, docs/what-can-block.md and
// docs/extending.md.
package actor
