// Package remote lets actors of two systems, in two processes, talk to each other
// through the Refs they know: Tell, Ask, Forward, Watch and Stop work as they do
// within a system.
//
//	codecs := remote.NewCodecs()
//	remote.Binary[Order](codecs, "shop.Order")
//	node, err := remote.NewNode(sys, remote.Config{Codecs: codecs})
//	peer, err := node.Dial(ctx, "10.0.0.7:7000", tlsConfig)  // the other one: node.Serve(listener)
//	shop, err := peer.Find(ctx, "/user/shop")
//	err = shop.Tell(Order{…})
//
// What it promises: what goes from one node to another arrives in the order of
// sending and at most once, as long as the association of the two lasts; each message is
// delivered, or is a dead letter at one of the two, or the association is reported
// lost. docs/remote.md has it on a page.
//
// From the bottom up:
//
//   - A [Wire] carries frames from one process to another. It may lose, double and
//     reorder them. TCP is in this package ([TCP]); package lossy has one in
//     memory that does all of that on purpose, and natslink one over NATS.
//   - An association is two nodes with a wire between them (association.go). It
//     packs messages into frames and counts credit (send.go), numbers, writes,
//     acknowledges and resends frames (write.go), and finds out that the other one has
//     gone silent (liveness.go).
//   - What comes is parsed (frame.go, which trusts no peer), decoded (codec.go), and
//     handed to mailboxes without waiting (inbound.go).
//   - A [Node] has the associations of a system, at most one with each other one.
//
// All times are the system's clock's.
package remote
