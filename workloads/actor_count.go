package workloads

// Count is one actor that sends and one that counts: a mailbox under a load
// that never lets up.
func Count() Actor {
	a := bareCount()
	a.Refs = funnelRefs(1, 0, window)
	return a
}

// bareCount is Count without references.
func bareCount() Actor {
	return Actor{
		Name:    "count",
		Doc:     "one actor sends to another as fast as it can: what a message costs when the mailbox is never empty",
		Prepare: func(st Setting) Run { return funnelOnActors(st, 1) },
	}
}
