// Package typed has the compiler check that actors are sent messages that they
// handle. It is a layer over package actor, of which nothing is hidden: a
// [Ref] and a [Context] are actor's own with a message type M added, and each
// gives the other for nothing ([Of], [In], Untyped). One system holds actors of
// both kinds.
//
// M may be any type. Messages travel as values of type any, and to make one of,
// say, a struct of three words means to allocate. So what needs it travels in a
// box that is used again:
//
//  1. Tell takes a box from the pool of M, if the receiver is an actor of this
//     package that handles M. Other receivers – untyped ones, and those in other
//     systems – are sent the value itself.
//  2. The receiver's behaviour is called with a copy of the message. When it has
//     returned nil the box goes back to the pool. When it has failed the box
//     stays as it is: the failure, the supervisor's retry and the dead letter
//     have it, and the garbage collector gets it.
//  3. A message that is refused comes back without its box.
//
// So a box has one owner at any time: the sender, the mailbox, the receiver. Who
// handles untyped messages on their way to a typed actor, such as middleware and
// mailboxes, sees boxes. They have the method Unbox() any; who keeps a message
// beyond the call it was handed to keeps what Unbox returns.
//
// Pointers, maps, channels, functions and interfaces need no box and have none.
package typed
