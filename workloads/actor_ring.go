package workloads

// ringSize is how many actors the ring has that stands for all.
const ringSize = 100

// Ring is PingPong with more than two: the same hop, with an actor each time
// that has not run for a while.
func Ring() Actor {
	k := ringKind{count: 1, size: ringSize}
	return Actor{
		Name:    "ring",
		Doc:     "a message goes round a ring of 100 actors: a hop to an actor that has not run for a while",
		Prepare: k.onActors,
		Refs:    k.refs(),
	}
}
