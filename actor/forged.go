package actor

// Forged is what an actor is given in the place of a [Terminated] or a
// [ReceiveTimeout] that was sent to it. Of these two only the runtime makes
// real ones, and what Receive gets as one of them is real: it never comes from
// Tell, Forward, Reply, a timer or another system. Only an actor that stashes one of
// its own making has that come back as it was: it deceives itself. The message is
// handled in its place in the order, as any other; who fails on it or cannot handle
// it has the Forged in the Failure.
type Forged struct {
	// Msg is the Terminated or ReceiveTimeout, as it was sent.
	Msg any
}

// plain returns what an actor is given for msg, which waited in its mailbox or is
// that of a timer: what the runtime has to say comes as a notice of its own.
func plain(msg any) any {
	if forges(msg) {
		return Forged{msg}
	}
	return msg
}

// forges reports whether msg is of a type that the runtime alone may make. It costs each message
// two comparisons of pointers.
func forges(msg any) bool {
	if _, ok := msg.(Terminated); ok { // a type switch would read the type, for its hash
		return true
	}
	_, ok := msg.(ReceiveTimeout)
	return ok
}
